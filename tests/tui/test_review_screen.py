"""The review screen, driven over a real project in a real repository."""

from pathlib import Path

import pytest

from holdfast.project import Project
from holdfast.store import layout
from tests.tui.conftest import NET, NOTES, Room
from tests.tui.screens import NARROW, SMALL, WIDE, Driven, drive

RETRY = "Retry only calls that are safe to repeat"
CACHE = "Cache answers on disk"
NAMES = "Name tables in the singular"


@pytest.fixture
def three(room: Room) -> Room:
    """Three candidates that have nothing to do with one another."""
    room.propose("DEC-1", RETRY, tags=["http"], applies_to=["src"], details="Rationale: paid twice.")
    room.propose("DEC-2", CACHE, tags=["http", "disk"])
    room.propose("DEC-3", NAMES)
    return room


def test_one_key_approves_and_the_next_is_selected(three: Room) -> None:
    """Who reviews forty candidates must not lose the place after each."""

    async def act(screen: Driven) -> None:
        assert "▸+  DEC-1" in screen.text
        await screen.press("a")
        assert screen.ids == ["DEC-2", "DEC-3"]
        assert "▸+  DEC-2" in screen.text
        assert "Approved DEC-1 (u: undo)" in screen.text

    drive(three.project, act)
    standing = three.project.memory.get("DEC-1")
    assert (standing.status, standing.trust) == ("accepted", "T0")


def test_an_approval_that_does_not_count_says_why(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """A screen that says "approved" where an agent holds the keyboard deceives whoever comes after."""
    room.propose("DEC-1", RETRY, evidence=["src/net.py"])
    monkeypatch.setenv("CODEX_THREAD_ID", "7")

    async def act(screen: Driven) -> None:
        await screen.press("a")
        assert "agents are not shown it: no person approved it (CODEX_THREAD_ID is set" in " ".join(screen.text.split())

    drive(Project.open(room.project.clone.repo.top), act)
    assert room.project.memory.get("DEC-1").trust == "T2"


def test_what_only_a_person_can_approve_says_that_none_was_seen(room: Room) -> None:
    """ "It cites nothing" sends a person off to look for evidence that nobody needs."""
    room.propose("DEC-1", RETRY)

    async def act(screen: Driven) -> None:
        for keys in (("a",), ("A", "y")):
            await screen.press(*keys)
            said = " ".join(screen.text.split())
            assert "no person was seen at a terminal" in said, keys
        assert screen.ids == ["DEC-1"]

    drive(Project.open(room.project.clone.repo.top), act)


def test_reject_takes_a_reason_or_none(three: Room) -> None:
    """A tombstone without the reason that was typed tells the next reader nothing."""

    async def act(screen: Driven) -> None:
        await screen.press("r")
        await screen.type("too vague")
        await screen.press("enter")
        await screen.press("r", "enter")
        await screen.press("r", "escape")
        assert screen.ids == ["DEC-3"]

    drive(three.project, act)
    assert [three.status(name) for name in ("DEC-1", "DEC-2", "DEC-3")] == ["rejected", "rejected", "candidate"]
    assert three.project.memory.get("DEC-1").memory.reason == "too vague"  # type: ignore[union-attr]


def test_edit_in_place_changes_the_candidate_and_it_waits_on(three: Room) -> None:
    """A good idea in bad words must not be rejected for its words."""

    async def act(screen: Driven) -> None:
        await screen.press("e")
        await screen.type(" twice")
        await screen.press("tab", "tab", "end")
        await screen.type(", net")
        await screen.press("ctrl+s")
        assert screen.ids == ["DEC-1", "DEC-2", "DEC-3"]
        assert f"{RETRY} twice" in screen.text
        assert "Edited DEC-1; it still waits" in screen.text
        await screen.press("e", "escape")
        assert "Nothing was changed" in screen.text

    drive(three.project, act)
    memory = three.project.memory.get("DEC-1").memory
    assert memory.statement == f"{RETRY} twice"
    assert (memory.tags, memory.details) == (("http", "net"), "Rationale: paid twice.")


def test_merge_gives_the_evidence_to_the_other(three: Room) -> None:
    """Two candidates that say one thing must not become two memories."""
    three.propose("DEC-4", "Something else that rests on a file", evidence=["src/net.py"])

    async def act(screen: Driven) -> None:
        await screen.press("end", "m")
        await screen.type("DEC-3")
        await screen.press("enter")
        assert screen.ids == ["DEC-1", "DEC-2", "DEC-3"]
        assert "Merged DEC-4" in screen.text
        assert "into DEC-3" in screen.text

    drive(three.project, act)
    assert three.project.memory.get("DEC-3").memory.evidence[0].startswith("file:src/net.py@")


def test_skip_leaves_it_and_says_so(three: Room) -> None:
    """What was skipped must not look as if it was decided."""

    async def act(screen: Driven) -> None:
        await screen.press("s", "s", "a")
        assert screen.ids == ["DEC-1", "DEC-2"]

    app = drive(three.project, act)
    assert app.tray.account() == [
        "Approved: DEC-3",
        "Share it with: holdfast publish",
        "Still waiting (2 skipped): DEC-1, DEC-2",
    ]


def test_undo_puts_back_what_was_decided_last(three: Room) -> None:
    """A slip of the finger must cost one key, not a hunt through files."""

    async def act(screen: Driven) -> None:
        await screen.press("a", "r", "enter", "u")
        assert screen.ids == ["DEC-2", "DEC-3"]
        assert "Taken back: reject DEC-2" in screen.text
        await screen.press("u")
        assert screen.ids == ["DEC-1", "DEC-2", "DEC-3"]
        await screen.press("u")
        assert "there is no decision to undo" in screen.text

    app = drive(three.project, act)
    assert [three.status(f"DEC-{n}") for n in (1, 2, 3)] == ["candidate"] * 3
    assert app.tray.account() == ["Still waiting: DEC-1, DEC-2, DEC-3"]


def test_all_that_the_filter_shows_are_approved_at_once_and_undone_at_once(three: Room) -> None:
    """Bulk must touch what is shown and nothing else, and one key must take it back."""

    async def act(screen: Driven) -> None:
        await screen.press("slash")
        await screen.type("tag:http")
        await screen.press("enter")
        assert screen.ids == ["DEC-1", "DEC-2"]
        await screen.press("A")
        assert "Approve all 2 that match tag:http (2 proposed)?" in screen.text
        await screen.press("n")
        assert three.status("DEC-1") == "candidate"
        await screen.press("A", "y")
        assert "Approved 2" in screen.text
        assert [three.status(f"DEC-{n}") for n in (1, 2, 3)] == ["accepted", "accepted", "candidate"]
        await screen.press("u")
        assert screen.ids == ["DEC-1", "DEC-2"]
        await screen.press("escape")
        assert screen.ids == ["DEC-1", "DEC-2", "DEC-3"]
        await screen.press("slash")
        await screen.type("singular")
        assert screen.ids == ["DEC-3"]  # while it is typed
        await screen.press("escape")
        assert screen.ids == ["DEC-1", "DEC-2", "DEC-3"]
        assert "▸+  DEC-3" in screen.text  # the place is kept

    drive(three.project, act)
    assert [three.status(f"DEC-{n}") for n in (1, 2, 3)] == ["candidate"] * 3


def test_what_is_marked_is_rejected_at_once_and_taken_back_at_once(three: Room) -> None:
    """Who reads a queue and marks what is rubbish must not answer the same question for each."""

    async def act(screen: Driven) -> None:
        await screen.press("x", "j", "x")
        assert "■+  DEC-1" in screen.text and "■+  DEC-3" in screen.text
        assert "2 marked: A approves them, R rejects them" in screen.text
        await screen.press("R")
        assert "Reject all 2 marked: why?" in screen.text
        await screen.type("noise")
        await screen.press("enter")
        assert screen.ids == ["DEC-2"] and "Rejected 2 (u: undo)" in screen.text
        assert [three.status(f"DEC-{n}") for n in (1, 2, 3)] == ["rejected", "candidate", "rejected"]
        await screen.press("u")
        assert screen.ids == ["DEC-1", "DEC-2", "DEC-3"]
        await screen.press("R", "escape")

    drive(three.project, act)
    assert [three.status(f"DEC-{n}") for n in (1, 2, 3)] == ["candidate"] * 3


def test_a_mouse_selects_scrolls_and_presses_keys(three: Room) -> None:
    """On a terminal with a mouse people click before they read the keys."""

    async def act(screen: Driven) -> None:
        await screen.click(10, 3)  # below the head: the third line of the queue
        assert "▸+  DEC-3" in screen.text
        below = screen.text.splitlines()[-1]
        await screen.click(below.index("? help"), -1)
        assert "search: words, tag:http" in screen.text
        await screen.press("escape")
        await screen.click(below.index("a approve") + 3, -1)
        assert screen.ids == ["DEC-1", "DEC-2"] and "Approved DEC-3" in screen.text

    drive(three.project, act)
    assert three.status("DEC-3") == "accepted"


@pytest.mark.parametrize("width", [40, 200])
def test_all_can_be_done_on_a_narrow_and_on_a_wide_terminal(three: Room, width: int) -> None:
    """A split window has forty columns, a large screen two hundred; a review goes on in both."""

    async def act(screen: Driven) -> None:
        assert max(map(len, screen.text.splitlines())) <= width
        assert "DEC-1" in screen.text and "Retry only calls" in screen.text and "q quit" in screen.text
        await screen.press("question_mark")
        assert "approve" in screen.text
        await screen.press("escape", "slash")
        await screen.type("disk")
        await screen.press("enter")
        assert screen.ids == ["DEC-2"] and "1 fit disk" in screen.text
        await screen.press("r", "enter")
        assert three.status("DEC-2") == "rejected"

    drive(three.project, act, (width, 24))


@pytest.fixture
def clash(room: Room) -> Room:
    """An accepted memory, and a candidate that contradicts it."""
    room.propose("DEC-old", "Tests need Postgres 15", accept=True)
    room.propose("DEC-new", "Tests need Postgres 16", applies_to=["src"])
    return room


def test_a_contradiction_is_shown_beside_and_resolved_by_superseding(clash: Room) -> None:
    """Two truths that exclude one another must not both be told to an agent."""

    async def act(screen: Driven) -> None:
        assert "Contradicts DEC-old" in screen.text
        assert any("│ DEC-new " in line and "│ DEC-old  accepted" in line for line in screen.text.splitlines())
        await screen.press("a")
        assert "supersede: DEC-new replaces DEC-old" in screen.text
        await screen.press("escape")
        assert clash.status("DEC-new") == "candidate"
        await screen.press("a", "s")
        assert screen.ids == []
        assert "Nothing waits" in screen.text

    drive(clash.project, act)
    assert (clash.status("DEC-new"), clash.status("DEC-old")) == ("accepted", "superseded")


def test_a_contradiction_is_resolved_by_keeping_both_where_they_apply(clash: Room) -> None:
    """What holds in one folder only must be able to stand beside what holds elsewhere."""

    async def act(screen: Driven) -> None:
        await screen.press("a", "b")
        assert "Where does DEC-new apply?" in screen.text
        await screen.press("end")
        await screen.type(", tests")
        await screen.press("enter")
        assert screen.ids == []

    drive(clash.project, act)
    memory = clash.project.memory.get("DEC-new").memory
    assert (memory.applies_to, memory.compatible_with) == (("src", "tests"), ("DEC-old",))
    assert clash.status("DEC-old") == "accepted"


def test_paths_with_hidden_characters_are_shown_and_kept(clash: Room) -> None:
    """A path that looks like another must not be approved as that other."""
    clash.project.memory.edit("DEC-new", applies_to=["src/\u200ba"])

    async def act(screen: Driven) -> None:
        await screen.press("a", "b")
        assert "src/⟨U+200B⟩a" in screen.text
        await screen.press("enter")

    drive(clash.project, act)
    assert clash.project.memory.get("DEC-new").memory.applies_to == ("src/\u200ba",)


def test_bulk_leaves_what_contradicts(clash: Room) -> None:
    """Approving many at once must not decide a contradiction that nobody looked at."""
    clash.propose("DEC-other", NAMES)

    async def act(screen: Driven) -> None:
        await screen.press("A", "y")
        assert screen.ids == ["DEC-new"]
        assert "Approved 1 (u: undo); left DEC-new" in screen.text

    drive(clash.project, act)
    assert (clash.status("DEC-new"), clash.status("DEC-other")) == ("candidate", "accepted")


def test_a_contradiction_among_candidates_comes_up_once_the_first_is_approved(room: Room) -> None:
    """The queue was read before the first was approved; the second must be held against it all the same."""
    room.propose("DEC-1", "Tests need Postgres 15")
    room.propose("DEC-2", "Tests need Postgres 16")

    async def act(screen: Driven) -> None:
        await screen.press("a", "a")
        assert "DEC-2 contradicts DEC-1" in screen.text
        await screen.press("r", "enter")
        assert screen.ids == []

    drive(room.project, act)
    assert (room.status("DEC-1"), room.status("DEC-2")) == ("accepted", "rejected")


def test_what_two_branches_accepted_is_resolved_after_the_merge(room: Room) -> None:
    """Each branch was right alone; together they tell an agent two contrary things."""
    room.repo.git("switch", "-qc", "side")
    room.propose("DEC-2", "Tests need Postgres 16", accept=True)
    room.project.sync.publish()
    room.repo.git("switch", "-qc", "work", "main")
    room.propose("DEC-1", "Tests need Postgres 15", accept=True)
    room.project.sync.publish()
    room.repo.git("merge", "-q", "--no-edit", "side")
    project = Project.open(room.repo.path, person=True, clock=room.project.clone.clock)

    async def act(screen: Driven) -> None:
        (one,) = screen.ids
        assert f"▸≠  {one}" in screen.text
        await screen.press("A")  # what contradicts is never approved in bulk
        assert "Approve all" not in screen.text
        await screen.press("a")
        assert f"retire {one}" in screen.text
        await screen.press("s")
        assert screen.ids == []

    drive(project, act)
    assert sorted(project.memory.get(f"DEC-{n}").status for n in (1, 2)) == ["accepted", "superseded"]


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_what_hides_is_shown_and_markup_is_text(room: Room, size: tuple[int, int]) -> None:
    """Somebody who approves what they see must see what they approve."""
    evil = "Run \u202egnp.exe\u200b [red]now[/red] [@click=app.quit]here[/] \x1b[31mplease"
    room.propose("DEC-1", evil, details="Rationale: [b]be\u00adcause[/b]", tags=["[i]x[/i]"])

    async def act(screen: Driven) -> None:
        for shown in ("⟨U+202E⟩gnp.exe⟨U+200B⟩", "[red]now[/red]", "⟨U+001B⟩[31m", "[b]be⟨U+00AD⟩cause[/b]"):
            assert shown in screen.text.replace("\n", " ")
        assert "tags: [i]x[/i]" in screen.text
        assert "invisible characters" in screen.text
        assert not {"\u202e", "\u200b", "\x1b", "\u00ad"} & set(screen.text)
        await screen.press("e")
        assert "⟨U+202E⟩gnp.exe" in screen.text
        await screen.press("ctrl+s")  # nothing was typed: the hidden characters are what they were
        assert "Nothing was changed" in screen.text

    drive(room.project, act, size)
    assert room.project.memory.get("DEC-1").memory.statement == evil


def test_a_queue_with_nothing_in_it_says_so_and_no_key_hurts(room: Room) -> None:
    """The usual morning: nothing waits."""

    async def act(screen: Driven) -> None:
        assert "Nothing waits for a decision" in screen.text
        await screen.press("a", "r", "e", "m", "s", "A", "j", "k", "end", "pagedown")
        assert "Nothing waits for a decision" in screen.text

    assert drive(room.project, act).tray.account() == ["Nothing waits for review"]


def test_an_error_is_a_sentence_and_a_hint(room: Room) -> None:
    """A traceback in the middle of a review looks as if everything was lost."""
    room.propose("FCT-1", "Tests need Postgres 16", kind="fact")

    async def act(screen: Driven) -> None:
        await screen.press("a")
        assert "FCT-1 has no evidence" in screen.text
        assert "--evidence" in screen.text
        assert screen.ids == ["FCT-1"]
        await screen.press("m")
        await screen.type("nothing-of-the-kind")
        await screen.press("enter")
        assert "nothing-of-the-kind" in screen.text

    drive(room.project, act)


def test_a_candidate_changed_meanwhile_is_not_approved_unread(room: Room) -> None:
    """An agent that rewrites a candidate under the reviewer's eyes must not get its words approved."""
    room.propose("DEC-1", RETRY)

    room.propose("DEC-2", NAMES)

    async def act(screen: Driven) -> None:
        room.project.memory.edit("DEC-1", statement="Delete all backups")
        await screen.press("a")
        assert "changed while you looked at it" in screen.text
        room.project.memory.edit("DEC-1", applies_to=["src"])
        await screen.press("A", "y")
        assert "Approved 1 (u: undo); left DEC-1" in screen.text
        assert "Delete all backups" in screen.text  # as it is now

    drive(room.project, act)
    assert (room.status("DEC-1"), room.status("DEC-2")) == ("candidate", "accepted")


def test_a_stale_memory_shows_what_changed_and_is_confirmed_or_deprecated(room: Room) -> None:
    """Whoever says that it still holds must see what became of its ground."""
    for name, said in (("DEC-1", RETRY), ("DEC-2", NAMES)):
        room.propose(name, said, evidence=["src/net.py"], accept=True)
    room.repo.commit("src/net.py", NET.replace("return call()", "return call() or call()"))

    async def act(screen: Driven) -> None:
        assert "accepted earlier; its evidence" in screen.text
        assert "changed    src/net.py" in screen.text
        assert "+    return call() or call()" in screen.text
        await screen.press("j", "a", "r")
        assert "Retire DEC-2: why is it no longer valid?" in screen.text
        await screen.press("enter")

    drive(room.project, act)
    assert (room.status("DEC-1"), room.status("DEC-2")) == ("accepted", "deprecated")


def test_evidence_shows_the_lines_it_names(room: Room) -> None:
    """Who has to open an editor to see what a claim rests on approves it without."""
    (room.repo.path / "src/net.py").write_text("# moved\n" + NET)
    room.propose("DEC-1", RETRY, evidence=["src/net.py#retry", "notes.md:3-4", "README"])
    room.propose("DEC-2", NAMES, evidence=["notes.md:4-6"])
    room.repo.commit("notes.md", NOTES.replace("That is all.", "We talked again."))

    async def act(screen: Driven) -> None:
        rows = [line.partition("│")[2].strip() for line in screen.text.splitlines()]
        at = rows.index("evidence: unchanged  src/net.py#retry")
        assert rows[at + 1 : at + 3] == ["5 def retry(call):", "6     return call()"]
        assert "@" not in "".join(rows)
        assert " +! DEC-2" in screen.text, "its ground moved while it waited"
        await screen.press("j")
        assert "▸+! DEC-2" in screen.text and "+We talked again." in screen.text

    drive(room.project, act, (120, 50))


def test_the_question_fits_whatever_becomes_of_the_window(clash: Room) -> None:
    """A choice that is out of sight is no choice."""

    async def act(screen: Driven) -> None:
        await screen.press("a")
        for size in (SMALL, (30, 9), WIDE, NARROW):
            await screen.resize(*size)
            for choice in ("s  supersede", "b  keep both", "r  reject", "c  cancel"):
                assert choice in screen.text
        await screen.press("c")
        assert screen.ids == ["DEC-new"]

    drive(clash.project, act)


def test_what_was_seen_to_contradict_is_marked(clash: Room) -> None:
    """Who comes back to a queue must see at once which of it needs a closer look."""

    async def act(screen: Driven) -> None:
        assert "▸+≠ DEC-new" in screen.text
        await screen.press("a", "s")
        assert screen.ids == []

    drive(clash.project, act)


def test_one_place_is_shown_once(room: Room) -> None:
    """The same lines twice look like two witnesses."""
    said = ["file:notes.md#4 retry only calls that are safe to repeat", "file:notes.md#4 calls that are safe"]
    room.propose("DEC-1", RETRY, provenance=[said[0], said[0].replace("#4", "#5"), *said[1:]])

    async def act(screen: Driven) -> None:
        assert screen.text.count("4 From now on we must retry only") == 1 + (screen.text.count("notes.md") - 1)
        assert screen.text.count("notes.md") <= 2

    drive(room.project, act, WIDE)


def test_what_expired_is_asked_until_when(room: Room) -> None:
    """An approval without a new date would be over the moment it is given."""
    room.propose("DEC-1", RETRY, expires="1h", accept=True)
    room.project.clone.clock.pass_by(hours=2)  # type: ignore[attr-defined]

    async def act(screen: Driven) -> None:
        await screen.press("a")
        assert "When does DEC-1 expire?" in screen.text
        await screen.press("enter")
        assert screen.ids == []

    drive(room.project, act)
    assert room.status("DEC-1") == "accepted"


def test_where_it_was_said_stands_in_its_context(room: Room) -> None:
    """A sentence torn out of its lines can mean the contrary."""
    room.propose("DEC-1", RETRY, provenance=["file:notes.md#4 retry only calls that are safe to repeat"])

    async def act(screen: Driven) -> None:
        lines = screen.text.splitlines()
        assert any("▌4 From now on we must retry only" in line for line in lines)
        assert any("3 We talked about payments." in line for line in lines)

    drive(room.project, act)


def test_the_window_may_change_its_size(three: Room) -> None:
    """A terminal is resized in the middle of a review; nothing may be lost from sight."""

    async def act(screen: Driven) -> None:
        await screen.press("j")
        for size in (NARROW, (40, 12), (200, 60), (20, 6), WIDE):
            await screen.resize(*size)
            assert "▸+  DEC-2" in screen.text
        await screen.press("question_mark")
        assert "approve, or reject, all" in screen.text
        await screen.press("q")
        assert "approve, or reject, all" not in screen.text

    drive(three.project, act)


def test_leaving_says_what_was_done_and_left(three: Room, capsys: pytest.CaptureFixture[str]) -> None:
    """The screen is gone; what was decided on it must not be."""

    async def act(screen: Driven) -> None:
        await screen.press("a", "q")

    app = drive(three.project, act)
    assert app.tray.account() == ["Approved: DEC-1", "Share it with: holdfast publish", "Still waiting: DEC-2, DEC-3"]
    assert Path(three.repo.path, layout.MEMORY).is_dir() is False  # nothing is published by reviewing
