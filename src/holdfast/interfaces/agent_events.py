"""The hook that agents call: a pointer into the clone's inbox, and at a few moments a word to the agent.

`agent_hook.py AGENT EVENT` comes here, what happened on standard input. Recording imports only what every
Python has loaded already, and `_json`; a child does all that touches the disk, and the parent leaves in time
whatever becomes of it, always with success: an exit code of 2 would swallow what the user typed. A pointer
says which event of which session, where its transcript lies and how long it was; the words stay in the
transcript, and are read from there, redacted, when there is time. What an agent is given is the business
of `injecting`.
"""

import _signal  # type: ignore[import-not-found]  # `signal` itself imports enum
import posix
import sys
import time

from holdfast.store.discovery import RepositoryPlace, append, find_repository, is_folder, lock, make_folder, read_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEADLINE = 1.5  # seconds; a hook may take two, and an interpreter has to start first
PATIENCE = 4.0  # seconds for what a session needs at its start: agents wait 5, and what comes later is lost
AFTERWARDS = 60  # seconds that are left to a child whose answer came too late, to keep it for the next time
MAX_INPUT = 8 << 20  # of standard input; the rest is read and dropped, for a caller must not find it shut
MAX_OUTPUT = 1 << 20  # bytes; a guess: what an agent reads of a hook is far smaller
OWN_WORDS = ("codex", "gemini")  # whose events need no translation; Claude Code's hooks may have another caller
# Events at which an agent gets text from us. Gemini ignores text before a tool, and reads it with the tool's result.
TELLING = ("SessionStart", "SubagentStart", "UserPromptSubmit", "BeforeAgent", "PreToolUse", "AfterTool")
PATIENT = TELLING[:4]  # a late answer is kept for the next of these
STARTS = TELLING[:2]  # of a session, and of a helper within it
# Moments to read transcripts, in the background.
DRAINING = ("SessionStart", "Stop", "AfterAgent", "SubagentStop", "SessionEnd")
# Moments after which the session may go on: to read a few turns at once costs no more than to read one. A guess:
# nobody asks sooner, and a command or another session that does reads by itself.
PAUSING, PAUSE = ("Stop", "AfterAgent", "SubagentStop"), 60.0
# Which fields of the input a pointer takes over, and what it calls them.
TAKEN = (
    ("source", "source"),
    ("reason", "reason"),
    ("tool", "tool_name"),
    ("call", "tool_use_id"),
    ("helper", "agent_transcript_path"),
    ("kind", "notification_type"),
)
LONGEST = 4096  # characters of one field
ASKING = ("PermissionRequest", "Notification")  # what follows may answer a question, and is recorded
NAMES = (1 << 61) - 1  # a prime, that keeps long names apart


def main(argv: "list[str]") -> None:
    """Work in a child, wait for it a bounded time, pass on what it says, and end with success."""
    agent, event = (*argv, "", "")[:2]
    child, answer = 0, -1

    def leave(*_: object) -> None:
        try:
            if child and not is_patient(agent, event):
                posix.kill(child, 9)
        finally:
            posix._exit(0)

    try:
        _signal.signal(_signal.SIGALRM, leave)
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [_signal.SIGALRM])
        _signal.setitimer(_signal.ITIMER_REAL, PATIENCE if is_patient(agent, event) else DEADLINE)
        if is_name(agent) and event:
            keep_low_numbers_taken()
            answer, end = posix.pipe() if event in TELLING else (-1, -1)
            child = posix.fork()
            if child:
                pass_on(child, answer, end)
            else:
                serve(agent, event, end)
    finally:
        posix._exit(0)  # before anything is printed about an error


def is_patient(agent: str, event: str) -> bool:
    """Whether a context may be given at an event: Cline hears nothing before its first tool."""
    return event in PATIENT or (agent == "cline" and event == "PreToolUse")


def is_name(agent: str) -> bool:
    """Whether an agent may be called that: its files in the inbox begin with it."""
    return agent.isascii() and agent.isalnum() and agent.islower() and agent[0].isalpha() and len(agent) <= 32


def keep_low_numbers_taken() -> None:
    """Where a caller closed a standard stream, a file opened later must not get its number."""
    for number in (0, 1, 2):
        try:
            posix.fstat(number)
        except OSError:
            posix.open(b"/dev/null", posix.O_RDWR)


def pass_on(child: int, answer: int, end: int) -> None:
    """Wait for the child, and say what it says: all of it or nothing."""
    if answer < 0:
        posix.waitpid(child, 0)
        return
    posix.close(end)
    said = read_all(answer, MAX_OUTPUT)
    if not said.endswith(b"\n"):  # it died at it
        return
    while said:
        said = said[posix.write(1, said) :]


def serve(agent: str, event: str, end: int) -> None:
    """What the child does: read, record, answer, and start what may take longer."""
    silence(1, 2)
    _signal.signal(_signal.SIGALRM, _signal.SIG_DFL)
    _signal.setitimer(_signal.ITIMER_REAL, DEADLINE)
    data = read_input()
    silence(0)
    if is_patient(agent, event):
        _signal.setitimer(_signal.ITIMER_REAL, AFTERWARDS)
        posix.setsid()
    given, owner = fields(data.decode("utf-8", "replace")), agent
    if agent not in OWN_WORDS and (agent != "claude" or b"COPILOT_CLI" in posix.environ):
        from holdfast.interfaces import agent_callers

        agent = agent_callers.caller(agent, given)
        if not agent_callers.translate(agent, event, given):
            return
        if end >= 0 and (agent, event) in agent_callers.DEAF:
            posix.close(end)
            end = -1
    place = find_place(given.get("cwd"))
    if place is None or is_silent(place, owner):
        return
    inbox, was_ready = record(agent, event, given, place), False
    if inbox and event in ASKING:
        forget_clues(place, inbox)
    if end >= 0 and (inbox or event == "SessionStart"):  # a fresh clone's store is made by whoever looks first
        was_ready = answer(agent, event, given, place, inbox, end)
    # At a start that was ready nothing waits but the start itself, and an interpreter with all of ours costs a session
    # more than all its other events.
    waits = event in DRAINING and not was_ready
    if inbox and (waits or (agent == "gemini" and event == "AfterTool" and has_moved(place, inbox))):
        session = inbox + b"/" + file_name(agent, text_of(given.get("session_id"))) + b".live"
        drain_later(place.top, inbox, session if event in PAUSING else b"")


def answer(  # noqa: PLR0917 - all that is known of the event, and it is called once
    agent: str, event: str, given: "dict[str, Any]", place: "RepositoryPlace", inbox: bytes, end: int
) -> bool:
    """Give what is ready, at a session's start, and say so; for all the rest more is loaded."""
    from holdfast.interfaces.context_delivery import ContextDelivery

    told = ContextDelivery(agent, event, given, place, inbox)
    if event in STARTS and told.give_kept(end):
        return True
    from holdfast.interfaces import agent_replies

    agent_replies.tell(told, given, end)
    return False


def has_moved(place: "RepositoryPlace", inbox: bytes) -> bool:
    """Whether HEAD moved since the last look: Gemini CLI's shell switches git's hooks off, and nobody else tells."""
    try:
        return posix.stat(place.git_dir + b"/logs/HEAD").st_mtime > posix.stat(inbox + b"/drain.lock").st_mtime
    except OSError:
        return False


def silence(*streams: int) -> None:
    """Let go of the caller's streams: it waits until nobody holds them."""
    nothing = posix.open(b"/dev/null", posix.O_RDWR | posix.O_CLOEXEC)
    for number in streams:
        posix.dup2(nothing, number)


# ── what came in ─────────────────────────────────────────────────────────────────────────────────


def read_input() -> bytes:
    """What the agent says of the event, its beginning if it is very long."""
    kept, size = [], 0
    try:
        while part := posix.read(0, 1 << 20):
            if size < MAX_INPUT:
                kept.append(part)
            size += len(part)
    except OSError:  # closed, or a folder
        pass
    return b"".join(kept)


class _How:
    """How `_json` reads values: as `json` does, but for its leniency."""

    strict = False
    object_hook = object_pairs_hook = array_hook = None
    parse_float, parse_int, parse_constant = float, int, float


def fields(text: str) -> "dict[str, Any]":
    """The fields of a JSON object, as many as can be read; what breaks off keeps those before it."""
    from _json import make_scanner, scanstring

    scan, found = make_scanner(_How), {}  # type: ignore[arg-type]
    try:
        at = _past_blanks(text, 0)
        while text[at] in "{,":
            at = _past_blanks(text, at + 1)
            if text[at] != '"':
                break
            name, at = scanstring(text, at + 1, False)
            at = _past_blanks(text, at)
            if text[at] != ":":
                break
            found[name], at = scan(text, _past_blanks(text, at + 1))
            at = _past_blanks(text, at)
    except (StopIteration, ValueError, IndexError, RecursionError, SystemError):
        pass  # SystemError: `_json` looks for an error class of `json`, which nobody has loaded
    return found


def _past_blanks(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at


# ── where it happened ────────────────────────────────────────────────────────────────────────────


def find_place(cwd: object) -> "RepositoryPlace | None":
    """The repository around a folder, if it is the user's and has a memory."""
    start = b""
    if isinstance(cwd, str) and cwd.startswith("/"):
        try:
            posix.chdir(cwd.encode("utf-8", "surrogateescape"))  # the file system's own spelling, as far as it is there
        except OSError:
            start = cwd.encode("utf-8", "surrogateescape")
    found = find_repository(start or posix.getcwdb())
    if found is None or not found.is_own:
        return None
    has_memory = is_folder(found.common + b"/holdfast") or is_folder(found.top + b"/.holdfast")
    return found if has_memory else None


def is_silent(place: "RepositoryPlace", agent: str) -> bool:
    """Whether the repository was disconnected from an agent's hooks, which others go on using."""
    try:
        posix.lstat(place.common + b"/holdfast/silent/" + agent.encode("ascii"))
    except OSError:
        return False
    return True


# ── the pointer ──────────────────────────────────────────────────────────────────────────────────


def record(agent: str, event: str, given: "dict[str, Any]", place: "RepositoryPlace") -> bytes:
    """Append a pointer to the inbox of the clone; gives the inbox, or nothing if there is none."""
    session = text_of(given.get("session_id"))
    if not session:
        return b""
    line = pointer(agent, event, given, place)
    name = file_name(agent, session) + b".jsonl"
    inbox = place.common + b"/holdfast/inbox"
    try:
        if is_folder(place.common + b"/holdfast"):
            make_folder(inbox)
            append(inbox + b"/" + name, line)
            touch(inbox + b"/seen-" + agent.encode("ascii"))
            return inbox
    except OSError as error:
        if error.errno not in (1, 13, 30):  # only where it may not be written is there another place
            return b""
        inbox = place.top + b"/.holdfast/local/inbox"
        make_drawer(place)
        make_folder(inbox)
        append(inbox + b"/" + name, line)
        return inbox
    return b""


def pointer(agent: str, event: str, given: "dict[str, Any]", place: "RepositoryPlace") -> bytes:
    """One line of the inbox."""
    path = text_of(given.get("transcript_path"))
    said = [
        ("agent", agent),
        ("event", event[:64]),
        ("session", text_of(given.get("session_id"))),
        ("path", path or None),
        ("cwd", text_of(given.get("cwd")) or place.top.decode("utf-8", "surrogateescape")),
        ("tree", place.git_dir.decode("utf-8", "surrogateescape")),
    ]
    said += [(name, value) for name, field in TAKEN if (value := text_of(given.get(field)))]
    if event in ASKING:
        said += [("about", about) for about in [sum_of(given.get("tool_input"))] if about]
    words = "".join(f',"{name}":{quoted(value)}' for name, value in said)
    return b'{"v":1,"ts":%d%s,"size":%d}\n' % (time.time_ns(), words.encode("ascii"), size_of(path))


def sum_of(tool_input: object) -> str:
    """A number made of what leave is asked for: the transcript has the words, and perhaps several calls of the tool."""
    given = tool_input if isinstance(tool_input, dict) else {}
    told = (given.get(name) for name in ("command", "file_path", "notebook_path", "path"))
    text = next((one for one in told if isinstance(one, str)), "")
    return f"{int.from_bytes(text.encode('utf-8', 'surrogatepass'), 'big') % NAMES:x}" if text else ""


def quoted(text: "str | None") -> str:
    from _json import encode_basestring_ascii

    return "null" if text is None else str(encode_basestring_ascii(text))


def text_of(value: object) -> str:
    return value if isinstance(value, str) and len(value) <= LONGEST else ""


def size_of(path: str) -> int:
    try:
        return posix.stat(path).st_size if path else 0
    except (OSError, ValueError):
        return 0


def file_name(agent: str, session: str) -> bytes:
    """What a session's files in the inbox are called; the session's true name stands in each line."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in session[:80])
    if plain != session:  # others may look the same
        plain += f"-{int.from_bytes(session.encode('utf-8', 'surrogatepass'), 'big') % NAMES:x}"
    return f"{agent}-{plain}".encode("ascii")


def touch(path: bytes) -> None:
    """Leave word of when an agent was last heard of."""
    try:
        posix.utime(path)
    except FileNotFoundError:
        posix.close(posix.open(path, posix.O_WRONLY | posix.O_CREAT | posix.O_NOFOLLOW, 0o600))


def clues_of(place: "RepositoryPlace", inbox: bytes) -> bytes:
    """Where the launcher finds the words that decide whether Python is started for a tool."""
    tree = b"main" if place.git_dir == place.common else b"tree-" + place.git_dir.rpartition(b"/")[2]
    return inbox + b"/clues-" + tree


def forget_clues(place: "RepositoryPlace", inbox: bytes) -> None:
    """Have the next event of a tool come to us, whatever it is about."""
    try:
        posix.unlink(clues_of(place, inbox))
    except OSError:
        pass


def make_drawer(place: "RepositoryPlace") -> None:
    """The store of last resort, which git ignores."""
    drawer = place.top + b"/.holdfast/local"
    make_folder(drawer)
    try:
        fd = posix.open(drawer + b"/.gitignore", posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL, 0o644)
        posix.write(fd, b"*\n")
        posix.close(fd)
    except FileExistsError:
        pass


# ── in the background ────────────────────────────────────────────────────────────────────────────


def drain_later(top: bytes, inbox: bytes, session: bytes = b"") -> None:
    """Start a process that reads transcripts, unless one is at it; nobody waits for it.

    With a session's `.live` file, which each reading writes, it lets a minute pass since the last one.
    """
    child = posix.fork()
    if child:
        posix.waitpid(child, 0)
        return
    try:
        posix.setsid()
        if not posix.fork():
            _drain(top, inbox, session)
    finally:
        posix._exit(0)


def _drain(top: bytes, inbox: bytes, session: bytes) -> None:
    silence(0, 1, 2)
    # The lock outlives the exec and ends with the process, however that ends.
    how = posix.O_RDWR | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_APPEND
    fd = posix.open(inbox + b"/drain.lock", how, 0o600)
    if not session:
        posix.write(fd, b".")  # whoever waits reads now
    posix.utime(inbox + b"/drain.lock")  # whoever is at it sees that there is more
    if not lock(fd):
        return
    while not posix.fstat(fd).st_size and 0 <= time.time() - _last_read(session) < PAUSE:
        time.sleep(0.5)
    posix.ftruncate(fd, 0)
    posix.set_inheritable(fd, True)
    posix.nice(10)
    posix.chdir(top)
    worker = __file__.rsplit("/", 1)[0] + "/agent_replies.py"
    posix.execv(sys.executable, [sys.executable, "-I", worker, "drain", str(fd)])


def _last_read(session: bytes) -> float:
    try:
        return posix.stat(session).st_mtime
    except OSError:
        return 0.0
