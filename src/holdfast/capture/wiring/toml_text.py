"""Our server's table in Codex's config.toml: put behind what is there, and taken out again.

There is one comment above the table and no mark below it: Codex writes its own tables behind ours, and a
closing mark at the end of the file would then enclose them. What a change does is proved by parsing both
texts: nothing but our table may differ.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from holdfast.patterns import regex

BOM = "\ufeff"
TABLE = "mcp_servers"
NAME = "holdfast"
MARK = "# Holdfast's MCP server; `holdfast disconnect codex` takes it out"
_SERVER = regex(r"(?:holdfast|(?:/|[A-Za-z]:).*/holdfast/mcp)")
_HEADER = regex(r"[ \t]*\[")
_OWN = regex(r"""[ \t]*\[[ \t]*["']?mcp_servers["']?[ \t]*\.[ \t]*["']?holdfast["']?[ \t]*[\].]""")


class NotPlain(ValueError):
    """The text cannot be edited; the words say why."""


def found(text: str) -> Mapping[str, Any] | None:
    """Our server as the file has it; NotPlain if it cannot be read."""
    servers = _parsed(text).get(TABLE)
    entry = servers.get(NAME) if isinstance(servers, dict) else None
    return entry if isinstance(entry, dict) and _SERVER.fullmatch(str(entry.get("command", ""))) else None


def put(text: str, entry: Mapping[str, Any]) -> str:
    """The file with our server in it; NotPlain if another server has its name."""
    before = _parsed(text)
    there = found(text)
    if there is not None and all(there.get(key) == value for key, value in entry.items()):
        return text
    servers = before.get(TABLE)
    if there is None and isinstance(servers, dict) and NAME in servers:
        raise NotPlain(f"it has a server {NAME} that is not ours")
    if there is None:
        after = text + _gap(text) + table(entry, newline(text))
    else:
        after = _changed(text, entry)
    _prove(before, after, {**(there or {}), **entry})
    return after


def take(text: str) -> str:
    """The file without our server and what its user allowed it; all else as it is."""
    before = _parsed(text)
    if found(text) is None:
        return text
    mark = max(text.rfind(MARK), 0)  # what stands above it is not ours, whatever it looks like
    kept, inside = text[:mark].splitlines(keepends=True), False
    for line in text[mark:].splitlines(keepends=True):
        if _HEADER.match(line.removeprefix(BOM)):
            inside = _OWN.match(line.removeprefix(BOM)) is not None
            if inside:
                _drop_mark(kept)
        # Blank lines and comments below our table belong to what follows.
        if not inside or not line.strip() or line.lstrip().startswith("#"):
            kept.append(line)
    after = "".join(kept)
    _prove(before, after, None)
    return after


def table(entry: Mapping[str, Any], end: str = "\n") -> str:
    """Our table, with the comment that says whose it is."""
    lines = [MARK, f"[{TABLE}.{NAME}]", *(f"{key} = {_value(value)}" for key, value in entry.items())]
    return "".join(line + end for line in lines)


def newline(text: str) -> str:
    """The line end this file uses."""
    return "\r\n" if "\r\n" in text else "\n"


def _changed(text: str, entry: Mapping[str, Any]) -> str:
    """Our own keys of our table set anew where they stand; keys its user added stay."""
    lines, done, inside, left = text.splitlines(keepends=True), [], False, dict(entry)
    for line in lines:
        if _HEADER.match(line.removeprefix(BOM)):
            inside = re.match(r"[ \t]*\[[ \t]*mcp_servers[ \t]*\.[ \t]*holdfast[ \t]*\]", line) is not None
            done.append(line)
            if inside:
                done += [f"{key} = {_value(value)}{newline(text)}" for key, value in left.items()]
            continue
        key = re.match(r"[ \t]*([A-Za-z0-9_-]+)[ \t]*=", line)
        if not (inside and key and key[1] in left):
            done.append(line)
    return "".join(done)


def _gap(text: str) -> str:
    """What makes a blank line behind what is there."""
    body, end = text.removeprefix(BOM), newline(text)
    if not body or body.endswith(end * 2):
        return ""
    return end if body.endswith("\n") else end * 2


def _drop_mark(kept: list[str]) -> None:
    if kept and kept[-1].strip().removeprefix(BOM) == MARK:
        kept.pop()
        if kept and not kept[-1].strip().removeprefix(BOM):
            kept.pop()  # the blank line we put before it


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)  # strings and lists of strings read the same in TOML


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix(BOM))
    except tomllib.TOMLDecodeError as error:
        raise NotPlain(f"it is not TOML: {error}") from None


def _prove(before: dict[str, Any], after: str, entry: Mapping[str, Any] | None) -> None:
    try:
        now = _parsed(after)
    except NotPlain:
        raise NotPlain(
            f"it has {TABLE} in braces, to which nothing can be added; write [{TABLE}.NAME] tables instead"
        ) from None
    servers = now.get(TABLE, {})
    ours = servers.pop(NAME, None) if isinstance(servers, dict) else None
    theirs = {name: one for name, one in (before.get(TABLE) or {}).items() if name != NAME}
    rest = {key: value for key, value in before.items() if key != TABLE}
    same = {key: value for key, value in now.items() if key != TABLE} == rest and servers == theirs
    if not same or (None if entry is None else dict(entry)) != ours:
        raise NotPlain("our table cannot be changed without changing what is not ours")
