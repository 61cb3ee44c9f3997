"""The plan in a real Chromium: cards dragged and moved by keyboard, the graph, a change from elsewhere, the export."""

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Cli, GitRepo, init
from tests.web.conftest import Serve, Served, VisitMaker

pytestmark = pytest.mark.browser


@pytest.fixture
def planned(serve: Serve, repo: GitRepo) -> Served:
    """A goal with two tasks in a row, and one that stands alone."""
    init(repo.path)
    served = serve(repo.path, enter=False)
    tasks = served.project().tasks
    tasks.add("Ship it", kind="goal", id="GOAL-1")
    tasks.add("Write the schema", id="TSK-schema", parent="GOAL-1")
    tasks.add("Migrate the rows", id="TSK-rows", parent="GOAL-1", needs=["TSK-schema"])
    tasks.add("Buy the licence", id="TSK-licence", priority=1)
    return served


def of(served: Served, name: str) -> Any:
    return served.project().tasks.show(name).placed.task


def test_a_card_is_dragged_to_another_column_and_priority(planned: Served, visit: VisitMaker) -> None:
    """The board is moved by hand, and what comes of it stands in the store."""
    seen = visit(planned)
    seen.go("/plan")
    page = seen.page
    page.locator('[data-card="TSK-schema"]').drag_to(page.locator('[data-column="started"]'))
    page.get_by_text("Started TSK-schema").wait_for()
    assert of(planned, "TSK-schema").status == "started"
    page.locator('[data-column="started"] [data-card="TSK-schema"]').wait_for()
    page.locator('[data-card="TSK-licence"]').drag_to(page.locator('[data-column="blocked"]'))
    page.get_by_label("What holds TSK-licence back?").fill("legal has not answered")
    page.keyboard.press("Enter")
    page.get_by_text("Blocked TSK-licence").wait_for()
    assert (of(planned, "TSK-licence").status, of(planned, "TSK-licence").reason) == (
        "blocked",
        "legal has not answered",
    )
    planned.project().tasks.add("Another one", id="TSK-more", priority=3)
    seen.go("/plan")
    card, group = page.locator('[data-card="TSK-more"]'), page.locator('[data-column="ready"] [data-priority="3"]')
    assert group.locator(card).count() == 1
    planned.project().tasks.add("An urgent one", id="TSK-urgent", priority=0)
    seen.go("/plan")
    card.drag_to(page.locator('[data-column="ready"] [data-priority="0"]'))
    page.get_by_text("TSK-more has priority 0 now").wait_for()
    assert of(planned, "TSK-more").priority == 0


def test_a_refused_drag_says_why(planned: Served, visit: VisitMaker) -> None:
    """A task does not get ready by being pulled."""
    seen = visit(planned)
    seen.go("/plan")
    page = seen.page
    page.locator('[data-card="TSK-rows"]').drag_to(page.locator('[data-column="ready"]'))
    page.get_by_role("alert").get_by_text("TSK-rows waits: needs TSK-schema").wait_for()
    seen.complaints[:] = [one for one in seen.complaints if "400" not in one]  # Chromium notes each refused request
    page.get_by_role("link", name="Back").click()
    page.locator('[data-column="waiting"] [data-card="TSK-rows"]').wait_for()


def test_the_plan_by_keyboard_alone(planned: Served, visit: VisitMaker) -> None:
    """Whoever cannot drag must be able to do the same."""
    seen = visit(planned)
    seen.go("/plan")
    page, keys = seen.page, seen.page.keyboard
    keys.press("n")
    keys.type("Write the docs")
    keys.press("Enter")
    page.get_by_text("Added TSK-").wait_for()
    keys.press("m")
    keys.type("TSK-licence")
    keys.press("Tab")
    keys.type("started")
    keys.press("Tab"), keys.press("Tab"), keys.press("Enter")
    page.get_by_text("Started TSK-licence").wait_for()
    assert of(planned, "TSK-licence").status == "started"
    seen.go("/plan/TSK-licence")
    keys.press("d")
    keys.type("README")
    keys.press("Enter")
    page.get_by_text("Finished TSK-licence").wait_for()
    assert of(planned, "TSK-licence").status == "done"
    keys.press("o")
    page.get_by_text("Opened TSK-licence again").wait_for()


def test_without_scripts_a_card_moves_by_its_form(planned: Served, visit: VisitMaker) -> None:
    """The page works where scripts are off."""
    seen = visit(planned, java_script_enabled=False)
    seen.go("/plan")
    page = seen.page
    page.locator("summary", has_text="Move a task").click()
    form = page.locator("#move")
    form.get_by_label("Task").fill("TSK-schema")
    form.get_by_label("To").select_option("started")
    form.get_by_role("button").click()
    assert of(planned, "TSK-schema").status == "started"


def test_a_change_of_another_process_appears_on_the_board(planned: Served, visit: VisitMaker, cli: Cli) -> None:
    """An agent starts a task while somebody looks."""
    seen = visit(planned)
    seen.go("/plan")
    cli.spawn("task", "start", "TSK-schema", "--as", "an agent")
    seen.page.locator('[data-column="started"] [data-card="TSK-schema"]').wait_for()
    assert "claimed by an agent" in seen.page.locator('[data-card="TSK-schema"]').inner_text()


def test_the_graph_leads_to_what_it_shows(planned: Served, visit: VisitMaker) -> None:
    """A picture without links is only a picture."""
    seen = visit(planned)
    seen.go("/plan/graph")
    page = seen.page
    assert page.locator("svg .edge.critical").count() == 2
    page.locator("svg a", has_text="TSK-rows").click()
    page.wait_for_url("**/plan/TSK-rows")
    page.keyboard.press("g")
    page.wait_for_url("**/plan/graph?of=TSK-rows")
    page.get_by_text("The same as a list").click()
    assert "needs TSK-schema" in page.locator(".as-list").inner_text()


@pytest.mark.parametrize("look", [{}, {"color_scheme": "dark"}, {"viewport": {"width": 390, "height": 800}}])
def test_everybody_can_read_it(planned: Served, visit: VisitMaker, look: dict[str, Any]) -> None:
    """Contrast, names, headings: light, dark and on a phone."""
    planned.project().tasks.start("TSK-schema")
    seen = visit(planned, **look)
    for path in ("/plan", "/plan/TSK-rows", "/plan/graph", "/graph"):
        seen.go(path)
        assert seen.unreadable() == []
        assert not seen.is_wider_than_its_window()


def test_an_export_opens_from_a_disk(chromium: Any, cli: Cli, planned: Served, tmp_path: Path) -> None:
    """Whoever gets it by mail has no server; nothing is asked of a network, and it can be read in the dark too."""
    cli("publish")
    for target in ("site", "site.html"):
        cli("export", "html", str(tmp_path / target))
    for start in (tmp_path / "site" / "index.html", tmp_path / "site.html"):
        for options in (
            {"java_script_enabled": False},
            {"color_scheme": "dark", "viewport": {"width": 390, "height": 800}},
        ):
            context = chromium.new_context(**options)
            page = context.new_page()
            asked: list[str] = []
            said: list[str] = []
            page.on("request", lambda one, to=asked: to.append(one.url))
            page.on("console", lambda one, to=said: to.append(one.text))
            page.goto(start.as_uri())
            page.get_by_role("link", name="Plan", exact=True).click()
            page.get_by_role("heading", name="Write the schema").wait_for()
            page.get_by_role("link", name="Graph", exact=True).click()
            page.locator("svg").first.wait_for()
            colour = page.evaluate("getComputedStyle(document.body).backgroundColor") if len(options) == 2 else ""
            assert colour in ("", "rgb(20, 23, 27)")  # the style was loaded, from the disk
            context.close()
            assert [url for url in asked if not url.startswith("file:")] == []
            assert said == []
