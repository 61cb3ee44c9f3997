"""Constraints become invariants: "must", "never", "always", "do not", "is required to", "must stay under"."""

import re

from holdfast.curation.extraction.claim import Claim, Parts, standing
from holdfast.patterns import regex

RULE = "constraint"
_LABEL = regex(r"^(?:(?:hard|our|the|key)\s+)*(?:constraint|invariant|rule|hard rule|requirement)s?\s*:\s*", re.I)
_MODAL = regex(
    r"\b(?:must(?:n't| not| never| always| only)?|may (?:never|not|only)|shall (?:not|never)"
    r"|should (?:never|always)"
    r"|can(?:not|'t) ever|(?:we|clients?|workers?|plugins?) can(?:not|'t) (?:use|call|rely on|depend on"
    r"|ship|import|store|assume)|(?:is|are) (?:not |never |strictly )?(?:required|allowed|permitted"
    r"|forbidden) to"
    r"|(?:is|are) (?:strictly )?(?:mandatory|forbidden|prohibited|off.limits|not allowed)"
    r"|(?:has|have|needs?) to (?:stay|remain|keep|be (?!\w+ed\b|met\b|done\b|run\b|set\b|rewritten\b"
    r"|split\b))|no (?:more|less|fewer|longer) than)\b",
    re.IGNORECASE,
)
_ORDER = regex(
    r"^(?:(?:please|you must|we must|you should)\s+)?(?P<how>never|always|do not|don't|must not"
    r"|mustn't)\s+(?=\w)",
    re.I,
)
_ALL = regex(
    r"^(?:make sure|ensure) (?:that )?(?=(?:all|every|each|no|any|nothing)\b)"
    r"|^(?:all|every|each|no) (?:[\w`.-]+\s){1,6}(?:should|needs? to|has to|have to|may|can)\b",
    re.IGNORECASE,
)
_CHORE = regex(  # the work at hand, not what will still hold when it is done
    r"\b(?:must|has to|have to|needs? to) be (?:updated|changed|fixed|removed|renamed|adjusted|adapted"
    r"|rewritten|moved"
    r"|migrated|added|ported|regenerated|rerun|reviewed first)\b",
    re.IGNORECASE,
)
_WANT = regex(
    r"^i(?: want|'d like| would like) (?:(?=(?:all|every|each|no)\b)"
    r"|(?:you to )(?=(?:never|always|avoid|not to|stop \w+ing)\b))"
    r"|^(?:please )?(?:make sure|be sure|ensure|see to it|take care)(?: that)?(?: (?:you|we))?(?: to)? "
    r"(?=(?:never|always|do not|don't|avoid)\b)",
    re.IGNORECASE,
)
_STOP = regex(r"^(?:please )?stop (?!worry|wait|try|think|talk|guess|ask|apolog|look|work|go|do)\w+ing \w", re.I)
_GUESS = regex(  # "the cache must be stale": a guess in the clothes of a duty
    r"\bmust (?:have|be (?:stale|because|related|due|coming|from|something|some|wrong|missing|a|an|the|in"
    r"|cached|outdated|why"
    r"|how|what|where|old|broken|caused))\b|\bmust (?:mean|come from|be \w+ing)\b",
    re.IGNORECASE,
)
_CHATS = regex(
    r"^(?:please )?(?:do not|don't|never|always) (?:worry|forget|bother|mind|hesitate|think|know|see"
    r"|understand|get|care"
    r"|remember|be|do|go|let|give up|panic|stop|say|believe|trust me|ask|hurry|start|like|want|need|have)\b"
    # "Always nice to see …", "never a dull moment": no order begins with what is no verb.
    r"|^(?:always|never) (?:(?:so|very|really|quite|too|that|more|been|had|seen|heard|thought|knew|liked"
    r"|wanted|saw"
    r"|works?|fails?|worked|failed|happens|happened)\b|(?:a|an|the|such|my|our|your|this|these|those|some|any"
    r"|one|enough)\b|(?:\w+ ){0,2}(?:nice|good|great|fun|funny|happy|glad|sad|pleased|easy|hard"
    r"|interesting|amazing"
    r"|annoying|tricky|difficult|painful|satisfying|lovely|cool|a pleasure|worth)\b)",
    re.IGNORECASE,
)
_TELLS = regex(  # "Never touched Rust": what somebody did not do yet, not what nobody shall do
    r"^never (?:(?!(?:need|feed|embed|seed|shed|exceed|proceed|speed)\b)\w+ed|wrote|written|ran|did|done|made"
    r"|took|gave|got|went|gone|came|found|built|met|felt|lost|kept|told|learnt|understood|broke|chose"
    r"|mind)\b",
    re.IGNORECASE,
)
_TASK = regex(
    r"^(?:i|we|you|he|they)(?:'ll)? (?:must|have to|need to|has to) (?!not\b|never\b|always\b|only\b"
    r"|support|keep|stay|remain|run on)"
    r"|^(?:i|he|they) must\b|^(?:add|create|implement|change|fix|update|rename|build|refactor)\b",
    re.IGNORECASE,
)


def claim(parts: Parts, who: str) -> Claim | None:
    """The invariant a sentence states, if it states one."""
    found = _LABEL.match(parts.plain)
    if found:
        return _claim(parts.after(found.end()), 0.85 if who == "user" else 0.55)
    if who == "user" and (found := _WANT.match(parts.plain)):
        wanted = parts.after(found.end())
        return None if _CHATS.match(wanted.plain) else _claim(wanted, 0.85)
    if (
        _CHATS.match(parts.plain)
        or _TELLS.match(parts.plain)
        or _CHORE.search(parts.plain)
        or _TASK.match(parts.plain)
        or _GUESS.search(parts.plain)
    ):
        return None
    if who == "user":
        rules = (_MODAL.search, _ORDER.match, _ALL.match, _STOP.match)
        stated = any(rule(parts.plain) for rule in rules)
        return _claim(parts, 0.85) if stated else None
    told = _MODAL.search(parts.plain) or _ORDER.match(parts.plain)
    return _claim(parts, 0.6) if told and parts.why and not _of_you(parts.plain) else None


def _of_you(plain: str) -> bool:
    """Whether an agent speaks to the person in front of it: advice, no rule of the project."""
    return re.search(r"\b(?:you|your|you're|you'll)\b", plain, re.I) is not None


def _claim(parts: Parts, confidence: float) -> Claim:
    found = _ORDER.match(parts.plain)
    text = parts.text if found is None else f"{_how(found['how'])} {parts.text[found.end() :]}"
    return Claim("invariant", standing(text, parts), parts.why, parts.plain, RULE, confidence)


def _how(word: str) -> str:
    return {"never": "Never", "always": "Always"}.get(word.lower(), "Do not")
