"""Parses a question: its specific words as FTS5 expressions, the files it names, and its filters.

People write sentences in any language; agents paste names, messages and stack traces. Every piece is quoted, so that no
character can alter the FTS5 expression. A name counts unchanged and as the words inside it; text in scripts without
spaces counts as overlapping pairs of characters, which the index contains as well; common words and noise (addresses,
times, long numbers) are dropped if anything else remains.

Some questions take several steps: "Which decision led to the change that broke test_pool?" names a test and asks for a
decision, and the answer contains none of the words. The quick path leaves such a question to the full one, which walks
the graph for it.

Imports only our own modules: the quick path reads every question with this.
"""

from holdfast.index.schema import facet
from holdfast.index.search_words import ENGLISH, OTHERS, PAIRS, is_identifier
from holdfast.index.stack_trace import endings, line_of, place_of, without_frames
from holdfast.values import field, frozen, mutable

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = None  # the branch that is checked out
EVERY_BRANCH = "*"


@frozen(kw_only=True)
class Scope:
    """The filters of a question, and the files that are open."""

    kind: str | None = None
    task: str | None = None
    files: "Sequence[str]" = ()  # open files, relative to the work tree's top: rows that share them count more
    branch: str | None = HERE  # another branch's name, or EVERY_BRANCH
    since: str | None = None  # the earliest time, spelled as in events


MAX_QUERY = 4096  # characters of a question that count, without frames of traces; a guess: far more than a question
MAX_PASTED = 65_536  # characters that are searched for a trace; a guess: a long trace
MAX_WORDS = 64  # of a question; a guess: more only cost time. So are the next two
MAX_PARTS = 32  # a guess: bounds the search for one question
MAX_PATHS = 48  # a guess: bounds the search for one question
STRONG = 2.0  # the weight of quoted words and types of errors; a guess: twice a word's
SHORTEST = 7  # characters of git's short commit ids

_QUOTES = {'"': '"', "“": "”", "«": "»", "「": "」", "`": "`"}
_INSIDE = "_-./:\\#@+~"  # characters inside names, as in C++::names, a-b, dotted.paths and file:line
_ERRORS = ("Error", "Exception", "Warning", "Panic", "Fault", "Failure")


@mutable
class SearchQuery:
    """A parsed question.

    `words` are its specific words, as typed. `terms` are FTS5 expressions, one for each word (a name is found unchanged
    or as the sequence of its words), with their `weights`: quoted words and types of errors count double. `parts` are
    the words inside names, `pairs` adjacent words, `phrases` quoted text: FTS5 expressions as well, all of them
    optional.
    """

    text: str = ""  # the question on one line, for embedding models
    words: list[str] = field(default_factory=list)
    terms: list[str] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    pairs: list[str] = field(default_factory=list)
    phrases: list[str] = field(default_factory=list)
    facets: list[str] = field(default_factory=list)  # filters such as `tag:x` or `task:x`
    paths: list[str] = field(default_factory=list)  # named files, under every name they may be stored by
    places: list[tuple[str, int]] = field(default_factory=list)  # those of them with a line
    spelled: dict[str, str] = field(default_factory=dict)  # words that no text contains, and their replacements


def read_query(query: str) -> SearchQuery:
    """Returns the parsed question; any text is valid, and an empty one matches nothing."""
    asked = SearchQuery()
    clean = _clean(query[:MAX_PASTED])
    text, files = without_frames(clean) if "\n" in clean else (clean, [])
    text = text[:MAX_QUERY]
    asked.text = " ".join(text.split())
    strong = _add_phrases(text, asked)
    found: list[str] = []
    for word in _without_frame_words(text.split()[: 4 * MAX_WORDS]):
        _add_word(word, asked, found, files)
    _add_terms(asked, found, strong)
    asked.paths = list(dict.fromkeys(name for path in files for name in endings(path)))[:MAX_PATHS]
    asked.places = [(name, line) for path, line in asked.places for name in endings(path)][:MAX_PATHS]
    return asked


def _clean(text: str) -> str:
    """Returns the text with visible characters only: no NUL, no lone surrogate, no terminal colours."""
    if text.isprintable():
        return text
    first, *coloured = text.encode("utf-8", "replace").decode("utf-8").split("\x1b[")
    bare = first + "".join(piece.lstrip("0123456789;")[1:] for piece in coloured)
    return "".join(c if c.isprintable() or c in "\n\t" else " " for c in bare)


def _without_frame_words(words: list[str]) -> list[str]:
    """Returns the words without those that frame a path, such as `File "x.py", line 3` in a trace on one line."""
    kept = []
    for place, word in enumerate(words):
        after = words[place + 1 : place + 2]
        before = words[place - 1] if place else ""
        frames = (word == "File" and after and after[0].startswith('"')) or (word == "line" and before.endswith('",'))
        number = before == "line" and word.strip(",:").isdigit() and place > 1 and words[place - 2].endswith('",')
        if not frames and not number:
            kept.append(word)
    return kept


def _add_word(word: str, asked: SearchQuery, found: list[str], files: list[str]) -> None:
    name, colon, value = word.partition(":")
    if colon and value and name in ("tag", "task"):
        asked.facets.append(facet("g" if name == "tag" else "t", value))
        return
    path, line = line_of(word)
    if path:
        files.append(path)
        found.append(path.strip("/~."))
        if line:
            asked.places.append((path, line))
        return
    for piece in pieces(word):
        # `agent.ChunkJSONL` counts as two names: the second is defined somewhere, the first may be a folder. Only if
        # the second is specific by itself; `os.path` and `models.user` stay whole.
        first, dot, last = piece.partition(".")
        telling = dot and first.isidentifier() and last.isidentifier() and len(split_word(last)) > 1
        found += [first, last] if telling else [piece]


def _add_phrases(text: str, asked: SearchQuery) -> set[str]:
    """Adds quoted text to the query and returns its words; an unclosed quote is a character."""
    inside: set[str] = set()
    at = 0
    while at < len(text):
        closing = _QUOTES.get(text[at])
        end = text.find(closing, at + 1) if closing else -1
        if end < 0:
            at += 1
            continue
        words = text[at + 1 : end].split()
        names = [piece for word in words for piece in pieces(word)]
        if names and len(words) <= MAX_WORDS and not (len(words) == 1 and place_of(words[0])):
            asked.phrases.append(quoted(" ".join(words)))
            inside.update(name.casefold() for name in names)
        at = end + 1
    return inside


def _add_terms(asked: SearchQuery, found: list[str], strong: set[str]) -> None:
    """Adds words as terms, without common words and repetitions."""
    specific = _specific_words(found, strong)
    seen: set[str] = set()
    before = ""
    for piece in found:
        low = piece.casefold()
        if before and low in specific:
            asked.pairs.append(quoted(f"{before} {piece}"))
        before = piece if low in specific else ""
        if not before:
            continue
        if low in seen or len(asked.words) >= MAX_WORDS:
            continue
        seen.add(low)
        names_error = piece.endswith(_ERRORS) and piece not in _ERRORS  # as `PoolError` and `java.io.IOException` do
        _add_term(asked, piece, STRONG if low in strong or names_error else 1.0)
    asked.pairs = list(dict.fromkeys(asked.pairs))[:MAX_WORDS]
    asked.parts = list(dict.fromkeys(part for part in asked.parts if part not in asked.terms))[:MAX_PARTS]


def _add_term(asked: SearchQuery, piece: str, weight: float) -> None:
    if found := spaceless(piece):
        pairs = [pair for pair in found if len(pair) > 1 and not _says_little(pair)]
        pairs = pairs or [pair for pair in found if len(pair) > 1]
        asked.words += pairs or found
        asked.terms += [quoted(pair) for pair in pairs] or [f"{quoted(one)} *" for one in found]
        asked.weights += [weight] * len(pairs or found)
        return
    asked.words.append(piece)
    asked.terms.append(f"{quoted(piece)} *" if begins_commit(piece) else either(piece))
    asked.weights.append(weight)
    inner = split_word(piece)
    if len(inner) > 1:
        named = split_word(piece.rsplit("/", 1)[-1].rpartition(".")[0]) if "/" in piece else inner
        asked.parts += [quoted(part) for part in named if len(part) > 1 and part.casefold() not in ENGLISH]


def begins_commit(word: str) -> bool:
    """Whether a word looks like the start of a commit's id, as git and `recall` print it."""
    digits = sum(c in "0123456789" for c in word)
    return SHORTEST <= len(word) < 40 and 0 < digits < len(word) and all(c in "0123456789abcdef" for c in word.lower())


def _specific_words(words: list[str], strong: set[str]) -> set[str]:
    """Returns the specific words: all but stop words and noise, unless nothing else is left."""
    low = [word.casefold() for word in words]
    shouted = all(word.isupper() for word in words)
    # Stop words of English and of the likeliest other language: some are specific words in others.
    english = sum(word in ENGLISH for word in low)
    counted = [(sum(word in language for word in low), language) for language in OTHERS]
    most, language = max(counted, key=lambda pair: pair[0])
    stop = ENGLISH | language if most > english or (most > 1 and most == english) else ENGLISH
    kept = {
        small
        for word, small in zip(words, low, strict=True)
        if small in strong or (small not in stop or (word.isupper() and len(word) > 1 and not shouted))
    }
    return {word for word in kept if word in strong or not is_noise(word)} or kept or set(low)


def is_noise(word: str) -> bool:
    """Whether a word differs in every run of a program: an address, a time of day, a long number."""
    low = word.casefold()
    if low.startswith("0x") or (len(low) > 6 and low.isdigit()):
        return True
    digits = sum(c.isdigit() for c in low)
    return digits >= 4 and ":" in low and low.count(".") < 2 and digits + sum(c in ":.-+tz" for c in low) == len(low)


def pieces(word: str) -> list[str]:
    """Returns the names in a word without spaces: split at brackets, commas, symbols and apostrophes."""
    found, start = [], 0
    for place in range(len(word) + 1):
        if place == len(word) or not (word[place].isalnum() or word[place] in _INSIDE or _is_mark(word[place])):
            piece = word[start:place].strip(_INSIDE)
            apostrophe = place < len(word) and word[place] in "'’"
            after = start and word[start - 1] in "'’"
            # "project's", "l'index": the rest beside the word says nothing
            short = len(piece) < 3 and (apostrophe or after) and len(word) > 4
            if piece and not short and any(c.isalnum() for c in piece):
                found.append(piece)
            start = place + 1
    return found


def _is_mark(character: str) -> bool:
    """Whether a character only changes the one before: in many scripts words contain them."""
    return character > "\u02ff" and not character.isalnum() and f"a{character}".isidentifier()


def split_word(word: str) -> list[str]:
    """Returns the parts of an identifier: `getUserName`, `get_user_name` and `get-user/name` alike."""
    parts, start = [], 0
    for place in range(1, len(word) + 1):
        if place == len(word) or _breaks(word, place):
            part = "".join(c for c in word[start:place] if c.isalnum())
            if part:
                parts.append(part)
            start = place
    return parts


def _breaks(word: str, place: int) -> bool:
    before, here = word[place - 1], word[place]
    if not here.isalnum() or not before.isalnum():
        return True
    after = word[place + 1 : place + 2]
    # "HTTPServer" is HTTP and Server: the last capital starts the next word.
    return here.isupper() and (before.islower() or before.isdigit() or (before.isupper() and after.islower()))


def spaceless(text: str) -> list[str]:
    """Returns the pieces of words in scripts without spaces: overlapping pairs, and the last character of a run alone.

    For the index and for questions alike: both must split such text in the same way. The last character stands alone so
    that a question of one character finds it by the start of the pairs; text of other scripts next to them without a
    space is a piece of its own. Words without such characters return none.
    """
    if text.isascii():
        return []
    found: list[str] = []
    run, other, mixed = "", "", False
    for character in f"{text} ":
        if _is_spaceless(character):
            found += [other] if other else []
            run, other, mixed = run + character, "", True
        elif character.isalnum():
            found += _overlapping(run)
            run, other = "", other + character
        elif not _is_mark(character):
            found += _overlapping(run) + ([other] if other and mixed else [])
            run, other, mixed = "", "", False
    return found


def _overlapping(run: str) -> list[str]:
    return [run[place : place + 2] for place in range(len(run))]


def _is_spaceless(character: str) -> bool:
    """Whether a character is of Chinese, Japanese, Korean, Thai, Lao, Burmese or Khmer text."""
    code = ord(character)
    if code < 0x0E00 or not character.isalnum():
        return False
    return (
        0x3040 <= code <= 0x30FF
        or 0x3400 <= code <= 0x9FFF
        or 0xAC00 <= code <= 0xD7A3
        or 0xF900 <= code <= 0xFAFF
        or 0x20000 <= code <= 0x323AF
        or code <= 0x0EFF
        or 0x1000 <= code <= 0x109F
        or 0x1780 <= code <= 0x17FF
    )


def _says_little(pair: str) -> bool:
    return pair in PAIRS or all("\u3040" <= c <= "\u309f" for c in pair)


def either(word: str) -> str:
    """Returns the expression for a word unchanged, or as the sequence of its parts."""
    parts = split_word(word)
    whole = quoted(word)
    return whole if len(parts) < 2 else f"({whole} OR {quoted(' '.join(parts))})"


def quoted(text: str) -> str:
    """Returns a text as FTS5 data."""
    return '"' + text.replace('"', '""') + '"'


_KINDS = {
    "decision": "decision", "decided": "decision", "task": "task", "run": "run", "session": "session",
    "commit": "commit", "change": "commit", "fact": "fact", "invariant": "invariant",
    "assumption": "assumption", "dead-end": "dead-end", "turn": "turn", "document": "doc", "function": "code",
}  # fmt: skip
_ASKING = ("which", "what", "whose")


def wanted_kind(asked: "SearchQuery") -> str | None:
    """Returns the kind of record that a question asks for, as in "which decision …"; None if it does not say."""
    words = [word.strip("?,.:;\"'").casefold() for word in asked.text.split()]
    for place, word in enumerate(words):
        if word in _ASKING:
            for following in words[place + 1 : place + 4]:
                if kind := names_kind(following):
                    return kind
    return None


def names_kind(word: str) -> str | None:
    """Returns the kind of record that a word names, as `decisions` does."""
    low = word.casefold()
    return _KINDS.get(low) or _KINDS.get(low.removesuffix("s"))


def names_identifier(asked: "SearchQuery") -> bool:
    """Whether a question contains an identifier, which nobody uses by chance: an id, a path, a symbol."""
    return bool(asked.paths) or any(is_identifier(word) for word in asked.words)


def takes_several_steps(asked: "SearchQuery") -> bool:
    """Whether a question names one record and asks for another kind."""
    return names_identifier(asked) and wanted_kind(asked) is not None
