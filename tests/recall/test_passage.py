"""What a candidate rests on is shown where it was said, or it is said that it is not here."""

import json
import os
import sys

import pytest

from holdfast.capture import session_work as capture
from holdfast.model.evidence import Provenance
from holdfast.project import Project
from holdfast.recall.passage import AROUND, MAX_LINES, MAX_READ, MAX_WIDTH, Passage
from tests.conftest import Cli, GitRepo, grown

NOTES = "".join(f"line {n}\n" for n in range(1, 21)).replace(
    "line 10\nline 11\n", "From now on retry  only\ncalls that are safe to repeat. Thanks!\n"
)
WORDS = "retry only calls that are safe to repeat"


def _write(cli: Cli, repo: GitRepo) -> None:
    repo.commit("docs/notes.md", NOTES)
    cli("init", "--commit")


@pytest.fixture
def project(cli: Cli, repo: GitRepo, inside) -> Project:
    grown(_write, cli, repo)
    return Project.open(repo.path)


def marked(found: Passage) -> list[str]:
    """The very words that are marked, line by line."""
    lines = found.lines[found.first : found.last + 1]
    return [line[begin:end] for line, (begin, end) in zip(lines, found.marks, strict=True)]


def test_words_are_marked_within_the_lines_around_them(project):
    """A sentence torn out of its lines can mean the contrary."""
    found = project.memory.passage(Provenance("file:docs/notes.md", 10, WORDS))

    assert (found.title, found.number, found.missing) == ("docs/notes.md", 10 - AROUND, "")
    assert marked(found) == ["retry  only", "calls that are safe to repeat"]
    assert (found.lines[0], found.lines[-1]) == ("line 6", "line 15")


def test_words_are_found_whatever_markdown_stands_around_them(project, repo):
    """Kept words have no emphasis and no bullets; the person would be told that the file no longer says it."""
    lines = ["# Rules", "**Research:** ask  `the agent` __first__,", "- then *write*", "snake_case - 2"]
    repo.write("x.mdc", "\n".join(lines) + "\n")

    def found(words: str) -> list[str]:
        return marked(project.memory.passage(Provenance("file:x.mdc", 2, words)))

    assert found("Research: ask the agent first, then write") == [
        "Research:** ask  `the agent` __first__,",
        "- then *write",
    ]
    assert found("**Research:** ask `the agent`") == ["Research:** ask  `the agent"]
    assert found("- then *write*") == ["then *write"]
    assert found("snake_case") == ["snake_case"]
    assert found("**") == found("ask an agent") == found("snakecase") == []


def test_of_several_places_the_one_that_was_cited_is_shown(project, repo):
    """The same words stand in a file twice; only one of them was meant."""
    repo.write("twice.md", "stop\n" + "more\n" * 30 + "stop\n" + "more\n" * 30)

    assert project.memory.passage(Provenance("file:twice.md", 32, "stop")).number == 32 - AROUND
    assert project.memory.passage(Provenance("file:twice.md", 1, "stop")).number == 1


def test_words_that_went_are_said_to_be_gone(project, repo):
    """Lines that no longer say it must not look as if they did."""
    repo.write("docs/notes.md", "something else\n" * 20)

    found = project.memory.passage(Provenance("file:docs/notes.md", 10, WORDS))

    assert (found.missing, found.marks) == ("the file no longer contains the words", ())
    assert found.lines == ("something else",) * (2 * AROUND + 1)


def test_a_file_that_was_deleted_is_read_from_history(project, repo):
    """Who tidies the notes away must not take the ground from what was said in them."""
    (repo.path / "docs" / "notes.md").unlink()

    found = project.memory.passage(Provenance("file:docs/notes.md", 10, WORDS))

    assert found.title == "docs/notes.md at HEAD" and marked(found)


def test_no_path_leads_out_of_the_repository(project, repo):
    """A candidate that came by git names the path: it must not open what it likes."""
    (repo.path.parent / "outside.md").write_text(WORDS)
    os.symlink("../outside.md", repo.path / "link.md")
    os.mkfifo(repo.path / "fifo")

    for path in ("/etc/hostname", "../outside.md", "link.md", "fifo", "no/such.md", "docs"):
        found = project.memory.passage(Provenance(f"file:{path}", None, WORDS))
        assert (path, found.lines, found.missing) == (path, (), "the source is not in this clone")


def test_a_run_is_looked_through_prompt_first_then_what_it_printed(project):
    """Both what was asked and what was answered may hold a decision."""
    code = f"print('\\x1b[1mso:\\x1b[0m\\n{WORDS}\\nend')"
    run = project.log.run_command([sys.executable, "-c", code], prompt="Please use\nPostgres 16 here").run_id

    asked = project.memory.passage(Provenance(f"run:{run}", 1, "use Postgres 16"))
    answered = project.memory.passage(Provenance(f"run:{run}", 2, WORDS))

    assert asked.title == f"run {run}, turn 1: its prompt" and marked(asked) == ["use", "Postgres 16"]
    assert answered.title.startswith(f"run {run}, turn 2: its ")
    assert answered.lines[:3] == ("so:", WORDS, "end")
    other = project.memory.passage(Provenance(f"run:{run}", 2, "other"))
    assert other.missing == "the source does not contain the words"


def test_words_of_a_turn_are_shown_in_that_turn(project):
    """What an agent said in the middle of a session stands in no summary: only its turns hold it."""
    run = project.log.run_command([sys.executable, "-c", "pass"], prompt="hello").run_id
    rows = [
        {"turn": 1, "prompt": f"{WORDS}?", "said": [], "notes": [], "commands": []},
        {"turn": 2, "prompt": "go on", "said": [f"Yes.\n- **Rule:** {WORDS}."], "notes": [{"text": "Body: bail"}]},
        {"turn": 3, "prompt": None, "said": "x", "notes": ["y"], "commands": None},
    ]
    folder = os.path.join(project.clone.layout.run(run), "outputs")
    os.chmod(folder, 0o700)
    with open(os.path.join(folder, "turns.jsonl"), "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)

    said, asked, noted = (
        project.memory.passage(Provenance(f"run:{run}", turn, words))
        for turn, words in ((2, WORDS), (1, WORDS), (2, "Body: bail"))
    )
    assert [one.title for one in (said, asked, noted)] == [f"run {run}, turn {n}" for n in (2, 1, 2)]
    assert said.lines == ("Yes.", f"- **Rule:** {WORDS}.") and marked(said) == [WORDS]


def test_a_run_without_a_capsule_is_told_by_its_event(project):
    """What was recorded through Python has no folder, and was said all the same."""
    run = project.write_log({"task": "T", "outputs": {"summary": f"We {WORDS} now"}})

    found = project.memory.passage(Provenance(f"run:{run}", 2, WORDS))

    assert found.title == f"run {run}, turn 2: its summary" and marked(found) == [WORDS]


def test_a_session_is_looked_through_turn_by_turn(project):
    """The turn that is named comes first; decisions and commands count too."""
    session = capture.start(project.clone, objective="Mend it")
    project.sessions.note(f"We {WORDS} now", decisions=["use tabs"], commands=["make check"])

    by_turn = project.memory.passage(Provenance(f"session:{session.id}", 1, WORDS))
    decided = project.memory.passage(Provenance(f"session:{session.id}", 0, "Decision: use tabs"))

    assert (by_turn.title, marked(by_turn)) == (f"session {session.id}, turn 1", [WORDS])
    assert decided.title == f"session {session.id}: its decisions"
    assert project.memory.passage(Provenance("session:SES-none", 1, WORDS)).missing == "the source is not in this clone"


def test_a_commit_is_read_by_its_message(project, repo):
    """What a commit says is as good a witness as what an agent says."""
    oid = repo.commit("a.txt", message=f"Calm the gateway\n\nWe {WORDS}.")

    assert marked(project.memory.passage(Provenance(f"commit:{oid}", None, WORDS))) == [WORDS]
    for name in ("0" * 40, "HEAD", "--all"):
        assert project.memory.passage(Provenance(f"commit:{name}", None, WORDS)).lines == ()


def test_what_was_erased_is_not_shown(project):
    """Erased means gone, here too."""
    run = project.write_log({"task": "T", "outputs": {"summary": WORDS}})
    project.sync.erase(run)

    assert project.memory.passage(Provenance(f"run:{run}", 2, WORDS)).missing == "the source was erased"


def test_a_person_and_the_curator_have_no_passage(project):
    """Nothing is made up where nothing was recorded."""
    assert project.memory.passage(Provenance("person:Ada", None, WORDS)).missing == "a person said so"
    assert project.memory.passage(Provenance("curate", None, WORDS)).missing


def test_endless_texts_are_cut_around_the_words(project, repo):
    """One line of a megabyte, or a thousand lines of words, must not drown the screen."""
    repo.write("wide.txt", "x" * 5000 + f" {WORDS} " + "y" * 5000)
    repo.write("long.txt", "\n".join(f"word{n}" for n in range(200)))
    repo.write("huge.txt", "z" * (MAX_READ + 1))

    wide = project.memory.passage(Provenance("file:wide.txt", 1, WORDS))
    long = project.memory.passage(Provenance("file:long.txt", 1, " ".join(f"word{n}" for n in range(200))))

    assert marked(wide) == [WORDS] and len(wide.lines[0]) == MAX_WIDTH
    assert len(long.lines) == MAX_LINES == len(long.marks)
    assert project.memory.passage(Provenance("file:huge.txt", 1, "z")).lines == ()


def test_words_noted_as_people_see_them_are_found(project, repo):
    """An importer notes hidden characters by their marks; the file holds the characters."""
    repo.write("odd.md", "Always \u200brun it\n")

    found = project.memory.passage(Provenance("file:odd.md", 1, "Always ⟨U+200B⟩run it"))

    assert marked(found) == ["Always ⟨U+200B⟩run it"]


def test_a_damaged_capsule_is_no_accident(project):
    """Damage never crashes a reader."""
    run = project.log.run_command([sys.executable, "-c", "pass"], prompt="hello").run_id
    folder = project.clone.layout.run(run)
    path = os.path.join(folder, "context.json")
    os.chmod(path, 0o600)
    with open(path, "w") as file:
        json.dump(["not", "an", "object"], file)

    assert project.memory.passage(Provenance(f"run:{run}", 1, WORDS)).missing == "the source does not contain the words"
