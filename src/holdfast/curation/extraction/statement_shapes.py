"""What the wording of one statement tells: whether it may stand, is over or a fault, could be saved as it is; its type.

The patterns are in statement_shapes.txt.
"""

from __future__ import annotations

from holdfast.curation.extraction import session_statements
from holdfast.curation.extraction.candidate_claim import bare
from holdfast.curation.extraction.session_statements import SessionStatement, SessionWords
from holdfast.curation.extraction.statement_wording import standing_words
from holdfast.model.utterance import MIN_STATEMENT
from holdfast.patterns import TYPE_CHECKING, PatternFile
from holdfast.values import replace

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

_SHAPE = PatternFile(__file__)
# Shapes that say something of what a statement is worth: `statement_score` weighs them.
EDGES = (
    *("points", "reports", "talks", "guesses", "of_documents", "unfinished_work", "report", "numbered", "dangles"),
    *("diagnosis", "wish", "lesson", "reason", "reason_given", "fault", "holds_on", "past", "changed", "decision"),
    *("describes", "subjectless", "step", "hard_fault"),
)
COMMENT_RULE, COMMIT_RULE = "code-comment", "commit-message"  # tags of candidates from comments and commits
_LONG = 240  # characters: more is more than one claim
_TALK = ("said", "closing")  # sources in which an agent tells what it sees and does


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


def edges(text: str) -> set[str]:
    """Returns which of `EDGES` a worded statement has."""
    return {name for name in EDGES if getattr(_SHAPE, name).search(text)}


def _main_clause(text: str) -> str:
    """Returns a sentence without its code, its reason and its condition: "searches HEAD if X is missing"."""
    plain = _SHAPE.code_word.sub("X", _SHAPE.quoted.sub("X", text))
    return _SHAPE.provided.sub(" ", _SHAPE.because.split(plain, maxsplit=1)[0])


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
    main = _main_clause(text)
    if who == "user":  # people decide by saying what should be otherwise
        return _SHAPE.hard_fault.search(main) is not None and not _SHAPE.wish.search(text)
    told = _SHAPE.hard_fault.search(main) or _SHAPE.plain_fault.search(main) or _SHAPE.opinion.search(main)
    return told is not None and not _SHAPE.holds_on.search(text)


def is_rule(text: str) -> bool:
    """Whether it states a rule or a decision, and not only how something is."""
    return any(getattr(_SHAPE, kind).search(text) for kind in ("dead_end", "changed", "invariant", "decision"))


def is_ready(statement: str, rule: str = "") -> bool:
    """Whether a person could save it unchanged: one sentence that names its subject and says what holds.

    `rule` is the tag of the candidate. Candidates that are not ready come below: somebody would have to reword them.
    """
    edges = ("points", "reports", "talks", "guesses", "of_documents", "unfinished_work", "of_now", "phrase")
    if len(statement) > _LONG or _SHAPE.sentence_end.search(statement) or _SHAPE.subjectless.match(statement):
        return False
    if rule == COMMENT_RULE and _SHAPE.step.match(statement) and not _SHAPE.why.search(statement):
        return False
    plain = _SHAPE.aside.sub("", statement)  # text in brackets is not part of the statement
    return not any(getattr(_SHAPE, edge).search(plain) for edge in edges) and not is_fragment(statement)


def roughness(one: SessionStatement) -> int:
    """Returns how much of a statement needs rewording: it points elsewhere, reports, addresses somebody, is long."""
    text = standing_words(one.text)
    shapes = (_SHAPE.points, _SHAPE.reports, _SHAPE.talks)
    return sum(shape.search(text) is not None for shape in shapes) + (len(text) > _LONG) + is_fragment(text)


def tells_how_work_stands(text: str) -> bool:
    """Whether it tells of commits, branches, results of checks, or what the agent did."""
    return _SHAPE.status.search(text) is not None


def is_unfinished(text: str) -> bool:
    """Whether it only leads to something else, or asks."""
    return _SHAPE.unfinished.search(text) is not None


def dangles(text: str) -> bool:
    """Whether only those know its subject who were there."""
    return _SHAPE.dangles.match(text) is not None


def is_subjectless(text: str) -> bool:
    """Whether its subject stands in the sentence that leads it, as in the body of a commit message."""
    return _SHAPE.subjectless.match(text) is not None


def kind_of(one: SessionStatement, worded: str = "") -> str:
    """Returns the type of memory for a statement; an undone attempt counts only if it is `worded` so."""
    for kind in ("dead_end", "assumption", "changed", "invariant", "decision"):
        told = worded if kind == "dead_end" and worded else one.text
        if getattr(_SHAPE, kind).search(told):
            return "decision" if kind == "changed" else kind.replace("_", "-")
    return "decision" if one.who == "user" or one.source == "plan" else "fact"
