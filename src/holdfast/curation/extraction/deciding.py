"""Decisions said as such: "we decided to …", "decision: …", "let's go with X because Y", "chose X over Y"."""

import re

from holdfast.curation.extraction.claim import Claim, Parts, standing
from holdfast.patterns import regex

RULE = "decision"
_BEFORE = r"^(?:(?:in the end|finally|ultimately|eventually|(?:after|for|since) [^,]{3,60}),?\s+)?"
_LABEL = regex(
    r"^(?:(?:our|the|final|key|design|architecture|technical)\s+)*(?:decisions?(?: made| taken)?"
    r"|decided)\s*(?::"
    r"|[–—-])\s*",
    re.I,
)
_DECIDED = regex(
    _BEFORE + r"(?:(?:we|i)(?:'ve| have)?(?: all| both| now| already)? (?:decided|agreed|opted|chose|elected)"
    r"(?: (?:yesterday|today|earlier|last week|together|long ago))?"
    r"|it (?:was|is|has been) (?:decided|agreed)|(?:the|our) decision (?:is|was))"
    r"(?:\s+(?=(?:to|that|against|not to|on|for)\b)|\s*:\s+)",
    re.IGNORECASE,
)
_SETTLED = regex(
    _BEFORE + r"(?:we|i)(?:'ve| have)? (?:(?:settled|landed|standardi[sz]ed) on|opted for|went with|picked|chose"
    r"|selected)\s+",
    re.IGNORECASE,
)
_OVER = regex(r"\s+(?:over|instead of|rather than|not)\s+", re.IGNORECASE)
_VERB = r"(?:not use|use|go with|stick with|stick to|adopt|keep|standardi[sz]e on|switch to|support|target)"
_WILL = regex(
    _BEFORE + r"(?:let's|let us|we'll|we will|we're going to|we are going to|we shall|we(?= go with| stick))\s+"
    rf"(?={_VERB}\b)",
    re.I,
)
_WILL_NOT = regex(
    _BEFORE + r"we (?:won't|will not|shall not|are not going to|aren't going to)\s+"
    r"(?=(?:use|support|adopt|ship|add|have|accept|maintain|depend)\b)",
    re.I,
)
_USING = regex(_BEFORE + r"we(?:'re| are)\s+(?:using|targeting)\s+", re.I)
_SWITCHED = regex(_BEFORE + r"we (?:have )?(?:switched|moved|migrated) from (?=\S.{2,80} to \S)", re.I)
_SEARCHES = regex(
    r"\bto (?:find|check|see|verify|look|search|locate|inspect|debug|figure|understand|confirm|list"
    r"|test)\b",
    re.I,
)
_GOING = regex(
    _BEFORE + r"(?:(?:we're|we are|i'm|i am)\s+)?(?:going with|sticking with|standardi[sz]ing on|settling on)\s+", re.I
)
_ALONE = regex(r"^i(?:'ve| have)?\b", re.I)  # without a reason, an agent tells what it does
_ACTS = regex(  # a decision about the next minute: nobody needs it tomorrow
    r"^(?:to |not to |on )?(?:look|check|run|read|start|try|test|see|search|investigate|explore|examine"
    r"|inspect|open|verify"
    r"|review|continue|proceed|stop|wait|ask|begin|go ahead|do (?!not\b)|take|rerun|re-run|skip|leave"
    r"|move on|focus"
    r"|dig|revisit"
    r"|write (?:the|a|an|some|more|new|this|that|these|those|it|them|my|our|your|up|down|back|out"
    r"|(?:\S+ ){0,2}(?:tests?|docs?|documentation|code|scripts?))"
    r"|commit|push|merge|rebase|finish|postpone|defer|fix|implement|rewrite|keep (?:going|in mind|an eye"
    r"|you|looking|working"
    r"|the conversation|digging|track)|use the (?:time|chance|opportunity)|go with the flow)\b",
    re.IGNORECASE,
)


def claim(parts: Parts, who: str) -> Claim | None:
    """The decision a sentence tells, if it tells one."""
    for said, weak in (
        (_labelled, False),
        (_decided, False),
        (_settled, False),
        (_switched, True),
        (_will, True),
        (_going, True),
    ):
        if (chosen := said(parts)) is None:
            continue
        alone = who != "user" and not parts.why and _ALONE.match(parts.plain)
        if alone or _ACTS.match(chosen) or (weak and who != "user" and (not parts.why or _SEARCHES.search(chosen))):
            return None
        text = standing(_plainly(chosen), parts)
        return Claim("decision", text, parts.why, _held(parts, chosen), RULE, _confidence(who, parts.why, weak=weak))
    return None


def _held(parts: Parts, chosen: str) -> str:
    """What must stand by itself: the decision, not the words that announce it."""
    if not parts.text.endswith(chosen):
        return parts.plain
    return re.sub(r"^(?:that|to|not to|on|for)\s+", "", parts.plain[len(parts.text) - len(chosen) :], flags=re.I)


def _confidence(who: str, why: str, *, weak: bool) -> float:
    if who == "user":
        return 0.9 if why or not weak else 0.8
    return 0.7 if why else 0.6


def _labelled(parts: Parts) -> str | None:
    found = _LABEL.match(parts.plain)
    return parts.text[found.end() :] if found else None


def _decided(parts: Parts) -> str | None:
    found = _DECIDED.match(parts.plain)
    return parts.text[found.end() :] if found else None


def _settled(parts: Parts) -> str | None:
    """Only with what was not chosen, or with a reason: "I picked the file" is no decision."""
    found = _SETTLED.match(parts.plain)
    if not found or not (_OVER.search(parts.plain, found.end()) or parts.why or _firm(found[0])):
        return None
    chosen = _OVER.sub(" rather than ", parts.text[found.end() :], count=1)
    return chosen if chosen.lower().startswith("to ") else f"use {chosen}"


def _firm(cue: str) -> bool:
    return re.search(r"(?:settled|landed|standardi[sz]ed) on|opted for", cue, re.I) is not None


def _switched(parts: Parts) -> str | None:
    """A change of mind, or a choice in use that names what was not chosen."""
    if found := _SWITCHED.match(parts.plain):
        return f"switched from {parts.text[found.end() :]}"
    if (found := _USING.match(parts.plain)) and _OVER.search(parts.plain.replace(",", " "), found.end()):
        return f"use {parts.text[found.end() :]}"
    return None


def _will(parts: Parts) -> str | None:
    if found := _WILL_NOT.match(parts.plain):
        return f"do not {parts.text[found.end() :]}"
    found = _WILL.match(parts.plain)
    if found is None:
        return None
    chosen = re.sub(r"^(?:(?:go|stick) with|stick to)\b", "use", parts.text[found.end() :], flags=re.IGNORECASE)
    return f"do {chosen}" if chosen.lower().startswith("not ") else chosen


def _going(parts: Parts) -> str | None:
    found = _GOING.match(parts.plain)
    return f"use {parts.text[found.end() :]}" if found else None


def _plainly(chosen: str) -> str:
    """What was decided as a sentence of its own: "to use X" is "Use X", "not to use X" is "Do not use X"."""
    for start, instead in (("not to ", "do not "), ("to ", ""), ("that ", ""), ("on ", "use "), ("for ", "use ")):
        if chosen.lower().startswith(start):
            return instead + chosen[len(start) :]
    return f"decided {chosen}" if chosen.lower().startswith("against ") else chosen
