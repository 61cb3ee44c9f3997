"""The code page: who wrote each line and what governs it; nothing but tracked files, whatever they are called."""

import os
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import quote

import pytest

from holdfast.capture.agents import dialect
from holdfast.interfaces.web.code_web import LINES, MAX_FILE
from tests.conftest import GitRepo, init
from tests.making import take_in
from tests.recall.authors import World
from tests.web.conftest import PageAnswer, Serve, Served

SCRIPT = "<script>alert(1)</script>"
KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7bq0T5zKfXq1cVt8\n" * 8 + "-----END RSA PRIVATE KEY-----\n"
ODD_NAMES = (
    b"plain.py", b"with blank.py", b"line\nbreak.py", b"end\n", b"caf\xe9.py", "\u202etxt.py".encode(), b"a%2e%2e.py",
    b"<script>alert(1)<", b"quote\"'.py", b"x#L1", b"y?line=2", b"back\\slash", b"...", b"colon:12", b"-rf", b"&amp;",
)  # fmt: skip


@pytest.fixture
def agent_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A repository in which an agent works whose transcript is taken in."""
    for name in ("GIT_COMMITTER_DATE", "GIT_AUTHOR_DATE"):
        monkeypatch.setenv(name, "")
    yield World.make(tmp_path, tmp_path / "template")


def lines_of(page: PageAnswer) -> dict[int, str]:
    """The lines of a file as the page shows them, by number."""
    rows = re.findall(r'<tr id="L(\d+)".*?<code>(.*?)</code></td></tr>', page.text, re.DOTALL)
    return {int(number): unescape(text) for number, text in rows}


def writers(page: PageAnswer) -> list[tuple[int, str]]:
    """The gutter: how many lines, and who wrote them."""
    cells = re.findall(r'<td class="who" rowspan="(\d+)"><\w+[^>]*>(.*?)</\w+></td>', page.text, re.DOTALL)
    return [(int(count), unescape(who)) for count, who in cells]


def test_the_gutter_names_the_turn_or_the_person_behind_each_line(agent_world: World, serve: Serve) -> None:
    """Whoever reads a file must see at once which lines an agent wrote, and in which turn."""
    world = agent_world
    world.write("app.py", ["import person_module", "person_value = compute(7)"])
    world.commit()
    session = (
        world.session()
        .asks("Please add the limit of retries")
        .patches(
            "app.py",
            [
                "import person_module",
                "agent_limit = compute(41)",
                "agent_other = compute(42)",
                "person_value = compute(7)",
            ],
            ["agent_limit = compute(41)", "agent_other = compute(42)"],
            [],
        )
    )
    session.commits()
    session.done()
    take_in(world.open().clone, dialect("claude"), str(session.path), ended=True)
    served = serve(world.repo.path)
    page = served.get("/code/app.py")
    person = world.git("log", "-1", "--format=%an")
    assert writers(page) == [(1, person[:24]), (2, "Claude Code, turn 1"), (1, person[:24])]
    turn = re.search(r'href="(/runs/[^"]+/turns/1)"', page.text)
    assert turn and "Please add the limit of retries" in served.get(turn[1]).text
    why = served.get("/code/app.py?line=2").text
    for told in ("Written by", "recorded", "Please add the limit of retries", world.git("rev-parse", "HEAD")[:12]):
        assert told in why, told
    assert "not known" in served.get("/code/app.py?line=1").text


def test_memories_that_govern_a_file_stand_beside_it(served: Served) -> None:
    """Who changes a file must not have to ask which rules hold for it."""
    book = served.project().memory
    book.remember("The README names every command.", kind="invariant", evidence=["README"], id="INV-names", accept=True)
    book.remember("Everything is in English.", kind="decision", id="DEC-words", applies_to=["**"], accept=True)
    page = served.get("/code/README").text
    assert "The README names every command." in page and "/show/INV-names" in page and "What holds everywhere" in page
    GitRepo(served.path).commit("README", "changed\n")
    assert "its evidence changed" in served.get("/code/README").text


def test_every_tracked_name_has_a_page_and_no_name_becomes_markup(serve: Serve, repo: GitRepo) -> None:
    """A pull request may bring a file of any name."""
    init(repo.path)
    folder = os.fsencode(repo.path) + b"/odd <b>"
    os.mkdir(folder)
    for at, name in enumerate(ODD_NAMES):
        Path(os.fsdecode(folder + b"/" + name)).write_text(f"text_{at} = 1\n")
    repo.git("add", ".")
    served = serve(repo.path)
    listing = served.get("/code/odd%20%3Cb%3E/").text
    assert SCRIPT not in listing and "<b>" not in listing
    links = re.findall(r'<td><a href="(/code/odd[^"]+)"', unescape(listing))
    assert len(links) == len(ODD_NAMES)
    for at, name in enumerate(ODD_NAMES):
        address = f"/code/odd%20%3Cb%3E/{quote(name)}"
        assert address in links, address
        page = served.get(address)
        assert page.status == 200 and f"text_{at} = 1" in page.text and "<script>alert" not in page.text, name
        assert "not committed" in page.text
        assert "Not committed yet" in served.get(f"{address}?line=1").text, name


@pytest.mark.parametrize(
    "path",
    [
        "..", "../secret", "%2e%2e/secret", "%2e%2e%2fsecret", "src/../../secret", "./README", "//etc/passwd",
        "/etc/passwd", "%2Fetc%2Fpasswd", "..%5csecret", "%252e%252e/secret", "%C0%AE%C0%AE/secret", "%00",
        "README%00.py", "README/", "README/x", ".git/config", ".git", ".GIT/config", "%2egit/HEAD", "untracked.txt",
        "out/passwd", "out", "%ff%fe", "src/key/secret",
    ],
)  # fmt: skip
def test_no_path_leads_out_of_the_tracked_files(serve: Serve, repo: GitRepo, tmp_path: Path, path: str) -> None:
    """The page runs as its user, who can read far more than the repository."""
    init(repo.path)
    (repo.path.parent / "secret").write_text("TOP-SECRET")
    repo.write("untracked.txt", "TOP-SECRET")
    repo.write("src/app.py", "x = 1\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "passwd").write_text("TOP-SECRET")
    (outside / "secret").write_text("TOP-SECRET")
    os.symlink(outside, repo.path / "out")
    os.symlink(outside / "passwd", repo.path / "src" / "key")
    repo.git("add", "src", "out")
    served = serve(repo.path)
    answer = served.get(f"/code/{path}")
    expected = {"README/": 200, "out": 200}.get(path, 404)
    assert answer.status == expected and "TOP-SECRET" not in answer.text and "root:" not in answer.text
    assert (
        "symbolic link to" in served.get("/code/src/key").text and "TOP-SECRET" not in served.get("/code/src/key").text
    )


def test_a_tracked_name_that_leads_elsewhere_now_is_not_followed(serve: Serve, repo: GitRepo, tmp_path: Path) -> None:
    """An agent may put a link in place of a tracked file, or of its folder."""
    init(repo.path)
    repo.write("src/app.py", "x = 1\n")
    repo.write("plain.py", "x = 1\n")
    repo.write("pipe.py", "x = 1\n")
    repo.git("add", ".")
    repo.git("commit", "-qm", "code")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "app.py").write_text("TOP-SECRET")
    (repo.path / "src/app.py").unlink()
    (repo.path / "src").rmdir()
    os.symlink(outside, repo.path / "src")
    (repo.path / "plain.py").unlink()
    os.symlink(outside / "app.py", repo.path / "plain.py")
    (repo.path / "pipe.py").unlink()
    os.mkfifo(repo.path / "pipe.py")
    served = serve(repo.path)
    for path in ("src/app.py", "plain.py", "pipe.py"):
        for query in ("", "?line=1"):
            answer = served.get(f"/code/{path}{query}")
            assert answer.status == 200 and "TOP-SECRET" not in answer.text and "no plain file" in answer.text, path


def test_a_deleted_file_is_shown_as_git_has_it(serve: Serve, repo: GitRepo) -> None:
    """Who deleted it by mistake looks for it here."""
    init(repo.path)
    repo.commit("gone.py", "still_in_git = 1\n")
    (repo.path / "gone.py").unlink()
    page = serve(repo.path).get("/code/gone.py").text
    assert "still_in_git = 1" in page and "not in the work tree" in page


def test_secrets_of_a_file_are_hidden_over_lines_and_pages(serve: Serve, repo: GitRepo) -> None:
    """Someone who looks over the shoulder, or a picture of the page, must not get the key."""
    init(repo.path)
    before = "".join(f"line_{number} = {number}\n" for number in range(1, LINES - 2))
    repo.write("key.pem", f"{before}{KEY}after = 1\npassword = 'hunter2-9f8a7b6c5d4e'\n")
    repo.git("add", ".")
    served = serve(repo.path)
    first, second = served.get("/code/key.pem"), served.get(f"/code/key.pem?from={LINES}")
    lines = {**lines_of(first), **lines_of(second)}
    for page in (
        first,
        second,
        served.get(f"/code/key.pem?line={LINES}"),
        served.get(f"/code/key.pem?line={LINES + 2}"),
    ):
        assert "MIIEpAIBAAKCAQEA7bq0T5zKfXq1cVt8" not in page.text and "9f8a7b6c5d4e" not in page.text
    assert "[redacted:" in first.text
    assert lines[LINES + 8] == "after = 1" and lines[3] == "line_3 = 3", "the lines keep their numbers"


def test_markup_in_code_is_text_and_hidden_signs_are_shown(serve: Serve, repo: GitRepo) -> None:
    """A line of somebody's file may hold anything."""
    init(repo.path)
    repo.write("page.html", f"{SCRIPT}\n\u202eevil\x1b[2J\n</code></td></tr><img src=x onerror=alert(1)>\n")
    repo.git("add", ".")
    repo.git("-c", f"user.name={SCRIPT}", "commit", "-qm", f"{SCRIPT} subject")
    served = serve(repo.path)
    for query in ("", "?line=1", "?line=3"):
        page = served.get(f"/code/page.html{query}").text
        assert SCRIPT not in page and "<img src=x" not in page and "\u202e" not in page and "\x1b" not in page
        assert "⟨U+202E⟩evil" in page and "&lt;script&gt;" in page


def test_a_large_file_comes_in_pages_of_bounded_size(serve: Serve, repo: GitRepo) -> None:
    """A generated file must not freeze the browser, and what is cut says so."""
    init(repo.path)
    repo.write("long.py", "".join(f"row_{number} = {number}\n" for number in range(1, 12_001)))
    repo.write("wide.min.js", "\u202e<" * 300_000 + "\n" + "short\n" * 900)
    repo.write("all.txt", ("<&\u202e>" * 100 + "\n") * 1_000)
    (repo.path / "huge.bin").write_bytes(b"x\n" * MAX_FILE)
    (repo.path / "photo.png").write_bytes(b"\x89PNG\0\0\0data")
    repo.write("empty.txt", "")
    repo.git("add", ".")
    repo.git("commit", "-qm", "large")
    served = serve(repo.path)
    seen: dict[int, str] = {}
    address = "/code/long.py"
    while address:
        page = served.get(address)
        assert page.status == 200 and len(page.text.encode()) < 300_000
        seen |= lines_of(page)
        more = re.search(r'rel="next" href="([^"]+)"', page.text)
        address = unescape(more[1]) if more else ""
    assert seen == {number: f"row_{number} = {number}" for number in range(1, 12_001)}
    assert 'id="L7777" class="marked"' in served.get("/code/long.py?line=7777").text
    for path in ("wide.min.js", "wide.min.js?line=1", "all.txt", "all.txt?line=700"):
        page = served.get(f"/code/{path}")
        assert page.status == 200 and len(page.text.encode()) < 300_000, path
    assert "character" in served.get("/code/wide.min.js").text and "short" in served.get("/code/wide.min.js").text
    assert "more than 4.0" in served.get("/code/huge.bin").text
    assert "binary file" in served.get("/code/photo.png").text
    assert "This file is empty" in served.get("/code/empty.txt").text
    for line in ("0", "99999999", "-1", "x", "1e9", "12001"):
        assert served.get(f"/code/long.py?line={line}").status == 200


def test_a_folder_of_thousands_comes_in_pages(serve: Serve, repo: GitRepo) -> None:
    """Assets and fixtures often lie by thousands in one folder."""
    init(repo.path)
    (repo.path / "many").mkdir()
    for number in range(1_000):
        (repo.path / "many" / f"{number:04}.txt").write_text("x\n")
    repo.git("add", ".")
    served = serve(repo.path)
    page = served.get("/code/many/")
    assert len(page.text.encode()) < 300_000 and "1 to 300 of 1,000" in page.text
    assert "1,000 files" in served.get("/code").text
    assert "0999.txt" in served.get("/code/many/?from=900").text


def test_a_repository_without_files_says_what_to_do(serve: Serve, repo: GitRepo) -> None:
    """The first thing somebody sees must not be an empty page."""
    init(repo.path)
    repo.git("rm", "-q", "-r", "--cached", ".")
    page = serve(repo.path).get("/code")
    assert page.status == 200 and "git add" in page.text
