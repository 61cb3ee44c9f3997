"""What every agent's transcripts must give, whoever wrote them: one story, resumed, forked, torn, huge, hostile.

The hostile ones of agents that write lines or documents are in tests/laws; a database is spoilt here.
"""

import json
import os
import random
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from holdfast.capture.agents import DIALECTS, dialect
from holdfast.capture.agents.transcript_reader import MAX_LINE
from holdfast.capture.ingest.intake import IntakeResult
from holdfast.errors import HoldfastError
from holdfast.model.transcript import AGENTS, MAX_STEPS, TranscriptTurn
from holdfast.store import import_progress, session_files, transcript_files
from tests.contracts.agent_stories import ASKED, EXPORT, OLDER_OPENCODE, OPENCODE, STORIES, THEN, Story, opencode
from tests.git.place import Place
from tests.laws.test_hostile_transcripts import keeps_its_limits
from tests.making import take_in


@pytest.fixture(params=STORIES)
def story(request: pytest.FixtureRequest) -> Story:
    return STORIES[request.param]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place.make(tmp_path / "repo")


def read(agent: str, path: str, start: int = 0) -> list[TranscriptTurn]:
    tool = dialect(agent)
    return list(tool.read(path, start, tool.read(path, 0, None).origin if start else None))


def imported(place: Place, story: Story, path: str, *, ended: bool = True) -> IntakeResult:
    found = take_in(place.open(), dialect(story.agent), path, ended=ended)
    assert found is not None
    return found


def test_every_agent_has_a_story_or_older_tests() -> None:
    """An agent that nobody tests is one that does not work."""
    assert {story.agent for story in STORIES.values()} | {"codex", "claude", "gemini"} == set(DIALECTS) == set(AGENTS)


def test_the_table_of_agents_rests_on_tests() -> None:
    """A cell that nobody tests is a promise: each names a test that is there, or says that there is none."""
    root = Path(__file__).resolve().parent.parent.parent
    page = (root / "docs" / "reference" / "connect.md").read_text()
    table = page.partition("| agent | context at start |")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()[2:]]
    called = [*AGENTS.values()]
    assert [row[0] for row in rows] == [*called, "your own"]
    legend = dict(re.findall(r"^- \[([a-z])\] (.*)$", page, re.MULTILINE))
    for cell in (cell for row in rows for cell in row[1:]):
        named = re.search(r"\[([a-z])\]$", cell)
        assert cell in ("not supported", "not tested") or (named and named[1] in legend), cell
    for file, test in (pair for line in legend.values() for pair in re.findall(r"`([^`]+\.py)` `(test_\w+)`", line)):
        assert f"def {test}(" in (root / file).read_text(), test


def test_the_story_is_told_alike(story: Story, tmp_path: Path) -> None:
    """Who asks what an agent did must not have to know which agent it was."""
    path = story.told(tmp_path)
    first, second = read(story.agent, path)

    assert (first.prompt, second.prompt) == (ASKED, THEN)
    assert [step.text for step in first.steps] == ["I look.", "", "It is fixed."]
    assert first.steps[0].reasoning == "Look." or story.agent == "copilot"
    assert (first.steps[0].model or "").startswith("model-")
    ran, edited, made = first.calls[:3]
    assert (ran.kind, ran.command, ran.text[:1]) == ("shell", "pytest -q", "{")
    assert ran.result is not None and (ran.result.failed, ran.result.exit_status) == (True, 1)
    assert "1 failed" in ran.result.text and "Additional guidance" not in ran.result.text
    [edit] = edited.edits
    assert (edit.path, edit.added, edit.removed) == ("/w/app/a.py", ("two",), ("one",))
    assert made.kind == "edit" and (story.agent == "copilot" or made.edits[0].added == ("x",))
    used = first.steps[0].usage
    assert used is not None and (used.read, used.written) == (100, 20)
    assert used.dollars == (0.0006 if story.agent in ("opencode", "pi") else None), "where the agent says so"
    assert dialect(story.agent).is_mine(path)
    assert not any("told by" in text for text in (first.prompt, first.answer))


@pytest.mark.parametrize("agent", sorted(STORIES.keys() - {EXPORT}))  # a person chooses where an export lies
def test_it_is_found_where_the_agent_keeps_it(agent: str, tmp_path: Path) -> None:
    """A folder is found by the agent's own rules, and one session by its name, for hooks that name no file."""
    story = STORIES[agent]
    path = story.told(tmp_path)
    tool = dialect(story.agent)
    assert [*tool.files(str(tmp_path))] == [path]
    origin = tool.read(path, 0, None).origin
    assert origin.cwd == "/w/app" and origin.agent == story.agent and origin.started
    assert tool.find(str(tmp_path), origin.session) in ("", path)
    assert story.agent in ("qwen", "pi") or tool.find(str(tmp_path), origin.session) == path


def test_a_resumed_session_is_recorded_once(story: Story, place: Place, tmp_path: Path) -> None:
    """It goes on in the same transcript; what was imported before must not be there twice."""
    where = {"cwd": str(place.repo.path)}
    first = imported(place, story, story.told(tmp_path / "home", story.first_half, **where))
    assert (len(first.runs), first.turns) == (1, 1)
    path = story.told(tmp_path / "home", story.more, **where)
    second = imported(place, story, path)
    assert (len(second.runs), second.turns, second.copies) == (1, 1, 0), "only what is new"
    assert second.session == first.session
    assert imported(place, story, path).runs == ()
    progress = import_progress.load(place.open().stores, story.agent, first.session)
    assert progress is not None and progress.count == 2


def test_a_fork_is_recorded_without_its_copied_history(story: Story, place: Place, tmp_path: Path) -> None:
    """Somebody who tries two ways did the beginning once."""
    where = {"cwd": str(place.repo.path)}
    imported(place, story, story.told(tmp_path / "home", story.first_half, **where))
    fork = {"qwen": "0f0e0d0c-0000-4000-8000-00000000000f", "cline": "1794840780999_fork0"}
    path = story.told(tmp_path / "home", story.more, session=fork.get(story.agent, "ses_fork"), **where)
    again = imported(place, story, path)
    assert (again.turns, again.copies) == (1, 1)


@pytest.mark.parametrize("killed", [True, False])
def test_a_session_that_was_killed_before_its_answer_is_said_to_be_cut_short(
    story: Story, place: Place, tmp_path: Path, killed: bool
) -> None:
    """The tool had given its result, so nothing looked amiss: the next session took it for done."""
    lines = story.first_half[:-1] if killed else story.first_half
    path = story.told(tmp_path / "home", lines, cwd=str(place.repo.path))
    imported(place, story, path)
    (session,) = session_files.all(place.open().layout)
    killed = killed or read(story.agent, path)[-1].interrupted  # in pi's story a person stops the answer
    cut_short = [item.text for item in session.open if item.text.startswith("cut short")]
    assert cut_short == ([f"cut short: {ASKED}"] if killed else [])


def test_a_live_session_is_noted_turn_by_turn(story: Story, place: Place, tmp_path: Path) -> None:
    """A session that goes on is in the memory before it ends."""
    where = {"cwd": str(place.repo.path)}
    noted = imported(place, story, story.told(tmp_path / "home", story.lines, **where), ended=False)
    stopped = story.agent == "copilot"  # there a person stops the second turn
    assert (noted.runs, noted.turns) == ((), 2 if stopped else 1)
    ended = imported(place, story, story.told(tmp_path / "home", story.more, **where))
    assert len(ended.runs) == 1 and ended.session_id == noted.session_id


def test_reading_may_begin_at_any_turn(story: Story, tmp_path: Path) -> None:
    """Live capture goes on where it stopped, and must come to the same keys."""
    path = story.told(tmp_path)
    whole = read(story.agent, path)
    for turn in whole:
        assert read(story.agent, path, turn.start)[-1].key == whole[-1].key


@pytest.mark.parametrize("agent", sorted(STORIES.keys() - {"opencode", OLDER_OPENCODE}))
def test_a_torn_transcript_loses_its_end_only(agent: str, tmp_path: Path, seed: int) -> None:
    """A killed client leaves half a line; a document that is being rewritten is read when it is whole."""
    story = STORIES[agent]
    path = story.told(tmp_path)
    whole = [turn.key for turn in read(story.agent, path)]
    data = Path(path).read_bytes()
    for size in random.Random(seed).sample(range(1, len(data) - 1), 25):
        Path(path).write_bytes(data[:size])
        try:
            told = [turn.key for turn in read(story.agent, path)]
        except HoldfastError as error:
            assert path in str(error)
            continue
        assert told == whole[: len(told)]


def test_a_turn_of_very_many_steps_is_cut_and_goes_on(story: Story, tmp_path: Path) -> None:
    """An agent left alone for a night."""
    before, after = story.first_half[:-1], story.first_half[-1]
    many = [_renamed(story.agent, after, n) for n in range(MAX_STEPS + 20)]
    told = read(story.agent, story.told(tmp_path, [*before, *many]))
    assert [turn.continues for turn in told] == [False, True]
    assert sum(len(turn.steps) for turn in told) == MAX_STEPS + 22
    for turn in told:
        keeps_its_limits(turn)


def _renamed(agent: str, line: Any, number: int) -> Any:
    text = json.dumps(line)
    names = {"qwen": "00000008-", "copilot": "m3-", "pi": "p8-", "kimi": "s3-", "cline": '"m8'}
    return json.loads(text.replace(names[agent], f"{names[agent]}{number}") if agent in names else text)


# ── opencode until 1.1: files, one for each message and part ──────────────────────────────────────


def test_a_torn_or_spoilt_file_of_a_session_loses_that_message_only(tmp_path: Path, seed: int) -> None:
    """A full disk cuts one of a thousand files; the others are whole."""
    story, some = STORIES[OLDER_OPENCODE], random.Random(seed)
    path = story.told(tmp_path)
    for file in sorted(tmp_path.rglob("msg_*.json")) + sorted(tmp_path.rglob("prt_*.json")):
        data = file.read_bytes()
        for spoilt in (data[: some.randrange(len(data))], b"[]", b"\xff", b"x" * (MAX_LINE + 1)):
            file.write_bytes(spoilt)
            reading = dialect("opencode").read(path, 0, None)
            assert len(list(reading)) in (1, 2) and reading.counted.damaged + reading.counted.too_long == 1, file
        file.write_bytes(data)


def test_a_session_that_a_later_version_took_into_its_database_is_told_once(place: Place, tmp_path: Path) -> None:
    """1.2 took the files over under the same names and left them where they were."""
    where, home = {"cwd": str(place.repo.path)}, tmp_path / "home"
    files, database = STORIES[OLDER_OPENCODE], STORIES["opencode"]
    old = files.told(home, **where)
    assert imported(place, files, old).turns == 2
    new = database.told(home, **where)
    assert [*dialect("opencode").files(str(home))] == [new]
    assert imported(place, database, new).runs == ()


# ── the one that is a database ───────────────────────────────────────────────────────────────────


def test_a_database_is_read_beside_its_client(tmp_path: Path) -> None:
    """What a running client wrote last stands in its log, not in the file."""
    path = opencode(tmp_path / "opencode.db", OPENCODE[:1])
    writer = sqlite3.connect(tmp_path / "opencode.db")
    try:
        writer.execute("pragma wal_autocheckpoint = 0")
        writer.execute("insert into message values ('m9', 'ses_1', ?, 0, '{\"role\": \"user\"}')", (1794840759999,))
        part = json.dumps({"type": "text", "text": "written a moment ago"})
        writer.execute("insert into part values ('p9', 'm9', 'ses_1', 0, 0, ?)", (part,))
        before = transcript_files.facts(path)
        writer.commit()
        assert transcript_files.facts(path).mtime_ns >= before.mtime_ns
        assert [turn.prompt for turn in read("opencode", path)] == [ASKED, "written a moment ago"]
    finally:
        writer.close()


@pytest.mark.parametrize("value", [None, True, 0, 1.5, "", "x", [], {}, [[]], [{}], {"type": {}}, "\ud800", "y" * 300])
def test_any_value_in_a_row_may_be_of_any_type(tmp_path: Path, value: Any) -> None:
    """The next version changes a field; the import must not stop in the middle."""
    rows = [(message, key) for message, _ in OPENCODE for key in message]
    rows += [(part, key) for _, parts in OPENCODE for part in parts for key in part]
    rows += [
        (part["state"], key) for _, parts in OPENCODE for part in parts if "state" in part for key in part["state"]
    ]
    for number, (container, key) in enumerate(rows):
        before = container[key]
        container[key] = value
        try:
            path = opencode(tmp_path / f"{number}.db", OPENCODE)
        finally:
            container[key] = before
        for turn in read("opencode", path):
            keeps_its_limits(turn)


def test_columns_may_hold_anything(tmp_path: Path) -> None:
    """SQLite keeps no types; and a value of many megabytes is passed over and counted."""
    path = opencode(tmp_path / "opencode.db", OPENCODE)
    with sqlite3.connect(tmp_path / "opencode.db") as connection:
        connection.execute("update part set data = ? where rowid = 3", ("[" * 5000,))
        connection.execute("update part set data = ? where rowid = 4", (b"\xff\x00",))
        connection.execute("update part set data = ? where rowid = 5", ("x" * (MAX_LINE + 1),))
        connection.execute("update message set time_created = 'soon' where rowid = 2")
        connection.execute("update session set title = x'ff', directory = 7, time_created = -1")
    connection.close()
    reading = dialect("opencode").read(path, 0, None)
    assert [turn.prompt for turn in reading][:1] == [ASKED]
    assert reading.counted.too_long == 1 and reading.counted.damaged == 2
    assert (reading.origin.cwd, reading.origin.title, reading.origin.started) == ("7", None, None)


def test_a_spoilt_database_is_refused_with_a_sentence(tmp_path: Path, seed: int) -> None:
    """A full disk cuts it; another program has a file of that name."""
    path = opencode(tmp_path / "opencode.db", OPENCODE)
    file = tmp_path / "opencode.db"
    data, some = file.read_bytes(), random.Random(seed)
    for _ in range(25):
        at = some.randrange(len(data))
        file.write_bytes(some.choice([data[:at], data[:at] + bytes(64) + data[at + 64 :], b"no database"]))
        try:
            for turn in read("opencode", path):
                keeps_its_limits(turn)
            list(dialect("opencode").files(str(tmp_path)))
        except HoldfastError as error:
            assert "opencode" in str(error)
    file.unlink()
    assert not dialect("opencode").is_mine(path) and list(dialect("opencode").files(str(tmp_path))) == []
    with pytest.raises(HoldfastError):
        read("opencode", path)


def test_a_database_that_never_ends_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A view may compute for ever: whoever sends a database must not stop our user's import."""
    monkeypatch.setattr("holdfast.capture.agents.opencode._STEPS", 5_000_000)  # a fortieth, and of the time
    file = tmp_path / "opencode.db"
    endless = "with recursive n(x) as (select 1 union all select x + 1 from n) select x from n"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            f"create view session as select 'd' directory, 'v' version, 't' title, x parent_id, 1 time_created, 's' id,"
            f" 1 time_updated from ({endless}) where x < 0"
        )
    connection.close()
    with pytest.raises(HoldfastError, match="interrupted"):
        read("opencode", f"{file}#s")
    assert os.path.exists(file)
