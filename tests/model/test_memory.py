"""What a memory may say, and when its time is over."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from holdfast.errors import BadInput, HoldfastError, TooLarge
from holdfast.model import memory
from holdfast.model.memory import Accepted, Candidate, Rejected, Retired

NOW = datetime(2026, 11, 15, 19, 42, tzinfo=UTC)
FIELDS: dict[str, Any] = {"id": "FCT-7f3k2m", "type": "fact", "statement": "Tests need Postgres 16."}


def test_each_state_has_its_own_class_and_word() -> None:
    """Code that forgets a state is found by the type checker, not by a user."""
    candidate = Candidate(**FIELDS, line="abc")
    accepted = Accepted.of(candidate)
    rejected = Rejected.of(candidate, line="abc", rejected_at=NOW, reason="wrong")
    states = [candidate, accepted, Retired.of(accepted), rejected]
    assert [memory.status(state) for state in states] == ["candidate", "accepted", "deprecated", "rejected"]
    assert accepted.statement == candidate.statement


@pytest.mark.parametrize("kind", memory.TYPES)
def test_all_types_of_memory_are_known(kind: str) -> None:
    """Decisions and dead ends come later, through the same door."""
    assert Accepted(**FIELDS | {"type": kind}).type == kind


BAD = {
    "confidence above one": {"confidence": 1.01},
    "confidence below zero": {"confidence": -0.1},
    "confidence that is no number": {"confidence": float("nan")},
    "confidence as a truth value": {"confidence": True},
    "a layer of two words": {"layer": "L 5"},
    "an empty statement": {"statement": ""},
    "a statement with NUL": {"statement": "a\0b"},
    "half a character": {"statement": "a\ud800"},
    "two paragraphs": {"statement": "a\n\nb"},
    "a merge left open": {"statement": "<<<<<<< HEAD"},
    "a tag with a space": {"tags": ("a b",)},
    "a tag that hides": {"tags": ("a\u200b",)},
    "a long tag": {"tags": ("a" * 49,)},
    "a tag twice": {"tags": ("a", "a")},
    "an unknown type": {"type": "rumour"},
    "an id with a slash": {"id": "../x"},
    "a source of no kind": {"source": "somebody"},
    "a nameless person": {"source": "person: "},
    "evidence of no kind": {"evidence": ("hearsay",)},
    "a path out of the repository": {"applies_to": ("../x",)},
    "a time without a zone": {"expires_at": datetime(2027, 1, 1)},
}


@pytest.mark.parametrize("wrong", BAD.values(), ids=BAD.keys())
def test_nonsense_is_refused_with_a_sentence(wrong: dict[str, Any]) -> None:
    """What is stored is cited for years; it must be well formed on the first day."""
    with pytest.raises(BadInput, match=next(iter(wrong))):
        Accepted(**FIELDS | wrong)


def test_a_number_of_another_library_is_a_confidence_too() -> None:
    """Who scores with numpy has a `float64`, which is a float of its own kind."""

    class Score(float):
        pass

    memory.CHECKS["confidence"](Score(0.5))
    with pytest.raises(BadInput, match="is not a number from 0 to 1"):
        memory.CHECKS["confidence"](Score(1.5))
    with pytest.raises(BadInput, match="is not a number from 0 to 1"):
        memory.CHECKS["confidence"](True)


def test_a_statement_has_a_limit() -> None:
    """A pasted log is no statement, and would be read by every agent after."""
    Accepted(**FIELDS | {"statement": "é" * 8192})
    with pytest.raises(TooLarge):
        Accepted(**FIELDS | {"statement": "é" * 8193})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2027-01-01", datetime(2027, 1, 1, tzinfo=UTC)),
        ("2027-01-01T12:00:00Z", datetime(2027, 1, 1, 12, tzinfo=UTC)),
        ("2027-01-01T12:00:00+02:00", datetime(2027, 1, 1, 10, tzinfo=UTC)),
        ("30d", NOW + timedelta(days=30)),
        ("12h", NOW + timedelta(hours=12)),
        ("2w", NOW + timedelta(days=14)),
        ("1y", NOW + timedelta(days=365)),
    ],
)
def test_an_expiry_is_a_date_or_a_duration(text: str, expected: datetime) -> None:
    """People think in "for a month", files in dates."""
    assert memory.expiry(text, NOW) == expected


@pytest.mark.parametrize("text", ["", "soon", "30", "-3d", "999999y", "2027-13-01", "0001-01-01T00:00+23:00"])
def test_an_expiry_that_is_none_is_refused(text: str) -> None:
    """A fact that silently never expires outlives its truth."""
    with pytest.raises(HoldfastError, match="expiry"):
        memory.expiry(text, NOW)


def test_the_very_moment_counts_as_expired() -> None:
    """Two readers at the same instant must agree."""
    fact = Accepted(**FIELDS, expires_at=NOW)
    assert memory.is_expired(fact, NOW)
    assert not memory.is_expired(fact, NOW - timedelta(seconds=1))
    assert not memory.is_expired(Accepted(**FIELDS), NOW)


def test_the_source_run_is_the_source_or_the_first_run_cited() -> None:
    """`state.json` leads from a fact to the run that showed it."""
    cited = ("commit:" + "a" * 40, "run:second")
    assert memory.source_run(Accepted(**FIELDS, source="run:first", evidence=cited)) == "first"
    assert memory.source_run(Accepted(**FIELDS, source="person:Ada", evidence=cited)) == "second"
    assert memory.source_run(Accepted(**FIELDS)) is None


def test_the_first_paragraph_is_the_statement() -> None:
    """What people type in one breath is kept whole, the claim first."""
    assert memory.split_statement(" A.\r\nB.\r\n \r\nWhy: c\n\nd ") == ("A.\nB.", "Why: c\n\nd")
