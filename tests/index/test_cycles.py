"""The steps of a turn: what an agent thought and what failed is found, and does not crowd the turns."""

import json
from pathlib import Path
from typing import Any

from holdfast.git.clone import Clone
from holdfast.index.refresh import path_of, refresh
from holdfast.index.sqlite import Index, drop
from holdfast.index.turn_steps import MAX_CYCLES, MAX_SAID, with_steps
from tests.index.conftest import ran
from tests.index.test_turns import RUN, capsule

THOUGHT = "The parser keeps its handle open after a failure."


def cycle(turn: object, n: object, *, failed: str = "", **proposal: Any) -> dict[str, Any]:
    calls = [{"id": "c1", "name": "Bash", "input": '{"command": "pytest -q tests/test_parser.py"}'}]
    answers = [{"id": "c1", "output": failed or "3 passed", "failed": bool(failed)}]
    return {
        "turn": turn, "n": n, "ts": "2026-11-15T19:42:01.000000Z",
        "proposal": {"reasoning": "", "text": "", "plan": None, "calls": calls, **proposal},
        "result": {"calls": answers},
    }  # fmt: skip


def told(cycles: list[Any], said: object = ()) -> list[tuple[int, str, str]]:
    return list(with_steps([{"turn": 1, "said": said}], cycles)[0]["cycles"])


def keep(folder: Path, cycles: list[Any]) -> None:
    (folder / "cycles.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in cycles))


def rows(clone: Clone) -> list[tuple[Any, ...]]:
    index = Index(path_of(clone))
    refresh(clone, index)
    found = index.db.execute(
        "SELECT c.name, c.title, c.text, c.what, c.seq, c.content, p.name, c.ts FROM row AS c "
        "JOIN row AS p ON p.id = c.parent WHERE c.what = 'cycle' AND c.id IN "
        "(SELECT rowid FROM words WHERE words MATCH 'handle OR traceback') ORDER BY c.name"
    ).fetchall()
    index.close()
    return found


def test_a_step_is_found_by_what_the_agent_thought_and_by_what_failed(clone: Clone) -> None:
    """Why something was done is often said nowhere else."""
    failure = "Traceback: the handle is closed"
    keep(capsule(clone), [cycle(1, 4, reasoning=THOUGHT), cycle(1, 5), cycle(2, 9, failed=failure)])
    ran(clone, 3, task="T-9", output_sha256="0" * 64)

    found = rows(clone)

    assert [row[0] for row in found] == [f"{RUN}#1.4", f"{RUN}#2.9"]
    assert found[0][1:] == (THOUGHT, THOUGHT, "cycle", None, None, RUN, "2026-11-15T19:42:01.000000Z")
    assert found[1][2] == f"pytest -q tests/test_parser.py\n{failure}"
    drop(path_of(clone))
    assert rows(clone) == found


def test_what_was_said_aloud_is_not_told_twice(clone: Clone) -> None:
    """It stands in the turn; two hits with one text take the place of another answer."""
    assert told([cycle(1, 1, text=THOUGHT)], [THOUGHT]) == []
    assert [one[2] for one in told([cycle(1, 1, text=THOUGHT)], ["else"])] == [THOUGHT]


def test_of_a_failing_call_only_a_command_is_kept() -> None:
    """What an edit was given is code; it stands in the file, or nowhere."""
    for given, kept in (
        ('{"command": ["make", "x"]}', "make x\n"),
        ('{"cmd": "make x"}', "make x\n"),
        ('{"old_string": "make x"}', ""),
        ('{"broken', ""),
    ):
        calls = [{"id": "c1", "input": given}]
        assert told([cycle(1, 1, failed=THOUGHT, calls=calls)])[0][2] == f"{kept}{THOUGHT}"


def test_steps_are_bounded_and_any_capsule_can_be_read() -> None:
    """A day's work of thousands of steps must not fill the index, nor a damaged one stop it."""
    many = [cycle(1, n, reasoning=f"{THOUGHT} {'x' * 9000}") for n in range(1, 200)]
    found = told(many)
    assert len(found) == MAX_CYCLES and {len(one[2]) for one in found} == {MAX_SAID}
    odd: list[Any] = [
        {}, {"turn": 1, "n": 1}, {"turn": [1], "n": 1}, cycle(1, "1", reasoning=THOUGHT),
        cycle(1, 2, reasoning=[THOUGHT]), cycle(7, 1, reasoning=THOUGHT), cycle(1, 3, reasoning="ok. go on"),
        {"turn": 1, "n": 4, "proposal": 5, "result": {"calls": [{"id": [], "failed": True, "output": 3}]}},
    ]  # fmt: skip
    assert told(odd, "not a list") == []
    assert with_steps([{"turn": [2]}, {}], odd) == [{"turn": [2], "cycles": []}, {"cycles": []}]
