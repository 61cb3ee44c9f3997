"""Scores a statement of a session by two weighted sums of features: is it worth keeping, and is it over?

The features: where it stands (a commit, a closing report, a request …), what its turn and later ones did, how often the
session repeats it, its shape (statement_shapes), and cue words, which are data for each language (statement_score.txt).
The weights are fitted to labelled sessions (`bench/memory/fit.py` writes statement_weights.txt), and so is the table
from a score to the share of such statements that were right.
"""

from __future__ import annotations

from functools import cache
from math import exp, fsum

from holdfast.curation.extraction import statement_shapes
from holdfast.curation.extraction.session_statements import SessionStatement, SessionWords, code_names, width
from holdfast.curation.extraction.statement_wording import standing_words
from holdfast.patterns import TYPE_CHECKING, PatternFile, text_beside

if TYPE_CHECKING:
    from collections.abc import Mapping

_SHAPE = PatternFile(__file__)
CUES = (
    *("because", "instead", "only", "negated", "fails", "status", "first_person", "next_step", "did", "is_so", "modal"),
    *("you", "design", "decides", "dead_end", "condition", "counted", "option", "offers", "wonders", "tests", "looks"),
    *("docs", "was", "now", "hedges", "mends", "every", "example"),
)
_APART = 0.05  # of confidence between the lowest and the highest score: enough to sort equals
HEADINGS = ("h_change", "h_verify", "h_next", "h_option", "h_cause", "h_note")
_BY_SOURCE = ("closing", "said", "request", "comment", "commit")
_CROSSED = ("because", "instead", "only", "negated", "is_so", "now", "was", "modal")
HEADS = ("kept", "over")  # what is scored
_CROSSED_EDGES = ("reports", "hard_fault")


def kept(one: SessionStatement, number: int, session: SessionWords) -> float:
    """Returns from 0 to 1 how likely a person keeps a statement."""
    return _likely(weights("kept"), _basic_features(one, number, session))


def over(one: SessionStatement, number: int, session: SessionWords) -> float:
    """Returns from 0 to 1 how likely the session ended what a statement tells; this takes twice as long."""
    return _likely(weights("over"), features(one, number, session))


def _likely(of: Mapping[str, float], found: Mapping[str, float]) -> float:
    return 1 / (1 + exp(-of["bias"] - fsum(of.get(name, 0.0) * value for name, value in found.items())))


def confidence(scored: float) -> float:
    """Returns the share of statements with such a score that were right; a higher score gets a little more."""
    below = [right for least, right in _calibration() if scored >= least]
    return round((below[-1] if below else 0.1) + _APART * (scored - 0.5), 3)


def features(one: SessionStatement, number: int, session: SessionWords) -> dict[str, float]:
    """Returns the features of a statement; missing ones are 0."""
    return _basic_features(one, number, session) | _late_features(one, session)


def _basic_features(one: SessionStatement, number: int, session: SessionWords) -> dict[str, float]:
    cues = {cue for cue in CUES if getattr(_SHAPE, cue).search(one.text)}
    values: dict[str, float] = dict.fromkeys(cues, 1.0)
    values |= {f"from {one.source}": 1.0}
    if one.source in _BY_SOURCE:
        values |= {f"{one.source} {cue}": 1.0 for cue in _CROSSED if cue in cues}
    values |= {name: 1.0 for name in HEADINGS if one.heading and getattr(_SHAPE, name).search(one.heading)}
    values |= _shape(one, cues)
    values |= _turn(one, cues, session)
    values |= _echo(one, number, session)
    return values


def _late_features(one: SessionStatement, session: SessionWords) -> dict[str, float]:
    """Returns the features that count for `over` alone."""
    return _wording(one) | _afterwards(one, session)


def _shape(one: SessionStatement, cues: set[str]) -> dict[str, float]:
    names, size = len(code_names(one.text)), width(one.text)
    found = {
        "is short": size < 60,
        "is shortish": 60 <= size < 100,
        "is long": 150 < size <= 300,
        "is very long": size > 300,
        "names code": names > 0,
        "code because": names > 0 and "because" in cues,
        "code instead": names > 0 and "instead" in cues,
        "is listed": one.is_listed,
        "comes first": one.place == 0,
        "comes last": one.place == one.count - 1,
        "reason follows": _SHAPE.because.match(one.after) is not None,
        "next step follows": _SHAPE.next_step.search(one.after) is not None,
    }
    return {name: 1.0 for name, is_so in found.items() if is_so} | {"code names": min(names, 5) / 5}


def _wording(one: SessionStatement) -> dict[str, float]:
    """Returns the shapes of a statement as it would be saved."""
    text = standing_words(one.text)
    edges = statement_shapes.edges(text)
    found = {*edges, *(f"{one.source} {edge}" for edge in _CROSSED_EDGES if edge in edges)}
    if statement_shapes.is_ready(text):
        found |= {"could be saved", f"{one.source} could be saved"}
    parts = {"begins with code": text[:1] == "`", "something before": one.before, "something after": one.after}
    found |= {name for name, is_so in parts.items() if is_so}
    return {f"shape {name}": 1.0 for name in found} | {"shape length": min(len(text), 400) / 400}


def _afterwards(one: SessionStatement, session: SessionWords) -> dict[str, float]:
    """Returns what the session did that may have ended what a statement tells."""
    is_before = statement_shapes.is_before_work(one.source, one.turn, session.wrote)
    is_faulty = statement_shapes.is_fault(one.told) or statement_shapes.calls_for_change(one.told)
    goes_on = any(turn > one.turn for turn in session.wrote)
    found = {
        "mended": one.mended,
        "before work": is_before,
        "describes before work": is_before and statement_shapes.describes(statement_shapes.kind_of(one), one.text),
        "faulty before work": is_before and is_faulty,
        "faulty and mended": one.mended and is_faulty,
        "closing before more work": one.source == "closing" and goes_on,
        "request before more work": one.source == "request" and goes_on,
    }
    lateness = session.numbers.index(one.turn) / len(session.numbers)
    return {f"after {name}": 1.0 for name, is_so in found.items() if is_so} | {"after lateness": lateness}


def _turn(one: SessionStatement, cues: set[str], session: SessionWords) -> dict[str, float]:
    """Returns what the turn of a statement did, and how a person answered it."""
    turns, wrote = session.numbers, one.turn in session.wrote
    later = turns[turns.index(one.turn) + 1 :]
    asked, answer = session.text("asked", one.turn), session.text("asked", later[0]) if later else ""
    by_agent, by_user = one.source in ("said", "closing"), one.source == "request"
    found = {
        "turn wrote": wrote,
        "turn committed": one.turn in session.committed,
        "later turn wrote": any(turn in session.wrote for turn in later),
        "last turn": not later,
        "first turn": one.turn == turns[0],
        "closing of work": one.source == "closing" and wrote,
        "closing of talk": one.source == "closing" and not wrote,
        "failure of work": wrote and "fails" in cues and (by_agent or by_user),
        "wish of work": by_user and wrote and "wonders" in cues,
        "step on the way": one.source == "said" and bool(cues & {"first_person", "next_step"}),
        "conceded": by_user and _SHAPE.concedes.search(session.said(one.turn)[:300]) is not None,
        "then refused": by_agent and _SHAPE.refuses.match(answer) is not None,
        "then agreed": by_agent and _SHAPE.agrees.match(answer) is not None,
        "after a question": "?" in asked[-200:],
        "many turns": len(turns) > 5,
    }
    return {name: 1.0 for name, is_so in found.items() if is_so}


def _echo(one: SessionStatement, number: int, session: SessionWords) -> dict[str, float]:
    """Returns how much of a statement the session repeats: in its commits, its requests, its other statements."""
    words = session.about[number]
    size = max(4, len(words))
    asked, later = session.around(one.turn)
    if one.source == "request":
        asked = session.words("answered", one.turn)
    return {
        "in commits": len(words & session.committed_words) / size if one.source != "commit" else 0.0,
        "in requests": len(words & asked) / size,
        "said later": len(words & later) / size,
        "repeated": min(session.repeated[number], 5) / 5,
        "telling words": min(len(words), 30) / 30,
    }


@cache
def weights(head: str) -> Mapping[str, float]:
    """Returns the weight of each feature, and the bias, of one of `HEADS`."""
    return {name: float(weight) for name, weight in _rows(head)}


@cache
def _calibration() -> list[tuple[float, float]]:
    return [(float(least), float(right)) for least, right in _rows("calibration")]


def _rows(section: str) -> list[tuple[str, str]]:
    """Returns the rows of a section of the weights: a name or a number, and a number."""
    text = text_beside(__file__, "statement_weights.txt").partition(f"[{section}]\n")[2].partition("\n[")[0]
    return [(name, number) for name, _, number in (row.rpartition(" ") for row in text.splitlines()) if name]
