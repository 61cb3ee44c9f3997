"""Files of several entries: each stands, is approved, is edited and goes by itself."""

from pathlib import Path
from typing import Any

import pytest

from holdfast.curation import review
from holdfast.curation.decisions import Reviewer
from holdfast.git import erase, file_entries
from holdfast.git.approvals import EDITED
from holdfast.git.publish import publish
from holdfast.project import Project
from holdfast.store import memory_files
from tests.conftest import Cli, GitRepo, grown, init
from tests.git.place import fact_text

FILE = ".holdfast/memory/facts/ours.md"
WORDS = {"one": "The harbour is deep.", "two": "The lighthouse is violet.", "three": "The ferry is late."}


def text(**changed: str) -> str:
    """A file of three facts."""
    said = {**WORDS, **changed}
    return "\n".join(fact_text(name, words, evidence="[]") for name, words in said.items())


def _publish_three(cli: Cli, repo: GitRepo) -> None:
    cli("init", "--commit")
    oid = repo.git("rev-parse", "HEAD")
    repo.write(FILE, text().replace("evidence: []", f"evidence: [commit:{oid}]"))
    project = Project.open(repo.path, person=True)
    for name in WORDS:
        review.accept(project.clone, f"FCT-{name}", Reviewer("Ada", person=True))
    publish(project.clone, here=True)


@pytest.fixture
def project(cli: Cli, repo: GitRepo, inside: Any) -> Project:
    """Three facts in one file that somebody wrote by hand, all accepted and published."""
    grown(_publish_three, cli, repo)
    return Project.open(repo.path, person=True)


def standing(repo: Any) -> dict[str, tuple[str, str | None]]:
    found = Project.open(repo.path, person=True).memory.facts()
    return {one.id.removeprefix("FCT-"): (one.status, one.trust) for one in found.standings}


def test_each_entry_is_approved_found_and_shown_by_itself(project: Project, repo: Any) -> None:
    """Whoever keeps facts together must not find them worth less."""
    assert standing(repo) == dict.fromkeys(WORDS, ("accepted", "T0"))
    assert [hit.id for hit in project.recall("lighthouse")][:1] == ["FCT-two"]
    assert project.health.check().word == "ok"
    assert project.health.doctor().verdict == "ok"


def test_an_edit_of_a_neighbour_takes_no_approval_away(project: Project, repo: Any) -> None:
    """A word changed in one entry is no reason to doubt the others."""
    file = repo / FILE
    file.write_text(file.read_text().replace("violet", "green"))
    assert standing(repo) == {"one": ("accepted", "T0"), "three": ("accepted", "T0"), "two": ("unreviewed", "T2")}
    (note,) = [one.notes for one in project.memory.facts().unreviewed]
    assert note == ("edited by hand",)
    repo.git("commit", "-qam", "green")
    found = standing(repo)
    assert (found["one"], found["three"], found["two"][0]) == (*[("accepted", "T0")] * 2, EDITED)
    queue = Project.open(repo.path, person=True).memory.queue()
    (item,) = [one for one in queue.items if one.id == "FCT-two"]
    changed = [line for line in queue.look(item).diff if line[:1] in "+-" and line[1:2] not in "+-"]
    assert [("violet" in line, "green" in line) for line in changed] == [(True, False), (False, True)]
    assert [problem.sentence[:24] for problem in project.health.check(base="HEAD~1").problems] == [
        "FCT-two was changed, but"
    ]


def test_one_entry_is_retired_and_the_file_keeps_the_rest(project: Project, repo: Any) -> None:
    """One decision must not rewrite what nobody decided about."""
    before = (repo / FILE).read_text()
    project.memory.retire("FCT-two", reason="painted", reviewer="Ada")
    Project.open(repo.path, person=True).sync.publish(here=True)
    after = (repo / FILE).read_text()
    assert after == before.replace(
        "id: FCT-two\ntype: fact\nstatus: accepted\n", "id: FCT-two\ntype: fact\n#\nstatus: deprecated\n#\n"
    )
    assert standing(repo)["two"][0] == "deprecated"
    assert standing(repo)["three"] == ("accepted", "T0")


def test_one_broken_entry_is_named_with_its_line_and_the_rest_counts(project: Project, repo: Any) -> None:
    """A slip of the pen in one entry must neither hide nor take the others."""
    file = repo / FILE
    lines = file.read_text().split("\n")
    line = lines.index("id: FCT-two") + 1
    file.write_text(file.read_text().replace("id: FCT-two", "id: !!str FCT-two"))
    found = Project.open(repo.path).memory.facts()
    assert [one.id for one in found.trusted] == ["FCT-one", "FCT-three"]
    assert [one.message for one in found.broken] == [f"{FILE}:{line} the tag tag:yaml.org,2002:str is not allowed here"]


def test_an_erased_entry_leaves_its_file_and_its_neighbours_stay(project: Project, repo: Any, world: Path) -> None:
    """What must go, goes; what stands beside it was nobody's mistake."""
    (repo / FILE).write_text((repo / FILE).read_text().replace("The ferry", "Our ferry"))
    project = Project.open(repo.path, person=True)
    project.memory.accept("FCT-three", reviewer="Ada")  # a change of the whole file waits

    done = project.sync.erase("FCT-two")
    assert any(FILE in held for held in done.still_held)
    assert "two" not in standing(repo)
    repo.git("checkout", "-q", "--", FILE)
    Project.open(repo.path, person=True).sync.publish(here=True)

    assert [part.memory.id for part in memory_files.parts((repo / FILE).read_text(), FILE)] == ["FCT-one", "FCT-three"]
    assert standing(repo) == {"one": ("accepted", "T0"), "three": ("accepted", "T0")}
    for top in (repo / ".git/holdfast", repo / ".holdfast", world / ".cache"):
        for path in top.rglob("*"):
            assert not path.is_file() or b"lighthouse" not in path.read_bytes(), path
    assert Project.open(repo.path).health.doctor().verdict == "ok"


def test_an_entry_named_by_its_file_goes_with_the_name(repo: Any, inside: Any) -> None:
    """Even a path holds words of the text; the neighbours move to a name of their own."""
    init(repo.path, commit=True)
    path = ".holdfast/memory/facts/the-lighthouse-is-violet-FCT-two.md"
    repo.commit(path, text())
    erase.erase(Project.open(repo.path).clone, "memory", "FCT-two")
    seen = file_entries.placed(Project.open(repo.path).clone.repo, Project.open(repo.path).clone.entries())
    assert [one.parse().id for one in seen] == ["FCT-one", "FCT-three"]
    Project.open(repo.path).sync.publish(here=True)
    assert not (repo / path).exists()
    assert [file.name for file in (repo / ".holdfast/memory/facts").iterdir()] == ["the-harbour-is-deep-FCT-one.md"]


def test_what_a_merge_brings_back_inside_a_file_is_cut_out_again(project: Project, repo: Any) -> None:
    """An old branch must not resurrect what was erased, whatever file it hides in."""
    repo.git("branch", "old")
    project.sync.erase("FCT-two")
    Project.open(repo.path, person=True).sync.publish(here=True)
    repo.git("checkout", "-q", "old", "--", FILE)
    repo.git("commit", "-qm", "bring it back")
    again = Project.open(repo.path)
    assert any("deleted again" in note for note in again.notices)
    assert again.recall("lighthouse") == []
    again.sync.publish(here=True)
    assert "lighthouse" not in (repo / FILE).read_text()
