"""Words that steer a memory or its reader instead of telling something: never taken, whoever says them.

An agent repeats what it reads on pages and in files. A sentence written for an agent's memory, rather than
for the person in front of it, comes from there. These are shapes, not a proof: review is the boundary.
"""

import re

from holdfast.patterns import regex

_UNLESS_FORBIDDEN = r"(?<!never )(?<!not )(?<!n't )(?<!cannot )\b"  # "never skip code review" is a rule, not an attack
_WHAT = (
    r"(?:instructions?|rules?|prompts?|guidelines?|directives?|safety|guardrails?|polic(?:y|ies)"
    r"|restrictions?"
    r"|memor(?:y|ies))\b"
)
_WHOM = r"(?:user|human|person|people|developer|owner|operator|reviewer)s?\b"
_CHECK = (
    r"(?:reviews?|approvals?|redaction|scann?\w*|sandbox\w*|confirmations?|signatures?|security"
    r"|verification)\b"
)
_OVERRULES = regex(
    rf"{_UNLESS_FORBIDDEN}(?:ignor\w*|disregard\w*|forget\w*|overrid\w*|bypass\w*)\s+(?:\w+\s+){{0,4}}{_WHAT}"
    rf"|{_UNLESS_FORBIDDEN}(?:disable|skip|turn off)\s+(?:\w+\s+){{0,2}}{_CHECK}"
    rf"|{_UNLESS_FORBIDDEN}(?:send|post|upload|forward|email|leak|copy)\b.{{0,60}}"
    r"(?:\b(?:tokens?|keys?|secrets?|credentials?|passwords?)|\.env)\b.{0,60}\b(?:to|at)\b"
    rf"|{_UNLESS_FORBIDDEN}(?:approve|accept|trust)\s+(?:all|any|every)\s+(?:\w+\s+){{0,2}}"
    r"(?:candidates?|memor(?:y|ies)|changes?|commands?|tools?|requests?|permissions?|entr(?:y|ies))\b"
    rf"|{_UNLESS_FORBIDDEN}(?:approve|accept|confirm|promote)\s+(?:\w+\s+){{0,3}}"
    r"(?:candidates?|memor(?:y|ies)|proposals?)\b"
    rf"|{_UNLESS_FORBIDDEN}(?:approve|accept|trust|allow)\s+(?:everything|anything|all)(?=[\s.,;!]*(?:$|from\b|by\b"
    r"|without\b|yourself\b|that\b|in\b))"
    r"|\bauto-?approv\w+"
    r"|\b(?:system|developer|hidden) (?:prompt|message|instructions?)\b|\bnew (?:instructions?|directives?)\b"
    r"|\bjailbr\w+|\b(?:developer|god|dan) mode\b|\byou are (?:now|no longer)\b|^act as\b"
    r"|\bpretend (?:to be|you)\b"
    r"|\bas an ai\b|<\|?(?:im_start|im_end|system|endoftext)|\[/?INST\]|^(?:assistant|system|human)\s*:"
    r"|\b(?:exfiltrat\w+|keylogger|backdoor|reverse shell)\b|\b(?:curl|wget)\b[^|]{0,200}\|\s*(?:ba|z"
    r"|da)?sh\b",
    re.IGNORECASE,
)
_ADDRESSES = regex(
    r"\b(?:do not|don't|never|without)\s+(?:\w+\s+){0,2}(?:tell|inform|mention|reveal|alert|notif|ask"
    r"|show)\w*\s+"
    rf"(?:\w+\s+){{0,5}}{_WHOM}"
    r"|\b(?:add|save|store|write|commit|put|record|persist|append|keep)\b.{0,40}\b(?:to|in|into) (?:your "
    r"|the |long.term |project )*"
    r"memor(?:y|ies)\b|\bmemor(?:y|ize|ise)\s*:|\bmemori[sz]e\b|\bremember\s*(?::|this|that|to|from now"
    r"|always|for)"
    r"|\bfor (?:all |any )?future (?:sessions?|agents?|conversations?|runs?)\b|\bfrom now on\b"
    r"|\byou (?:must|shall|should|will|have to|need to|are to)\b"
    r"|\b(?:ai|llm|coding)?\s?(?:agents?|assistants?|models?|claude|codex|gemini|copilot|gpt\S*) (?:must"
    r"|shall|should|will|has to|have to)\b"
    r"|\b(?:attention|important|note)\b.{0,20}\b(?:agents?|assistants?|ai|llms?|models?)\b",
    re.IGNORECASE,
)


def overrules(sentence: str) -> bool:
    """Whether it tries to overrule a reader's instructions, or to hide something from people."""
    return _OVERRULES.search(sentence) is not None


def addresses_memory(sentence: str) -> bool:
    """Whether it speaks to a memory or its reader; fine from a user, not from an agent."""
    return _ADDRESSES.search(sentence) is not None
