"""Looking through a run for what may be worth remembering: every rule over every sentence, the best first."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from holdfast.curation.extraction import (
    assuming,
    causes,
    constraining,
    correcting,
    dead_ends,
    deciding,
    preferring,
    stating,
)
from holdfast.curation.extraction.bars import content, may_stand
from holdfast.curation.extraction.claim import Claim, Parts, parts
from holdfast.curation.extraction.ours import Sent, names_ours
from holdfast.curation.extraction.prose import Sentence, sentences
from holdfast.curation.extraction.retried import retried
from holdfast.model import steering
from holdfast.model.said import Found, Said, Tried
from holdfast.model.text import has_hidden
from holdfast.patterns import regex
from holdfast.values import field, frozen, mutable, replace

MOST = 8  # of one run: a person reads them all
_ALIKE = 0.8  # share of words from which on two statements are one
_RULES = (
    stating.claim,
    dead_ends.claim,
    causes.claim,
    assuming.claim,
    deciding.claim,
    preferring.claim,
    constraining.claim,
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
class Look:
    """What was found, best first, and how many sentences were passed over, by reason."""

    found: tuple[Found, ...]
    skipped: Mapping[str, int]


@mutable
class _Search:
    sent: Sent
    skipped: Counter[str] = field(default_factory=Counter)


def found(turns: Sequence[Said | Tried], *, sent: Sequence[str] = ()) -> list[Found]:
    """What may be worth remembering of a run, best first; `sent` are the packs this agent was given."""
    return list(look(turns, sent=sent).found)


def look(turns: Sequence[Said | Tried], *, sent: Sequence[str] = ()) -> Look:
    """The same with a count of what was passed over: hidden, steering, ours, more."""
    search = _Search(Sent(sent))
    gathered = [one for turn in turns if isinstance(turn, Said) for one in _in_turn(turn, search)]
    gathered += retried([turn for turn in turns if isinstance(turn, Tried)])
    kept = _joined(sorted(_not_corrected(gathered), key=lambda one: (-one.confidence, one.turn)))
    if len(kept) > MOST:
        search.skipped["more"] += len(kept) - MOST
    return Look(tuple(kept[:MOST]), dict(search.skipped))


def _in_turn(turn: Said, search: _Search) -> Iterator[Found]:
    if turn.who not in ("user", "agent"):
        return  # a tool's words are anybody's
    told = list(sentences(turn.text))
    if turn.who == "agent" and any(steering.overrules(one.text) for one in told):
        search.skipped["steering"] += len(told)
        return
    for place, sentence in enumerate(told):
        if sentence.text.endswith(":") or not _may_claim(sentence):
            continue
        before = told[place - 1].plain if place else ""
        claim = _claim(sentence, turn.who, before)
        if claim and _may_be_taken(sentence, claim, turn.who, search):
            claim = claim if claim.why or place + 1 == len(told) else _with_reason(claim, told[place + 1].text)
            yield Found(
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
    return _CUE.search(sentence.plain) is not None or stating.is_asked_for(sentence.words)


def _claim(sentence: Sentence, who: str, before: str) -> Claim | None:
    """The first claim of a sentence that may stand."""
    read = parts(sentence)
    if who == "user" and (corrected := _correction(sentence, read, before)):
        return corrected
    for rule in _RULES:
        claim = rule(read, who)
        if claim is not None:
            return claim if may_stand(claim, who) else None
    kept = stating.remembered(read) if who == "user" and stating.is_asked_for(sentence.words) else None
    return kept if kept and may_stand(kept, who) else None


def _correction(sentence: Sentence, read: Parts, before: str) -> Claim | None:
    after_no = sentence.opening == 1 and correcting.is_bare_no(before)
    begins = not sentence.opening or after_no
    claim = correcting.claim(read, after_no=after_no) if begins else correcting.within(read)
    return claim if claim and may_stand(claim, "user", corrected=True) else None


def _may_be_taken(sentence: Sentence, claim: Claim, who: str, search: _Search) -> bool:
    """Whether nothing hides in it, it steers nobody, and it is not our own word come back."""
    reason = None
    if sentence.hidden or has_hidden(claim.statement) or not sentence.words:
        reason = "hidden"
    elif steering.overrules(sentence.text) or (who == "agent" and steering.addresses_memory(sentence.text)):
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


def _with_reason(claim: Claim, following: str) -> Claim:
    """The claim with the reason that the next sentence gives, if it gives one."""
    given = _BECAUSE.match(following)
    if not given or len(following) > 300 or has_hidden(following):
        return claim
    return replace(claim, why=following[given.end() :].rstrip(" ."))


def _not_corrected(gathered: Sequence[Found]) -> list[Found]:
    """Without what an agent had said and its user then corrected."""
    corrections = [one for one in gathered if one.rule == correcting.RULE]
    return [one for one in gathered if not any(_undoes(later, one) for later in corrections)]


def _undoes(later: Found, one: Found) -> bool:
    near = one.who == "agent" and 0 < later.turn - one.turn <= 3
    return near and one.kind != "fact" and bool(content(later.statement) & content(one.statement))


def _joined(ranked: Sequence[Found]) -> list[Found]:
    """One of each: the first of those that say the same in nearly the same words."""
    kept: list[Found] = []
    known: list[frozenset[str]] = []
    for one in ranked:
        words = content(one.statement)
        if len(kept) < 4 * MOST and not any(_alike(words, other) for other in known):
            kept.append(one)
            known.append(words)
    return kept


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _ALIKE * len(one | other)
