"""Selects the memories that apply to the current work, by its files and the words of its task.

A memory applies if it names a current file (by path, folder or a pattern with `*` and `**`), if it cites one as
evidence, if it is about a file that the task's words likely mean, if its own words, names and paths match the task's,
or if it is about a file that the branch changed. Only a memory that a person marked as general, with the path `**`,
applies everywhere: a memory without any scope is shown where its words match. This module only compares values; the
caller decides which memories to pass in.
"""

import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from holdfast.errors import BadInput
from holdfast.patterns import PatternFile, regex
from holdfast.recall.path_patterns import is_below, one_spelling
from holdfast.values import frozen, grouped

FILES, CITED, TASK, EVERYWHERE, BRANCH = range(5)  # how closely a memory matches the work: the closest first
GENERAL = "**"  # the path that marks a memory as general
MAX_FILES = 500  # current files that are compared; a guess: a rename of everything must not cost seconds
MOST_OF_BRANCH = 50  # changed files of a branch; a guess: more than that say nothing about one task
MOST_BY_WORDS = 6  # memories selected by words alone; a guess: words match by chance more often than files
MOST_LIKELY = 6  # memories of likely files; docs/explanation/ranking.md measures contexts with six
LIKELY = 0.2  # the least chance that a file is meant: then three of five of its memories are relevant (ranking.md)
MOST_UNASKED = 8  # memories shown where the work is unknown; a guess: a few lines of context
_FEW = 20  # up to so many memories, one shared word is enough; among more it must be rare. A guess
_COMMON_TO = 5  # of these few may share the word; a guess: a quarter of them
_ENOUGH, _ENOUGH_BESIDE_FILES = 1.2, 1.8  # times the weight of a unique word; tuned on two repositories (ranking.md)
_LEAST_OF_BEST = 0.5  # of the best score; below it a memory is about something else (tuned on the same two)
_WORD = regex(r"[^\W_]+")
_PARTS = regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_WIDE = regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")  # scripts that put no space between words
_SHAPE = PatternFile(__file__)


@frozen(kw_only=True)
class KnownMemory:
    """A memory with the text and revision that a context shows."""

    id: str
    type: str
    statement: str
    why: str = ""  # its rationale, or what to do instead
    blob: str | None = None
    applies_to: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    confidence: float | None = None
    source: str | None = None
    updated: str = ""  # time of the last decision about it
    doubt: str = ""  # a warning that the reader must see
    cites: tuple[str, ...] = ()  # files in its evidence
    names: tuple[str, ...] = ()  # symbols in its evidence
    against: tuple[str, ...] = ()  # approved memories that it contradicts; nobody has decided between them

    @property
    def is_general(self) -> bool:
        """Whether a person marked the memory as valid everywhere."""
        return GENERAL in self.applies_to


@frozen
class WorkAtHand:
    """The work that a context is for: its files, and the words of its task."""

    files: tuple[str, ...] = ()
    words: str = ""
    tasks: tuple[str, ...] = ()  # ids of the tasks that the words come from
    changed: tuple[str, ...] = ()  # files that this branch changed
    likely: Mapping[str, float] | None = None  # files that the words may mean, with probabilities; None: not computed
    is_guess: bool = False  # nobody named the work: it is derived from changed files and started tasks


@frozen
class ApplicableMemory:
    """A memory that applies to the current work, and the reason."""

    known: KnownMemory
    near: int  # from FILES to BRANCH
    why: str
    fit: float = 0.0  # how well it matches the task's words


def ordered(found: Iterable[ApplicableMemory]) -> list[ApplicableMemory]:
    """Sorts by closeness, then by match with the words, confidence and age (newest first); ties by id."""
    there = sorted(found, key=lambda one: one.known.id)
    there.sort(key=lambda one: one.known.updated, reverse=True)
    there.sort(key=lambda one: (one.near, -one.fit, -(one.known.confidence or 0.0)))
    return there


def applicable(known: Iterable[KnownMemory], hand: WorkAtHand) -> list[ApplicableMemory]:
    """Returns the memories that apply to the work, most important first; if the work is unknown, the newest few."""
    memories = list(known)
    files = _Files([*hand.files[:MAX_FILES], *_named_files(hand.words, memories)])
    branch = _Files(hand.changed if len(hand.changed) <= MOST_OF_BRANCH else ())
    found = [_match_by_path(one, files, branch) for one in memories]
    if not (hand.files or hand.words.strip() or hand.changed):
        rest = [one for one in memories if not one.applies_to]
        newest = sorted(rest, key=lambda one: (one.updated, one.id), reverse=True)[:MOST_UNASKED]
        return ordered([*filter(None, found), *(ApplicableMemory(one, EVERYWHERE, "newest") for one in newest)])
    fits = _word_matches(memories, hand.words)
    best = max((fit.score for fit in fits.values()), default=0.0)
    least = max(_word_threshold(len(memories), beside_files=bool(hand.files)), best * _LEAST_OF_BEST)
    likely = hand.likely or {}
    meant = _Files([path for path, chance in likely.items() if chance >= LIKELY])
    by_files: list[tuple[float, ApplicableMemory]] = []
    by_words: list[ApplicableMemory] = []
    for at, (known_one, one) in enumerate(zip(memories, found, strict=True)):
        fit = fits.get(at, _NO_FIT)
        if one is not None:
            found[at] = ApplicableMemory(one.known, one.near, one.why, fit.score)
        elif path := next(filter(meant.has, (*known_one.applies_to, *known_one.cites)), None):
            match = ApplicableMemory(known_one, TASK, f"likely {path}", fit.score)
            by_files.append((likely.get(path, LIKELY), match))
        elif fit.score >= (least / 2 if files.is_beside(known_one.cites) else least) and (
            # A memory that cites other files shares a word by chance in four of five cases.
            hand.likely is None or len(memories) < _FEW or not known_one.cites or likely.keys() & set(known_one.cites)
        ):
            by_words.append(ApplicableMemory(known_one, TASK, f"mentions {fit.word}", fit.score))
    by_files.sort(key=lambda pair: (-pair[0], -pair[1].fit, pair[1].known.id))
    some = [*ordered(by_words)[:MOST_BY_WORDS], *(one for _, one in by_files[:MOST_LIKELY])]
    if hand.is_guess:
        some += _without_paths(memories, {one.known.id for one in (*filter(None, found), *some)})
    return ordered([*filter(None, found), *some])


class MemoriesByPlace:
    """Memories by the places that they name and cite: those about one file are found without comparing all."""

    def __init__(self, known: Iterable[KnownMemory]) -> None:
        self._all = tuple(known)
        places = [(_spot(place), one) for one in self._all for place in dict.fromkeys((*one.applies_to, *one.cites))]
        self._at = grouped((spot, one) for spot, one in places if spot and "*" not in spot)
        self._wide = grouped((spot, one) for spot, one in places if not spot or "*" in spot)  # the top, and patterns

    def about(self, path: str) -> list[ApplicableMemory]:
        """Returns the memories that apply to a file, or everywhere, in no order."""
        files, nothing = _Files((path,)), _Files(())
        spots = filter(files.has, self._wide)
        there = [one for spot in spots for one in self._wide[spot]]
        there += [one for spot in files.above for one in self._at.get(spot, ())] if files.is_one else self._all
        some = {one.id: one for one in there}
        return list(filter(None, (_match_by_path(one, files, nothing) for one in some.values())))


def _without_paths(known: Iterable[KnownMemory], shown_ids: set[str]) -> list[ApplicableMemory]:
    """Returns the newest memories that name and cite no path: no changed file can select them."""
    rest = [one for one in known if not (one.applies_to or one.cites or one.id in shown_ids)]
    newest = sorted(rest, key=lambda one: (one.updated, one.id), reverse=True)[:MOST_UNASKED]
    return [ApplicableMemory(one, EVERYWHERE, "names no place") for one in newest]


def _word_threshold(total: int, *, beside_files: bool) -> float:
    """Returns the least score of a memory that only words select; it is higher where current files are known."""
    if total < _FEW:
        return _weight(min(total, _COMMON_TO), total)
    return _weight(1, total) * (_ENOUGH_BESIDE_FILES if beside_files else _ENOUGH)


def _match_by_path(one: KnownMemory, files: "_Files", branch: "_Files") -> ApplicableMemory | None:
    """Returns how a memory applies by the paths it names and cites; None if it does not."""
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
    word: str  # the most specific shared word, as the task spells it


_NO_FIT = _Fit(0.0, "")


def _word_matches(known: Sequence[KnownMemory], task_words: str) -> dict[int, _Fit]:
    """Returns the word matches of memories by position; the fewer memories share a word, the more it counts."""
    wanted = _stems(task_words)
    if not wanted:
        return {}
    # Most memories share no word with a task, and one search is far cheaper than splitting each into words.
    some = re.compile("|".join(re.escape(word[:-1] if word[-1] == "y" else word) for word in wanted))
    spelled = {word for word in re.findall(r"\w+", task_words) if _is_name(word)}
    shared: dict[int, set[str]] = {}
    for at, one in enumerate(known):
        places = " ".join(path.rpartition(".")[0] or path for path in (*one.cites, *one.applies_to))
        text = f"{one.statement} {' '.join((*one.tags, *one.names))} {places} {one.why}"
        if some.search(text.casefold()) and (words := _stems(text).keys() & wanted.keys()):
            shared[at] = words
    often = Counter(word for words in shared.values() for word in words)
    weights, top = {word: _weight(count, len(known)) for word, count in often.items()}, _weight(1, len(known))
    fits = {}
    for at, words in shared.items():
        is_meant = words == wanted.keys() or not _names(known[at]).isdisjoint(spelled)  # all words, or its symbol
        score = sum(weights[word] for word in words) + (top if is_meant else 0.0)
        fits[at] = _Fit(score, wanted[max(words, key=lambda word: (weights[word], len(word), word))])
    return fits


def _names(one: KnownMemory) -> set[str]:
    """Returns the last parts of the symbols that a memory cites."""
    return {re.split(r"[.:#]+", name)[-1] for name in one.names}


def _is_name(word: str) -> bool:
    """Whether a word is spelled like a name in code: with an underscore or in camel case."""
    return "_" in word.strip("_") or bool(re.search(r"[a-z][A-Z]", word))


def _weight(having: int, total: int) -> float:
    """Returns the weight of a word that `having` of all memories contain (as in BM25)."""
    return math.log(1 + max(0.0, total - having + 0.5) / (having + 0.5))


def _named_files(task_words: str, known: Sequence[KnownMemory]) -> set[str]:
    """Returns the cited files that a task names, by path or file name."""
    named = {word.rstrip(".") for word in re.findall(r"[\w./-]+\.\w+", task_words)}
    return (
        {path for one in known for path in one.cites if path in named or path.rpartition("/")[2] in named}
        if named
        else set()
    )


def telling(text: str) -> list[str]:
    """Returns the specific words of a question, as it spells them, each once."""
    return list(dict.fromkeys(word for word in text.split() if _question_stems(word)))


def spellings(text: str) -> list[str]:
    """Returns the specific words and parts of names of a text, as it spells them."""
    return list(_stems(text).values())


def stems(text: str) -> list[str]:
    """Returns the specific words of a text without endings, and parts of names."""
    return list(_stems(text))


def shares_words(one: str, other: str) -> bool:
    """Whether two texts share a specific word."""
    return not _question_stems(one).isdisjoint(_question_stems(other))


def _question_stems(text: str) -> set[str]:
    """Returns the stems of a text, with names of two letters (db, CI), which count in a question."""
    short = {word.casefold() for word in _WORD.findall(text) if len(word) == 2}
    return _stems(text).keys() | short - _SHAPE.words("tiny")


def _stems(text: str) -> dict[str, str]:
    """Returns the stems of a text with their spelling: words, parts of names, pairs of wide characters."""
    found: dict[str, str] = {}
    for word in _WORD.findall(text):
        if not word.isascii() and _WIDE.search(word):
            found |= {word[at : at + 2]: word[at : at + 2] for at in range(max(1, len(word) - 1))}
            continue
        for part in dict.fromkeys((word, *_PARTS.findall(word))):
            bare = _stem(part)
            if len(bare) > 2 and bare not in _SHAPE.words("common"):
                found.setdefault(bare, part.casefold())
    return found


def _stem(word: str) -> str:
    """Returns a word without its ending for number or tense."""
    low = word.casefold()
    if low in _SHAPE.words("common"):
        return low
    for ending in ("ies", "ing", "es", "ed", "s"):
        if low.endswith(ending) and len(low) - len(ending) > 2 and not low.endswith("ss"):
            return low[: -len(ending)] + ("y" if ending == "ies" else "")
    return low.removesuffix("e") if len(low) > 3 else low


# ── files ────────────────────────────────────────────────────────────────────────────────────────


class _Files:
    """The current files, asked many times whether a path means one of them."""

    def __init__(self, files: Sequence[str]) -> None:
        files = [*map(one_spelling, files)]
        self._all = any(name in (".", "./") for name in files)
        self._split = [name.rstrip("/").split("/") for name in files]
        self.above = {"/".join(parts[:end]) for parts in self._split for end in range(1, len(parts) + 1)}
        self._beside = {"/".join(parts[:-1]) for parts in self._split}
        # Git lists a new folder as one name: a memory about a file in it applies.
        self._folders = tuple(name for name in files if name.endswith("/"))
        self._known: dict[str, bool] = {}

    def has(self, place: str) -> bool:
        """Whether a path, a folder or a pattern matches a current file."""
        if place not in self._known:
            self._known[place] = self._matches(_spot(place))
        return self._known[place]

    @property
    def is_one(self) -> bool:
        """Whether this is one file, and no folder."""
        return len(self._split) == 1 and not (self._all or self._folders)

    def is_beside(self, paths: Sequence[str]) -> bool:
        """Whether one of the paths lies in the folder of a current file."""
        return any("/" in path and path.rpartition("/")[0] in self._beside for path in paths)

    def _matches(self, place: str) -> bool:
        if self._all or not place:
            return bool(self._split)
        if "*" not in place:
            return place in self.above or place.startswith(self._folders or ("\0",))
        return any(is_below(place.split("/"), parts) for parts in self._split)


def _spot(place: str) -> str:
    """Returns the one spelling of a place; empty is the top of the repository."""
    spot = one_spelling(place.rstrip("/"))
    return "" if spot == "." else spot


def at_top(path: str, *, top: str) -> str | None:
    """Returns a path relative to the repository's top; None if it lies outside. Relative paths start at the top."""
    folder = path.endswith(("/", os.sep))
    top = os.path.realpath(top)
    named = on_disk(os.path.join(top, path).rstrip("/"))
    full = os.path.join(os.path.realpath(os.path.dirname(named)), os.path.basename(named))
    inside = os.path.relpath(full, top).replace(os.sep, "/")
    if inside == ".." or inside.startswith("../"):
        return None
    return f"{inside}/" if folder or os.path.isdir(full) else inside


def inside(path: str, *, top: str) -> str:
    """Returns the same; refuses a path outside the repository."""
    found = at_top(path, top=top)
    if found is None:
        raise BadInput(f"{path} is not in this repository", hint="Name files of this project.")
    return found


def on_disk(path: str) -> str:
    """Returns a path as the disk spells it, if it exists in another Unicode form; else unchanged."""
    if path.isascii() or os.path.lexists(path):
        return path
    folder, name = os.path.split(path)
    folder, wanted = on_disk(folder), one_spelling(name)
    try:
        there = os.listdir(folder)
    except OSError:
        return path
    return os.path.join(folder, next((one for one in there if one_spelling(one) == wanted), name))


def rests_on(known: Iterable[KnownMemory], naming: Iterable[KnownMemory], more: Mapping[str, str]) -> dict[str, str]:
    """Returns the ids of memories that other texts name, each with the first such text; `more`: texts by id."""
    ids = {one.id for one in known}
    texts = [(one.id, f"{one.statement} {one.why}") for one in naming]
    found: dict[str, str] = {}
    for name, text in [*texts, *more.items()]:
        for word in re.findall(r"[A-Za-z0-9][\w.-]*[A-Za-z0-9]", text):
            if word in ids and word != name:
                found.setdefault(word, name)
    return found
