"""Gemini CLI's transcripts: documents and update logs, whose words they are and what calls did."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from holdfast.capture.agents import dialect
from holdfast.capture.agents.gemini import MAX_LOG, MAX_MESSAGES
from holdfast.capture.agents.transcript_reader import TranscriptReading
from holdfast.errors import BadInput
from holdfast.model.transcript import MAX_STEPS, Call, Result, TranscriptTurn
from tests.git.place import Place
from tests.making import take_in

GEMINI = dialect("gemini")
SESSION = "5e551011-0000-4000-8000-000000000001"
HASH = hashlib.sha256(b"/w/app").hexdigest()
HEADER = {"sessionId": SESSION, "projectHash": HASH, "startTime": "2026-04-25T08:00:00.000Z", "kind": "main"}


def user(key: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"id": key, "timestamp": "2026-04-25T08:00:01.000Z", "type": "user", "content": content, **more}


def gemini(key: str, content: Any = "", **more: Any) -> dict[str, Any]:
    known = {"id": key, "timestamp": "2026-04-25T08:00:02.000Z", "type": "gemini", "model": "model-g"}
    return {**known, "content": content, **more}


def response(output: str, call: str = "c1", *, error: bool = False) -> dict[str, Any]:
    told = {"error" if error else "output": output}
    return {"functionResponse": {"id": call, "name": "tool", "response": told}}


def call(tool: str, output: str | None, status: str = "success", **args: Any) -> dict[str, Any]:
    result = [] if output is None else [response(output, error=status == "error")]
    return {"id": "c1", "name": tool, "args": args, "result": result, "status": status}


def log(path: Path, *lines: dict[str, Any]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in (HEADER, *lines)), encoding="utf-8")
    return str(path)


def read(path: str) -> TranscriptReading:
    return GEMINI.read(path, 0, None)


def turns(folder: Path, *lines: dict[str, Any]) -> list[TranscriptTurn]:
    return list(read(log(folder / "session-2026-04-25T08-00-5e551011.jsonl", *lines)))


def only_call(folder: Path, told: dict[str, Any]) -> Call:
    [turn] = turns(folder, user("u1", "do it"), gemini("g1", toolCalls=[told]))
    [made] = turn.calls
    return made


def test_a_document_and_an_update_log_give_the_same_turns(tmp_path: Path) -> None:
    """Both generations lie side by side in one folder."""
    thought = {"subject": "Look", "description": "at the file", "timestamp": "2026-04-25T08:00:02.000Z"}
    said = [user("u1", "list files"), gemini("g1", "Here they are.", thoughts=[thought]), user("u2", "thanks")]
    old = tmp_path / "session-old.json"
    old.write_text(json.dumps({**HEADER, "messages": said}, indent=2), encoding="utf-8")
    flat = tmp_path / "session-flat.json"
    flat.write_text(json.dumps({**HEADER, "messages": said}), encoding="utf-8")
    [first, second] = turns(tmp_path, *said)

    for path in (old, flat):
        assert [(one.key, one.prompt, one.steps) for one in read(str(path))] == [
            ("u1", "list files", first.steps),
            ("u2", "thanks", second.steps),
        ]
    [step] = first.steps
    assert (step.id, step.model, step.text, step.reasoning) == ("g1", "model-g", "Here they are.", "Look: at the file")


def test_a_message_told_again_has_grown(tmp_path: Path) -> None:
    """Each step is written two or three times: its calls must not count as often."""
    [turn] = turns(
        tmp_path,
        user("u1", [{"text": "list files"}]),
        gemini("g1"),
        {"$set": {"lastUpdated": "2026-04-25T08:00:03.000Z"}},
        gemini("g1", toolCalls=[call("run_shell_command", "Output: a.txt\nProcess Group PGID: 1", command="ls")]),
        user("u2", [response("Output: a.txt")]),
        gemini("g2", "One file."),
    )

    assert [step.id for step in turn.steps] == ["g1", "g2"]
    assert len(turn.calls) == 1
    assert turn.calls[0].result == Result(text="Output: a.txt\nProcess Group PGID: 1", size=35, exit_status=0)


def test_a_history_told_anew_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    """A resume restates the history without prompts and results; a compression puts a summary there."""
    told = call("write_file", "Successfully created and wrote to new file: /w/app/a", file_path="a", content="x\n")
    restated = [
        user("s1", [{"text": "<session_context>\nThis is the Gemini CLI.</session_context>"}]),
        gemini("g1", [{"text": "I write."}, {"functionCall": {"id": "c1", "name": "write_file", "args": {}}}]),
        user("g1_response", [response("written")]),
        gemini("other", "Written."),
    ]
    said = turns(
        tmp_path,
        {"$set": {"messages": restated[:1]}},
        user("u1", [{"text": "write a"}]),
        gemini("g1", "I write.", toolCalls=[told]),
        gemini("g2", "Written."),
        {**HEADER, "startTime": "2026-04-26T08:00:00.000Z"},
        {"$set": {"messages": restated[:1]}},
        {"$set": {"messages": restated}},
        user("u2", [{"text": "go on"}]),
        {"$set": {"messages": [user("x", "<state_snapshot>All of it.</state_snapshot>"), user("u3", "kept")]}},
        gemini("g3", "Gone on."),
    )

    assert [(turn.prompt, [step.id for step in turn.steps]) for turn in said] == [
        ("write a", ["g1", "g2"]),
        ("go on", []),
        ("kept", ["g3"]),
    ]
    assert said[0].calls[0].edits[0].added == ("x",)


def test_a_history_that_is_only_restated_is_read(tmp_path: Path) -> None:
    """A `.json` that is resumed goes on in a log that begins with all of it, results apart from calls."""
    asked = {"functionCall": {"id": "c1", "name": "run_shell_command", "args": {"command": "make"}}}
    past = [user("u1", "make it"), gemini("g1", [asked]), user("r1", [response("no rule", error=True)])]
    again = [user("u2", "again"), gemini("g2", "1"), user("u3", "again"), gemini("g3", "2")]
    start = {"$set": {"messages": [user("s1", "<session_context>x</session_context>")]}}
    [turn, *more] = turns(tmp_path, start, {"$set": {"messages": [*past, *again]}})

    assert (turn.prompt, turn.calls[0].command) == ("make it", "make")
    assert turn.calls[0].result == Result(text="no rule", size=7, failed=True)
    assert [(one.prompt, one.answer) for one in more] == [("again", "1"), ("again", "2")]


def test_a_rewind_takes_a_message_and_all_after_it(tmp_path: Path) -> None:
    """The person took them back; an unknown id takes all, as it does in the client."""
    past = [user("u1", "one"), gemini("g1", "1"), user("u2", "two"), gemini("g2", "2")]
    assert [turn.prompt for turn in turns(tmp_path, *past, {"$rewindTo": "u2"}, user("u3", "three"))] == [
        "one",
        "three",
    ]
    assert [turn.prompt for turn in turns(tmp_path, *past, {"$rewindTo": "?"}, user("u3", "three"))] == ["three"]


NOT_A_PROMPT: dict[str, Any] = {
    "the session's context": [{"text": "<session_context>\nToday is Monday.\n</session_context>"}],
    "the same, older": "This is the Gemini CLI. We are setting up the context for our chat.",
    "a result": [response("done")],
    "a hook's": "<hook_context>memory</hook_context>",
    "the program's": "System: Please continue.",
    "a number": 3,
}


@pytest.mark.parametrize("what", NOT_A_PROMPT)
def test_what_no_person_said_is_no_prompt(tmp_path: Path, what: str) -> None:
    """A program's words taken for a person's would be believed."""
    [turn] = turns(tmp_path, user("u1", "begin"), gemini("g1", "1"), user("u2", NOT_A_PROMPT[what]), gemini("g2", "2"))

    assert (turn.prompt, turn.answer) == ("begin", "2")


def test_a_pack_that_gemini_escaped_is_dropped_with_its_wrapper(tmp_path: Path) -> None:
    """Gemini escapes the brackets in what a hook says: our own marks cannot be looked for (law 16)."""
    pack = "&lt;holdfast-data k3&gt;\nDEC-abcdefg: tabs\n&lt;/holdfast-data k3&gt;"
    [turn] = turns(tmp_path, user("u1", [{"text": f"<hook_context>{pack}</hook_context>\n\nfix the parser"}]))

    assert turn.prompt == "fix the parser"


def test_a_prompt_is_told_without_hooks_files_and_private_words(tmp_path: Path) -> None:
    """Gemini writes what our hook says into the person's own message (law 16)."""
    files = "\n--- Content from referenced files ---\nall of a.py\n--- End of content ---"
    [hooked, shown, plain] = turns(
        tmp_path,
        user(
            "u1",
            [
                {"text": "<hook_context>DEC-abcdefg</hook_context>\n\nfix it"},
                {"text": "<hook_context>x</hook_context>"},
            ],
        ),
        user("u2", [{"text": "look at all of a.py"}], displayContent=[{"text": "look at @a.py"}]),
        user("u3", [{"text": "look at @a.py"}, {"text": files}, {"text": "<private>key</private>"}]),
    )

    assert (hooked.prompt, shown.prompt, plain.prompt) == ("fix it", "look at @a.py", "look at @a.py")


ENDINGS: dict[str, tuple[dict[str, Any], tuple[int | None, bool, bool]]] = {
    "worked": (call("run_shell_command", "Output: ok\nProcess Group PGID: 1", command="x"), (0, False, False)),
    "failed": (
        call("run_shell_command", "Output: no\nExit Code: 3\nProcess Group PGID: 1", command="x"),
        (3, True, False),
    ),
    "older": (
        call(
            "run_shell_command",
            "Command: x\nDirectory: /tmp\nOutput: Exit Code: 7\nError: (none)\nExit Code: 0\nSignal: 0",
            command="x",
        ),
        (0, False, False),
    ),
    "wrapped": (
        call("run_shell_command", "<untrusted_context>\nOutput: n\nExit Code: 2\n</untrusted_context>", command="x"),
        (2, True, False),
    ),
    "no tool": (call("write_todos", "Tool not found", "error", todos=[{"description": "x"}]), (None, True, False)),
    "refused": (call("run_shell_command", "[Operation Cancelled]", "cancelled", command="x"), (None, True, True)),
}


@pytest.mark.parametrize("how", ENDINGS)
def test_how_a_call_ended(tmp_path: Path, how: str) -> None:
    """Gemini calls a command that failed a success; what it printed says otherwise."""
    told, (status, failed, refused) = ENDINGS[how]
    made = only_call(tmp_path, told)

    assert made.result is not None
    assert (made.result.exit_status, made.result.failed, made.result.refused) == (status, failed, refused)
    assert "untrusted_context" not in made.result.text
    assert made.todos is None


def test_a_call_that_still_runs_has_no_result(tmp_path: Path) -> None:
    """A client that was killed leaves it so: interrupted."""
    assert only_call(tmp_path, call("run_shell_command", None, "executing", command="sleep 9")).result is None


def shown(told: dict[str, Any], **display: Any) -> dict[str, Any]:
    return {**told, "resultDisplay": display}


DIFF = "Index: a\n====\n--- a\tCurrent\n+++ a\tProposed\n@@ -1,2 +1,2 @@\n x\n-    one\n+    two\n\\ No newline"
CREATED = "Successfully created and wrote to new file: /w/app/a. Here is the updated code:\nx"
EDITS: dict[str, tuple[dict[str, Any], tuple[str, tuple[str, ...], tuple[str, ...], bool]]] = {
    "by its diff": (
        shown(call("replace", "ok", file_path="a", old_string="one", new_string="two"), fileDiff=DIFF),
        ("update", ("    two",), ("    one",), False),
    ),
    "by its words": (
        call("replace", "ok", file_path="a", old_string="x\none", new_string="x\ntwo"),
        ("update", ("two",), ("one",), False),
    ),
    "a new file": (call("write_file", CREATED, file_path="a", content="one\ntwo\n"), ("add", ("one", "two"), (), True)),
    "an old one": (
        shown(call("write_file", "ok", file_path="a", content="x\n"), originalContent="y\n", newContent="x\n"),
        ("update", ("x",), ("y",), True),
    ),
}


@pytest.mark.parametrize("how", EDITS)
def test_what_an_edit_wrote(tmp_path: Path, how: str) -> None:
    """`why` finds a line's run by these."""
    told, (action, added, removed, whole) = EDITS[how]
    made = only_call(tmp_path, told)
    [edit] = made.edits

    assert (made.kind, edit.path) == ("edit", "a")
    assert (edit.action, edit.added, edit.removed, edit.whole) == (action, added, removed, whole)


@pytest.mark.parametrize("how", EDITS)
def test_an_edit_that_a_person_changed_is_the_agents_as_far_as_it_was_proposed(tmp_path: Path, how: str) -> None:
    """What a person wrote into the proposal would be told as an agent's (law 6)."""
    told, (action, added, *_) = EDITS[how]
    changed = {**told, "args": {**told["args"], "modified_by_user": True}}
    [edit] = only_call(tmp_path, changed).edits
    assert (edit.action, edit.added) == (action, ())
    changed["args"]["ai_proposed_content"] = "and two\ntwo\nx"
    [edit] = only_call(tmp_path, changed).edits
    assert edit.added == tuple(line for line in added if line.strip() in ("two", "x"))


@pytest.mark.parametrize("status", ["error", "cancelled"])
def test_an_edit_that_did_not_happen_wrote_nothing(tmp_path: Path, status: str) -> None:
    """A line would be blamed on a run that never wrote it (law 6)."""
    assert only_call(tmp_path, call("write_file", "no", status, file_path="a", content="x")).edits == ()


def test_a_todo_list_is_the_plan_as_it_stands(tmp_path: Path) -> None:
    """What is left open is what the next agent goes on with."""
    items = [{"description": "Read", "status": "completed"}, {"description": "Write", "status": "cancelled"}]
    made = only_call(tmp_path, call("write_todos", "ok", todos=items))

    assert [(todo.text, todo.status) for todo in made.todos or ()] == [("Read", "done"), ("Write", "dropped")]


def test_what_holdfast_answered_is_not_kept(tmp_path: Path) -> None:
    """Memory would confirm itself (law 16)."""
    made = only_call(tmp_path, call("mcp_holdfast_recall", "DEC-abcdefg: tabs", query="tabs"))

    assert (made.kind, made.result) == ("mcp", Result(text="", size=17))


def test_a_cancelled_request_was_interrupted(tmp_path: Path) -> None:
    """Whoever stops an agent disagrees."""
    info = {"id": "i1", "timestamp": "2026-04-25T08:00:03.000Z", "type": "info", "content": "Request cancelled."}
    [first, second] = turns(tmp_path, user("u1", "one"), gemini("g1", "1"), info, user("u2", "two"))

    assert (first.interrupted, second.interrupted) == (True, False)


def test_a_long_turn_goes_on_in_the_next(tmp_path: Path) -> None:
    """No reader holds an endless loop as one turn."""
    said = turns(tmp_path, user("u1", "loop"), *(gemini(f"g{n}", "x") for n in range(MAX_STEPS + 2)))

    assert [(len(turn.steps), turn.continues, turn.key) for turn in said] == [
        (MAX_STEPS, False, "u1"),
        (2, True, f"g{MAX_STEPS}"),
    ]


def test_a_helpers_file_names_whose_helper_it_is(tmp_path: Path) -> None:
    """Its task is the agent's word."""
    reading = read(
        log(
            tmp_path / f"chats/{SESSION}/helper-1.jsonl",
            {"$set": {"kind": "subagent", "sessionId": "h1"}},
            user("u1", "search"),
            gemini("g1", "found"),
        )
    )
    [turn] = reading

    assert (reading.origin.role, reading.origin.parent, reading.origin.session) == ("subagent", SESSION, "h1")
    assert (turn.prompt, turn.answer) == ("", "found")


def place(home: Path, project: str) -> str:
    return log(home / f"tmp/{project}/chats/session-2026-04-25T08-00-5e551011.jsonl", user("u1", "hello"))


def test_the_folder_is_the_one_the_tool_noted(tmp_path: Path) -> None:
    """No record names it: without it no session would find its repository."""
    path = place(tmp_path, "app")
    assert read(path).origin.cwd is None
    (tmp_path / "projects.json").write_text('{"projects":{"/w/app":"app"}}', encoding="utf-8")
    assert read(path).origin.cwd == "/w/app"
    (tmp_path / "history/app").mkdir(parents=True)
    (tmp_path / "history/app/.project_root").write_text("/w/moved\n", encoding="utf-8")
    assert read(path).origin.cwd == "/w/moved"
    (tmp_path / "tmp/app/.project_root").write_text("/w/here", encoding="utf-8")
    assert read(path).origin.cwd == "/w/here"


def test_an_older_project_is_known_by_its_hash(tmp_path: Path) -> None:
    """A folder is believed only if its sha256 is the session's."""
    path = place(tmp_path, HASH)
    (tmp_path / "projects.json").write_text('{"projects":{"/w/lib":"lib","/w/app":"app"}}', encoding="utf-8")
    assert read(path).origin.cwd == "/w/app"
    (tmp_path / "projects.json").unlink()
    assert (read(path).origin.cwd, read(path).origin.cwd_sha256) == (None, HASH)


def test_a_log_wins_over_the_document_of_the_same_session(tmp_path: Path) -> None:
    """A resumed session would be imported twice, once without its end."""
    chats = tmp_path / ".gemini/tmp/app/chats"
    new = log(chats / "session-2026-04-25T08-00-5e551011.jsonl", user("u1", "hi"))
    old = log(chats / "session-2026-01-01T08-00-0ddba110.json", user("u1", "hi"))
    log(chats / "session-2026-04-24T08-00-5e551011.json", user("u1", "hi"))
    log(tmp_path / ".gemini/tmp/app/logs.json", user("u1", "hi"))
    helper = log(chats / SESSION / "helper.jsonl", user("u1", "hi"))
    for at, path in enumerate((old, helper, new)):
        os.utime(path, (at, at + 1))

    home = GEMINI.home({"GEMINI_CLI_HOME": str(tmp_path)}, "/home/ada")
    assert list(GEMINI.files(home)) == [new, helper, old]
    assert GEMINI.home({}, "/home/ada") == "/home/ada/.gemini"


def test_a_session_is_known_by_what_it_holds(tmp_path: Path) -> None:
    """Labels and folders lie."""
    path = log(tmp_path / "notes.txt", user("u1", "hi"))
    other = tmp_path / "other.json"
    other.write_text('{"history": [{"role": "user"}], "sessionId": 1}', encoding="utf-8")

    assert GEMINI.is_mine(path) and not GEMINI.is_mine(str(other))
    with pytest.raises(BadInput, match="not a transcript"):
        read(str(other))


def test_unknown_records_are_counted(tmp_path: Path) -> None:
    """New kinds appear; the rest of the file is still read."""
    reading = read(log(tmp_path / "s.jsonl", {"sparkle": 1}, {"id": "x", "type": "glitter"}, user("u1", "hi")))

    assert [turn.prompt for turn in reading] == ["hi"]
    assert reading.counted.unknown == {"sparkle": 1, "glitter": 1}
    assert reading.counted.end == (tmp_path / "s.jsonl").stat().st_size


def test_what_is_too_large_is_refused_with_a_sentence(tmp_path: Path) -> None:
    """A log has to be held to be folded: one beyond the limit would take the machine's memory."""
    large = Path(log(tmp_path / "large.jsonl", user("u1", "hi")))
    os.truncate(large, MAX_LOG + 1)
    with pytest.raises(BadInput, match="128 MiB"):
        read(str(large))

    many = {"$set": {"messages": [{"id": str(n)} for n in range(MAX_MESSAGES + 1)]}}
    with pytest.raises(BadInput, match="20000 messages"):
        read(log(tmp_path / "many.jsonl", many))


def test_a_resumed_session_has_a_second_turn(tmp_path: Path) -> None:
    """It was taken for more of the first one: its prompt was lost, and both had one number."""
    place = Place.make(tmp_path / "repo")
    first = [user("u1", "write the parser, please"), gemini("g1", "It is written.")]
    more = [*first, user("u2", "make it stream, please"), gemini("g2", "It streams.")]
    taken = []
    for lines in (first, more):
        path = log(tmp_path / "session-2026-04-25T08-00-5e551011.jsonl", *lines)
        found = take_in(place.open(), GEMINI, path, ended=True)
        assert found is not None
        taken.append(found)
    assert [(one.turns, len(one.runs)) for one in taken] == [(1, 1), (1, 1)]
    folder = Path(place.open().layout.run(taken[1].runs[0]))
    [row] = [json.loads(line) for line in (folder / "outputs" / "turns.jsonl").read_text().splitlines()]
    assert (row["turn"], row["prompt"]) == (2, "make it stream, please")
