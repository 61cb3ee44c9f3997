"""The rules as a whole: how many kinds of secrets they find, how little else, and that nothing slows them."""

import os
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from holdfast.security.redact import Scanner
from holdfast.security.rules import rules_text, shapes

from .fakes import ALNUM, HEX
from .kinds import kinds, samples

SCAN = Scanner()
DOCS = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "security.md"
# Kinds that were once missed, each by the name that `kinds.txt` gives it.
ONCE_MISSED = (
    *("1password secret key", "adobe client secret", "artifactory reference", "aws bedrock", "clojars"),
    *("facebook page", "frame.io", "harness personal", "octopus deploy", "openshift", "scalingo", "posthog"),
    *("apify", "figma app", "teams web hook", "nuget", "gitlab session", "sonarcloud", "rootly"),
    "sourcegraph cody",
)


def test_kinds_of_a_public_scanner_are_found(seed: int) -> None:
    """What others have known for years is what an attacker looks for first."""
    made, missed = Counter[bool](), Counter[bool]()
    names = Counter[str]()
    for sample in samples(seed):
        identified = sample.kind.shown_by != "around"
        made[identified] += 1
        if sample.is_left_in(SCAN.text(sample.text)):
            missed[identified] += 1
            names[sample.kind.name] += 1
    print(made, names)
    assert len(kinds()) >= 220
    assert missed[True] <= made[True] * 0.05 and missed[False] <= made[False] * 0.05


def test_kinds_once_missed_are_found_in_every_context(seed: int) -> None:
    """A gap that somebody has shown must not open again."""
    found = Counter(s.kind.name for s in samples(seed) if not s.is_left_in(SCAN.text(s.text)))
    assert {name: found[name] for name in ONCE_MISSED} == dict.fromkeys(ONCE_MISSED, 5)


def value(chance: random.Random, alphabet: str = HEX, length: int = 40) -> str:
    return "".join(chance.choice(alphabet) for _ in range(length - 4)) + "1a2b"


@pytest.mark.parametrize(
    "text",
    [
        "DATADOG={}",
        'datadog = "{}"',
        '{{"myDatadogThing":"{}"}}',
        '{{\\"datadog_site\\": \\"{}\\"}}',
        "x.DatadogApp: {}",
        "<datadogApp>{}</datadogApp>",
        "'okta' => '{}',",
        "heroku_auth := `{}`",
        "a\\ndatadog: {}\\nb",
    ],
)
def test_a_random_word_beside_a_providers_name_vanishes(text: str, seed: int) -> None:
    """Most services give their keys no shape; their name is all that shows them."""
    secret = value(random.Random(seed), ALNUM)
    clean = SCAN.text(text.format(secret))
    assert secret[8:24] not in clean and clean == text.format("[redacted:provider]")


@pytest.mark.parametrize(
    "text",
    [
        "scrollbar.py,sha256={}",
        "blob_id = '{}'",
        "TRAVIS_COMMIT: {}",
        "uses: codecov/codecov-action@{}",
        "sentry_release = {}",
        "datadog {} twitter",
        "datadog was asked\ncommit: {}",
        "datadog = get_{}(1)",
        "datadog: $SECRET_{}",
    ],
)
def test_other_facts_beside_a_name_survive(text: str, seed: int) -> None:
    """A commit id that is blotted out because a service is named near it is of no use as evidence."""
    text = text.format(value(random.Random(seed)))
    assert SCAN.text(text) == text


def test_source_code_is_hardly_touched() -> None:
    """A rule that hides a line of every file makes what is indexed and shown useless."""
    hide, lines, touched = SCAN.for_others(), 0, []
    for name in ("email", "http", "asyncio", "unittest", "xml", "json", "logging"):
        for path in sorted(Path(os.path.dirname(os.__file__), name).rglob("*.py")):
            data = path.read_bytes()
            both = zip(data.split(b"\n"), hide.file(data).split(b"\n"), strict=True)
            lines += data.count(b"\n") + 1
            touched += [before for before, after in both if before != after]
    print(touched)
    assert lines > 20_000 and len(touched) <= lines * 0.003


def test_lines_keep_their_numbers_and_tags_of_others_mean_nothing() -> None:
    """A hit that names a wrong line misleads, and a `<private>` in a page must not mute what follows."""
    hide = SCAN.for_others()
    key = "\n".join(["-----BEGIN " + "EC PRIVATE KEY-----", *[value(random.Random(1), ALNUM, 64)] * 30])
    text = f"a\n{key}\n-----END EC PRIVATE KEY-----\nb <private> c\nd\n"
    clean = hide.text(text)
    assert clean.count("\n") == text.count("\n") and clean.endswith("\nb <private> c\nd\n")
    assert clean.split("\n")[1] == "[redacted:private-key]"
    stream, data = hide.stream(), text.encode()
    cuts = [*range(0, len(data), 37), len(data)]
    assert b"".join(stream.feed(data[a:b]) for a, b in pairwise(cuts)) + stream.finish() == clean.encode()


def test_other_rules_have_another_key() -> None:
    """An index that was made with other rules has to be made again."""
    keys = [Scanner().key, Scanner(["corp-[0-9]{4}"]).key, Scanner([], ["corp-[0-9]{4}"]).key]
    assert len(set(keys)) == 3 and Scanner().key == keys[0] == Scanner().for_others().key


def test_the_data_file_says_what_it_means() -> None:
    """Whoever adds a rule must not get a silent typing error for it."""
    text = rules_text()
    assert not [line for line in text.split("\n") if line != line.rstrip() or "\t" in line]
    providers = [anchor for shape in shapes() if shape.beside for anchor in shape.anchors]
    assert len(providers) == len(set(providers)) >= 100
    for shape in shapes():
        assert shape.compiled().groups == len(shape.rests), shape.name
        assert (shape.anchors and not shape.fold) or all(a == a.lower() for a in shape.anchors), shape.name
        assert re.fullmatch(r"[a-z0-9-]{1,32}", shape.name)


def test_the_page_names_every_rule() -> None:
    """A person who reads `[redacted:x]` wants to know what x is."""
    page = DOCS.read_text()
    listed = page[page.index("<!-- rules -->") : page.index("<!-- /rules -->")]
    assert sorted(set(re.findall(r"`([a-z0-9-]+)`", listed))) == sorted({shape.name for shape in shapes()})


# Hostile inputs.

FILLS = (
    *(" ", "a", "1", "1a", "_", "-", '"', "'", "\\", "\\\\", "=", ":", "@", "%41", "\\u0041", "/", ".", ", "),
    *("key", "password ", "token=", "datadog_", "a1_", "A1-", "\x1b[0m", "[redacted:", "\n", "{", "$", "<"),
)


def hostile(seed: int, count: int) -> Iterator[str]:
    """Pieces of rules and what keeps them going, over and over."""
    chance = random.Random(seed)
    anchors = [anchor.decode() for shape in shapes() for anchor in shape.anchors]
    made = [sample.text for sample in samples(seed)]
    for _ in range(count):
        kinds_of = chance.choices((anchors, FILLS, made), weights=(1, 2, 1), k=chance.randint(1, 4))
        parts = [chance.choice(some) for some in kinds_of]
        yield "".join(part * chance.choice((1, 1, 3, 40)) if len(part) < 40 else part for part in parts)


def is_linear(unit: str) -> None:
    """Scanning four times as much takes about four times as long, not sixteen."""
    took = []
    for size in (16_000, 64_000):
        text = (unit * (size // len(unit.encode()) + 1)).encode()[:size]
        taken = []
        for _ in range(2):
            stream, start = SCAN.stream(), time.thread_time()
            stream.feed(text)
            stream.finish()
            taken.append(time.thread_time() - start)
        took.append(min(taken))
    assert took[1] <= 9 * took[0] + 0.05, (unit[:200], took)
    assert took[1] < 5, (unit[:200], took)


def test_no_input_makes_the_rules_slow(seed: int) -> None:
    """A hostile line in a log must not hold up the run that prints it."""
    for unit in hostile(seed, 25):
        is_linear(unit)


@pytest.mark.torture
def test_no_input_makes_the_rules_slow_often(seed: int) -> None:
    """The same, with enough inputs to meet two rules that lead each other on."""
    for unit in hostile(seed, 3000):
        is_linear(unit)
