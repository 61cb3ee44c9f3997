"""Hits in words: each thing is said once, and an empty answer says what to ask instead."""

import pytest

from holdfast.index.hit_text import FIELDS, LONGEST, as_text, beyond
from holdfast.interfaces import quick
from tests.conftest import Cli, init

RAN = "sh -c 'make zebra' ended with exit code 0 after 0.1 s; 2 files changed"


@pytest.mark.parametrize(
    ("title", "text", "also", "left"),
    [
        ("It holds.", "It holds.", (), ""),
        ("It holds.", "It holds. Rationale: we tried.", (), "Rationale: we tried."),
        (RAN, f"T-1 {RAN} sh -c 'make zebra'", ("T-1",), ""),
        (RAN, f"T-1 please make it {RAN} sh -c 'make zebra' out/a.txt", ("T-1",),
         "please make it sh -c 'make zebra' out/a.txt"),
        (RAN, "…with exit code 0 after 0.1 s; 2 files changed and more", (), "… and more"),
        (RAN, "T-1 please make it sh -c 'make ze…", ("T-1",), "please make it …"),
        ("ls", "false ls alsa", (), "false alsa"),
        ("accept FCT-a It holds.", "Ada FCT-a It holds.", (None, "FCT-a", "accept"), "Ada"),
        ("It is said at great …", "It is said at great length.", (), "length."),
        ("Mend it", "pass…", (), ""),
        ("", "only text", (), "only text"),
        ("title", "", (), ""),
    ],
)  # fmt: skip
def test_a_text_does_not_repeat_its_title(title: str, text: str, also: tuple[str | None, ...], left: str) -> None:
    """Three lines that say one thing push the next hit out of an agent's sight."""
    assert beyond(title, text, *also) == left


def test_an_empty_answer_names_the_candidates_that_fit() -> None:
    """Who has just proposed a fact and does not find it thinks that it was lost."""
    assert as_text([]) == "Nothing found.\n"
    said = "Nothing found. 1 candidate matches; see it with --kind candidate\n"
    assert as_text([], waiting=1) == said
    assert "2 candidates match; see them" in as_text([], waiting=2)


def test_both_ways_name_the_candidates(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The quick path and the full one must not tell different stories."""
    init(cli.cwd, commit=True)
    cli("remember", "Giraffes are tall", "--evidence", ".holdfast/.gitattributes")
    monkeypatch.chdir(cli.cwd)
    for argv, told in (
        (["recall", "giraffes"], True),
        (["recall", "--kind", "fact", "giraffes"], True),
        (["recall", "--kind", "run", "giraffes"], False),
        (["recall", "zebra"], False),
    ):
        full = cli(*argv).out
        assert ("1 candidate matches; see it with --kind candidate" in full) == told, argv
        capfd.readouterr()
        assert quick.main(argv) == 0
        assert capfd.readouterr().out == full


def hit(kind: str, title: str, text: str, **more: object) -> tuple[object, ...]:
    given = {"id": "a:1", "kind": kind, "title": title, "text": text, "score": 1.0, **more}
    return tuple(given.get(name) for name in FIELDS)


@pytest.mark.parametrize(
    ("kind", "title", "text", "said"),
    [
        ("code", "total", "def total(items): return total_of(items)", "def total(items): return total_of(items)"),
        ("code", "Pool", "…with it. class Pool: size = 3…", "…with it. class Pool: size = 3…"),
        ("code", "PI", "PI", None),
        ("doc", "Harbours", "## Harbours A wall keeps the sea out.", "A wall keeps the sea out."),
        ("doc", "Harbours", "Harbours ======== A wall.", "A wall."),
        ("doc", "Harbours", "# Harbours", None),
        ("doc", "", "- one - two", "- one - two"),
        ("doc", "Use", "## Use ``` make ``` and wait", "``` make ``` and wait"),
    ],
)
def test_a_piece_of_a_file_is_shown_as_it_stands(kind: str, title: str, text: str, said: str | None) -> None:
    """Code with its names cut out reads as broken code."""
    assert as_text([hit(kind, title, text)]).splitlines()[1:] == ([f"          {said}"] if said else [])


def test_hits_can_be_told_apart_at_a_glance() -> None:
    """A screen of long lines that run together is read by nobody."""
    long = "word " * 60
    lines = as_text([hit("code", "one", long), hit("fact", "two", long)]).split("\n")
    assert [line[:4] for line in lines] == ["code", "    ", "", "fact", "    ", ""]
    assert all(len(line) <= LONGEST + 12 and line.endswith("word …") for line in (lines[1], lines[4]))


def test_what_only_meaning_found_says_so() -> None:
    """It may be a guess; who reads it must know."""
    assert as_text([hit("fact", "two", "", by="meaning")]).splitlines()[1].strip() == "by meaning"
    assert "meaning" not in as_text([hit("fact", "two", "")])
