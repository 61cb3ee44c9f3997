"""The log as git holds it: read from a commit's tree, so that it works in any clone.

What the work tree shows is compared with it byte by byte; a checkout that converted line ends
is no damage.
"""

import os
import re
from functools import lru_cache

from holdfast.diagnostics.findings import HealthFinding
from holdfast.diagnostics.log_integrity import Ledger
from holdfast.errors import GitFailed, PublishRefused, TooLarge, UnsafePath
from holdfast.git import approval_proofs, git_memo, visible_entries
from holdfast.git.repo import Repo
from holdfast.patterns import regex
from holdfast.store import fsio, layout
from holdfast.store.format import MAX_SEGMENT
from holdfast.values import frozen

_WRITING = regex(r"\.jsonl\.\d+-[0-9a-f]{8}\.tmp$")
_PLACE = regex(rf"{re.escape(layout.LOG)}/\d{{4}}/\d\d/\d\d/([0-9a-f]{{32}})\.jsonl")
_PROBES = tuple(f"{folder}/probe.md" for folder in (*layout.FOLDER_OF.values(), layout.TASKS, layout.LINKS))
_FSCK = "Run `git fsck`, and fetch the object from another clone."
_ATTRIBUTES = ("text", "filter", "ident", "working-tree-encoding")


@frozen
class TreeRow:
    """One file of a tree."""

    path: str
    oid: str
    mode: str

    @property
    def segment(self) -> str | None:
        """The name of the segment that this file should be, or None."""
        place = _PLACE.fullmatch(self.path)
        return place[1] if place and self.mode == "100644" else None


def rows(repo: Repo, rev: str, path: str) -> list[TreeRow]:
    """Everything below a path of ours in a commit, links and odd modes included."""
    commit = (repo.head().oid if rev == "HEAD" else rev) or rev
    listed = _all_rows(repo, commit)
    if listed is None:  # git may lack a tree beside this one: that must not hide the log from who verifies it
        return _listed(repo, commit, path) or []
    return [row for row in listed if row.path == path or row.path.startswith(f"{path}/")]


@lru_cache(maxsize=4)
def _all_rows(repo: Repo, commit: str) -> list[TreeRow] | None:
    """Asked of git itself, once a process: what earlier commands kept may be what is wrong."""
    return _listed(repo, commit, layout.TRACKED)


def _listed(repo: Repo, commit: str, path: str) -> list[TreeRow] | None:
    done = repo.attempt("ls-tree", "-r", "-z", "--full-tree", commit, "--", path)
    found = git_memo.listed_rows(done.stdout)
    return [TreeRow(name, oid, mode) for name, (mode, _, oid) in found] if done.returncode == 0 else None


def read_log(repo: Repo, rev: str, ledger: Ledger) -> dict[str, bytes]:
    """Take the whole log of a commit into the ledger; gives each segment's bytes by path."""
    listed = rows(repo, rev, layout.LOG)
    blobs = _blobs(repo, [row for row in listed if row.segment], ledger)
    found = {}
    for row in listed:
        if row.segment is None:
            ledger.stranger(row.path)
        elif row.oid not in blobs:
            ledger.findings.append(_absent(repo, row))
        else:
            found[row.path] = blobs[row.oid]
            ledger.segment(row.path, row.segment, blobs[row.oid])
    return found


def _blobs(repo: Repo, listed: list[TreeRow], ledger: Ledger) -> dict[str, bytes]:
    """What git holds; where its own store is damaged, whatever can still be read one by one."""
    try:
        return repo.blobs(row.oid for row in listed)
    except GitFailed as error:
        ledger.findings.append(HealthFinding("problem", "log", layout.LOG, str(error), _FSCK))
    answers = {row.oid: repo.attempt("cat-file", "blob", row.oid) for row in listed}
    return {oid: done.stdout for oid, done in answers.items() if done.returncode == 0}


def _absent(repo: Repo, row: TreeRow) -> HealthFinding:
    """In a partial clone git may fetch a blob later; elsewhere it lost or damaged it."""
    promised = repo.text("config", "--get-regexp", r"^remote\..*\.promisor$", ok=(0, 1))
    how, step = ("partial", "Fetch it.") if promised else ("problem", _FSCK)
    return HealthFinding(how, "log", row.path, "git names this segment but does not have its bytes here", step)


def read_work_tree(repo: Repo, ledger: Ledger, committed: dict[str, bytes]) -> list[HealthFinding]:
    """Compare the work tree's copies with git's, and verify segments that are not committed yet."""
    findings = []
    found = []
    for folder, folders, names in os.walk(os.path.join(repo.top, *layout.LOG.split("/"))):
        folders.sort()
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in sorted([*names, *links]):
            if _WRITING.search(name):  # a publish is under way; what a killed one leaves, the next command sweeps
                continue
            found.append(os.path.relpath(os.path.join(folder, name), repo.top).replace(os.sep, "/"))
    for path in found:
        try:
            data = fsio.read(os.path.join(repo.top, path), limit=2 * MAX_SEGMENT)
        except FileNotFoundError:  # git changed the work tree since it was listed
            continue
        except (UnsafePath, TooLarge, OSError) as error:
            step = f"Bring git's copy back: `git checkout -- {path}`."
            findings.append(HealthFinding("problem", "log", path, str(error), step))
            continue
        place = _PLACE.fullmatch(path)
        if place is None:
            ledger.stranger(path)
        elif path not in committed:
            ledger.segment(path, place[1], data)
        elif data != committed[path] and data.replace(b"\r\n", b"\n") == committed[path]:
            said = "the checkout converted its line ends; git's own copy is sound and is what counts"
            step = f"Commit {layout.ATTRIBUTES}, then check the file out again."
            findings.append(HealthFinding("note", "git", path, said, step))
        elif data != committed[path]:
            ledger.segment(path, place[1], data.replace(b"\r\n", b"\n"))
    return findings


def altered_proofs(repo: Repo) -> list[HealthFinding]:
    """Proofs of approvals that are not what their names commit to; they are no part of the log."""
    listed = rows(repo, "HEAD", layout.APPROVALS) if repo.head().oid else []
    data = repo.blobs(row.oid for row in listed)
    step = "Bring git's older copy back, or accept the memory again and publish."
    said = "this proof of an approval was altered, so it proves nothing"
    return [
        HealthFinding("note", "trust", row.path, said, step)
        for row in listed
        if row.oid in data and approval_proofs.read(row.path.rpartition("/")[2], data[row.oid]) is None
    ]


def attributes(repo: Repo) -> list[HealthFinding]:
    """Whether git will leave the log's bytes alone."""
    here = os.path.lexists(os.path.join(repo.top, *layout.ATTRIBUTES.split("/")))
    if not here and not rows(repo, "HEAD", layout.ATTRIBUTES):
        said = "it is missing, so git may convert the log's line ends"
        return [_attribute(said, "Run `holdfast init` and commit it.")]
    probe = f"{layout.LOG}/2000/01/01/{'0' * 32}.jsonl"
    # A sparse checkout leaves the file out of the work tree, and git then overlooks it in the index too.
    asked = ("check-attr",) if here else ("-c", "core.sparseCheckout=false", "check-attr", "--cached")
    out = os.fsdecode(repo.run(*asked, "-z", *_ATTRIBUTES, "--", probe)).split("\0")
    values = dict(zip(out[1::3], out[2::3], strict=False))
    # Unspecified is harmless for all but `text`, which then follows the user's core.autocrlf.
    allowed = {name: "unset" if name == "text" else "unspecified" for name in values}
    if harmful := [f"{name}={value}" for name, value in values.items() if value not in ("unset", allowed[name])]:
        said = f"another rule outvotes it for the log: {', '.join(harmful)}"
        return [_attribute(said, "Look at .git/info/attributes and core.attributesFile.")]
    try:
        visible_entries.refuse_conversion(repo, _PROBES if here else ())
    except PublishRefused as refused:
        return [_attribute(str(refused).partition(", so nothing")[0], refused.hint)]
    return []


def _attribute(sentence: str, step: str) -> HealthFinding:
    return HealthFinding("problem", "git", layout.ATTRIBUTES, sentence, step)
