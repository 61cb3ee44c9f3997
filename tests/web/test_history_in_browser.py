"""The code page and the pages of what happened in a real Chromium: by mouse and keyboard, in the dark, on a phone."""

import json
from pathlib import Path

import pytest

from holdfast.capture.agents import dialect
from holdfast.project import Project
from tests.capture import claude_lines as claude
from tests.conftest import GitRepo, init
from tests.making import take_in
from tests.web.conftest import Serve, Served, VisitMaker

pytestmark = pytest.mark.browser

SESSION = "0f0e0d0c-0000-4000-8000-000000000001"
PHONE = {"viewport": {"width": 390, "height": 844}}


@pytest.fixture
def worked(serve: Serve, repo: GitRepo, tmp_path: Path) -> tuple[Served, str]:
    """A project in which an agent wrote a file; gives the server and the run."""
    init(repo.path)
    text = "".join(f"value_{number} = compute({number})\n" for number in range(1, 601))
    here = {"cwd": str(repo.path), "gitBranch": "main"}
    told = {"type": "create", "filePath": str(repo.path / "app.py"), "content": text}
    records = [
        claude.user("Write the table of values", **here),
        claude.assistant(claude.use("Write", file_path=str(repo.path / "app.py"), content=text), **here),
        claude.result("ok", told=told, **here),
        claude.assistant(claude.text("The table is written."), **here),
    ]
    repo.write("app.py", text)
    repo.git("add", ".")
    repo.git("commit", "-qm", "Table")
    transcript = tmp_path / f"{SESSION}.jsonl"
    transcript.write_text("".join(json.dumps(one) + "\n" for one in records))
    project = Project.open(repo.path)
    take_in(project.clone, dialect("claude"), str(transcript), ended=True)
    (event,) = project.clone.find_events("all", kinds=("run",))
    served = serve(repo.path, enter=False)
    served.project().memory.remember(
        "Values are computed.", id="DEC-comp", kind="decision", evidence=["app.py"], accept=True
    )
    return served, str(event.run_id)


def test_why_from_a_line_with_one_click(worked: tuple[Served, str], visit: VisitMaker) -> None:
    """Who wonders about a line wants its prompt, not a manual."""
    served, run = worked
    seen = visit(served)
    seen.go("/code")
    seen.page.get_by_role("link", name="app.py").click()
    seen.page.get_by_role("link", name="42", exact=True).click()
    seen.page.wait_for_url("**/code/app.py?line=42#L42")
    answer = seen.page.get_by_role("region", name="The line")
    assert "Write the table of values" in answer.inner_text() and "DEC-comp" in answer.inner_text()
    assert seen.page.locator("#L42").is_visible() and seen.page.locator("#L42.marked").count() == 1
    answer.get_by_role("link", name=f"run {run}").click()
    seen.page.wait_for_url(f"**/runs/{run}")
    seen.page.get_by_role("link", name="Turn 1").click()
    seen.page.get_by_role("heading", name="Steps").wait_for()
    seen.go("/code/app.py")
    seen.page.get_by_role("link", name="More →").first.click()
    seen.page.locator("#L501").wait_for()


def test_what_happens_elsewhere_appears_on_the_timeline(worked: tuple[Served, str], visit: VisitMaker) -> None:
    """Who watches an agent at work must not press reload."""
    served, run = worked
    seen = visit(served)
    seen.go("/timeline")
    seen.page.get_by_role("link", name=run).wait_for()
    served.project().write_log({"run_id": "appears-now", "outputs": {"summary": "It appeared."}})
    seen.page.get_by_text("It appeared.").wait_for()
    for name in ("Runs", "Sessions", "Decisions", "Proposals", "Tasks", "Rewrites and erasures"):
        seen.page.get_by_label(name).uncheck()
    seen.page.get_by_role("button", name="Show").click()
    seen.page.wait_for_url("**/timeline?*kind=commit*")
    assert seen.page.get_by_role("link", name=run).count() == 0 and "Table" in seen.page.content()


@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark"}, PHONE], ids=["light", "dark", "phone"])
def test_the_pages_can_be_read_by_everybody(
    worked: tuple[Served, str], visit: VisitMaker, options: dict[str, object]
) -> None:
    """Contrast, names, headings and landmarks; no page is wider than the phone."""
    served, run = worked
    commit = GitRepo(served.path).tip()
    session = served.project().sessions.start("Mend the table")
    seen = visit(served, **options)
    paths = ["/code/app.py?line=3", "/timeline", f"/runs/{run}", f"/commits/{commit}"]
    if not options:
        paths += ["/code", f"/runs/{run}/turns/1", f"/sessions/{session.id}", "/timeline?q=nothing-fits-this"]
    for path in paths:
        seen.go(path)
        assert not seen.is_wider_than_its_window(), path
        if options != PHONE:
            assert seen.unreadable() == [], path
