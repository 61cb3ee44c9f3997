"""Claude Code's calls: how each ended, and what it wrote."""

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.model.transcript import MAX_OUTPUT, Result
from tests.capture.claude_lines import assistant, line, only_call, result, text, turns, use, user

OK = {"stdout": "ok", "stderr": "", "interrupted": False, "isImage": False}
DENIED = "The user doesn't want to proceed with this tool use. The tool use was rejected"


def ended(folder: Path, content: Any, **more: Any) -> Result:
    call = only_call(folder, assistant(use("Bash", command="make test")), result(content, **more))
    assert call.result is not None
    return call.result


def test_a_command_that_worked_ended_with_0(tmp_path: Path) -> None:
    """`tests passed` is said of a run whose exit status is known."""
    call = only_call(tmp_path, assistant(use("Bash", command="make test")), result("ok", told=OK, error=False))

    assert (call.kind, call.command, call.id) == ("shell", "make test", "toolu_1")
    assert call.result == Result(text="ok", size=2, exit_status=0)


ENDINGS: dict[str, tuple[Any, dict[str, Any], tuple[int | None, bool, bool]]] = {
    "failed": ("Exit code 3\nno rule", {"error": True, "told": "Error: Exit code 3\nno rule"}, (3, True, False)),
    "blocks": ([text("Exit code 128\nfatal")], {"error": True}, (128, True, False)),
    "no code": ("<tool_use_error>No such tool</tool_use_error>", {"error": True}, (None, True, False)),
    "nothing found": ("", {"told": OK | {"returnCodeInterpretation": "No matches found"}}, (1, False, False)),
    "stopped": ("half", {"told": OK | {"interrupted": True}}, (None, True, False)),
    "behind": ("Command running in background", {"told": OK | {"backgroundTaskId": "b1"}}, (None, False, False)),
    "denied": (DENIED, {"error": True}, (None, True, True)),
    "denied by kind": ("You may not.", {"error": True, "toolDenialKind": "user-rejected"}, (None, True, True)),
    "denied by decision": (
        "Claude requested permissions to run it, but you haven't granted it yet.",
        {"error": True, "permissionDecision": {"decision": "reject", "source": "config"}},
        (None, True, True),
    ),
}


@pytest.mark.parametrize("how", ENDINGS)
def test_how_a_command_ended(tmp_path: Path, how: str) -> None:
    """A failed run taken for a good one, or a refusal for a failure, is remembered wrongly."""
    content, more, (status, failed, refused) = ENDINGS[how]
    got = ended(tmp_path, content, **more)

    assert (got.exit_status, got.failed, got.refused) == (status, failed, refused)


@pytest.mark.parametrize(
    ("content", "output"),
    [
        ("Exit code 1", ""),
        ("Exit code 1\n", ""),
        ("Exit code 3\nno rule", "no rule"),
        ("Error: Exit code 2\n\nsrc/a.c: no such file", "src/a.c: no such file"),
    ],
)
def test_how_claude_code_says_that_a_command_failed_is_not_what_it_printed(
    tmp_path: Path, content: str, output: str
) -> None:
    """A page quoted “Exit code 1” of a search that printed nothing."""
    got = ended(tmp_path, content, error=True)
    assert (got.text, got.size, got.exit_status is None) == (output, len(output), False)


def test_a_long_output_keeps_its_two_ends(tmp_path: Path) -> None:
    """The first error and the last line tell; all of it would fill the store."""
    got = ended(tmp_path, "begin\n" + "x" * 100_000 + "\nend", told=OK)

    assert got.size == 100_010
    assert len(got.text) <= MAX_OUTPUT
    assert got.text.startswith("begin") and got.text.endswith("end")


def test_reminders_and_our_own_answers_are_not_taken_as_output(tmp_path: Path) -> None:
    """What Holdfast told the agent would come back as if the agent had found it (law 16)."""
    reminded = ended(tmp_path, "ok<system-reminder>The file changed.</system-reminder>", told=OK)
    call = only_call(
        tmp_path, assistant(use("mcp__holdfast__recall", query="tabs")), result([text("DEC-abcdefg: tabs, not spaces")])
    )

    assert reminded.text == "ok"
    assert (call.kind, call.result) == ("mcp", Result(text="", size=29))


PATCH = [{"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 3, "lines": [" a", "-b", "+    c", "+d"]}]
EDITS: dict[str, tuple[dict[str, Any], Any, tuple[str, tuple[str, ...], tuple[str, ...], bool]]] = {
    "by its patch": (
        use("Edit", file_path="/w/app/a.py", old_string="b", new_string="c\nd"),
        {"filePath": "/w/app/a.py", "oldString": "b", "newString": "c\nd", "structuredPatch": PATCH},
        ("update", ("    c", "d"), ("b",), False),
    ),
    "by its words": (
        use("Edit", file_path="/w/app/a.py", old_string="a\nb\n", new_string="a\nc\n"),
        "The file has been updated",
        ("update", ("c",), ("b",), False),
    ),
    "many": (
        use(
            "MultiEdit",
            file_path="/w/app/a.py",
            edits=[{"old_string": "a", "new_string": "b"}, {"old_string": "", "new_string": "c"}],
        ),
        None,
        ("update", ("b", "c"), ("a",), False),
    ),
    "a new file": (
        use("Write", file_path="/w/app/a.py", content="one\r\ntwo\n"),
        {"type": "create", "filePath": "/w/app/a.py", "content": "one\r\ntwo\n", "structuredPatch": []},
        ("add", ("one", "two"), (), True),
    ),
    "an old file, whole": (
        use("Write", file_path="/w/app/a.py", content="one\ntwo\n"),
        {"type": "update", "content": "one\ntwo\n", "originalFile": "zero\none\n", "structuredPatch": PATCH},
        ("update", ("one", "two"), ("zero",), True),
    ),
    "an old file that is too large to be told": (
        use("Write", file_path="/w/app/a.py", content="one\ntwo\n"),
        {"type": "update", "content": "one\ntwo\n", "originalFile": None, "structuredPatch": PATCH},
        ("update", ("    c", "d"), ("b",), False),
    ),
    "a cell": (
        use("NotebookEdit", notebook_path="/w/app/a.py", new_source="x = 1", edit_mode="insert"),
        {"new_source": "x = 1", "notebook_path": "/w/app/a.py"},
        ("update", ("x = 1",), (), False),
    ),
}


@pytest.mark.parametrize("how", EDITS)
def test_what_an_edit_wrote(tmp_path: Path, how: str) -> None:
    """`why` finds a line's run by these; a line of context would point to the wrong one."""
    block, told, (action, added, removed, whole) = EDITS[how]
    call = only_call(tmp_path, assistant(block), result("done", told=told))
    [edit] = call.edits

    assert (call.kind, call.paths, edit.path) == ("edit", ("/w/app/a.py",), "/w/app/a.py")
    assert (edit.action, edit.added, edit.removed, edit.whole) == (action, added, removed, whole)


@pytest.mark.parametrize("how", EDITS)
def test_of_an_edit_that_a_person_changed_only_the_proposed_lines_are_told(tmp_path: Path, how: str) -> None:
    """What a person wrote into the proposal would be told as an agent's (law 6)."""
    block, told, (action, added, *_) = EDITS[how]
    proposal = json.loads(json.dumps(block).replace("two", "dva").replace(r"c\nd", r"c\ne"))
    told = told | {"userModified": True} if isinstance(told, dict) else {"userModified": True}
    [edit] = only_call(tmp_path, assistant(proposal), result("done", told=told)).edits

    left = {"by its patch": ("    c",), "a new file": ("one",), "an old file, whole": ("one",), "a cell": added}
    assert (edit.action, edit.added, edit.whole) == (action, left.get(how, ()), False)


@pytest.mark.parametrize(
    "answer", [[result("String to replace not found", error=True)], [result(DENIED, error=True)], []]
)
def test_an_edit_that_did_not_happen_wrote_nothing(tmp_path: Path, answer: list[dict[str, Any]]) -> None:
    """A refused line would be blamed on a run that never wrote it (law 6)."""
    call = only_call(tmp_path, assistant(use("Edit", file_path="a.py", old_string="a", new_string="b")), *answer)

    assert (call.edits, call.paths) == ((), ("a.py",))


def test_a_todo_list_is_the_plan_as_it_stands(tmp_path: Path) -> None:
    """What is left open is what the next agent goes on with."""
    todos = [
        {"content": "Read it", "status": "completed", "activeForm": "Reading"},
        {"content": "Write it", "status": "in_progress", "activeForm": "Writing"},
        {"content": "Ship it", "status": "pending", "activeForm": "Shipping"},
    ]
    call = only_call(tmp_path, assistant(use("TodoWrite", todos=todos)), result("ok", told={"newTodos": todos}))

    assert call.kind == "plan"
    assert [(todo.text, todo.status) for todo in call.todos or ()] == [
        ("Read it", "done"),
        ("Write it", "started"),
        ("Ship it", "open"),
    ]


def test_single_tasks_add_up_to_a_plan(tmp_path: Path) -> None:
    """A call names one task; the others are still there."""
    reminder = {"type": "task_reminder", "content": [{"id": "9", "subject": "Old one", "status": "pending"}]}
    [turn] = turns(
        tmp_path,
        user("plan it"),
        line("attachment", attachment=reminder),
        assistant(use("TaskCreate", "c1", subject="Read it", description="…")),
        result("Task #1 created successfully: Read it", "c1", told={"task": {"id": "1", "subject": "Read it"}}),
        assistant(use("TaskCreate", "c2", subject="Write it")),
        result("Task #2 created successfully: Write it", "c2"),
        assistant(use("TaskUpdate", "c3", taskId="1", status="completed")),
        result("Updated task #1 status", "c3"),
        assistant(use("TaskUpdate", "c4", taskId="2", status="deleted", subject="Drop it")),
        result("Updated task #2 status", "c4"),
        assistant(use("TaskUpdate", "c5", taskId="1", status="pending")),
        result("No such task", "c5", error=True),
    )
    plans = [call.todos for call in turn.calls]

    assert [(todo.text, todo.status) for todo in plans[3] or ()] == [
        ("Old one", "open"),
        ("Read it", "done"),
        ("Drop it", "dropped"),
    ]
    assert plans[4] is None


def test_a_plan_that_is_put_to_the_person_keeps_its_text(tmp_path: Path) -> None:
    """It is the best account of what was meant."""
    call = only_call(tmp_path, assistant(use("ExitPlanMode", plan="1. read\n2. write")), result("approved"))

    assert call.kind == "plan"
    assert "2. write" in call.text


def test_results_find_their_calls_in_any_order(tmp_path: Path) -> None:
    """Calls of one answer run side by side."""
    [turn] = turns(
        tmp_path,
        user("read both"),
        assistant(use("Read", "c1", file_path="a"), use("Grep", "c2", pattern="x", path="src")),
        result("of c2", "c2"),
        result("of c1", "c1"),
        result("of nobody", "c9"),
    )
    [first, second] = turn.calls

    assert (first.kind, first.paths, first.result) == ("read", ("a",), Result(text="of c1", size=5))
    assert (second.kind, second.paths, second.result) == ("search", ("src",), Result(text="of c2", size=5))


def test_a_search_of_the_model_service_has_its_result_in_the_answer(tmp_path: Path) -> None:
    """Such a call is never answered by a user record."""
    blocks: list[dict[str, Any]] = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "text", "text": "found"}]},
    ]
    call = only_call(tmp_path, assistant(*blocks))

    assert (call.kind, call.result) == ("web", Result(text="found", size=5))


def test_a_call_and_a_result_without_ids_belong_together_if_they_are_alone(tmp_path: Path) -> None:
    """Trimmed transcripts leave ids out."""
    block = {"type": "tool_use", "name": "bash", "input": {"command": "ls"}}
    call = only_call(tmp_path, assistant(block), user([{"type": "tool_result", "content": "a.txt"}]))

    assert call.result == Result(text="a.txt", size=5, exit_status=0)
