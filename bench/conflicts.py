"""Conflicts between statements: how well the rules find them on the labelled pairs, and what a look-up costs.

Of the held-out half only totals are told: whoever sees its lines begins to tune against them.
"""

import json
import os
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from bench.corpus import Words
from bench.measure import Result, at_most, cpu, least, told
from holdfast.model.claims import SimilarStatements, Statement, conflict

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAIRS = os.path.join(ROOT, "tests/curation/conflicts")
HALVES = {
    "held out": "held_out.jsonl",
    "fresh": "fresh.jsonl",
    "tuning": "tuning.jsonl",
    "tuning, more": "tuning_more.jsonl",
}
# Pages that tell of one project: what they say does not contradict itself. The judge is fitted to the first.
DOCS = {"fitted": ["docs/adr", "docs/design"], "unseen": ["docs", "README.md"]}
PRECISION, RECALL = 0.9, 0.7
ENTRIES, ROUNDS = 10_000, 7


@dataclass(frozen=True, slots=True)
class Score:
    """What the rules made of a set of pairs: hits, and what they missed or warned of for nothing, by kind."""

    pairs: int
    found: int
    missed: Counter[str]
    false: Counter[str]

    @property
    def precision(self) -> float:
        return self.found / max(1, self.found + self.false.total())

    @property
    def recall(self) -> float:
        return self.found / max(1, self.found + self.missed.total())


def conflicts() -> Iterator[Result]:
    """Precision and recall of all pairs; one candidate against ten thousand entries."""
    for name, file in HALVES.items():
        path = os.path.join(PAIRS, file)
        if os.path.exists(path):
            yield from _told(name, score(path))
    yield _strangers()
    yield from _lookup()


def sentences(places: Iterable[str]) -> list[str]:
    """What pages say, sentence by sentence, without tables and code."""
    found: dict[str, None] = {}
    for path in sorted(path for place in places for path in _pages(os.path.join(ROOT, place))):
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"```.*?```", "", file.read(), flags=re.DOTALL)
        for block in re.split(r"\n\s*\n|\n[-*|] ", text):
            for one in re.split(r"(?<=[.;])\s+(?=[A-Z`])", " ".join(block.split())):
                said = one.strip(" |*-#")
                if 30 <= len(said) <= 220 and said[-1] in ".;" and said[0] not in "|[":
                    found[said] = None
    return list(found)


def _pages(place: str) -> list[str]:
    if os.path.isfile(place):
        return [place]
    return [os.path.join(place, name) for name in os.listdir(place) if name.endswith(".md")]


def _strangers() -> Result:
    """How many sentences of pages that contradict nothing are warned about, beside half of the others."""
    said = sentences(DOCS["unseen"])
    random.Random(2).shuffle(said)
    known = {str(n): Statement(text, "decision") for n, text in enumerate(said[::2])}
    near, asked = SimilarStatements(known), [Statement(text, "decision") for text in said[1::2]][:250]
    warned = sum(any(conflict(known[name], one) for name in near.near(one)) for one in asked)
    what = f"warned for nothing, beside {len(known)} sentences of one project's pages"
    return told(what, f"{warned} of {len(asked)} candidates")


def score(path: str) -> Score:
    """The rules' score on a file of pairs."""
    found, missed, false, pairs = 0, Counter[str](), Counter[str](), 0
    with open(path, encoding="utf-8") as file:
        for line in file:
            pair = json.loads(line)
            pairs += 1
            gone = pair["accepted"]["status"] != "accepted"
            flagged = conflict(_statement(pair["accepted"]), _statement(pair["candidate"]), gone=gone)
            if pair["conflict"]:
                found += flagged is not None
                missed[pair["why"]] += flagged is None
            else:
                false[pair["why"]] += flagged is not None
    return Score(pairs, found, +missed, +false)


def _statement(side: dict[str, Any]) -> Statement:
    return Statement(side["text"], side["type"], tuple(side["applies_to"]))


def _told(name: str, score: Score) -> Iterator[Result]:
    for what, value, bar in (("precision", score.precision, PRECISION), ("recall", score.recall, RECALL)):
        yield Result(f"conflicts, {name}: {what}", f"{value:.3f}", "", value / bar, f">= {bar:.2f}", value >= bar)
    counts = f"{score.found} found, {score.missed.total()} missed, {score.false.total()} false"
    yield told(f"conflicts, {name}: {score.pairs} pairs", counts)
    if name != "held out":
        yield told(f"conflicts, {name}: missed by kind", _listed(score.missed))
        yield told(f"conflicts, {name}: false by kind", _listed(score.false))


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items())) or "none"


def _lookup() -> Iterator[Result]:
    statements = _entries(ENTRIES)
    neighbours = SimilarStatements(statements)
    candidate = Statement("Request timeout: 10 seconds in the payment service.", "fact")

    def look() -> None:
        for name in neighbours.near(candidate):
            conflict(statements[name], candidate)

    def split() -> None:
        for statement in statements.values():
            statement.text.split()

    look()  # a reading is kept: what stays is what a second candidate costs
    best = least({"look": lambda: cpu(look), "split": lambda: cpu(split)}, ROUNDS)
    built = least({"build": lambda: cpu(lambda: SimilarStatements(statements))}, 3)["build"]
    what = f"one candidate against {ENTRIES:,} entries"
    yield at_most(f"{what} (floor: split their texts)", best["look"], best["split"], 3.0)
    yield told(f"the neighbours of {ENTRIES:,} entries built", f"{built * 1e3:.0f} ms")


def _entries(count: int) -> dict[str, Statement]:
    """So many statements, no two alike, about as many subjects as a large project has."""
    words = Words(4)
    return {
        f"DEC-{number:05d}": Statement(f"The {words.some(3)} of {words.some(4)} is {number} s.")
        for number in range(count)
    }
