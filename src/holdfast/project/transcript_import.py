"""Imports transcripts of agents, on request and when hooks report them."""

from __future__ import annotations

import contextlib
import glob
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from holdfast.capture import agents
from holdfast.capture.agents import specstory
from holdfast.capture.ingest import agent_session, intake, live_transcripts, run_files, session_repository
from holdfast.capture.records import entire, knowledge_files
from holdfast.curation import extraction, propose
from holdfast.errors import BadInput, HoldfastError, NotFound, NotStored, ReadOnlyStore, TooLarge
from holdfast.index import refresh
from holdfast.model import event, memory, transcript, utterance
from holdfast.model.text import visible
from holdfast.patterns import regex
from holdfast.project import surviving_text
from holdfast.project.concern import Concern
from holdfast.recall.pack import sent_packs as given
from holdfast.store import agent_inbox, fsio, import_progress, receipt_files, tally, transcript_files
from holdfast.values import field, frozen, mutable, replace

if TYPE_CHECKING:
    from holdfast.capture.agents.transcript_reader import Dialect
    from holdfast.capture.ingest.intake import IntakeResult, TranscriptIntake
    from holdfast.capture.ingest.session_repository import SessionRepository
    from holdfast.capture.records.knowledge_files import SkippedKnowledge
    from holdfast.model.evidence import Evidence

Progress = Callable[[int, int], None]  # bytes done, bytes in all


# Why a transcript was left out.
OTHER, OLDER, EMPTY = "of another repository", "older than asked for", "nothing in it for a memory"


_NAME = regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}")
_MAX_FOUND = 10_000  # files of a named folder that are tried; a guess: bounds a wrong choice such as the home folder


@mutable
class Brought:
    """The result of an import, so far or final."""

    agent: str
    folder: str = ""  # where its transcripts are
    files: int = 0  # transcripts that were opened
    sessions: int = 0  # sessions that were imported, with those of sub-agents
    subagents: int = 0
    foreign: int = 0  # of these, sessions of other repositories (`--all-projects`)
    left: list[SkippedKnowledge] = field(default_factory=list)  # not asked for, each with why: OTHER, OLDER, EMPTY
    runs: list[str] = field(default_factory=list)  # created now
    turns: int = 0
    copies: int = 0  # turns that another session has as well
    twins: int = 0  # turns that were imported through another tool before
    unanchored: int = 0  # runs whose commit is unknown
    proposed: list[str] = field(default_factory=list)  # ids of new candidates
    joined: int = 0
    unknown: Counter[str] = field(default_factory=Counter)  # unknown records, by kind
    damaged: int = 0  # lines that are not a record
    partly: list[SkippedKnowledge] = field(default_factory=list)  # compressed ones that were read up to a limit
    skipped: list[SkippedKnowledge] = field(default_factory=list)

    def skip(self, path: str, error: BaseException) -> None:
        reason = str(error) if isinstance(error, HoldfastError | OSError) else f"it cannot be read: {error!r}"
        self.skipped.append(knowledge_files.SkippedKnowledge(path, reason))

    def add(self, taken: IntakeResult, *, ours: bool, role: str) -> None:
        self.sessions += 1
        self.subagents += role == "subagent"
        self.foreign += not ours
        self.runs += taken.runs
        self.turns += taken.turns
        self.copies += taken.copies
        self.twins += taken.twins
        self.unanchored += bool(taken.runs) and taken.anchor is None
        self.unknown += taken.counted.unknown
        self.damaged += taken.counted.damaged + taken.counted.too_long


@frozen
class _Chosen:
    """A transcript to import."""

    path: str
    size: int
    origin: transcript.TranscriptOrigin
    ours: bool = True


SMALL = 4 << 20  # bytes of transcripts that a command imports; a guess: more goes to the background, nobody waits


class TranscriptImport(Concern):
    """Imports of the sessions of agents from their transcripts."""

    def import_agent(
        self,
        name: str,
        path: str | None = None,
        *,
        since: str | datetime | None = None,
        everywhere: bool = False,
        progress: Progress | None = None,
    ) -> Brought:
        """Imports an agent's sessions in this repository; a second import adds only what is new.

        `path` is a transcript or a folder of them, by default the agent's own folder. `since` is a date or an age,
        such as 30d. `everywhere` imports the sessions of all repositories: those of others can be found, but they are
        not continued and propose nothing. A transcript named by `path` always counts as this repository's.
        """
        tool = agents.dialect(name)
        folder, files = self._places(tool, path)
        bringing = Brought(name, folder)
        with self._intake() as ingest:
            alone = path is not None and transcript_files.is_there(path)
            chosen = self._choose(tool, ingest, files, bringing, since=since, named=alone)
            if not everywhere:
                bringing.left += [knowledge_files.SkippedKnowledge(one.path, OTHER) for one in chosen if not one.ours]
                chosen = [one for one in chosen if one.ours]
            self._take_all(tool, ingest, chosen, bringing, progress or (lambda *_: None))
        return self._brought(bringing)

    def import_specstory(self, path: str | None = None, *, progress: Progress | None = None) -> Brought:
        """Imports the conversations that SpecStory wrote here, or those in a file or folder."""
        folder, tool = path or os.path.join(self.clone.repo.top, *specstory.FOLDER.split("/")), specstory.DIALECT
        if not os.path.exists(folder):
            raise NotFound(f"there is no folder {folder}", hint="Name the folder of SpecStory's history.")
        found = [folder] if os.path.isfile(folder) else [*tool.files(folder)]
        bringing = Brought("SpecStory", folder)
        with self._intake() as ingest:
            chosen = self._choose(tool, ingest, iter(found), bringing, since=None, named=True)
            self._take_all(tool, ingest, chosen, bringing, progress or (lambda *_: None))
        return self._brought(bringing)

    def import_entire(self, *, progress: Progress | None = None) -> Brought:
        """Imports the sessions that Entire kept, with the commits whose trailers name their checkpoints."""
        tell, repo = progress or (lambda *_: None), self.clone.repo
        tips = entire.tips(repo)
        if not tips:
            branch, refs = f"{entire.BRANCH}:{entire.BRANCH}", f"'{entire.REFS}*:{entire.REFS}*'"
            hint = f"Fetch what there is: git fetch origin {branch}, or git fetch origin {refs}"
            raise NotFound(f"there is neither a branch {entire.BRANCH} nor a ref below {entire.REFS}", hint=hint)
        bringing = Brought("Entire", "Entire's checkpoints")
        there = entire.sessions(repo, tips, unreadable=bringing.skip)
        total, passed = sum(one.size for one in there), 0
        for left in glob.glob(os.path.join(self.clone.layout.private, "entire", "*.jsonl")):
            fsio.remove(left)  # of an import that was killed
        with self._intake() as ingest:
            for one in there:
                bringing.files += 1
                self._take_entire(ingest, one, tips[0], bringing)
                passed += one.size
                tell(passed, total)
        return self._brought(bringing)

    def _take_entire(self, ingest: TranscriptIntake, one: entire.EntireSession, tip: str, bringing: Brought) -> None:
        """Imports one session: writes its transcript to a file that its agent's dialect can read, then deletes it."""
        if one.size > entire.MAX_BLOB:
            bringing.skip(one.session, TooLarge(f"its transcript has {one.size:,} bytes"))
            return
        folder = os.path.join(self.clone.layout.private, "entire")
        path = os.path.join(folder, one.file_name)
        fsio.make_dirs(folder)
        try:
            fsio.replace(path, self.clone.repo.blobs([one.blob]).get(one.blob, b""))
            self.clone.repo.forget_answers()
            name = next((name for name in agents.DIALECTS if agents.dialect(name).is_mine(path)), None)
            if name is None:
                bringing.skip(one.session, BadInput("the transcript is in no known agent's format"))
                return
            tool = entire.belonging(agents.dialect(name), one, tip)
            chosen = self._choose(tool, ingest, iter([path]), Brought(name), since=None, named=True)
            self._take_all(tool, ingest, chosen, bringing, lambda *_: None)
        finally:
            fsio.remove(path)
            with contextlib.suppress(OSError):
                fsio.ops.rmdir(folder)

    def _brought(self, bringing: Brought) -> Brought:
        if bringing.runs or bringing.proposed:
            self.project.views.render_quietly()
            self._forget_next()
            self.project.has_unread = self.project.models.embeds_in_background()
        return bringing

    def _intake(self) -> contextlib.closing[intake.TranscriptIntake]:
        sessions = self.settings.has("sessions")
        return contextlib.closing(intake.TranscriptIntake(self.clone, decided=decided, sessions=sessions))

    def _forget_next(self) -> None:
        """Deletes the stored answer to `next`: it does not know new plans."""
        refresh.keep_ready(self.clone, dict.fromkeys(("next", "next --json"), ("", "")), signature="")

    def _places(self, tool: Dialect, path: str | None) -> tuple[str, Iterator[str]]:
        """Returns the folder of the transcripts, and the transcripts."""
        if path is None:
            folder = tool.home(dict(self.project.environ), os.path.expanduser("~"))
            if not os.path.isdir(folder):
                raise NotFound(
                    f"there is no folder {folder}: {tool.name} was not used on this machine",
                    hint="Name the folder, or one transcript, after the agent.",
                )
            return folder, tool.files(folder)
        if transcript_files.is_there(path):
            return os.path.dirname(path), iter([path])
        if not os.path.isdir(path):
            raise BadInput(f"there is no file or folder {path}", hint="Check the path.")
        return path, _found_in(tool, path)

    def _choose(
        self,
        tool: Dialect,
        ingest: TranscriptIntake,
        files: Iterator[str],
        bringing: Brought,
        *,
        since: str | datetime | None,
        named: bool,
    ) -> list[_Chosen]:
        """Returns the transcripts since a date in order of their start, so that originals come before copies."""
        oldest = ago(since, self.clone.clock()) if isinstance(since, str) else since
        found = []
        for path in files:
            bringing.files += 1
            try:
                facts = transcript_files.facts(path)
                if oldest is not None and facts.mtime_ns < oldest.timestamp() * 1e9:
                    bringing.left.append(knowledge_files.SkippedKnowledge(path, OLDER))
                    continue
                found.append(_Chosen(path, facts.size, ingest.repository.read(tool, path).origin))
            except live_transcripts.BAD as error:
                bringing.skip(path, error)
        if not named:
            ingest.repository.look_for(one.origin.commit for one in found)
            found = list(_with_owner(found, ingest.repository, bringing))
        return sorted(found, key=lambda one: (one.origin.role == "subagent", one.origin.started or "", one.path))

    def _take_all(
        self, tool: Dialect, ingest: TranscriptIntake, chosen: Sequence[_Chosen], bringing: Brought, tell: Progress
    ) -> None:
        total = sum(one.size for one in chosen)
        passed = 0
        tell(0, total)
        for one in chosen:
            try:
                taken = ingest.take_in(tool, one.path, ended=True, ours=one.ours)
                if taken is None:
                    bringing.left.append(knowledge_files.SkippedKnowledge(one.path, EMPTY))
                else:
                    bringing.add(taken, ours=one.ours, role=one.origin.role)
                    if (end := taken.counted.read_to) is not None:
                        reason = f"it decompresses to more than {end >> 20} MiB; decompress it to import the rest"
                        bringing.partly.append(knowledge_files.SkippedKnowledge(one.path, reason))
                    self._harvest_transcript(taken, bringing, may_ask=True)
            except (NotStored, ReadOnlyStore):  # the next one would fail as well
                raise
            except live_transcripts.BAD as error:
                bringing.skip(one.path, error)
            passed += one.size
            tell(passed, total)

    def _harvest_transcript(self, taken: IntakeResult, bringing: Brought, *, may_ask: bool = False) -> None:
        """Proposes memories from the runs of a session; only `import` and background work ask the model command."""
        files = surviving_text.WrittenFiles(self.clone.repo.top)
        runs = {one.turn: run for run, said in taken.said.items() for one in said}
        written = {
            run: surviving_text.SessionFiles(self.clone, self.clone.layout.run(run), files) for run in taken.said
        }
        said = [one for some in taken.said.values() for one in some]  # together: what one run reports, the next mends
        if said:
            done = propose.harvest(
                self.clone,
                said,
                source=lambda turn: f"run:{runs[turn]}",
                evidence=lambda found: self._evidence(f"run:{runs[found.turn]}", written[runs[found.turn]], found),
                holds=lambda found: surviving_text.still_stands(written[runs[found.turn]], found),
                sent=self.project.harvest.sent([*taken.said, *([taken.session_id] if taken.session_id else [])]),
                ask=self.project.harvest.model_for(said) if may_ask else None,
            )
            bringing.proposed += done.new
            bringing.joined += done.joined
        if taken.said:
            stores = (self.clone.layout, *self.clone.stores)
            import_progress.harvested(stores, taken.agent, taken.session, taken.said)

    def _evidence(
        self, source: str, session: surviving_text.SessionFiles, found: utterance.ExtractedMemory
    ) -> list[str | Evidence]:
        """Returns the evidence of a find."""
        return [*_shown_by(source, session.folder, found), *session.cited(found)]

    def record(self, tool: Dialect, path: str) -> str:
        """Records the run of one of our own transcripts, once, and proposes its memories; returns the run's id."""
        with self._intake() as ingest:
            taken = ingest.take_in(tool, path, ended=True)
        if taken is None:
            raise BadInput(f"{path} has no run")
        self._propose_from(taken, may_ask=False)
        self.project.views.render_quietly()
        known = import_progress.load(self.clone.stores, taken.agent, taken.session)
        return known.runs[-1].run if known and known.runs else taken.runs[-1]

    def drain(self) -> live_transcripts.LiveDrain:
        """Imports the transcripts that hooks reported, in the background."""
        return self._drain(None)

    def drain_some(self) -> None:
        """Imports them within a command, if they are small; a failure becomes a note."""
        try:
            self.project.has_backlog = self._drain(SMALL).too_long
        except live_transcripts.BAD as error:
            self.clone.notes.append(f"transcripts of agents were not imported: {error}")

    def _drain(self, most: int | None) -> live_transcripts.LiveDrain:
        if not any(agent_inbox.is_filled(store) for store in self.clone.stores):
            live_transcripts.leave_no_drawer(self.clone)
            return live_transcripts.LiveDrain()
        for path, found in list(agent_inbox.packs(*self.clone.stores)):  # what sessions got at their start
            with contextlib.suppress(HoldfastError, OSError):
                self._keep_pack(found)
            with contextlib.suppress(HoldfastError, OSError):
                fsio.remove(path)
        with contextlib.suppress(HoldfastError, OSError):  # the user's folder may not be writable
            self.project.clients.note_uses()
        taken: list[IntakeResult] = []

        def take(agent: str, path: str, ended: bool, gone: bool) -> IntakeResult | None:
            tool = session_repository.only_this_repository(
                agents.spoken_by(agent), ingest.repository, self.clone.repo.top, gone=gone
            )
            found = ingest.take_in(tool, path, ended=ended)
            taken.extend([found] if found else [])
            return found

        with self._intake() as ingest:
            done = live_transcripts.drain(self.clone, take, now=time.time_ns(), most=most, find=self._find)
        for one in taken:
            self._propose_from(one, may_ask=most is None)
        gone = "an agent's transcript was deleted before it was imported"
        self.clone.notes.extend([*done.failed, *(f"{gone}: {visible(path)}" for path in done.vanished)])
        if done.turns or done.runs:
            self.project.views.render_quietly()
        if done.runs:
            self._forget_next()
        return done

    def _find(self, agent: str, session: str) -> str:
        """Returns the path of an agent's session by name; empty for a name that could lead out of its folder."""
        if not _NAME.fullmatch(session):
            return ""
        tool = agents.spoken_by(agent)
        return tool.find(tool.home(dict(self.project.environ), os.path.expanduser("~")), session)

    def _propose_from(self, taken: IntakeResult, *, may_ask: bool) -> None:
        """Proposes memories from a session, but not from its context; moves its receipts to its final session id."""
        first_id = agent_session.session_id(taken.agent, taken.session)
        try:
            if taken.session_id and taken.session_id != first_id:
                receipt_files.hand_over(self.clone.layout, first_id, taken.session_id)
            self._harvest_transcript(taken, Brought(taken.agent), may_ask=may_ask)
        except live_transcripts.BAD as error:
            self.project.harvest.not_harvested(f"{taken.agent} session {taken.session}", error)

    def _keep_pack(self, found: Mapping[str, Any]) -> None:
        """Stores the receipt of a pack that a hook printed, and counts it."""
        pack, agent, session, ts = (found.get(name) for name in ("pack", "agent", "session", "ts"))
        if not (isinstance(pack, dict) and isinstance(agent, str) and isinstance(session, str)):
            return
        head, lines = pack.get("head"), pack.get("lines")
        if not (isinstance(head, dict) and isinstance(lines, list) and isinstance(ts, int)):
            return
        when = event.timestamp(datetime.fromtimestamp(ts / 1e9, UTC))
        kept = [line for line in lines if isinstance(line, dict)]
        owner = agent_session.session_id(agent, session)
        full_head = {**head, "ts": when, "agent": agent, "agent_session": session}
        receipt_files.keep(self.clone.layout, owner, head=full_head, lines=kept, stores=self.clone.stores)
        took = found.get("took")
        # Checked again here: any program could have written the file.
        entries = [one for line in kept if isinstance(line.get("told"), list) for one in line["told"]]
        counted = given.counted(head, [one for one in entries if isinstance(one, dict)])
        tally.count_context(self.clone.layout, counted, took if type(took) is int else 0, now=int(ts // 1e9))


def _with_owner(found: Sequence[_Chosen], repository: SessionRepository, bringing: Brought) -> Iterator[_Chosen]:
    """Yields each transcript with whether it is this repository's; skips those that cannot be read."""
    for one in found:
        try:
            ours = repository.owns(one.origin)
        except live_transcripts.BAD as error:
            bringing.skip(one.path, error)
        else:
            yield replace(one, ours=ours)


def _shown_by(source: str, folder: str, found: utterance.ExtractedMemory) -> list[str]:
    """Returns the evidence of a find: its run, and the commits of its turn."""
    row = next((row for row in run_files.turns_of(folder) if row["turn"] == found.turn), None)
    return [source, *(f"commit:{oid}" for oid in (row["commits"] if row else ())[-3:])]


# Rules that a run's page leaves out: it shows requests, reports and commits already, and a cause may be fixed by now.
_LEFT_OUT = ("closing-report", "commit-message", "request", "root cause", "agents-words", "code-comment")
_LONG = 1_500  # characters; a guess: a longer prompt is a document, often the text of what is to be written


def decided(said: Sequence[utterance.Utterance | utterance.TriedCommand]) -> dict[str, list[str]]:
    """Returns the decisions, rules and findings of a run for its summary, by type of memory.

    It leaves out uncertain statements, an agent's remarks, reports and code comments, statements before later edits,
    and the contents of long prompts.
    """
    by_kind: dict[str, list[str]] = {}
    wrote = [one.turn for one in said if getattr(one, "wrote", False)]
    asked = [one for one in said if getattr(one, "source", "") == "request"]
    documents = {one.turn for one in asked if len(getattr(one, "text", "")) > _LONG}
    for one in extraction.find_claims(said):
        lasts = one.who == "user" or one.rule == "plan" or one.turn in wrote or one.turn > max(wrote, default=0)
        quoted = one.who == "user" and one.turn in documents
        # Guesses: plans and memory files lack words such as "we decided", so they need more confidence.
        least = 0.8 if one.rule in ("plan", "memory-file") else 0.5
        if lasts and not quoted and one.confidence > least and one.rule not in _LEFT_OUT:
            by_kind.setdefault(one.kind, []).append(one.statement)
    return by_kind


def _found_in(tool: Dialect, folder: str) -> Iterator[str]:
    """Yields the transcripts below a folder: those that the agent would find, then others in its format."""
    known = dict.fromkeys(tool.files(folder))
    yield from known
    left = _MAX_FOUND
    for place, folders, names in os.walk(folder):
        folders.sort()
        for path in (os.path.join(place, name) for name in sorted(names)):
            left -= 1
            if left < 0:
                return
            if path not in known and os.path.isfile(path) and tool.is_mine(path):  # a pipe would be waited for
                yield path


def ago(text: str, now: datetime) -> datetime:
    """Returns the time of a date such as `2026-10-01`, or of an age such as 30d or 12h."""
    try:
        return memory.moment(text.strip())
    except (ValueError, OverflowError):
        pass
    try:
        return now - (memory.expiry(text, now) - now)
    except (BadInput, OverflowError):
        raise BadInput(f"{text[:80]!r} is neither a date nor an age", hint="Write 2026-10-01, 30d or 12h.") from None
