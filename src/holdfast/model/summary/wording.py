"""Other people's words on one line: short, without their headings and lists, harmless in Markdown.

It also finds what an agent itself says is not done: its next steps, its questions, what it could not do.
"""

import re
from collections.abc import Iterable, Iterator

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


MOST, LIMIT = 8, 240
_LAST = 3_000  # characters at the end of an answer in which it says what is not done
_HEADING = regex(
    r"^(?:what(?:'s| is) (?:left|next|missing)|(?:suggested |recommended |possible |the )?next steps?"
    r"|remaining(?: \w+){0,3}|still (?:to do|open|missing|failing)|to-?dos?|left (?:to do|open|undone)"
    r"|not (?:yet )?(?:done|implemented|tested|covered)|follow[- ]?ups?(?: \w+)?"
    r"|open (?:questions?|items?|points?|issues?|tasks?)|outstanding(?: \w+)?"
    r"|known (?:issues?|limitations?|gaps?)|questions?(?: for you)?|you (?:still )?(?:need|have) to"
    r"|before (?:merging|you merge)|unfinished(?: \w+)?|action(?:s| items)?(?: required)?)"
    r"\s*(?:\([^)]*\)\s*)?(?P<rest>:.*|$)",
    re.I,
)
_ITEM = regex(r"^\s*(?:[-*+•▪]|\d{1,3}[.)]|\[[ xX]\])\s+")
_ENDING_TITLE = regex(r"^\s*(?:#{1,6}\s|\*\*[^*]+\*\*:?\s*$|__[^_]+__:?\s*$)")
_CHECKED = regex(r"^\s*(?:[-*+]\s*)?\[[xX]\]|^\s*[-*+]?\s*(?:✅|✓|☑|✔)")
_NOT_DONE = regex(
    r"\b(?:(?:have|has|had|was|were|did|is|are|am|do|does|could)(?: not|n['’]t) "
    r"(?:yet |been |able |fully |actually )*(?:run|ran|test|tested|verif\w+|implement\w*|done|commit\w*"
    r"|push\w*|cover\w*|touch\w*|chang\w+|add\w*|find|found|reproduce\w*|fix\w*|finish\w*|handle\w*|updat\w+"
    r"|access\w*|install\w*|to)"
    r"|still (?:need|fail|open|miss|to (?:be )?|ha(?:s|ve) to|broken|pending|unclear)\w*"
    r"|remain(?:s|ing)? (?:to|open|un\w+|work|is|are)|left (?:to do|undone|open|out|for later)|unable to"
    r"|todo\b|next step|follow[- ]up|out of scope|for (?:now|later)\b"
    r"|you(?:'ll| will|’ll)? (?:still )?(?:need|have|want) to"
    r"|needs? (?:your|a decision|manual|review|another)|blocked (?:by|on)|not yet\b|waiting (?:for|on))",
    re.I,
)
_OFFER = regex(
    r"^(?:(?:is|are) there anything|anything else|what else|how (?:else )?can i|let me know|feel free"
    r"|what would you like|what (?:should|shall|can|do) (?:we|i|you).*\bnext\b|shall i continue|ready for)",
    re.I,
)

_SAYS_SO = regex(  # words that say that something is to be done, not what
    r"an?|the|and|also|only|it|that|this|there|i|we|you|is|are|was|be|been|being|do|does|done|have|has|will"
    r"|would|should|must|to|of|for|on|in|left|open|still|remain(?:s|ing)?|pending|planned|todo|next|steps?"
    r"|later|now|yet|not|needs?|follow|up|outstanding"
)


def unfinished(answer: str) -> list[str]:
    """What the end of an answer leaves to do or to answer, in its own words, at most MOST lines."""
    found = [*_listed(answer), *_sentences(answer)]
    known: set[str] = set()
    kept = []
    for one in found:
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
        if not any(_same(matter, other) for other in known):
            known.append(matter)
            kept.append(one)
    return kept


def _matter(text: str) -> frozenset[str]:
    """The words that say what is to be done, without those that say that it is."""
    words = re.findall(r"[^\W_]+(?:[./_-][^\W_]+)*", text.casefold())
    return frozenset(word for word in words if not _SAYS_SO.fullmatch(word)) or frozenset(words)


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    return one <= other or (other <= one and len(one - other) <= 1)


def questions(answer: str) -> list[str]:
    """What the last lines of an answer ask the person."""
    told = told_lines(answer[-_LAST:])[-6:]
    asked = [one for line in told for one in sentences(line) if one.rstrip("\"')*` ").endswith("?")]
    return [cut(one, LIMIT) for one in asked if len(one) > 12 and not _OFFER.match(one)][-3:]


def without_open(answer: str) -> str:
    """An answer without the lists that say what is not done."""
    parted = _parted(without_code(answer[-MAX_READ:]))
    return "\n".join(line for line, is_open, _ in parted if not is_open)


def _listed(answer: str) -> list[str]:
    """Items under a heading that says they are not done."""
    return [item for _, _, item in _parted(without_code(answer[-MAX_READ:])) if len(item) > 3]


def _parted(answer: str) -> Iterator[tuple[str, bool, str]]:
    """Each line, whether it belongs to such a list, and the item it is."""
    under = False
    for line in answer.splitlines():
        plain = bare(line)
        heading = _HEADING.match(plain)
        if heading and (heading["rest"] or _ENDING_TITLE.match(line)):
            rest = heading["rest"].lstrip(": ").strip()
            under = not rest
            yield line, True, rest
        elif under and _ITEM.match(line):
            yield line, True, "" if _CHECKED.match(line) else plain
        else:
            under = under and (not plain or (line[:1].isspace() and not _ENDING_TITLE.match(line)))
            yield line, False, ""


def _sentences(answer: str) -> list[str]:
    """Sentences that say that something is not done; only of what is said to the person, at the end."""
    told = told_lines(answer[-_LAST:])[-12:]
    said = [one for line in told if not _HEADING.match(line) for one in sentences(line)]
    return [one for one in said if _NOT_DONE.search(one) and not one.endswith("?")]
