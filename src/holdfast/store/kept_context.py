"""The prepared context of a work tree: one small file that an agent's hook prints without loading other modules.

    contexts/<work tree>-<branch>    the newest context for this work tree and branch
    contexts/worker                  the two words of the command that prepares the next one
    contexts/now.lock, next.lock     held by the process that prepares one, and by the next

The first line has the format, the time of its creation, its expiry, and a hash of its text. Then come stamps: the facts
of every input file and folder, each with a label for the kind of change. After an empty line come the notes and the
receipt of its delivery, and the text as a JSON string. If all stamps match, the hook prints the text; if not, the text
is outdated, and the hook adds since when and what changed. After changes of what the user allows (an erase, trust,
settings) it must not be printed at all: see BARRED.

Hooks wait for this, so it imports only what every Python has loaded already. `project.prepared_context` writes it.
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
MAX_FILE = 1 << 20  # bytes; a guess: a context of 8,000 characters with its stamps has far fewer
BARRED = b"settings"  # the label of inputs whose change forbids printing the context at all
MOST_KEPT = 50  # files; a guess: more branches than one person works on at a time
NAMES = (1 << 61) - 1  # a prime, for the hash that distinguishes names with special characters


class KeptContext:
    """A stored context, and what changed since."""

    __slots__ = ("changed", "key", "made", "notes", "receipt", "text")

    def __init__(
        self, text: bytes, *, key: bytes, made: int, notes: bytes, receipt: bytes, changed: tuple[bytes, ...]
    ) -> None:
        self.text = text  # the characters of a JSON string, without its quotes; empty if there is no context
        self.key, self.made, self.notes, self.receipt = key, made, notes, receipt
        self.changed = changed  # labels, each once

    @property
    def is_current(self) -> bool:
        return not self.changed


def file_name(git_dir: bytes, common: bytes) -> "bytes | None":
    """Returns the file name of the context of a work tree on its branch; None if HEAD cannot be read."""
    head = read(git_dir + b"/HEAD").rstrip(b"\r\n")
    if not head or head.endswith(b"/.invalid"):
        return None
    branch = head.removeprefix(b"ref: refs/heads/") if head.startswith(b"ref: ") else b"detached"
    tree = b"main" if git_dir == common else b"tree-" + git_dir.rpartition(b"/")[2]
    return plain_name(tree) + b"-" + plain_name(branch)


def plain_name(name: bytes) -> bytes:
    """Returns a safe file name for a name; a name with other characters gets a hash at its end."""
    plain = bytes(c if c in b"-_" or 48 <= c <= 57 or 65 <= c <= 90 or 97 <= c <= 122 else 95 for c in name[:80])
    return plain if plain == name else plain + b"-%x" % (int.from_bytes(name, "big") % NAMES)


def stamp(path: bytes) -> bytes:
    """Returns the facts of a file or folder that show a change."""
    try:
        found = posix.lstat(path)
    except (OSError, ValueError):
        return b"-"
    size = found.st_size if found.st_mode & 0o170000 != 0o040000 else 0  # a folder's size depends on the file system
    return b"%d.%d.%d" % (found.st_mtime_ns, size, found.st_ino)


def load(git_dir: bytes, common: bytes) -> "KeptContext | None":
    """Returns the newest context of this work tree and branch; None if there is none that may be printed."""
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
    """Returns the file of a context; `stamps` are label, facts and path. Empty if a path contains a newline."""
    rows = [b"\t".join(row) for row in stamps]
    if any(b"\n" in row for row in (*rows, context.text, context.notes, context.receipt)):
        return b""
    first = b"\t".join((HEAD, b"%d" % context.made, b"%d" % until, context.key))
    return b"\n".join([first, *rows, b"", context.notes, context.receipt, context.text, b""])


def clear(common: bytes) -> None:
    """Deletes the contexts of all work trees and branches, as after an erase no erased text may stay."""
    for name in _names(common):
        if name != WORKER:
            posix.unlink(common + CONTEXTS + b"/" + name)


def thin_out(common: bytes) -> None:
    """Deletes the oldest contexts, of branches that are gone or no longer used."""
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
