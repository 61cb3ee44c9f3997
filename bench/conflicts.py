"""Contradictions and duplicates: how well the judge finds them on the labelled pairs, and what a look-up costs.

Of the held-out half only totals are told: whoever sees its lines begins to tune against them. `bench.symbol_statements`
counts refusals among true statements about a code base.
"""

import json
import os
import pwd
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from bench.corpus import Words
from bench.measure import Result, at_most, cpu, least, told
from bench.recall.meaning import Meanings
from holdfast.model.claims import SimilarStatements, Statement, Verdict, compare, conflict, looks_like, same
from holdfast.model.claims.compare import paths_overlap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAIRS = os.path.join(ROOT, "tests/curation/conflicts")
HALVES = {
    "held out": "held_out.jsonl",
    "fresh": "fresh.jsonl",
    "statements": "statements.jsonl",
    "check": "check.jsonl",
    "tuning": "tuning.jsonl",
    "tuning, more": "tuning_more.jsonl",
    "tuning, statements": "tuning_statements.jsonl",
}
UNSEEN = ("held out", "fresh", "statements", "check")  # neither judge is fitted to these
# Pages that tell of one project: what they say does not contradict itself. The judge is fitted to the first.
_FORMATS = ("log-format", "recordings", "memory-files", "on-disk", "hooks")
_METHODS = ("transcripts", "contradictions", "extraction", "graph", "search-index", "ranking")
_FITTED = [f"docs/reference/{name}.md" for name in _FORMATS] + [f"docs/explanation/{name}.md" for name in _METHODS]
_GUIDES = ("commands", "settings", "errors", "python", "mcp", "connect", "recall", "why", "models", "stats", "agents")
_UNSEEN = [f"docs/reference/{name}.md" for name in _GUIDES] + ["docs/explanation/concepts.md"]
DOCS = {"fitted": ["docs/adr", *_FITTED], "unseen": ["docs", "docs/how-to", *_UNSEEN, "README.md"]}
# Precision and recall that are asked for: of what blocks, of what is shown, and of what is shown as a duplicate.
BARS = {"contradicts": (0.95, 0.0), "contradicts or may": (0.0, 0.7), "looks like": (0.7, 0.7)}
ENTRIES, ROUNDS = 10_000, 7


@dataclass(frozen=True, slots=True)
class Score:
    """What was made of a set of pairs: hits, and what was missed or warned of for nothing, by kind."""

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


Pair = dict[str, Any]


def conflicts() -> Iterator[Result]:
    """Precision and recall of all pairs; one candidate against ten thousand entries."""
    for name, file in HALVES.items():
        path = os.path.join(PAIRS, file)
        for grade, (flagged, wanted) in GRADES.items():
            yield from _told(name, grade, score(path, flagged, wanted))
            if grade in BASELINES:
                plain = score(path, BASELINES[grade], wanted)
                figures = f"precision {plain.precision:.3f}, recall {plain.recall:.3f}"
                yield told(f"{grade}, {name}: words in common alone", figures)
    for name in UNSEEN:
        yield from _among_others(name)
    yield from _all_unseen()
    yield from _with_vectors()
    yield _strangers()
    yield from _lookup()


def _all_unseen() -> Iterator[Result]:
    """Duplicates in all sets that nothing is fitted to: one of them alone has 20 to 66."""
    scores = [score(os.path.join(PAIRS, HALVES[name]), *GRADES["looks like"]) for name in UNSEEN]
    missed, false = (sum((getattr(one, of) for one in scores), Counter[str]()) for of in ("missed", "false"))
    whole = Score(sum(one.pairs for one in scores), sum(one.found for one in scores), missed, false)
    yield from _told(f"{' + '.join(UNSEEN)}", "looks like", whole)


def _with_vectors() -> Iterator[Result]:
    """What the small embedding model would add to *looks like*: average precision of either, and of both together."""
    own_home = pwd.getpwuid(os.getuid()).pw_dir  # HOME is the bench's own here
    meanings = Meanings.installed(None, os.path.join(own_home, ".cache", "holdfast"))
    if (model := meanings.model) is None:
        yield told("looks like with embeddings", meanings.told)
        return
    _, trees = compare.judge("twins")
    for name in UNSEEN:
        rows: list[ScoredPair] = []
        with open(os.path.join(PAIRS, HALVES[name]), encoding="utf-8") as file:
            for pair in (pair for pair in map(json.loads, file) if _repeats(pair) is not None):
                found = compare.measure_features(*_sides(pair))
                one, other = model.vectors([side.text for side in _sides(pair)])
                by_rules = sum(compare.vote(tree, found) for tree in trees)
                rows.append((by_rules, float(one @ other), bool(_repeats(pair))))
        by = {"rules": (1, 0), "vectors": (0, 1), "both": (1, 6)}  # votes reach from -6 to 6, cosines from 0 to 1
        figures = (f"{how} {_average_precision(rows, *weights):.3f}" for how, weights in by.items())
        yield told(f"looks like, {name}: average precision", ", ".join(figures))


ScoredPair = tuple[float, float, bool]  # by rules, by vectors, and whether it is one claim twice


def _average_precision(rows: list[ScoredPair], by_rules: int, by_vectors: int) -> float:
    ranked = sorted(rows, key=lambda row: by_rules * row[0] + by_vectors * row[1], reverse=True)
    places = [place for place, row in enumerate(ranked, 1) if row[2]]
    return sum(found / place for found, place in enumerate(places, 1)) / max(1, len(places))


def _certain(pair: Pair) -> bool:
    found = conflict(*_sides(pair), gone=_gone(pair))
    return found is not None and found.certain


def _shown(pair: Pair) -> bool:
    return conflict(*_sides(pair), gone=_gone(pair)) is not None


def _looks_like(pair: Pair) -> bool:
    one, other = _sides(pair)
    return paths_overlap(one.applies_to, other.applies_to) and (same(one, other) or looks_like(one, other))


def _conflicts(pair: Pair) -> bool:
    return bool(pair["conflict"])


def _repeats(pair: Pair) -> bool | None:
    """Whether a pair is one claim twice; whether a refinement is, is nobody's to say."""
    return None if pair["why"] == "refinement" else pair["why"] in ("twin", "paraphrase")


Flagged, Wanted = Callable[[Pair], bool], Callable[[Pair], bool | None]
GRADES: dict[str, tuple[Flagged, Wanted]] = {
    "contradicts": (_certain, _conflicts),
    "contradicts or may": (_shown, _conflicts),
    "looks like": (_looks_like, _repeats),
}


def _overlap(pair: Pair) -> float:
    one, other = (set(re.findall(r"\w+", side.text.lower())) for side in _sides(pair))
    return len(one & other) / max(1, len(one | other))


def _denies(text: str) -> bool:
    return re.search(r"\b(?:not|no|never|without|cannot|\w+n't)\b", text.lower()) is not None


def _half_alike(pair: Pair) -> bool:
    return _overlap(pair) >= 0.5


def _one_denies(pair: Pair) -> bool:
    one, other = _sides(pair)
    return _overlap(pair) >= 0.3 and _denies(one.text) != _denies(other.text)


BASELINES: dict[str, Flagged] = {"contradicts or may": _one_denies, "looks like": _half_alike}


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
    """How many sentences of pages that contradict nothing are refused or warned about, beside half of the others."""
    said = sentences(DOCS["unseen"])
    random.Random(2).shuffle(said)
    known = {str(n): Statement(text, "decision") for n, text in enumerate(said[::2])}
    near, asked = SimilarStatements(known), [Statement(text, "decision") for text in said[1::2]][:250]
    found = [[verdict for name in near.near(one) if (verdict := _hint(near, known[name], one))] for one in asked]
    repeated = sum(any(looks_like(known[name], one) for name in near.near(one)) for one in asked)
    refused = sum(any(verdict.certain for verdict in verdicts) for verdicts in found)
    what = f"beside {len(known)} sentences of one project's pages, for nothing"
    shown = f"{refused} refused, {sum(map(bool, found))} may contradict, {repeated} look like something"
    return told(what, f"{shown}, of {len(asked)} candidates")


def _hint(near: SimilarStatements, known: Statement, one: Statement) -> Verdict | None:
    """What a reviewer is shown of two statements, as `curation.memory_conflicts` decides it."""
    verdict = conflict(known, one)
    return verdict if verdict and near.is_worth_a_hint(verdict, known, one) else None


def _among_others(name: str) -> Iterator[Result]:
    """How many contradictions a reviewer sees: as the second memory of a project, and among all of the set."""
    with open(os.path.join(PAIRS, HALVES[name]), encoding="utf-8") as file:
        pairs = [pair for pair in map(json.loads, file) if not _gone(pair)]
    sides = [_sides(pair) for pair in pairs]
    everything = SimilarStatements({str(number): one for number, (one, _) in enumerate(sides)})
    wanted = [number for number, pair in enumerate(pairs) if _conflicts(pair)]

    def found(number: int, near: SimilarStatements) -> bool:
        one, other = sides[number]
        return str(number) in near.near(other) and _hint(near, one, other) is not None

    alone = sum(found(number, SimilarStatements({str(number): sides[number][0]})) for number in wanted)
    among = sum(found(number, everything) for number in wanted)
    shown = f"{alone / len(wanted):.3f} beside one memory, {among / len(wanted):.3f} among {len(sides)}"
    yield told(f"contradicts or may, {name}: recall as shown in review", shown)


def score(path: str, flagged: Flagged, wanted: Wanted) -> Score:
    """The score on a file of pairs."""
    found, missed, false, pairs = 0, Counter[str](), Counter[str](), 0
    with open(path, encoding="utf-8") as file:
        for pair in map(json.loads, file):
            if (label := wanted(pair)) is None:
                continue
            hit, pairs = flagged(pair), pairs + 1
            found += hit and label
            missed[pair["why"]] += label and not hit
            false[pair["why"]] += hit and not label
    return Score(pairs, found, +missed, +false)


def _gone(pair: Pair) -> bool:
    return bool(pair["accepted"]["status"] != "accepted")


def _sides(pair: Pair) -> tuple[Statement, Statement]:
    one, other = (
        Statement(side["text"], side["type"], tuple(side["applies_to"]))
        for side in (pair["accepted"], pair["candidate"])
    )
    return one, other


def _told(name: str, grade: str, score: Score) -> Iterator[Result]:
    for what, value, bar in zip(("precision", "recall"), (score.precision, score.recall), BARS[grade], strict=True):
        if bar:
            text = f"{grade}, {name}: {what}"
            yield Result(text, f"{value:.3f}", "", value / bar, f">= {bar:.2f}", value >= bar)
        else:
            yield told(f"{grade}, {name}: {what}", f"{value:.3f}")
    counts = f"{score.found} found, {score.missed.total()} missed, {score.false.total()} false"
    yield told(f"{grade}, {name}: {score.pairs} pairs", counts)
    if name.startswith("tuning"):
        yield told(f"{grade}, {name}: missed by kind", _listed(score.missed))
        yield told(f"{grade}, {name}: false by kind", _listed(score.false))


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
