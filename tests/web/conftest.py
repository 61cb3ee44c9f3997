"""A real server on loopback, and what asks it: plain HTTP, or a real Chromium in tests marked `browser`."""

import http.client
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from holdfast.interfaces import loopback_server
from holdfast.interfaces.web.browser_access import BrowserAccess
from holdfast.interfaces.web.web_app import WebApp
from holdfast.project import Project
from tests.conftest import GitRepo, init

PATIENCE = 20_000  # milliseconds for what a browser does, on a machine that does other things as well
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@dataclass(slots=True)
class PageAnswer:
    """What the server answered."""

    status: int
    headers: Mapping[str, str]
    text: str

    def hidden(self, action: str) -> dict[str, str]:
        """The hidden fields of the form that posts to an address."""
        form = re.search(rf'<form[^>]*action="{re.escape(action)}".*?</form>', self.text, re.DOTALL)
        assert form, f"no form posts to {action}"
        return dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form[0]))


@dataclass(slots=True)
class Served:
    """A server over one project, and the browser session it knows."""

    path: Path
    access: BrowserAccess
    port: int
    said: list[str] = field(default_factory=list)
    cookie: str = ""

    @property
    def url(self) -> str:
        return self.access.origin

    def project(self) -> Project:
        """The project, opened beside the server as another process would."""
        return Project.open(self.path, person=True)

    def ask(
        self, method: str, path: str, *, body: str | bytes = "", headers: Mapping[str, str] | None = None
    ) -> PageAnswer:
        """A request as it is given, with nothing added but Host, which `headers` may replace."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            link.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            given = {"Host": self.access.host, **(headers or {})}
            data = body.encode() if isinstance(body, str) else body
            if data:
                given.setdefault("Content-Length", str(len(data)))
            for name, value in given.items():
                for one in value if isinstance(value, list) else [value]:
                    link.putheader(name, one)
            link.endheaders(data or None)
            found = link.getresponse()
            return PageAnswer(found.status, dict(found.getheaders()), found.read().decode("utf-8", "replace"))
        finally:
            link.close()

    def enter(self) -> None:
        """Open the link that was printed, as the browser does."""
        answer = self.ask("GET", self.access.link.removeprefix(self.url))
        assert answer.status == 200, answer.text
        self.cookie = answer.headers["set-cookie"].partition(";")[0]

    def get(self, path: str, **headers: str) -> PageAnswer:
        """A page, asked for by the browser that opened the link."""
        return self.ask("GET", path, headers={"Cookie": self.cookie, **headers})

    def post(self, action: str, fields: Mapping[str, Any], **headers: str) -> PageAnswer:
        """A form, sent as the browser sends it."""
        own = {
            "Cookie": self.cookie,
            "Origin": self.url,
            "Content-Type": "application/x-www-form-urlencoded",
            "Sec-Fetch-Site": "same-origin",
        }
        return self.ask("POST", action, body=urlencode(fields, doseq=True), headers={**own, **headers})

    def submit(self, page: str, action: str, **fields: Any) -> PageAnswer:
        """The form of a page, with its hidden fields and these; gives the page that the browser is led to."""
        seen = self.get(page)
        assert seen.status == 200, seen.text
        done = self.post(action, {**seen.hidden(action), **fields})
        return self.get(done.headers["location"]) if done.status == 303 else done


Serve = Callable[..., Served]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """`serve(path)` starts a server over a project; `no_person` is why its terminal is no person's."""
    stops: list[Callable[[], None]] = []

    def start(path: str | os.PathLike[str], *, no_person: str | None = None, enter: bool = True) -> Served:
        own = loopback_server.listen(0)
        said: list[str] = []
        access = BrowserAccess(own.getsockname()[1], no_person=no_person, say=said.append)
        strangers = loopback_server.Strangers()
        server = loopback_server.server(WebApp(os.fspath(path), access).asgi(strangers), strangers)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [own]})
        thread.start()

        def stop() -> None:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive()

        stops.append(stop)
        served = Served(Path(path), access, own.getsockname()[1], said)
        if enter:
            served.enter()
        return served

    yield start
    for stop in stops:
        stop()


@pytest.fixture
def served(serve: Serve, repo: GitRepo) -> Served:
    """A server over a fresh project, with its browser let in and no code typed."""
    init(repo.path)
    return serve(repo.path)


@pytest.fixture
def decided(served: Served) -> Served:
    """The same, after the code was typed: what is approved counts as a person's."""
    assert served.access.type_code(served.access.code)
    return served
