"""What answers say and cost: the words that answer, in few tokens, and the way to read on."""

import re
from typing import Any

import pytest

from holdfast.interfaces.mcp import tool_calls, tool_table, tool_text
from holdfast.interfaces.mcp.client_project import McpClient
from holdfast.project import Project
from holdfast.recall.pack.pack_lines import count_tokens
from tests.capture.rollouts import rollout
from tests.conftest import GitRepo, init
from tests.mcp.talking import text_of

ASKED = "Why does the harbour crane stop at night, and may it run on until the last ship is unloaded?"
ANSWER = "The harbour crane stops at night because its brake overheats after nine hours."
SAID = f"I looked at the log for a while, and at the manual. {ANSWER} Nothing was changed."
DECIDED = "The harbour crane never runs longer than nine hours"


@pytest.fixture
def project(repo: GitRepo) -> Project:
    """A repository where an agent answered, wrote a file, and a person approved a decision."""
    init(repo.path, commit=True)
    home = repo.path.parent / "codex"
    rollout(home, repo.path).asks(ASKED).patches("crane.py", ["HOURS = 9", "", "LIMIT = HOURS * 60"]).done(SAID)
    (repo.path / "crane.py").write_text("HOURS = 9\n\nLIMIT = HOURS * 60\n", encoding="utf-8")
    project = Project.open(repo.path, person=True)
    project.transcripts.import_agent("codex", str(home))
    project.memory.remember(DECIDED, kind="decision", evidence=["README"], id="DEC-crane1", accept=True)
    return project


def ask(repo: GitRepo, name: str, **arguments: Any) -> str:
    result = tool_calls.call(name, arguments, McpClient(folders=[str(repo.path)], client="claude-code"))
    assert not result["isError"], result
    return text_of(result)


def test_recall_quotes_the_sentence_that_answers_with_id_age_and_status(project: Project, repo: GitRepo) -> None:
    """A hit that repeats the question has to be opened before it says anything."""
    rows = ask(repo, "recall", query="why does the harbour crane stop at night").splitlines()
    turn = next(row for row in rows if "(turn, " in row)
    assert re.match(r"- \S+#1 \(turn, \d+ \w+ ago\): “", turn) and ANSWER in turn and ASKED not in turn
    decision = next(row for row in rows if "DEC-crane1" in row)
    assert "(decision, accepted, just now)" in decision and decision.count(DECIDED) == 1


def test_no_answer_costs_more_than_its_budget(project: Project, repo: GitRepo) -> None:
    """An answer of thousands of tokens pushes the work out of an agent's window."""
    for number in range(6):
        rest = " ".join(f"part{number}x{place}" for place in range(80))
        project.memory.remember(
            f"Crane {number} rests at night {rest}", kind="fact", why=rest, evidence=["README"], accept=True
        )
        project.tasks.add(f"Oil crane {number} {rest}"[:400])
    name = project.tasks.add("Grease it", notes="word " * 4000).id
    run = ask(repo, "recall", query="crane", kind="turn").partition("- ")[2].partition("#")[0]
    asked: list[tuple[str, dict[str, Any]]] = [
        ("recall", {"query": "crane at night"}), ("recall", {"query": "crane", "limit": 50}),
        ("recall", {"query": "crane", "files": ["README"]}), ("open", {"id": run}), ("open", {"id": f"{run}#1"}),
        ("open", {"id": name}), ("why", {"line": "crane.py:1-3"}), ("context", {"for": "mend the crane"}),
        ("tasks", {"action": "list"}), ("tasks", {"action": "next"}), ("tasks", {"action": "claim", "id": name}),
    ]  # fmt: skip
    for tool, given in asked:
        text = ask(repo, tool, **given)
        assert count_tokens(text) <= tool_text.BUDGET, (tool, given, text)
        assert not re.search(r"\bnull\b|: None\b", text)
    short = ask(repo, "recall", query="crane", limit=50, budget=300)
    long = ask(repo, "recall", query="crane", limit=50, budget=2000)
    assert count_tokens(short) <= 300 < count_tokens(long) <= 2000
    assert re.search(r"\d+ more things: name a budget of more than 300 tokens", short)
    opened = ask(repo, "open", id=name)
    assert "name a budget" in opened and "name a budget" not in ask(repo, "open", id=name, budget=12000)


def test_open_shows_each_thing_that_an_answer_names(project: Project, repo: GitRepo) -> None:
    """A quote whose id leads nowhere cannot be checked."""
    task, commit = (
        project.tasks.add("Oil the crane", notes="Twice a year").id,
        repo.commit("oil.md", "# Oil\n", "Oil it"),
    )
    text = ask(repo, "recall", query="harbour crane", limit=20)
    ids = re.findall(r"^- (\S+) ", text, re.M)
    assert len(ids) >= 3
    for name in ids:
        assert name in ask(repo, "open", id=name)
    turn = ask(repo, "open", id=next(name for name in ids if name.endswith("#1")))
    assert ANSWER in turn and turn.count(ASKED) == 1
    assert DECIDED in ask(repo, "open", id="DEC-crane1")
    assert "Twice a year" in ask(repo, "open", id=task)
    assert "Oil it" in ask(repo, "open", id=commit[:10])
    assert "Next: " in text_of(tool_calls.call("open", {"id": "DEC-nothing"}, McpClient(folders=[str(repo.path)])))


def test_why_names_the_turn_that_wrote_a_line_and_its_prompt_once(project: Project, repo: GitRepo) -> None:
    """Three lines of one turn showed its prompt three times."""
    repo.git("add", "crane.py")
    repo.git("commit", "-qm", "The crane's hours")
    text = ask(repo, "why", line="crane.py:1-3")
    assert "Written by run" in text and text.count(ASKED[:60]) == 1
    assert "The crane's hours" in text and "HOURS = 9" in text


def test_a_proposal_says_what_became_of_it(project: Project, repo: GitRepo) -> None:
    """An agent that cannot tell a new proposal from a known one proposes it again and again."""
    given = {"type": "fact", "statement": "The crane needs oil of grade 46", "evidence": ["README"]}
    first = ask(repo, "propose", **given)
    name = first.split()[0]
    assert "waits for a person's review, as one of" in first and "No agent gets it before" in first
    assert "Evidence: file:README" in first and "waits already" in ask(repo, "propose", **given)
    project.memory.reject(name, reason="it is grade 32")
    opened = ask(repo, "open", id=name)
    assert "reject" in opened and "it is grade 32" in opened
    again = tool_calls.call("propose", given, McpClient(folders=[str(repo.path)]))
    assert again["isError"] and "it is grade 32" in text_of(again)


def test_each_tool_says_when_another_one_is_meant() -> None:
    """A model with six tools takes the first that fits a little."""
    assert [name for name in tool_table.BY_NAME if f"`{name}`" not in tool_table.INSTRUCTIONS] == []
    for one, other in (
        ("recall", "open"),
        ("recall", "why"),
        ("why", "recall"),
        ("open", "recall"),
        ("context", "recall"),
    ):
        assert f"`{other}`" in tool_table.BY_NAME[one]["description"], (one, other)
    for name, tool in tool_table.BY_NAME.items():
        budget = tool["inputSchema"]["properties"].get("budget")
        assert budget is None or budget["default"] == tool_text.BUDGET, name
