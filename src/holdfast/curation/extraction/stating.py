"""What a user states as it is, without "must": who alone may, from where only, which version, how it is kept.

Only a user's word: an agent that describes what it reads states such things all day. The shapes are narrow.
"""

import re

from holdfast.curation.extraction.claim import Claim, Parts, standing

RULE = "statement"
_ONLY_WHO = re.compile(
    r"^only (?!(?:one|two|this|that|these|those|it|he|she|they|you|i|then|if|when|because|the (?:first"
    r"|second|third"
    r"|last|other|same))\b)(?:[\w`./-]+ ){1,6}(?:may|must|should|is allowed to|are allowed to"
    r"|is permitted to)\b",
    re.IGNORECASE,
)
_DONE = r"(?:happens?|runs?|goes|go|ships?|(?:is|are) (?:\w+ed|done|made|built|sent|written|run|kept|read))"
_ONLY_WHERE = re.compile(  # "Deploys happen from CI only"; not "the crash happens on Safari only"
    r"^(?!(?:the|a|an|this|that|these|those|it|they|he|she|we|you|i|there|my|your|some|such)\b)"
    r"(?!(?:[\w-]+ ){0,3}(?:bugs?|errors?|crash(?:es)?|failures?|problems?|issues?|hangs?|flakes?"
    r"|warnings?)\b)"
    rf"(?:[\w`./-]+ ){{1,4}}{_DONE} (?:(?:from|via|through|in|on|by|with|to|after) [\w`./ -]{{2,60}} only"
    r"|only (?:from|via|through|in|on|by|with|to|after) [\w`./ -]{2,60})$",
    re.IGNORECASE,
)
_KEPT = re.compile(
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
_NEEDS = re.compile(  # with a version: "the header needs 3 columns" is work to do
    r"^(?!(?:I|i|you|You|it|It|he|she|they|My|my|your|Your)\b)(?:[Tt]he|[Oo]ur"
    r"|[Tt]his)? ?(?:[\w-]+ ){1,4}(?:needs?|requires?|depends? on|(?:only )?(?:works?|runs?|builds?|"
    r"compiles?|installs?) (?:only )?(?:with|on|under)) (?:at least |exactly |a |an )?"
    rf"(?:[A-Z][\w.+#-]* )?{_TOOL} (?:>=? ?|version )?v?\d+(?:\.\d+)*\b"
)


def claim(parts: Parts, who: str) -> Claim | None:
    """The rule or the fact that a user states plainly, if it is one of these shapes."""
    if who != "user":
        return None
    if any(shape.match(parts.plain) for shape in (_ONLY_WHO, _ONLY_WHERE, _KEPT)):
        return _claim("invariant", parts)
    return _claim("fact", parts) if _NEEDS.match(parts.plain) else None


def _claim(kind: str, parts: Parts) -> Claim:
    return Claim(kind, standing(parts.text, parts), parts.why, parts.plain, RULE, 0.75)
