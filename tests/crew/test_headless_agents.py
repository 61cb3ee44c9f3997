"""How agents are started without a person, and what their reports say of tokens, calls and money."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.crew.headless_agents import (
    KNOWN,
    MAX_LINE,
    MAX_PROMPT,
    MAX_SAID,
    AgentReport,
    ReportReader,
    agent_named,
    chosen_environment,
)
from holdfast.errors import BadInput


def rows(*found: object) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in found)


CODEX = rows(
    {"type": "thread.started", "thread_id": "t1"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"id": "0", "type": "agent_message", "text": "Reading first."}},
    {"type": "item.started", "item": {"id": "1", "type": "command_execution", "command": "ls"}},
    {"type": "item.completed", "item": {"id": "1", "type": "command_execution", "command": "ls", "exit_code": 0}},
    {"type": "item.completed", "item": {"id": "2", "type": "collab_tool_call", "tool": "spawn_agent"}},
    {"type": "item.completed", "item": {"id": "3", "type": "agent_message", "text": "Sorted the list."}},
    {"type": "turn.completed", "usage": {"input_tokens": 300, "cached_input_tokens": 100, "output_tokens": 20}},
    {"type": "turn.completed", "usage": {"input_tokens": 50, "output_tokens": 5}},
)
_ONE = {"id": "m1", "model": "claude-x-1", "usage": {"input_tokens": 10, "output_tokens": 2}}
CLAUDE = rows(
    {"type": "system", "subtype": "init", "model": "claude-x-1"},
    {"type": "assistant", "message": {**_ONE, "content": [{"type": "text", "text": "Reading first."}]}},
    {"type": "assistant", "message": {**_ONE, "content": [{"type": "tool_use", "name": "Task", "input": {}}]}},
    {"type": "user", "message": {"content": [{"type": "tool_result", "content": "ok"}]}},
    {"type": "assistant", "message": {**_ONE, "id": "m2", "content": [{"type": "text", "text": "Sorted."}]}},
)
CLAUDE_END = rows(
    {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": "Sorted the list.",
        "total_cost_usd": 0.25,
        "usage": {
            "input_tokens": 100,
            "cache_creation_input_tokens": 30,
            "cache_read_input_tokens": 20,
            "output_tokens": 9,
        },
    }
)
GEMINI = rows(
    {"type": "init", "model": "auto"},
    {"type": "message", "role": "user", "content": "Do it."},
    {"type": "message", "role": "assistant", "content": "Reading", "delta": True},
    {"type": "message", "role": "assistant", "content": " first.", "delta": True},
    {"type": "tool_use", "tool_name": "read_file"},
    {"type": "tool_result", "status": "success", "output": "x"},
    {"type": "message", "role": "assistant", "content": "Sorted the list.", "delta": True},
    {
        "type": "result",
        "status": "success",
        "stats": {
            "input_tokens": 70,
            "output_tokens": 7,
            "models": {"small": {"total_tokens": 7}, "gemini-big": {"total_tokens": 70}},
        },
    },
)
REPORTS = {
    "codex": (CODEX, AgentReport(350, 25, 4, None, "", 1, "Sorted the list.", "")),
    "claude": (CLAUDE + CLAUDE_END, AgentReport(150, 9, 2, 0.25, "claude-x-1", 1, "Sorted the list.", "")),
    "gemini": (GEMINI, AgentReport(77 - 7, 7, 1, None, "gemini-big", 0, "Sorted the list.", "")),
}


def read(agent: str, *parts: bytes) -> AgentReport:
    reader = ReportReader(agent)
    for part in parts:
        reader.feed(part)
    return reader.finish()


@pytest.mark.parametrize("agent", REPORTS)
def test_a_report_is_read(agent: str) -> None:
    """Limits and costs are as right as these numbers."""
    output, wanted = REPORTS[agent]
    assert read(agent, output) == wanted


@pytest.mark.parametrize("agent", REPORTS)
@given(cuts=st.lists(st.integers(0, 2000), max_size=12))
def test_lines_may_come_in_any_pieces(agent: str, cuts: list[int]) -> None:
    """A pipe cuts where it likes; a number that is lost on the way is a limit that does not hold."""
    output, wanted = REPORTS[agent]
    places = [0, *sorted(min(cut, len(output)) for cut in cuts), len(output)]
    assert read(agent, *(output[one:other] for one, other in pairwise(places))) == wanted


def test_claude_is_counted_while_it_works() -> None:
    """A limit has to stop an agent before its last line; the same message comes in several lines and counts once."""
    found = read("claude", CLAUDE)
    assert (found.tokens_in, found.tokens_out, found.calls, found.said) == (20, 4, 2, "Sorted.")


@pytest.mark.parametrize(
    ("agent", "row", "said"),
    [
        ("codex", {"type": "turn.failed", "error": {"message": "quota"}}, "quota"),
        ("codex", {"type": "error", "message": "no network"}, "no network"),
        ("claude", {"type": "result", "is_error": True, "result": "credit too low"}, "credit too low"),
        ("gemini", {"type": "result", "status": "error", "error": {"message": "bad key"}}, "bad key"),
    ],
)
def test_what_an_agent_complains_about_is_kept(agent: str, row: object, said: str) -> None:
    """`the agent ended with 1` alone sends people searching."""
    assert read(agent, rows(row)).error == said


ODD = [-1, 1 << 50, 1.5, True, "12", None, [3], {"a": 1}]


@pytest.mark.parametrize("number", ODD, ids=str)
def test_numbers_that_make_no_sense_are_left_out(number: object) -> None:
    """A hostile or broken report must not lower what was used, or end the worker that reads it."""
    usage = {"input_tokens": number, "output_tokens": 3}
    assert read("codex", rows({"type": "turn.completed", "usage": usage})).tokens == 3
    assert read("claude", rows({"type": "result", "usage": usage})).tokens == 3
    assert read("gemini", rows({"type": "result", "stats": usage})).tokens == 3


@pytest.mark.parametrize("cost", ["NaN", "Infinity", "-1", "1e999", "1" + "0" * 400, '"5"', "true", "[]"])
def test_a_cost_that_makes_no_sense_is_left_out(cost: str) -> None:
    """One such number would make the sum of the whole crew useless, or end the worker."""
    assert read("claude", b'{"type":"result","total_cost_usd":%s}\n' % cost.encode()).cost is None


@pytest.mark.parametrize("agent", REPORTS)
@given(noise=st.binary(max_size=300), place=st.integers(0, 9))
def test_garbage_between_the_lines_changes_nothing(agent: str, noise: bytes, place: int) -> None:
    """Agents print warnings, colours and torn lines into their reports."""
    output, wanted = REPORTS[agent]
    lines = output.splitlines(keepends=True)
    noise = noise.replace(b"\n", b"").lstrip(b"{") + b"\n"
    assert read(agent, *lines[:place], noise, b'{"type": "resu\n', b"[1]\n", *lines[place:]) == wanted


@pytest.mark.parametrize("agent", REPORTS)
@given(
    row=st.dictionaries(
        st.sampled_from(["type", "item", "usage", "message", "stats", "error", "result", "role", "content", "model"]),
        st.recursive(
            st.sampled_from([None, True, -1, 0.5, "assistant", "result", "turn.completed", "item.completed", "error"]),
            lambda part: (
                st.lists(part, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["type", "id", "usage", "content", "models", "text", "name", "message"]), part
                )
            ),
            max_leaves=8,
        ),
    )
)
def test_any_json_is_survived(agent: str, row: object) -> None:
    """A new version of an agent changes its rows; the worker must not die of it."""
    found = read(agent, rows(row, row))
    assert found.tokens >= 0 and isinstance(found.said, str) and isinstance(found.error, str)


def test_a_huge_line_is_left_out_and_the_next_is_read() -> None:
    """An agent that prints a whole file in a line may not fill our memory, nor hide what it used."""
    big = b'{"type":"x","y":"' + b"a" * (2 * MAX_LINE) + b'"}\n'
    reader = ReportReader("codex")
    for place in range(0, len(big), 1 << 16):
        reader.feed(big[place : place + (1 << 16)])
        assert len(reader._rest) <= MAX_LINE + (1 << 16)
    reader.feed(CODEX)
    assert reader.finish() == REPORTS["codex"][1]


def test_nested_too_deep_is_survived() -> None:
    """One line of brackets must not end a worker."""
    assert read("gemini", b'{"a":' + b"[" * 200_000 + b"\n", GEMINI) == REPORTS["gemini"][1]


def test_any_other_command_is_quoted_by_its_last_words() -> None:
    """A scripted agent reports in words; only its end is of use."""
    found = read("mine", b"Erster Schritt\n\n", b"x" * 10_000 + b"\nDone \xff.")
    assert found.said.endswith("x\nDone \ufffd.") and len(found.said) <= MAX_SAID and found.tokens == 0


# ── prices ───────────────────────────────────────────────────────────────────────────────────────


def test_the_longest_name_in_the_price_list_counts() -> None:
    """gpt-6-mini costs a tenth of gpt-6; priced as the other, a limit of cost stops the crew on the first day."""
    prices = {"gpt-6": (10.0, 20.0), "gpt-6-mini": (1.0, 2.0)}
    used = {"tokens_in": 1_000_000, "tokens_out": 500_000}
    assert AgentReport(**used, model="gpt-6-mini-2026").priced(prices) == 2.0
    assert AgentReport(**used, model="gpt-6").priced(prices) == 20.0
    assert AgentReport(**used, model="other").priced(prices) is None, "an unknown price is not nothing"
    assert AgentReport(**used, model="gpt-6", cost=0.5).priced(prices) == 0.5, "what the agent says counts"
    assert AgentReport(model="gpt-6").priced(prices) is None


# ── commands ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_agent_gets_its_prompt_as_one_word(name: str) -> None:
    """A prompt that a shell or an option parser splits would run what it quotes."""
    prompt = '$(touch x); `y`\n--dangerous "z"'
    argv, given = agent_named(name).command(prompt)
    assert argv.count(prompt) == 1 and given is None and argv[0] == name


def test_another_command_reads_its_prompt() -> None:
    """Any program that reads stdin can be an agent."""
    agent = agent_named("my-agent --flag 'two words'")
    assert agent.command("héllo") == (["my-agent", "--flag", "two words"], "héllo".encode())
    assert agent_named("/opt/bin/codex exec --json {prompt}").name == "codex", "its report is read like codex's"
    assert agent_named("codex").variables == agent_named("/opt/bin/codex exec --json {prompt}").variables


@pytest.mark.parametrize("words", ["", "  ", "it's", []])
def test_a_command_that_cannot_be_read_is_said(words: str | list[str]) -> None:
    """A missing quote is a typing error and no crash."""
    with pytest.raises(BadInput):
        agent_named(words)


def test_a_prompt_fits_an_argument() -> None:
    """Linux refuses to start a program with an argument of 128 KiB."""
    (_, word, *_), _ = agent_named("x {prompt}").command("ä" * MAX_PROMPT)
    assert len(word.encode()) <= MAX_PROMPT


def test_an_agent_gets_what_it_needs_of_the_environment_and_no_more() -> None:
    """A token for deployment in the user's shell is none of an agent's business."""
    environ = {"PATH": "/bin", "HOME": "/h", "OPENAI_API_KEY": "k", "DEPLOY_TOKEN": "s", "MY_VAR": "m", "CI": "1"}
    assert agent_named("codex").environment(environ) == {"PATH": "/bin", "HOME": "/h", "OPENAI_API_KEY": "k"}
    assert chosen_environment(environ, ("MY_*", "CI")) == {"PATH": "/bin", "HOME": "/h", "MY_VAR": "m", "CI": "1"}
