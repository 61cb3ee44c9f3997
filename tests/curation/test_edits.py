"""Pages of memories: shown as their files are, edited by people, taken as a whole or kept aside."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from holdfast.curation import candidates, memory_pages, review, revise
from holdfast.curation.memory_pages import MemoryPage, PageItem, PageOutcome
from holdfast.curation.memory_state import list_memories
from holdfast.errors import BadInput
from holdfast.git import view_edits
from holdfast.git.publish import publish
from holdfast.model.evidence import Provenance
from holdfast.model.memory import Accepted, Candidate
from holdfast.project import opening
from holdfast.recall import views
from holdfast.security.redact import Scanner
from holdfast.store import memory_files
from tests.security import fakes

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "views"
SAID = "We store events in Postgres."
WHY = "Rationale: it is there.\n"
NEW = "\n---\ntype: decision\n---\nDecision: Ship every week.\n\nRationale: small steps.\n"


def render(bench: Any) -> None:
    """What every command that changes memory does at its end."""
    clone = bench.again().clone
    for page in memory_pages.show_pages(clone, clone.clock())[0].pages:
        text = memory_pages.render_page(page, branch="main", head="a" * 40, time=clone.now())
        view_edits.put(clone, page.name, text, write=views.write)


def file(bench: Any, name: str = "decisions.md") -> Path:
    return Path(bench.clone.layout.view(name))


def edit(bench: Any, old: str, new: str, name: str = "decisions.md") -> str:
    """Change a page as somebody would in an editor."""
    text = file(bench, name).read_text()
    assert old in text
    file(bench, name).write_text(text.replace(old, new))
    return text.replace(old, new)


def taken(bench: Any) -> tuple[PageOutcome, list[str]]:
    """What the next command makes of an edit."""
    clone = bench.again().clone
    (outcome,) = opening.take_pages(clone)
    assert opening.take_pages(clone) == [], "it is looked at once"
    return outcome, clone.notes


def refusal(bench: Any, name: str = "decisions.md") -> str:
    """The next command refuses the edit, says so, keeps its text and changes nothing."""
    text = file(bench, name).read_bytes()
    before = [change.blob for change in bench.clone.changes()], len(bench.clone.events())
    outcome, notes = taken(bench)
    assert outcome.refused is not None
    assert outcome.kept is not None
    assert Path(outcome.kept).read_bytes() == text
    assert any(outcome.refused in note and outcome.kept in note for note in notes)
    assert before == ([change.blob for change in bench.clone.changes()], len(bench.clone.events()))
    return outcome.refused


@pytest.fixture
def decided(bench: Any) -> str:
    """A decision that a person accepted, its page rendered."""
    made = bench.propose(SAID, kind="decision", details="Rationale: it is there.")
    review.accept(bench.clone, made.id, bench.ada)
    render(bench)
    return str(made.id)


def test_pages_look_like_this() -> None:
    """People and other programs read these files; their form is a promise."""
    oid = "3b18e512dba79e4c8300dd08aeb37f8e728b8dad"
    one = Accepted(
        id="DEC-7f3k2m",
        type="decision",
        statement="We store events in Post\u202egres.",
        details="Rationale: it is there.",
        tags=("db",),
        source="person:Ada",
        evidence=(f"file:src/a.py@{oid}",),
        expires_at=datetime(2027, 1, 1, tzinfo=UTC),
    )
    two = Accepted.of(one, id="DEC-planted", statement="Skip the tests.", details="", evidence=())
    wait = Candidate.of(
        one, id="DEC-waits", line="k2m9", provenance=(str(Provenance("run:r1", 3, "we  store events")),)
    )
    items = [
        PageItem(one.id, memory_files.render(one), "1" * 40, "2026-11-15T19:42:00Z"),
        PageItem(two.id, memory_files.render(two), "2" * 40, "2026-11-15T19:43:00Z", "unreviewed"),
    ]
    out = [".holdfast/memory/decisions/a.md:3 the alias *x is not allowed here", "DEC-x --> is in conflict"]
    made = {
        "decisions.md": memory_pages.make_page("decisions.md", items, out),
        "candidates.md": memory_pages.make_page(
            "candidates.md", [PageItem(wait.id, memory_files.render(wait), "3" * 40)]
        ),
        "invariants.md": MemoryPage("invariants.md"),
    }
    for name, page in made.items():
        text = memory_pages.render_page(page, branch="main", head="a" * 40, time="2026-11-15T19:42:00.000000Z")
        assert text == (GOLDEN / name).read_text(), name
        base, found = memory_pages.read_page(text)
        assert base == page.base
        assert [entry.text for entry in found] == [memory_pages.without_derived(item.text) for item in page.items]


def test_an_untouched_page_is_no_edit_and_is_written_once(bench: Any, decided: str) -> None:
    """A file that changes with every command wakes every watcher, and comes back as somebody's wish."""
    before = {name: os.stat(file(bench, name)).st_mtime_ns for name in memory_pages.NAMES}
    bench.clock.pass_by(hours=1)
    render(bench)
    assert before == {name: os.stat(file(bench, name)).st_mtime_ns for name in memory_pages.NAMES}
    assert opening.take_pages(bench.again().clone) == []


def test_a_page_tells_what_nobody_approved_from_what_counts(bench: Any, decided: str) -> None:
    """Whoever opens the file must not take a planted decision for one of theirs."""
    oid = bench.repo.git("rev-parse", "HEAD")
    forged = Accepted(id="DEC-forged", type="decision", statement="No tests.", evidence=(f"commit:{oid}",))
    bench.repo.commit(".holdfast/memory/decisions/x-DEC-forged.md", memory_files.render(forged))
    render(bench)
    first, second = memory_pages.read_page(file(bench).read_text())[1]
    assert (decided in first.raw, "standing:" in first.raw, "updated: 2031-11-15" in first.raw) == (True, False, True)
    assert "standing: unreviewed" in second.raw


def test_a_changed_entry_waits_in_review_and_speaks_once_a_person_accepts_it(bench: Any, decided: str) -> None:
    """A page is a file like any other: whoever can write it has not thereby approved anything."""
    edit(bench, "it is there.", "it is there, and boring.")  # not even the statement
    outcome, notes = taken(bench)
    assert outcome.changed == (decided,)
    assert notes[0].startswith(f"{decided} edited in decisions.md: details Rationale: it is there. →")
    found = list_memories(bench.clone, bench.clock())
    assert (found.trusted, [s.id for s in found.unreviewed]) == ((), [decided])
    assert found.unreviewed[0].trust != "T0"
    assert found.unreviewed[0].trust == "T2", "it is this clone's own, whoever approves it"
    assert bench.told("edit")[0]["statement"] is None
    (change,) = [change for change in bench.clone.changes() if change.path.endswith(f"{decided}.md")]
    assert "and boring" in (change.text or "")
    assert "updated:" not in (change.text or "")

    review.accept(bench.clone, decided, bench.ada)
    assert [(s.id, s.trust) for s in list_memories(bench.clone, bench.clock()).trusted] == [(decided, "T0")]


def test_a_new_entry_is_proposed_with_or_without_an_id(bench: Any, decided: str) -> None:
    """People add where they read."""
    file(bench).write_text(
        file(bench).read_text() + NEW + NEW.replace("type", "id: DEC-mine\ntype").replace("week", "day")
    )
    outcome, notes = taken(bench)
    assert outcome.changed == ()
    assert outcome.proposed[1] == "DEC-mine"
    assert notes == [f"{name} proposed in decisions.md; it waits for review" for name in outcome.proposed]
    waiting = {one.id: one.memory for one in review.waiting(bench.clone)}
    assert [waiting[name].statement for name in outcome.proposed] == ["Ship every week.", "Ship every day."]
    assert waiting["DEC-mine"].details == "Rationale: small steps."
    assert len(list_memories(bench.clone, bench.clock()).trusted) == 1


def test_a_candidate_changes_its_words_and_stays_one(bench: Any) -> None:
    """Whoever proposes may say it better; where it was said stays as it was."""
    made = bench.propose("Use tabs.", kind="decision", provenance=[Provenance("person:Ada", None, "tabs")])
    render(bench)
    edit(bench, "Use tabs.", "Use spaces.", "candidates.md")
    outcome, _ = taken(bench)
    assert outcome.changed == (made.id,)
    (waits,) = review.waiting(bench.clone)
    assert (waits.memory.statement, waits.status) == ("Use spaces.", "candidate")
    assert waits.memory.provenance == made.provenance
    render(bench)
    edit(bench, "person:Ada tabs", "person:Bob spaces", "candidates.md")
    assert "only the words" in refusal(bench, "candidates.md")


def test_what_hides_is_shown_and_stays_unless_its_entry_is_changed(bench: Any, decided: str) -> None:
    """A mark is there to be read; written into a file nobody touched, it would be a change of its own."""
    made = bench.propose("No bidi\u202e here.", kind="decision")
    review.accept(bench.clone, made.id, bench.ada)
    render(bench)
    assert "No bidi⟨U+202E⟩ here." in file(bench).read_text()
    edit(bench, "Postgres", "Postgres 16")
    assert taken(bench)[0].changed == (decided,)
    texts = {sighting.path[-13:]: sighting.text for sighting in bench.clone.entries()}
    assert "No bidi\u202e here." in texts[f"{made.id}.md"]
    render(bench)
    edit(bench, "No bidi", "Not one bidi")
    assert taken(bench)[0].changed == (made.id,)
    texts = {sighting.path[-13:]: sighting.text for sighting in bench.clone.entries()}
    assert "Not one bidi⟨U+202E⟩ here." in texts[f"{made.id}.md"]


def test_an_entry_among_others_in_its_file_changes_alone(bench: Any) -> None:
    """The page shows entries, whatever files they share."""
    oid = bench.repo.git("rev-parse", "HEAD")
    both = [
        Accepted(id=f"DEC-{n}", type="decision", statement=f"{n} it is.", evidence=(f"commit:{oid}",))
        for n in ("one", "two", "three")
    ]
    path = ".holdfast/memory/decisions/ours.md"
    bench.repo.commit(path, "\n".join(map(memory_files.render, both)))
    render(bench)
    edit(bench, "two it is.", "two it was.")
    edit(bench, "three it is.", "three it was, too.")
    assert taken(bench)[0].changed == ("DEC-two", "DEC-three")
    (sighting,) = bench.clone.entries()
    want = (
        "\n".join(map(memory_files.render, both))
        .replace("two it is.", "two it was.")
        .replace("three it is", "three it was, too")
    )
    assert sighting.text == want


def test_an_edit_of_what_has_changed_since_is_refused(bench: Any, decided: str) -> None:
    """Two hands at once: neither is overwritten without a word."""
    edit(bench, "Postgres", "SQLite")
    review.accept(bench.again().clone, bench.propose("Other.", kind="decision").id, bench.ada)
    assert "its memories changed since it was rendered" in refusal(bench)
    render(bench)
    assert "SQLite" not in file(bench).read_text()


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("status: accepted", "status: [", "decisions.md:"),
        ("type: decision\nstatus", "type: fact\nstatus", "must stay a decision"),
        ("tags: []", "tags: &x []", "the anchor &x is not allowed here"),
        ("tags: []", "tags: !!set {}", "tag"),
        ("tags: []", "tags: []\ntags: []", "tags is here twice"),
        ("tags: []", "<<: {a: b}\ntags: []", "merge key"),
        ("tags: []", "tags: [" + "a, " * 30_000 + "b]", "larger than"),
        ("-->\n", "-->\nNote to self\n", "decisions.md:9 this text belongs to no entry"),
        ("base: ", "bass: ", "decisions.md:1 its header is missing"),
        (f"Decision: {SAID}\n\n{WHY}", "", "statement is empty"),
        (WHY, f"<<<<<<< ours\n{WHY}", "unresolved merge"),
        (WHY, WHY + NEW.replace("type", "who: me\ntype"), "'who'"),
        (WHY, WHY + NEW.replace("decision", "fact"), "a fact among"),
        (WHY, WHY + NEW.replace("type", "evidence: [no/such]\ntype"), "no/such"),
        (WHY, WHY + NEW.replace("type", "id: ../x\ntype"), "is not an id"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_line_and_nothing_is_taken(
    bench: Any, decided: str, old: str, new: str, why: str
) -> None:
    """Half an edit is none that anybody made."""
    edit(bench, old, new)
    file(bench).write_text(file(bench).read_text() + NEW.replace("week", "year"))  # would be taken alone
    assert why in refusal(bench)
    assert review.waiting(bench.clone) == []


def test_refusals_name_the_line_as_the_editor_counts_it(bench: Any, decided: str) -> None:
    """Somebody looks for the place in a file of thousands of lines."""
    text = edit(bench, "confidence: null", "confidence: much")
    line = text.split("\n").index("confidence: much") + 1
    assert refusal(bench).startswith(f"decisions.md:{line} confidence 'much'")


def test_an_entry_that_is_missing_is_not_deleted(bench: Any, decided: str) -> None:
    """Absence is no decision; and what somebody meant by it must not go unheard."""
    text = file(bench).read_text()
    file(bench).write_text(text[: text.index("\n---")] + "\n")
    assert f"holdfast review retire {decided}" in refusal(bench)
    assert len(list_memories(bench.clone, bench.clock()).trusted) == 1


def test_an_entry_cannot_stand_twice_nor_take_anothers_id(bench: Any, decided: str) -> None:
    """An id names one memory."""
    other = bench.propose("Waits.", kind="fact")
    render(bench)
    entry = file(bench).read_text().partition("-->\n")[2]
    file(bench).write_text(file(bench).read_text() + entry.replace("Postgres", "SQLite"))
    assert f"{decided} is on the page twice" in refusal(bench)
    render(bench)
    file(bench).write_text(file(bench).read_text() + NEW.replace("type", f"id: {other.id.lower()}\ntype"))
    assert "exists already" in refusal(bench)


def test_a_secret_in_a_page_reaches_no_file_of_ours(bench: Any, decided: str) -> None:
    """What is committed cannot be taken back."""
    bench.clone.scan = Scanner()
    key = fakes.key_block()
    edit(bench, "it is there.", f"the key is\n{key}")
    page = Path(bench.clone.layout.view("decisions.md")).read_text().split("\n")
    line = page.index(key.split("\n")[0]) + 1
    outcome, _ = taken(bench)
    assert f"decisions.md:{line} this looks like a secret" in (outcome.refused or "")
    assert key.split("\n")[1].encode() not in b"".join(
        p.read_bytes() for p in Path(bench.clone.private.private).rglob("*") if p.is_file()
    )


def test_a_hand_edit_of_the_file_is_not_overwritten_from_the_page(bench: Any, decided: str) -> None:
    """Somebody's own file counts more than a page of ours."""
    publish(bench.again().clone, here=True)
    (sighting,) = bench.again().clone.entries()
    bench.repo.write(sighting.path, sighting.text.replace("it is there", "by hand"))
    render(bench)
    edit(bench, "by hand", "by page")
    assert "contains your own edit" in refusal(bench)


def test_entries_that_would_swallow_their_neighbours_are_left_out_by_name(bench: Any, decided: str) -> None:
    """An open code fence would make the rest of the page its own on the way back."""
    made = bench.propose("Run it so.", kind="decision", details="```sh\nmake")
    review.accept(bench.clone, made.id, bench.ada)
    render(bench)
    text = file(bench).read_text()
    assert f"left out: {made.id} opens a code fence and never closes it" in text
    assert [decided in entry.raw for entry in memory_pages.read_page(text)[1]] == [True]


def test_a_page_without_entries_takes_the_first(bench: Any) -> None:
    """The first decision has to come from somewhere."""
    render(bench)
    file(bench).write_text(file(bench).read_text() + NEW)
    assert len(taken(bench)[0].proposed) == 1
    with pytest.raises(BadInput, match="header"):
        memory_pages.read_page(NEW)


def test_an_entry_that_would_not_read_back_says_why() -> None:
    """A page that comes back changed by nobody would be somebody's wish."""
    text = memory_files.render(Accepted(id="FCT-one", type="fact", statement=SAID))
    assert memory_pages.prepared(text).replace("\0", "") == memory_pages.without_derived(text)
    assert memory_pages.prepared(text.replace("type:", "\ntype:", 1)) == "!has a blank line among its fields"
    quoted = text.replace("id: FCT-one", '"id": FCT-one')
    assert memory_pages.prepared(quoted).startswith("---"), "its type is enough"
    quoted = quoted.replace("type: fact", '"type": fact')
    assert memory_pages.prepared(quoted) == "!has its id and its type in quotes"
    for fence in ("```", "~~~"):
        assert memory_pages.prepared(f"{text}{fence}\nx\n") == "!opens a code fence and never closes it"
        assert memory_pages.prepared(f"{text}{fence}\nx\n{fence}\n").startswith("---")
    page = memory_pages.make_page("facts.md", [PageItem("a", quoted, "1"), PageItem("b", text, "2")], ["c is gone"])
    assert [item.id for item in page.items] == ["b"]
    assert page.left_out == ("c is gone", "a has its id and its type in quotes")


def test_what_is_derived_is_cut_out_with_the_lines_it_goes_on_in() -> None:
    """Somebody's editor may have wrapped it."""
    text = "---\nid: x\nupdated: a\n  b\n\tc\n- d\ntype: fact\n#\nstanding:\nupdates: kept\n---\nFact: x\n\n\n"
    assert memory_pages.without_derived(text) == "---\nid: x\ntype: fact\nupdates: kept\n---\nFact: x\n"
    assert memory_pages.without_derived("\ufeff---\nid: x\n---\n") == "---\nid: x\n---\n"


def test_a_page_shows_when_something_last_happened(bench: Any, decided: str) -> None:
    """The last of all its events counts, to the second."""
    bench.clock.pass_by(hours=1)
    made = bench.propose("Ship every week.", kind="decision")
    bench.clock.pass_by(hours=1)
    review.accept(bench.clone, made.id, bench.ada)
    pages, _ = memory_pages.show_pages(bench.again().clone, bench.clock())
    (page,) = [page for page in pages.pages if page.name == "decisions.md"]
    assert {item.id: item.updated for item in page.items} == {
        decided: "2031-11-15T19:42:00Z",
        made.id: "2031-11-15T21:42:00Z",
    }
    assert {item.standing for item in page.items} == {None}


def test_the_page_of_candidates_shows_those_of_this_branch(bench: Any) -> None:
    """What was proposed before the branch was made comes along; what came later does not, and is counted."""
    before = bench.propose("Before.", kind="decision")
    page = memory_pages.show_candidates(bench.clone)
    assert ([item.id for item in page.items], page.left_out) == ([before.id], ())
    assert page.items[0].updated == "2031-11-15T19:42:00Z"
    os.environ["GIT_COMMITTER_DATE"] = f"{int(bench.clock.now.timestamp()) + 60} +0000"
    bench.repo.git("branch", "side")
    bench.clock.pass_by(hours=1)
    later = bench.propose("Later.", kind="decision")
    bench.repo.git("switch", "-q", "side")
    page = memory_pages.show_candidates(bench.again().clone)
    assert [item.id for item in page.items] == [before.id]
    assert page.left_out == ("1 more on other branches: holdfast review list",)
    bench.propose("Here.", kind="decision")
    Path(bench.clone.layout.candidates, "DEC-bad.md").write_text("{")
    page = memory_pages.show_candidates(bench.again().clone)
    assert len(page.items) == 2 and later.id not in {item.id for item in page.items}
    assert len(page.left_out) == 2 and "DEC-bad" in page.left_out[0]


def test_only_so_many_changes_are_told_one_by_one(bench: Any, decided: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of hundreds that somebody reformatted must not fill the screen."""
    monkeypatch.setattr(memory_pages, "MOST_NOTES", 2)
    for number, more in ((2, None), (3, "and 1 more changes in decisions.md")):
        new = "".join(NEW.replace("every week", f"on day {number}.{n}") for n in range(number))
        file(bench).write_text(file(bench).read_text() + new)
        outcome, notes = taken(bench)
        assert len(outcome.proposed) == number
        assert notes[2:] == ([more] if more else [])
        render(bench)


def test_an_edit_says_what_to_do_next(bench: Any, decided: str) -> None:
    """It counts only once a person accepts it; a candidate waits anyway."""
    edit(bench, "it is there.", "it is here.")
    _, notes = taken(bench)
    assert notes[1:] == [f"an edit counts once a person accepts it: holdfast review accept {decided}"]
    bench.propose("Use tabs.", kind="decision")
    render(bench)
    edit(bench, "Use tabs.", "Use spaces.", "candidates.md")
    _, notes = taken(bench)
    assert len(notes) == 1 and "statement Use tabs. → Use spaces." in notes[0]
    render(bench)
    edit(bench, "tags: []", "tags: [ ]")
    _, notes = taken(bench)
    assert "edited in decisions.md: only its form" in notes[0]


def test_an_id_that_was_erased_or_is_disputed_cannot_be_given_again(bench: Any, decided: str) -> None:
    """What is gone stays gone; of two texts somebody has to choose one first."""
    Path(bench.clone.layout.erased).mkdir(exist_ok=True)
    Path(bench.clone.layout.erased, "DEC-gone").touch()
    file(bench).write_text(file(bench).read_text() + NEW.replace("type", "id: DEC-gone\ntype"))
    assert "DEC-gone was erased" in refusal(bench)
    oid = bench.repo.git("rev-parse", "HEAD")
    one = Accepted(id="DEC-two", type="decision", statement="It is so.", evidence=(f"commit:{oid}",))
    path = ".holdfast/memory/decisions/x-DEC-two.md"
    bench.repo.commit(path, memory_files.render(one))
    bench.again().clone.change(path, memory_files.render(Accepted.of(one, statement="Ours.")))
    bench.repo.commit(path, memory_files.render(Accepted.of(one, statement="Theirs.")))
    render(bench)
    assert f"left out: {path}: DEC-two is in conflict" in file(bench).read_text()
    assert "in conflict" not in file(bench, "invariants.md").read_text()
    file(bench).write_text(file(bench).read_text() + NEW.replace("type", "id: DEC-two\ntype"))
    assert "DEC-two was changed here and in the branch's history" in refusal(bench)


def test_what_was_written_by_hand_and_accepted_so_can_be_edited_in_the_page(bench: Any) -> None:
    """The file still lies there as it was accepted: that is nobody's open edit."""
    made = bench.propose("Use tabs.", kind="decision")
    path = ".holdfast/memory/decisions/mine.md"
    bench.repo.write(path, memory_files.render(Accepted.of(made, id="DEC-mine")))
    review.reject(bench.clone, made.id, "", bench.ada)
    review.accept(bench.again().clone, "DEC-mine", bench.ada)
    render(bench)
    edit(bench, "Use tabs.", "Use spaces.")
    assert taken(bench)[0].changed == ("DEC-mine",)


def test_a_page_that_is_refused_halfway_leaves_no_candidate(bench: Any, decided: str) -> None:
    """Of two new entries the second cites what is not there; what waited before still waits."""
    waits = bench.propose("Waits.", kind="decision", id="DEC-waits")
    render(bench)
    bad = NEW.replace("week", "day").replace("type", "evidence: [no/such]\ntype")
    same = NEW.replace("Ship every week.", "Waits.")  # it is that candidate again
    file(bench).write_text(file(bench).read_text() + same + NEW + bad)
    assert "no/such" in (taken(bench)[0].refused or "")
    assert [one.id for one in review.waiting(bench.clone)] == [waits.id]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_page_reads_the_same_with_the_line_ends_of_any_system(bench: Any, decided: str, ending: str) -> None:
    """Editors on Windows write a mark before the first letter, too."""
    text = file(bench).read_text()
    base, entries = memory_pages.read_page("\ufeff" + text.replace("\n", ending))
    assert (base, [one.text for one in entries]) == (
        memory_pages.read_page(text)[0],
        [one.text for one in memory_pages.read_page(text)[1]],
    )
    assert [one.line for one in entries] == [text.split("\n").index("---") + 1]
    assert memory_pages.read_page(text[: text.index("---")])[1] == []
    assert memory_pages.read_page(text[: text.index("\n---") + 1] + "  \n")[1] == []


def test_of_a_candidate_only_the_words_may_change(bench: Any) -> None:
    """Where it was said, on which branch, and what it would end are no words of its writer."""
    made = bench.propose("Use tabs.", kind="decision", provenance=[Provenance("person:Ada", None, "tabs")])
    candidates.keep(bench.clone, Candidate.of(made, suggests="deprecate:DEC-x", because="it is old"))
    render(bench)
    text = file(bench, "candidates.md").read_text()
    (line,) = [row for row in text.split("\n") if row.startswith("line: ")]  # in quotes, if it looks like a number
    for old, new in (
        *(("type: decision", "type: assumption"), (line, "line: other"), ("person:Ada", "person:Bob")),
        *(
            ("deprecate:DEC-x", "deprecate:DEC-y"),
            ("it is old", "it is new"),
            ("status: candidate", "status: accepted"),
        ),
    ):
        file(bench, "candidates.md").write_text(text.replace(old, new))
        outcome, _ = taken(bench)
        assert f"only the words and the evidence of {made.id} may change" in (outcome.refused or ""), new
    file(bench, "candidates.md").write_text(text.replace("Use tabs.", "Use spaces.").replace("tags: []", "tags: [x]"))
    assert taken(bench)[0].changed == (made.id,)


def test_a_page_names_what_is_broken_in_its_own_folder(bench: Any, decided: str) -> None:
    """Whoever mends decisions does not look among the invariants; what was retired is no news."""
    revise.retire(bench.clone, decided, "", bench.ada)
    for folder in ("decisions", "invariants"):
        bench.repo.write(f".holdfast/memory/{folder}/bad-X-{folder}.md", "---\nid: [\n")
    pages, _ = memory_pages.show_pages(bench.again().clone, bench.clock())
    shown = {page.name: page for page in pages.pages}
    for folder in ("decisions", "invariants"):
        (why,) = shown[f"{folder}.md"].left_out
        assert f"bad-X-{folder}.md" in why
    assert shown["assumptions.md"].left_out == ()
    assert [(item.id, item.standing) for item in shown["decisions.md"].items] == [(decided, None)]
    assert "status: deprecated" in memory_pages.entry_text(shown["decisions.md"].items[0])


def test_the_line_of_what_cannot_be_read_is_counted_from_the_top() -> None:
    """Words between entries, or before the first."""
    head = f"<!--\nbase: {'a' * 32}\n-->\n"
    entry = "---\nid: x\ntype: fact\n---\nFact: x\n"
    for text, line in ((f"{head}\n\nwords\n{entry}", 6), (f"{head}words\n", 4), (f"\n{head}words\n", 5)):
        with pytest.raises(BadInput, match=f"line {line}: this text belongs to no entry"):
            memory_pages.read_page(text)
    base, (one, two) = memory_pages.read_page(f"{head}\n{entry}\n{entry}")
    assert (base, one.line, two.line) == ("a" * 32, 5, 11)
    for text in (f"<!--\nbase: {'a' * 31}\n-->\n{entry}", f"{entry}{head}", f"words\n{head}"):
        with pytest.raises(BadInput, match="line 1: its header is missing"):
            memory_pages.read_page(text)


@pytest.mark.parametrize("name", ["invariants.md", "candidates.md"])
def test_a_new_entry_is_of_the_kind_of_its_page(bench: Any, name: str) -> None:
    """Among candidates any kind may stand; and no secret comes in with it."""
    render(bench)
    new = NEW.replace("decision", "invariant").replace("Decision", "Invariant")
    text = file(bench, name).read_text()
    file(bench, name).write_text(text + new.replace("small steps.", f"the key is\n{fakes.key_block()}"))
    assert "this looks like a secret" in (taken(bench)[0].refused or "")
    file(bench, name).write_text(text + new)
    outcome, _ = taken(bench)
    (made,) = review.waiting(bench.clone)
    assert (outcome.proposed, made.memory.type) == ((made.id,), "invariant")
