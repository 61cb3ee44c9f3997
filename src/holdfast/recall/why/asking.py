"""What is asked about: a file of the work tree, some lines of it or all, or a sentence why that cannot be."""

import os
import re

from holdfast.errors import BadInput, NotFound, TooLarge
from holdfast.git.blame import lines_of
from holdfast.git.repo import Repo
from holdfast.git.tracked import held_in_index, submodule_of, submodules
from holdfast.patterns import regex
from holdfast.recall.governing import at_top, on_disk
from holdfast.store import fsio
from holdfast.values import frozen, replace

MAX_FILE = 32 << 20
_BINARY = 8_000  # bytes among which git looks for a zero
_LINES = regex(r"(?P<path>.+)(?::|#(?=L))L?(?P<first>\d{1,9})(?:-L?(?P<last>\d{1,9}))?", re.S)
_HINT = "Name a file, a line of it (src/a.py:12) or some (src/a.py:10-20)."


@frozen(kw_only=True)
class Asked:
    """A file as it lies in the work tree, and which of its lines are meant."""

    path: str
    text: tuple[str, ...]
    first: int  # counted from 1
    last: int
    whole: bool  # nobody named lines
    notes: tuple[str, ...] = ()


def read(repo: Repo, words: str, *, folder: str) -> Asked:
    """The lines that somebody named, seen from a folder; what cannot be explained is refused with why."""
    name, first, last = _parted(words, folder)
    path, notes = _inside(repo, name, folder)
    text = tuple(_text(repo, path))
    if first is None:
        asked = Asked(path=path, text=text, first=1, last=len(text), whole=True)
    else:
        asked = Asked(path=path, text=text, first=first, last=last or first, whole=False)
        _refuse_lines(asked)
    if not repo.run("--literal-pathspecs", "ls-files", "-z", "--", path):
        notes = (*notes, f"git does not track {path}")
    operation = repo.operation()
    if operation:
        notes = (*notes, f"{operation} is under way: what is not committed yet may have come with it")
    return replace(asked, notes=notes)


def _parted(words: str, folder: str) -> tuple[str, int | None, int | None]:
    """A name and the lines; a file whose own name ends like that is meant as it is spelled."""
    found = _LINES.fullmatch(words)
    if found is None or os.path.lexists(os.path.join(folder, words)):
        return words, None, None
    return found["path"], int(found["first"]), int(found["last"]) if found["last"] else None


def _refuse_lines(asked: Asked) -> None:
    total = len(asked.text)
    if not 1 <= asked.first <= asked.last <= total:
        lines = f"{total:,} line{'' if total == 1 else 's'}"
        raise BadInput(f"{asked.path} has {lines}, so it has no {asked.first}-{asked.last}", hint=_HINT)


def _inside(repo: Repo, name: str, folder: str) -> tuple[str, tuple[str, ...]]:
    """The path as the repository spells it; a link is followed to what it names, as an editor does."""
    if not name.strip():
        raise BadInput("no file is named", hint=_HINT)
    seen = [on_disk(os.path.join(start, name)) for start in (folder, repo.top)]
    full = next((path for path in seen if os.path.lexists(path)), seen[0])
    path = at_top(full, top=repo.top)
    if path is None:
        raise BadInput(f"{name} is not in this repository", hint="Name files of this project.")
    path = path.rstrip("/")
    _refuse_foreign(repo, path)
    if not os.path.islink(os.path.join(repo.top, path)):
        return path, ()
    target = at_top(os.path.realpath(full), top=repo.top)
    if target is None:
        raise BadInput(f"{path} is a link to something outside this repository", hint=_HINT)
    _refuse_foreign(repo, target.rstrip("/"))
    return target.rstrip("/"), (f"{path} is a link to {target.rstrip('/')}",)


def _refuse_foreign(repo: Repo, path: str) -> None:
    """Refuse what lies in the repository's folder and is none of its files."""
    if ".git" in path.split("/"):
        raise BadInput(f"{path} is git's own and no file of the project", hint=_HINT)
    if (inner := submodule_of(path, submodules(repo))) is not None:
        hint = f"Ask git there: git -C {inner} blame -w -C {path[len(inner) + 1 :]}"
        raise BadInput(f"{path} lies in the submodule {inner}, which has a history of its own", hint=hint)


def _text(repo: Repo, path: str) -> list[str]:
    full = os.path.join(repo.top, path)
    if os.path.isdir(full):
        raise BadInput(f"{path} is a folder", hint="Name one of its files.")
    try:
        data = fsio.read(full, limit=MAX_FILE)
    except FileNotFoundError:
        raise _why_not_there(repo, path) from None
    except TooLarge:
        raise TooLarge(f"{path} has more than {MAX_FILE >> 20} MiB", hint="Ask `git blame`.") from None
    except NotADirectoryError:
        raise NotFound(f"there is no file {path}", hint=_HINT) from None
    if b"\0" in data[:_BINARY]:
        raise BadInput(f"{path} is no text, so it has no lines", hint=f"See `git log -- {path}`.")
    return lines_of(data)


def _why_not_there(repo: Repo, path: str) -> NotFound:
    """That a file is not there, and if git once had it, where it went."""
    if held_in_index(repo, [path]):
        hint = f"Get it back with `git restore {path}`, or see `git log -- {path}`."
        return NotFound(f"{path} is not in the work tree; git still has it", hint=hint)
    shape = ("log", "-1", "--diff-filter=D", "--format=%h", "HEAD", "--", path)
    gone = repo.text("--literal-pathspecs", *shape, ok=(0, 128))
    if gone:
        return NotFound(f"{path} was deleted by commit {gone}", hint=f"See `git show {gone} -- {path}`.")
    return NotFound(f"there is no file {path}", hint=_HINT)
