"""A real server on loopback, and what asks it: plain HTTP, or a real Chromium in tests marked `browser`."""

import http.client
import os
import re
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
from tests.web.chromium import find

PATIENCE = 20_000  # milliseconds for what a browser does, on a machine that does other things as well


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


# A real browser.


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One Chromium for all tests of a process; each test has a context of its own."""
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--no-first-run"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=flags)
        yield browser
        browser.close()


@dataclass(slots=True)
class Visit:
    """A browser that opened the link, and what it complained of or asked for."""

    page: Any
    served: Served
    complaints: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)

    def go(self, path: str) -> None:
        self.page.goto(f"{self.served.url}{path}")

    def type_code(self) -> None:
        """Type the terminal's code, as a person does once."""
        self.page.get_by_label("type the code").fill(self.served.access.code)
        self.page.keyboard.press("Enter")
        self.page.get_by_text("counts as approved by a person").wait_for()

    def unreadable(self) -> list[str]:
        """What axe finds on the page: contrast, names, headings, landmarks, by WCAG 2.1 A and AA."""
        from axe_playwright_python.sync_playwright import Axe

        rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}
        found = Axe().run(self.page, options=rules).response["violations"]
        return [f"{one['id']}: {node['html'][:200]} {node['failureSummary']}" for one in found for node in one["nodes"]]

    def is_wider_than_its_window(self) -> bool:
        script = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        return bool(self.page.evaluate(script))


VisitMaker = Callable[..., Visit]


@pytest.fixture
def visit(chromium: Any) -> Iterator[VisitMaker]:
    """`visit(served)` opens the link in a browser; options are those of a browser context.

    At the end: nothing on the console, no request beyond the server, nothing stored.
    """
    visits: list[Visit] = []

    def start(served: Served, **options: Any) -> Visit:
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        found = Visit(page, served)
        page.on("console", lambda said: found.complaints.append(f"{said.type}: {said.text}"))
        page.on("pageerror", lambda error: found.complaints.append(str(error)))
        context.on("request", lambda asked: found.elsewhere.append(asked.url))
        page.goto(served.access.link)
        page.wait_for_url(f"{served.url}/")
        visits.append(found)
        return found

    yield start
    for one in visits:
        kept = one.page.evaluate("[Object.keys(localStorage), Object.keys(sessionStorage), document.cookie]")
        one.page.context.close()
        assert one.complaints == []
        assert [url for url in one.elsewhere if not url.startswith(f"{one.served.url}/")] == []
        assert kept == [[], [], ""]
