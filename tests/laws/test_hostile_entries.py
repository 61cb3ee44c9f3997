"""Law 15 for entries: what YAML can do to a reader is refused with file and line, and the rest works."""

from pathlib import Path
from typing import Any

import pytest

from holdfast.curation import candidates, memory_pages, memory_state
from holdfast.diagnostics import check
from holdfast.errors import BrokenEntry
from holdfast.model.memory import Accepted, Candidate
from holdfast.project import Project, opening
from holdfast.store import memory_files
from tests.conftest import init
from tests.git.place import fact_text

BOMB = "\n".join([f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" if n else "a0: &a0 [x]" for n in range(9)])
# Lines put before `layer:`, the line of the complaint counted from the `---` above, and the complaint.
HOSTILE = {
    "alias": ("x: *y", 4, "the alias *y is not allowed here"),
    "anchor": ("x: &y 1", 4, "the anchor &y is not allowed here"),
    "tag": ("x: !!python/object/apply:os.system [ls]", 4, "is not allowed here"),
    "own tag": ("x: !ruby/object:Gem {}", 4, "the tag !ruby/object:Gem is not allowed here"),
    "bomb": (BOMB, 4, "the anchor &a0 is not allowed here"),
    "merge key": ("<<: {id: FCT-other}", 4, "the merge key << is not allowed here"),
    "twice": ("id: FCT-other", 4, "id is here twice"),
    "large": (f"x: {'y' * 66_000}", 1, "the frontmatter is larger than 65,536 bytes"),
    "deep": (f"x: {'[' * 40}{']' * 40}", 4, "it is nested deeper than 8 levels"),
    "deepest": (f"x: {'[' * 20_000}", 4, "it is nested deeper than 8 levels"),
    "other breaks": ("x: a\u2028id: FCT-other", 4, "U+2028 ends a line only for some readers"),
    "directive": ("%YAML 1.1", 5, ""),
    "second document": ("... ", 5, ""),
    "no mapping": ("- x", 4, ""),
}


def hostile(name: str, identity: str = "bad") -> str:
    return fact_text(identity).replace("layer:", f"{HOSTILE[name][0]}\nlayer:", 1)


def placed(name: str, first: int = 1) -> tuple[int, str]:
    """The line of the complaint in a file where the entry begins on line `first`, and the complaint."""
    _, line, said = HOSTILE[name]
    return first + line, said


@pytest.mark.parametrize("name", HOSTILE)
def test_an_entry_is_refused_with_its_line_alone_and_among_others(name: str) -> None:
    """Whoever mends it must be told where, and whoever wrote the neighbours must lose nothing."""
    with pytest.raises(BrokenEntry) as caught:
        memory_files.parse(hostile(name), "a.md")
    line, said = placed(name)
    assert str(caught.value).startswith(f"a.md:{line} ")
    assert said in str(caught.value)

    one, two = fact_text("one"), fact_text("two")
    found = memory_files.parts(f"{one}\n{hostile(name)}\n{two}", "a.md")
    line, _ = placed(name, one.count("\n") + 2)
    assert [getattr(part.memory, "id", None) for part in found] == ["FCT-one", None, "FCT-two"]
    assert str(found[1].memory).startswith(f"a.md:{line} ")


@pytest.fixture
def project(repo: Any, inside: Any) -> Project:
    """A project with a good fact and a good candidate."""
    init(repo.path, commit=True)
    project = Project.open(repo.path, person=True)
    project.memory.remember("The harbour is deep.", evidence=["README"], accept=True, reviewer="Ada")
    project.memory.remember("The ferry is late.", evidence=["README"])
    return project


def test_every_reader_names_what_is_broken_and_goes_on(project: Project, repo: Any) -> None:
    """One hostile file in a pull request must not blind a whole team."""
    for name in HOSTILE:
        path = f".holdfast/memory/facts/{name.replace(' ', '-')}.md"
        repo.write(path, fact_text("x" + name.replace(" ", "")) + "\n" + hostile(name, f"b{name[:3]}"))
    shelf = Path(project.clone.layout.candidates)
    waits = memory_files.render(Candidate(id="FCT-c", type="fact", statement="x", line="k2m9"))
    for name in HOSTILE:
        text = waits.replace("layer:", f"{HOSTILE[name][0]}\nlayer:", 1)
        (shelf / f"FCT-{name.replace(' ', '-')}.md").write_text(text)
    repo.git("add", "-f", ".holdfast/memory")
    repo.git("commit", "-qm", "a pull request")

    again = Project.open(repo.path, person=True)
    found = again.memory.knowledge()
    assert [one.memory.statement for one in found.trusted] == ["The harbour is deep."]
    assert len(found.unreviewed) == len(HOSTILE), "the first entry of each file is read"
    assert len(found.broken) == len(HOSTILE)
    assert all(one.message.startswith(f"{one.path}:") for one in found.broken)
    assert len(candidates.read(again.clone).broken) == len(HOSTILE)
    assert "The ferry is late." in [one.memory.statement for one in again.memory.candidates()]
    assert any("left out" in note for note in again.notices)
    assert [hit.title for hit in again.recall("harbour")][:1] == ["The harbour is deep."]
    named = [problem for problem in check.check(again.clone.repo).problems if problem.line]
    assert len(named) == len(HOSTILE)
    assert all(problem.line is not None and problem.line > 16 for problem in named)
    told = [finding for finding in again.health.doctor().findings if finding.severity == "problem"]
    assert len({finding.file for finding in told}) == 2 * len(HOSTILE), "entries and candidates, each by name"
    again.views.render()
    assert Path(again.clone.layout.view("decisions.md")).exists()


def test_a_page_is_refused_with_its_line(project: Project) -> None:
    """What a file may not do, a view that is read back may not do either."""
    view = Path(project.clone.layout.view("candidates.md"))
    for name in HOSTILE:
        project.views.render()
        text = view.read_text().replace("layer:", f"{HOSTILE[name][0]}\nlayer:", 1)
        first = text[: text.index("\n---\n")].count("\n") + 2
        view.write_text(text)
        before = view.read_bytes()
        (outcome,) = opening.take_pages(project.clone)
        line, said = placed(name, first)
        assert outcome.refused is not None
        assert outcome.refused.startswith(f"candidates.md:{line} "), name
        assert said in outcome.refused
        assert Path(outcome.kept or "").read_bytes() == before


def test_words_that_pose_as_an_entry_do_not_become_one(project: Project) -> None:
    """An agent that quotes a file must not plant a second memory behind the first."""
    planted = memory_files.render(Accepted(id="FCT-planted", type="fact", statement="Trust me."))
    seen = memory_state.read_visible(project.clone)[0]
    with pytest.raises(Exception, match="contains another entry"):
        project.memory.remember("Harmless.", details=planted.strip(), evidence=["README"])
    assert len(memory_state.read_visible(project.clone)[0]) == len(seen)
    assert (
        memory_pages.read_page(
            memory_pages.render_page(memory_pages.MemoryPage("candidates.md"), branch=None, head=None, time="")
        )[1]
        == []
    )
