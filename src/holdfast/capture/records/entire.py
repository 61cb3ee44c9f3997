"""What Entire kept: the transcripts of sessions, and the commits they belong to.

From two of its own public repositories (`entireio/cli`, `entireio/git-sync`) and the program that writes them. Until
July 2026 a checkpoint is a folder `<2 digits>/<10 digits>/` on the branch `entire/checkpoints/v1`; since then it is a
commit of its own, `refs/entire/checkpoints/<2 letters>/<26 letters>`, which a plain clone does not fetch. In both, a
session stands in each of the folders `0`, `1`, … (oldest ones: in the checkpoint itself):

    metadata.json   checkpoint_id, session_id, created_at, agent
    full.jsonl      the transcript of the session so far, as its agent wrote it

A commit names its checkpoint in the trailer `Entire-Checkpoint`. Each session stands in many checkpoints; the last one
has all of it. Which agent wrote it, its dialect tells.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime

from holdfast.capture.agents.transcript_reader import Dialect, TranscriptReading
from holdfast.errors import GitFailed, HoldfastError
from holdfast.git.repo import Repo
from holdfast.model.transcript import TranscriptOrigin, TranscriptTurn
from holdfast.patterns import regex
from holdfast.values import field, frozen, mutable, replace

BRANCH = "entire/checkpoints/v1"
REFS = "refs/entire/checkpoints/"
_PLACE = regex(
    rb"\d+ blob ([0-9a-f]{40,64}) +(\d+)\t((?:[0-9a-f]{2}/[0-9a-f]{10}/)?(?:\d{1,4}/)?)(metadata\.json|full\.jsonl)"
)
_TRAILER = regex(r"^([0-9a-f]{40,64}) ([0-9a-f]{40,64})?[^\0\n]*\0([0-9A-Za-z ]*)$", re.MULTILINE)
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


def tips(repo: Repo) -> list[str]:
    """Returns the commits that hold checkpoints: of the branch, here or as a remote had it, and refs of their own."""
    here, there = f"refs/heads/{BRANCH}", f"refs/remotes/*/{BRANCH}"
    newest = ("--sort=-committerdate", "--count=1", "--format=%(objectname)")
    branch = repo.text("for-each-ref", *newest, here) or repo.text("for-each-ref", *newest, there)
    return [*branch.split(), *repo.text("for-each-ref", "--format=%(objectname)", REFS).split()]


def sessions(
    repo: Repo, held: Iterable[str], *, unreadable: Callable[[str, HoldfastError], None]
) -> list[EntireSession]:
    """Returns all sessions that these commits hold, the oldest first; `unreadable` hears of a ref that is none."""
    made, checkpoints = _commits(repo), list[_Checkpoint]()
    for at in held:
        try:
            checkpoints += _checkpoints(repo, at)
        except GitFailed as error:
            unreadable(at, error)
    found: dict[str, EntireSession] = {}
    for one in sorted(checkpoints, key=lambda one: (one.created, one.id)):
        there = found.setdefault(one.session, EntireSession(one.session, one.blob, one.size, one.created))
        there.blob, there.size, there.seen = one.blob, one.size, one.created
        for commit, before in made.get(one.id, ()):
            there.stood = there.stood or before
            there.made.setdefault(commit, one.created)
    return list(found.values())


def _checkpoints(repo: Repo, at: str) -> Iterator[_Checkpoint]:
    places: dict[bytes, dict[bytes, tuple[str, int]]] = {}
    for row in repo.run("ls-tree", "-r", "-l", "-z", "--full-tree", at).split(b"\0"):
        if found := _PLACE.fullmatch(row):
            blob, size, place, name = found.groups()
            places.setdefault(place, {})[name] = (blob.decode(), int(size))
    whole = [files for files in places.values() if len(files) == 2]
    said = repo.blobs(files[b"metadata.json"][0] for files in whole)
    for files in whole:
        told = _json(said.get(files[b"metadata.json"][0], b""))
        name, session, created = (told.get(key) for key in ("checkpoint_id", "session_id", "created_at"))
        if isinstance(session, str) and session and isinstance(created, str):
            yield _Checkpoint(str(name), session[:200], created, *files[b"full.jsonl"])


def _commits(repo: Repo) -> Mapping[str, list[tuple[str, str | None]]]:
    """Checkpoint to the commits that name it, each with its parent, the oldest first."""
    shape = "%H %P%x00%(trailers:key=Entire-Checkpoint,valueonly,separator=%x20)"
    exclude = [f"--exclude={ref}" for ref in (f"refs/heads/{BRANCH}", f"refs/remotes/*/{BRANCH}", f"{REFS}*")]
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
