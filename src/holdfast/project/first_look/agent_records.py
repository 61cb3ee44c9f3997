"""The agents' own records of this repository, read and not kept: who worked, and their words."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

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
from holdfast.store import import_progress, transcript_files
from holdfast.values import field, frozen, mutable

MAX_BYTES = 96 << 20  # of transcripts that are read, the newest first: a first look takes seconds
MAX_SESSIONS = 300
MANY, LARGE, UNREADABLE = "too many for a look", "too large for a look", "unreadable"
MAX_TURNS = 400  # of one session whose words are read; the others are only counted
MAX_LINES = 400  # written in one turn, by which a file is known again


@frozen
class OlderSessions:
    """Sessions of one tool in this repository from before the days that were looked at."""

    agent: str
    sessions: int
    days: int  # how far one has to look back to see all of them


@frozen
class SeenSession:
    """What one tool did here."""

    agent: str
    sessions: int
    turns: int
    files: int  # written, of this repository
    newest: str | None
    new: int = 0  # sessions that were not imported so far, or continued since


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
    """Where something was said: a session's turn, a commit, or a line of a file."""

    kind: str  # an agent's name, "git" or "file"
    name: str  # the session, the commit, the path
    turn: int | None  # or the line of a file
    ts: str | None


@frozen
class TriedQuote:
    """Something that was said, where, and the lines that were written with it."""

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
    """All that the tools' records of some days say."""

    seen: list[SeenSession] = field(default_factory=list)
    heard: list[TriedQuote] = field(default_factory=list)
    files: int = 0  # transcripts that were looked at
    left: list[SkippedKnowledge] = field(default_factory=list)  # MANY, LARGE or UNREADABLE
    older: list[tuple[str, datetime]] = field(default_factory=list)  # sessions of this repository: whose, when begun


def read(clone: Clone, *, environ: Mapping[str, str], home: str, now: datetime, days: int) -> History:
    """What agents' records of the last days say about this repository."""
    told, since, tally = History(), now - timedelta(days=days), TurnTally()
    whose = SessionRepository(clone)
    room = MAX_BYTES
    for dialect in map(agents.dialect, agents.DIALECTS):
        counted, old = _Count(), 0
        for path, size, is_recent in _there(dialect, dict(environ), home, since):
            if not is_recent:
                old += 1
                if old <= MAX_SESSIONS:
                    _pass_by(told, dialect, path, whose)
                continue
            told.files += 1
            if counted.sessions >= MAX_SESSIONS or size > room:
                told.left.append(SkippedKnowledge(path, LARGE if size > room else MANY))
                continue
            room -= _take(told, counted, dialect, path, clone=clone, whose=whose, since=since) * size
        if counted.sessions:
            turns = sum(tally.of_session(dialect.name, marks) for _, marks in sorted(counted.of))
            there = (counted.sessions, turns, len(counted.files), counted.newest, counted.new)
            told.seen.append(SeenSession(dialect.name, *there))
    return told


def _there(dialect: Dialect, environ: dict[str, str], home: str, since: datetime) -> Iterator[tuple[str, int, bool]]:
    """A tool's transcripts, each with its size and whether it was written to since."""
    folder = dialect.home(environ, home)
    for path in dialect.files(folder) if os.path.isdir(folder) else ():
        try:
            facts = transcript_files.facts(path)
        except OSError:
            continue
        yield path, facts.size, facts.mtime_ns >= since.timestamp() * 1e9


def _pass_by(told: History, dialect: Dialect, path: str, whose: SessionRepository) -> None:
    """Note that an older transcript is of this repository; nobody asked for what is in it."""
    try:
        origin = whose.read(dialect, path).origin
        if origin.role in ("main", "fork") and whose.owns(origin):
            told.older.append((dialect.name, moment(origin.started) or _written(path)))
    except (HoldfastError, OSError, ValueError):
        pass  # what is not looked at need not be readable


def _written(path: str) -> datetime:
    return datetime.fromtimestamp(transcript_files.facts(path).mtime_ns / 1e9, UTC)


def _take(
    told: History,
    counted: _Count,
    dialect: Dialect,
    path: str,
    *,
    clone: Clone,
    whose: SessionRepository,
    since: datetime,
) -> bool:
    """Read one transcript; whether it was one of this repository."""
    try:
        reading = whose.read(dialect, path)
        origin = reading.origin
        if origin.role == "internal" or not whose.owns(origin):
            return False
        session = _Session(origin, whose.top_for(origin), since)
        for turn in reading:
            session.add(turn)
        new = _is_new(clone, origin, path)
    except (HoldfastError, OSError, ValueError):
        told.left.append(SkippedKnowledge(path, UNREADABLE))
        return False
    if session.marks:
        counted.sessions += origin.role in ("main", "fork")
        counted.new += new and origin.role in ("main", "fork")
        counted.of.append(((origin.role == "subagent", origin.started or "", path), session.marks))
        counted.files |= session.files
        counted.newest = max(filter(None, (counted.newest, session.newest)), default=None)
        told.heard += session.heard()
    elif origin.role in ("main", "fork"):
        told.older.append((dialect.name, moment(origin.started) or since))
    return True


def _is_new(clone: Clone, origin: TranscriptOrigin, path: str) -> bool:
    """Whether a session was not imported as its transcript lies there now."""
    known = import_progress.load(clone.stores, origin.agent, origin.session)
    return known is None or not known.ended or known.seen != import_progress.seen(path)


@frozen
class AgentHistory:
    """The sessions of one agent in this repository, however old."""

    agent: str
    sessions: int
    new: int  # that were not imported so far, or continued since
    size: int  # bytes of the new ones
    oldest: str | None  # when the first of them began


def histories(
    clone: Clone, *, environ: Mapping[str, str], home: str, progress: Callable[[int, int], None] = lambda *_: None
) -> list[AgentHistory]:
    """What agents' records hold of this repository: transcripts are opened, and read no further than needed."""
    whose, everything = SessionRepository(clone), datetime.fromtimestamp(0, UTC)
    tools = [agents.dialect(name) for name in agents.DIALECTS]
    files = [(tool, *one) for tool in tools for one in _there(tool, dict(environ), home, everything)]
    found: dict[str, list[tuple[bool, int, str | None]]] = {}
    for number, (tool, path, size, _) in enumerate(files):
        progress(number + 1, len(files))
        try:
            reading = whose.read(tool, path)
            origin = reading.origin
            if origin.role in ("main", "fork") and whose.owns(origin) and next(iter(reading), None):
                one = (_is_new(clone, origin, path), size, origin.started)
                found.setdefault(tool.name, []).append(one)
        except (HoldfastError, OSError, ValueError):
            continue  # the import says what it cannot read
    return [_counted(name, there) for name, there in found.items()]


def _counted(name: str, there: Sequence[tuple[bool, int, str | None]]) -> AgentHistory:
    new = [size for is_new, size, _ in there if is_new]
    return AgentHistory(
        name, len(there), len(new), sum(new), min(filter(None, (one[2] for one in there)), default=None)
    )


class _Session:
    """One transcript, turn by turn."""

    def __init__(self, origin: TranscriptOrigin, top: str | None, since: datetime) -> None:
        self._origin, self._top, self._since = origin, top, since
        self._said: list[Utterance | TriedCommand] = []
        self._quotes = TranscriptQuotes()
        self._of: dict[int, tuple[str | None, dict[str, frozenset[str]]]] = {}
        self.marks: list[TurnMarks] = []  # of the turns that are young enough
        self.files: set[str] = set()
        self.newest: str | None = None

    def add(self, turn: TranscriptTurn) -> None:
        """Count a turn that is young enough, and read it if it is one of the first."""
        ts = turn.ts or next((step.ts for step in turn.steps if step.ts), None) or self._origin.started
        if is_before(ts, self._since):
            return
        self.marks.append(TurnMarks.of(turn))
        self.newest = max(filter(None, (self.newest, ts)), default=None)
        wrote, number = self._written(turn), len(self._of) + 1
        self.files |= wrote.keys()
        if number <= MAX_TURNS:
            self._of[number] = (ts, wrote)
            self._said += said_in_turn(self._quotes.out_of(turn), number)

    def _written(self, turn: TranscriptTurn) -> dict[str, frozenset[str]]:
        """Path to the lines that stand in it after the turn, as far as the turn wrote them."""
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

    def heard(self) -> Iterator[TriedQuote]:
        """What may be worth remembering of it."""
        for one in extraction.find_claims(self._said):
            ts, wrote = self._of.get(one.turn, (None, {}))
            yield TriedQuote(one, TriedPlace(self._origin.agent, self._origin.session, one.turn, ts), wrote)


def moment(ts: str | None) -> datetime | None:
    """A timestamp of somebody's record as a time; None if it is none."""
    try:
        found = datetime.fromisoformat(ts or "")
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def is_before(ts: str | None, since: datetime) -> bool:
    """Whether a timestamp lies before a time; what has none does not."""
    found = moment(ts)
    return found is not None and found < since
