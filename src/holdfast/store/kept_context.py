"""The context of a work tree, prepared: one small file that an agent's hook prints without loading anything.

    contexts/<work tree>-<branch>    the newest context that was made there
    contexts/worker                  the two words that start whoever prepares the next one
    contexts/now.lock, next.lock     held by who prepares one, and by who is next

The first line holds the format, when it was made, until when it holds, and a key of what it says. Then come stamps: the
facts of every file and folder that it rests on, each with a label that says what changes with it. After an empty line
come the notes and the receipt of its delivery, and the text as a JSON string. If all stamps are as they were, the text
is printed; else it is outdated, and whoever prints it says since when and what changed. What the user no longer wants
told (erased, no longer trusted, other settings) must not be printed at all: see BARRED.

Hooks wait for this, so it imports what every Python has loaded already. `project.prepared_context` writes it.
"""

import time

from holdfast.store.discovery import CONTEXTS, WORKER, read

try:
    import posix
except ImportError:  # Windows has the same calls under another name
    import nt as posix  # type: ignore[no-redef]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

HEAD = b"holdfast-context 1"
MAX_FILE = 1 << 20
BARRED = b"settings"  # the label of what makes a context unfit to be told, not only outdated
MOST_KEPT = 50  # files: branches come and go
NAMES = (1 << 61) - 1  # a prime, that keeps names apart which look alike


class KeptContext:
    """A context as it was kept, and what changed since."""

    __slots__ = ("changed", "key", "made", "notes", "receipt", "text")

    def __init__(
        self, text: bytes, *, key: bytes, made: int, notes: bytes, receipt: bytes, changed: tuple[bytes, ...]
    ) -> None:
        self.text = text  # the characters of a JSON string, without its quotes; empty if there is nothing to tell
        self.key, self.made, self.notes, self.receipt = key, made, notes, receipt
        self.changed = changed  # labels, each once

    @property
    def is_current(self) -> bool:
        return not self.changed


def file_name(git_dir: bytes, common: bytes) -> "bytes | None":
    """What the context of a work tree on its branch is called; None if nobody can say where HEAD stands."""
    head = read(git_dir + b"/HEAD").rstrip(b"\r\n")
    if not head or head.endswith(b"/.invalid"):
        return None
    branch = head.removeprefix(b"ref: refs/heads/") if head.startswith(b"ref: ") else b"detached"
    tree = b"main" if git_dir == common else b"tree-" + git_dir.rpartition(b"/")[2]
    return plain_name(tree) + b"-" + plain_name(branch)


def plain_name(name: bytes) -> bytes:
    """A name of one path element; those that look alike afterwards get a number each."""
    plain = bytes(c if c in b"-_" or 48 <= c <= 57 or 65 <= c <= 90 or 97 <= c <= 122 else 95 for c in name[:80])
    return plain if plain == name else plain + b"-%x" % (int.from_bytes(name, "big") % NAMES)


def stamp(path: bytes) -> bytes:
    """The facts of a file or folder by which a change is noticed."""
    try:
        found = posix.lstat(path)
    except (OSError, ValueError):
        return b"-"
    size = found.st_size if found.st_mode & 0o170000 != 0o040000 else 0  # a folder's is the file system's business
    return b"%d.%d.%d" % (found.st_mtime_ns, size, found.st_ino)


def load(git_dir: bytes, common: bytes) -> "KeptContext | None":
    """The newest context of this work tree and branch, as far as it may be told."""
    name = file_name(git_dir, common)
    data = read(common + CONTEXTS + b"/" + name, MAX_FILE) if name else b""
    head, _, rest = data.partition(b"\n\n")
    first, *rows = head.split(b"\n")
    words, parts = first.split(b"\t"), rest.split(b"\n")
    if len(words) != 4 or words[0] != HEAD or len(parts) != 4:
        return None
    made, until, changed = int(words[1]), int(words[2]), {}
    for row in rows:
        label, facts, path = row.split(b"\t", 2)
        if label not in changed and stamp(path) != facts:
            changed[label] = True
    if BARRED in changed or made > (now := time.time_ns()) or 0 < until <= now:
        return None
    return KeptContext(parts[2], key=words[3], made=made, notes=parts[0], receipt=parts[1], changed=tuple(changed))


def render(context: KeptContext, stamps: "Iterable[tuple[bytes, bytes, bytes]]", *, until: int = 0) -> bytes:
    """The file that keeps a context; `stamps` are label, facts and path. Empty if a path cannot be written down."""
    rows = [b"\t".join(row) for row in stamps]
    if any(b"\n" in row for row in (*rows, context.text, context.notes, context.receipt)):
        return b""
    first = b"\t".join((HEAD, b"%d" % context.made, b"%d" % until, context.key))
    return b"\n".join([first, *rows, b"", context.notes, context.receipt, context.text, b""])


def clear(common: bytes) -> None:
    """Forget what was kept for all work trees and branches: after an erase no word of it may stay."""
    for name in _names(common):
        if name != WORKER:
            posix.unlink(common + CONTEXTS + b"/" + name)


def thin_out(common: bytes) -> None:
    """Forget what was kept longest ago, of branches that are gone or long left."""
    names = [name for name in _names(common) if name != WORKER and not name.endswith(b".lock")]
    if len(names) > MOST_KEPT:
        names.sort(key=lambda name: posix.lstat(common + CONTEXTS + b"/" + name).st_mtime_ns)
        for name in names[:-MOST_KEPT]:
            posix.unlink(common + CONTEXTS + b"/" + name)


def _names(common: bytes) -> "list[bytes]":
    try:
        return posix.listdir(common + CONTEXTS)
    except OSError:
        return []
