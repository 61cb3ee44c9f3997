"""Preferences and conventions: "convention: …", "we name …", "prefer X over Y", "from now on …"."""

import re

from holdfast.curation.extraction.claim import Claim, Parts, standing
from holdfast.patterns import regex

RULE = "convention"
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


def claim(parts: Parts, who: str) -> Claim | None:
    """The convention or preference a sentence states, if it states one."""
    if found := _NAMED.match(parts.plain):
        return _claim(parts.after(found.end()), 0.85 if who == "user" else 0.6)
    if found := _PREFER.match(parts.plain):
        chosen = parts.after(found.end())
        return _preferred(chosen, parts, who) if who == "user" or (parts.why and "over" in parts.plain) else None
    if who != "user" or _CHATS.match(parts.plain):
        return None
    if found := _ONWARD.match(parts.plain):
        return _claim(parts.after(found.end()), 0.9)
    if found := _PLEASE.match(parts.plain):
        return _claim(parts.after(found.end()), 0.85)
    if _AVOID.match(parts.plain) or _WE.match(parts.plain):
        return _claim(parts, 0.85)
    if _USE.match(parts.plain) and _WIDELY.search(parts.plain):
        return _claim(parts, 0.85)
    if _FOR_SUCH.match(parts.plain):
        return _claim(parts, 0.75)
    return None


def _preferred(chosen: Parts, parts: Parts, who: str) -> Claim:
    text = standing(f"prefer {chosen.text}", parts)
    return Claim("decision", text, parts.why, parts.plain, RULE, 0.85 if who == "user" else 0.6)


def _claim(parts: Parts, confidence: float) -> Claim:
    """An invariant if it rules, else a decision."""
    kind = "invariant" if _RULING.match(parts.plain) else "decision"
    text = re.sub(r"^please\s+", "", parts.text, flags=re.IGNORECASE)
    return Claim(kind, standing(text, parts), parts.why, parts.plain, RULE, confidence)
