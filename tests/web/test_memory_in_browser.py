"""Memory, search, the first page and health in a real Chromium: keys, the dark, a phone, and what axe says of each."""

import pytest

from tests.conftest import GitRepo, init
from tests.web.conftest import Serve, Served, VisitMaker

pytestmark = pytest.mark.browser
ADDRESSES = ("/", "/memory", "/memory/DEC-redis", "/memory/FCT-limit", "/search?q=sessions", "/health")


@pytest.fixture
def filled(serve: Serve, repo: GitRepo) -> Served:
    """A project with something on each page."""
    init(repo.path)
    repo.write("retry.py", "LIMIT = 5\n\n\ndef retry(call):\n    return call()\n")
    repo.git("add", ".")
    repo.git("commit", "-qm", "Retry")
    served = serve(repo.path, enter=False)
    project = served.project()
    book = project.memory
    book.remember("Sessions are in Redis.", kind="decision", id="DEC-redis", evidence=["README"], accept=True)
    book.supersede("DEC-redis", "Sessions are in Postgres.", id="DEC-pg", evidence=["README"])
    book.accept("DEC-pg")
    book.remember("The limit is five.", id="FCT-limit", evidence=["retry.py:1"], tags=["http"], accept=True)
    book.remember("Perhaps it is so.", id="FCT-maybe", evidence=["retry.py"])
    project.tasks.add("Mend the retries")
    project.sessions.start("Mend it", agent="codex")
    row = {"agent": "codex", "model": "m", "read": 1000, "written": 50, "dollars": 1.5}
    project.write_log({"task": "T", "outputs": {"summary": "done", "usage": [row]}})
    return served


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_can_be_read_by_everybody(filled: Served, visit: VisitMaker, scheme: str) -> None:
    """Contrast, names and headings; in both schemes, and with all forms open."""
    seen = visit(filled, color_scheme=scheme)
    event = filled.project().log.events(newest=1)[0]["hash_self"]
    for path in (*ADDRESSES, f"/show/{event}"):
        seen.go(path)
        seen.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert seen.unreadable() == [], path


def test_no_page_scrolls_sideways_on_a_phone(filled: Served, visit: VisitMaker) -> None:
    """Who is called at night looks on a phone."""
    seen = visit(filled, viewport={"width": 390, "height": 800}, is_mobile=True, has_touch=True)
    for path in ADDRESSES:
        seen.go(path)
        seen.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert not seen.is_wider_than_its_window(), path


def test_a_memory_is_changed_by_keyboard_alone(filled: Served, visit: VisitMaker) -> None:
    """Edit, propose another in its place, retire: each a key, its form, and Enter."""
    seen = visit(filled)
    seen.go("/memory/FCT-limit")
    seen.type_code()
    keys = seen.page.keyboard
    keys.press("e")
    seen.page.get_by_label("Statement").fill("The limit is 5.")
    seen.page.get_by_label("Tags").press("Enter")
    seen.page.get_by_text("approved it again").wait_for()
    standing = filled.project().memory.get("FCT-limit")
    assert (standing.memory.statement, standing.trust) == ("The limit is 5.", "T0")
    keys.press("p")
    keys.type("The limit is seven.")
    seen.page.locator("details[open] [name=applies_to]").press("Enter")
    seen.page.wait_for_url("**/review/FCT-*")
    keys.press("a")
    seen.page.get_by_role("status").get_by_text("Approved").wait_for()
    assert filled.project().memory.get("FCT-limit").status == "superseded"
    seen.go("/memory/DEC-pg")
    keys.press("r")
    keys.type("No longer.")
    keys.press("Enter")
    seen.page.get_by_text("its file stays and says so").wait_for()
    assert filled.project().memory.get("DEC-pg").status == "deprecated"


def test_the_log_is_found_filtered_and_opened(filled: Served, visit: VisitMaker) -> None:
    """From the first page to one memory and back, without a mouse on the way."""
    seen = visit(filled)
    seen.page.get_by_role("link", name="Memory").click()
    seen.page.wait_for_url("**/memory")
    seen.page.keyboard.press("/")
    seen.page.keyboard.type("postgres")
    seen.page.keyboard.press("Enter")
    seen.page.wait_for_url("**/memory?q=postgres*")
    assert seen.page.locator(".log > li").count() == 1
    seen.page.get_by_role("link", name="Sessions are in Postgres.").click()
    seen.page.wait_for_url("**/memory/DEC-pg")
    seen.page.get_by_role("link", name="DEC-redis").first.click()
    seen.page.wait_for_url("**/memory/DEC-redis")
    seen.page.go_back()
    seen.page.get_by_text("Takes the place of").wait_for()


def test_a_printed_page_has_what_it_says_and_no_controls(filled: Served, visit: VisitMaker) -> None:
    """Paper has no buttons, and no dark ground."""
    seen = visit(filled, color_scheme="dark")
    seen.go("/memory/FCT-limit")
    seen.page.emulate_media(media="print")
    assert seen.page.get_by_role("heading", level=1).is_visible()
    assert not [one for one in seen.page.locator("nav, button, input, summary.button").all() if one.is_visible()]
    assert seen.unreadable() == []
    ground = "getComputedStyle(document.documentElement).getPropertyValue('--raised')"
    assert seen.page.evaluate(ground) == "#ffffff"


def test_what_changes_elsewhere_appears_on_the_log(filled: Served, visit: VisitMaker) -> None:
    """Somebody decides in a terminal while the page is open."""
    seen = visit(filled)
    seen.go("/memory")
    assert seen.page.locator(".log > li").count() == 4
    filled.project().memory.remember("It rains at night.", id="FCT-rain", evidence=["README"], accept=True)
    seen.page.get_by_text("It rains at night.").wait_for()


def test_doctor_is_asked_by_its_button(filled: Served, visit: VisitMaker) -> None:
    """The button runs it, and the page says when it ran."""
    seen = visit(filled)
    seen.go("/health")
    seen.page.keyboard.press("d")
    seen.page.get_by_text("Run doctor again").wait_for()
    assert seen.page.locator(".chart .bar").count() == 2


def test_search_works_from_every_page(filled: Served, visit: VisitMaker) -> None:
    """The field at the top asks everything that is known."""
    seen = visit(filled)
    seen.page.get_by_role("searchbox", name="Search everything").fill("sessions postgres")
    seen.page.keyboard.press("Enter")
    seen.page.wait_for_url("**/search?q=sessions*")
    seen.page.get_by_role("link", name="Sessions are in Postgres.").click()
    seen.page.wait_for_url("**/memory/DEC-pg")
