"""Codex's tool calls: every form of a command, a patch, a plan, a script, and of what came of it."""

import json

import pytest

from holdfast.capture.agents.codex_calls import calls_in
from holdfast.capture.agents.codex_patch import edits_of
from holdfast.model.transcript import MAX_INPUT, Result, Todo
from tests.capture.codex_files import calls, custom, event, function, gave, item, meta, shown, turns, user

PATCH = """*** Begin Patch
*** Add File: new.py
+import os
+
*** Update File: src/a.py
*** Move to: src/b.py
@@ def f():
 context
-    return 1
+    return 2
*** Delete File: old.py
*** End Patch"""


def script(text: str, call_id: str = "call_1") -> dict:
    return custom("exec", text, call_id)


def scripted(*texts: str, ended: str = "Script completed", call_id: str = "call_1") -> dict:
    pieces = [f"{ended}\nWall time 0.1 seconds\nOutput:\n", *texts]
    return gave([{"type": "input_text", "text": text} for text in pieces], call_id, custom=True)


def ran(command: str, *, exit_code: int = 0, output: str = "", **more: object) -> dict:
    fields = {"id": "exec-1", "command": ["/bin/bash", "-lc", command], "cwd": "file:///w/app"}
    status = "completed" if exit_code == 0 else "failed"
    fields |= {"exit_code": exit_code, "aggregated_output": output, "status": status} | more
    return shown("CommandExecution", **fields)


# ── commands ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "call",
    [
        function("shell", {"command": ["bash", "-lc", "make test"], "workdir": "/w"}),
        function("shell", {"command": ["/usr/bin/zsh", "-lc", "make test"]}),
        function("shell", {"command": ["powershell.exe", "-Command", "make test"]}),
        function("shell_command", {"command": "make test"}),
        function("exec_command", {"cmd": "make test", "max_output_tokens": 10}),
        function("container.exec", {"cmd": ["make", "test"]}),
        custom("shell", '{"command":["bash","-lc","make test"]}'),
        item("local_shell_call", call_id="call_1", action={"type": "exec", "command": ["make", "test"]}),
        script('const r = await tools.exec_command({cmd: "make test"}); text(r);'),
    ],
)
def test_every_form_of_a_command_is_read(tmp_path, call):
    """Each version of Codex calls its shell in another way; people ask what was run."""
    (told,) = calls(tmp_path, call, gave("ok"))

    assert (told.kind, told.command, told.id) == ("shell", "make test", "call_1")


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("plain", Result(text="plain", size=5)),
        (
            json.dumps({"output": "bad\n", "metadata": {"exit_code": 2, "duration_seconds": 0.1}}),
            Result(text="bad\n", size=4, exit_status=2, failed=True),
        ),
        (
            "Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nok",
            Result(text="ok", size=2, exit_status=0),
        ),
        (
            "Wall time: 1\nProcess running with session ID 7\nOutput:\nstill",
            Result(text="(still running in the background)\nstill", size=5),
        ),
        ("Exit code: 1\nWall time: 0 seconds\nOutput:\nno", Result(text="no", size=2, exit_status=1, failed=True)),
        (
            [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "data:xx"}],
            Result(text="a", size=1),
        ),
        ({"type": "input_text", "text": "one"}, Result(text="one", size=3)),
        ({"content": "broken", "success": False}, Result(text="broken", size=6, failed=True)),
        ("aborted by user after 3.1s", Result(text="aborted by user after 3.1s", size=26, failed=True)),
        (
            "exec command rejected by user",
            Result(text="exec command rejected by user", size=29, failed=True, refused=True),
        ),
        ("Output:\nis what I print", Result(text="Output:\nis what I print", size=23)),
        (None, Result()),
    ],
)
def test_every_form_of_a_result_is_read(tmp_path, output, expected):
    """Whether a command failed decides what is remembered of it."""
    (told,) = calls(tmp_path, function("exec_command", {"cmd": "x"}), gave(output))

    assert told.result == expected


def test_an_event_says_how_a_command_ended(tmp_path):
    """Some outputs carry no exit code at all."""
    (told,) = calls(
        tmp_path,
        function("shell_command", {"command": "make"}),
        event("exec_command_end", call_id="call_1", command=["make"], exit_code=2, aggregated_output="boom"),
        gave("boom and more"),
    )

    assert told.result == Result(text="boom and more", size=13, exit_status=2, failed=True)


def test_a_command_left_running_ends_where_its_end_is_seen(tmp_path):
    """A test run of an hour ends in another call; its outcome belongs to the command."""
    first, second = calls(
        tmp_path,
        function("exec_command", {"cmd": "make test"}, "call_1"),
        gave("Process running with session ID 24307\nOutput:\n...", "call_1"),
        function("write_stdin", {"session_id": 24307, "chars": ""}, "call_2"),
        gave("Process exited with code 1\nOutput:\nFAILED", "call_2"),
    )

    assert first.result is not None
    assert first.command == "make test"
    assert first.result == Result(text="...\nFAILED", size=9, exit_status=1, failed=True)
    assert second.command is None


def test_a_command_left_running_may_end_in_the_next_turn(tmp_path):
    """The turn in which it began is told already; the call that sees the end tells it."""
    first, second = turns(
        tmp_path,
        meta(),
        user("test it"),
        function("exec_command", {"cmd": "make test"}, "call_1"),
        gave("Process running with session ID 24307\nOutput:\n...", "call_1"),
        user("and now?"),
        function("write_stdin", {"session_id": 24307, "chars": ""}, "call_2"),
        gave("Process exited with code 1\nOutput:\nFAILED", "call_2"),
    )
    (begun,), (ended,) = first.calls, second.calls
    assert begun.result is not None and begun.result.text.startswith("(still running")
    assert (ended.command, ended.kind) == ("make test", "shell")
    assert ended.result == Result(text="...\nFAILED", size=9, exit_status=1, failed=True)


def test_a_command_whose_end_nobody_saw_is_marked(tmp_path):
    """Without an exit status it would look like one that ended well."""
    first, _ = calls(
        tmp_path,
        function("exec_command", {"cmd": "make test"}, "call_1"),
        gave("Process running with session ID 7\nOutput:\none", "call_1"),
        function("write_stdin", {"session_id": 7, "chars": ""}, "call_2"),
        gave("Process running with session ID 7\nOutput:\ntwo", "call_2"),
    )

    assert first.result is not None
    assert first.result.text == "(still running in the background)\none\ntwo"


def test_a_persons_own_command_is_told_once(tmp_path):
    """`!ls` stands in a message and in an event."""
    text = "<user_shell_command><command>ls</command></user_shell_command>"
    (told,) = calls(tmp_path, user(text), ran("ls", source="user_shell"))

    assert told.name == "user_shell_command"


def test_files_a_command_looked_at_are_named(tmp_path):
    """`cat x` is how Codex reads."""
    (told,) = calls(
        tmp_path,
        function("exec_command", {"cmd": "cat a.py"}),
        ran("cat a.py", id="call_1", parsed_cmd=[{"type": "read", "cmd": "cat a.py", "path": "a.py"}]),
        gave("x"),
    )

    assert told.paths == ("a.py",)


# ── patches ──────────────────────────────────────────────────────────────────────────────────────


def test_a_patch_is_read_file_by_file():
    """`why` finds a line's author by the lines a patch wrote."""
    new, moved, gone = edits_of(PATCH)

    assert (new.path, new.action, new.added, new.whole) == ("new.py", "add", ("import os", ""), True)
    assert (moved.path, moved.action, moved.moved_to) == ("src/a.py", "move", "src/b.py")
    assert (moved.added, moved.removed) == (("    return 2",), ("    return 1",))
    assert (gone.path, gone.action) == ("old.py", "delete")


@pytest.mark.parametrize(
    ("call", "first"),
    [
        (custom("apply_patch", PATCH), "new.py"),
        (function("apply_patch", {"input": PATCH}), "new.py"),
        (function("shell", {"command": ["apply_patch", PATCH]}), "new.py"),
        (function("shell", {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF"]}), "new.py"),
        (function("exec_command", {"cmd": f"cd sub && apply_patch <<'EOF'\n{PATCH}\nEOF"}), "sub/new.py"),
        (function("exec_command", {"cmd": f"apply_patch <<'E'\n{PATCH}\nE", "workdir": "/w/x"}), "/w/x/new.py"),
        (script(f"await tools.apply_patch({json.dumps(PATCH)})"), "new.py"),
        (script(f"const p = String.raw`{PATCH}`;\ntext(await tools.apply_patch(p))"), "new.py"),
        (script(f"tools.apply_patch({json.dumps(PATCH.split(chr(10)))}.join('\\n'))"), "new.py"),
    ],
)
def test_every_way_of_a_patch_is_an_edit(tmp_path, call, first):
    """A patch through the shell changed the same files as one through its tool."""
    (told,) = calls(tmp_path, call, gave("Success. Updated the following files:\nA new.py"))

    assert told.kind == "edit"
    assert told.command is None
    assert told.edits[0].path == first
    assert len(told.edits) == 3


def test_a_command_that_also_patches_stays_a_command(tmp_path):
    """The test that follows the patch is what people look for."""
    command = f"git checkout x && apply_patch <<'EOF'\n{PATCH}\nEOF\nmake test"
    (told,) = calls(tmp_path, function("exec_command", {"cmd": command}), gave("ok"))

    assert (told.kind, told.command) == ("shell", command)
    assert len(told.edits) == 3


@pytest.mark.parametrize("wrong", ["apply_patch verification failed: no such lines", "patch rejected by user"])
def test_a_patch_that_failed_wrote_nothing(tmp_path, wrong):
    """Lines that were never written must not be blamed on a run."""
    (told,) = calls(tmp_path, custom("apply_patch", PATCH), gave(wrong, custom=True))

    assert told.edits == ()
    assert told.paths == ("new.py", "src/a.py", "old.py")
    assert told.result is not None
    assert told.result.failed


def test_what_an_event_says_was_changed_is_the_surer_word(tmp_path):
    """The event names absolute paths and what truly went in."""
    changes = {
        "/w/app/new.py": {"type": "add", "content": "import os\n"},
        "/w/app/a.py": {
            "type": "update",
            "unified_diff": "--- a\n+++ b\n@@ -1 +1 @@\n--- x\n+++ y\n",
            "move_path": None,
        },
        "/w/app/old.py": {"type": "delete", "content": "gone\n"},
    }
    (told,) = calls(
        tmp_path,
        custom("apply_patch", PATCH),
        event("patch_apply_end", call_id="call_1", success=True, status="completed", changes=changes),
        gave("Done", custom=True),
    )

    assert [(edit.path, edit.action) for edit in told.edits] == [
        ("/w/app/new.py", "add"),
        ("/w/app/a.py", "update"),
        ("/w/app/old.py", "delete"),
    ]
    assert (told.edits[1].added, told.edits[1].removed) == (("++ y",), ("-- x",))
    assert told.edits[2].removed == ("gone",)


def test_a_declined_patch_was_refused(tmp_path):
    """A person's no is worth more than a failure."""
    (told,) = calls(
        tmp_path,
        custom("apply_patch", PATCH),
        shown("FileChange", id="call_1", changes={}, status="declined", stdout="", stderr=""),
        gave("no", custom=True),
    )

    assert told.result is not None
    assert told.result.refused
    assert told.edits == ()


# ── scripts ──────────────────────────────────────────────────────────────────────────────────────


def test_a_script_is_told_as_the_calls_it_made(tmp_path):
    """One `exec` does many things, and each has an outcome of its own."""
    first, second, third = calls(
        tmp_path,
        script('await tools.exec_command({cmd: "ls"}); await tools.exec_command({cmd: "make"});tools.update_plan({})'),
        ran("ls", output="a"),
        ran("make", id="exec-2", exit_code=2, output="boom"),
        scripted("{}"),
    )

    assert [(call.id, call.command) for call in (first, second)] == [("call_1", "ls"), ("call_1.2", "make")]
    assert [call.result and call.result.exit_status for call in (first, second)] == [0, 2]
    assert third.kind == "plan"


def test_what_a_loop_did_is_told_by_events(tmp_path):
    """A script's text names a call once that it makes three times."""
    told = calls(
        tmp_path,
        script("for (const f of files) await tools.exec_command({cmd: `cat ${f}`})"),
        *(ran(f"cat {name}", id=f"exec-{name}") for name in "abc"),
        scripted("x"),
    )

    assert [call.command for call in told] == ["cat a", "cat b", "cat c"]
    assert len({call.id for call in told}) == 3


def test_an_event_after_the_scripts_end_still_finds_it(tmp_path):
    """A long command ends when its script has long yielded."""
    (told,) = calls(
        tmp_path, script('tools.exec_command({cmd: "make"})'), scripted("running"), ran("make", exit_code=1)
    )

    assert told.result is not None
    assert told.result.exit_status == 1


def test_a_script_that_failed_is_a_failure(tmp_path):
    """The patch within it was never applied."""
    (told,) = calls(
        tmp_path,
        script(f"await tools.apply_patch({json.dumps(PATCH)})"),
        scripted("Script error:\napply_patch verification failed", ended="Script failed"),
    )

    assert told.result is not None
    assert told.result.failed
    assert told.edits == ()


def test_a_script_without_tools_is_itself_the_call(tmp_path):
    """Nothing a model did is left out."""
    (told,) = calls(tmp_path, script("text(1 + 1)"), scripted("2"))

    assert (told.name, told.kind, told.text) == ("exec", "other", "text(1 + 1)")
    assert told.result == Result(text="2", size=1)


def test_a_script_cut_short_has_no_result(tmp_path):
    """Interrupted is neither good nor bad."""
    (told,) = calls(tmp_path, script('await tools.exec_command({cmd: "make"})'))

    assert (told.command, told.result) == ("make", None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "tools.f({cmd: 'it\\'s', n: 1_000, x: -2.5, ok: true, no: null})",
            {"cmd": "it's", "n": 1000, "x": -2.5, "ok": True, "no": None},
        ),
        ('tools.f({"cmd": "a\\u00e9\\x41\\u{1F600}\\n"})', {"cmd": "aéA😀\n"}),
        ("const cmd = `a\nb`; tools.f({cmd, ...rest, timeout: ms * 2})", {"cmd": "a\nb", "timeout": None}),
        ('tools.f({cmd: "a" + " b" + c})', {"cmd": None}),
        ('const c = "z"; tools.f({cmd: "a" + c})', {"cmd": "az"}),
        ("tools.f(/* why */ [1, [2, 'x']] // so\n)", [1, [2, "x"]]),
        ("tools['f']('x')", "x"),
        ("tools.f(g(1), 2)", None),
        ("tools.f({a: g({b: '}'}), c: 1})", {"a": None, "c": 1}),
        ("tools.f({a: ", None),
        ("const a = a; tools.f(a)", ""),
        ("tools.f('open", None),
        ("const cmd = 'ls'; tools.f({cmd, again: cmd})", {"cmd": "ls", "again": "ls"}),
        ("tools.f({a: [{b: 1}, c: 2}], d: 3})", {"a": None}),
    ],
)
def test_literals_of_a_script_are_read(text, expected):
    """Models write JavaScript as people do."""
    assert calls_in(text) == [("f", expected)]


@pytest.mark.parametrize(
    "text",
    [
        "tools.f(" * 20_000,
        "tools.f('" * 20_000,
        "tools.f(" + "[" * 50_000,
        "const a = b + b; const b = a + a; " + "tools.f(a + b);" * 3000,
        "".join(f"const v{n} = v{n + 1} + v{n + 1};" for n in range(500)) + "tools.f(v0)",
        "tools.f({a: " + "(" * 50_000,
        "tools.f([1}",
    ],
)
def test_a_hostile_script_ends(text):
    """A model's text must not hang an import."""
    assert len(repr(calls_in(text))) < 64 * MAX_INPUT


# ── plans, and the rest ──────────────────────────────────────────────────────────────────────────


def test_a_plan_becomes_todos(tmp_path):
    """What is left open is what the next agent must know."""
    plan = [
        {"status": "completed", "step": "look"},
        {"step": "mend\n it", "status": "in_progress"},
        {"step": "test", "status": "pending"},
        {"status": "pending"},
    ]
    (told,) = calls(tmp_path, function("update_plan", {"explanation": "why", "plan": plan}), gave("Plan updated"))

    assert told.kind == "plan"
    assert told.todos == (Todo("look", "done"), Todo("mend it", "started"), Todo("test", "open"))


def test_a_plan_within_a_script_becomes_todos(tmp_path):
    """Code mode has the same plans."""
    (told,) = calls(
        tmp_path, script("await tools.update_plan({plan: [{step: 'a', status: 'pending'}]})"), scripted("ok")
    )

    assert told.todos == (Todo("a", "open"),)


def test_a_plan_for_a_person_to_agree_to_is_kept(tmp_path):
    """Plan mode writes it beside the items."""
    (told,) = calls(tmp_path, shown("Plan", id="p-1", text="1. look\n2. mend"))

    assert (told.id, told.kind, told.text) == ("p-1", "plan", "1. look\n2. mend")


def test_a_goal_is_a_todo_and_an_event_ends_it(tmp_path):
    """Newer versions have goals in place of plans."""
    (told,) = calls(
        tmp_path,
        function("create_goal", {"objective": "ship it"}),
        gave("{}"),
        event("thread_goal_updated", goal={"objective": "ship it", "status": "complete"}),
    )

    assert told.todos == (Todo("ship it", "done"),)


@pytest.mark.parametrize(
    ("call", "name", "kind"),
    [
        (function("recall", {"q": 1}, namespace="mcp__memory"), "mcp__memory__recall", "mcp"),
        (function("memory__recall", {"q": 1}), "memory__recall", "mcp"),
        (function("spawn_agent", {"message": "x"}, namespace="collaboration"), "spawn_agent", "agent"),
        (function("wait", {"ids": ["a"]}), "wait", "agent"),
        (function("wait", {"cell_id": "1"}), "wait", "other"),
        (function("request_user_input", {"questions": []}), "request_user_input", "ask"),
        (function("view_image", {"path": "a.png"}), "view_image", "read"),
        (item("web_search_call", id="call_1", action={"type": "search", "query": "x"}), "web_search", "web"),
        (item("tool_search_call", call_id="call_1", arguments={"query": "x"}), "tool_search", "search"),
        (function("something_new", "no json"), "something_new", "other"),
    ],
)
def test_tools_are_told_by_what_they_do(tmp_path, call, name, kind):
    """Memory asks for commands and edits, not for tools' names of the month."""
    (told,) = calls(tmp_path, call, gave("ok"))

    assert (told.name, told.kind) == (name, kind)


def test_an_answer_of_an_mcp_server_is_read_from_its_event(tmp_path):
    """In code mode the answer stands nowhere else in plain words."""
    (told,) = calls(
        tmp_path,
        script("await tools.mcp__db__query({sql: 'select 1'})"),
        event(
            "mcp_tool_call_end",
            call_id="exec-9",
            invocation={"server": "db", "tool": "query", "arguments": {"sql": "select 1"}},
            result={"Ok": {"content": [{"type": "text", "text": "no such table"}], "isError": True}},
        ),
        scripted("{}"),
    )

    assert (told.name, told.kind) == ("mcp__db__query", "mcp")
    assert told.result is not None
    assert (told.result.text, told.result.failed) == ("no such table", True)


def test_long_outputs_keep_their_ends(tmp_path):
    """What failed stands at the end, what was meant at the beginning; a gigabyte stands nowhere."""
    (told,) = calls(tmp_path, function("exec_command", {"cmd": "x"}), gave("a" * 50_000 + "b" * 50_000))

    assert told.result is not None
    assert told.result.size == 100_000
    assert len(told.result.text) < 17_000
    assert told.result.text.startswith("a") and told.result.text.endswith("b")


def test_a_call_that_only_an_event_tells_is_not_lost(tmp_path):
    """A patch that no item names still changed files."""
    (turn,) = turns(
        tmp_path,
        meta(),
        user("go"),
        function("exec_command", {"cmd": "ls"}),
        gave("x"),
        event("patch_apply_end", call_id="other", success=True, changes={"/w/a": {"type": "add", "content": "x\n"}}),
    )

    assert [call.kind for call in turn.calls] == ["shell", "edit"]
