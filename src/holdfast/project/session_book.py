"""Sessions: the current work, and what the next agent or person needs to continue it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.capture import condense, session_lookup
from holdfast.capture import session_work as capture
from holdfast.errors import BadInput, HoldfastError, NotFound
from holdfast.index import refresh
from holdfast.model import brief
from holdfast.model.ids import token
from holdfast.patterns import PatternFile
from holdfast.project import context_builder, run_log
from holdfast.project.concern import Concern
from holdfast.recall import lookup
from holdfast.recall.pack import context_pack, last_session, material, pack_lines
from holdfast.store import import_progress, session_files, tally
from holdfast.values import frozen, replace

if TYPE_CHECKING:
    from holdfast.model.session import Session
    from holdfast.recall.pack.material import PackMaterial
    from holdfast.recall.pack.pack_lines import PackLine, PackSection

BUDGET = 4000  # tokens by default; a guess: room for the session and the memory, and little of a model's window
SECTIONS = (
    *("session", "changed", "open", "blocked", "invariants", "decisions", "dead-ends", "assumptions"),
    *("goals", "facts", "links"),
)
_TEXTS = PatternFile(__file__)
_RUNS = 3  # the newest runs that are included; a guess: older ones say little about the current state
_CONSIDERED = 200  # newest runs among which those of this branch are searched; a guess that bounds the reading
_STEPS = 6  # next steps shown; a guess: a longer list is no list of what to do first
_LEAST, _TRIES = 200, 6  # tokens of the pack at least; attempts to fit the budget: guesses


@frozen(kw_only=True)
class Handoff:
    """A handoff: the pack, and the facts about the work for `--json`."""

    pack: context_pack.ContextPack
    session: str | None
    objective: str | None
    branch: str | None
    head: str | None
    uncommitted: tuple[str, ...]
    next: tuple[str, ...]
    runs: tuple[str, ...]


class SessionBook(Concern):
    """The work sessions of this clone. A line is the id of a branch's work."""

    subject = "sessions"

    def start(self, objective: str, **fields: Any) -> Session:
        """Opens a session on this branch and work tree.

        Fields: agent, agent_session, tasks, again (end the one that is open here first).
        """
        if not objective.strip():
            raise BadInput("the objective is empty", hint="Say in one sentence what the session is for.")
        journal = self.settings.journal_path
        return self.shown(capture.start(self.active, objective=objective, journal=journal, **fields))

    def note(self, summary: str = "", *, environ: Mapping[str, str] | None = None, **fields: Any) -> capture.Noted:
        """Adds a turn to the session, durably.

        Fields: session, commands, files, open, close, follow_ups, approvals, granted, denied, decisions,
        scratchpad, task, run.
        """
        fields.setdefault("run", self.project.parent_run)
        how = condense.CondenseSettings(
            after=self.settings.number("session.condense_after"),
            budget=self.settings.number("session.budget"),
            command=self.settings.model_command,
            calls_per_day=self.settings.number("model.calls_per_day"),
            environ=self.project.environ if environ is None else environ,
        )
        journal = self.settings.journal_path
        return self.shown(capture.note(self.active, summary, condense_by=how, journal=journal, **fields))

    def end(self, *, session: str | None = None, summary: str | None = None, reason: str = "ended") -> capture.Ending:
        """Closes a session; returns the commits since its start, and the tasks that they mention."""
        ending = capture.end(
            self.active,
            session=session,
            summary=summary,
            reason=reason,
            with_tasks=self.settings.has("tasks"),
            journal=self.settings.journal_path,
        )
        self.project.harvest.from_session(ending.session)
        return self.shown(ending)

    def show(self, name: str | None = None) -> Session:
        """Returns a session by its id or the start of it; without one, the open one here or the last of this line."""
        return session_lookup.find(self.active, name)

    def last(self) -> Session | None:
        """Returns the session that the next one here continues: this branch's, else the nearest one; None if none."""
        try:
            return session_lookup.find(self.active)
        except NotFound:
            return last_session.choose(self.clone, self.all()).session

    def all(self) -> list[Session]:
        """Returns every session of this clone, oldest first."""
        return session_files.everywhere(self.active.stores)

    def edit(self, name: str, **changes: Any) -> Session:
        """Changes a session's summary, objective or scratchpad."""
        found = session_lookup.find(self.active, name)
        return self.shown(capture.edit(self.clone, found.id, **changes))

    def current_id(self) -> str | None:
        """Returns the id of the session that is open on this branch in this work tree."""
        try:
            found = session_lookup.current(self.clone) if self.settings.has("sessions") else None
        except HoldfastError:  # the id only labels claims; a damaged session must not stop them
            return None
        return found.id if found else None

    def stale(self) -> list[session_lookup.Stale]:
        """Returns the open sessions that seem abandoned."""
        return session_lookup.stale(self.clone)

    def handoff(self, *, budget: int | None = None) -> Handoff:
        """Builds what another agent or person needs to take over the current work, within a budget of tokens."""
        self.project.seen = refresh.signature_of(self.clone)
        found = self.project.context.material("", (), self.project.memory.knowledge().standings)
        session, room = found.chosen.session, budget or BUDGET
        runs = self._last_runs(session)
        last = self._summary_of(runs[0]).get("May still be open", []) if runs else []
        # What the last run left open, unless its session lists it as open itself.
        known = tuple(" ".join(one.text.split()) for one in session.still_open) if session else ()
        left = [one for one in last if not one.startswith("None was ") and not one.rstrip("”").endswith(known)]
        work = pack_lines.PackSection("work", "The work to take over (unreviewed)", tuple(_work(found, left)))
        rows = self._left_by_runs(runs, known=[*last, session.summary if session else ""])
        lines = tuple(pack_lines.first_lines(rows, room // 3))  # a third, a guess: memory gets the rest
        after = pack_lines.PackSection("runs", "What the last runs left (unreviewed)", lines, more="holdfast show RUN")
        extra = [part for part in (work, after) if part.lines]
        packed = self._packed(found, extra, room)
        tally.count(self.clone.layout, "handoff")
        return Handoff(
            pack=replace(packed, receipt=self.project.context.keep_receipt(packed, found)),
            session=session.id if session else None,
            objective=session.objective or None if session else None,
            branch=found.branch,
            head=found.head,
            uncommitted=tuple(sorted(found.changed.uncommitted)),
            next=tuple([*next_steps(session), *left][:_STEPS]),
            runs=tuple(runs),
        )

    def _packed(self, found: PackMaterial, extra: Sequence[PackSection], budget: int) -> context_pack.ContextPack:
        """Builds the pack with these sections first, all within the budget; if needed, it drops the last of them."""
        clean = self.clone.scan.text
        front = [
            replace(one, lines=tuple(pack_lines.PackLine(clean(row.text), row.told) for row in one.lines))
            for one in extra
        ]
        room = budget - sum(pack_lines.count_tokens(text) + 1 for one in front for text in one.texts)
        for _ in range(_TRIES):
            packed = context_pack.build_pack(
                found, budget=max(_LEAST, room), marker=token(context_builder.MARKER), sections=SECTIONS, clean=clean
            )
            full = replace(packed, budget=budget, sections=(*front, *packed.sections))
            full = replace(full, tokens=pack_lines.count_tokens(context_pack.pack_text(full)))
            if full.tokens <= budget:
                break
            if room <= _LEAST:
                front = front[:-1] if len(front) > 1 else [_shorter(one) for one in front]
            room -= full.tokens - budget
        return full

    def _last_runs(self, session: Session | None) -> list[str]:
        """Returns the newest runs of the session to continue; if it had none, the newest of this line."""
        named = run_log.runs_of(session, import_progress.every(self.clone.stores)) if session else []
        if not named:
            line = self.clone.line().id
            events = self.clone.find_events("own", kinds=("run",), newest=_CONSIDERED)
            bodies = [self.clone.joined(event) for event in events if event.run_id and event.line == line]
            outputs = [(one["run_id"], one.get("outputs")) for one in bodies]
            # Not the runs of other repositories, which `import --all-projects` brings.
            named = sorted({run for run, out in outputs if not (isinstance(out, dict) and "repository" in out)})
        return named[::-1][:_RUNS]  # an id begins with the time

    def _left_by_runs(self, runs: Sequence[str], known: Sequence[str]) -> Iterator[PackLine]:
        """Yields the items of run summaries, one line each, without those in `known`."""
        for run in runs:
            told, parts = pack_lines.ToldRevision(run, "run", None, "what the last runs left"), self._summary_of(run)
            rows = [("", one) for one in parts.get("", [])[:1]]
            rows += [
                (f"{label}: ", row) for label, title in _TEXTS.pairs("of_run").items() for row in parts.get(title, ())
            ]
            yield from (pack_lines.plain_line(f"- {run} {label}{row}", told) for label, row in rows if row not in known)

    def _summary_of(self, run: str) -> dict[str, list[str]]:
        return sections_of(lookup.summary_of(self.clone.layout.run(run)) or "")


def sections_of(page: str) -> dict[str, list[str]]:
    """Returns the items of a run's summary by their heading; the sentence at its top under an empty heading."""
    found: dict[str, list[str]] = {}
    title = ""
    for row in page.splitlines():
        if row.startswith("## "):
            title = row[3:].strip()
        elif row.startswith("- ") and title:
            found.setdefault(title, []).append(row[2:].strip())
        elif row.strip() and not title and not row.startswith(("#", "- ")):
            found.setdefault("", []).append(row.strip())
    return found


def _shorter(one: PackSection) -> PackSection:
    return replace(one, lines=one.lines[: len(one.lines) // 2], left_out=len(one.lines) - len(one.lines) // 2)


def _work(found: PackMaterial, last: Sequence[str]) -> Iterator[PackLine]:
    """Yields the objective, the branch and commit, and the first steps."""
    session = found.chosen.session
    here = material.here(found)
    thread = pack_lines.ToldRevision(session.id, "session", None, "the session to continue") if session else here
    if session and session.objective:
        yield pack_lines.plain_line(f"- objective: {session.objective}", thread)
    branch = found.branch or "a detached HEAD"
    dirty = len(found.changed.uncommitted)
    files = f", {dirty:,} {'file' if dirty == 1 else 'files'} not committed" if dirty else ""
    at = f" at {found.head[:12]}" if found.head else ", before its first commit"
    yield pack_lines.plain_line(f"- where: {branch}{at}{files}", here)
    steps = [*next_steps(session), *(f"the last run left open: {one}" for one in last)]
    yield from (pack_lines.plain_line(f"- next: {one}", thread) for one in steps[:_STEPS])


def next_steps(session: Session | None) -> list[str]:
    """Returns a session's next steps: questions that wait, open items, and commands that failed when last run."""
    if session is None:
        return []
    asked = [f"ask the person: {one.text} ({one.id})" for one in session.pending]
    opened = [f"{one.text} ({one.id})" for one in session.still_open]
    failed = [f"fix what failed when last run: {one.text}" for one in brief.failing(session.commands)[-2:]]
    later = [f"follow up: {one.text} ({one.id})" for one in session.still_to_follow]
    return [*asked[:2], *opened[:3], *failed, *later[:2]]
