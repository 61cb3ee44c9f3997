"""The main job through the real command: record, propose, review, publish, merge, find, prove."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Cli, GitRepo, grown, init


def objects(text: str) -> Any:
    return json.loads(text)


def propose(cli: Cli, statement: str = "Tests need Postgres 16.", *more: str) -> str:
    return str(objects(cli("remember", statement, "--evidence", "README", *more, "--json").out)["id"])


def set_up(cli: Cli, repo: GitRepo) -> None:
    cli("init", "--commit")
    repo.git("switch", "-q", "-c", "work")


@pytest.fixture
def ready(cli: Cli, repo: GitRepo) -> Cli:
    """A project on a branch, with Holdfast committed on main."""
    return grown(set_up, cli, repo)


def test_the_whole_story(ready: Cli, repo: GitRepo) -> None:
    """If this fails, nobody's agent is remembered."""
    ready.spawn("run", "--task", "db", "--layer", "L5", "--scale", "4", "--", "sh", "-c", "echo made > out.txt")
    run = objects(ready("log", "--json").out.splitlines()[-1])
    assert (run["kind"], run["task"], run["layer"], run["systemic_scale"]) == ("run", "db", "L5", 4)
    name = propose(ready, "Tests need Postgres 16.", "--evidence", f"run:{run['run_id']}", "--confidence", "0.9")
    assert name in ready("review", "list").out
    assert "accepted" in ready("review", "accept", name).out
    assert "Published" in ready("publish").out
    repo.git("switch", "-q", "main")
    assert name not in ready("facts").out
    repo.git("merge", "-q", "work")
    assert name in ready("facts").out
    assert name in ready("recall", "postgres").out
    assert name in ready("timeline").out
    assert ready("check", "--base", "main~1").code == 0
    assert ready("doctor").out.splitlines()[-1].startswith("ok")


def test_a_second_init_changes_nothing(ready: Cli, repo: GitRepo) -> None:
    """Scripts run init every time."""
    before = repo.status()
    assert "already" in ready("init").out
    assert repo.status() == before


def test_a_later_commit_of_init_is_told_as_such(cli: Cli) -> None:
    """`Nothing to do` and a new commit do not go together."""
    init(cli.cwd)
    out = cli("init", "--commit").out
    assert "Nothing to do" not in out
    assert "committed its two files" in out
    assert "Nothing to do" in cli("init", "--commit").out


def test_a_problem_beside_the_log_is_in_the_last_line(ready: Cli, repo: GitRepo) -> None:
    """Who reads only the end must not see `ok` above an exit code of 1."""
    propose(ready)
    (repo.path / ".git" / "holdfast").chmod(0o755)
    answer = ready("doctor", ok=False)
    assert answer.code == 1
    told = answer.out.splitlines()[-1]
    assert told.startswith("1 problem; the log is ok: checked 1 file, 1 event (all recorded here)")


def test_review_list_shows_what_one_decides_by(ready: Cli, repo: GitRepo) -> None:
    """A statement alone can only be believed, not judged."""
    propose(ready, "Tests need Postgres 16.", "--source", "person:Ada", "--tag", "db")
    ready("remember", "Trust me.")
    out = ready("review", "list").out
    assert "evidence: README (unchanged)" in out
    assert "by person:Ada" in out
    assert "evidence: none" in out
    assert "proposed just now" in out
    repo.commit("README", "another project\n")
    assert "README (changed since)" in ready("review", "list").out
    repo.git("switch", "-q", "main")
    out = ready("review", "list").out
    assert "on work" in out
    assert "another line" not in out


def test_evidence_is_named_as_seen_from_the_folder(ready: Cli, repo: GitRepo) -> None:
    """People name files as their shell completes them."""
    repo.commit("sub/conf.txt")
    repo.commit("sub/README", "another\n")
    below = Cli(repo.path / "sub")
    cited = {
        path: objects(below("remember", f"About {path}.", "--evidence", path, "--json").out)["evidence"][0]
        for path in ("conf.txt", "sub/conf.txt", "../README", "README", "file:conf.txt")
    }
    assert {path: text.partition("@")[0] for path, text in cited.items()} == {
        "conf.txt": "file:sub/conf.txt",
        "sub/conf.txt": "file:sub/conf.txt",
        "../README": "file:README",
        "README": "file:sub/README",
        "file:conf.txt": "file:sub/conf.txt",
    }
    assert "relative to this folder" in below("remember", "No.", "--evidence", "nothing", ok=False).err


def test_a_file_named_like_a_branch_is_asked_about(ready: Cli, repo: GitRepo) -> None:
    """Guessing which was meant would cite the wrong one."""
    repo.commit("sub/main")
    below = Cli(repo.path / "sub")
    assert below("remember", "Which?", "--evidence", "main", ok=False).code == 12
    assert below("remember", "That.", "--evidence", "file:main").code == 0
    assert below("remember", "This.", "--evidence", "commit:main").code == 0


def test_what_is_left_out_is_named_once(ready: Cli, repo: GitRepo) -> None:
    """A path said twice in a line hides the reason."""
    repo.write(".holdfast/memory/facts/broken.md", "no memory\n")
    told = next(line for line in ready("facts").out.splitlines() if "broken.md" in line)
    assert told.count("broken.md") == 1


def test_what_a_detached_head_left_is_called_so(ready: Cli, repo: GitRepo) -> None:
    """Nobody knows a branch called `detached:.git`."""
    repo.git("switch", "-q", "--detach")
    propose(ready)
    repo.git("switch", "-q", "work")
    assert "A detached HEAD has unpublished work" in ready("status").out
    out = ready("reconcile").out
    assert "a detached HEAD left 1 event" in out
    line = objects(ready("reconcile", "--json").out)["orphans"][0]["id"]
    assert "Taken over" in ready("reconcile", "--carry", line).out


def test_only_what_is_listed_somewhere_can_be_remembered(ready: Cli) -> None:
    """A decision that no command lists would be lost at once."""
    assert ready("remember", "We use git.", "--type", "rumour", ok=False).code == 2
    name = propose(ready, "We use git.", "--type", "decision")
    ready("review", "accept", name)
    assert name in ready("facts", "--type", "decision").out
    assert name not in ready("facts").out


def test_uninstall_stays_until_somebody_takes_it_back(ready: Cli) -> None:
    """Git still has its files, and a look whether it is gone must not bring it back."""
    ready.spawn("facts")
    assert list((ready.cwd / ".git").glob("holdfast*"))
    assert "git commit -m 'Remove Holdfast' -- .holdfast" in ready.spawn("uninstall", "--yes").out
    for words in (("status",), ("recall", "tests"), ("facts",)):
        answer = ready.spawn(*words, ok=False)
        assert answer.code == 11 and "git restore .holdfast" in answer.err, words
    assert list((ready.cwd / ".git").glob("holdfast*")) == [] and not (ready.cwd / ".holdfast").exists()
    subprocess.run(["git", "restore", ".holdfast"], cwd=ready.cwd, check=True)
    ready.spawn("facts")
    ready.spawn("uninstall", "--yes")
    subprocess.run(["git", "commit", "-qm", "Remove Holdfast", "--", ".holdfast"], cwd=ready.cwd, check=True)
    assert "holdfast start" in ready.spawn("status", ok=False).err
    assert list((ready.cwd / ".git").glob("holdfast*")) == [] and not (ready.cwd / ".holdfast").exists()


def test_run_passes_output_streams_and_exit_code_through(ready: Cli) -> None:
    """A wrapper that changes what it wraps is not used twice."""
    answer = ready.spawn("run", "--", "sh", "-c", "cat; echo err >&2; exit 7", ok=False, data=b"in\n")
    assert (answer.code, answer.out, answer.err) == (7, "in\n", "err\n")


def test_run_in_json_speaks_on_stderr(ready: Cli) -> None:
    """The command's own output must stay what it was, also for a program that wants the run's id."""
    nested = [sys.executable, "-m", "holdfast", "run", "--", "echo", "hi"]
    answer = ready.spawn("run", "--json", "--task", "t", "--", *nested)
    assert answer.out == "hi\n"
    told = objects(answer.err)
    assert (told["v"], told["task"], told["exit_status"]) == (1, "t", 0)
    assert objects(ready("show", told["id"], "--json").out)["kind"] == "run"


def test_everything_after_the_dashes_is_the_command(ready: Cli) -> None:
    """`holdfast run -- pytest --task x` must hand --task to pytest."""
    answer = ready.spawn("run", "--task", "t", "--", "echo", "--task", "x", "--json", "--help")
    assert answer.out == "--task x --json --help\n"


def test_a_killed_wrapper_is_completed_and_said(ready: Cli, repo: GitRepo) -> None:
    """The run of a crashed agent is the one people look for."""
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast", "run", "--task", "doomed", "--", "sleep", "30"],
        cwd=repo.path,
        start_new_session=True,
    )
    runs = repo.path / ".git" / "holdfast" / "runs"
    for _ in range(1000):
        if runs.is_dir() and any(folder.joinpath("context.json").exists() for folder in runs.iterdir()):
            break
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    answer = ready("log", "--json")
    assert [objects(line)["task"] for line in answer.out.splitlines()] == ["doomed"]
    assert len(answer.err.splitlines()) == 1


def test_ambiguous_ids_are_told_apart(ready: Cli) -> None:
    """Guessing which of two facts is meant approves the wrong one."""
    one, two = propose(ready, "One thing."), propose(ready, "Another thing.")
    answer = ready("review", "accept", "FCT", ok=False)
    assert answer.code == 12
    assert one in answer.err
    assert two in answer.err
    assert ready("review", "accept", "FCT-none", ok=False).code == 13


def test_review_by_a_program_is_no_persons_approval(ready: Cli) -> None:
    """An agent that approves its own memory must not look like a person."""
    name = propose(ready)
    ready("review", "accept", name)
    kinds = [objects(line)["kind"] for line in ready("log", "--json").out.splitlines()]
    assert kinds == ["propose", "promote"]


def test_a_retired_fact_no_longer_holds_but_stays_in_its_file(ready: Cli) -> None:
    """What was true once must be withdrawn without pretending it never was."""
    name = propose(ready)
    ready("review", "accept", name)
    ready("publish")
    ready("review", "retire", name, "--reason", "it is 17 now")
    ready("publish")
    assert "No facts hold" in ready("facts").out or "0 facts hold" in ready("facts").out
    assert "state:     retired" in ready("show", name).out
    assert ready("check").code == 0


def test_rejected_words_are_not_proposed_again(ready: Cli) -> None:
    """Nobody wants to say no to the same thing every day."""
    name = propose(ready)
    ready("review", "reject", name, "--reason", "it is 15")
    assert "Nothing waits" in ready("review").out
    answer = ready("remember", "Tests need Postgres 16.", "--evidence", "README", ok=False)
    assert answer.code == 14
    assert "it is 15" in answer.err


def test_remember_reads_a_statement_from_stdin(ready: Cli) -> None:
    """Long or quoted text does not fit a shell's argument."""
    ready("remember", "-", "--evidence", "README", data='It\'s "quoted".\n\nAnd why.\n')
    assert objects(ready("review", "list", "--json").out)["items"][0]["details"] == "And why."
    assert ready("remember", "-", ok=False, data=b"\xff\xfe").code == 14


def test_a_fact_without_evidence_is_not_accepted(ready: Cli) -> None:
    """A fact nobody can check is a rumour."""
    name = objects(ready("remember", "Trust me.", "--json").out)["id"]
    answer = ready("review", "accept", name, ok=False)
    assert (answer.code, "again with --evidence" in answer.err) == (24, True)
    bad = ready("remember", "Where?", "--layer", "a layer", ok=False)
    assert "such as L5" in bad.err


def test_a_clone_is_carried_by_export_and_import(ready: Cli, repo: GitRepo, tmp_path: Path) -> None:
    """Deleting a clone deletes private runs; this is how to keep them."""
    name = propose(ready)
    ready("export", str(tmp_path / "kept"))
    ready("uninstall", "--yes")
    assert not (repo.path / ".git" / "holdfast").exists()
    repo.git("checkout", "-q", "--", ".")
    ready("import", str(tmp_path / "kept"))
    assert name in ready("review", "list").out
    assert ready("doctor").code == 0


def test_erase_takes_the_words_and_keeps_the_proof(ready: Cli) -> None:
    """A secret that slipped in must be able to go."""
    name = propose(ready, "The password is swordfish.")
    ready("review", "accept", name)
    ready("erase", name, "--yes")
    for words in (["facts"], ["recall", "swordfish"], ["log", "--json"], ["timeline"]):
        assert "swordfish" not in ready(*words).out
    assert ready("doctor").code == 0


def test_checkpoint_and_against(ready: Cli, tmp_path: Path) -> None:
    """Dropped history is only found against something kept elsewhere."""
    propose(ready)
    point = str(tmp_path / "point")
    ready("log", "--checkpoint", point)
    assert ready("doctor", "--against", point).code == 0


def test_a_changed_byte_is_found_and_the_exit_code_says_so(ready: Cli, repo: GitRepo) -> None:
    """CI reads the exit code only."""
    propose(ready)
    body = next((repo.path / ".git" / "holdfast" / "bodies").iterdir())
    data = bytearray(body.read_bytes())
    data[-3] ^= 1
    body.chmod(0o600)
    body.write_bytes(data)
    answer = ready("doctor", ok=False)
    assert answer.code == 1
    assert body.name in answer.out
    assert objects(ready("doctor", "--json", ok=False).out)["verdict"] == "corrupt"


def test_doctor_looks_where_nothing_else_can_open(ready: Cli, repo: GitRepo) -> None:
    """The more is broken, the more one needs the doctor."""
    private = repo.path / ".git" / "holdfast"
    private.rename(private.with_name("elsewhere"))
    private.write_text("no store")
    assert ready("facts", ok=False).code == 22
    answer = ready("doctor", ok=False)
    assert "cannot be opened" in answer.err
    assert answer.code == 1


def test_check_needs_and_makes_no_store(ready: Cli, repo: GitRepo, tmp_path: Path) -> None:
    """CI has a fresh clone and should leave it as it was."""
    ready("review", "accept", propose(ready))
    ready("publish")
    repo.git("clone", "-q", str(repo.path), str(tmp_path / "clone"))
    assert Cli(tmp_path / "clone")("check").code == 0
    assert not (tmp_path / "clone" / ".git" / "holdfast").exists()


def test_render_writes_one_object_an_event(ready: Cli, repo: GitRepo) -> None:
    """Other tools read the log as one file."""
    propose(ready)
    ready("log", "--render")
    rows = (repo.path / ".holdfast" / "view" / "log.jsonl").read_text().splitlines()
    assert "propose" in {objects(row).get("kind") for row in rows}
    assert repo.status() == ""


JSON = [
    ["init"],
    ["status"],
    ["recall", "postgres"],
    ["recall", "nothingofthekind"],
    ["show", "{fact}"],
    ["remember", "Something else.", "--evidence", "README"],
    ["facts"],
    ["review"],
    ["review", "list"],
    ["publish"],
    ["reconcile"],
    ["timeline"],
    ["diff", "{run}"],
    ["check"],
    ["doctor"],
    ["doctor", "--repair"],
    ["log", "--render"],
]


@pytest.fixture
def filled(ready: Cli, repo: GitRepo) -> tuple[Cli, dict[str, str]]:
    for text in "ab":
        ready("run", "--task", "t", "--", "sh", "-c", f"echo {text} > out.txt")
    run = objects(ready("log", "--json").out.splitlines()[-1])["run_id"]
    fact = propose(ready)
    ready("review", "accept", fact)
    return ready, {"fact": fact, "run": run}


def test_every_answer_in_json_is_one_object_with_version_and_id(filled: tuple[Cli, dict[str, str]]) -> None:
    """A program that reads us must not guess."""
    cli, names = filled
    for words in JSON:
        answer = cli(*(word.format(**names) for word in words), "--json")
        value = objects(answer.out)
        assert list(value)[:2] == ["v", "id"], words
        assert value["v"] == 1
        for item in value.get("items", ()):
            assert item["id"], words
    for line in cli("log", "--json").out.splitlines():
        assert objects(line)["id"] == objects(line)["hash_self"]


@pytest.mark.parametrize(
    "words",
    [["recall", "postgres"], ["recall", "postgres", "--json"], ["status"], ["status", "--json"], ["recall"]],
    ids=" ".join,
)
def test_quick_and_full_path_answer_the_same(filled: tuple[Cli, dict[str, str]], words: list[str]) -> None:
    """Nobody must be able to tell which way an answer came."""
    cli, _ = filled
    full = cli(*words).out
    quick = cli.spawn(*words).out
    assert (objects(quick) == objects(full)) if "--json" in words else (quick == full)


def test_diff_shows_what_a_second_run_changed(filled: tuple[Cli, dict[str, str]]) -> None:
    """The question after two runs is what differs."""
    cli, names = filled
    out = cli("diff", names["run"]).out
    assert "-a" in out.splitlines()
    assert "+b" in out.splitlines()
    assert cli("diff", "--run", names["run"], "--against", names["run"]).code == 0


def test_show_says_where_a_thing_lies(filled: tuple[Cli, dict[str, str]], repo: GitRepo) -> None:
    """An editor opens what `show --path` prints."""
    cli, names = filled
    assert "is not published yet" in cli("show", names["fact"]).err
    cli("publish")
    for name in names.values():
        assert (repo.path / cli("show", name, "--path").out.strip()).exists()
    assert "Tests need Postgres 16." in cli("show", names["fact"]).out


def test_ids_are_never_followed_by_a_period(filled: tuple[Cli, dict[str, str]]) -> None:
    """People double-click an id to copy it."""
    cli, names = filled
    for words in (["review", "list"], ["facts"], ["timeline"], ["show", names["fact"]], ["publish"]):
        assert not re.search(r"(FCT-[0-9a-z]{6}|Z-[0-9a-z]{6})\.(\s|$)", cli(*words).out)
