"""One setting written into a settings file; every other byte of it stays."""

import json
import os
import re
import tomllib

from holdfast.errors import BadSettings
from holdfast.store import fsio

_LARGEST = 64 * 1024


def put(path: str, name: str, value: str | list[str] | None) -> None:
    """Set `section.key` in a file, which is made if there is none; None takes the setting out."""
    try:
        text = fsio.read(path, limit=_LARGEST).decode("utf-8")
    except FileNotFoundError:
        text = ""
    except UnicodeDecodeError as error:
        raise BadSettings(f"{path} is not UTF-8 text") from error
    new = changed(text, name, value)
    if new is None:
        raise BadSettings(f"{path} says {name} in a way that is left alone", hint=f"Set {name} there yourself.")
    if new != text:
        fsio.make_dirs(os.path.dirname(path))
        fsio.replace(path, new.encode("utf-8"))


def changed(text: str, name: str, value: str | list[str] | None) -> str | None:
    """The text with a setting changed; None if it cannot be done by changing one line."""
    section, key = name.split(".")
    rows = text.splitlines(keepends=True)
    start, end = _section(rows, section)
    line = [] if value is None else [f"{key} = {json.dumps(value, ensure_ascii=False)}\n"]
    at = [place for place in range(start, end) if re.match(rf"\s*{key}\s*=", rows[place])]
    if at:
        rows[at[0] : at[0] + 1] = line
        if not line and not "".join(rows[start : end - 1]).strip():
            _drop_heading(rows, start - 1, end - 1)
    elif line and start:
        rows[start:start] = line
    elif line:
        gap = ["\n"] if rows and rows[-1].endswith("\n") else ["\n\n"] if rows else []
        rows += [*gap, f"[{section}]\n", *line]
    new = "".join(rows)
    return new if _says(new, section, key) == value else None


def _drop_heading(rows: list[str], heading: int, end: int) -> None:
    """Take out a section that holds nothing, with the blank lines before it: an empty one is in the way."""
    first = heading
    while first and not rows[first - 1].strip():
        first -= 1
    gap = rows[first:heading] if first and end < len(rows) else []
    rows[first:end] = gap


def _section(rows: list[str], section: str) -> tuple[int, int]:
    """The lines of a section, without its heading; an empty range where there is none."""
    heads = [place for place, row in enumerate(rows) if row.lstrip().startswith("[")]
    for place, start in enumerate(heads):
        if re.match(rf"\s*\[\s*{section}\s*\]", rows[start]):
            return start + 1, heads[place + 1] if place + 1 < len(heads) else len(rows)
    return 0, 0


def _says(text: str, section: str, key: str) -> object:
    try:
        found = tomllib.loads(text).get(section)
    except tomllib.TOMLDecodeError:
        return NotImplemented
    return found.get(key) if isinstance(found, dict) else None
