"""`holdfast stats`, as people see it."""

import json
import re
from pathlib import Path

import pytest

from holdfast.project import Project
from holdfast.store import statistics, tally
from tests.capture import claude_lines as claude
from tests.conftest import Cli, GitRepo, golden, init

BEGAN = 1_790_000_000


def test_the_screen(cli: Cli, repo: GitRepo) -> None:
    """One screen that says whether memory serves."""
    init(cli.cwd)
    layout = Project.open(repo.path).clone.layout
    ids = [(f"DEC-aaaaa{number}", "decision", None) for number in range(3)]
    for number in range(1200):
        hits = ids[: number % 4] if number % 3 else []
        tally.recalled_now(layout, hits, 1500 + number, now=BEGAN + 100 * number)
    for how in ("branch", "branch", "ancestor", "prompt", "tool"):
        said = tally.telling(how, tokens=400, session="SES-000000", memories=["DEC-aaaaa1"])
        tally.count_context(layout, said, 40_000, now=BEGAN)
    tally.modelled(layout, "command", calls=3, texts=3, microseconds=12_345_678, now=BEGAN)
    uses = [
        statistics.MemoryUse(BEGAN + 500 * number + 550, "cited", f"tsk-{number}", "dec-aaaaa2") for number in range(7)
    ]
    statistics.keep_uses(layout, [*uses, statistics.MemoryUse(BEGAN + 950, "acted", "1" * 12, "dec-aaaaa0")], now=BEGAN)
    told = cli("stats").out
    golden("stats", told)
    said = json.loads(cli("stats", "--json").out)
    assert (said["recalls"]["asked"], said["recalls"]["took"]["half"]) == (1200, 2100)
    assert said["memories"]["recalled"]["memories"] == 3
    assert said["models"] == [{"what": "command", "calls": 3, "texts": 3, "seconds": 12.346}]


def test_reset_begins_anew(cli: Cli, repo: GitRepo) -> None:
    """Whoever says so starts from nothing, and no key or use stays behind."""
    init(cli.cwd)
    cli("recall", "anything")
    assert re.search(r"asked +1 ", cli("stats").out)
    answer = cli("stats", "--reset")
    assert answer.out.startswith("Nothing was counted yet") and "counting starts from zero" in answer.err
    store = Path(Project.open(repo.path).clone.layout.private)
    assert not [path.name for path in store.glob("statistics*") if not path.name.endswith(".lock")]


def test_both_ways_count_the_same(cli: Cli, repo: GitRepo) -> None:
    """An agent's quick question counts as a person's does."""
    init(cli.cwd)
    project = Project.open(repo.path, person=True)
    name = project.memory.remember("Zebras are striped", kind="fact", evidence=["README"], accept=True).id
    assert "counted:" not in cli("show", name).out
    cli("recall", "zebras")
    cli.spawn("recall", "zebras")
    cli("context")
    cli.spawn("context")
    rows = [line.split() for line in Path(project.clone.layout.statistics).read_text().splitlines()]
    asked, told = ([row for row in rows if row[1] == what] for what in ("ask", "told"))
    assert asked[0][3:] == asked[1][3:] and len(asked) == 2
    assert told[0][3:] == told[1][3:] and told[0][6].startswith("fct-")
    assert re.search(r"counted: +recalled 2, in contexts 2, used afterwards 0\n", cli("show", name).out)
    store = Path(project.clone.layout.private)
    assert not [path for path in store.glob("statistics*") if b"zebra" in path.read_bytes().lower()]


def test_what_agents_used_is_summed_by_agent_task_and_day(cli: Cli, repo: GitRepo, world: Path) -> None:
    """A bill that nobody sees until the end of the month is a hidden one."""
    init(repo.path, commit=True)
    here = {"cwd": str(repo.path)}
    used = {"input_tokens": 10, "cache_creation_input_tokens": 90, "cache_read_input_tokens": 900, "output_tokens": 7}
    answers = [claude.assistant(claude.text(text), message="msg_1", **here) for text in ("One.", "It is written.")]
    for answer, written in zip(answers, (1, 50), strict=True):  # a message stands in several lines
        answer["message"] |= {"usage": used | {"output_tokens": written}, "model": "claude-x-1"}
    path = claude.write(world / "s1.jsonl", claude.user("Write the parser, please.", **here), *answers)
    cli("import", "claude", path)
    found = json.loads(cli("stats", "--json").out)
    (agent,) = found["agents"]
    assert agent == {
        "name": "claude",
        "runs": 1,
        "read": 1000,
        "cached": 900,
        "written": 50,
        "dollars": None,
        "unpriced": 1,
    }
    assert [one["name"] for one in found["days"]] == [answers[0]["timestamp"][:10]]
    cli("import", "claude", path)
    assert json.loads(cli("stats", "--json").out)["agents"] == found["agents"], "a second import adds nothing"
    (world / ".config/holdfast").mkdir(parents=True, exist_ok=True)
    (world / ".config/holdfast/settings.toml").write_text("[usage.prices]\nclaude = [10, 100, 1]\n")
    shown = cli("stats").out
    assert "1 run  1,000 tokens in (90% cached)  50 out  $0.01" in shown, shown
    (agent,) = json.loads(cli("stats", "--json").out)["agents"]
    assert agent["dollars"] == pytest.approx((100 * 10 + 900 * 1 + 50 * 100) / 1e6) and not agent["unpriced"]
