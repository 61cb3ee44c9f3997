"""Letting the user's own model propose: one bounded question, and only answers that verify.

A model's word is not evidence. What it proposes must cite words that stand in a turn of the user or of
the agent, and must speak of what that turn speaks of; the rest is dropped without a word.
"""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from holdfast.curation.extraction.candidate_claim import bare, content, fits
from holdfast.curation.extraction.claim_search import MOST, SentPhrases, names_ours
from holdfast.curation.extraction.turn_sentences import NUL, blanked
from holdfast.model import prompt_injection
from holdfast.model.ids import PREFIXES
from holdfast.model.text import has_hidden
from holdfast.model.utterance import MAX_WHY, MAX_WORDS, ExtractedMemory, TriedCommand, Utterance
from holdfast.patterns import regex, text_beside

MAX_PROMPT = 24 * 1024  # bytes
MAX_ANSWER = 64 * 1024  # characters that are looked at
RULE = "model"
_MAX_TURN = 3000  # characters of one turn that are shown
_MIN_WORDS = 12
_SPACE = regex(r"\s+")


def ask_model(
    turns: Sequence[Utterance | TriedCommand], ask: Callable[[str], str | None], *, sent: Sequence[str] = ()
) -> list[ExtractedMemory] | None:
    """What the user's model proposes, if it verifies; None if its answer could not be read at all."""
    answer = ask(prompt(turns))
    rows = [] if not answer else _rows(answer[:MAX_ANSWER])
    if not rows:
        return None
    by_turn: dict[int, list[Utterance]] = {}
    for turn in turns:
        if isinstance(turn, Utterance) and turn.who in ("user", "agent"):
            by_turn.setdefault(turn.turn, []).append(turn)
    known = SentPhrases(sent)
    distinct: dict[frozenset[str], ExtractedMemory] = {}
    for one in (one for row in rows if (one := _verified(row, by_turn, known))):
        distinct.setdefault(content(one.statement), one)
    return sorted(distinct.values(), key=lambda one: (-one.confidence, one.turn))[:MOST]


def prompt(turns: Sequence[Utterance | TriedCommand]) -> str:
    """The question: what to look for and as many turns as fit, the newest first to be taken."""
    shown = [text for turn in turns if (text := _shown(turn))]
    mark = "turns-" + hashlib.sha256("\n".join(shown).encode("utf-8", "replace")).hexdigest()[:12]
    head = text_beside(__file__, "model_question.txt").format(mark=mark, most=MOST)
    room = MAX_PROMPT - len(head.encode()) - 2 * len(f"<{mark}>\n") - 2
    chosen: list[str] = []
    for text in reversed(shown):
        room -= len(text.encode("utf-8", "replace")) + 1
        if room < 0:
            break
        chosen.insert(0, text)
    return "\n".join([head, f"<{mark}>", *chosen, f"</{mark}>"]).encode("utf-8", "replace").decode()


def _shown(turn: Utterance | TriedCommand) -> str:
    """A turn as the model sees it: without our own text; a tool's words are not shown at all."""
    if isinstance(turn, TriedCommand):
        ended = "unknown" if turn.exit_status is None else turn.exit_status
        return f"[{turn.turn} command, exit {ended}] {_flat(turn.command)[:300]}"
    words = "" if turn.who == "tool" else re.sub(r"\n{3,}", "\n\n", blanked(turn.text).replace(NUL, "")).strip()
    return f"[{turn.turn} {turn.who}] {words[:_MAX_TURN]}" if words else ""


def _rows(answer: str) -> list[dict[str, Any]]:
    """The objects of an answer: one a line as asked for, or all in a list, as models like to give them."""
    rows: list[dict[str, Any]] = []
    for text in (answer[answer.find("[") : answer.rfind("]") + 1], *answer.splitlines()):
        try:
            found = json.loads(text.strip().rstrip(","))
        except (ValueError, RecursionError):
            continue
        rows += [row for row in (found if isinstance(found, list) else [found]) if isinstance(row, dict)]
    return rows


def _verified(row: dict[str, Any], by_turn: dict[int, list[Utterance]], sent: SentPhrases) -> ExtractedMemory | None:
    """The candidate a row proposes, if it is whole and its words stand where it says."""
    kind, statement, why, turn, words = (row.get(name) for name in ("type", "statement", "why", "turn", "words"))
    if not (isinstance(kind, str) and isinstance(statement, str) and isinstance(words, str) and type(turn) is int):
        return None
    if kind not in PREFIXES or turn not in by_turn:
        return None
    statement, reason = bare(_flat(statement)), bare(_flat(why if isinstance(why, str) else ""))
    verbatim = next(((one, cited) for one in by_turn[turn] if (cited := _cited(one.text, words))), None)
    if verbatim is None or not fits(statement) or len(reason) > MAX_WHY:
        return None
    said, cited = verbatim
    if any(has_hidden(text) or prompt_injection.overrules(text) for text in (statement, reason, cited)):
        return None
    # Whether at least half of what the statement is about is in the turn it cites.
    about = {word[:5] for word in content(statement)}
    there = {word[:5] for word in content(said.text)}
    if not (len(about) >= 2 and 2 * len(about & there) >= len(about)):
        return None
    if said.who == "agent" and any(map(prompt_injection.addresses_memory, (statement, cited))):
        return None
    if any(names_ours(text) or sent.holds(text) for text in (statement, cited)):
        return None
    return ExtractedMemory(kind, statement, reason, cited, turn, said.who, RULE, 0.6 if said.who == "user" else 0.5)


def _cited(text: str, words: str) -> str | None:
    """The words as they stand in the turn, whatever the blanks between them; never from a blanked part."""
    pieces = words.split()
    if not _MIN_WORDS <= len(" ".join(pieces)) <= MAX_WORDS:
        return None
    found = re.search(r"\s+".join(map(re.escape, pieces)), blanked(text))
    return found[0] if found and len(found[0]) <= MAX_WORDS else None


def _flat(text: str) -> str:
    return _SPACE.sub(" ", text).strip()
