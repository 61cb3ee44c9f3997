"""Settings files as their authors wrote them: JSON and Codex's config.toml, edited in place as text.

A settings file belongs to its user. Reading it into a dict and writing it back would change indentation, line ends and
the form of numbers, so members are put in and taken out as spans of text. Comments stay where they are. All else that
is no JSON is refused in a sentence: an edit that is not understood cannot be undone.

In config.toml our server is one table behind what is there, with one comment above it and no mark below: Codex writes
its own tables behind ours, and a closing mark at the end of the file would then enclose them. What a change does is
proved by parsing both texts: nothing but our table may differ. Which settings are ours is `client_settings`' business.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, takewhile
from typing import Any, TypeGuard

from holdfast.patterns import regex
from holdfast.values import field, frozen, mutable
from holdfast.values import replace as replaced

BOM = "\ufeff"
DEEPEST = 100  # a guess: below Python's limit of recursion
_COMMENT = regex(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SPACE = regex(rf"(?:[ \t\r\n]+|{_COMMENT.pattern})*", re.DOTALL)
_STRING = regex(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_PLAIN = regex(r"-?\d[\d.eE+-]*|true|false|null")


class NotPlain(ValueError):
    """The text is not the plain JSON or TOML that can be edited; the words say where and why."""


@frozen
class ConfigTextEdit:
    """One span of the text, and what takes its place."""

    start: int
    end: int
    new: str = ""


@frozen
class JsonNode:
    """A value and where it stands: `parts` are an object's members or an array's items."""

    start: int
    end: int
    value: Any
    parts: tuple["JsonPart", ...] = ()


@frozen
class JsonPart:
    """A member (`key` and value) or an item (no key); `start` is where it begins, its key included."""

    start: int
    node: JsonNode
    key: str | None = None

    @property
    def end(self) -> int:
        return self.node.end


@frozen
class JsonDocument:
    """A whole file: its text, the value in it, and how its author lays things out."""

    text: str
    root: JsonNode
    newline: str = "\n"
    unit: str = "  "
    lines: bool = True  # whether values are laid out over lines
    spans: tuple[tuple[int, int], ...] = ()  # of its comments

    @property
    def comments(self) -> list[str]:
        """Its comments, as they stand there."""
        return [self.text[start:end] for start, end in self.spans]

    def indent_at(self, place: int) -> str:
        """The white space that begins the line of this place."""
        line = self.text[self.text.rfind("\n", 0, place) + 1 : place].removeprefix(BOM)
        return line[: len(line) - len(line.lstrip(" \t"))]


def read_json(text: str) -> JsonDocument:
    """The document of a text; NotPlain says what is in the way."""
    body = text.removeprefix(BOM)
    offset = len(text) - len(body)
    if not body.strip(" \t\r\n"):
        raise NotPlain("it is empty")
    reader = _Reader(text)
    root = reader.whole(offset)
    first = root.parts[0].start if root.parts else None
    spread = first is None or "\n" in text[root.start : first]
    unit = text[text.rfind("\n", 0, first) + 1 : first] if first is not None and spread else ""
    unit = unit if unit and not unit.strip(" \t") else "  "
    return JsonDocument(text, root, newline(text), unit, spread, tuple(reader.comments))


def member(node: JsonNode, key: str) -> JsonPart | None:
    """The member of that name; NotPlain if it stands there twice."""
    found = [part for part in node.parts if part.key == key]
    if len(found) > 1:
        raise NotPlain(f'it says "{key}" twice in one place')
    return found[0] if found else None


def replace_value(document: JsonDocument, part: JsonPart, value: Any) -> ConfigTextEdit:
    """The edit that gives a member or an item another value."""
    spread = "\n" in document.text[part.node.start : part.node.end] or document.lines
    indent = document.indent_at(part.start)
    return ConfigTextEdit(part.node.start, part.node.end, _rendered(document, value, indent if spread else None))


def remove_parts(node: JsonNode, gone: Sequence[JsonPart]) -> list[ConfigTextEdit]:
    """The edits that take parts out of an object or array, with the commas that are theirs."""
    leaving = {id(part) for part in gone}
    if node.parts and len(leaving) == len(node.parts):
        return [ConfigTextEdit(node.start + 1, node.end - 1)]
    edits, at = [], 0
    for is_leaving, run in groupby(node.parts, key=lambda part: id(part) in leaving):
        first, at = at, at + len(list(run))
        if is_leaving and first == 0:
            edits.append(ConfigTextEdit(node.parts[0].start, node.parts[at].start))
        elif is_leaving:
            edits.append(ConfigTextEdit(node.parts[first - 1].end, node.parts[at - 1].end))
    return edits


def sparing(document: JsonDocument, edits: Sequence[ConfigTextEdit]) -> list[ConfigTextEdit]:
    """The edits with the comments left in that stand in what they take out."""
    return [replaced(edit, new=edit.new + _spared(document, edit)) for edit in edits]


def _spared(document: JsonDocument, edit: ConfigTextEdit) -> str:
    inside = [one for one in document.spans if edit.start <= one[0] and one[1] <= edit.end]
    said = [document.text[start:end] for start, end in inside]
    return "".join(f" {one}{document.newline if one.startswith('//') else ''}" for one in said)


def apply_edits(text: str, edits: Sequence[ConfigTextEdit]) -> str:
    """The text with all edits done; they must not overlap."""
    done, at = [], 0
    for edit in ordered(edits):
        if edit.start < at:
            raise NotPlain("two changes of it overlap")
        done += [text[at : edit.start], edit.new]
        at = edit.end
    return "".join([*done, text[at:]])


def ordered(edits: Sequence[ConfigTextEdit]) -> list[ConfigTextEdit]:
    """Edits as they follow one another in the text."""
    return sorted(edits, key=lambda edit: (edit.start, edit.end))


def edits_between(before: str, after: str) -> list[ConfigTextEdit]:
    """The one edit that makes the second text of the first."""

    def shared(one: str, other: str) -> int:
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))

    start = shared(before, after)
    tail = shared(before[start:][::-1], after[start:][::-1])
    edit = ConfigTextEdit(start, len(before) - tail, after[start : len(after) - tail])
    return [] if before == after else [edit]


def new_json(value: Any) -> str:
    """The text of a file of our own."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def add_parts(document: JsonDocument, node: JsonNode, added: Iterable[tuple[str | None, Any]]) -> list[ConfigTextEdit]:
    """The edits that put members, or items without a key, behind those that an object or an array has."""
    own = document.indent_at(node.start)
    if node.parts:
        last = node.parts[-1].end
        spread = "\n" in document.text[node.start + 1 : node.parts[0].start]
        indent = document.indent_at(node.parts[0].start) if spread else None
        lead = f"{document.newline}{indent}" if spread else _gap(document, node)
        new = ",".join(lead + _spelled(document, *one, indent) for one in added)
        behind = _behind(document, last) if spread else last
        if behind == last:
            return [ConfigTextEdit(last, last, f",{new}")]
        return [ConfigTextEdit(last, last, ","), ConfigTextEdit(behind, behind, new)]
    there = document.text[node.start + 1 : node.end - 1]  # white space that somebody put there stays
    indent = own + document.unit if document.lines else None
    between = ", " if indent is None else f",{document.newline}{indent}"
    inside = between.join(_spelled(document, *one, indent) for one in added)
    if indent is not None:
        inside = document.newline + indent + inside + ("" if "\n" in there else document.newline + own)
    return [ConfigTextEdit(node.start + 1, node.start + 1, inside)]


def _behind(document: JsonDocument, place: int) -> int:
    """The end of the comments that stand behind a place in its line: they are about what stands before."""
    for start, end in document.spans:
        if start >= place and not document.text[place:start].strip(" \t"):
            place = end
    return place


def _gap(document: JsonDocument, node: JsonNode) -> str:
    """What stands behind a comma in an object or array that is written in one line."""
    if len(node.parts) < 2:
        return " "
    gap = document.text[node.parts[0].end : node.parts[1].start].partition(",")[2]
    return " " if gap.strip() else gap  # a comment is not said twice


def _spelled(document: JsonDocument, key: str | None, value: Any, indent: str | None) -> str:
    rendered = _rendered(document, value, indent)
    return rendered if key is None else f"{json.dumps(key, ensure_ascii=False)}: {rendered}"


def _rendered(document: JsonDocument, value: Any, indent: str | None) -> str:
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    text = json.dumps(value, indent=document.unit, ensure_ascii=False)
    return text.replace("\n", document.newline + indent)


@mutable
class _Reader:
    """Reads one text; every value remembers where it stands."""

    text: str
    depth: int = field(default=0)
    comments: list[tuple[int, int]] = field(default_factory=list)

    def whole(self, place: int) -> JsonNode:
        root = self.value(self.skip(place))
        rest = self.skip(root.end)
        if rest != len(self.text):
            raise self.wrong(rest, "something follows the end of it")
        return root

    def value(self, place: int) -> JsonNode:
        start = self.text[place : place + 1]
        if start in ("{", "["):
            self.depth += 1
            if self.depth > DEEPEST:
                raise self.wrong(place, "it is nested too deep")
            node = self.container(place, closing="}" if start == "{" else "]")
            self.depth -= 1
            return node
        found = _STRING.match(self.text, place) or _PLAIN.match(self.text, place)
        if found is None:
            raise self.wrong(place, "no value is there")
        try:
            return JsonNode(place, found.end(), json.loads(found[0]))
        except ValueError:
            raise self.wrong(place, "no value is there") from None

    def container(self, start: int, *, closing: str) -> JsonNode:
        parts: list[JsonPart] = []
        place = self.skip(start + 1)
        while self.text[place : place + 1] != closing:
            if parts and self.text[place : place + 1] != ",":
                raise self.wrong(place, "a comma is missing")
            place = self.skip(place + 1) if parts else place
            parts.append(self.part(place, keyed=closing == "}"))
            place = self.skip(parts[-1].end)
        if closing == "]":
            return JsonNode(start, place + 1, [part.node.value for part in parts], tuple(parts))
        return JsonNode(start, place + 1, {part.key: part.node.value for part in parts}, tuple(parts))

    def part(self, place: int, *, keyed: bool) -> JsonPart:
        if not keyed:
            return JsonPart(place, self.value(place))
        key = _STRING.match(self.text, place)
        if key is None:
            raise self.wrong(place, "a name is missing")
        colon = self.skip(key.end())
        if self.text[colon : colon + 1] != ":":
            raise self.wrong(colon, "a colon is missing")
        return JsonPart(place, self.value(self.skip(colon + 1)), json.loads(key[0], strict=False))

    def skip(self, place: int) -> int:
        found = _SPACE.match(self.text, place)
        end = found.end() if found else place
        self.comments += [one.span() for one in _COMMENT.finditer(self.text, place, end)]
        return end

    def wrong(self, place: int, said: str) -> NotPlain:
        line = self.text.count("\n", 0, place) + 1
        return NotPlain(f"line {line} is not plain JSON: {said}")


TABLE = "mcp_servers"
NAME = "holdfast"
MARK = "# Holdfast's MCP server; `holdfast disconnect codex` takes it out"
HOOK_TABLE = "hooks"
HOOK_MARK = "# Holdfast's hooks; `holdfast disconnect kimi` takes them out"
_HOOK_HEADER = regex(r"[ \t]*\[\[[ \t]*[\"']?hooks[\"']?[ \t]*\]\]")
_SERVER = regex(r"(?:holdfast|(?:/|[A-Za-z]:).*/holdfast/mcp)")
_HEADER = regex(r"[ \t]*\[")
_OWN = regex(r"""[ \t]*\[[ \t]*["']?mcp_servers["']?[ \t]*\.[ \t]*["']?holdfast["']?[ \t]*[\].]""")


def our_server(entry: object) -> bool:
    """Whether a server of our name is ours too."""
    if not isinstance(entry, dict):
        return False
    transport = entry.get("transport")
    command = (transport if isinstance(transport, dict) else entry).get("command", "")
    command = command[0] if isinstance(command, list) and command else command
    return _SERVER.fullmatch(str(command)) is not None


def find_table(text: str) -> Mapping[str, Any] | None:
    """Our server as the file has it; NotPlain if it cannot be read."""
    servers = _parsed(text).get(TABLE)
    entry = servers.get(NAME) if isinstance(servers, dict) else None
    return entry if isinstance(entry, dict) and our_server(entry) else None


def put_table(text: str, entry: Mapping[str, Any]) -> str:
    """The file with our server in it; NotPlain if another server has its name."""
    before, there, end = _parsed(text), find_table(text), newline(text)
    if there is not None and all(there.get(key) == value for key, value in entry.items()):
        return text
    servers, body = before.get(TABLE), text.removeprefix(BOM)
    if there is None and isinstance(servers, dict) and NAME in servers:
        raise NotPlain(f"it has a server {NAME} that is not ours")
    # A blank line before our table.
    gap = "" if not body or body.endswith(end * 2) else end if body.endswith("\n") else end * 2
    after = text + gap + render_table(entry, end) if there is None else _changed(text, entry)
    _prove(before, after, {**(there or {}), **entry})
    return after


def take_table(text: str) -> str:
    """The file without our server and what its user allowed it; all else as it is."""
    before = _parsed(text)
    if find_table(text) is None:
        return text
    mark = max(text.rfind(MARK), 0)  # what stands above it is not ours, whatever it looks like
    kept, inside = text[:mark].splitlines(keepends=True), False
    for line in text[mark:].splitlines(keepends=True):
        if _HEADER.match(line.removeprefix(BOM)):
            inside = _OWN.match(line.removeprefix(BOM)) is not None
            if inside and kept and kept[-1].strip().removeprefix(BOM) == MARK:
                kept.pop()
                if kept and not kept[-1].strip().removeprefix(BOM):
                    kept.pop()  # the blank line we put before it
        # Blank lines and comments below our table belong to what follows.
        if not inside or not line.strip() or line.lstrip().startswith("#"):
            kept.append(line)
    after = "".join(kept)
    _prove(before, after, None)
    return after


def find_hook_tables(text: str, is_ours: Callable[[object], bool]) -> list[dict[str, Any]]:
    """The `[[hooks]]` of ours that the file has; NotPlain if it cannot be read."""
    there = _parsed(text).get(HOOK_TABLE)
    return [one for one in there if isinstance(one, dict) and is_ours(one.get("command"))] if _is_list(there) else []


def put_hook_tables(text: str, rows: Sequence[Mapping[str, Any]], is_ours: Callable[[object], bool]) -> str:
    """The file with these `[[hooks]]` of ours behind all else, and of ours no others."""
    if find_hook_tables(text, is_ours) == list(rows):
        return text
    before, end = take_hook_tables(text, is_ours), newline(text)
    body = before.removeprefix(BOM)
    gap = "" if not body or body.endswith(end * 2) else end if body.endswith("\n") else end * 2
    after = before + gap + render_hook_tables(rows, end)
    if find_hook_tables(after, is_ours) != list(rows) or _without_hooks(after, is_ours) != _without_hooks(
        text, is_ours
    ):
        raise NotPlain("our hooks cannot be put in without changing what is not ours")
    return after


def take_hook_tables(text: str, is_ours: Callable[[object], bool]) -> str:
    """The file without the `[[hooks]]` of ours; all else as it is."""
    if not find_hook_tables(text, is_ours):
        return text
    kept: list[str] = []
    for section in _sections(text):
        ours = _HOOK_HEADER.match(section[0].removeprefix(BOM)) and find_hook_tables("".join(section), is_ours)
        if not ours:
            kept += section
            continue
        if kept and kept[-1].strip().removeprefix(BOM) == HOOK_MARK:
            kept.pop()
            if kept and not kept[-1].strip().removeprefix(BOM):
                kept.pop()  # the blank line we put before it
        # Blank lines and comments below a table of ours belong to what follows.
        kept += [line for line in section[1:] if not line.strip() or line.lstrip().startswith("#")]
    after = "".join(kept)
    if find_hook_tables(after, is_ours) or _without_hooks(after, is_ours) != _without_hooks(text, is_ours):
        raise NotPlain("our hooks cannot be taken out without changing what is not ours")
    return after


def render_hook_tables(rows: Sequence[Mapping[str, Any]], end: str = "\n") -> str:
    """Our hooks, with the comment that says whose they are."""
    lines = [HOOK_MARK]
    for row in rows:
        lines += [f"[[{HOOK_TABLE}]]", *(f"{key} = {_value(value)}" for key, value in row.items())]
    return "".join(line + end for line in lines)


def _sections(text: str) -> Iterator[list[str]]:
    """The lines of a file, from each header to the next."""
    section: list[str] = []
    for line in text.splitlines(keepends=True):
        if _HEADER.match(line.removeprefix(BOM)) and section:
            yield section
            section = []
        section.append(line)
    if section:
        yield section


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _without_hooks(text: str, is_ours: Callable[[object], bool]) -> dict[str, Any]:
    value = _parsed(text)
    there = value.pop(HOOK_TABLE, None)
    rest = (
        [one for one in there if not (isinstance(one, dict) and is_ours(one.get("command")))]
        if _is_list(there)
        else there
    )
    return {**value, HOOK_TABLE: rest} if rest else value


def render_table(entry: Mapping[str, Any], end: str = "\n") -> str:
    """Our table, with the comment that says whose it is."""
    lines = [MARK, f"[{TABLE}.{NAME}]", *(f"{key} = {_value(value)}" for key, value in entry.items())]
    return "".join(line + end for line in lines)


def newline(text: str) -> str:
    """The line end this file uses."""
    return "\r\n" if "\r\n" in text else "\n"


def _changed(text: str, entry: Mapping[str, Any]) -> str:
    """Our own keys of our table with new values where they stand; keys its user added stay."""
    done, inside = [], False
    for line in text.splitlines(keepends=True):
        key = re.match(r"[ \t]*([A-Za-z0-9_-]+)[ \t]*=", line)
        if not (inside and key and key[1] in entry):
            done.append(line)
        if _HEADER.match(line.removeprefix(BOM)):
            inside = re.match(r"[ \t]*\[[ \t]*mcp_servers[ \t]*\.[ \t]*holdfast[ \t]*\]", line) is not None
            done += [f"{key} = {_value(value)}{newline(text)}" for key, value in entry.items() if inside]
    return "".join(done)


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
        why = f"it has {TABLE} in braces, to which nothing can be added; write [{TABLE}.NAME] tables instead"
        raise NotPlain(why) from None
    servers = now.get(TABLE, {})
    ours = servers.pop(NAME, None) if isinstance(servers, dict) else None
    theirs = {name: one for name, one in (before.get(TABLE) or {}).items() if name != NAME}
    rest = {key: value for key, value in before.items() if key != TABLE}
    same = {key: value for key, value in now.items() if key != TABLE} == rest and servers == theirs
    if not same or (None if entry is None else dict(entry)) != ours:
        raise NotPlain("our table cannot be changed without changing what is not ours")
