"""Words that steer a memory or its reader instead of telling something: never taken, whoever says them.

An agent repeats what it reads on pages and in files. A sentence written for an agent's memory, rather than
for the person in front of it, comes from there. These are shapes, not a proof: review is the boundary.
"""

from holdfast.patterns import PatternFile

_PATTERNS = PatternFile(__file__)


def overrules(sentence: str) -> bool:
    """Whether it tries to overrule a reader's instructions, or to hide something from people."""
    return _PATTERNS.overrules.search(sentence) is not None


def addresses_memory(sentence: str) -> bool:
    """Whether it speaks to a memory or its reader; fine from a user, not from an agent."""
    return _PATTERNS.addresses.search(sentence) is not None
