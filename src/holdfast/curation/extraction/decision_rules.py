"""Rules for decisions, preferences and assumptions: "we decided to …", "prefer X over Y", "we assume that …".

Each rule returns the claim of a sentence, or None; `may_stand` decides later whether it is kept. The patterns are in
decision_rules.txt.
"""

from __future__ import annotations

import re

from holdfast.curation.extraction.candidate_claim import SentenceClaim, SentenceParts
from holdfast.patterns import PatternFile

_SHAPE = PatternFile(__file__)
# The pattern that announces a choice; the start of the statement in its place; whether it may be a passing remark.
_CHOICES = (
    *(("label", "", False), ("decided", "", False), ("settled", "use ", False)),
    *(("switched", "switched from ", True), ("using", "use ", True), ("will_not", "do not ", True)),
    *(("will", "", True), ("going", "use ", True), ("should", "", True)),
)
_PLAINLY = {"not to ": "do not ", "to ": "", "that ": "", "on ": "use ", "for ": "use ", "against ": "decided against "}


def decision_claim(parts: SentenceParts, who: str) -> SentenceClaim | None:
    """Returns the decision a sentence states; None if it states none."""
    for shape, begins, weak in _CHOICES:
        found = getattr(_SHAPE, shape).match(parts.plain)
        if found and (who == "user" or shape != "should") and _names_a_choice(shape, found, parts):
            return _decision(parts, _choice_text(shape, begins, parts.text[found.end() :]), who, weak=weak)
    return None


def _names_a_choice(shape: str, found: re.Match[str], parts: SentenceParts) -> bool:
    """Whether a choice is complete; some words need an alternative or a reason: "I picked the file" is no decision."""
    if shape == "settled":
        return bool(_SHAPE.over.search(parts.plain, found.end()) or parts.why or _SHAPE.firmly.search(found[0]))
    if shape == "should":
        return bool(parts.why)
    return shape != "using" or _SHAPE.over.search(parts.plain.replace(",", " "), found.end()) is not None


def _choice_text(shape: str, begins: str, rest: str) -> str:
    if shape == "settled":
        rest = _SHAPE.over.sub(" rather than ", rest, count=1)
        return rest if rest.lower().startswith("to ") else begins + rest
    if shape == "will":
        rest = re.sub(r"^(?:(?:go|stick) with|stick to)\b", "use", rest, flags=re.IGNORECASE)
        return f"do {rest}" if rest.lower().startswith("not ") else rest
    return begins + rest


def _decision(parts: SentenceParts, chosen: str, who: str, *, weak: bool) -> SentenceClaim | None:
    by_agent = who != "user"
    if _SHAPE.acts.match(chosen) or (by_agent and not parts.why and _SHAPE.alone.match(parts.plain)):
        return None
    if by_agent and weak and (not parts.why or _SHAPE.searches.search(chosen)):
        return None
    if by_agent:
        confidence = 0.7 if parts.why else 0.6
    else:
        confidence = 0.9 if parts.why or not weak else 0.8
    return parts.claim("decision", "decision", confidence, text=_as_order(chosen), main=_decision_part(parts, chosen))


def _decision_part(parts: SentenceParts, chosen: str) -> str:
    """Returns the part that must be clear on its own: the decision without the words that announce it."""
    if not parts.text.endswith(chosen):
        return parts.plain
    return re.sub(r"^(?:that|to|not to|on|for)\s+", "", parts.plain[len(parts.text) - len(chosen) :], flags=re.I)


def _as_order(chosen: str) -> str:
    """Returns the decision as a sentence: "to use X" is "Use X", "not to use X" is "Do not use X"."""
    start = next((start for start in _PLAINLY if chosen.lower().startswith(start)), "")
    return _PLAINLY.get(start, "") + chosen[len(start) :]


def preference_claim(parts: SentenceParts, who: str) -> SentenceClaim | None:
    """Returns the convention or preference a sentence states; None if it states none."""
    plain, sure = parts.plain, 0.85
    if found := _SHAPE.named.match(plain):
        return _preference(parts.after(found.end()), sure if who == "user" else 0.6)
    if who != "user" or _SHAPE.preference_chats.match(plain):
        return None
    if found := _SHAPE.prefer.match(plain):
        return parts.claim("decision", "convention", sure, text=f"prefer {parts.after(found.end()).text}")
    if found := _SHAPE.onward.match(plain):
        return _preference(parts.after(found.end()), 0.9)
    if found := _SHAPE.please.match(plain):
        return _preference(parts.after(found.end()), sure)
    if _SHAPE.avoid.match(plain) or _SHAPE.we.match(plain) or (_SHAPE.use.match(plain) and _SHAPE.widely.search(plain)):
        return _preference(parts, sure)
    return _preference(parts, 0.75) if _SHAPE.for_such.match(plain) else None


def _preference(parts: SentenceParts, confidence: float) -> SentenceClaim:
    """Returns an invariant if it states a rule, else a decision."""
    kind = "invariant" if _SHAPE.ruling.match(parts.plain) else "decision"
    return parts.claim(kind, "convention", confidence, text=re.sub(r"^please\s+", "", parts.text, flags=re.IGNORECASE))


def assumption_claim(parts: SentenceParts, who: str) -> SentenceClaim | None:
    """Returns the assumption a sentence states; one that only introduces another claim is less certain."""
    part, sure = None, 0.75 if who == "user" else 0.6
    if found := _SHAPE.assumption_label.match(parts.plain):
        part = parts.after(found.end())
    elif found := _SHAPE.assuming.match(parts.plain):
        start, end = found.span("what")
        what = parts.text[start:end]
        part, sure = SentenceParts(what, parts.plain[start:end], parts.why, what), sure - 0.05
    elif found := _SHAPE.assume.match(parts.plain):
        part, sure = parts.after(found.end()), sure - 0.1 if found[0].lower().startswith("assuming") else sure
    return part.claim("assumption", "assumption", sure) if part and not _SHAPE.to_you.search(part.plain) else None
