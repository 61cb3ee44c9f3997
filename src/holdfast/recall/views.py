"""Views: memory as files for people and tools. They are rendered, never the source, and safe to delete.

Pure functions turn values into text; `write` puts a text into `.holdfast/view/`, which git ignores, and only if
something besides the time has changed: a file that changes every minute wakes every watcher for nothing.
"""

import json
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.model.memory import Memory, iso, source_run
from holdfast.model.text import in_json
from holdfast.patterns import regex
from holdfast.store import fsio
from holdfast.store import layout as paths
from holdfast.values import frozen

VERSION = 1
MAX_VIEW = 1 << 30  # bytes read to compare; a guess: larger views are written again
_UPDATED = regex(r'^ *"last_updated": "[^"\n]*"', re.MULTILINE)
_RENDERED = regex(r"^Rendered by Holdfast at [^\n]*", re.MULTILINE)


@frozen
class ViewHeader:
    """The state of the project that a view shows."""

    branch: str | None
    head: str | None
    time: str  # UTC


def state_json(
    trusted: Iterable[Memory],
    header: ViewHeader,
    *,
    stale: Iterable[Memory] = (),
    expired: Iterable[Memory] = (),
    unreviewed: Iterable[Memory] = (),
) -> str:
    """Returns state.json: the approved facts, and in lists of their own the stale, expired and unreviewed ones."""
    lists = {"facts": trusted, "stale": stale, "expired": expired, "unreviewed": unreviewed}
    return _text({**_head(header), **{name: [fact(memory) for memory in some] for name, some in lists.items()}})


def fact(memory: Memory) -> dict[str, Any]:
    """Returns a fact with the fields that state.json promises."""
    return {
        "id": memory.id,
        "layer": memory.layer,
        "confidence": memory.confidence,
        "statement": memory.statement,
        "source_run": source_run(memory),
        "evidence": list(memory.evidence),
        "expires_at": iso(memory.expires_at) if memory.expires_at else None,
    }


def artifacts(
    produced: Iterable[tuple[str, Mapping[str, Any]]], tracked: set[str], *, erased: Collection[str] = ()
) -> dict[str, list[dict[str, Any]]]:
    """Returns the files that each task's runs produced, each content once, tracked files only; "" is no task.

    It names the first run that produced a content: later runs only found it there.
    """
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for run, item in produced:
        if item["path"] in tracked and run not in erased:
            row = {"path": item["path"], "sha256": item["sha256"], "run_id": run}
            found.setdefault(item["task"] or "", {}).setdefault(item["sha256"], row)
    return {task: list(rows.values()) for task, rows in sorted(found.items())}


def artifacts_json(by_task: Mapping[str, Sequence[Mapping[str, Any]]], header: ViewHeader) -> str:
    """Returns artifacts.json: which files each task produced."""
    return _text({**_head(header), "artifacts": {task: list(rows) for task, rows in by_task.items()}})


def log_jsonl(joined: Iterable[Mapping[str, Any]]) -> str:
    """Returns log.jsonl: one flat object an event."""
    rows = (json.dumps(event, ensure_ascii=False, separators=(",", ":")) for event in joined)
    return "".join(f"{in_json(row)}\n" for row in rows)


def write(layout: paths.Layout, name: str, text: str) -> bool:
    """Writes a view unless only its time would change; returns whether it was written."""
    path = fsio.inside(layout.top, f"{paths.VIEW}/{name}")
    if _is_unchanged(path, text):
        return False
    fsio.make_dirs(os.path.dirname(path))
    ignore = fsio.inside(layout.top, f"{paths.VIEW}/.gitignore")
    if not os.path.exists(ignore):  # before the view: git must never list the view as untracked
        fsio.replace(ignore, b"*\n", mode=0o644)
    fsio.sweep(path)
    fsio.replace(path, text.encode("utf-8", "replace"))
    return True


def remove(layout: paths.Layout, name: str) -> None:
    """Deletes a view, or a folder of them; foreign files in the folder stay."""
    path = fsio.inside(layout.top, f"{paths.VIEW}/{name}")
    for inner in layout.listed(path) if os.path.isdir(path) else ():
        fsio.remove(os.path.join(path, inner))
    if os.path.isdir(path):
        fsio.ops.rmdir(path)
    else:
        fsio.remove(path)


def _is_unchanged(path: str, text: str) -> bool:
    try:
        old = fsio.read(path, limit=MAX_VIEW).decode("utf-8", "replace")
    except (OSError, HoldfastError):  # missing or not readable: it is rendered again
        return False
    moment = _RENDERED if path.endswith(".md") else _UPDATED
    return old == text or moment.sub("", old, count=1) == moment.sub("", text, count=1)


def _head(header: ViewHeader) -> dict[str, Any]:
    return {"version": VERSION, "last_updated": header.time, "branch": header.branch, "head": header.head}


def _text(value: Any) -> str:
    return in_json(json.dumps(value, ensure_ascii=False, indent=2)) + "\n"
