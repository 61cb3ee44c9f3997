"""Searches a run for claims worth remembering: applies every rule to every sentence, the best first.

An agent repeats what it was given. If that came back as a candidate, memory would confirm itself: so sentences that
were sent to this agent, or that contain one of our ids, are skipped (law 16), as is text that steers or hides
something.
"""

from __future__ import annotations

from functools import cache, cached_property

from holdfast.curation.extraction import constraint_rules, decision_rules, failure_rules
from holdfast.curation.extraction.candidate_claim import SentenceClaim, SentenceParts, content, may_stand, parts
from holdfast.curation.extraction.failure_rules import retried
from holdfast.curation.extraction.session_claims import session_claims
from holdfast.curation.extraction.session_statements import is_plan
from holdfast.curation.extraction.statement_shapes import describes, is_before_work
from holdfast.curation.extraction.turn_sentences import sentences
from holdfast.curation.extraction.withdrawn_words import WithdrawnWords, own_words, without_reset
from holdfast.model import prompt_injection
from holdfast.model.text import has_hidden
from holdfast.model.utterance import ExtractedMemory, TriedCommand, Utterance
from holdfast.patterns import TYPE_CHECKING, PatternFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from holdfast.curation.extraction.session_statements import SessionStatement
    from holdfast.curation.extraction.turn_sentences import Sentence

_SHAPE = PatternFile(__file__)
MOST = 10  # of one run: a person reads them all
_ALIKE = 0.8  # share of common words at which two statements count as one; a guess
_PLAINLY = ("", "request", "said", "closing", "answer", "refusal")  # sources in which people and agents speak
_ORDERS = ("constraint", "convention", constraint_rules.CORRECTION_RULE)  # rules that treat an order as a rule
_ENOUGH = 4  # words; a guess: shorter pieces match too many sentences by chance


def names_ours(sentence: str) -> bool:
    """Whether a sentence contains one of our ids, or names one of our commands."""
    return _SHAPE.ours.search(sentence) is not None


def normal(text: str) -> str:
    """Returns the words alone, in lower case, with a blank around each."""
    return f" {' '.join(_SHAPE.word.findall(text.casefold()))} "


class SentPhrases:
    """The packs this agent was sent; answers whether a sentence comes from one."""

    def __init__(self, packs: Sequence[str]) -> None:
        self._packs = [normal(pack) for pack in packs]
        self._raw = packs

    def holds(self, sentence: str) -> bool:
        """Whether the sentence is part of a pack, or contains a sentence of one."""
        words = normal(sentence)
        if not words.strip() or not self._packs:
            return False
        return any(words in pack for pack in self._packs) or any(piece in words for piece in self._pieces)

    @cached_property
    def _pieces(self) -> frozenset[str]:
        pieces = (normal(piece) for pack in self._raw for piece in _SHAPE.ends.split(pack))
        return frozenset(piece for piece in pieces if len(piece.split()) >= _ENOUGH)


_RULES = (
    *(constraint_rules.statement_claim, failure_rules.dead_end_claim, failure_rules.cause_claim),
    *(decision_rules.assumption_claim, decision_rules.decision_claim, decision_rules.preference_claim),
    constraint_rules.constraint_claim,
)


def find_claims(
    turns: Sequence[Utterance | TriedCommand],
    *,
    sent: Sequence[str] = (),
    holds: Callable[[ExtractedMemory], bool] = lambda _: True,
) -> list[ExtractedMemory]:
    """Returns the claims worth remembering of a run, best first.

    `sent` are the packs this agent got; `holds` says whether what a claim names still exists.
    """
    packs = SentPhrases(sent)
    commands = [turn for turn in turns if isinstance(turn, TriedCommand)]
    own_turns = without_reset([own_words(turn) for turn in turns if isinstance(turn, Utterance)], commands)
    withdrawn = WithdrawnWords(own_turns)
    plain = [turn for turn in own_turns if turn.source in _PLAINLY]
    wrote = {turn.turn for turn in own_turns if turn.wrote}
    claims = [one for turn in plain for one in _in_turn(turn, packs) if _is_needed(turn, one, wrote)]
    claims = [one for one in claims if not withdrawn.hold(one.turn, one.who, one.words)]
    refuted = {turn.turn for turn in own_turns if turn.who == "agent" and _SHAPE.refutes.search(turn.text)}
    claims = [one for one in claims if one.kind != "assumption" or one.who != "user" or one.turn not in refuted]
    holds = cache(holds)
    claims = [one for one in claims if holds(one)]
    claims += retried(commands)
    weighed = [turn for turn in own_turns if turn.source and not is_planted(turn)]
    claims += session_claims(weighed, may_say=lambda one: _may_say(one, packs, withdrawn), holds=holds)
    return _distinct(sorted(_without_corrected(claims), key=lambda one: (-one.confidence, one.turn)))[:MOST]


def _is_needed(turn: Utterance, one: ExtractedMemory, wrote: AbstractSet[int]) -> bool:
    """Whether a cue word counts: not for one occasion, not for what edits followed, not a "must" of an agent."""
    is_once = turn.who == "user" and one.rule in _ORDERS and _SHAPE.once.search(one.words)
    if is_once or (turn.wrote and one.rule == "root cause"):
        return False
    if turn.who == "agent" and describes(one.kind, one.words) and is_before_work(turn.source, turn.turn, wrote):
        return False
    by_a_person = turn.who == "user" and not is_plan(turn)
    return by_a_person or not turn.source or one.rule != "constraint"


def is_planted(turn: Utterance) -> bool:
    """Whether a sentence of an agent tries to steer its reader: its neighbours may be planted too."""
    return turn.who == "agent" and any(prompt_injection.overrules(one.text) for one in sentences(turn.text))


def _may_say(one: SessionStatement, packs: SentPhrases, withdrawn: WithdrawnWords) -> bool:
    """Whether a statement steers nobody, was not withdrawn and does not repeat our own text."""
    if withdrawn.hold(one.turn, one.who, one.words, one.heading):
        return False
    if prompt_injection.overrules(one.text) or names_ours(one.text) or packs.holds(one.text):
        return False
    return one.who == "user" or not prompt_injection.addresses_memory(one.text)


def _in_turn(turn: Utterance, packs: SentPhrases) -> Iterator[ExtractedMemory]:
    if turn.who not in ("user", "agent"):
        return  # output of tools is not trusted
    read = list(sentences(turn.text))
    if turn.who == "agent" and any(prompt_injection.overrules(one.text) for one in read):
        return  # if one sentence was planted, its neighbours may be too
    for place, sentence in enumerate(read):
        if sentence.text.endswith(":") or not _may_claim(sentence):
            continue
        claim = _claim(sentence, turn.who, read[place - 1].plain if place else "")
        if claim and _is_acceptable(sentence, claim, turn.who, packs):
            why = claim.why or (_reason(read[place + 1].text) if place + 1 < len(read) else "")
            yield ExtractedMemory(
                claim.kind, claim.statement, why, sentence.words, turn.turn, turn.who, claim.rule, claim.confidence
            )


def _may_claim(sentence: Sentence) -> bool:
    return _SHAPE.cue.search(sentence.plain) is not None or constraint_rules.is_asked_for(sentence.words)


def _claim(sentence: Sentence, who: str, before: str) -> SentenceClaim | None:
    """Returns the first claim of a sentence that is clear on its own."""
    read = parts(sentence)
    if who == "user" and (corrected := _correction(sentence, read, before)):
        return corrected
    claim = next(filter(None, (rule(read, who) for rule in _RULES)), None)
    if claim is None and who == "user" and constraint_rules.is_asked_for(sentence.words):
        claim = constraint_rules.remembered(read)
    return claim if claim and may_stand(claim, who) else None


def _correction(sentence: Sentence, read: SentenceParts, before: str) -> SentenceClaim | None:
    after_no = sentence.opening == 1 and constraint_rules.is_bare_no(before)
    if after_no or not sentence.opening:
        claim = constraint_rules.correction_claim(read, after_no=after_no)
    else:
        claim = constraint_rules.correction_within(read)
    return claim if claim and may_stand(claim, "user", corrected=True) else None


def _is_acceptable(sentence: Sentence, claim: SentenceClaim, who: str, packs: SentPhrases) -> bool:
    """Whether it hides nothing, steers nobody, and does not repeat our own text."""
    text = sentence.text
    if sentence.hidden or has_hidden(claim.statement) or not sentence.words:
        return False
    if prompt_injection.overrules(text) or (who == "agent" and prompt_injection.addresses_memory(text)):
        return False
    return not (names_ours(text) or packs.holds(text) or packs.holds(claim.statement))


def _reason(following: str) -> str:
    """Returns the reason in the next sentence, if there is one."""
    given = len(following) <= 300 and not has_hidden(following) and _SHAPE.because.match(following)
    return following[given.end() :].rstrip(" .") if given else ""


def _without_corrected(gathered: Sequence[ExtractedMemory]) -> list[ExtractedMemory]:
    """Returns the claims without those of an agent that its user then corrected."""
    corrections = [one for one in gathered if one.rule == constraint_rules.CORRECTION_RULE]
    return [one for one in gathered if not any(_undoes(later, one) for later in corrections)]


def _undoes(later: ExtractedMemory, one: ExtractedMemory) -> bool:
    near = one.who == "agent" and 0 < later.turn - one.turn <= 3
    return near and one.kind != "fact" and bool(content(later.statement) & content(one.statement))


def _distinct(ranked: Sequence[ExtractedMemory]) -> list[ExtractedMemory]:
    """Returns one of each: the first of those that say the same in nearly the same words."""
    kept: list[ExtractedMemory] = []
    known: list[frozenset[str]] = []
    for one in ranked:
        words = content(f"{one.statement} {one.why}")
        alike = (len(words & other) >= _ALIKE * len(words | other) for other in known)
        if len(kept) < 4 * MOST and not any(alike):
            kept.append(one)
            known.append(words)
    return kept
