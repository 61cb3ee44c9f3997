"""The story of a project, page by page: nothing is missing, nothing comes twice, newest first."""

import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from holdfast.diagnostics.timeline import StoryChoice, StoryCursor, StoryPage, StoryRow
from holdfast.project import Project
from holdfast.store import event_index
from tests.conftest import GitRepo, init

START = datetime(2026, 3, 1, tzinfo=UTC)


def pages(project: Project, choice: StoryChoice | None = None, *, most: int) -> Iterator[StoryPage]:
    """All pages, one after the other."""
    page = project.log.story(None, choice, most=most)
    for _ in range(500):
        yield page
        if page.next is None:
            return
        page = project.log.story(page.next, choice, most=most)
    raise AssertionError("the pages never end")


def rows(project: Project, choice: StoryChoice | None = None, *, most: int = 7) -> list[StoryRow]:
    return [row for page in pages(project, choice, most=most) for row in page.rows]


@pytest.fixture
def told(repo: GitRepo, seed: int, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Runs, some imported long after they ran; many commits of one second; decisions; two branches."""
    init(repo.path)
    dice = random.Random(seed)
    project = Project.open(repo.path, person=True)
    for number in range(30):
        began = START + timedelta(seconds=dice.choice((0, 0, 3_600, 86_400)) + number)
        run = f"{began:%Y%m%dT%H%M%SZ}-run{number:03d}" if dice.random() < 0.7 else f"own-name-{number}"
        project.write_log({"run_id": run, "task": f"T-{number % 3}", "outputs": {"summary": f"did {number}"}})
    for number in range(25):
        at = int(START.timestamp()) + dice.choice((5, 5, 5, 7_200))
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"{at} +0000")
        monkeypatch.setenv("GIT_AUTHOR_DATE", f"{at} +0000")
        if number == 12:
            repo.git("switch", "-qc", "topic")
        repo.commit(f"file{number}.txt", f"{number}\n", f"change {number}")
    project.memory.remember("Retries stop after five.", id="FCT-five", evidence=["README"], accept=True)
    return project


@pytest.mark.parametrize("most", [1, 3, 7, 1_000])
def test_the_pages_together_hold_everything_once(told: Project, repo: GitRepo, most: int) -> None:
    """What falls between two pages is never seen by anybody."""
    found = rows(told, most=most)
    began = [row.began for row in found]
    assert began == sorted(began, reverse=True)
    commits = repo.git("rev-list", "--branches").split()
    assert sorted(row.id for row in found if row.kind == "commit") == sorted(commits)
    runs = [row.id for row in found if row.kind == "run"]
    assert sorted(runs) == sorted({event.run_id for event in told.clone.find_events("all", kinds=("run",))})
    assert [row.id for row in found if row.kind == "accept"] == ["FCT-five"]


def test_a_run_stands_where_it_began_however_late_it_was_imported(told: Project) -> None:
    """Whoever imports a year of sessions would else find all of them under today."""
    for row in rows(told):
        if row.id.startswith("2026"):
            assert row.began == f"{datetime.strptime(row.id[:16], '%Y%m%dT%H%M%SZ'):%Y-%m-%dT%H:%M:%S}.000000Z"
        elif row.id.startswith("own-name"):
            assert row.began > f"{datetime.now(UTC) - timedelta(hours=1):%Y-%m-%dT%H:%M:%S}"


def test_a_filter_shows_what_fits_and_nothing_else(told: Project, repo: GitRepo) -> None:
    """Who looks for the commits of a branch must not read through everything."""
    everything = rows(told)
    for kinds in (("run",), ("commit",), ("decision", "proposal"), ("session",)):
        some = rows(told, StoryChoice(kinds))
        wanted = {"run": ("run",), "commit": ("commit",), "decision": ("accept", "propose"), "session": ("session",)}
        assert [row.id for row in some] == [row.id for row in everything if row.kind in wanted[kinds[0]]]
    on_main = {row.id for row in rows(told, StoryChoice(("commit",), "main"))}
    assert on_main == set(repo.git("rev-list", "main").split())
    assert rows(told, StoryChoice(branch="../../../../etc/passwd")) == []
    assert rows(told, StoryChoice(branch="--all")) == []
    assert [row.id for row in rows(told, StoryChoice(words=("change 24",)))] == [repo.tip()]
    assert {row.task for row in rows(told, StoryChoice(("run",), words=("t-1",)))} == {"T-1"}


def test_a_filter_that_fits_nothing_stops_after_a_while(told: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Years of history must not be read for one page; the page says how far it looked, and the next goes on."""
    monkeypatch.setattr("holdfast.diagnostics.timeline._LOOKED", 5)
    found = list(pages(told, StoryChoice(words=("no-such-word",)), most=5))
    assert len(found) > 1 and not any(page.rows for page in found)
    assert all(page.looked >= 5 and page.next for page in found[:-1])


def test_what_comes_in_meanwhile_hides_nothing(told: Project, repo: GitRepo) -> None:
    """Who reads page two while agents work must find what page one left."""
    whole = rows(told)
    first = told.log.story(None, None, most=10)
    told.write_log({"task": "later", "outputs": {"summary": "later"}})
    repo.git("commit", "-q", "--allow-empty", "-m", "later", "--date=now")
    rest: list[StoryRow] = []
    cursor: StoryCursor | None = first.next
    while cursor:
        page = told.log.story(cursor, None, most=10)
        rest += page.rows
        cursor = page.next
    assert {row.id for row in whole} <= {row.id for row in (*first.rows, *rest)}


def test_a_page_asks_the_index_by_time(told: Project) -> None:
    """With a hundred thousand events a page would else read and sort all of them."""
    told.clone.begun_events(newest=1)
    lookup = told.clone._lookup._index  # the plan is asked where the question is
    sql = f"SELECT * FROM event AS e WHERE {event_index._BEGAN} < ? ORDER BY {event_index._BEGAN} DESC LIMIT 9"
    plan = lookup._file.db.execute(f"EXPLAIN QUERY PLAN {sql}", ("2026",)).fetchall()
    assert any("event_began" in row[-1] for row in plan) and not any("TEMP B-TREE" in row[-1] for row in plan), plan


def test_a_run_recorded_in_parts_is_told_once(repo: GitRepo) -> None:
    """A session that is imported while it goes on is one run."""
    init(repo.path)
    project = Project.open(repo.path)
    for number in range(5):
        project.write_log({"run_id": "20260301T000000Z-parts1", "outputs": {"summary": f"part {number}"}})
        time.sleep(0.002)
    (row,) = rows(project, StoryChoice(("run",)), most=1)
    assert row.summary == "part 4"
