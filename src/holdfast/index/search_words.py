"""Stop words, and the names in a text by which related texts can be found.

`stopwords.txt` contains the words that are common to all questions. People, places and products are written with
capitals; memories, tasks, commits, files and symbols by their ids, paths and identifiers. Both link texts in the same
way, so both are found the same way, and no list of names is needed. The quick path reads texts with this, so only `os`
is imported.
"""

import os

with open(os.path.join(os.path.dirname(__file__), "stopwords.txt"), encoding="utf-8") as _FILE:
    _LANGUAGES = [frozenset(line.partition(":")[2].split()) for line in _FILE if not line.startswith("#")]
ENGLISH, *OTHERS, PAIRS = _LANGUAGES  # the last: pairs of characters of scripts without spaces


MAX_TEXT = 6000  # characters of a text that are read; a guess: important names stand early
MAX_NAMES = 32  # of a text; a guess that bounds the lookups
MAX_WORDS = 6  # of a name; a guess: longer ones are headings

_JOINING = frozenset(("of", "the", "de", "del", "della", "di", "du", "la", "le", "van", "von", "der"))
_OPENING = "([{<\"'“‘«`*_~"
_CLOSING = ")]}>\"'”’»`*_~.,;:!?…"
_HEX = frozenset("0123456789abcdef")
_ACCENTED = str.maketrans(
    "àáâãäåçèéêëìíîïñòóôõöøùúûüýÿāăąćĉċčďđēĕėęěĝğġģĥħĩīĭįıĵķĺļľłńņňōŏőŕŗřśŝşšţťŧũūŭůűųŵŷźżž",
    "aaaaaaceeeeiiiinoooooouuuuyyaaaccccddeeeeegggghhiiiiijkllllnnnooorrrsssstttuuuuuuwyzzz",
)


# A table of bytes is many times faster than a check of each character.
_SPACED = bytes(code if code < 128 and chr(code).isalnum() else 32 for code in range(256))


def names_in(text: str, limit: int = MAX_NAMES) -> list[str]:
    """Returns the names in a text, each once, in their order."""
    found: dict[str, None] = {}
    words: list[str] = []
    joining: list[str] = []
    for token in text[:MAX_TEXT].split():
        if len(found) >= limit:
            return list(found)[:limit]
        if words and token in _JOINING:
            joining.append(token)
            continue
        word = token.strip(_OPENING + _CLOSING)
        alone = is_identifier(word)
        if alone or not is_name(word) or token[0] in _OPENING:
            _add_name(words, found)
            words = []
        if alone or is_name(word):
            words = [*words, *joining, word] if words else [word]
            if alone or token[-1] in _CLOSING or len(words) >= MAX_WORDS:
                _add_name(words, found)
                words = []
        joining = []
    _add_name(words, found)
    return list(found)[:limit]


def _add_name(words: list[str], found: dict[str, None]) -> None:
    """Adds a finished name, without small words before it at the start of a sentence."""
    while words and words[0].casefold() in ENGLISH:
        words = words[1:]
    if words and (len(words) > 1 or len(words[0]) > 1):
        found[" ".join(words)] = None


def is_name(word: str) -> bool:
    """Whether a word looks like a name, or like a part of one: it contains a capital."""
    return word != word.casefold() and word[0].isalnum()


def is_identifier(word: str) -> bool:
    """Whether a word is an identifier, which people do not say: an id, a path, a symbol, a ticket, a commit."""
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
    """Returns the words of a text for comparing names: lower case, without accents and a plural's s."""
    plain = (text if text.isascii() else text.replace("…", " ")).casefold()
    if plain.isascii():
        bare = plain.encode().translate(_SPACED).decode()
    else:
        bare = "".join([c if c.isalnum() else " " for c in plain.translate(_ACCENTED)])
    return [word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] != "s" else word for word in bare.split()]
