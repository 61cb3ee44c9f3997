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


def as_text(hits: "Sequence[Row]") -> str:
    """The hits for people: kind, id and title; below it what was found, when and where."""
    return "".join(_one(hit) for hit in hits) or "Nothing found.\n"


def _one(hit: "Row") -> str:
    kind, name, title, text = hit[_AT["kind"]], hit[_AT["id"]], hit[_AT["title"]], hit[_AT["text"]]
    lines = [f"{kind:<9} {name}  {title}" if kind != "artifact" else f"{kind:<9} {name}"]
    facts = [(hit[_AT["ts"]] or "")[:16].replace("T", " "), hit[_AT["state"]], _outcome(hit)]
    facts += [
        f"task {hit[_AT['task']]}" if hit[_AT["task"]] else "",
        hit[_AT["path"]] if kind != "artifact" else "",
    ]
    facts += [f"tags {hit[_AT['tags']]}" if hit[_AT["tags"]] else ""]
    said = " · ".join(fact for fact in facts if fact)
    if said:
        lines.append(f"          {said}")
    if text and text != title:
        lines.append(f"          {text}")
    return "\n".join(lines) + "\n"


def _outcome(hit: "Row") -> str:
    if hit[_AT["kind"]] != "run":
        return ""
    status = hit[_AT["exit_status"]]
    return "interrupted" if status is None else f"exit {status}"
