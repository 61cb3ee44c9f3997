"""What changed in this work tree since a moment: paths while a run was under way, commits and files in a session.

Paths come from two looks at git's own list of what differs from HEAD, and the commits made in between. Files git
ignores do not count; a file that was dirty before and was left alone does not either. A pull brings commits that are
no work of this session; the work tree's own reflog tells them apart. Where there is none, the first-parent history
since then has to do. What we write ourselves is nobody's work: our folder, and the pages of a journal in the folder
`journal`.
"""

import hashlib
import os
import stat
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from holdfast.git import reflog
from holdfast.git.repo import Repo
from holdfast.model.journal_pages import is_journal_page
from holdfast.patterns import regex
from holdfast.store.layout import TRACKED
from holdfast.values import frozen, replace

# So that a file rewritten with the same bytes is not taken for a change, small dirty files are hashed before.
_HASHED_FILE, _HASHED_IN_ALL, _HASHED_COUNT = 1 << 20, 1 << 24, 1000


@frozen
class Mark:
    """What a file looked like; two equal marks are the same content."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    mode: int
    sha256: str | None = None


@frozen
class Snapshot:
    """The work tree at a moment: its commit, and every path that differs from it (None: not there)."""

    head: str | None
    files: dict[str, Mark | None]


def snapshot(repo: Repo) -> Snapshot:
    """The work tree now."""
    budget = [_HASHED_IN_ALL, _HASHED_COUNT]
    return Snapshot(repo.head().oid, {path: _mark(repo.top, path, budget) for path in _differing(repo)})


def changed_paths(repo: Repo, before: Snapshot) -> list[str]:
    """Paths whose content is not what it was, deleted ones included, sorted."""
    candidates = {*_differing(repo), *before.files, *_committed(repo, before.head, repo.head().oid)}
    return sorted(path for path in candidates if not _is_ours(path, None) and _differs(repo.top, path, before))


def spelled(path: str) -> str:
    """A path as text that can stand in JSON, a file name and one line of a list.

    Bytes that are no text, controls and the backslash itself become `\\xNN`: no two paths read the same.
    """
    if path.isprintable() and "\\" not in path:
        return path
    raw = [[c] if c.isprintable() and c != "\\" else c.encode("utf-8", "surrogateescape") for c in path]
    return "".join(one if isinstance(one, str) else f"\\x{one:02x}" for piece in raw for one in piece)


def _differing(repo: Repo) -> list[str]:
    """Every path that differs from HEAD or is not tracked, folders and ignored files left out."""
    how = ("--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")
    out = repo.run("status", *how, "--", ".", f":(exclude){TRACKED}")
    rows = [(row, _FIELDS_BEFORE_PATH.get(row[:1])) for row in out.split(b"\0")]
    paths = [os.fsdecode(row.split(b" ", words)[words]) for row, words in rows if words]
    return [path for path in paths if not path.endswith("/")]


_FIELDS_BEFORE_PATH = {b"1": 8, b"u": 10, b"?": 1}


def _committed(repo: Repo, before: str | None, after: str | None) -> Iterable[str]:
    if after is None or after == before:
        return []
    if before is None:
        out = repo.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", after)
    else:
        out = repo.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", before, after)
    return [os.fsdecode(name) for name in out.split(b"\0") if name]


def _differs(top: str, path: str, before: Snapshot) -> bool:
    if path not in before.files:
        return not os.path.isdir(os.path.join(top, path))  # a submodule is not a file
    was, now = before.files[path], _mark(top, path, [0, 0])
    if was is None or now is None:
        return was is not now
    if replace(was, sha256=None) == now:
        return False
    return was.sha256 is None or was.sha256 != _sha256(os.path.join(top, path), now)


def _mark(top: str, path: str, budget: list[int]) -> Mark | None:
    full = os.path.join(top, path)
    try:
        facts = os.lstat(full)
    except OSError:
        return None
    if stat.S_ISDIR(facts.st_mode):
        return None
    mark = Mark(facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino, facts.st_mode)
    if facts.st_size > min(_HASHED_FILE, budget[0]) or budget[1] <= 0:
        return mark
    budget[0] -= facts.st_size
    budget[1] -= 1
    return replace(mark, sha256=_sha256(full, mark))


def _sha256(full: str, mark: Mark) -> str | None:
    if not stat.S_ISREG(mark.mode) or mark.size > _HASHED_FILE:
        return None
    try:
        with open(full, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


MAX_COMMITS, MAX_FILES = 2_000, 300  # of one turn; a guess: more is a merge or a generated tree
_ROWS = 5_000  # of the reflog
_MADE = regex(r"commit\b|cherry-pick|revert|am\b|.*Merge made by")
_GONE_TO = regex(r"(?:cherry-pick|revert|rebase.*|pull.*): fast-forward")  # it was there already
_PICKED = regex(r"(?:rebase|pull)\b.*\((?:pick|reword|edit|squash|fixup|continue)\)")
_OWN_CLOCK = 0.1  # seconds by which a file system may lag behind our clock


@frozen
class SessionDiff:
    """What some commits came to."""

    files: tuple[str, ...] = ()
    insertions: int = 0
    deletions: int = 0


def commits_since(repo: Repo, base: str | None, head: str | None) -> list[str]:
    """The commits made in this work tree that HEAD gained since `base`, oldest first."""
    if head is None or head == base:
        return []
    gained = _gained(repo, base, head)
    here, ref = reflog.read(repo.git_dir, "HEAD")[-_ROWS:], repo.head().ref or repo.rebasing()
    # What was committed in this work tree while another branch was checked out is not this branch's work,
    # even if it came here by a merge since; only HEAD's log knows what a rebase picked.
    rows = (reflog.read(repo.common_dir, ref)[-_ROWS:] if ref else []) or here
    mine = {row.oid for row in rows if makes(row)} | {row.oid for row in here if _picks(row)}
    mine = mine if rows else set(_gained(repo, base, head, "--first-parent"))
    return [oid for oid in reversed(gained) if oid in mine]


def last_row(repo: Repo) -> reflog.ReflogRow | None:
    """Where HEAD's log ends now: what is made from now on stands behind it."""
    return next(reversed(reflog.read(repo.git_dir, "HEAD")), None)


def made(repo: Repo, base: str | None, *, began: str, after: reflog.ReflogRow | None = None) -> list[str]:
    """The commits that HEAD gained since `base` and that were made in this work tree since a moment.

    Oldest first, on whatever branch; `after` is where HEAD's log ended then, for its times are whole seconds.
    Where HEAD has no log nobody can tell them from those that were fetched.
    """
    head = repo.head().oid
    if head is None or head == base:
        return []
    second = int(datetime.fromisoformat(began).timestamp())
    log = reflog.read(repo.git_dir, "HEAD")[-_ROWS:]
    seen = max((n for n, row in enumerate(log, 1) if row == after), default=0)
    rows = [row for row in log[seen:] if row.time >= second]
    mine = {row.oid for row in rows if makes(row) or _picks(row)}
    gained = _gained(repo, base, head, f"--max-age={second}") if mine else []
    return [oid for oid in reversed(gained) if oid in mine]


def makes(row: reflog.ReflogRow) -> bool:
    """Whether a row of HEAD's log says that its commit was made just then, not only gone to."""
    return _MADE.match(row.message) is not None and _GONE_TO.fullmatch(row.message) is None


def _picks(row: reflog.ReflogRow) -> bool:
    return _PICKED.match(row.message) is not None and _GONE_TO.fullmatch(row.message) is None


def _gained(repo: Repo, base: str | None, head: str, *how: str) -> list[str]:
    since = [] if base is None else [f"^{base}"]
    done = repo.attempt("rev-list", *how, f"--max-count={MAX_COMMITS}", head, *since)
    return done.stdout.decode("ascii").split() if done.returncode == 0 else []


def committed_files(repo: Repo, oids: Sequence[str], *, journal: str | None = None) -> list[str]:
    """The files that these commits changed, ours left out, in the order they were first changed."""
    if not oids:
        return []
    shape = ("--stdin", "-r", "--root", "--no-commit-id", "--name-only", "--no-renames", "-z")
    done = repo.attempt("diff-tree", *shape, stdin="\n".join(oids).encode("ascii") + b"\n")
    names = dict.fromkeys(os.fsdecode(name) for name in done.stdout.split(b"\0") if name)
    return [spelled(name) for name in names if not _is_ours(name, journal)][:MAX_FILES]


def uncommitted_files(repo: Repo, *, since: str, known: Collection[str] = (), journal: str | None = None) -> list[str]:
    """The files that differ from HEAD and were changed after a moment; a deleted one once."""
    asked = ("--porcelain=v1", "-z", "--untracked-files=all", "--no-renames")
    done = repo.attempt("status", *asked, "--", ".", f":(exclude){TRACKED}")
    rows = [os.fsdecode(row[3:]) for row in done.stdout.split(b"\0") if row]
    names = [name for name in rows if not is_journal_page(name, journal)]
    moment = datetime.fromisoformat(since).timestamp() - _OWN_CLOCK
    return [spelled(name) for name in names if _is_newer(repo, name, moment, known)][:MAX_FILES]


def _is_newer(repo: Repo, name: str, moment: float, known: Collection[str]) -> bool:
    try:
        return os.lstat(os.path.join(repo.top, name)).st_mtime >= moment
    except OSError:
        return spelled(name) not in known


def _is_ours(name: str, journal: str | None) -> bool:
    return name == TRACKED or name.startswith(TRACKED + "/") or is_journal_page(name, journal)


def surviving_commits(repo: Repo, oids: Collection[str], head: str | None, base: str | None) -> list[str]:
    """Which of these commits are in HEAD's history since `base`, oldest first."""
    wanted = set(oids)
    return [oid for oid in reversed(_gained(repo, base, head)) if oid in wanted] if head and wanted else []


def diff_since(
    repo: Repo, base: str | None, oids: Sequence[str], head: str | None, *, journal: str | None = None
) -> SessionDiff:
    """What these commits came to: since `base` if nothing else came in between, else one by one."""
    if not oids or head is None:
        return SessionDiff()
    shape = ("-r", "--root", "--numstat", "--no-renames", "-z")
    if base is not None and len(_gained(repo, base, head)) == len(oids) and repo.is_ancestor(base, head):
        done = repo.attempt("diff-tree", *shape, base, head)
    else:
        asked = "\n".join(oids).encode("ascii") + b"\n"
        done = repo.attempt("diff-tree", *shape, "--stdin", "--no-commit-id", stdin=asked)
    return _counted(done.stdout, journal)


def _counted(out: bytes, journal: str | None) -> SessionDiff:
    files: dict[str, None] = {}
    added = removed = 0
    for row in out.split(b"\0"):
        more, _, rest = row.partition(b"\t")
        less, _, name = rest.partition(b"\t")
        if not name or _is_ours(os.fsdecode(name), journal):
            continue
        files[spelled(os.fsdecode(name))] = None
        added += int(more) if more.isdigit() else 0  # a dash: binary
        removed += int(less) if less.isdigit() else 0
    return SessionDiff(tuple(files)[:MAX_FILES], added, removed)


def commit_messages(repo: Repo, oids: Sequence[str]) -> dict[str, str]:
    """What each of these commits says."""
    if not oids:
        return {}
    asked = "\n".join(oids).encode("ascii") + b"\n"
    done = repo.attempt("log", "--no-walk=unsorted", "--stdin", "-z", "--format=%H%n%B", stdin=asked)
    rows = (row.partition(b"\n") for row in done.stdout.split(b"\0") if row)
    return {oid.decode("ascii", "replace"): os.fsdecode(text) for oid, _, text in rows}
