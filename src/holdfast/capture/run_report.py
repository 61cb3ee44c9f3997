"""What is said about a run: its summary and the body of its event. Nothing is read or written here."""

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

from holdfast.model.transcript import cut
from holdfast.patterns import regex

MAX_TEXT = 1 << 16  # of one field in the event's body; the capsule has it in full
MAX_LISTED = 1 << 18  # bytes of artifacts in the body; outputs/files.json has them all
MAX_GIVEN = 1 << 16  # bytes of argument files in the body; inputs/files.json has them all
_SHOWN = 20  # files; a guess: what is read in a terminal
_REASON = 300  # characters of why
_SENTENCE = regex(r"[.!?]\s")


def command_line(argv: Sequence[str] | None) -> str | None:
    """The command as one would type it."""
    return None if argv is None else shlex.join(argv)


def chosen(environ: Mapping[str, str], allow: Sequence[str]) -> dict[str, str]:
    """The variables the settings allow to be kept, by name or by pattern."""
    return {n: environ[n] for n in sorted(environ) if any(fnmatchcase(n, pattern) for pattern in allow)}


def clean_text(text: str) -> str:
    """Text that can be written as UTF-8: bytes that were no text become `\\xNN`."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def how_it_ended(exit_status: int | None) -> str:
    """An exit status in words."""
    if exit_status is None:
        return "was cut short: its wrapper was killed"
    if exit_status > 128:
        return f"ended with exit code {exit_status} (signal {exit_status - 128})"
    return f"ended with exit code {exit_status}"


def duration(started: str, ended: str | None) -> int | None:
    """Milliseconds between two timestamps; None if either is unknown."""
    try:
        span = datetime.fromisoformat(ended or "") - datetime.fromisoformat(started)
    except ValueError:
        return None
    return max(0, int(span.total_seconds() * 1000))


def one_line(command: str | None, exit_status: int | None, milliseconds: int | None, changed: int | None) -> str:
    """A run in one sentence."""
    what = "the recorded block" if command is None else cut(command.split("\n")[0], 200)
    after = "" if milliseconds is None else f" after {milliseconds / 1000:.1f} s"
    files = "" if changed is None else f"; {_count(changed, 'file')} changed"
    return f"{what} {how_it_ended(exit_status)}{after}{files}"


def outputs(
    context: Mapping[str, Any],
    told: Mapping[str, Any],
    *,
    exit_status: int | None,
    ended: str | None,
    files: Sequence[Mapping[str, Any]] | None,
    said: str | None = None,
) -> dict[str, Any]:
    """What the event says came out: a sentence first, then sizes."""
    milliseconds = duration(str(context.get("started")), ended)
    changed = None if files is None else len(files)
    sentence = said or one_line(command_line(context.get("command")), exit_status, milliseconds, changed)
    fields = {"summary": sentence, **told, "duration_ms": milliseconds, "files_changed": changed}
    return {name: value for name, value in fields.items() if value is not None}


def summary(
    context: Mapping[str, Any], said: str, outputs: Mapping[str, Any], files: Sequence[Mapping[str, Any]] | None
) -> str:
    """summary.md: what ran, why, how it ended, and what it changed."""
    anchor = context.get("anchor") or {}
    fields = {
        "Why": why(context),
        "Task": context.get("task"),
        "Parent": context.get("parent_run_id"),
        "Started": context.get("started"),
        "Branch": anchor.get("branch"),
        "Commit": anchor.get("head"),
        "Folder": context.get("cwd"),
        "Prompt": cut(str(context.get("prompt") or "").split("\n")[0], 200) or None,
    }
    fields |= {key[:-6]: _count(n, "byte") for key, n in outputs.items() if key.endswith("_bytes")}
    rows = [f"# Run {context.get('run_id')}", "", said, ""]
    rows += [f"- {name}: {value}" for name, value in fields.items() if value is not None]
    if files is None:
        return "\n".join([*rows, "", "What it changed is not known."]) + "\n"
    rows += ["", f"Changed {_count(len(files), 'file')}{':' if files else '.'}"]
    rows += [f"- {_described(row)}" for row in files[:_SHOWN]]
    if len(files) > _SHOWN:
        rows.append(f"- and {len(files) - _SHOWN} more, see outputs/files.json")
    return "\n".join(rows) + "\n"


def why(context: Mapping[str, Any]) -> str | None:
    """Why a run was made: how its prompt begins, else its task, else its session's objective."""
    for name in ("prompt", "task", "objective"):
        if words := one_row(str(context.get(name) or "")[:MAX_TEXT]):
            if len(words) <= _REASON:
                return words
            # The first sentence, and those after it that still fit.
            ends = [found.end() for found in _SENTENCE.finditer(words[:_REASON])]
            return words[: ends[-1]].rstrip() if ends else cut(words, _REASON)
    return None


def one_row(text: str) -> str:
    """Text on one line."""
    return " ".join(text.split())


def _described(row: Mapping[str, Any]) -> str:
    state = "deleted" if row.get("deleted") else _count(row.get("size") or 0, "byte")
    shared = ", may be another run's work" if row.get("shared") else ""
    return f"{row.get('path')} ({state}{shared})"


def body(
    context: Mapping[str, Any], *, outputs: Mapping[str, Any], inputs: Mapping[str, Any] | None, root: str | None
) -> dict[str, Any]:
    """The part of a run event's body that its capsule tells; what is unknown is left out."""
    fields = {
        "task": cut(str(context.get("task") or ""), MAX_TEXT) or None,
        "command": cut(command_line(context.get("command")) or "", MAX_TEXT) or None,
        "prompt": cut(str(context.get("prompt") or ""), MAX_TEXT) or None,
        "inputs": inputs or None,
        "outputs": dict(outputs),
        "output_sha256": root,
    }
    return {name: value for name, value in fields.items() if value is not None}


def inputs(stdin: Mapping[str, Any] | None, files: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """What a command was given, as the event lists it: as many files as fit; None if it was nothing."""
    listed = _that_fit(files, ("path", "sha256", "size"), MAX_GIVEN)
    return {"stdin": stdin, "files": listed} if stdin or listed else None


def artifacts(files: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The produced files as the event lists them: as many as fit."""
    return _that_fit(files, ("path", "sha256", "size", "stored", "shared", "deleted", "copy"), MAX_LISTED)


def _that_fit(files: Sequence[Mapping[str, Any]], fields: Sequence[str], room: int) -> list[dict[str, Any]]:
    listed = []
    for row in files:
        room -= len(str(row.get("path"))) + 200
        if room < 0:
            break
        listed.append({name: row.get(name) for name in fields if name != "copy" or "copy" in row})
    return listed


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
