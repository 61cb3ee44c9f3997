"""Chooses the statements of a session that a person most likely keeps, each once, with related statements.

Statements about the same thing become one: the best gives the words, the next adds to it. A person's request is
reported in the agent's words, which name what was done, with the person's own words kept beside them.
"""

from __future__ import annotations

from functools import cache

from holdfast.curation.extraction import session_statements, statement_score, statement_shapes, turn_sentences
from holdfast.curation.extraction.candidate_claim import bare, capital
from holdfast.curation.extraction.session_statements import SessionStatement, SessionWords
from holdfast.curation.extraction.statement_wording import standing_words
from holdfast.model.utterance import MAX_STATEMENT, MAX_WHY, MIN_STATEMENT, ExtractedMemory, Utterance
from holdfast.patterns import TYPE_CHECKING, PatternFile
from holdfast.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOST = 10  # of one session: a person reads them all. These limits are guesses but for those with a measurement
_WRITTEN = 3  # statements from files such as AGENTS.md: agents read these files anyway
_EACH = 7  # statements for one candidate: a short session gives few
LEAST = 0.37  # how likely it is worth keeping: above it 6 of 10 are right on unseen projects, below it 1 or 2 of 10
_OVER = 0.3  # how likely a candidate may be over; of all statements one in twelve is
_RULED = 0.55  # score of a person's refusal or answer with a reason or an alternative
_ADDS = 0.25  # least score of a statement that only adds to another
_ROUNDS = 3  # of choosing, while a chosen claim does not hold: each check costs a process
_SAME = 0.14  # likeness of two statements about the same thing
_KNOWN = 0.15  # share of a statement, by weight of words, that the chosen ones together may contain
_ALIKE = 0.1  # likeness at which one may add to the other
_REPLACES = 0.6  # likeness at which one may replace the other
_AS_MUCH = 0.7  # of the weight of a statement's words: the least weight of its replacement
_ABOUT = 0.15  # likeness at which one may add to the other if they share no name of code
_NEW = 0.3  # share of a statement that must be new to be worth adding
MAX_DETAILS = 700  # characters: a few sentences
_SHAPE = PatternFile(__file__)


@frozen
class _Chosen:
    best: int
    adds: tuple[int, ...] = ()


def session_claims(
    turns: Sequence[Utterance], *, may_say: Callable[[SessionStatement], bool], holds: Callable[[ExtractedMemory], bool]
) -> list[ExtractedMemory]:
    """Returns the claims worth keeping of a session, the surest first; `may_say` and `holds` refuse some."""
    all_statements = session_statements.statements(turns)
    usable = [one for one in all_statements if statement_shapes.may_stand(one) and may_say(one)]
    session = SessionWords(turns, usable)
    kept = [_kept(one, number, session) for number, one in enumerate(usable)]
    over = cache(lambda number: statement_score.over(usable[number], number, session))
    for _ in range(_ROUNDS):
        chosen = chosen_claims(session, kept, over)
        refuted = [number for number, claim in chosen if not holds(claim)]
        if not refuted:
            return [claim for _, claim in chosen]
        for number in refuted:  # makes room for the next best
            kept[number] = 0.0
    return [claim for _, claim in chosen_claims(session, kept, over) if holds(claim)]


def _kept(one: SessionStatement, number: int, session: SessionWords) -> float:
    """Returns how likely it is worth keeping; a person's refusal or answer with a reason mostly is."""
    scored = statement_score.kept(one, number, session)
    is_ruled = one.source in ("refusal", "answer") and _SHAPE.ruled.search(one.text)
    return max(scored, _RULED) if is_ruled else scored


def chosen_claims(
    session: SessionWords, kept: Sequence[float], over: Callable[[int], float], *, least: float = LEAST
) -> list[tuple[int, ExtractedMemory]]:
    """Returns the statements chosen by their scores, with their claims; first those that are least likely over."""

    def is_over(number: int) -> bool:  # no candidate, but it still shows what the session was about
        return over(number) > _OVER or statement_shapes.is_outdated(session.statements[number], session)

    chosen = _choose(session, kept, is_over, most=max(2, min(MOST, round(len(kept) / _EACH))), least=least)
    worth = {one.best: kept[one.best] - over(one.best) for one in chosen}
    claims = ((one.best, _as_claim(session, one, worth[one.best])) for one in chosen)
    whole = [(best, claim) for best, claim in claims if _is_whole(claim)]
    return sorted(whole, key=lambda one: -worth[one[0]])


def _is_whole(claim: ExtractedMemory) -> bool:
    """Whether it names its subject, and is complete; a person's words may refer to the agent's work."""
    is_adrift = claim.who == "agent" and statement_shapes.dangles(claim.statement)
    return not is_adrift and not statement_shapes.is_unfinished(claim.words)


def _choose(
    session: SessionWords, scores: Sequence[float], is_over: Callable[[int], bool], *, most: int, least: float
) -> list[_Chosen]:
    chosen: list[_Chosen] = []
    known: frozenset[str] = frozenset()
    for number in sorted(range(len(scores)), key=lambda place: -scores[place]):
        if scores[number] < _ADDS:
            break
        words = session.about[number]
        alike = [session.likeness(number, one.best) for one in chosen]
        nearest = max(alike, default=0.0)
        if nearest < _SAME and session.weight(words & known) < _KNOWN * session.weight(words):
            written = sum(session.statements[one.best].source == "memory" for one in chosen)
            is_too_much = written >= _WRITTEN and session.statements[number].source == "memory"
            if scores[number] >= least and len(chosen) < most and not is_too_much and not is_over(number):
                chosen.append(_Chosen(number))
                known |= words
        elif nearest >= _ALIKE:
            best, adds = chosen[alike.index(nearest)].best, chosen[alike.index(nearest)].adds
            says_as_much = session.weight(words) >= _AS_MUCH * session.weight(session.about[best])
            is_better = _is_better_worded(session.statements[number], session.statements[best])
            if nearest >= _REPLACES and says_as_much and is_better and not is_over(number):
                chosen[alike.index(nearest)] = _Chosen(number, (best,))
            elif not adds and _is_new(session, number, best) and not is_over(number):
                chosen[alike.index(nearest)] = _Chosen(best, (number,))
                known |= words
    return chosen


def _is_better_worded(one: SessionStatement, other: SessionStatement) -> bool:
    """Whether one is better to save unchanged: written for other readers, or with fewer flaws."""
    if statement_shapes.roughness(one) != statement_shapes.roughness(other):
        return statement_shapes.roughness(one) < statement_shapes.roughness(other)
    is_written = one.source in ("commit", "comment", "memory")
    return is_written and other.source in ("closing", "said") and not statement_shapes.tells_how_work_stands(one.text)


def _is_new(session: SessionWords, number: int, known: int) -> bool:
    one, other = session.statements[number], session.statements[known]
    if one.told in other.told or other.told in one.told:
        return False
    names = session_statements.code_names(one.text) & session_statements.code_names(other.text)
    if not names and session.likeness(number, known) < _ABOUT:
        return False
    words = session.about[number]
    return session.weight(words - session.about[known]) > _NEW * session.weight(words)


def _as_claim(session: SessionWords, chosen: _Chosen, scored: float) -> ExtractedMemory:
    best, *adds = (session.statements[number] for number in (chosen.best, *chosen.adds))
    asked = ""  # what a person asked for is the reason of what was then done
    if best.who == "user" and adds and adds[0].who == "agent":
        best, adds, asked = adds[0], [best], f"Asked: {best.told}"
    statement, rest = _statement(best)
    why = _reason_after(best, statement)
    rest = "" if any(rest in one.told for one in adds) or (why and rest == best.after) else rest
    others = (one.told for one in adds if one.who == "agent")
    more = [_without_chat(rest), asked, *map(_without_chat, others)]
    return ExtractedMemory(
        statement_shapes.kind_of(best, statement),
        statement,
        why,
        best.words,
        best.turn,
        best.who,
        _SHAPE.table("rules").get(best.source, best.source),
        statement_score.confidence(scored),
        details=session_statements.shortened("\n\n".join(filter(None, more)), MAX_DETAILS),
        also=tuple((one.turn, one.words) for one in adds),
    )


def _without_chat(text: str) -> str:
    """Returns the sentences that state something, without those that address the reader or offer a next step."""
    said = (one.text for one in turn_sentences.sentences(text))
    return " ".join(
        one for one in said if not _SHAPE.addresses.search(one) and not statement_shapes.is_of_the_moment(one)
    )


def rules() -> frozenset[str]:
    """Returns the tags of candidates that were found among the statements of a session."""
    return frozenset(_SHAPE.table("rules").values())


def _reason_after(one: SessionStatement, statement: str) -> str:
    """Returns the reason in the next sentence, if that contains nothing but the reason."""
    found = _SHAPE.reason_follows.match(one.after)
    if not found or one.after in statement or len(one.after) > MAX_WHY or not one.told.endswith(one.after):
        return ""
    return capital(bare(one.after[found.end() :]))


def _statement(one: SessionStatement) -> tuple[str, str]:
    """Returns the statement as one sentence, and the text that belongs to it."""
    text, whole = standing_words(_SHAPE.deed.sub("", one.text)), one.told
    if (
        one.source == "commit" and one.heading and statement_shapes.is_subjectless(text)
    ):  # "Supports all types": who does?
        led = f"{_SHAPE.commit_type.sub('', one.heading)}: {text[:1].lower()}{text[1:]}"
        text = capital(led) if len(led) <= MAX_STATEMENT else text
    leans = one.before and whole.startswith(one.before)
    rest = one.after if whole.endswith(one.after) else ""
    if leans and _SHAPE.consequence.match(one.text) and len(one.before) <= MAX_STATEMENT:
        return standing_words(one.before), f"{one.text} {rest}".strip()
    if leans and len(both := f"{one.before} {one.text}") <= MAX_STATEMENT:
        return standing_words(both), rest
    if statement_shapes.is_subjectless(text) and (file := _SHAPE.file_lead.match(one.before)):  # "`a.rs` — …. Uses X"
        led = f"{file['name']} {text[:1].lower()}{text[1:]}"
        text = led if len(led) <= MAX_STATEMENT else text
    if leans and statement_shapes.dangles(text) and len(one.before) <= MAX_STATEMENT:
        return standing_words(one.before), f"{one.text} {rest}".strip()
    if len(text) > MAX_STATEMENT:
        ends = [found.start() for found in _SHAPE.clause.finditer(text, MIN_STATEMENT, MAX_STATEMENT)]
        whole_ends = [at for at in ends if text.count("(", 0, at) == text.count(")", 0, at)]
        at = (whole_ends or ends or [text.rfind(" ", 0, MAX_STATEMENT)])[-1]
        text, rest = text[:at], f"… {text[at:].lstrip(' ,;.—–')} {rest}".strip()
    return bare(text), rest
