"""The words that are the same in every question, in the languages that people ask in most.

Made once and read at every start of the quick path; nothing is imported.

The names in a text: what it calls by name, and by which other texts can be found that speak of the same.

People, places and products are written with capitals; memories, tasks, commits, files and symbols by their
ids, paths and identifiers. Both link texts in the same way, so both are found the same way, and no list of
names is needed. Nothing is imported but our own: the quick path reads texts with this.
"""

_ENGLISH = (
    "a about after again all also am an and any are as at be because been before being between both but "
    "by can could did do does doing down during each few for from further had has have having he her here "
    "hers him his how i if in into is it its just me more most my no nor not now of off on once only or "
    "other our ours out over own please same she should so some such than that the their theirs them then "
    "there these they this those through to too under until up us very was we were what when where which "
    "while who whom whose why will with would you your yours don dont doesnt didnt isnt wasnt arent cant "
    "couldnt wont wouldnt shouldnt havent hasnt hadnt thats whats lets ive im youre theyre"
)
_GERMAN = (
    "aber als am an auch auf aus bei bin das dass dem den der des die dies diese du ein eine einen einer "
    "eines er es für gibt haben hat ich ihr im in ist ja kann kein keine man mit nach nicht noch nur ob "
    "oder sich sie sind so über um und uns von vor war warum was wann wenn wer werden wie wieso wir wird "
    "wo wurde zu zum zur"
)
_FRENCH = (
    "à au aux avec ce ces cette comment dans de des du elle en est et était il ils je la le les leur mais "
    "ne nous on ou où par pas plus pour pourquoi qu que quel quelle qui sa se ses son sont sur un une "
    "vous quand"
)
_SPANISH = (
    "a al como con cual cuando de del donde dónde el ella en entre es esta está este esto fue ha hay la "
    "las le lo los más me muy no nos o para pero por porque qué que quien se ser si sin sobre son su sus "
    "un una y ya cómo cuándo"
)
_PORTUGUESE = (
    "a ao aos as com como da das de do dos e é em era essa esse esta está este eu foi há isso mais mas na "
    "nas não no nos o os ou para pela pelo por porque qual quando que quem se sem ser seu sua são um uma "
    "onde"
)
_ITALIAN = (
    "a ai al alla anche che chi ci come con cosa da dal dalla dei del della di dove e è era gli ha ho i "
    "il in io la le lo ma mi nel nella non o per perché più quale quando questo se si sono su un una"
)
_DUTCH = (
    "aan als bij dat de der die dit een en er geen had hebben heeft het hij hoe ik in is je kan maar met "
    "naar niet nog of om ook op te tot uit van voor waar waarom was wat we welke werd wie zijn zo"
)
_RUSSIAN = (
    "в во и на не с со что это как а но по к у из за от о же бы для до или мы вы он она они его её их где "
    "когда почему зачем какой какая какие был была было были есть так"
)
_PAIRS = "我们 你们 他们 什么 为什 怎么 么样 如何 这个 那个 可以 因为 所以 没有 不是 是否 的是 了吗"

ENGLISH = frozenset(_ENGLISH.split())
OTHERS = tuple(
    frozenset(words.split()) for words in (_GERMAN, _FRENCH, _SPANISH, _PORTUGUESE, _ITALIAN, _DUTCH, _RUSSIAN)
)
PAIRS = frozenset(_PAIRS.split())  # of characters, where no spaces are written


MAX_TEXT = 6000  # characters of a text that are looked at: names that matter stand early
MAX_NAMES = 32
MAX_WORDS = 6

_JOINING = frozenset(("of", "the", "de", "del", "della", "di", "du", "la", "le", "van", "von", "der"))
_OPENING = "([{<\"'“‘«`*_~"
_CLOSING = ")]}>\"'”’»`*_~.,;:!?…"
_HEX = frozenset("0123456789abcdef")
_ACCENTED = str.maketrans(
    "àáâãäåçèéêëìíîïñòóôõöøùúûüýÿāăąćĉċčďđēĕėęěĝğġģĥħĩīĭįıĵķĺļľłńņňōŏőŕŗřśŝşšţťŧũūŭůűųŵŷźżž",
    "aaaaaaceeeeiiiinoooooouuuuyyaaaccccddeeeeegggghhiiiiijkllllnnnooorrrsssstttuuuuuuwyzzz",
)


# a table of bytes is many times faster than a look at each character
_SPACED = bytes(code if code < 128 and chr(code).isalnum() else 32 for code in range(256))


def names_in(text: str, limit: int = MAX_NAMES) -> list[str]:
    """The names a text holds, each once, in the order they stand."""
    found: dict[str, None] = {}
    run: list[str] = []
    joining: list[str] = []
    for token in text[:MAX_TEXT].split():
        if len(found) >= limit:
            return list(found)[:limit]
        if run and token in _JOINING:
            joining.append(token)
            continue
        word = token.strip(_OPENING + _CLOSING)
        alone = is_identifier(word)
        if alone or not is_name(word) or token[0] in _OPENING:
            _end(run, found)
            run = []
        if alone or is_name(word):
            run = [*run, *joining, word] if run else [word]
            if alone or token[-1] in _CLOSING or len(run) >= MAX_WORDS:
                _end(run, found)
                run = []
        joining = []
    _end(run, found)
    return list(found)[:limit]


def _end(run: list[str], found: dict[str, None]) -> None:
    """Take a name that has ended, without the small words it seems to begin with at a sentence's start."""
    while run and run[0].casefold() in ENGLISH:
        run = run[1:]
    if run and (len(run) > 1 or len(run[0]) > 1):
        found[" ".join(run)] = None


def is_name(word: str) -> bool:
    """Whether a word looks like a name, or like a part of one: it has a capital."""
    return word != word.casefold() and word[0].isalnum()


def is_identifier(word: str) -> bool:
    """Whether a word is what people do not say: an id, a path, a symbol, a number of a ticket, a commit."""
    low = word.rstrip("()").strip("#@./")
    if len(low) < 3 or not low[0].isalnum():
        return False
    if "_" in low or "/" in low or "::" in low or (word[0] == "#" and low.isdigit()):
        return True
    digits = sum(c.isdigit() for c in low)
    if "-" in low and low[0].isupper():
        return digits > 0 or (low.find("-") > 2 and low.partition("-")[0].isupper())  # DEC-mxyz
    if "-" in low and low[0].isdigit():
        return digits > 7 and not low.replace("-", "").isdigit()  # a run's id; no date
    return 7 <= len(low) <= 40 and 0 < digits < len(low) and _HEX.issuperset(low)


def words_of(text: str) -> list[str]:
    """The words of a text as names are compared: small, without accents, without the plural's s."""
    plain = (text if text.isascii() else text.replace("…", " ")).casefold()
    if plain.isascii():
        bare = plain.encode().translate(_SPACED).decode()
    else:
        bare = "".join([c if c.isalnum() else " " for c in plain.translate(_ACCENTED)])
    return [word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] != "s" else word for word in bare.split()]
