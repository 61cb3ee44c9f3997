"""What a user states as it is, without "must": who alone may, from where only, which version, how it is kept.

Only a user's word: an agent that describes what it reads states such things all day. The shapes are narrow.
"""

import re

from holdfast.curation.extraction.claim import Claim, Parts, standing
from holdfast.patterns import regex

RULE = "statement"
_ONLY_WHO = regex(
    r"^only (?!(?:one|two|this|that|these|those|it|he|she|they|you|i|then|if|when|because|the (?:first"
    r"|second|third"
    r"|last|other|same))\b)(?:[\w`./-]+ ){1,6}(?:may|must|should|is allowed to|are allowed to"
    r"|is permitted to)\b",
    re.IGNORECASE,
)
_DONE = r"(?:happens?|runs?|goes|go|ships?|(?:is|are) (?:\w+ed|done|made|built|sent|written|run|kept|read))"
_ONLY_WHERE = regex(  # "Deploys happen from CI only"; not "the crash happens on Safari only"
    r"^(?!(?:the|a|an|this|that|these|those|it|they|he|she|we|you|i|there|my|your|some|such)\b)"
    r"(?!(?:[\w-]+ ){0,3}(?:bugs?|errors?|crash(?:es)?|failures?|problems?|issues?|hangs?|flakes?"
    r"|warnings?)\b)"
    rf"(?:[\w`./-]+ ){{1,4}}{_DONE} (?:(?:from|via|through|in|on|by|with|to|after) [\w`./ -]{{2,60}} only"
    r"|only (?:from|via|through|in|on|by|with|to|after) [\w`./ -]{2,60})$",
    re.IGNORECASE,
)
_KEPT = regex(
    r"^(?!(?:it|this|that|they|these|those|he|she|there|i|you|which)\b)\S[^,;]{2,80}? (?:is"
    r"|are) (?:always |only )?"
    r"(?:kept|stored|written|represented|saved|expressed|encoded|measured|formatted|named|spelled|logged"
    r"|signed|versioned"
    r"|pinned|handled|generated|serialized|serialised|hashed|encrypted|cached) "
    r"(?:in|as|with|by|to|from|on|under|per|using|at|after|through|via"
    r"|against) [^,;]{3,120}?,? (?:and )?(?:never|not) (?!(?:yet|once|twice|now|working|correctly)\b)\w",
    re.IGNORECASE,
)
_TOOL = (
    r"(?:[A-Z][\w.+#-]*|node|python|java|go|ruby|php|rust|postgres\w*|mysql|glibc|gcc|clang|cmake"
    r"|npm|pnpm|git)"
)
_NEEDS = regex(  # with a version: "the header needs 3 columns" is work to do
    r"^(?!(?:I|i|you|You|it|It|he|she|they|My|my|your|Your)\b)(?:[Tt]he|[Oo]ur"
    r"|[Tt]his)? ?(?:[\w-]+ ){1,4}(?:needs?|requires?|depends? on|(?:only )?(?:works?|runs?|builds?|"
    r"compiles?|installs?) (?:only )?(?:with|on|under)) (?:at least |exactly |a |an )?"
    rf"(?:[A-Z][\w.+#-]* )?{_TOOL} (?:>=? ?|version )?v?\d+(?:\.\d+)*\b"
)
# "Remember: staging uses port 8443": a thing and how it is; "remember to run the tests" is work to do.
_REMEMBER = regex(
    r"^[\s>*•-]*(?:(?:so|ok|okay|and|also|but|please|note|important)[,:]?\s+)*"
    r"remember(?:\s*:|,? that\b)\s*(?=\S)",
    re.IGNORECASE,
)
_A_THING = (
    r"(?!(?:i|you|we|he|she|they|it|this|that|these|those|there|to|if|when|while|how|what|why|which|who|and"
    r"|or|because|run|use|check|add|fix|write|read|make|keep|put|test|update|call|set|look|see|ask|do|be"
    r"|someone|somebody|everything|something|nothing)\b)[\w`./:@-]+"
)
_IS = regex(
    r"^(?!the (?:time|day|last|other|first|second)\b)(?:(?:the|our|all|every|each) )?"
    rf"(?:{_A_THING} ){{1,5}}(?:(?:always|only|still|never) )?"
    r"(?:is|are|uses?|runs?|lives?|needs?|listens?|has|have|expects?|requires?|returns?|lies?|sits?|accepts?"
    r"|supports?|depends?|starts?|stores?|holds?|contains?|means|points?|serves?|talks?|takes?|does not"
    r"|doesn't|do not|don't|cannot|can't|isn't|aren't) \S"
    r"|^we (?:use|run|deploy|ship|store|have|host|build) \S",
    re.IGNORECASE,
)
# True until somebody mends it.
_AILS = regex(r"\b(?:broken|down|failing|offline|stuck|late|busy|flaky|wrong)$", re.IGNORECASE)


def is_asked_for(words: str) -> bool:
    """Whether a sentence begins with "Remember:", as its speaker wrote it."""
    return _REMEMBER.match(words) is not None


def remembered(parts: Parts) -> Claim | None:
    """The fact that a user asks to remember, if it says of a thing how it is."""
    found = _REMEMBER.match(parts.plain)
    said = parts.after(found.end()) if found else parts
    return _claim("fact", said) if _IS.match(said.plain) and not _AILS.search(said.plain) else None


def claim(parts: Parts, who: str) -> Claim | None:
    """The rule or the fact that a user states plainly, if it is one of these shapes."""
    if who != "user":
        return None
    if any(shape.match(parts.plain) for shape in (_ONLY_WHO, _ONLY_WHERE, _KEPT)):
        return _claim("invariant", parts)
    return _claim("fact", parts) if _NEEDS.match(parts.plain) else None


def _claim(kind: str, parts: Parts) -> Claim:
    return Claim(kind, standing(parts.text, parts), parts.why, parts.plain, RULE, 0.75)
