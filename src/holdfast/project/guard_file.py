"""The guard file: the approved memories that an agent sees before an edit or a command, with their conditions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from holdfast.git import tracked_files
from holdfast.index import refresh
from holdfast.model import event
from holdfast.model import memory as model_memory
from holdfast.model.text import visible
from holdfast.patterns import PatternFile, regex
from holdfast.recall import applicable_memories, guards
from holdfast.recall.pack import pack_lines
from holdfast.store import fsio
from holdfast.store import layout as store_layout

if TYPE_CHECKING:
    from holdfast.curation.decisions import MemoryStanding
    from holdfast.git.clone import Clone

MAX_WORDS = 60  # of one memory; a guess: a statement and its tags have fewer
MAX_COMMANDS = 12  # of one memory; a guess: more is a list of commands and not a rule about them
_CODE = regex(r"`([^`\n]{2,120})`")
_COMMAND = regex(r"(?:\./|/)?[a-z][\w.+-]*(?:/[\w.+-]+)*(?:[ \t]+\S+)*")
_LISTS = PatternFile(__file__)
_LABELS = {"dead-end": "dead end"}


def is_shown_to_agents(one: MemoryStanding) -> bool:
    """Whether agents get this memory without asking (law 11)."""
    return one.status == "accepted" and one.trust == "T0"


def write(clone: Clone, standings: Sequence[MemoryStanding]) -> bool:
    """Writes the guard file; returns False if it may not be written, or if the state of the memory is unknown."""
    if clone.reading or clone.layout.private != clone.private.private:
        return False
    place, layout = refresh.place_of(clone), clone.private
    ground = guards.standing(place, layout, lambda: clone.repo.tree_id("HEAD", store_layout.TRACKED))
    # Without `ground` the file is empty until it is rendered again; hooks ignore a file of another state as well.
    data = guards.render(ground or "-", _guards(clone, standings) if ground else ())
    path = guards.file_of(place, layout)
    fsio.make_dirs(layout.guards)
    fsio.replace(path, data)
    return ground is not None


def _guards(clone: Clone, standings: Sequence[MemoryStanding]) -> Iterator[guards.MemoryGuard]:
    top, approved = clone.repo.top, [one for one in standings if is_shown_to_agents(one)]
    named = tracked_files.paths_mentioned(
        clone.repo, (one.memory.statement for one in approved if one.memory.type in guards.GUARDING)
    )
    for one in approved:
        memory, cited = one.memory, pack_lines.cited_files(one.memory.evidence)
        why = pack_lines.memory_grounds(memory)
        text = f"{memory.statement} ({why})" if why else memory.statement
        line = " ".join(visible(clone.scan.text(text)).split())
        line = line if len(line) <= guards.MAX_TEXT else line[: guards.MAX_TEXT - 1].rstrip() + "…"
        # A memory that is shown before edits also applies to files that it names or cites.
        more = (*named.get(memory.statement, ()), *cited) if memory.type in guards.GUARDING else ()
        yield guards.MemoryGuard(
            memory.id,
            memory.type,
            f"{memory.id} ({_LABELS.get(memory.type, memory.type)}): {line}",
            # A general memory is in every pack, so it is not repeated before every edit.
            places=model_memory.unique([*(set(memory.applies_to) - {applicable_memories.GENERAL}), *more]),
            commands=commands(text),
            words=applicable_memories.stems(f"{memory.statement} {' '.join(memory.tags)}")[:MAX_WORDS],
            rests_on=[guards.facts_of(top, path) for path in (*filter(None, [one.path]), *cited)],
            until=event.timestamp(memory.expires_at) if memory.expires_at else "",
        )


def commands(text: str) -> list[str]:
    """Returns the commands that a text names: code between backticks, and well-known tools.

    The memory is shown before an agent runs one of them. Missing a command is better than finding `make` wherever
    somebody makes something.
    """
    found = [" ".join(code.split()) for code in _CODE.findall(text) if _is_command(code)]
    for tool, rest in _named().findall(_CODE.sub(" ", text)):
        word = rest.strip()
        # `git` alone would match nearly every command.
        if word and word not in _LISTS.words("plain"):
            found.append(f"{tool} {word}")
        elif tool not in ("git", "python", "python3", "sed", "curl"):
            found.append(tool)
    return list(dict.fromkeys(found))[:MAX_COMMANDS]


@cache
def _named() -> re.Pattern[str]:
    tools = "|".join(map(re.escape, _LISTS.words("tools")))
    return re.compile(rf"(?<![\w./-])({tools})(?![\w./-])((?:[ \t]+[a-z][\w:-]*)?)")


def _is_command(code: str) -> bool:
    """Whether code looks like a shell command: a known tool first, or a name with arguments."""
    first, *more = code.split() or [""]
    is_named = first in _LISTS.words("tools") or first.startswith("./") or (bool(more) and first.isidentifier())
    return is_named and _COMMAND.fullmatch(code.strip()) is not None
