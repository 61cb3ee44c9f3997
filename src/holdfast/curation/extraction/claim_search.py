"""Sentences that are Holdfast's own: sent to this agent, or carrying one of our ids (law 16).

An agent repeats what it was told. If that came back as a candidate, memory would confirm itself.

Looking through a run for what may be worth remembering: every rule over every sentence, the best first.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from holdfast.curation.extraction import constraint_rules, decision_rules, failure_rules
from holdfast.curation.extraction.candidate_claim import SentenceClaim, SentenceParts, content, may_stand, parts
from holdfast.curation.extraction.failure_rules import retried
from holdfast.curation.extraction.turn_sentences import Sentence, sentences
from holdfast.model import prompt_injection
from holdfast.model.text import has_hidden
from holdfast.model.utterance import ExtractedMemory, TriedCommand, Utterance
from holdfast.patterns import regex
from holdfast.values import field, frozen, mutable, replace

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


class SentPhrases:
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


MOST = 8  # of one run: a person reads them all
_ALIKE = 0.8  # share of words from which on two statements are one
_RULES = (
    constraint_rules.statement_claim,
    failure_rules.dead_end_claim,
    failure_rules.cause_claim,
    decision_rules.assumption_claim,
    decision_rules.decision_claim,
    decision_rules.preference_claim,
    constraint_rules.constraint_claim,
)
# A sentence without any of these words fits no rule: most of a long text is passed over at once.
_CUE = regex(
    r"decid|decision|agreed|opted|chose|elected|settl|landed|standardi|went with|picked|selected|let's"
    r"|let us|we'll|we will"
    r"|going|we shall|stick|must|may n|may only|shall|should|can't ever|cannot ever|require|allow|permit"
    r"|forbid|mandat|prohib"
    r"|off.limits|to stay|to remain|to be|to keep|no more|no less|no fewer|no longer|never|always|do not"
    r"|don't|make sure|ensure"
    r"|all |every|each|convention|style|naming|house rule|prefer|from now|future|from here|we |use |write "
    r"|name |put |keep "
    r"|please|avoid|cause|culprit|turn|the problem|the issue|bug|fail|error|crash|hang|flak|regression"
    r"|due to|result of"
    r"|triggered|broke|hung|timed out|assum|attempted|switched|moved|migrated|using|tried|attempted|work"
    r"|revert|rolled back|backed out|abandon|gave up"
    r"|given up|dropped|scrapped"
    r"|ruled out|discard|threw|reject|dead.end|constraint|invariant|rule|no\b|not |wrong|actually|stop"
    r"|wait|said|told|instead|only|need|depend|i want|i'd like",
    re.IGNORECASE,
)


@frozen
class ExtractionResult:
    """What was found, best first, and how many sentences were passed over, by reason."""

    found: tuple[ExtractedMemory, ...]
    skipped: Mapping[str, int]


@mutable
class _Search:
    sent: SentPhrases
    skipped: Counter[str] = field(default_factory=Counter)


def find_claims(turns: Sequence[Utterance | TriedCommand], *, sent: Sequence[str] = ()) -> list[ExtractedMemory]:
    """What may be worth remembering of a run, best first; `sent` are the packs this agent was given."""
    return list(search_run(turns, sent=sent).found)


def search_run(turns: Sequence[Utterance | TriedCommand], *, sent: Sequence[str] = ()) -> ExtractionResult:
    """The same with a count of what was passed over: hidden, steering, ours, more."""
    search = _Search(SentPhrases(sent))
    gathered = [one for turn in turns if isinstance(turn, Utterance) for one in _in_turn(turn, search)]
    gathered += retried([turn for turn in turns if isinstance(turn, TriedCommand)])
    kept = _joined(sorted(_not_corrected(gathered), key=lambda one: (-one.confidence, one.turn)))
    if len(kept) > MOST:
        search.skipped["more"] += len(kept) - MOST
    return ExtractionResult(tuple(kept[:MOST]), dict(search.skipped))


def _in_turn(turn: Utterance, search: _Search) -> Iterator[ExtractedMemory]:
    if turn.who not in ("user", "agent"):
        return  # a tool's words are anybody's
    told = list(sentences(turn.text))
    if turn.who == "agent" and any(prompt_injection.overrules(one.text) for one in told):
        search.skipped["steering"] += len(told)
        return
    for place, sentence in enumerate(told):
        if sentence.text.endswith(":") or not _may_claim(sentence):
            continue
        before = told[place - 1].plain if place else ""
        claim = _claim(sentence, turn.who, before)
        if claim and _may_be_taken(sentence, claim, turn.who, search):
            claim = claim if claim.why or place + 1 == len(told) else _with_reason(claim, told[place + 1].text)
            yield ExtractedMemory(
                claim.kind,
                claim.statement,
                claim.why,
                sentence.words,
                turn.turn,
                turn.who,
                claim.rule,
                claim.confidence,
            )


def _may_claim(sentence: Sentence) -> bool:
    return _CUE.search(sentence.plain) is not None or constraint_rules.is_asked_for(sentence.words)


def _claim(sentence: Sentence, who: str, before: str) -> SentenceClaim | None:
    """The first claim of a sentence that may stand."""
    read = parts(sentence)
    if who == "user" and (corrected := _correction(sentence, read, before)):
        return corrected
    for rule in _RULES:
        claim = rule(read, who)
        if claim is not None:
            return claim if may_stand(claim, who) else None
    kept = (
        constraint_rules.remembered(read) if who == "user" and constraint_rules.is_asked_for(sentence.words) else None
    )
    return kept if kept and may_stand(kept, who) else None


def _correction(sentence: Sentence, read: SentenceParts, before: str) -> SentenceClaim | None:
    after_no = sentence.opening == 1 and constraint_rules.is_bare_no(before)
    begins = not sentence.opening or after_no
    claim = (
        constraint_rules.correction_claim(read, after_no=after_no)
        if begins
        else constraint_rules.correction_within(read)
    )
    return claim if claim and may_stand(claim, "user", corrected=True) else None


def _may_be_taken(sentence: Sentence, claim: SentenceClaim, who: str, search: _Search) -> bool:
    """Whether nothing hides in it, it steers nobody, and it is not our own word come back."""
    reason = None
    if sentence.hidden or has_hidden(claim.statement) or not sentence.words:
        reason = "hidden"
    elif prompt_injection.overrules(sentence.text) or (
        who == "agent" and prompt_injection.addresses_memory(sentence.text)
    ):
        reason = "steering"
    elif names_ours(sentence.text) or search.sent.holds(sentence.text) or search.sent.holds(claim.statement):
        reason = "ours"
    if reason:
        search.skipped[reason] += 1
    return reason is None


_BECAUSE = regex(
    r"^(?:because(?: of)?|reason:|the reason (?:is|being)(?: that)?|that's because|this is because"
    r"|rationale:)\s+",
    re.I,
)


def _with_reason(claim: SentenceClaim, following: str) -> SentenceClaim:
    """The claim with the reason that the next sentence gives, if it gives one."""
    given = _BECAUSE.match(following)
    if not given or len(following) > 300 or has_hidden(following):
        return claim
    return replace(claim, why=following[given.end() :].rstrip(" ."))


def _not_corrected(gathered: Sequence[ExtractedMemory]) -> list[ExtractedMemory]:
    """Without what an agent had said and its user then corrected."""
    corrections = [one for one in gathered if one.rule == constraint_rules.CORRECTION_RULE]
    return [one for one in gathered if not any(_undoes(later, one) for later in corrections)]


def _undoes(later: ExtractedMemory, one: ExtractedMemory) -> bool:
    near = one.who == "agent" and 0 < later.turn - one.turn <= 3
    return near and one.kind != "fact" and bool(content(later.statement) & content(one.statement))


def _joined(ranked: Sequence[ExtractedMemory]) -> list[ExtractedMemory]:
    """One of each: the first of those that say the same in nearly the same words."""
    kept: list[ExtractedMemory] = []
    known: list[frozenset[str]] = []
    for one in ranked:
        words = content(one.statement)
        if len(kept) < 4 * MOST and not any(_alike(words, other) for other in known):
            kept.append(one)
            known.append(words)
    return kept


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _ALIKE * len(one | other)
