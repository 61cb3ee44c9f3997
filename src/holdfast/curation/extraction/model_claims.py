"""Letting the user's own model propose: one bounded question, and only answers that verify.

The question shows the passages of a session that most likely hold something, chosen by the same scores that propose
without a model, so that a long session fits and costs no more than a short one. A model's word is not evidence. What it
proposes must cite words that stand in a turn of the user or of the agent, must speak of what that turn speaks of, and
must pass what every proposal passes; the rest is dropped without a word.
"""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from holdfast.curation.extraction.candidate_claim import bare, content, fits
from holdfast.curation.extraction.claim_search import MOST, SentPhrases, is_planted, names_ours
from holdfast.curation.extraction.session_claims import may_stand, why_not
from holdfast.curation.extraction.session_statements import SessionWords, statements
from holdfast.curation.extraction.statement_score import score
from holdfast.curation.extraction.turn_sentences import NUL, blanked
from holdfast.curation.extraction.withdrawn_words import WithdrawnWords, own_words
from holdfast.model import prompt_injection
from holdfast.model.ids import PREFIXES
from holdfast.model.text import has_hidden
from holdfast.model.utterance import MAX_WHY, MAX_WORDS, SOURCES, UNDONE, ExtractedMemory, TriedCommand, Utterance
from holdfast.patterns import regex, text_beside
from holdfast.values import frozen, replace

MAX_PROMPT = 24 * 1024  # bytes
MAX_ANSWER = 64 * 1024  # characters that are looked at
RULE = "model"
CONFIDENCE = {"user": 0.85, "agent": 0.8}  # of 146 such candidates 0.84 were right by their key words
_APART = 0.005  # of confidence between one candidate and the next
_MAX_TURN = 3000  # characters of one turn that are shown
_MAX_REQUEST = 600  # of what a person asked, which tells what the rest is about; all of it takes half of the room
_ALWAYS, _FAILED, _WORKED = 2.0, 0.3, 0.05  # worth of turns nobody weighed and of commands, beside scores up to 1
_ROUGH = 0.5  # of the worth of a statement that could not stand as it is: a model can word it
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
    heard = _heard(turns)
    by_turn: dict[int, list[Utterance]] = {}
    for turn in heard:
        by_turn.setdefault(turn.turn, []).append(turn)
    known, withdrawn = SentPhrases(sent), WithdrawnWords(heard)
    distinct: dict[frozenset[str], ExtractedMemory] = {}
    for one in (one for row in rows if (one := _verified(row, by_turn, known))):
        if not withdrawn.hold(one.turn, one.who, one.statement):
            distinct.setdefault(content(one.statement), one)
    found = list(distinct.values())[:MOST]  # the most important first, which the queue keeps
    return [replace(one, confidence=round(one.confidence - _APART * place, 3)) for place, one in enumerate(found)]


def _heard(turns: Sequence[Utterance | TriedCommand]) -> list[Utterance]:
    """What people and agents said; a tool's words are anybody's."""
    said = [turn for turn in turns if isinstance(turn, Utterance) and turn.who in ("user", "agent")]
    return [own_words(turn) for turn in said if not (turn.source and is_planted(turn))]


@frozen
class _Passage:
    """Something the model may be shown: where it stands, and what it is worth beside the others."""

    head: str
    text: str
    worth: float


def prompt(turns: Sequence[Utterance | TriedCommand]) -> str:
    """The question: what to look for, and the passages that are worth most, in the order of the session."""
    passages = _passages(turns)
    seen = "\n".join(one.text for one in passages)
    mark = "turns-" + hashlib.sha256(seen.encode("utf-8", "replace")).hexdigest()[:12]
    head = text_beside(__file__, "model_question.txt").format(mark=mark, most=MOST)
    room = MAX_PROMPT - len(head.encode()) - 2 * len(f"<{mark}>\n") - 2
    chosen: set[int] = set()
    for place in sorted(range(len(passages)), key=lambda place: (-passages[place].worth, -place)):  # then the newest
        one = passages[place]
        room -= len(f"{one.head} {one.text}\n".encode("utf-8", "replace"))
        if room < 0:
            break
        chosen.add(place)
    shown: list[str] = []
    for place in sorted(chosen):
        one, before = passages[place], passages[place - 1] if place - 1 in chosen else None
        shown.append(one.text if before and before.head == one.head else f"{one.head} {one.text}")
    return "\n".join([head, f"<{mark}>", *shown, f"</{mark}>"]).encode("utf-8", "replace").decode()


def _passages(turns: Sequence[Utterance | TriedCommand]) -> list[_Passage]:
    """Sentences of a session that is known as a whole, what people asked in it, and other turns as they are."""
    heard = _heard(turns)
    told = statements(heard)
    session = SessionWords(heard, told)
    scores = {id(one): score(one, number, session) for number, one in enumerate(told)}
    found: list[tuple[int, _Passage]] = []
    asked = sum(turn.source == "request" for turn in heard)
    most = {True: min(_MAX_REQUEST, MAX_PROMPT // (2 * max(1, asked))), False: _MAX_TURN}
    for turn in (turn for turn in heard if turn.source == "request" or turn.source not in (*SOURCES, UNDONE)):
        if said := _shown(turn.text)[: most[turn.source == "request"]]:
            found.append((turn.turn, _Passage(f"[{turn.turn} {turn.who}]", said, _ALWAYS)))
    requests = {passage.head: passage.text for _, passage in found}
    for one in told:
        worth = scores[id(one)] if may_stand(one) else _ROUGH * scores[id(one)]
        said = "" if one.hidden else _flat(_shown(one.words))
        if said and said not in _flat(requests.get(f"[{one.turn} user]", "")):
            found.append((one.turn, _Passage(f"[{one.turn} {one.who}, {one.source}]", said, worth)))
    for command in (turn for turn in turns if isinstance(turn, TriedCommand)):
        ended = "unknown" if command.exit_status is None else command.exit_status
        tried = _Passage(
            f"[{command.turn} command, exit {ended}]",
            _flat(command.command)[:300],
            _WORKED if told and not command.exit_status else _FAILED if told else _ALWAYS,
        )
        found.append((command.turn, tried))
    return [passage for _, passage in sorted(found, key=lambda one: one[0])]


def _shown(text: str) -> str:
    """Words as the model sees them: without our own text."""
    return re.sub(r"\n{3,}", "\n\n", blanked(text).replace(NUL, "")).strip()


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
    if why_not(statement) is not None:
        return None
    if any(has_hidden(text) or prompt_injection.overrules(text) for text in (statement, reason, cited)):
        return None
    # At least a third of what the statement is about is in the turn it cites: a model rewords, and may translate.
    about = {word[:5] for word in content(statement)}
    there = {word[:5] for one in by_turn[turn] for word in content(" ".join((one.text, *one.files)))}
    if not (len(about) >= 2 and 3 * len(about & there) >= len(about)):
        return None
    if said.who == "agent" and any(map(prompt_injection.addresses_memory, (statement, cited))):
        return None
    if any(names_ours(text) or sent.holds(text) for text in (statement, cited)):
        return None
    return ExtractedMemory(kind, statement, reason, cited, turn, said.who, RULE, CONFIDENCE[said.who])


def _cited(text: str, words: str) -> str | None:
    """The words as they stand in the turn, whatever the blanks between them; never from a blanked part."""
    pieces = words.split()
    if not _MIN_WORDS <= len(" ".join(pieces)) <= MAX_WORDS:
        return None
    found = re.search(r"\s+".join(map(re.escape, pieces)), blanked(text))
    return found[0] if found and len(found[0]) <= MAX_WORDS else None


def _flat(text: str) -> str:
    return _SPACE.sub(" ", text).strip()
