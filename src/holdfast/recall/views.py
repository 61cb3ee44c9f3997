"""Views: what memory looks like as files for people and tools. Rendered, never the truth, safe to delete.

Pure functions turn values into text; `write` puts a text into `.holdfast/view/`, which git ignores, and only
if something besides the time has changed: a file that changes every minute wakes every watcher for nothing.
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
MAX_VIEW = 1 << 30
_UPDATED = regex(r'^ *"last_updated": "[^"\n]*"', re.MULTILINE)
_RENDERED = regex(r"^Rendered by Holdfast at [^\n]*", re.MULTILINE)


@frozen
class ViewHeader:
    """Which state of the project a view shows."""

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
    """state.json: the facts that count, and apart from them those that no longer or do not yet."""
    lists = {"facts": trusted, "stale": stale, "expired": expired, "unreviewed": unreviewed}
    return _text({**_head(header), **{name: [fact(memory) for memory in some] for name, some in lists.items()}})


def fact(memory: Memory) -> dict[str, Any]:
    """A fact with the fields that state.json promises."""
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
    made: Iterable[tuple[str, Mapping[str, Any]]], tracked: set[str], *, erased: Collection[str] = ()
) -> dict[str, list[dict[str, Any]]]:
    """Task to the files its runs produced, each content once, tracked files only; runs of no task under "".

    The first run that produced a content is named: later ones only found it there.
    """
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for run, item in made:
        if item["path"] in tracked and run not in erased:
            row = {"path": item["path"], "sha256": item["sha256"], "run_id": run}
            found.setdefault(item["task"] or "", {}).setdefault(item["sha256"], row)
    return {task: list(rows.values()) for task, rows in sorted(found.items())}


def artifacts_json(by_task: Mapping[str, Sequence[Mapping[str, Any]]], header: ViewHeader) -> str:
    """artifacts.json: which files each task produced."""
    return _text({**_head(header), "artifacts": {task: list(rows) for task, rows in by_task.items()}})


def log_jsonl(joined: Iterable[Mapping[str, Any]]) -> str:
    """log.jsonl: one flat object an event."""
    rows = (json.dumps(event, ensure_ascii=False, separators=(",", ":")) for event in joined)
    return "".join(f"{in_json(row)}\n" for row in rows)


def write(layout: paths.Layout, name: str, text: str) -> bool:
    """Put a view in its place, unless it says the same already but for the time; whether it was written."""
    path = fsio.inside(layout.top, f"{paths.VIEW}/{name}")
    if _kept(path, text):
        return False
    fsio.make_dirs(os.path.dirname(path))
    ignore = fsio.inside(layout.top, f"{paths.VIEW}/.gitignore")
    if not os.path.exists(ignore):  # before the view: it must never show up as something to commit
        fsio.replace(ignore, b"*\n", mode=0o644)
    fsio.sweep(path)
    fsio.replace(path, text.encode("utf-8", "replace"))
    return True


def remove(layout: paths.Layout, name: str) -> None:
    """Take a view away, or a folder of them; what is in the way and not ours stays."""
    path = fsio.inside(layout.top, f"{paths.VIEW}/{name}")
    for inner in layout.listed(path) if os.path.isdir(path) else ():
        fsio.remove(os.path.join(path, inner))
    if os.path.isdir(path):
        fsio.ops.rmdir(path)
    else:
        fsio.remove(path)


def _kept(path: str, text: str) -> bool:
    try:
        there = fsio.read(path, limit=MAX_VIEW).decode("utf-8", "replace")
    except (OSError, HoldfastError):  # not there, or not ours: it is rendered again
        return False
    moment = _RENDERED if path.endswith(".md") else _UPDATED
    return there == text or moment.sub("", there, count=1) == moment.sub("", text, count=1)


def _head(header: ViewHeader) -> dict[str, Any]:
    return {"version": VERSION, "last_updated": header.time, "branch": header.branch, "head": header.head}


def _text(value: Any) -> str:
    return in_json(json.dumps(value, ensure_ascii=False, indent=2)) + "\n"
