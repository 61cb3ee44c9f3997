"""`holdfast try`: what a repository's last days hold, shown before anything is set up."""

import hashlib
import json
import os
import pty
import select
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.capture import claude_lines as claude
from tests.capture.conftest import FAKE_KEY
from tests.capture.rollouts import Rollout, rollout
from tests.conftest import Cli, GitRepo

NOW = datetime.now(UTC).replace(microsecond=0)
YESTERDAY = NOW - timedelta(days=1)
RULE = "POST requests must never be retried, because the customer is charged again."
CHOICE = "We decided to keep retries in src/retry.py because two callers need them."


def everything(folder: Path) -> dict[str, str]:
    """Every file below a folder, .git included, with what is in it and when it was written."""
    found = {}
    for root, folders, names in os.walk(folder):
        for name in [*folders, *names]:
            path = Path(root, name)
            facts = path.lstat()
            data = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
            found[str(path)] = f"{hashlib.sha256(data).hexdigest()} {facts.st_mode} {facts.st_mtime_ns}"
    return found


def session(home: Path, repo: GitRepo, *, at: datetime = YESTERDAY, **fields: Any) -> Rollout:
    """A session of Codex in which somebody laid down a rule and the agent decided something."""
    return (
        rollout(home, repo.path, at=at, **fields)
        .asks(RULE)
        .patches("src/retry.py", ["SAFE = ('GET', 'HEAD')", "def call(send, request):"])
        .done(CHOICE)
    )


@pytest.fixture
def homes(tmp_path: Path) -> dict[str, str]:
    """Where the tools keep their records in this test."""
    folder = tmp_path / "homes"
    return {
        "HOME": str(folder),
        "CODEX_HOME": str(folder / ".codex"),
        "CLAUDE_CONFIG_DIR": str(folder / ".claude"),
        "GEMINI_CLI_HOME": str(folder),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }


def write_claude(homes: dict[str, str], repo: GitRepo, *records: dict[str, Any]) -> None:
    """A session of Claude Code in its own folder."""
    file = Path(homes["CLAUDE_CONFIG_DIR"], "projects", "-repo", f"{claude.SESSION}.jsonl")
    file.parent.mkdir(parents=True)
    stamp = {"cwd": str(repo.path), "timestamp": YESTERDAY.isoformat().replace("+00:00", "Z")}
    file.write_text("".join(json.dumps(record | stamp) + "\n" for record in records))


def test_nothing_is_written_into_the_repository(cli: Cli, repo: GitRepo, homes: dict[str, str]) -> None:
    """People try it on repositories they must not change."""
    session(Path(homes["CODEX_HOME"]), repo)
    repo.write("src/retry.py", "SAFE = ('GET', 'HEAD')\ndef call(send, request):\n")
    before = everything(repo.path)
    cli("try", **homes)
    cli("try", "--json", **homes)
    assert everything(repo.path) == before
    assert not Path(homes["XDG_CACHE_HOME"]).exists()


def test_the_best_supported_are_shown_with_words_runs_commits_and_evidence(
    cli: Cli, repo: GitRepo, homes: dict[str, str]
) -> None:
    """A claim without its place is worth nothing to who must approve it."""
    first = session(Path(homes["CODEX_HOME"]), repo)
    oid = repo.commit("src/retry.py", "SAFE = ('GET', 'HEAD')\ndef call(send, request):\n", "Retry what is safe")
    write_claude(homes, repo, claude.user(RULE), claude.assistant(claude.text("Understood, as you say it.")))
    found = json.loads(cli("try", "--json", **homes).out)
    assert [(one["agent"], one["sessions"], one["turns"], one["files"]) for one in found["seen"]] == [
        ("codex", 1, 1, 1),
        ("claude", 1, 1, 0),
    ]
    assert found["source"] == "history" and found["model_calls"] == 0 and not found["initialised"]
    rule = next(one for one in found["best"] if one["kind"] == "invariant")
    assert "POST" in rule["statement"] and rule["who"] == "user" and rule["words"] in RULE
    assert {place["name"] for place in rule["said"]} == {first.session, claude.SESSION}
    choice = next(one for one in found["best"] if one["kind"] == "decision")
    assert choice["said"][0]["turn"] == 1 and "because" not in choice["statement"]
    assert choice["rests"][0]["path"] == "src/retry.py" and choice["evidence"] == "holds"
    assert "2 of 2" in choice["rests"][0]["words"]
    text = cli("try", **homes).out
    assert f"codex session {first.session}, turn 1" in text and "said in 1 more place" in text
    assert "Keep these: holdfast start && holdfast review" in text
    assert oid  # committed now, more than half a day after it was said: not taken for its commit
    assert choice["commits"] == []


def test_bodies_of_commits_give_their_reasons_and_fixes_nothing(cli: Cli, repo: GitRepo) -> None:
    """Where no agent left a trace, people's own messages are the memory; how a bug looked is over."""
    repo.write("orders.py", "PAGE = 50\n")
    repo.git("add", ".")
    rule = "Cursors are opaque base64 of (created_at, id), so clients must not parse them."
    repo.git("commit", "-qm", f"Use cursor pagination in the orders endpoint\n\nOffsets scan the table. {rule}")
    repo.write("orders.py", "PAGE = 60\n")
    repo.git(
        "commit", "-qam", "fix(orders): keep the order\n\nThe cursor is never sorted, so clients must not rely on it."
    )
    (found,) = json.loads(cli("try", "--json").out)["best"]
    assert found["statement"] == rule.rstrip(".") and found["said"][0]["kind"] == "git"
    assert "Keep these: holdfast start && holdfast review" in cli("try").out
    cli("init")
    assert "Keep one with: holdfast remember STATEMENT" in cli("try").out


@pytest.mark.parametrize("subject", ["Fixed-size pages in the endpoint", "Fixture of the orders endpoint"])
def test_a_subject_that_only_begins_like_a_fix_is_read(cli: Cli, repo: GitRepo, subject: str) -> None:
    """A rule that somebody wrote down must not be left out for a word it begins with."""
    rule = "  note: cursors are opaque base64 of (created_at, id), so clients must not parse them."
    repo.write("orders.py", "PAGE = 50\n")
    repo.git("add", ".")
    repo.git("commit", "-qm", f"{subject}\n\n{rule}")
    assert "clients must not parse them" in cli("try").out


def test_what_was_taken_in_is_not_offered_again(cli: Cli, repo: GitRepo, homes: dict[str, str]) -> None:
    """Who imported and reviewed all of it must not be told to do so once more."""
    file = session(Path(homes["CODEX_HOME"]), repo)
    cli("init", "--commit")
    assert "Import these: holdfast import codex && holdfast review" in cli("try", **homes).out
    cli("import", "codex", **homes)
    said = cli("try", **homes).out
    assert "Nothing new in it: all 2 things worth remembering are known here" in said
    assert "all of these sessions are imported" in said and "Import these" not in said
    found = json.loads(cli("try", "--json", **homes).out)
    assert (found["candidates"], found["known"], found["best"], found["seen"][0]["new"]) == (0, 2, [], 0)
    exported = json.loads(cli("session", "list", "--json", **homes).out)["items"][0]["id"]
    cli("export", "codex", exported, "--to", homes["CODEX_HOME"], **homes)
    file.asks("Never print a card number.").done("I print none, and none is printed elsewhere.")
    said = cli("try", **homes).out
    assert "1 session " in said and "more are known here" in said and "said in" not in said
    assert "Import these: holdfast import codex && holdfast review" in said


def test_our_own_export_is_no_second_witness(cli: Cli, repo: GitRepo, homes: dict[str, str]) -> None:
    """What we wrote down ourselves confirms nothing."""
    session(Path(homes["CODEX_HOME"]), repo)
    cli("init", "--commit")
    cli("import", "codex", **homes)
    name = json.loads(cli("session", "list", "--json", **homes).out)["items"][0]["id"]
    cli("export", "codex", name, "--to", homes["CODEX_HOME"], **homes)
    cli("uninstall", "--yes", **homes)  # so that what is known here does not hide it
    found = json.loads(cli("try", "--json", **homes).out)
    assert found["seen"][0]["sessions"] == 1
    assert all(len(one["said"]) == 1 for one in found["best"]) and len(found["best"]) == 2


def test_the_commit_that_followed_is_named(cli: Cli, repo: GitRepo, homes: dict[str, str]) -> None:
    """Whoever doubts a decision looks at what came of it."""
    session(Path(homes["CODEX_HOME"]), repo, at=NOW - timedelta(minutes=5))
    oid = repo.commit("src/retry.py", "SAFE = ('GET', 'HEAD')\n", "Retry what is safe")
    choice = next(one for one in json.loads(cli("try", "--json", **homes).out)["best"] if one["kind"] == "decision")
    assert choice["commits"] == [{"id": oid, "subject": "Retry what is safe"}]
    assert f"commit {oid[:10]} Retry what is safe" in cli("try", **homes).out


def test_evidence_that_is_gone_is_said_to_be(cli: Cli, repo: GitRepo, homes: dict[str, str]) -> None:
    """A decision about a file that nobody has any more should not look sound."""
    session(Path(homes["CODEX_HOME"]), repo)
    repo.write("src/retry.py", "entirely = 'rewritten'\n")
    found = json.loads(cli("try", "--json", **homes).out)
    assert {one["evidence"] for one in found["best"]} == {"changed"}
    (repo.path / "src/retry.py").unlink()
    assert {one["evidence"] for one in json.loads(cli("try", "--json", **homes).out)["best"]} == {"gone"}
    assert "evidence is gone: src/retry.py (the file is gone)" in cli("try", **homes).out


def test_other_repositories_and_older_days_do_not_count(
    cli: Cli, repo: GitRepo, homes: dict[str, str], tmp_path: Path
) -> None:
    """What was said elsewhere is none of this project's business."""
    home = Path(homes["CODEX_HOME"])
    rollout(home, tmp_path / "other", at=YESTERDAY).asks(RULE).done(CHOICE)
    old = session(home, repo, at=NOW - timedelta(days=40))
    os.utime(old.path, (old.at.timestamp(), old.at.timestamp()))
    found = json.loads(cli("try", "--json", **homes).out)
    assert found["seen"] == [] and found["best"] == [] and found["transcripts"] == 1
    assert [one["turns"] for one in json.loads(cli("try", "--days", "60", "--json", **homes).out)["seen"]] == [1]


@pytest.mark.parametrize("is_touched", [False, True])
def test_sessions_that_are_all_older_are_counted_and_the_way_to_them_is_told(
    cli: Cli, repo: GitRepo, homes: dict[str, str], tmp_path: Path, is_touched: bool
) -> None:
    """Who comes back after a break must not hear that nothing was ever done here."""
    home = Path(homes["CODEX_HOME"])
    for days in (40, 90):
        old = session(home, repo, at=NOW - timedelta(days=days))
        if not is_touched:  # a copy has a new date, and still old turns
            os.utime(old.path, (old.at.timestamp(), old.at.timestamp()))
    rollout(home, tmp_path / "other", at=NOW - timedelta(days=50)).asks(RULE).done(CHOICE)
    said = cli("try", **homes).out
    assert "Agents left 2 sessions of this repository (2 of Codex), all older than 30 days." in said
    assert "holdfast try --days 91" in said and "No agent has left" not in said
    assert "2 sessions" in cli("try", "--days", "91", **homes).out


def test_an_agent_whose_sessions_are_all_older_is_named_beside_another(
    cli: Cli, repo: GitRepo, homes: dict[str, str]
) -> None:
    """Who changed agents a month ago must not hear that the first one never worked here."""
    write_claude(homes, repo, claude.user(RULE), claude.assistant(claude.text("Understood, as you say it.")))
    old = session(Path(homes["CODEX_HOME"]), repo, at=NOW - timedelta(days=90))
    os.utime(old.path, (old.at.timestamp(), old.at.timestamp()))
    said = cli("try", **homes).out
    assert "Older than 30 days: 1 session (1 of Codex). See them with: holdfast try --days 91" in said
    assert json.loads(cli("try", "--json", **homes).out)["older_of"] == [{"agent": "codex", "sessions": 1, "days": 91}]


def test_turns_and_sessions_are_counted_as_an_import_counts_them(
    cli: Cli, repo: GitRepo, homes: dict[str, str]
) -> None:
    """Two numbers for the same sessions make a person doubt both."""
    home = Path(homes["CODEX_HOME"])
    first = session(home, repo)
    later = first.at + timedelta(hours=1)
    fork = rollout(home, repo.path, at=later, more={"forked_from_id": first.session})
    fork.path.write_text(fork.path.read_text() + "".join(first.path.read_text().splitlines(keepends=True)[1:]))
    fork.asks("Try it with a generator instead.").done("It is a generator now, and still passes.")
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": first.session, "depth": 1}}}
    helper = rollout(home, repo.path, at=later, more={"source": spawned})
    helper.asks("Look at the tests.").done("They pass.")
    seen = json.loads(cli("try", "--json", **homes).out)["seen"][0]
    cli("init")
    said = cli("import", "codex", **homes).out
    assert "Imported 3 runs with 3 turns, from 2 sessions of Codex and 1 sub-agent" in said
    assert (seen["sessions"], seen["turns"]) == (2, 3)


def test_what_is_not_sure_enough_is_not_offered_to_be_kept(cli: Cli, repo: GitRepo, homes: dict[str, str]) -> None:
    """ "Keep it" after "nothing is sure enough" asks to approve what was just called doubtful."""
    rollout(Path(homes["CODEX_HOME"]), repo.path, at=YESTERDAY).asks("What is here?").done("One file.")
    said = cli("try", **homes).out
    assert "Found nothing certain enough" in said and "Keep" not in said and "holdfast review" not in said
    assert said.endswith("Search these sessions and record the next ones: holdfast start\n")


def test_without_history_documents_and_log_are_read_and_it_says_so(
    cli: Cli, repo: GitRepo, homes: dict[str, str]
) -> None:
    """A first look that shows nothing is the last one."""
    repo.commit("AGENTS.md", "# Rules\n\n- Never log a card number, not even in tests.\n", "Rules")
    repo.commit("cache.py", "on\n", "Cache every answer")
    repo.git("revert", "--no-edit", "HEAD")
    found = json.loads(cli("try", "--json", **homes).out)
    assert found["source"] == "documents" and found["seen"] == []
    by = {one["kind"]: one for one in found["best"]}
    assert by["invariant"]["said"][0] == {"kind": "file", "name": "AGENTS.md", "turn": 3, "ts": None}
    assert by["dead-end"]["statement"] == "Tried and taken back: Cache every answer"
    assert by["dead-end"]["commits"][0]["id"] == repo.git("rev-parse", "HEAD")
    told = cli("try", **homes).out
    assert "Found no agent sessions of this repository" in told and "AGENTS.md, line 3" in told


def test_an_empty_repository_and_damaged_records_are_no_trouble(cli: Cli, repo: GitRepo, homes: dict[str, str]) -> None:
    """A first impression must not be a traceback."""
    broken = Path(homes["CODEX_HOME"], "sessions/2026/11/01/rollout-2026-11-01T00-00-00-x.jsonl")
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"\xff\x00{" * 100)
    said = cli("try", **homes).out
    assert "Found nothing certain enough" in said and "Left out, unreadable: 1 transcript" in said
    assert json.loads(cli("try", "--json", **homes).out)["left"] == [{"path": str(broken), "reason": "unreadable"}]
    empty = Cli(repo.path.parent / "empty")
    empty.cwd.mkdir()
    GitRepo(empty.cwd).git("init", "-q")
    assert "0 commits" in empty("try", **homes).out
    outside = Cli(repo.path.parent)
    assert outside("try", ok=False, **homes).err.startswith("error:")


def test_secrets_and_hidden_characters_do_not_reach_the_terminal(
    cli: Cli, repo: GitRepo, homes: dict[str, str]
) -> None:
    """A first look is pasted into chats."""
    rollout(Path(homes["CODEX_HOME"]), repo.path, at=YESTERDAY).asks(
        f"The key {FAKE_KEY} must never be committed to src/retry.py."
    ).done("Understood.")
    told = cli("try", **homes).out + cli("try", "--json", **homes).out
    assert told.count("must never be committed") >= 2 and FAKE_KEY not in told


SAID = (
    "Retries are only for reads, because a write that was sent twice charges the customer again.",
    "We decided to keep retries in src/retry.py, because two callers need them.",
    "We decided to keep those limits in src/limits.py, because the carrier counts calls.",
    "I think we should maybe keep the queue, since it is probably faster.",
)


def test_try_and_review_rank_and_count_alike(cli: Cli, repo: GitRepo, homes: dict[str, str]) -> None:
    """The best of a first look that is "less likely" two minutes later makes a person doubt both."""
    home = Path(homes["CODEX_HOME"])
    for number, said in enumerate(SAID):
        rollout(home, repo.path, at=YESTERDAY + timedelta(minutes=number)).asks("Go on.").patches(
            f"src/part{number}.py", [f"PART_{number} = 'a line that is long enough to tell'"]
        ).done(said)
        repo.write(f"src/part{number}.py", f"PART_{number} = 'a line that is long enough to tell'\n")
    found = json.loads(cli("try", "--json", **homes).out)
    told = cli("try", **homes).out
    cli("init")
    cli("import", "codex", **homes)
    items = json.loads(cli("review", "list", "--json").out)["items"]
    likely = [one["statement"] for one in items if one["likely"]]
    assert [one["statement"] for one in found["best"]] and {one["statement"] for one in found["best"]} <= {*likely}
    assert found["candidates"] == len(items) and sum(found["below"].values()) == len(items) - len(likely) > 0
    (below,) = [row for row in cli("review", "list").out.splitlines() if " more" in row]
    assert below in told, "in the same words"


def test_what_waits_to_be_reworded_is_not_called_less_likely(cli: Cli, repo: GitRepo, homes: dict[str, str]) -> None:
    """A list of "less likely" ones that begins with the highest confidence of all is not believed."""
    rollout(Path(homes["CODEX_HOME"]), repo.path, at=YESTERDAY).asks("Go on.").done(SAID[2])
    assert "1 more, to be reworded: holdfast review list --all" in cli("try", **homes).out
    cli("init")
    cli("import", "codex", **homes)
    assert "1 more, to be reworded: holdfast review list --all" in cli("review", "list").out
    everything = cli("review", "list", "--all").out
    assert "1 to be reworded:" in everything and "less likely" not in everything


def test_the_same_is_there_after_setting_up(cli: Cli, repo: GitRepo, homes: dict[str, str]) -> None:
    """What was promised must be in the review."""
    session(Path(homes["CODEX_HOME"]), repo)
    shown = {one["statement"] for one in json.loads(cli("try", "--json", **homes).out)["best"]}
    cli("init")
    cli("import", "codex", **homes)
    waiting = {one["statement"] for one in json.loads(cli("review", "list", "--json").out)["items"]}
    assert shown and shown <= waiting
    assert json.loads(cli("try", "--json", **homes).out)["initialised"]


def on_a_terminal(repo: GitRepo, homes: dict[str, str], *answers: tuple[str, str]) -> str:
    """What `holdfast try` says on a terminal; each answer is typed once its question was seen."""
    pid, terminal = pty.fork()
    if pid == 0:  # pragma: no cover - the child is another program at once
        os.chdir(repo.path)
        os.execve(sys.executable, [sys.executable, "-m", "holdfast", "try"], {**os.environ, **homes})
    said, waiting, typed = "", list(answers), False
    while True:
        if typed and waiting and len(waiting) > 1 and waiting[1][0] in said:
            waiting, typed = waiting[1:], False
        # What gets no answer is typed again: a key that comes before the program listens is lost.
        if waiting and waiting[0][0] in said and not (typed and select.select([terminal], [], [], 1.0)[0]):
            os.write(terminal, waiting[0][1].encode())
            typed = True
            continue
        try:
            data = os.read(terminal, 1 << 16)
        except OSError:  # the terminal is gone with the program
            break
        if not data:
            break
        said += data.decode(errors="replace")
    os.close(terminal)
    os.waitpid(pid, 0)
    return said


def test_setting_up_is_asked_for_and_no_means_no(repo: GitRepo, homes: dict[str, str]) -> None:
    """One key too many must not write into a repository."""
    session(Path(homes["CODEX_HOME"]), repo)
    before = everything(repo.path)
    said = on_a_terminal(repo, homes, ("any other key to leave", "r"), ("[y/N]", "n\n"))
    assert "This writes .holdfast/" in said and "Nothing was done." in said
    assert everything(repo.path) == before
