"""Sessions as values: their JSON, the rules of what is open, and their text for an agent."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import BadInput, FutureFormat, NotFound, TooLarge
from holdfast.model import session as rules
from holdfast.model.brief import brief, essential, failing
from holdfast.model.session import (
    Condensed,
    Session,
    SessionAnchor,
    SessionApproval,
    SessionCommand,
    SessionItem,
    SessionTurn,
    from_json,
    to_json,
    to_object,
)
from holdfast.model.text import tokens
from holdfast.values import replace

SCHEMA = Path(__file__).parents[2] / "docs" / "schemas" / "session.schema.json"
VALIDATOR = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
TS = "2026-11-16T00:00:00.000000Z"
OID = "a" * 40

words = st.text(max_size=60)
line = st.text(min_size=1, max_size=80).map(str.strip).filter(bool)
oids = st.sampled_from([OID, "b" * 64, "0123456789" * 4])
ids = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,20}\Z")
anchors = st.builds(SessionAnchor, st.just(TS), st.none() | oids, st.none() | line)
commands = st.builds(
    SessionCommand, text=line, run=st.none() | ids, exit_status=st.none() | st.integers(-5, 300), ts=st.just(TS)
)
extras = st.dictionaries(st.sampled_from(["x_more", "extra", "ünknown"]), st.integers() | words, max_size=2)


def items(letter: str) -> st.SearchStrategy[tuple[SessionItem, ...]]:
    made = st.lists(st.tuples(line, st.none() | ids, st.sampled_from(["open", "closed"])), max_size=5)
    return made.map(
        lambda rows: tuple(
            SessionItem(id=f"{letter}{n}", text=text, task=task, ts=TS, state=state)
            for n, (text, task, state) in enumerate(rows, 1)
        )
    )


approvals = st.lists(st.tuples(line, st.sampled_from(["pending", "granted", "denied"])), max_size=4).map(
    lambda rows: tuple(SessionApproval(id=f"a{n}", text=t, state=s, ts=TS) for n, (t, s) in enumerate(rows, 1))
)


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    folded = draw(st.integers(0, 9))
    said = draw(st.lists(words, max_size=6))
    turns = tuple(
        SessionTurn(
            n=folded + n,
            anchor=draw(anchors),
            summary=text,
            commands=tuple(draw(st.lists(commands, max_size=2))),
            files=tuple(draw(st.lists(line, max_size=2))),
            commits=tuple(draw(st.lists(oids, max_size=2))),
            extra=tuple(draw(extras).items()),
        )
        for n, text in enumerate(said, 1)
    )
    ended = draw(st.none() | anchors)
    return Session(
        id=f"SES-{draw(ids)}",
        state="ended" if ended else "open",
        objective=draw(words),
        agent=draw(st.none() | line),
        line="l1",
        worktree=draw(st.sampled_from([".", "tree-1"])),
        started=draw(anchors),
        updated=draw(anchors),
        ended=ended,
        summary=draw(words),
        turns=turns,
        condensed=Condensed(turns=folded, text=draw(words), by="holdfast", folded=turns[:1]) if folded else None,
        open=draw(items("o")),
        follow_ups=draw(items("f")),
        approvals=draw(approvals),
        scratchpad=draw(words),
        decisions=tuple(draw(st.lists(line, max_size=3))),
        commits=tuple(draw(st.lists(oids, max_size=3))),
        commands=tuple(draw(st.lists(commands, max_size=3))),
        tasks=tuple(draw(st.lists(ids, max_size=2))),
        extra=tuple(draw(extras).items()),
    )


def plain(**fields: Any) -> Session:
    at = SessionAnchor(TS, OID, "main")
    return Session(**{"id": "SES-abc123", "line": "l1", "worktree": ".", "started": at, "updated": at, **fields})


@settings(max_examples=20)
@given(sessions())
def test_a_session_reads_back_as_it_was_written_and_fits_its_schema(session: Session) -> None:
    """Whoever goes on must find what the last one left, and other tools must be able to read it."""
    text = to_json(session)
    assert from_json(text.encode("utf-8", "backslashreplace")) == session
    VALIDATOR.validate(json.loads(text))


def test_the_schema_is_one() -> None:
    """A schema that is no schema accepts everything."""
    jsonschema.Draft202012Validator.check_schema(VALIDATOR.schema)


def test_fields_of_others_are_kept_wherever_they_stand() -> None:
    """A newer version's fields must survive an older one that only adds a turn."""
    raw = to_object(plain(open=(SessionItem(id="o1", text="do it", ts=TS),)))
    raw["colour"] = {"of": ["the", "sky"]}
    raw["started"]["weather"] = "rain"
    raw["open"][0]["extra"] = [1, 2]
    kept = json.loads(to_json(from_json(json.dumps(raw))))
    assert kept == raw


DAMAGE: list[tuple[str, Any, str]] = [
    ("id", "TSK-1", "not the id of a session"),
    ("state", "asleep", "state is not one of open, ended"),
    ("state", "ended", "state and its end differ"),
    ("line", "../x", "line is not the id of a line"),
    ("started", None, "started is not an object"),
    ("started", {"commit": None, "branch": None}, "started has no ts"),
    ("updated", {"ts": "2026-02-31T00:00:00.000000Z", "commit": None, "branch": None}, "out of range|must be in"),
    ("updated", {"ts": TS, "commit": "abc", "branch": None}, r"updated.commit is not a full commit id"),
    ("turns", [{"n": 7, "anchor": {"ts": TS, "commit": None, "branch": None}, "summary": "x"}], "numbered"),
    ("open", [{"id": "o1", "text": "a", "ts": TS}, {"id": "o1", "text": "b", "ts": TS}], "ids of its items"),
    ("open", [{"id": "f1", "text": "a", "ts": TS}], "ids of its items"),
    ("open", "o1", "open is not a list"),
    ("summary", "x" * 20_001, "summary is longer than 20000"),
    ("commits", [OID] * 5_001, "commits has more than 5000"),
    ("approvals", [{"id": "a1", "text": "x", "ts": TS, "state": "maybe"}], r"approvals\[0\].state is not one of"),
    ("objective", 7, "objective is not a text"),
    ("version", 0, "does not say its version"),
    ("version", "1", "does not say its version"),
]


@pytest.mark.parametrize(("field", "value", "reason"), DAMAGE)
def test_damage_is_refused_with_its_reason(field: str, value: Any, reason: str) -> None:
    """`not a session` alone helps nobody to mend the file."""
    raw = {**to_object(plain()), field: value}
    with pytest.raises(ValueError, match=reason):
        from_json(json.dumps(raw))


@pytest.mark.parametrize("text", ["[]", "{}", "nul", '{"version":1,"version":1}', '{"version":NaN}', "[" * 9_000])
def test_what_is_no_session_is_refused(text: str) -> None:
    """A torn or foreign file must not pass for an empty session."""
    with pytest.raises((ValueError, RecursionError)):
        from_json(text)


def test_a_newer_version_is_left_alone() -> None:
    """An older Holdfast must not write over what it does not understand."""
    with pytest.raises(FutureFormat, match="version 2"):
        from_json(json.dumps({**to_object(plain()), "version": 2}))


def test_the_same_open_text_joins_and_numbers_are_never_given_twice() -> None:
    """`--close o1` must not close something else that took the number."""
    found = rules.add_items((), ["Write tests", "write  TESTS", "b"], letter="o", ts=TS)
    assert [(item.id, item.text) for item in found] == [("o1", "Write tests"), ("o2", "b")]
    session = rules.close(plain(open=found), ["O2"])
    again = rules.add_items(session.open, ["b"], letter="o", ts=TS)
    assert [(item.id, item.state) for item in again] == [("o1", "open"), ("o2", "closed"), ("o3", "open")]


def test_closing_what_is_not_there_says_what_is() -> None:
    """A typo must not look like success."""
    session = plain(
        open=(SessionItem(id="o1", text="a", ts=TS),), approvals=(SessionApproval(id="a1", text="b", ts=TS),)
    )
    with pytest.raises(NotFound) as error:
        rules.close(session, ["o7"])
    assert "o1, a1" in error.value.hint
    with pytest.raises(NotFound):
        rules.answer(session, ["a2"], state="granted")
    assert rules.answer(session, ["a1"], state="denied").pending == ()


def test_of_too_many_items_only_closed_ones_go() -> None:
    """A limit must never swallow something that is still to be done."""
    many = tuple(
        SessionItem(id=f"o{n}", text=str(n), ts=TS, state="closed" if n % 2 else "open") for n in range(1, 2_001)
    )
    found = rules.add_items(many, ["one more"], letter="o", ts=TS)
    assert len(found) == 2_000 and found[-1].id == "o2001"
    assert {item.id for item in many if item.state == "open"} <= {item.id for item in found}
    with pytest.raises(TooLarge):
        rules.add_items(tuple(replace(item, state="open") for item in many), ["x"], letter="o", ts=TS)


def test_empty_and_endless_items_are_refused() -> None:
    """An item nobody can read cannot be done."""
    with pytest.raises(BadInput):
        rules.add_items((), [" \n"], letter="o", ts=TS)
    with pytest.raises(TooLarge):
        rules.add_approvals((), ["x" * 4_001], ts=TS)


@settings(max_examples=20)
@given(sessions(), st.integers(1, 400))
def test_the_text_for_an_agent_keeps_to_its_budget_and_to_what_is_open(session: Session, budget: int) -> None:
    """An agent that is told too much forgets; one that is not told what is open starts anew."""
    told = brief(session, budget=budget)
    assert told.tokens == tokens(told.text)
    for item in (*session.still_open, *session.still_to_follow):
        assert f"- {item.id} " in told.text
    for approval in session.pending:
        assert f"- {approval.id} " in told.text
    alone = [f"Session {session.id}", *(x for part in essential(session) for x in (part.title, *part.lines))]
    if told.over:
        assert tokens("\n".join(alone)) >= budget
        assert "more than the budget" in told.text
    else:
        assert told.tokens <= budget


def test_the_newest_turns_and_what_failed_last_are_told_first() -> None:
    """With little room, yesterday's first turn matters less than the test that fails now."""
    at = SessionAnchor(TS, OID, "main")
    turns = tuple(SessionTurn(n=n, anchor=at, summary=f"turn-{n} " + "word " * 20) for n in range(1, 31))
    ran = (("a", 1), ("b", 1), ("a", 0))
    session = plain(turns=turns, commands=tuple(SessionCommand(text=t, exit_status=c, ts=TS) for t, c in ran))
    text = brief(session, budget=200).text
    assert [one.text for one in failing(session.commands)] == ["b"]
    assert "- b (exit 1)" in text and "turn-30 " in text and "turn-1 " not in text
    assert text.index("turn-29 ") < text.index("turn-30 ")


def test_what_hides_or_steers_is_marked_in_the_text() -> None:
    """A note may hold what a web page said; it must not steer a terminal or hide from a reader."""
    session = plain(open=(SessionItem(id="o1", text="\x1b[2Jdo\u202eit", ts=TS),), scratchpad="a\x07b")
    text = brief(session, budget=200).text
    assert "⟨U+202E⟩" in text and "⟨U+001B⟩" in text and "\x07" not in text


def test_what_was_allowed_or_denied_is_told() -> None:
    """An agent that forgets a no does what it must not; one that forgets a yes asks twice."""
    answers = [("a1", "granted"), ("a2", "denied"), ("a3", "pending")]
    session = plain(approvals=tuple(SessionApproval(id=n, text=f"q {n}", ts=TS, state=s) for n, s in answers))
    lines = brief(session, budget=200).text.split("\n")
    assert lines[lines.index("Allowed:") + 1] == "- a1 q a1" and lines[lines.index("Denied:") + 1] == "- a2 q a2"
    assert lines.count("- a1 q a1") == 1


def test_a_commit_that_was_renamed_is_told_by_its_new_name() -> None:
    """A name that git does not know any more leads nowhere."""
    second, third = "b" * 40, "c" * 40
    session = plain(extra=(("was", {OID: second, second: third}),))
    assert rules.now_at(session, session.updated).commit == third
    assert f"at {third[:12]}" in brief(session, budget=200).text
    loop = plain(extra=(("was", {OID: second, second: OID}),))
    assert rules.now_at(loop, loop.updated).commit in (OID, second)
