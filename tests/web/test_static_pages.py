"""The export as static pages: only what HEAD holds, whole links, valid HTML, and no file of others overwritten."""

import os
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import html5lib
import pytest

from holdfast.project import Project
from tests.conftest import Cli, GitRepo, init

HOSTILE = '"><script>alert(1)</script></style><img src=x onerror=alert(1)> ]]> {{ 7 * 7 }}'
PRIVATE = "PLANTED-PRIVATE"


class _Page(HTMLParser):
    """The ids and addresses of a page, and the elements that would load or run something."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.active: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids += [given["id"] or ""] if "id" in given else []
        self.links += [given["href"] or ""] if "href" in given else []
        if tag in ("script", "img", "iframe", "object", "form") or any(name.startswith("on") for name in given):
            self.active.append(tag)


@pytest.fixture
def published(repo: GitRepo) -> Project:
    """Memories and tasks that are committed, and beside them everything that is nobody else's business."""
    init(repo.path)
    repo.write("src.py", "LIMIT = 5\n")
    repo.git("add", ".")
    repo.git("commit", "-qm", f"Begin {HOSTILE}")
    project = Project.open(repo.path, person=True)
    book, tasks = project.memory, project.tasks
    book.remember("Sessions live in Redis.", kind="decision", id="DEC-redis", evidence=["src.py"], accept=True)
    book.remember(
        f"Sessions live in Postgres {HOSTILE}", kind="decision", id="DEC-pg", why="see DEC-redis and DEC-none"
    )
    book.accept("DEC-pg", supersede=["DEC-redis"])
    repo.git("checkout", "-qb", "never-pushed")
    repo.git("commit", "-q", "--allow-empty", "-m", f"{PRIVATE} commit of a branch that is nobody else's")
    aside = repo.git("rev-parse", "HEAD").strip()
    repo.git("checkout", "-q", "-")
    book.remember("It was tried on a branch.", id="FCT-aside", evidence=[aside], accept=True)
    tasks.add(f"Ship {HOSTILE}", kind="goal", id="GOAL")
    tasks.add("Write the schema", id="TSK-schema", parent="GOAL", notes="Rests on: DEC-pg")
    tasks.add(f"Migrate {HOSTILE}", id="TSK-rows", parent="GOAL", needs=["TSK-schema"], owner=HOSTILE)
    project.sync.publish()
    with project.log.run(task="TSK-schema", prompt=f"{PRIVATE} prompt"):
        pass
    project.log.write({"task": "TSK-schema", "outputs": {"summary": f"{PRIVATE} run"}})
    book.remember(f"{PRIVATE} candidate", id="FCT-candidate", evidence=["src.py"])
    tasks.add(f"{PRIVATE} task that waits", id="TSK-waiting")
    tasks.edit("TSK-schema", notes=f"{PRIVATE} note that waits")
    project.sessions.start(f"{PRIVATE} session")
    tasks.start("TSK-schema", owner=f"{PRIVATE} owner")
    file = next((repo.path / ".holdfast/memory/decisions").glob("*DEC-redis.md"))
    file.write_text(file.read_text() + f"\n{PRIVATE} hand edit\n")
    return project


def written(cli: Cli, target: str) -> dict[str, str]:
    cli("export", "html", target)
    path = cli.cwd / target
    files = [path] if path.is_file() else sorted(path.iterdir())
    return {str(file.relative_to(cli.cwd)): file.read_text(encoding="utf-8") for file in files}


@pytest.mark.parametrize("target", ["site", "site.html"])
def test_only_what_head_holds_is_in_it(cli: Cli, published: Project, target: str) -> None:
    """The file is mailed to people who may not see the rest."""
    found = "".join(written(cli, target).values())
    assert PRIVATE not in found
    assert "FCT-candidate" not in found
    assert "TSK-waiting" not in found
    assert "Sessions live in Redis." in found
    assert "Write the schema" in found
    assert "superseded" in found


def test_a_secret_and_a_private_stretch_that_were_committed_are_taken_out(cli: Cli, repo: GitRepo) -> None:
    """Somebody committed them by hand; the export must not carry them further."""
    init(repo.path)
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    Project.open(repo.path).tasks.add("Deploy", id="TSK-deploy", notes="Deploy it.")
    cli("publish")
    file = next((repo.path / ".holdfast/tasks").glob("*TSK-deploy.md"))
    file.write_text(file.read_text().replace("Deploy it.", f"Deploy with {key} and <private>{PRIVATE}</private>"))
    repo.git("commit", "-qam", "by hand")
    found = written(cli, "site.html")["site.html"]
    assert "Deploy with" in found
    assert key not in found
    assert PRIVATE not in found


@pytest.mark.parametrize("target", ["site", "site.html"])
def test_links_resolve_ids_are_unique_and_nothing_runs(cli: Cli, published: Project, target: str) -> None:
    """A page that is opened from a disk has no server that could mend a link, and no policy but its own."""
    pages = {name: _Page(text) for name, text in written(cli, target).items() if name.endswith(".html")}
    for name, page in pages.items():
        assert len(page.ids) == len(set(page.ids)), name
        assert page.active == [], name
        for link in page.links:
            file, _, anchor = link.partition("#")
            there = os.path.join(os.path.dirname(name), unquote(file)) if file else name
            assert (cli.cwd / there).is_file(), f"{name} leads to {link}"
            assert not anchor or unquote(anchor) in pages[there].ids, f"{name} leads to {link}"
    text = "".join((cli.cwd / name).read_text() for name in pages)
    assert "<script" not in text
    assert "{{ 7 * 7 }}" in text


@pytest.mark.parametrize("target", ["site", "site.html"])
def test_it_is_valid_html(cli: Cli, published: Project, target: str) -> None:
    """A mail program is less forgiving than a browser."""
    for name, text in written(cli, target).items():
        if name.endswith(".html"):
            html5lib.HTMLParser(strict=True).parse(text)


def test_a_clone_without_holdfast_makes_the_same(cli: Cli, published: Project, repo: GitRepo, tmp_path: Path) -> None:
    """CI has a checkout and nothing else."""
    text = written(cli, "site.html")["site.html"]
    there = tmp_path / "there" / repo.path.name
    there.parent.mkdir()
    repo.git("clone", "-q", str(repo.path), str(there))
    other = Cli(there)
    assert written(other, "site.html")["site.html"] == text


def test_its_own_files_are_replaced_and_no_others(cli: Cli, published: Project) -> None:
    """An export that overwrites a hand-made index.html is worse than none."""
    before = written(cli, "site")
    assert written(cli, "site") == before
    page = cli.cwd / "site" / "plan.html"
    page.write_text(page.read_text().replace("Plan", "My plan"))
    refused = cli("export", "html", "site", ok=False)
    assert "plan.html is there already" in refused.err
    assert "My plan" in page.read_text()
    (cli.cwd / "mine.html").write_text("<p>mine</p>")
    assert cli("export", "html", "mine.html", ok=False).code != 0
    assert (cli.cwd / "mine.html").read_text() == "<p>mine</p>"
    (cli.cwd / "link.html").symlink_to(cli.cwd / "elsewhere.html")
    assert cli("export", "html", "link.html", ok=False).code != 0
    assert not (cli.cwd / "elsewhere.html").exists()


def test_pages_that_are_no_more_go(cli: Cli, published: Project) -> None:
    """A page of last month beside those of today tells something that is over."""
    for number in range(230):
        published.tasks.add(f"Task {number}", id=f"TSK-{number:03}")
    published.sync.publish()
    assert "site/plan-2.html" in written(cli, "site")
    names = [f".holdfast/tasks/task-{number}-TSK-{number:03}.md" for number in range(230)]
    published.clone.repo.run("rm", "-q", "--", *names, write=True)
    published.clone.repo.run("commit", "-qm", "fewer", write=True)
    keep = cli.cwd / "site" / "notes.html"
    keep.write_text("mine")
    assert "site/plan-2.html" not in written(cli, "site")
    assert keep.read_text() == "mine"


def test_nothing_published_is_said(cli: Cli, repo: GitRepo) -> None:
    """An empty page that says nothing looks broken."""
    init(repo.path)
    assert "Nothing is published yet" in written(cli, "site.html")["site.html"]
