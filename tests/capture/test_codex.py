"""Codex's transcripts: each generation gives the same turns, and each quirk stands here once."""

import json
from pathlib import Path

import pytest

from holdfast.capture.agents import dialect
from holdfast.errors import BadInput
from holdfast.model.transcript import MAX_STEPS, TranscriptStep, TranscriptTurn
from holdfast.values import replace
from tests.capture.codex_files import (
    COMMIT,
    PARENT,
    THREAD,
    TS,
    TURN,
    context,
    custom,
    event,
    function,
    gave,
    item,
    line,
    meta,
    numbered,
    reading,
    said,
    shown,
    spelled,
    turns,
    user,
    written,
)

ENVIRONMENT = "<environment_context>\n  <cwd>/w/app</cwd>\n</environment_context>"
OUTPUT = "Chunk ID: aa\nWall time: 3.1 seconds\nProcess exited with code 1\nOutput:\n1 failed\n"
BARE = [
    {"type": "message", "id": None, "role": "user", "content": [{"type": "input_text", "text": ENVIRONMENT}]},
    {"type": "message", "id": None, "role": "user", "content": [{"type": "input_text", "text": "fix the test"}]},
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "look first"}]},
    {"type": "function_call", "name": "exec_command", "arguments": '{"cmd":"pytest -q"}', "call_id": "call_1"},
    {"type": "function_call_output", "call_id": "call_1", "output": OUTPUT},
    {"type": "message", "id": None, "role": "assistant", "content": [{"type": "output_text", "text": "It fails."}]},
]


def heart(turn: TranscriptTurn) -> tuple[object, ...]:
    """What a turn tells, without what only some generations know."""
    steps = [replace(step, ts=None, model=None) for step in turn.steps]
    return turn.prompt, turn.cwd, steps


def first_generation(folder: Path) -> str:
    session = {"id": THREAD, "timestamp": "2025-05-01T10:00:00.000Z", "instructions": ""}
    items = [
        {"role": "user", "content": ENVIRONMENT},
        {"role": "user", "content": [{"type": "input_text", "text": "fix the test"}]},
        BARE[2],
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "function": {"name": "exec_command", "arguments": '{"cmd":"pytest -q"}'}}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": OUTPUT},
        {"role": "assistant", "content": "It fails."},
    ]
    path = folder / f"rollout-2025-05-01-{THREAD}.json"
    path.write_text(json.dumps({"session": session, "items": items}, indent=1))
    return str(path)


def second_generation(folder: Path) -> str:
    head = {"id": THREAD, "timestamp": "2025-08-20T10:00:00.000Z", "instructions": None, "git": {"branch": "main"}}
    return written(folder, [head, {"record_type": "state"}, *BARE])


def third_generation(folder: Path) -> str:
    told = [line("response_item", one) for one in BARE]
    copies = [
        event("user_message", message="fix the test"),
        event("agent_reasoning", text="look first"),
        event("token_count", info=None),
        event("agent_message", message="It fails."),
    ]
    mixed = [told[0], told[1], copies[0], context(), *told[2:3], copies[1], *told[3:5], *copies[2:], told[5]]
    return written(folder, [meta(), *mixed])


def fourth_generation(folder: Path) -> str:
    told = [line("response_item", one) for one in BARE]
    shown_lines = [
        shown("UserMessage", id="I", content=[{"type": "text", "text": "fix the test"}]),
        shown("Reasoning", id="rs_1", summary_text=["look first"]),
        shown(
            "CommandExecution",
            id="call_1",
            command=["/bin/bash", "-lc", "pytest -q"],
            cwd="file:///w/app",
            status="failed",
            exit_code=1,
            aggregated_output="1 failed\n",
            parsed_cmd=[{"type": "unknown", "cmd": "pytest -q"}],
        ),
        shown("AgentMessage", id="m", content=[{"type": "Text", "text": "It fails."}]),
    ]
    lines = [
        meta(session_id=THREAD, history_mode="paginated", cli_version="0.166.0"),
        told[0],
        line("world_state", {"full": True, "state": {"agents_md": {"text": "x"}}}),
        context(),
        told[1],
        shown_lines[0],
        shown_lines[1],
        told[2],
        told[3],
        line("token_usage_record", {"usage": {"input_tokens": 1}}),
        shown_lines[2],
        told[4],
        shown_lines[3],
        told[5],
    ]
    return written(folder, numbered(lines))


GENERATIONS = [first_generation, second_generation, third_generation, fourth_generation]


@pytest.mark.parametrize("make", GENERATIONS)
def test_every_generation_tells_the_same_turn(tmp_path, make):
    """Whoever has used Codex for two years has files of all four, and one memory."""
    path = make(tmp_path)
    told = reading(path)
    (turn,) = told

    assert dialect("codex").is_mine(path)
    assert turn.prompt == "fix the test"
    assert turn.cwd == "/w/app"
    look, answer = turn.steps
    assert look.reasoning == "look first"
    (call,) = look.calls
    assert (call.kind, call.command) == ("shell", "pytest -q")
    assert call.result is not None
    assert (call.result.text, call.result.exit_status, call.result.failed) == ("1 failed\n", 1, True)
    assert answer.text == "It fails."
    assert not told.counted.unknown
    assert told.counted.damaged == 0


@pytest.mark.parametrize("make", GENERATIONS)
def test_names_are_the_same_in_every_generation(tmp_path, make):
    """A file rewritten into a newer form must not be taken in twice."""
    (turn,) = reading(make(tmp_path))
    (known,) = reading(third_generation(tmp_path))

    assert turn.key == known.key
    assert [step.id for step in turn.steps] == [step.id for step in known.steps]


def test_origin_is_where_the_agent_stood(tmp_path):
    """Memory cites the commit the agent began at; a wrong one is worse than none."""
    origin = reading(written(tmp_path, [meta()])).origin

    assert (origin.session, origin.role, origin.version) == (THREAD, "main", "0.104.0")
    assert (origin.cwd, origin.branch, origin.commit) == ("/w/app", "main", COMMIT)
    assert origin.remote == "https://example.invalid/app.git"
    assert origin.started == "2026-02-01T09:59:58.000Z"


def test_folder_of_a_file_without_one_is_taken_from_the_environment(tmp_path):
    """Before 0.32 the folder stands nowhere else, and without it no session finds its repository."""
    told = reading(second_generation(tmp_path))

    assert told.origin.cwd == "/w/app"
    assert told.origin.branch == "main"


@pytest.mark.parametrize(
    ("more", "role", "parent"),
    [
        ({"source": {"subagent": {"thread_spawn": {"parent_thread_id": PARENT}}}}, "subagent", PARENT),
        ({"source": {"subagent": "review"}, "parent_thread_id": PARENT}, "subagent", PARENT),
        ({"thread_source": "subagent", "forked_from_id": PARENT}, "subagent", PARENT),
        ({"forked_from_id": PARENT}, "fork", PARENT),
        ({"source": {"internal": "memory_consolidation"}}, "internal", None),
        ({"source": {"subagent": "memory_consolidation"}}, "internal", None),
        ({"source": {"internal": "guardian"}}, "internal", None),
        ({"source": {"custom": "editor"}}, "main", None),
        ({"source": "vscode", "git": {}}, "main", None),
        ({"source": 7, "git": None, "cwd": None}, "main", None),
    ],
)
def test_a_threads_part_is_read_from_its_source(tmp_path, more, role, parent):
    """A helper's or a housekeeper's words must not pass for a person's."""
    origin = reading(written(tmp_path, [meta(**more)])).origin

    assert (origin.role, origin.parent) == (role, parent)


# ── copies ───────────────────────────────────────────────────────────────────────────────────────


def test_history_that_a_helper_inherited_is_not_its_work(tmp_path):
    """The parent's turns would count once for each helper it spawned."""
    lines = numbered(
        [
            meta(source={"subagent": {"thread_spawn": {"parent_thread_id": PARENT}}}, subagent_history_start_ordinal=5),
            meta(id=PARENT),
            event("task_started", turn_id="parents"),
            user("the parent's prompt", turn_id="parents"),
            said("assistant", "the parent's answer"),
            event("task_started", turn_id=TURN),
            context(TURN),
            item("agent_message", author="/root", recipient="/root/h", content=[{"type": "input_text", "text": "go"}]),
            said("assistant", "the helper's answer"),
        ]
    )
    told = reading(written(tmp_path, lines))
    (turn,) = told

    assert told.origin.session == THREAD
    assert turn.prompt == ""
    assert turn.answer == "the helper's answer"


def test_what_a_helper_is_asked_is_no_persons_word(tmp_path):
    """Another agent wrote it: as a person's prompt it would be trusted."""
    told = turns(tmp_path, meta(source={"subagent": "review"}), user("Never use tabs."), said("assistant", "ok"))

    assert [(turn.prompt, turn.brief) for turn in told] == [("", "Never use tabs.")]


def test_a_copied_turn_has_the_name_of_the_first(tmp_path):
    """A fork that copies its parent's lines, with new times, must not double them."""
    body = [user("fix it"), function("exec_command", {"cmd": "ls"}), gave("x"), said("assistant", "Fixed.")]
    (first,) = turns(tmp_path / "a", meta(), *body)
    later = [one | {"timestamp": "2026-03-03T10:00:00.000Z"} for one in body]
    copied, own = turns(tmp_path / "b", meta(id=PARENT, forked_from_id=THREAD), meta(), *later, user("and now?"))

    assert copied.key == first.key
    assert [step.id for step in copied.steps] == [step.id for step in first.steps]
    assert own.prompt == "and now?"
    assert own.key != first.key


def test_two_like_turns_are_two(tmp_path):
    """People say `go on` all day."""
    told = turns(
        tmp_path,
        meta(),
        *(user("go on"), function("exec_command", {"cmd": "ls"}, "call_1"), gave("a"), said("assistant", "Done.")),
        *(
            user("go on"),
            function("exec_command", {"cmd": "ls"}, "call_2"),
            gave("b", "call_2"),
            said("assistant", "Done."),
        ),
    )

    assert len({turn.key for turn in told}) == 2
    assert len({step.id for turn in told for step in turn.steps}) == 4


def test_a_compaction_repeats_nothing(tmp_path):
    """Its replacement history holds messages that were told already."""
    again = [said("user", "old prompt")["payload"], said("assistant", "old answer")["payload"]]
    told = turns(
        tmp_path,
        meta(),
        user("old prompt"),
        said("assistant", "old answer"),
        line("compacted", {"message": "", "replacement_history": again}),
        event("context_compacted"),
        context(),
        said("assistant", "going on"),
    )

    assert [turn.prompt for turn in told] == ["old prompt"]
    assert [step.text for step in told[0].steps] == ["old answer", "going on"]


def test_a_repeated_head_changes_the_branch_and_nothing_else(tmp_path):
    """Codex writes a new one when git moves on; the session stays the same."""
    other = meta(git={"branch": "feature"}, cwd="/elsewhere")
    first, second = turns(
        tmp_path, meta(), user("one"), said("assistant", "1"), other, user("two"), said("assistant", "2")
    )

    assert (first.branch, second.branch) == ("main", "feature")
    assert second.cwd == "/w/app"


# ── who speaks ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text",
    [
        "# AGENTS.md instructions for /w/app\n\n<INSTRUCTIONS>\nuse tabs",
        "<user_instructions>\nuse tabs\n</user_instructions>",
        "<skill>\nname: x\n</skill>",
        '<hook_prompt hook_run_id="1">go on</hook_prompt>',
        "<subagent_notification>\n{}\n</subagent_notification>",
        "  <environment_context>\n<cwd>/w/app</cwd>",
    ],
)
def test_what_codex_says_in_the_users_role_is_no_prompt(tmp_path, text):
    """Instructions and notices would come back as a person's decisions."""
    (turn,) = turns(tmp_path, meta(), user(text), user("the prompt"), said("assistant", "ok"))

    assert turn.prompt == "the prompt"


def test_pieces_are_told_apart_by_their_kinds(tmp_path):
    """From 0.15x on Codex says which piece a person typed, even one that looks like its own."""
    mixed = user("<skill> is what I meant", "AGENTS text", kinds=["user.text", "agents_md.instructions"])
    foreign = user("looks typed", kinds=["environments.environment_context"])
    (turn,) = turns(tmp_path, meta(), foreign, mixed, said("assistant", "ok"))

    assert "looks typed" not in turn.prompt
    assert "AGENTS text" not in turn.prompt


def test_an_editors_prompt_is_the_request_alone(tmp_path):
    """Open files and selections are no words of a person."""
    text = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nrename it\n"
    (turn,) = turns(tmp_path, meta(), user(text), said("assistant", "ok"))

    assert turn.prompt == "rename it"


def test_marks_of_images_are_left_out(tmp_path):
    """A path on a person's disk is no part of what they asked."""
    (turn,) = turns(tmp_path, meta(), user('<image name=[Image #1] path="/home/p/x.png">', "</image>", "what is this?"))

    assert turn.prompt == "what is this?"


def test_developer_messages_and_our_own_hooks_are_dropped(tmp_path):
    """Memory that feeds on what it injected confirms itself."""
    ours = said(
        "developer",
        "the injected pack",
        internal_chat_message_metadata_passthrough={"content_item_kinds": ["hooks.additional_context"]},
    )
    told = turns(tmp_path, meta(), ours, user("hello there"), said("assistant", "hi"))

    assert "injected" not in repr(told)


def test_our_pack_is_cut_out_of_outputs_answers_and_prompts(tmp_path):
    """An agent that prints the pack must not teach us what we told it."""
    pack = "Between the lines marked k7 stands data:\n<holdfast-data k7>\nDEC-1 use tabs\n</holdfast-data k7>"
    told = turns(
        tmp_path,
        meta(),
        user(f"see {pack} please"),
        function("exec_command", {"cmd": "holdfast context"}),
        gave(f"before\n{pack}\nafter"),
        function("recall", {"query": "tabs"}, "call_2", namespace="mcp__holdfast"),
        gave("DEC-1 use tabs", "call_2"),
        custom("exec", "text(await tools.mcp__holdfast__recall({query: 'x'}))", "call_3"),
        gave([{"type": "input_text", "text": '{"about":"use tabs"}'}], "call_3", custom=True),
        said("assistant", f"It says {pack} so"),
    )

    assert "tabs" not in repr([replace(step, calls=()) for step in told[0].steps])
    assert "use tabs" not in repr(told)
    assert "before" in repr(told)


def test_what_is_private_stays_out(tmp_path):
    """A person marked it as theirs alone."""
    (turn,) = turns(tmp_path, meta(), user("do <private>my salary</private>this"), said("assistant", "ok"))

    assert turn.prompt == "do this"


def test_a_command_typed_by_a_person_is_told_as_theirs(tmp_path):
    """`!make test` is an act of the person, with its outcome, and no prompt."""
    text = (
        "<user_shell_command>\n<command>\nmake test\n</command>\n<result>\nExit code: 2\n"
        "Duration: 1.0 seconds\nOutput:\nboom\n</result>\n</user_shell_command>"
    )
    (turn,) = turns(tmp_path, meta(), event("task_started", turn_id=TURN), user(text))
    (call,) = turn.calls

    assert turn.prompt == ""
    assert (call.name, call.command) == ("user_shell_command", "make test")
    assert call.result is not None
    assert (call.result.exit_status, call.result.text.strip()) == (2, "boom")


# ── turns and steps ──────────────────────────────────────────────────────────────────────────────


def test_a_step_ends_where_its_results_come(tmp_path):
    """A cycle is one answer of the model, with all the calls it made at once."""
    (turn,) = turns(
        tmp_path,
        meta(),
        context(),
        user("look around"),
        said("assistant", "I look."),
        function("exec_command", {"cmd": "ls"}, "call_1"),
        function("exec_command", {"cmd": "pwd"}, "call_2"),
        gave("b", "call_2"),
        gave("a", "call_1"),
        said("assistant", "Seen."),
    )

    assert [[call.command for call in step.calls] for step in turn.steps] == [["ls", "pwd"], []]
    assert [call.result.text for call in turn.calls if call.result] == ["a", "b"]
    assert {step.model for step in turn.steps} == {"gpt-x"}


def test_a_call_without_a_result_was_interrupted(tmp_path):
    """Nobody may read a cut call as one that succeeded."""
    (turn,) = turns(
        tmp_path,
        meta(),
        user("wait"),
        function("exec_command", {"cmd": "sleep 99"}),
        event("turn_aborted", reason="interrupted", turn_id=TURN),
        said("user", "<turn_aborted>\nThe user interrupted\n</turn_aborted>"),
    )

    assert turn.interrupted
    assert [call.result for call in turn.calls] == [None]


def test_a_turn_that_ended_by_itself_was_not_stopped_by_a_person(tmp_path):
    """A review that ends and a budget that is spent are nobody's objection."""
    (turn,) = turns(tmp_path, meta(), user("go"), said("assistant", "x"), event("turn_aborted", reason="review_ended"))

    assert not turn.interrupted


def test_words_typed_while_it_works_are_a_turn_of_their_own(tmp_path):
    """A correction in the middle is the most telling thing a person says."""
    told = turns(
        tmp_path,
        meta(),
        event("task_started", turn_id=TURN),
        user("build it", turn_id=TURN),
        said("assistant", "I use make."),
        user("no, use ninja", turn_id=TURN),
        said("assistant", "Then ninja."),
    )

    assert [turn.prompt for turn in told] == ["build it", "no, use ninja"]
    assert len({turn.key for turn in told}) == 2
    assert all(turn.key.startswith(TURN) for turn in told)


def test_a_turns_context_may_come_before_its_beginning(tmp_path):
    """Read again from its start, the turn still knows its model."""
    lines = [meta(), user("a"), said("assistant", "1"), context(TURN), event("task_started", turn_id=TURN)]
    path = written(tmp_path, [*lines, user("b"), said("assistant", "2")])
    *_, last = reading(path)

    assert last.key.startswith(TURN)
    assert list(dialect("codex").read(path, last.start, reading(path).origin)) == [last]


def test_sessions_without_a_prompt_tell_nothing(tmp_path):
    """Half of all files are two lines long."""
    assert turns(tmp_path, meta(), event("token_count", info=None)) == []
    assert [turn.steps for turn in turns(tmp_path, meta(), user("never answered"))] == [()]


def test_an_endless_turn_goes_on_in_the_next(tmp_path):
    """A night's work in one turn must not be held in memory at once."""
    many = [
        one
        for n in range(MAX_STEPS + 3)
        for one in (function("exec_command", {"cmd": f"echo {n}"}, f"call_{n}"), gave(str(n), f"call_{n}"))
    ]
    path = written(tmp_path, [meta(), user("work"), *many])
    first, second = reading(path)

    assert (len(first.steps), len(second.steps)) == (MAX_STEPS, 3)
    assert (first.continues, second.continues) == (False, True)
    assert [turn.key for turn in dialect("codex").read(path, second.start, reading(path).origin)] == [second.key]


# ── reading on ───────────────────────────────────────────────────────────────────────────────────


def three_turns() -> list[dict]:
    lines = [meta()]
    for n in range(3):
        lines += [event("task_started", turn_id=f"turn-{n}"), context(f"turn-{n}"), user(f"prompt {n}")]
        lines += [function("exec_command", {"cmd": f"echo {n}"}, f"call_{n}"), gave(str(n), f"call_{n}")]
        lines += [said("assistant", f"answer {n}"), event("task_complete", turn_id=f"turn-{n}")]
    return lines


def test_every_turn_can_be_read_again_from_its_start(tmp_path):
    """A grown file is read on from where it was left, not from its beginning."""
    path = written(tmp_path, three_turns())
    whole = list(reading(path))

    for at, turn in enumerate(whole):
        assert list(dialect("codex").read(path, turn.start, reading(path).origin)) == whole[at:]


def test_a_growing_file_tells_whole_lines_only(tmp_path):
    """A live file's last line is half written most of the time."""
    data = spelled(three_turns())
    path = tmp_path / f"rollout-2026-02-01T11-00-00-{THREAD}.jsonl"
    path.write_bytes(data[:-20])
    told = reading(str(path))
    list(told)
    path.write_bytes(data)

    assert told.counted.end == data[:-20].rindex(b"\n") + 1
    assert told.counted.damaged == 0
    assert len(list(reading(str(path)))) == 3


def test_what_nobody_knows_is_counted(tmp_path):
    """New kinds of records come every month; a file with one is still read."""
    path = written(
        tmp_path,
        [
            meta(),
            line("moon_phase", {"a": 1}),
            event("brand_new"),
            item("novel"),
            shown("Hologram"),
            user("a prompt"),
            said("assistant", "an answer"),
        ],
    )
    told = reading(path)

    assert [turn.prompt for turn in told] == ["a prompt"]
    assert set(told.counted.unknown) == {
        "moon_phase",
        "event_msg/brand_new",
        "response_item/novel",
        "item_completed/Hologram",
    }


def test_wrong_types_everywhere_hurt_nobody(tmp_path):
    """Drift puts strings where objects were, and the other way round."""
    lines = [
        meta(id=7, git="x", source=[1], forked_from_id={}),
        line("response_item", {"type": "message", "role": "user", "content": "a plain string"}),
        line("response_item", {"type": "message", "role": "user", "content": {"text": 1}}),
        item("function_call", name=3, arguments={"cmd": ["a", 1]}, call_id=None),
        item("function_call_output", call_id={}, output=7),
        item("reasoning", summary="no list", content=9),
        item("web_search_call", action="x"),
        item("local_shell_call", action={"command": "ls"}),
        event("patch_apply_end", call_id="p", changes={"a": "b", "c": {"type": "update", "unified_diff": 4}}),
        shown("CommandExecution", id=1, command={}, parsed_cmd=[1, {"type": "read", "path": 3}]),
        line("event_msg", {"type": "item_completed", "item": "x"}),
        {"timestamp": 4, "type": None, "payload": {}},
        {"timestamp": TS, "type": "response_item", "payload": "x"},
        line("turn_context", {"cwd": 3, "model": []}),
    ]
    (turn,) = turns(tmp_path, *lines)

    assert turn.prompt == "a plain string"


def test_halves_of_characters_can_be_stored(tmp_path):
    """JSON can spell a lone surrogate; writing it out would fail much later."""
    path = tmp_path / f"rollout-2026-02-01T11-00-00-{THREAD}.jsonl"
    path.write_bytes(spelled([meta(), user("a half: HERE"), said("assistant", "x")]).replace(b"HERE", rb"\ud83d"))
    (turn,) = reading(str(path))

    assert turn.prompt.encode().startswith(b"a half: ")


def test_a_file_of_somebody_else_is_refused(tmp_path):
    """Labels lie; what a file holds does not."""
    path = tmp_path / f"rollout-x-{THREAD}.jsonl"
    path.write_text('{"sessionId": "s", "type": "user", "message": {"role": "user"}}\n')

    assert not dialect("codex").is_mine(str(path))
    with pytest.raises(BadInput):
        reading(str(path))


def test_a_step_keeps_what_was_thought(tmp_path):
    """The reasons are in the reasoning; the sealed copy of it is of no use to anybody."""
    thought = item(
        "reasoning", id="rs_9", summary=[{"type": "summary_text", "text": "because"}], encrypted_content="gAAA"
    )
    (turn,) = turns(tmp_path, meta(), user("why?"), thought, custom("exec", "text('x')"))

    assert [step.reasoning for step in turn.steps] == ["because"]
    assert isinstance(turn.steps[0], TranscriptStep)
    assert "gAAA" not in repr(turn)
