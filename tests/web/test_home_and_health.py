"""The first page and the health page, over real HTTP."""

import re
from pathlib import Path

import pytest

from holdfast.interfaces.web.health_web import MOST_DAYS, DayBar, bar_chart
from tests.conftest import GitRepo, init
from tests.web import hostile
from tests.web.conftest import Serve, Served


def used(day: str, agent: str = "codex", **tokens: object) -> dict[str, object]:
    """A record of a run that says what it used."""
    row = {"agent": agent, "model": "m", "read": 1000, "written": 50, **tokens}
    return {"task": "T", "outputs": {"summary": "done", "usage": [row]}}


def test_an_empty_project_gets_first_steps(served: Served) -> None:
    """Whoever opens the page on the first day must learn what to do, not see four empty boxes."""
    page = served.get("/")
    words = hostile.read(page.text)
    assert "First steps" in words and "holdfast start" in words and 'id="waits"' not in page.text


def test_the_first_page_says_what_there_is_to_do(served: Served) -> None:
    """One look: what waits, what is ready, where it stopped, what holds."""
    project = served.project()
    project.memory.remember("Tests need Postgres.", id="FCT-pg", evidence=["README"], accept=True)
    project.memory.remember("Perhaps it is so.", id="FCT-maybe", evidence=["README"])
    for number in range(5):
        project.tasks.add(f"Task number {number}")
    project.sessions.start("Move the sessions", agent="codex")
    project.sessions.note("Moved half of them", open=["the other half"])
    page = served.get("/")
    words = hostile.read(page.text)
    assert "To decide 1 waits Perhaps it is so." in words and 'href="/review/FCT-maybe"' in page.text
    assert "5 ready" in words and page.text.count('href="/plan/TSK-') == 3
    assert "The session at work Move the sessions" in words and "the other half (o1)" in words
    assert "1 approved by a person fact Tests need Postgres." in words and 'href="/memory/FCT-pg"' in page.text
    project.sessions.end(summary="All moved")
    words = hostile.read(served.get("/").text)
    assert "Where the last session stopped" in words and "All moved" in words


def test_what_came_by_git_is_named_apart(serve: Serve, repo: GitRepo) -> None:
    """Nothing waits, and yet agents are told nothing: that must not look finished."""
    init(repo.path)
    text = "---\nid: FCT-git\ntype: fact\nstatus: accepted\n---\nFact: The pier is long.\n"
    repo.write(".holdfast/memory/facts/pier-FCT-git.md", text)
    repo.git("add", "-f", ".holdfast/memory")
    repo.git("commit", "-qm", "pier")
    words = hostile.read(serve(repo.path).get("/").text)
    assert "1 memory came by git, and agents are not told of it" in words


def test_parts_that_are_switched_off_are_left_out(serve: Serve, repo: GitRepo) -> None:
    """A project without tasks or sessions has a first page, too."""
    init(repo.path)
    repo.write(".git/holdfast/settings.toml", "[features]\ntasks = false\nsessions = false\n")
    served = serve(repo.path)
    served.project().memory.remember("Tests need Postgres.", id="FCT-pg", evidence=["README"], accept=True)
    page = served.get("/")
    assert page.status == 200 and "Tests need Postgres." in page.text
    assert 'id="ready"' not in page.text and 'id="last"' not in page.text and 'href="/plan"' not in page.text
    for path in ("/review", "/memory", "/code", "/timeline", "/graph", "/graph?of=FCT-pg", "/health", "/search?q=x"):
        assert served.get(path).status == 200, path
    assert "FCT-pg" in served.get("/graph").text
    assert "tasks are switched off" in served.get("/plan").text.lower()


def test_doctor_runs_when_asked_and_says_when(served: Served, repo: GitRepo) -> None:
    """It reads everything that is stored: nobody waits for that on each look."""
    served.project().memory.remember("Tests need Postgres.", id="FCT-pg", evidence=["README"], accept=True)
    words = hostile.read(served.get("/health").text)
    assert "has not run since" in words
    done = served.submit("/health", "/health/doctor")
    words = hostile.read(done.text)
    assert "ok checked" in words and "just now" in words and "Run doctor again" in words
    (spool,) = [path for path in (repo.path / ".git/holdfast").rglob("*.jsonl") if b'"propose"' in path.read_bytes()]
    spool.write_bytes(spool.read_bytes().replace(b'"propose"', b'"PROPOSE"', 1))
    words = hostile.read(served.submit("/health", "/health/doctor").text)
    assert "problem" in words and spool.name in words
    assert "doctor:" in hostile.read(served.get("/").text)


def test_tokens_and_cost_are_shown_by_day_and_agent(served: Served) -> None:
    """What the agents cost is asked at the end of each month."""
    project = served.project()
    project.write_log(used("2026-11-19", dollars=1.5))
    project.write_log(used("2026-11-19", agent="claude", read=2000))
    page = served.get("/health")
    words = hostile.read(page.text)
    assert "codex 1 1,000 0% 50 $1.50" in words.replace(" 1,000 50", " 1,000 0% 50")
    assert "claude 1 2,000" in words and "no price" in words
    assert re.search(r'<svg class="chart"[^>]*role="img" aria-label="Tokens a day, read and written">', page.text)
    assert "3,100 tokens</title></rect>" in page.text and "$1.50</title></rect>" in page.text


def test_agents_say_whether_they_are_connected(
    serve: Serve, repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent whose hooks are never called records nothing, and nobody notices."""
    init(repo.path)
    (tmp_path / "home" / ".codex").mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    served = serve(repo.path)
    words = hostile.read(served.get("/health").text)
    assert "codex not connected" in words and "never seen here holdfast connect codex" in words


def test_hostile_names_stay_text_on_both(served: Served, repo: GitRepo) -> None:
    """Agents, tasks and sessions name themselves."""
    repo.git("switch", "-qc", hostile.BRANCH)
    project = served.project()
    project.memory.remember(f"{hostile.ALL}", id="FCT-one", evidence=["README"])
    project.memory.remember(f"{hostile.ALL} is so", id="FCT-two", evidence=["README"], accept=True)
    project.tasks.add(f"{hostile.SCRIPT} {hostile.QUOTES}")
    project.sessions.start(hostile.ALL, agent=hostile.SCRIPT)
    project.sessions.note(hostile.ALL, open=[hostile.ALL], approvals=[hostile.ALL])
    project.write_log(used("2026-11-19", agent=hostile.ALL, model=hostile.ALL, dollars=2))
    (repo.path / ".holdfast/memory/facts").mkdir(parents=True, exist_ok=True)
    repo.write(".holdfast/memory/facts/<img src=x onerror=alert(1)>.md", f"---\nid: {hostile.SCRIPT}\n---\n")
    repo.git("add", "-f", ".holdfast/memory")
    words = hostile.read(served.get("/").text)
    assert hostile.SCRIPT in words and "⟨U+202E⟩" in words
    words = hostile.read(served.get("/health").text)
    assert hostile.SCRIPT in words
    hostile.read(served.submit("/health", "/health/doctor").text)
    hostile.read(served.get("/memory").text)


@pytest.mark.parametrize("number", [0, 1, 2, MOST_DAYS, 500])
def test_a_chart_has_a_bar_for_each_of_its_last_days(number: int) -> None:
    """A chart of five years in one row shows nothing."""
    days = [f"{2000 + at // 336}-{at // 28 % 12 + 1:02}-{at % 28 + 1:02}" for at in range(number)]
    drawn = str(bar_chart('Tokens "a" day', [DayBar(day, at + 1, f"{at + 1} tokens") for at, day in enumerate(days)]))
    assert (drawn == "") == (number == 0)
    assert drawn.count("<rect") == min(number, drawn.count("<rect")) <= MOST_DAYS
    if number:
        assert f"{days[-1]}: {number} tokens</title>" in drawn and 'aria-label="Tokens &#34;a&#34; day"' in drawn


def test_a_chart_leaves_out_days_that_are_none() -> None:
    """A transcript names the day itself, and may say anything."""
    bars = [DayBar("<script>", 5, "five"), DayBar("2026-11-19", 1, "<b>one</b>"), DayBar("", 2, "two")]
    drawn = str(bar_chart("Tokens", bars))
    assert drawn.count("<rect") == 1 and "<script>" not in drawn and "&lt;b&gt;one" in drawn


def test_what_is_kept_between_readings_is_never_out_of_date(serve: Serve, repo: GitRepo) -> None:
    """What a change leaves as it was is not read again; a page that kept more would show what is no longer so."""
    init(repo.path)
    served = serve(repo.path)
    project = served.project()
    project.memory.remember("Tests need Postgres 16.", id="FCT-pg", evidence=["README"])
    project.tasks.add("Mend the pier", id="TSK-pier")
    words = hostile.read(served.get("/").text)
    assert "1 waits Tests need Postgres 16." in words and "1 ready Mend the pier" in words
    project.memory.accept("FCT-pg")
    words = hostile.read(served.get("/").text)
    assert "Nothing waits" in words and "1 approved by a person" in words and "1 ready Mend the pier" in words
    project.tasks.add("Paint the pier", id="TSK-paint", needs=["TSK-pier"])
    assert "1 ready, 1 waiting" in hostile.read(served.get("/").text)
    project.tasks.start("TSK-pier")
    project.tasks.done("TSK-pier", without_evidence=True)
    assert "1 ready Paint the pier" in hostile.read(served.get("/").text)
