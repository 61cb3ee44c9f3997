"""Review in a real Chromium, by keyboard and by mouse; what came of it is read from the store."""

import pytest

from tests.conftest import GitRepo, init
from tests.web.conftest import Serve, Served, VisitMaker

pytestmark = pytest.mark.browser


@pytest.fixture
def waiting(serve: Serve, repo: GitRepo) -> Served:
    """Three candidates, of which the last contradicts an accepted memory."""
    init(repo.path)
    repo.write("retry.py", "LIMIT = 5\n\n\ndef retry(call):\n    return call()\n")
    repo.git("add", ".")
    repo.git("commit", "-qm", "Retry")
    served = serve(repo.path, enter=False)
    book = served.project().memory
    book.remember("Sessions are stored in Redis.", kind="decision", id="DEC-redis", evidence=["README"], accept=True)
    book.remember("A call is retried five times.", kind="fact", id="FCT-five", evidence=["retry.py#retry"])
    book.remember("Never retry a POST request.", kind="invariant", id="INV-post", evidence=["retry.py"])
    book.remember("Sessions are stored in Postgres.", kind="decision", id="DEC-pg", evidence=["retry.py"])
    return served


def status(served: Served, name: str) -> tuple[str, str | None]:
    standing = served.project().memory.get(name)
    return standing.status, standing.trust


def test_by_keyboard_alone(waiting: Served, visit: VisitMaker) -> None:
    """Who reviews fifty candidates does not reach for the mouse."""
    seen = visit(waiting)
    seen.go("/review")
    seen.type_code()
    keys = seen.page.keyboard
    keys.press("j")
    seen.page.wait_for_url("**/review/*")
    seen.go("/review/FCT-five")
    assert "def retry(call):" in seen.page.get_by_role("group", name="Code").first.inner_text()
    keys.press("a")
    seen.page.get_by_role("status").get_by_text("Approved FCT-five").wait_for()
    assert status(waiting, "FCT-five") == ("accepted", "T0")
    keys.press("u")
    seen.page.get_by_role("status").get_by_text("Taken back: approved FCT-five").wait_for()
    assert status(waiting, "FCT-five")[0] == "candidate"
    seen.go("/review/INV-post")
    keys.press("e")
    seen.page.get_by_label("Statement").fill("Never retry a POST or PATCH request.")
    keys.press("Tab"), keys.press("Tab"), keys.press("Tab"), keys.press("Tab"), keys.press("Enter")
    seen.page.get_by_text("Edited INV-post; it still waits").wait_for()
    keys.press("r")
    keys.type("not true for all")
    keys.press("Enter")
    seen.page.get_by_role("status").get_by_text("Rejected INV-post").wait_for()
    assert status(waiting, "INV-post")[0] == "rejected"
    assert waiting.project().memory.get("INV-post").memory.statement == "Never retry a POST or PATCH request."


def test_by_mouse_with_a_contradiction(waiting: Served, visit: VisitMaker) -> None:
    """Two rules that cannot both hold must never both reach an agent because somebody clicked twice."""
    seen = visit(waiting)
    seen.type_code()
    seen.page.get_by_role("link", name="Review", exact=True).click()
    seen.page.get_by_text("Sessions are stored in Postgres.").first.click()
    clash = seen.page.get_by_role("region", name="Contradiction").first
    clash.wait_for()
    assert clash.locator("mark").all_inner_texts() == ["Postgres", "Redis"]
    seen.page.locator(".decide").get_by_role("button", name="Approve").click()
    seen.page.get_by_role("alert").wait_for()
    assert status(waiting, "DEC-pg")[0] == "candidate"
    seen.page.get_by_role("button", name="It takes the place of the other").click()
    seen.page.get_by_role("status").get_by_text("Approved DEC-pg").wait_for()
    assert status(waiting, "DEC-pg") == ("accepted", "T0")
    assert status(waiting, "DEC-redis")[0] == "superseded"


def test_many_at_once(waiting: Served, visit: VisitMaker) -> None:
    """Marks say which; what contradicts something stays and is named."""
    seen = visit(waiting)
    seen.go("/review")
    seen.type_code()
    for name in ("FCT-five", "INV-post", "DEC-pg"):
        seen.page.get_by_label(f"Mark {name}").check()
    seen.page.keyboard.press("A")
    seen.page.get_by_role("heading", name="Approve 3 memories?").wait_for()
    assert seen.unreadable() == []
    seen.page.get_by_role("button", name="Approve 3").click()
    seen.page.get_by_role("status").get_by_text("Approved 2. Left: DEC-pg").wait_for()
    assert status(waiting, "FCT-five") == status(waiting, "INV-post") == ("accepted", "T0")
    assert status(waiting, "DEC-pg")[0] == "candidate"
    seen.page.keyboard.press("u")
    seen.page.get_by_role("status").get_by_text("Taken back: 2 decisions").wait_for()
    assert status(waiting, "FCT-five")[0] == status(waiting, "INV-post")[0] == "candidate"


def test_back_leads_to_what_an_item_became(waiting: Served, visit: VisitMaker) -> None:
    """Who decided and goes back to read it once more must not find an error."""
    seen = visit(waiting)
    seen.go("/review/INV-post")
    seen.type_code()
    seen.page.keyboard.press("a")
    seen.page.get_by_role("status").get_by_text("Approved INV-post").wait_for()
    seen.page.go_back()
    seen.page.get_by_role("heading", name="Never retry a POST request.").wait_for()
    assert "approved by a person" in seen.page.locator("main").inner_text()


def test_a_stale_memory_is_approved_again(waiting: Served, repo: GitRepo, visit: VisitMaker) -> None:
    """When the code it cites changes, a memory is silent until a person read the change."""
    waiting.project().memory.accept("FCT-five")
    repo.write("retry.py", "LIMIT = 5\n\n\ndef retry(call):\n    return call() or call()\n")
    repo.git("commit", "-qam", "Retry once more")
    seen = visit(waiting)
    seen.type_code()
    seen.go("/review/FCT-five")
    assert "+    return call() or call()" in seen.page.locator(".diff").inner_text()
    assert status(waiting, "FCT-five")[0] == "stale"
    seen.page.keyboard.press("a")
    seen.page.get_by_role("status").get_by_text("Approved FCT-five").wait_for()
    assert status(waiting, "FCT-five") == ("accepted", "T0")


def test_a_decision_elsewhere_is_seen_without_a_reload(waiting: Served, visit: VisitMaker) -> None:
    """A page that shows an hour ago makes two people decide twice."""
    seen = visit(waiting)
    seen.go("/review")
    seen.page.get_by_text("Never retry a POST request.").wait_for()
    waiting.project().memory.reject("INV-post")
    seen.page.get_by_text("Never retry a POST request.").wait_for(state="detached")
    assert seen.page.get_by_text("A call is retried five times.").is_visible()


def test_what_somebody_types_is_not_taken_away(waiting: Served, visit: VisitMaker) -> None:
    """A page that renews itself under somebody's hands loses their words."""
    seen = visit(waiting)
    seen.go("/review/FCT-five")
    seen.page.keyboard.press("e")
    seen.page.get_by_label("Statement").fill("A call is retried")
    waiting.project().memory.reject("INV-post")
    seen.page.wait_for_timeout(3_000)  # longer than the page waits between two looks
    assert seen.page.get_by_label("Statement").input_value() == "A call is retried"


def test_it_works_without_scripts(waiting: Served, visit: VisitMaker) -> None:
    """The first paint, and all of review, must not wait for a script."""
    seen = visit(waiting, java_script_enabled=True)
    quiet = seen.page.context.browser.new_context(java_script_enabled=False)
    quiet.add_cookies(seen.page.context.cookies())
    page = quiet.new_page()
    page.goto(f"{waiting.url}/review/INV-post")
    page.locator("summary", has_text="Reject").click()
    page.get_by_label("Why?").fill("no")
    page.locator("details[open] button").click()
    page.get_by_role("status").get_by_text("Rejected INV-post").wait_for()
    assert status(waiting, "INV-post")[0] == "rejected"
    quiet.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_everybody_can_read_it(waiting: Served, visit: VisitMaker, scheme: str, width: int) -> None:
    """Contrast, names of fields, headings; in the dark and on a phone."""
    seen = visit(waiting, color_scheme=scheme, viewport={"width": width, "height": 844})
    for path in ("/review", "/review/DEC-pg", "/review/FCT-none"):
        seen.go(path)
        assert seen.unreadable() == []
        assert not seen.is_wider_than_its_window()
    seen.complaints.clear()  # the browser itself notes that the last one is a 404
