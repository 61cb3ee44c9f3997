"""Sets up a project's memory, and removes it again.

`init` writes two tracked files and creates the private store; a second run changes nothing.
"""

import contextlib
import os
import shutil

from holdfast.errors import BadInput, BadSettings, NotARepository
from holdfast.git import branch_lines, git_memo, publish_journal, visible_entries
from holdfast.git.clone import Clone
from holdfast.git.repo import Repo
from holdfast.patterns import text_beside
from holdfast.store import fsio, private_store
from holdfast.store import layout as paths
from holdfast.values import frozen

SETTINGS_TEXT = text_beside(__file__, "first_settings.toml")

# The last matching line counts, so the exact-bytes rules come after the text rule; they also override
# the project's own root file. `*` matches every file of ours, this one and holdfast.toml too.
_UNTOUCHED = "-text -filter -ident -working-tree-encoding linguist-generated"
_EXACT = "".join(f"{folder}/** {_UNTOUCHED}\n" for folder in ("log", "approvals", "runs"))
ATTRIBUTES_TEXT = f"* text eol=lf merge -filter -ident -working-tree-encoding\n{_EXACT}"
EARLIER_ATTRIBUTES = (f"*.md text eol=lf\n{_EXACT}",)  # the texts of earlier versions, which `publish` updates


@frozen
class ProjectSetup:
    """The result of `init`."""

    top: str
    made_store: bool
    wrote: tuple[str, ...]
    commit: str | None
    git_init: bool = False
    hooks: bool = False  # whether git's hooks were installed


def git_init(start: str) -> None:
    """Creates a git repository in a folder that has none."""
    Repo.create(start)


def initialise(start: str, *, cache: str, commit: bool = False) -> ProjectSetup:
    """Creates the store and the two tracked files, as far as they are missing."""
    repo = Repo.discover(start)
    layout = paths.Layout(repo.top, os.path.join(repo.common_dir, "holdfast"), cache)
    made = private_store.make_store(layout)
    with fsio.locked(layout.lock, wait=60.0) as lock:
        wrote = [path for path, text in _FILES.items() if _write_missing(layout, path, text)]
        oid = _commit(Clone.open(repo, cache=cache), lock) if commit else None
    return ProjectSetup(repo.top, made, tuple(wrote), oid)


def project_id(clone: Clone, *, chosen: str | None, is_shared: bool) -> str:
    """Returns the project's id in shared stores: the setting, else its first commit."""
    if chosen:
        if "," in chosen:  # a comma separates projects in a list
            raise BadSettings("database.project has a comma", hint="Give the project a name without one.")
        return chosen
    path = clone.layout.project_id
    if known := fsio.find(path, limit=200):  # a commit id has 40 or 64 characters, our own repo-id fewer
        return known.decode("ascii", "replace").strip()
    found = _first_commit(clone, is_shared=is_shared) or clone.repo_id
    if not clone.reading:
        fsio.replace(path, f"{found}\n".encode())
    return found


def _first_commit(clone: Clone, *, is_shared: bool) -> str | None:
    """Returns the oldest commit without a parent; None if the clone is shallow or has no commit."""
    repo = clone.repo
    if repo.run("rev-parse", "--is-shallow-repository").strip() == b"true":
        if is_shared:
            raise BadInput(
                "this clone is shallow, so its first commit is not known",
                hint="Fetch the rest (`git fetch --unshallow`), or set HOLDFAST_DATABASE_PROJECT.",
            )
        return None
    listed = repo.attempt("log", "--max-parents=0", "--format=%ct %H", "HEAD").stdout.decode("ascii")
    roots = sorted((int(when), oid) for when, oid in (row.split() for row in listed.splitlines()))
    return roots[0][1] if roots else None


_FILES = {paths.SETTINGS: SETTINGS_TEXT, paths.ATTRIBUTES: ATTRIBUTES_TEXT}


def _write_missing(layout: paths.Layout, path: str, text: str) -> bool:
    full = fsio.inside(layout.top, path)
    fsio.make_dirs(os.path.dirname(full), mode=0o755)
    for folder in (layout.view(), layout.in_tree(paths.LOCAL)):  # their content is private
        fsio.make_dirs(folder)
        _write_once(os.path.join(folder, ".gitignore"), b"*\n")
    return _write_once(full, text.encode("utf-8"))


def _write_once(path: str, data: bytes) -> bool:
    fsio.sweep(path)  # also if the file is complete: a killed command may have left temporary files beside it
    if os.path.lexists(path):
        return False
    fsio.replace(path, data, mode=0o644)
    return True


def _commit(clone: Clone, lock: int) -> str | None:
    """Commits only the files that HEAD lacks; anything else that is staged or edited stays as it was.

    As in a publish, a journal lists the files to stage; after a kill the next command unstages them.
    """
    repo = clone.repo
    publish_journal.recover(clone)
    tree = repo.tree("HEAD", paths.TRACKED)
    files = [path for path in _FILES if path not in tree]
    if not files:
        return None
    visible_entries.refuse_conversion(repo, files)
    names = "".join(f"{path}\n" for path in files).encode("ascii")
    stored = repo.run("-c", "core.safecrlf=false", "hash-object", "-w", "--stdin-paths", stdin=names, write=True)
    index = publish_journal.index_entries(repo)
    items = [
        publish_journal.PublishItem(path, None, blob, None, index.get(path), publish_journal.file_blob(repo, path))
        for path, blob in zip(files, stored.decode().split(), strict=True)
    ]
    publish_journal.write(clone, items)
    with publish_journal.undone_on_failure(clone, items):
        publish_journal.write_index(repo, [(item.path, f"100644 {item.blob}") for item in items], lock=lock)
        done = repo.attempt("commit", "-q", "-m", "Set up Holdfast", "--only", "--", *files, write=True)
        if done.returncode:
            raise publish_journal.refusal(done.stderr or done.stdout, "git did not commit the two files")
    fsio.remove(clone.layout.publishing)
    return repo.head().oid


@frozen
class UninstallResult:
    """The result of `uninstall`: what it removed, and what git still tracks."""

    removed: tuple[str, ...]
    tracked: int
    changed: tuple[str, ...] = ()  # the user's files from which our parts were removed
    left: tuple[str, ...] = ()  # notes on what had to stay


def uninstall(repo: Repo, layout: paths.Layout, repo_id: str) -> UninstallResult:
    """Removes the private store, the cache, the line ids and the work-tree files; history stays."""
    tracked = len(repo.tree("HEAD", paths.TRACKED))
    gone = [layout.private, os.path.join(layout.cache, repo_id), layout.in_tree(paths.TRACKED)]
    for ref in branch_lines.configured(repo):
        key = f"branch.{ref[len('refs/heads/') :]}.holdfast"
        repo.attempt("config", "--unset-all", key, write=True)
    for git_dir in repo.worktrees():
        for name in (branch_lines.DETACHED, visible_entries.STAGED_RECORD, git_memo.RECORD):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(git_dir, name))
    repo.leave_nothing()
    gone += _left_in_others(repo)
    removed = [path for path in gone if os.path.lexists(path)]
    for path in removed:
        shutil.rmtree(path)
    with contextlib.suppress(OSError):  # caches of other projects, models and locks stay
        os.rmdir(layout.cache)
    return UninstallResult(tuple(removed), tracked)


def _left_in_others(repo: Repo) -> list[str]:
    """Returns our untracked folders in the clone's other work trees; tracked files belong to their branches."""
    found = []
    for top in repo.tops():
        for name in (paths.VIEW, paths.LOCAL) if not os.path.samefile(top, repo.top) else ():
            path = os.path.join(top, *name.split("/"))
            if os.path.isdir(path) and os.path.realpath(path) == os.path.join(os.path.realpath(top), name):
                found += [] if Repo.at(top).run("ls-files", "--", name) else [path]
    return found


def enclosing_repository(start: str) -> Repo | None:
    """Returns the repository at `start`; None if there is none."""
    try:
        return Repo.discover(start)
    except NotARepository:
        return None
