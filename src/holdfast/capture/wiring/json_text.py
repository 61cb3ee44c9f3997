"""JSON as its author wrote it: values with their places in the text, and edits that touch nothing else.

A settings file belongs to its user. Reading it into a dict and writing it back would change indentation, line
ends and the form of numbers, so members are put in and taken out as spans of text. Comments stay where they
are. All else that is no JSON is refused in a sentence: an edit that is not understood cannot be undone.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.patterns import regex
from holdfast.values import field, frozen, mutable
from holdfast.values import replace as replaced

BOM = "\ufeff"
DEEPEST = 100
_COMMENT = regex(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SPACE = regex(rf"(?:[ \t\r\n]+|{_COMMENT.pattern})*", re.DOTALL)
_STRING = regex(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_PLAIN = regex(r"-?\d[\d.eE+-]*|true|false|null")


class NotPlain(ValueError):
    """The text is not the plain JSON that can be edited; the words say where and why."""


@frozen
class Edit:
    """One span of the text, and what takes its place."""

    start: int
    end: int
    new: str = ""


@frozen
class Node:
    """A value and where it stands: `parts` are an object's members or an array's items."""

    start: int
    end: int
    value: Any
    parts: tuple["Part", ...] = ()


@frozen
class Part:
    """A member (`key` and value) or an item (no key); `start` is where it begins, its key included."""

    start: int
    node: Node
    key: str | None = None

    @property
    def end(self) -> int:
        return self.node.end


@frozen
class Document:
    """A whole file: its text, the value in it, and how its author lays things out."""

    text: str
    root: Node
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
        line = self.text.rfind("\n", 0, place) + 1
        found = re.match(r"[ \t]*", self.text[line:place].removeprefix(BOM))
        return found[0] if found else ""


def read(text: str) -> Document:
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
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = unit if unit and not unit.strip(" \t") else "  "
    return Document(text, root, newline, unit, spread, tuple(reader.comments))


def member(node: Node, key: str) -> Part | None:
    """The member of that name; NotPlain if it stands there twice."""
    found = [part for part in node.parts if part.key == key]
    if len(found) > 1:
        raise NotPlain(f'it says "{key}" twice in one place')
    return found[0] if found else None


def add_members(document: Document, node: Node, members: Mapping[str, Any]) -> list[Edit]:
    """The edits that put members behind those an object has."""
    return _add(document, node, [(key, value) for key, value in members.items()])


def add_items(document: Document, node: Node, items: Sequence[Any]) -> list[Edit]:
    """The edits that put items behind those an array has."""
    return _add(document, node, [(None, item) for item in items])


def replace(document: Document, part: Part, value: Any) -> Edit:
    """The edit that gives a member or an item another value."""
    spread = "\n" in document.text[part.node.start : part.node.end] or document.lines
    indent = document.indent_at(part.start)
    return Edit(part.node.start, part.node.end, _rendered(document, value, indent if spread else None))


def remove(node: Node, gone: Sequence[Part]) -> list[Edit]:
    """The edits that take parts out of an object or array, with the commas that are theirs."""
    leaving = {id(part) for part in gone}
    if node.parts and len(leaving) == len(node.parts):
        return [Edit(node.start + 1, node.end - 1)]
    edits, index, parts = [], 0, node.parts
    while index < len(parts):
        if id(parts[index]) not in leaving:
            index += 1
            continue
        first = index
        while index < len(parts) and id(parts[index]) in leaving:
            index += 1
        if first == 0:
            edits.append(Edit(parts[0].start, parts[index].start))
        else:
            edits.append(Edit(parts[first - 1].end, parts[index - 1].end))
    return edits


def sparing(document: Document, edits: Sequence[Edit]) -> list[Edit]:
    """The edits with the comments left in that stand in what they take out."""
    return [replaced(edit, new=edit.new + _spared(document, edit)) for edit in edits]


def _spared(document: Document, edit: Edit) -> str:
    inside = [one for one in document.spans if edit.start <= one[0] and one[1] <= edit.end]
    said = [document.text[start:end] for start, end in inside]
    return "".join(f" {one}{document.newline if one.startswith('//') else ''}" for one in said)


def apply(text: str, edits: Sequence[Edit]) -> str:
    """The text with all edits done; they must not overlap."""
    done, at = [], 0
    for edit in ordered(edits):
        if edit.start < at:
            raise NotPlain("two changes of it overlap")
        done += [text[at : edit.start], edit.new]
        at = edit.end
    return "".join([*done, text[at:]])


def ordered(edits: Sequence[Edit]) -> list[Edit]:
    """Edits as they follow one another in the text."""
    return sorted(edits, key=lambda edit: (edit.start, edit.end))


def difference(before: str, after: str) -> list[Edit]:
    """The one edit that makes the second text of the first."""
    start, most = 0, min(len(before), len(after))
    while start < most and before[start] == after[start]:
        start += 1
    tail = 0
    while tail < most - start and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    end = len(before) - tail
    return [] if before == after else [Edit(start, end, after[start : len(after) - tail])]


def new_document(value: Any) -> str:
    """The text of a file of our own."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _add(document: Document, node: Node, added: Sequence[tuple[str | None, Any]]) -> list[Edit]:
    own = document.indent_at(node.start)
    if node.parts:
        last = node.parts[-1].end
        between = document.text[node.start + 1 : node.parts[0].start]
        spread = "\n" in between
        indent = document.indent_at(node.parts[0].start) if spread else None
        lead = f"{document.newline}{indent}" if spread else _gap(document, node)
        new = ",".join(lead + _spelled(document, *one, indent) for one in added)
        behind = _behind(document, last) if spread else last
        return [Edit(last, last, f",{new}")] if behind == last else [Edit(last, last, ","), Edit(behind, behind, new)]
    there = document.text[node.start + 1 : node.end - 1]  # white space that somebody put there stays
    indent = own + document.unit if document.lines else None
    between = ", " if indent is None else f",{document.newline}{indent}"
    inside = between.join(_spelled(document, *one, indent) for one in added)
    if indent is not None:
        inside = document.newline + indent + inside + ("" if "\n" in there else document.newline + own)
    return [Edit(node.start + 1, node.start + 1, inside)]


def _behind(document: Document, place: int) -> int:
    """The end of the comments that stand behind a place in its line: they are about what stands before."""
    for start, end in document.spans:
        if start >= place and not document.text[place:start].strip(" \t"):
            place = end
    return place


def _gap(document: Document, node: Node) -> str:
    """What stands behind a comma in an object or array that is written in one line."""
    if len(node.parts) < 2:
        return " "
    gap = document.text[node.parts[0].end : node.parts[1].start].partition(",")[2]
    return " " if gap.strip() else gap  # a comment is not said twice


def _spelled(document: Document, key: str | None, value: Any, indent: str | None) -> str:
    rendered = _rendered(document, value, indent)
    return rendered if key is None else f"{json.dumps(key, ensure_ascii=False)}: {rendered}"


def _rendered(document: Document, value: Any, indent: str | None) -> str:
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

    def whole(self, place: int) -> Node:
        root = self.value(self.skip(place))
        rest = self.skip(root.end)
        if rest != len(self.text):
            raise self.wrong(rest, "something follows the end of it")
        return root

    def value(self, place: int) -> Node:
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
            return Node(place, found.end(), json.loads(found[0]))
        except ValueError:
            raise self.wrong(place, "no value is there") from None

    def container(self, start: int, *, closing: str) -> Node:
        parts: list[Part] = []
        place = self.skip(start + 1)
        while self.text[place : place + 1] != closing:
            if parts:
                place = self.comma(place)
            parts.append(self.part(place, keyed=closing == "}"))
            place = self.skip(parts[-1].end)
        if closing == "]":
            return Node(start, place + 1, [part.node.value for part in parts], tuple(parts))
        return Node(start, place + 1, {part.key: part.node.value for part in parts}, tuple(parts))

    def part(self, place: int, *, keyed: bool) -> Part:
        if not keyed:
            return Part(place, self.value(place))
        key = _STRING.match(self.text, place)
        if key is None:
            raise self.wrong(place, "a name is missing")
        colon = self.skip(key.end())
        if self.text[colon : colon + 1] != ":":
            raise self.wrong(colon, "a colon is missing")
        return Part(place, self.value(self.skip(colon + 1)), json.loads(key[0], strict=False))

    def comma(self, place: int) -> int:
        if self.text[place : place + 1] != ",":
            raise self.wrong(place, "a comma is missing")
        return self.skip(place + 1)

    def skip(self, place: int) -> int:
        found = _SPACE.match(self.text, place)
        end = found.end() if found else place
        self.comments += [one.span() for one in _COMMENT.finditer(self.text, place, end)]
        return end

    def wrong(self, place: int, said: str) -> NotPlain:
        line = self.text.count("\n", 0, place) + 1
        return NotPlain(f"line {line} is not plain JSON: {said}")
