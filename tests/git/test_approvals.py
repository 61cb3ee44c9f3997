"""Whose word counts: which text was approved, which decision was the last, which of two files speaks."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.git import approvals
from holdfast.git.approvals import NO_WORDS, Approvals, Causes, MemoryApproval, Tiers, Vouched, words_of
from holdfast.model.event import Event, EventDraft
from holdfast.model.memory import Candidate
from tests.git.place import Place, fact_path, fact_text

ONE, TWO, THREE = "1" * 40, "2" * 40, "3" * 40
NOTHING = Vouched()


def decision(kind: str, name: str = "FCT-a", at: int = 0, blob: str | None = ONE, words: str | None = "w") -> Any:
    return MemoryApproval(kind, name, (f"2026-11-16T00:00:{at:02}", f"h{at}"), blob, words)


# ── one memory at a time ──────────────────────────────────────────────────────


def covers(found: Approvals, blob: str = ONE, words: str = "w", *, name: str = "FCT-a", edited: bool = False) -> bool:
    return found.covers(name, blob=blob, words=lambda: words, edited=edited)


@pytest.mark.parametrize("kind", ["accept", "promote", "edit"])
def test_an_approval_covers_its_text_and_its_words(kind: str) -> None:
    """A formatter takes nothing away; whoever writes other words has no approval."""
    found = Approvals([decision(kind)], ["FCT-a"])
    assert covers(found), "the very text"
    assert covers(found, words="other"), "the very text, whatever its words"
    assert covers(found, edited=True)
    assert covers(found, TWO), "the same words in another layout"
    assert not covers(found, TWO, words="other")
    assert not covers(found, TWO, edited=True), "an edit that is not committed is nobody's yet"
    assert not covers(found, name="FCT-b")


def test_two_files_of_one_id_share_no_words() -> None:
    """Else a planted file would speak by the words of the one it imitates."""
    found = Approvals([decision("accept"), decision("accept", "FCT-b")], ["FCT-a", "FCT-a", "FCT-b"])
    assert covers(found)
    assert not covers(found, TWO)
    assert covers(found, TWO, name="FCT-b")


@pytest.mark.parametrize("turned", [False, True])
def test_the_words_approved_last_count(turned: bool) -> None:
    """What was said before is history, in whatever order the log is read."""
    said = [decision("accept", at=1, words="old"), decision("edit", at=2, blob=TWO, words="new")]
    found = Approvals(reversed(said) if turned else said, ["FCT-a"])
    assert (covers(found, THREE, "old"), covers(found, THREE, "new")) == (False, True)
    assert covers(found, ONE, "other") and covers(found, TWO, "other")


def test_an_approval_without_its_body_covers_any_words_and_one_without_words_nothing() -> None:
    """Of another clone's decision only the envelope comes along."""
    envelope = decision("accept", blob=None, words=None)
    assert covers(Approvals([envelope], ["FCT-a"]), THREE, "whatever")
    wordless = decision("edit", words=NO_WORDS)
    assert not covers(Approvals([wordless], ["FCT-a"]))


@pytest.mark.parametrize("kind", ["retire", "reject", "propose"])
def test_what_takes_back_approves_nothing(kind: str) -> None:
    """A retirement names the text too."""
    assert not covers(Approvals([decision(kind)], ["FCT-a"]))


def test_a_retirement_ends_its_text_or_all_where_only_its_envelope_is_here() -> None:
    """A status that somebody wrote into a file is no decision."""
    found = Approvals([decision("retire"), decision("retire", "FCT-b", blob=None), decision("reject", "FCT-c")], [])
    assert found.ends("FCT-a", blob=ONE)
    assert not found.ends("FCT-a", blob=TWO)
    assert found.ends("FCT-b", blob=TWO)
    assert not found.ends("FCT-c", blob=ONE)


# ── what a body says ──────────────────────────────────────────────────────────


def test_words_are_the_same_whatever_their_line_breaks() -> None:
    """An editor that wraps lines changes nothing that was approved."""
    assert words_of("It is\n  so.") == words_of(" It is so. ") != words_of("It is not so.")
    assert len(words_of("It is so.")) == 32
    assert words_of(None) == words_of("") == words_of(["It is so."]) == NO_WORDS
    assert words_of("\udc80")  # what no file can hold is no reason to stop


def test_a_body_says_its_text_its_words_and_what_it_replaces() -> None:
    """A body comes from disk: whatever is in it."""
    assert approvals.approved_text(None) == (None, None)
    assert approvals.approved_text({}) == (None, NO_WORDS)
    assert approvals.approved_text({"blob": ONE, "statement": "It is so."}) == (ONE, words_of("It is so."))
    assert approvals.approved_text({"blob": 5}) == (None, NO_WORDS)
    assert approvals.replaces(None) is None
    assert approvals.replaces({"supersedes": "FCT-a"}) is None
    assert approvals.replaces({"supersedes": []}) == ()
    assert approvals.replaces({"supersedes": ["FCT-a", 5, "FCT-b"]}) == ("FCT-a", "FCT-b")


def test_an_acceptance_of_a_sandbox_counts_as_a_programs() -> None:
    """Whoever can write the work tree could write a person's yes."""
    assert approvals.weakened("accept", "h", {"h"}) == "promote"
    assert approvals.weakened("accept", "h", {"g"}) == "accept"
    assert approvals.weakened("retire", "h", {"h"}) == "retire"


# ── how far a text is trusted ─────────────────────────────────────────────────


def test_what_waits_here_or_was_recorded_here_is_ours_and_no_more() -> None:
    """A program's yes is not a person's, and what came by git is nobody's."""
    found = Tiers([decision("promote"), decision("accept", "FCT-b", blob=None)], NOTHING, {TWO})
    tiers = {
        (name, blob): found.of(name, blob=blob, edited=False) for name in ("FCT-a", "FCT-b") for blob in (ONE, TWO)
    }
    assert tiers == {("FCT-a", ONE): "T2", ("FCT-a", TWO): "T2", ("FCT-b", ONE): "T4", ("FCT-b", TWO): "T2"}
    assert found.of("FCT-b", blob="", edited=False) == "T4", "an approval of no text is no approval of this one"
    assert found.of("FCT-b", blob=THREE, edited=True) == "T2"


def test_what_differs_in_layout_alone_is_what_was_approved() -> None:
    """A formatter in a hook must not silence a whole project."""
    found = Tiers([decision("accept", at=4)], NOTHING, (), alike={("FCT-a", TWO): ONE})
    assert found.of("FCT-a", blob=TWO, edited=False) == "T0"
    assert found.accepted("FCT-a", TWO) == ("2026-11-16T00:00:04", "h4")
    assert found.of("FCT-a", blob=THREE, edited=False) == "T4"


@pytest.mark.parametrize("no", ["retire", "reject"])
def test_a_yes_is_taken_back_by_any_later_no_to_the_same_memory(no: str) -> None:
    """What a person took back must not go on speaking."""
    taken_back = Tiers([decision("accept", at=4), decision(no, at=5, blob=None)], NOTHING, ())
    assert taken_back.accepted("FCT-a", ONE) is None
    assert not taken_back.stands(decision("accept", at=4))
    assert taken_back.stands(decision("accept", at=6))
    assert taken_back.stands(decision("accept", "FCT-b", at=4))


def test_the_last_yes_to_a_text_is_where_it_stands_in_time() -> None:
    """Of two files that claim an id the one approved last speaks."""
    found = Tiers([decision("accept", at=number) for number in (3, 7, 5)], NOTHING, ())
    assert found.accepted("FCT-a", ONE) == ("2026-11-16T00:00:07", "h7")


def test_where_the_approved_text_is_here_too_nothing_was_edited() -> None:
    """Another file that claims the id is no edit of it, and must not silence it."""
    found = Tiers([decision("accept"), decision("accept", "FCT-b")], NOTHING, ())
    assert found.edited([("FCT-a", ONE), ("FCT-a", TWO), ("FCT-b", THREE), ("FCT-c", TWO)]) == {("FCT-b", THREE)}
    trunk = Vouched("trunk", frozenset({ONE, TWO}), {"FCT-a": "accept", "FCT-b": "promote"})
    assert Tiers([], trunk, ()).edited([("FCT-a", ONE), ("FCT-b", TWO), ("FCT-a", THREE)]) == {("FCT-a", ONE)}


# ── two files that claim one id ───────────────────────────────────────────────


def spare(claims: list[tuple[str, str]], *own: MemoryApproval, vouched: Vouched = NOTHING) -> set[str]:
    """The paths that only repeat an id; a claim is a blob and a path."""
    found = approvals.repeats((("FCT-a", blob, path) for blob, path in claims), Tiers(own, vouched, ()))
    return {path for _, _, path in found}


def test_of_files_that_claim_an_id_the_text_approved_last_speaks() -> None:
    """A copy of an earlier text must not bring it back, in whatever order files are listed."""
    own = (decision("accept", at=1), decision("accept", at=2, blob=TWO))
    claims = [(ONE, "a-FCT-a.md"), (TWO, "z.md")]
    assert spare(claims, *own) == spare(claims[::-1], *own) == {"a-FCT-a.md"}
    assert spare([(ONE, "a-FCT-a.md")], *own) == set(), "alone it repeats nobody"
    assert spare([(ONE, "a-FCT-a.md"), (THREE, "z.md")], *own) == set(), "what nobody approved is no copy"


def test_of_equal_texts_the_file_named_by_the_id_speaks_else_the_first() -> None:
    """Every clone must come to the same answer."""
    own = decision("accept")
    assert spare([(ONE, "a.md"), (ONE, "z-FCT-a.md"), (ONE, "b-FCT-b.md")], own) == {"a.md", "b-FCT-b.md"}
    assert spare([(ONE, "b.md"), (ONE, "a.md"), (ONE, "c.md")], own) == {"b.md", "c.md"}


def test_a_text_approved_here_speaks_before_one_of_the_trunk() -> None:
    """Who decides here sees both; the trunk's people do not."""
    trunk = Vouched("trunk", frozenset({TWO}), {"FCT-a": "accept"}, approved=frozenset({("FCT-a", TWO)}))
    assert spare([(TWO, "a-FCT-a.md"), (ONE, "z.md")], decision("accept"), vouched=trunk) == {"a-FCT-a.md"}


# ── what this clone recorded ──────────────────────────────────────────────────


def decide(place: Place, kind: str, name: str, *, hours: float = 0, **body: Any) -> Event:
    """A decision recorded here, by a clock that may be wrong."""
    clone = place.open()
    clone.clock = lambda: datetime.now(UTC) + timedelta(hours=hours)
    return clone.record(EventDraft(kind, target=name, body=body))


def at(event: Event) -> tuple[str, str]:
    return event.ts, event.hash_self


def test_the_decision_that_builds_on_the_other_is_the_later_whatever_clocks_say(place: Place) -> None:
    """A laptop that woke up in another year would keep alive what was retired since."""
    first = decide(place, "accept", "FCT-a", hours=3)
    between = decide(place, "accept", "FCT-b", hours=2)
    last = decide(place, "retire", "FCT-a", hours=1)
    assert at(first) > at(between) > at(last)
    known = Causes(place.open())
    assert known.later(at(last), at(first)) and not known.later(at(first), at(last))
    assert known.later(at(between), at(first)) and not known.later(at(between), at(last))
    assert not known.later(at(last), at(last))
    stranger = ("2026", "f" * 64)  # of another clone: only time tells
    assert known.later(at(last), stranger) and not known.later(stranger, at(last))
    by_time = Causes(None)
    assert not by_time.later(at(last), at(last))
    assert by_time.later(at(first), at(last)) and not by_time.later(at(last), at(first))


def test_where_clocks_are_right_time_tells_the_order(place: Place) -> None:
    """The same answer, without a look at the whole log."""
    first, last = (decide(place, "accept", name) for name in ("FCT-a", "FCT-b"))
    known = Causes(place.open())
    assert [known.later(at(one), at(other)) for one in (first, last) for other in (first, last)] == [
        *(False, False),
        *(True, False),
    ]


def test_decisions_are_read_with_what_they_were_about(place: Place) -> None:
    """Whoever asks for one memory must not be given another's approval."""
    said = {"blob": ONE, "statement": "It is so.", "supersedes": ["FCT-c"]}
    yes = decide(place, "accept", "FCT-a", **said)
    decide(place, "promote", "FCT-b", **said)
    other = decide(place, "accept", "FCT-d", **said)
    decide(place, "propose", "FCT-a", **said)
    clone = place.open()
    mine = MemoryApproval("accept", "FCT-a", at(yes), ONE, words_of("It is so."), ("FCT-c",))
    assert approvals.decided(clone, {"FCT-a"}) == [mine]
    every = approvals.every_decision(clone, {"FCT-a"})
    assert [(one.kind, one.target, one.blob, one.replaces) for one in every] == [
        ("accept", "FCT-a", ONE, ("FCT-c",)),
        ("promote", "FCT-b", None, None),
        ("accept", "FCT-d", ONE, ("FCT-c",)),
    ]
    assert every[0] == mine and every[2].place == at(other)


def test_what_others_decided_is_heard_once_and_without_its_words(place: Place, tmp_path: Path) -> None:
    """Of our own decisions we know the words, though they were published as well."""
    ours = decide(place, "accept", "FCT-a", blob=ONE, statement="It is so.")
    place.publish(here=True)
    place.git("clone", "-q", ".", str(tmp_path / "other"))
    other = place.at(tmp_path / "other")
    theirs = decide(other, "retire", "FCT-a", blob=ONE)
    decide(other, "retire", "FCT-b", blob=ONE)
    other.publish(here=True)
    place.git("pull", "-q", str(tmp_path / "other"), "main")
    mine = MemoryApproval("accept", "FCT-a", at(ours), ONE, words_of("It is so."), None)
    everybody, own = approvals.heard(place.open(), {"FCT-a"})
    assert own == [mine]
    assert everybody == [mine, MemoryApproval("retire", "FCT-a", at(theirs))]
    assert [one.target for one in approvals.heard(place.open(), {"FCT-b"})[0]] == ["FCT-a", "FCT-b"]


def test_what_waits_is_what_was_not_published_yet(place: Place) -> None:
    """What was published is in git: anybody may have changed it since."""
    place.keep("a")
    clone = place.open()
    assert approvals.waiting(clone) == {clone.repo.hash_blob(fact_text("a").encode())}
    place.publish(here=True)
    assert approvals.waiting(place.open()) == frozenset()
    place.open().change(fact_path("a"), None)
    assert approvals.waiting(place.open()) == frozenset()


def test_a_programs_yes_to_another_layout_leaves_it_the_approved_text(place: Place) -> None:
    """The curator confirms what a formatter wrote; a person had approved the very words."""
    clone = place.open()
    plain, laid_out = fact_text("a"), fact_text("a").replace("status: accepted", 'status: "accepted"')
    other = fact_text("a", "It is not so.")
    first, second, third = (
        place.repo.git("hash-object", "-w", "--stdin", data=text.encode()) for text in (plain, laid_out, other)
    )
    own = [decision("accept", at=1, blob=first), decision("promote", at=2, blob=second)]
    seen = [("FCT-a", second), ("FCT-a", third), ("FCT-b", second)]
    found = approvals.tiers(clone, own, NOTHING, (), seen=seen)
    assert [found.of(name, blob=blob, edited=False) for name, blob in seen] == ["T0", "T4", "T4"]


# ── what a person superseded ──────────────────────────────────────────────────


def held(place: Place, *visible: tuple[str, str], vouched: Vouched = NOTHING) -> dict[str, str]:
    clone = place.open()
    own = approvals.every_decision(clone, {name for name, _ in visible})
    known = approvals.tiers(clone, own, vouched, (), seen=visible)
    return approvals.still_superseded(clone, own, known, vouched, visible=visible)


OLD, NEW = ("FCT-old", ONE), ("FCT-new", TWO)


def test_what_a_person_superseded_stays_so_while_the_new_text_does_not_speak(place: Place) -> None:
    """A pull request that deletes or edits the new text would bring the old one back."""
    assert held(place, OLD) == {}
    decide(place, "promote", "FCT-agent", blob=THREE, supersedes=["FCT-old"])
    decide(place, "accept", "FCT-other", blob=THREE, supersedes=["FCT-elsewhere"])
    assert held(place, OLD) == {}, "a program's yes and one about others hold nothing"
    decide(place, "accept", "FCT-new", blob=TWO, supersedes=["FCT-old"])
    assert held(place, OLD) == {"FCT-old": "FCT-new"}
    assert held(place, OLD, ("FCT-new", THREE)) == {"FCT-old": "FCT-new"}, "its file was edited"
    assert held(place, OLD, NEW) == {}, "it speaks, and its own text says what it supersedes"
    gone = Vouched("trunk", frozenset(), {"FCT-new": "retire"})
    assert held(place, OLD, vouched=gone) == {}, "the trunk took it back"
    decide(place, "accept", "FCT-new", blob=THREE, supersedes=[])
    assert held(place, OLD) == {}, "only the last text of it counts"


def test_who_retires_the_new_memory_has_the_old_one_again(place: Place) -> None:
    """Nothing would be left of either."""
    decide(place, "accept", "FCT-new", blob=TWO, supersedes=["FCT-old"])
    decide(place, "retire", "FCT-new", blob=TWO)
    assert held(place, OLD) == {}


def test_of_two_yeses_the_one_that_builds_on_the_other_says_what_is_superseded(place: Place) -> None:
    """A wrong clock must not bring an old memory back."""
    decide(place, "accept", "FCT-new", blob=THREE, supersedes=[], hours=3)
    decide(place, "accept", "FCT-new", blob=TWO, supersedes=["FCT-old"])
    assert held(place, OLD) == {"FCT-old": "FCT-new"}


def test_where_no_body_says_so_the_text_in_git_tells_what_it_superseded(place: Place) -> None:
    """Versions before wrote no such list into their events."""
    texts = (
        fact_text("new", supersedes="[FCT-old]"),
        fact_text("new", supersedes="[FCT-old]", status="deprecated"),
        "no entry at all",
    )
    blobs = [place.repo.git("hash-object", "-w", "--stdin", data=text.encode()) for text in texts]
    for blob, expected in zip((*blobs[1:], THREE, blobs[0]), ({}, {}, {}, {"FCT-old": "FCT-new"}), strict=True):
        decide(place, "accept", "FCT-new", blob=blob)
        assert held(place, OLD) == expected


def test_a_supersession_holds_where_its_approval_can_be_seen(place: Place) -> None:
    """A branch that has never heard of the new text would have neither."""
    place.git("switch", "-qc", "aside")
    decide(place, "accept", "FCT-new", blob=TWO, supersedes=["FCT-old"])
    place.publish(here=True)
    assert held(place, OLD) == {"FCT-old": "FCT-new"}
    place.git("switch", "-q", "main")
    assert held(place, OLD) == {}


def test_what_the_trunk_superseded_stays_so_where_its_approval_has_arrived(place: Place) -> None:
    """The trunk's word counts here, and so does that its text was taken away on a branch."""
    trunk = Vouched("trunk", frozenset(), {"FCT-new": "accept"}, replaced={"FCT-new": ("FCT-old", "FCT-x")})
    assert held(place, OLD, vouched=trunk) == {}
    decide(place, "accept", "FCT-other", blob=THREE)
    assert held(place, OLD, vouched=trunk) == {}
    decide(place, "accept", "FCT-new", blob=None)
    assert held(place, OLD, vouched=trunk) == {"FCT-old": "FCT-new"}
    speaks = Vouched(
        "trunk", frozenset({TWO}), {"FCT-new": "accept"}, replaced=trunk.replaced, approved=frozenset({NEW})
    )
    assert held(place, OLD, NEW, vouched=speaks) == {}


# ── what candidates said ──────────────────────────────────────────────────────


def test_a_candidate_whose_words_changed_since_it_was_proposed_is_named(place: Place) -> None:
    """A reviewer would approve what nobody proposed."""
    decide(place, "propose", "FCT-a", statement="It is so.")
    decide(place, "propose", "FCT-a", statement="It is quite so.")
    decide(place, "propose", "FCT-odd", statement=["It is so."])
    broken = decide(place, "propose", "FCT-broken", statement="It is so.")
    place.open().record(EventDraft("propose", target="FCT-bare"))
    clone = place.open()
    (place.store / "bodies" / str(broken.body)).write_bytes(b"not what it was")

    def changed(name: str, statement: str) -> bool:
        one = Candidate(id=name, type="fact", statement=statement, line="main")
        return approvals.candidates_changed(clone, [one]) == {name}

    assert not changed("FCT-a", "It is so.") and not changed("FCT-a", "It is quite so.")
    assert changed("FCT-a", "It is not so.")
    assert not any(changed(name, "It is so.") for name in ("FCT-odd", "FCT-broken", "FCT-bare", "FCT-unknown"))
    assert approvals.candidates_changed(clone, []) == set()
