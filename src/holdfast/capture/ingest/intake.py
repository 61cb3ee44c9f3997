"""From an agent's transcript to runs: the one way, for import as for live use.

Nothing is kept twice, wherever it is found: turns and steps are known by the names their tool gave them, in whichever
file they stand, and one conversation seen through two tools by its words. What an ended session holds beyond what was
kept before becomes a run; while it goes on, its finished turns are only noted.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.capture import finish_run
from holdfast.capture.agents.transcript_reader import Dialect, TranscriptCounts, TranscriptReading
from holdfast.capture.ingest import agent_session, run_anchor, run_files, session_repository
from holdfast.capture.ingest.duplicates import SessionIntake, TakenTurns
from holdfast.capture.ingest.run_files import Decided, RunFilesWriter, TranscriptPaths, said_in_run
from holdfast.errors import Busy, HoldfastError
from holdfast.git.cited_commits import commit_anchors as kept_anchors
from holdfast.git.clone import Clone
from holdfast.model.ids import ALPHABET
from holdfast.model.transcript import MAX_PROMPT, TranscriptOrigin, TranscriptTurn, cut
from holdfast.model.utterance import TriedCommand, Utterance
from holdfast.store import import_progress
from holdfast.store.capsule import OPEN, Capsule, clear
from holdfast.store.import_progress import ImportProgress, mark
from holdfast.values import asdict, field, fields, frozen, mutable, replace

_TOKEN = 6  # letters of 5 bits; a guess: unique among runs of the same second


@frozen(kw_only=True)
class IntakeResult:
    """What came of a transcript."""

    agent: str
    session: str
    runs: tuple[str, ...] = ()  # sealed now
    turns: int = 0  # new ones, in runs or noted
    copies: int = 0  # turns that another session of the agent has already
    twins: int = 0  # turns that another tool told already
    session_id: str | None = None
    last_session: str | None = None  # that of its last turn, on another branch maybe
    anchor: str | None = None  # how the last run's commit was found: file, reflog, history; None: it was not
    counted: TranscriptCounts = field(default_factory=TranscriptCounts)
    # By run, what nobody harvested.
    said: Mapping[str, Sequence[Utterance | TriedCommand]] = field(default_factory=dict)


class TranscriptIntake:
    """Imports many transcripts, one after the other; what they share is looked up once."""

    def __init__(self, clone: Clone, *, decided: Decided | None = None, sessions: bool = True) -> None:
        self._clone, self._decided, self._sessions = clone, decided or (lambda _: {}), sessions
        self.repository = session_repository.SessionRepository(clone)
        self._anchors = run_anchor.RunAnchors(clone, self.repository)
        self._known = TakenTurns(finish_run.stores_of(clone))
        self._lines = finish_run.BranchEventWriter(clone)
        self._commits: set[str] = set()

    def close(self) -> None:
        """Let go of what was open, and remember how the commits are found again that runs cite."""
        self._lines.close()
        if self._commits:
            kept_anchors.keep(self._clone, self._commits)
            self._commits.clear()

    def take_in(self, dialect: Dialect, path: str, *, ended: bool, ours: bool = True) -> IntakeResult | None:
        """Import what is new in a transcript; None if there is nothing in it for a memory.

        With `ended`, all that is not in a run yet becomes one; without, finished turns are noted in the session
        that is open here. One that is not `ours` is about another repository: its runs can be found and say of which,
        but no session continues it, it leaves nothing open, and no memory is proposed from it. Busy if somebody else
        is at it; ScanFailed if it cannot be made safe: then nothing of it is kept.
        """
        now = import_progress.seen(path)
        before = self._known.at(dialect.name, path)
        if ended and before and before.ended and before.seen == now:
            origin = TranscriptOrigin(agent=before.agent, session=before.session)
            return self._told(before, SessionIntake(before, origin, now, ours=ours), TranscriptCounts())
        reading = self.repository.read(dialect, path)
        origin = self._cleaned(reading.origin)
        if origin.role == "internal":
            return None
        with import_progress.taking(self._clone.layout, origin.agent, origin.session):
            self._known.look_again()
            old = self._known.of(origin.agent, origin.session)
            return self._take(dialect, reading, SessionIntake(old, origin, now, ours=ours), ended=ended)

    def _take(
        self, dialect: Dialect, reading: TranscriptReading, taking: SessionIntake, *, ended: bool
    ) -> IntakeResult | None:
        old, now = taking.old, taking.now
        at = old.offset if ended else old.note_offset
        taking.same_file = import_progress.goes_on(old.seen, now)
        if at and old.origin and taking.same_file:
            taking.origin, taking.offset = _origin(old.origin), at
            reading = dialect.read(now.path, at, taking.origin)
        taking.until = run_anchor.latest_moment(now.mtime, self._clone.clock())
        origin = taking.origin = run_anchor.believed_start(taking.origin, taking.until)
        reading.turns = self._anchors.on_branches(run_anchor.believed_turns(reading.turns, taking.until), origin)
        if ended:
            self._seal(reading, taking)
        elif self._sessions and origin.role != "subagent":
            self._note(reading, taking)
        new = self._known.of(origin.agent, origin.session)
        return self._told(new, taking, reading.counted) if new.runs or taking.any else None

    def _cleaned(self, origin: TranscriptOrigin) -> TranscriptOrigin:
        """An origin without secrets, and with a name that can be compared."""
        safe = self._clone.intake.value(asdict(origin))
        name = safe["session"]
        return _origin({**safe, "session": name if 0 < len(name) <= run_files.MAX_NAME else mark(name)})

    def _told(self, progress: ImportProgress, taking: SessionIntake, counted: TranscriptCounts) -> IntakeResult:
        return IntakeResult(
            agent=progress.agent,
            session=progress.session,
            runs=tuple(taking.runs),
            turns=taking.turns,
            copies=taking.copies,
            twins=taking.twins,
            session_id=progress.session_id,
            last_session=taking.session or progress.session_id,
            anchor=taking.anchor,
            counted=counted,
            said={run: list(said_in_run(self._folder(run))) for run in progress.unharvested if taking.ours},
        )

    def _folder(self, run: str) -> str:
        places = [store.run(run) for store in self._clone.stores]
        return next((place for place in places if os.path.isdir(place)), places[0])

    def _new_turns(
        self, reading: TranscriptReading, taking: SessionIntake
    ) -> Iterator[tuple[TranscriptTurn, TranscriptTurn | None]]:
        """The turns, or parts of turns, that nobody took in before; of a part also the whole turn."""
        for turn in reading:
            taking.any, taking.offset = True, turn.start
            fresh = self._known.fresh(turn, taking.origin.agent, taking)
            if fresh is not None:
                yield fresh, (turn if taking.began_before(turn) else None)

    def _seal(self, reading: TranscriptReading, taking: SessionIntake) -> None:
        """Make a run of all that is new on a branch; if killed, the next command finds it whole or begins again."""
        run, origin = None, taking.origin
        try:
            for turn, whole in self._new_turns(reading, taking):
                branch = run_files.branch_of(turn, origin)
                if run is not None and branch and branch != (run.branch or branch):  # an unknown one is no other
                    self._finish(run, taking, is_last=False)
                    run = None
                rest: TranscriptTurn | None = turn
                while run is None and rest is not None:
                    run = self._begin(rest, taking)
                    if run is None:  # it was sealed before, and nobody had remembered it
                        rest = self._known.fresh(rest, origin.agent, taking)
                        whole = turn if taking.began_before(turn) else None
                if run is not None and rest is not None:
                    run.branch = run.branch or branch
                    n = taking.number(rest)
                    ts = run_anchor.turn_began(rest, origin) or taking.until
                    run.filling.add(rest, n=n, ts=ts, key=taking.last, whole=whole)
                    taking.take(rest, whole)
            if run is not None:
                self._finish(run, taking, is_last=True)
                run = None
                return
        finally:
            if run is not None:  # what was written is still in the transcript
                run.filling.close()
                run.capsule.drop()
        # Nothing was new: how the file looks is remembered, so that the next time it need not be read.
        if taking.any or taking.old.runs:
            known = {"role": origin.role, "parent": origin.parent, "offset": taking.offset}
            self._remember(taking, lambda old: replace(old, ended=True, **known))

    def _remember(self, taking: SessionIntake, change: Callable[[ImportProgress], ImportProgress]) -> None:
        def seen(old: ImportProgress) -> ImportProgress:
            origin = taking.origin
            if "recordings" in self._clone.sealed_scope:  # a title is often the first prompt
                origin = replace(origin, title=None)
            return replace(change(old), seen=taking.now, origin=asdict(origin))

        stores = finish_run.stores_of(self._clone)
        import_progress.change(stores, taking.origin.agent, taking.origin.session, seen)
        self._known.look_again()

    def _finish(self, run: "_Run", taking: SessionIntake, *, is_last: bool) -> None:
        """Record a run; unless it `is_last`, the session goes on with another one, on another branch."""
        how_far = {"offset": taking.offset if is_last else taking.taken_at, "count": taking.count, "last": taking.last}
        read = {"origin": asdict(taking.origin), "seen": asdict(taking.now), **how_far, "goes_on": not is_last}
        run.filling.finish(read, decided=self._decided)
        try:
            event = finish_run.conclude(self._clone, run.capsule, self._lines)
        finally:
            run.capsule.let_go()
        taking.runs.append(run.capsule.run_id)
        taking.anchor = run.placed.how
        self._commits |= {*run.filling.commits, *filter(None, [event.head])}
        self._known.look_again()
        taking.know(self._known.of(taking.old.agent, taking.old.session))

    def _begin(self, turn: TranscriptTurn, taking: SessionIntake) -> "_Run | None":
        """A new capsule for what begins with this turn; None if there is one already."""
        origin = taking.origin
        said = run_anchor.turn_began(turn, origin)
        ts = said or taking.until
        run_id = _run_id(origin, turn, ts)
        if run_id in self._clone.erased():
            taking.take(turn, None, counts=False)
            return None
        if self._is_there(run_id, taking):
            return None
        old, first = taking.old, not taking.old.runs
        branch, told = run_files.branch_of(turn, origin), said is not None
        there = self._anchors.arrival(turn, origin, ts) if told else ts
        placed = self._anchors.place(origin, ts=there, branch=branch, cwd=turn.cwd, first=first, told=told)
        context = self._context(turn, placed, taking)
        names = {"run_id": run_id, "parent_run_id": self._parent(origin, old, run_id), "started": ts}
        context = self._clone.intake.value({**context, **names, "transcript": {"path": taking.now.path}})
        clear(self._clone.layout, run_id)  # its id is this session's, and nobody else takes that in now
        capsule = Capsule.create(self._clone.layout, run_id, context, vault=self._clone.recording_vault())
        place = TranscriptPaths(self.repository.top_for(origin), origin.cwd)
        try:
            filling = RunFilesWriter(capsule, context, origin, place, scan=self._clone.intake, anchors=self._anchors)
        except HoldfastError:
            capsule.drop()
            raise
        return _Run(capsule, filling, placed, branch)

    def _is_there(self, run_id: str, taking: SessionIntake) -> bool:
        """Whether a run was sealed before; one that was cut short is finished first, or taken away."""
        folder = self._folder(run_id)
        if not os.path.isdir(folder):
            return False
        if os.path.lexists(os.path.join(folder, OPEN)):
            vault = self._clone.recording_vault(folder)
            taken = Capsule.take_over(self._clone.layout, run_id, folder=folder, vault=vault)
            if taken is None:
                raise Busy(f"run {run_id} is being imported by another command")
            try:
                finish_run.conclude_again(self._clone, taken)
            finally:
                taken.let_go()
        context = finish_run.context_of(folder)
        if context is None:
            return False
        finish_run.remember_again(self._clone, folder, context)
        self._known.look_again()
        taking.know(self._known.of(taking.old.agent, taking.old.session))
        return True

    def _context(self, turn: TranscriptTurn, placed: run_anchor.RunPlacement, taking: SessionIntake) -> dict[str, Any]:
        """What is known of a run when it begins, besides its names."""
        repo, origin = self._clone.repo, taking.origin
        cwd = turn.cwd or origin.cwd
        tree = self.repository.tree_of(cwd) or repo.common_dir
        top = self.repository.top_for(origin)
        line = agent_session.ELSEWHERE if placed.elsewhere else placed.line
        session, begun = agent_session.session_for(self._clone, taking.old, line, taking.key(turn))
        return {
            "v": 1,
            **dict.fromkeys(("task", "layer", "systemic_scale", "command", "plan")),
            "prompt": cut(turn.prompt, MAX_PROMPT) or None,
            "environment": {},
            "cwd": os.path.relpath(cwd, top) if cwd and top else None,
            "worktree": os.path.relpath(tree, repo.common_dir),
            "anchor": {"head": placed.head, "branch": placed.branch, "dirty": None, "how": placed.how},
            "line": placed.line,
            "repository": None if taking.ours else _called(origin),
            "agent": {
                "name": origin.agent,
                **{name: getattr(origin, name) for name in ("session", "role", "parent", "version", "title")},
            },
            # A helper's work is noted in the session of the agent that sent it.
            "session": {"id": session, "line": line, **({"first": begun} if begun else {})}
            if self._sessions and taking.ours and origin.role != "subagent"
            else None,
        }

    def _parent(self, origin: TranscriptOrigin, old: ImportProgress, run_id: str) -> str | None:
        """The run that this one goes on from: of the same session, else of the one it came from."""
        if old.runs:
            return old.runs[-1].run
        if origin.parent is None:
            return None
        runs = [one.run for one in self._known.of(origin.agent, origin.parent).runs]
        earlier = [run for run in runs if run[:16] <= run_id[:16]]
        return next(iter([*earlier[::-1], *runs]), None)

    def _note(self, reading: TranscriptReading, taking: SessionIntake) -> None:
        """Note the turns that are finished in the open session; nothing is sealed."""
        told: dict[str | None, tuple[run_anchor.RunPlacement, list[dict[str, Any]]]] = {}
        origin, now, noted = taking.origin, taking.now, taking.old.noted
        place = TranscriptPaths(self.repository.top_for(origin), origin.cwd)
        for turn, whole, finished in _looking_ahead(self._new_turns(reading, taking)):
            if not finished:
                break
            files = run_files.files_written(turn, place)
            n, ts, key = taking.number(turn), run_anchor.turn_began(turn, origin) or taking.until, taking.key(turn)
            row = run_files.turn_row(turn, origin, place, n=n, ts=ts, key=key, files=files, whole=whole)
            row |= run_files.committed_in(turn, row, origin, self._anchors) if place.top else {}
            also = run_files.helper_files(turn, now.path, origin.agent, place)
            row["files"] = list(dict.fromkeys([*row["files"], *also]))[: run_files.TURN_FILES]
            self._commits.update(row["commits"])
            taking.take(turn, whole, counts=row["key"] not in noted)
            branch = run_files.branch_of(turn, origin)
            if branch not in told:
                at = self._anchors.arrival(turn, origin, ts)
                placed = self._anchors.place(origin, ts=at, branch=branch, cwd=turn.cwd, first=False)
                told[branch] = placed, []
            told[branch][1].append(self._clone.intake.value(row))
        if not told:
            return
        parts = [*told.values()]
        if "recordings" in self._clone.sealed_scope:
            parts = [(placed, [agent_session.row_without_words(row) for row in rows]) for placed, rows in parts]
            origin = replace(origin, title=None)
        session, taking.session = agent_session.note(self._clone, origin, taking.old.session_id, parts)
        keys = {row["key"] for _, rows in parts for row in rows}

        def changed(old: ImportProgress) -> ImportProgress:
            offset = old.offset if import_progress.goes_on(old.seen, now) else 0
            how_far = {"note_offset": taking.taken_at, "offset": offset, "ended": False}
            return replace(old, noted=old.noted | keys, session_id=session, **how_far)

        self._remember(taking, changed)


@mutable
class _Run:
    """A run being written."""

    capsule: Capsule
    filling: RunFilesWriter
    placed: run_anchor.RunPlacement
    branch: str | None  # of its turns


def _looking_ahead(
    turns: Iterator[tuple[TranscriptTurn, TranscriptTurn | None]],
) -> Iterator[tuple[TranscriptTurn, TranscriptTurn | None, bool]]:
    """Each turn with whether it is finished: another follows, or it ends with an answer."""
    before: tuple[TranscriptTurn, TranscriptTurn | None] | None = None
    for pair in turns:
        if before is not None:
            yield (*before, True)
        before = pair
    if before is not None:
        last = before[0].steps[-1] if before[0].steps else None
        yield (*before, before[0].interrupted or bool(last and last.text.strip() and not last.calls))


def _run_id(origin: TranscriptOrigin, turn: TranscriptTurn, ts: str) -> str:
    """The id of the run that begins with a turn: always the same, so that it is made once."""
    first = mark(turn.steps[0].id) if turn.steps else ""
    named = "\n".join((origin.agent, origin.session, mark(turn.key), first))
    number = int.from_bytes(hashlib.sha256(named.encode("utf-8", "replace")).digest()[:8], "big")
    token = "".join(ALPHABET[number >> 5 * at & 31] for at in range(_TOKEN))
    return f"{ts[:19].replace('-', '').replace(':', '')}Z-{token}"


def _called(origin: TranscriptOrigin) -> str:
    """What a session calls its repository: a remote's address, else its folder's name."""
    folder = os.path.basename((origin.cwd or "").rstrip("/"))
    return (session_repository.address(origin.remote) if origin.remote else folder) or "unknown"


def _origin(known: Mapping[str, Any]) -> TranscriptOrigin:
    names = {one.name for one in fields(TranscriptOrigin)}
    return TranscriptOrigin(**{name: value for name, value in known.items() if name in names})
