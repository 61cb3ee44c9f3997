"""What governs the work at hand: which memories hold for these files and this task, and why.

A memory governs if it names a file at hand (by path, by folder or by a pattern with `*` and `**`), if it
cites one as evidence, if it is about a file that the task's words likely mean, if its own words, names and paths fit
the task's, or if it is about a file that the branch changed. Everywhere holds only what a person marked as general, by
the path `**`: a memory without any scope is shown where its words fit. Pure comparing of values; which memories count
is for whoever hands the memories in.
"""

import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from holdfast.errors import BadInput
from holdfast.patterns import PatternFile, regex
from holdfast.recall.path_patterns import is_below, one_spelling
from holdfast.values import frozen

FILES, CITED, TASK, EVERYWHERE, BRANCH = range(5)  # how near a memory is to the work: the nearest first
GENERAL = "**"  # the path that marks a memory as general
MAX_FILES = 500  # files at hand that are compared
MOST_OF_BRANCH = 50  # files that a branch changed: more say nothing about a task
MOST_BY_WORDS = 6  # memories that nothing but words speaks for
MOST_LIKELY = 6  # memories of files that are likely meant
# From here on a file's memories are shown: then three of five of them are relevant (docs/explanation/ranking.md).
LIKELY = 0.2
MOST_UNASKED = 8  # memories that are shown where nothing says what the work is
_FEW = 20  # memories among which one shared word says enough; among more it must be a rare one
_COMMON_TO = 5  # of these few that may share it
_ENOUGH, _ENOUGH_BESIDE_FILES = 1.2, 1.8  # times the weight of a word that only one memory has
_LEAST_OF_BEST = 0.5  # what fits half as well as the best is about something else
_WORD = regex(r"[^\W_]+")
_PARTS = regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_WIDE = regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")  # scripts that put no space between words
_SHAPE = PatternFile(__file__)


@frozen(kw_only=True)
class KnownMemory:
    """A memory as a pack tells it: this text, of this revision."""

    id: str
    type: str
    statement: str
    why: str = ""  # its rationale, or what to do instead
    blob: str | None = None
    applies_to: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    confidence: float | None = None
    source: str | None = None
    updated: str = ""  # when it was last decided upon
    doubt: str = ""  # what whoever reads it should be told
    cites: tuple[str, ...] = ()  # the files its evidence is of
    names: tuple[str, ...] = ()  # the symbols its evidence is of
    against: tuple[str, ...] = ()  # memories as good as this one that it contradicts, undecided by anybody

    @property
    def is_general(self) -> bool:
        """Whether a person said that it holds everywhere."""
        return GENERAL in self.applies_to


@frozen
class WorkAtHand:
    """The work a pack is for: its files, and the words of its task."""

    files: tuple[str, ...] = ()
    words: str = ""
    tasks: tuple[str, ...] = ()  # whose words these are
    changed: tuple[str, ...] = ()  # files that this branch changed
    likely: Mapping[str, float] | None = None  # files that the words may be about, and how likely; None: nobody looked
    is_guess: bool = False  # nobody said what the work is: it is what lies about


@frozen
class ApplicableMemory:
    """A memory that holds for the work at hand, and why."""

    known: KnownMemory
    near: int  # from FILES to BRANCH
    why: str
    fit: float = 0.0  # how well it fits the task's words


def ordered(found: Iterable[ApplicableMemory]) -> list[ApplicableMemory]:
    """The nearest first, then what fits the words best, the surest, the newest; what is equal in all that, by id."""
    there = sorted(found, key=lambda one: one.known.id)
    there.sort(key=lambda one: one.known.updated, reverse=True)
    there.sort(key=lambda one: (one.near, -one.fit, -(one.known.confidence or 0.0)))
    return there


def applicable(known: Iterable[KnownMemory], hand: WorkAtHand) -> list[ApplicableMemory]:
    """Those that govern the work at hand, the most important first; where nothing says what it is, the newest few."""
    there = list(known)
    files = _Files([*hand.files[:MAX_FILES], *_files_named(hand.words, there)])
    branch = _Files(hand.changed if len(hand.changed) <= MOST_OF_BRANCH else ())
    found = [_placed(one, files, branch) for one in there]
    if not (hand.files or hand.words.strip() or hand.changed):
        rest = [one for one in there if not one.applies_to]
        newest = sorted(rest, key=lambda one: (one.updated, one.id), reverse=True)[:MOST_UNASKED]
        return ordered([*filter(None, found), *(ApplicableMemory(one, EVERYWHERE, "newest") for one in newest)])
    fits = _fits(there, hand.words)
    best = max((fit.score for fit in fits.values()), default=0.0)
    least = max(_least(len(there), beside_files=bool(hand.files)), best * _LEAST_OF_BEST)
    likely = hand.likely or {}
    meant = _Files([path for path, chance in likely.items() if chance >= LIKELY])
    by_files: list[tuple[float, ApplicableMemory]] = []
    by_words: list[ApplicableMemory] = []
    for at, (known_one, one) in enumerate(zip(there, found, strict=True)):
        fit = fits.get(at, _NO_FIT)
        if one is not None:
            found[at] = ApplicableMemory(one.known, one.near, one.why, fit.score)
        elif path := next(filter(meant.has, (*known_one.applies_to, *known_one.cites)), None):
            told = ApplicableMemory(known_one, TASK, f"likely {path}", fit.score)
            by_files.append((likely.get(path, LIKELY), told))
        elif fit.score >= (least / 2 if files.is_beside(known_one.cites) else least) and (
            # What cites files that the task hardly concerns shares a word with it by chance, four times of five.
            hand.likely is None or len(there) < _FEW or not known_one.cites or likely.keys() & set(known_one.cites)
        ):
            by_words.append(ApplicableMemory(known_one, TASK, f"mentions {fit.word}", fit.score))
    by_files.sort(key=lambda pair: (-pair[0], -pair[1].fit, pair[1].known.id))
    some = [*ordered(by_words)[:MOST_BY_WORDS], *(one for _, one in by_files[:MOST_LIKELY])]
    if hand.is_guess:
        some += _of_no_place(there, {one.known.id for one in (*filter(None, found), *some)})
    return ordered([*filter(None, found), *some])


def _of_no_place(known: Iterable[KnownMemory], told: set[str]) -> list[ApplicableMemory]:
    """The newest of those that name and cite no place: no file that lies about can call for them."""
    rest = [one for one in known if not (one.applies_to or one.cites or one.id in told)]
    newest = sorted(rest, key=lambda one: (one.updated, one.id), reverse=True)[:MOST_UNASKED]
    return [ApplicableMemory(one, EVERYWHERE, "names no place") for one in newest]


def _least(everybody: int, *, beside_files: bool) -> float:
    """How well a memory must fit the words, if nothing else speaks for it; the files at hand say more than words do."""
    if everybody < _FEW:
        return _weight(min(everybody, _COMMON_TO), everybody)
    return _weight(1, everybody) * (_ENOUGH_BESIDE_FILES if beside_files else _ENOUGH)


def _placed(one: KnownMemory, files: "_Files", branch: "_Files") -> ApplicableMemory | None:
    """How a memory holds by the places it names and cites."""
    if one.is_general:
        return ApplicableMemory(one, EVERYWHERE, "general")
    if place := next(filter(files.has, one.applies_to), None):
        return ApplicableMemory(one, FILES, f"governs {place}")
    if path := next(filter(files.has, one.cites), None):
        return ApplicableMemory(one, CITED, f"cites {path}")
    if path := next(filter(branch.has, (*one.applies_to, *one.cites)), None):
        return ApplicableMemory(one, BRANCH, f"this branch changed {path}")
    return None


# ── words ────────────────────────────────────────────────────────────────────────────────────────


@frozen
class _Fit:
    score: float
    word: str  # the most telling one, as the task spells it


_NO_FIT = _Fit(0.0, "")


def _fits(known: Sequence[KnownMemory], said: str) -> dict[int, _Fit]:
    """How well memories fit a task's words, by their places: what they share weighs by how few have it."""
    asked = _words(said)
    if not asked:
        return {}
    # Most memories share nothing with a task, and looking for that is far cheaper than taking them apart.
    some = re.compile("|".join(re.escape(word[:-1] if word[-1] == "y" else word) for word in asked))
    spelled = {word for word in re.findall(r"\w+", said) if _is_name(word)}
    shared: dict[int, set[str]] = {}
    for at, one in enumerate(known):
        places = " ".join(path.rpartition(".")[0] or path for path in (*one.cites, *one.applies_to))
        text = f"{one.statement} {' '.join((*one.tags, *one.names))} {places} {one.why}"
        if some.search(text.casefold()) and (words := _words(text).keys() & asked.keys()):
            shared[at] = words
    often = Counter(word for words in shared.values() for word in words)
    weights, top = {word: _weight(count, len(known)) for word, count in often.items()}, _weight(1, len(known))
    fits = {}
    for at, words in shared.items():
        is_meant = words == asked.keys() or not _names(known[at]).isdisjoint(spelled)  # all of it, or by its name
        score = sum(weights[word] for word in words) + (top if is_meant else 0.0)
        fits[at] = _Fit(score, asked[max(words, key=lambda word: (weights[word], len(word), word))])
    return fits


def _names(one: KnownMemory) -> set[str]:
    """The last parts of the symbols that a memory cites."""
    return {re.split(r"[.:#]+", name)[-1] for name in one.names}


def _is_name(word: str) -> bool:
    """Whether a word is spelled as only names in code are."""
    return "_" in word.strip("_") or bool(re.search(r"[a-z][A-Z]", word))


def _weight(having: int, everybody: int) -> float:
    """What a word tells that so many of all memories have (the weight that BM25 gives it)."""
    return math.log(1 + max(0.0, everybody - having + 0.5) / (having + 0.5))


def _files_named(said: str, known: Sequence[KnownMemory]) -> set[str]:
    """The cited files that a task names, by their path or their last part."""
    named = {word.rstrip(".") for word in re.findall(r"[\w./-]+\.\w+", said)}
    return (
        {path for one in known for path in one.cites if path in named or path.rpartition("/")[2] in named}
        if named
        else set()
    )


def telling(text: str) -> list[str]:
    """The words of a question that tell what it is about, as it spells them; each once."""
    return list(dict.fromkeys(word for word in text.split() if _about(word)))


def spellings(text: str) -> list[str]:
    """What a text is about, as it spells it: words and parts of names."""
    return list(_words(text).values())


def stems(text: str) -> list[str]:
    """What a text is about: words without endings, parts of names."""
    return list(_words(text))


def shares_words(one: str, other: str) -> bool:
    """Whether two texts have a word in common that tells something."""
    return not _about(one).isdisjoint(_about(other))


def _about(text: str) -> set[str]:
    """What a text is about, with names of two letters (db, CI): where somebody asks, these count, too."""
    short = {word.casefold() for word in _WORD.findall(text) if len(word) == 2}
    return _words(text).keys() | short - _SHAPE.words("tiny")


def _words(text: str) -> dict[str, str]:
    """What a text is about: words without endings, parts of names, pairs of characters of wide scripts.

    Each with how the text spells it.
    """
    found: dict[str, str] = {}
    for word in _WORD.findall(text):
        if not word.isascii() and _WIDE.search(word):
            found |= {word[at : at + 2]: word[at : at + 2] for at in range(max(1, len(word) - 1))}
            continue
        for part in dict.fromkeys((word, *_PARTS.findall(word))):
            bare = _bare(part)
            if len(bare) > 2 and bare not in _SHAPE.words("common"):
                found.setdefault(bare, part.casefold())
    return found


def _bare(word: str) -> str:
    """A word without the ending that number or time gave it."""
    low = word.casefold()
    if low in _SHAPE.words("common"):
        return low
    for ending in ("ies", "ing", "es", "ed", "s"):
        if low.endswith(ending) and len(low) - len(ending) > 2 and not low.endswith("ss"):
            return low[: -len(ending)] + ("y" if ending == "ies" else "")
    return low.removesuffix("e") if len(low) > 3 else low


# ── files ────────────────────────────────────────────────────────────────────────────────────────


class _Files:
    """The files at hand, asked many times whether a path means one of them."""

    def __init__(self, files: Sequence[str]) -> None:
        files = [*map(one_spelling, files)]
        self._all = any(name in (".", "./") for name in files)
        self._split = [name.rstrip("/").split("/") for name in files]
        self._above = {"/".join(parts[:end]) for parts in self._split for end in range(1, len(parts) + 1)}
        self._beside = {"/".join(parts[:-1]) for parts in self._split}
        # A new folder is one name to git: what is written of a file in it is written of it.
        self._folders = tuple(name for name in files if name.endswith("/"))
        self._known: dict[str, bool] = {}

    def has(self, place: str) -> bool:
        """Whether a path, a folder or a pattern holds for a file at hand."""
        if place not in self._known:
            self._known[place] = self._looked(one_spelling(place.rstrip("/")))
        return self._known[place]

    def is_beside(self, paths: Sequence[str]) -> bool:
        """Whether a path lies in the folder of a file at hand."""
        return any("/" in path and path.rpartition("/")[0] in self._beside for path in paths)

    def _looked(self, place: str) -> bool:
        if self._all or place in ("", "."):
            return bool(self._split)
        if "*" not in place:
            return place in self._above or place.startswith(self._folders or ("\0",))
        return any(is_below(place.split("/"), parts) for parts in self._split)


def at_top(path: str, *, top: str) -> str | None:
    """A path as the repository spells it; None if it lies outside. Relative ones are meant from its top."""
    folder = path.endswith(("/", os.sep))
    top = os.path.realpath(top)
    named = on_disk(os.path.join(top, path).rstrip("/"))
    full = os.path.join(os.path.realpath(os.path.dirname(named)), os.path.basename(named))
    inside = os.path.relpath(full, top).replace(os.sep, "/")
    if inside == ".." or inside.startswith("../"):
        return None
    return f"{inside}/" if folder or os.path.isdir(full) else inside


def inside(path: str, *, top: str) -> str:
    """The same; refused if it lies outside."""
    found = at_top(path, top=top)
    if found is None:
        raise BadInput(f"{path} is not in this repository", hint="Name files of this project.")
    return found


def on_disk(path: str) -> str:
    """A path as the disk spells it, if it is there in another Unicode form; else as it is."""
    if path.isascii() or os.path.lexists(path):
        return path
    folder, name = os.path.split(path)
    folder, wanted = on_disk(folder), one_spelling(name)
    try:
        there = os.listdir(folder)
    except OSError:
        return path
    return os.path.join(folder, next((one for one in there if one_spelling(one) == wanted), name))


def rests_on(known: Iterable[KnownMemory], told: Iterable[KnownMemory], more: Mapping[str, str]) -> dict[str, str]:
    """Which memories others name, by id, and who names them first; `more` are other texts by their ids."""
    ids = {one.id for one in known}
    texts = [(one.id, f"{one.statement} {one.why}") for one in told]
    found: dict[str, str] = {}
    for name, text in [*texts, *more.items()]:
        for word in re.findall(r"[A-Za-z0-9][\w.-]*[A-Za-z0-9]", text):
            if word in ids and word != name:
                found.setdefault(word, name)
    return found
