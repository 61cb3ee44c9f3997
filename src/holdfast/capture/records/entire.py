"""What Entire kept: the sessions on the branch `entire/checkpoints/v1`, and the commits they belong to.

From the branch of its own public repository (`entireio/cli`) and the program that writes it. A checkpoint is a folder,
`<2 digits>/<10 digits>/`, with a session in each of its folders `0`, `1`, … (older ones: in itself):

    metadata.json   checkpoint_id, session_id, created_at, agent
    full.jsonl      the transcript of the session so far, as its agent wrote it

A commit names its checkpoint in the trailer `Entire-Checkpoint`. Each session stands in many checkpoints; the last one
has all of it. Which agent wrote it, its dialect tells.
"""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from holdfast.capture.agents.transcript_reader import Dialect, TranscriptReading
from holdfast.git.repo import Repo
from holdfast.model.transcript import TranscriptOrigin, TranscriptTurn
from holdfast.patterns import regex
from holdfast.values import field, frozen, mutable, replace

BRANCH = "entire/checkpoints/v1"
_PLACE = regex(
    rb"\d+ blob ([0-9a-f]{40,64}) +(\d+)\t(([0-9a-f]{2})/([0-9a-f]{10})/(?:\d{1,4}/)?)(metadata\.json|full\.jsonl)"
)
_TRAILER = regex(r"^([0-9a-f]{40,64}) ([0-9a-f]{40,64})?[^\0\n]*\0([0-9a-f ]*)$", re.MULTILINE)
_UUID = regex(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MAX_BLOB = 64 << 20  # bytes; a guess: real transcripts have a few MiB


@mutable
class EntireSession:
    """One session: its last transcript, and when which commits came of it."""

    session: str
    blob: str  # of the transcript
    size: int
    seen: str  # when its last checkpoint was made
    made: dict[str, str] = field(default_factory=dict)  # a commit, and when its checkpoint was made
    stood: str | None = None  # the commit before the first of them

    @property
    def file_name(self) -> str:
        """What its agent would call the file."""
        found = _UUID.search(self.session)
        return f"{found[0] if found else 'session'}.jsonl"


@frozen
class _Checkpoint:
    id: str
    session: str
    created: str
    blob: str
    size: int


def tip(repo: Repo) -> str | None:
    """The newest commit of Entire's branch, here or as a remote had it; None if there is none."""
    for pattern in (f"refs/heads/{BRANCH}", f"refs/remotes/*/{BRANCH}"):
        found = repo.text("for-each-ref", "--sort=-committerdate", "--count=1", "--format=%(objectname)", pattern)
        if found:
            return found
    return None


def sessions(repo: Repo, at: str) -> list[EntireSession]:
    """All sessions of the branch, the oldest first."""
    made = _commits(repo)
    found: dict[str, EntireSession] = {}
    for one in sorted(_checkpoints(repo, at), key=lambda one: (one.created, one.id)):
        there = found.setdefault(one.session, EntireSession(one.session, one.blob, one.size, one.created))
        there.blob, there.size, there.seen = one.blob, one.size, one.created
        for commit, before in made.get(one.id, ()):
            there.stood = there.stood or before
            there.made.setdefault(commit, one.created)
    return list(found.values())


def _checkpoints(repo: Repo, at: str) -> Iterator[_Checkpoint]:
    places: dict[bytes, dict[bytes, tuple[str, int]]] = {}
    names: dict[bytes, str] = {}
    for row in repo.run("ls-tree", "-r", "-l", "-z", "--full-tree", at).split(b"\0"):
        if found := _PLACE.fullmatch(row):
            blob, size, place, shard, rest, name = found.groups()
            places.setdefault(place, {})[name] = (blob.decode(), int(size))
            names[place] = (shard + rest).decode()
    whole = {place: files for place, files in places.items() if len(files) == 2}
    said = repo.blobs(files[b"metadata.json"][0] for files in whole.values())
    for place, files in whole.items():
        told = _json(said.get(files[b"metadata.json"][0], b""))
        session, created = told.get("session_id"), told.get("created_at")
        if isinstance(session, str) and session and isinstance(created, str):
            yield _Checkpoint(names[place], session[:200], created, *files[b"full.jsonl"])


def _commits(repo: Repo) -> Mapping[str, list[tuple[str, str | None]]]:
    """Checkpoint to the commits that name it, each with its parent, the oldest first."""
    shape = "%H %P%x00%(trailers:key=Entire-Checkpoint,valueonly,separator=%x20)"
    exclude = (f"--exclude=refs/heads/{BRANCH}", f"--exclude=refs/remotes/*/{BRANCH}")
    text = repo.text("log", *exclude, "--all", "--reverse", "--grep=Entire-Checkpoint", f"--format={shape}")
    found: dict[str, list[tuple[str, str | None]]] = {}
    for commit, parent, names in _TRAILER.findall(text):
        for name in names.split():
            found.setdefault(name, []).append((commit, parent or None))
    return found


def _json(data: bytes) -> dict[str, object]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def belonging(tool: Dialect, session: EntireSession, at: str) -> Dialect:
    """The dialect that gives the turns with the commits that came of them, as a session of this repository.

    It may have been held on another machine: a commit of ours says that it was about this repository.
    """

    def read(path: str, start: int, origin: TranscriptOrigin | None) -> TranscriptReading:
        found = tool.read(path, start, origin)
        ours = replace(found.origin, commit=session.stood or found.origin.commit or at)
        return replace(found, origin=ours, turns=_with_commits(found.turns, session.made))

    return replace(tool, read=read)


def _with_commits(turns: Iterator[TranscriptTurn], made: Mapping[str, str]) -> Iterator[TranscriptTurn]:
    """Each turn with the commits whose checkpoint was made in it: before the next one began."""
    left = dict(made)
    before: TranscriptTurn | None = None
    for turn in turns:
        if before is not None:
            ended = [oid for oid, when in left.items() if turn.ts is not None and _instant(when) < _instant(turn.ts)]
            yield replace(before, commits=tuple(ended))
            for oid in ended:
                del left[oid]
        before = turn
    if before is not None:
        yield replace(before, commits=tuple(left))


def _instant(ts: str) -> datetime:
    """A moment; what is none is the first of all."""
    try:
        found = datetime.fromisoformat(ts)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
