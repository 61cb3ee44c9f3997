"""`import codex|claude|gemini`: what people see, and which sessions come in."""

import hashlib
import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import BadInput
from holdfast.interfaces.cli import import_commands
from holdfast.interfaces.cli.import_commands import brought
from holdfast.project import Project
from holdfast.project.transcript_import import Brought, ago
from tests.capture.rollouts import BEGAN, Rollout, rollout
from tests.conftest import Cli, GitRepo, init

assert import_commands.importing.name == "import"

DECIDED = "We decided to use Postgres for the queue, because SQLite locks under load."


@pytest.fixture
def home(world: Path) -> Path:
    return world


def codex(home: Path, repo: GitRepo | str, said: str = DECIDED, **fields: Any) -> Rollout:
    file = rollout(home / ".codex", os.fspath(repo), **fields)
    return file.asks("Which store should the queue use?").plans(write_docs="pending").done(said)


def claude(home: Path, repo: GitRepo) -> Path:
    """One session of Claude Code: a prompt, a command, an answer."""
    shared = {"cwd": str(repo.path), "sessionId": "5e55", "version": "2.1.37", "gitBranch": "main"}
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "make test"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "3 passed"}
    talk = [
        ("user", {"role": "user", "content": "Run the tests of this project."}),
        ("assistant", {"id": "msg_1", "role": "assistant", "model": "claude-x", "content": [call]}),
        ("user", {"role": "user", "content": [result]}),
        ("assistant", {"id": "msg_2", "role": "assistant", "content": [{"type": "text", "text": "They pass."}]}),
    ]
    path = home / ".claude/projects" / str(repo.path).replace("/", "-").replace("_", "-") / "5e55.jsonl"
    path.parent.mkdir(parents=True)
    rows = []
    for n, (kind, message) in enumerate(talk):
        own = {"uuid": f"u{n}", "parentUuid": f"u{n - 1}" if n else None, "isSidechain": False}
        rows.append({**shared, **own, "type": kind, "message": message, "timestamp": f"2026-02-01T10:00:0{n}.000Z"})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def gemini(home: Path, repo: GitRepo) -> Path:
    """One session of Gemini CLI, as a log."""
    folder = home / ".gemini/tmp/app"
    (folder / "chats").mkdir(parents=True)
    (folder / ".project_root").write_text(str(repo.path))
    head = {"sessionId": "9e31", "projectHash": "0" * 64, "startTime": "2026-04-25T08:23:24.509Z", "kind": "main"}
    asked = {"id": "m1", "timestamp": "2026-04-25T08:26:42.354Z", "type": "user", "content": [{"text": "list it"}]}
    said = {"id": "m2", "timestamp": "2026-04-25T08:26:49.322Z", "type": "gemini", "content": "One file is here."}
    path = folder / "chats/session-2026-04-25T08-23-9e31.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in (head, asked, said)))
    return path


def answer(cli: Cli, *words: str, **env: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(cli(*words, "--json", **env).out)
    return found


@pytest.fixture
def ready(cli: Cli) -> Cli:
    init(cli.cwd, commit=True)
    return cli


def test_one_odd_folder_does_not_end_an_import(ready: Cli, repo: GitRepo, home: Path) -> None:
    """A NUL in one transcript of a year must not keep the others out."""
    codex(home, "/elsewhere\0other")
    codex(home, repo)
    said = ready("import", "codex").out
    assert "Imported 1 run with 1 turn, from 1 session of Codex" in said


def test_an_import_says_what_came_of_it(ready: Cli, repo: GitRepo, home: Path) -> None:
    """Who runs it wants to know in one look: how much, what is new, what to do next."""
    codex(home, repo)
    codex(home, "/elsewhere/other")
    said = ready("import", "codex").out
    assert "Imported 1 run with 1 turn, from 1 session of Codex" in said
    assert "1 new candidate" in said and "  1 transcript left alone: of another repository\n" in said
    assert said.endswith("Review them with: holdfast review\n")
    assert "Postgres" in ready("review").out
    assert ready("import", "codex").out == (
        "Nothing new in 1 session of Codex\n  1 transcript left alone: of another repository\n"
    )


def test_a_candidate_names_the_run_the_turn_and_the_words(ready: Cli, repo: GitRepo, home: Path) -> None:
    """A reviewer must be able to look up who said it, and where."""
    codex(home, repo)
    (run,) = answer(ready, "import", "codex")["runs"]
    (standing,) = Project.open(repo.path).memory.candidates()
    waiting = standing.memory
    assert waiting.statement.startswith("Use Postgres")
    assert str(waiting.provenance[0]).startswith(f"run:{run}#1 We decided to use Postgres")
    assert waiting.evidence == (f"run:{run}",)


def test_the_summary_tells_all_that_was_found(ready: Cli, repo: GitRepo, home: Path) -> None:
    """A dead end that only waits in review is walked into again by whoever reads the summary."""
    file = rollout(home / ".codex", os.fspath(repo)).asks("Never use float for money. Mend the totals.")
    said = "Root cause: the totals were rounded per line and not per invoice."
    file.done(f"{DECIDED} {said} Using pandas for the export was a dead end: it takes 2 s to import.")
    (run,) = answer(ready, "import", "codex")["runs"]
    text = Path(Project.open(repo.path).clone.layout.run(run), "summary.md").read_text(encoding="utf-8")
    assert "## Proposed: decisions\n\n- Use Postgres for the queue\n" in text
    assert "## Proposed: rules\n\n- Never use float for money\n" in text
    assert "## Proposed: dead ends\n\n- Using pandas for the export was a dead end: it takes 2 s to import\n" in text
    assert "## Proposed: facts" not in text  # what was wrong is told, and may hold no more
    assert said in text


def test_every_agent_is_read_from_its_own_folder(ready: Cli, repo: GitRepo, home: Path) -> None:
    """People use more than one agent on one repository."""
    codex(home, repo)
    claude(home, repo)
    gemini(home, repo)
    for agent in ("codex", "claude", "gemini"):
        done = answer(ready, "import", agent)
        assert (done["agent"], len(done["runs"]), done["sessions"]) == (agent, 1, 1), done
        assert answer(ready, "import", agent)["runs"] == []
    listed = ready("session", "list", "--all").out
    assert "Run the tests of this project." in listed and "list it" in listed


def test_a_gemini_session_that_tells_only_a_hash_of_its_folder_is_found(ready: Cli, repo: GitRepo, home: Path) -> None:
    """Gemini notes the folder nowhere else: a user's sessions would all be of other repositories."""
    digest = hashlib.sha256(os.path.realpath(repo.path).encode()).hexdigest()
    path = gemini(home, repo)
    (path.parent.parent / ".project_root").unlink()
    path.parent.parent.rename(path.parent.parent.with_name(digest))
    path = home / ".gemini/tmp" / digest / "chats" / path.name
    text = path.read_text()
    (left,) = answer(ready, "import", "gemini")["left"]
    assert left == {"path": str(path), "reason": "of another repository"}
    path.write_text(text.replace("0" * 64, digest))
    past = datetime.now(UTC) - timedelta(days=1)
    os.utime(path, (past.timestamp(), past.timestamp()))
    (seen,) = answer(ready, "try", "--days", "3650")["seen"]
    assert (seen["agent"], seen["sessions"]) == ("gemini", 1)
    assert len(answer(ready, "import", "gemini")["runs"]) == 1
    assert _sessions(repo) == ["9e31"]


def test_where_an_agent_was_never_used_it_says_so(ready: Cli) -> None:
    """An empty answer would look as if there were nothing to remember."""
    failed = ready("import", "codex", ok=False)
    assert "codex was not used on this machine" in failed.err


def test_the_folder_comes_from_the_agents_own_variable(ready: Cli, repo: GitRepo, tmp_path: Path) -> None:
    """Some keep Codex's home elsewhere, even in the repository."""
    rollout(tmp_path / "other", repo.path).asks("Do it the other way.").done("It is done the other way.")
    done = answer(ready, "import", "codex", CODEX_HOME=str(tmp_path / "other"))
    assert len(done["runs"]) == 1


def test_a_named_file_is_taken_and_a_named_folder_is_searched(ready: Cli, repo: GitRepo, tmp_path: Path) -> None:
    """A transcript may come by mail, or from a backup."""
    mine, other = codex(tmp_path / "a", repo), codex(tmp_path / "b", "/elsewhere/other")
    flat = tmp_path / "flat"
    flat.mkdir()
    mine.path.rename(flat / "one.jsonl")
    (flat / "notes.txt").write_text("no transcript")
    assert len(answer(ready, "import", "codex", str(flat))["runs"]) == 1
    assert len(answer(ready, "import", "codex", str(other.path))["runs"]) == 1
    failed = ready("import", "codex", str(tmp_path / "nothing"), ok=False)
    assert "there is no file or folder" in failed.err


def test_all_projects_and_since_choose(ready: Cli, repo: GitRepo, home: Path) -> None:
    """A year of a laptop's sessions is not what everybody wants."""
    old, new = codex(home, repo), codex(home, "/elsewhere/other", "We agreed on nothing at all here.")
    past = datetime.now(UTC) - timedelta(days=40)
    os.utime(old.path, (past.timestamp(), past.timestamp()))
    few = answer(ready, "import", "codex", "--since", "30d")
    assert few["runs"] == [] and {(one["path"], one["reason"]) for one in few["left"]} == {
        (str(old.path), "older than asked for"),
        (str(new.path), "of another repository"),
    }
    said = ready("import", "codex", "--since", "30d").out
    assert "left alone: older than asked for" in said and "left alone: of another repository" in said
    assert len(answer(ready, "import", "codex", "--since", "30d", "--all-projects")["runs"]) == 1
    since = (past - timedelta(days=2)).date().isoformat()
    assert len(answer(ready, "import", "codex", "--since", since)["runs"]) == 1
    assert "neither a date nor an age" in ready("import", "codex", "--since", "soon", ok=False).err


def test_this_repository_can_be_asked_for_by_name(ready: Cli, repo: GitRepo, home: Path) -> None:
    """A script says what it means, and is told when it says two things at once."""
    codex(home, repo), codex(home, "/elsewhere/other")
    refused = ready("import", "codex", "--this", "--all-projects", ok=False)
    assert "contradict each other" in refused.err
    assert len(answer(ready, "import", "codex", "--this")["runs"]) == 1


def test_other_repositories_are_found_but_never_gone_on_from(ready: Cli, repo: GitRepo, home: Path) -> None:
    """Whoever imports all projects must not be told to go on with another project's work."""
    other = rollout(home / ".codex", "/elsewhere/label-printer", at=datetime.now(UTC))
    other.asks("Make the zebra labels smaller.").plans(measure_the_zebra="pending").done(DECIDED)
    said = ready("import", "codex", "--all-projects").out
    assert "1 session of other repositories: recall finds them; nothing is proposed" in said
    assert said.endswith("See what happened with: holdfast log\n"), "there is no session to see"
    assert "zebra" in ready("recall", "zebra labels").out
    assert "repository label-printer" in ready("show", answer(ready, "recall", "zebra")["items"][0]["id"]).out
    assert _sessions(repo) == [] and Project.open(repo.path).memory.candidates() == []
    for told in (ready("context").out, ready("handoff").out, ready("session", "list", "--all").out):
        assert "zebra" not in told
    assert answer(ready, "import", "codex", "--all-projects")["proposed"] == []
    assert len(answer(ready, "import", "codex", str(other.path))["proposed"]) == 1, "it is named"


def _sessions(repo: GitRepo) -> list[str | None]:
    return [one.agent_session for one in Project.open(repo.path).sessions.all()]


def test_one_bad_file_does_not_stop_the_others(ready: Cli, repo: GitRepo, home: Path) -> None:
    """One crash of an agent must not cost the memory of all its other sessions."""
    file = codex(home, repo)
    bad = file.path.with_name(file.path.name.replace(file.session[:8], "deadbeef"))
    bad.write_bytes(b"\x00\xff not json\n")
    locked = file.path.with_name(file.path.name.replace(file.session[:8], "feedbeef"))
    locked.symlink_to(home / "nowhere")
    with open(file.path, "a") as out:
        out.write('{"timestamp":"2026-02-01T10:00:09.000Z","type":"from_the_future","payload":{}}\n{"half')
    said = ready("import", "codex").out
    assert "Imported 1 run" in said
    assert "1 record of an unknown kind: from_the_future (1)" in said
    assert f"  skipped: {bad} is not a transcript of Codex\n" in said and said.count(str(bad)) == 1


def test_what_a_plan_left_open_becomes_a_task_when_somebody_says_so(ready: Cli, repo: GitRepo, home: Path) -> None:
    """An agent's plan is a proposal: the work graph is the people's."""
    codex(home, repo)
    answer(ready, "import", "codex")
    (session,) = Project.open(repo.path).sessions.all()
    assert ready("tasks").out == "No tasks.\n" or "write docs" not in ready("tasks").out
    made = answer(ready, "task", "add", "--from", f"{session.id}:o1")
    assert made["title"] == "write docs"
    assert made["evidence"] == [f"run:{session.turns[-1].run}"]
    (after,) = Project.open(repo.path).sessions.all()
    assert after.still_open == () and after.open[0].task == made["id"]
    assert "has no open item" in ready("task", "add", "--from", f"{session.id}:o1", ok=False).err
    assert "Missing argument" in ready("task", "add", ok=False).err


def test_a_run_of_the_past_says_when_it_ran_and_no_exit_status_that_nobody_saw(
    ready: Cli, repo: GitRepo, home: Path
) -> None:
    """Who looks for last week's work must find it last week, and must not be told that it went well."""
    codex(home, repo)
    stopped = codex(home, repo, "The store is not chosen yet.", at=BEGAN + timedelta(days=1))
    stopped.asks("Then try it with SQLite.").runs("pytest -q tests/queue", code=None)
    first, second = answer(ready, "import", "codex")["runs"]
    told = ready("show", first).out
    assert " ago (2026-02-01 10:00 UTC), imported just now\n" in told
    assert " ago (2026-02-01 10:00 UTC) after 3.0 s\n" in told
    assert re.search(r"ended:    interrupted .* ago \(2026-02-02 10:0", ready("show", second).out)
    for said in (ready("log").out, ready("timeline").out):
        rows = {row.split()[4]: row for row in said.splitlines() if " run " in row}
        assert re.match(r"\d+ \w+ ago ", rows[first]) and rows[first].endswith("  (imported just now)")
        assert re.match(r"\d+ \w+ ago ", rows[second]) and rows[second].endswith("  (interrupted, imported just now)")
    found = {one["id"]: one for one in answer(ready, "recall", "queue", "--kind", "run")["items"]}
    assert (found[first]["state"], found[second]["state"]) == ("ended", "interrupted")
    assert {one["exit_status"] for one in found.values()} == {None} and found[first]["what"] == "run"
    assert str(found[first]["ts"]).startswith("2026-02-01T10:00:01")
    screen = ready("recall", "queue", "--kind", "run").out
    assert re.search(r"(weeks?|months?|years?) ago · ended", screen) and "just now" not in screen
    everything = [ready(*words).out for words in (["log"], ["recall", "queue"], ["show", first])]
    assert not any("exit 0" in said for said in everything)
    assert ready("doctor", ok=False).out.count("meta.json") == 0


def test_a_killed_harvest_is_made_up_for(ready: Cli, repo: GitRepo, home: Path) -> None:
    """Killed between a run and its candidates, the next import must still propose them."""
    from holdfast.capture.agents import dialect
    from tests.making import take_in

    file = codex(home, repo)
    take_in(Project.open(repo.path).clone, dialect("codex"), str(file.path), ended=True)
    assert Project.open(repo.path).memory.candidates() == []
    assert len(answer(ready, "import", "codex")["proposed"]) == 1
    assert answer(ready, "import", "codex")["proposed"] == []


def test_time_ago_is_read_as_people_write_it() -> None:
    """A wrong reading would import nothing, or everything."""
    now = datetime(2026, 3, 31, 12, tzinfo=UTC)
    assert ago("30d", now) == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert ago("12h", now) == datetime(2026, 3, 31, 0, tzinfo=UTC)
    assert ago("2026-03-01", now) == datetime(2026, 3, 1, tzinfo=UTC)
    for wrong in ("", "soon", "-3d", "99999999999d"):
        with pytest.raises(BadInput):
            ago(wrong, now)


@pytest.mark.parametrize(("runs", "made"), [(1, "1 run"), (24, "24 runs")])
def test_runs_without_a_commit_are_said_in_their_number(runs: int, made: str) -> None:
    """One run is no runs."""
    done = Brought(agent="codex", folder="/x", files=runs, sessions=runs, runs=("r",) * runs, unanchored=runs)
    assert f"  {made} whose commit is not known\n" in brought(done)
