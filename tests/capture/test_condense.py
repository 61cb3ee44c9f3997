"""Condensing: older turns put shortly, by us or by a command, and nothing open ever dropped."""

import os
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast
from holdfast.capture import condense, session_note
from holdfast.capture import condense as capture_condense
from holdfast.capture import session_work as work
from holdfast.capture.condense import CondenseSettings
from holdfast.capture.session_note import WorkSinceTurn
from holdfast.git.clone import Clone
from holdfast.model.brief import brief, essential
from holdfast.model.session import Session, SessionAnchor, SessionTurn, from_json, to_json
from holdfast.model.text import tokens
from holdfast.store import session_files, statistics
from holdfast.values import replace
from tests.conftest import init_store


def condensed(session: Session, *, after: int, budget: int) -> Session:
    count = condense.due(session, after=after, budget=budget)
    text = condense.shortly(session, count, budget=budget)
    return condense.fold(session, count, text, by=condense.BY_US) if count else session


FAKE_KEY = "ghp_" + "h0ldfastExampleTokenNotReal123456789"[:36]
TS = "2026-11-16T00:00:00.000000Z"
AT = SessionAnchor(TS, "a" * 40, "main")
EMPTY = Session(id="SES-abc123", line="l1", worktree=".", started=AT, updated=AT)
NOTHING: dict[str, Any] = {
    **dict.fromkeys(("scratchpad", "task", "run")),
    **{name: [] for name in ("commands", "open", "follow_ups", "approvals", "decisions")},
    **{name: [] for name in ("close", "granted", "denied")},
    "summary": "",
}

text = st.text(st.characters(codec="utf-8"), min_size=1, max_size=120).map(str.strip).filter(bool)
steps = st.fixed_dictionaries(
    {
        "summary": text | st.just("said " * 200),
        "open": st.lists(text, max_size=2),
        "follow_ups": st.lists(text, max_size=1),
        "approvals": st.lists(text, max_size=1),
        "settle": st.integers(0, 9),
        "failed": st.booleans(),
    }
)


def noted(session: Session, **said: Any) -> Session:
    return session_note.with_note(session, {**NOTHING, **said}, AT, WorkSinceTurn((), ()))


def settled(session: Session, number: int) -> dict[str, list[str]]:
    """Some of what is open, to be closed now."""
    closing = [item.id for item in (*session.still_open, *session.still_to_follow)]
    asked = [one.id for one in session.pending]
    return {"close": closing[number : number + 1], "granted": asked[number : number + 1]}


@given(st.lists(steps, max_size=12), st.integers(2, 6), st.integers(100, 600))
def test_nothing_open_is_ever_dropped(work_done: list[dict[str, Any]], after: int, budget: int) -> None:
    """An open item lost in condensing is work nobody will ever do."""
    session = EMPTY
    expected: dict[str, str] = {}
    for step in work_done:
        closing = settled(session, step.pop("settle"))
        ran = [{"text": "make", "exit_status": int(step.pop("failed")), "ts": TS}]
        before = {one.id for one in (*session.open, *session.follow_ups, *session.approvals)}
        session = noted(session, **step, **closing, commands=ran)
        for name in (*closing["close"], *closing["granted"]):
            del expected[name]
        everything = (*session.open, *session.follow_ups, *session.approvals)
        expected |= {one.id: one.text for one in everything if one.id not in before}
        session = condensed(session, after=after, budget=budget)
        left = (*session.still_open, *session.still_to_follow, *session.pending)
        assert {one.id: one.text for one in left} == expected
        assert len(session.turns) <= after
        check_told(session, expected, budget)
    assert from_json(to_json(session)) == session
    assert session.count == len(work_done)


def check_told(session: Session, expected: dict[str, str], budget: int) -> None:
    told = brief(session, budget=budget)
    for name in expected:
        assert f"- {name} " in told.text
    alone = [f"Session {session.id}", *(x for part in essential(session) for x in (part.title, *part.lines))]
    assert told.tokens <= budget or (told.over and tokens("\n".join(alone)) >= budget)


def long_session(turns: int = 30, **fields: Any) -> Session:
    session = replace(EMPTY, **fields)
    for n in range(1, turns + 1):
        session = noted(session, summary=f"step {n}: " + "words about it " * 12)
    return session


def test_the_newest_turns_stay_as_they_were_said() -> None:
    """Who goes on needs the last steps word for word."""
    session = noted(long_session(20), summary="the last\n\n  word", decisions=["Tabs are errors"])
    short = condensed(session, after=20, budget=1500)
    assert short.condensed is not None and short.condensed.turns + len(short.turns) == 21
    assert short.turns == session.turns[-len(short.turns) :] and len(short.turns) == 10
    assert short.decisions == ("Tabs are errors",)
    assert tokens(short.condensed.text) <= condense.share(1500)
    assert "1. step 1" in short.condensed.text and short.condensed.by == "holdfast"


def test_condensing_again_and_again_says_how_many_turns_it_no_longer_tells() -> None:
    """A gap that looks like the whole story misleads."""
    session = EMPTY
    for n in range(1, 201):
        session = noted(session, summary=f"step {n}: " + "words about it " * 6)
        session = condensed(session, after=6, budget=300)
    assert session.condensed is not None and session.condensed.turns + len(session.turns) == 200
    first, *rest = session.condensed.text.split("\n")
    shown = int(rest[0].split(".")[0])
    assert first == f"({shown - 1} turns before these are not told here)"
    assert tokens(session.condensed.text) <= condense.share(300)


def test_a_line_of_each_folded_turn_stays_for_the_journal() -> None:
    """A day of a hundred turns must not read as a day of twenty."""
    session = EMPTY
    for n in range(1, 61):
        session = condensed(noted(session, summary=f"step {n}\nand more", task="TSK-a"), after=6, budget=300)
    assert [turn.n for turn in session.every_turn] == list(range(1, 61))
    first = session.every_turn[0]
    assert (first.summary, first.task, first.anchor) == ("step 1 and more", "TSK-a", AT)
    many = replace(session, turns=tuple(SessionTurn(n=60 + n, anchor=AT, summary="x") for n in range(1, 1_500)))
    many = replace(many, condensed=replace(session.condensed, turns=60))  # type: ignore[type-var]
    kept = condensed(many, after=6, budget=300).condensed
    assert kept is not None and len(kept.folded) == 1_000


def test_a_models_words_in_brackets_stay() -> None:
    """What a command answered is kept when more turns are folded onto it."""
    session = condense.fold(long_session(8), 4, "(careful with the cache)\nMuch was done.", by="claude")
    text = condense.shortly(session, 2, budget=1500)
    assert text.startswith("(careful with the cache)\nMuch was done.\n5. step 5")


def test_the_same_turns_give_the_same_text() -> None:
    """Two work trees that condense the same session must not differ."""
    made = {condensed(long_session(), after=4, budget=400) for _ in range(3)}
    assert len({to_json(session) for session in made}) == 1


def test_huge_texts_are_folded_whatever_the_setting() -> None:
    """A setting of 10,000 turns must not fill the file until it can take no more."""
    session = EMPTY
    for n in range(1, 71):
        session = noted(session, summary=f"{n} " + "x" * 19_000)
        session = condensed(session, after=10_000, budget=1500)
    assert len(to_json(session)) < 2 << 20


# A command of the user's choice.


@pytest.fixture
def clone(repo: Any, tmp_path: Path) -> Clone:
    init_store(repo.path, commit=True)
    return Clone.open(str(repo.path), cache=str(tmp_path / "cache"))


def script(tmp_path: Path, code: str) -> tuple[str, ...]:
    """A real command that reads the question and answers."""
    path = tmp_path / "model.py"
    path.write_text("import sys, os, time\nasked = sys.stdin.read()\n" + textwrap.dedent(code))
    return (sys.executable, "-I", "-S", str(path))


ECHO = "print('Much was done.')\nprint('OPEN' + asked.rsplit('OPEN', 1)[1])"


def condensed_by(clone: Clone, command: tuple[str, ...], **how: Any) -> Session:
    """A session of five turns with something open, condensed through a command."""
    settings = CondenseSettings(after=3, budget=600, command=command, environ=dict(os.environ), **how)
    work.note(clone, "first", open=["write the docs"], follow_ups=["tell Bob"], approvals=["drop it?"])
    for n in range(2, 4):
        work.note(clone, f"step {n}", condense_by=settings)
    return work.note(clone, "step 4", condense_by=settings).session


def test_a_command_may_put_it_shortly(clone: Clone, tmp_path: Path) -> None:
    """Who has a model at hand gets a better summary, and sees what it costs."""
    session = condensed_by(clone, script(tmp_path, ECHO), calls_per_day=50)
    assert session.condensed is not None
    assert (session.condensed.text, session.condensed.by) == ("Much was done.", os.path.basename(sys.executable))
    assert "1 of 50 model calls used today" in clone.notes
    assert [item.text for item in session.still_open] == ["write the docs"]
    assert [turn.n for turn in session.turns] == [4]


FAILURES = [
    ("print('Much was done.')\nprint('OPEN')\nprint('o1 write the docs\\nf1 tell Bob')", {}, "dropped a1"),
    ("print('Much was done.')\nprint('OPEN' + asked.rsplit('OPEN', 1)[1].replace('docs', 'code'))", {}, "dropped o1"),
    ("print('o1 write the docs f1 tell Bob a1 drop it?')", {}, "dropped o1"),
    ("print('OPEN' + asked.rsplit('OPEN', 1)[1])", {}, "answer is empty"),
    ("print('long ' * 2000)\nprint('OPEN' + asked.rsplit('OPEN', 1)[1])", {}, "tokens, more than 200"),
    ("sys.exit(3)", {}, "ended with 3"),
    ("time.sleep(60)", {"timeout": 0.3}, "took longer than 0.3 seconds"),
    ("while True: print('x' * 1000)", {}, "said more than 65536 bytes"),
    (ECHO, {"calls_per_day": 0}, "all 0 model calls of today are used"),
]


@pytest.mark.parametrize(("code", "how", "why"), FAILURES)
def test_a_bad_answer_falls_back_and_is_said(
    clone: Clone, tmp_path: Path, code: str, how: dict[str, Any], why: str
) -> None:
    """A model that forgets, fails, hangs or floods must cost nobody an open item or a session."""
    session = condensed_by(clone, script(tmp_path, code), **how)
    assert session.condensed is not None and session.condensed.by == "holdfast"
    assert "step 2" in session.condensed.text and len(session.still_open) == 1 and len(session.pending) == 1
    assert any("without the model command" in note and why in note for note in clone.notes), clone.notes


def test_a_missing_command_falls_back(clone: Clone) -> None:
    """Settings outlive the programs they name."""
    assert condensed_by(clone, ("no-such-model-here", "-p")).condensed is not None
    assert any("without the model command" in note for note in clone.notes)


def test_what_the_command_says_is_redacted(clone: Clone, tmp_path: Path) -> None:
    """A model may repeat a key it saw elsewhere."""
    code = f"print('Used {FAKE_KEY} twice.')\n" + ECHO.split("\n")[1]
    session = condensed_by(clone, script(tmp_path, code))
    assert session.condensed is not None and "twice" in session.condensed.text
    private = Path(clone.layout.private)
    assert not [p for p in private.rglob("*") if p.is_file() and FAKE_KEY.encode() in p.read_bytes()]


def test_no_command_runs_inside_a_git_hook(clone: Clone, tmp_path: Path) -> None:
    """A commit must never wait for a model."""
    marker = tmp_path / "ran"
    command = script(tmp_path, f"open({str(marker)!r}, 'w').close()")
    how = CondenseSettings(after=1, command=command, environ={**os.environ, "GIT_INDEX_FILE": ".git/index"})
    work.note(clone, "one")
    assert work.note(clone, "two", condense_by=how).session.condensed is not None
    assert not marker.exists() and statistics.model_calls_used(clone.layout, clone.now()[:10]) == 0
    assert any("git hook" in note for note in clone.notes)


def test_no_shell_looks_at_the_command_and_it_sees_no_files_of_ours(clone: Clone, tmp_path: Path) -> None:
    """`;` in an argument is an argument, and an agent started so has nothing to edit."""
    code = "print(os.getcwd(), sys.argv[1], os.environ.get('HOLDFAST_CONDENSING'))\n" + ECHO.split("\n")[1]
    session = condensed_by(clone, (*script(tmp_path, code), "; touch owned"))
    assert session.condensed is not None
    folder, rest = session.condensed.text.split(" ", 1)
    assert rest == "; touch owned 1"
    assert not os.path.exists(folder) and not folder.startswith(clone.repo.top)
    assert not os.path.exists("owned")


def test_what_it_started_ends_with_it(clone: Clone, tmp_path: Path) -> None:
    """A model's helper that holds the pipe must not hang the note, nor outlive it."""
    code = """
        import subprocess
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        with open(os.environ["MARK"], "w") as file:
            file.write(str(child.pid))
    """
    mark = tmp_path / "pid"
    how = {"MARK": str(mark), **os.environ}
    settings = CondenseSettings(after=1, command=script(tmp_path, code), environ=how, timeout=1.0)
    work.note(clone, "one")
    assert work.note(clone, "two", condense_by=settings).session.condensed is not None
    with pytest.raises(ProcessLookupError):
        wait_for_end(int(mark.read_text()))


def wait_for_end(pid: int) -> None:
    """Until a process is gone; a zombie that nobody reaps counts as gone."""
    while True:
        os.kill(pid, 0)
        if "Z" in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:1]:
            raise ProcessLookupError


def test_turns_noted_meanwhile_stay(clone: Clone, tmp_path: Path) -> None:
    """While a model thinks for a minute, others go on noting."""
    code = f"""
        sys.path[:0] = {[str(Path(holdfast.__file__).parents[1]), *sys.path]!r}
        from holdfast.git.clone import Clone
        from holdfast.capture import session_work
        other = Clone.open({clone.repo.top!r}, cache={str(tmp_path / "cache")!r})
        session_work.note(other, "meanwhile", open=["new"])
    """
    session = condensed_by(clone, script(tmp_path, textwrap.dedent(code) + ECHO))
    assert [turn.summary for turn in session.turns][-1] == "meanwhile", clone.notes
    assert [item.text for item in session.still_open] == ["write the docs", "new"]
    assert session.condensed is not None and session.condensed.text == "Much was done."


def test_whoever_condenses_second_changes_nothing(clone: Clone) -> None:
    """Two processes that fold the same turns must not fold others instead."""
    work.note(clone, "one")
    for n in range(2, 9):
        work.note(clone, f"step {n}", condense_by=CondenseSettings(after=100))
    seen = session_files.all(clone.layout)[0]
    first = work._condense(clone, seen, CondenseSettings(after=4))
    second = work._condense(clone, seen, CondenseSettings(after=4))
    assert first == second == session_files.all(clone.layout)[0]


def test_the_question_holds_what_is_asked_for() -> None:
    """The command must be able to give back what is open."""
    session = noted(long_session(3), summary="x", open=["a  b"], approvals=["c"])
    asked = capture_condense.question(session, 2, budget=600)
    assert "1. step 1" in asked and "3. step" not in asked and asked.endswith("OPEN\no1 a b\na1 c\n")


def test_a_turn_says_how_it_was_told_of() -> None:
    """Commits belong to the line that tells of them."""
    turn = SessionTurn(n=3, anchor=AT, summary="did\nit", commits=("b" * 40,))
    assert condense._line(turn) == f"3. did it [{'b' * 10}]"
