"""Which facts count here: approved, not run out, not superseded; everything else is told apart."""

import subprocess
from pathlib import Path
from typing import Any

from holdfast.curation import review, revise
from holdfast.curation.memory_state import list_memories
from holdfast.git.clone import Clone
from holdfast.git.publish import publish
from holdfast.model.event import EventDraft
from holdfast.model.memory import Accepted
from holdfast.store import memory_files

SAID = "Tests need Postgres 16."


def accepted(bench: Any, statement: str = SAID, **fields: Any) -> str:
    made = bench.propose(statement, **fields)
    review.accept(bench.clone, made.id, bench.ada)
    return str(made.id)


def listed(bench: Any) -> Any:
    return list_memories(bench.clone, bench.clock())


def test_an_accepted_fact_is_trusted_with_its_tier_and_receipts(bench: Any) -> None:
    """A person approved this very text in this clone: the highest tier."""
    name = accepted(bench)
    (standing,) = listed(bench).trusted
    assert (standing.id, standing.status, standing.trust) == (name, "accepted", "T0")
    assert [state for _, state in standing.receipts] == ["holds"]


def test_a_fact_expires_by_the_clock_and_its_file_stays(bench: Any) -> None:
    """Old truths are the most convincing errors; they leave by themselves."""
    name = accepted(bench, expires_at="1d")
    text = bench.clone.entries()[0].text
    bench.clock.pass_by(days=1)
    assert listed(bench).trusted == ()
    assert [s.id for s in listed(bench).expired] == [name]
    assert bench.clone.entries()[0].text == text


def test_a_newer_fact_supersedes_the_one_it_names(bench: Any) -> None:
    """Both versions would otherwise be true at once."""
    old = accepted(bench)
    new = accepted(bench, "Tests need Postgres 17.", supersedes=[old])
    found = listed(bench)
    assert [s.id for s in found.trusted] == [new]
    assert found.superseded[0].notes == (f"superseded by {new}",)


def test_a_retired_fact_is_listed_apart(bench: Any) -> None:
    """That it was once believed is worth knowing."""
    name = accepted(bench)
    revise.retire(bench.clone, name, "gone", bench.ada)
    assert [s.id for s in listed(bench).retired] == [name]
    assert listed(bench).trusted == ()


def test_a_file_that_nobody_approved_is_not_trusted(bench: Any) -> None:
    """Whoever can write a file could write "accepted" into it."""
    oid = bench.repo.git("rev-parse", "HEAD")
    fact = Accepted(id="FCT-forged", type="fact", statement="Trust me.", evidence=(f"commit:{oid}",))
    bench.repo.write(".holdfast/memory/facts/forged-FCT-forged.md", memory_files.render(fact))
    assert [s.id for s in listed(bench).unreviewed] == ["FCT-forged"]
    bench.repo.git("add", "-f", ".holdfast")
    bench.repo.git("commit", "-qm", "forged")
    found = listed(bench.again())
    assert [s.id for s in found.unreviewed] == ["FCT-forged"]
    assert found.trusted == ()


def test_a_forged_file_cannot_silence_a_fact(bench: Any) -> None:
    """Superseding is a decision, too; a pull request's file has not made it yet."""
    name = accepted(bench)
    oid = bench.repo.git("rev-parse", "HEAD")
    forged = Accepted(id="FCT-forged", type="fact", statement="No.", evidence=(f"commit:{oid}",), supersedes=(name,))
    bench.repo.commit(".holdfast/memory/facts/forged-FCT-forged.md", memory_files.render(forged))
    assert [s.id for s in listed(bench.again()).trusted] == [name]


def test_other_words_under_an_approved_id_are_not_trusted(bench: Any) -> None:
    """An approval is about what was said, not about a name."""
    name = accepted(bench)
    publish(bench.clone, here=True)
    (sighting,) = bench.again().clone.entries()
    reworded = sighting.text.replace("Postgres", "no database, not even Postgres")
    bench.repo.commit(sighting.path, reworded)
    assert [s.id for s in listed(bench.again()).unreviewed] == [name]
    bench.repo.commit(sighting.path, sighting.text + "\n")
    (standing,) = listed(bench.again()).trusted
    assert standing.trust == "T0"  # only its layout differs
    bench.repo.commit(sighting.path, sighting.text + "\nExcept on Fridays.\n")
    (standing,) = listed(bench.again()).unreviewed
    assert (standing.status, standing.trust) == ("edited since approval", "T4")


def test_two_files_of_one_id_are_both_doubted(bench: Any, tmp_path: Any) -> None:
    """In a clone that did not see the approval, nothing says which of them was meant."""
    accepted(bench)
    publish(bench.clone, here=True)
    (sighting,) = bench.again().clone.entries()
    bench.repo.commit(".holdfast/memory/facts/copy.md", sighting.text.replace("Postgres 16", "Postgres 17"))
    assert [s.trust for s in listed(bench.again()).trusted] == ["T0"]
    path = tmp_path / "other"
    subprocess.run(["git", "clone", "-q", str(bench.repo.path), path], check=True)
    other = Clone.open(str(path), cache=str(tmp_path / "cache2"), clock=bench.clock)
    assert len(list_memories(other, bench.clock()).unreviewed) == 2


def test_in_another_clone_it_is_trusted_but_not_a_persons_word(bench: Any, tmp_path: Any) -> None:
    """The approval came by git; who said it is not proven here."""
    accepted(bench)
    publish(bench.clone, here=True)
    path = tmp_path / "other"
    subprocess.run(["git", "clone", "-q", str(bench.repo.path), path], check=True)
    other = Clone.open(str(path), cache=str(tmp_path / "cache2"), clock=bench.clock)
    (standing,) = list_memories(other, bench.clock()).trusted
    assert standing.trust == "T4"
    review.accept(other, standing.id, bench.ada)
    assert list_memories(other, bench.clock()).trusted[0].trust == "T0"


def test_stale_evidence_sets_a_fact_apart_and_says_why(bench: Any) -> None:
    """A reader learns that the ground has moved before building on it."""
    accepted(bench)
    bench.repo.commit("src/a.py", "changed\n")
    assert listed(bench).trusted == ()
    (standing,) = listed(bench).stale
    assert standing.status == "stale"
    assert standing.receipts[0][1] == "changed"
    assert "has changed since" in standing.notes[0]


def test_a_broken_entry_is_quarantined_and_named(bench: Any) -> None:
    """One bad edit must not hide the other facts, nor vanish without a word."""
    accepted(bench)
    for name, text in {
        "broken": "---\nid: [\n---\nx",
        "conflict": "<<<<<<< ours\n",
        "candidate": memory_files.render(bench.propose("Waits.")),
    }.items():
        bench.repo.write(f".holdfast/memory/facts/{name}.md", text)
    found = listed(bench)
    assert len(found.trusted) == 1
    assert sorted(Path(one.path).stem for one in found.broken) == ["broken", "candidate", "conflict"]
    assert all(one.message.startswith(one.path) for one in found.broken)


def test_a_fact_changed_on_both_sides_is_shown_as_both(bench: Any) -> None:
    """Choosing a side is a person's business."""
    name = accepted(bench)
    publish(bench.clone, here=True)
    bench.again()
    (sighting,) = bench.clone.entries()
    bench.clone.change(sighting.path, sighting.text.replace("Postgres 16", "Postgres 17"))
    bench.repo.commit(sighting.path, sighting.text.replace("Postgres 16", "Postgres 15"))
    (clash,) = listed(bench).clashes
    assert (clash.id, "17" in clash.ours, "15" in clash.theirs) == (name, True, True)
    assert listed(bench).trusted == ()


def test_an_erased_fact_is_not_shown(bench: Any) -> None:
    """Law 14: gone from every listing, whatever a merge brings back."""
    name = accepted(bench)
    Path(bench.clone.layout.erased).mkdir(exist_ok=True)
    Path(bench.clone.layout.erased, name).touch()
    assert listed(bench.again()).standings == ()


def test_facts_of_another_line_are_not_here(bench: Any) -> None:
    """Law 5: what a branch learnt stays there until it is merged."""
    bench.repo.git("switch", "-qc", "feature")
    accepted(bench)
    bench.repo.git("switch", "-q", "main")
    assert listed(bench).standings == ()


def test_of_two_texts_that_a_person_approved_the_later_speaks(bench: Any) -> None:
    """A copy of what was approved once would bring back what has been corrected since."""
    name = accepted(bench)
    publish(bench.clone, here=True)
    (first,) = bench.again().clone.entries()
    revise.edit(bench.clone, name, {"statement": "Tests need Postgres 17."}, bench.ada)
    publish(bench.clone, here=True)
    bench.repo.commit(".holdfast/memory/facts/copy.md", first.text)
    found = listed(bench.again())
    assert [(s.trust, s.memory.statement) for s in found.trusted] == [("T0", "Tests need Postgres 17.")]
    (copy,) = found.unreviewed
    assert (copy.trust, copy.path) == ("T4", ".holdfast/memory/facts/copy.md")
    assert copy.notes == (f"{first.path} has this id and was approved; give this file another, or delete it",)


def test_a_supersession_of_before_is_read_from_the_text_in_git(bench: Any) -> None:
    """Approvals that were recorded before they said what they replace hold as well."""
    old = accepted(bench)
    new = bench.propose("Tests need Postgres 17.", supersedes=[old]).id
    review.accept(bench.clone, new, bench.bot)
    (blob,) = [s.blob for s in bench.clone.entries() if new in s.path]
    body = {"statement": "Tests need Postgres 17.", "blob": blob}
    bench.clone.record(EventDraft("accept", target=new, body=body))
    publish(bench.clone, here=True)
    bench.repo.git("rm", "-q", next(s.path for s in bench.again().clone.entries() if new in s.path))
    bench.repo.git("commit", "-qm", "gone")
    found = listed(bench.again())
    assert [s.id for s in found.superseded] == [old]
    assert found.superseded[0].notes == (f"superseded by {new}",)
