"""Facts that may no longer hold: expired, or resting on evidence that moved on.

Nothing here is damage. A person decides in review; the doctor only points.
"""

import shlex
from collections.abc import Iterator, Mapping

from holdfast.diagnostics.findings import Finding
from holdfast.errors import BrokenEntry, CorruptLog, GitFailed, TooLarge, UnsafePath
from holdfast.git.clone import Clone
from holdfast.git.evidence import State, states
from holdfast.git.parts import placed
from holdfast.git.visible import Sighting
from holdfast.model.memory import Accepted, Retired, is_expired, iso
from holdfast.store import layout

_REVIEW = "Look at it in `holdfast review`: accept it as it is now, change it, or deprecate it."

_MEND = "Mend the file by hand; until then it is left out and nothing is lost."


def examine(clone: Clone) -> Iterator[Finding]:
    """What a person should look at again among the facts visible here."""
    try:
        seen = clone.entries(layout.MEMORY)
    except (CorruptLog, UnsafePath, TooLarge, GitFailed) as error:
        yield _finding("problem", layout.MEMORY, str(error), "Mend what it names, then run this again.")
        return
    memories: list[tuple[str, Accepted]] = []
    for one in placed(clone.repo, seen):
        try:
            memory = one.parse()
        except BrokenEntry as error:
            yield _broken(one.sighting, error)
            continue
        if not isinstance(memory, Accepted | Retired):
            said = f"{memory.id} is a candidate or a tombstone; entries are accepted or deprecated"
            yield _finding("problem", one.sighting.path, said, _MEND)
        elif _misplaced(one.sighting.path, memory.type):
            yield _in_wrong_folder(one.sighting.path, memory.id, memory.type)
        if isinstance(memory, Accepted):
            memories.append((one.sighting.path, memory))
    try:
        held = states(clone, (text for _, memory in memories for text in memory.evidence))
    except (CorruptLog, GitFailed) as error:
        # The damage itself is reported where it lies; only what rests on it cannot be judged.
        yield _finding("note", layout.MEMORY, f"evidence could not be checked: {error}", _REVIEW)
        return
    for path, memory in memories:
        yield from _stale(clone, path, memory, held)


def _broken(sighting: Sighting, error: BrokenEntry) -> Finding:
    line, _, reason = str(error).removeprefix(f"{sighting.path}:").partition(" ")
    return Finding(
        severity="problem",
        topic="facts",
        file=sighting.path,
        line=int(line) if line.isdigit() else None,
        sentence=reason,
        next_step=_MEND,
    )


def _misplaced(path: str, kind: str) -> bool:
    """Whether an entry lies in the folder of another type; elsewhere below `memory/` any may lie."""
    kinds = [one for one, folder in layout.FOLDER_OF.items() if path.startswith(f"{folder}/")]
    return bool(kinds) and kind not in kinds


def _in_wrong_folder(path: str, name: str, kind: str) -> Finding:
    words = f"{'an' if kind[0] in 'ai' else 'a'} {kind}"
    sentence = f"{name} is {words} in the folder of {path.split('/')[2]}; it counts as {words} all the same"
    step = f"Move it: `git mv {shlex.quote(path)} {layout.FOLDER_OF[kind]}/`."
    return _finding("problem", path, sentence, step)


def _stale(clone: Clone, path: str, memory: Accepted, held: Mapping[str, State]) -> Iterator[Finding]:
    if memory.expires_at is not None and is_expired(memory, clone.clock()):
        yield _finding("note", path, f"{memory.id} expired at {iso(memory.expires_at)}", _REVIEW)
    for text in memory.evidence:
        if held[text] != "holds":
            yield _finding("note", path, f"{memory.id} is stale: {text} is {held[text]}", _REVIEW)


def _finding(severity: str, path: str, sentence: str, step: str) -> Finding:
    return Finding(severity=severity, topic="facts", file=path, sentence=sentence, next_step=step)
