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

from tests.conftest import Cli

SCHEMAS = Path(__file__).resolve().parents[2] / "docs" / "schemas"


@pytest.fixture
def plan(cli: Cli) -> dict[str, str]:
    """A goal with two tasks, the second of which needs the first."""
    cli("init", "--commit")
    goal = added(
        cli, "Ship the parser", "--kind", "goal", "--layer", "L1", "--scale", "3", "--impact", "users"
    )
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


def test_next_says_what_is_ready_why_the_rest_is_not_and_what_comes_free(
    cli: Cli, plan: dict[str, str]
) -> None:
    """An agent that has to work this out itself does the wrong thing first."""
    said = cli("next").out.splitlines()

    assert said[:3] == ["Ready:", f"  ○  {plan['grammar']}  P1  Write the grammar  frees {plan['tests']}", ""]
    assert said[3] == "Waiting:"
    assert set(said[4:6]) == {
        f"  ○  {plan['goal']}  Ship the parser   has 2 open parts",
        f"  ○  {plan['tests']}  Test the grammar  needs {plan['grammar']} (open)",
    }
    assert said[-1].startswith(f"Longest way: {plan['grammar']} → {plan['tests']}")
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
    assert (
        subprocess.run(["git", "status", "--porcelain"], cwd=cli.cwd, capture_output=True, check=True).stdout
        == b""
    )


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


def test_the_graph_is_drawn_in_three_forms(cli: Cli, plan: dict[str, str]) -> None:
    """A plan nobody can see at a glance is not looked at."""
    tree, mermaid, dot = (cli("task", "graph", *form).out for form in ((), ("--mermaid",), ("--dot",)))

    assert "Write the grammar" in tree and "└" in tree
    assert mermaid.startswith(("flowchart", "graph"))
    assert dot.startswith("digraph")
    assert all(plan["tests"] in text for text in (tree, dot))


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
    cli("init", "--commit")
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
    cli("init", "--commit")
    said = cli("task", "add", "--kind", "goal", "Be fast")
    assert "no layer, scale, impact was given" in said.err


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
    cli("init", "--commit")
    refused = cli(*args, ok=False)
    assert refused.code == code, refused.err
    assert refused.err.startswith("error: ") and "hint: " in refused.err


def test_titles_with_anything_in_them_are_kept_and_shown(cli: Cli) -> None:
    """People write plans in their own language, with quotes, colons and emoji."""
    cli("init", "--commit")
    titles = ['Größe: "näher" prüfen', "日本語のタスク", "a → b; [c] {d} # e", "-dash first", "🚀 launch"]
    for title in titles:
        cli("task", "add", "--", title)
    assert {task["title"] for task in answer(cli, "tasks")["items"]} == set(titles)
