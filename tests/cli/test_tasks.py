"""The work graph at the command line: the words people and agents read, and the objects tools read."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from tests.conftest import Cli, GitRepo, grown

SCHEMAS = Path(__file__).resolve().parents[2] / "docs" / "schemas"


def set_up(cli: Cli, _: GitRepo) -> None:
    cli("init", "--commit")


@pytest.fixture
def cli(cli: Cli, repo: GitRepo) -> Cli:
    """The command, in a project whose memory is set up and committed."""
    return grown(set_up, cli, repo)


@pytest.fixture
def plan(cli: Cli) -> dict[str, str]:
    """A goal with two tasks, the second of which needs the first."""
    goal = added(cli, "Ship the parser", "--kind", "goal", "--layer", "L1", "--scale", "3", "--impact", "users")
    grammar = added(cli, "Write the grammar", "--parent", goal, "--priority", "1", "--accept", "it parses")
    tests = added(cli, "Test the grammar", "--parent", goal, "--needs", grammar)
    return {"goal": goal, "grammar": grammar, "tests": tests}


def added(cli: Cli, title: str, *options: str) -> str:
    return str(json.loads(cli("task", "add", title, *options, "--json").out)["id"])


def answer(cli: Cli, *args: str) -> Any:
    return json.loads(cli(*args, "--json").out)


def validator(name: str) -> Draft202012Validator:
    documents = {path.name: json.loads(path.read_text("utf-8")) for path in SCHEMAS.glob("*.json")}
    registry: Registry[Any] = Registry().with_resources(
        [(key, Resource.from_contents(value)) for key, value in documents.items()]
    )
    return Draft202012Validator(documents[name], registry=registry)


def test_next_says_what_is_ready_why_the_rest_is_not_and_what_comes_free(cli: Cli, plan: dict[str, str]) -> None:
    """An agent that has to work this out itself does the wrong thing first."""
    said = cli("next").out.splitlines()

    assert said[:3] == ["Ready:", f"  ○  {plan['grammar']}  P1  Write the grammar  frees {plan['tests']}", ""]
    assert said[3] == "Waiting:"
    assert set(said[4:6]) == {
        f"  ○  {plan['goal']}  Ship the parser   has 2 open parts",
        f"  ○  {plan['tests']}  Test the grammar  needs {plan['grammar']} (open)",
    }
    assert said[-1].startswith(f"Critical path: {plan['grammar']} → {plan['tests']}")
    found = answer(cli, "next")
    assert [task["id"] for task in found["ready"]] == [plan["grammar"]]
    assert found["ready"][0]["unblocks"] == [plan["tests"]]
    assert {row["id"] for row in found["waiting"]} == {plan["goal"], plan["tests"]}


def test_a_task_lives_from_add_to_done(cli: Cli, plan: dict[str, str]) -> None:
    """The daily round: what is next, begin it, commit, finish it, and the next one is ready."""
    cli("task", "start", plan["grammar"])
    (cli.cwd / "grammar.txt").write_text("expr\n")
    subprocess.run(["git", "add", "grammar.txt"], cwd=cli.cwd, check=True)
    subprocess.run(["git", "commit", "-qm", "grammar"], cwd=cli.cwd, check=True)

    said = cli("task", "complete", plan["grammar"]).out

    assert "found as evidence: commit" in said
    assert f"Now ready: {plan['tests']}" in said
    assert [task["id"] for task in answer(cli, "next")["ready"]] == [plan["tests"]]
    assert subprocess.run(["git", "status", "--porcelain"], cwd=cli.cwd, capture_output=True, check=True).stdout == b""


def test_tasks_is_task_list_and_complete_is_done(cli: Cli, plan: dict[str, str]) -> None:
    """People who know the other name find the command."""
    assert cli("tasks").out == cli("task", "list").out == cli("task").out
    for line in cli("tasks").out.splitlines()[:3]:
        assert line.startswith("○  TSK-")


def test_a_cycle_is_refused_with_the_cycle_shown(cli: Cli, plan: dict[str, str]) -> None:
    """Without it nobody knows which edge to take out."""
    refused = cli("task", "link", plan["grammar"], plan["tests"], ok=False)

    assert refused.code == 39
    assert plan["grammar"] in refused.err and plan["tests"] in refused.err and "→" in refused.err


def test_done_without_evidence_asks_for_it(cli: Cli, plan: dict[str, str]) -> None:
    """Done with nothing to show for it is how wrong assumptions pile up."""
    refused = cli("task", "done", plan["grammar"], ok=False)

    assert refused.code == 24
    assert "--without-evidence" in refused.err
    cli("task", "done", plan["grammar"], "--evidence", "README")


def test_the_graph_is_drawn_in_two_forms(cli: Cli, plan: dict[str, str]) -> None:
    """A plan nobody can see at a glance is not looked at."""
    tree, mermaid = (cli("task", "graph", *form).out for form in ((), ("--mermaid",)))

    assert "Write the grammar" in tree and "└" in tree
    assert mermaid.startswith(("flowchart", "graph"))
    assert plan["tests"] in tree


@pytest.mark.parametrize("form", [(), ("--jsonl",)], ids=["json", "jsonl"])
def test_a_graph_travels_whole(cli: Cli, plan: dict[str, str], tmp_path: Path, form: tuple[str, ...]) -> None:
    """Somebody who leaves must be able to take the plan along, and to bring it back."""
    saved = cli("task", "export", *form).out
    cli("task", "drop", plan["tests"])
    other = tmp_path / "other"
    other.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main", str(other)], check=True)
    elsewhere = Cli(other)
    elsewhere("init")

    elsewhere("task", "import", "-", data=saved)

    assert elsewhere("task", "export", *form).out == saved


def test_what_is_written_fits_its_schema(cli: Cli, plan: dict[str, str]) -> None:
    """Tools that read our files rely on the schemas we publish."""
    cli("link", "add", "README", "--title", "Read this first")
    cli("task", "add", "First release", "--kind", "milestone", "--id", "M-1")
    cli("task", "done", "M-1")
    view = json.loads((cli.cwd / ".holdfast/view/project_state.json").read_text("utf-8"))

    validator("project_state.schema.json").validate(view)

    assert [link["title"] for link in view["links"]] == ["Read this first"]
    assert [row["task"] for row in view["checkpoints"]] == ["M-1"]
    assert (
        view["head"]
        == subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=cli.cwd, capture_output=True, text=True, check=True
        ).stdout.strip()
    )
    shown = answer(cli, "state")
    assert {key: shown[key] for key in ("goals", "milestones", "graph")} == {
        key: view[key] for key in ("goals", "milestones", "graph")
    }


def test_a_goal_asks_for_layer_scale_and_impact(cli: Cli) -> None:
    """A goal without its place in the whole cannot be weighed against another."""
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast", "task", "add", "--kind", "goal", "Be fast", "--layer", "L2"],
        cwd=cli.cwd,
        stdin=child,
        stdout=subprocess.PIPE,
        stderr=child,
        env={**os.environ, "TERM": "dumb"},
    )
    os.close(child)
    os.write(parent, b"4\nnobody waits\n")
    process.communicate(timeout=60)
    os.close(parent)

    assert process.returncode == 0
    [goal] = answer(cli, "tasks")["items"]
    assert (goal["layer"], goal["systemic_scale"], goal["impact"]) == ("L2", 4, "nobody waits")


def test_where_nobody_can_be_asked_a_goal_says_what_it_lacks(cli: Cli) -> None:
    """An agent is not stopped by a question nobody answers, and learns what is missing."""
    said = cli("task", "add", "--kind", "goal", "Be fast")
    [goal] = answer(cli, "tasks")["items"]
    options = "--layer … --scale … --impact …"
    wanted = f"no layer, scale, impact was given; add them with: holdfast task edit {goal['id']} {options}"
    assert wanted in said.err


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("task", "show", "TSK-nothing"), 13),
        (("task", "add", ""), 14),
        (("task", "add", "x" * 501), 15),
        (("task", "add", "x", "--needs", "TSK-nothing"), 13),
        (("task", "add", "x", "--layer", "no such layer!"), 14),
        (("task", "start", "TSK-nothing"), 13),
        (("next", "--claim", "--for", "soon"), 14),
        (("link", "add", "no/such/file"), 13),
        (("task", "import", "-"), 14),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, tuple) else None,
)
def test_what_cannot_be_done_is_said_in_one_sentence(cli: Cli, args: tuple[str, ...], code: int) -> None:
    """A user who mistypes must learn what to type instead."""
    refused = cli(*args, ok=False)
    assert refused.code == code, refused.err
    assert refused.err.startswith("error: ") and "hint: " in refused.err


def test_titles_with_anything_in_them_are_kept_and_shown(cli: Cli) -> None:
    """People write plans in their own language, with quotes, colons and emoji."""
    titles = ['Größe: "näher" prüfen', "日本語のタスク", "a → b; [c] {d} # e", "-dash first", "🚀 launch"]
    for title in titles:
        cli("task", "add", "--", title)
    assert {task["title"] for task in answer(cli, "tasks")["items"]} == set(titles)


def row(text: str, name: str) -> str:
    return next((" ".join(line.split()) for line in text.splitlines() if name in line), "")


def test_next_keeps_plans_apart_from_work(cli: Cli) -> None:
    """A goal is not a piece of work; one without parts wants planning, one whose parts are done closing."""
    cli("task", "add", "Fast search", "--kind", "goal", "--id", "g1")
    cli("task", "add", "Beta", "--kind", "epic", "--id", "e1", "--priority", "0")
    cli("task", "add", "Index", "--id", "t1", "--parent", "e1")
    cli("task", "done", "t1", "--without-evidence")
    cli("task", "add", "Work", "--id", "t2")

    said = cli("next").out
    at = [said.index(words) for words in ("Ready:", "t2", "All parts are done:", "e1", "Without parts yet:", "g1")]
    assert at == sorted(at)
    assert "t2  is yours in this clone: " in cli("next", "--claim").out
    assert "is yours" not in cli("next", "--claim").out
    found = answer(cli, "next")
    assert [one["task"] for one in found["being_done"]] == ["t2"]
    assert [[one["id"] for one in found[key]] for key in ("to_close", "unplanned")] == [["e1"], ["g1"]]


def test_what_is_on_other_branches_is_counted_where_nothing_is_here(cli: Cli) -> None:
    """An empty plan on the wrong branch looks like a lost one."""
    subprocess.run(["git", "switch", "-qc", "plan"], cwd=cli.cwd, check=True)
    cli("task", "add", "One")
    cli("publish")
    cli("task", "add", "Two")
    subprocess.run(["git", "switch", "-q", "main"], cwd=cli.cwd, check=True)

    assert "2 tasks are on other branches" in cli("next").out
    assert "2 tasks are on other branches" in cli("tasks").out
    assert answer(cli, "next")["on_other_branches"] == 2


def test_nothing_that_is_zero_is_left_out(cli: Cli) -> None:
    """The most urgent priority is 0."""
    cli("task", "add", "Now", "--id", "now", "--priority", "0", "--scale", "0")
    said = cli("task", "show", "now").out
    assert row(said, "priority:") == "priority: 0"
    assert row(said, "scale:") == "scale: 0"


def test_the_list_begins_with_what_was_begun_and_counts_in_one_order(cli: Cli) -> None:
    """Two looks at the same plan must not read like two plans."""
    for name, priority in (("c", "3"), ("b", "1"), ("a", "3"), ("d", "4"), ("e", "2")):
        cli("task", "add", f"Title {name}", "--id", name, "--priority", priority)
    cli("task", "start", "d")
    cli("task", "link", "d", "b")
    assert [one["task"] for one in answer(cli, "next")["being_done"]] == ["d"]
    cli("task", "done", "e", "--without-evidence")

    assert [task["id"] for task in answer(cli, "tasks", "--all")["items"]] == ["d", "b", "a", "c", "e"]
    assert cli("tasks").out.splitlines()[-1] == "3 open, 1 started, 1 done"
    assert "there are 3 open, 1 started, 1 done" in cli("tasks", "--owner", "nobody").out
    for name in "abcd":
        cli("task", "drop", name)
    assert cli("tasks").out == "All 5 tasks are done or dropped: holdfast task list --all\n"


def test_an_import_says_how_much_of_each_it_brought(cli: Cli) -> None:
    """Links that came along unseen are links nobody looks at."""
    text = '{"tasks": [{"id": "a", "title": "A"}], "links": [{"id": "l", "target": "https://a.example"}]}'
    assert cli("task", "import", "-", data=text).out == "Added 1 task and 1 link\n"
    assert cli("task", "import", "-", data=text).out.startswith("Nothing new")


def test_a_cited_commit_that_was_rewritten_is_shown_by_both_names(cli: Cli) -> None:
    """Who looks for the old one does not find it in the history."""
    name = added(cli, "Work")
    for text, args in (("one\n", ()), ("one\n", ("--amend",))):
        (cli.cwd / "x").write_text(text)
        subprocess.run(["git", "add", "x"], cwd=cli.cwd, check=True)
        subprocess.run(["git", "commit", "-qm", f"x {args}", *args], cwd=cli.cwd, check=True)
        if not args:
            cli("task", "done", name, "--evidence", "HEAD")
    old, new = (
        subprocess.run(["git", "rev-parse", rev], cwd=cli.cwd, capture_output=True, text=True, check=True).stdout
        for rev in ("HEAD@{1}", "HEAD")
    )
    assert f"commit {old[:12]}, now {new[:12]}" in cli("task", "show", name).out
    assert answer(cli, "task", "show", name)["commits"] == {old.strip(): {"state": "moved", "now": new.strip()}}
    subprocess.run(["git", "reset", "-q", "--hard", "HEAD~1"], cwd=cli.cwd, check=True)
    assert f"commit {old[:12]}, on no branch any more" in cli("task", "show", name).out


def test_a_link_to_nothing_says_what_is_accepted(cli: Cli) -> None:
    """Who leaves out the scheme of an address must learn that it is missing."""
    refused = cli("link", "add", "www.example.com", ok=False)
    assert "is not a URL, a commit or a tracked path" in refused.err
    assert "https://" in refused.err


def test_wide_signs_do_not_bend_a_table() -> None:
    """East Asian signs take two columns of a terminal."""
    from holdfast.interfaces.cli.phrases import table

    assert table([("日本", "x"), ("abcd", "y"), ("é", "z")]) == ["  日本  x", "  abcd  y", "  é     z"]


def test_done_asks_for_evidence_where_somebody_can_answer(cli: Cli, plan: dict[str, str]) -> None:
    """Who just finished something knows best what shows it."""
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast", "task", "done", plan["grammar"]],
        cwd=cli.cwd,
        stdin=child,
        stdout=subprocess.PIPE,
        stderr=child,
        env={**os.environ, "TERM": "dumb"},
    )
    os.close(child)
    os.write(parent, b"README\n")
    process.communicate(timeout=60)
    os.close(parent)

    assert process.returncode == 0
    assert answer(cli, "task", "show", plan["grammar"])["evidence"][0].startswith("file:README@")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere file names must be UTF-8")
def test_a_branch_whose_name_is_not_utf8_stops_no_command(repo: GitRepo, cli: Cli) -> None:
    """Git takes any bytes for a name; one such branch of a colleague must not end every question here."""
    repo.git("branch", os.fsdecode(b"br\xe9"))
    repo.git("switch", "-q", "-c", "plain")
    asked = (["recall", "pier"], ["next"], ["tasks"], ["context"], ["status"])
    assert [cli(*words, ok=False).code for words in asked] == [0] * len(asked)
