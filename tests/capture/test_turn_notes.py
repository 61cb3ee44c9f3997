"""What a turn says besides its prompt and its answers."""

import json

import pytest

from holdfast.capture.ingest.run_files import said_in_turn
from holdfast.capture.ingest.turn_notes import MOST, UndoneEdits, commit_message, turn_notes
from holdfast.model.transcript import Call, Result, TranscriptEdit, TranscriptStep, TranscriptTurn
from holdfast.model.utterance import Utterance


def notes(*calls: Call) -> list[tuple[str, str]]:
    turn = TranscriptTurn(key="t", prompt="Go.", steps=(TranscriptStep(id="s", calls=calls),))
    return [(note["of"], note["text"]) for note in turn_notes(turn)]


def call(
    name: str, *, result: str = "", kind: str = "other", failed: bool = False, refused: bool = False, **more: object
) -> Call:
    answered = Result(text=result, size=len(result), failed=failed or refused, refused=refused)
    return Call(id=name, name=name, kind=kind, result=answered, **more)  # type: ignore[arg-type]


def wrote(path: str, *lines: str, removed: tuple[str, ...] = (), failed: bool = False) -> Call:
    change = TranscriptEdit(path=path, added=lines, removed=removed)
    return call("Edit", kind="edit", edits=(change,), failed=failed)


def lessons(tries: tuple[tuple[str, int], ...], said: str, edits: tuple[TranscriptEdit, ...] = ()) -> list[str]:
    """The lessons of a turn that tried one command, said something, edited and tried another."""
    (first, status), (second, later) = tries
    ran = [
        Call(id=line, name="Bash", kind="shell", command=line, result=Result(exit_status=ended))
        for line, ended in ((first, status), (second, later))
    ]
    edited = (Call(id="e", name="Edit", kind="edit", edits=edits, result=Result()),) if edits else ()
    steps = TranscriptStep(id="1", calls=(ran[0],)), TranscriptStep(id="2", text=said, calls=(*edited, ran[1]))
    return [note["text"] for note in turn_notes(TranscriptTurn(key="t", steps=steps)) if note["of"] == "lesson"]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("git commit -m 'Read once'", "Read once"),
        ('git -C api commit -qm "Read once" -m "Because it is slow."', "Read once\n\nBecause it is slow."),
        ('git commit -m "Say \\"no\\""', 'Say "no"'),
        ("git commit -F - <<'EOF'\nRead once\n\nIt is slow.\nEOF", "Read once\n\nIt is slow."),
        (
            "git commit -m \"$(cat <<'EOF'\nRead once\n\nFixes #12\nCo-Authored-By: A <a@example.org>\nEOF\n)\"",
            "Read once",
        ),
        ("git log --grep commit", ""),
        ("echo -m 'no commit'", ""),
    ],
)
def test_a_commit_message_is_read_without_its_trailers(command: str, message: str) -> None:
    """A message with a body is the best that a session leaves behind."""
    assert commit_message(command) == message
    made = call("Bash", kind="shell", command=command)
    assert notes(made) == ([("commit", message)] if message else [])
    assert notes(call("Bash", kind="shell", command=command, failed=True)) == []


def test_a_message_is_read_where_the_line_failed_after_the_commit() -> None:
    """A push that is rejected does not take the commit back."""
    command = "git add -A && git commit -m 'Return two' -m 'One is too few.' && git push"
    output = "[main 834dfcf] Return two\n 1 file changed\nfatal: Could not read from remote repository."
    assert notes(call("Bash", kind="shell", command=command, result=output, failed=True)) == [
        ("commit", "Return two\n\nOne is too few.")
    ]
    for other in ("fatal: not a git repository", "[main 834dfcf] Merge branch 'next'"):
        assert notes(call("Bash", kind="shell", command=command, result=other, failed=True)) == []


def test_what_a_person_says_when_they_refuse_is_heard() -> None:
    """Nothing tells more about what they want."""
    said = "The user doesn't want to proceed with this tool use. The user said:\nNever delete the old table, rename it."
    assert notes(call("Bash", kind="shell", command="psql", result=said, refused=True)) == [
        ("refusal", "Never delete the old table, rename it.")
    ]
    assert notes(call("Bash", kind="shell", command="psql", result="The user said no", refused=True)) == []


def test_what_an_agent_says_between_a_failed_command_and_one_that_works_is_a_lesson() -> None:
    """It costs the next agent the same tries; but where code was edited between them, the code was at fault."""
    why = "The CLI rejects `/tmp`: results must lie below `results/`."
    tries = ("labels eval --out /tmp/x", 2), ("cd app && labels eval --out results/x", 0)
    assert lessons(tries, why) == [why]
    assert lessons((("labels eval", 2), ("printer eval", 0)), why) == [], "another program"
    assert lessons((("git push", 1), ("git push origin", 0)), why) == [], "a server's state passes"
    assert lessons(tries, why, edits=(TranscriptEdit(path="src/a.py", added=("x = 1",)),)) == []


def test_an_answer_stands_with_its_question() -> None:
    """`Yes` alone says nothing."""
    asked = call("AskUserQuestion", kind="ask", result='User answered: "Which database?"="Postgres 16"')
    assert notes(asked) == [("answer", "Which database? Postgres 16")]


def test_an_approved_plan_is_read_and_a_refused_one_is_not() -> None:
    """Only what a person let pass counts."""
    text = json.dumps({"plan": "# Plan\\n\\nWrite one log file."})
    assert notes(call("ExitPlanMode", text=text, result="User has approved your plan")) == [
        ("plan", "# Plan\\n\\nWrite one log file.")
    ]
    assert notes(call("ExitPlanMode", text=text, refused=True)) == []
    assert notes(call("ExitPlanMode", text="no JSON", result="ok")) == []


def test_comments_that_an_edit_adds_to_code_are_read() -> None:
    """They say why, where the next reader looks."""
    lines = (
        "def load():",
        "    # The project's file comes first: every clone must work alike.",
        "    # It may be missing.",
    )
    assert notes(wrote("src/a.py", *lines)) == [
        ("comment", "The project's file comes first: every clone must work alike. It may be missing.")
    ]
    assert notes(wrote("src/a.py", *lines, removed=lines)) == [], "it stood there before"
    assert notes(wrote("tests/test_a.py", *lines)) == [] and notes(wrote("notes.txt", *lines)) == []
    assert notes(wrote("src/a.py", *lines, failed=True)) == []


def test_a_comment_that_was_mended_is_read_as_a_whole() -> None:
    """Its new line alone begins in the middle of a sentence."""
    old = "# Parcels without a label are rejected at"
    lines = (old, "# the gate; labelled ones pass, since the carrier scans them.", "x = 1")
    whole = "Parcels without a label are rejected at the gate; labelled ones pass, since the carrier scans them."
    assert notes(wrote("src/a.py", *lines, removed=(old, "# the door."))) == [("comment", whole)]


def test_lines_of_a_comment_that_say_different_things_stay_apart() -> None:
    """Joined, they read as one sentence without sense, or end in the number of the next item."""
    lines = (
        "# Find the gate",
        "# This must work without a label",
        "#",
        "# 1. Skip what is open",
        "# 2. Close it",
        "x = 1",
    )
    whole = "Find the gate. This must work without a label\n\n1. Skip what is open\n\n2. Close it"
    assert notes(wrote("src/a.py", *lines)) == [("comment", whole)]


def test_a_commit_message_is_read_as_a_shell_reads_it() -> None:
    quoted = """git commit -m 'Print labels' -m 'Use the carrier'"'"'s own queue, and "no other".'"""
    assert commit_message(quoted) == 'Print labels\n\nUse the carrier\'s own queue, and "no other".'
    assert commit_message('git commit -am "half a quotation') == ""


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("python -m pytest && git commit -m 'Print labels'", "Print labels"),
        ("git tag -m 'a tag' v1 && git commit -mAttached", "Attached"),
        ("git commit -am'Print labels' && gh pr create -m 'another program'", "Print labels"),
        ("pip install -m x; git commit --amend --no-edit", ""),
        ("cat > judge.md <<'EOF'\nNever print.\nEOF\ngit add -A && git commit -m 'Add the judge'", "Add the judge"),
        ("git commit -F - <<EOF\nPrint labels\n\nOnce.\nEOF", "Print labels\n\nOnce."),
    ],
)
def test_only_what_git_commit_is_given_is_a_message(command: str, message: str) -> None:
    """What another program is given, or what is written into a file, says nothing about the commit."""
    assert commit_message(command) == message


def test_a_comment_without_a_subject_gets_the_name_of_what_it_stands_above() -> None:
    """Read alone, "Uses the printer's own queue" does not say who uses it."""
    below = ("# Uses the printer's own queue because the carrier loses labels.", "def print_labels(parcels):")
    assert notes(wrote("src/a.py", *below)) == [
        ("comment", "`print_labels` uses the printer's own queue because the carrier loses labels.")
    ]
    own = ("// printLabels uses the printer's own queue, since labels get lost.", "func (p *Printer) printLabels() {")
    assert notes(wrote("src/a.go", *own)) == [("comment", own[0][3:])], "it has a subject"
    alone = ("# Parcels are weighed before the carrier is asked.", "def ask(parcel):")
    assert notes(wrote("src/a.py", *alone)) == [("comment", alone[0][2:])]


@pytest.mark.parametrize(
    "path", ["CLAUDE.md", "AGENTS.md", "/home/x/.claude/projects/p/memory/shell.md", "docs/learnings.md"]
)
def test_what_an_agent_writes_into_its_own_memory_is_read(path: str) -> None:
    """It is distilled already."""
    assert notes(wrote(path, "Old rule.", "Run the tests with bun.", removed=("Old rule.",))) == [
        ("memory", "Run the tests with bun.")
    ]


def test_a_turn_gives_a_bounded_number_of_notes() -> None:
    """A hostile transcript must not fill the disk."""
    many = [call("Bash", kind="shell", command=f"git commit -m 'Step {n} of it'") for n in range(2 * MOST)]
    assert len(notes(*many)) == MOST
    assert len(notes(call("Bash", kind="shell", command=f"git commit -m '{'x' * 50_000}'"))) <= 1


def test_an_edit_that_is_taken_back_names_what_is_gone() -> None:
    """What an agent reports of its first edit is wrong after the second."""
    undone = UndoneEdits()
    there = wrote("src/fuse.rs", '  log::info!("rename");', removed=('  log::debug!("rename");',))
    back = wrote("src/fuse.rs", 'log::debug!("rename");', removed=('log::info!("rename");',))
    other = wrote("src/other.rs", 'log::debug!("rename");', removed=('log::info!("rename");',))
    turns = [
        TranscriptTurn(key="t", steps=(TranscriptStep(id="s", calls=(one,)),)) for one in (there, other, back, back)
    ]
    told = [[note["text"] for note in undone.notes(turn)] for turn in turns]
    assert told == [[], [], ["log::info!"], []]


def test_what_an_agent_says_right_before_its_last_edit_is_no_closing_report() -> None:
    """A turn can end with an edit: what was found before it is a fault, and was proposed as what came of the work."""
    edit = wrote("src/depot.py", "return len(depot)")
    finds = TranscriptStep(id="1", text="The vans are counted twice.", calls=(edit,))
    reports = TranscriptStep(id="2", text="Each van is counted once.")
    sources = [
        [one.source for one in said_in_turn(TranscriptTurn(key="t", steps=steps), 1) if isinstance(one, Utterance)]
        for steps in ((finds,), (finds, reports), (reports,))
    ]
    assert sources == [["said"], ["said", "closing"], ["closing"]]
