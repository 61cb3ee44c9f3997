"""Live capture: what hooks told of is read, once, as far as it got; and a run ends when it ends."""

import json
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from holdfast.capture import session_lookup
from holdfast.capture import session_work as live
from holdfast.capture.agents import dialect
from holdfast.capture.ingest import live_transcripts, run_files
from holdfast.capture.ingest.intake import IntakeResult
from holdfast.capture.ingest.live_transcripts import IDLE, LiveDrain
from holdfast.capture.ingest.session_repository import SessionRepository, only_this_repository
from holdfast.errors import TooLarge
from holdfast.interfaces import agent_events
from holdfast.store import agent_inbox, discovery, session_files
from holdfast.store.layout import Layout
from tests.git.place import Place
from tests.making import take_in

from . import claude_lines as claude
from .rollouts import Rollout, rollout

MINUTE = 60 * 1_000_000_000
BEGAN = 1_790_000_000 * 1_000_000_000


class Desk:
    """A repository, the pointers that hooks left in it, and a clock."""

    def __init__(self, folder: Path) -> None:
        self.place, self.home = Place.make(folder / "repo"), folder / "home"
        self.now = BEGAN
        self.notes: list[str] = []

    @property
    def layout(self) -> Layout:
        return self.place.open().layout

    def told(self, agent: str, event: str, session: str, path: str | os.PathLike[str] | None, **more: Any) -> None:
        """What the hook writes."""
        self.now += MINUTE // 60
        size = os.path.getsize(path) if path and os.path.exists(path) else 0
        git_dir = str(self.place.repo.path / ".git")
        fields = {"agent": agent, "event": event, "session": session, "path": str(path) if path else None}
        line = {"v": 1, "ts": self.now, **fields, "cwd": str(self.place.repo.path), "tree": git_dir, "size": size}
        folder = Path(self.layout.inbox)
        folder.mkdir(exist_ok=True)
        with open(folder / f"{agent_inbox.stem(agent, session)}.jsonl", "a", encoding="ascii") as file:
            file.write(json.dumps({**line, **more}) + "\n")

    def codex(self, file: Rollout, *events: str, **more: Any) -> None:
        for event in events:
            self.told("codex", event, file.session, file.path, **more)
        if file.path.exists():
            os.utime(file.path, ns=(self.now, self.now))

    def drain(self, **options: Any) -> LiveDrain:
        clone = self.place.open()

        def take(agent: str, path: str, ended: bool, gone: bool) -> IntakeResult | None:
            tool = only_this_repository(dialect(agent), SessionRepository(clone), clone.repo.top, gone=gone)
            return take_in(clone, tool, path, ended=ended)

        try:
            return live_transcripts.drain(clone, take, now=self.now, **options)
        finally:
            self.notes += clone.notes

    def runs(self) -> list[dict[str, Any]]:
        clone = self.place.open()
        return [clone.joined(event) for event in clone.all_events() if event.kind == "run"]

    def files(self) -> set[str]:
        return {name for name in os.listdir(self.layout.inbox) if not name.endswith(".lock")}

    def waiting(self) -> int:
        return len(agent_inbox.waiting(self.layout))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def turn(file: Rollout, number: int) -> Rollout:
    asked = f"Please do the {number}th piece of work in the parser."
    return file.asks(asked).runs("pytest -q").done(f"The {number}th piece of the parser is done and tested.")


def test_a_session_is_noted_while_it_goes_on_and_becomes_a_run_when_it_ends(desk: Desk) -> None:
    """An agent that is killed after an hour must not lose the hour, nor count as done before it is."""
    file = turn(rollout(desk.home, desk.place.repo.path), 1)
    desk.codex(file, "SessionStart", "UserPromptSubmit", "PostToolUse", "Stop")
    first = desk.drain()
    assert (first.sessions, first.turns, first.runs) == (1, 1, [])
    (session,) = session_files.all(desk.layout)
    assert (session.state, session.agent_session) == ("open", file.session) and desk.runs() == []
    assert desk.waiting() == 0

    turn(file, 2)
    desk.codex(file, "UserPromptSubmit", "Stop", "SessionEnd")
    second = desk.drain()
    assert len(second.runs) == 1 and len(desk.runs()) == 1
    (session,) = session_files.all(desk.layout)
    assert session.state == "ended" and session.count == 2
    assert desk.files() == set()
    assert desk.drain() == LiveDrain()


def test_a_killed_client_loses_nothing(desk: Desk) -> None:
    """SIGKILL fires no hook: what the transcript holds is read at the next start."""
    file = turn(rollout(desk.home, desk.place.repo.path), 1)
    desk.codex(file, "SessionStart", "Stop")
    desk.drain()
    turn(file, 2)  # and then it was killed
    desk.now += MINUTE
    again = rollout(desk.home, desk.place.repo.path)
    desk.codex(again, "SessionStart")
    done = desk.drain()
    (run,) = desk.runs()
    assert done.runs == [run["run_id"]] and run["outputs"]["turns"] == 2
    desk.drain()
    assert len(desk.runs()) == 1


def test_what_grew_without_a_word_is_read_by_the_next_command(desk: Desk) -> None:
    """Claude writes its last answer after it says it is done."""
    path = desk.home / f"{claude.SESSION}.jsonl"
    here = {"cwd": str(desk.place.repo.path)}
    asked = [claude.user("Please make the parser stream its input.", **here)]
    claude.write(path, *asked)
    desk.told("claude", "SessionStart", claude.SESSION, path)
    desk.told("claude", "Stop", claude.SESSION, path)
    os.utime(path, ns=(desk.now, desk.now))
    assert desk.drain().turns == 0
    claude.write(path, *asked, claude.assistant(claude.text("It reads line by line now, and that is all."), **here))
    os.utime(path, ns=(desk.now, desk.now))
    assert desk.drain().turns == 1
    assert desk.drain().turns == 0


def test_two_agents_in_one_work_tree_have_a_session_each(desk: Desk) -> None:
    """Who did that? A session under one agent's name must not hold another's work."""
    path, here = desk.home / f"{claude.SESSION}.jsonl", {"cwd": str(desk.place.repo.path)}
    first = turn(rollout(desk.home, desk.place.repo.path), 1)
    desk.codex(first, "SessionStart", "Stop")
    assert desk.drain().turns == 1
    asked = claude.user("Please make the printer stream its output.", **here)
    claude.write(path, asked, claude.assistant(claude.text("It prints line by line now, and fast."), **here))
    for event in ("SessionStart", "Stop"):
        desk.told("claude", event, claude.SESSION, path)
    os.utime(path, ns=(desk.now, desk.now))
    desk.codex(turn(first, 2), "Stop")
    assert desk.drain().turns == 2
    found = {one.agent: one for one in session_files.all(desk.layout)}
    assert {name: (one.state, one.count) for name, one in found.items()} == {
        "codex": ("open", 2),
        "claude": ("open", 1),
    }
    assert found["claude"].previous is None
    desk.codex(first, "SessionEnd")
    desk.drain()
    states = {one.agent: one.state for one in session_files.all(desk.layout)}
    assert states == {"codex": "ended", "claude": "open"}


def test_agents_write_into_the_session_that_a_person_opened(desk: Desk) -> None:
    """A person who says what a session is for wants to find in it what was done."""
    session = live.start(desk.place.open(), objective="Make the parser stream")
    file = turn(rollout(desk.home, desk.place.repo.path), 1)
    for events in (("SessionStart", "Stop"), ("SessionEnd",)):
        desk.codex(file, *events)
        desk.drain()
        (found,) = session_files.all(desk.layout)
        assert (found.id, found.state, found.count) == (session.id, "open", 1)


def test_half_an_hour_of_silence_ends_a_run(desk: Desk) -> None:
    """A session that nobody closed is over when nobody comes back to it."""
    file = turn(rollout(desk.home, desk.place.repo.path), 1)
    desk.codex(file, "SessionStart", "Stop")
    desk.drain()
    desk.now += IDLE
    assert desk.drain().runs == []
    desk.now += MINUTE
    assert len(desk.drain().runs) == 1
    assert desk.files() == set()


def test_a_session_that_goes_on_after_its_end_makes_a_second_run(desk: Desk) -> None:
    """People resume yesterday's session; what they add must not be lost, nor told twice."""
    file = turn(rollout(desk.home, desk.place.repo.path), 1)
    desk.codex(file, "SessionStart", "Stop", "SessionEnd")
    desk.drain()
    turn(file, 2)
    desk.codex(file, "SessionStart", "Stop", source="resume")
    assert desk.drain().runs == []
    desk.codex(file, "SessionEnd")
    desk.drain()
    assert [run["outputs"]["turns"] for run in desk.runs()] == [1, 1]


def test_a_vanished_transcript_is_told_once_and_its_pointers_are_set_aside(desk: Desk) -> None:
    """Silence would look as if nothing had been done; a complaint at every command would be noise."""
    file = turn(rollout(desk.home, desk.place.repo.path), 1)
    desk.codex(file, "SessionStart", "Stop")
    file.path.unlink()
    done = desk.drain()
    assert done.vanished == [str(file.path)] and desk.waiting() == 0
    assert desk.drain() == LiveDrain()
    (gone,) = agent_inbox.vanished(desk.layout)
    assert gone.path == str(file.path)
    desk.now += 8 * 24 * 60 * MINUTE
    os.utime(gone.files[0], ns=(BEGAN, BEGAN))
    desk.codex(turn(rollout(desk.home, desk.place.repo.path), 2), "Stop")
    desk.drain()
    assert agent_inbox.vanished(desk.layout) == []


def test_an_archived_transcript_has_not_vanished(desk: Desk) -> None:
    """Codex moves what people archive."""
    file = turn(rollout(desk.home, desk.place.repo.path), 1)
    desk.codex(file, "SessionStart", "Stop", "SessionEnd")
    kept = desk.home / "archived_sessions" / file.path.name
    kept.parent.mkdir()
    file.path.rename(kept)
    done = desk.drain()
    assert len(done.runs) == 1 and done.vanished == []


@pytest.mark.parametrize("events", [["SessionEnd"], ["SessionStart", "UserPromptSubmit", "SessionEnd"]])
def test_a_session_in_which_nothing_happened_is_forgotten(desk: Desk, events: list[str]) -> None:
    """Claude tells of the end of sessions that never had a transcript."""
    for event in events:
        desk.told("claude", event, "never", desk.home / "never.jsonl")
    assert desk.drain() == LiveDrain()
    assert desk.files() == set()


def test_a_transcript_that_is_not_there_yet_is_waited_for(desk: Desk) -> None:
    """Claude writes the first line after the first answer."""
    desk.told("claude", "SessionStart", "soon", desk.home / "soon.jsonl")
    desk.told("claude", "UserPromptSubmit", "soon", desk.home / "soon.jsonl")
    assert desk.drain().waiting == 1 and desk.waiting() == 1
    desk.now += IDLE + MINUTE
    assert desk.drain() == LiveDrain() and desk.files() == set()


def test_a_session_without_a_transcript_leaves_nothing(desk: Desk) -> None:
    """`codex exec --ephemeral` keeps none."""
    for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"):
        desk.told("codex", event, "ephemeral", None)
    assert desk.drain() == LiveDrain() and desk.files() == set()


def test_sessions_of_another_work_tree_wait_for_it(desk: Desk, tmp_path: Path) -> None:
    """What is recorded belongs to the branch it was done on (law 5)."""
    other = tmp_path / "other"
    desk.place.git("worktree", "add", "-q", "-b", "side", str(other))
    tree = str(desk.place.repo.path / ".git" / "worktrees" / "other")
    file = turn(rollout(desk.home, other), 1)
    desk.codex(file, "SessionStart", "Stop", "SessionEnd", tree=tree)
    assert desk.drain().waiting == 1 and desk.runs() == []
    here, desk.place = desk.place, desk.place.at(other)
    assert len(desk.drain().runs) == 1
    desk.place = here
    assert desk.waiting() == 0


def test_a_work_tree_that_is_gone_leaves_its_sessions_to_the_others(desk: Desk, tmp_path: Path) -> None:
    """Agents work in work trees that are thrown away."""
    gone = tmp_path / "gone"
    desk.place.git("worktree", "add", "-q", "-b", "side", str(gone))
    file = turn(rollout(desk.home, gone), 1)
    desk.codex(file, "SessionStart", "Stop", tree=str(desk.place.repo.path / ".git" / "worktrees" / "gone"))
    desk.place.git("worktree", "remove", "--force", str(gone))
    done = desk.drain()
    assert (done.waiting, desk.waiting(), len(done.runs)) == (0, 0, 1)
    (session,) = session_files.all(desk.layout)  # and none of them goes on in another's work tree
    assert session.state == "ended" and session_lookup.current(desk.place.open()) is None


def test_a_long_backlog_is_left_to_the_background(desk: Desk) -> None:
    """`holdfast status` must not read an hour of transcripts first."""
    file = turn(rollout(desk.home, desk.place.repo.path), 1)
    desk.codex(file, "Stop")
    assert desk.drain(most=100).waiting == 1 and desk.waiting() == 1
    assert desk.drain(most=1 << 20).turns == 1


def test_only_one_drains_at_a_time(desk: Desk) -> None:
    """A command in the foreground and the background drain meet often."""
    desk.codex(turn(rollout(desk.home, desk.place.repo.path), 1), "Stop")
    with agent_inbox.held(desk.layout):
        assert desk.drain().waiting == 1
    assert desk.drain().turns == 1


def test_a_command_waits_for_the_one_that_reads_at_this_moment(desk: Desk) -> None:
    """Who asks right after a session must not be answered as if there had been none."""
    desk.codex(turn(rollout(desk.home, desk.place.repo.path), 1), "Stop")
    with ExitStack() as reader:
        reader.enter_context(agent_inbox.held(desk.layout))
        end = threading.Timer(0.2, reader.close)
        end.start()
        assert desk.drain(most=1 << 20).turns == 1
    end.join()


def test_a_transcript_that_cannot_be_read_is_said_and_not_read_at_every_command(desk: Desk) -> None:
    """One bad file must neither stop commands nor be complained of for ever."""
    path = desk.home / "bad.jsonl"
    desk.home.mkdir()
    path.write_bytes(b"\x00\xff nonsense\n")
    desk.told("codex", "Stop", "bad", path)
    os.utime(path, ns=(desk.now, desk.now))
    first = desk.drain()
    assert len(first.failed) == 1 and str(path) in first.failed[0]
    assert desk.drain().failed == []


@pytest.mark.parametrize("error", [ValueError("odd"), RecursionError(), TooLarge("it is too large")])
def test_what_is_no_transcript_is_set_aside_and_stops_no_other(desk: Desk, error: Exception) -> None:
    """One file that nobody foresaw must not keep every command from working, nor vanish without a word."""
    bad, good = (turn(rollout(desk.home, desk.place.repo.path), n) for n in (1, 2))
    for file in (bad, good):
        desk.codex(file, "SessionStart", "Stop", "SessionEnd")
    clone, is_mended = desk.place.open(), False

    def take(agent: str, path: str, ended: bool, gone: bool) -> IntakeResult | None:
        if path == str(bad.path) and not is_mended:
            raise error
        return take_in(clone, dialect(agent), path, ended=ended)

    done = live_transcripts.drain(clone, take, now=desk.now)
    assert len(done.runs) == 1 and len(done.failed) == 1 and str(bad.path) in done.failed[0]
    assert live_transcripts.drain(clone, take, now=desk.now) == LiveDrain()
    (unread,) = agent_inbox.vanished(desk.layout, why=agent_inbox.UNREAD)
    assert unread.path == str(bad.path)
    is_mended = True
    desk.codex(bad, "SessionEnd")
    assert len(live_transcripts.drain(clone, take, now=desk.now).runs) == 1 and desk.files() == set()


def test_the_next_session_hears_what_a_killed_one_was_at(desk: Desk) -> None:
    """An agent that dies takes its request along; the next one must not begin as if nothing had been asked."""
    file = turn(rollout(desk.home, desk.place.repo.path), 1)
    file.asks("Now write the lexer, please.").runs("make lexer", code=None)
    desk.codex(file, "SessionStart", "Stop")
    desk.drain()
    desk.told("codex", "SessionStart", "another", None)
    desk.drain()
    (session,) = (one for one in session_files.all(desk.layout) if one.agent_session == file.session)
    assert [item.text for item in session.open if item.state == "open"] == ["cut short: Now write the lexer, please."]


@pytest.mark.parametrize("killed", [False, True])
def test_what_a_helper_wrote_is_noted_with_its_turn(desk: Desk, killed: bool) -> None:
    """Half of an agent's edits are its helpers'; one that is killed tells nobody which helper it was."""
    top, told = str(desk.place.repo.path), {"status": "completed", "agentId": "a0ad4f44468bdf20d"}
    wrote = {"type": "create", "filePath": f"{top}/src/helped.py", "content": "x = 1"}
    aside: dict[str, Any] = {"isSidechain": True, "agentId": told["agentId"], "cwd": top}
    helper = claude.write(
        desk.home / claude.SESSION / f"subagents/agent-{told['agentId']}.jsonl",
        claude.user("Write the helper module, please.", **aside),
        claude.assistant(claude.use("Write", file_path=wrote["filePath"], content="x = 1"), **aside),
        claude.result("ok", told=wrote, **aside),
    )
    lines = [
        claude.user("Have the module written by a helper.", cwd=top),
        claude.assistant(claude.use("Task", "c1", prompt="Write it."), cwd=top),
        claude.result([claude.text("Done.")], "c1", told=told, cwd=top),
        claude.assistant(claude.text("The module is written by a helper, and tested."), cwd=top),
    ]
    path = claude.write(desk.home / f"{claude.SESSION}.jsonl", *lines[: 2 if killed else 4])
    desk.told("claude", "SubagentStop", claude.SESSION, path, helper=helper)
    desk.told("claude", "Stop", claude.SESSION, path)
    desk.drain()
    if not killed:
        (session,) = session_files.all(desk.layout)
        assert [list(one.files) for one in session.turns] == [["src/helped.py"]]
    desk.told("claude", "SessionEnd", claude.SESSION, path)
    desk.drain()
    rows = [row for run in desk.runs() for row in run_files.turns_of(desk.layout.run(run["run_id"]))]
    assert [row["files"] for row in rows if row["prompt"].startswith("Have")] == [["src/helped.py"]], rows


@pytest.mark.parametrize("name", ["a\0b", "\ud800.jsonl"])
def test_a_path_that_no_file_can_have_stops_no_command(desk: Desk, name: str) -> None:
    """One odd pointer must not be the end of every command until somebody finds the file it stands in."""
    desk.told("claude", "PostToolUse", "odd", f"/tmp/{name}", tree="/\0", helper="\ud800")
    desk.codex(turn(rollout(desk.home, desk.place.repo.path), 1), "Stop")
    done = desk.drain(most=1 << 20)
    assert (done.turns, done.vanished) == (1, [f"/tmp/{name}"])
    assert desk.waiting() == 0 and len(agent_inbox.vanished(desk.layout)) == 1


GARBAGE = (
    b"",
    b"\n\n",
    b"{",
    b"nonsense\n",
    b"null\n[]\n3\n",
    b'{"v":1}\n',
    b'{"v":2,"agent":"codex","event":"Stop","session":"s","ts":1,"size":0}\n',
    b'{"v":1,"agent":"other","event":"Stop","session":"s","ts":1,"size":0}\n',
    b'{"v":1,"agent":"codex","event":"Stop","session":"s","ts":"1","size":0}\n',
    b'{"v":1,"agent":"codex","event":"Stop","session":"s","ts":-1,"size":0}\n',
    b'{"v":1,"agent":"codex","event":"Stop","session":"s","ts":true,"size":0}\n',
    b"[" * 100_000 + b"\n",
    b"\xff\xfe\x00\n",
)


def test_damaged_pointers_cost_those_lines_only(desk: Desk) -> None:
    """A hook may be killed in the middle of a line."""
    file = turn(rollout(desk.home, desk.place.repo.path), 1)
    desk.codex(file, "Stop")
    path = Path(desk.layout.inbox) / f"{agent_inbox.stem('codex', file.session)}.jsonl"
    path.write_bytes(b"".join(data + b"\n" for data in GARBAGE) + path.read_bytes())
    assert desk.drain().turns == 1
    assert desk.waiting() == 0
    assert any("damaged lines" in note for note in desk.notes)


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_what_stands_in_the_way_of_pointers_is_said(desk: Desk, make: Callable[[Path], object]) -> None:
    """A folder, a pipe or a link in a file's place must not stop a command."""
    desk.codex(turn(rollout(desk.home, desk.place.repo.path), 1), "Stop")
    make(Path(desk.layout.inbox) / "claude-odd.jsonl")
    assert desk.drain().turns == 1
    assert any("in the way" in note for note in desk.notes)


# ── approvals ────────────────────────────────────────────────────────────────────────────────────


ASKED = ("SessionStart", "PreToolUse", "PermissionRequest")


def asking(desk: Desk, answer: dict[str, Any] | None, *events: str) -> tuple[Any, ...]:
    path, here = desk.home / f"{claude.SESSION}.jsonl", {"cwd": str(desk.place.repo.path)}
    records = [
        claude.user("Please throw the old database away.", **here),
        claude.assistant(claude.use("Bash", command="dropdb old"), **here),
        *([answer] if answer else []),
        claude.assistant(claude.text("That is what there is to say about it."), **here),
    ]
    claude.write(path, *records)
    for event in events:
        call = {"tool": "Bash"} | ({} if event == "PermissionRequest" else {"call": "toolu_1"})
        desk.told("claude", event, claude.SESSION, path, **(call if "Tool" in event or "Perm" in event else {}))
    os.utime(path, ns=(desk.now, desk.now))
    desk.drain()
    (session,) = session_files.all(desk.layout)
    return session.approvals


def test_leave_that_was_given_is_in_the_session(desk: Desk) -> None:
    """Who allowed that? The session must be able to say that somebody did."""
    (one,) = asking(desk, claude.result("gone"), *ASKED, "PostToolUse", "Stop")
    assert (one.text, one.state) == ("dropdb old", "granted")


def test_leave_that_was_given_is_of_the_call_it_was_asked_for(desk: Desk) -> None:
    """An agent makes two calls at once, and a person allows the first: not the second was allowed."""
    path, here = desk.home / f"{claude.SESSION}.jsonl", {"cwd": str(desk.place.repo.path)}
    calls = [claude.use("Bash", f"toolu_{name}", command=f"dropdb {name}") for name in ("old", "new")]
    given = [claude.result("gone", f"toolu_{name}") for name in ("old", "new")]
    told = claude.assistant(claude.text("Both are gone."), **here)
    claude.write(path, claude.user("Throw databases away.", **here), claude.assistant(*calls, **here), *given, told)
    event = json.loads(pointer_of("PermissionRequest", {"tool_name": "Bash", "tool_input": {"command": "dropdb old"}}))
    desk.told("claude", "SessionStart", claude.SESSION, path)
    desk.told("claude", "PermissionRequest", claude.SESSION, path, tool="Bash", about=event["about"])
    desk.told("claude", "Stop", claude.SESSION, path)
    os.utime(path, ns=(desk.now, desk.now))
    desk.drain()
    (session,) = session_files.all(desk.layout)
    assert [(one.text, one.state) for one in session.approvals] == [("dropdb old", "granted")]


def pointer_of(event: str, given: dict[str, Any]) -> bytes:
    """What the hook writes of an event."""
    place = discovery.RepositoryPlace(b"/repo", b"/repo/.git", b"/repo/.git")
    return agent_events.pointer("claude", event, given, place)


def test_leave_that_was_refused_is_in_the_session(desk: Desk) -> None:
    """The next agent should not ask again without a thought."""
    refused = "The user doesn't want to proceed with this tool use. The tool use was rejected"
    (one,) = asking(desk, claude.result(refused, error=True), *ASKED, "Stop")
    assert (one.text, one.state) == ("dropdb old", "denied")


def test_a_question_without_an_answer_is_asked_of_the_next_drain(desk: Desk) -> None:
    """A drain may come while the agent waits for a person."""
    (one,) = asking(desk, None, *ASKED)
    assert one.state == "pending" and desk.waiting() == 1
    (one,) = asking(desk, claude.result("gone"), "PostToolUse", "Stop")
    assert one.state == "granted" and desk.waiting() == 0


def test_a_notice_of_a_question_is_no_second_question(desk: Desk) -> None:
    """Claude asks, and then says that it asked; a person allowed one thing, not two."""
    path, here = desk.home / f"{claude.SESSION}.jsonl", {"cwd": str(desk.place.repo.path)}
    claude.write(
        path,
        claude.user("Please throw the old database away.", **here),
        claude.assistant(claude.use("Bash", command="dropdb old"), **here),
        claude.result("gone"),
        claude.assistant(claude.text("That is what there is to say about it."), **here),
    )
    desk.told("claude", "PermissionRequest", claude.SESSION, path, tool="Bash")
    desk.told("claude", "Notification", claude.SESSION, path, kind="permission_prompt")
    desk.told("claude", "Stop", claude.SESSION, path)
    os.utime(path, ns=(desk.now, desk.now))
    desk.drain()
    (session,) = session_files.all(desk.layout)
    assert [(one.text, one.state) for one in session.approvals] == [("dropdb old", "granted")]


# ── crashes ──────────────────────────────────────────────────────────────────────────────────────

DRAIN = """
import sys
from holdfast.project import Project
Project.open(sys.argv[1]).transcripts.drain()
"""


def killed_at(repo: Path, delay: float) -> None:
    process = subprocess.Popen([sys.executable, "-c", DRAIN, str(repo)], stderr=subprocess.DEVNULL)
    try:
        process.wait(delay)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()


@pytest.mark.parametrize("delay", [0.3, 0.6])
def test_a_drain_that_is_killed_is_done_again(desk: Desk, delay: float) -> None:
    """The background drain dies with the machine's patience; nothing may be lost or doubled by it."""
    file = turn(turn(rollout(desk.home, desk.place.repo.path), 1), 2)
    desk.codex(file, "SessionStart", "Stop", "SessionEnd")
    killed_at(desk.place.repo.path, delay)
    killed_at(desk.place.repo.path, 60)
    (run,) = desk.runs()
    assert run["outputs"]["turns"] == 2 and desk.waiting() == 0


def test_a_disk_that_was_full_costs_nothing_once_it_is_not(desk: Desk) -> None:
    """The background drain meets the full disk, and nobody hears of it: the session must still be there."""
    file = turn(rollout(desk.home, desk.place.repo.path), 1)
    desk.codex(file, "SessionStart", "Stop")
    desk.drain()
    desk.codex(turn(file, 2), "Stop", "SessionEnd")
    told = desk.waiting()

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    subprocess.run([sys.executable, "-c", DRAIN, str(desk.place.repo.path)], preexec_fn=full, check=False)
    assert desk.runs() == [] and desk.waiting() == told == 1
    killed_at(desk.place.repo.path, 60)
    (run,) = desk.runs()
    assert run["outputs"]["turns"] == 2 and desk.waiting() == 0
    assert [one.state for one in session_files.all(desk.layout)] == ["ended"]


@pytest.mark.torture
def test_a_drain_that_is_killed_anywhere_is_done_again(tmp_path: Path, seed: int) -> None:
    """The same at many moments."""
    for number in range(60):
        desk = Desk(tmp_path / str(number))
        file = turn(turn(rollout(desk.home, desk.place.repo.path), 1), 2)
        desk.codex(file, "SessionStart", "Stop", "SessionEnd")
        killed_at(desk.place.repo.path, 0.2 + (seed + number * 37) % 97 / 97)
        killed_at(desk.place.repo.path, 60)
        (run,) = desk.runs()
        assert run["outputs"]["turns"] == 2 and desk.waiting() == 0, number
