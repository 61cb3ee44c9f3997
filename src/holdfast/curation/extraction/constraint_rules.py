"""Rules for constraints, plain statements and corrections.

A constraint ("must", "never", "is required to") becomes an invariant. A plain statement says without "must" who alone
may do something, from where only, which version: it counts only from a user, because agents describe such things all
day. A correction is a user's reaction to an agent's mistake. The patterns are in constraint_rules.txt.
"""

from __future__ import annotations

import re

from holdfast.curation.extraction.candidate_claim import SentenceClaim, SentenceParts, standing
from holdfast.model.utterance import MIN_STATEMENT
from holdfast.patterns import PatternFile

CORRECTION_RULE = "correction"
_SHAPE = PatternFile(__file__)


def constraint_claim(parts: SentenceParts, who: str) -> SentenceClaim | None:
    """Returns the invariant a sentence states; None if it states none."""
    plain, by_user = parts.plain, who == "user"
    if found := _SHAPE.label.match(plain):
        return _constraint(parts.after(found.end()), 0.85 if by_user else 0.55)
    if by_user and (found := _SHAPE.want.match(plain)):
        wanted = parts.after(found.end())
        return None if _SHAPE.chats.match(wanted.plain) else _constraint(wanted, 0.85)
    if _SHAPE.no_constraint.search(plain):
        return None
    if by_user:
        return _constraint(parts, 0.85) if _SHAPE.by_user.search(plain) else None
    stated = _SHAPE.by_agent.search(plain) and parts.why and not _SHAPE.to_you.search(plain)
    return _constraint(parts, 0.6) if stated else None


def _constraint(parts: SentenceParts, confidence: float) -> SentenceClaim:
    text = parts.text
    if found := _SHAPE.order.match(parts.plain):
        text = {"never": "Never", "always": "Always"}.get(found["how"].lower(), "Do not") + f" {text[found.end() :]}"
    return parts.claim("invariant", "constraint", confidence, text=text)


def is_asked_for(words: str) -> bool:
    """Whether a sentence starts with "Remember:", as its speaker wrote it."""
    return _SHAPE.remember.match(words) is not None


def remembered(parts: SentenceParts) -> SentenceClaim | None:
    """Returns the fact that a user asks to remember, if the sentence says how something is."""
    found = _SHAPE.remember.match(parts.plain)
    said = parts.after(found.end()) if found else parts
    lasts = _SHAPE.is_so.match(said.plain) and not _SHAPE.ails.search(said.plain)
    return said.claim("fact", "statement", 0.75) if lasts else None


def statement_claim(parts: SentenceParts, who: str) -> SentenceClaim | None:
    """Returns the rule or fact that a user states plainly, if the sentence has one of these shapes."""
    for kind, shape in (("invariant", _SHAPE.states_rule), ("fact", _SHAPE.needs)):
        if who == "user" and shape.match(parts.plain):
            return parts.claim(kind, "statement", 0.75)
    return None


def is_bare_no(plain: str) -> bool:
    """Whether a sentence only says no: the correction is the next one."""
    return _SHAPE.only_no.match(plain) is not None


def correction_within(parts: SentenceParts) -> SentenceClaim | None:
    """Returns a correction later in a turn: only after a plain no, and with an order."""
    found = _SHAPE.plain_no.match(parts.plain)
    if found is None:
        return None
    plain = parts.plain[found.end() :]
    ordered = _SHAPE.corrected_order.match(plain) and _SHAPE.contrast.search(plain)
    directs = ordered or _SHAPE.not_but.match(plain) or _SHAPE.dont.match(plain)
    return correction_claim(parts, after_no=False) if directs else None


def correction_claim(parts: SentenceParts, *, after_no: bool) -> SentenceClaim | None:
    """Returns a correction at the start of a turn."""
    found = _SHAPE.no.match(parts.plain)
    correction = parts.after(found.end()) if found else parts
    plain = correction.plain
    if swap := _SHAPE.not_but.match(plain):  # "not X, use Y" reads better as "Use Y, not X"
        x, y = (correction.text[slice(*swap.span(name))] for name in ("x", "y"))
        y = re.sub(r",?\s+please$", "", y, flags=re.IGNORECASE)
        return _correction(correction, "decision", f"use {y}, not {x}")
    if _SHAPE.corrected_stop.match(plain) or _SHAPE.dont.match(plain):
        return _from_order(correction)
    if (found or after_no) and not _SHAPE.of_self.match(plain):
        directs = _SHAPE.corrected_order.match(plain) or _SHAPE.contrast.search(plain) or _SHAPE.duty.search(plain)
        return _from_order(correction) if directs else None
    return None


def _from_order(correction: SentenceParts) -> SentenceClaim:
    text = re.sub(r"^(?:please\s+|let's\s+(?=use|keep|go))", "", correction.text, flags=re.IGNORECASE)
    text = re.sub(r"^not to\s+", "do not ", text, flags=re.IGNORECASE)
    rules = _SHAPE.ruling.search(correction.plain[:40]) and not _SHAPE.contrast.search(correction.plain)
    return _correction(correction, "invariant" if rules else "decision", text)


def _correction(said: SentenceParts, kind: str, text: str) -> SentenceClaim:
    """Returns the claim; a short one ("Use pnpm, not npm") gets its scope."""
    alone = standing(text, said)
    statement = alone if len(alone) >= MIN_STATEMENT else f"{alone} in this project"
    return SentenceClaim(kind, statement, said.why, said.plain, CORRECTION_RULE, 0.9)
