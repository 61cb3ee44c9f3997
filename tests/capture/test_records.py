"""Records and notes that others wrote: what they say is found, and nothing else comes along."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.capture.records import adr, knowledge_files, madr_export, markdown_pieces, notes
from holdfast.capture.records.adr import NotARecord
from holdfast.capture.records.knowledge_files import KnowledgeText, SkippedKnowledge
from holdfast.capture.records.madr_export import MadrDecision
from holdfast.capture.records.notes import NotNotes
from holdfast.capture.wiring import block
from holdfast.capture.wiring import block as wiring_block

GOLDEN = Path(__file__).parent.parent / "golden" / "blocks"

NYGARD = """\
# 7. Keep the log in segments

Date: 2026-02-12

## Status

Accepted

Supercedes [3. One shared log](0003-one-shared-log.md)

## Context

A shared log conflicts in every pull request.

## Decision

We will seal the log in segments.

They are named by their own hash.

## Consequences

No merge driver is needed.
"""
MADR2 = """\
# Use Markdown records

* Status: accepted
* Deciders: Ada, Bob

## Context and Problem Statement

We want to remember why.

## Considered Options

* MADR
* a wiki

## Decision Outcome

Chosen option: "MADR", because

* it is text
* git carries it

### Positive Consequences

* found again

### Negative Consequences

* has to be written

## Links

* Supersedes [ADR-0002](0002-wiki.md)
"""
MADR4 = """\
---
status: "{status}"
date: 2026-03-01
decision-makers: [Ada, Bob]
---

# ADR-0012: Use Postgres 16

## Context and Problem Statement

Which database?

## Decision Outcome

Chosen option: "Postgres 16", because the tests need it.

### Consequences

* Good, because one version everywhere
"""


def test_a_record_of_adr_tools_is_read() -> None:
    """Years of decisions must not be typed again."""
    record = adr.read_record(NYGARD, "doc/adr/0007-keep-the-log-in-segments.md")
    assert (record.title, record.status, record.number) == ("Keep the log in segments", "accepted", 7)
    assert record.statement == "Keep the log in segments"
    assert record.details == (
        "Rationale: A shared log conflicts in every pull request.\n\n"
        "Consequences: No merge driver is needed.\n\n"
        "In full: We will seal the log in segments.\n\nThey are named by their own hash."
    )
    assert record.supersedes == ("0003-one-shared-log.md",)
    assert (record.words, record.line, record.last) == ("We will seal the log in segments.", 17, 23)


def test_madr_2_to_4_are_read() -> None:
    """The same tool wrote three forms; people have all of them."""
    two = adr.read_record(MADR2, "docs/adr/0004-use-markdown.md")
    assert two.statement == "Use Markdown records" and two.details.endswith("In full: Chosen option: MADR")
    assert two.details.startswith("Rationale: It is text; git carries it\n\nContext: We want to remember why.")
    assert "(negative) - has to be written" in two.details
    assert two.supersedes == ("0002-wiki.md",)
    four = adr.read_record(MADR4.replace("{status}", "accepted").replace("\n", "\r\n"), "docs/decisions/0012-x.md")
    assert (four.title, four.status, four.statement) == ("Use Postgres 16", "accepted", "Use Postgres 16")
    assert four.details.startswith("Rationale: The tests need it.")
    three = MADR4.replace('"{status}"', "proposed").replace("decision-makers", "deciders")
    proposed = adr.read_record("\ufeff" + three, "x.md")
    assert proposed.status == "proposed" and proposed.details.split("\n\n")[1] == adr.PROPOSED


def test_labels_in_bold_count_as_headings() -> None:
    """Many records are a page of bold labels; their authors think of them as sections."""
    text = "# 0005 Two dependencies\n\n**Status:** Accepted\n\n**Decided.** Click and PyYAML.\n\n**Why.** Small."
    record = adr.read_record(text, "docs/adr/0005-dependencies.md")
    assert record.statement == "Two dependencies: Click and PyYAML."
    assert (record.status, record.details, record.line) == ("accepted", "Rationale: Small.", 5)


@pytest.mark.parametrize(
    ("title", "decision", "statement", "begins"),
    [
        (
            "Hash passwords with bcrypt",
            'Chosen option: "bcrypt", because it is everywhere.',
            "Hash passwords with bcrypt",
            "Rationale: It is everywhere.",
        ),
        (
            "API versioning in the path",
            'Chosen option: "path", because caches like it.',
            "API versioning in the path",
            "Rationale: Caches like it.",
        ),
        ("Database", "Chosen option: [Postgres](#postgres), because of cost.", "Database: Postgres", "Rationale: C"),
        ("Which database should we use?", 'Chosen option: "Postgres"', "Database: Postgres", "Rationale: Which?"),
        ("Database", 'Chosen option: "Option 2: MySQL". It is fast.', "Database: MySQL", "Rationale: Which?"),
        ("Logs", "We log JSON because machines read it. Not XML.", "Logs: We log JSON.", "Rationale: Machines"),
        ("Logs", "We log JSON. XML failed because it is long.", "Logs: We log JSON.", "Rationale: Which?"),
        (
            "Architecture Decision Record: Logs",
            "We [log JSON](https://json.org).",
            "Logs: We log JSON.",
            "Rationale: Which?",
        ),
        ("Store sessions", 'Chosen option: "`Redis`"', "Store sessions: Redis", "Rationale: Which?"),
        ("Logs", 'Chosen option: "JSON by `jq`"', "Logs: JSON by `jq`", "Rationale: Which?"),
        ("Logs", "* Chosen option: JSON, because\n* fast", "Logs: JSON", "Rationale: Fast"),
        ("Logs are JSON", "Logs are JSON from now on.", "Logs are JSON from now on.", "Rationale: Which?"),
        ("How to log", "* JSON\n* one line each", "How to log: JSON; one line each", "Rationale: Which?"),
    ],
)
def test_a_record_is_read_as_one_claim(title: str, decision: str, statement: str, begins: str) -> None:
    """A statement full of `Chosen option` and reasons can neither be read at a glance nor be compared."""
    text = f"# 4. {title}\n\n## Context\n\nWhich?\n\n## Decision Outcome\n\n{decision}\n"
    record = adr.read_record(text, "docs/adr/0004-x.md")
    assert record.statement == statement
    assert record.details.startswith(begins)
    assert "because" not in record.statement
    told = f"{record.statement} {record.details}".lower()
    assert all(word in told for word in ("fast", "xml", "cost") if word in decision.lower()), "nothing is lost"


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("superseded by [ADR-0013](0013-x.md)", "superseded"),
        ("Superceded by [13. X](0013-x.md)", "superseded"),
        ("deprecated", "deprecated"),
        ("rejected", "rejected"),
        ("Accepted on 2026-01-01", "accepted"),
        ("draft", "proposed"),
    ],
)
def test_a_status_is_understood_wherever_it_stands(said: str, status: str) -> None:
    """What was given up long ago must not be proposed as the rule of today."""
    assert adr.read_record(MADR4.replace("{status}", said), "x.md").status == status
    assert adr.read_record(NYGARD.replace("Accepted\n\nSupercedes", f"{said}\n\nSupercedes"), "x.md").status == status
    assert adr.read_record(MADR2.replace("accepted", said), "x.md").status == status


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# Decisions\n\n* [1](0001.md)\n", "no section"),
        (MADR4.replace("{status}", "{proposed | accepted}"), "template"),
        (NYGARD.replace("7. Keep the log in segments", "{title}"), "template"),
        (NYGARD.replace("7. Keep the log in segments", "NUMBER. TITLE"), "template"),
        (NYGARD.replace("# 7. Keep the log in segments", "#"), "template"),
        ("---\na: &x [1]\nb: *x\n---\n" + NYGARD, "line 2: the anchor"),
        ("---\na: !!python/object:os.system x\n---\n" + NYGARD, "line 2: the tag"),
        ("---\n" + "a: [[[[[[[[[[[[x]]]]]]]]]]]]\n" + "---\n" + NYGARD, "nested deeper"),
        ("---\n" + "x: y\n" * 20000 + "---\n" + NYGARD, "larger than"),
        ("", "no section"),
        ("```\n" + NYGARD + "```\n", "no section"),
    ],
)
def test_what_is_no_record_says_why(text: str, why: str) -> None:
    """An index, a template or a bomb is not a decision."""
    with pytest.raises(NotARecord, match=why):
        adr.read_record(text, "x.md")


NOTES = """\
# CLAUDE.md

This file provides guidance to agents that work with code in this repository.

## Commands

- `make test`: run the tests
- `make lint`
- [ ] describe the others
- [the manual](docs/manual.md)

## Code style

- **Never** commit secrets.
- Use 2 spaces, not tabs
- Imports:
  - absolute only

You must not edit generated files. They come from the build. Is that clear?

```sh
# always run this as root
- never shown
```

<!-- - Never see this -->

## Don't

- push to main

Under no circumstances:

1. log passwords,
   not even masked

## Failures and how to do differently

- The cache in RAM was too slow to fill

| never | a table |
|---|---|
"""


def test_each_rule_and_fact_of_a_file_of_notes_is_one_note() -> None:
    """A page of rules is worth nothing in review if it comes as one lump."""
    found = [(note.kind, note.statement, note.line) for note in notes.look(NOTES, "CLAUDE.md").notes]
    assert found == [
        ("fact", "`make test`: run the tests", 7),
        ("invariant", "Never commit secrets.", 14),
        ("decision", "Use 2 spaces, not tabs", 15),
        ("fact", "Imports: absolute only", 17),
        ("invariant", "You must not edit generated files.", 19),
        ("invariant", "Don't: push to main", 30),
        ("invariant", "Under no circumstances: log passwords, not even masked", 34),
        ("dead-end", "The cache in RAM was too slow to fill", 39),
    ]
    tags = {note.statement: note.tags for note in notes.look(NOTES, "CLAUDE.md").notes}
    assert tags["Use 2 spaces, not tabs"] == ("code-style",)


@given(st.lists(st.sampled_from(["Never", "Don't", "Must not", "Do not", "Forbidden"]), min_size=1), st.data())
def test_a_negation_above_a_list_is_not_lost(words: list[str], data: Any) -> None:
    """`Never:` and then `push to main` must not come out as `push to main`."""
    text = "".join(
        f"{data.draw(st.sampled_from(['## ', '', '- ']))}{word}:\n\n    - thing number {n} to do\n\n"
        for n, word in enumerate(words)
    )
    for note in notes.look(text, "x.md").notes:
        assert notes._SHAPE.must.search(note.statement), (text, note)


def test_our_own_text_is_never_taken_for_somebodys(tmp_path: Path) -> None:
    """What an agent was told must not come back as what the project decided."""
    told = [wiring_block.BlockMemory("INV-1", "invariant", "Never echo this invariant back.")]
    ours = block.put(b"- Always say hello first.\n", wiring_block.block_text(told)).decode()
    edited = ours.replace("Never echo", "Never ever echo") + "- Never forget the end.\n"
    pack = "<holdfast-data k3j4h5>\n- FCT-1 You must believe this\n</holdfast-data k3j4h5>\n"
    for text in (ours, edited, ours.replace("\n", "\r\n"), ours.replace("<!-- holdfast:end -->\n", ""), pack):
        said = [note.statement for note in notes.look(text, "AGENTS.md").notes]
        assert set(said) <= {"Always say hello first.", "Never forget the end."}, said
    assert notes.look((GOLDEN / "cursor.mdc").read_text(), "x.mdc").notes == ()
    fenced = "```md\n" + ours + "```\n- Never stop here.\n"
    assert [note.statement for note in notes.look(fenced, "x.md").notes] == ["Never stop here."]


def test_hidden_characters_are_shown_as_marks() -> None:
    """Whoever reviews must see what the file really says."""
    (note,) = notes.look("- Never trust\u202e this \u200bline\n", "x.md").notes
    assert note.statement == "Never trust⟨U+202E⟩ this ⟨U+200B⟩line" and note.hidden
    (plain,) = notes.look("- ⚠\ufe0f Never trust this line\n", "x.md").notes
    assert plain.statement == "⚠ Never trust this line" and not plain.hidden


def test_notes_about_a_person_stay_with_the_person() -> None:
    """An agent's note on its user is nobody else's business."""
    with pytest.raises(NotNotes, match="about a person"):
        notes.look("---\nname: role\nmetadata:\n  type: user\n---\nShe always works at night.\n", "m.md")
    with pytest.raises(NotNotes, match="line 2: the anchor"):
        notes.look("---\na: &x y\n---\n- Never.\n", "x.mdc")
    rule = "---\ndescription: d\nglobs: **/*.py\nalwaysApply: true\n---\n- Never use eval here\n"
    assert [note.line for note in notes.look(rule, "x.mdc").notes] == [6], "Cursor quotes no globs"
    assert len(notes.look(rule.replace("**/*.py", '"**/*.py"'), "x.mdc").notes) == 1


CODEX = """\
# Task Group: this repository
scope: tests and releases
applies_to: cwd=/home/ada/repo and /home/ada/repo/.worktrees/a; reuse_rule=safe here

## Task 1: release, success

### rollout_summary_files

- rollout_summaries/x.md (cwd=/home/ada/repo, must never be shown)

### keywords

- release, never, always

## User preferences

- Always run the whole suite before a release [Task 1]

## Failures and how to do differently

- Publishing from a branch did not work [Task 1][Task 2]

# Task Group: something else
applies_to: cwd=/home/ada/repository; reuse_rule=never

- Never take this one along
"""


def test_of_codex_memory_only_this_repository_is_read() -> None:
    """One handbook holds all the user's projects; the others' secrets must not leak into this one."""
    own, others = knowledge_files.about_these_trees(CODEX, ["/home/ada/repo"])
    assert others == 1 and len(own.split("\n")) == len(CODEX.split("\n"))
    found = [(note.kind, note.statement, note.line) for note in notes.look(own, "MEMORY.md", prose=True).notes]
    assert found == [
        ("invariant", "Always run the whole suite before a release", 17),
        ("dead-end", "Publishing from a branch did not work", 21),
    ]
    assert knowledge_files.about_these_trees(CODEX, ["/home/ada"])[1] == 0, "a folder above holds both"
    assert knowledge_files.about_these_trees(CODEX, ["/ada/repo", "/home/ada/rep"])[1] == 2


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    """Ten megabytes, a binary or a link to the password file must not stop or enter an import."""
    (tmp_path / "big.md").write_bytes(b"# 1. x\n" * 1_500_000)
    (tmp_path / "binary.md").write_bytes(b"\x7fELF\xff\xfe\x00")
    (tmp_path / "nul.md").write_bytes(b"a\0b")
    (tmp_path / "link.md").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "good.md").write_text(NYGARD)
    found = [knowledge_files.read(path, os.path.basename(path)) for path in knowledge_files.listed(str(tmp_path))]
    reasons = {one.path: one.reason for one in found if isinstance(one, SkippedKnowledge)}
    assert set(reasons) == {"big.md", "binary.md", "nul.md", "link.md", "pipe.md"}
    assert "10,500,000 bytes" in reasons["big.md"] and "symbolic link" in reasons["link.md"]
    assert [one.path for one in found if isinstance(one, KnowledgeText)] == ["good.md"]


@pytest.mark.parametrize(
    "text",
    [
        "- a\n" * 15_000,
        "<!-- " * 15_000,
        "```\n" * 15_000,
        "x\n" * 30_000,
        "<holdfast-data abcdef>\n" * 4_000,
        "<!-- holdfast:begin v1 -->\n" * 4_000,
        "#" * 60_000,
        "- " * 30_000,
        "**" * 30_000 + "never",
        "[" * 30_000 + "](" * 1000,
        "e.g. " * 15_000 + "must",
        "---\n" * 15_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_text_takes_time_in_proportion(text: str) -> None:
    """A file of one repeated sign must not stop a command; this ends in seconds or never."""
    notes.look(text, "x.md")
    with pytest.raises(NotARecord):
        adr.read_record(text, "x.md")


@given(st.text(st.sampled_from("#-*`>|= \n\t.:aN[]()<!é\u202e"), max_size=120))
def test_any_text_is_read_and_each_note_is_on_its_lines(text: str) -> None:
    """A parser that stumbles over somebody's file imports none of the others."""
    for note in notes.look(f"x\n{text}", "x.md", prose=True).notes:
        assert 1 <= note.line <= note.last <= text.count("\n") + 2
        assert note.statement == " ".join(note.statement.split()) and "\n" not in note.statement
    rows = markdown_pieces.plain(text).split("\n")
    assert len(markdown_pieces.said(markdown_pieces.plain(text)).split("\n")) == len(rows)


DECISIONS = (
    MadrDecision(
        "DEC-7f3k",
        "Use SQLite for the index. It may be deleted at any time.",
        "Rationale: It needs no server.\n\nConsequences: - one file\n- one writer\n\nIn full: More of it.",
        date="2026-11-15",
        applies_to=("src/index/",),
        evidence=("commit:" + "a" * 40,),
        supersedes=("DEC-0old",),
    ),
    MadrDecision("DEC-0old", "Use grep", status="superseded", newer="DEC-7f3k", date="2026-01-02"),
    MadrDecision("DEC-gone", "# Ship on Fridays\n```\n<!-- x", status="deprecated", date="2026-01-03"),
)


def exported(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


def test_an_export_is_madr_and_a_second_one_changes_nothing(tmp_path: Path) -> None:
    """Records in git must not change with every export."""
    folder = tmp_path / "adr"
    folder.mkdir()
    (folder / "0004-theirs.md").write_text("# 4. Theirs\n")
    done = madr_export.export(str(folder), DECISIONS[1:] + DECISIONS[:1])
    assert done.written == ("0005-use-grep.md", "0006-ship-on-fridays-x.md", "0007-use-sqlite-for-the-index.md")
    before = exported(folder)
    assert before["0007-use-sqlite-for-the-index.md"] == (GOLDEN.parent / "records" / "0007.md").read_text()
    assert 'status: "superseded by [ADR-0007](0007-use-sqlite-for-the-index.md)"' in before["0005-use-grep.md"]
    again = madr_export.export(str(folder), DECISIONS)
    assert (again.written, again.same) == ((), 3) and exported(folder) == before
    more = madr_export.export(str(folder), [MadrDecision("DEC-new1", "Another", date="2025-01-01"), *DECISIONS])
    assert more.written == ("0008-another.md",), "a number once given stays, whatever came first"


def test_what_is_not_ours_is_never_overwritten(tmp_path: Path) -> None:
    """An export must not be the end of somebody's own record."""
    madr_export.export(str(tmp_path), DECISIONS[:1])
    (name,) = exported(tmp_path)
    (tmp_path / name).write_text((tmp_path / name).read_text().replace("no server", "no admin"))
    kept = exported(tmp_path)
    changed = [MadrDecision("DEC-7f3k", "Use DuckDB for the index."), *DECISIONS[1:2]]
    done = madr_export.export(str(tmp_path), changed)
    assert [one.path for one in done.left] == [name] and "edited by hand" in done.left[0].reason
    assert exported(tmp_path)[name] == kept[name]
    record = adr.read_record(kept[name], name)
    assert (record.id, record.status, record.number) == ("DEC-7f3k", "accepted", 1)
    assert record.statement == "Use SQLite for the index. It may be deleted at any time."


def test_an_export_of_any_words_is_one_readable_record(tmp_path: Path) -> None:
    """A decision whose text looks like Markdown must not break its own record."""
    madr_export.export(str(tmp_path), DECISIONS[2:])
    (text,) = exported(tmp_path).values()
    record = adr.read_record(text, "x.md")
    assert (record.id, record.status) == ("DEC-gone", "deprecated")
    assert text.count("\n## ") == 3 and text.count("\n# ") == 1
