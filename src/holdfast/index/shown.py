"""Hits as people and programs read them: one form for the quick path and for the full one.

A hit is a tuple of FIELDS, with the parts of its score behind. JSON is written by SQLite, so that nothing
needs to be imported for it.
"""

from holdfast.index.moments import age
from holdfast.index.search import FIELDS
from holdfast.index.standing import APPROVED, FOREIGN, PROMOTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection
    from typing import Any

    Row = tuple[Any, ...]

_NAMED = ", ".join(f"{name!r}, ?" for name in FIELDS)
_OBJECT = f"SELECT json_object({_NAMED})"
_EXPLAINED = f"SELECT json_object({_NAMED}, 'parts', json(?))"
_AT = {name: place for place, name in enumerate(FIELDS)}
TRUST = {  # how far something can be believed, in words
    "T0": "approved by a person",
    "T1": "the user's own words",
    "T2": "of this repository",
    "T3": "from a tool or the web",
    "T4": FOREIGN,
}
SHORT = 12  # characters of a commit that are shown
LONGEST = 160  # characters of a text that are shown


def as_json(db: "Connection", hits: "Sequence[Row]", *, explain: bool = False) -> str:
    """The hits as the object that `--json` promises."""
    given = [(*hit[: len(FIELDS)], _parts(hit)) if explain else hit[: len(FIELDS)] for hit in hits]
    objects = [db.execute(_EXPLAINED if explain else _OBJECT, hit).fetchone()[0] for hit in given]
    return f'{{"v":1,"id":null,"items":[{",".join(objects)}]}}\n'


def _parts(hit: "Row") -> str:
    """The parts of a score as a JSON object; their names are ours and plain."""
    return "{" + ",".join(f'"{name}":{value:.4f}' for name, value in hit[len(FIELDS)]) + "}"


def as_text(hits: "Sequence[Row]", *, waiting: int = 0, now: str = "", explain: bool = False) -> str:
    """The hits for people: kind, id and title; below it when and where, and what else was found.

    `waiting` is for an empty answer: how many candidates fit, which only show when asked for.
    """
    shown = "\n".join(_one(hit, now, explain=explain) for hit in hits)
    return shown or f"Nothing found.{_waiting(waiting)}\n"


def _waiting(number: int) -> str:
    if not number:
        return ""
    said = "1 candidate matches; see it" if number == 1 else f"{number:,} candidates match; see them"
    return f" {said} with --kind candidate"


def _one(hit: "Row", now: str, *, explain: bool) -> str:
    kind, name, title, text = hit[_AT["kind"]], hit[_AT["id"]], hit[_AT["title"]], hit[_AT["text"]]
    called = name[:SHORT] if kind == "commit" else name
    lines = [f"{kind:<9} {called}  {title}" if kind != "artifact" else f"{kind:<9} {called}"]
    if said := " · ".join(fact for fact in _facts(hit, now) if fact):
        lines.append(f"          {said}")
    also = (hit[_AT["task"]], hit[_AT["target"]], hit[_AT["what"]])
    if said := cut(excerpt(kind, title, text, *also)):
        lines.append(f"          {said}")
    if explain and len(hit) > len(FIELDS):
        lines.append(f"          {_sum(hit)}")
    return "\n".join(lines) + "\n"


def excerpt(kind: str, title: str, text: str, *also: str | None) -> str:
    """What a hit says beside its title: of docs and code a piece as it stands, else what is new in it."""
    return _piece(kind, title, text) if kind in ("doc", "code") else beyond(title, text, *also)


def _facts(hit: "Row", now: str) -> "list[str | None]":
    """When, how it stands, how far it can be believed, and where it holds."""
    kind, name, path, task = (hit[_AT[field]] for field in ("kind", "id", "path", "task"))
    ts, head, branch, tags = (hit[_AT[field]] for field in ("ts", "head", "branch", "tags"))
    return [
        age(ts, now) or (ts or "")[:16].replace("T", " "),
        hit[_AT["state"]],
        _outcome(hit),
        _trust(hit),
        f"on branch {branch}" if branch else "",
        f"at {head[:SHORT]}" if head and kind != "commit" else "",
        f"task {task}" if task not in (None, name) else "",
        path if path and kind != "artifact" and not name.startswith(path) else "",
        f"tags {tags}" if tags else "",
        f"by {hit[_AT['by']]}" if hit[_AT["by"]] else "",  # meaning alone: it may be a guess
    ]


def _trust(hit: "Row") -> str:
    """How far a memory can be believed, unless how it stands says so."""
    trust, state = hit[_AT["trust"]], hit[_AT["state"]]
    if trust is None or state in (FOREIGN, PROMOTED) or hit[_AT["kind"]] in ("commit", "doc", "code"):
        return ""
    return TRUST.get(trust, "") if trust == APPROVED or state else ""


def _sum(hit: "Row") -> str:
    """A score and what it is made of."""
    said = "".join(f" {'-' if value < 0 else '+'} {name} {abs(value):.2f}" for name, value in hit[len(FIELDS)])
    return f"score {hit[_AT['score']]:.2f} = {said[3:] if said.startswith(' +') else said.strip()}"


def _piece(kind: str, title: str, text: str) -> str:
    """Some lines of a file as they stand; of a document less the heading, which is its title."""
    if kind == "doc" and not text.startswith("…"):
        bare = text.lstrip("#= ")
        if title and bare.startswith(title):
            bare = bare[len(title) :].lstrip("#= ")
            rule, _, rest = bare.partition(" ")  # the line that some put below a heading
            bare = rest if len(rule) > 2 and not any(c.isalnum() or c == "`" for c in rule) else bare
        text = bare
    return "" if text.strip(" …") in ("", title) else text


def cut(text: str) -> str:
    """A text of one line that is no longer than a person takes in at a glance, cut between words."""
    if len(text) <= LONGEST:
        return text
    return text[:LONGEST].rsplit(" ", 1)[0].rstrip(" …") + " …"


def beyond(title: str, text: str, *also: str | None) -> str:
    """What a text says that the title, the task and other words already shown do not."""
    said = title.removesuffix(" …")
    names = [name for name in also if name]
    for name in reversed(names):  # an event's title begins with what it did, and to what
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
    """The pieces of a text before, between and after whole occurrences of some words."""
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
    """The text less a beginning or an end that is a part of the words, cut off with them."""
    if text.startswith("…"):
        for place in range(1, len(said) - 1):
            if text.startswith(said[place:], 1):
                text = "… " + text[1 + len(said) - place :].strip()
                break
    if text.endswith("…"):
        for place in range(len(said) - 1, 1, -1):
            if text.endswith(said[:place] + "…"):
                return text[: -place - 1].strip() + " …"
    return text


def _outcome(hit: "Row") -> str:
    if hit[_AT["kind"]] != "run" or hit[_AT["state"]]:
        return ""
    status = hit[_AT["exit_status"]]
    return "interrupted" if status is None else f"exit {status}"
