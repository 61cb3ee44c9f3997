"""The plan in the page: the board, one task, each change by a form, and what is refused; over real HTTP."""

import contextlib
import json
import os
import re
from html import unescape

import pytest

from holdfast.errors import HoldfastError
from holdfast.project import Project
from tests.conftest import GitRepo, init
from tests.web import hostile
from tests.web.conftest import Serve, Served

HOSTILE = '"><script>alert(1)</script>\u202e</textarea><img src=x onerror=alert(1)>'
SHOWN = "&lt;script&gt;alert(1)&lt;/script&gt;⟨U+202E⟩"


@pytest.fixture
def planned(serve: Serve, repo: GitRepo) -> Served:
    """A goal with three tasks in a row, one that is blocked, and one that is done."""
    init(repo.path)
    served = serve(repo.path)
    tasks = served.project().tasks
    tasks.add("Ship it", kind="goal", id="GOAL-1")
    tasks.add("Write the schema", id="TSK-schema", parent="GOAL-1", priority=1)
    tasks.add("Migrate the rows", id="TSK-rows", parent="GOAL-1", needs=["TSK-schema"])
    tasks.add("Drill a restore", id="TSK-drill", parent="GOAL-1", needs=["TSK-rows"], owner="bob")
    tasks.add("Buy the licence", id="TSK-licence")
    tasks.block("TSK-licence", reason="legal has not answered")
    tasks.add("Set up CI", id="TSK-ci")
    tasks.done("TSK-ci", without_evidence=True)
    return served


def column(page: str, name: str) -> list[str]:
    """The cards in a column of the board, in their order."""
    found = re.search(rf'data-column="{name}".*?</section>', page, re.DOTALL)
    assert found, f"no column {name}"
    return re.findall(r'data-card="([^"]+)"', found[0])


def of(served: Served, name: str):  # type: ignore[no-untyped-def]
    return served.project().tasks.show(name).placed.task


def test_the_board_has_each_task_in_its_column(planned: Served) -> None:
    """Who plans by the board must see what `holdfast next` says."""
    page = planned.get("/plan").text
    assert column(page, "ready") == ["TSK-schema"]
    assert column(page, "waiting") == ["TSK-drill", "TSK-rows"]  # by title
    assert column(page, "blocked") == ["TSK-licence"]
    assert column(page, "done") == ["TSK-ci"]
    assert "legal has not answered" in page
    assert "0 of 3" in page
    path = planned.project().tasks.next().critical_path
    named = re.search(r"Critical path:.*?</p>", page, re.DOTALL)
    assert named
    assert re.findall(r">([A-Z]+-\w+)</a>", named[0]) == list(path)


def test_filters_leave_what_fits(planned: Served) -> None:
    """A board of thousands is read a part at a time."""
    cards = lambda query: re.findall(r'data-card="([^"]+)"', planned.get(f"/plan?{query}").text)  # noqa: E731
    assert cards("owner=bob") == ["TSK-drill"]
    assert cards("q=SCHEMA+write") == ["TSK-schema"]
    assert set(cards("within=GOAL-1")) == {"TSK-schema", "TSK-rows", "TSK-drill"}
    assert cards("q=nothing-of-the-kind") == []


def test_a_card_moves_as_its_task_is_started_blocked_finished_and_opened(planned: Served) -> None:
    """What the board shows and what the store holds must not part."""
    planned.submit("/plan", "/plan/move", id="TSK-schema", to="started", priority="")
    assert of(planned, "TSK-schema").status == "started"
    page = planned.get("/plan").text
    assert column(page, "started") == ["TSK-schema"]
    assert "claimed by" in page
    asks = planned.submit("/plan", "/plan/move", id="TSK-schema", to="blocked", priority="")
    assert "What holds TSK-schema back?" in asks.text
    assert of(planned, "TSK-schema").status == "started"
    form = asks.hidden("/plan/TSK-schema/change")
    done = planned.post("/plan/TSK-schema/change", {**form, "reason": "no disk"})
    assert (done.status, done.headers["location"]) == (303, "/plan")
    assert (of(planned, "TSK-schema").status, of(planned, "TSK-schema").reason) == ("blocked", "no disk")
    planned.submit("/plan", "/plan/move", id="TSK-schema", to="ready", priority="")
    assert of(planned, "TSK-schema").status == "open"


def test_a_task_without_evidence_is_asked_for_it(planned: Served) -> None:
    """`done` without anything that shows it is the lie that plans die of."""
    asks = planned.submit("/plan", "/plan/move", id="TSK-licence", to="done", priority="")
    assert "nothing was found that shows that TSK-licence is done" in unescape(asks.text)
    assert of(planned, "TSK-licence").status == "blocked"
    form = asks.hidden("/plan/TSK-licence/change")
    refused = planned.post("/plan/TSK-licence/change", {**form, "evidence": "no/such/file"})
    assert refused.status in (400, 404, 409)
    assert of(planned, "TSK-licence").status == "blocked"
    planned.post("/plan/TSK-licence/change", {**form, "evidence": "README"})
    task = of(planned, "TSK-licence")
    assert task.status == "done"
    assert [text.partition("@")[0] for text in task.evidence] == ["file:README"]


def test_the_order_is_the_priority(planned: Served) -> None:
    """Dragged to another group, a card stays there for everybody."""
    planned.submit("/plan", "/plan/move", id="TSK-drill", to="", priority="0")
    assert of(planned, "TSK-drill").priority == 0
    assert column(planned.get("/plan").text, "waiting") == ["TSK-drill", "TSK-rows"]
    again = hostile.read(planned.submit("/plan", "/plan/move", id="TSK-drill", to="", priority="0").text)
    assert "TSK-drill stays where it is: cards of one priority are in the order of holdfast next" in again


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"id": "TSK-rows", "to": "ready"}, "TSK-rows waits: needs TSK-schema (open)"),
        ({"id": "TSK-schema", "to": "waiting"}, "TSK-schema needs nothing that is open"),
        ({"id": "TSK-ci", "to": "started"}, "TSK-ci is done"),
        ({"id": "TSK-schema", "to": "elsewhere"}, "there is no column 'elsewhere'"),
        ({"id": "TSK-schema", "priority": "-1"}, "priority '-1' is not a whole number"),
        ({"id": "TSK-schema", "priority": "7"}, "is not a number from 0"),
        ({"id": "TSK-nobody", "to": "done"}, "no task here is called TSK-nobody"),
    ],
)
def test_a_refusal_says_why_and_changes_nothing(planned: Served, fields: dict[str, str], said: str) -> None:
    """A card that jumps back without a word looks like a fault."""
    before = planned.project().tasks.export_text()
    answer = planned.submit("/plan", "/plan/move", **{"to": "", "priority": "", **fields})
    assert answer.status in (400, 404, 409)
    assert said.lower() in unescape(answer.text).lower()
    assert planned.project().tasks.export_text() == before


def test_a_task_that_somebody_else_claimed_is_refused(planned: Served) -> None:
    """Two people on one task is what claims are for."""
    planned.project().tasks.start("TSK-schema", owner="bob", session="SES-other")
    page = planned.get("/plan/TSK-schema")
    form = page.hidden("/plan/TSK-schema/change")
    answer = planned.post("/plan/TSK-schema/change", {**form, "to": "started", "owner": "ann"})
    assert answer.status == 409
    assert "bob" in answer.text


def test_a_need_that_closes_a_circle_is_refused(planned: Served) -> None:
    """A circle of needs blocks everything on it for good."""
    action = "/plan/TSK-schema/link"
    answer = planned.submit("/plan/TSK-schema", action, needs="TSK-drill")
    assert answer.status == 409
    assert "that would be a cycle" in unescape(answer.text).lower()
    planned.submit("/plan/TSK-drill", "/plan/TSK-drill/link", needs="TSK-schema, TSK-ci")
    assert of(planned, "TSK-drill").needs == ("TSK-rows", "TSK-schema", "TSK-ci")


def test_fields_are_edited_and_a_newer_change_is_not_lost(planned: Served) -> None:
    """Two browser windows must not overwrite each other in silence."""
    action = "/plan/TSK-schema/edit"
    page = planned.get("/plan/TSK-schema")
    given = dict.fromkeys(("owner", "layer", "impact", "acceptance", "checks", "evidence", "notes"), "")
    given |= {"title": "Write it", "kind": "task", "priority": "1", "parent": "GOAL-1", "systemic_scale": ""}
    mine = {**page.hidden(action), **given, "acceptance": "It loads\r\nIt saves\r\n", "notes": "one\r\n\r\ntwo"}
    done = planned.post(action, mine)
    assert done.status == 303, done.text
    task = of(planned, "TSK-schema")
    assert (task.title, task.acceptance, task.notes) == ("Write it", ("It loads", "It saves"), "one\n\ntwo")
    late = planned.post(action, {**mine, "title": "Another"})
    assert late.status == 409
    assert "was changed while you looked at it" in late.text
    assert of(planned, "TSK-schema").title == "Write it"


def test_a_task_is_added_where_the_form_says(planned: Served) -> None:
    """A thought that cannot be put down in the page is put down nowhere."""
    fields = {"title": "Write docs", "kind": "task", "parent": "GOAL-1", "needs": "TSK-rows", "priority": "3"}
    planned.submit("/plan", "/plan/add", owner="", **fields)
    made = next(task for task in planned.project().tasks.board().tasks if task.title == "Write docs")
    assert (made.parent, made.needs, made.priority, made.owner) == ("GOAL-1", ("TSK-rows",), 3, None)


def test_script_in_every_field_stays_text(planned: Served) -> None:
    """A task may come from anybody whose branch was merged."""
    project = planned.project()
    hostile = HOSTILE.replace("\u202e", "")
    shown = SHOWN.replace("⟨U+202E⟩", "")
    project.tasks.add(hostile, id="TSK-evil", owner=hostile, impact=hostile, acceptance=[hostile], notes=HOSTILE)
    project.tasks.block("TSK-evil", reason=hostile)
    project.tasks.add(hostile, id="EPIC-evil", kind="epic")
    for path in ("/plan", "/plan/TSK-evil", "/plan/graph", "/plan/graph?of=TSK-evil", "/graph", "/graph?of=TSK-evil"):
        page = planned.get(path)
        assert page.status == 200
        assert shown in page.text, path
        assert "<script>alert" not in page.text
        assert "<img" not in page.text
        assert "\u202e" not in page.text
    asked = planned.get("/plan?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&within=%3Cb%3E&owner=%27%3E")
    assert "<script>alert" not in asked.text


def test_odd_names_of_files_are_drawn_and_lead_somewhere(planned: Served, repo: GitRepo) -> None:
    """A file may be called anything that has no slash; git and the picture must both bear it."""
    names = ['a"><script>alert(1)</script>.py', "b\nc.py", os.fsdecode(b"d\xff.py"), "e\u202e.py"]
    for name in names:
        (repo.path / name.replace("/", "")).write_text("x = 1\n")
    names = [name.replace("/", "") for name in names]
    repo.git("add", ".")
    repo.git("commit", "-qm", "<script>alert(1)</script>")
    project = planned.project()
    for number, name in enumerate(names):
        with contextlib.suppress(HoldfastError):  # some names are refused as evidence
            project.memory.remember(f"Rule {number} of odd names.", id=f"FCT-odd{number}", evidence=[name])
    project.tasks.done("TSK-licence", evidence=["HEAD"])
    for of in ("", "?of=TSK-licence", *(f"?of=FCT-odd{number}" for number in range(2))):
        page = planned.get(f"/graph{of}")
        assert page.status in (200, 404)
        assert "<script>alert" not in page.text
        assert "\u202e" not in page.text
    assert planned.get("/graph?of=TSK-licence").status == 200
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in planned.get("/graph?of=TSK-licence").text


def test_a_large_board_is_windowed(serve: Serve, repo: GitRepo) -> None:
    """Ten thousand cards in one page are no board."""
    init(repo.path)
    project = Project.open(repo.path)
    rows = [{"id": f"TSK-{number:04}", "title": f"Task {number}"} for number in range(130)]
    project.tasks.import_text(json.dumps({"version": 1, "tasks": rows, "links": []}))
    served = serve(repo.path)
    first = served.get("/plan").text
    assert len(column(first, "ready")) < 100
    assert "of 130" in first
    later = re.search(r'rel="next" href="([^"]+)"', first)
    assert later
    second = served.get(unescape(later[1])).text
    assert not set(column(first, "ready")) & set(column(second, "ready"))


def test_an_empty_plan_says_what_to_do(served: Served) -> None:
    """An empty page that says nothing looks broken."""
    assert "No tasks on this branch yet" in served.get("/plan").text
    assert "Nothing to draw yet" in served.get("/plan/graph").text
    assert "Nothing to draw yet" in served.get("/graph").text
    assert served.get("/plan/TSK-none").status == 404
    assert served.get("/graph?of=nothing-here").status == 404
