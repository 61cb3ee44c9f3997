"""Settings as text: what is put in is all that changes, and taking it out gives the same bytes."""

import json
import random
import tomllib
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.capture.wiring import client_settings, config_text, connection_record
from holdfast.capture.wiring.client_settings import WantedSettings

HOOK = "/home/ada/.local/share/holdfast/hook"
EVENTS = ("SessionStart", "Stop", "PreToolUse")


def group(event: str, timeout: int = 5) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": f"{HOOK} codex {event}", "timeout": timeout}]}


WANTED = WantedSettings(
    {event: group(event) for event in EVENTS}, {"command": "/home/ada/.local/share/holdfast/mcp", "args": []}
)
MINE = {"hooks": [{"type": "command", "command": "mine --holdfast/hook"}]}


def _mixed(rest: dict[str, Any], hooks: Any, servers: Any, order: int) -> dict[str, Any]:
    """A settings file in which our places stand anywhere."""
    members = list(rest.items())
    if hooks is not None:
        members.insert(order % (len(members) + 1), ("hooks", hooks))
    if servers is not None:
        members.insert(order // 2 % (len(members) + 1), ("mcpServers", servers))
    return dict(members)


words = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=6)
scalars = st.none() | st.booleans() | st.integers(-9, 10**20) | st.floats(allow_nan=False, allow_infinity=False) | words
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3), max_leaves=8
)
their_groups = st.lists(st.just(MINE) | st.just({"matcher": "*", "hooks": []}), max_size=2)
their_hooks = st.dictionaries(st.sampled_from([*EVENTS, "Other"]), their_groups, max_size=3)
their_servers = st.dictionaries(st.sampled_from(["a", "Holdfast"]), values, max_size=2)
files = st.builds(
    _mixed,
    st.dictionaries(words.filter(lambda key: key not in ("hooks", "mcpServers")), values, max_size=3),
    st.none() | their_hooks,
    st.none() | their_servers,
    st.integers(0, 9),
)
manners = st.tuples(
    st.sampled_from([None, 1, 2, 4, "\t"]),  # indentation
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\ufeff"]),
    st.sampled_from(["", "\n", "\n\n", " \t"]),  # behind it
    st.booleans(),  # whether characters beyond ASCII are escaped
)


def written(value: Any, manner: Any) -> str:
    indent, newline, bom, behind, ascii_only = manner
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only) + behind
    return bom + text.replace("\n", newline)


def parsed(text: str) -> Any:
    return json.loads(text.removeprefix("\ufeff"))


def merged(value: dict[str, Any]) -> dict[str, Any]:
    """What the file must say, made the plain way."""
    found = json.loads(json.dumps(value))
    for event, ours in WANTED.hooks.items():
        found.setdefault("hooks", {}).setdefault(event, []).append(ours)
    found.setdefault("mcpServers", {})["holdfast"] = WANTED.server
    return dict(found)


def without_empty(value: dict[str, Any]) -> dict[str, Any]:
    found = {key: inner for key, inner in value.items() if key != "hooks"}
    hooks = {event: groups for event, groups in value.get("hooks", {}).items() if groups}
    found |= {"hooks": hooks} if hooks else {}
    return {key: inner for key, inner in found.items() if key != "mcpServers" or inner}


@example(value={}, manner=(None, "\n", "", "", False))
@example(value={"hooks": {"Stop": []}}, manner=("\t", "\r\n", "\ufeff", "\n", False))
@given(value=files, manner=manners)
def test_put_in_says_what_is_wanted_and_changes_nothing_else(value: dict[str, Any], manner: Any) -> None:
    """A settings file that lost a comma or a key is an agent that does not start."""
    text = written(value, manner)
    edits = client_settings.put_ours(text, WANTED)
    after = config_text.apply_edits(text, edits)
    assert parsed(after) == merged(value)
    assert all(edit.start == edit.end for edit in edits), "only insertions: nothing of theirs is spelled anew"
    spans = connection_record.moved((), edits)
    assert spans is not None and connection_record.cut(after, spans) == text, "cut out again it is the same text"
    assert client_settings.put_ours(after, WANTED) == [], "a second time changes nothing"
    if "\r\n" in text:
        assert "\n" not in after.replace("\r\n", ""), "line ends stay of one kind"


@given(value=files, manner=manners)
def test_taken_out_without_a_record_only_ours_goes(value: dict[str, Any], manner: Any) -> None:
    """Who lost our record, or has another clone, must still get rid of us without losing anything."""
    text = written(value, manner)
    after = config_text.apply_edits(text, client_settings.put_ours(text, WANTED))
    back = config_text.apply_edits(after, client_settings.take_ours(after))
    assert without_empty(parsed(back)) == without_empty(parsed(text))
    if value.get("mcpServers") and all(value.get("hooks", {}).get(event) for event in EVENTS):
        assert back == text, "where nothing was empty it is the same text even so"


@given(value=files, manner=manners, data=st.data())
def test_a_newer_form_takes_the_place_of_the_older(value: dict[str, Any], manner: Any, data: Any) -> None:
    """Codex names a hook by its place: whoever comes after ours must not be moved by an update."""
    older = WantedSettings({event: group(event, 9) for event in data.draw(st.permutations([*EVENTS, "PreCompact"]))})
    text = written(value, manner)
    first = client_settings.put_ours(text, older)
    middle = config_text.apply_edits(text, first)
    second = client_settings.put_ours(middle, WANTED)
    after = config_text.apply_edits(middle, second)
    found = client_settings.find_ours(after)
    assert dict(found.hooks) == dict(WANTED.hooks) and found.server == WANTED.server
    spans = connection_record.moved((), first)
    assert spans is not None
    spans = connection_record.moved(spans, second)
    assert spans is None or connection_record.cut(after, spans) == text


def test_a_handler_beside_ours_stays() -> None:
    """Somebody may have put their own command into our group."""
    mixed = {"hooks": [*group("Stop")["hooks"], {"type": "command", "command": "mine"}]}
    text = json.dumps({"hooks": {"Stop": [mixed], "Other": [MINE]}}, indent=2)
    back = parsed(config_text.apply_edits(text, client_settings.take_ours(text)))
    assert back["hooks"]["Stop"] == [{"hooks": [{"type": "command", "command": "mine"}]}]
    after = parsed(config_text.apply_edits(text, client_settings.put_ours(text, WANTED)))
    assert after["hooks"]["Stop"] == [*back["hooks"]["Stop"], group("Stop")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n  # mine\n  "a": 1\n}', "line 2 is not plain JSON: a name"),
        ('{"a": 1, /* x "b": 2}', "a name is missing"),
        ('{"a": 1,}', "a name is missing"),
        ('{"a": 1 "b": 2}', "a comma is missing"),
        ('{"a" 1}', "a colon is missing"),
        ("{'a': 1}", "a name is missing"),
        ('{"a": tru}', "no value"),
        ('{"a": 01}', "no value"),
        ('{"a": NaN}', "no value"),
        ('{"hooks": {}} x', "something follows"),
        ('{"hooks": {"Stop": []', "a comma is missing"),
        ('{"hooks": 1}', '"hooks" is not an object'),
        ('{"hooks": {"Stop": {}}}', '"Stop" is not a list'),
        ('{"hooks": {}, "hooks": {}}', '"hooks" twice'),
        ('{"mcpServers": {"holdfast": {"command": "other"}}}', "not ours"),
        ("[]", "not an object"),
        ("", "empty"),
        ("[" * 5000 + "]" * 5000, "too deep"),
        ('{"a": "\x01"}', "no value"),
    ],
)
def test_what_cannot_be_undone_is_refused(text: str, said: str) -> None:
    """A guess in somebody's settings is worse than a sentence."""
    with pytest.raises(config_text.NotPlain, match=said.replace("[", r"\[")):
        client_settings.put_ours(text, WANTED)


@given(text=st.text(max_size=40) | st.text('{}[]",: hoks\n1\\', max_size=40))
def test_reading_anything_ends_in_a_document_or_a_sentence(text: str) -> None:
    """A file somebody broke must not end in a stack of calls."""
    try:
        found = config_text.read_json(text).root.value
    except config_text.NotPlain:
        return
    assert found == json.loads(text.removeprefix("\ufeff"))


ENTRY = {"command": "/home/ada/.local/share/holdfast/mcp", "args": [], "omit_tools_from": ["deferred"]}
TOMLS = (
    "",
    'model = "x"\n',
    'model = "x"',
    '# mine\r\nmodel = "x"\r\n\r\n[mcp_servers.a]\r\ncommand = "a"\r\n',
    '\ufeff[projects."/w"]\ntrust_level = "trusted"\n\n',
    'text = """\n[mcp_servers.holdfast]\n"""\n',
    '[mcp_servers.a]\ncommand = "a" # why\n\n# the end\n',
)


@pytest.mark.parametrize("text", TOMLS)
def test_our_table_comes_and_goes(text: str) -> None:
    """Comments and the order of tables are their author's; a parser that writes back would lose both."""
    after = config_text.put_table(text, ENTRY)
    assert after.startswith(text) and config_text.put_table(after, ENTRY) == after
    assert tomllib.loads(after.removeprefix("\ufeff"))["mcp_servers"]["holdfast"] == ENTRY
    (edit,) = config_text.edits_between(text, after)
    spans = connection_record.moved((), [edit])
    assert spans is not None and connection_record.cut(after, spans) == text
    back = config_text.take_table(after)
    assert back == text or back.rstrip() == text.rstrip(), "without a record at most a blank line differs"


def test_what_codex_writes_behind_our_table_stays() -> None:
    """Codex appends the trust its user gave; taking ours out must not take that along."""
    theirs = '\n[projects."/w"]\ntrust_level = "trusted"\n'
    theirs += '\n[hooks.state."/x:stop:0:0"]\ntrusted_hash = "sha256:0"\n'
    allowed = '\n[mcp_servers.holdfast.tools.recall]\napproval_mode = "approve"\n'
    text = config_text.put_table('model = "x"\n', ENTRY) + allowed + theirs
    back = tomllib.loads(config_text.take_table(text))
    assert back == {
        "model": "x",
        "projects": {"/w": {"trust_level": "trusted"}},
        "hooks": {"state": {"/x:stop:0:0": {"trusted_hash": "sha256:0"}}},
    }, "a table below ours without a command would keep Codex from starting"


def test_an_older_table_is_set_right_where_it_stands() -> None:
    """What its user added to our table is theirs."""
    older = config_text.put_table("", {**ENTRY, "omit_tools_from": []}) + "tool_timeout_sec = 9\n\n[a]\nb = 1\n"
    after = tomllib.loads(config_text.put_table(older, ENTRY))
    assert after == {"mcp_servers": {"holdfast": {**ENTRY, "tool_timeout_sec": 9}}, "a": {"b": 1}}


COMMENTED = [
    '// mine\n{\n  // of mine\n  "a": "// no comment", // behind\n  "b": 1 /* last */\n}\n// end',
    "{ /* none, yet */ }",
    "{\n  // nothing yet\n}\n",
    '{"a": 1, /* between */ "b": 2}',
    '{\n\t"hooks": {\n\t\t"Stop": [ // mine\n\t\t\t{"hooks": []} // done\n\t\t]\n\t}, // and\n}\n'.replace(
        "and\n", 'and\n\t"mcpServers": {} // none\n'
    ),
]


@pytest.mark.parametrize("text", COMMENTED)
def test_comments_stay_where_they_are(text: str) -> None:
    """Who explained a setting to himself wants to read it again, and Gemini allows it."""
    edits = client_settings.put_ours(text, WANTED)
    after = config_text.apply_edits(text, edits)
    assert config_text.read_json(after).comments == config_text.read_json(text).comments != []
    assert all(edit.start == edit.end for edit in edits)
    assert dict(client_settings.find_ours(after).hooks) == dict(WANTED.hooks)
    spans = connection_record.moved((), edits)
    assert spans is not None and connection_record.cut(after, spans) == text
    back = config_text.apply_edits(after, client_settings.take_ours(after))
    assert config_text.read_json(back).comments == config_text.read_json(text).comments, "without a record, too"
    assert not client_settings.find_ours(back)


def test_a_comment_on_our_lines_stays_when_they_go() -> None:
    """What somebody wrote about our lines is still theirs."""
    after = config_text.apply_edits('{"a": 1}', client_settings.put_ours('{"a": 1}', WANTED))
    after = after.replace('"hooks": {', '/* asked by Ada */ "hooks": { // all of them\n', 1)
    back = config_text.apply_edits(after, client_settings.take_ours(after))
    assert config_text.read_json(back).root.value == {"a": 1}
    assert config_text.read_json(back).comments == ["/* asked by Ada */", "// all of them"]


def test_an_inline_table_is_refused_for_what_it_is() -> None:
    """A wrong reason sends people to mend what is not broken."""
    with pytest.raises(config_text.NotPlain, match="it has mcp_servers in braces"):
        config_text.put_table('mcp_servers = { a = { command = "a" } }\n', ENTRY)


@pytest.mark.parametrize(
    "text", ['mcp_servers = { a = { command = "a" } }\n', "[mcp_servers.holdfast]\ncommand = 'x'\n", "a = \n"]
)
def test_a_table_that_cannot_be_ours_is_refused(text: str) -> None:
    """An inline table cannot be added to, and somebody's server of our name is not overwritten."""
    with pytest.raises(config_text.NotPlain):
        config_text.put_table(text, ENTRY)


def test_spans_follow_any_edits(seed: int) -> None:
    """A span that is off by one takes a character of somebody's settings along."""
    chance = random.Random(seed)
    for _ in range(300):
        theirs = "".join(chance.choices("abc", k=12))
        text, spans = theirs, ()
        for _ in range(3):
            inside = [place for start, end in spans for place in range(start + 1, end)]
            if inside and chance.random() < 0.5:
                place = chance.choice(inside)
                edits = [config_text.ConfigTextEdit(place, place, "++")]
            else:
                places = [place for place in range(len(text) + 1) if place not in inside]
                chosen = sorted(chance.sample(places, 2))
                edits = [config_text.ConfigTextEdit(place, place, "+" * chance.randint(1, 3)) for place in chosen]
            found = connection_record.moved(spans, edits)
            assert found is not None
            text, spans = config_text.apply_edits(text, edits), found
        assert connection_record.cut(text, spans) == theirs
