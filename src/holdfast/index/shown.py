"""Hits as people and programs read them: one form for the quick path and for the full one.

JSON is written by SQLite, so that nothing needs to be imported for it.
"""

from holdfast.index.search import FIELDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection
    from typing import Any

    Row = tuple[Any, ...]

_OBJECT = f"SELECT json_object({', '.join(f'{name!r}, ?' for name in FIELDS)})"
_AT = {name: place for place, name in enumerate(FIELDS)}


def as_json(db: "Connection", hits: "Sequence[Row]") -> str:
    """The hits as the object that `--json` promises."""
    objects = [db.execute(_OBJECT, hit).fetchone()[0] for hit in hits]
    return f'{{"v":1,"id":null,"items":[{",".join(objects)}]}}\n'


def as_text(hits: "Sequence[Row]", *, waiting: int = 0) -> str:
    """The hits for people: kind, id and title; below it when and where, and what else was found.

    `waiting` is for an empty answer: how many candidates fit, which only show when asked for.
    """
    return "".join(_one(hit) for hit in hits) or f"Nothing found.{_waiting(waiting)}\n"


def _waiting(number: int) -> str:
    if not number:
        return ""
    said = "1 candidate matches; see it" if number == 1 else f"{number:,} candidates match; see them"
    return f" {said} with --kind candidate"


def _one(hit: "Row") -> str:
    kind, name, title, text = hit[_AT["kind"]], hit[_AT["id"]], hit[_AT["title"]], hit[_AT["text"]]
    lines = [f"{kind:<9} {name}  {title}" if kind != "artifact" else f"{kind:<9} {name}"]
    facts = [(hit[_AT["ts"]] or "")[:16].replace("T", " "), hit[_AT["state"]], _outcome(hit)]
    facts += [
        f"task {hit[_AT['task']]}" if hit[_AT["task"]] not in (None, name) else "",
        hit[_AT["path"]] if kind != "artifact" else "",
    ]
    facts += [f"tags {hit[_AT['tags']]}" if hit[_AT["tags"]] else ""]
    said = " · ".join(fact for fact in facts if fact)
    if said:
        lines.append(f"          {said}")
    if text := beyond(title, text, hit[_AT["task"]], hit[_AT["target"]], hit[_AT["what"]]):
        lines.append(f"          {text}")
    return "\n".join(lines) + "\n"


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
    return " ".join(kept)


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
