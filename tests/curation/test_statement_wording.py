"""A candidate is worded as something that holds, so that a person can accept it as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.curation.extraction.statement_wording import standing_words


@pytest.mark.parametrize(
    ("said", "saved"),
    [
        ("Both are fair points — logs name no session at first", "Logs name no session at first"),
        ("Important constraint: never store ids of commits", "Never store ids of commits"),
        ("The root cause is real: `pflag` keeps the default", "`pflag` keeps the default"),
        ("To recap the question: version 2 is the oldest that works", "Version 2 is the oldest that works"),
        ("This means the daemon ignores Ctrl+C", "The daemon ignores Ctrl+C"),
        ("I switched to using their script since retries wrap it", "Use their script since retries wrap it"),
        ("I've deliberately kept the old table because reports read it", "Keep the old table because reports read it"),
        ("Remember that the printer is slow", "The printer is slow"),
        ("I went with the vendor's queue", "Use the vendor's queue"),
        ("I chose to drop the cache", "Drop the cache"),
        ("I decided to not use Redis", "Do not use Redis"),
        ("Changed `load_all()` to carry the branch", "`load_all()` carries the branch"),
        ("Changed `load_all()` to be lazy", "`load_all()` is lazy"),
        ("Updated the retry helper so that it watches both pipes", "the retry helper watches both pipes"),
        ("Replaced the loop with a lock, since two may start", "A lock replaces the loop, since two may start"),
        ("The queue now drops old entries and is now bounded", "The queue drops old entries and is bounded"),
        ("Skip what is there (done)", "Skip what is there"),
        ("Dropped the second table — the first migration creates both", "The first migration creates both"),
        ("Keys have 64 digits, but the check was for 130", "Keys have 64 digits"),
        ("`label.go:39` prints the tray (line 12)", "`label.go` prints the tray"),
        ("One key per tray — the key of a tray is made at random", "The key of a tray is made at random"),
    ],
)  # fmt: skip
def test_what_was_done_is_worded_as_what_holds(said: str, saved: str) -> None:
    """Nobody accepts `Good point — I switched …` into a project's memory."""
    assert standing_words(said).lower() == saved.lower()


@pytest.mark.parametrize(
    "said",
    [
        "`palette.go`: the template is rendered before the color is resolved",
        "The fix of a race belongs into `fetch()`, not into its callers",
        "Added a test for the empty queue",
        "I think the gate should stay closed",
        "Now and then the carrier sends two labels",
        "Use tabs, never blanks",
        "Remember the last choice of `picker()` in the session",
        "Note the time of each parcel in the log",
        "I only used the cache of `load()` for reads",
        "Replaced the mutex with a channel because it deadlocked",
        "Replaced the lock with nothing because it was not needed",
        "The token must be rotated daily as requested by the auditors",
        "`load()` holds the lock for writes only, but I can say that readers need it too",
        "Changed `load()` to only read",
        "Make `Config` frozen",
        "So far only `load()` uses the cache",
        "So that tests pass, mock the clock",
        "Switched to Bazel from Make",
        "I expected the server to answer with 404",
        "The client until now always used XML",
        "It seems the carrier is slow",
        "Make `load()` idempotent so that retries do no harm",
        "Without arguments the command exits with status 1",
    ],
)
def test_what_says_more_than_it_seems_is_left_as_it_is(said: str) -> None:
    """`Add a test` would read as work to be done, and a name of code is the subject."""
    assert standing_words(said) == said


PIECES = ["I've", "kept", "the", "`x`", "—", "note:", "fix", "both", "now", "is", "replaced", "with", "so", "2", "."]


@given(st.lists(st.sampled_from(PIECES), max_size=14))
def test_no_name_of_code_is_lost_whatever_is_said(words: list[str]) -> None:
    """What a statement is about is its name of code."""
    said = " ".join(words)
    saved = standing_words(said)
    assert saved.count("`x`") == said.count("`x`") and len(saved) <= len(said) + 8
