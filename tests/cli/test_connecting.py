"""`connect`, `disconnect`, `import adr|memory`, `export adr`: what people see, and what stays as it was."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.capture.records import adr
from holdfast.interfaces.cli import connect_commands
from holdfast.project import Project
from tests.conftest import Cli, GitRepo, golden, init

assert connect_commands.connect.name == "connect"

RECORD = """\
# {number}. {title}

Date: 2026-02-12

## Status

{status}

## Context

Somebody asked.

## Decision

{decision}

## Consequences

It is so.
"""


def answer(cli: Cli, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(cli(*words, "--json").out)
    return found


def decide(repo: GitRepo, statement: str, *, kind: str = "decision", **fields: Any) -> str:
    """An accepted memory, approved by a person."""
    project = Project.open(repo.path, person=True)
    return project.memory.remember(statement, kind=kind, accept=True, reviewer="Ada", **fields).id


def candidates(repo: GitRepo) -> list[Any]:
    from holdfast.curation.candidates import read

    return list(read(Project.open(repo.path).clone).waiting.values())


@pytest.fixture
def here(cli: Cli, repo: GitRepo) -> GitRepo:
    init(cli.cwd, commit=True)
    return repo


def records(repo: GitRepo) -> None:
    told = (
        ("Keep a log", "Accepted", "We will keep a log."),
        ("Use a wiki", "Superseded by [3. Use records](0003-use-records.md)", "We will use a wiki."),
        ("Use records", "Accepted\n\nSupersedes [1. Keep a log](0001-keep-a-log.md)", "We will use records."),
        ("Use carrier pigeons", "Rejected", "We will not."),
    )
    for number, (title, status, decision) in enumerate(told, start=1):
        text = RECORD.format(number=number, title=title, status=status, decision=decision)
        repo.write(f"docs/adr/{number:04}-{title.lower().replace(' ', '-')}.md", text)
    repo.write("docs/adr/README.md", "# Records\n\n- [1](0001-keep-a-log.md)\n")
    repo.git("add", "docs")
    repo.git("commit", "-q", "-m", "records")


def test_connect_shows_asks_writes_and_undoes(cli: Cli, here: GitRepo) -> None:
    """One command in, one command out, and nothing is written that nobody saw."""
    first = decide(here, "Never log a password.", kind="invariant")
    here.write("CLAUDE.md", "# Mine\n")
    shown = cli("connect", "agents", "claude", "--dry-run").out
    assert "+++ b/AGENTS.md" in shown and f"+- {first}: Never log a password." in shown
    assert "Nothing was written." in shown and not (here / "AGENTS.md").exists()
    refused = cli("connect", "agents", ok=False)
    assert refused.code == 37 and not (here / "AGENTS.md").exists()
    assert "AGENTS.md: a change to your files must be confirmed" in refused.err
    assert "--dry-run, then run it again with --yes" in refused.err
    said = cli("connect", "agents", "claude", "--yes").out
    assert "AGENTS.md" in said and "Restart to use it: claude, other agents that read AGENTS.md\n" in said
    assert cli("connect").out.startswith("Nothing to change.")
    again = decide(here, "Use SQLite for the index.")
    states = {one.tool: one.current for one in Project.open(here.path).clients.connected()}
    assert states == {"agents": False, "claude": False}, "what was promoted since is not in them"
    assert answer(cli, "connect", "--yes")["changes"][0]["action"] == "refresh"
    assert again in (here / "CLAUDE.md").read_text()
    assert "block removed" in cli("disconnect", "--yes").out
    assert (here / "CLAUDE.md").read_text() == "# Mine\n" and not (here / "AGENTS.md").exists()


def test_a_block_that_two_tools_read_is_said_to_be_old_once(cli: Cli, here: GitRepo) -> None:
    """Two hints for one file look like two things to do."""
    here.write("CLAUDE.md", "@AGENTS.md\n")
    cli("connect", "agents", "claude", "--yes")
    decide(here, "Never log a password.", kind="invariant")
    assert [one.path for one in Project.open(here.path).clients.connected() if not one.current] == ["AGENTS.md"] * 2
    said = cli("doctor").err
    assert said.count("is older than what is accepted") == 1, said
    assert "the block in AGENTS.md is older than what is accepted: holdfast connect agents\n" in said


def test_only_what_a_person_approved_is_told(cli: Cli, here: GitRepo) -> None:
    """A block speaks to every agent unasked; a proposal or an automatic promotion must not."""
    project = Project.open(here.path, person=False)
    project.memory.remember("Paint the doors blue.", kind="decision", evidence=["README"], accept=True, reviewer="bot")
    project.memory.remember("Sort imports.", kind="decision")
    kept = decide(here, "Use SQLite for the index.")
    cli("connect", "gemini", "--yes")
    text = (here / "GEMINI.md").read_text()
    assert kept in text and "Paint the doors" not in text and "Sort imports" not in text


def test_what_went_stale_is_told_no_longer(cli: Cli, here: GitRepo) -> None:
    """A rule whose ground is gone must not be repeated to every agent."""
    kept = decide(here, "Use the README as the manual.", evidence=["README"])
    cli("connect", "agents", "--yes")
    assert kept in (here / "AGENTS.md").read_text()
    here.commit("README", "something else\n")
    assert [one.current for one in Project.open(here.path).clients.connected()] == [False]
    cli("connect", "--yes")
    assert kept not in (here / "AGENTS.md").read_text()


def test_an_import_has_a_limit(cli: Cli, here: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    """A queue of a thousand candidates is a queue nobody looks at."""
    monkeypatch.setattr("holdfast.project.agent_setup.MOST", 3)
    words = ("stapler", "kettle", "window", "ladder", "violin")
    here.write("MEMORY.md", "".join(f"- Never lend the {word} to strangers\n" for word in words))
    first, second = answer(cli, "import", "memory"), answer(cli, "import", "memory")
    assert [len(first["proposed"]), len(first["skipped"])] == [3, 2]
    assert [len(second["proposed"]), second["known"]] == [2, 3]


def test_an_edited_block_needs_force(cli: Cli, here: GitRepo) -> None:
    """Exit code 43 tells a script that somebody's words are in the way."""
    cli("connect", "copilot", "--yes")
    file = here / ".github/copilot-instructions.md"
    file.write_text(file.read_text().replace("Take work", "Steal work"))
    refused = cli("connect", "copilot", "--yes", ok=False)
    assert refused.code == 43 and "-- Steal work" in refused.err and "--force" in refused.err
    assert "--force" in cli("connect", "--dry-run").out
    (kept,) = answer(cli, "connect", "copilot", "--force", "--yes")["kept"]
    assert "Steal work" in Path(kept).read_text() and "Steal work" not in file.read_text()
    assert cli("connect", "nano", ok=False).code == 2


@pytest.mark.parametrize("command", ["connect", "disconnect"])
def test_an_edited_block_does_not_hold_up_the_others(cli: Cli, here: GitRepo, command: str) -> None:
    """Who runs one command for all files must not find out later that none was done."""
    cli("connect", "copilot", "gemini", "--yes")
    file = here / ".github/copilot-instructions.md"
    file.write_text(file.read_text().replace("Take work", "Steal work"))
    before, other = file.read_text(), (here / "GEMINI.md").read_text()
    decide(here, "Never log a password.", kind="invariant")
    assert "would be left as it is, without --force" in cli(command, "--dry-run").out
    refused = cli(command, "--yes", ok=False)
    assert refused.code == 43 and "the others are done: GEMINI.md" in refused.err
    assert file.read_text() == before
    if command == "connect":
        assert "Never log a password." in (here / "GEMINI.md").read_text() != other
    else:
        assert not (here / "GEMINI.md").exists()
    again = cli(command, "--yes", ok=False)
    assert again.code == 43 and "the others" not in again.err


def test_records_become_candidates_once(cli: Cli, here: GitRepo) -> None:
    """What a project decided for years comes along; what it gave up does not."""
    records(here)
    done = answer(cli, "import", "adr")
    assert len(done["proposed"]) == 2 and done["files"] == 5
    reasons = {one["path"]: one["reason"] for one in done["skipped"]}
    assert reasons["docs/adr/0002-use-a-wiki.md"] == "it is superseded"
    assert reasons["docs/adr/0004-use-carrier-pigeons.md"] == "it is rejected"
    log, use = sorted(candidates(here), key=lambda one: one.statement)
    assert log.statement == "Keep a log" and log.type == "decision"
    assert use.supersedes == (log.id,) and "Rationale: Somebody asked." in use.details
    assert log.provenance == ("file:docs/adr/0001-keep-a-log.md#15 We will keep a log.",)
    assert log.evidence[0].startswith("lines:docs/adr/0001-keep-a-log.md:1-19@")
    again = answer(cli, "import", "adr", "docs/adr")
    assert (again["proposed"], again["joined"], again["known"]) == ([], [], 2)
    assert cli("import", "adr", "nowhere", ok=False).code == 14


def test_a_record_that_is_only_proposed_says_so(cli: Cli, here: GitRepo) -> None:
    """Who accepts what nobody decided must see that nobody did."""
    told = {"number": 1, "title": "Use tea", "decision": "We will use tea."}
    here.commit("docs/adr/0001-use-tea.md", RECORD.format(status="Proposed", **told))
    cli("import", "adr")
    (tea,) = candidates(here)
    assert tea.tags == ("adr", "proposed") and tea.because == "docs/adr/0001-use-tea.md only proposes it"
    assert adr.PROPOSED in cli("review", "list").out


def test_files_that_git_does_not_have_are_said_once_and_cited_later(cli: Cli, here: GitRepo) -> None:
    """Evidence that is missing without a word is missing for ever."""
    here.write("CLAUDE.md", "- Never skip a test here.\n- Use pytest for tests.\n")
    records(here)
    here.write("docs/adr/0005-use-tea.md", RECORD.format(number=5, title="Use tea", status="Accepted", decision="Tea."))
    assert cli("import", "memory").err.count("1 file is not tracked by git") == 1
    assert "(docs/adr/0005-use-tea.md): commit, then import again" in cli("import", "adr").err
    assert "not tracked" in cli("import", "memory").err, "as long as it is so"
    here.git("add", "CLAUDE.md", "docs")
    here.git("commit", "-q", "-m", "notes")
    later = cli("import", "memory")
    assert "2 joined with what waits" in later.out and "not tracked" not in later.err
    assert len(answer(cli, "import", "adr")["joined"]) == 1
    assert len(candidates(here)) == 5 and all(len(one.evidence) == 1 for one in candidates(here))
    assert all(len(one.provenance) == 1 for one in candidates(here))
    again = answer(cli, "import", "memory")
    assert (again["joined"], again["known"]) == ([], 2)


def test_notes_become_candidates_once(cli: Cli, here: GitRepo) -> None:
    """Rules that people wrote for agents are proposed one by one, and our own block is not among them."""
    decide(here, "Never echo our own block.", kind="invariant")
    here.commit("CLAUDE.md", "# Rules\n\n## Tests\n\n- Never skip a test\u202e here.\n- Use pytest for tests.\n")
    (here / "AGENTS.md").symlink_to("/etc/passwd")
    cli("connect", "claude", "gemini", "--yes")
    done = cli("import", "memory")
    assert "2 new candidates" in done.out and "AGENTS.md: it is a symbolic link" in done.out
    assert "CLAUDE.md:5 has invisible characters" in done.err
    use, never = sorted(candidates(here), key=lambda one: one.type)
    assert (never.type, never.statement) == ("invariant", "Never skip a test⟨U+202E⟩ here.")
    assert (use.type, use.tags) == ("decision", ("tests",))
    assert use.evidence[0].startswith("lines:CLAUDE.md:6-6@")
    here.write("CLAUDE.md", "new first line\n\n" + (here / "CLAUDE.md").read_text())
    again = answer(cli, "import", "memory")
    assert (again["proposed"], again["joined"], again["known"]) == ([], [], 2), "lines that moved are no news"


def test_a_secret_in_a_note_is_not_stored(cli: Cli, here: GitRepo) -> None:
    """A key in somebody's notes must not be copied into the store."""
    key = "ghp_" + "h0ldfastExampleTokenNotReal123456789"[:36]
    here.write("MEMORY.md", f"- Always deploy with the token {key} here\n")
    cli("import", "memory")
    store = here.path / ".git" / "holdfast"
    assert candidates(here)
    for folder, _, names in os.walk(store):
        for name in names:
            assert key.encode() not in (Path(folder) / name).read_bytes()
    assert answer(cli, "import", "memory")["known"] == 1


def test_what_was_rejected_is_not_proposed_again(cli: Cli, here: GitRepo) -> None:
    """Saying no once must be enough."""
    here.write("MEMORY.md", "- Always use tabs everywhere\n")
    (name,) = answer(cli, "import", "memory")["proposed"]
    Project.open(here.path).memory.reject(name, reason="spaces")
    again = answer(cli, "import", "memory")
    assert again["proposed"] == [] and "was rejected" in again["skipped"][0]["reason"]


def test_agents_own_memory_of_this_repository(cli: Cli, here: GitRepo, world: Path) -> None:
    """Agents learn things and keep them to themselves; only what is about this project is asked for."""
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(here.path))
    memory = world / ".claude" / "projects" / slug / "memory"
    other = world / ".claude" / "projects" / "-somewhere-else" / "memory"
    for folder in (memory, other):
        folder.mkdir(parents=True)
    (memory / "MEMORY.md").write_text("- [Build](build.md) — how to build\n")
    (memory / "build.md").write_text("---\nname: build\ntype: project\n---\nThe build needs Node 22. Never use npx.\n")
    (memory / "me.md").write_text("---\nname: me\ntype: user\n---\nAlways works at night.\n")
    (other / "MEMORY.md").write_text("- Never import this line\n")
    done = answer(cli, "import", "memory", "--from", "claude")
    assert [one["reason"] for one in done["skipped"]] == ["it is about a person, not about the project"]
    assert {one.statement for one in candidates(here)} == {"The build needs Node 22.", "Never use npx."}
    codex = world / "codex" / "memories"
    codex.mkdir(parents=True)
    (codex / "MEMORY.md").write_text(
        f"# Task Group: here\napplies_to: cwd={here.path}; reuse_rule=x\n\n- Always rebase first\n\n"
        "# Task Group: there\napplies_to: cwd=/other; reuse_rule=x\n\n- Never see this\n"
    )
    found = cli("import", "memory", "--from", "codex", "--json", CODEX_HOME=str(world / "codex"))
    assert len(json.loads(found.out)["proposed"]) == 1
    assert cli("import", "memory", "--from", "codex", ok=False).code == 13
    assert cli("import", "memory", "x", "--from", "codex", ok=False).code == 2


def test_decisions_go_out_and_do_not_come_back_twice(cli: Cli, here: GitRepo) -> None:
    """Who lives in records exports them; an import must know its own copies."""
    assert cli("export", "adr").out == "No decisions are accepted here yet.\n"
    old = decide(here, "Use grep for search.", details="Rationale: It is there.")
    new = decide(here, "Use SQLite for the index. It is one file.", supersedes=[old])
    decide(here, "Never log a password.", kind="invariant")
    done = answer(cli, "export", "adr")
    assert done["written"] == ["0001-use-grep-for-search.md", "0002-use-sqlite-for-the-index.md"]
    text = (here / "docs/decisions/0001-use-grep-for-search.md").read_text()
    assert "superseded by [ADR-0002](0002-use-sqlite-for-the-index.md)" in text and old in text
    assert answer(cli, "export", "adr")["same"] == 2
    here.git("add", "docs")
    here.git("commit", "-q", "-m", "records")
    back = answer(cli, "import", "adr")
    assert back["proposed"] == [] and f"our own copy of {new}" in back["skipped"][1]["reason"]
    assert done["folder"] == str(here / "docs/decisions")


def test_bundles_go_in_and_out_as_before(cli: Cli, here: GitRepo, tmp_path: Path) -> None:
    """Scripts that save the store by a file's name must not notice that there is more now."""
    file = str(tmp_path / "store.hf")
    assert "Saved" in cli("export", file).out and "Restored" in cli("import", file).out
    cli("export", "bundle", f"{file}2")
    assert os.path.exists(f"{file}2")
    assert json.loads(cli("import", file, "--json").out)["v"] == 1
    assert json.loads(cli("import", "--json", file).out)["v"] == 1
    assert cli("import", ok=False).code == 2 and cli("export", ok=False).code == 2
    assert cli("import", str(tmp_path / "none"), ok=False).code not in (0, 70)


def test_export_and_uninstall_name_the_agents_that_they_leave_out_or_delete(
    cli: Cli, here: GitRepo, tmp_path: Path
) -> None:
    """Whoever saves the store and deletes the clone must not lose the agents that nobody spoke of."""
    said = "holdfast agent export FILE"
    assert said not in cli("export", str(tmp_path / "without")).out
    Project.open(here.path).agents.get("researcher")
    assert said in cli("export", str(tmp_path / "with")).out
    asked = cli("uninstall", ok=False)
    assert asked.code != 0 and said in asked.out + asked.err and (here / ".git/holdfast/agents.db").exists()


def scrubbed(text: str, home: Path) -> str:
    """A screen without what differs from one machine to the next."""
    text = text.replace(str(home), "/home/ada").replace(sys.executable, "/usr/bin/python3")
    return re.sub(r"hook=\S+/interfaces/agent_hook.py", "hook=/opt/holdfast/interfaces/agent_hook.py", text)


@pytest.fixture
def no_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path on which none of the agents of whoever runs these tests is found."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("git", "sh"):
        (programs / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", str(programs))


@pytest.mark.usefixtures("no_agents")
@pytest.mark.parametrize("tool", ["codex", "claude", "gemini"])
def test_an_agent_is_connected_in_one_step(cli: Cli, here: GitRepo, world: Path, tool: str) -> None:
    """Whoever is asked must see every line that would be written, and find all of it gone again."""
    settings = world / f".{tool}/settings.json"
    if tool != "codex":
        settings.parent.mkdir()
        settings.write_text('{\n    "theme": "dark",\n    "hooks": {\n        "Stop": []\n    }\n}')
    shown = cli("connect", tool, "--dry-run").out
    golden(f"connect-{tool}", scrubbed(shown, world))
    assert not (world / ".local/share/holdfast").exists()
    said = cli("connect", tool, "--yes").out
    assert ("type /hooks and trust ours" in said) is (tool == "codex")
    cli("disconnect", tool, "--yes")
    assert here.status() == ""
    left = {path.name for path in world.rglob("*") if path.is_file()} - {".gitconfig", "index.db"}
    assert left <= {"settings.json", "index.db-wal", "index.db-shm"}
    if tool != "codex":
        assert settings.read_text() == '{\n    "theme": "dark",\n    "hooks": {\n        "Stop": []\n    }\n}'


@pytest.mark.usefixtures("no_agents")
def test_doctor_tells_how_each_agent_stands(cli: Cli, here: GitRepo, world: Path) -> None:
    """Hooks that nobody approved are silent; somebody must say so."""
    assert "Agents:" not in cli("doctor").out, "nothing is said where no agent is"
    (world / ".gemini").mkdir()
    cli("connect", "codex", "claude", "--yes")
    out = cli("doctor").out
    assert "  next for codex: 10 of its hooks wait for approval: start codex, type /hooks, trust ours\n" in out
    assert "  next for gemini: holdfast connect gemini\n" in out
    found = {one["id"]: one for one in answer(cli, "doctor")["tools"]}
    assert [found["codex"][name] for name in ("installed", "connected", "unchanged")] == [True, "user", True]
    assert [found[name]["trusted"] for name in ("codex", "claude", "gemini")] == ["no", "not needed", "unknown"]
    assert len(found["codex"]["waiting"]) == 10 and found["codex"]["last_seen"] is None
    hook = world / ".local/share/holdfast/hook"
    stdin = json.dumps({"session_id": "s1", "transcript_path": None, "cwd": str(here), "source": "startup"})
    subprocess.run([hook, "claude", "SessionStart"], input=stdin.encode(), cwd=here, check=True, capture_output=True)
    found = {one["id"]: one for one in answer(cli, "doctor")["tools"]}
    assert found["claude"]["firing"] and found["claude"]["last_seen"] and not found["codex"]["firing"]
    assert "run: claude mcp add --scope user holdfast" in found["claude"]["next_step"], "it has no server yet"
    cli("disconnect", "claude", "--yes")
    (world / ".claude").mkdir()  # as it is where Claude Code was at work
    row = next(row for row in cli("doctor").out.splitlines() if row.strip().startswith("claude "))
    assert "not connected" in row and "last called" in row and "firing" not in row
    cli("connect", "claude", "--yes")
    hook.unlink()
    assert "not as they should be: holdfast connect claude" in cli("doctor").out


def test_hooks_of_a_repository_and_of_a_user_are_not_mixed(cli: Cli, here: GitRepo, world: Path) -> None:
    """Codex would call both."""
    cli("connect", "codex", "--scope", "project", "--yes")
    assert "holdfast-hook codex Stop" in (here / ".codex/hooks.json").read_text()
    refused = cli("connect", "codex", "--scope", "user", "--yes", ok=False)
    assert refused.code == 14 and "holdfast disconnect codex --scope project" in refused.err
    said = cli("disconnect", "codex", "--scope", "project", "--yes")
    assert "the block in AGENTS.md stays" in said.out + said.err
    assert (here / "AGENTS.md").exists() and not (here / ".codex").exists()
    assert cli("connect", "cursor", "--scope", "user", ok=False).code == 2
    said = cli("connect", "agents", "--yes").out
    assert said.startswith("Nothing to change.") and not (world / ".codex").exists()
    cli("disconnect", "--yes")
    assert here.status() == ""
