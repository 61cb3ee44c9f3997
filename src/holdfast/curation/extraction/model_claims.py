"""Lets the user's own model propose candidates: one bounded question, and only verified answers.

The question shows the passages of a session that most likely contain something, chosen by the scores that also propose
without a model, so that a long session fits and costs no more than a short one. A model's answer is not evidence: it
must cite words of a user's or agent's turn, must be about the topic of that turn, and must pass all checks of a
proposal; the rest is dropped silently.
"""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from holdfast.curation.extraction.candidate_claim import bare, content, fits
from holdfast.curation.extraction.claim_search import MOST, SentPhrases, is_planted, names_ours
from holdfast.curation.extraction.session_statements import SessionWords, statements
from holdfast.curation.extraction.statement_score import kept
from holdfast.curation.extraction.statement_shapes import may_stand, why_not
from holdfast.curation.extraction.turn_sentences import NUL, blanked
from holdfast.curation.extraction.withdrawn_words import WithdrawnWords, own_words
from holdfast.model import prompt_injection
from holdfast.model.ids import PREFIXES
from holdfast.model.text import has_hidden
from holdfast.model.utterance import MAX_WHY, MAX_WORDS, SOURCES, UNDONE, ExtractedMemory, TriedCommand, Utterance
from holdfast.patterns import regex, text_beside
from holdfast.values import frozen, replace

MAX_PROMPT = 24 * 1024  # bytes; a guess: small local models take about 8,000 tokens
MAX_ANSWER = 64 * 1024  # characters that are read; a guess: ten candidates take less than a tenth
RULE = "model"
CONFIDENCE = {"user": 0.85, "agent": 0.8}  # of 146 such candidates 84 % were right by their key words
_APART = 0.005  # of confidence between one candidate and the next: keeps their order in the queue
_MAX_TURN = 3000  # characters of one turn that are shown; a guess: eight of them fill the prompt
_MAX_REQUEST = 600  # characters of a request, which gives context; all requests take at most half of the prompt
_ALWAYS, _FAILED, _WORKED = 2.0, 0.3, 0.05  # worth of unscored turns and of commands, next to scores up to 1; guesses
_ROUGH = 0.5  # part of the worth of an unclear statement, which a model can reword; a guess
_MIN_WORDS = 12  # characters of a quotation; a guess: shorter ones match by chance
_SPACE = regex(r"\s+")


def ask_model(
    turns: Sequence[Utterance | TriedCommand], ask: Callable[[str], str | None], *, sent: Sequence[str] = ()
) -> list[ExtractedMemory] | None:
    """Returns the verified proposals of the user's model; None if its answer could not be read."""
    answer = ask(prompt(turns))
    rows = [] if not answer else _rows(answer[:MAX_ANSWER])
    if not rows:
        return None
    heard = _trusted_turns(turns)
    by_turn: dict[int, list[Utterance]] = {}
    for turn in heard:
        by_turn.setdefault(turn.turn, []).append(turn)
    known, withdrawn = SentPhrases(sent), WithdrawnWords(heard)
    distinct: dict[frozenset[str], ExtractedMemory] = {}
    for one in (one for row in rows if (one := _verify(row, by_turn, known))):
        if not withdrawn.hold(one.turn, one.who, one.statement):
            distinct.setdefault(content(one.statement), one)
    found = list(distinct.values())[:MOST]  # the most important first, which the queue keeps
    return [replace(one, confidence=round(one.confidence - _APART * place, 3)) for place, one in enumerate(found)]


def _trusted_turns(turns: Sequence[Utterance | TriedCommand]) -> list[Utterance]:
    """Returns the words of people and agents; output of tools is not trusted."""
    said = [turn for turn in turns if isinstance(turn, Utterance) and turn.who in ("user", "agent")]
    return [own_words(turn) for turn in said if not (turn.source and is_planted(turn))]


@frozen
class _Passage:
    """A passage for the prompt: its place, its text and its worth."""

    head: str
    text: str
    worth: float


def prompt(turns: Sequence[Utterance | TriedCommand]) -> str:
    """Returns the question: what to look for, and the most valuable passages in the order of the session."""
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
    """Returns the scored sentences of a session, its requests, and other turns unchanged."""
    heard = _trusted_turns(turns)
    told = statements(heard)
    session = SessionWords(heard, told)
    scores = {id(one): kept(one, number, session) for number, one in enumerate(told)}
    found: list[tuple[int, _Passage]] = []
    asked = sum(turn.source == "request" for turn in heard)
    most = {True: min(_MAX_REQUEST, MAX_PROMPT // (2 * max(1, asked))), False: _MAX_TURN}
    for turn in (turn for turn in heard if turn.source == "request" or turn.source not in (*SOURCES, UNDONE)):
        if said := _without_our_text(turn.text)[: most[turn.source == "request"]]:
            found.append((turn.turn, _Passage(f"[{turn.turn} {turn.who}]", said, _ALWAYS)))
    requests = {passage.head: passage.text for _, passage in found}
    for one in told:
        worth = scores[id(one)] if may_stand(one) else _ROUGH * scores[id(one)]
        said = "" if one.hidden else _flat(_without_our_text(one.words))
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


def _without_our_text(text: str) -> str:
    """Returns words as the model sees them: without our own text."""
    return re.sub(r"\n{3,}", "\n\n", blanked(text).replace(NUL, "")).strip()


def _rows(answer: str) -> list[dict[str, Any]]:
    """Returns the objects of an answer: one a line as asked for, or all in a list, as many models answer."""
    rows: list[dict[str, Any]] = []
    for text in (answer[answer.find("[") : answer.rfind("]") + 1], *answer.splitlines()):
        try:
            found = json.loads(text.strip().rstrip(","))
        except (ValueError, RecursionError):
            continue
        rows += [row for row in (found if isinstance(found, list) else [found]) if isinstance(row, dict)]
    return rows


def _verify(row: dict[str, Any], by_turn: dict[int, list[Utterance]], sent: SentPhrases) -> ExtractedMemory | None:
    """Returns the candidate of a row, if it is complete and cites words of that turn."""
    kind, statement, why, turn, words = (row.get(name) for name in ("type", "statement", "why", "turn", "words"))
    if not (isinstance(kind, str) and isinstance(statement, str) and isinstance(words, str) and type(turn) is int):
        return None
    if kind not in PREFIXES or turn not in by_turn:
        return None
    statement, reason = bare(_flat(statement)), bare(_flat(why if isinstance(why, str) else ""))
    verbatim = next(((one, cited) for one in by_turn[turn] if (cited := _quotation(one.text, words))), None)
    if verbatim is None or not fits(statement) or len(reason) > MAX_WHY:
        return None
    said, cited = verbatim
    if why_not(statement) is not None:
        return None
    if any(has_hidden(text) or prompt_injection.overrules(text) for text in (statement, reason, cited)):
        return None
    # A third of the statement's words must be in the cited turn: a model rewords, and may translate. A guess.
    about = {word[:5] for word in content(statement)}
    there = {word[:5] for one in by_turn[turn] for word in content(" ".join((one.text, *one.files)))}
    if not (len(about) >= 2 and 3 * len(about & there) >= len(about)):
        return None
    if said.who == "agent" and any(map(prompt_injection.addresses_memory, (statement, cited))):
        return None
    if any(names_ours(text) or sent.holds(text) for text in (statement, cited)):
        return None
    return ExtractedMemory(kind, statement, reason, cited, turn, said.who, RULE, CONFIDENCE[said.who])


def _quotation(text: str, words: str) -> str | None:
    """Returns the words as in the turn, with any blanks between them; never from a blanked part."""
    pieces = words.split()
    if not _MIN_WORDS <= len(" ".join(pieces)) <= MAX_WORDS:
        return None
    found = re.search(r"\s+".join(map(re.escape, pieces)), blanked(text))
    return found[0] if found and len(found[0]) <= MAX_WORDS else None


def _flat(text: str) -> str:
    return _SPACE.sub(" ", text).strip()
