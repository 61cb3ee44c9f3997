"""Transcripts become runs: all of them, once, where they belong, and without secrets."""

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.capture import finish_run
from holdfast.capture.agents import dialect
from holdfast.capture.agents.transcript_reader import Dialect, TranscriptCounts, TranscriptReading
from holdfast.capture.ingest import run_files
from holdfast.capture.ingest.intake import IntakeResult, TranscriptIntake
from holdfast.capture.ingest.session_repository import address
from holdfast.errors import ScanFailed
from holdfast.model.transcript import Call, Result, TranscriptOrigin, TranscriptStep, TranscriptTurn, line_hash
from holdfast.security.redact import Scanner
from holdfast.store import import_progress, session_files
from tests.git.place import Place, now
from tests.making import belongs, take_in

from . import claude_lines as claude
from .conftest import FAKE_KEY, faults
from .rollouts import BEGAN, Rollout, a_place, rollout

CODEX = dialect("codex")


@pytest.fixture
def place(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    made = a_place(tmp_path, tmp_path_factory.getbasetemp() / "project")
    made.clock = lambda: now() + timedelta(hours=1)  # tests let agents work in the next minutes
    return made


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "codex-home"


def take(place: Place, file: Rollout | Path, *, ended: bool = True, tool: Dialect = CODEX) -> IntakeResult | None:
    path = file.path if isinstance(file, Rollout) else file
    clone = place.open()
    try:
        return take_in(clone, tool, str(path), ended=ended)
    finally:
        place.notes += clone.notes


def taken(place: Place, file: Rollout | Path, **options: Any) -> IntakeResult:
    found = take(place, file, **options)
    assert found is not None
    return found


def runs(place: Place) -> list[dict[str, Any]]:
    clone = place.open()
    return [clone.joined(event) for event in clone.all_events() if event.kind == "run"]


def rows(place: Place, run: str, name: str) -> list[dict[str, Any]]:
    text = Path(place.open().layout.run(run), *name.split("/")).read_text()
    return [json.loads(line) for line in text.splitlines()]


def work(home: Path, place: Place, **fields: Any) -> Rollout:
    """A session of one turn: asked, planned, tested, written, answered."""
    return (
        rollout(home, place.repo.path, **fields)
        .asks("Make the parser stream its input, please.")
        .plans(read_the_parser="completed", write_docs="pending")
        .runs("pytest -q tests/parser", "1 failed, 2 passed\n", code=1)
        .patches("src/parser.py", ["def parse(stream):", "    yield from stream", "}"], ["def parse(text):"])
        .runs("pytest -q tests/parser", "3 passed\n")
        .done("The parser reads lines from the stream now, and the tests pass.")
    )


def test_a_session_becomes_a_run_with_its_cycles(place: Place, home: Path) -> None:
    """The next agent must be able to see what was proposed, what came of it, and what is left."""
    done = taken(place, work(home, place))
    (run,) = done.runs
    (event,) = runs(place)
    assert (event["run_id"], event["status"], event["kind"], event["branch"]) == (run, "ended", "run", None)
    assert event["exit_status"] is None and event["started"] < event["ended"] < event["ts"]
    assert event["prompt"] == "Make the parser stream its input, please."
    assert event["outputs"]["turns"] == 1 and event["outputs"]["cycles"] == 5
    assert event["artifacts"] == [{"path": "src/parser.py", "action": "update", "added": 3, "removed": 1}]
    assert "write docs" in " ".join(event["next_actions"])
    assert faults(place.open().layout, event) == []
    cycles = rows(place, run, "cycles.jsonl")
    assert [row["n"] for row in cycles] == [1, 2, 3, 4, 5]
    failed = cycles[1]
    assert failed["proposal"]["calls"][0]["name"] == "exec_command"
    assert failed["result"]["calls"][0]["exit_status"] == 1
    assert failed["result"]["missing"] == []
    assert cycles[0]["proposal"]["plan"][1] == {"text": "write docs", "status": "open"}
    (written,) = rows(place, run, "outputs/lines.jsonl")
    assert written["path"] == "src/parser.py"
    assert written["added"] == [line_hash("def parse(stream):"), line_hash("yield from stream")]
    assert written["removed"] == [line_hash("def parse(text):")]
    summary = Path(place.open().layout.run(run), "summary.md").read_text()
    assert summary.startswith(f"# Run {run}\n") and "unanchored" in summary


def test_a_session_file_says_what_was_done_and_what_is_open(place: Place, home: Path) -> None:
    """Whoever goes on must not have to read the transcript."""
    done = taken(place, work(home, place))
    (session,) = session_files.all(place.open().layout)
    assert (session.id, session.state, session.agent) == (done.session_id, "ended", "codex")
    assert session.objective == "Make the parser stream its input, please."
    assert [turn.run for turn in session.turns] == list(done.runs)
    assert session.files == ("src/parser.py",)
    assert [command.exit_status for command in session.commands] == [1, 0]
    assert [item.text for item in session.still_open] == ["write docs"]


def test_a_long_output_is_counted_whole(place: Place, home: Path) -> None:
    """A summary that sees the ends of an output counts too few packages."""
    packages = "".join(f"ok  \texample.org/shop/package{n:02}\t0.1s\n" for n in range(80))
    done = taken(place, rollout(home, place.repo.path).asks("Test it.").runs("go test ./...", packages).done("Tested."))
    summary = Path(place.open().layout.run(done.runs[0]), "summary.md").read_text()
    assert "- `go test ./...`: 80 packages ok\n" in summary


def test_a_commit_is_a_runs_though_its_line_failed_at_the_push() -> None:
    """The commit is there; without it nobody finds the session that made it."""
    printed = "[main 834dfcf] Return two\n 1 file changed\nfatal: Could not read from remote repository."
    result = Result(text=printed, size=len(printed), exit_status=128, failed=True)
    line = Call(id="c", name="Bash", kind="shell", command="git commit -m 'Return two' && git push", result=result)
    turn = TranscriptTurn(key="t", steps=(TranscriptStep(id="s", calls=(line,)),))
    (call,) = run_files.committing(turn, "2026-02-01T10:00:00Z", "2026-02-01T10:01:00Z")
    assert call.told == ("834dfcf",)


def test_a_run_and_its_page_say_one_number_of_turns(place: Place, tmp_path: Path) -> None:
    """A notice of a task begins a turn that nobody asked for; the run said 2 and its page 1."""
    file, cwd, ts = tmp_path / "transcript", str(place.repo.path), "2026-02-01T10:00:00Z"
    file.write_text("x")
    answer = (TranscriptStep(id="s1", ts=ts, text="The rename works now."),)
    rest = (TranscriptStep(id="s2", ts=ts, text="The task in the background ended."),)
    turns = [
        TranscriptTurn(key="t1", ts=ts, prompt="Mend the rename.", steps=answer, cwd=cwd),
        TranscriptTurn(key="t2", ts=ts, steps=rest, cwd=cwd),
    ]
    done = taken(place, file, tool=told_by("gemini", turns, cwd))
    page = Path(place.open().layout.run(done.runs[0]), "summary.md").read_text()
    assert "\n- 1 turn, 2 steps" in page and runs(place)[0]["outputs"]["turns"] == 1


def test_what_the_agent_says_is_left_is_open_once(place: Place, home: Path) -> None:
    """Most agents keep no plan: what they say they left would be counted in the summary and kept nowhere."""
    file = rollout(home, place.repo.path).asks("Park parcels that fail three times.")
    file.plans(test_on_the_zebra="pending", write_it="completed").patches("src/park.py", ["parked = 3"])
    file.done("It is parked.\n\nLeft to do: ask Una about src/db.py.\n\nTest on the Zebra is left to do.")
    taken(place, file)
    (event,) = runs(place)
    plan = "In the plan (work went on after it was written), not marked as done: test on the zebra"
    assert event["next_actions"] == [plan, "The agent said: “ask Una about src/db.py.”"]
    assert event["outputs"]["summary"].endswith("2 points may be open")

    def left() -> list[str]:
        return [item.text for item in session_files.all(place.open().layout)[0].still_open]

    assert left() == ["test on the zebra", "ask Una about src/db.py."]
    taken(place, file.asks("Thanks.").done("You are welcome, it was a pleasure."))
    assert left() == ["test on the zebra", "ask Una about src/db.py."]
    file.asks("Una says yes.").patches("src/db.py", ["parked = True"]).done("Then it is done now.")
    taken(place, file)
    assert left() == ["test on the zebra"]


def test_a_second_import_adds_nothing(place: Place, home: Path) -> None:
    """Somebody who imports every evening must not find everything thirty times."""
    file = work(home, place)
    first = taken(place, file)
    again = taken(place, file)
    os.utime(file.path)
    touched = taken(place, file)
    assert (again.runs, again.turns, touched.runs, touched.turns) == ((), 0, (), 0)
    assert [run["run_id"] for run in runs(place)] == list(first.runs)
    assert len(session_files.all(place.open().layout)) == 1


def test_what_a_file_grew_by_becomes_a_run_after_the_first(place: Place, home: Path) -> None:
    """A session that is resumed tomorrow is one story, told once."""
    file = work(home, place)
    first = taken(place, file)
    file.later(3600).asks("Now write the documentation, please.").plans(write_docs="completed")
    file.done("The documentation is written.")
    second = taken(place, file)
    assert second.turns == 1
    event = next(run for run in runs(place) if run["run_id"] == second.runs[0])
    assert event["parent_run_id"] == first.runs[0]
    assert [row["turn"] for row in rows(place, second.runs[0], "cycles.jsonl")] == [2, 2]
    (session,) = session_files.all(place.open().layout)
    assert [turn.n for turn in session.turns] == [1, 2]
    assert session.still_open == ()


def test_a_turn_that_went_on_is_taken_from_where_it_stopped(place: Place, home: Path) -> None:
    """A file read in the middle of a turn must neither lose its rest nor tell its beginning twice."""
    file = rollout(home, place.repo.path).asks("Look at all of the files here.").runs("ls -la")
    first = taken(place, file)
    file.runs("cat README").done("There is a README and nothing else in it.")
    second = taken(place, file)
    one, two = (rows(place, run, "cycles.jsonl") for run in (*first.runs, *second.runs))
    assert [row["turn"] for row in (*one, *two)] == [1, 1, 1]
    assert len({row["id"] for row in (*one, *two)}) == 3
    (session,) = session_files.all(place.open().layout)
    assert len(session.turns) == 1 and "README" in session.turns[0].summary


def test_a_prompt_that_nobody_had_answered_yet_is_one_turn(place: Place, home: Path) -> None:
    """Somebody imports while an agent thinks; the question must not be asked twice."""
    file = rollout(home, place.repo.path).asks("What is wrong with the first of these?")
    taken(place, file)
    file.runs("ls -la").done("Nothing is wrong with the first one.")
    assert taken(place, file).turns == 0
    file.asks("And what about the second of these?")
    taken(place, file)
    file.done("Nothing is wrong with the second one.")
    taken(place, file)
    (session,) = session_files.all(place.open().layout)
    assert [turn.n for turn in session.turns] == [1, 2]
    prompts = [row["prompt"] for run in runs(place) for row in rows(place, run["run_id"], "outputs/turns.jsonl")]
    assert sorted(filter(None, prompts)) == [
        "And what about the second of these?",
        "What is wrong with the first of these?",
    ]


def archived(file: Rollout) -> Path:
    return file.path.rename(file.path.parent / f"moved-{file.path.name}")


def rewritten(file: Rollout) -> Path:
    rows = [json.loads(line) for line in file.path.read_text().splitlines()]
    first = [{**rows[0], "payload": {**rows[0]["payload"], "originator": "another"}}]
    file.path.write_text("".join(json.dumps(row) + "\n" for row in first + rows[1:]))
    return file.path


@pytest.mark.parametrize("change", [archived, rewritten])
def test_a_file_that_moved_or_was_rewritten_is_known_again(
    place: Place, home: Path, change: Callable[[Rollout], Path]
) -> None:
    """Tools archive, pack and migrate their files; the work in them was done once."""
    file = work(home, place)
    taken(place, file)
    file.path = change(file)
    assert taken(place, file).runs == ()
    file.asks("One more thing: bump the version.").done("The version is bumped to 2.0 now.")
    more = taken(place, file)
    assert more.turns == 1 and len(runs(place)) == 2


def test_what_a_fork_repeats_is_not_counted_again(place: Place, home: Path) -> None:
    """A resumed or forked file begins with a copy of the other; two runs would tell one piece of work."""
    file = work(home, place)
    first = taken(place, file)
    lines = file.path.read_text().splitlines(keepends=True)
    fork = rollout(home, place.repo.path, at=file.at + timedelta(hours=1), more={"forked_from_id": file.session})
    fork.path.write_text(fork.path.read_text() + "".join(lines[1:]))
    fork.asks("Try it with a generator instead.").done("It is a generator now, and still passes.")
    second = taken(place, fork)
    assert (second.turns, second.copies) == (1, 1)
    event = next(run for run in runs(place) if run["run_id"] == second.runs[0])
    assert event["parent_run_id"] == first.runs[0]
    assert event["prompt"] == "Try it with a generator instead."


def test_a_sub_agents_file_is_a_run_of_its_own_below_the_main_one(place: Place, home: Path) -> None:
    """Who reads the main run must find what its helpers did."""
    main = work(home, place)
    first = taken(place, main)
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": main.session, "depth": 1}}}
    helper = rollout(home, place.repo.path, at=main.at, more={"source": spawned})
    helper.asks("Never mind the tests; find all callers of parse.").done("There are two callers of parse.")
    second = taken(place, helper)
    event = next(run for run in runs(place) if run["run_id"] == second.runs[0])
    assert event["parent_run_id"] == first.runs[0]
    assert {one.who for one in second.said[second.runs[0]] if hasattr(one, "who")} == {"agent"}
    assert len(session_files.all(place.open().layout)) == 1


def told_by(agent: str, turns: list[TranscriptTurn], cwd: str, session: str = "1") -> Dialect:
    """A tool whose transcripts say just this."""

    def read(path: str, start: int, origin: TranscriptOrigin | None) -> TranscriptReading:
        return TranscriptReading(
            TranscriptOrigin(agent=agent, session=f"{agent}-{session}", cwd=cwd), iter(turns), TranscriptCounts()
        )

    return Dialect(agent, lambda _, home: home, lambda _: iter(()), lambda _: True, read)


def test_one_conversation_seen_through_two_tools_counts_once(place: Place, tmp_path: Path) -> None:
    """One tool takes over another's sessions; the decision in them was made once."""
    words = {"prompt": "Which database should we use for this?", "ts": "2026-02-01T10:00:00Z"}
    answer = "We should use Postgres, because the tests need it."
    there, here = (
        [TranscriptTurn(key=f"{tool}-t1", steps=(TranscriptStep(id=f"{tool}-s1", text=text, ts=words["ts"]),), **words)]
        for tool, text in (("claude", answer), ("codex", answer.replace(" ", "  ")))
    )
    file = tmp_path / "transcript"
    file.write_text("x")
    cwd = str(place.repo.path)
    first = taken(place, file, tool=told_by("claude", there, cwd))
    second = taken(place, file, tool=told_by("codex", here, cwd))
    assert (len(first.runs), second.runs, second.twins) == (1, (), 1)
    assert len(runs(place)) == 1


def test_sessions_that_number_their_turns_alike_are_told_apart_by_what_was_said(place: Place, tmp_path: Path) -> None:
    """Whoever's tool begins each session with message 1 would keep the first session and lose all others."""
    ts, cwd = "2026-02-01T10:00:00Z", str(place.repo.path)

    def said(session: str, *asked: str) -> IntakeResult:
        file = tmp_path / session
        file.write_text("x")
        steps = [TranscriptStep(id=f"a{n}", text=f"Done: {text}", ts=ts) for n, text in enumerate(asked)]
        turns = [
            TranscriptTurn(key=f"u{n}", prompt=text, steps=(step,), ts=ts)
            for n, (text, step) in enumerate(zip(asked, steps, strict=True))
        ]
        return taken(place, file, tool=told_by("gemini", turns, cwd, session))

    first = said("one", "Rename the parser.", "And its tests.")
    second = said("two", "Print labels in A5.", "Now in A6.")
    copy = said("three", "Rename the parser.", "And its docs.")
    assert [(len(one.runs), one.turns, one.copies) for one in (first, second, copy)] == [
        (1, 2, 0),
        (1, 2, 0),
        (1, 1, 1),
    ]


def commit_at(place: Place, name: str, when: datetime) -> str:
    os.environ["GIT_COMMITTER_DATE"] = f"{int(when.timestamp())} +0000"
    return place.repo.commit(name)


def test_the_commit_comes_from_the_file_if_it_was_there_then(place: Place, home: Path) -> None:
    """Law 6: the right commit, or none."""
    commit, now = place.git("rev-parse", "HEAD"), datetime.now(UTC)
    git = {"commit_hash": commit, "branch": "main"}
    late = taken(place, work(home, place, at=now + timedelta(minutes=1), git=git))
    early = taken(place, work(home, place, at=BEGAN, git=git))
    strange = taken(place, work(home, place, at=now, git={"commit_hash": "0" * 39 + "1"}))
    heads = {run["run_id"]: run["head"] for run in runs(place)}
    assert (late.anchor, heads[late.runs[0]]) == ("file", commit)
    assert (early.anchor, heads[early.runs[0]]) == (None, None), "the commit is younger than the session"
    assert strange.anchor != "file"


def test_else_the_branchs_log_tells_where_it_stood(place: Place, home: Path) -> None:
    """An agent that names only its branch was at the commit the branch had at that second."""
    now = datetime.now(UTC).replace(microsecond=0)
    first = commit_at(place, "a", now + timedelta(minutes=10))
    second = commit_at(place, "b", now + timedelta(minutes=20))
    found = {
        minutes: taken(place, work(home, place, at=now + timedelta(minutes=minutes), git={"branch": "main"}))
        for minutes in (15, 25)
    }
    heads = {run["run_id"]: run["head"] for run in runs(place)}
    assert [found[at].anchor for at in (15, 25)] == ["reflog", "reflog"]
    assert [heads[found[at].runs[0]] for at in (15, 25)] == [first, second]


def test_in_the_very_second_a_branch_moves_nobody_can_tell(place: Place, home: Path) -> None:
    """Reflogs know whole seconds; a guess would be wrong half of the time."""
    now = datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=10)
    commit_at(place, "a", now)
    file = rollout(home, place.repo.path, at=now - timedelta(seconds=1), git={"branch": "main"})
    done = taken(place, file.asks("Do something about it, please.").done("I did something about it."))
    assert done.anchor is None


def test_without_logs_history_tells_only_of_this_users_commits(place: Place, home: Path) -> None:
    """What others committed came here by some fetch, later than they made it."""
    now = datetime.now(UTC).replace(microsecond=0)
    mine = commit_at(place, "a", now + timedelta(minutes=10))
    then = f"{int((now + timedelta(minutes=20)).timestamp())} +0000"
    os.environ["GIT_COMMITTER_DATE"] = os.environ["GIT_AUTHOR_DATE"] = then
    place.repo.write("b", "b\n")
    place.git("add", "b")
    place.git("-c", "user.email=other@example.org", "commit", "-q", "-m", "theirs")
    place.git("reflog", "expire", "--expire=now", "--all")
    found = [taken(place, work(home, place, at=now + timedelta(minutes=at), git={"branch": "main"})) for at in (15, 25)]
    heads = {run["run_id"]: run["head"] for run in runs(place)}
    assert [one.anchor for one in found] == ["history", None]
    assert heads[found[0].runs[0]] == mine


def test_a_run_is_told_on_the_line_of_its_branch(place: Place, home: Path) -> None:
    """Nothing recorded on one branch may appear unasked on another."""
    place.git("switch", "-q", "-c", "side")
    side = place.open().line().id
    place.git("switch", "-q", "main")
    main = place.open().line().id
    at = datetime.now(UTC) + timedelta(minutes=5)
    there = taken(place, work(home, place, at=at, git={"branch": "side"}))
    here = taken(place, work(home, place, at=at, git={"branch": "main"}))
    gone = taken(place, work(home, place, at=at, git={"branch": "gone"}))
    lines = {run["run_id"]: run["line"] for run in runs(place)}
    assert [lines[one.runs[0]] for one in (there, here, gone)] == [side, main, main]
    assert place.runs() == {here.runs[0], gone.runs[0]}
    branches = {run["run_id"]: run["branch"] for run in runs(place)}
    assert branches[gone.runs[0]] == "gone"


def test_a_later_branch_of_the_same_name_is_another(place: Place, home: Path) -> None:
    """Branches are made and deleted; their names come back."""
    place.git("switch", "-q", "-c", "side")
    place.open().line()
    place.git("switch", "-q", "main")
    done = taken(place, work(home, place, at=BEGAN, git={"branch": "side"}))
    assert {run["line"] for run in runs(place)} == {place.open().line().id}
    assert done.anchor is None


def test_commits_made_in_a_turn_are_its_receipts(place: Place, home: Path) -> None:
    """A decision is believed by the commit that carries it out."""
    now = datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=10)
    file = rollout(home, place.repo.path, at=now, git={"branch": "main"}).asks("Commit what is there.")
    oid = commit_at(place, "a", now + timedelta(seconds=2))
    commit_at(place, "b", now + timedelta(minutes=9))
    file.runs("git commit -am wip", f"[main {oid[:9]}] wip\n").done("Everything is committed now.")
    done = taken(place, file)
    (event,) = runs(place)
    assert event["receipts"] == [f"commit:{oid}"]
    (session,) = session_files.all(place.open().layout)
    assert session.commits == (oid,)
    assert done.runs == (event["run_id"],)
    (row,) = run_files.turns_of(place.open().layout.run(event["run_id"]))
    assert row["files"] == place.git("show", "--format=", "--name-only", oid).split(), "a helper may have written them"


@pytest.mark.parametrize("folder", [f"{claude.SESSION}/subagents/", ""])
def test_what_a_helper_wrote_is_among_the_files_of_the_turn_that_sent_it(place: Place, home: Path, folder: str) -> None:
    """Who asks what came of a request means all of it, whoever's hands did it."""
    top = str(place.repo.path)
    told = {"status": "completed", "agentId": "a0ad4f44468bdf20d"}
    wrote = {"type": "create", "filePath": f"{top}/src/helped.py", "content": "x = 1"}
    aside: dict[str, Any] = {"isSidechain": True, "agentId": told["agentId"], "cwd": top}
    claude.write(
        home / f"{folder}agent-{told['agentId']}.jsonl",
        claude.user("Write it.", **aside),
        claude.assistant(claude.use("Write", file_path=wrote["filePath"], content="x = 1"), **aside),
        claude.result("ok", told=wrote, **aside),
    )
    path = claude.write(
        home / f"{claude.SESSION}.jsonl",
        claude.user("Have it written.", cwd=top),
        claude.assistant(claude.use("Task", "c1", prompt="Write it."), cwd=top),
        claude.result([claude.text("Done.")], "c1", told=told, cwd=top),
        claude.user("Have it written again.", cwd=top),
        claude.assistant(claude.use("Task", "c2", prompt="Write it."), cwd=top),
        claude.result([claude.text("Done.")], "c2", told=told | {"agentId": "../../no-such"}, cwd=top),
    )
    done = taken(place, Path(path), tool=dialect("claude"))
    rows = list(run_files.turns_of(place.open().layout.run(done.runs[0])))
    assert [row["files"] for row in rows] == [["src/helped.py"], []]


def test_a_secret_is_never_written(place: Place, home: Path) -> None:
    """Law 10: what is stored travels; a key cannot be taken back."""
    file = rollout(home, place.repo.path).asks(f"Deploy with {FAKE_KEY}, please.").runs(f"deploy {FAKE_KEY}")
    file.patches(".env", [f"TOKEN={FAKE_KEY}", "HOST=example.org"])
    file.plans(**{f"rotate_{FAKE_KEY}": "pending"}).done(f"Deployed with {FAKE_KEY} as you said.")
    (run,) = taken(place, file).runs
    for path in Path(place.open().layout.private).rglob("*"):
        if path.is_file():
            assert FAKE_KEY.encode() not in path.read_bytes(), path
    (written,) = rows(place, run, "outputs/lines.jsonl")
    assert written["added"] == [line_hash("HOST=example.org")]


class Broken(Scanner):
    def value(self, value: Any) -> Any:
        if "calls" in str(value):
            raise ScanFailed("the scanner stopped")
        return super().value(value)


def test_a_failing_scanner_stores_nothing_and_the_next_import_does(place: Place, home: Path) -> None:
    """Law 10: what was not scanned is not stored; and it is not lost, for it is still where it was."""
    file = work(home, place)
    clone = place.open()
    clone.scan = clone.intake = Broken()
    with pytest.raises(ScanFailed):
        take_in(clone, CODEX, str(file.path), ended=True)
    assert runs(place) == [] and list(Path(clone.layout.runs).iterdir()) == []
    assert finish_run.complete_killed_runs(place.open()) == []
    assert len(taken(place, file).runs) == 1


def test_a_lost_record_of_progress_is_learned_again_from_the_runs(place: Place, home: Path) -> None:
    """Damage to our notes must not tell a year of work twice."""
    file = work(home, place)
    first = taken(place, file)
    (note,) = Path(place.open().layout.agents).glob("*.json")
    for damage in (b"{", b"[]", b'{"v": 1}', None):
        note.unlink() if damage is None else note.write_bytes(damage)
        assert taken(place, file).runs == ()
    assert [run["run_id"] for run in runs(place)] == list(first.runs)


def test_while_a_session_goes_on_its_finished_turns_are_noted(place: Place, home: Path) -> None:
    """After a turn the next agent may need it, though the session has not ended."""
    now = datetime.now(UTC)
    file = work(home, place, at=now)
    file.asks("And now the other one as well.").runs("sleep 100")
    noted = taken(place, file, ended=False)
    assert (noted.turns, noted.runs) == (1, ())
    (session,) = session_files.all(place.open().layout)
    assert (session.state, session.agent_session, len(session.turns)) == ("open", file.session, 1)
    assert taken(place, file, ended=False).turns == 0
    file.done("The other one is done as well.")
    assert taken(place, file, ended=False).turns == 1
    ended = taken(place, file)
    (session,) = session_files.all(place.open().layout)
    assert ended.session_id == session.id
    assert (session.state, [turn.n for turn in session.turns]) == ("ended", [1, 2])
    assert {turn.run for turn in session.turns} == set(ended.runs)


def test_a_persons_own_session_is_not_ended_by_an_agents(place: Place, home: Path) -> None:
    """What somebody opened is theirs to close."""
    from holdfast.capture import session_work as live

    mine = live.start(place.open(), objective="ship it")
    file = work(home, place, at=datetime.now(UTC))
    assert taken(place, file, ended=False).session_id == mine.id
    taken(place, file)
    (session,) = session_files.all(place.open().layout)
    assert (session.state, len(session.turns), session.objective) == ("open", 1, "ship it")


def test_an_interrupted_call_says_so(place: Place, home: Path) -> None:
    """A missing result means interrupted; nobody knows how it ended."""
    file = rollout(home, place.repo.path).asks("Run the long one, please.").runs("make long", code=None)
    (run,) = taken(place, file).runs
    (event,) = runs(place)
    assert (event["exit_status"], event["status"]) == (None, "interrupted")
    (cycle,) = rows(place, run, "cycles.jsonl")
    assert cycle["result"] == {"calls": [], "missing": [cycle["proposal"]["calls"][0]["id"]]}


def test_an_erased_run_stays_gone(place: Place, home: Path) -> None:
    """Law 14, also if the transcript is still there and our notes of it are not."""
    from holdfast.git import erase

    file = work(home, place)
    (run,) = taken(place, file).runs
    erase.erase(place.open(), "run", run)
    assert taken(place, file).runs == ()
    for note in Path(place.open().layout.agents).glob("*.json"):
        note.unlink()
    assert taken(place, file).runs == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("git@github.com:o/r.git", "https://github.com/o/r"),
        ("https://user:pw@GitHub.com/o/r.git/", "ssh://git@github.com:22/o/r"),
        ("git@host:group/sub/r.git", "https://host/group/sub/r"),
    ],
)
def test_a_remote_is_the_same_however_it_is_reached(one: str, other: str) -> None:
    """People clone by ssh at work and by https at home."""
    assert address(one) == address(other)


def test_a_session_belongs_by_folder_remote_or_commit(place: Place, tmp_path: Path) -> None:
    """Repositories are moved, and work trees come and go; sessions of others must not come in."""
    place.git("remote", "add", "origin", "git@example.org:team/app.git")
    place.git("worktree", "add", "-q", str(tmp_path / "tree"), "-b", "tree")
    (place.repo.path / "vendor/other/.git").mkdir(parents=True)
    (tmp_path / "link").symlink_to(place.repo.path)
    clone = place.open()

    def is_ours(**fields: str) -> bool:
        return belongs(clone, TranscriptOrigin(agent="codex", session="s", **fields))

    top = str(place.repo.path)
    assert is_ours(cwd=top) and is_ours(cwd=f"{top}/src/gone") and is_ours(cwd=f"{tmp_path}/link/src")
    assert is_ours(cwd=f"{tmp_path}/tree/src")
    assert is_ours(cwd="/elsewhere", remote="https://example.org/team/app")
    assert is_ours(cwd="/elsewhere", commit=place.git("rev-parse", "HEAD"))
    assert not is_ours(cwd="/elsewhere", commit="1" * 40)
    assert not is_ours(cwd=f"{top}-other") and not is_ours(cwd=f"{top}/vendor/other/src")
    assert not is_ours(cwd="/elsewhere", remote="https://example.org/team/app2")
    assert not is_ours()


def test_paths_of_a_moved_repository_are_told_as_git_spells_them(place: Place, home: Path) -> None:
    """`why` asks for a path of today; the agent named the one of then."""
    commit, at = place.git("rev-parse", "HEAD"), datetime.now(UTC) + timedelta(minutes=1)
    file = rollout(home, "/old/place/repo/sub", at=at, git={"commit_hash": commit})
    file.asks("Write both of these files.").patches("/old/place/repo/a.py", ["one = 1"])
    file.patches("b.py", ["two = 2"]).patches("/etc/other", ["three = 3"]).done("Both of them are written.")
    (run,) = taken(place, file).runs
    assert [row["path"] for row in rows(place, run, "outputs/lines.jsonl")] == ["a.py", "sub/b.py"]


def test_many_sessions_share_a_spool(place: Place, home: Path) -> None:
    """A thousand sessions must not leave a thousand files to read before every command."""
    clone = place.open()
    ingest = TranscriptIntake(clone)
    for _ in range(6):
        ingest.take_in(CODEX, str(work(home, place).path), ended=True)
    ingest.close()
    assert len(runs(place)) == 6
    assert len(list(Path(clone.layout.spool).rglob("*.jsonl"))) == 1
    assert len(import_progress.every([clone.layout])) == 6


def test_an_agent_that_names_no_branch_was_on_the_one_checked_out(place: Place, home: Path) -> None:
    """Gemini's transcripts know no branch; its sessions must not be told as on a detached HEAD."""
    now = datetime.now(UTC).replace(microsecond=0)
    os.environ["GIT_COMMITTER_DATE"] = f"{int((now + timedelta(minutes=10)).timestamp())} +0000"
    place.git("switch", "-q", "-c", "side")
    commit_at(place, "a", now + timedelta(minutes=20))
    found = {at: taken(place, work(home, place, at=now + timedelta(minutes=at), git={})) for at in (5, 15)}
    early = taken(place, work(home, place, at=BEGAN, git={}))
    branches = {run["run_id"]: run["branch"] for run in runs(place)}
    assert [branches[found[at].runs[0]] for at in (5, 15)] == ["main", "side"]
    assert branches[early.runs[0]] is None, "the log does not reach back"


def test_a_session_of_a_branch_that_is_gone_is_not_told_as_this_branchs(place: Place, home: Path) -> None:
    """Whoever starts on main must not be told that main's last session was another branch's."""
    at = datetime.now(UTC) + timedelta(minutes=5)
    gone = taken(place, work(home, place, at=at, git={"branch": "gone"}))
    here = taken(place, work(home, place, at=at, git={"branch": "main"}))
    clone = place.open()
    lines = {one.id: one.line for one in session_files.all(clone.layout)}
    assert (lines[gone.session_id or ""], lines[here.session_id or ""]) == ("elsewhere", clone.line().id)
