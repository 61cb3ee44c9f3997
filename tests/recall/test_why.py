"""Why a line is there: the run and the turn that wrote it, or an honest "not known"."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from holdfast.capture.run import CommandOutcome
from holdfast.errors import BadInput, HoldfastError, NotFound
from holdfast.interfaces.cli import why_commands
from holdfast.interfaces.cli.output import as_text
from holdfast.model.transcript import line_hash
from holdfast.project import Project
from holdfast.recall.why.line_reasons import WhyAnswer
from tests.capture import claude_lines as claude
from tests.conftest import GitRepo
from tests.recall.authors import START, World

LINE = "RETRIES = attempts_before_giving_up(3)"
OTHER = "TIMEOUT = seconds_until_the_carrier_hangs_up(30)"
MINE = "BACKOFF = what_the_person_typed_by_hand(7)"
FILE = "src/carrier.py"


@pytest.fixture
def scene(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> World:
    return World.make(tmp_path, tmp_path_factory.getbasetemp() / "authors" / "repo")


def answer(world: World, place: str) -> WhyAnswer:
    (one,) = world.open().recall.why(place).why.answers
    return one


def told(world: World, place: str) -> tuple[str, str | None]:
    one = answer(world, place)
    return one.state, one.run.id if one.run else None


def test_a_line_committed_by_its_run_is_recorded(scene: World) -> None:
    """Whoever wonders about a line wants the words that led to it."""
    session = scene.session().asks("Make it sturdy, please.").writes(FILE, ["import os", LINE])
    session.asks("Go on with the timeout.").patches(FILE, ["import os", LINE, OTHER], [OTHER], [])
    commit = session.commits()
    run = session.ends()
    one = answer(scene, f"{FILE}:2")
    assert (one.state, one.run and one.run.id, one.run and one.run.agent) == ("recorded", run, "claude")
    assert [(turn.turn, turn.prompt, turn.by) for turn in one.turns] == [(1, "Make it sturdy, please.", "user")]
    assert one.commit and one.commit.oid == commit and one.text == (LINE,)
    assert [turn.prompt for turn in answer(scene, f"{FILE}:3").turns] == ["Go on with the timeout."]
    assert told(scene, f"{FILE}:1") == ("recorded", run), "it stands beside lines of the same turn"


def test_what_the_run_left_uncommitted_is_matched(scene: World) -> None:
    """Agents leave work lying; a person commits it, or nobody does yet."""
    run = scene.session().asks().writes(FILE, [LINE]).ends()
    one = answer(scene, f"{FILE}:1")
    assert (one.state, one.run and one.run.id, one.commit) == ("matched", run, None)
    scene.commit()
    assert told(scene, f"{FILE}:1") == ("matched", run)


def test_a_persons_line_in_a_runs_commit_is_not_the_runs(scene: World) -> None:
    """The agent commits everything; what the person typed meanwhile stays the person's."""
    session = scene.session().asks().writes(FILE, [LINE])
    scene.write(FILE, [LINE, "", MINE])
    session.commits()
    run = session.ends()
    one = answer(scene, f"{FILE}:3")
    assert (one.state, one.run, [ran.id for ran in one.during]) == ("committed", None, [run])
    assert one.reason == "it was committed during a run whose edits do not include this line"
    assert told(scene, f"{FILE}:2") == ("committed", None) and told(scene, f"{FILE}:1") == ("recorded", run)


def test_what_a_person_changed_in_a_proposal_is_not_the_runs(scene: World) -> None:
    """Whoever mends an agent's edit before taking it wrote that line; the run never had its text (law 6)."""
    scene.write(FILE, [OTHER])
    scene.commit()
    session = scene.session().asks()
    session.patches(FILE, [OTHER, LINE, MINE], [LINE, MINE], [], proposed=[LINE, "BACKOFF = something_else(1)"])
    assert session.commits()
    run = session.ends()
    assert told(scene, f"{FILE}:2") == ("recorded", run)
    assert told(scene, f"{FILE}:3") == ("committed", None)


def test_rewritten_history_still_leads_to_the_run(scene: World) -> None:
    """Branches are rebased and amended every day; the conversation is still the one."""
    scene.git("switch", "-q", "-c", "work")
    session = scene.session().asks().writes(FILE, [LINE, OTHER])
    made = session.commits()
    run = session.ends()
    scene.git("switch", "-q", "main")
    scene.repo.commit("other.txt")
    scene.wait()
    scene.git("cherry-pick", "work")  # the first is still there, so that only the text tells
    assert told(scene, f"{FILE}:1") == ("matched", run)
    scene.git("reset", "-q", "--hard", "HEAD~1")
    scene.git("switch", "-q", "work")
    scene.git("commit", "-q", "--amend", "-m", "better words")
    scene.git("rebase", "-q", "main")
    one = answer(scene, f"{FILE}:1-2")
    assert (one.state, one.run and one.run.id) == ("recorded", run)
    assert one.commit and one.commit.was == made != one.commit.oid and one.commit.how


def test_a_renamed_file_and_other_blanks_lead_back(scene: World) -> None:
    """A line is no other because its file moved or somebody indented it."""
    session = scene.session().asks().writes(FILE, [LINE, OTHER])
    session.commits()
    run = session.ends()
    scene.git("mv", FILE, "moved.py")
    scene.commit()
    scene.write("moved.py", [f"        {LINE}", OTHER.replace(" = ", "=")])
    scene.commit()
    assert told(scene, "moved.py:1") == told(scene, "moved.py:2") == ("recorded", run)


def test_where_two_may_have_written_it_nobody_is_named(scene: World) -> None:
    """A coin toss that looks like knowledge is worse than none."""
    one = scene.session().asks().writes(FILE, [LINE])
    two = scene.session().asks().patches(FILE, [LINE, "", LINE], [LINE], [])
    scene.commit()
    runs = {one.ends(), two.ends()}
    found = answer(scene, f"{FILE}:1")
    assert found.state == "ambiguous" and found.run is None
    assert {by.run for by in found.maybe} == runs


def test_two_agents_that_wrote_the_same_line_one_after_the_other(scene: World) -> None:
    """Each is named for its own; where the first was undone, nobody looks into that conversation."""
    first = scene.session().asks().writes(FILE, [OTHER, LINE])
    first.commits()
    one = first.ends()
    assert told(scene, f"{FILE}:2") == ("recorded", one)
    scene.write(FILE, [OTHER])  # a person takes it out
    scene.commit()
    second = scene.session().asks().patches(FILE, [OTHER, LINE], [LINE], [])
    second.commits()
    two = second.ends()
    assert told(scene, f"{FILE}:2") == ("recorded", two)
    third = scene.session().asks().patches(FILE, [OTHER, LINE, "", LINE], [LINE], [])
    third.commits()
    three = third.ends()
    for number in (2, 4):  # to git both are of the second: it takes a line typed again for a copy
        found = answer(scene, f"{FILE}:{number}")
        assert found.state == "ambiguous" and {by.run for by in found.maybe} >= {two, three}, found
    fourth = scene.session().asks().writes("copy.py", [MINE, OTHER])
    scene.write(FILE, [OTHER, MINE])
    fourth.commits()
    four = fourth.ends()
    assert told(scene, "copy.py:1") == ("recorded", four) and told(scene, f"{FILE}:1") == ("recorded", one)
    assert told(scene, "copy.py:2")[1] in (four, None), "and one that is in another file, too"


def test_a_line_that_was_reverted_and_applied_again_is_its_first_writers_or_nobodys(scene: World) -> None:
    """Who reverts and applies again wrote nothing, though the commits are theirs."""
    scene.write(FILE, [OTHER])
    scene.commit()
    session = scene.session().asks().patches(FILE, [OTHER, LINE], [LINE], [])
    session.commits()
    run = session.ends()
    scene.write("between.py", [MINE])
    scene.commit()
    scene.wait(900)
    scene.git("revert", "--no-edit", "HEAD~1")
    scene.wait(900)
    again = scene.session().asks()  # another agent applies it again
    again.calls += 1
    again.tell(claude.assistant(claude.use("Bash", "toolu_again", command="git revert --no-edit HEAD")))
    scene.wait(1)
    scene.git("revert", "--no-edit", "HEAD")
    again.tell(claude.result("", "toolu_again", told={"stdout": ""}))
    other = again.ends()
    state, named = told(scene, f"{FILE}:2")
    assert named in (run, None) and other != named and state in ("matched", "committed", "ambiguous"), state


def test_a_file_written_whole_takes_nothing_from_those_before(scene: World) -> None:
    """An agent that writes a file anew repeats what others wrote in it."""
    one = scene.session().asks().writes(FILE, [LINE]).ends()
    scene.write(FILE, [LINE, MINE])
    second = scene.session().asks().writes(FILE, [LINE, MINE, OTHER])
    second.commits()
    two = second.ends()
    assert told(scene, f"{FILE}:1") == ("matched", one)
    assert told(scene, f"{FILE}:2") == ("committed", None) and told(scene, f"{FILE}:3") == ("recorded", two)


def test_where_nobody_knows_what_stood_there_a_whole_file_proves_nothing(scene: World) -> None:
    """Some tools do not tell what they wrote over."""
    scene.repo.commit(FILE, f"{OTHER}\n")
    scene.write(FILE, [OTHER, MINE])
    session = scene.session().asks().writes(FILE, [OTHER, MINE, LINE], known=False)
    session.commits()
    run = session.ends()
    found = answer(scene, f"{FILE}:2-3")
    assert (found.state, found.run, [by.run for by in found.maybe]) == ("ambiguous", None, [run])
    assert "whole file" in found.reason


def test_lines_that_say_too_little_are_nobodys_alone(scene: World) -> None:
    """Everybody writes `pass`: by itself it leads anywhere."""
    run = scene.session().asks().writes(FILE, ["pass", "}", "", "import os"]).ends()
    scene.commit()
    assert run and {(one.state, one.run) for one in scene.open().recall.why(FILE).why.answers} == {("unknown", None)}


def test_a_file_is_told_run_by_run(scene: World) -> None:
    """Who takes a file over wants to know which conversations made it."""
    first = scene.session().asks("First things first.").writes(FILE, [LINE])
    one = first.ends()
    scene.write(FILE, [LINE, MINE])
    scene.commit()
    second = scene.session().asks("And then the rest.").patches(FILE, [LINE, MINE, OTHER], [OTHER], [])
    second.commits()
    two = second.ends()
    found = scene.open().recall.why(FILE).why
    assert (found.whole, found.total) == (True, 3)
    shares = [(part.run and part.run.id, part.count, part.recorded, part.ranges) for part in found.shares]
    assert shares == [(two, 1, 1, ((3, 3),)), (one, 1, 0, ((1, 1),)), (None, 1, 0, ((2, 2),))]
    assert found.shares[2].reasons == {"no recorded run wrote this line": 1}


def test_what_governs_it_and_whether_that_holds(scene: World) -> None:
    """A line that follows a decision somebody took back is not defended by it any more."""
    session = scene.session().asks().writes(FILE, [LINE])
    session.commits()
    run = session.ends()
    project = Project.open(scene.repo.path, person=True)
    old = project.memory.remember(
        "Try three times.", kind="decision", why="it drops calls", applies_to=[FILE], accept=True
    )
    new = project.memory.supersede(old.id, "Try five times.", accept=True)
    wide = project.memory.remember(
        "Names are English.", kind="invariant", evidence=["README"], applies_to=["**"], accept=True
    )
    born = project.memory.remember("The carrier drops every tenth call.", evidence=[f"run:{run}"], accept=True)
    aside = project.memory.remember(
        "Paint it blue.", kind="decision", why="it is calm", applies_to=["ui/"], accept=True
    )
    found = {one.id: one for one in project.recall.why(f"{FILE}:1").governs}
    assert aside.id not in found
    assert (found[old.id].holds, found[old.id].superseded_by) == (False, new.id)
    assert (found[new.id].holds, found[new.id].trust, found[new.id].why) == (True, "T0", f"governs {FILE}")
    assert found[born.id].why == "came of this run" and found[wide.id].why == "general"
    assert found[new.id].told is False, "the run had been told nothing"
    scene.repo.commit("README", "another\n")
    stale = {one.id: one for one in Project.open(scene.repo.path).recall.why(FILE).governs}[wide.id]
    assert (stale.holds, stale.status) == (False, "stale")


def test_it_writes_nothing_and_forgets_what_was_erased(scene: World) -> None:
    """A question is no change; and what was erased must not come back by the side door."""
    session = scene.session().asks().writes(FILE, [LINE])
    session.commits()
    run = session.ends()
    project = scene.open()
    project.recall.why(FILE)
    before = everything(scene.repo.path)
    for place in (FILE, f"{FILE}:1"):
        project.recall.why(place)
    assert everything(scene.repo.path) == before
    project.sync.erase(run or "")
    assert told(scene, f"{FILE}:1") == ("unknown", None)


def everything(folder: Path) -> dict[str, bytes]:
    paths = (Path(here) / name for here, _, names in os.walk(folder) for name in names)
    return {str(path): path.read_bytes() for path in paths}


# -- other clones


def command_that_commits(scene: World, name: str, line: str) -> CommandOutcome:
    """`holdfast run` of a command that makes a file and commits it, some time after it began."""
    return scene.command(f'echo "{line}" > {name} && git add {name} && git commit -qm made')


def test_another_clone_answers_from_commits_or_from_what_it_was_given(scene: World, tmp_path: Path) -> None:
    """What was written line by line is private; a colleague is told no more than the log says."""
    session = scene.session().asks().writes(FILE, [LINE])
    session.commits()
    run = session.ends()
    outcome = command_that_commits(scene, "made.py", MINE)
    assert told(scene, "made.py:1") == ("committed", None)
    assert answer(scene, "made.py:1").reason.endswith("did not record its edits line by line")
    project = scene.open()
    project.sync.publish(here=True)
    project.sync.export_bundle(str(tmp_path / "bundle"))
    subprocess.run(["git", "clone", "-q", str(scene.repo.path), str(tmp_path / "clone")], check=True)
    other = World(GitRepo(tmp_path / "clone"), tmp_path)
    one = answer(other, "made.py:1")
    assert (one.state, [ran.id for ran in one.during]) == ("committed", [outcome.run_id])
    assert one.reason.endswith("private to another clone")
    assert told(other, f"{FILE}:1") == ("unknown", None)
    other.open().sync.import_bundle(str(tmp_path / "bundle"))
    assert told(other, f"{FILE}:1") == ("recorded", run)


@pytest.mark.parametrize("meanwhile", [False, True])
def test_what_a_run_only_fetched_was_not_committed_in_it(scene: World, meanwhile: bool) -> None:
    """A person's commit would be told as made in a run that only pulled it (law 6)."""
    hows = ["git pull -q --rebase . other", "git cherry-pick --ff other"]
    base, began = scene.git("rev-parse", "HEAD"), scene.tick
    scene.git("switch", "-q", "-c", "other")
    scene.wait(20 if meanwhile else 0)
    scene.write(FILE, [MINE])
    scene.git("add", "-A")
    scene.git("commit", "-q", "-m", "of a person")
    if meanwhile:  # as made in another clone
        scene.git("reflog", "expire", "--expire=all", "HEAD")
    for how in hows[:1] if meanwhile else ["git merge -q --no-ff -m joined other", *hows]:
        scene.git("switch", "-q", "main")
        scene.git("reset", "-q", "--hard", base)
        scene.wait(began - scene.tick if meanwhile else 900)
        scene.command(how)
        one = answer(scene, f"{FILE}:1")
        assert (one.state, one.during) == ("unknown", ()), (how, one.reason)


def test_what_a_run_picked_or_merged_itself_was_committed_in_it(scene: World) -> None:
    """Telling fetched commits apart must not lose those that a run made."""
    scene.repo.commit("aside.py", f"{OTHER}\n")
    scene.git("switch", "-q", "-c", "other", "HEAD~1")
    scene.repo.commit("picked.py", f"{LINE}\n")
    scene.git("switch", "-q", "main")
    scene.wait(900)
    done = scene.command("git cherry-pick other")
    one = answer(scene, "picked.py:1")
    assert (one.state, [ran.id for ran in one.during]) == ("committed", [done.run_id])
    done = scene.command(f"echo '{MINE}' > b.py; git add .; git commit -qm a; git commit -q --amend -m b")
    one = answer(scene, "b.py:1")
    assert (one.state, [ran.id for ran in one.during]) == ("committed", [done.run_id])


def test_a_commit_that_a_command_only_shows_was_not_made_by_it(scene: World) -> None:
    """A log that is shown after a failed commit would make a person's old commit the run's (law 6)."""
    scene.write(FILE, [MINE])
    old = scene.commit()
    scene.wait(86_400)
    session, shown = (scene.session().asks(), f"nothing to commit\n[main {old[:7]}] of a person\n 1 file changed")
    session.uses("Bash", {"stdout": shown}, shown, command="git commit -qm x; cat .husky/last.log")
    session.uses("Bash", {"stdout": shown}, shown, command="cat build.log; echo git commit")
    session.calls += 1
    asked = "git pull -q && git commit --dry-run"
    session.tell(claude.assistant(claude.use("Bash", "toolu_pull", command=asked)))
    scene.wait(1)
    scene.write("meanwhile.py", [OTHER])
    scene.git("add", "-A")
    scene.git("commit", "-q", "-m", "a person's, meanwhile")
    session.tell(claude.result("ok", "toolu_pull", told={"stdout": ""}))
    scene.wait(40)
    scene.git("switch", "-q", "-c", "side")  # HEAD's log alone is not asked
    scene.git("reflog", "expire", "--expire=all", "HEAD")
    scene.write("made.py", [LINE])
    scene.git("add", "-A")
    scene.git("commit", "-q", "-m", "the agent's")
    made = scene.git("rev-parse", "--short", "HEAD")
    scene.git("reflog", "expire", "--expire=all", "HEAD")
    session.uses("Bash", {"stdout": ""}, f"[side {made}] the agent's", command="git commit -m 'the agent s'")
    run = session.ends()
    for place in (f"{FILE}:1", "meanwhile.py:1"):
        one = answer(scene, place)
        assert (one.state, one.during) == ("unknown", ()), (place, one.reason)
    assert [ran.id for ran in answer(scene, "made.py:1").during] == [run]


def test_a_trailer_that_names_a_run_is_told_as_what_it_is(scene: World) -> None:
    """Some teams write the run into the commit; but anybody may, so that it is no more than a word."""
    session = scene.session().asks().writes("elsewhere.py", [OTHER])
    scene.write(FILE, [MINE])
    scene.git("add", "-A")
    scene.git("commit", "-q", "-m", "by hand")
    credit = "Co-Authored-By: Helper <helper@example.org>"
    run, made = session.ends(), scene.git("log", "-1", "--format=%ct")
    now = scene.tick

    def trailing(key: str, tick: int) -> WhyAnswer:
        scene.wait(tick - scene.tick)
        scene.git("commit", "-q", "--amend", "-m", f"by hand {key}", "-m", f"{key}: {run}\n{credit}")
        return answer(scene, f"{FILE}:1")

    one = trailing("Holdfast-Run", int(made))
    assert (one.state, one.run, [ran.id for ran in one.during]) == ("committed", None, [run])
    assert one.by_trailer and one.reason.startswith("a trailer of its commit names a run")
    assert one.commit and one.commit.credits == ("Helper <helper@example.org>",)
    assert "By its trailer, committed during" in why_commands.why_text(scene.open().recall.why(f"{FILE}:1"))
    for key, tick in (("See-also", int(made)), ("Holdfast-Run", now + 60), ("Holdfast-Run", START)):
        one = trailing(key, tick)
        assert (one.state, one.during) == ("unknown", ()), (key, tick)


WRITTEN = [f"CARRIER_{n} = how_long_the_carrier_waits_for({n})" for n in range(4)]


def committed_by_hand(scene: World, message: str, *, wrote: int) -> tuple[str, WhyAnswer]:
    """A run leaves some lines, a person adds two and commits; git's log has forgotten. The run, and their answer."""
    session = scene.session().asks("Wait for the carrier.").writes(FILE, WRITTEN[:wrote])
    session.done()
    run = session.ends()
    scene.wait(3 * 3600)
    scene.write(FILE, [*WRITTEN[:wrote], MINE, OTHER])
    scene.git("add", "-A")
    scene.git("commit", "-q", "-m", "by hand", "-m", message.format(session=session.name, run=run))
    scene.git("reflog", "expire", "--expire=all", "HEAD")
    assert run and told(scene, f"{FILE}:1") == ("matched", run)
    return run, answer(scene, f"{FILE}:{wrote + 1}-{wrote + 2}")


def test_without_a_log_of_git_a_commit_is_likely_of_the_run_that_wrote_much_of_it(scene: World) -> None:
    """Who imports old sessions has no log that names their commits; what they wrote does."""
    run, one = committed_by_hand(scene, "words", wrote=4)
    assert (one.state, one.run, [by.run for by in one.maybe]) == ("likely", None, [run])
    shown = as_text(why_commands.why_text(scene.open().recall.why(f"{FILE}:5")))
    assert f"Likely by run {run} turn 1" in shown and "Asked: Wait for the carrier." in shown
    whole = why_commands.why_text(scene.open().recall.why(FILE))
    assert f"likely by run {run}" in whole, "the list of all lines says so, too"


@pytest.mark.parametrize(
    ("message", "state"),
    [
        ("words", "unknown"),
        ("Agent-Session: {session}", "likely"),
        ("Some-Checkpoint: https://example.org/{session}?a=b", "likely"),
        ("Holdfast-Run: {run}", "likely"),
        ("See-also: {session}", "unknown"),
        ("Agent-Session: 3f{session}", "unknown"),
    ],
)
def test_a_trailer_that_names_a_session_makes_it_likely(scene: World, message: str, state: str) -> None:
    """A tool's hook writes its session into the commit; that and a line that it wrote there are two signs."""
    run, one = committed_by_hand(scene, message, wrote=1)
    assert (one.state, one.run, [by.run for by in one.maybe]) == (state, None, [run] if state == "likely" else [])


# -- damage


def test_a_damaged_record_is_said_to_be_damaged(scene: World) -> None:
    """Told that a run's edits do not have a line, people look for whoever else wrote it."""
    session = scene.session().asks().writes(FILE, [LINE])
    session.commits()
    run = session.ends() or ""
    folder = Path(scene.open().clone.layout.run(run))

    def harm(name: str, data: bytes | None) -> WhyAnswer:
        path = folder / "outputs" / name
        old = path.read_bytes()
        path.unlink()
        if data is not None:
            path.write_bytes(data.replace(b"OLD", old))
        found = answer(scene, f"{FILE}:1")
        path.unlink(missing_ok=True)
        path.write_bytes(old)
        return found

    other = json.dumps({"turn": 1, "path": FILE, "added": [line_hash(MINE)], "removed": []}).encode()
    for name, data in (
        ("lines.jsonl", b"garbage{\n"),
        ("lines.jsonl", None),
        ("turns.jsonl", None),
        ("lines.jsonl", b"OLD" + other),
    ):
        one = harm(name, data)
        assert (one.run, one.state) == (None, "committed"), (name, data)
        assert one.reason.startswith(f"the record of run {run} is damaged"), one.reason
    assert told(scene, f"{FILE}:1") == ("recorded", run)
    folder.rename(folder.with_name("elsewhere"))
    assert answer(scene, f"{FILE}:1").reason == "it was committed during a run whose record is missing here"


# -- odd files


def test_what_cannot_be_explained_is_refused_with_a_sentence(scene: World, tmp_path: Path) -> None:
    """`fatal: no such path` helps nobody."""
    repo = scene.repo
    repo.commit("gone.py", "x\n")
    repo.git("rm", "-q", "gone.py")
    repo.git("commit", "-q", "-m", "away")
    repo.commit("lost.py", "x\n")
    (repo / "lost.py").unlink()
    (repo / "image.bin").write_bytes(b"\x89PNG\0\0")
    (repo / "outside").symlink_to(tmp_path)
    (repo / "git-folder").symlink_to(".git")
    (repo / "git-file").symlink_to(".git/config")
    repo.write("src/a.py", "one\ntwo\n")
    cases = {
        "src": (BadInput, "src is a folder"),
        "image.bin": (BadInput, "binary file"),
        str(tmp_path): (BadInput, "not in this repository"),
        "../elsewhere.py": (BadInput, "not in this repository"),
        "outside": (BadInput, "outside this repository"),
        "nowhere.py:3": (NotFound, "there is no file nowhere.py"),
        "gone.py": (NotFound, "gone.py was deleted by commit"),
        "lost.py": (NotFound, "git still has it"),
        "src/a.py:3": (BadInput, "has 2 lines"),
        "src/a.py:0": (BadInput, "has 2 lines"),
        "src/a.py:2-1": (BadInput, "has 2 lines"),
        "": (BadInput, "no file is named"),
        "src/a.py/x": (HoldfastError, "src/a.py/x"),
        ".git/config": (BadInput, "belongs to git"),
        "git-folder/config": (BadInput, "belongs to git"),
        "git-file": (BadInput, "belongs to git"),
    }
    project = scene.open()
    for place, (error, words) in cases.items():
        with pytest.raises(error, match=words):
            project.recall.why(place)


def test_odd_files_are_answered_all_the_same(scene: World) -> None:
    """Line ends, codings, links, names and empty files are everyday life."""
    session = scene.session().asks()
    names = ("crlf.py", "name with ünusual.py", "odd:12", "line\nbreak.py")
    for name in names:
        session.writes(name, [LINE])
    run = session.ends()
    (scene.repo / "crlf.py").write_bytes(f"{LINE}\r\n".encode())
    scene.repo.git("add", "--", *names)
    scene.repo.git("commit", "-q", "-m", "odd", "--", *names)
    (scene.repo / "link.py").symlink_to("crlf.py")
    (scene.repo / "latin.py").write_bytes("Größe = eine_lange_zeile(1)\n".encode("latin-1"))
    (scene.repo / "empty.py").write_bytes(b"")
    for place in ("crlf.py:1", "name with ünusual.py:1", "odd:12:1", "odd:12", "link.py:1", "line\nbreak.py:1"):
        assert told(scene, place) == ("matched", run), place
    project = scene.open()
    assert project.recall.why("link.py").why.notes == ("link.py is a link to crlf.py",)
    assert project.recall.why("latin.py").why.notes == ("git does not track latin.py",)
    assert told(scene, "latin.py") == ("unknown", None) and project.recall.why("empty.py").why.answers == ()
    assert project.recall.why("link.py", folder=str(scene.repo / ".holdfast")).why.path == "crlf.py"


def test_submodules_have_a_history_of_their_own(scene: World, tmp_path: Path) -> None:
    """What another project wrote is not ours to explain."""
    inner = GitRepo(tmp_path / "inner")
    inner.path.mkdir()
    inner.git("init", "-q")
    inner.commit("x.py", "x\n")
    scene.repo.git("submodule", "--quiet", "add", str(inner.path), "sub")
    (scene.repo / "into.py").symlink_to("sub/x.py")
    for place in ("sub/x.py:1", "sub", "sub/none.py", "into.py"):
        with pytest.raises(BadInput, match=r"in the submodule sub|sub is a folder"):
            scene.open().recall.why(place)


def test_a_merge_under_way_and_revisions_to_ignore(scene: World) -> None:
    """A big reformatting commit, and a merge that stopped half-way, must not hide who wrote a line."""
    session = scene.session().asks().writes(FILE, ["call(first, second_argument_of_it)", LINE])
    session.commits()
    run = session.ends()
    scene.write(FILE, ["call(", "    first, second_argument_of_it)", LINE])
    tidy = scene.commit("tidy")
    scene.repo.write("ignored", f"{tidy}\n")
    scene.git("config", "blame.ignoreRevsFile", "ignored")
    assert told(scene, f"{FILE}:3") == ("recorded", run)
    for number in (1, 2):  # whoever tidied it wrote these, and git only guesses what they were
        one = answer(scene, f"{FILE}:{number}")
        assert (one.state, one.run) in {("ambiguous", None), ("unknown", None)}, number
    scene.git("switch", "-q", "-c", "side", "HEAD~1")
    scene.write(FILE, [MINE, LINE])
    scene.commit("side")
    scene.git("merge", "-q", "main", ok=False)
    found = scene.open().recall.why(FILE).why
    assert found.notes == ("a merge is in progress: uncommitted lines may come from it",)
    assert [one.run.id for one in found.answers if LINE in one.text and one.run] == [run]


def test_a_shallow_clone_does_not_take_its_edge_for_the_beginning(scene: World, tmp_path: Path) -> None:
    """The oldest commit that is here did not write what is older."""
    session = scene.session().asks().writes(FILE, [LINE, "pass"])
    session.commits()
    run = session.ends()
    edge = scene.session().asks().writes("other.py", [OTHER])
    edge.commits()
    edge.ends()
    project = scene.open()
    project.sync.export_bundle(str(tmp_path / "bundle"))
    source = f"file://{scene.repo.path}"
    subprocess.run(["git", "clone", "-q", "--depth=1", source, str(tmp_path / "shallow")], check=True)
    other = World(GitRepo(tmp_path / "shallow"), tmp_path)
    (one,) = other.open().recall.why(FILE).why.answers
    assert (one.state, one.run) == ("unknown", None) and "shallow" in one.reason
    other.open().sync.import_bundle(str(tmp_path / "bundle"))
    answers = other.open().recall.why(FILE).why.answers
    assert [(found.state, found.run and found.run.id) for found in answers] == [("matched", run), ("unknown", None)]
