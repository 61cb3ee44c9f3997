"""Search, and where a name leads, over real HTTP."""

from urllib.parse import quote

import pytest

from holdfast.index import hit_text
from holdfast.interfaces.web.search_web import FEW
from holdfast.recall.search import as_rows
from tests.conftest import Cli, GitRepo, init
from tests.web import hostile
from tests.web.conftest import Serve, Served


@pytest.fixture
def known(serve: Serve, repo: GitRepo) -> Served:
    """A project with something of every kind that a search finds."""
    init(repo.path)
    repo.write("src/retry.py", "LIMIT = 5\n\n\ndef retry(call):\n    return call()\n")
    repo.write("docs/retries.md", "# Retries\n\nA call is retried five times.\n")
    repo.git("add", ".")
    repo.git("commit", "-qm", "Retry a call five times")
    served = serve(repo.path)
    project = served.project()
    project.memory.remember("Retries stop after five.", id="INV-retry", kind="invariant", evidence=["src/retry.py:1"])
    project.memory.accept("INV-retry")
    project.memory.remember("Pauses grow exponentially.", id="FCT-wait", evidence=["README"])
    project.tasks.add("Mend the retries", id="TSK-retry")
    return served


def leads(served: Served, name: str) -> tuple[int, str]:
    """The status of /show/NAME, and where it leads."""
    answer = served.get(f"/show/{quote(name, safe='')}")
    return answer.status, answer.headers.get("location", "")


def test_search_finds_what_recall_finds(known: Served) -> None:
    """Two searches that answer differently are one too many."""
    page = known.get("/search?q=retries+five")
    words = hostile.read(page.text)
    hits = known.project().recall("retries five", limit=FEW)
    for hit in hits[: len(hit_text.relevant(as_rows(hits)))]:
        assert f'href="/show/{quote(hit.id)}"' in page.text
        assert hit.title in words
    assert "invariant Retries stop after five. INV-retry accepted just now" in words


def test_search_finds_what_another_command_wrote_a_moment_before(known: Served) -> None:
    """The page does not look at every file again for each question; it must still miss nothing."""
    assert "/show/TSK-later" not in known.get("/search?q=lighthouse").text
    known.project().tasks.add("Paint the lighthouse", id="TSK-later")
    assert "/show/TSK-later" in known.get("/search?q=lighthouse").text


def test_search_is_narrowed_by_kind_branch_and_time(known: Served, repo: GitRepo) -> None:
    """The form gives what the command's options give."""
    assert "/show/INV-retry" not in known.get("/search?q=retries&kind=task").text
    assert "/show/TSK-retry" in known.get("/search?q=retries&kind=task").text
    assert "/show/INV-retry" in known.get("/search?q=retries&since=1d").text
    repo.git("switch", "-qc", "other")
    repo.git("switch", "-q", "-")
    page = known.get("/search?q=retries&branch=other")
    assert page.status == 200 and "only records were searched on other" in page.text.lower()
    assert "only records were searched" not in known.get("/search?q=retries").text.lower()


def test_a_wrong_filter_is_said_beside_the_form(known: Served) -> None:
    """What was typed stays there to be mended."""
    for asked, said in (("branch=nowhere", "no branch here is called"), ("since=soon", "neither a date nor an age")):
        page = known.get(f"/search?q=retries&{asked}")
        assert page.status == 400 and said in page.text and 'value="retries"' in page.text
    page = known.get("/search?q=retries&kind=wish")
    assert page.status == 400 and "is not a kind of record" in page.text


def test_nothing_found_says_what_to_try(known: Served) -> None:
    """An empty answer may mean that only a candidate says it."""
    page = known.get("/search?q=exponentially")
    assert "Nothing found" in page.text and "See 1 candidate" in page.text
    assert 'href="/show/FCT-wait"' in known.get("/search?q=exponentially&kind=candidate").text
    page = known.get("/search?q=zyzzyva")
    assert page.status == 200 and "Nothing found" in page.text
    assert known.get("/search").status == 200


def test_a_page_that_is_shown_again_counts_no_question(known: Served) -> None:
    """The statistics count what people and agents ask, not how often a page is refreshed."""
    for _ in range(3):
        assert known.get("/search?q=retries").status == 200
    assert known.project().health.stats().recalls.asked == 0


def test_a_name_leads_to_its_page(known: Served, repo: GitRepo, cli: Cli) -> None:
    """Ids stand in chats, commits and files: each must open what it names."""
    tip = repo.git("rev-parse", "HEAD").strip()
    run = known.project().write_log({"task": "login", "outputs": {"summary": "3 tests pass"}})
    session = known.project().sessions.start("Mend it").id
    assert leads(known, "INV-retry") == (303, "/memory/INV-retry")
    assert leads(known, "FCT-wait") == (303, "/review/FCT-wait")
    assert leads(known, "FCT-wa") == (303, "/review/FCT-wait")
    assert leads(known, "TSK-retry") == (303, "/plan/TSK-retry")
    assert leads(known, run) == leads(known, f"run:{run}") == (303, f"/runs/{run}")
    assert leads(known, f"{run}#2") == (303, f"/runs/{run}/turns/2")
    assert leads(known, session) == leads(known, session.lower()) == (303, f"/sessions/{session}")
    assert leads(known, tip) == leads(known, f"commit:{tip}") == leads(known, f"commit {tip[:12]}")
    assert leads(known, tip[:7]) == (303, f"/commits/{tip}")
    assert leads(known, "src/retry.py") == (303, "/code/src/retry.py")
    assert leads(known, "src/retry.py:4-5") == (303, "/code/src/retry.py?line=4#L4")
    assert leads(known, "src/retry.py#retry") == (303, "/code/src/retry.py")


def test_what_has_no_page_is_shown_as_the_command_shows_it(known: Served, repo: GitRepo) -> None:
    """An event, or a memory of another branch, is still somebody's question."""
    project = known.project()
    event = project.log.events()[-1]["hash_self"]
    page = known.get(f"/show/{event}")
    assert page.status == 200 and event[:12] in page.text
    repo.git("switch", "-qc", "other")
    known.project().memory.remember("Only there.", id="FCT-there", evidence=["README"], accept=True)
    known.project().sync.publish(here=True)
    repo.git("switch", "-q", "-")
    page = known.get("/show/FCT-there")
    assert page.status == 200 and "Not of this branch" in page.text and "Only there." in page.text


@pytest.mark.parametrize(
    "name",
    [
        *("FCT-nothing", "nothing", "../../etc/passwd", "/etc/passwd", "..", ".git/config", "src/../src/retry.py"),
        *("src", "src/retry.py\0", "//evil.example/x", "http://evil.example", "-x", "--all", "HEAD", "main:README"),
        *("x" * 5000, "\n", "a\rb", "%2e%2e", "src/retry.py:0", "@{u}", ":/Retry", hostile.ALL),
    ],
)
def test_an_unknown_name_is_said_so(known: Served, name: str) -> None:
    """What is in an address may come from anybody: it opens nothing that is not of this project."""
    answer = known.get(f"/show/{quote(name, safe='')}")
    assert answer.status == 404, answer.headers
    assert "Search for words of it" in answer.text or "no such page" in answer.text
    hostile.read(answer.text)


def test_hostile_hits_stay_text(served: Served, repo: GitRepo, cli: Cli) -> None:
    """What an agent read in a page of the web is found by search as well."""
    repo.write(hostile.FILE, f"needle = 1  # {hostile.ALL}\n")
    repo.write("docs/needle.md", f"# needle {hostile.ALL}\n\n{hostile.ALL}\n")
    repo.git("add", ".")
    repo.git("commit", "-qm", f"needle {hostile.ALL}")
    repo.git("branch", hostile.BRANCH)
    project = served.project()
    project.memory.remember(f"needle {hostile.ALL}", id="FCT-needle", evidence=[hostile.FILE], accept=True)
    project.tasks.add(f"needle {hostile.ALL.replace(hostile.HIDDEN, '')}")
    project.write_log({"task": "needle", "prompt": hostile.ALL, "outputs": {"summary": f"needle {hostile.ALL}"}})
    page = served.get("/search?q=needle&all=1")
    words = hostile.read(page.text)
    assert page.status == 200 and hostile.SCRIPT in words
    for kind in ("commit", "doc", "code", "run", "event"):
        hostile.read(served.get(f"/search?q=needle&kind={kind}&all=1").text)
    asked = quote(hostile.ALL)
    for name in ("q", "kind", "branch", "since"):
        hostile.read(served.get(f"/search?{name}={asked}").text)
    assert hostile.BRANCH.split("<")[0] in served.get("/search").text
    status, where = leads(served, hostile.FILE)
    assert (status, where) == (303, f"/code/{quote(hostile.FILE)}")
    events = served.project().log.events()
    for event in events:
        answer = served.get(f"/show/{event['hash_self']}")
        assert answer.status in (200, 303)
        hostile.read(answer.text)


@pytest.mark.parametrize("text", ["%ff", "%ed%b2%80", "%00", "%0a%0d", "(((", "%22%22%22", "AND+OR+NOT", "a" * 4000])
def test_whatever_is_asked_is_answered(known: Served, text: str) -> None:
    """Bytes that are no text, and what a search engine takes for syntax, come from a clipboard sooner or later."""
    for path in ("/search?q={}", "/search?kind={}", "/search?branch={}", "/search?since={}", "/memory?q={}"):
        answer = known.get(path.format(text))
        assert answer.status in (200, 400), answer.text
        hostile.read(answer.text)
    for path in ("/memory?path={}", "/memory?tag={}&state={}&type={}", "/memory?from={}", "/?x={}", "/health?x={}"):
        assert known.get(path.format(text, text, text)).status == 200
    for path in ("/show/{}", "/memory/{}"):
        assert known.get(path.format(text)).status == 404
