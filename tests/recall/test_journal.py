"""The journal of each day, told from real sessions and a real log."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import BadInput, UnsafePath
from holdfast.model.event import EventDraft
from holdfast.model.session import (
    Condensed,
    Session,
    SessionAnchor,
    SessionApproval,
    SessionCommand,
    SessionItem,
    SessionTurn,
)
from holdfast.model.text import has_hidden
from holdfast.recall import daily_journal
from holdfast.store import session_files
from holdfast.values import replace
from tests.git.place import Place

DAY, NEXT = "2026-11-15", "2026-11-16"
RUN, OTHER = "20261115T091500Z-abc123", "20261115T200000Z-def456"


class Clock:
    """Time that a test sets."""

    def __init__(self, moment: str) -> None:
        self.now = datetime.fromisoformat(moment).replace(tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-11-14T12:00:00Z")
    made = Place.make(tmp_path / "repo")
    made.clock = Clock(f"{DAY}T09:00:00")
    return made


def anchor(place: Place, ts: str, commit: str | None = None) -> SessionAnchor:
    head = place.open().repo.head()
    return SessionAnchor(f"{ts}:00.000000Z", commit or head.oid, head.branch)


def saved(place: Place, session: Session) -> Session:
    session_files.save(place.open().layout, session)
    return session


def session_of(place: Place, *turns: SessionTurn, name: str = "SES-1", **fields: Any) -> Session:
    """A session of the current line that began in the morning."""
    clone = place.open()
    begun = anchor(place, f"{DAY}T09:10")
    last = turns[-1].anchor if turns else begun
    made = Session(id=name, line=clone.line().id, worktree=".", started=begun, updated=last, turns=turns)
    return replace(made, **fields)


def the_day(place: Place, when: str = DAY, **options: bool) -> str:
    found = daily_journal.days(place.open(), only=[when], **options)
    return daily_journal.text(found.get(when, daily_journal.JournalDay(when)))


def test_a_day_tells_objective_actions_decisions_and_artefacts(place: Place) -> None:
    """Whoever reads the journal was not there."""
    first = place.git("rev-parse", "HEAD")
    commit = place.repo.commit("src/a.py")
    command = SessionCommand(text="make test", run=RUN, exit_status=1, ts=f"{DAY}T09:15:00.000000Z")
    saved(
        place,
        session_of(
            place,
            SessionTurn(n=1, anchor=anchor(place, f"{DAY}T09:15", first), summary="Wrote the form", run=RUN),
            SessionTurn(
                n=2,
                anchor=anchor(place, f"{DAY}T09:40"),
                summary="Wired it\nup",
                commits=(commit,),
                files=("src/a.py",),
                task="TSK-login",
            ),
            objective="Log people in",
            started=anchor(place, f"{DAY}T09:10", first),
            agent="claude",
            agent_session="9f-17",
            decisions=("Sessions live in cookies",),
            commands=(command,),
            open=(SessionItem(id="o1", text="log out", ts=f"{DAY}T09:40:00.000000Z"),),
            approvals=(SessionApproval(id="a1", text="drop the table?", ts=f"{DAY}T09:40:00.000000Z"),),
            extra=(("transcript", "/home/ada/.claude/9f-17.jsonl"),),
        ),
    )
    body = {"task": "TSK-login", "outputs": {"summary": "2 tests failed"}, "artifacts": [{"path": "out.txt"}]}
    place.open().record(EventDraft("run", target=RUN, run_id=RUN, exit_status=1, body=body))
    assert (
        the_day(place)
        == f"""\
# Journal of {DAY}

Days and times are UTC.

## Log people in (SES-1)

- branch `main`, started 09:10, open
- claude, its own session `9f-17`
- transcript: `/home/ada/.claude/9f-17.jsonl`
- diff: `git diff {first[:12]}..{commit[:12]}`

### Actions

- 09:15 Wrote the form (run `{RUN}`)
- 09:40 Wired it up (commit `{commit[:12]}`, TSK-login)

### Runs

- 09:00 run `{RUN}` (TSK-login): 2 tests failed, exit 1

### Decisions

- Sessions live in cookies

### Files and commits

- files: `src/a.py`, `out.txt`
- commits: `{commit[:12]}`

### Still open

- o1 log out
- a1 waits for a yes or no: drop the table?
"""
    )


def test_what_happened_outside_of_sessions_is_told_too(place: Place) -> None:
    """Work without an agent is work."""
    clone = place.open()
    clone.record(EventDraft("run", target=OTHER, run_id=OTHER, exit_status=0, body={"command": ["make", "docs"]}))
    clone.record(EventDraft("accept", target="FCT-1", body={"statement": "It rains", "reviewer": "ada"}))
    clone.record(EventDraft("task", target="TSK-1", body={"action": "done", "statement": "Docs"}))
    clone.record(EventDraft("task", target="TSK-1", body={"action": "edit", "statement": "Docs"}))
    clone.record(EventDraft("checkpoint", target="TSK-2", body={"statement": "Beta", "commit": "a" * 40}))
    told = the_day(place)
    assert "## Without a session" in told
    assert f"- 09:00 run `{OTHER}`: make docs" in told
    assert "- 09:00 FCT-1 accepted by ada: It rains" in told
    assert "- 09:00 TSK-1 done: Docs" in told and told.count("TSK-1") == 1
    assert "- 09:00 TSK-2 milestone reached at `aaaaaaaaaaaa`: Beta" in told


def test_a_step_that_is_no_word_is_passed_over(place: Place) -> None:
    """One strange event must not cost the day."""
    clone = place.open()
    for action in (["done"], {"done": 1}, 5):
        clone.record(EventDraft("task", target="TSK-1", body={"action": action, "statement": "Docs"}))
    clone.record(EventDraft("task", target="TSK-2", body={"action": "done", "statement": "Docs"}))
    assert "- 09:00 TSK-2 done: Docs" in the_day(place)


def step(place: Place, action: str) -> None:
    """A step of a milestone, as `holdfast task` records it."""
    body = {"action": action, "statement": "Beta"}
    place.open().record(EventDraft("task", target="TSK-2", body=body))
    if action == "done":
        place.open().record(EventDraft("checkpoint", target="TSK-2", body={**body, "commit": "a" * 40}))


def test_a_milestone_is_reached_once_until_it_is_opened_again(place: Place) -> None:
    """Saying done twice is no second success."""
    step(place, "done")
    step(place, "done")
    assert the_day(place).count("TSK-2 done") == the_day(place).count("milestone reached") == 1
    place.clock = Clock(f"{NEXT}T09:00:00")
    step(place, "done")
    assert "Nothing was recorded" in the_day(place, NEXT)
    step(place, "reopen")
    step(place, "done")
    assert the_day(place, NEXT).count("milestone reached") == 1


def test_commits_that_no_session_tells_of_are_told(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A day spent at the keyboard without an agent is a day of work."""
    monkeypatch.setenv("GIT_COMMITTER_DATE", f"{DAY}T11:00:00Z")
    by_hand = place.repo.commit("a.txt", message="by hand <!-- \u202e")
    place.repo.commit(f"docs/{DAY}.md", message="only the journal")
    place.repo.commit(".holdfast/x.md", message="only ours")
    noted = place.repo.commit("b.txt", message="noted")
    place.git("switch", "-q", "-c", "topic")
    place.repo.commit("c.txt", message="elsewhere")
    place.git("switch", "-q", "main")
    saved(
        place, session_of(place, SessionTurn(n=1, anchor=anchor(place, f"{DAY}T09:15"), summary="n", commits=(noted,)))
    )

    def told(when: str = DAY, **options: bool) -> list[str]:
        found = daily_journal.days(place.open(), only=[when], folder="docs", **options)
        return [line for line in daily_journal.text(found[when]).splitlines() if " commit `" in line[:20]]

    (line,) = told()
    assert line.startswith(f"- 11:00 commit `{by_hand[:12]}`: by hand &lt;!-- ⟨U+202E⟩ (")
    assert any("elsewhere" in line for line in told(everywhere=True))
    for number in range(50):
        place.git("commit", "-q", "--allow-empty", "-m", f"empty {number}")
    assert len(told()) == 1  # what changed nothing is not told
    monkeypatch.setenv("GIT_COMMITTER_DATE", f"{DAY}T22:30:00-05:00")  # a day here is a UTC day
    place.repo.commit("next.txt", message="on the next day")
    assert len(told()) == 1 and [line[:9] for line in told(NEXT)] == ["- 03:30 c"]
    assert list(daily_journal.days(place.open(), folder="docs")) == [DAY, NEXT]


def test_no_page_is_written_of_what_was_before_anything_was_recorded(place: Place) -> None:
    """A project of ten years must not get three thousand pages on its first day with us."""
    before = "2026-11-14"
    place.repo.commit("a.txt", message="by hand")
    assert "by hand" in the_day(place, before)  # whoever asks is told
    assert daily_journal.write(place.open()) == daily_journal.write(place.open(), only=[before]) == []
    saved(place, session_of(place))
    assert daily_journal.write(place.open()) == [f".holdfast/view/journal/{DAY}.md"]


def test_of_very_many_commits_the_last_are_told(place: Place) -> None:
    """A day of a thousand commits is not a page of a thousand lines."""
    made = tuple(
        daily_journal.UnrecordedCommit("a" * 40, f"{DAY}T10:00:00", "ada", f"n{number}") for number in range(100)
    )
    told = daily_journal.text(daily_journal.JournalDay(DAY, commits=made))
    assert "- 60 before these, see `git log`" in told and "n60 " in told and "n59 " not in told


def test_a_session_of_another_branch_that_was_ended_here_stays_there(place: Place) -> None:
    """Letting go of a session is no reason to tell its work as this branch's (law 5)."""
    place.git("switch", "-q", "-c", "topic")
    made = session_of(place, SessionTurn(n=1, anchor=anchor(place, f"{DAY}T09:15"), summary="secret plan"))
    saved(place, made)
    place.git("switch", "-q", "main")
    place.open().record(EventDraft("session", target=made.id, body={"action": "end", "session": made.id}))
    assert "secret plan" not in the_day(place) and "secret plan" in the_day(place, everywhere=True)
    place.open().record(EventDraft("session", target=made.id, body={"action": "start", "session": made.id}))
    assert "secret plan" in the_day(place)  # its beginning came by a merge


def test_answers_are_told(place: Place) -> None:
    """Who said yes to what is asked about long after."""
    asked = {"a1": "granted", "a2": "denied", "a3": "pending"}
    ts = f"{DAY}T09:40:00.000000Z"
    approvals = tuple(SessionApproval(id=n, text=f"may I {n}?", ts=ts, state=s) for n, s in asked.items())
    saved(place, session_of(place, approvals=approvals))
    told = the_day(place)
    assert "### Answers\n\n- a1 allowed: may I a1?\n- a2 denied: may I a2?\n" in told
    assert "- a3 waits for a yes or no: may I a3?" in told


def test_a_session_over_midnight_has_its_turns_on_their_days(place: Place) -> None:
    """A day's page must not tell what happened on another."""
    late = SessionTurn(n=1, anchor=anchor(place, f"{DAY}T23:50"), summary="late")
    early = SessionTurn(n=2, anchor=anchor(place, f"{NEXT}T00:10"), summary="early")
    saved(place, session_of(place, late, early, decisions=("Sleep",)))
    first, second = the_day(place), the_day(place, NEXT)
    assert "late" in first and "early" not in first and "Sleep" not in first
    assert "early" in second and "late" not in second and "Sleep" in second
    assert f"started {DAY} 09:10" in second


def test_folded_turns_stand_on_the_first_day(place: Place) -> None:
    """Condensing a session must not empty the journal."""
    folded = Condensed(turns=20, text="- built the form\n- tried two ways", by="holdfast")
    turn = SessionTurn(n=21, anchor=anchor(place, f"{NEXT}T00:10"), summary="the rest")
    saved(place, session_of(place, turn, condensed=folded))
    assert "### The first 20 turns, summarised\n\n- built the form\n- tried two ways\n" in the_day(place)
    assert "built the form" not in the_day(place, NEXT)


def test_another_branch_is_told_only_when_asked_for(place: Place) -> None:
    """Nothing recorded on one line appears unasked on another (law 5)."""
    place.git("switch", "-q", "-c", "topic")
    saved(place, session_of(place, SessionTurn(n=1, anchor=anchor(place, f"{DAY}T09:15"), summary="secret plan")))
    place.open().record(EventDraft("run", target=RUN, run_id=RUN, body={"task": "t"}))
    place.git("switch", "-q", "main")
    assert "Nothing was recorded on this day." in the_day(place)
    told = the_day(place, everywhere=True)
    assert "secret plan" in told and RUN in told and "branch `topic`" in told


def test_nothing_hides_in_it(place: Place) -> None:
    """A comment or a control character could hide half a page from its reader (law 12)."""
    bad = "one <!-- two \u202ethree\x1b[31m\n# four"
    saved(place, session_of(place, SessionTurn(n=1, anchor=anchor(place, f"{DAY}T09:15"), summary=bad), objective=bad))
    told = the_day(place)
    assert not has_hidden(told) and "<!--" not in told
    assert not any(line.startswith("# four") for line in told.splitlines())


def test_only_days_that_changed_are_written(place: Place) -> None:
    """A file that changes for nothing wakes every watcher and every backup."""
    saved(place, session_of(place, SessionTurn(n=1, anchor=anchor(place, f"{DAY}T09:15"), summary="one")))
    path = f".holdfast/view/journal/{DAY}.md"
    assert daily_journal.write(place.open()) == [path]
    assert "one" in (place.repo / path).read_text()
    assert daily_journal.write(place.open()) == []
    assert os.listdir(place.repo / ".holdfast/view/journal") == [f"{DAY}.md"]
    assert place.status() == ""
    session_files.remove(place.open().layout, "SES-1")
    assert daily_journal.write(place.open()) == []
    assert os.listdir(place.repo / ".holdfast/view/journal") == []  # what was erased stays in no view


def test_a_folder_of_the_users_choice_keeps_what_people_wrote(place: Place) -> None:
    """Who keeps a journal in the repository adds to it; an edit is never overwritten."""
    saved(place, session_of(place, SessionTurn(n=1, anchor=anchor(place, f"{DAY}T09:15"), summary="one")))
    path = place.repo / f"docs/journal/{DAY}.md"
    assert daily_journal.write(place.open(), folder="docs/journal") == [f"docs/journal/{DAY}.md"]
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))  # as a checkout on Windows leaves it
    assert daily_journal.write(place.open(), folder="docs/journal") == []
    session_files.update(place.open().layout, "SES-1", lambda one: replace(one, objective="new"))
    assert daily_journal.write(place.open(), folder="docs/journal") == [f"docs/journal/{DAY}.md"]
    path.write_text(path.read_text() + "\nA note of mine.\n")
    session_files.update(place.open().layout, "SES-1", lambda one: replace(one, objective="newer"))
    clone = place.open()
    assert daily_journal.write(clone, folder="docs/journal") == []
    assert "A note of mine." in path.read_text()
    assert any("edited by hand" in note for note in clone.notes)


def test_a_colleagues_journal_is_not_written_over(place: Place) -> None:
    """Two people who commit their journals would else take turns in losing one."""
    saved(place, session_of(place, SessionTurn(n=1, anchor=anchor(place, f"{DAY}T09:15"), summary="mine")))
    path = place.repo / f"docs/{DAY}.md"
    path.parent.mkdir()
    theirs = "<!-- written by holdfast abcdef 0123456789abcdef -->\n# theirs\n"
    path.write_text(theirs)
    (written,) = daily_journal.write(place.open(), folder="docs")
    assert path.read_text() == theirs
    assert written != f"docs/{DAY}.md" and "mine" in (place.repo / written).read_text()
    assert daily_journal.write(place.open(), folder="docs") == []


@pytest.mark.parametrize("folder", [".git/x", ".holdfast/memory", "../out", "/abs", "a/../../b", "link"])
def test_a_journal_stays_inside_the_work_tree(place: Place, tmp_path: Path, folder: str) -> None:
    """A setting in a pull request must not choose what gets overwritten."""
    os.symlink(tmp_path, place.repo / "link")
    saved(place, session_of(place, SessionTurn(n=1, anchor=anchor(place, f"{DAY}T09:15"), summary="one")))
    with pytest.raises(UnsafePath):
        daily_journal.write(place.open(), folder=folder)
    assert not (tmp_path / f"{DAY}.md").exists()


def test_days_have_names(place: Place) -> None:
    """People say yesterday."""
    now = datetime(2026, 3, 1, 0, 30, tzinfo=UTC)
    assert daily_journal.named("today", now) == "2026-03-01"
    assert daily_journal.named("Yesterday", now) == "2026-02-28"
    assert daily_journal.named("2026-11-15", now) == "2026-11-15"
    for wrong in ("2026-02-30", "15.11.2026", "", "20261115", "２０２６-11-15"):
        with pytest.raises(BadInput):
            daily_journal.named(wrong, now)
