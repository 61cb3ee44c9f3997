"""How a memory stands: which text of which file speaks, why another does not, what a person approved last."""

from pathlib import Path
from typing import Any

import pytest

from holdfast.curation import memory_state, review, revise
from holdfast.curation.memory_state import VisibleMemory, list_memories
from holdfast.errors import Ambiguous, BadInput, BrokenEntry
from holdfast.git import upstream
from holdfast.git.publish import publish
from holdfast.git.visible_entries import Sighting
from holdfast.model.event import EventDraft
from holdfast.model.memory import Accepted
from holdfast.store import layout, memory_files
from tests.curation.test_facts import accepted, listed
from tests.git.place import fact_text

PLACE = f"{layout.MEMORY}/facts/several.md"
ONE, TWO, THREE = (fact_text(name, f"The {name} is so.") for name in ("one", "two", "three"))


# ── one entry of a file that holds several ────────────────────────────────────


def entry(text: str, file: str | None, *, start: int = 0, origin: str = "tree", of_file: str = "tree") -> VisibleMemory:
    memory = memory_files.parse(text, PLACE)
    assert isinstance(memory, Accepted)
    whole = None if file is None else Sighting(PLACE, file, "1" * 40, of_file)
    place = {"start": start} if start else {}
    return VisibleMemory(Sighting(PLACE, text, "2" * 40, origin), memory, whole, **place)


def test_another_text_takes_the_place_of_one_entry_alone() -> None:
    """One decision must not touch a byte of its neighbours."""
    file = f"{ONE}\n{TWO}\n{THREE}"
    assert entry(ONE, None).rewritten("new") == "new"
    second = entry(TWO, file, start=len(ONE) + 1)
    assert second.rewritten("new\n") == second.rewritten("new") == f"{ONE}\nnew\n\n{THREE}"
    assert second.rewritten(TWO) == file
    last = entry(THREE, file, start=len(ONE) + len(TWO) + 2)
    assert last.rewritten("new") == f"{ONE}\n{TWO}\nnew"
    assert entry(ONE, file).rewritten("new") == f"new\n\n{TWO}\n{THREE}"


def test_a_neighbour_that_somebody_edits_is_not_overwritten() -> None:
    """The file in the work tree has words that nobody has saved anywhere else."""
    second = entry(TWO, f"{ONE}\n{TWO}", start=len(ONE) + 1, of_file="edit")
    assert second.rewritten(TWO) == f"{ONE}\n{TWO}"
    with pytest.raises(BadInput, match="contains your own edit, which is not overwritten"):
        second.rewritten("new")


# ── which are here ────────────────────────────────────────────────────────────


def test_a_listing_of_one_type_has_only_that_wherever_its_file_lies(bench: Any) -> None:
    """Whoever asks for decisions wants them all, and no fact that was put beside them."""
    oid = bench.repo.git("rev-parse", "HEAD")
    for number, (folder, kind) in enumerate((("decisions", "decision"), ("facts", "decision"), ("decisions", "fact"))):
        made = Accepted(id=f"X-{number}", type=kind, statement="It is so.", evidence=(f"commit:{oid}",))
        bench.repo.write(f"{layout.MEMORY}/{folder}/x{number}-X-{number}.md", memory_files.render(made))
    bench.repo.write(f"{layout.MEMORY}/decisions/bad.md", "---\nid: [\n---\nx")
    bench.repo.write(f"{layout.MEMORY}/facts/bad-FCT-bad1.md", "---\nid: FCT-said\nx: [\n---\nx")
    decisions, facts = (list_memories(bench.clone, bench.clock(), kind=kind) for kind in ("decision", "fact"))
    assert {one.id for one in decisions.standings} == {"X-0", "X-1"}
    assert {one.id for one in facts.standings} == {"X-2"}
    assert [Path(one.path).name for one in decisions.broken] == ["bad.md"]
    assert [(Path(one.path).name, one.claims) for one in facts.broken] == [
        ("bad-FCT-bad1.md", ("FCT-said", "bad-FCT-bad1", "FCT-bad1", "bad1"))
    ]
    assert len(listed(bench).broken) == 2
    found, entries = memory_state.list_with_entries(bench.clone, bench.clock())
    assert set(entries) == {(one.path, one.id) for one in found.standings}


def test_a_clash_is_listed_with_its_type(bench: Any) -> None:
    """It is neither side's: whoever lists another type must not be told of it."""
    name = accepted(bench)
    publish(bench.clone, here=True)
    (sighting,) = bench.again().clone.entries()
    bench.clone.change(sighting.path, sighting.text.replace("16", "17"))
    bench.repo.commit(sighting.path, sighting.text.replace("16", "15"))
    bench.again()
    for kind, ids in (("fact", [name]), ("decision", []), (None, [name])):
        found, entries = memory_state.list_with_entries(bench.clone, bench.clock(), kind=kind)
        assert [one.id for one in found.clashes] == ids
        assert (found.standings, entries) == ((), {})


def test_an_id_stands_for_one_entry_or_for_nobody(bench: Any) -> None:
    """Of two files that claim it only a person can choose."""
    name = accepted(bench)
    seen, _ = memory_state.read_visible(bench.clone)
    found = memory_state.by_id(seen, name)
    assert found is not None and found.memory.id == name
    assert memory_state.by_id(seen, "FCT-other") is None
    assert memory_state.is_approved(bench.clone, seen, found)
    bench.repo.write(f"{layout.MEMORY}/facts/copy.md", found.sighting.text.replace(" 16", " 17"))
    seen, _ = memory_state.read_visible(bench.again().clone)
    with pytest.raises(Ambiguous, match="and in"):
        memory_state.by_id(seen, name)
    copy = next(one for one in seen if one.sighting.path.endswith("copy.md"))
    assert not memory_state.is_approved(bench.clone, seen, copy)


@pytest.mark.parametrize("copy", ["0-copy.md", "zz-copy.md"])
def test_a_copy_is_told_which_file_speaks_wherever_it_is_listed(bench: Any, copy: str) -> None:
    """Whoever deletes one of both must know which."""
    accepted(bench)
    publish(bench.clone, here=True)
    (first,) = bench.again().clone.entries()
    bench.repo.commit(f"{layout.MEMORY}/facts/{copy}", first.text)
    found = listed(bench.again())
    assert [(one.path, one.trust, one.notes) for one in found.trusted] == [(first.path, "T0", ())]
    (spare,) = found.unreviewed
    assert (Path(spare.path).name, spare.trust, spare.status) == (copy, "T4", "unreviewed")
    assert spare.notes == (f"{first.path} has this id and was approved; give this file another, or delete it",)


# ── edits by hand ─────────────────────────────────────────────────────────────


def waiting(bench: Any, text: str, edited: str | None) -> list[VisibleMemory]:
    """A change that waits, and over it an edit by hand."""
    bench.clone.change(PLACE, text)
    if edited is not None:
        bench.repo.write(PLACE, edited)
    return memory_state.read_visible(bench.again().clone)[0]


def test_an_edit_over_a_change_that_waits_is_seen_and_told(bench: Any) -> None:
    """Whoever accepts it accepts what stands in the editor."""
    (one,) = waiting(bench, ONE, None)
    assert memory_state.by_hand(bench.clone, one) is one
    (one,) = waiting(bench, ONE, ONE)
    assert memory_state.by_hand(bench.clone, one) is one
    assert listed(bench).standings[0].notes == ()
    (one,) = waiting(bench, ONE, ONE.replace("is so", "is not so"))
    edited = memory_state.by_hand(bench.clone, one)
    assert (edited.memory.statement, edited.sighting.origin) == ("The one is not so.", "edit")
    assert edited.sighting.blob == bench.clone.repo.hash_blob(edited.sighting.text.encode())
    assert listed(bench).standings[0].notes == ("edited by hand since; accept it to take the edit",)
    (one,) = waiting(bench, ONE, f"{TWO}\n{ONE.replace('is so', 'is not so')}")
    assert memory_state.by_hand(bench.clone, one).memory.statement == "The one is not so.", "another was put before it"
    (one,) = waiting(bench, ONE, TWO)
    assert listed(bench).standings[0].notes == ("edited by hand since; accept it to take the edit",)
    (one,) = waiting(bench, ONE, "no entry")
    with pytest.raises(BrokenEntry):
        memory_state.by_hand(bench.clone, one)


def test_of_several_in_a_file_only_the_one_that_was_edited_is_told_so(bench: Any) -> None:
    """A word changed in one entry is no reason to doubt the others."""
    broken = THREE.replace("status: accepted", "status: holy")
    file = f"{ONE}\n{TWO}\n{THREE}"
    first, second, third = waiting(bench, file, None)
    assert [one.notes for one in listed(bench).standings] == [()] * 3
    first, second, third = waiting(bench, file, TWO.replace("is so", "is not so"))
    assert memory_state.by_hand(bench.clone, first) is first, "what is left is another's"
    assert memory_state.by_hand(bench.clone, second).memory.statement == "The two is not so."
    seen = waiting(bench, file, f"{broken}\n{TWO.replace('is so', 'is not so')}")
    first, second, third = seen
    edited = memory_state.by_hand(bench.clone, second)
    assert (edited.memory.statement, edited.memory.id) == ("The two is not so.", "FCT-two")
    assert memory_state.by_hand(bench.clone, first) is first, "taken out by hand is no decision"
    assert memory_state.by_hand(bench.clone, third) is third, "what cannot be read says nothing"
    notes = {one.id: one.notes for one in listed(bench).standings}
    told = ("edited by hand since; accept it to take the edit",)
    assert {name: said == told for name, said in notes.items()} == {
        "FCT-one": False, "FCT-two": True, "FCT-three": False,
    }  # fmt: skip
    assert all(one.notes == () for one in _standings_of(bench, file))


def _standings_of(bench: Any, file: str) -> Any:
    bench.repo.write(PLACE, file)
    return listed(bench.again()).standings


# ── why it does not speak ─────────────────────────────────────────────────────


def test_a_memory_is_stale_once_what_it_cites_changed_or_is_gone(bench: Any) -> None:
    """Whatever form the citation has."""
    bench.repo.commit("src/a.py", "def first():\n    return 1\n")
    cited = {"Ropes are red.": "src/a.py", "The ferry is late.": "src/a.py:1-1", "Logs are cold.": "src/a.py#first"}
    for statement, place in cited.items():
        accepted(bench.again(), statement, evidence=[place, "README"])
    assert [one.status for one in listed(bench).standings] == ["accepted"] * 3
    bench.repo.commit("src/a.py", "def first(more):\n    return more\n")
    stale = listed(bench.again()).stale
    places = [
        [text for text in one.memory.evidence if "src/a.py" in text] for one in stale
    ]  # lines: their function, too
    assert [one.notes for one in stale] == [
        tuple(f"{text} has changed since it was cited" for text in cited) for cited in places
    ]
    assert [{text: state for text, state in one.receipts if state == "changed"} for one in stale] == [
        dict.fromkeys(cited, "changed") for cited in places
    ]
    bench.repo.git("rm", "-q", "src/a.py")
    bench.repo.git("commit", "-qm", "gone")
    stale = listed(bench.again()).stale
    gone = [
        tuple(f"{text} is not here any more" for text in one.memory.evidence if "src/a.py" in text) for one in stale
    ]
    assert [one.notes for one in stale] == gone
    assert len(stale) == 3


def test_a_run_or_commit_that_is_gone_makes_nothing_stale(bench: Any) -> None:
    """It tells where something was learnt, not what it is about; but it is said."""
    oid = bench.repo.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "aside")
    bench.repo.git("update-ref", "refs/heads/aside", oid)
    accepted(bench, evidence=[f"commit:{oid}"])
    bench.repo.git("update-ref", "-d", "refs/heads/aside")
    (standing,) = listed(bench.again()).trusted
    assert standing.notes == (f"commit:{oid} is on no branch any more",)


def test_what_supersedes_must_be_trusted_as_far(bench: Any) -> None:
    """An agent's yes must not silence what a person approved, and a person's yes silences an agent's."""
    old = accepted(bench)
    by_agent = bench.propose("Tests need Postgres 17.", supersedes=[old])
    review.accept(bench.clone, by_agent.id, bench.bot)
    assert {one.id: one.status for one in listed(bench).standings} == {old: "accepted", by_agent.id: "accepted"}
    review.accept(bench.clone, by_agent.id, bench.ada)
    assert {one.id: one.status for one in listed(bench).standings} == {old: "superseded", by_agent.id: "accepted"}
    revise.retire(bench.clone, by_agent.id, "no", bench.ada)
    assert {one.id: one.status for one in listed(bench).standings} == {old: "accepted", by_agent.id: "deprecated"}
    assert memory_state.outranks("T0", "T2") and memory_state.outranks("T2", "T2")
    assert not memory_state.outranks("T2", "T0")


def test_what_nobody_approved_supersedes_nothing_though_it_is_trusted_as_far(bench: Any) -> None:
    """A file that lies in the work tree would silence what an agent noted and somebody let in."""
    made = bench.propose()
    review.accept(bench.clone, made.id, bench.bot)
    bench.repo.write(PLACE, fact_text("one", supersedes=f"[{made.id}]"))
    found = {one.id: (one.status, one.trust) for one in listed(bench.again()).standings}
    assert found == {made.id: ("accepted", "T2"), "FCT-one": ("unreviewed", "T2")}


def test_what_was_retired_without_ever_being_approved_is_retired(bench: Any) -> None:
    """A person's no needs no yes before it; a word in the file is nobody's."""
    bench.repo.commit(PLACE, ONE)
    revise.retire(bench.again().clone, "FCT-one", "no", bench.ada)
    assert [(one.id, one.status) for one in listed(bench).retired] == [("FCT-one", "deprecated")]
    bench.repo.commit(f"{layout.MEMORY}/facts/two.md", fact_text("two", status="deprecated"))
    assert [one.id for one in listed(bench.again()).unreviewed] == ["FCT-two"]


def test_a_text_that_is_edited_right_now_is_trusted_no_more_than_that(bench: Any) -> None:
    """A work tree is anybody's to write."""
    name = accepted(bench)
    publish(bench.clone, here=True)
    (sighting,) = bench.again().clone.entries()
    bench.repo.write(sighting.path, sighting.text.replace("16", "17"))
    (standing,) = listed(bench.again()).unreviewed
    assert listed(bench).clashes == ()
    assert (standing.id, standing.trust, standing.status, standing.notes) == (
        *(name, "T2"),
        *("unreviewed", ("edited by hand",)),
    )


# ── what a person approved ────────────────────────────────────────────────────


def test_what_a_person_approved_last_is_known_as_long_as_git_has_it(bench: Any) -> None:
    """A reviewer of an edit wants to see what it was."""
    name = accepted(bench)
    publish(bench.clone, here=True)
    (first,) = bench.again().clone.entries()
    assert memory_state.approved_text(bench.clone, name, first.path) == first.text
    assert memory_state.approved_text(bench.clone, "FCT-other", first.path) is None
    assert memory_state.approved(bench.clone, {name, "FCT-other"}) == {name}
    bench.clock.pass_by(seconds=5)
    revise.edit(bench.clone, name, {"statement": "Tests need Postgres 17."}, bench.ada)
    publish(bench.clone, here=True)
    assert "Postgres 17" in str(memory_state.approved_text(bench.again().clone, name, first.path))
    revise.retire(bench.clone, name, "gone", bench.ada)
    assert memory_state.approved_text(bench.again().clone, name, first.path) is None
    assert memory_state.approved(bench.clone, {name}) == set()


def test_of_one_entry_among_several_the_approved_text_is_found_in_history(bench: Any) -> None:
    """Git knows whole files only."""
    two = TWO.replace("evidence: []", f"evidence: [commit:{bench.repo.git('rev-parse', 'HEAD')}]")
    bench.repo.write(PLACE, f"{ONE}\n{two}")
    review.accept(bench.again().clone, "FCT-two", bench.ada)
    publish(bench.clone, here=True)
    bench.repo.commit(PLACE, f"{ONE}\n{two.replace('is so', 'is not so')}")
    assert memory_state.approved_text(bench.again().clone, "FCT-two", PLACE) == two
    assert memory_state.approved_text(bench.clone, "FCT-one", PLACE) is None


def test_an_agents_yes_is_not_what_a_person_approved(bench: Any) -> None:
    """The reviewer would be shown a difference to what nobody read."""
    made = bench.propose()
    review.accept(bench.clone, made.id, bench.bot)
    publish(bench.clone, here=True)
    (sighting,) = bench.again().clone.entries()
    assert memory_state.approved_text(bench.clone, made.id, sighting.path) is None
    assert memory_state.approved(bench.clone, {made.id}) == set()


def test_what_the_trusted_trunk_approved_counts_too(bench: Any) -> None:
    """Its people read it; here nobody did yet."""
    name = accepted(bench)
    publish(bench.clone, here=True)
    (sighting,) = bench.again().clone.entries()
    bench.repo.git("remote", "add", "origin", "https://git.example/team.git")
    bench.repo.git("update-ref", "refs/remotes/origin/main", "HEAD")
    revise.retire(bench.clone, name, "gone", bench.ada)
    assert memory_state.approved(bench.again().clone, {name}) == set()
    upstream.trust(bench.clone, by="Ada")
    assert memory_state.approved(bench.again().clone, {name}) == {name}
    assert memory_state.approved_text(bench.clone, name, sighting.path) == sighting.text


# ── what others erased ────────────────────────────────────────────────────────


def test_what_another_clone_erased_and_this_one_holds_is_named(bench: Any) -> None:
    """It is hidden, but it lies on the disk: who erases a secret must be able to rely on everybody's help."""
    assert memory_state.erased_elsewhere(bench.clone) == []
    clone, folder = bench.clone, f"{layout.MEMORY}/facts"
    bench.repo.commit(f"{folder}/x-FCT-tree.md", ONE)
    bench.repo.commit(f"{folder}/x-FCT-taken.md", TWO)
    bench.repo.git("rm", "-q", f"{folder}/x-FCT-taken.md")
    bench.repo.git("commit", "-qm", "away")
    clone.change(f"{folder}/x-FCT-waits.md", THREE)
    clone.change(f"{folder}/x-FCT-goes.md", None)
    candidate = bench.propose("The ferry is late.")
    Path(clone.layout.run("r-folder")).mkdir(parents=True)
    by_hash = clone.record(EventDraft("run", target="r-1", run_id="r-1", body={"task": "t"})).hash_self
    clone.record(EventDraft("run", target="other", run_id="r-named", body={"task": "t"}))
    clone.record(EventDraft("propose", target="FCT-said", body={"statement": "x"}))
    gone = clone.record(EventDraft("propose", target="FCT-gone", body={"statement": "y"}))
    Path(clone.layout.body(str(gone.body))).unlink()
    clone.record(EventDraft("propose", target="FCT-bare"))
    held = {"FCT-tree", "FCT-waits", candidate.id, "r-folder", by_hash, "r-named", "FCT-said"}
    for target in (*held, "FCT-taken", "FCT-goes", "FCT-gone", "FCT-bare", "FCT-unknown"):
        clone.record(EventDraft("erase", target=target, body={"why": "x"}))
    publish(clone, here=True)
    bench.again().clone.change(f"{folder}/x-FCT-waits.md", THREE)
    assert memory_state.erased_elsewhere(bench.clone) == sorted(held)
    Path(clone.layout.erased).mkdir(exist_ok=True)
    Path(clone.layout.erased, "FCT-said").touch()
    assert memory_state.erased_elsewhere(bench.again().clone) == sorted(held - {"FCT-said"})


def test_what_a_person_approved_and_another_clone_erased_is_said_once(bench: Any) -> None:
    """A stranger's erase would hide a rule, and nobody would know that there was one."""
    name = accepted(bench)
    bench.clone.record(EventDraft("erase", target=name))
    publish(bench.clone, here=True)
    bench.again()
    for _ in range(2):
        assert listed(bench).standings == ()
    said = [note for note in bench.clone.notes if name in note]
    hidden = f"{name}, which was approved here, is hidden: another clone erased it"
    assert said == [f"{hidden}; to delete it here, too: holdfast erase {name}"]
