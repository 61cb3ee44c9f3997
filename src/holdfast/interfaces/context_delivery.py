"""What an agent's session was given, and how: each thing once, in the form that its agent takes.

A context that is kept and current is printed from here, and nothing else is loaded; `agent_replies` gives all the rest
through it. Hooks wait for this, so it imports what every Python has loaded already, and `_json`.
"""

import posix
import time

from holdfast.interfaces.agent_events import LONGEST, file_name, is_patient, quoted
from holdfast.store import kept_context
from holdfast.store.discovery import ROW, read, unsteered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.store.discovery import RepositoryPlace

IN_TIME = {True: 3.9, False: 1.4}  # seconds after which nobody listens any more, by whether the event is patient
AGAIN = 5_000_000_000  # nanoseconds within which the same start is the same hook, installed twice
OUTDATED, UPDATED = "outdated", "updated"  # notes: an outdated context was given; the next one replaced it
_AS_CLAUDE = ("claude", "codex", "gemini")  # take the one form that Claude Code made
_APPEND = posix.O_WRONLY | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_CLOEXEC


class ContextDelivery:
    """One event of a session: what the session was given already, and what it gets now.

    What it was given stands a line each in a file beside its pointers, which is locked while it is open.
    """

    def __init__(self, agent: str, event: str, given: "dict[str, Any]", place: "RepositoryPlace", inbox: bytes) -> None:
        self.began = time.monotonic()
        self.agent, self.event, self.place, self.inbox = agent, event, place, inbox
        self.session = str(given.get("session_id") or "")
        source, helper = given.get("source"), given.get("agent_id")
        self.start = f"pack {source if isinstance(source, str) and 0 < len(source) < LONGEST else 'startup'}"
        of_helper = event == "SubagentStart" and isinstance(helper, str)  # it has a conversation of its own
        self.stem = file_name(agent, f"{self.session}/{helper}" if of_helper else self.session)
        self.is_open = True  # whether its agent still waits for the answer
        self._fd, self._lines = -1, [""]

    def __enter__(self) -> None:
        if not self.inbox:
            return
        how = posix.O_RDWR | posix.O_APPEND | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_CLOEXEC
        self._fd = posix.open(self.inbox + b"/" + self.stem + b".told", how, 0o600)
        posix.lockf(self._fd, posix.F_LOCK, 0)  # the same event, from a second installation, waits here
        self._lines = posix.read(self._fd, 1 << 20).decode("ascii", "replace").split("\n")

    def __exit__(self, *_: object) -> None:
        if self._fd >= 0:
            posix.close(self._fd)
            self._fd = -1

    def holds(self, note: str) -> bool:
        return any(line == note or line.startswith(f"{note} ") for line in self._lines)

    def is_recent(self, note: str) -> bool:
        """Whether it was noted a moment ago."""
        times = [line.rpartition(" ")[2] for line in self._lines if line.startswith(f"{note} ")]
        return any(word.isdigit() and 0 <= time.time_ns() - int(word) < AGAIN for word in times)

    def owed(self) -> str:
        """The key of an outdated context that was given and not replaced since; else empty."""
        found = [line.split(" ") for line in self._lines if line.startswith((OUTDATED, UPDATED))]
        return found[-1][1] if found and found[-1][0] == OUTDATED else ""

    def kept(self) -> "kept_context.KeptContext | None":
        """The context that was prepared for here; None where variables change what it would be."""
        return kept_context.load(self.place.git_dir, self.place.common) if unsteered(posix.environ) else None

    def is_behind(self) -> bool:
        """Whether other sessions of this work tree left something to read: one may have been killed.

        That is what their hooks said since the last reading, and a session of this agent that never ended.
        """
        if self.event == "SubagentStart" or not self.inbox:
            return False
        tree = quoted(self.place.git_dir.decode("utf-8", "surrogateescape")).encode("ascii")
        unended = self.agent.encode("ascii") + b"-"
        for name in posix.listdir(self.inbox):
            stem, _, ending = name.rpartition(b".")
            is_left = ending == b"jsonl" or (ending == b"live" and stem.startswith(unended))
            if is_left and stem != self.stem and tree in read(self.inbox + b"/" + name, ROW):
                return True
        return False

    def give_kept(self, end: int) -> bool:
        """At the start of a session or a helper, print the kept context; False if there is none that is current."""
        with self:
            if self.is_recent(self.start):
                self.give(b"", end, [])
                return True
            kept = self.kept()
            if kept is None or not kept.is_current or self.is_behind():
                return False
            self.give(kept.text, end, [self.start, *kept.notes.decode("ascii", "replace").split()], kept.receipt)
            return True

    def give(self, text: bytes, end: int, notes: "list[str]", receipt: bytes = b"") -> bool:
        """Print a text, as the characters of a JSON string, and note what it told; False if it came too late."""
        self.is_open, patient = False, is_patient(self.agent, self.event)
        data = b"%s\n" % self._worded(text) if text else b""
        in_time = time.monotonic() - self.began < IN_TIME[patient]
        try:
            while data and in_time:
                data = data[posix.write(end, data) :]
        except OSError:
            in_time = False
        posix.close(end)
        if in_time:
            self._note(notes)
            if text and receipt:
                self._keep_pack(receipt)
        elif self.inbox:  # counted, a byte each
            _write(self.inbox + b"/late-" + self.agent.encode("ascii"), b".", posix.O_APPEND)
        return in_time

    def _worded(self, text: bytes) -> bytes:
        """What is printed, so that this agent's model reads the text."""
        if self.agent in _AS_CLAUDE:
            told = b'{"hookEventName":"%s","additionalContext":"%s"}' % (self.event.encode("ascii"), text)
            return b'{"hookSpecificOutput":%s}' % told
        from holdfast.interfaces import agent_callers

        return agent_callers.reply(self.agent, self.event, text)

    def took(self) -> int:
        """Microseconds since the event."""
        return int((time.monotonic() - self.began) * 1e6)

    def _note(self, notes: "list[str]") -> None:
        now = time.time_ns()
        rows = [f"{note} {now}" if note.startswith("pack") else note for note in notes]
        if rows and self._fd >= 0:
            posix.write(self._fd, ("\n".join(rows) + "\n").encode("ascii", "replace"))

    def _keep_pack(self, receipt: bytes) -> None:
        """Leave the receipt for the next drain, which keeps it."""
        if not self.inbox:
            return
        now = time.time_ns()
        named = f'"agent":{quoted(self.agent)},"session":{quoted(self.session)},"ts":{now},"took":{self.took()}'
        data = b'{%s,"pack":%s}\n' % (named.encode("ascii"), receipt)
        _write(self.inbox + b"/" + self.stem + b"-%d.pack" % now, data, posix.O_EXCL)


def escaped(text: str) -> bytes:
    """A text as the characters of a JSON string."""
    return quoted(text)[1:-1].encode("ascii")


def outdated_note(kept: "kept_context.KeptContext") -> str:
    """What an agent has to know of a context that is not current."""
    seconds = (time.time_ns() - kept.made) // 1_000_000_000
    units = ((172_800, 86_400, "days"), (7200, 3600, "hours"), (120, 60, "minutes"))
    age = next((f"{seconds // one} {name}" for most, one, name in units if seconds >= most), f"{seconds} seconds")
    changed = ", ".join(label.decode("ascii", "replace") for label in kept.changed)
    return f"Prepared {age} ago; changed since then: {changed}. The updated context follows when it is ready.\n"


def _write(path: bytes, data: bytes, how: int) -> None:
    fd = posix.open(path, _APPEND | how, 0o600)
    try:
        posix.write(fd, data)
    finally:
        posix.close(fd)
