"""Limits, pauses, overlapping files, and whose word counts: rules that a crew must keep whatever happens."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.config import limit
from holdfast.crew.crew_limits import (
    CHECK,
    CLAIM,
    EVIDENCE,
    IN_A_ROW,
    LONGEST_PAUSE,
    CrewLimits,
    Word,
    overlap,
    pause_until,
    settled,
)

WORDS = st.builds(
    Word,
    says=st.sampled_from(["good", "bad"]),
    by=st.sampled_from(["worker", "reviewer", "lane"]),
    rests_on=st.sampled_from([CHECK, EVIDENCE, CLAIM]),
    at=st.floats(0, 9),
)
STRENGTH = {CLAIM: 0, EVIDENCE: 1, CHECK: 2}


@given(WORDS, WORDS)
def test_it_does_not_matter_who_speaks_first(one: Word, other: Word) -> None:
    """Two supervisors that read the same rows in another order must come to the same end."""
    first, second = settled(one, other), settled(other, one)
    assert (first and first.says) == (second and second.says)


@given(WORDS, WORDS)
def test_the_stronger_ground_always_counts(one: Word, other: Word) -> None:
    """An agent's claim that all is well, however new, beats no check."""
    if STRENGTH[one.rests_on] > STRENGTH[other.rests_on]:
        assert settled(one, other) is not None
        assert settled(one, other).says == one.says  # type: ignore[union-attr]


@given(WORDS, WORDS)
def test_newer_counts_only_with_evidence(one: Word, other: Word) -> None:
    """Between two opinions nobody but a person can tell, and the last one to speak must not win."""
    if one.says != other.says and one.rests_on == other.rests_on:
        found = settled(one, other)
        if one.rests_on == CLAIM or one.at == other.at:
            assert found is None
        else:
            assert found is max(one, other, key=lambda word: word.at)


def test_a_check_beats_an_objection() -> None:
    """A reviewer that dislikes everything must not stop a crew whose checks pass."""
    check = Word(says="good", by="the checks", rests_on=CHECK, at=1)
    assert settled(check, Word(says="bad", by="reviewer", at=2)) is check


# ── limits ───────────────────────────────────────────────────────────────────────────────────────

AMOUNTS = st.none() | st.floats(0, 1e6)
LIMITS = st.builds(
    CrewLimits, time=AMOUNTS, tokens=AMOUNTS, calls=AMOUNTS, cost=AMOUNTS, step_time=AMOUNTS, step_tokens=AMOUNTS
)
USED = st.fixed_dictionaries({name: st.floats(0, 2e6) for name in ("time", "tokens", "calls", "cost")})


@given(LIMITS, USED)
def test_a_step_never_gets_more_than_is_left(limits: CrewLimits, used: dict[str, float]) -> None:
    """The last of twenty steps must not spend the budget a second time."""
    step = limits.of_step(used)
    for name in ("time", "tokens", "calls", "cost"):
        whole, mine, given_ = getattr(limits, name), getattr(step, f"step_{name}"), getattr(limits, f"step_{name}")
        if whole is not None:
            assert mine is not None and mine <= max(0.0, whole - used[name])
        if given_ is not None:
            assert mine is not None and mine <= given_
        if whole is None and given_ is None:
            assert mine is None


@given(LIMITS, USED)
def test_a_limit_that_is_used_up_stops_the_crew(limits: CrewLimits, used: dict[str, float]) -> None:
    """Nobody watches at night."""
    reached = [name for name in used if (most := getattr(limits, name)) is not None and used[name] >= most]
    assert bool(limits.over(used)) is bool(reached)


def test_a_step_is_stopped_by_what_it_passes() -> None:
    """The sentence says which limit it was, so that people know what to raise."""
    limits = CrewLimits(step_tokens=100, step_calls=5, step_cost=1.5, subagents=2)
    assert limits.over_in_step(tokens=100, calls=5, cost=1.5, subagents=2) is None
    assert limits.over_in_step(tokens=101, calls=0, cost=None, subagents=0) == "it used more than 100 tokens"
    assert limits.over_in_step(tokens=0, calls=6, cost=None, subagents=0) == "it used more than 5 calls"
    assert limits.over_in_step(tokens=0, calls=0, cost=1.6, subagents=0) == "it used more than 1.5 dollars"
    assert limits.over_in_step(tokens=0, calls=0, cost=None, subagents=3) == "it started more than 2 sub-agents"


@pytest.mark.parametrize(
    ("given_", "wanted"), [("90", 90), ("30m", 1800), ("2h", 7200), ("500k", 5e5), (0, 0), (1.5, 1.5)]
)
def test_amounts_are_read(given_: object, wanted: float) -> None:
    """30m means minutes and 2M means millions; a mix-up costs a night or a fortune."""
    assert limit(given_) == wanted


@pytest.mark.parametrize(
    "odd", ["-5m", "nanm", "infh", "", "m", "1_0k", "٣m", "5 m", math.nan, math.inf, -1, True, None]
)
def test_an_amount_that_is_none_is_refused(odd: object) -> None:
    """Whatever compares as neither more nor less is a limit that never holds."""
    with pytest.raises(ValueError):
        limit(odd)


# ── pauses ───────────────────────────────────────────────────────────────────────────────────────


@given(st.lists(st.floats(0, 1e6), max_size=60).map(sorted))
def test_an_agent_that_keeps_failing_is_paused_for_longer_and_longer(failures: list[float]) -> None:
    """A wrong key must not start a thousand agents; one failure must not stop anybody."""
    until = pause_until(failures)
    if len(failures) < IN_A_ROW:
        assert until == 0
    else:
        assert 0 < until - failures[-1] <= LONGEST_PAUSE + 1e-6
        assert until - failures[-1] >= pause_until([*failures[1:-1], failures[-1]]) - failures[-1] - 1e-6


# ── overlap ──────────────────────────────────────────────────────────────────────────────────────

PATHS = st.lists(st.sampled_from(["a", "a/b", "a/b/c", "ab", "b", "b/", "c/d"]), max_size=3)


@given(PATHS, PATHS)
def test_overlap_goes_both_ways(one: list[str], other: list[str]) -> None:
    """Whichever of two tasks comes second, it waits."""
    assert (overlap({"t": one}, other) is None) is (overlap({"t": other}, one) is None)


def test_a_folder_stands_for_what_is_in_it_and_a_beginning_does_not() -> None:
    """src is not src2."""
    assert overlap({"t": ["src"]}, ["src/a.py", "b"]) == ("t", ("src/a.py",))
    assert overlap({"t": ["src/"]}, ["src/a.py"]) == ("t", ("src/a.py",))
    assert overlap({"t": ["src"]}, ["src2/a.py"]) is None
    assert overlap({"t": []}, ["src"]) is None
