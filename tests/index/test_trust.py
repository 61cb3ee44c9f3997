"""What a hit says of a memory is what `facts` says of it: trust is computed, never read from the file."""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast.curation.memory_state import list_memories
from holdfast.git import upstream
from holdfast.git.clone import Clone
from holdfast.git.publish import publish
from holdfast.index import freshness
from holdfast.index.hit_text import EDITED, FOREIGN, PROMOTED
from holdfast.index.refresh import path_of, place_of
from holdfast.index.sqlite import drop_all
from holdfast.model.event import EventDraft
from holdfast.recall.search import recall
from holdfast.store import layout
from tests.conftest import GitRepo
from tests.index.conftest import approve, fact_text, keep_fact, open_clone

SAID = "The port is 5432."
PATH = layout.entry_path("fact", "fact", "FCT-port11")
WORDS = {"deprecated": "retired"}


def states(clone: Clone) -> dict[str | None, str | None]:
    """What hits say, once from the index as it is and once from a new one, and that `facts` agrees."""
    found = [{hit.path: hit.state for hit in recall(clone, "port", kind="fact")}]
    drop_all(os.path.dirname(path_of(clone)))
    found.append({hit.path: hit.state for hit in recall(clone, "port", kind="fact")})
    listed = list_memories(clone, datetime.now(UTC))
    said = {one.path: WORDS.get(one.status, one.status) for one in listed.standings}
    said |= {one.path: PROMOTED for one in listed.trusted if one.trust == "T2"}
    said |= {one.path: FOREIGN for one in listed.trusted if one.trust == "T4"}
    said |= {one.path: "in clash" for one in listed.clashes}
    assert found == [said, said]
    return found[0]


def blob_of(clone: Clone, text: str) -> str:
    return clone.repo.hash_blob(text.encode())


def kept(clone: Clone, identity: str = "FCT-port11", statement: str = SAID, **fields: str) -> str:
    """A fact that a person approved, the way `review accept` records it; gives its path."""
    path = keep_fact(clone, identity, statement, **fields)
    approve(clone, identity, statement, blob=blob_of(clone, fact_text(identity, statement, **fields)))
    return path


def cloned(source: os.PathLike[str], there: Path) -> Clone:
    """Another clone with a cache of its own."""
    subprocess.run(["git", "clone", "-q", os.fspath(source), there], check=True)
    return open_clone(there, f"{there}-cache")


def test_a_file_that_nobody_approved_is_unreviewed(clone: Clone, repo: GitRepo) -> None:
    """An agent takes an `accepted` for the team's word."""
    repo.write(PATH, fact_text("FCT-port11", SAID))
    assert states(clone) == {PATH: "unreviewed"}
    repo.git("add", "-f", PATH)
    repo.git("commit", "-q", "-m", "forged")
    assert states(clone) == {PATH: "unreviewed"}
    approve(clone, "FCT-port11", SAID, blob=blob_of(clone, fact_text("FCT-port11", SAID)))
    assert states(clone) == {PATH: "accepted"}


def test_an_edit_by_hand_is_unreviewed_until_it_is_approved(clone: Clone, repo: GitRepo) -> None:
    """An approval covers the words that were approved, not whatever stands there later."""
    kept(clone)
    publish(clone, here=True)
    assert states(clone) == {PATH: "accepted"}
    text = fact_text("FCT-port11", "The port is 6543.")
    repo.write(PATH, text)
    assert states(clone) == {PATH: "unreviewed"}
    repo.git("commit", "-qam", "edited")
    assert states(clone) == {PATH: EDITED}
    approve(clone, "FCT-port11", "The port is 6543.", blob=clone.repo.hash_blob(text.encode()))
    assert states(clone) == {PATH: "accepted"}
    repo.git("revert", "--no-edit", "HEAD")
    assert states(clone) == {PATH: "accepted"}  # that very text was approved before


def test_a_formatter_takes_nothing_away_but_an_added_word_does(clone: Clone, repo: GitRepo) -> None:
    """What was approved is what the entry says, all of it, and not how its file is laid out."""
    kept(clone)
    publish(clone, here=True)
    repo.write(PATH, fact_text("FCT-port11", "The port\nis 5432."))
    assert states(clone) == {PATH: "unreviewed"}  # by hand, and not committed
    repo.git("commit", "-qam", "formatted")
    assert states(clone) == {PATH: "accepted"}
    repo.commit(PATH, fact_text("FCT-port11", "The port\nis 5432.") + "\nRationale: nobody knows.\n")
    assert states(clone) == {PATH: EDITED}


def test_two_files_of_one_id_are_both_doubted(clone: Clone, repo: GitRepo) -> None:
    """Nothing says which of them was meant, unless the text itself was named."""
    path = keep_fact(clone, "FCT-port11", SAID)
    approve(clone, "FCT-port11", SAID)
    copy = PATH.replace("fact-", "copy-")
    repo.commit(copy, fact_text("FCT-port11", "The port is 80."))
    assert states(clone) == {path: "unreviewed", copy: "unreviewed"}
    blob = clone.repo.hash_blob(fact_text("FCT-port11", SAID).encode())
    approve(clone, "FCT-port11", SAID, blob=blob)
    assert states(clone) == {path: "accepted", copy: "unreviewed"}


def test_a_forged_file_supersedes_nothing(clone: Clone, repo: GitRepo) -> None:
    """Any file could silence a fact otherwise."""
    path = keep_fact(clone, "FCT-port11", SAID)
    approve(clone, "FCT-port11", SAID)
    forged = layout.entry_path("fact", "fact", "FCT-forged")
    repo.commit(forged, fact_text("FCT-forged", "There is no port.", supersedes="[FCT-port11]"))
    assert states(clone) == {path: PROMOTED, forged: "unreviewed"}


def test_a_retired_fact_is_called_so(clone: Clone) -> None:
    """One thing, one word: the commands say retired."""
    path = keep_fact(clone, "FCT-port11", SAID, status="deprecated")
    assert states(clone) == {path: "unreviewed"}  # a file may say anything
    clone.record(EventDraft("retire", target="FCT-port11", body={"statement": SAID}))
    assert states(clone) == {path: "retired"}


def test_a_fact_in_clash_is_not_called_accepted(clone: Clone, repo: GitRepo) -> None:
    """Which of both texts holds is a person's business."""
    keep_fact(clone, "FCT-port11", SAID)
    approve(clone, "FCT-port11", SAID)
    publish(clone, here=True)
    keep_fact(clone, "FCT-port11", "The port is 6543.")
    repo.commit(PATH, fact_text("FCT-port11", "The port is 80."))
    assert states(clone) == {PATH: "in clash"}


def test_this_clones_approvals_count_on_every_line(clone: Clone, repo: GitRepo) -> None:
    """Whoever approved a text here need not do so again where git carried only the file."""
    repo.git("switch", "-q", "-c", "topic")
    text = fact_text("FCT-port11", SAID)
    event = approve(clone, "FCT-port11", SAID, blob=clone.repo.hash_blob(text.encode()))
    repo.git("switch", "-q", "main")
    repo.commit(PATH, text)
    assert states(clone) == {PATH: "accepted"}
    body = Path(clone.layout.body(event.body or ""))
    kept = body.rename(body.with_name("kept"))
    repo.write(PATH, text + "\n")
    assert states(clone) == {PATH: "unreviewed"}
    kept.rename(body)
    repo.git("checkout", "-q", "--", PATH)
    assert states(clone) == {PATH: "accepted"}
    repo.git("switch", "-q", "topic")
    publish(clone, here=True)
    repo.git("switch", "-q", "main")
    assert states(clone) == {PATH: "accepted"}


@pytest.mark.parametrize("edit", ["none", "committed", "uncommitted"])
def test_another_clones_approval_counts_by_its_target(clone: Clone, repo: GitRepo, tmp_path: Path, edit: str) -> None:
    """Its words are private to the clone that approved; only a hand edit is known to be another text."""
    keep_fact(clone, "FCT-port11", SAID)
    approve(clone, "FCT-port11", SAID)
    publish(clone, here=True)
    if edit == "committed":
        repo.commit(PATH, fact_text("FCT-port11", "The port is 6543."))
    there = tmp_path / "other"
    other = cloned(repo, there)
    if edit == "uncommitted":
        (there / PATH).write_text(fact_text("FCT-port11", "The port is 6543."))
    assert states(other) == {PATH: "unreviewed" if edit == "uncommitted" else FOREIGN}


def test_a_foreign_approval_counts_only_on_its_branch(clone: Clone, repo: GitRepo, tmp_path: Path) -> None:
    """A branch that is not merged may not vouch for what stands on the trunk."""
    repo.git("switch", "-q", "-c", "topic")
    keep_fact(clone, "FCT-port11", SAID)
    approve(clone, "FCT-port11", SAID)
    publish(clone, here=True)
    repo.git("switch", "-q", "main")
    repo.commit(PATH, fact_text("FCT-port11", SAID))
    there = tmp_path / "other"
    other = cloned(repo, there)
    for branch, state in (("main", "unreviewed"), ("topic", FOREIGN), ("main", "unreviewed")):
        other.repo.run("checkout", "-q", branch, write=True)
        assert {hit.state for hit in recall(other, "port", kind="fact")} == {state}
    assert states(other) == {PATH: "unreviewed"}


def test_a_trusted_trunk_speaks_and_is_followed(clone: Clone, repo: GitRepo, tmp_path: Path) -> None:
    """A fetch, another address or a changed mind must show in the next answer, not some day."""
    path = kept(clone)
    publish(clone, here=True)
    other = cloned(repo, tmp_path / "other")
    assert states(other) == {path: FOREIGN}
    upstream.trust(other, by="Ada")
    assert states(other) == {path: "accepted"}
    kept(clone, "FCT-port22", "The port of tests is 1.", supersedes="[FCT-port11]")
    publish(clone, here=True)
    newer = layout.entry_path("fact", "fact", "FCT-port22")
    other.repo.run("fetch", "-q", write=True)
    other.repo.run("merge", "-q", "--ff-only", "origin/main", write=True)
    assert states(other) == {path: "superseded", newer: "accepted"}
    other.repo.run("remote", "set-url", "origin", os.fspath(tmp_path / "elsewhere"), write=True)
    assert states(other) == {path: "superseded", newer: FOREIGN}
    other.repo.run("remote", "set-url", "origin", os.fspath(repo), write=True)
    assert states(other) == {path: "superseded", newer: "accepted"}
    upstream.revoke(other)
    assert states(other)[newer] == FOREIGN


def test_a_branch_of_a_trusted_upstream_does_not_speak(clone: Clone, repo: GitRepo, tmp_path: Path) -> None:
    """Whoever may push a branch is not whoever may merge it."""
    repo.git("switch", "-qc", "topic")
    path = kept(clone)
    publish(clone, here=True)
    repo.git("switch", "-q", "main")
    other = cloned(repo, tmp_path / "other")
    upstream.trust(other, by="Ada")
    other.repo.run("checkout", "-q", "topic", write=True)
    assert states(other) == {path: FOREIGN}
    repo.git("merge", "-q", "--ff-only", "topic")
    other.repo.run("fetch", "-q", write=True)
    assert states(other) == {path: "accepted"}


def test_what_comes_by_git_supersedes_nothing_that_a_person_approved(
    clone: Clone, repo: GitRepo, tmp_path: Path
) -> None:
    """A pull request with an entry and an approval of its own could silence any decision otherwise."""
    path = kept(clone)
    publish(clone, here=True)
    attacker = cloned(repo, tmp_path / "attacker")
    newer = kept(attacker, "FCT-port66", "There is no port.", supersedes="[FCT-port11]")
    publish(attacker, here=True)
    repo.git("pull", "-q", os.fspath(tmp_path / "attacker"), "main")
    assert states(clone) == {path: "accepted", newer: FOREIGN}
    text = fact_text("FCT-port66", "There is no port.", supersedes="[FCT-port11]")
    approve(clone, "FCT-port66", "There is no port.", blob=blob_of(clone, text))
    assert states(clone) == {path: "superseded", newer: "accepted"}


def test_a_retirement_undoes_an_approval_on_every_line(clone: Clone, repo: GitRepo) -> None:
    """A branch that still has the old text must not go on saying it as a person's word."""
    path = kept(clone)
    publish(clone, here=True)
    text = fact_text("FCT-port11", SAID)
    repo.git("switch", "-qc", "topic")
    clone.record(EventDraft("retire", target="FCT-port11", body={"statement": SAID}))
    repo.git("switch", "-q", "main")
    assert states(clone) == {path: PROMOTED}
    (standing,) = list_memories(clone, datetime.now(UTC)).trusted
    assert standing.trust == "T2"
    approve(clone, "FCT-port11", SAID, blob=blob_of(clone, text))
    (standing,) = list_memories(clone, datetime.now(UTC)).trusted
    assert standing.trust == "T0"


def test_the_quick_path_notices_trust_and_where_its_trunk_stands(clone: Clone, repo: GitRepo, tmp_path: Path) -> None:
    """An answer kept from before would go on as if nothing were trusted, or as if it still were."""
    other = cloned(repo, tmp_path / "other")
    seen = set()

    def look() -> int:
        found = freshness.signature(place_of(other), other.private)
        assert found is not None
        seen.add((found.memory, found.work, found.value))
        return len(seen)

    assert (look(), look()) == (1, 1)
    upstream.trust(other, by="Ada")
    assert look() == 2
    repo.commit("more.txt")
    other.repo.run("fetch", "-q", write=True)
    assert look() == 3
    other.repo.run("remote", "set-head", "origin", "--delete", write=True)
    assert look() == 4
    upstream.revoke(other)
    assert look() == 5


def test_a_memory_whose_ground_moved_is_stale_until_it_is_back(clone: Clone, repo: GitRepo) -> None:
    """Who asks is told that prices are whole cents long after the code was changed to floats."""
    repo.write("shop.py", "PORT = 5432\n")
    repo.git("add", "shop.py")
    repo.git("commit", "-q", "-m", "port")
    blob = repo.git("rev-parse", "HEAD:shop.py").strip()
    path = kept(clone, evidence=f'["file:shop.py@{blob}"]')
    assert states(clone) == {path: "accepted"}
    repo.write("shop.py", "PORT = 6543\n")
    assert states(clone) == {path: "accepted"}  # HEAD has it still
    repo.git("commit", "-qam", "another port")
    assert states(clone) == {path: "stale"}
    repo.write("shop.py", "PORT = 5432\n")
    repo.git("commit", "-qam", "the port again")
    assert states(clone) == {path: "accepted"}


def test_what_does_not_hold_stands_below_what_says_the_same(clone: Clone, repo: GitRepo) -> None:
    """The first hit is what gets believed."""
    repo.write("shop.py", "PORT = 5432\n")
    repo.git("add", "shop.py")
    repo.git("commit", "-q", "-m", "port")
    blob = repo.git("rev-parse", "HEAD:shop.py").strip()
    kept(clone, "FCT-aaaa11", "The port of the shop is 5432.", evidence=f'["file:shop.py@{blob}"]')
    kept(clone, "FCT-bbbb11", "The port of the old shop is 5432, says everybody who works on it.")
    kept(clone, "FCT-cccc11", "The port of the shop is 5432.", expires_at="2020-01-01T00:00:00Z")
    repo.git("rm", "-q", "shop.py")
    repo.git("commit", "-q", "-m", "no shop")
    found = recall(clone, "port of the shop", kind="fact")
    assert found[0].id == "FCT-bbbb11"
    assert {hit.state for hit in found[1:]} == {"stale", "expired"}


def test_what_is_not_committed_does_not_decide_whether_a_memory_is_stale(clone: Clone, repo: GitRepo) -> None:
    """It may be gone the next moment, and no index would notice: one made anew would say something else."""
    repo.write("shop.py", "PORT = 5432\n")
    repo.git("add", "shop.py")
    repo.git("commit", "-q", "-m", "port")
    path = kept(clone, evidence=f'["file:shop.py@{repo.git("rev-parse", "HEAD:shop.py").strip()}"]')
    repo.write("shop.py", "PORT = 6543\n")
    repo.git("commit", "-qam", "another port")
    repo.write("shop.py", "PORT = 5432\n")
    dirty = {hit.path: hit.state for hit in recall(clone, "port", kind="fact")}
    repo.git("checkout", "-q", "shop.py")
    clean = {hit.path: hit.state for hit in recall(clone, "port", kind="fact")}
    assert dirty == clean == states(clone) == {path: "stale"}
