"""Agents as they really are: they fail, hang, lie, print garbage, fork, ignore signals and fill the disk."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.crew import supervisor
from tests.conftest import GitRepo
from tests.crew.conftest import run_crew, running

CODE = """
import signal, time
task = prompt.splitlines()[0].removeprefix("# Your task: ")
if task == "edit":
    pathlib.Path("edited").write_text("yes")
elif task == "fail":
    pathlib.Path("half").write_text("done")
    sys.exit("I cannot do this")
elif task == "hang":
    time.sleep(600)
elif task == "lie":
    pathlib.Path("broken").write_text("")
    print("All checks pass, everything is done.")
elif task == "garble":
    sys.stdout.buffer.write(os.urandom(300_000))
    pathlib.Path("garbled").write_text("yes")
elif task == "fork":
    subprocess.Popen(["sh", "-c", "trap '' TERM HUP; sleep 600 & sleep 600"], start_new_session=True)
    subprocess.Popen(["env", "-i", "setsid", "sh", "-c", "sleep 601 & sleep 601"])
    pathlib.Path("forked").write_text("yes")
elif task == "ignore":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)
elif task == "fill":
    pathlib.Path("large").write_bytes(bytes(30_000_000))
elif task == "idle":
    print("There was nothing to do.")
elif task == "lock":
    pathlib.Path("locked").write_text("yes")
    git = subprocess.run(["git", "rev-parse", "--git-dir"], capture_output=True, text=True).stdout.strip()
    pathlib.Path(git, "index.lock").touch()
    subprocess.run(["git", "commit", "--allow-empty"])  # opens an editor
"""
PLAN = "".join(
    f"- [ ] {name}\n" for name in ("edit", "fail", "hang", "lie", "garble", "fork", "ignore", "idle", "lock")
)


def test_each_comes_to_what_it_did_and_not_to_what_it_says(crewed: GitRepo, scripted: Callable[[str], str]) -> None:
    """A night's work is worth what its checks show, and the machine must be usable in the morning."""
    (crewed.path / "plan.md").write_text(PLAN)
    agent = scripted(CODE)
    _, done = run_crew(crewed, agent, "plan.md", workers=4, step_time=4.0, attempts=1)
    assert {row["title"] for row in done.done} == {"edit", "garble", "fork", "lock"}
    why = {row["title"]: row["why"] for row in done.failed}
    assert why.keys() == {"fail", "hang", "lie", "ignore", "idle"}
    assert "I cannot do this" in why["fail"] and "longer than 4 s" in why["hang"] and "longer than 4 s" in why["ignore"]
    assert "check default ended with 1" in why["lie"] and "changed nothing" in why["idle"]
    assert running(agent.split()[-1]) == [] and running("trap '' TERM HUP; sleep 600") == []
    assert running("sleep 601") == [], "not even what cleared its environment"
    kept = crewed.git("log", "--format=%s", "--all", "--", "half")
    assert "Unfinished: fail" in kept.splitlines(), "what it did before it failed is not lost"


def test_a_full_disk_stops_the_step_and_is_shown_to_a_person(crewed: GitRepo, scripted: Callable[[str], str]) -> None:
    """To keep gigabytes in git would make it worse; to delete them might delete somebody's work."""
    (crewed.path / "plan.md").write_text("- [ ] fill\n")
    _, done = run_crew(crewed, scripted(CODE), "plan.md", disk=10e6, attempts=1)
    (row,) = done.decide
    assert "hold more than 10 MB" in row["why"]
    path = row["why"].rpartition("look at ")[2]
    assert os.path.getsize(os.path.join(path, "large")) == 30_000_000


def test_an_agent_that_ends_its_worker_every_time_ends_no_crew(
    crewed: GitRepo, scripted: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One task that takes its worker down must cost that task alone."""
    monkeypatch.setattr(supervisor, "CLAIMS", 2)
    crewed.write("plan.md", "- [ ] kill\n- [ ] edit\n")
    code = f"import signal\nif 'task: kill' in prompt: os.kill(os.getppid(), signal.SIGKILL)\n{CODE}"
    _, done = run_crew(crewed, scripted(code), "plan.md", attempts=1)
    assert [row["title"] for row in done.done] == ["edit"], done
    assert [row["title"] for row in done.failed] == ["kill"] and "its worker ended" in done.failed[0]["why"]


def test_what_passes_alone_and_fails_together_is_done_again_on_what_was_merged(
    crewed: GitRepo, settings: Path, scripted: Callable[[str], str], tmp_path: Path
) -> None:
    """Done means that the check passed on the merged tree; the next attempt knows how it failed there."""
    settings.write_text('[crew.checks]\ndefault = "test ! -e one -o ! -e two"\n')
    crewed.write("plan.md", "- [ ] one\n- [ ] two\n")
    (began := tmp_path / "began").mkdir()  # not their work trees: the first one's is gone once it is merged
    code = """
import time
title = prompt.splitlines()[0].removeprefix("# Your task: ")
if "on the merged tree" in prompt: pathlib.Path("three").touch()
else:
    pathlib.Path(title).touch()
    pathlib.Path(%r, title).touch()
    while len(os.listdir(%r)) < 2: time.sleep(0.05)
"""
    _, done = run_crew(crewed, scripted(code % (str(began), str(began))), "plan.md", workers=2)
    assert sorted(row["attempts"] for row in done.done) == [1, 2] and done.proposed == 1, done


def test_what_cannot_be_committed_stays_and_the_next_attempt_is_made(
    crewed: GitRepo, scripted: Callable[[str], str], tmp_path: Path
) -> None:
    """An agent that made an empty repository once must not use up the attempts of those after it."""
    code = "seen = pathlib.Path(%r); first = not seen.exists(); seen.touch(); pathlib.Path('new').touch()\n"
    code += "first and subprocess.run(['git', 'init', '-q', 'inner'])"
    run, recap = run_crew(crewed, scripted(code % str(tmp_path / "seen")), "Do it", attempts=2)
    assert [row["attempts"] for row in recap.done] == [2] and crewed.git("show", f"crew/{run}/result:new") == ""
    assert ".1]" in crewed.git("worktree", "list"), "for a person to look at"


def test_a_check_does_not_pass_by_what_is_not_committed(
    crewed: GitRepo, scripted: Callable[[str], str], settings: Path
) -> None:
    """Done means that it works for whoever merges it, not only where the agent left its build folder."""
    settings.write_text('[crew.checks]\ndefault = "test -f build/out"\n')
    code = 'pathlib.Path("build").mkdir(); pathlib.Path("build/out").write_text("x")\n'
    code += 'pathlib.Path(".gitignore").write_text("build/\\n"); pathlib.Path("n").write_text("x")'
    _, done = run_crew(crewed, scripted(code), "Build it", attempts=1)
    assert not done.done and "check default ended with 1" in done.failed[0]["why"]
