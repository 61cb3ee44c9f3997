"""The worker: calls that touch the repository, one after the other, in a thread of their own.

A call that was cancelled gets no answer; one that waits is not begun, one that runs stops at the next place
where it looks. A bug of ours in one call is an error for that call: the thread it killed is replaced.
"""

from __future__ import annotations

import sys
import threading
from _queue import SimpleQueue

from holdfast.interfaces.mcp import client_project, memory_resources, protocol
from holdfast.interfaces.mcp.client_project import Cancelled, McpClient, ProgressReport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from holdfast.interfaces.mcp.stdio_server import Server

    Answer = Callable[[dict[str, Any] | None], None]

MAX_WAITING = 256  # calls that may wait; a client that sends more without reading has lost its way
_LAST = 60  # seconds that calls may still take when nobody can ask any more
_ROOTS = 2.0  # seconds a client has for telling its roots
_ASKED = "holdfast-roots"


class Job:
    """One call: what was asked, and how it is answered."""

    __slots__ = ("answer", "cancelled", "id", "method", "params", "token")

    def __init__(self, identity: Any, method: str, params: dict[str, Any], answer: Answer) -> None:
        self.id, self.method, self.params, self.answer = identity, method, params, answer
        meta = params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        self.token = token if protocol.is_request_id(token) else None
        self.cancelled = False


class Worker:
    """The thread that does the calls of one connection."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._waiting: SimpleQueue[Job | None] = SimpleQueue()
        self._jobs: dict[Any, Job] = {}
        self._turn = threading.Lock()
        self._roots: list[str] | None = None
        self._told = threading.Event()
        self._thread = self._started()

    def _started(self) -> threading.Thread:
        thread = threading.Thread(target=self._work, name="holdfast-mcp", daemon=True)
        thread.start()
        return thread

    def put(self, identity: Any, method: str, params: dict[str, Any], answer: Answer) -> None:
        """Take a call on; its answer comes from the thread."""
        with self._turn:
            if identity in self._jobs:
                raise protocol.Refused(protocol.REQUEST, "a request with this id is under way")
            if len(self._jobs) >= MAX_WAITING:
                raise protocol.Refused(protocol.BUSY, f"{MAX_WAITING} calls wait already; ask again later")
            job = self._jobs[identity] = Job(identity, method, params, answer)
        self._waiting.put(job)

    def cancel(self, identity: Any) -> None:
        """Nobody waits for a call any more."""
        with self._turn:
            job = self._jobs.get(identity) if protocol.is_request_id(identity) else None
            if job is not None:
                job.cancelled = True

    def finish(self) -> None:
        """Let the calls that are under way end: whoever piped questions in wants their answers."""
        self._told.set()
        self._waiting.put(None)
        for _ in range(_LAST):
            self._thread.join(1.0)
            if not self._thread.is_alive():  # where a bug ended it, another has taken its place
                break

    def answered(self, message: dict[str, Any]) -> None:
        """The client's answer to the one thing we ask it: where its roots are."""
        if message.get("id") != _ASKED:
            return
        result = message.get("result")
        self._roots = client_project.of_roots(result.get("roots")) if isinstance(result, dict) else []
        self._told.set()

    def forget_roots(self) -> None:
        """The client's roots changed: they are asked for again by the next call."""
        self._roots = None

    def _work(self) -> None:
        while (job := self._waiting.get()) is not None:
            done = False
            try:
                self._do(job)
                done = True
            finally:
                if not done:  # a bug; this thread dies of it, and Python says where on stderr
                    error = sys.exc_info()[1]
                    said = f"this is a bug in Holdfast: {type(error).__name__}: {str(error)[:300]}"
                    self._end(job, protocol.error(job.id, protocol.Refused(protocol.INTERNAL, said)))
                    self._thread = self._started()

    def _do(self, job: Job) -> None:
        answer: dict[str, Any] | None
        try:
            asking = McpClient(
                folders=self._folders(),
                client=self._server.client,
                version=self._server.version,
                is_cancelled=lambda: job.cancelled,
                progress=ProgressReport(lambda done, total, said: self._progress(job, done, total, said)),
            )
            asking.check()
            page = memory_resources.first_page(asking.folders, job.params) if job.method == "resources/list" else None
            if page is None:
                from holdfast.interfaces.mcp import tool_calls  # what only the tools need comes with the first of them

                page = tool_calls.answer(job.method, job.params, asking)
            answer = protocol.result(job.id, page)
        except protocol.Refused as refused:
            answer = protocol.error(job.id, refused)
        except Cancelled:
            answer = None
        # The reader's thread may have cancelled it meanwhile.
        with self._turn:
            is_wanted = not job.cancelled
        self._end(job, answer if is_wanted else None)

    def _end(self, job: Job, answer: dict[str, Any] | None) -> None:
        with self._turn:
            self._jobs.pop(job.id, None)
        job.answer(answer)

    def _progress(self, job: Job, done: float, total: float | None, said: str) -> None:
        """Tell how far a call is, if its caller asked for that."""
        if job.token is None or job.cancelled:
            return
        told: dict[str, Any] = {"progressToken": job.token, "progress": done}
        told |= {} if total is None else {"total": total}
        if said and self._server.version >= protocol.ANNOTATED:
            told["message"] = said
        self._server.sink.send({"jsonrpc": "2.0", "method": "notifications/progress", "params": told})

    def _folders(self) -> list[str]:
        """Where the project may be: in the client's roots if it tells them, else where we were started."""
        if not self._server.has_roots:
            return [self._server.folder]
        if self._roots is None:
            self._told.clear()
            self._server.sink.send({"jsonrpc": "2.0", "id": _ASKED, "method": "roots/list"})
            if not self._told.wait(_ROOTS):
                self._roots = []  # it does not tell; asked again only if it says that they changed
        return [*(self._roots or []), self._server.folder]
