"""Transcripts of Gemini CLI: `~/.gemini/tmp/<project>/chats/session-<time>-<id>.jsonl`, before that `.json`.

    chats/<session>/<id>.jsonl      a helper's own transcript
    .project_root, projects.json    which folder a project stands for; its sha256 stands in each transcript

A log of updates means something only as a whole, so a reading always begins at the file's beginning,
whatever offset it is given: every turn's `start` is 0. A turn is known by the id of its prompt, a step by
its message's. `logs.json` holds prompts that stand in the transcripts too, and is not read.
"""

import hashlib
import os
from collections.abc import Iterator

from holdfast.capture.agents import transcript_reader
from holdfast.capture.agents.gemini_turns import GeminiLog, folded, turns
from holdfast.capture.agents.transcript_reader import Dialect, TranscriptReading, dict_of, newest_first
from holdfast.capture.agents.transcript_text import own_words, short_name, text_value
from holdfast.errors import BadInput
from holdfast.model.transcript import TranscriptOrigin, cut
from holdfast.patterns import regex

_HEAD = 64 << 10
_ROOT = 4096  # bytes of a path
_IS_OURS = (regex(rb'"sessionId"\s*:'), regex(rb'"projectHash"\s*:'))
_TITLE = 200


def _files(home: str) -> Iterator[str]:
    """Of each session the files it lives on in: a `.json` that was resumed has a `.jsonl` beside it."""
    sessions: dict[str, list[str]] = {}
    for path in newest_first(_chats(os.path.join(home, "tmp"))):
        folder, file = os.path.split(path)
        stem = os.path.splitext(file)[0]
        session = stem[-8:] if stem.startswith("session-") else stem
        sessions.setdefault(os.path.join(folder, session), []).append(path)
    found = [path for files in sessions.values() for path in ([one for one in files if one.endswith("l")] or files)]
    yield from newest_first(found)


def _chats(folder: str) -> Iterator[str]:
    for above, _, names in os.walk(folder):
        parts = os.path.relpath(above, folder).split(os.sep)
        if len(parts) in (2, 3) and parts[1] == "chats":
            yield from (os.path.join(above, one) for one in sorted(names) if one.endswith((".json", ".jsonl")))


def _is_mine(path: str) -> bool:
    head = _beginning(path)
    return head.lstrip().startswith(b"{") and all(sign.search(head) for sign in _IS_OURS)


def _beginning(path: str, most: int = _HEAD) -> bytes:
    if not os.path.isfile(path):
        return b""
    try:
        with open(path, "rb") as file:
            return file.read(most)
    except OSError:
        return b""


def _read(path: str, _start: int = 0, origin: TranscriptOrigin | None = None) -> TranscriptReading:
    if not os.path.isfile(path):
        raise BadInput(f"{path} is no file")
    counted = transcript_reader.TranscriptCounts()
    log = folded(path, counted)
    known = origin or _origin(path, log)
    told = turns(log, counted, cwd=known.cwd, helper=known.role == "subagent")
    return TranscriptReading(known, told, counted)


def _origin(path: str, log: GeminiLog) -> TranscriptOrigin:
    known = log.known
    above = os.path.basename(os.path.dirname(path))
    helper = known.get("kind") == "subagent" or os.path.basename(os.path.dirname(os.path.dirname(path))) == "chats"
    stem = os.path.splitext(os.path.basename(path))[0]
    started = next((at for one in log.messages.values() if (at := short_name(one.get("timestamp")))), None)
    cwd = _root(path, log)
    return TranscriptOrigin(
        agent="gemini",
        session=short_name(known.get("sessionId")) or short_name(stem),
        role="subagent" if helper else "main",
        parent=short_name(above) or None if helper and above != "chats" else None,
        cwd=cwd,
        cwd_sha256=None if cwd else short_name(known.get("projectHash")) or None,
        started=short_name(known.get("startTime")) or started,
        title=cut(" ".join(own_words(text_value(known.get("summary"))).split()), _TITLE) or None,
    )


def _root(path: str, log: GeminiLog) -> str | None:
    """The folder of a session: as the tool notes it, else the one it knows whose hash is the session's."""
    folder = os.path.dirname(path)
    while folder != os.path.dirname(folder) and os.path.basename(folder) != "chats":
        folder = os.path.dirname(folder)
    project = os.path.dirname(folder)
    noted = _noted(project) if os.path.basename(folder) == "chats" else None
    return noted or _by_hash(short_name(log.known.get("projectHash")), _projects(project))


def _noted(project: str) -> str | None:
    home, short = os.path.dirname(os.path.dirname(project)), os.path.basename(project)
    for place in (project, os.path.join(home, "history", short)):
        said = _beginning(os.path.join(place, ".project_root"), _ROOT).decode("utf-8", "replace").strip()
        if said:
            return said
    return next((root for root, one in _projects(project).items() if one == short), None)


def _projects(project: str) -> dict[str, str]:
    """The folders that the tool knows, and their short names."""
    try:
        told = transcript_reader.document(os.path.join(os.path.dirname(os.path.dirname(project)), "projects.json"))
    except (OSError, BadInput):
        return {}
    return {text_value(root): text_value(short) for root, short in dict_of(told.get("projects")).items()}


def _by_hash(wanted: str, projects: dict[str, str]) -> str | None:
    """The folder with that hash among those that the tool knows."""
    hashes = {hashlib.sha256(root.encode("utf-8", "replace")).hexdigest(): root for root in projects}
    return hashes.get(wanted)


DIALECT = Dialect(
    "gemini", lambda environ, home: f"{environ.get('GEMINI_CLI_HOME') or home}/.gemini", _files, _is_mine, _read
)
