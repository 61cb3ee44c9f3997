"""`holdfast mcp`: the server over standard input and output.

The handshake and the lists are answered from `table` alone, before the project or anything heavy is
imported: some clients do not wait for a server in their first turn. What touches the repository is done by
one worker thread, so that a ping or a cancellation is answered while a call runs. Standard output carries
the protocol and nothing else: its descriptor is moved aside, and whatever else prints prints to stderr.
"""

import os
import sys
from _thread import allocate_lock

from holdfast.interfaces.mcp import protocol, tool_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, BinaryIO

    from holdfast.interfaces.mcp.call_worker import Worker

    Message = dict[str, Any]


def serve(folder: str = ".", *, roots: bool = True) -> int:
    """Answer until standard input ends; with `roots`, a client may say which folder is meant."""
    if os.isatty(0):
        print("an MCP client starts this and talks to it here; Ctrl-D ends it", file=sys.stderr)
    # Out of reach of whatever else reads 0 or prints to 1.
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    with os.fdopen(source, "rb") as lines:
        Server(StdoutSink(sink), folder, roots=roots).listen(lines)
    return 0


class StdoutSink:
    """Where messages go, one whole line at a time, from any thread."""

    def __init__(self, fd: int) -> None:
        self._fd, self._turn, self.gone = fd, allocate_lock(), False

    def send(self, message: "Any") -> None:
        """Write a message; a client that went away is no error of ours."""
        data = protocol.written(message)
        with self._turn:
            try:
                while data and not self.gone:
                    data = data[os.write(self._fd, data) :]
            except OSError:
                self.gone = True


class Batch:
    """The answers to an array of messages, sent as one array when the last is there."""

    def __init__(self, sink: StdoutSink, size: int) -> None:
        self._sink, self._left, self._turn = sink, size, allocate_lock()
        self._answers: list[Message] = []

    def answer(self, message: "Message | None") -> None:
        """Take an answer, or None for what gets none."""
        with self._turn:
            self._left -= 1
            self._answers += [message] if message is not None else []
            done = self._left == 0 and self._answers
        if done:
            self._sink.send(self._answers)


class Server:
    """One client's connection."""

    def __init__(self, sink: StdoutSink, folder: str, *, roots: bool) -> None:
        self.sink, self.folder = sink, folder
        self.version, self.client = protocol.NEWEST, ""
        self._may_ask_roots, self.has_roots = roots, False
        self._worker: Worker | None = None

    def listen(self, lines: "BinaryIO") -> None:
        """Take lines until there are no more, then let the calls that are under way end."""
        while line := lines.readline(protocol.MAX_LINE + 1):
            while len(line) > protocol.MAX_LINE and not line.endswith(b"\n"):
                rest = lines.readline(protocol.MAX_LINE)  # the rest of a line nobody will read
                line = line if rest and not rest.endswith(b"\n") else line + b"\n"
            if not line.isspace():
                self.take(line)
            if self.sink.gone:
                break
        if self._worker is not None:
            self._worker.finish()

    def take(self, line: bytes) -> None:
        """Answer one line."""
        try:
            found = protocol.read(line)
            if isinstance(found, list):
                self._batch(found)
                return
        except protocol.Refused as refused:
            self.sink.send(protocol.error(None, refused))
            return
        self._one(found, lambda message: self.sink.send(message) if message is not None else None)

    def _batch(self, messages: "list[Any]") -> None:
        if self.version not in protocol.BATCHES or not 0 < len(messages) <= protocol.MAX_BATCH:
            raise protocol.Refused(protocol.REQUEST, "an array of messages is not taken here: send them one by one")
        batch = Batch(self.sink, len(messages))
        for message in messages:
            if isinstance(message, dict) and message.get("method") == "initialize":
                refused = protocol.Refused(protocol.REQUEST, "initialize stands alone")
                batch.answer(protocol.error(message.get("id"), refused))
            else:
                self._one(message, batch.answer)

    def _one(self, message: "Any", answer: "Callable[[Message | None], None]") -> None:
        """Answer one message, now or when the worker has done it; `answer` is called once."""
        if protocol.is_answer(message):
            if self._worker is not None:
                self._worker.answered(message)
            answer(None)
            return
        identity = message.get("id") if isinstance(message, dict) else None
        identity = identity if protocol.is_request_id(identity) else None
        try:
            method, params = protocol.check(message)
            if "id" not in message:
                if self._worker is not None and method == "notifications/cancelled":
                    self._worker.cancel(params.get("requestId"))
                elif self._worker is not None and method == "notifications/roots/list_changed":
                    self._worker.forget_roots()
                answer(None)
            elif method in ("tools/call", "resources/list", "resources/read"):
                self.worker().put(identity, method, params, answer)
            else:
                answer(protocol.result(identity, self._at_once(method, params)))
        except protocol.Refused as refused:
            # What claims to be a notification gets no answer, however wrong it is.
            silent = isinstance(message, dict) and "id" not in message and "method" in message
            answer(None if silent else protocol.error(identity, refused))

    def _at_once(self, method: str, params: "Message") -> "Message":
        """What is answered without touching the repository."""
        if method == "initialize":
            return self._initialize(params)
        if method == "ping":
            return {}
        if method in ("tools/list", "resources/templates/list"):
            if params.get("cursor") is not None:
                raise protocol.Refused(protocol.PARAMS, "this list has one page, and no cursor leads to another")
            if method == "tools/list":
                return {"tools": tool_table.tools(self.version)}
            return {"resourceTemplates": list(tool_table.TEMPLATES)}
        raise protocol.Refused(protocol.METHOD, f"there is no method {method[:80]!r}")

    def _initialize(self, params: "Message") -> "Message":
        self.version = protocol.negotiated(params.get("protocolVersion"))
        about, can = params.get("clientInfo"), params.get("capabilities")
        name = about.get("name") if isinstance(about, dict) else None
        self.client = name if isinstance(name, str) else ""
        self.has_roots = self._may_ask_roots and isinstance(can, dict) and isinstance(can.get("roots"), dict)
        return tool_table.greeting(self.version)

    def worker(self) -> "Worker":
        """The worker, made when there is first something to do."""
        if self._worker is None:
            from holdfast.interfaces.mcp.call_worker import Worker

            self._worker = Worker(self)
        return self._worker
