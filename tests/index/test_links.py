"""The second step of a search: from what a question names to what it asks for."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bench.recall.loading import LoadedDocument, load_documents

from holdfast.index import query, second_hop
from holdfast.index.hit_text import FIELDS
from holdfast.index.ranking import search
from holdfast.index.search_words import is_identifier, names_in, words_of
from holdfast.index.sqlite import Index

DOCUMENTS = (
    LoadedDocument(name="a1", title="Brand (play)", text="Brand is a verse tragedy by the playwright Henrik Ibsen."),
    LoadedDocument(name="a2", title="Ibsen Year", text="Honours Henrik Ibsen, the Norwegian citizen, with festivals."),
    LoadedDocument(name="a3", title="Hydro power", text="A country of many rivers; every citizen pays little for it."),
    LoadedDocument(name="a4", title="Pool limit", text="PoolError was met by commit 9f3ac1d, see DEC-m4f2."),
    LoadedDocument(name="a5", title="DEC-m4f2", text="Decision: open one connection a thread, since sockets are dear."),
    *(LoadedDocument(name=f"b{n}", title=f"Note {n}", text=f"Seen by Ada on day {n}.") for n in range(150)),
    LoadedDocument(name="a6", title="Harbour", text="Ada built the harbour."),
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    index = Index(str(Path(tmp_path_factory.mktemp("links")) / "index.db"))
    load_documents(index.db, DOCUMENTS)
    yield index
    index.close()


def gains(index: Index, question: str, *best: tuple[str, float]) -> dict[str, float]:
    numbers = dict(index.db.execute("SELECT name, id FROM row").fetchall())
    names = {number: name for name, number in numbers.items()}
    found = second_hop.linked(index.db, query.read_query(question), [(numbers[name], score) for name, score in best])
    return {names[row]: gain for row, gain in found.items()}


def test_what_a_named_thing_speaks_of_is_followed(index: Index) -> None:
    """An agent that asks for what it cannot name gets only the first half of the answer."""
    found = gains(index, "What country was the author of Brand a citizen of?", ("a1", 1.0), ("a3", 0.9))

    assert found["a2"] > found.get("a3", 0.0)
    assert found["a1"] > 0


def test_ids_lead_on_as_names_do(index: Index) -> None:
    """The decision behind a mended error is named by its id alone; a search by words never meets it."""
    found = gains(index, "which decision is behind the pool limit?", ("a4", 1.0))

    assert max(found, key=lambda name: found[name]) == "a5"


def test_accents_change_nothing_about_where_a_name_leads(tmp_path: Path) -> None:
    """Who types a name without its accents must get one answer on every way to it, the quick one too."""
    index = Index(str(tmp_path / "index.db"))
    texts = {"Aschenbrödel": "A ballet by Johann Strauss.", "Strauss line": "Strauss was born in Vienna."}
    load_documents(index.db, [LoadedDocument(name=title, title=title, text=text) for title, text in texts.items()])
    question = "where was the composer of Aschenbrodel born?"

    def any_step(*given: Any) -> dict[int, float]:
        return second_hop.follow(*given)

    quick, full = search([index.db], question), search([index.db], question, step=any_step)
    index.close()

    assert quick == full
    assert quick[0][FIELDS.index("id")] == "Strauss line"


def test_a_question_that_names_nothing_stays_as_it_was(index: Index) -> None:
    """A ranking that wanders off where nothing was named would harm every plain question."""
    assert gains(index, "why is it so slow", ("a1", 1.0), ("a4", 0.9), ("a3", 0.8)) == {}


def test_a_name_that_everybody_shares_leads_nowhere(index: Index) -> None:
    """A name in every note would pull the whole store behind one hit."""
    assert gains(index, "who paid for the harbour?", ("a6", 1.0)) == {}


def test_rows_that_are_gone_and_empty_lists_are_borne(index: Index) -> None:
    """A row may vanish between two statements; a search must not fail for it."""
    assert gains(index, "Brand") == {}
    assert second_hop.linked(index.db, query.read_query("Brand"), [(10**15, 1.0)]) == {}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Snow moved to Nashville, Tennessee.", ["Snow", "Nashville", "Tennessee"]),
        ("The Bank of England and Hank Snow (singer)", ["Bank of England", "Hank Snow"]),
        ("See DEC-m4f2 and a1b2c3d", ["See", "DEC-m4f2", "a1b2c3d"]),
        ("in src/app/pool.py `get_user()` met #1234", ["src/app/pool.py", "get_user", "#1234"]),
        ("it was so", []),
        ("", []),
        ("“ ” ( ) # @ _ /", []),
    ],
)
def test_names_are_what_a_text_calls_by_name(text: str, names: list[str]) -> None:
    """What is not seen as a name leads nowhere; what wrongly is costs a lookup each."""
    assert names_in(text) == names


def test_only_so_many_names_are_taken() -> None:
    """A page that is a list of names must not cost a lookup for each."""
    assert len(names_in(" ".join(f"Name{n}, " for n in range(500)))) == 32


@pytest.mark.parametrize(
    "word", ["DEC-m4f2", "DEC-mxyz", "20261115T194200Z-abc123", "src/a.py", "a_b", "std::map", "#12", "9f3ac1d0"]
)
def test_identifiers_are_known(word: str) -> None:
    """Work links by ids and paths; missing them leaves only prose to follow."""
    assert is_identifier(word) == (word != "#12")


def test_names_are_compared_without_accents_and_plurals() -> None:
    """People type Aschenbrodel where the title says Aschenbrödel."""
    assert words_of("Aschenbrödel’s Stores, Łódź") == ["aschenbrodel", "s", "store", "lodz"]
