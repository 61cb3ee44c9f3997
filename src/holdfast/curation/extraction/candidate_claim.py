"""What a rule gives, and what all rules share: the reason split off, the statement made to stand alone.

Which sentences may stand as knowledge: no question, guess, plan of the moment, riddle or hearsay.

A rule says what a sentence claims; this says whether somebody who was not there can use it. Where it is
doubtful, the answer is no: a memory nobody wrote down is missed less than a wrong one is believed.
"""

import re

from holdfast.curation.extraction.turn_sentences import Sentence
from holdfast.model.utterance import MAX_STATEMENT, MAX_WHY, MIN_RULE, MIN_STATEMENT
from holdfast.patterns import regex
from holdfast.values import frozen


@frozen
class SentenceClaim:
    """What a sentence claims, before anybody asked whether it may stand."""

    kind: str
    statement: str
    why: str
    main: str  # the sentence without its reason, code and quotations crossed out: it is held to account
    rule: str
    confidence: float


@frozen
class SentenceParts:
    """A sentence as rules read it: the claim, its reason, and the claim with code crossed out."""

    text: str
    plain: str
    why: str
    whole: str

    def after(self, at: int) -> "SentenceParts":
        """The same sentence from here on."""
        return SentenceParts(self.text[at:].strip(), self.plain[at:].strip(), self.why, self.whole[at:].strip())


_REASON = regex(
    r",?;?\s+(?:because(?: of)?|since(?!\s+(?:\d|then|last|yesterday|v\d))|as otherwise|otherwise"
    r"|or else|so that"
    r"|due to(?! be)"
    r"|given that|the reason (?:is|being)(?: that)?)\b[:,]?\s+"
    r"|\s+[–—-]{1,3}\s+(?=(?:it|they|this|that|the|we|otherwise|because|since|there|our|a|an|else)\b)"
    r"|\s+—\s+(?!(?:use|but|instead|rather|not)\b)(?=(?:\S+\s+){4,})"
    r"|(?<=work):\s+|(?<=work here):\s+|(?<=a dead end):\s+|\.?\s+\(?reason:\s+",
    re.IGNORECASE,
)
_PURPOSE = regex(r"\b(?:to (?:avoid|prevent|keep|protect)|which (?:breaks|causes|prevents))\b", re.IGNORECASE)
_TAIL = regex(r"[\s.,;:!–—-]+$")


def parts(sentence: Sentence) -> SentenceParts:
    """The claim and its reason; a claim too short without its reason keeps it."""
    found = _REASON.search(sentence.plain, min(8, len(sentence.plain)))
    if found is None:
        why = sentence.text[purpose.start() :] if (purpose := _PURPOSE.search(sentence.plain)) else ""
        return SentenceParts(bare(sentence.text), bare(sentence.plain), bare(why)[:MAX_WHY], bare(sentence.text))
    at, why = found.start(), bare(sentence.text[found.end() :])
    return SentenceParts(bare(sentence.text[:at]), bare(sentence.plain[:at]), why[:MAX_WHY], bare(sentence.text))


def bare(text: str) -> str:
    """Text without the punctuation it ends in."""
    return _TAIL.sub("", text.strip())


def standing(text: str, read: SentenceParts) -> str:
    """The statement as it will stand: with a capital, and with its reason if it is too short alone."""
    chosen = bare(text)
    if len(chosen) < MIN_STATEMENT:
        chosen += read.whole[len(read.text) :]
    return chosen[:1].upper() + chosen[1:] if chosen[1:2] != "(" else chosen


def fits(statement: str, *, rule: bool = False) -> bool:
    """Whether a statement has the length of one claim; a person's `rule` is whole as "Never retry a POST"."""
    least = MIN_RULE if rule and statement.startswith("Never ") else MIN_STATEMENT
    return least <= len(statement) <= MAX_STATEMENT


_ASKS = regex(
    r"\?[\"')]*$|^(?:should|shall|can|could|would|will|do|does|did|is|are|was|were|have|has|may|might|am)\s+"
    r"(?:we|you|i|it|this|that|there|they|the|he|she|any|our|your|these|those|all)\b"
    r"|^(?:why|what|which|who|whose|how|where|wonder|any (?:idea|chance|reason))\b"
    r"|\b(?:i wonder|wondering|let me know|tell me|what do you think|want me to|would you|do you"
    r"|should (?:we|i)\b"
    r"|can (?:we|you)\b|could (?:we|you)\b|which would you|right\s*\?|ok\s*\?)",
    re.IGNORECASE,
)
_SUPPOSES = regex(
    r"\b(?:if (?:we|i|you) (?:decided?|chose|choose|went|go|used?|were|had|wanted|picked?|keep|kept)"
    r"|what if|might|maybe"
    r"|perhaps|probably|possibly|potentially|presumably|likely|seems?|appears? to|looks like|i think"
    r"|i guess|i believe"
    r"|i suspect|i feel|not sure|unclear|suppose|hypothetical\w*|imagine|whether|alternatively|we could"
    r"|you could"
    r"|could (?:be|also|either|just|instead|use|go)|would (?:be|need|have|then|use|go|mean|require|work)"
    r"|we'd|i'd|you'd"
    r"|propos(?:e|es|ed|al|ing)|suggest\w*|recommend\w*|considering|consider|leaning|tempted|inclined"
    r"|in theory|theoretically|ideally|let's say|say we|pretend|not necessarily|haven't decided"
    r"|not (?:yet )?decided"
    r"|undecided|to be decided|tbd|todo|still (?:deciding|open)|before we decide|once we decide"
    r"|when we decide"
    r"|until we decide|unless we decide|did(?:n't| not) decide|never decided)\b"
    r"|^(?:for example|for instance|e\.g\.|example)\b",
    re.IGNORECASE,
)
_MOMENT = regex(
    r"^(?:i'll|i will|i'm|i am|let me|let us|i need|i should|i want|i can|i could|i see|i'd|now|next|first"
    r"|here's|here is"
    r"|done|time to|step \d|continuing|starting|moving on|we need to (?:fix|add|check|look|run|update"
    r"|finish))\b"
    r"|\b(?:for now|right now|at the moment|this time|today|tomorrow|tonight|yesterday|for the time being"
    r"|temporar\w+"
    r"|this (?:turn|session|step|message|commit|pr|pull request|conversation|chat|prompt|iteration|run)"
    r"|(?:previous|last|next) (?:turn|session|step|message|commit|prompt|iteration)|until i (?:say|tell)"
    r"|so far"
    r"|in a (?:moment|minute|second)|as a first step|wait for me|before (?:i|we|you) (?:continue|proceed"
    r"|commit|push|start))\b"
    r"|\ba (?:bit|little)\b|\bslightly\b"
    # That tests shall pass is said in every session, and is no news in the next.
    r"|\b(?:tests?|ci|build|lint\w*|suite|checks?) (?:must |should |needs? to |have to |has to "
    r"|still )*(?:pass|passes"
    r"|be green|succeed|fail)\b|\bnothing (?:else )?(?:broke|breaks|is broken)\b"
    r"|\b(?:this|the) (?:afternoon|morning|evening|weekend)\b"
    r"|\b(?:before|until|till|by|this|next) (?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
    r"|\bbreak(?:ing|s)? (?:the |any |existing |other )+(?:tests?|build|ci|code|things?)\b"
    r"|\b(?:yet|later|again|first|now|then|soon|here goes)$",
    re.IGNORECASE,
)
_PAST = regex(  # what somebody should have done binds nobody; what goes wrong is no rule
    r"\b(?:should|must|could|would|ought to)(?:n't| not| never| always)? (?:\w+ )?have (?:been\b"
    r"|(?:\w+(?:ed|en)"
    r"|done|gone|made|let|put|set|cut|lost|left|kept|sent|run|told|said|built|broke)"
    r"(?=[.,;!]|$| (?:the|that|this|those|these|my|our|your|his|her|it|them|me|us|a|an|to|in|on|from"
    r"|with)\b))"
    r"|^(?:you|i|we|they|he|she) (?:\w+ )?(?:should|could|would)(?:n't| not| never)? have\b"
    r"|\b(?:which|that|this|what)(?: is|'s| was) (?:the|a|our|exactly the|clearly a) "
    r"(?:\w+ )?(?:bug|problem|issue|defect|regression|error|mistake)\b|\b(?:is"
    r"|was) (?:clearly )?a (?:bug|regression)\b"
    r"|\bcurrently\b|\b(?:i|we|you) (?:had )?expect(?:ed)?\b",
    re.IGNORECASE,
)
_PRIVATE = regex(  # of the people, not of the project
    r"\b(?:grab|have|having|get|getting|eat|order|go(?: out)? for|take|bring|buy|skip|after|over)\b[^.]{0,24}"
    r"\b(?:lunch|dinner|breakfast|brunch|coffee|pizzas?|beers?|drinks|cake|snacks|sushi"
    r"|a (?:break|walk|nap|day off|week off)|vacation)\b"
    r"|\b(?:pizza|sushi|offsite|team event|office party|birthday)\b"
    r"|^(?:to )?(?:meet (?:up|at|on|again|for|weekly|daily|every|once)|catch up|celebrate|go home"
    r"|call it a day|sit (?:down|together)"
    r"|have a (?:call|chat|meeting|talk|look|sync))\b"
    r"|\bat (?:noon|midnight|\d{1,2}(?::\d\d)? ?(?:am|pm|o'clock)|(?:one|two|three|four|five|six|seven"
    r"|eight|nine"
    r"|ten|eleven|twelve)(?: o'clock)?)$",
    re.IGNORECASE,
)
_OWN = r"(?:project|repo|repository|codebase|library|package|service|module|app|api|team|company|product)"
_VAGUE = regex(
    rf"^(?:it|this|that|they|these|those|he|she|there|here|both|neither|one (?:is|was|must|should|of)|such"
    rf"|same|everything|nothing"
    rf"|something)\b"
    rf"(?!\s+{_OWN}\b)"
    r"|^the (?:first|second|third|latter|former|other|above|following|same|last|original|current|new"
    r"|old)(?: one)?\s+"
    r"(?:is|are|was|must|should|one|option|approach|way|version)\b"
    r"|\b(?:that one|this one|the other one|these ones|those ones|the (?:above|former|latter|following)"
    r"|like (?:this|that|so)"
    r"|as (?:above|before|discussed|usual|planned|agreed|you (?:said|say|suggested|proposed|like|wish|want))"
    r"|(?:your|my|his|her|their) (?:approach|proposal|suggestion|idea|plan|version|solution|way|fix"
    r"|recommendation|change)"
    r"|(?:this|that) (?:approach|way|option|idea|plan|fix|change|solution|version|part|bit|stuff|thing"
    r"|case|file|function"
    r"|method|test|line|block|code|section|one|behaviou?r|logic)"
    r"|(?:option|approach|alternative|variant|plan|choice|item|point|step|phase)\s+(?:[a-d]\b|#?\d|one|two"
    r"|three)"
    r"|(?:the )?(?:first|second|third|other|last|simpler|simple|easier|new|old|same) (?:option|approach"
    r"|way|idea|one|thing)"
    r"|do (?:it|that|this|so|them)|done (?:it|that|this)|see (?:above|below)|above|below|#\d+"
    r"|something (?:else|like))\b"
    r"|^(?:the|a|an|my|our) (?:tests?|code|function|file|method|script|command|output|variable|class"
    r"|change|edit"
    r"|import|line|error|fix|assertion) (?:expects?|expected|is|was|were|are|has|had|does|did|still|only"
    r"|uses?|used"
    r"|needs?|must|should|can|fails?|failed|returns?|returned|broke)\b"
    r"|\bthe (?:old|new|existing|current|original|previous) (?:behaviou?r|code|output|version|way|logic"
    r"|value|helper"
    r"|function|method|fixture|tests?|pattern)\b|\bmy (?:\w+ )?(?:edit|change|fix|commit|refactoring)\b"
    r"|\b(?:leave|left) (?:it|this|that|them)\b|\bfor (?:it|this|that)$"
    r"|(?:first|second|third|smallest|shortest) (?:\w+ )?(?:file|test|case|line|function|example)\b"
    # An object without a name, early in the sentence: later on the name may stand before it.
    r"|^(?:\S+\s+){0,4}(?:use|using|prefer|keep|keeping|with|chose|tried|try|drop|avoid|want|need|on|to"
    r"|over|of"
    r"|touch|change|call|remove|delete|add|make|made|run|put|reverted|abandoned)\s+(?:it|this|that|them"
    r"|these|those"
    r"|both)(?=\s*(?:$|[,.;:!)]|\b(?:for|in|because|instead|everywhere|here|there|as|and|but|too|when"
    r"|since|with"
    r"|from|to|over|all|that|much|often|very|so|any)\b))",
    re.IGNORECASE,
)
_HEARSAY = regex(
    r"\b(?:says?|said|told (?:me|us)|according to|stat(?:es|ed) that|claim(?:s|ed) that|wrote that"
    r"|mention(?:s|ed) that"
    r"|i (?:read|heard|saw) (?:that|somewhere|in)|apparently|supposedly|allegedly|reportedly|rumou?r"
    r"|(?:they|he|she|someone|somebody|people|everyone|others|upstream|copilot|the (?:reviewer|vendor"
    r"|maintainers?"
    r"|author|article|tutorial|blog|internet)) (?:decided|chose|wants?|prefers?|thinks?|believes?)"
    r"|(?:they|he|she|people|others) (?:use|used|always|never|must))\b",
    re.IGNORECASE,
)
_WORD = regex(r"[^\W_][\w.+#/-]*[\w+#]|[^\W_]")
_FUNCTION_WORDS = """
    a about above after again all also always am an and any are as at avoid be because been before being
    below both but by can cannot chose could decided decision did do does doing don done down during
    each every few for from further go going good had has have having he her here hers him his how i if
    in instead into is it its itself just keep like make me more most must my need never no nor not now
    of off on once only or other our out over own please prefer rather right same say she should so some
    stop such than that the their them then there these they thing things this those through to too try
    under until up use used uses using very want was way we well were what when where which while who
    why will with work works would you your better best correct properly stuff sure careful job nice let
    lets we'll we're we've i'll i've don't didn't doesn't it's that's isn't aren't won't can't wasn't
    assume assuming convention preference idea ok okay fine really actually simply maybe everything
    anything something nothing problem issue bug cause root case turned tried approach solution fix
    change changes code
"""
_EMPTY = frozenset(_FUNCTION_WORDS.split())


def may_stand(claim: SentenceClaim, who: str, *, corrected: bool = False) -> bool:
    """Whether a claim stands by itself; what a user corrects may begin as chat does."""
    main = claim.main
    barred = (_ASKS, _SUPPOSES, _VAGUE) if corrected else (_ASKS, _SUPPOSES, _VAGUE, _HEARSAY)
    always = (_MOMENT, _PAST, _PRIVATE)
    if not fits(claim.statement, rule=who == "user" and claim.kind == "invariant"):
        return False
    if any(rule.search(main) for rule in (*barred, *always)):
        return False
    return len(content(claim.statement)) >= 2


def content(text: str) -> frozenset[str]:
    """The words that carry what a text is about, in lower case and without a plural's s."""
    words = (word.casefold().rstrip(".") for word in _WORD.findall(text.replace("`", " ")))
    return frozenset(_singular(word) for word in words if word not in _EMPTY)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
