"""However sessions begin, overlap, fork and end: each run is recorded once, with its own files, live and by import.

The transcripts are as Codex 0.145, Claude Code 2.1 and Gemini CLI 0.42 write them. Forks are as each client makes
them: Claude Code copies the history with the ids of its records, Codex names the parent and copies nothing, Gemini
CLI has none. `/clear` ends a session and begins another; a compaction goes on in the same file, and the client says
once more that a session starts.
"""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.capture.agents import dialect
from holdfast.project import Project
from tests.capture import claude_lines as claude
from tests.capture import test_gemini as gemini
from tests.capture.rollouts import Rollout, rollout
from tests.capture.test_live import Desk
from tests.making import take_in

AGENTS = ("codex", "claude", "gemini")
Expected = list[tuple[str, set[str]]]


class Talk:
    """One session of a client in a work tree: its transcript, and what its hooks say."""

    def __init__(self, desk: Desk, agent: str, number: int = 1, *, tree: Path | None = None) -> None:
        self.desk, self.agent, self.top = desk, agent, tree or desk.place.repo.path
        self.session = f"5e550000-0000-4000-8000-00000000000{number}"
        self.file: Rollout | None = None
        self.records: list[dict[str, Any]] = []
        self.path = desk.home / f"{agent}/{self.session}.jsonl"
        if agent == "codex":
            self.file = rollout(desk.home, self.top, session=self.session)
            self.path = self.file.path
        if agent == "gemini":
            self.path = desk.home / f"gemini/session-2026-04-25T08-00-{number}e551011.jsonl"

    def hear(self, *events: str, **more: Any) -> "Talk":
        tree = self.desk.place.repo.path / ".git"
        tree = tree if self.top == self.desk.place.repo.path else tree / "worktrees" / self.top.name
        for event in events:
            self.desk.told(self.agent, event, self.session, self.path, tree=str(tree), **more)
        if self.path.exists():
            os.utime(self.path, ns=(self.desk.now, self.desk.now))
        return self

    def turn(self, file: str, *, drain: bool = True) -> "Talk":
        """A turn that writes a file."""
        asked, said = f"Write {file}, please, as we agreed.", f"The file {file} is written as agreed."
        text, path = f"{file} = 1", str(self.top / file)
        if self.file:
            self.file.asks(asked).patches(path, [text]).done(said)
        elif self.agent == "claude":
            about: dict[str, Any] = {"cwd": str(self.top), "sessionId": self.session}
            call = f"toolu_{self.session[-1]}_{len(self.records)}"
            told = {"type": "create", "filePath": path, "content": text, "structuredPatch": []}
            self.records += [
                claude.user(asked, **about),
                claude.assistant(claude.use("Write", call, file_path=path, content=text), **about),
                claude.result("ok", call, told=told, **about),
                claude.assistant(claude.text(said), **about),
            ]
            claude.write(self.path, *self.records)
        else:
            n = f"{self.session[-1]}{len(self.records)}"
            wrote = f"Successfully created and wrote to new file: {path}"
            made = {**gemini.call("write_file", wrote, file_path=path, content=text), "id": f"c{n}"}
            made["result"] = [gemini.response(wrote, f"c{n}")]
            self.records += [
                gemini.user(f"u{n}", asked),
                gemini.gemini(f"g{n}", "", toolCalls=[made]),
                gemini.gemini(f"h{n}", said),
            ]
            self._gemini()
        self.hear("UserPromptSubmit", "Stop")
        if drain:
            self.desk.drain()
        return self

    def _gemini(self) -> None:
        where = hashlib.sha256(os.fsencode(self.top)).hexdigest()
        head = {**gemini.HEADER, "sessionId": self.session, "projectHash": where}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("".join(json.dumps(line) + "\n" for line in (head, *self.records)))

    def compacts(self) -> "Talk":
        """What the client writes, and says, when the conversation grew too long."""
        self.hear("PreCompact")
        summary = "This session is being continued from a previous conversation."
        if self.file:
            content = [{"type": "input_text", "text": summary}]
            history = [{"type": "message", "role": "user", "content": content}]
            self.file.later().row("compacted", {"message": "", "replacement_history": history})
            self.file.row("event_msg", {"type": "context_compacted"})
        elif self.agent == "claude":
            about: dict[str, Any] = {"cwd": str(self.top), "sessionId": self.session}
            self.records += [
                claude.line("system", subtype="compact_boundary", compactMetadata={"trigger": "manual"}, **about),
                claude.user(summary, isCompactSummary=True, isVisibleInTranscriptOnly=True, **about),
            ]
            claude.write(self.path, *self.records)
        else:
            self.records += [{"$set": {"messages": [gemini.user("s1", f"<state_snapshot>{summary}</state_snapshot>")]}}]
            self._gemini()
        return self.hear("SessionStart", source="compact")

    def fork(self, number: int) -> "Talk":
        new = Talk(self.desk, self.agent, number)
        if self.agent == "claude":
            new.records = [{**record, "sessionId": new.session} for record in self.records]
        else:
            new.path.unlink()
            new.file = rollout(self.desk.home, self.top, session=new.session, more={"forked_from_id": self.session})
        return new.hear("SessionStart", source="fork" if self.agent == "claude" else "startup")


def one_after_the_other(desk: Desk, agent: str) -> Expected:
    first, second = Talk(desk, agent, 1).hear("SessionStart").turn("a").hear("SessionEnd"), Talk(desk, agent, 2)
    second.hear("SessionStart").turn("b").hear("SessionEnd")
    return [(first.session, {"a"}), (second.session, {"b"})]


def two_agents_at_once(desk: Desk, agent: str) -> Expected:
    other = AGENTS[AGENTS.index(agent) - 1]
    first, second = Talk(desk, agent, 1).hear("SessionStart"), Talk(desk, other, 2).hear("SessionStart")
    for talk, file in ((first, "a"), (second, "b"), (first, "c"), (second, "d")):
        talk.turn(file)
    for talk in (first, second):
        talk.hear("SessionEnd")
    return [(first.session, {"a", "c"}), (second.session, {"b", "d"})]


def two_sessions_of_one_agent_at_once(desk: Desk, agent: str) -> Expected:
    first, second = Talk(desk, agent, 1).hear("SessionStart"), Talk(desk, agent, 2).hear("SessionStart")
    for talk, file in ((first, "a"), (second, "b"), (first, "c"), (second, "d")):
        talk.turn(file)
    for talk in (first, second):
        talk.hear("SessionEnd")
    return [(first.session, {"a", "c"}), (second.session, {"b", "d"})]


def one_compacts_beside_another(desk: Desk, agent: str) -> Expected:
    first, second = Talk(desk, agent, 1).hear("SessionStart"), Talk(desk, agent, 2).hear("SessionStart")
    second.turn("b")
    first.turn("a").compacts()
    desk.drain()
    second.turn("c").hear("SessionEnd")
    first.hear("SessionEnd")
    return [(first.session, {"a"}), (second.session, {"b", "c"})]


def two_work_trees(desk: Desk, agent: str) -> Expected:
    here, tree = desk.place, desk.home.parent / "beside"
    here.git("worktree", "add", "-q", "-b", "side", str(tree))
    first = Talk(desk, agent, 1).hear("SessionStart").turn("a")
    second = Talk(desk, agent, 2, tree=tree)
    second.hear("SessionStart").turn("b", drain=False)
    first.turn("c").hear("SessionEnd")
    second.turn("d", drain=False).hear("SessionEnd")
    desk.drain()
    where, place = desk.place, here.at(tree)
    try:
        desk.place = place
        desk.drain()
    finally:
        desk.place = where
    return [(first.session, {"a", "c"}), (second.session, {"b", "d"})]


def resumed(desk: Desk, agent: str) -> Expected:
    talk = Talk(desk, agent).hear("SessionStart").turn("a").hear("SessionEnd")
    desk.drain()
    talk.hear("SessionStart", source="resume").turn("b").hear("SessionEnd")
    return [(talk.session, {"a"}), (talk.session, {"b"})]


def forked(desk: Desk, agent: str) -> Expected:
    if agent == "gemini":
        pytest.skip("Gemini CLI has no fork")
    first = Talk(desk, agent).hear("SessionStart").turn("a")
    second = first.fork(2).turn("b")
    first.turn("c").hear("SessionEnd")
    second.hear("SessionEnd")
    # Another session of the same agent may mean that this one was killed: what it does later is a run that goes on.
    return [(first.session, {"a"}), (first.session, {"c"}), (second.session, {"b"})]


def compacted(desk: Desk, agent: str) -> Expected:
    talk = Talk(desk, agent).hear("SessionStart").turn("a").compacts().turn("b").hear("SessionEnd")
    return [(talk.session, {"a", "b"})]


def cleared(desk: Desk, agent: str) -> Expected:
    first = Talk(desk, agent, 1).hear("SessionStart").turn("a").hear("SessionEnd", reason="clear")
    second = Talk(desk, agent, 2).hear("SessionStart", source="clear").turn("b").hear("SessionEnd")
    return [(first.session, {"a"}), (second.session, {"b"})]


def killed(desk: Desk, agent: str) -> Expected:
    first = Talk(desk, agent, 1).hear("SessionStart").turn("a", drain=False)
    second = Talk(desk, agent, 2).hear("SessionStart").turn("b").hear("SessionEnd")
    return [(first.session, {"a"}), (second.session, {"b"})]


STORIES: tuple[Callable[[Desk, str], Expected], ...] = (
    *(one_after_the_other, two_agents_at_once, two_sessions_of_one_agent_at_once, one_compacts_beside_another),
    *(two_work_trees, resumed, forked, compacted, cleared, killed),
)


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_each_run_is_recorded_once_with_its_own_files(
    story: Callable[[Desk, str], Expected], agent: str, tmp_path: Path
) -> None:
    """Who asks why a line is there must get one answer, and the right one."""
    desk = Desk(tmp_path)
    expected = sorted((session, sorted(files)) for session, files in story(desk, agent))
    desk.drain()
    live = told(desk)
    assert live == expected
    clone = desk.place.open()
    for path in sorted(path for path in desk.home.rglob("*.jsonl") if path.is_file()):
        name = next(name for name in AGENTS if dialect(name).is_mine(str(path)))
        take_in(clone, dialect(name), str(path), ended=True)
    assert told(desk) == expected, "an import after it adds nothing"


def told(desk: Desk) -> list[tuple[str, list[str]]]:
    """The runs of the log, on whichever branch: whose session, and which files."""
    project = Project.open(desk.place.repo.path, environ=dict(os.environ), drain=False)
    contexts = (
        json.loads(Path(project.clone.layout.run(run["run_id"]), "context.json").read_text()) for run in desk.runs()
    )
    files = [sorted(one["path"] for one in run["artifacts"]) for run in desk.runs()]
    return sorted((context["agent"]["session"], names) for context, names in zip(contexts, files, strict=True))
