"""Detects words of a session that were withdrawn later, or that a person only pasted.

An agent's claim that one of the next two turns gives up, a person's correction of their own words, work that somebody
undid, options that were not chosen, versions that were replaced, and faults that a later turn fixed.
"""

from __future__ import annotations

from holdfast.curation.extraction.session_statements import code_names, telling
from holdfast.curation.extraction.statement_shapes import calls_for_change, is_fault, is_rule
from holdfast.model.utterance import UNDONE
from holdfast.patterns import TYPE_CHECKING, PatternFile
from holdfast.values import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.model.utterance import TriedCommand, Utterance

_SHAPE = PatternFile(__file__)
_SHORT = 60  # characters of a reply that only names a choice, such as "do 2.1.0"; a guess
_NEXT = 2  # turns in which a claim may be denied; a guess: later ones are about something else
_OVERRULED = 2  # specific words that a claim shares with a turn that overrules it; a guess: a direct denial needs one
_SHARED = 3  # specific words that two texts about the same thing share; a guess: two are often chance


def own_words(turn: Utterance) -> Utterance:
    """Returns a person's turn without pasted reviews of programs."""
    pasted = _SHAPE.review.search(turn.text) if turn.who == "user" else None
    return replace(turn, text=turn.text[: pasted.start()]) if pasted else turn


def without_reset(turns: Sequence[Utterance], commands: Sequence[TriedCommand]) -> list[Utterance]:
    """Returns the turns without messages of commits that a later `git reset` or `git revert` undid.

    If it undid the work as well, and the turn committed nothing else, the words of that turn are left out too.
    """
    skipped: set[int] = set()
    undone: set[int] = set()
    for command in commands:
        found = _SHAPE.resets.search(command.command) if not command.exit_status else None
        before = [place for place, one in enumerate(turns) if one.source == "commit" and one.turn < command.turn]
        last = [place for place in before if place not in skipped][-int(found["count"] or 1) :] if found else []
        skipped.update(last)
        if found and (found["hard"] or found["revert"]):
            undone.update(turns[place].turn for place in last)
    kept = {one.turn for place, one in enumerate(turns) if one.source == "commit" and place not in skipped}
    return [one for place, one in enumerate(turns) if place not in skipped and one.turn not in undone - kept]


class WithdrawnWords:
    """Answers which words of a session a later turn withdrew."""

    def __init__(self, turns: Sequence[Utterance]) -> None:
        self._asked: dict[int, str] = {}
        self._said: dict[int, str] = {}
        for turn in turns:
            if turn.source == UNDONE:
                continue
            texts = self._asked if turn.who == "user" else self._said
            texts[turn.turn] = f"{texts.get(turn.turn, '')}\n{turn.text}".strip()
        self._wrote = {turn.turn for turn in turns if turn.wrote}
        self._undone = [(turn.turn, frozenset(turn.text.split())) for turn in turns if turn.source == UNDONE]
        self._numbers = sorted({turn.turn for turn in turns})
        # Computed once: a long session has a thousand statements to check.
        asked = [(number, text) for number, text in sorted(self._asked.items())]
        corrections = [one for one in asked if _SHAPE.corrects.match(one[1]) or _SHAPE.takes_back.search(one[1])]
        self._corrections = [(number, telling(text)) for number, text in corrections]
        overruling = [one for one in asked if _is_overruling(one[1], self._said.get(one[0], ""))]
        self._overruling = [(number, telling(text)) for number, text in overruling]

    def hold(self, turn: int, who: str, words: str, heading: str = "") -> bool:
        """Whether these words were withdrawn; the `heading` above them may contain the number of an option."""
        later = [number for number in self._numbers if number > turn]
        if self._is_undone(turn, words):
            return True
        if who == "user":  # only a person withdraws a person's words
            return any(number > turn and telling(words) & about for number, about in self._corrections)
        item = _SHAPE.item.match(words) or _SHAPE.item.match(heading)
        if later and item and item["number"] in _SHAPE.declined.findall(self._asked.get(later[0], "")):
            return True
        if self._is_declined_offer(turn, words, heading, later):
            return True
        for number in later[:_NEXT]:
            if self._is_overturned(words, self._asked.get(number, ""), self._said.get(number, "")):
                return True
        if self._is_overruled(words, later) or self._is_replaced(words, later):
            return True
        if self._is_ordered_to_fix(turn, later) and not is_rule(words):
            return True
        return (is_fault(words) or calls_for_change(words)) and self._is_fixed(words, later)

    def _is_overruled(self, words: str, later: Sequence[int]) -> bool:
        """Whether a person rejects it and the agent agrees; later turns must share more words."""
        least = dict.fromkeys(later[:_NEXT], _OVERRULED)
        overruling = [one for one in self._overruling if later and one[0] >= later[0]]
        return any(len(telling(words) & about) >= least.get(number, _SHARED) for number, about in overruling)

    def _is_undone(self, turn: int, words: str) -> bool:
        """Whether it names code that an edit of its turn or before added and a later turn removed."""
        return any(code_names(words) & names for number, names in self._undone if number > turn)

    def _is_declined_offer(self, turn: int, words: str, heading: str, later: Sequence[int]) -> bool:
        """Whether it is one of the options that the agent asked about, and nobody agreed."""
        if not (_SHAPE.offered.match(words) or _SHAPE.offered.match(heading)):
            return False
        asks = _SHAPE.asks_leave.search(self._said.get(turn, "")[-400:])
        return bool(asks) and not (later and _SHAPE.agrees.match(self._asked.get(later[0], "")))

    def _is_fixed(self, words: str, later: Sequence[int]) -> bool:
        """Whether a later turn wrote files about a fault, or the next one did after a person agreed."""
        wrote = [number for number in later if number in self._wrote]
        if wrote[:1] == later[:1] and wrote and _is_go_ahead(self._asked.get(wrote[0], "")):
            return True
        return any(_is_about(words, self._said.get(number, "")) for number in wrote)

    def _is_ordered_to_fix(self, turn: int, later: Sequence[int]) -> bool:
        """Whether a person ordered to fix what a turn without edits reported: it may contain no word for a fault."""
        fixed = later and later[0] in self._wrote and turn not in self._wrote
        return bool(fixed and _SHAPE.fixes.match(self._asked.get(later[0], "")))

    def _is_replaced(self, words: str, later: Sequence[int]) -> bool:
        """Whether a person names another version in a reply that contains only that, or says to use it."""
        mine = _versions(words)
        replies = (self._asked.get(number, "") for number in later) if mine else ()
        orders = (text for text in replies if len(text) <= _SHORT or _SHAPE.moves_to.search(text))
        return any(other and not other & mine for other in map(_versions, orders))

    def _is_overturned(self, words: str, asked: str, answered: str) -> bool:
        chosen, item = _SHAPE.choice.match(asked), _SHAPE.item.match(words)
        if chosen and item and _rank(chosen["number"]) != _rank(item["number"]):
            return True
        denied = _SHAPE.denies.match(asked) and _SHAPE.gives_up.match(answered)
        return bool(denied or _SHAPE.takes_back.search(asked)) and bool(telling(words) & telling(asked))


def _rank(name: str) -> str:
    """Returns the position of an option, however it is named: 2, B, second."""
    return _SHAPE.table("ranks").get(name.lower(), name)


def _versions(text: str) -> set[str]:
    """Returns the versions that a text names; a plain decimal is none."""
    return {long or short for long, short in _SHAPE.version.findall(text)}


def _is_go_ahead(reply: str) -> bool:
    """Whether a person only agrees: in any language such a reply is short and names no code."""
    is_bare = 0 < len(reply) <= _SHORT and not code_names(reply) and not _SHAPE.turns_away.search(reply)
    return is_bare or _SHAPE.goes_ahead.match(reply) is not None


def _is_overruling(asked: str, answered: str) -> bool:
    """Whether a person rejects the agent's plan, and the agent agrees."""
    return _SHAPE.gives_up.match(answered) is not None and _SHAPE.overrules.search(asked) is not None


def _is_about(words: str, text: str) -> bool:
    """Whether two texts are about the same thing."""
    return bool(code_names(words) & code_names(text)) or len(telling(words) & telling(text)) >= _SHARED
