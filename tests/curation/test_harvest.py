"""What runs and sessions said becomes candidates, with where it was said, and never twice."""

import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from holdfast.curation.propose import Harvested, harvest
from holdfast.git.tracked_files import paths_spelled
from holdfast.model.evidence import parse_provenance
from holdfast.model.utterance import TriedCommand, Utterance
from holdfast.project import Project
from holdfast.store import agent_inbox
from tests.capture.rollouts import rollout
from tests.conftest import Cli, GitRepo, grown

KAFKA = "We decided to use Kafka for events because it keeps their order."
PNPM = "No, use pnpm, not npm."


def _on_a_branch(cli: Cli, repo: GitRepo) -> None:
    cli("init", "--commit")
    repo.git("switch", "-q", "-c", "work")


@pytest.fixture
def project(repo: GitRepo, cli: Cli) -> Project:
    grown(_on_a_branch, cli, repo)
    return Project.open(repo.path, person=True)


def run(project: Project, *argv: str, prompt: str | None = None) -> str:
    outcome = project.log.run_command(argv, prompt=prompt, environ=os.environ)
    assert outcome.exit_code == 0
    return outcome.run_id


def said(project: Project, text: str, *, prompt: str = "Go on.") -> str:
    """A run in which an agent says something."""
    return run(project, "printf", "%s\n", text, prompt=prompt)


def waiting(project: Project) -> dict[str, Any]:
    """Candidates by what they say."""
    return {one.memory.statement: one.memory for one in project.memory.candidates()}


def test_what_a_run_says_waits_with_where_it_was_said(project: Project) -> None:
    """Who decides about a candidate must be able to look up who said it, and in which words."""
    first = said(project, KAFKA, prompt=PNPM)
    found = waiting(project)
    assert sorted(found) == ["Use Kafka for events", "Use pnpm, not npm in this project"]
    kafka, pnpm = found["Use Kafka for events"], found["Use pnpm, not npm in this project"]
    assert parse_provenance(pnpm.provenance[0]).words == PNPM
    assert kafka.provenance == (f"run:{first}#2 {KAFKA}",)
    assert (kafka.type, kafka.details) == ("decision", "Rationale: it keeps their order")
    assert (kafka.evidence, kafka.source) == ((f"run:{first}",), f"run:{first}")
    assert project.memory.passage(parse_provenance(kafka.provenance[0])).lines == (KAFKA,)
    summary = Path(project.clone.layout.run(first), "summary.md").read_text()
    assert f"- Why: {PNPM}" in summary


def test_a_tools_output_is_nobodys_word(project: Project) -> None:
    """A log line or a web page that says `we decided` must not become the project's decision."""
    run(project, "printf", KAFKA)
    assert waiting(project) == {}
    agent = os.path.join(project.clone.repo.top, "claude")
    shutil.copy(shutil.which("printf") or "", agent)
    run(project, agent, KAFKA)
    assert list(waiting(project)) == ["Use Kafka for events"], "an agent by its name"


def test_every_rule_of_the_extraction_can_be_kept(bench: Any) -> None:
    """A rule whose finds cannot be stored would be lost without a word."""
    turns: list[Utterance | TriedCommand] = [
        Utterance("user", PNPM, 1),
        Utterance("agent", KAFKA, 2),
        Utterance("agent", "Root cause: the cache key lacked the tenant id.", 3),
        Utterance("user", "Never write to the search replica because it is rebuilt every night.", 4),
        Utterance("user", "We always name migrations after the ticket.", 5),
        Utterance("agent", "We assume that the worker queue never holds more than 1000 jobs.", 6),
        Utterance("agent", "I tried Redis streams for the inbox, but they lost messages on restart.", 7),
        TriedCommand("./test.sh", 1, 8),
        TriedCommand("./test.sh --slow", 0, 9),
    ]
    bench.run("20311115T194200Z-abc123")
    done = harvest(bench.clone, turns, source="session:SES-abc123", evidence=lambda _: ["run:20311115T194200Z-abc123"])
    made = bench.clone.layout.candidates
    tags = {line for name in os.listdir(made) for line in Path(made, name).read_text().splitlines() if "tags:" in line}
    rules = {
        "correction",
        "decision",
        "root cause",
        "constraint",
        "convention",
        "assumption",
        "dead end",
        "retried command",
    }
    assert done.refused == 0
    assert tags == {f"tags: [{rule.replace(' ', '-')}]" for rule in rules}
    assert len(done.new) == len(rules)
    again = harvest(bench.clone, turns, source="session:SES-abc123", evidence=lambda _: ())
    assert again == Harvested((), len(rules), 0)


def test_the_same_claim_joins_and_what_was_rejected_stays_away(project: Project) -> None:
    """A queue that fills with what was decided already is not read any more."""
    first = said(project, KAFKA)
    second = said(project, "We decided to use Kafka for the events because it keeps their order.")
    (kafka,) = waiting(project).values()
    assert kafka.evidence == (f"run:{first}", f"run:{second}")
    assert [parse_provenance(text).source for text in kafka.provenance] == [f"run:{first}", f"run:{second}"]
    project.memory.reject(kafka.id, reason="RabbitMQ is here already")
    said(project, KAFKA)
    said(project, "We decided to use Kafka for our events.")
    assert waiting(project) == {}
    said(project, "We decided to use ULIDs for ids because they sort.")
    (ulid,) = waiting(project).values()
    project.memory.accept(ulid.id)
    said(project, "We decided to use ULIDs for ids because they sort.")
    assert waiting(project) == {}


def test_what_was_injected_never_comes_back(project: Project, cli: Cli) -> None:
    """Law 16: an agent repeats what it was told; memory that confirms itself can never be unlearned."""
    ours = "We decided to use Terraform for all servers."
    known = project.memory.remember(ours, kind="decision", applies_to=["**"], accept=True).id
    new = "We decided to use ULIDs for ids because they sort."
    script = f"{sys.executable} -m holdfast context > pack; cat pack; grep -v holdfast-data pack"
    answer = cli.spawn("run", "--prompt", "Go on.", "--", "sh", "-c", f'{script}; echo "{ours} {new}"')
    assert answer.out.count(ours) == 3, "with its markers, without, and as the agent's own words"
    assert list(waiting(project)) == ["Use ULIDs for ids because they sort"]
    told = [event["kind"] for event in project.log.events() if event["target"] == known]
    assert told == ["propose", "accept"], "no more evidence for it"


def test_a_session_tells_what_was_decided_and_what_had_to_be_tried(cli: Cli, project: Project) -> None:
    """What an agent notes while it works is the best that it will ever say about it."""
    cli("session", "start", "build it")
    cause = "Root cause: the cache key lacked the tenant id."
    cli("session", "note", cause, "--decided", "Use ULIDs for the ids of orders.")
    test = Path(cli.cwd, "test.sh")
    test.write_text('#!/bin/sh\n[ "$1" = --slow ]\n')
    test.chmod(0o755)
    assert cli("run", "--", "./test.sh", ok=False).code == 1
    cli("run", "--", "./test.sh", "--slow")
    cli("session", "end", "--summary", KAFKA)
    found = waiting(project)
    assert sorted(found) == [
        "The cache key lacked the tenant id",
        "Use Kafka for events",
        "Use ULIDs for the ids of orders",
        "`./test.sh --slow` works here; `./test.sh` fails (exit 1)",
    ]
    for memory in found.values():
        (place,) = map(parse_provenance, memory.provenance)
        assert place.source.startswith("session:SES-")
        assert project.memory.passage(place).missing == ""
        assert len(memory.evidence) == 2, "the runs of the session"


MODEL = """\
#!/bin/sh
cat > "{folder}/question"; echo >> "{folder}/calls"
[ -n "$FAILS" ] && exit 9
cat "{folder}/answer"
"""


@pytest.fixture
def model(project: Project, world: Path, tmp_path: Path) -> Path:
    """A model command in the user's settings: answers what its folder's `answer` says."""
    folder = tmp_path / "model"
    folder.mkdir()
    command = folder / "ask"
    command.write_text(MODEL.format(folder=folder))
    command.chmod(0o755)
    settings = f'[model]\ncommand = ["{command}"]\ncalls_per_day = 3\n'
    own = world / ".config/holdfast/settings.toml"
    own.parent.mkdir(parents=True)
    own.write_text(settings)
    words = "tests run on Postgres 16 now"
    row = {"type": "decision", "statement": "Use Postgres 16 for tests.", "why": "", "words": words, "turn": 2}
    invented = {**row, "statement": "Use Oracle for all tests.", "words": "we all love Oracle"}
    (folder / "answer").write_text(f"{json.dumps(row)}\n{json.dumps(invented)}\n")
    return folder


def test_the_users_model_proposes_within_its_budget(model: Path, cli: Cli, repo: GitRepo) -> None:
    """A model may see more than rules do; it must not invent, nor cost more than was allowed."""
    answer = cli("run", "--prompt", PNPM, "--", "sh", "-c", "echo OK, tests run on Postgres 16 now.; exit 5", ok=False)
    assert (answer.code, answer.out) == (5, "OK, tests run on Postgres 16 now.\n")
    assert "1 of 3 model calls used today" in answer.err
    assert "[1 user] No, use pnpm" in (model / "question").read_text()
    project = Project.open(repo.path)
    (found,) = waiting(project).values()
    assert (found.statement, found.tags) == ("Use Postgres 16 for tests", ("model",))
    assert "Model calls today: 1 of 3" in cli("stats").out
    failed = cli("run", "--prompt", PNPM, "--", "true", FAILS="1")
    assert "proposed without the model command" in failed.err and "ended with 9" in failed.err
    assert "Use pnpm, not npm in this project" in waiting(project)
    cli("run", "--prompt", "Go on.", "--", "true")
    over = cli("run", "--prompt", "No, use ruff, not flake8.", "--", "sh", "-c", "exit 7", ok=False)
    assert (over.code, "all 3 model calls of today are used" in over.err) == (7, True)
    assert "Use ruff, not flake8" in waiting(project), "the rules go on without it"
    assert len((model / "calls").read_text().splitlines()) == 3
    counted = json.loads(cli("stats", "--json").out)
    assert counted["model"] == {"calls_today": 3, "calls_per_day": 3}


def test_an_import_asks_the_users_model_and_counts_it(model: Path, cli: Cli, repo: GitRepo, tmp_path: Path) -> None:
    """Whoever waits for an import may have it judged; the same words are proposed only if they stand there."""
    (model / "answer").write_text((model / "answer").read_text().replace('"turn": 2', '"turn": 1'))
    rollout(tmp_path / "codex", repo.path).asks("Which database?").done("OK, tests run on Postgres 16 now.")
    answer = cli("import", "codex", str(tmp_path / "codex"))
    assert "1 of 3 model calls used today" in answer.err
    (found,) = waiting(Project.open(repo.path)).values()
    assert (found.statement, found.tags) == ("Use Postgres 16 for tests", ("model",))


@pytest.mark.parametrize("in_background", [True, False])
def test_a_live_session_is_judged_by_the_model_only_in_the_background(
    model: Path, repo: GitRepo, tmp_path: Path, in_background: bool
) -> None:
    """A model takes half a minute: it may take it behind an agent's hook, never before a person's `status`."""
    (model / "answer").write_text((model / "answer").read_text().replace('"turn": 2', '"turn": 1'))
    file = rollout(tmp_path / "codex", repo.path).asks("Which database?").done("OK, tests run on Postgres 16 now.")
    project = Project.open(repo.path, drain=False)
    inbox = Path(project.clone.layout.inbox)
    inbox.mkdir(exist_ok=True)
    pointer = {"v": 1, "ts": time.time_ns(), "agent": "codex", "event": "SessionEnd", "session": file.session}
    pointer |= {"path": str(file.path), "cwd": str(repo.path), "tree": str(repo.path / ".git")}
    line = json.dumps({**pointer, "size": file.path.stat().st_size})
    (inbox / f"{agent_inbox.stem('codex', file.session)}.jsonl").write_text(f"{line}\n")
    if in_background:
        project.transcripts.drain()
    else:
        project.transcripts.drain_some()
    assert agent_inbox.waiting(project.clone.layout) == [], "it was read"
    assert (model / "calls").exists() == in_background
    assert [one.tags for one in waiting(project).values()] == ([("model",)] if in_background else [])


def test_what_was_injected_does_not_come_back_through_a_model(model: Path, repo: GitRepo) -> None:
    """Law 16 holds for whoever proposes."""
    project = Project.open(repo.path, person=True)
    statement = "All servers are described in Terraform."
    project.memory.remember(statement, kind="decision", evidence=["README"], accept=True)
    project.context()
    row = {"type": "fact", "statement": "Servers are described in Terraform.", "words": statement, "turn": 2}
    (model / "answer").write_text(json.dumps(row))
    said(project, f"Noted. {statement}")
    assert waiting(project) == {}


@pytest.mark.parametrize("trouble", ["a file for a shelf", "no capsule", "a command that is not there"])
def test_a_run_keeps_its_exit_code_whatever_harvesting_meets(
    trouble: str, cli: Cli, repo: GitRepo, model: Path
) -> None:
    """A wrapper that turns a success into a failure is taken out of every script."""
    private = repo / ".git/holdfast"
    if trouble == "a file for a shelf":
        shutil.rmtree(private / "candidates", ignore_errors=True)
        (private / "candidates").write_text("")
    elif trouble == "no capsule":
        shutil.rmtree(private / "runs", ignore_errors=True)
        (private / "runs").write_text("")
    else:
        (model / "ask").unlink()
    answer = cli("run", "--prompt", PNPM, "--", "sh", "-c", "echo hello; exit 3", ok=False)
    assert (answer.code, answer.out) == (3, "hello\n")
    assert "Traceback" not in answer.err


def test_what_names_a_tracked_path_holds_for_it(repo: GitRepo, project: Project) -> None:
    """A rule about a file that nobody ties to the file is not told when the file is edited."""
    repo.commit("src/db.py", "queries\n", "A file")
    repo.commit("src/templates/a.zpl", "label\n", "A folder")
    said(project, "Go on.", prompt="Never change src/db.py or src/templates/ without asking Una about src/gone.py.")
    (found,) = waiting(project).values()
    assert found.applies_to == ("src/db.py", "src/templates")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Keep retries in `./src/retry.py`, and tests/.", ["src/retry.py", "tests"]),
        ("See https://example.com/src/db.py and /etc/src/db.py", []),
        ("Read src/db.py:12-14 (and setup.cfg).", ["src/db.py", "setup.cfg"]),
        ("We and the docs agree on tests ...", []),
        (".github/workflows is generated; .env is not ...", [".github/workflows", ".env"]),
    ],
)
def test_what_may_be_a_path_in_a_text(text: str, names: list[str]) -> None:
    """A rule tied to the wrong files is told where nobody wants to hear it."""
    assert paths_spelled(text) == names
