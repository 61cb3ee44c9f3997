"""Decisions said as such: "we decided to …", "decision: …", "let's go with X because Y", "chose X over Y".

Preferences and conventions: "convention: …", "we name …", "prefer X over Y", "from now on …".

Assumptions: "assumption: …", "we assume that … unless …", "assuming X, …".
"""

import re

from holdfast.curation.extraction.candidate_claim import SentenceClaim, SentenceParts, standing
from holdfast.patterns import regex

DECISION_RULE = "decision"
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


def decision_claim(parts: SentenceParts, who: str) -> SentenceClaim | None:
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
        return SentenceClaim(
            "decision", text, parts.why, _held(parts, chosen), DECISION_RULE, _confidence(who, parts.why, weak=weak)
        )
    return None


def _held(parts: SentenceParts, chosen: str) -> str:
    """What must stand by itself: the decision, not the words that announce it."""
    if not parts.text.endswith(chosen):
        return parts.plain
    return re.sub(r"^(?:that|to|not to|on|for)\s+", "", parts.plain[len(parts.text) - len(chosen) :], flags=re.I)


def _confidence(who: str, why: str, *, weak: bool) -> float:
    if who == "user":
        return 0.9 if why or not weak else 0.8
    return 0.7 if why else 0.6


def _labelled(parts: SentenceParts) -> str | None:
    found = _LABEL.match(parts.plain)
    return parts.text[found.end() :] if found else None


def _decided(parts: SentenceParts) -> str | None:
    found = _DECIDED.match(parts.plain)
    return parts.text[found.end() :] if found else None


def _settled(parts: SentenceParts) -> str | None:
    """Only with what was not chosen, or with a reason: "I picked the file" is no decision."""
    found = _SETTLED.match(parts.plain)
    if not found or not (_OVER.search(parts.plain, found.end()) or parts.why or _firm(found[0])):
        return None
    chosen = _OVER.sub(" rather than ", parts.text[found.end() :], count=1)
    return chosen if chosen.lower().startswith("to ") else f"use {chosen}"


def _firm(cue: str) -> bool:
    return re.search(r"(?:settled|landed|standardi[sz]ed) on|opted for", cue, re.I) is not None


def _switched(parts: SentenceParts) -> str | None:
    """A change of mind, or a choice in use that names what was not chosen."""
    if found := _SWITCHED.match(parts.plain):
        return f"switched from {parts.text[found.end() :]}"
    if (found := _USING.match(parts.plain)) and _OVER.search(parts.plain.replace(",", " "), found.end()):
        return f"use {parts.text[found.end() :]}"
    return None


def _will(parts: SentenceParts) -> str | None:
    if found := _WILL_NOT.match(parts.plain):
        return f"do not {parts.text[found.end() :]}"
    found = _WILL.match(parts.plain)
    if found is None:
        return None
    chosen = re.sub(r"^(?:(?:go|stick) with|stick to)\b", "use", parts.text[found.end() :], flags=re.IGNORECASE)
    return f"do {chosen}" if chosen.lower().startswith("not ") else chosen


def _going(parts: SentenceParts) -> str | None:
    found = _GOING.match(parts.plain)
    return f"use {parts.text[found.end() :]}" if found else None


def _plainly(chosen: str) -> str:
    """What was decided as a sentence of its own: "to use X" is "Use X", "not to use X" is "Do not use X"."""
    for start, instead in (("not to ", "do not "), ("to ", ""), ("that ", ""), ("on ", "use "), ("for ", "use ")):
        if chosen.lower().startswith(start):
            return instead + chosen[len(start) :]
    return f"decided {chosen}" if chosen.lower().startswith("against ") else chosen


PREFERENCE_RULE = "convention"
_NAMED = regex(
    r"^(?:(?:our|the|code|coding|naming|project|team|house|repo)\s+)*(?:conventions?|style|style guide"
    r"|house rule|naming)\s*:\s*"
    r"|^by convention,?\s+|^(?:the|our) (?:[\w-]+ )?convention (?:here |in \S+ )?is (?:that |to )?"
    r"|^our (?:code |coding )?style is\s+",
    re.IGNORECASE,
)
_PREFER = regex(r"^(?:(?:we|i|in this (?:project|repo) we) (?:strongly |generally |always )?)?prefer\s+", re.I)
_ONWARD = regex(r"^(?:from now on|going forward|in (?:the )?future|from here on)(?: (?:out|in))?,?\s+", re.I)
_WE = regex(
    r"^(?:(?:here|in this (?:project|repo|repository|codebase|team)|on this (?:project|team)"
    r"|in our \w+),?\s+)?we\s+"
    r"(?:(?:always|never|only)\s+(?!have\b|had\b|get\b|got\b|see\b|saw\b|did\b|do\b|want|need|thought"
    r"|decided|intended)\w+"
    r"|(?:name|call|spell|format|indent|prefix|suffix)\b"
    r"|(?:do not|don't|no longer) (?:use|write|commit|add|support|ship|accept|maintain|allow|publish"
    r"|deploy|host|store"
    r"|log|target|mock|vendor|cache|merge|release)\b)",
    re.IGNORECASE,
)
_USE = regex(r"^(?:please\s+)?(?:we\s+)?(?:use|stick to|write|name|put|keep)\s+", re.IGNORECASE)
_WIDELY = regex(
    r"(?:,| and) (?:not|never)\b|\b(?:instead of|rather than|everywhere|throughout|whenever|for (?:all"
    r"|every|any|each|new)"
    r"|in (?:all|every|each|new)|across)\b",
    re.IGNORECASE,
)
# "Use snake_case for JSON keys": a way named without an article, for things in general.
_FOR_SUCH = regex(
    r"^(?:please\s+)?use (?!(?:the|this|that|these|those|my|your|his|it|them|a|an|more|fewer|less|one"
    r"|two|some|any"
    r"|bullets?|bullet points|tables?|headings?|emojis?|grep|sed|curl"
    r"|find)\b)[^\s,]+(?: [^\s,]+){0,2} (?:for|in) "
    r"(?!(?:the|this|that|these|those|my|your|it|now|a|an|\w+ing)\b)(?:[\w.`-]+ ){0,3}[\w`-]{2,}s`?$",
    re.IGNORECASE,
)
_PLEASE = regex(r"^please\s+(?=(?:always|never|prefer|avoid|don't|do not)\b)", re.IGNORECASE)
_AVOID = regex(r"^avoid\s+\w+", re.IGNORECASE)
_RULING = regex(
    r"^(?:(?:in [^,]{3,40}?,? )?(?:we|you)\s+)?(?:should\s+|must\s+)?(?:always|never|only|do not|don't"
    r"|no longer"
    r"|avoid|must)\b",
    re.IGNORECASE,
)
_CHATS = regex(
    r"^(?:please )?(?:always |never |do not |don't )?(?:worry|forget|bother|mind|hesitate|keep going"
    r"|keep me|keep an eye|keep in mind"
    r"|keep up|write me|use the (?:attached|file i)|put me|avoid asking|keep the (?:summary|answer|reply"
    r"|explanation|description|text)|use (?:fewer|more|less)\b|let me|be |do )",
    re.IGNORECASE,
)


def preference_claim(parts: SentenceParts, who: str) -> SentenceClaim | None:
    """The convention or preference a sentence states, if it states one."""
    if found := _NAMED.match(parts.plain):
        return _preference(parts.after(found.end()), 0.85 if who == "user" else 0.6)
    if found := _PREFER.match(parts.plain):
        chosen = parts.after(found.end())
        return _preferred(chosen, parts, who) if who == "user" or (parts.why and "over" in parts.plain) else None
    if who != "user" or _CHATS.match(parts.plain):
        return None
    if found := _ONWARD.match(parts.plain):
        return _preference(parts.after(found.end()), 0.9)
    if found := _PLEASE.match(parts.plain):
        return _preference(parts.after(found.end()), 0.85)
    if _AVOID.match(parts.plain) or _WE.match(parts.plain):
        return _preference(parts, 0.85)
    if _USE.match(parts.plain) and _WIDELY.search(parts.plain):
        return _preference(parts, 0.85)
    if _FOR_SUCH.match(parts.plain):
        return _preference(parts, 0.75)
    return None


def _preferred(chosen: SentenceParts, parts: SentenceParts, who: str) -> SentenceClaim:
    text = standing(f"prefer {chosen.text}", parts)
    return SentenceClaim("decision", text, parts.why, parts.plain, PREFERENCE_RULE, 0.85 if who == "user" else 0.6)


def _preference(parts: SentenceParts, confidence: float) -> SentenceClaim:
    """An invariant if it rules, else a decision."""
    kind = "invariant" if _RULING.match(parts.plain) else "decision"
    text = re.sub(r"^please\s+", "", parts.text, flags=re.IGNORECASE)
    return SentenceClaim(kind, standing(text, parts), parts.why, parts.plain, PREFERENCE_RULE, confidence)


ASSUMPTION_RULE = "assumption"
_ASSUMPTION_LABEL = regex(
    r"^(?:(?:key|our|the|my|working)\s+)*assumptions?\s*:\s*|^(?:one|an|the|our|my|another"
    r"|key) assumption (?:here )?is(?: that)?\s+",
    re.IGNORECASE,
)
_ASSUME = regex(
    r"^(?:here |for this |(?:the|this) (?:code|design|test|script|parser|plan|module|implementation) )?"
    r"(?:i|we|i'm|we're|i am|we are)?\s*(?:assum(?:e|es|ing|ed))(?: here)?(?: that)?\s+",
    re.IGNORECASE,
)
_ASSUMING = regex(r"^assuming(?: that)?\s+(?P<what>[^,]{12,200}),\s", re.IGNORECASE)
_TO_YOU = regex(
    r"\b(?:you|your|you're|you've|you'd|i'm|i am|i've)\b|^(?:the worst|the best|good|so|not|full"
    r"|responsibility|nothing|all goes)\b"
    r"|^(?:the )?tests? (?:pass|passes|still pass)|^(?:it|that|this|they|he|she|everything|all|there)\b"
    r"|\b(?:looks good|is ok|is fine)\b",
    re.IGNORECASE,
)


def assumption_claim(parts: SentenceParts, who: str) -> SentenceClaim | None:
    """The assumption a sentence states, if it states one."""
    sure = 0.75 if who == "user" else 0.6
    if found := _ASSUMPTION_LABEL.match(parts.plain):
        return _assumption(parts.after(found.end()), sure)
    if found := _ASSUMING.match(parts.plain):
        start, end = found.span("what")
        return _assumption(
            SentenceParts(parts.text[start:end], parts.plain[start:end], parts.why, parts.text[start:end]), sure - 0.05
        )
    if (found := _ASSUME.match(parts.plain)) and not found[0].lower().startswith("assuming"):
        return _assumption(parts.after(found.end()), sure)
    if found := re.match(r"^assuming(?: that)?\s+", parts.plain, re.IGNORECASE):
        return _assumption(parts.after(found.end()), sure - 0.1)
    return None


def _assumption(parts: SentenceParts, confidence: float) -> SentenceClaim | None:
    if _TO_YOU.search(parts.plain):
        return None
    return SentenceClaim("assumption", standing(parts.text, parts), parts.why, parts.plain, ASSUMPTION_RULE, confidence)
