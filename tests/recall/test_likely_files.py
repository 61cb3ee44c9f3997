"""The files that a task's words are about: what the past and the code say, and what a context makes of it."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from holdfast.index.corpus import update as repository
from holdfast.index.corpus.likely_files import LEAST, likely_files
from holdfast.project import Project
from holdfast.recall.applicable_memories import LIKELY, MOST_LIKELY, KnownMemory, WorkAtHand, applicable, spellings
from tests.conftest import Cli, GitRepo

CODE = {
    "src/lexer.py": "def tokens(text):\n    cursor = 0\n    return text[cursor:]\n",
    "src/invoice.py": "def total(rows):\n    amount = sum(rows)\n    return amount\n",
    "src/mailer.py": "def deliver(letter):\n    envelope = letter\n    return envelope\n",
}
PAST = {
    "src/lexer.py": ("Unterminated quotes end the scan", "Quotes may span lines", "Report where quotes begin"),
    "src/invoice.py": ("Round VAT half up", "VAT of refunds is negative", "Show VAT beside the price"),
    "src/mailer.py": ("Retry bounced letters", "Bounced letters are logged", "Letters carry a date"),
}


@pytest.fixture
def project(cli: Cli, repo: GitRepo) -> Project:
    """Three files, each with a past in words that its code does not hold."""
    for path, text in CODE.items():
        repo.commit(path, text, message="Begin")
        for number, subject in enumerate(PAST[path]):
            repo.commit(path, f"{text}# {number}\n", message=subject)
    cli("init")
    made = Project.open(repo, person=True)
    for said, cited in (("Input is never copied", "src/lexer.py#tokens"), ("Sums are exact", "src/invoice.py#total")):
        made.memory.remember(said, kind="invariant", accept=True, reviewer="ada", evidence=[f"symbol:{cited}"])
    return made


def told(project: Project, words: str) -> dict[str, str]:
    """The statements of the invariants in a context, and why they stand there."""
    lines = [line.text for part in project.context(words).sections if part.name == "invariants" for line in part.lines]
    return {line.split(" ", 2)[2].partition(" [")[0]: line.rpartition("[")[2].rstrip("]") for line in lines}


def test_what_similar_commits_changed_brings_the_memories_of_these_files(project: Project) -> None:
    """Nobody who writes down a rule knows the words of the tasks that it will matter for."""
    asked = "Quotes that span lines are lost"
    assert told(project, asked) == {}, "without an index of the past nothing says which file is meant"
    project.recall.build_index()
    assert told(project, asked) == {"Input is never copied": "likely src/lexer.py"}
    assert told(project, "VAT of refunds") == {"Sums are exact": "likely src/invoice.py"}
    assert told(project, "Bounced letters") == {}, "its file is known, and no memory is about it"
    assert told(project, "Translate everything into Finnish") == {}


def test_a_file_that_was_moved_keeps_its_past(project: Project, repo: GitRepo) -> None:
    """Folders are renamed; what was learnt about their files must not be lost with the old name."""
    repo.git("mv", "src", "lib")
    repo.git("commit", "-q", "-m", "Rename the folder")
    repo.git("mv", "lib", "py")
    (Path(repo.path) / "code").mkdir()
    repo.git("mv", "py", "code/src")
    repo.git("commit", "-q", "-m", "Rename it again")
    project.recall.build_index()
    corpus = repository.path_of(project.clone)
    words = spellings("Quotes that span lines are lost")
    moved = likely_files(corpus, words, {"code/src/lexer.py", "code/src/invoice.py"})
    assert moved is not None and max(moved, key=lambda path: moved[path]) == "code/src/lexer.py"
    assert moved["code/src/lexer.py"] >= LIKELY and moved.get("code/src/invoice.py", 0.0) < LIKELY
    unasked = likely_files(corpus, words, ())
    assert unasked is not None and "code/src/lexer.py" not in unasked


@pytest.mark.parametrize("said", ['"', "NEAR( OR", "* ^ :", "12345", "", "中文 текст", "a" * 5000])
def test_no_words_can_break_the_question(project: Project, said: str) -> None:
    """Tasks are pasted from anywhere."""
    project.recall.build_index()
    found = likely_files(repository.path_of(project.clone), [*said.split(), *spellings(said)], ())
    assert found is not None and all(LEAST <= chance < 1 for chance in found.values())


def test_a_damaged_or_missing_index_costs_the_files_alone(project: Project, tmp_path: Path) -> None:
    """A context must come, whatever became of a cache; and it must leave the file to whoever mends it."""
    corpus = tmp_path / "corpus#1?.db"
    assert likely_files(str(corpus), ["quotes"], ()) is None and not corpus.exists()
    corpus.write_bytes(b"not a database" * 100)
    assert likely_files(str(corpus), ["quotes"], ()) is None
    assert corpus.read_bytes() == b"not a database" * 100
    corpus.unlink()
    sqlite3.connect(corpus).close()
    assert likely_files(str(corpus), ["quotes"], ()) is None, "without our tables it is not ours"


def known(name: str, statement: str = "It is so", **fields: Any) -> KnownMemory:
    return KnownMemory(**{"id": name, "type": "decision", "statement": statement, **fields})


def test_what_is_about_a_likely_file_is_shown_the_best_fitting_of_the_likeliest_first() -> None:
    """Where a file has more memories than a context can take, those about the function at hand must be among them."""
    many = [known(f"DEC-{n:02}", f"Thing{n} holds", cites=("src/a.py",)) for n in range(20)]
    others = [known("DEC-b", cites=("src/b.py",)), known("DEC-c", applies_to=("src/c/",)), known("DEC-d", cites=("d",))]
    likely = {"src/a.py": 0.6, "src/b.py": 0.9, "src/c/x.py": 0.5, "d": LIKELY - 0.01}
    found = applicable([*many, *others], WorkAtHand(words="thing13 is slow", likely=likely))
    assert [one.known.id for one in found][:2] == ["DEC-13", "DEC-00"]
    assert len(found) == MOST_LIKELY and "DEC-b" in {one.known.id for one in found}
    few = {one.known.id: one.why for one in applicable(others, WorkAtHand(words="it", likely=likely))}
    assert few == {"DEC-b": "likely src/b.py", "DEC-c": "likely src/c/"}


def test_words_alone_do_not_bring_what_is_about_files_that_are_hardly_meant() -> None:
    """A shared word in the memory of another file is chance, once it is known what the task is about."""
    memories = [known(f"DEC-{n}", f"The server does thing{n}", cites=(f"src/{n}.py",)) for n in range(30)]
    memories.append(known("DEC-30", "The server does thing7 at night"))
    asked = "server thing7"

    def shown(likely: dict[str, float] | None) -> set[str]:
        return {one.known.id for one in applicable(memories, WorkAtHand(words=asked, likely=likely))}

    both = shown(None)
    assert "DEC-7" in both and "DEC-30" in both
    assert shown({"src/7.py": LEAST}) == both
    assert shown({}) == both - {"DEC-7"}, "what cites nothing can be found by words only"
