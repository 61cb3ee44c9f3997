"""What governs the work at hand: by file, by task, everywhere; in an order nobody has to guess."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.recall.applicable_memories import (
    MOST_UNASKED,
    KnownMemory,
    MemoriesByPlace,
    WorkAtHand,
    applicable,
    at_top,
    ordered,
    rests_on,
    shares_words,
    telling,
)
from holdfast.recall.path_patterns import is_below


def known(name: str, statement: str = "It is so", **fields: Any) -> KnownMemory:
    return KnownMemory(**{"id": name, "type": "decision", "statement": statement, **fields})


def reasons(memories: list[KnownMemory], hand: WorkAtHand) -> dict[str, str]:
    return {one.known.id: one.why for one in applicable(memories, hand)}


@pytest.mark.parametrize(
    ("place", "file", "governs"),
    [
        ("src/db", "src/db/pool.py", True),
        ("src/db/", "src/db/pool.py", True),
        ("src/db/pool.py", "src/db/pool.py", True),
        ("src/d", "src/db/pool.py", False),
        ("src/db/pool.py", "src/db/", True),  # a new folder is one name to git
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/db/a.py", False),
        ("src/**/*.py", "src/db/deep/a.py", True),
        ("**/*.md", "README.md", True),
        ("**/*.md", "docs/a.md", True),
        ("src/*/db", "src/x/db/a.py", True),
        ("*", "anything/at/all", True),
        ("*b", "a/b", False),
        ("docs", ".", True),
    ],
)
def test_a_path_governs_what_lies_at_it_or_below(place: str, file: str, governs: bool) -> None:
    """A rule for one folder told in another is noise; not told in its own it is broken."""
    found = reasons([known("DEC-1", applies_to=(place,))], WorkAtHand((file,)))
    assert found == ({"DEC-1": f"governs {place}"} if governs else {})


def test_what_cites_a_file_governs_it_and_comes_before_what_holds_everywhere() -> None:
    """A decision that rests on this very function must reach whoever is about to change it."""
    memories = [
        known("DEC-0", confidence=1.0),
        known("DEC-1", confidence=1.0, applies_to=("**",)),
        known("DEC-2", cites=("src/api/cart.ts", "src/b.ts")),
        known("DEC-3", cites=("src/api/cart.ts",), applies_to=("docs",)),
        known("DEC-4", cites=("src/api",), applies_to=("docs",), confidence=1.0),
        known("DEC-5", cites=("src/b.ts",), applies_to=("src/api",)),
    ]
    found = applicable(memories, WorkAtHand(("src/api/cart.ts",)))
    assert [(one.known.id, one.why) for one in found] == [
        ("DEC-5", "governs src/api"),
        ("DEC-4", "cites src/api"),
        ("DEC-2", "cites src/api/cart.ts"),
        ("DEC-3", "cites src/api/cart.ts"),
        ("DEC-1", "general"),
    ]
    assert reasons(memories[2:4], WorkAtHand(("src/",)))["DEC-3"] == "cites src/api/cart.ts"
    assert reasons([memories[3]], WorkAtHand(("src/api/cart.tsx",))) == {}


def test_what_names_no_place_is_told_while_nobody_said_what_the_work_is() -> None:
    """A deploy rule that cites nothing was hidden by any file that lay about, such as our own block in CLAUDE.md."""
    memories = [known("INV-1"), known("INV-2", applies_to=("db/",)), known("INV-3", cites=("db/a.sql",))]
    found = applicable(memories, WorkAtHand(("CLAUDE.md",), is_guess=True))
    assert [(one.known.id, one.why) for one in found] == [("INV-1", "names no place")]
    assert applicable(memories, WorkAtHand(("CLAUDE.md",))) == [], "who names the work gets what bears on it"
    many = [known(f"INV-{number}") for number in range(50)]
    assert len(applicable(many, WorkAtHand(("x",), is_guess=True))) == MOST_UNASKED


def test_only_telling_words_are_looked_for() -> None:
    """ "change the" is in every second record; what is asked about is the cart."""
    assert telling("change the Cart of the api, the Cart") == ["Cart", "api,"]
    assert telling("is it in our db? fix CI") == ["db?", "CI"] and telling("fix the test, do it") == []
    assert shares_words("The DB is slow", "is the db up") and not shares_words("it is up", "up it is")
    assert shares_words("Tune carts", "cart handling") and not shares_words("files changed", "change it")


def test_words_of_the_task_bring_what_mentions_them() -> None:
    """What was decided about sessions must reach whoever is about to touch sessions, whatever file it is."""
    memories = [
        known("DEC-1", "Sessions are kept in cookies", applies_to=("web",)),
        known("DEC-2", "The cache is Redis", tags=("login-form",), applies_to=("web",)),
        known("DEC-3", "Money is in cents", applies_to=("shop",)),
        known("DEC-4", "設定はTOMLで書く", applies_to=("x",)),
    ]
    assert reasons(memories, WorkAtHand(words="Rework the session login")) == {
        "DEC-1": "mentions session",
        "DEC-2": "mentions login",
    }
    assert reasons(memories, WorkAtHand(words="設定を変える")) == {"DEC-4": "mentions 設定"}
    assert reasons(memories, WorkAtHand(words="the and with for file test")) == {}


def test_a_word_that_everybody_uses_brings_nothing() -> None:
    """With ten thousand memories, a common word must not bring thousands of them."""
    memories = [known(f"DEC-{n}", f"The server does thing{n}", applies_to=("x",)) for n in range(200)]
    assert reasons(memories, WorkAtHand(words="restart the server")) == {}
    assert reasons(memories, WorkAtHand(words="server thing7")) == {"DEC-7": "mentions thing7"}


def test_the_nearest_come_first_then_the_surest_then_the_newest() -> None:
    """Where the budget ends, the more important must already stand."""
    memories = [
        known("A", confidence=0.9, applies_to=("**",)),
        known("B", "about sessions", applies_to=("y",), confidence=1.0),
        known("C", applies_to=("src",), confidence=0.1),
        known("D", applies_to=("src",), confidence=0.8, updated="2026-01-01"),
        known("E", applies_to=("src",), confidence=0.8, updated="2026-02-01"),
    ]
    found = applicable(memories, WorkAtHand(("src/a.py",), "sessions"))
    assert [one.known.id for one in found] == ["E", "D", "C", "B", "A"]


@given(st.lists(st.text("ab*/", min_size=1, max_size=12), max_size=6), st.text("ab/", max_size=20), st.randoms())
def test_the_order_of_what_is_known_changes_nothing(places: list[str], file: str, chance: random.Random) -> None:
    """Two clones that know the same must tell the same."""
    memories = [known(f"M-{n}", applies_to=(place,)) for n, place in enumerate(places)]
    first = applicable(memories, WorkAtHand((file,)))
    chance.shuffle(memories)
    assert applicable(memories, WorkAtHand((file,))) == first


def test_a_hostile_pattern_takes_no_time() -> None:
    """Somebody else's applies_to must not hang whoever pulls it (law 15)."""
    pattern = ["*a" * 200 + "b"] + ["**", "x"] * 100
    assert not is_below(pattern, ["a" * 400] + ["x"] * 300 + ["y"])


def test_what_others_name_is_found_by_its_id() -> None:
    """A decision without the assumption it rests on is half a decision."""
    assumption = known("ASM-1", "Clocks agree", type="assumption", applies_to=("x",))
    told = [known("DEC-1", "Order by time", why="rests on ASM-1.")]
    assert rests_on([assumption], told, {}) == {"ASM-1": "DEC-1"}
    assert rests_on([assumption], [], {"TSK-1": "try ASM-1, then ASM-10"}) == {"ASM-1": "TSK-1"}


def test_paths_people_type_are_meant_from_the_top(tmp_path: Any) -> None:
    """A file named from outside governs nothing here."""
    (tmp_path / "src").mkdir()
    top = str(tmp_path)
    assert at_top("src/a.py", top=top) == "src/a.py" and at_top("src", top=top) == "src/"
    assert at_top(f"{top}/src/a.py", top=top) == "src/a.py" and at_top(".", top=top) == "./"
    assert at_top("../x", top=top) is None and at_top("/etc/passwd", top=top) is None


_PLACES = ("src", "src/", "src/a.py", "src/b/", "./", ".", "", "**", "*", "src/*.py", "**/c.py", "docs", "o\u0308.md")
_FILES = ("src/a.py", "src/b/c.py", "src/b/", "docs/x.md", "\u00f6.md", ".", "README.md")


@given(
    st.lists(st.tuples(st.lists(st.sampled_from(_PLACES), max_size=2), st.lists(st.sampled_from(_FILES), max_size=2))),
    st.sampled_from(_FILES),
)
def test_memories_kept_by_place_are_those_that_comparing_all_finds(
    given_places: list[tuple[list[str], list[str]]], path: str
) -> None:
    """The page of a file and `why` must show every rule that an agent is given for that file."""
    memories = [
        known(f"DEC-{number}", applies_to=tuple(places), cites=tuple(cites))
        for number, (places, cites) in enumerate(given_places)
    ]
    assert ordered(MemoriesByPlace(memories).about(path)) == applicable(memories, WorkAtHand((path,)))
