"""Do two statements contradict each other? Few false alarms, and most contradictions found."""

import json
import os
import random
import string
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.claims import SimilarStatements, Statement, Verdict, conflict, same
from holdfast.model.claims.compare import paths_overlap
from holdfast.model.claims.numbers import disagree, quantities
from holdfast.model.claims.sentences import claim
from holdfast.model.claims.word_stems import tokens
from tests.conftest import init

PAIRS = Path(__file__).resolve().parents[1] / "curation" / "conflicts"


def pairs(name: str = "tuning.jsonl") -> Iterator[dict[str, Any]]:
    with (PAIRS / name).open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def statement(side: dict[str, Any]) -> Statement:
    return Statement(side["text"], side["type"], tuple(side["applies_to"]))


def between(one: str, other: str) -> Verdict | None:
    return conflict(Statement(one), Statement(other))


SIDES = ("accepted", "candidate")
TEXTS = sorted({pair[side]["text"] for pair in pairs() for side in SIDES})
sentences = st.sampled_from(TEXTS)
anything = st.one_of(sentences, st.text(max_size=200), st.text(string.printable, max_size=200))


@pytest.mark.parametrize(
    ("name", "precision", "recall"), [("tuning.jsonl", 0.7, 0.9), ("tuning_more.jsonl", 0.7, 0.85)]
)
def test_the_pairs_for_development_are_judged_well(name: str, precision: float, recall: float) -> None:
    """What blocks is almost always right; what is shown besides finds most."""
    certain, shown = list[bool](), list[bool]()
    wanted = 0
    for pair in pairs(name):
        gone = pair["accepted"]["status"] != "accepted"
        wanted += pair["conflict"]
        if verdict := conflict(statement(pair["accepted"]), statement(pair["candidate"]), gone=gone):
            shown.append(pair["conflict"])
            certain += [pair["conflict"]] * verdict.certain
    assert sum(certain) / len(certain) >= 0.97
    assert sum(shown) / len(shown) >= precision
    assert sum(shown) / wanted >= recall


SIBLINGS = [
    ("`fetch()` retries 3 times.", "`push()` retries 5 times."),
    ("`Session.get` never raises.", "`Session.post` raises `HTTPError`."),
    ("parse_args() returns a list.", "parse_env() returns a dict."),
    ("The `timeout` of `connect()` defaults to 30.", "The `timeout` of `read()` defaults to None."),
    ("`MAX_SIZE` is 100.", "`MIN_SIZE` is 10."),
    ("getUser takes 1 argument.", "setUser takes 2 arguments."),
]


@pytest.mark.parametrize(("one", "other"), SIBLINGS)
def test_a_code_name_is_a_subject_and_no_value(one: str, other: str) -> None:
    """True statements about sibling functions were refused as contradictions."""
    verdict = between(one, other)
    assert verdict is None or not verdict.certain


@pytest.mark.parametrize(
    ("one", "other"),
    [("`fetch()` retries 3 times.", "`fetch()` retries 5 times."), ("`MAX_SIZE` is 100.", "`MAX_SIZE` is 10.")],
)
def test_one_code_name_with_two_values_contradicts(one: str, other: str) -> None:
    """Two memories about one function that cannot both be true must not both be accepted."""
    verdict = between(one, other)
    assert verdict is not None
    assert verdict.certain


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Never log request bodies.", "Request bodies must be kept out of the logs."),
        ("No upload is stored before it was scanned.", "Uploads must be scanned before they are stored."),
        ("Public functions need a docstring.", "Public functions have a docstring, for private ones it is optional."),
        ("Users join by mail; the link is valid for 7 days.", "Users reset by mail; the link is valid for 1 hour."),
        ("Routing all 203 GitHub API endpoints.", "Routing all 26 Parse API endpoints."),
        ("GetBranch() is 10 lines long.", "getBranch() is 4 lines long."),
    ],
)
def test_what_agrees_or_is_about_two_things_is_not_refused(one: str, other: str) -> None:
    """Who is refused a true statement accepts the next refusal without reading it."""
    verdict = between(one, other)
    assert verdict is None or not verdict.certain


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Only the leader node runs cron jobs.", "Cron jobs run on every node."),
        ("Lock files are committed for applications and ignored for libraries.", "Libraries commit their lock file."),
    ],
)
def test_what_may_contradict_is_never_joined(one: str, other: str) -> None:
    """A candidate that is joined with its contrary is lost, and nobody is asked."""
    assert not same(Statement(one), Statement(other))


@given(anything)
def test_nothing_contradicts_itself(text: str) -> None:
    """Who proposes what is known already must not be told that it is wrong."""
    assert conflict(Statement(text), Statement(text)) is None
    assert same(Statement(text), Statement(text))


@given(sentences, sentences)
def test_a_contradiction_has_no_direction(one: str, other: str) -> None:
    """Two branches that merge must be told the same, whichever is merged into the other."""
    assert (between(one, other) is None) == (between(other, one) is None)


_READ_TOPICS = """
import json, sys
from holdfast.model.claims.features import leanings
from holdfast.model.claims.features import word_signs
for line in sys.stdin:
    signs = word_signs(json.loads(line))
    found = leanings(signs.words, signs.signs)
    print(sorted((topic, one.value, one.share, one.sign) for topic, one in found.items()))
"""


@pytest.mark.parametrize("count", [600, pytest.param(None, marks=pytest.mark.torture)])
def test_every_process_judges_alike(seed: int, count: int | None) -> None:
    """Two clones must not disagree about a pair because Python orders a set differently in every process."""
    said = [pair[side]["text"] for pair in pairs("tuning_more.jsonl") for side in SIDES]
    texts = "".join(json.dumps(text) + "\n" for text in random.Random(seed).sample(said, count or len(said)))
    read = {
        subprocess.run(
            [sys.executable, "-c", _READ_TOPICS],
            input=texts, env={**os.environ, "PYTHONHASHSEED": order}, capture_output=True, text=True, check=True,
        ).stdout
        for order in ("0", "2")
    }  # fmt: skip
    assert len(read) == 1


@given(sentences, sentences)
def test_sameness_has_no_direction(one: str, other: str) -> None:
    """A rejected claim must not come back because it was compared the other way round."""
    assert same(Statement(one), Statement(other)) == same(Statement(other), Statement(one))


@given(sentences, sentences)
def test_paths_that_never_meet_never_conflict(one: str, other: str) -> None:
    """Rules for the engine say nothing against rules for the tools."""
    assert conflict(Statement(one, applies_to=("engine/",)), Statement(other, applies_to=("tools/**",))) is None


@given(sentences, sentences)
def test_what_is_gone_conflicts_only_with_its_twin(one: str, other: str) -> None:
    """Whoever opposes what was rejected agrees with the project."""
    verdict = conflict(Statement(one), Statement(other), gone=True)
    assert verdict is not None or not same(Statement(one), Statement(other))
    assert verdict is None or verdict.kind == "twin"
    assert verdict is None or verdict.certain == same(Statement(one), Statement(other))


@given(st.text(max_size=2000))
def test_any_text_is_read(text: str) -> None:
    """One odd entry must not take the review of all others with it."""
    conflict(Statement(text), Statement("Use uv instead of pip."))
    same(Statement("Use uv instead of pip.", "dead-end"), Statement(text, "dead-end"))


@pytest.mark.parametrize(
    "text",
    ["-" * 16384, "a-" * 8192, "not " * 4096, "1." * 8192, "(" * 16384, "a, " * 5461, " \n" * 8192,
     "` " * 8192, "use x instead of y " * 862, "a:" * 8192, "\n- " * 5461, ". " * 8192,
     "if " * 5461, "é" * 8000],
    ids=lambda text: repr(text[:8]),
)  # fmt: skip
def test_the_longest_statements_are_read_at_once(text: str) -> None:
    """Sixteen kilobytes of anything come to an end; the suite's own time limit is the clock here."""
    for other in (text, text[1:], "Always use tabs."):
        conflict(Statement(text, "dead-end"), Statement(other, "dead-end"))
        same(Statement(text), Statement(other))
    SimilarStatements({"a": Statement(text)}).near(Statement(text))


EXAMPLES = [
    ("value", "Use PostgreSQL as the primary database.", "MySQL is our primary database."),
    ("value", "Feature branches are cut from `develop`.", "Feature branches are cut from `main`."),
    ("value", "Environment wins over the file.", "The file wins over the environment."),
    ("negation", "Windows is supported.", "Windows is no longer supported."),
    ("negation", "Sessions are stored in Redis instead of Postgres.", "Sessions are stored in Postgres."),
    ("negation", "Config objects are immutable.", "Config objects are mutable."),
    ("modality", "Type annotations are mandatory.", "Type annotations are optional."),
    ("modality", "Tests can't run in parallel.", "Tests can run in parallel."),
    ("number", "The request timeout is 30 s.", "Requests time out after ten seconds."),
    ("number", "Pin numpy<2.0.", "numpy must be 2.1 or newer."),
]


@pytest.mark.parametrize(("kind", "one", "other"), EXAMPLES)
def test_a_contradiction_is_found_and_named(kind: str, one: str, other: str) -> None:
    """A reviewer decides by the sentence that says what disagrees."""
    verdict = between(one, other)
    assert verdict is not None
    assert verdict.kind == kind
    assert verdict.why
    assert 0 < verdict.score <= 1


EVERYDAY = [
    ("Sessions are stored in Redis.", "Sessions are stored in Postgres, not in Redis"),
    ("Deploy from main only.", "Deploy from release branches."),
    ("Use npm for installs.", "No npm: use pnpm"),
]


@pytest.mark.parametrize(("one", "other"), EVERYDAY)
def test_what_people_write_every_day_is_found(one: str, other: str) -> None:
    """A tool that misses these is not asked a second time."""
    verdict = between(one, other)
    assert verdict is not None
    assert verdict.why


NAMES = [
    ("Fact number 1.", "Fact number 0."),
    ("See issue 12.", "See issue 13."),
    ("This is part 2 of the plan.", "This is part 3 of the plan."),
]


@pytest.mark.parametrize(("one", "other"), NAMES)
def test_another_number_in_a_name_is_another_thing(one: str, other: str) -> None:
    """Numbered entries would all contradict one another, or be joined into one."""
    assert between(one, other) is None
    assert not same(Statement(one), Statement(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The notes are in README.", "The notes are in ../README."),
        ("The wind blows in the north.", "The wind blows in the south."),
        ("Backups run nightly.", "Backups run nightly at 03:00 UTC and are verified weekly."),
        ("`a/b.py` owns the lock.", "`a/c.py` owns the lock."),
    ],
)
def test_what_says_more_or_names_another_file_is_not_the_same(one: str, other: str) -> None:
    """Two entries that are joined by mistake lose one of their facts."""
    assert not same(Statement(one), Statement(other))


SILENT = [
    ("The request timeout is 30 s.", "Requests time out after half a minute."),  # the same
    ("Retry failed requests.", "Retry failed requests up to 3 times."),  # more detail
    ("Access tokens expire after 15 minutes.", "Refresh tokens expire after 30 days."),  # another thing
    ("The request timeout is 30 s in production.", "The request timeout is 2 s in tests."),  # elsewhere
    ("In tests, use SQLite.", "In production, use PostgreSQL."),
    ("The billing service uses MySQL.", "The catalog service uses PostgreSQL."),
    ("Requires Python >= 3.11.", "CI runs on Python 3.12."),
    ("There is no test without a docstring.", "Every test has a docstring."),  # twice no
    ("Use black for formatting.", "The dashboard has a black header."),  # shares words only
    ("All timestamps are stored in UTC.", "Timestamps are shown in the user's local time zone."),
    ("Tests must not touch the network.", "Tests must not touch the network, except those marked live."),
]


@pytest.mark.parametrize(("one", "other"), SILENT)
def test_what_can_stand_side_by_side_is_left_alone(one: str, other: str) -> None:
    """What is refused for nothing costs a reviewer's trust; a hint may stand beside it."""
    verdict = between(one, other)
    assert verdict is None or not verdict.certain


def test_a_rationale_contradicts_nothing() -> None:
    """Why something was decided often names what was turned down."""
    decided = "Decision: Use Kafka for events.\n\nRationale: RabbitMQ lost messages; we do not use Redis."
    assert claim(decided) == "Use Kafka for events."
    assert between(decided, "Use Redis for caching.") is None


@pytest.mark.parametrize(
    "dressed",
    [
        "Decision: {}\nRationale: MySQL was slow, and 3 teams never use it.",
        "# A title\n\nDecision: {}\n\nRationale: see above.",
        "Context: we had 12 outages.\n\n**Decision:** {}",
        "From now on, {}",
        "{} In May we looked at it again.",
    ],
)
def test_dress_does_not_change_a_claim(dressed: str) -> None:
    """One team writes a sentence, another a record with headings; both must be warned."""
    for _, one, other in EXAMPLES:
        assert between(one, dressed.format(other)) is not None
    for one, other in SILENT:
        verdict = between(one, dressed.format(other))
        assert verdict is None or not verdict.certain


def test_a_dead_end_speaks_against_trying_again() -> None:
    """What was tried and failed is the first thing an agent proposes anew."""
    tried = Statement("Tried HTTP/2 between the services: head-of-line blocking got worse.", "dead-end")
    assert conflict(tried, Statement("Use HTTP/2 between the services.", "decision")) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("30 s", "half a minute"),
        ("30 seconds", "30000 ms"),
        ("1 GiB", "1024 MiB"),
        ("at most 100 rows", "no more than 100 rows"),
        ("10,000 rows", "10k rows"),
        ("Python 3.11+", "Python >= 3.11"),
        ("five retries", "5 retries"),
        ("120 requests per minute", "2 requests per second"),
    ],
)
def test_one_figure_in_two_units_is_one_figure(one: str, other: str) -> None:
    """Half a minute and 30 s are no disagreement."""
    (ours,), (theirs,) = quantities(tokens(one)), quantities(tokens(other))
    assert ours.dimension == theirs.dimension
    assert not disagree(ours, theirs)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("30 s", "40 s"),
        ("at most 5 MB", "at most 20 MB"),
        ("Python >= 3.11", "Python 3.9 and up"),
        ("numpy < 2.0", "numpy 2.0"),
    ],
)
def test_other_figures_disagree(one: str, other: str) -> None:
    """Two limits for one thing: one of them is wrong."""
    (ours,), (theirs,) = quantities(tokens(one)), quantities(tokens(other))
    assert ours.dimension == theirs.dimension
    assert disagree(ours, theirs)
    assert disagree(theirs, ours)


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ((), ("src/",), True),
        (("src/",), ("src/api/x.py",), True),
        (("src/api",), ("src/apix",), False),
        (("src/**",), ("src/web/*.ts",), True),
        (("**/*.go",), ("**/*.py",), False),
        (("src/**/*.py",), ("Makefile",), False),
        (("gen/", "docs/"), ("src/", "docs/a.md"), True),
        (("src/*.py",), ("src/a.py",), True),
        (("src/**/*.py",), ("src/a.py",), True),
        (("tests/**",), ("src/**",), False),
    ],
)
def test_patterns_meet_where_one_file_matches_both(one: tuple[str, ...], other: tuple[str, ...], meet: bool) -> None:
    """A rule for one folder must not silence, nor be silenced by, a rule for another."""
    assert paths_overlap(one, other) is meet
    assert paths_overlap(other, one) is meet


def test_neighbours_find_the_pair_among_many() -> None:
    """A contradiction that is never looked at is never found."""
    known = {f"FCT-{n}": Statement(f"Module m{n} has {n} lines.") for n in range(300)}
    known["DEC-queue"] = Statement("Our message broker is RabbitMQ.")
    near = SimilarStatements(known)
    assert near.near(Statement("Kafka is the broker."), limit=3)[0] == "DEC-queue"
    near.add("DEC-late", Statement("The harbour crane is yellow."))
    assert near.near(Statement("Harbour cranes are red.")) == ["DEC-late"]
    assert len(near.near(Statement("Module lines"), limit=5)) <= 5


@pytest.mark.parametrize("command", [["log"], ["facts"], ["journal"], ["doctor"]], ids=" ".join)
def test_only_what_compares_statements_loads_the_tables(command: list[str], cli) -> None:  # type: ignore[no-untyped-def]
    """The tables are half a megabyte: a command that compares nothing must not wait for them."""
    init(cli.cwd)
    cli("remember", "The cache expires after an hour.")
    code = (
        f"import sys; from holdfast.interfaces.cli.main import main; sys.argv[1:] = {command!r}\n"
        "try: main()\n"
        "finally: sys.stderr.write(' '.join(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], cwd=cli.cwd, capture_output=True, check=False)
    loaded = done.stderr.decode().split()
    assert "holdfast.git.clone" in loaded
    assert "holdfast.model.claims" not in loaded


CORRECTED = "Sessions are stored in Postgres, not in Redis"


def test_what_denies_a_statement_does_not_repeat_it() -> None:
    """A correction that joined what it corrects would be lost without a word."""
    kept, corrected = (Statement(text, "decision", ()) for text in ("Sessions are stored in Redis.", CORRECTED))
    assert not same(kept, corrected) and not same(corrected, kept)
    assert conflict(kept, corrected) is not None


def test_the_number_of_a_line_is_no_figure() -> None:
    """A place in a file contradicts nothing that is counted."""
    assert [word.raw for word in tokens("a.go:39 prints two labels")] == ["a.go", "prints", "two", "labels"]
    assert [word.raw for word in tokens("at 10:39 it waits")][1] == "10:39"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Wir verwenden Redis für die Warteschlange.", "Wir verwenden kein Redis für die Warteschlange."),
        ("Die Tests laufen auf dem Server.", "Die Tests laufen nicht auf dem Server."),
        ("Les tests tournent sur le serveur.", "Les tests ne tournent pas sur le serveur."),
        ("任务队列必须使用 Redis。", "任务队列不使用 Redis。"),
    ],
)
def test_what_denies_in_another_language_is_not_the_same_claim(one: str, other: str) -> None:
    """A reversal that counts as a witness for its opposite is worse than none."""
    assert not same(Statement(one), Statement(other))
