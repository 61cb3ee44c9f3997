"""Finds the commit that brought each line of a file, with git blame: blanks ignored, moved lines followed.

It blames the text in the work tree: an uncommitted line has no commit, and a file that HEAD does not have is
all uncommitted. Git does the work; this module parses its output.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from holdfast.errors import GitFailed
from holdfast.git.repo import Repo, read_batch
from holdfast.git.tracked_files import OFFLINE
from holdfast.values import frozen

# `--root`: the first commit is an answer, too; git's own list tells where history was cut off.
_OPTIONS = ("-w", "--root", "--no-textconv", "--line-porcelain")
_NOT_IN_HEAD = (b"no such path", b"no such ref: HEAD", b"bad revision 'HEAD'")


@frozen(kw_only=True)
class Blamed:
    """One line of a file as it is now, with the commit that brought it."""

    number: int  # counted from 1
    text: str
    commit: str | None = None  # None: not committed yet
    path: str  # the file's path in that commit
    at: int  # the line's number there
    before: tuple[str, str] | None = None  # the previous commit and the file's path there; None: there is none
    cut: bool = False  # history is cut off at this commit: the line may be older


def blame(repo: Repo, path: str, text: Sequence[str], *, first: int, last: int, moved: bool = True) -> list[Blamed]:
    """Returns the commits of the lines from `first` to `last`; `text` is the file in the work tree.

    `moved` follows lines that were moved or copied; without it git needs a tenth of the time.
    """
    arguments = ("blame", *_OPTIONS, *(["-C"] if moved else []), "-L", f"{first},{last}", "--", path)
    done = repo.attempt(*arguments, environ=OFFLINE)
    if done.returncode == 0:
        return list(_read(done.stdout, repo.cut_off()))
    if any(words in done.stderr for words in _NOT_IN_HEAD):
        return [Blamed(number=n, text=text[n - 1], path=path, at=n) for n in range(first, last + 1)]
    reason = os.fsdecode(done.stderr).strip().removeprefix("fatal: ").partition("\n")[0]
    raise GitFailed(f"git blame failed for {path}: {reason or 'it gave no reason'}")


def _read(out: bytes, cut: Collection[str]) -> Iterator[Blamed]:
    """Parses git's output: for each line its commit and numbers, headers, and after a tab the line itself."""
    head: list[bytes] = []
    headers: dict[bytes, bytes] = {}
    for row in out.split(b"\n"):
        if row.startswith(b"\t"):
            yield _blamed(head, headers, row[1:], cut)
            head, headers = [], {}
        elif not head:
            head = row.split(b" ")
        else:
            name, _, value = row.partition(b" ")
            headers[name] = value


def _blamed(head: Sequence[bytes], headers: Mapping[bytes, bytes], line: bytes, cut: Collection[str]) -> Blamed:
    oid, before = head[0].decode("ascii"), headers.get(b"previous")
    parent, _, name = before.partition(b" ") if before else (b"", b"", b"")
    return Blamed(
        number=int(head[2]),
        text=decoded(line),
        commit=None if set(oid) == {"0"} else oid,
        path=_unquoted(headers.get(b"filename", b"")),
        at=int(head[1]),
        before=(parent.decode("ascii"), _unquoted(name)) if before else None,
        cut=oid in cut,
    )


def decoded(line: bytes) -> str:
    """Returns a line as transcripts hold it: without its line end, invalid bytes replaced."""
    return line.removesuffix(b"\r").decode("utf-8", "replace")


def _unquoted(name: bytes) -> str:
    """Returns a path that git may have printed in quotes, with escapes."""
    if not (name.startswith(b'"') and name.endswith(b'"') and len(name) > 1):
        return os.fsdecode(name)
    plain = name[1:-1].decode("latin-1").encode("latin-1").decode("unicode_escape")
    return os.fsdecode(plain.encode("latin-1"))


def texts(repo: Repo, places: Iterable[tuple[str, str]]) -> dict[tuple[str, str], list[str]]:
    """Returns the lines of files in commits, (commit, path) each, with one git process; leaves out missing files."""
    wanted = list(dict.fromkeys(places))
    plain = [one for one in wanted if "\n" not in one[1]]
    found = dict(_odd_texts(repo, (one for one in wanted if "\n" in one[1])))
    if not plain:
        return found
    names = b"".join(oid.encode("ascii") + b":" + os.fsencode(path) + b"\n" for oid, path in plain)
    out = repo.attempt("cat-file", "--batch", stdin=names, environ=OFFLINE).stdout
    return found | {place: lines_of(data) for place, kind, data in read_batch(out, plain) if kind == b"blob"}


def _odd_texts(repo: Repo, places: Iterable[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], list[str]]]:
    """Yields the same for paths with a line break, one git process each: `--batch` cannot read them."""
    for oid, path in places:
        done = repo.attempt("cat-file", "blob", f"{oid}:{path}", environ=OFFLINE)
        if done.returncode == 0:
            yield (oid, path), lines_of(done.stdout)


def lines_of(data: bytes) -> list[str]:
    """Returns the lines of a file as git counts them."""
    rows = data.split(b"\n")
    return [decoded(row) for row in (rows[:-1] if rows[-1] == b"" else rows)]
