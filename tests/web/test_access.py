"""Who may see the pages and decide: what other tools got wrong."""

import contextlib
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from holdfast.interfaces import loopback_server
from holdfast.interfaces.web.browser_access import MAX_BODY, MAX_CODES, MAX_WRONG
from tests.conftest import Cli, GitRepo, init
from tests.web.conftest import Serve, Served

CLAIM = "Retries stop after five attempts."


def candidate(served: Served, name: str = "FCT-retry") -> str:
    """A candidate that waits, with evidence."""
    served.project().memory.remember(CLAIM, kind="fact", evidence=["README"], id=name)
    return f"/review/{name}"


def test_the_link_works_once(serve: Serve, repo: GitRepo) -> None:
    """A link that stays valid lies in a shell's history and in a browser's."""
    init(repo.path)
    served = serve(repo.path, enter=False)
    link = served.access.link.removeprefix(served.url)
    assert served.ask("GET", "/review").status == 403
    assert served.ask("GET", link[:-1]).status == 403
    first = served.ask("GET", link)
    assert first.status == 200
    assert re.fullmatch(r"holdfast-\d+=\S+; HttpOnly; SameSite=Strict; Path=/", first.headers["set-cookie"])
    again = served.ask("GET", link)
    assert again.status == 403 and "set-cookie" not in again.headers and "used already" in again.text


def test_a_browser_without_the_cookie_sees_nothing(served: Served) -> None:
    """Another user of this machine reaches loopback too."""
    for path in ("/", "/review", "/version", "/static/style.css", "/review/FCT-a", "/code/README", "/nothing"):
        for cookie in ("", "holdfast=1", f"holdfast-{served.port}=", served.cookie[:-1], f"{served.cookie}x"):
            answer = served.ask("GET", path, headers={"Cookie": cookie} if cookie else {})
            assert answer.status == 403 and "README" not in answer.text
    assert served.get("/review").status == 200


@pytest.mark.parametrize(
    "host",
    [
        "localhost:{port}",
        "127.evil.example:{port}",
        "127.0.0.1.evil.example:{port}",
        "127.0.0.1",
        "evil.example",
        "[::1]:{port}",
        "127.0.0.1:{port}.",
        "",
    ],
)
def test_a_rebound_name_is_refused(served: Served, host: str) -> None:
    """A name that its owner points to 127.0.0.1 makes the browser believe that their page is ours."""
    answer = served.get("/review", Host=host.format(port=served.port))
    assert answer.status in (400, 421)


def test_two_hosts_are_refused(served: Served) -> None:
    """Whoever sends two lets two readers see different ones."""
    answer = served.ask(
        "GET",
        "/review",
        headers={"Host": [served.access.host, "evil.example"], "Cookie": served.cookie},  # type: ignore[dict-item]
    )
    assert answer.status in (400, 421)


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "null",
        "http://evil.example",
        "http://localhost:{port}",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1",
        "http://127.0.0.1:{port}.evil.example",
        "http://127.evil.example:{port}",
    ],
)
def test_a_form_of_another_site_is_refused(decided: Served, origin: str | None) -> None:
    """A page that a person happens to visit must not approve what an agent is told."""
    page = candidate(decided)
    fields = decided.get(page).hidden(f"{page}/approve")
    headers = {"Cookie": decided.cookie, "Content-Type": "application/x-www-form-urlencoded"}
    if origin is not None:
        headers["Origin"] = origin.format(port=decided.port)
    body = "&".join(f"{name}={value}" for name, value in fields.items())
    assert decided.ask("POST", f"{page}/approve", body=body, headers=headers).status == 403
    assert decided.project().memory.get("FCT-retry").status == "candidate"


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_another_page_asks_for_is_refused(decided: Served, site: str) -> None:
    """Browsers say which page a request comes from; a picture of ours in their page is a request."""
    page = candidate(decided)
    assert decided.get(page, **{"Sec-Fetch-Site": site}).status == 403
    fields = decided.get(page).hidden(f"{page}/approve")
    assert decided.post(f"{page}/approve", fields, **{"Sec-Fetch-Site": site}).status == 403


def test_a_form_needs_the_token_of_its_own_address(decided: Served) -> None:
    """A token that fits every form lets one stolen from a search approve a memory."""
    page = candidate(decided)
    seen = decided.get(page)
    fields = seen.hidden(f"{page}/approve")
    for token in ("", "0" * 64, seen.hidden(f"{page}/reject")["token"], fields["token"][:-1]):
        assert decided.post(f"{page}/approve", {**fields, "token": token}).status == 403
    twice = [("token", fields["token"]), ("token", "x")]
    assert decided.post(f"{page}/approve", {**fields, "token": [value for _, value in twice]}).status == 403
    for kind in ("text/plain", "application/json", "multipart/form-data; boundary=x"):
        assert decided.post(f"{page}/approve", fields, **{"Content-Type": kind}).status == 415
    assert decided.project().memory.get("FCT-retry").status == "candidate"
    assert decided.post(f"{page}/approve", fields).status == 303
    assert decided.project().memory.get("FCT-retry").status == "accepted"


def test_no_other_method_is_let_in(served: Served) -> None:
    """What nobody uses is what nobody checks."""
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"):
        assert served.ask(method, "/review", headers={"Cookie": served.cookie}).status in (400, 405)


def test_large_input_is_refused(decided: Served) -> None:
    """A form of a gigabyte must not fill the memory of whoever reviews."""
    page = candidate(decided)
    fields = decided.get(page).hidden(f"{page}/reject")
    assert decided.post(f"{page}/reject", {**fields, "reason": "x" * (MAX_BODY + 1)}).status == 413
    assert decided.post("/review/many", {"id": [f"FCT-{n}" for n in range(5_000)]}).status == 413
    assert decided.get(f"/review?q={'x' * 5_000}").status == 200
    with contextlib.suppress(ConnectionResetError):  # the head of a request is refused before all of it came
        assert decided.get(f"/review?q={'x' * 200_000}").status in (400, 414, 431)
    assert decided.project().memory.get("FCT-retry").status == "candidate"


def test_every_answer_forbids_what_no_page_needs(served: Served) -> None:
    """A script that slips into a page must not run, and nothing of a project stays in the browser."""
    for path in ("/review", "/static/page.js", "/version", "/review/FCT-none", "/nothing"):
        headers = served.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'; script-src 'self'")
        assert "unsafe" not in headers["content-security-policy"]
        assert (headers["cache-control"], headers["x-content-type-options"]) == ("no-store", "nosniff")
        assert (headers["x-frame-options"], headers["referrer-policy"]) == ("DENY", "same-origin")
        assert not [name for name in headers if name.lower().startswith("access-control-")]
        assert "server" not in headers


def test_without_the_code_an_approval_is_no_persons(served: Served) -> None:
    """An agent can open a browser and click; what it approves must not speak as a person's rule."""
    page = candidate(served)
    done = served.submit(page, f"{page}/approve")
    assert "Not counted as approved by a person: the code from the terminal was not typed" in done.text
    standing = served.project().memory.get("FCT-retry")
    assert (standing.status, standing.trust) == ("accepted", "T2")


def test_after_the_code_it_is_a_persons(served: Served) -> None:
    """The code is on the terminal of whoever started the server: typing it once shows that they sit here."""
    page = candidate(served)
    seen = served.submit(page, "/code-typed", code=f" {served.access.code.replace('-', ' ')} ")
    assert "counts as approved by a person" in seen.text and "type the code" not in seen.text
    served.submit(page, f"{page}/approve")
    standing = served.project().memory.get("FCT-retry")
    assert (standing.status, standing.trust) == ("accepted", "T0")


def test_codes_cannot_be_tried_out(served: Served) -> None:
    """Eight digits are found in a minute by whoever may try as often as they like."""
    first = served.access.code
    for _ in range(MAX_WRONG):
        served.submit("/review", "/code-typed", code="0000-0000" if first != "0000-0000" else "1111-1111")
    assert served.access.code != first and served.said == [
        f"{MAX_WRONG} wrong codes were typed. The code is now {served.access.code}"
    ]
    served.submit("/review", "/code-typed", code=first)
    assert served.access.no_person is not None
    served.submit("/review", "/code-typed", code=served.access.code)
    assert served.access.no_person is None


def test_after_some_codes_none_is_taken(served: Served) -> None:
    """A program that may try for a night finds any code."""
    for _ in range(MAX_WRONG * MAX_CODES):
        assert not served.access.type_code("0")
    assert not served.access.type_code(served.access.code)
    assert served.said[-1].endswith("No code is taken any more.")
    assert "too many wrong codes were typed" in served.get("/review").text


def test_a_code_of_other_digits_is_a_wrong_code(served: Served) -> None:
    """Some keyboards type digits that are no ASCII."""
    page = served.submit("/review", "/code-typed", code="１２３４").text
    assert re.search(r'<div class="said bad" role="alert"><p>That is not the code', page), "no box of success"
    assert "That is not the code" not in served.get("/review").text, "it is said once"


def test_cookies_of_other_programs_lock_nobody_out(served: Served) -> None:
    """All ports of a host share one jar, and what others put into it is not always well formed."""
    for other in ('a={"x":1}', "a=b c", "a[b]=1", "=", f"holdfast-{served.port}x=1", f"holdfast-{served.port}=bad"):
        for cookie in (f"{other}; {served.cookie}", f"{served.cookie}; {other}"):
            assert served.ask("GET", "/review", headers={"Cookie": cookie}).status == 200


def test_another_users_process_is_refused(serve: Serve, repo: GitRepo) -> None:
    """The link stands on the browser's command line, which every user of the machine can read."""
    init(repo.path)
    served = serve(repo.path, enter=False)
    with socket.create_connection(("127.0.0.1", served.port)) as own:
        assert loopback_server.peer_user(own.getsockname()[1]) in (None, os.getuid())
    if os.getuid() != 0:
        return  # only root may act as another user
    ask = (
        "import sys, urllib.request as u\n"
        "try: print(u.urlopen(sys.argv[1]).status)\n"
        "except u.HTTPError as e: print(e.code, e.read().decode())"
    )
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
    command = [python, "-c", ask, served.access.link]
    done = subprocess.run(command, user=65534, cwd="/", env={}, capture_output=True, text=True, check=False)
    assert "another user of this machine" in done.stdout, done.stderr
    served.enter()


def test_a_terminal_of_an_agent_has_no_code(serve: Serve, repo: GitRepo) -> None:
    """An agent that starts the server reads what it prints."""
    init(repo.path)
    served = serve(repo.path, no_person="CLAUDECODE is set, so an agent seems to be running this")
    page = candidate(served)
    seen = served.get(page)
    assert "CLAUDECODE is set" in seen.text and "/code-typed" not in seen.text
    fields = {"token": served.access.token("/code-typed"), "code": served.access.code, "back": "/review"}
    served.post("/code-typed", fields)
    served.submit(page, f"{page}/approve")
    assert served.project().memory.get("FCT-retry").trust == "T2"


def test_a_form_leads_back_to_our_own_pages_only(served: Served) -> None:
    """An address in a form must not send the person elsewhere."""
    for back in ("http://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/a\r\nX: y"):
        fields = {"token": served.access.token("/code-typed"), "code": "1", "back": back}
        assert served.post("/code-typed", fields).headers["location"] == "/"


def test_static_files_are_these_three(served: Served) -> None:
    """A path must not lead out of the folder of styles."""
    for path in (
        "/static/../web_app.py",
        "/static/..%2fweb_app.py",
        "/static/%2e%2e/web_app.py",
        "/static/",
        "/static//etc/passwd",
        "/static/style.css%00",
    ):
        assert served.get(path).status == 404
    assert served.get("/static/style.css").headers["content-type"].startswith("text/css")


def test_the_command_prints_a_link_and_a_code_for_a_person(cli: Cli, repo: GitRepo) -> None:
    """The real command at a real terminal, as a person starts it; Ctrl-C ends it."""
    init(repo.path)
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "holdfast", "web", "--no-browser"]
    started = subprocess.Popen(
        command, cwd=repo.path, stdin=follower, stdout=follower, stderr=follower, start_new_session=True
    )
    os.close(follower)
    try:
        text, until = "", time.monotonic() + 60
        while "Ctrl-C ends it" not in text and time.monotonic() < until:
            if select.select([leader], [], [], 0.1)[0]:
                text += os.read(leader, 65536).decode(errors="replace")
        assert re.search(r"Open http://127\.0\.0\.1:\d+/open\?key=\S{43}", text), text
        assert re.search(r"type this code into the page: \d{4}-\d{4}", text), text
    finally:
        started.send_signal(signal.SIGINT)
        assert started.wait(30) in (0, 130)
        os.close(leader)


def test_the_command_says_that_an_agent_runs_it(cli: Cli, repo: GitRepo) -> None:
    """No code may be printed where an agent reads it."""
    init(repo.path)
    command = [sys.executable, "-m", "holdfast", "web", "--no-browser", "--json"]
    with subprocess.Popen(
        command, cwd=repo.path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as started:
        assert started.stdout is not None
        line = started.stdout.readline()
        started.send_signal(signal.SIGINT)
        assert '"counts_as_person": false' in line and not re.search(r"\d{4}-\d{4}", line)
        assert started.wait(30) in (0, 130)


def test_outside_a_repository_it_says_so(tmp_path: Path) -> None:
    """A page that shows an error helps less than a terminal that says what to do."""
    done = Cli(tmp_path).spawn("web", "--no-browser", ok=False)
    assert done.code == 10 and "git init" in done.err
