"""Constraints become invariants: "must", "never", "always", "do not", "is required to", "must stay under".

What a user states as it is, without "must": who alone may, from where only, which version, how it is kept.

Only a user's word: an agent that describes what it reads states such things all day. The shapes are narrow.

Corrections: what a user says when an agent went wrong, most often first.

Nothing is said more plainly, and nothing is more tiring to say twice.
"""

import re

from holdfast.curation.extraction.candidate_claim import SentenceClaim, SentenceParts, standing
from holdfast.model.utterance import MIN_STATEMENT
from holdfast.patterns import regex

CONSTRAINT_RULE = "constraint"
_LABEL = regex(r"^(?:(?:hard|our|the|key)\s+)*(?:constraint|invariant|rule|hard rule|requirement)s?\s*:\s*", re.I)
_MODAL = regex(
    r"\b(?:must(?:n't| not| never| always| only)?|may (?:never|not|only)|shall (?:not|never)"
    r"|should (?:never|always)"
    r"|can(?:not|'t) ever|(?:we|clients?|workers?|plugins?) can(?:not|'t) (?:use|call|rely on|depend on"
    r"|ship|import|store|assume)|(?:is|are) (?:not |never |strictly )?(?:required|allowed|permitted"
    r"|forbidden) to"
    r"|(?:is|are) (?:strictly )?(?:mandatory|forbidden|prohibited|off.limits|not allowed)"
    r"|(?:has|have|needs?) to (?:stay|remain|keep|be (?!\w+ed\b|met\b|done\b|run\b|set\b|rewritten\b"
    r"|split\b))|no (?:more|less|fewer|longer) than)\b",
    re.IGNORECASE,
)
_ORDER = regex(
    r"^(?:(?:please|you must|we must|you should)\s+)?(?P<how>never|always|do not|don't|must not"
    r"|mustn't)\s+(?=\w)",
    re.I,
)
_ALL = regex(
    r"^(?:make sure|ensure) (?:that )?(?=(?:all|every|each|no|any|nothing)\b)"
    r"|^(?:all|every|each|no) (?:[\w`.-]+\s){1,6}(?:should|needs? to|has to|have to|may|can)\b",
    re.IGNORECASE,
)
_CHORE = regex(  # the work at hand, not what will still hold when it is done
    r"\b(?:must|has to|have to|needs? to) be (?:updated|changed|fixed|removed|renamed|adjusted|adapted"
    r"|rewritten|moved"
    r"|migrated|added|ported|regenerated|rerun|reviewed first)\b",
    re.IGNORECASE,
)
_WANT = regex(
    r"^i(?: want|'d like| would like) (?:(?=(?:all|every|each|no)\b)"
    r"|(?:you to )(?=(?:never|always|avoid|not to|stop \w+ing)\b))"
    r"|^(?:please )?(?:make sure|be sure|ensure|see to it|take care)(?: that)?(?: (?:you|we))?(?: to)? "
    r"(?=(?:never|always|do not|don't|avoid)\b)",
    re.IGNORECASE,
)
_STOP = regex(r"^(?:please )?stop (?!worry|wait|try|think|talk|guess|ask|apolog|look|work|go|do)\w+ing \w", re.I)
_GUESS = regex(  # "the cache must be stale": a guess in the clothes of a duty
    r"\bmust (?:have|be (?:stale|because|related|due|coming|from|something|some|wrong|missing|a|an|the|in"
    r"|cached|outdated|why"
    r"|how|what|where|old|broken|caused))\b|\bmust (?:mean|come from|be \w+ing)\b",
    re.IGNORECASE,
)
_CHATS = regex(
    r"^(?:please )?(?:do not|don't|never|always) (?:worry|forget|bother|mind|hesitate|think|know|see"
    r"|understand|get|care"
    r"|remember|be|do|go|let|give up|panic|stop|say|believe|trust me|ask|hurry|start|like|want|need|have)\b"
    # "Always nice to see …", "never a dull moment": no order begins with what is no verb.
    r"|^(?:always|never) (?:(?:so|very|really|quite|too|that|more|been|had|seen|heard|thought|knew|liked"
    r"|wanted|saw"
    r"|works?|fails?|worked|failed|happens|happened)\b|(?:a|an|the|such|my|our|your|this|these|those|some|any"
    r"|one|enough)\b|(?:\w+ ){0,2}(?:nice|good|great|fun|funny|happy|glad|sad|pleased|easy|hard"
    r"|interesting|amazing"
    r"|annoying|tricky|difficult|painful|satisfying|lovely|cool|a pleasure|worth)\b)",
    re.IGNORECASE,
)
_TELLS = regex(  # "Never touched Rust": what somebody did not do yet, not what nobody shall do
    r"^never (?:(?!(?:need|feed|embed|seed|shed|exceed|proceed|speed)\b)\w+ed|wrote|written|ran|did|done|made"
    r"|took|gave|got|went|gone|came|found|built|met|felt|lost|kept|told|learnt|understood|broke|chose"
    r"|mind)\b",
    re.IGNORECASE,
)
_TASK = regex(
    r"^(?:i|we|you|he|they)(?:'ll)? (?:must|have to|need to|has to) (?!not\b|never\b|always\b|only\b"
    r"|support|keep|stay|remain|run on)"
    r"|^(?:i|he|they) must\b|^(?:add|create|implement|change|fix|update|rename|build|refactor)\b",
    re.IGNORECASE,
)


def constraint_claim(parts: SentenceParts, who: str) -> SentenceClaim | None:
    """The invariant a sentence states, if it states one."""
    found = _LABEL.match(parts.plain)
    if found:
        return _constraint(parts.after(found.end()), 0.85 if who == "user" else 0.55)
    if who == "user" and (found := _WANT.match(parts.plain)):
        wanted = parts.after(found.end())
        return None if _CHATS.match(wanted.plain) else _constraint(wanted, 0.85)
    if (
        _CHATS.match(parts.plain)
        or _TELLS.match(parts.plain)
        or _CHORE.search(parts.plain)
        or _TASK.match(parts.plain)
        or _GUESS.search(parts.plain)
    ):
        return None
    if who == "user":
        rules = (_MODAL.search, _ORDER.match, _ALL.match, _STOP.match)
        stated = any(rule(parts.plain) for rule in rules)
        return _constraint(parts, 0.85) if stated else None
    told = _MODAL.search(parts.plain) or _ORDER.match(parts.plain)
    return _constraint(parts, 0.6) if told and parts.why and not _of_you(parts.plain) else None


def _of_you(plain: str) -> bool:
    """Whether an agent speaks to the person in front of it: advice, no rule of the project."""
    return re.search(r"\b(?:you|your|you're|you'll)\b", plain, re.I) is not None


def _constraint(parts: SentenceParts, confidence: float) -> SentenceClaim:
    found = _ORDER.match(parts.plain)
    text = parts.text if found is None else f"{_how(found['how'])} {parts.text[found.end() :]}"
    return SentenceClaim("invariant", standing(text, parts), parts.why, parts.plain, CONSTRAINT_RULE, confidence)


def _how(word: str) -> str:
    return {"never": "Never", "always": "Always"}.get(word.lower(), "Do not")


STATEMENT_RULE = "statement"
_ONLY_WHO = regex(
    r"^only (?!(?:one|two|this|that|these|those|it|he|she|they|you|i|then|if|when|because|the (?:first"
    r"|second|third"
    r"|last|other|same))\b)(?:[\w`./-]+ ){1,6}(?:may|must|should|is allowed to|are allowed to"
    r"|is permitted to)\b",
    re.IGNORECASE,
)
_DONE = r"(?:happens?|runs?|goes|go|ships?|(?:is|are) (?:\w+ed|done|made|built|sent|written|run|kept|read))"
_ONLY_WHERE = regex(  # "Deploys happen from CI only"; not "the crash happens on Safari only"
    r"^(?!(?:the|a|an|this|that|these|those|it|they|he|she|we|you|i|there|my|your|some|such)\b)"
    r"(?!(?:[\w-]+ ){0,3}(?:bugs?|errors?|crash(?:es)?|failures?|problems?|issues?|hangs?|flakes?"
    r"|warnings?)\b)"
    rf"(?:[\w`./-]+ ){{1,4}}{_DONE} (?:(?:from|via|through|in|on|by|with|to|after) [\w`./ -]{{2,60}} only"
    r"|only (?:from|via|through|in|on|by|with|to|after) [\w`./ -]{2,60})$",
    re.IGNORECASE,
)
_KEPT = regex(
    r"^(?!(?:it|this|that|they|these|those|he|she|there|i|you|which)\b)\S[^,;]{2,80}? (?:is"
    r"|are) (?:always |only )?"
    r"(?:kept|stored|written|represented|saved|expressed|encoded|measured|formatted|named|spelled|logged"
    r"|signed|versioned"
    r"|pinned|handled|generated|serialized|serialised|hashed|encrypted|cached) "
    r"(?:in|as|with|by|to|from|on|under|per|using|at|after|through|via"
    r"|against) [^,;]{3,120}?,? (?:and )?(?:never|not) (?!(?:yet|once|twice|now|working|correctly)\b)\w",
    re.IGNORECASE,
)
_TOOL = (
    r"(?:[A-Z][\w.+#-]*|node|python|java|go|ruby|php|rust|postgres\w*|mysql|glibc|gcc|clang|cmake"
    r"|npm|pnpm|git)"
)
_NEEDS = regex(  # with a version: "the header needs 3 columns" is work to do
    r"^(?!(?:I|i|you|You|it|It|he|she|they|My|my|your|Your)\b)(?:[Tt]he|[Oo]ur"
    r"|[Tt]his)? ?(?:[\w-]+ ){1,4}(?:needs?|requires?|depends? on|(?:only )?(?:works?|runs?|builds?|"
    r"compiles?|installs?) (?:only )?(?:with|on|under)) (?:at least |exactly |a |an )?"
    rf"(?:[A-Z][\w.+#-]* )?{_TOOL} (?:>=? ?|version )?v?\d+(?:\.\d+)*\b"
)
# "Remember: staging uses port 8443": a thing and how it is; "remember to run the tests" is work to do.
_REMEMBER = regex(
    r"^[\s>*•-]*(?:(?:so|ok|okay|and|also|but|please|note|important)[,:]?\s+)*"
    r"remember(?:\s*:|,? that\b)\s*(?=\S)",
    re.IGNORECASE,
)
_A_THING = (
    r"(?!(?:i|you|we|he|she|they|it|this|that|these|those|there|to|if|when|while|how|what|why|which|who|and"
    r"|or|because|run|use|check|add|fix|write|read|make|keep|put|test|update|call|set|look|see|ask|do|be"
    r"|someone|somebody|everything|something|nothing)\b)[\w`./:@-]+"
)
_IS = regex(
    r"^(?!the (?:time|day|last|other|first|second)\b)(?:(?:the|our|all|every|each) )?"
    rf"(?:{_A_THING} ){{1,5}}(?:(?:always|only|still|never) )?"
    r"(?:is|are|uses?|runs?|lives?|needs?|listens?|has|have|expects?|requires?|returns?|lies?|sits?|accepts?"
    r"|supports?|depends?|starts?|stores?|holds?|contains?|means|points?|serves?|talks?|takes?|does not"
    r"|doesn't|do not|don't|cannot|can't|isn't|aren't) \S"
    r"|^we (?:use|run|deploy|ship|store|have|host|build) \S",
    re.IGNORECASE,
)
# True until somebody mends it.
_AILS = regex(r"\b(?:broken|down|failing|offline|stuck|late|busy|flaky|wrong)$", re.IGNORECASE)


def is_asked_for(words: str) -> bool:
    """Whether a sentence begins with "Remember:", as its speaker wrote it."""
    return _REMEMBER.match(words) is not None


def remembered(parts: SentenceParts) -> SentenceClaim | None:
    """The fact that a user asks to remember, if it says of a thing how it is."""
    found = _REMEMBER.match(parts.plain)
    said = parts.after(found.end()) if found else parts
    return _statement("fact", said) if _IS.match(said.plain) and not _AILS.search(said.plain) else None


def statement_claim(parts: SentenceParts, who: str) -> SentenceClaim | None:
    """The rule or the fact that a user states plainly, if it is one of these shapes."""
    if who != "user":
        return None
    if any(shape.match(parts.plain) for shape in (_ONLY_WHO, _ONLY_WHERE, _KEPT)):
        return _statement("invariant", parts)
    return _statement("fact", parts) if _NEEDS.match(parts.plain) else None


def _statement(kind: str, parts: SentenceParts) -> SentenceClaim:
    return SentenceClaim(kind, standing(parts.text, parts), parts.why, parts.plain, STATEMENT_RULE, 0.75)


CORRECTION_RULE = "correction"
_NO = regex(
    r"^(?:(?:no(?: no)*|nope|nah|wrong|stop|hold on|wait|hey|sorry|ugh|actually|incorrect|not quite"
    r"|that's (?:wrong|not (?:right|correct|it))"
    r"|(?:that|this) is wrong)(?:\s*[,:;.!…]+|\s+[-–—]+)\s*|actually\s+|no\s+(?=(?:use|don't|do not|we"
    r"|never|always)\b)"
    r"|(?:as )?i (?:already )?(?:said|told you|asked you|asked)(?: before)?(?: to| that)?(?:\s*[,:]\s*"
    r"|\s+))+",
    re.IGNORECASE,
)
_PLAIN_NO = regex(  # said in the midst of a turn: nothing weaker
    r"^(?:no(?: no)*|nope|nah|wrong|that's wrong)(?:\s*[,:;!…]+|\s+[-–—]+)\s*"
    r"(?!(?:not|no) (?:now|yet|need)\b)",
    re.IGNORECASE,
)
_ONLY_NO = regex(
    r"^(?:no|nope|nah|wrong|stop|wait|actually|incorrect|not quite|that's (?:wrong|not right"
    r"|not correct))[\s,.!]*$",
    re.I,
)
_CORRECTED_ORDER = regex(
    r"^(?:please\s+)?(?:(?:you|we|it|they)\s+)?(?:(?:should|must|need to|have to)\s+)?(?:use|keep|write"
    r"|put|name|call"
    r"|prefer|stick|store|never|always|don't|do not|must|only|avoid|let's (?:use|keep|go with|not)|want"
    r"|i (?:want|prefer)"
    r"|go with|switch to|no|not to)\b",
    re.IGNORECASE,
)
_NOT_BUT = regex(r"^not\s+(?P<x>[^,]{2,80}),\s*(?:but\s+|use\s+|it's\s+)?(?P<y>\S.{2,160})$", re.IGNORECASE)
_CORRECTED_STOP = regex(r"^(?:please\s+)?stop\s+\w+ing\b", re.IGNORECASE)
_DONT = regex(
    r"^(?:please\s+)?(?:do not|don't)\s+\w.{3,140}?(?:[,;]\s*|\s+and\s+|\s+)(?:instead|use|but use"
    r"|rather)\b|^instead of .{3,120}?, (?:use|do|write|call)\b",
    re.IGNORECASE,
)
_CONTRAST = regex(r"(?:,| and) not\b|\b(?:instead of|rather than|instead)\b", re.IGNORECASE)
_OF_SELF = regex(
    r"^(?:i|i'm|i'll|let me|never mind|don't worry|no (?:worries|problem))\b(?! (?:want"
    r"|prefer))",
    re.IGNORECASE,
)
_DUTY = regex(r"\b(?:must|should|has to|have to|needs to|is supposed to)\b", re.IGNORECASE)
_RULING = regex(
    r"\b(?:never|always|do not|don't|must|must not|only|we don't|avoid|stop|let's not|not to)\b", re.IGNORECASE
)


def is_bare_no(plain: str) -> bool:
    """Whether a sentence only says no: the correction is the next one."""
    return _ONLY_NO.match(plain) is not None


def correction_within(parts: SentenceParts) -> SentenceClaim | None:
    """What a user corrects later in a turn: only after a plain no, and with what to do or to leave alone."""
    found = _PLAIN_NO.match(parts.plain)
    if found is None:
        return None
    plain = parts.plain[found.end() :]
    directs = _NOT_BUT.match(plain) or _DONT.match(plain) or (_CORRECTED_ORDER.match(plain) and _CONTRAST.search(plain))
    return correction_claim(parts, after_no=False) if directs else None


def correction_claim(parts: SentenceParts, *, after_no: bool) -> SentenceClaim | None:
    """What a user corrects at the start of a turn."""
    found = _NO.match(parts.plain)
    said = parts.after(found.end()) if found else parts
    plain = said.plain
    if _NOT_BUT.match(plain):
        return _swapped(said)
    if _CORRECTED_STOP.match(plain) or _DONT.match(plain):
        return _corrected(said, 0.9)
    if (found or after_no) and not _OF_SELF.match(plain):
        directs = _CORRECTED_ORDER.match(plain) or _CONTRAST.search(plain) or _DUTY.search(plain)
        return _corrected(said, 0.9) if directs else None
    return None


def _placed(text: str, said: SentenceParts) -> str:
    """The statement; a short one ("Use pnpm, not npm") says where it holds."""
    alone = standing(text, said)
    return alone if len(alone) >= MIN_STATEMENT else f"{alone} in this project"


def _swapped(said: SentenceParts) -> SentenceClaim | None:
    """ "not X, use Y" reads better as "Use Y, not X"."""
    found = _NOT_BUT.match(said.plain)
    assert found is not None
    x, y = (said.text[slice(*found.span(name))] for name in ("x", "y"))
    y = re.sub(r",?\s+please$", "", y, flags=re.IGNORECASE)
    return SentenceClaim("decision", _placed(f"use {y}, not {x}", said), said.why, said.plain, CORRECTION_RULE, 0.9)


def _corrected(said: SentenceParts, confidence: float) -> SentenceClaim:
    text = re.sub(r"^(?:please\s+|let's\s+(?=use|keep|go))", "", said.text, flags=re.IGNORECASE)
    text = re.sub(r"^not to\s+", "do not ", text, flags=re.IGNORECASE)
    kind = "invariant" if _RULING.search(said.plain[:40]) and not _CONTRAST.search(said.plain) else "decision"
    return SentenceClaim(kind, _placed(text, said), said.why, said.plain, CORRECTION_RULE, confidence)
