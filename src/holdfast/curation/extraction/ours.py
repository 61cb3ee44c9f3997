"""Sentences that are Holdfast's own: sent to this agent, or carrying one of our ids (law 16).

An agent repeats what it was told. If that came back as a candidate, memory would confirm itself.
"""

import re
from collections.abc import Sequence
from functools import cached_property

from holdfast.patterns import regex

_ID = regex(r"\b(?:DEC|ASM|INV|FCT|DED|TSK|LNK|SES)-[0-9abcdefghjkmnpqrstvwxyz]{6,}\b", re.IGNORECASE)
_RUN = regex(r"\b\d{8}T\d{6}Z-[0-9a-z]{6}\b")
_COMMAND = regex(r"(?:^|[\s`/])holdfast\s+[a-z]")
_WORD = regex(r"\w+")
_ENDS = regex(r"[.!?:;]\s|\n")
_ENOUGH = 4  # words: fewer stand in too many sentences by chance


def names_ours(sentence: str) -> bool:
    """Whether it carries an id of ours, or speaks of one of our commands."""
    return any(rule.search(sentence) for rule in (_ID, _RUN, _COMMAND))


def normal(text: str) -> str:
    """The words alone, in lower case, a blank around each."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


class Sent:
    """What this agent was sent; asked whether a sentence comes from there."""

    def __init__(self, packs: Sequence[str]) -> None:
        self._packs = [normal(pack) for pack in packs]
        self._raw = packs

    def holds(self, sentence: str) -> bool:
        """Whether the sentence stands in a pack, or a sentence of a pack stands in it."""
        words = normal(sentence)
        if not words.strip() or not self._packs:
            return False
        return any(words in pack for pack in self._packs) or any(piece in words for piece in self._pieces)

    @cached_property
    def _pieces(self) -> frozenset[str]:
        pieces = (normal(piece) for pack in self._raw for piece in _ENDS.split(pack))
        return frozenset(piece for piece in pieces if len(piece.split()) >= _ENOUGH)
