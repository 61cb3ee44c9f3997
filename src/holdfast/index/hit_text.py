"""Hits as text and JSON: one form for the quick path and for the full one.

A hit is a tuple of FIELDS, with the parts of its score behind. SQLite writes the JSON, so that nothing is imported but
the clock, for the age of each hit. Days are UTC days; `--since 2w` is parsed here too.
"""

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection
    from typing import Any

    Row = tuple[Any, ...]

FIELDS = (
    "id", "kind", "title", "text", "ts", "task", "tags", "layer", "line", "head", "path",
    "exit_status", "target", "run", "sha256", "what", "state", "trust", "branch", "by", "score",
)  # fmt: skip
APPROVED = "T0"  # the tier of what a person approved
FOREIGN = "from elsewhere, not approved here"  # a doubt: it arrived by git, and nobody approved it
SUPERSEDED = "superseded"  # as a doubt: a person replaced it, although its successor is gone
EDITED = "edited since approval"  # a doubt: a person approved another text of it
UNCHECKED = "approval cannot be checked here"  # a doubt: a shallow clone cannot tell
STALE = "stale"  # a doubt: its evidence changed
PROMOTED = "promoted, not reviewed"  # accepted, but not by a person
DAY = 86_400  # seconds
_AGES = (  # from so many seconds on, in units of so many: numbers stay small
    *((730 * DAY, 365 * DAY, "year"), (60 * DAY, 30 * DAY, "month"), (14 * DAY, 7 * DAY, "week")),
    *((DAY, DAY, "day"), (3600, 3600, "hour"), (60, 60, "minute")),
)
_UNITS = {"s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hour": 3600, "d": DAY,
          "day": DAY, "w": 7 * DAY, "week": 7 * DAY, "mo": 30 * DAY, "month": 30 * DAY, "y": 365 * DAY,
          "year": 365 * DAY}  # fmt: skip
_DAYS = {"today": 0, "yesterday": 1}


def age(ts: str | None, now: str) -> str:
    """Returns how long ago a time was, as `3 days ago`; empty if one of them is invalid."""
    then, here = seconds(ts or ""), seconds(now)
    if then is None or here is None:
        return ""
    past = here - then
    for least, unit, name in _AGES:
        if past >= least:
            number = past // unit
            return f"1 {name} ago" if number == 1 else f"{number} {name}s ago"
    return "just now"  # also for a clock ahead of ours


def seconds(ts: str) -> int | None:
    """Returns the seconds since 1970 of a time spelled as in events; None if invalid."""
    if len(ts) < 10 or ts[4] != "-" or ts[7] != "-":
        return None
    parts = (ts[:4], ts[5:7], ts[8:10], ts[11:13] or "0", ts[14:16] or "0", ts[17:19] or "0")
    if not all(part.isascii() and part.isdigit() for part in parts):
        return None
    year, month, day, hours, minutes, rest = map(int, parts)
    in_year = 1 <= month <= 12 and 1 <= day <= _length(year, month)
    if not in_year or hours > 23 or minutes > 59 or rest > 60:  # a leap second is one
        return None
    return ((_days_before(year, month) + day - 1) * 24 + hours) * 3600 + minutes * 60 + rest


def _days_before(year: int, month: int) -> int:
    """Returns the days from 1970 to the first of a month; years start in March here, so that leap days are last."""
    year, month = (year - 1, month + 9) if month < 3 else (year, month - 3)
    return year * 365 + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 - 719_468


def _length(year: int, month: int) -> int:
    return _days_before(year + month // 12, month % 12 + 1) - _days_before(year, month)


def since_moment(text: str, now: str) -> str | None:
    """Returns the time that `7d`, `2 weeks ago`, `yesterday` or `2026-01-01` means; None if none."""
    words = text.strip().casefold()
    here = seconds(now) or 0
    if words in _DAYS:
        return _spelled((here // DAY - _DAYS[words]) * DAY)
    if (then := seconds(words.upper())) is not None and len(words) in (10, 16, 19, 20):
        return _spelled(then)
    words = words.removesuffix("ago").removeprefix("last ").strip()
    number = words[: len(words) - len(words.lstrip("0123456789"))]
    unit = words[len(number) :].strip()
    length = _UNITS.get(unit) or _UNITS.get(unit.removesuffix("s"))
    if length is None or len(number) > 6 or (not number and len(unit) < 3):
        return None
    return _spelled(here - int(number or 1) * length)


def _spelled(moment: int) -> str:
    moment = max(0, moment)  # before there was git, nothing was recorded
    return time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(moment))  # as events spell it


_NAMED = ", ".join(f"{name!r}, ?" for name in FIELDS)
_OBJECT = f"SELECT json_object({_NAMED})"
_EXPLAINED = f"SELECT json_object({_NAMED}, 'parts', json(?))"
_AT = {name: place for place, name in enumerate(FIELDS)}
TRUST = {  # the tiers of trust, in words
    "T0": "approved by a person",
    "T1": "the user's own words",
    "T2": "of this repository",
    "T3": "from a tool or the web",
    "T4": FOREIGN,
}
_OURS = ".holdfast/"  # `show` names the file of what lies there
SHORT = 12  # characters of a commit's id that are shown: unique in practice
_NARROW = 40  # columns; lines are not cut for terminals that are narrower still
LONGEST = 160  # characters of a text that are shown; a guess: two rows of a terminal
# Of the best score; below it a hit shares a word with the question by chance. Of 420 questions of three public sets it
# takes away one answer in a hundred of one set, none of the others, and up to one hit in ten.
RELEVANT = 0.5
_REASONS = 4  # parts of a score that are explained; a guess: the others change little
_WHY = {  # the explanation of each part of a score that raises a hit
    "words": "it matches words of the question",
    "named": "its title has words of the question",
    "pairs": "it has words of the question side by side",
    "beside": "the conversation around it matches",
    "window": "the conversation around it has the words",
    "group": "the rest of its session or file matches",
    "gcover": "the rest of its session or file has the words",
    "answer": "it follows a similar question",
    "speaker": "the question names who said it",
    "date": "it is from the time in the question",
    "near": "its meaning is similar",
    "files": "it is about the same files",
    "rare": "it names a rarely named file",
    "since": "it is about changes of these files",
    "folder": "it is near the given files",
    "recent": "it is recent",
    "kind": "this kind of record often has the answer",
    "trust": "it can be trusted",
    "used": "it was useful before",
    "defines": "it defines the name",
    "placed": "it is the code at that line",
    "linked": "a matching record refers to it",
    "lifted": "it says who decided, and why",
    "turn": "a turn of it fits",
    "told": "its turns together hold the words",
    "said": "a turn of it means something similar",
}
_AGAINST = {
    "standing": "it is no longer valid",
    "kind": "this kind of record rarely has the answer",
    "again": "the same place is shown above",
}
_SAME_FOR_ALL = ("states",)  # parts of nearly every record explain nothing


def as_json(db: "Connection", hits: "Sequence[Row]", *, explain: bool = False) -> str:
    """Returns the hits as the object of `--json`."""
    given = [(*hit[: len(FIELDS)], _parts(hit)) if explain else hit[: len(FIELDS)] for hit in hits]
    objects = [db.execute(_EXPLAINED if explain else _OBJECT, hit).fetchone()[0] for hit in given]
    return f'{{"v":1,"id":null,"items":[{",".join(objects)}]}}\n'


def _parts(hit: "Row") -> str:
    """Returns the parts of a score as a JSON object; their names are ours and plain."""
    return "{" + ",".join(f'"{name}":{value:.4f}' for name, value in hit[len(FIELDS)]) + "}"


def relevant(hits: "Sequence[Row]") -> "Sequence[Row]":
    """Returns the hits up to the first whose score is far below the best one's: chance hits would hide the others."""
    score = _AT["score"]
    least = RELEVANT * max((hit[score] or 0.0 for hit in hits), default=0.0)
    end = next((number for number, hit in enumerate(hits) if (hit[score] or 0.0) < least), len(hits))
    return hits[:end]


def as_text(
    hits: "Sequence[Row]",
    *,
    waiting: int = 0,
    now: str = "",
    explain: bool = False,
    bold: tuple[str, str] = ("", ""),
    columns: int = 0,
) -> str:
    """The hits for people: kind, id and title; below it when and where, and what else was found.

    `waiting` is for an empty answer: how many candidates fit, which only show when asked for. `bold` stands around ids.
    Lines are cut to the `columns` of a terminal, if there is one.
    """
    if hits or not waiting:
        return "\n".join(_one(hit, now, columns, explain=explain, bold=bold) for hit in hits) or "Nothing found.\n"
    said = "1 candidate matches; see it" if waiting == 1 else f"{waiting:,} candidates match; see them"
    return f"Nothing found. {said} with --kind candidate\n"


def _one(hit: "Row", now: str, columns: int, *, explain: bool, bold: tuple[str, str]) -> str:
    kind, name, title, text = hit[_AT["kind"]], hit[_AT["id"]], hit[_AT["title"]], hit[_AT["text"]]
    called = name[:SHORT] if kind == "commit" else name
    room = max(columns, _NARROW) - 10 if columns else LONGEST  # beside the kinds
    title = cut(title, max(room - len(called) - 2, 10)) if columns else title
    called = called.join(bold)
    lines = [f"{kind:<9} {called}  {title}" if kind != "artifact" else f"{kind:<9} {called}"]
    if said := " · ".join(fact for fact in _facts(hit, now) if fact):
        lines.append(f"          {said}")
    also = (hit[_AT["task"]], hit[_AT["target"]], hit[_AT["what"]])
    if said := cut(excerpt(kind, hit[_AT["title"]], text, *also), min(room, LONGEST)):
        lines.append(f"          {said}")
    if explain and len(hit) > len(FIELDS):
        lines.append(f"          why: {'; '.join(_reasons(hit[len(FIELDS)]))} (score {hit[_AT['score']]:.1f})")
    return "\n".join(lines) + "\n"


def _reasons(parts: "Sequence[tuple[str, float]]") -> "list[str]":
    """What raised a hit most, and what lowered it, in words."""
    from holdfast.index.ranking_weights import WEIGHTS

    told, known = [], dict(parts)
    for name, value in parts:
        if name == "words" and "cover" in known:
            continue  # said better
        if name == "cover":
            told.append((value, f"it has {min(1.0, value / WEIGHTS[name]):.0%} of the question's words"))
        elif name not in _SAME_FOR_ALL and (words := (_AGAINST if value < 0 else _WHY).get(name)):
            told.append((abs(value), words))
    told.sort(key=lambda one: -one[0])
    return [words for _, words in told[:_REASONS]]


def excerpt(kind: str, title: str, text: str, *also: str | None) -> str:
    """Returns what a hit contains besides its title: for docs and code the piece unchanged, else what is new in it."""
    return _piece(kind, title, text) if kind in ("doc", "code") else beyond(title, text, *also)


def _facts(hit: "Row", now: str) -> "list[str | None]":
    """Returns a hit's time, state, trust and branch."""
    kind, name, path, task = (hit[_AT[field]] for field in ("kind", "id", "path", "task"))
    ts, head, branch, tags = (hit[_AT[field]] for field in ("ts", "head", "branch", "tags"))
    outcome = "interrupted" if hit[_AT["exit_status"]] is None else f"exit {hit[_AT['exit_status']]}"
    return [
        age(ts, now) or (ts or "")[:16].replace("T", " "),
        hit[_AT["state"]],
        outcome if kind == "run" and not hit[_AT["state"]] else "",
        _trust(hit),
        f"on branch {branch}" if branch else "",
        f"at {head[:SHORT]}" if head and kind != "commit" else "",
        f"task {task}" if task not in (None, name) else "",
        path if path and kind != "artifact" and not path.startswith(_OURS) and not name.startswith(path) else "",
        f"tags {tags}" if tags else "",
        f"by {hit[_AT['by']]}" if hit[_AT["by"]] else "",  # meaning alone: it may be a guess
    ]


def _trust(hit: "Row") -> str:
    """Returns how far a memory can be trusted, unless its state says so."""
    trust, state = hit[_AT["trust"]], hit[_AT["state"]]
    if trust is None or state in (FOREIGN, PROMOTED) or hit[_AT["kind"]] in ("commit", "doc", "code"):
        return ""
    return TRUST.get(trust, "") if trust == APPROVED or state else ""


def _piece(kind: str, title: str, text: str) -> str:
    """Returns some lines of a file unchanged; of a document without the heading, which is its title."""
    if kind == "doc" and not text.startswith("…"):
        bare = text.lstrip("#= ")
        if title and bare.startswith(title):
            bare = bare[len(title) :].lstrip("#= ")
            rule, _, rest = bare.partition(" ")  # the underline of a heading
            bare = rest if len(rule) > 2 and not any(c.isalnum() or c == "`" for c in rule) else bare
        text = bare
    return "" if text.strip(" …") in ("", title) else text


def cut(text: str, longest: int = LONGEST) -> str:
    """Returns a text of one line, cut between words to a length that is read at a glance."""
    return text if len(text) <= longest else text[: longest - 2].rsplit(" ", 1)[0].rstrip(" …") + " …"


def beyond(title: str, text: str, *also: str | None) -> str:
    """Returns what a text contains besides the title, the task and other words already shown."""
    said = title.removesuffix(" …")
    names = [name for name in also if name]
    for name in reversed(names):  # an event's title starts with its action and target
        said = said.removeprefix(f"{name} ")
    kept = []
    for piece in _around(_uncut(text, said), said):
        for name in names:
            piece = piece.removeprefix(f"{name} ").removesuffix(f" {name}")
        if (bare := piece.strip(" …")) and bare not in (*names, title) and bare not in said:
            kept.append(piece)
    told = " ".join(kept)
    return "" if "…" in told and " " not in told.strip(" …") else told  # one word of a text that was cut


def _around(text: str, said: str) -> list[str]:
    """Returns the pieces of a text before, between and after whole occurrences of some words."""
    pieces, start = [], 0
    at = text.find(said) if said else -1
    while at >= 0:
        end = at + len(said)
        if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
            pieces.append(text[start:at].strip())
            start = end
        at = text.find(said, end)
    return [*pieces, text[start:].strip()]


def _uncut(text: str, said: str) -> str:
    """Returns the text without a part of the words that was cut off at its start or end."""
    if text.startswith("…"):
        cut_off = (place for place in range(1, len(said) - 1) if text.startswith(said[place:], 1))
        if place := next(cut_off, 0):
            text = "… " + text[1 + len(said) - place :].strip()
    if text.endswith("…"):
        cut_off = (place for place in range(len(said) - 1, 1, -1) if text.endswith(said[:place] + "…"))
        if place := next(cut_off, 0):
            return text[: -place - 1].strip() + " …"
    return text
