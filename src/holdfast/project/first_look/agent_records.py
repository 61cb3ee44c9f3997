"""Reads agents' transcripts of this repository without storing them: who worked, and what may be remembered."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

from holdfast.capture import agents
from holdfast.capture.agents.transcript_reader import Dialect
from holdfast.capture.ingest.duplicates import TurnMarks, TurnTally
from holdfast.capture.ingest.run_files import said_in_turn
from holdfast.capture.ingest.session_repository import SessionRepository, relative
from holdfast.capture.records.knowledge_files import SkippedKnowledge
from holdfast.curation import extraction
from holdfast.errors import HoldfastError
from holdfast.git.clone import Clone
from holdfast.model.transcript import TranscriptOrigin, TranscriptQuotes, TranscriptTurn, line_hash, telling_lines
from holdfast.model.utterance import ExtractedMemory, TriedCommand, Utterance
from holdfast.project.surviving_text import LookedAtFiles, SessionFiles, still_stands
from holdfast.store import import_progress, transcript_files
from holdfast.values import field, frozen, mutable

# The limits are guesses: a first look must take seconds.
MAX_BYTES = 96 << 20  # of transcripts that are read, the newest first
MAX_SESSIONS = 300  # of one agent
MANY, LARGE, UNREADABLE = "too many for a look", "too large for a look", "unreadable"
MAX_TURNS = 400  # of one session whose text is read; later turns are only counted
MAX_LINES = 400  # of one edit that are hashed; enough to recognise a file later


@frozen
class OlderSessions:
    """Older sessions of one agent in this repository, from before the days of the look."""

    agent: str
    sessions: int
    days: int  # the number of days that includes all of them


@frozen
class SeenSession:
    """The sessions of one agent here, in the days of the look."""

    agent: str
    sessions: int
    turns: int
    files: int  # written, of this repository
    newest: str | None
    new: int = 0  # sessions that were not imported, or that continued since


@frozen
class TriedCommit:
    """A commit of the last days."""

    oid: str
    subject: str
    when: datetime | None
    files: tuple[str, ...] = ()
    body: str = ""


@frozen
class TriedPlace:
    """The place of a quote: a session's turn, a commit, or a line of a file."""

    kind: str  # an agent's name, "git" or "file"
    name: str  # the session, the commit, the path
    turn: int | None  # or the line of a file
    ts: str | None


@frozen
class TriedQuote:
    """A statement with its place, and the lines that were written in the same turn."""

    found: ExtractedMemory
    place: TriedPlace
    wrote: Mapping[str, frozenset[str]]  # path from the top: hashes of the lines written
    commits: tuple[TriedCommit, ...] = ()


@mutable
class _Count:
    sessions: int = 0
    of: list[tuple[tuple[bool, str, str], list[TurnMarks]]] = field(default_factory=list)  # in the order of an import
    files: set[str] = field(default_factory=set)
    newest: str | None = None
    new: int = 0


@mutable
class History:
    """What agents' transcripts of some days hold."""

    seen: list[SeenSession] = field(default_factory=list)
    quotes: list[TriedQuote] = field(default_factory=list)
    files: int = 0  # transcripts of these days
    left: list[SkippedKnowledge] = field(default_factory=list)  # MANY, LARGE or UNREADABLE
    older: list[tuple[str, datetime]] = field(default_factory=list)  # older sessions of this repository: agent, start


def read(clone: Clone, *, environ: Mapping[str, str], home: str, now: datetime, days: int) -> History:
    """Reads agents' transcripts of the last days about this repository."""
    history, since, tally = History(), now - timedelta(days=days), TurnTally()
    repository = SessionRepository(clone)
    room = MAX_BYTES
    for dialect in map(agents.dialect, agents.DIALECTS):
        counted, old = _Count(), 0
        for path, size, is_recent in _files(dialect, dict(environ), home, since):
            if not is_recent:
                old += 1
                if old <= MAX_SESSIONS:
                    _note_older(history, dialect, path, repository)
                continue
            history.files += 1
            if counted.sessions >= MAX_SESSIONS or size > room:
                history.left.append(SkippedKnowledge(path, LARGE if size > room else MANY))
                continue
            is_ours = _read_one(history, counted, dialect, path, clone=clone, repository=repository, since=since)
            room -= is_ours * size
        if counted.sessions:
            turns = sum(tally.of_session(dialect.name, marks) for _, marks in sorted(counted.of))
            counts = (counted.sessions, turns, len(counted.files), counted.newest, counted.new)
            history.seen.append(SeenSession(dialect.name, *counts))
    return history


def _files(dialect: Dialect, environ: dict[str, str], home: str, since: datetime) -> Iterator[tuple[str, int, bool]]:
    """Yields an agent's transcripts, each with its size and whether it changed since a time."""
    folder = dialect.home(environ, home)
    for path in dialect.files(folder) if os.path.isdir(folder) else ():
        try:
            facts = transcript_files.facts(path)
        except OSError:
            continue
        yield path, facts.size, facts.mtime_ns >= since.timestamp() * 1e9


def _note_older(history: History, dialect: Dialect, path: str, repository: SessionRepository) -> None:
    """Notes the start of an older transcript if it is of this repository; reads only its beginning."""
    try:
        origin = repository.read(dialect, path).origin
        if origin.role in ("main", "fork") and repository.owns(origin):
            history.older.append((dialect.name, moment(origin.started) or _changed(path)))
    except (HoldfastError, OSError, ValueError):
        pass  # its contents are not needed


def _changed(path: str) -> datetime:
    return datetime.fromtimestamp(transcript_files.facts(path).mtime_ns / 1e9, UTC)


def _read_one(
    history: History,
    counted: _Count,
    dialect: Dialect,
    path: str,
    *,
    clone: Clone,
    repository: SessionRepository,
    since: datetime,
) -> bool:
    """Reads one transcript; returns whether it is of this repository."""
    try:
        reading = repository.read(dialect, path)
        origin = reading.origin
        if origin.role == "internal" or not repository.owns(origin):
            return False
        session = _Session(clone, origin, repository.top_for(origin), since)
        for turn in reading:
            session.add(turn)
        new = _is_new(clone, origin, path)
    except (HoldfastError, OSError, ValueError):
        history.left.append(SkippedKnowledge(path, UNREADABLE))
        return False
    if session.marks:
        counted.sessions += origin.role in ("main", "fork")
        counted.new += new and origin.role in ("main", "fork")
        counted.of.append(((origin.role == "subagent", origin.started or "", path), session.marks))
        counted.files |= session.files
        counted.newest = max(filter(None, (counted.newest, session.newest)), default=None)
        history.quotes += session.quotes()
    elif origin.role in ("main", "fork"):
        history.older.append((dialect.name, moment(origin.started) or since))
    return True


def _is_new(clone: Clone, origin: TranscriptOrigin, path: str) -> bool:
    """Whether a session was not imported, or its transcript changed since."""
    known = import_progress.load(clone.stores, origin.agent, origin.session)
    return known is None or not known.ended or known.seen != import_progress.seen(path)


@frozen
class AgentHistory:
    """All sessions of one agent in this repository."""

    agent: str
    sessions: int
    new: int  # that were not imported, or that continued since
    size: int  # bytes of the new ones
    oldest: str | None  # when the first of them began


def histories(
    clone: Clone, *, environ: Mapping[str, str], home: str, progress: Callable[[int, int], None] = lambda *_: None
) -> list[AgentHistory]:
    """Counts agents' sessions in this repository; reads only the beginning of each transcript."""
    repository, everything = SessionRepository(clone), datetime.fromtimestamp(0, UTC)
    tools = [agents.dialect(name) for name in agents.DIALECTS]
    files = [(tool, *one) for tool in tools for one in _files(tool, dict(environ), home, everything)]
    found: dict[str, list[tuple[bool, int, str | None]]] = {}
    for number, (tool, path, size, _) in enumerate(files):
        progress(number + 1, len(files))
        try:
            reading = repository.read(tool, path)
            origin = reading.origin
            if origin.role in ("main", "fork") and repository.owns(origin) and next(iter(reading), None):
                one = (_is_new(clone, origin, path), size, origin.started)
                found.setdefault(tool.name, []).append(one)
        except (HoldfastError, OSError, ValueError):
            continue  # the import reports what it cannot read
    return [_counted(name, sessions) for name, sessions in found.items()]


def _counted(name: str, sessions: Sequence[tuple[bool, int, str | None]]) -> AgentHistory:
    new = [size for is_new, size, _ in sessions if is_new]
    oldest = min(filter(None, (one[2] for one in sessions)), default=None)
    return AgentHistory(name, len(sessions), len(new), sum(new), oldest)


class _Session:
    """One transcript, turn by turn."""

    def __init__(self, clone: Clone, origin: TranscriptOrigin, top: str | None, since: datetime) -> None:
        self._clone, self._origin, self._top, self._since = clone, origin, top, since
        self._files = LookedAtFiles(clone.repo.top)
        self._utterances: list[Utterance | TriedCommand] = []
        self._quotes = TranscriptQuotes()
        self._turns: dict[int, tuple[str | None, dict[str, frozenset[str]]]] = {}  # number: time, lines written
        self.marks: list[TurnMarks] = []  # of the turns since that time
        self.files: set[str] = set()
        self.newest: str | None = None

    def add(self, turn: TranscriptTurn) -> None:
        """Counts a turn unless it is too old, and reads it if it is one of the first."""
        ts = turn.ts or next((step.ts for step in turn.steps if step.ts), None) or self._origin.started
        if is_before(ts, self._since):
            return
        self.marks.append(TurnMarks.of(turn))
        self.newest = max(filter(None, (self.newest, ts)), default=None)
        wrote, number = self._written(turn), len(self._turns) + 1
        self.files |= wrote.keys()
        if number <= MAX_TURNS:
            self._turns[number] = (ts, wrote)
            self._note_code(turn, number, ts, wrote)
            self._utterances += said_in_turn(self._quotes.out_of(turn), number, wrote)

    def _note_code(self, turn: TranscriptTurn, number: int, ts: str | None, wrote: Mapping[str, object]) -> None:
        """Notes what an import knows of a turn, so that the same statements are left out: what is gone, or mended."""
        began = (moment(ts) or datetime.fromtimestamp(0, UTC)).isoformat()
        ended = next((at for step in reversed(turn.steps) if (at := moment(step.ts))), None)
        row = {"turn": number, "ts": began, "ended": ended.isoformat() if ended else began, "files": [*wrote]}
        self._files.rows.append({**row, "commits": turn.commits, "wrote": bool(wrote)})
        self._files.texts += [
            text for call in turn.calls for text in (call.text, call.result.text if call.result else "")
        ]

    def _written(self, turn: TranscriptTurn) -> dict[str, frozenset[str]]:
        """Returns path to the lines that the turn wrote and did not remove again."""
        found: dict[str, set[str]] = {}
        for call in turn.calls:
            if call.result is None or call.result.failed or call.result.refused:
                continue
            for edit in call.edits:
                path = relative(edit.path, self._top, turn.cwd or self._origin.cwd)
                if path is not None:
                    lines = found.setdefault(path, set())
                    lines -= set(map(line_hash, edit.removed))
                    lines |= set(map(line_hash, telling_lines(edit.added)[:MAX_LINES]))
        return {path: frozenset(lines) for path, lines in found.items()}

    def quotes(self) -> Iterator[TriedQuote]:
        """Yields the statements that may be worth remembering."""
        holds = partial(still_stands, SessionFiles(self._clone, "", self._files))
        for one in extraction.find_claims(self._utterances, holds=holds):
            ts, wrote = self._turns.get(one.turn, (None, {}))
            yield TriedQuote(one, TriedPlace(self._origin.agent, self._origin.session, one.turn, ts), wrote)


def moment(ts: str | None) -> datetime | None:
    """Returns a transcript's timestamp as a time; None if it is not one."""
    try:
        found = datetime.fromisoformat(ts or "")
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def is_before(ts: str | None, since: datetime) -> bool:
    """Whether a timestamp is before a time; False without a timestamp."""
    found = moment(ts)
    return found is not None and found < since
