"""Accepted decisions written as MADR 4 records, one file each: `0007-use-sqlite-for-the-index.md`.

Each file names the decision it is a copy of, and carries a checksum of itself. So a second export changes
nothing, a number once given stays, and what somebody wrote or edited by hand is left as it is.
"""

import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence

from holdfast.capture.records import knowledge_files, markdown_pieces
from holdfast.capture.records.knowledge_files import KnowledgeText, SkippedKnowledge
from holdfast.capture.wiring import block
from holdfast.errors import BadInput, UnsafePath
from holdfast.model.ids import is_id, slug
from holdfast.model.text import visible
from holdfast.patterns import regex
from holdfast.store import frontmatter, fsio
from holdfast.values import frozen

FOLDER = "docs/decisions"  # where MADR itself puts them
ID, SUM = "holdfast", "holdfast-sum"
MAX_SLUG, MAX_TITLE = 60, 120  # characters of a file name and of a heading; guesses: both are read in lists

_SUM_LINE = regex(rf"^{SUM}: ([0-9a-f]{{16}})\n", re.MULTILINE)
_NUMBER = regex(r"(\d{1,6})-.*\.md")
_LABELLED = regex(r"(Rationale|Consequences|In full|Instead|Falsified by): ")
_STEERS = regex(r"^(?=[ \t]{0,3}(?:#|```|~~~|===|---|<!--))", re.MULTILINE)


@frozen
class MadrDecision:
    """A decision to be written out."""

    id: str
    statement: str
    details: str = ""
    status: str = "accepted"  # accepted, deprecated or superseded
    date: str = ""  # when it was accepted, as 2026-11-15
    newer: str | None = None  # the id of the one that supersedes it
    supersedes: tuple[str, ...] = ()
    applies_to: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()


@frozen
class MadrExport:
    """What an export did."""

    folder: str
    written: tuple[str, ...] = ()
    same: int = 0
    left: tuple[SkippedKnowledge, ...] = ()


def export(folder: str, decisions: Sequence[MadrDecision]) -> MadrExport:
    """Write decisions, in the order they were accepted, into a folder of records."""
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise BadInput(f"{folder} is not a folder", hint="Name a folder for the records.")
    ours, taken = _existing(folder)
    names = _names(decisions, ours, taken)
    written, left, same = [], [], 0
    for one in decisions:
        name, text = names[one.id], render(one, names)
        _, there = ours.get(one.id, ("", None))
        noted = _SUM_LINE.search(there or "")
        if there == text:
            same += 1
        elif there is not None and (noted is None or noted[1] != checksum(there)):
            left.append(SkippedKnowledge(name, f"it was edited by hand; {one.id} is what counts"))
        else:
            fsio.make_dirs(folder, mode=0o755)
            path = os.path.join(folder, name)
            if there is None and os.path.lexists(path):
                raise UnsafePath(f"{path} is there already and is not ours", hint="Move it, then export again.")
            if os.path.islink(path):
                raise UnsafePath(f"{path} is a symbolic link; it is left alone", hint="Remove the link.")
            fsio.replace(path, text.encode(), mode=0o644)
            written.append(name)
    return MadrExport(folder, tuple(written), same, tuple(left))


def render(one: MadrDecision, names: Mapping[str, str]) -> str:
    """A decision as a record; `names` are the files of all that are exported."""
    title = block.safe_line(block.short_title(one.statement, MAX_TITLE)).rstrip(".").lstrip("#>-*+ ") or one.id
    parts = _parts(one.details)
    text = "\n".join(
        [
            "---",
            f"status: {frontmatter.word(_status(one, names))}",
            *([f"date: {one.date}"] if one.date else []),
            f"{ID}: {frontmatter.word(one.id)}",
            "---",
            f"\n# {title}",
            f"\n## Context and Problem Statement\n\n{parts['Rationale'] or 'Nobody wrote down why.'}",
            f"\n## Considered Options\n\n* {title}",
            f"\n## Decision Outcome\n\n{_paragraphs(one.statement)}",
            *([f"\n{parts['In full']}"] if parts["In full"] else []),
            *([f"\n### Consequences\n\n{parts['Consequences']}"] if parts["Consequences"] else []),
            *_more(one, names),
            "",
        ]
    )
    return text.replace("\n---\n", f"\n{SUM}: {checksum(text)}\n---\n", 1)


def checksum(text: str) -> str:
    """What tells an edited record from ours."""
    return hashlib.sha256(_SUM_LINE.sub("", text, count=1).encode()).hexdigest()[:16]


def _status(one: MadrDecision, names: Mapping[str, str]) -> str:
    if one.newer is None or one.status != "superseded":
        return one.status
    name = names.get(one.newer)
    return f"superseded by [ADR-{name.partition('-')[0]}]({name})" if name else f"superseded by {one.newer}"


def _parts(details: str) -> dict[str, str]:
    """The labelled paragraphs below a statement, each with what follows it; the rest counts as in full."""
    found: dict[str, list[str]] = {"Rationale": [], "Consequences": [], "In full": []}
    label = "In full"
    for paragraph in re.split(r"\n[ \t]*\n", details):
        if said := _LABELLED.match(paragraph):
            label = said[1] if said[1] in found else "In full"
            paragraph = paragraph[said.end() :] if said[1] in found else paragraph
        if paragraph.strip():
            found[label].append(_paragraphs(paragraph))
    return {name: "\n\n".join(rows) for name, rows in found.items()}


def _more(one: MadrDecision, names: Mapping[str, str]) -> list[str]:
    def linked(identity: str) -> str:
        return f"[{identity}]({names[identity]})" if identity in names else identity

    rows = [f"* Supersedes {linked(name)}" for name in one.supersedes]
    rows += [f"* Applies to `{block.safe_line(path)}`" for path in one.applies_to]
    rows += [f"* Rests on `{block.safe_line(text)}`" for text in one.evidence]
    return ["\n## More Information\n", *rows] if rows else []


def _paragraphs(text: str) -> str:
    return _STEERS.sub(r"\\", visible(text).strip())


def _existing(folder: str) -> tuple[dict[str, tuple[str, str]], set[int]]:
    """Our records in a folder, name and text, by the decision they are a copy of, and all numbers that are given."""
    ours: dict[str, tuple[str, str]] = {}
    taken: set[int] = set()
    for path in knowledge_files.listed(folder) if os.path.isdir(folder) else ():
        name = os.path.relpath(path, folder)
        if found := _NUMBER.fullmatch(os.path.basename(path)):
            taken.add(int(found[1]))
        read = knowledge_files.read(path, name)
        text = markdown_pieces.plain(read.text) if isinstance(read, KnowledgeText) and os.sep not in name else ""
        try:
            fields, _ = markdown_pieces.front(text)
        except frontmatter.BadFront:
            continue
        identity = next((one.value for one in fields if one.name == ID), None)
        if isinstance(identity, str) and is_id(identity):
            ours.setdefault(identity, (name, text))
    return ours, taken


def _names(decisions: Iterable[MadrDecision], ours: Mapping[str, tuple[str, str]], taken: set[int]) -> dict[str, str]:
    """The file of each decision; new ones are numbered behind all that are there."""
    names, number = {}, max(taken, default=0)
    for one in decisions:
        if one.id in ours:
            names[one.id] = ours[one.id][0]
        else:
            number += 1
            names[one.id] = f"{number:04}-{slug(block.short_title(one.statement), MAX_SLUG)}.md"
    return names
