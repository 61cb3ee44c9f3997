"""The recording hook: one line into the clone's inbox, and gone.

Git waits for its hooks, so this file is copied into the store, with `store.discovery` in place of its
import, and run by its path with `-I -S`. It
imports only what every Python has loaded already, starts no git, opens no index, prints nothing. Where agents
are at work, it starts whoever prepares their next context, and waits for nobody. A
child does all that touches the disk; the parent leaves in time whatever becomes of it, and always
with success. The line is a pointer: what it means is found out by the next command.
"""

import _signal  # type: ignore[import-not-found]  # `signal` itself imports enum
import posix
import sys
import time

from holdfast.store.discovery import append, common_of, join, make_folder, pointed_to, prepare_later, read, read_all

DEADLINE = 1.5  # seconds; a hook may take two, and an interpreter has to start first
# Bytes; PIPE_BUF, so that a line is written whole; guesses: far more than git writes.
MAX_LINE, MAX_ROWS, MAX_PACKED = 4096, 8 << 20, 64 << 20
NOTHING = b"-"


def main(argv: "list[str]") -> None:
    """Record in a child, wait for it a bounded time, and end with success whatever happened."""
    child = 0

    def leave(*_: object) -> None:
        try:
            if child:
                posix.kill(child, 9)
        finally:
            posix._exit(0)

    try:
        _signal.signal(_signal.SIGALRM, leave)
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [_signal.SIGALRM])
        _signal.setitimer(_signal.ITIMER_REAL, DEADLINE)
        child = posix.fork()
        if child:
            posix.waitpid(child, 0)
        else:
            record([argument.encode("utf-8", "surrogateescape") for argument in argv])
    finally:
        posix._exit(0)  # before anything is printed about an error


def record(argv: "list[bytes]") -> None:
    """Append what fired to the inbox of the clone we are in, if it has one."""
    git_dir = find_git_dir()
    common = find_common_dir(git_dir)
    rows = given_rows() if argv[0] == b"post-rewrite" else b""
    probe = posix.environ.get(b"HOLDFAST_PROBE", b"")
    arguments = b"HOLDFAST_PROBE=" + probe if probe else b" ".join(argv[1:])
    fields = (b"%d" % time.time_ns(), argv[0], git_dir, *find_head(git_dir, common), arguments)
    line = b"1\t" + b"\t".join(map(escaped, fields)) + b"\n"
    if len(line) <= MAX_LINE:
        inbox = join(common, b"holdfast/inbox")
        make_folder(inbox)
        append(inbox + b"/git.log", line + rows)
    if not probe:
        prepare_later(posix.getcwdb(), git_dir, common)


def escaped(field: bytes) -> bytes:
    """A field without the characters that end fields and lines."""
    return field.replace(b"\\", b"\\\\").replace(b"\t", b"\\t").replace(b"\n", b"\\n")


def find_git_dir() -> bytes:
    """The git folder of this work tree: the one git names to its hooks, else what `.git` leads to."""
    found = join(posix.getcwdb(), posix.environ.get(b"GIT_DIR", b"").rstrip(b"/") or b".git")
    return pointed_to(found) or found


def find_common_dir(git_dir: bytes) -> bytes:
    """What all work trees of the clone share."""
    named = posix.environ.get(b"GIT_COMMON_DIR")
    return join(posix.getcwdb(), named) if named else common_of(git_dir)


def find_head(git_dir: bytes, common: bytes) -> "tuple[bytes, bytes]":
    """The commit and the branch HEAD names, read from files; `-` for what they do not tell."""
    ref, content = b"", read(git_dir + b"/HEAD")
    for _ in range(5):
        content = content.rstrip(b"\r\n")
        if not content.startswith(b"ref: "):
            break
        name = content[len(b"ref: ") :]
        if name.endswith(b"/.invalid"):  # the reftable format keeps refs elsewhere
            return NOTHING, NOTHING
        ref = ref or name
        content = read(join(common, name)) or read(join(git_dir, name)) or packed(common, name)
    return content if is_oid(content) else NOTHING, ref or NOTHING


def packed(common: bytes, name: bytes) -> bytes:
    """What packed-refs says of a ref."""
    before, found, _ = read(common + b"/packed-refs", MAX_PACKED).partition(b" " + name + b"\n")
    return before[before.rfind(b"\n") + 1 :] if found else b""


def is_oid(word: bytes) -> bool:
    return len(word) in (40, 64) and not word.strip(b"0123456789abcdef")


def given_rows() -> bytes:
    """The old and new commits that git tells on standard input, a line for each pair."""
    try:
        given = read_all(0, MAX_ROWS)
    except OSError:  # closed
        given = b""
    pairs = [row.split(b" ")[:2] for row in given.split(b"\n") if b" " in row]
    return b"".join(b"=\t%s\t%s\n" % (old, new) for old, new in pairs if is_oid(old) and is_oid(new))


if __name__ == "__main__":
    main(sys.argv[1:])
