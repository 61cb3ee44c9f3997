"""Why two statements are thought to contradict each other: the values, figures or sentences that clash."""

from collections.abc import Iterator

from holdfast.model.claims import topics
from holdfast.model.claims.alignment import share
from holdfast.model.claims.evidence import Found, clashing_figures, clashing_things, valued
from holdfast.model.claims.modality import CONTRARY, MAY, OPT
from holdfast.model.claims.reading import Clause, read
from holdfast.model.claims.signs import Signs, signs
from holdfast.model.claims.statement import Statement

_SHOWN = 60  # characters of a sentence


def explained(one: Statement, other: Statement, found: Found) -> tuple[str, str]:
    """The kind of a contradiction, and what clashes in a few words."""
    return next(_reasons(one, other, found))


def _reasons(one: Statement, other: Statement, found: Found) -> Iterator[tuple[str, str]]:
    """Every reason that can be named, the plainest first; the last one can always be given."""
    ours, theirs = read(one.text, one.kind), read(other.text, other.kind)
    s, t = signs(one.text), signs(other.text)
    for figure, their_figure in clashing_figures(ours, theirs):
        yield "number", f"{figure.shown} against {their_figure.shown}"
    yield from _valued(s, t)
    for thing, their_thing in sorted(clashing_things(s, t)):
        yield "value", f"{thing} against {their_thing}"
    if contrary := _contrary(ours, theirs):
        a, b = contrary
        kind = "modality" if {a.stance, b.stance} & {MAY, OPT} else "negation"
        yield kind, f"{_shown(a)} against {_shown(b)}"
    if found["flip"] >= 0.5:
        yield "negation", f"what one denies the other says: {_denied(s, t)}"
    yield "value", f"{_cut(one.text)} against {_cut(other.text)}"


def _valued(s: Signs, t: Signs) -> Iterator[tuple[str, str]]:
    """Two values of one topic, as they are written."""
    ours, theirs = topics.values(s.words), topics.values(t.words)
    known, their_known = valued(s), valued(t)
    for a in ours:
        for b in theirs:
            if a.topic != b.topic or a.name == b.name:
                continue
            yes, their_yes = known[a.topic], their_known[a.topic]
            if yes[a.name] > 0 and their_yes[b.name] > 0 and a.name not in their_yes and b.name not in yes:
                yield "value", f"{_span(s, a)} against {_span(t, b)}"


def _span(one: Signs, value: topics.Value) -> str:
    return " ".join(word.raw for word in one.words[value.first : value.last])


def _contrary(ours: tuple[Clause, ...], theirs: tuple[Clause, ...]) -> tuple[Clause, Clause] | None:
    pairs = [(share(a, b).alike, a, b) for a in ours for b in theirs if (a.stance, b.stance) in CONTRARY]
    best = max(pairs, key=lambda pair: pair[0], default=None)
    return (best[1], best[2]) if best and best[0] >= 0.2 else None


def _denied(s: Signs, t: Signs) -> str:
    """The words, as one of the two writes them, that one denies and the other says."""
    for one, other in ((s, t), (t, s)):
        turned = other.affirmed - other.denied
        places = [at for at, mark in enumerate(one.signs) if mark < 0 and one.called[at] in turned]
        if places:
            return ", ".join(dict.fromkeys(one.words[at].raw for at in places[:4]))
    return "the same"


def _shown(clause: Clause) -> str:
    return _cut(" ".join(word.raw for word in clause.words))


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return f"“{text}”" if len(text) <= _SHOWN else f"“{text[: _SHOWN - 1].rstrip()}…”"
