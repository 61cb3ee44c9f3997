"""Other people's words on one line: short, without their headings and lists, harmless in Markdown.

It also finds what an agent itself says is not done: its next steps, its questions, what it could not do.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, takewhile

from holdfast.patterns import PatternFile

_PATTERNS = PatternFile(__file__)

MAX_READ = 8_000  # characters of a text that are looked at


def one_line(text: str) -> str:
    """Text on one line."""
    return " ".join(text.split())


def cut(text: str, limit: int) -> str:
    """The beginning of a text, up to a whole word where there is one."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    space = head.rfind(" ", limit * 2 // 3)
    return (head if space < 0 else head[:space]).rstrip(" ,;:") + "…"


def bare(line: str) -> str:
    """A line without what makes it a heading, an item or a quote, without bold, and without links to files."""
    return _PATTERNS.lead.sub("", _PATTERNS.bold.sub(r"\1\2\3", _PATTERNS.file_link.sub(r"\1", one_line(line))))


def told_lines(text: str) -> list[str]:
    """The lines of a text that say something: no code blocks or rules, and of a table its rows."""
    kept = _PATTERNS.announced.sub(" ", _PATTERNS.table_head.sub("", without_code(prose(text)[:MAX_READ])))
    said, title = [], ""
    for row in kept.splitlines():
        line = bare(_PATTERNS.table_row.sub(_cells, row))
        if _PATTERNS.title.match(row):
            title = "" if _PATTERNS.plain_title.match(line) else f"{line.rstrip(':')}: "
        elif any(map(str.isalnum, line)) and not _PATTERNS.frame.match(line):
            said.append(title + line)
            title = ""
    return said


def _cells(row: re.Match[str]) -> str:
    return " — ".join(filter(None, map(str.strip, row["cells"].split("|"))))


def without_code(text: str) -> str:
    """A text without its blocks of code."""
    return _PATTERNS.fenced.sub("\n", text)


def prose(text: str) -> str:
    """A text that is data for a program as lines, a name and its words each; any other as it is."""
    told = _PATTERNS.named_words.findall(text) if text.lstrip().startswith("{") else ()
    return "\n".join(f"{name.replace('_', ' ')}: {json.loads(words) or 'none'}" for name, words in told) or text


def beginning(text: str, limit: int) -> str:
    """The first sentences of a text, as many as fit."""
    words = one_line(text[: limit * 4])
    if len(words) <= limit:
        return words
    ends = [found.end() for found in _PATTERNS.sentence.finditer(words[: limit + 1])]
    return words[: ends[-1]] if ends and ends[-1] >= limit // 4 else cut(words, limit)


def gist(text: str, limit: int) -> str:
    """How a text begins, its paragraphs on one line."""
    told = " ".join(line if line[-1] in ".!?:;,…。！？" else f"{line}." for line in told_lines(text)[:12])
    return beginning(told or one_line(text[:MAX_READ]), limit)


def sentences(line: str) -> list[str]:
    """The sentences of one line."""
    ends = [0, *(found.end() for found in _PATTERNS.sentence.finditer(line)), len(line)]
    return [one for start, end in pairwise(ends) if (one := line[start:end].strip())]


def code(text: str) -> str:
    """Text as code within a line, whatever quotes it holds itself."""
    fence = "`" * (1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def safe(text: str) -> str:
    """A line in which nothing is live Markdown but code: no HTML, no link, no image, no heading."""
    words = one_line(text)
    words = words if words[:1].isalnum() else _PATTERNS.lead.sub("", words).lstrip("#>*+-= ") or words.strip("#>*+-= ")
    if "``" in words or "\\`" in words:  # where code begins is then anybody's guess
        return _PATTERNS.live.sub(r"\\\g<0>", words)
    parts = _PATTERNS.code.split(words)
    return "".join(part if at % 2 else _PATTERNS.live.sub(r"\\\g<0>", part) for at, part in enumerate(parts))


def count(number: int, what: str) -> str:
    """A number of things."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


MOST, LIMIT = 8, 240  # lines and characters; guesses: it is read at a glance
_LAST = 3_000  # characters at the end of an answer in which it says what is not done
_SAME = 60  # characters by which an item of a list is known again
_END = 6  # lines at the end of an answer in which it asks the person


def unfinished(answer: str) -> list[str]:
    """What the end of an answer leaves to do or to answer, in its own words, at most MOST lines."""
    # Items under a heading that says they are not done, then sentences that say so.
    listed = [item for _, _, item in _parted(answer) if len(item) > 3]
    known: set[str] = set()
    kept = []
    for one in (*listed, *_sentences(answer)):
        key = one.casefold().rstrip(".:")
        if key not in known and not any(key in other for other in known):
            known.add(key)
            kept.append(cut(one, LIMIT))
    return kept[:MOST]


def beyond(said: Iterable[str], planned: Iterable[str]) -> list[str]:
    """What is said, each matter once, without what a plan says already, however it is put."""
    known = [_matter(text) for text in planned]
    kept = []
    for one in said:
        matter = _matter(one)
        if not any(matter <= other or (other <= matter and len(matter - other) <= 1) for other in known):
            known.append(matter)
            kept.append(one)
    return kept


def _matter(text: str) -> frozenset[str]:
    """The words that say what is to be done, without those that say that it is."""
    words = re.findall(r"[^\W_]+(?:[./_-][^\W_]+)*", text.casefold())
    return frozenset(word for word in words if not _PATTERNS.says_so.fullmatch(word)) or frozenset(words)


def questions(answer: str) -> list[str]:
    """What the last lines of an answer ask the person."""
    told = told_lines(answer[-_LAST:])[-_END:]
    asked = [one for line in told for one in sentences(line) if one.rstrip("\"'*` ").endswith("?")]
    return [cut(one, LIMIT) for one in asked if len(one) > 12 and not _PATTERNS.offer.match(one)][-3:]


def options(answer: str) -> list[str]:
    """The choice that the end of an answer leaves to the person, on one line."""
    found = _PATTERNS.options.search(without_code(answer)[-_LAST:])
    if found is None or len(told_lines(found.string[found.end() :])) > _END:
        return []
    items = [bare(line) for line in found["items"].splitlines() if _PATTERNS.item.match(line)]
    return [cut(f"Options: {' / '.join(items)}", 2 * LIMIT)] if len(items) > 1 else []


def without_open(answer: str) -> str:
    """An answer without the lists that say what is not done, or what there is to choose from."""
    rest = "\n".join(line for line, is_open, _ in _parted(answer) if not is_open)
    return _PATTERNS.options.sub("\n", rest) if options(answer) else rest


def _parted(answer: str) -> Iterator[tuple[str, bool, str]]:
    """Each line, whether it belongs to such a list, and the item it is."""
    under, answer = False, prose(answer)
    whole = answer if len(answer) <= MAX_READ else answer[-MAX_READ:].partition("\n")[2]  # from a whole line on
    for line in without_code(whole).splitlines():
        plain = bare(line)
        heading = _PATTERNS.heading.match(plain)
        if heading and (heading["rest"] or _PATTERNS.ending_title.match(line)):
            rest = heading["rest"].lstrip(": ").strip()
            under = not rest
            yield line, True, "" if _PATTERNS.nothing.match(rest) else rest
        elif under and (_PATTERNS.item.match(line) or _PATTERNS.nothing.match(plain)):
            yield line, True, "" if _PATTERNS.checked.match(line) or _PATTERNS.nothing.match(plain) else plain
        else:
            under = under and (not plain or (line[:1].isspace() and not _PATTERNS.ending_title.match(line)))
            yield line, False, ""


def _sentences(answer: str) -> list[str]:
    """Sentences that say that something is not done; only of what is said to the person, first and at the end."""
    told = dict.fromkeys([*told_lines(answer)[:1], *told_lines(answer[-_LAST:])[-4:]])
    own = [line for line in told if not _PATTERNS.heading.match(line) and not _PATTERNS.nothing.match(line)]
    said = [one for line in own for one in sentences(line)]
    return [one for one in said if is_open(one) and one[-1] not in "?:"]


def is_open(sentence: str) -> bool:
    """Whether a sentence says that something is not done."""
    return _PATTERNS.not_done.search(sentence) is not None


def concluded(answer: str, limit: int = 240, *, achieved: bool = False) -> str:
    """What an answer says, without its cheers and announcements; `achieved`: from what it says was done."""
    told = statements(answer)
    if not achieved:
        return best(told, limit)
    results = [at for at, one in enumerate(told) if not _is_idle(one) or _PATTERNS.did.match(one)]
    first = next((at for at in results if _PATTERNS.did.match(told[at])), results[0] if results else len(told))
    rest = [told[at] for at in takewhile(results.__contains__, range(first, len(told)))]
    # What an item is an item of; what is left out leaves a mark.
    lead = next((at for at in range(first - 1, max(0, first - 6) - 1, -1) if told[at].endswith(":")), first)
    between = [] if lead == first else [told[lead], *(["…"] if lead < first - 1 else [])]
    return beginning(" ".join([*between, *rest]), limit)


def _is_idle(sentence: str) -> bool:
    """Whether a sentence asks, only tells of checks, or says what is not done."""
    return sentence[-1] == "?" or _PATTERNS.only_checks.match(sentence) is not None or is_open(sentence)


def statements(text: str) -> list[str]:
    """The sentences of a text that say something, without those that only announce others."""
    said = [one for line in told_lines(text)[:60] for one in sentences(line)][:200]
    told = [one if one[-1] in ".!?:;,…。！？)\"'" else f"{one}." for one in said if not _PATTERNS.empty.match(one)]
    return told[: max((at for at, one in enumerate(told, 1) if not one.endswith(":")), default=0)]


def best(told: Sequence[str], limit: int) -> str:
    """The sentences that fit, in their order: the first two, then those with reasons and results, then long ones.

    What stands under "One of these is true:" is not told without it, and what is left out leaves a mark.
    """
    if sum(map(len, told)) + len(told) <= limit or len(told) < 2:
        return beginning(" ".join(told), limit)
    reasons = [at for at, one in enumerate(told) if len(one) > 24 and _PATTERNS.telling.search(one)]
    kept: set[int] = set()
    for at in dict.fromkeys([0, 1, *reasons, *(at for at, one in enumerate(told) if len(one) > 60)]):
        lead = max((before for before in range(at) if told[before].endswith(":")), default=at)
        size = sum(len(told[one]) + 3 for one in {lead, at} - kept)
        if size < limit:
            limit -= size
            kept |= {lead, at}
    marked = (("" if at == 0 or at - 1 in kept else "… ") + told[at] for at in sorted(kept))
    return " ".join(marked) or cut(told[0], limit)


def at_length(answer: str) -> list[str]:
    """The lines of the last answer, as many as a reader needs."""
    # A line may begin with the next step ("Let me check."): the rest of it is kept.
    parts = (sentences(line) if _PATTERNS.empty.match(line) else [line] for line in told_lines(answer))
    told = list(filter(None, (" ".join(one for one in part if not _PATTERNS.empty.match(one)) for part in parts)))
    return [cut(line, 420) for line in (told if len(told) <= 16 else [*told[:11], "…", *told[-4:]])]


def is_empty(sentence: str) -> bool:
    """Whether a sentence only cheers, or says that something is about to be said or done."""
    return _PATTERNS.empty.match(sentence) is not None


def says_done(text: str) -> bool:
    """Whether a sentence of a text says what was done."""
    return any(map(_PATTERNS.did.match, statements(text)))


def is_item(answer: str, said: str) -> bool:
    """Whether the sentence chosen from an answer begins with an item of a list or a row of a table in it."""
    items = [one for line in answer.splitlines() if _is_listed(line) for one in told_lines(line)[:1]]
    return any(said.startswith(one[:_SAME]) for one in items)


def _is_listed(line: str) -> bool:
    return bool(_PATTERNS.item.match(line) or _PATTERNS.table_row.match(line))


def opening(answer: str, limit: int) -> str:
    """What an answer says first in sentences outside of lists and titles, without what only cheers, checks or asks."""
    lines = (line for line in answer.splitlines() if not _is_listed(line) and not _PATTERNS.ending_title.match(line))
    said = "\n".join(lines)
    told = [one for one in statements(said) if not _is_idle(one) and one[-1] != ":"]
    return beginning(" ".join(told[:2]), limit)


def request_title(prompt: str) -> str:
    """The title of a plan or a page that a request holds, if it begins with one."""
    found = _PATTERNS.request_title.match(prompt[:MAX_READ])
    return bare(found[1]) if found else ""
