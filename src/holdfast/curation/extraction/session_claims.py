"""Chooses the statements of a session that a person most likely keeps, each once, with related statements.

Statements about the same thing become one: the best gives the words, the next adds to it. A person's request is
reported in the agent's words, which name what was done, with the person's own words kept beside them.
"""

from __future__ import annotations

from holdfast.curation.extraction import session_statements, statement_score, turn_sentences
from holdfast.curation.extraction.candidate_claim import bare, capital
from holdfast.curation.extraction.session_statements import SessionStatement, SessionWords
from holdfast.curation.extraction.statement_wording import standing_words
from holdfast.model.utterance import MAX_STATEMENT, MAX_WHY, MIN_STATEMENT, ExtractedMemory, Utterance
from holdfast.patterns import TYPE_CHECKING, PatternFile
from holdfast.values import frozen, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from collections.abc import Set as AbstractSet

MOST = 10  # of one session: a person reads them all. These limits are guesses but for those with a measurement
_WRITTEN = 3  # statements from files such as AGENTS.md: agents read these files anyway
_EACH = 7  # statements for one candidate: a short session gives few
LEAST = 0.37  # score: above it 6 of 10 candidates are right on unseen projects, below it 1 or 2 of 10
_RULED = 0.55  # score of a person's refusal or answer with a reason or an alternative
_ADDS = 0.25  # least score of a statement that only adds to another
_ROUNDS = 3  # of choosing, while a chosen claim does not hold: each check costs a process
_SAME = 0.14  # likeness of two statements about the same thing
_KNOWN = 0.15  # share of a statement, by weight of words, that the chosen ones together may contain
_ALIKE = 0.1  # likeness at which one may add to the other
_REPLACES = 0.6  # likeness at which one may replace the other
_AS_MUCH = 0.7  # of the weight of a statement's words: the least weight of its replacement
_ABOUT = 0.15  # likeness at which one may add to the other if they share no name of code
_LONG = 240  # characters: more is more than one claim
_TALK = ("said", "closing")  # sources in which an agent tells what it sees and does
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
    usable = [one for one in all_statements if may_stand(one) and may_say(one)]
    session = SessionWords(turns, usable)
    scores = [_score(one, number, session) for number, one in enumerate(usable)]
    for _ in range(_ROUNDS):
        chosen = chosen_claims(session, scores)
        refuted = [number for number, claim in chosen if not holds(claim)]
        if not refuted:
            return [claim for _, claim in chosen]
        for number in refuted:  # makes room for the next best
            scores[number] = 0.0
    return [claim for _, claim in chosen_claims(session, scores) if holds(claim)]


def _score(one: SessionStatement, number: int, session: SessionWords) -> float:
    """Returns how likely it is worth keeping; a person's refusal or answer with a reason mostly is."""
    scored = statement_score.score(one, number, session)
    is_ruled = one.source in ("refusal", "answer") and _SHAPE.ruled.search(one.text)
    return max(scored, _RULED) if is_ruled else scored


def chosen_claims(
    session: SessionWords, scores: Sequence[float], *, least: float = LEAST
) -> list[tuple[int, ExtractedMemory]]:
    """Returns the statements chosen by their scores, the best first, with their claims."""
    # What is outdated is no candidate, but still shows what the session was about.
    current = [0.0 if is_outdated(one, session) else scores[at] for at, one in enumerate(session.statements)]
    chosen = _choose(session, current, most=max(2, min(MOST, round(len(scores) / _EACH))), least=least)
    claims = ((one.best, _as_claim(session, one, scores[one.best])) for one in chosen)
    return [(best, claim) for best, claim in claims if _is_whole(claim)]


def _is_whole(claim: ExtractedMemory) -> bool:
    """Whether it names its subject, and is complete; a person's words may refer to the agent's work."""
    dangles = claim.who == "agent" and _SHAPE.dangles.match(claim.statement)
    return not dangles and not _SHAPE.unfinished.search(claim.words)


def may_stand(one: SessionStatement) -> bool:
    """Whether a statement is clear to a reader who was not there, and may still hold then."""
    if not _is_readable(one) or _says_nothing(one) or is_over(one):
        return False
    if one.source not in ("said", "closing", "lesson"):
        return one.source == "request" or _SHAPE.unfinished.search(one.text) is None  # people decide by asking
    context = [one.before] if one.before and one.told.startswith(one.before) else []  # "Want me to …? It's reversible"
    texts = [standing_words(one.text), *context]  # "Verdict: finding 2 is …"
    texts += [] if one.source == "lesson" else [one.text]  # what the agent does about it is left out of a lesson
    passing = (_SHAPE.status.search(text) or _SHAPE.numbered.match(text) or is_of_the_moment(text) for text in texts)
    return not any(passing)


def _is_readable(one: SessionStatement) -> bool:
    if one.hidden or not one.words or one.text.count("`") % 2 or session_statements.is_code_like(one.text):
        return False
    if one.source != "request" and not one.before and _SHAPE.dangles.match(one.text):
        return False
    return session_statements.width(bare(one.text)) >= MIN_STATEMENT and not _SHAPE.of_programs.search(one.text)


def _says_nothing(one: SessionStatement) -> bool:
    """Whether it is a heading, an errand, or a description of the code next to it."""
    if one.source == "request":
        return _SHAPE.errand.match(one.text) is not None
    if one.source == "lesson":
        return _SHAPE.lesson.search(one.text) is None or is_of_the_moment(standing_words(one.text))
    if one.source == "commit" and one.place == 0 and one.count > 1:  # the subject: its body says more
        return _SHAPE.reason.search(one.text) is None
    if one.source == "comment" and _SHAPE.describes.match(one.text) and not _SHAPE.reason.search(one.told):
        return True
    return one.source not in ("answer", "refusal", "commit") and is_fragment(one.text)


def is_over(one: SessionStatement) -> bool:
    """Whether it reports a fault that its session fixed later: it is no longer a fact."""
    if _SHAPE.was_so.match(one.text):
        return True
    if one.mended and one.source in ("said", "closing", "request", "plan") and calls_for_change(one.text, one.who):
        return True
    if one.source == "plan" and one.wrote and _SHAPE.state_before.search(one.heading):
        return True
    if one.source == "plan" and one.wrote and _SHAPE.background.search(one.heading):
        return bool(_SHAPE.lacks.search(one.text)) and not _SHAPE.reason_given.search(one.text)
    if one.source == "commit":
        return _tells_the_past(one.text)
    if one.wrote and one.source in ("said", "closing") and is_fault(one.text):
        return True
    if not one.wrote or one.source not in ("said", "request") or not _SHAPE.diagnosis.search(one.text):
        return False
    if one.source == "request" and _SHAPE.wish.search(one.text):
        return False
    return not _SHAPE.why.search(one.text) or _SHAPE.fault.search(one.text) is not None


def is_outdated(one: SessionStatement, session: SessionWords) -> bool:
    """Whether an agent or a plan says how things were before work of the session.

    A rule and what was tried outlast the work; of plans only faults are over. The report after the work can be a
    candidate, if it is not told in the past and no later turn works on that code.
    """
    if one.source not in ("plan", *_TALK):
        return False
    is_faulty = calls_for_change(one.told) or is_fault(one.told) or may_be_fault(one.told)
    if one.source == "plan":
        return is_faulty and any(turn >= one.turn for turn in session.wrote)
    kind = kind_of(replace(one, text=_SHAPE.possible.sub(" ", one.text)), one.text)
    if is_before_work(one.source, one.turn, session.wrote):
        return describes(kind, one.text) or kind == "decision" or (kind == "invariant" and is_faulty)
    is_past = one.turn in session.wrote and _tells_the_past(one.text)
    return one.source == "closing" and describes(kind, one.text) and (is_past or session.is_worked_on(one))


def describes(kind: str, text: str) -> bool:
    """Whether a statement of this type tells how something is, and not what was decided or tried."""
    return kind in ("fact", "assumption") or (
        kind == "dead-end" and not _SHAPE.attempt.search(_SHAPE.provided.sub(" ", text))
    )


def is_before_work(source: str, turn: int, wrote: AbstractSet[int]) -> bool:
    """Whether an agent's words come before edits: on the way, or in a turn that only looks.

    `wrote` are the turns that wrote files. Documents count: a review of a plan is over when the plan is rewritten.
    """
    if source == "closing" and turn in wrote:
        return False
    return source in _TALK and any(later >= turn for later in wrote)


def _tells_the_past(text: str) -> bool:
    """Whether a sentence of a commit tells how it was before; only its main clause counts, not its reason."""
    main = _SHAPE.code_word.sub("X", _SHAPE.reason_begins.split(text, maxsplit=1)[0])
    if _SHAPE.regular_past.search(main) and not _SHAPE.present.search(main):
        return True
    return bool(_SHAPE.past.search(main)) and not _SHAPE.lasts.search(_SHAPE.conditional.sub(" ", main))


def why_not(statement: str) -> tuple[str, str] | None:
    """Returns why an agent's own statement is not accepted, and what would be; None if it is."""
    if is_of_the_moment(statement) or _SHAPE.report.search(statement):
        return "this reports what somebody does, did, offers or asks at the moment", "State what will still hold later."
    if _SHAPE.dangles.match(statement):
        return "this does not say what it is about", "Begin with the name of the file, symbol or component."
    if is_fragment(statement):
        return "this is a list or a heading, not a sentence", "Say in one sentence what holds, and why."
    return None


def is_fragment(text: str) -> bool:
    """Whether it is a heading, a list or a directive, and not a sentence."""
    plain = _SHAPE.bracketed.sub(" ", text)
    return _SHAPE.directive.match(text) is not None or _SHAPE.verb.search(plain) is None


def is_of_the_moment(text: str) -> bool:
    """Whether an agent only says what it does next, offers or asks."""
    return bool(_SHAPE.unfinished.search(text) or _SHAPE.of_the_moment.search(text))


def is_fault(text: str) -> bool:
    """Whether it reports a fault: if its turn then wrote files, it is no longer true."""
    if _SHAPE.plain_fault.search(text) and not _SHAPE.stays.search(text):
        return True
    return _SHAPE.fault.search(text) is not None and _SHAPE.lasts.search(text) is None


def may_be_fault(text: str) -> bool:
    """Whether its main clause reports a fault: no longer a fact if the code changed since."""
    main = _SHAPE.because.split(text, maxsplit=1)[0]
    told = _SHAPE.plain_fault.search(main) or _SHAPE.fault.search(main)
    return told is not None and _SHAPE.settled.search(main) is None


def calls_for_change(text: str, who: str = "agent") -> bool:
    """Whether it has the shape of a fault, or of an opinion that something should change.

    It is no longer a fact once somebody changed the code; a reason why something must be so has not this shape.
    """
    plain = _SHAPE.code_word.sub("X", _SHAPE.quoted.sub("X", text))
    main = _SHAPE.provided.sub(" ", _SHAPE.because.split(plain, maxsplit=1)[0])  # "searches HEAD if X is missing"
    if who == "user":  # people decide by saying what should be otherwise
        return _SHAPE.hard_fault.search(main) is not None and not _SHAPE.wish.search(text)
    told = _SHAPE.hard_fault.search(main) or _SHAPE.plain_fault.search(main) or _SHAPE.opinion.search(main)
    return told is not None and not _SHAPE.holds_on.search(text)


def is_rule(text: str) -> bool:
    """Whether it states a rule or a decision, and not only how something is."""
    return any(getattr(_SHAPE, kind).search(text) for kind in ("dead_end", "changed", "invariant", "decision"))


def _choose(session: SessionWords, scores: Sequence[float], *, most: int, least: float) -> list[_Chosen]:
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
            if scores[number] >= least and len(chosen) < most and not is_too_much:
                chosen.append(_Chosen(number))
                known |= words
        elif nearest >= _ALIKE:
            best, adds = chosen[alike.index(nearest)].best, chosen[alike.index(nearest)].adds
            says_as_much = session.weight(words) >= _AS_MUCH * session.weight(session.about[best])
            is_better = _is_better_worded(session.statements[number], session.statements[best])
            if nearest >= _REPLACES and says_as_much and is_better:
                chosen[alike.index(nearest)] = _Chosen(number, (best,))
            elif not adds and _is_new(session, number, best):
                chosen[alike.index(nearest)] = _Chosen(best, (number,))
                known |= words
    return chosen


def _is_better_worded(one: SessionStatement, other: SessionStatement) -> bool:
    """Whether one is better to save unchanged: written for other readers, or with fewer flaws."""
    if _roughness(one) != _roughness(other):
        return _roughness(one) < _roughness(other)
    is_written = one.source in ("commit", "comment", "memory")
    return is_written and other.source in ("closing", "said") and not _SHAPE.status.search(one.text)


def _roughness(one: SessionStatement) -> int:
    """Returns how much of a statement needs rewording: it points elsewhere, reports, addresses somebody, is long."""
    text = standing_words(one.text)
    edges = (_SHAPE.points, _SHAPE.reports, _SHAPE.talks)
    return sum(edge.search(text) is not None for edge in edges) + (len(text) > _LONG) + is_fragment(text)


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
        kind_of(best, statement),
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
    return " ".join(one for one in said if not _SHAPE.addresses.search(one) and not is_of_the_moment(one))


def rules() -> frozenset[str]:
    """Returns the tags of candidates that were found among the statements of a session."""
    return frozenset(_SHAPE.table("rules").values())


def is_ready(statement: str, rule: str = "") -> bool:
    """Whether a person could save it unchanged: one sentence that names its subject and says what holds.

    `rule` is the tag of the candidate. Candidates that are not ready come below: somebody would have to reword them.
    """
    edges = ("points", "reports", "talks", "guesses", "of_documents", "unfinished_work", "of_now", "phrase")
    if len(statement) > _LONG or _SHAPE.sentence_end.search(statement) or _SHAPE.subjectless.match(statement):
        return False
    if rule == _SHAPE.table("rules")["comment"] and _SHAPE.step.match(statement) and not _SHAPE.why.search(statement):
        return False
    plain = _SHAPE.aside.sub("", statement)  # text in brackets is not part of the statement
    return not any(getattr(_SHAPE, edge).search(plain) for edge in edges) and not is_fragment(statement)


def _reason_after(one: SessionStatement, statement: str) -> str:
    """Returns the reason in the next sentence, if that contains nothing but the reason."""
    found = _SHAPE.reason_follows.match(one.after)
    if not found or one.after in statement or len(one.after) > MAX_WHY or not one.told.endswith(one.after):
        return ""
    return capital(bare(one.after[found.end() :]))


def _statement(one: SessionStatement) -> tuple[str, str]:
    """Returns the statement as one sentence, and the text that belongs to it."""
    text, whole = standing_words(_SHAPE.deed.sub("", one.text)), one.told
    if one.source == "commit" and one.heading and _SHAPE.subjectless.match(text):  # "Supports all types": who does?
        led = f"{_SHAPE.commit_type.sub('', one.heading)}: {text[:1].lower()}{text[1:]}"
        text = capital(led) if len(led) <= MAX_STATEMENT else text
    leans = one.before and whole.startswith(one.before)
    rest = one.after if whole.endswith(one.after) else ""
    if leans and _SHAPE.consequence.match(one.text) and len(one.before) <= MAX_STATEMENT:
        return standing_words(one.before), f"{one.text} {rest}".strip()
    if leans and len(both := f"{one.before} {one.text}") <= MAX_STATEMENT:
        return standing_words(both), rest
    if _SHAPE.subjectless.match(text) and (file := _SHAPE.file_lead.match(one.before)):  # "`a.rs` — …. Uses X"
        led = f"{file['name']} {text[:1].lower()}{text[1:]}"
        text = led if len(led) <= MAX_STATEMENT else text
    if leans and _SHAPE.dangles.match(text) and len(one.before) <= MAX_STATEMENT:
        return standing_words(one.before), f"{one.text} {rest}".strip()
    if len(text) > MAX_STATEMENT:
        ends = [found.start() for found in _SHAPE.clause.finditer(text, MIN_STATEMENT, MAX_STATEMENT)]
        whole_ends = [at for at in ends if text.count("(", 0, at) == text.count(")", 0, at)]
        at = (whole_ends or ends or [text.rfind(" ", 0, MAX_STATEMENT)])[-1]
        text, rest = text[:at], f"… {text[at:].lstrip(' ,;.—–')} {rest}".strip()
    return bare(text), rest


def kind_of(one: SessionStatement, worded: str = "") -> str:
    """Returns the type of memory for a statement; an undone attempt counts only if it is `worded` so."""
    for kind in ("dead_end", "assumption", "changed", "invariant", "decision"):
        told = worded if kind == "dead_end" and worded else one.text
        if getattr(_SHAPE, kind).search(told):
            return "decision" if kind == "changed" else kind.replace("_", "-")
    return "decision" if one.who == "user" or one.source == "plan" else "fact"
