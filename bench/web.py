"""What the pages of `holdfast web` cost: CPU of the server and bytes, at 1,000 and at 10,000 memories and tasks.

A real server answers over loopback; the first request of a page is left out, because it reads what all pages share.
What the first page after a change costs stands beside it, for information: a memory is proposed by another command.
"""

import gc
import http.client
import threading
import time
from collections.abc import Iterator
from urllib.parse import quote

from bench.commands import grown_project
from bench.measure import Result, at_most, told
from holdfast import __main__ as command
from holdfast.interfaces import loopback_server
from holdfast.interfaces.web.browser_access import BrowserAccess
from holdfast.interfaces.web.web_app import WebApp
from holdfast.project import Project

CPU, BYTES, GROWTH = 0.2, 300_000, 2  # seconds, bytes, times the small project's figure
LEAST = 0.02  # seconds: of a page that costs less, growth is the noise of the clock
ROUNDS = 5
CHANGED = ("home", "review", "memory", "plan")  # pages whose first request after a change is measured


class _Visitor:
    """A browser that opened the link, without the browser."""

    def __init__(self, top: str) -> None:
        own = loopback_server.listen(0)
        self.port = own.getsockname()[1]
        self.access = BrowserAccess(self.port, no_person=None, say=lambda _: None)
        strangers = loopback_server.Strangers()
        self._server = loopback_server.server(WebApp(top, self.access).asgi(strangers), strangers)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [own]})
        self._thread.start()
        self._cookie = self._ask(self.access.link.removeprefix(self.access.origin))[1].partition(";")[0]

    def _ask(self, path: str, **headers: str) -> tuple[int, str, int]:
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        link.request("GET", path, headers={"Host": self.access.host, **headers})
        answer = link.getresponse()
        size = len(answer.read())
        link.close()
        return answer.status, answer.headers.get("set-cookie") or "", size

    def cost(self, path: str) -> tuple[float, int]:
        """Seconds of CPU and bytes of a page."""
        began = time.process_time()
        status, _, size = self._ask(path, Cookie=self._cookie)
        if status != 200:
            raise SystemExit(f"{path} was answered with {status}")
        return time.process_time() - began, size

    def leave(self) -> None:
        self._server.should_exit = True
        self._thread.join()


def _pages(top: str) -> dict[str, str]:
    """Each kind of page with an address of it."""
    project = Project.open(top)
    run = project.clone.find_events(newest=200, kinds=("run",))[-1].run_id
    oid = project.clone.repo.head().oid
    memory, task = project.memory.queue().items[0].id, "TSK-000001"
    return {
        "home": "/",
        "review": "/review",
        "review, one": f"/review/{memory}",
        "memory": "/memory",
        "memory, one": f"/memory/{memory}",
        "code": "/code",
        "code, a file": "/code/README.md",
        "code, why": "/code/README.md?line=1",
        "timeline": "/timeline",
        "plan": "/plan",
        "plan, graph": "/plan/graph",
        "task": f"/plan/{task}",
        "run": f"/runs/{run}",
        "commit": f"/commits/{oid}",
        "search": "/search?q=" + quote("postgres schema"),
        "graph": f"/graph?of={task}",
        "health": "/health",
    }


def web(folder: str, cache: str) -> Iterator[Result]:
    """The pages at two sizes: CPU and bytes of each, and how they grow."""
    (small, _), (large, changed) = (_measured(folder, cache, size) for size in (1_000, 10_000))
    for name, cpu in changed.items():
        yield told(f"page at 10k after a change: {name}", f"{cpu * 1000:.0f} ms", f"{CPU * 1000:.0f} ms", cpu / CPU)
    for name, (cpu, size) in large.items():
        yield at_most(f"page at 10k: {name}", cpu, CPU, 1)
        yield told(f"page at 10k: {name}", f"{size / 1000:.0f} kB", f"{BYTES / 1000:.0f} kB", size / BYTES)
        if name in small and cpu > LEAST:
            yield at_most(f"growth: {name}", cpu, max(small[name][0], LEAST), GROWTH)


def _measured(folder: str, cache: str, size: int) -> tuple[dict[str, tuple[float, int]], dict[str, float]]:
    top = grown_project(folder, cache, events=10 * size, entries=size).top
    gc.set_threshold(*command.GARBAGE)  # as in the process of `holdfast web`
    visitor = _Visitor(top)
    try:
        pages = _pages(top)
        for path in pages.values():
            visitor.cost(path)
        found: dict[str, tuple[float, int]] = {}
        for _ in range(ROUNDS):
            for name, path in pages.items():
                cpu, bytes_ = visitor.cost(path)
                found[name] = min(found.get(name, (float("inf"), 0)), (cpu, bytes_))
        return found, {name: min(_after_change(top, visitor, pages[name]) for _ in range(ROUNDS)) for name in CHANGED}
    finally:
        visitor.leave()


def _after_change(top: str, visitor: _Visitor, path: str) -> float:
    """Seconds of CPU of a page that is asked for right after another command changed something."""
    project = Project.open(top)
    project.memory.remember(f"The tide at pier {time.monotonic_ns()} is high.", evidence=["README.md"])
    return visitor.cost(path)[0]
