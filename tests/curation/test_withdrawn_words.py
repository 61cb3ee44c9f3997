"""What a session took back, chose against or mended is no memory of it, nor is a program's review a person's word."""

import pytest

from holdfast.curation.extraction import find_claims
from holdfast.curation.extraction.withdrawn_words import WithdrawnWords, own_words, without_reset
from holdfast.model.utterance import UNDONE, TriedCommand, Utterance

POOL = "Root cause: `get` in `src/cache.py` opens a new connection for every key because the pool is never passed."


def asked(turn: int, text: str) -> Utterance:
    return Utterance("user", text, turn, "request", (), False)


def answered(turn: int, text: str, *, wrote: bool = False) -> Utterance:
    return Utterance("agent", text, turn, "closing", ("src/cache.py",) if wrote else (), wrote)


@pytest.mark.parametrize(
    ("words", "later", "is_withdrawn"),
    [
        (POOL, [asked(2, "no, the pool is global"), answered(2, "You're right, `get` reuses the pool.")], True),
        (POOL, [asked(2, "no, the pool of `get` is global"), answered(2, "You're right, it is reused.")], True),
        (POOL, [asked(2, "does the pool of `get` close?"), answered(2, "You're right to ask: it does.")], False),
        (POOL, [asked(2, "no, look at `get` again"), answered(2, "I looked: it is as I said.")], False),
        ("`retry` waits twice as long each time.", [asked(2, "actually, take the retry out again")], True),
        ("Retry uses a backoff of 2 s.", [asked(2, "take the backoff out again"), answered(2, "Removed.")], True),
        ("1. Expire by time: every entry lives 5 minutes", [asked(2, "option 2")], True),
        ("2. Expire by size: 100 entries", [asked(2, "option 2")], False),
        (
            "1. Expire by time: every entry lives 5 minutes",
            [asked(2, "2 files are wrong, look at them once more")],
            False,
        ),
        ("`retry` swallows every error.", [asked(2, "fix it"), answered(2, "Fixed `retry`.", wrote=True)], True),
        (
            "Every upload of more than 2 MB fails with an error.",
            [asked(2, "yes please, go ahead"), answered(2, "Done: chunks are streamed.", wrote=True)],
            True,
        ),
        (
            "Every upload of more than 2 MB fails with an error.",
            [asked(2, "now rename the page"), answered(2, "Renamed.", wrote=True)],
            False,
        ),
        ("`retry` swallows every error.", [asked(2, "why?"), answered(2, "`retry` is old.")], False),
        ("2. Answer from a second page: the browser waits", [asked(2, "1. fail loud. 2. leave it alone")], True),
        ("1. Fail loud: refuse a query in the path", [asked(2, "1. fail loud. 2. leave it alone")], False),
        (
            "Since staging is wiped anyway, the first migration gets the new index.",
            [asked(2, "Why is the first migration being changed, rather than adding a new migration?")],
            True,
        ),
        ("`ship()` retries a POST three times.", [asked(2, "let's not retry a POST, that charges twice")], True),
        (
            "`ship()` retries a POST three times.",
            [asked(2, "ok"), asked(3, "on second thought drop the POST retry")],
            True,
        ),
        (POOL, [asked(2, "look again, the pool is passed"), answered(2, "Correct — I had the order backwards.")], True),
        (
            "The build needs Node 18.4.0.",
            [asked(2, "please move the whole build of labels to node 20.11.1 today")],
            True,
        ),
        ("Version 0.52.0 is the least that mends it.", [asked(2, "how old is 0.54.0?"), asked(3, "do 0.54.0")], True),
        ("Version 0.54.0 is the newest that works.", [asked(2, "ok"), asked(3, "do 0.54.0")], False),
        (
            "The warnings of the cache are gone.",
            [asked(2, "I ran it, the warnings are still there"), answered(2, "My mistake: …")],
            True,
        ),
        (
            "Old bundles should stay readable for legacy compatibility of the results folder.",
            [asked(2, "we don't need compatibility of old bundles"), answered(2, "I agree. It goes.")],
            True,
        ),
        (
            "Old bundles should stay readable for legacy compatibility of the results folder.",
            [asked(2, "we don't need compatibility of old bundles"), answered(2, "They are read by the importer.")],
            False,
        ),
        (
            "Every upload of more than 2 MB fails with an error.",
            [asked(2, "bitte reparieren"), answered(2, "Fertig.", wrote=True)],
            True,
        ),
        ("B. Expire by size: 100 entries", [asked(2, "the first one")], True),
        ("B. Expire by size: 100 entries", [asked(2, "b")], False),
        ("Everything below 0.85 is dropped.", [asked(2, "bump the package to 1.4.0")], False),
        (POOL, [asked(2, "wait, before I forget: rename the pool"), answered(2, "Renamed.")], False),
        ("`retry` fails fast by design now.", [asked(2, "ok"), answered(2, "Fixed `retry`.", wrote=True)], False),
    ],
)
def test_what_a_later_turn_overturned_is_withdrawn(words: str, later: list[Utterance], is_withdrawn: bool) -> None:
    """A claim that nobody stands by any more misleads whoever reads it next."""
    session = [asked(1, "Look at the cache"), answered(1, words), *later]
    assert WithdrawnWords(session).hold(1, "agent", words) is is_withdrawn


def test_what_stands_under_an_option_that_was_turned_down_is_withdrawn() -> None:
    """A way that nobody took reads as how the code works."""
    session = [asked(1, "How?"), answered(1, "…"), asked(2, "1. do it\n2. skip"), answered(2, "Done.", wrote=True)]
    words = "The handler sends the browser to a second page that waits for the result."
    assert WithdrawnWords(session).hold(1, "agent", words, "Finding 2 — the page says too much")
    assert not WithdrawnWords(session).hold(1, "agent", words, "Finding 1 — the query is dropped")


def test_a_persons_own_words_are_never_withdrawn_by_an_answer() -> None:
    """Only a person takes back what a person said."""
    session = [asked(1, "Never cache errors"), asked(2, "no, take it out again"), answered(2, "You're right.")]
    assert not WithdrawnWords(session).hold(1, "user", "Never cache errors")


def test_a_person_takes_back_what_they_said() -> None:
    """The newer word of the same person counts."""
    session = [asked(1, "We use tabs, never spaces"), asked(2, "sorry, I meant spaces, never tabs"), answered(2, "Ok.")]
    assert WithdrawnWords(session).hold(1, "user", "We use tabs, never spaces")
    assert not WithdrawnWords(session).hold(2, "user", "sorry, I meant spaces, never tabs")


def test_nothing_that_was_withdrawn_is_proposed() -> None:
    """The rules for cue words and the weighing of statements ask the same."""
    session = [asked(1, "Why is it slow?"), answered(1, POOL)]
    assert [one for one in find_claims(session) if "connection" in one.statement]
    session += [asked(2, "no, the pool of `get` is global"), answered(2, "You're right, I was wrong about the pool.")]
    assert not [one for one in find_claims(session) if "connection" in one.statement]


REVIEW = "Please look at this:\n\ncoderabbitai bot commented:\nAlways wrap `open` in a retry. Never use `print`."


def test_a_programs_review_is_not_the_persons_word() -> None:
    """People paste reviews to have them answered, not to decree them."""
    assert own_words(asked(1, REVIEW)).text == "Please look at this:\n\n"
    assert own_words(answered(1, REVIEW)).text == REVIEW
    assert own_words(asked(1, "Copilot is nice. Never use `print`.")).text.endswith("`print`.")
    assert find_claims([asked(1, REVIEW), answered(1, "I declined both.")]) == []


@pytest.mark.parametrize("when", ["now, only the parser's", "right now", "for now", "today", "this time"])
def test_an_order_for_once_is_no_rule(when: str) -> None:
    """What holds for the moment is wrong a day later."""
    assert find_claims([Utterance("user", "Never run the whole suite, it needs the database.", 1)])
    assert not find_claims([Utterance("user", f"Do not run the whole test suite {when}.", 1)])


@pytest.mark.parametrize(
    ("reply", "is_withdrawn"),
    [("lets add a todo for that", True), ("yes, do that", False), ("option 2, please", False)],
)
def test_what_was_only_offered_counts_if_somebody_agreed(reply: str, is_withdrawn: bool) -> None:
    """An offer reads like a decision once the question after it is cut off."""
    words = "Keep `synchronize` off in dev, and run pending migrations at the start."
    said = f"**A middle-ground option:** {words} Want me to go ahead?"
    session = [asked(1, "Should dev run migrations?"), answered(1, said), asked(2, reply), answered(2, "Done.")]
    assert WithdrawnWords(session).hold(1, "agent", words, "A middle-ground option:") is is_withdrawn


def test_names_that_an_edit_took_out_again_are_withdrawn() -> None:
    """Whoever reads that the log level is `info` must not find `debug` in the code."""
    session = [answered(1, "…", wrote=True), Utterance("agent", "log::info!", 3, UNDONE, (), True)]
    withdrawn = WithdrawnWords(session)
    assert withdrawn.hold(1, "agent", "Changed `log::debug!` to `log::info!` so that renames are seen.")
    assert not withdrawn.hold(1, "agent", "`log::debug!` is off in releases.")
    assert not withdrawn.hold(3, "agent", "`log::info!` is for what users should see.")


def committed(turn: int, text: str) -> Utterance:
    return Utterance("agent", text, turn, "commit", ("a.py",), True)


@pytest.mark.parametrize(
    ("command", "status", "left"),
    [
        ("git reset --soft HEAD~1", 0, {"asked 1", "asked 2", "kept"}),
        ("git reset --hard HEAD~1", 0, {"asked 1", "kept"}),
        ("git revert --no-edit HEAD", 0, {"asked 1", "kept"}),
        ("git reset --hard HEAD^ && git status", 1, {"asked 1", "asked 2", "kept", "gone"}),
        ("git reset HEAD a.py", 0, {"asked 1", "asked 2", "kept", "gone"}),
        ("git reset --soft HEAD~2", 0, {"asked 1", "asked 2"}),
    ],
)
def test_commits_that_were_taken_back_say_nothing(command: str, status: int, left: set[str]) -> None:
    """A message that nobody can find in the log any more is no witness; with the work goes what was said of it."""
    turns = [asked(1, "asked 1"), committed(1, "kept"), asked(2, "asked 2"), committed(2, "gone")]
    assert {one.text for one in without_reset(turns, [TriedCommand(command, status, 3)])} == left


@pytest.mark.parametrize(
    "header",
    [
        *(
            "chatgpt-codex-connector (bot) reviewed 3 files",
            "claude bot left a comment",
            "@cursor reviewed your changes",
        ),
        *("Review by Qodo Merge:", "**Codex Review**: Here are some automated review suggestions"),
        *("github-actions bot: AI review summary", "Greptile Summary"),
    ],
)
def test_every_programs_review_is_known_by_its_head(header: str) -> None:
    """New reviewers appear every month; their heads look alike."""
    assert own_words(asked(1, f"see below\n\n{header}\n\nNever use `print`.")).text == "see below\n\n"
