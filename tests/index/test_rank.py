"""What a score is made of: each part says what it should, and nothing depends on an order."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index import scoring
from holdfast.index.ranking_weights import MIXED, PRIORS, STANDINGS, TRUST, WEIGHTS

FEATURES = st.dictionaries(
    st.sampled_from(sorted(WEIGHTS)), st.dictionaries(st.integers(-9, 9), st.floats(0, 1)), max_size=6
)


def looked(question: str, *rows: tuple[str, str]) -> dict[str, dict[int, float]]:
    """The features of rows (title, text) for a question; all were found by words."""
    said = question.split()
    words = scoring.QuestionWords(said, [1.0] * len(said), list(pairwise(said)))
    found = [(key, title.casefold(), f"{title}\n{text}".casefold()) for key, (title, text) in enumerate(rows)]
    return scoring.textual(words, found, dict.fromkeys(range(len(rows)), 1.0))


@given(features=FEATURES)
def test_the_parts_of_a_score_are_the_score(features: dict[str, dict[int, float]]) -> None:
    """An explanation that does not add up explains nothing."""
    for key, score in scoring.fuse(features, WEIGHTS).items():
        told = sum(part for _, part in scoring.parts(key, features, WEIGHTS))
        assert told == pytest.approx(score, abs=0.005 * len(WEIGHTS))


@given(features=FEATURES, seed=st.integers(0, 1000))
def test_the_order_in_which_things_are_known_changes_no_score(features: dict[str, dict[int, float]], seed: int) -> None:
    """Two clones with the same records must not disagree in the last digit, and so in the order."""
    chosen = random.Random(seed)
    names = list(features)
    chosen.shuffle(names)
    other = {}
    for name in names:
        pairs = list(features[name].items())
        chosen.shuffle(pairs)
        other[name] = dict(pairs)
    assert scoring.fuse(other, WEIGHTS) == scoring.fuse(features, WEIGHTS)


def test_no_weight_punishes_what_fits() -> None:
    """A record that holds more of the question, or shares a file with it, must not sink for it."""
    assert all(weight >= 0 for weight in (*WEIGHTS.values(), *PRIORS.values(), *TRUST.values()))
    assert all(value <= 0 for value in STANDINGS.values())
    assert all(kinds["memory"] == max(kinds.values()) for kinds in MIXED.values())


@given(title=st.text(alphabet="ab -_…é\u00a0\u3000", max_size=12), question=st.text(alphabet="ab -_", max_size=8))
def test_a_title_is_named_word_by_word_whatever_parts_them(title: str, question: str) -> None:
    """A title that was cut, or that holds other spaces, must count as any: plain text only goes faster."""
    whole = scoring.small(f"{title}\nab ab")
    words = scoring.QuestionWords(question.split(), [1.0] * len(question.split()), [])
    found = scoring.textual(words, [(1, whole.partition("\n")[0], whole)], {1: 1.0})
    parts = "".join(c if c.isalnum() or c > "~" else " " for c in title).split()
    starts = tuple({scoring.stem(part) for part in question.replace("-", " ").replace("_", " ").split()})
    named = sum(part.startswith(starts) for part in parts) / len(parts) if parts and starts else 0.0

    assert found["named"].get(1, 0.0) in (0.0, pytest.approx(named))


def test_rare_words_count_more_than_common_ones() -> None:
    """What nearly every record holds does not tell them apart."""
    common = [("note", "the server is up")] * 8
    features = looked("server zebra", *common, ("note", "zebra"), ("note", "server"))
    assert features["cover"][8] > features["cover"][9] > 0


@pytest.mark.parametrize(
    ("word", "text"),
    [("fixes", "fixing"), ("stories", "story"), ("getUserName", "getUserName"), ("user_name", "user name"),
     ("ÉTÉ", "été")],
)  # fmt: skip
def test_a_word_is_found_in_its_other_forms(word: str, text: str) -> None:
    """People do not ask in the form in which it was written."""
    assert looked(word, ("", text))["cover"] == {0: 1.0}


def test_a_title_that_is_named_whole_stands_out() -> None:
    """Who names a thing means that thing, not every text that mentions it."""
    features = looked("deploy order", ("Deploy order", ""), ("Deploy order of the old cluster in June", ""))
    assert features["named"][0] == 1.0 > features["named"][1]


def test_words_side_by_side_count_as_such() -> None:
    """'connection pool' is not a connection and, elsewhere, a pool."""
    features = looked("connection pool", ("", "the connection pools"), ("", "a pool, a connection"))
    assert features["pairs"] == {0: 1.0}


def test_recency_and_rarity_fall_from_one_to_nothing() -> None:
    """A part that runs away would drown the words."""
    ages = [scoring.recency(hours) for hours in (-5, 0, 1, 24, 24 * 365, 10**6)]
    assert ages == sorted(ages, reverse=True) and ages[0] == 1.0 and ages[-1] == 0.0
    counts = [scoring.rarity(count) for count in (0, 1, 100, 10_000, 10**7)]
    assert counts == sorted(counts, reverse=True) and counts[0] == 1.0 and 0 <= counts[-1] < 0.01


def test_neighbours_lend_what_a_turn_lacks() -> None:
    """The answer to a question often holds none of its words."""
    words = scoring.QuestionWords(["where", "zebra"], [1.0, 1.0], [])
    texts = {1: "where is the zebra?", 2: "in the north", 3: "thanks", 9: "in the north"}
    scoring.textual(words, [(key, "", text) for key, text in texts.items()], {1: 1.0})
    seats = {1: (7, 1), 2: (7, 2), 3: (7, 5)}
    found = scoring.neighbour_gains(seats, {1: 1.0}, {1: 1.0}, words)
    assert found["beside"] == {2: 1.0}
    assert found["window"] == {2: 1.0}
    assert found["group"] == {2: 1.0, 3: 1.0}
    assert scoring.answer_gains(seats, {1: 1.0}, texts) == {2: 1.0}


def test_who_holds_everything_gains_nothing_by_company() -> None:
    """A memory that says it all must not lose against a talk because it has nobody beside it."""
    words = scoring.QuestionWords(["zebra"], [1.0], [])
    scoring.textual(words, [(1, "", "zebra"), (2, "", "zebra")], {1: 1.0, 2: 1.0})
    found = scoring.neighbour_gains({1: (7, 1), 2: (7, 4)}, {1: 1.0, 2: 1.0}, {1: 1.0, 2: 1.0}, words)
    assert found == {"beside": {}, "window": {}, "group": {}, "gcover": {}}
    assert scoring.smoothed({}, {1: 0.5}) == {1: 0.5}


@pytest.mark.parametrize(
    ("question", "ts", "fits"),
    [
        ("what happened in May", "2023-05-08T10", 1.0),
        ("what happened on 8 May 2023", "2023-05-08T10", 2.0),
        ("what happened on 8th May", "2023-05-09T10", 1.0),
        ("in May 2022", "2023-05-08T10", 0.0),
        ("since 2023-05-08", "2023-05-08T10", 2.0),
        ("on sept 3", "2023-09-03T10", 2.0),
        ("may we deploy", "2023-05-08T10", None),
        ("in June", "2023-05-08T10", 0.0),
    ],
)
def test_a_month_that_is_named_is_understood(question: str, ts: str, fits: float | None) -> None:
    """'What did we decide in May' asks for a time, and `may` mostly does not."""
    found = scoring.named_months(question.split())
    assert (max(moment.fits(ts) for moment in found) if found else None) == fits


@given(words=st.lists(st.text(max_size=12), max_size=6))
def test_no_word_breaks_the_reading_of_dates(words: list[str]) -> None:
    """Any digits may stand in a question, also those of other scripts."""
    for moment in scoring.named_months(words):
        assert moment.fits("2023-05-08T10:00:00.000000Z") in (0.0, 1.0, 2.0)
