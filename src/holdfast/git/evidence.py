"""Evidence asked of a clone: what a person typed becomes a receipt, and a receipt is checked again.

A run must be in the log, a commit must exist, a path must be tracked. Nothing here trusts a name
it cannot look up: a memory that cites something uncheckable would look better founded than it is.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Literal

from holdfast.errors import Ambiguous, BadInput, NotFound
from holdfast.git.clone import Clone
from holdfast.git.repo import Repo
from holdfast.git.rewritten import anchors
from holdfast.git.rewritten.window import adrift
from holdfast.model.evidence import (
    CommitEvidence,
    Evidence,
    FileEvidence,
    RunEvidence,
    is_oid,
    is_tracked_path,
    parse,
)
from holdfast.model.ids import is_id
from holdfast.model.text import visible

State = Literal["holds", "changed", "gone", "unanchored"]

_AT_ONCE = 200  # names a git process is given on its command line
_HINT = (
    "Name a run id (`holdfast log`), a commit, or a tracked file; "
    "paths are relative to this folder or to the repository's top."
)
_SHORTEST = 4  # characters of a run id that may stand for it


def resolve(clone: Clone, citation: str) -> Evidence:
    """The receipt for what was cited: a run id or its beginning, a commit by any name, a tracked path.

    `run:`, `commit:` or `file:` before it says which is meant. `file:<path>@<blob>` must still hold.
    """
    return resolve_all(clone, [citation])[0]


def resolve_all(clone: Clone, citations: Iterable[str]) -> list[Evidence]:
    """The receipts for several citations; the log is read once, and only if a run may be meant."""
    runs = _Runs(clone)
    return [_resolve(clone, citation, runs) for citation in citations]


def from_folder(clone: Clone, folder: str, citation: str) -> str:
    """A citation as `resolve` takes it, where a path may be meant as seen from a folder.

    A tracked file there counts before one of the same name at the repository's top.
    """
    kind, colon, rest = citation.partition(":")
    named = rest if kind == "file" and colon else citation
    top, start = os.path.realpath(clone.repo.top), os.path.realpath(folder)
    if start == top or os.path.isabs(named) or (colon and kind in ("run", "commit")):
        return citation
    path = os.path.relpath(os.path.join(start, named), top).replace(os.sep, "/")
    if not _tracked(clone.repo, [path.rpartition("@")[0] if is_oid(path.rpartition("@")[2]) else path]):
        return citation
    if kind != "file" and (others := _commits(clone, named)):
        raise _several(named, [*others, *_files(clone, path)])
    return f"file:{path}"


class _Runs:
    """The runs in the log, read when first asked for."""

    def __init__(self, clone: Clone) -> None:
        self._clone = clone
        self._known: set[str] | None = None

    def known(self) -> set[str]:
        if self._known is None:
            self._known = {e.run_id for e in self._clone.all_events() if e.run_id is not None}
        return self._known

    def named(self, text: str) -> list[Evidence]:
        if not is_id(text):
            return []
        if text in self.known():
            return [RunEvidence(text)]
        if len(text) < _SHORTEST:
            return []
        return [RunEvidence(run) for run in sorted(self.known()) if run.lower().startswith(text.lower())]


def _resolve(clone: Clone, citation: str, runs: _Runs) -> Evidence:
    text = citation.strip()
    if not text or len(text) > 8192 or any(char in text for char in "\x00\n\r"):
        raise BadInput(
            f"{visible(text[:80])!r} is not evidence", hint="Cite a run, a commit or a tracked path."
        )
    kind, _, rest = text.partition(":")
    readers: dict[str, Callable[[str], list[Evidence]]] = {
        "run": runs.named,
        "commit": lambda name: _commits(clone, name),
        "file": lambda name: _files(clone, name),
    }
    if kind in readers and rest:
        text, found = rest, readers[kind](rest)
    else:
        found = [item for reader in readers.values() for item in reader(text)]
    match found:
        case [one]:
            return one
        case []:
            raise _nothing(clone, text)
        case _:
            raise _several(text, found)


def state(clone: Clone, evidence: Evidence) -> State:
    """Whether the evidence still is what was cited."""
    return states(clone, [str(evidence)])[str(evidence)]


def states(clone: Clone, cited: Iterable[str]) -> dict[str, State]:
    """The state of many receipts, with a handful of git processes whatever their number."""
    receipts = {text: parse(text) for text in dict.fromkeys(cited)}
    runs = [item for item in receipts.values() if isinstance(item, RunEvidence)]
    commits = [item.oid for item in receipts.values() if isinstance(item, CommitEvidence)]
    files = [item.path for item in receipts.values() if isinstance(item, FileEvidence)]
    known = _Runs(clone).known() - clone.erased() if runs else set()
    by_commit = _commit_states(clone, commits)
    blobs = _tracked(clone.repo, files)
    found: dict[str, State] = {}
    for text, item in receipts.items():
        match item:
            case RunEvidence(run_id=run_id):
                found[text] = "holds" if run_id in known else "gone"
            case CommitEvidence(oid=oid):
                found[text] = by_commit[oid]
            case FileEvidence(path=path, blob=blob):
                now = blobs.get(path, ())
                found[text] = "holds" if blob in now else "changed" if now else "gone"
    return found


def moved(clone: Clone, cited: Iterable[str]) -> dict[str, Evidence]:
    """The receipts whose commit has another name since history was rewritten, each with the one it is now."""
    named = {text: item.oid for text in cited if isinstance(item := parse(text), CommitEvidence)}
    found = anchors.resolve(clone, named.values()) if named else {}
    now = {text: found[oid].commit for text, oid in named.items()}
    return {text: CommitEvidence(oid) for text, oid in now.items() if oid is not None and oid != named[text]}


def _commits(clone: Clone, text: str) -> list[Evidence]:
    if text.startswith("-"):  # git would take it for an option
        return []
    oid = clone.repo.text("rev-parse", "-q", "--verify", f"{text}^{{commit}}", ok=(0, 1, 128))
    return [CommitEvidence(oid)] if is_oid(oid) else []


def _files(clone: Clone, text: str) -> list[Evidence]:
    path = _inside(clone.repo, text)
    if blobs := _tracked(clone.repo, [path]).get(path):
        return [_file(path, blobs[0])]
    named, at, blob = path.rpartition("@")
    if at and is_oid(blob) and (blobs := _tracked(clone.repo, [named]).get(named)):
        if blob not in blobs:
            raise BadInput(
                f"{named} has changed since {blob[:12]}", hint="Cite the path alone to take it as it is now."
            )
        return [_file(named, blob)]
    return []


def _file(path: str, blob: str) -> FileEvidence:
    try:
        path.encode()
    except UnicodeEncodeError:
        raise BadInput(f"the name of {visible(path)} is not UTF-8, so no memory can cite it") from None
    return FileEvidence(path, blob)


def _inside(repo: Repo, text: str) -> str:
    """The path from the top of the repository, as git spells it."""
    path = os.path.relpath(text, repo.top) if os.path.isabs(text) else os.path.normpath(text)
    return path.replace(os.sep, "/")


def _tracked(repo: Repo, paths: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Path to its blobs in the index and in HEAD, the index first: it is what the next commit holds."""
    found: dict[str, tuple[str, ...]] = {}
    for some in _chunks([path for path in dict.fromkeys(paths) if is_tracked_path(path)]):
        rows = _listed(repo, some)
        done = repo.attempt("--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", "HEAD", "--", *some)
        for path, blob in (*_index_rows(rows), *_tree_rows(done.stdout)):
            if path in some and blob not in found.get(path, ()):
                found[path] = (*found.get(path, ()), blob)
    return found


def _listed(repo: Repo, paths: Sequence[str]) -> bytes:
    """The index's rows of some paths; git refuses to be asked about a path inside a submodule."""
    asked = ("--literal-pathspecs", "ls-files", "-s", "-z", "--")
    done = repo.attempt(*asked, *paths)
    if done.returncode == 0:
        return done.stdout
    inner = _submodules(repo)
    outside = [path for path in paths if _submodule_of(path, inner) is None]
    return repo.run(*asked, *outside) if outside else b""


def _submodules(repo: Repo) -> set[str]:
    rows = repo.run("ls-files", "-s", "-z").split(b"\0")
    return {os.fsdecode(row.partition(b"\t")[2]) for row in rows if row.startswith(b"160000 ")}


def _submodule_of(path: str, submodules: Collection[str]) -> str | None:
    """The submodule that a path lies in, or None."""
    return next((name for name in submodules if path.startswith(f"{name}/")), None)


def _index_rows(rows: bytes) -> Iterator[tuple[str, str]]:
    for row in rows.split(b"\0")[:-1]:
        facts, _, name = row.partition(b"\t")
        mode, blob, stage = facts.split(b" ")
        if stage == b"0" and mode != b"160000":  # no side of an open merge, no submodule
            yield os.fsdecode(name), blob.decode("ascii")


def _tree_rows(rows: bytes) -> Iterator[tuple[str, str]]:
    for row in rows.split(b"\0")[:-1]:
        facts, _, name = row.partition(b"\t")
        _, kind, blob = facts.split(b" ")
        if kind == b"blob":
            yield os.fsdecode(name), blob.decode("ascii")


def _commit_states(clone: Clone, oids: Sequence[str]) -> dict[str, State]:
    """A commit that was rewritten holds under its new name; a shallow clone's lack of one says nothing."""
    found = anchors.resolve(clone, oids) if oids else {}
    lost = [oid for oid, now in found.items() if now.state == "unanchored"]
    here, _ = adrift(clone.repo, lost)
    states: dict[str, State] = {oid: "holds" if now.commit else "unanchored" for oid, now in found.items()}
    return states | {oid: "gone" for oid in lost if oid not in here}


def _chunks(items: Sequence[str]) -> Iterator[Sequence[str]]:
    return (items[at : at + _AT_ONCE] for at in range(0, len(items), _AT_ONCE))


def _nothing(clone: Clone, text: str) -> Exception:
    path = _inside(clone.repo, text)
    shown = visible(text[:200])
    if (inner := _submodule_of(path, _submodules(clone.repo))) is not None:
        return BadInput(
            f"{shown} lies in the submodule {visible(inner)}, whose files this repository does not track",
            hint="Cite a commit of this repository that has the submodule as you mean it.",
        )
    if is_tracked_path(path) and os.path.isdir(os.path.join(clone.repo.top, path)):
        return BadInput(f"{shown} is a folder", hint="Cite a file in it.")
    if is_tracked_path(path) and os.path.lexists(os.path.join(clone.repo.top, path)):
        how = "ignored" if clone.repo.ignored([path]) else "not tracked"
        return BadInput(
            f"{shown} is {how} by git, so nobody else could check it", hint="Track it with git add first."
        )
    return NotFound(f"{shown} is no run, commit or tracked path here", hint=_HINT)


def _several(text: str, found: Sequence[Evidence]) -> Ambiguous:
    names = ", ".join(visible(str(item)) for item in found[:5])
    hint = "Type more of it, or write run:, commit: or file: before it."
    return Ambiguous(f"{visible(text[:200])} fits {len(found)} things: {names}", hint=hint)
