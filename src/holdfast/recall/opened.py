"""What `recall` finds and no log names: a commit, a turn of a run or a step of it, a place in a file.

Each is known by the id that `recall` prints. A turn comes from its run's capsule, the rest from git; of what
is not here, or is damaged, nothing is told.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from holdfast.git.clone import Clone
from holdfast.index.corpus import commits
from holdfast.index.corpus.choosing import Choice, Rules, chunks_of
from holdfast.index.corpus.objects import Objects
from holdfast.model.later import Later
from holdfast.patterns import regex
from holdfast.recall.thing import Shown
from holdfast.store import capsule

if TYPE_CHECKING:
    from holdfast.recall.why import recorded
else:
    recorded = Later("holdfast.recall.why.recorded")

MAX_FILES = 200  # of a commit that are named
_COMMIT = regex(r"[0-9a-f]{7,64}")
_TURN = regex(r"(?P<run>[^#\s]+)#(?P<turn>[1-9][0-9]{0,4})(?:\.(?P<step>[1-9][0-9]{0,5}))?")
_LINE = regex(r"(?P<path>.+):(?P<line>[1-9][0-9]{0,8})")


def commit(clone: Clone, text: str, memories: Mapping[str, str]) -> Shown | None:
    """A commit by its id or how that begins, with the runs it was made in and the memories that cite it."""
    asked = text.removeprefix("commit:").lower()
    oid = clone.repo.resolve(asked) if _COMMIT.fullmatch(asked) else None
    if oid is None or not oid.startswith(asked):  # a branch may be called so
        return None
    one = next(commits.read(clone.repo, [oid], clone.hide), None)
    if one is None:
        return None
    when = f"{datetime.fromtimestamp(max(one.seconds, 0), UTC):%Y-%m-%dT%H:%M:%S}Z"
    runs = recorded.records(clone, recorded.run_events(clone).values(), paths=(), commits=[oid])
    fields = {
        "author": one.author,
        "ts": when,
        "files": one.paths[:MAX_FILES],
        "more_files": max(0, len(one.paths) - MAX_FILES),
        "runs": [_turn_name(record, oid) for record in runs.values()],
        "memories": sorted(name for name, said in memories.items() if _cites(said, oid)),
    }
    return Shown(oid, "commit", None, one.message.strip("\n"), fields)


def _turn_name(record: recorded.Record, oid: str) -> str:
    turn = record.turn_of(oid)
    return f"{record.run}#{turn}" if turn else record.run


def _cites(said: str, oid: str) -> bool:
    return any(oid.startswith(found) for found in re.findall(r"commit:([0-9a-f]{7,64})", said))


def names_turn(text: str) -> tuple[str, int, int | None] | None:
    """The run, the turn and the step that an id names, if it is one of a turn."""
    found = _TURN.fullmatch(text)
    if found is None:
        return None
    return found["run"], int(found["turn"]), int(found["step"]) if found["step"] else None


def turn(run: str, folder: str, number: int, step: int | None) -> Shown | None:
    """A turn of a run, or one step of it, as its capsule tells."""
    rows = capsule.read_rows(folder, recorded.TURNS)
    told = next((row for row in rows if row.get("turn") == number), None)
    if told is None:
        return None
    if step is not None:
        return _step(run, folder, number, step)
    said = [word for word in _listed(told.get("said")) if isinstance(word, str)]
    names = ("ts", "ended", "interrupted", "by", "branch", "prompt", "line", "commands", "files", "commits")
    fields = {"run_id": run, "turn": number, **{name: told[name] for name in names if name in told}}
    return Shown(f"{run}#{number}", "turn", folder, "\n\n".join(said), fields)


def _step(run: str, folder: str, number: int, step: int) -> Shown | None:
    cycles = capsule.read_rows(folder, recorded.CYCLES)
    told = next((row for row in cycles if (row.get("turn"), row.get("n")) == (number, step)), None)
    if told is None:
        return None
    proposed, came = _object(told.get("proposal")), _object(told.get("result"))
    said = [proposed.get(name) for name in ("reasoning", "text", "plan")]
    text = "\n\n".join(word.strip() for word in said if isinstance(word, str) and word.strip())
    outputs = (call.get("output") for call in _objects(came.get("calls")))
    fields = {
        "run_id": run, "turn": number, "step": step, "ts": told.get("ts"), "model": told.get("model"),
        "calls": [_call(call) for call in _objects(proposed.get("calls"))],
    }  # fmt: skip
    printed = "\n".join(word.rstrip() for word in outputs if isinstance(word, str) and word.strip())
    return Shown(f"{run}#{number}.{step}", "cycle", folder, text, fields, printed=printed or None)


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    return {name: call.get(name) for name in ("name", "input")}


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> Iterable[Mapping[str, Any]]:
    return [item for item in _listed(value) if isinstance(item, dict)]


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def place(clone: Clone, text: str) -> Shown | None:
    """The piece of a file that holds a line, as HEAD has it: `path:line`."""
    found, head = _LINE.fullmatch(text), clone.repo.head().oid
    if found is None or head is None:
        return None
    path, line = found["path"].replace("\\", "/").removeprefix("./"), int(found["line"])
    data = Objects(clone.repo).text_at(head, path)
    chunks = [chunk for chunk in chunks_of(path, data, clone.hide) if chunk.line <= line] if data else []
    if not chunks or line > data.count(b"\n") + 1:
        return None
    last = chunks[-1]
    fields = {
        "file": path,
        "lines": f"{last.line}-{last.line + last.text.count(chr(10))}",
        "name": last.title,
        "under": last.context,
        "head": head,
    }
    return Shown(f"{path}:{last.line}", Rules(Choice()).kind_of(path) or "code", None, last.text, fields)
