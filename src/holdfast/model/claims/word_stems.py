"""Words of engineering English: tokens, a light stem, one name for what has several, and what opposes what.

Nothing here knows what a sentence means; `reading` puts the words together.
"""

from functools import lru_cache

from holdfast.model.claims.vocabulary import table
from holdfast.patterns import regex
from holdfast.values import frozen

# Each alternative begins with a class of characters no other begins with and has no nested choice,
# so the time taken grows with the length of the text and no faster.
_TOKEN = regex(
    r"`(?P<code>[^`\s]{1,80})`"
    r"|(?P<op>~>|[<>=~!^]=?|[≥≤])"
    r"|(?P<number>[0-9]+(?:[.,:][0-9]+)*)(?P<glued>[a-zA-Zµ]*[%+]?)"
    r"|(?P<word>[^\W\d]\w*(?:[.'’/#@-]+\w+)*(?:\(\))?(?:\+\+|#)?)"
    r"|(?P<mark>[,:()%])"
)
_MAX_TOKENS = 64  # a claim is a sentence; what follows later is no longer part of it


def several(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


def terms(text: str) -> frozenset[str]:
    """The names of the words of a text, as a set."""
    return frozenset(map(canonical, text.split()))


@frozen
class Token:
    """One word, number or mark as written, with its stem."""

    raw: str
    low: str
    stem: str
    kind: str  # word, number, op, mark
    code: bool = False

    @property
    def named(self) -> bool:
        """Whether it is written as a name or as code rather than as plain English."""
        return (
            self.code or any(c.isupper() for c in self.raw[1:]) or any(c in "._/#@`" or c.isdigit() for c in self.raw)
        )


@lru_cache(maxsize=8192)
def tokens(text: str) -> tuple[Token, ...]:
    """The words, numbers and marks of one sentence, in order."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        found.extend(_made(match[0], match.lastgroup or ""))
        if len(found) >= _MAX_TOKENS:
            break
    return tuple(_joined(found))


@lru_cache(maxsize=32768)  # making a frozen value costs more than finding it again
def _made(raw: str, group: str) -> tuple[Token, ...]:
    low = raw.lower()
    match group:
        case "code":
            low = low[1:-1].rstrip("/") or low[1:-1]
            return (Token(raw[1:-1], low, canonical(low), "word", code=True),)
        case "op" | "mark":
            return (Token(raw, raw, raw, group),)
        case "glued":
            known = low[-1].isdigit() or low.lstrip("0123456789.,:") in GLUED
            return (Token(raw, low, low, "number" if known else "word"),)
    if low == "offline":
        return (Token(raw, "without", "without", "word"), Token(raw, "network", "network", "word"))
    return tuple(_word(part) for part in _parts(raw.replace("’", "'")))


def _parts(raw: str) -> list[str]:
    """A word; or its parts, where a hyphen only joins plain words (`thread-safe` is `thread safe`)."""
    if "-" not in raw or raw.lower() in WHOLE:
        return [raw]
    pieces = [piece for piece in raw.split("-") if piece]
    if len(pieces) > 1 and pieces[0].lower() in ("non", "un"):
        return ["non" + pieces[1].lower(), *pieces[2:]]
    return pieces


def _word(raw: str) -> Token:
    low = raw.lower()
    if raw == "US":
        return Token(raw, "u.s", "u.s", "word")
    if low.endswith("'s") and low not in CONTRACTED:
        low = low[:-2]
    return Token(raw, low, canonical(low), "word")


def _joined(found: list[Token]) -> list[Token]:
    """The tokens with pairs that are one word put together (`time out`, `pull request`)."""
    out: list[Token] = []
    for token in found:
        pair = PAIRS.get((out[-1].stem, token.stem)) if out and out[-1].low != "logging" else None
        if pair:
            out[-1] = Token(out[-1].raw + " " + token.raw, pair, pair, "word")
        else:
            out.append(token)
    return out


@lru_cache(maxsize=32768)
def canonical(low: str) -> str:
    """One name for a word however it is inflected, and whichever of its synonyms was used."""
    stem = plain(low)
    return _LIKE.get(stem, stem)


@lru_cache(maxsize=32768)
def plain(low: str) -> str:
    """One name for a word however it is inflected; the thesaurus is not asked."""
    return SAME[low] if low in SAME else _stem(low)


def _stem(low: str) -> str:
    if low in KEEP or len(low) <= 3 or not low.isalpha() or not low.isascii():
        return low
    word = _singular(low)
    if word in KEEP:
        return word
    for ending in (
        "ization",
        "isation",
        "ibility",
        "ability",
        "ation",
        "ition",
        "ing",
        "ed",
        "ible",
        "able",
        "ment",
        "ion",
        "ly",
    ):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and _has_vowel(word[: -len(ending)]):
            word = word[: -len(ending)]
            break
    return _ended(word)


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _ended(word: str) -> str:
    """Without what endings leave behind: a doubled letter, a silent e, -ize and -ate, y for i."""
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "aeiousl":
        word = word[:-1]
    for ending in ("ate", "ize", "ise", "at", "iz", "is", "ee", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] + "y" if word.endswith("i") and len(word) > 3 else word


def _has_vowel(word: str) -> bool:
    return any(c in "aeiouy" for c in word)


GLUED = several(
    """ns us ms s sec secs min mins m h hr hrs d day days w wk y b kb mb gb tb pb kib mib gib tib k kbps
    mbps gbps hz khz mhz ghz px em rem rps qps x % + k+ %+"""
)
CONTRACTED = frozenset(("it's", "that's", "there's", "let's", "what's", "here's", "who's"))
# Written with a hyphen and one thing.
WHOLE = several(
    """e-mail front-end back-end web-app at-least-once at-most-once exactly-once apache-2.0 gpl-3.0
    bsd-3-clause mpl-2.0 agpl-3.0 lgpl-3.0 read-only re-run opt-in opt-out utf-8 utf-16 iso-8859-1
    latin-1 round-robin kebab-case snake-case camel-case pascal-case scikit-learn styled-components
    ts-node ts-jest node-fetch pip-tools pip-compile django-rest-framework react-query react-native
    golangci-lint cert-manager us-east-1 us-west-2 eu-west-1 eu-central-1 on-prem built-in one-off
    sign-off end-to-end hand-written"""
)
# Words that the stem would spoil, or that mean another thing without their ending.
KEEP = several(
    """this its was has does always sometimes across status alias analysis redis express pandas postgres
    kubernetes sass less windows macos ios aws gcs jenkins travis nats bus canvas unless versus previous
    various during string thing nothing everything something anything need speed feed seed embed red shed
    bed exceed proceed succeed indeed session version region million billion station table stable variable
    available cable moment comment segment element environment development only early family july assembly
    data beta meta those these axis basis single ring spring king bring billing mailing staging pricing
    routing naming timing paging action section function option question position condition exception
    partition connection collection transaction production permission decision edition addition mission
    extension dimension expression application location operation information hourly daily weekly monthly
    quarterly yearly annually nightly notion portion ration nation"""
)


def _spellings() -> dict[str, str]:
    """For each spelling of a word, the word's name."""
    found = {}
    for row in table("spellings"):
        name, _, others = row.partition(":")
        found.update(dict.fromkeys((name, *others.split()), name))
    return found


SAME = _spellings()


def _like() -> dict[str, str]:
    """For each word of the thesaurus, as a stem, the name of its group."""
    found: dict[str, str] = {}
    for group in table("word_groups"):
        stems = [SAME.get(word, _stem(word)) for word in group.split()]
        for stem in stems:
            found.setdefault(stem, found.get(stems[0], stems[0]))
    return found


_LIKE = _like()
# Two words that are one thing.
_PAIRS = """
time out=timeout, times out=timeout, by hand=manual, pull request=pullrequest, merge
request=pullrequest, front end=frontend, back end=backend, web application=frontend, type
annotation=typehint, command line=cli, source control=vcs, time zone=timezone, log in=authentication,
set up=setup, roll back=rollback, read only=read-only, run time=runtime, network connection=network,
network access=network, time limit=timeout, google cloud=gcp, two factor=2fa, continuous integration=ci,
lock file=lockfile, data base=database, upper case=uppercase, lower case=lowercase, gave up=abandoned,
give up=abandoned, given up=abandoned, kept out=excluded, file name=filename, user name=username, third
party=thirdparty, open source=opensource, code review=review, single tenant=singletenant, multi
tenant=multitenant, unit test=unittests, integration test=integrationtests, mono repository=monorepo,
hands off=avoid, cut off=timeout
"""


def _pairs() -> dict[tuple[str, str], str]:
    found = {}
    for item in _PAIRS.split(","):
        words, _, name = item.strip().partition("=")
        one, other = words.split()
        found[canonical(one), canonical(other)] = name
    return found


PAIRS = _pairs()

# Say how a sentence is built, never what it is about.
STOP = several(
    """a an the this that these those it its it's that's there there's here here's what what's which who
    whom whose we our ours us you your i my me they their them he she his her one's let's be is are was
    were been being am will would shall do does did done doing to of and or as at by for from in into on
    onto with via through using per than then so such too also just only even still already yet now
    currently today again each every all any both either some several many most more less much very
    quite really please make makes made sure ensure ensures agreed decided decision decide decides
    policy rule always generally usually normally typically basically must should may might can could
    ought have has had having not never no cannot up out off about around over under between within
    after before during while when where if unless until because since instead rather but however
    therefore thus hence etc e.g i.e like own same other another anything everything nothing nobody none
    else way ways time times case cases kind kinds want wants wanted got get gets allowed allow allows
    permitted permit permits fine ok okay acceptable forbidden forbid forbids banned ban bans prohibited
    prohibit prohibits disallowed disallow avoid avoids avoided optional optionally mandatory required
    require requires need needs needed necessary necessarily longer anymore enough true false freely
    possible possibly anywhere everywhere whole entire directly forget expected one welcome everybody
    everyone anybody anyone exactly except itself themselves together new"""
) - {"off", "own", "new", "time", "case", "policy"}
# Say little by themselves: a quarter of a word.
WEAK = terms(
    """use uses used using utilise utilize adopt employ choose pick prefer favor favour run work go put
    make set take have perform happen occur need require support provide allow handle process manage
    do become remain stay seem contain include consist come give apply rely depend store write build
    create generate define describe send get serve return implement project system default primary main
    standard current thing add value base follow switch move appear occur time update
    touch exist stay hit reach team ship offer bring guarantee promise deliver carry expect"""
)

# Pairs of which a thing can be only one; `x|y` are names as `canonical` gives them.
_OPPOSED = """
enable|disable sync|async mutable|immutable soft|hard oldest|newest ascending|descending asc|desc
eager|lazy eagerly|lazily optimistic|pessimistic stateful|stateless static|dynamic statically|dynamically
monorepo|polyrepo monolith|microservices manual|automatic manually|automatically serial|parallel
sequentially|parallel sequential|parallel lossless|lossy buffered|unbuffered buffer|unbuffered
inclusive|exclusive include|exclude accept|reject accept|refuse strict|lenient relative|absolute
public|private encrypt|unencrypted signed|unsigned replica|primary commit|ignored commit|gitignored
commit|git-ignored ignored|track opt-in|opt-out keep|revoke grant|revoke manual|generate survive|lost
survive|lose push|pull blocking|nonblocking block|nonblocking ordered|unordered sorted|unsorted
bounded|unbounded cached|uncached nullable|required big|little client|server safe|unsafe typed|untyped
complete|incomplete consistent|inconsistent valid|invalid sensitive|insensitive
deterministic|nondeterministic success|failure succeed|fail fail-open|fail-closed open|closed
singular|plural allow|deny whitelist|blacklist increase|decrease lower|upper lowercase|uppercase
left|right up|down first|last fifo|lifo idempotent|nonidempotent hot|cold cheap|expensive fast|slow
strong|weak strongly|eventually centralized|distributed central|distributed local|remote locally|remotely
embedded|external inline|external read-only|writable visible|hidden always|never early|late
earliest|latest oldest|latest greedy|lazy verbose|quiet shared|separate shared|dedicated
reversible|irreversible rows|columns push|poll warm|cold persistent|ephemeral durable|transient
permanent|temporary strip|keep strip|preserve ignore|honour ignore|honor ignore|respect discard|keep
discard|preserve hide|show propagate|swallow crash|survive increase|reduce improve|worsen improve|degrade
merge|split british|american truncated|kept allow|block append|overwrite preserve|overwrite
collapse|expand preserve|lose preserve|lost lost|kept lost|store immutable|change stable|change
rarely|often seldom|often frequently|rarely random|sequential supported|unsupported used|unused
known|unknown limited|unlimited singletenant|multitenant dark|light
"""


# What goes well in any way opposes what goes wrong in any way, if it is said of the same thing.
_GOES_WELL = """accept support work survive include enable preserve succeed permit honour respect possible
available legal valid tolerate grant propagate"""
_GOES_WRONG = """reject refuse break lose lost fail error crash corrupt deny exclude omit ignore hide disable
prevent invalid illegal impossible unavailable unsupported swallow revoke"""


def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for pair in _OPPOSED.split():
        one, other = (canonical(side) for side in pair.split("|"))
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    good, bad = terms(_GOES_WELL) - terms(_GOES_WRONG), terms(_GOES_WRONG)
    for name in good | bad:
        found.setdefault(name, set()).update(bad if name in good else good)
    return {name: frozenset(others) for name, others in found.items()}


OPPOSITES = _opposites()
_UN_IS_NO_PREFIX = ("under", "unit", "uni", "until", "unless", "unix", "union", "undo", "unpack", "unwrap")


@lru_cache(maxsize=65536)
def opposed(one: str, other: str) -> bool:
    """Whether two names of words exclude each other (`sync`, `async`; `signed`, `unsigned`)."""
    return other in OPPOSITES.get(one, ()) or _prefixed(one, other) or _prefixed(other, one)


def _prefixed(one: str, other: str) -> bool:
    if len(other) < 4 or one.startswith(_UN_IS_NO_PREFIX):
        return False
    return one in ("un" + other, "non" + other, "im" + other, "ir" + other) or one == "in" + other != "inform"


def weight(stem: str) -> float:
    """How much a word says about what a sentence is about."""
    return 0.25 if stem in WEAK else 1.0
