"""A session written as a rollout: in the form Codex resumes, and read back as the same turns."""

import json
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from holdfast.capture import export_codex
from holdfast.capture.export_codex import turns_of, write_rollout
from holdfast.errors import BadInput
from holdfast.model.transcript import Call, Result, TranscriptOrigin, TranscriptStep, TranscriptTurn
from holdfast.values import replace
from tests.capture.codex_files import TURN, reading

AT = datetime(2026, 2, 1, 10, 30, 15, tzinfo=UTC)
ORIGIN = TranscriptOrigin(agent="claude", session="s-1", cwd="/w/app", branch="main", commit="a" * 40)
CALLS = (
    Call(
        id="toolu_1",
        name="mcp.weird name",
        text="no json",
        result=Result(text="boom", size=4, exit_status=3, failed=True),
    ),
    Call(id="toolu_2", name="exec_command", kind="shell", text="sleep 9", command="sleep 9"),
)
TURNS = [
    TranscriptTurn(
        key=f"{TURN}.abc",
        prompt="build it",
        ts="2026-02-01T10:30:15.000Z",
        steps=(
            TranscriptStep(id="msg_1", reasoning="think", text="I build.", calls=CALLS),
            TranscriptStep(id="a", text="a helper's", aside=True),
            TranscriptStep(id="x", text="It failed."),
        ),
    ),
    TranscriptTurn(key="k2", prompt="stop", interrupted=True),
]


def lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def test_the_form_is_the_one_codex_resumes(tmp_path):
    """Each of these, when it was missing, made the real Codex refuse or not list the thread."""
    done = write_rollout(str(tmp_path), TURNS, origin=ORIGIN, at=AT)
    told = lines(done.path)
    meta = told[0]["payload"]

    assert Path(done.path) == tmp_path / f"sessions/2026/02/01/rollout-2026-02-01T10-30-15-{done.thread}.jsonl"
    assert uuid.UUID(done.thread).version == 7
    assert told[0]["type"] == "session_meta"
    assert meta["id"] == done.thread
    assert {"timestamp", "cwd", "originator", "cli_version", "source"} <= meta.keys()
    assert meta["cwd"] == "/w/app"
    assert "model_provider" not in meta
    assert [line["payload"]["message"] for line in told if line["payload"].get("type") == "user_message"] == [
        "build it",
        "stop",
    ]


def test_every_call_has_an_answer_and_a_fitting_name(tmp_path):
    """The model's service refuses a whole conversation for one call without its output."""
    done = write_rollout(str(tmp_path), TURNS, origin=ORIGIN, at=AT)
    told = [line["payload"] for line in lines(done.path)]
    made = [one for one in told if one.get("type") == "function_call"]
    answers = {one["call_id"]: one["output"] for one in told if one.get("type") == "function_call_output"}

    assert [one["name"] for one in made] == ["mcp_weird_name", "exec_command"]
    assert [json.loads(one["arguments"]) for one in made] == [{"input": "no json"}, {"cmd": "sleep 9"}]
    assert answers["toolu_1"] == "Process exited with code 3\nOutput:\nboom"
    assert "interrupted" in answers["toolu_2"]


def test_what_was_written_is_read_back(tmp_path):
    """A session that went to Codex and comes back is recognised, turn by turn."""
    done = write_rollout(str(tmp_path), TURNS, origin=ORIGIN, at=AT)
    told = reading(done.path)
    build, stop = told

    assert (told.origin.session, told.origin.cwd, told.origin.branch) == (done.thread, "/w/app", "main")
    assert (build.prompt, build.answer, stop.prompt) == ("build it", "It failed.", "stop")
    assert build.key.startswith(TURN)
    assert build.steps[0].id == "msg_1"
    assert build.calls[0].result == CALLS[0].result
    assert build.calls[1].command == "sleep 9"
    assert stop.interrupted
    assert not told.counted.unknown
    assert "a helper's" not in repr(build)


def test_the_same_export_twice_is_one_file(tmp_path):
    """What Codex has added to the first one must not be overwritten."""
    first = write_rollout(str(tmp_path), TURNS, origin=ORIGIN, at=AT)
    with open(first.path, "a", encoding="utf-8") as file:
        file.write('{"added": "by Codex"}\n')
    again = write_rollout(str(tmp_path), TURNS, origin=ORIGIN, at=AT)
    grown = write_rollout(str(tmp_path), [*TURNS, replace(TURNS[0], key="k3")], origin=ORIGIN, at=AT)

    assert again == first
    assert lines(first.path)[-1] == {"added": "by Codex"}
    assert grown.thread != first.thread


def test_a_session_nobody_prompted_can_still_be_listed(tmp_path):
    """Codex lists no thread without a person's message."""
    done = write_rollout(str(tmp_path), [replace(TURNS[0], prompt="")], origin=ORIGIN, at=AT)

    assert any(line["payload"].get("type") == "user_message" for line in lines(done.path))


def test_a_session_of_nothing_is_refused(tmp_path):
    """An empty thread would only clutter the list."""
    with pytest.raises(BadInput):
        write_rollout(str(tmp_path), [TranscriptTurn(key="k")], origin=ORIGIN, at=AT)
    assert list(tmp_path.iterdir()) == []


def test_old_turns_of_a_long_session_keep_what_was_asked_and_answered(tmp_path, monkeypatch):
    """A thread that does not fit the model's window cannot be resumed at all."""
    monkeypatch.setattr(export_codex, "MOST_TEXT", 100)
    long = [replace(TURNS[0], key=f"k{n}", prompt=f"prompt {n} " + "x" * 60) for n in range(3)]
    done = write_rollout(str(tmp_path), long, origin=ORIGIN, at=AT)
    *old, last = reading(done.path)

    assert [len(turn.calls) for turn in old] == [0, 0]
    assert [turn.answer for turn in old] == ["It failed."] * 2
    assert len(last.calls) == 2


def test_turns_come_out_of_a_capsules_lines():
    """The runs hold all that is needed; the agent's own file may be long gone."""
    cycles = [
        {
            "turn": 1,
            "n": 1,
            "id": "msg_1",
            "ts": None,
            "model": "m",
            "proposal": {
                "reasoning": "think",
                "text": "I build.",
                "plan": None,
                "calls": [{"id": "c1", "name": "Bash", "kind": "shell", "input": "{}"}, {"id": "c2", "name": "x"}],
            },
            "result": {
                "calls": [{"id": "c1", "output": "ok", "size": 2, "exit_status": 0, "failed": False, "refused": False}],
                "missing": ["c2"],
            },
        },
        {"turn": 3, "n": 1, "id": "late", "proposal": {"text": "left over"}, "result": {}},
    ]
    rows = [{"turn": 1, "key": "k1", "prompt": "build", "ts": None, "interrupted": True}, {"turn": 2, "prompt": "x"}]
    first, second, left = turns_of(cycles, rows)

    assert (first.key, first.prompt, first.interrupted) == ("k1", "build", True)
    assert first.calls[0].result == Result(text="ok", size=2, exit_status=0)
    assert first.calls[1].result is None
    assert (second.prompt, second.steps) == ("x", ())
    assert left.answer == "left over"
