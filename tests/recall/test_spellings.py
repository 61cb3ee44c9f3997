"""One file, two Unicode spellings: a Mac may write ö as o and two dots where git has one sign."""

import unicodedata

import pytest

from holdfast import Project
from holdfast.recall import path_patterns
from tests.conftest import Cli, GitRepo

NFC, NFD = (unicodedata.normalize(form, "src/Größe/öffnen.py") for form in ("NFC", "NFD"))


@pytest.mark.parametrize(("tracked", "typed"), [(NFC, NFD), (NFD, NFC)], ids=["typed-apart", "tracked-apart"])
def test_either_spelling_names_the_file(repo: GitRepo, cli: Cli, tracked: str, typed: str) -> None:
    """What governs a file must not depend on the keyboard its name was typed on."""
    assert tracked != typed
    repo.commit(tracked, "def one():\n    return 1\n", "Add it")
    cli("init", "--commit")
    project = Project.open(repo.path, person=True)
    cited = project.memory.accept(project.memory.remember("One returns one.", evidence=[f"{typed}:2"]).id)
    assert cited.memory.evidence[0].startswith(f"lines:{tracked}:2-2@")
    assert project.memory.remember("It is a function.", evidence=[f"{typed}#one"]).memory.evidence
    rule = project.memory.remember("Never import it.", kind="invariant", applies_to=[typed])
    project.memory.accept(rule.id)
    plain = project.memory.remember("Never copy it.", kind="invariant", applies_to=[f"{typed.rsplit('/', 1)[0]}/*"])
    project.memory.accept(plain.id)

    for name in (tracked, typed):
        asked = Project.open(repo.path)
        context = asked.context(files=[name])
        told = "\n".join(str(line) for section in context.sections for line in section.lines)
        assert {one for one in (cited.id, rule.id, plain.id) if one in told} == {cited.id, rule.id, plain.id}
        assert [note for note in asked.clone.notes if "tracks nothing" in note] == []
        assert cited.id in repr(Project.open(repo.path).recall.why(f"{name}:2"))
    one, other = (
        [hit.id for hit in Project.open(repo.path).recall("returns", files=[name])] for name in (tracked, typed)
    )
    assert one == other
    assert (
        cli("recall", "returns", "--files", typed, "--json").out
        == cli("recall", "returns", "--files", tracked, "--json").out
    )
    assert Project.open(repo.path).tasks.add_link(typed, title="The file").target == tracked


def test_a_guard_holds_for_either_spelling() -> None:
    """The moment before an edit is the one that counts; the agent spells as it likes."""
    for place in (NFC, NFD, "src/*/öffnen.py", unicodedata.normalize("NFD", "src/Größe")):
        assert path_patterns.holds(place, NFC)
        assert path_patterns.holds(place, NFD)
    assert not path_patterns.holds(NFC, "src/Grosse/offnen.py")
