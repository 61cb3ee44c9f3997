"""Other people's words on one line: short, without their headings and lists, harmless in Markdown."""

import re

from holdfast.patterns import regex

_FENCED = regex(r"^[ \t]*(?:```|~~~).*?^[ \t]*(?:```|~~~)[ \t]*$|^[ \t]*(?:```|~~~).*\Z", re.M | re.S)
_LEAD = regex(r"^(?:\s*(?:#+(?=\s)|>|[*+\-](?=\s)|[|•·▪●✅✓☑✔❌→]|\d{1,3}[.)](?=\s)|\[[ xX]\](?=\s)))+\s*")
_TITLE = regex(r"^\s*(?:#{1,6}\s+\S+(?:\s+\S+){0,2}|\*\*[^*]{1,30}\*\*:?)\s*$")  # names a part, says nothing
_BOLD = regex(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_SENTENCE = regex(r"[.!?](?=[\"')\]`*]*\s)[\"')\]`*]*|[。！？]")
_TABLE = regex(r"^\s*\|.*\|\s*$")
_RULE = regex(r"^[\s\-=_*|:+]*$")
_CODE = regex(r"(`[^`\n]+`)")
_LIVE = regex(r"<(?=[A-Za-z/!?])|(?<=\])\(|(?<=!)\[|(?<=\])\[|(?<=\]):")
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
    """A line without what makes it a heading, an item or a quote, and without bold."""
    return _BOLD.sub(r"\2", one_line(_LEAD.sub("", line)))


def told_lines(text: str) -> list[str]:
    """The lines of a text that say something: no code blocks, tables or rules."""
    kept = without_code(text[:MAX_READ])
    said = (line for line in kept.splitlines() if not (_TABLE.match(line) or _RULE.match(line)))
    plain = (bare(line) for line in said if not _TITLE.match(line))
    return [line for line in plain if any(map(str.isalnum, line))]


def without_code(text: str) -> str:
    """A text without its blocks of code."""
    return _FENCED.sub("\n", text)


def beginning(text: str, limit: int) -> str:
    """The first sentences of a text, as many as fit."""
    words = one_line(text[: limit * 4])
    if len(words) <= limit:
        return words
    ends = [found.end() for found in _SENTENCE.finditer(words[: limit + 1])]
    return words[: ends[-1]] if ends and ends[-1] >= limit // 4 else cut(words, limit)


def gist(text: str, limit: int) -> str:
    """How a text begins, its paragraphs on one line."""
    told = " ".join(_ended(line) for line in told_lines(text)[:12])
    return beginning(told or one_line(text[:MAX_READ]), limit)


def sentences(line: str) -> list[str]:
    """The sentences of one line."""
    found, at = [], 0
    for end in _SENTENCE.finditer(line):
        found.append(line[at : end.end()].strip())
        at = end.end()
    return [one for one in (*found, line[at:].strip()) if one]


def code(text: str) -> str:
    """Text as code within a line, whatever quotes it holds itself."""
    held = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (held + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def safe(text: str) -> str:
    """A line in which nothing is live Markdown but code: no HTML, no link, no image, no heading."""
    words = one_line(text)
    words = words if words[:1].isalnum() else _LEAD.sub("", words).lstrip("#>*+-= ") or words.strip("#>*+-= ")
    if "``" in words or "\\`" in words:  # where code begins is then anybody's guess
        return _LIVE.sub(r"\\\g<0>", words)
    parts = _CODE.split(words)
    return "".join(part if at % 2 else _LIVE.sub(r"\\\g<0>", part) for at, part in enumerate(parts))


def count(number: int, what: str) -> str:
    """A number of things."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _ended(line: str) -> str:
    return line if line[-1] in ".!?:;,…。" else f"{line}."
