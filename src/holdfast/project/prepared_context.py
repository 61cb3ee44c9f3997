"""Prepares the context of the next session when its inputs change, as one file that a hook prints.

The file records its inputs: the sizes and times of the files and folders that decide its text. The hook checks only
these. Tracked files are among them only if a memory in the context cites them: an agent sees other edits itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError
from holdfast.index import freshness
from holdfast.recall.pack import context_pack, pack_lines, sent_packs
from holdfast.store import fsio, kept_context
from holdfast.store.discovery import CONTEXTS, WORKER
from holdfast.store.kept_context import BARRED, KeptContext
from holdfast.store.layout import LINKS, MEMORY, SETTINGS, TASKS, user_settings

if TYPE_CHECKING:
    from holdfast.project import Project
    from holdfast.recall.pack.context_pack import ContextPack

MAX_CHARACTERS = 8_000  # Claude cuts at 10,000, Codex at 2,500 tokens
MAX_TOKENS = 2_000  # an upper bound: a token is never less than a quarter of the bytes, so this fits the characters
MAX_FOLDERS, MAX_FILES = 300, 500  # checked in one place; guesses: a hook checks each of them when a session starts
COMMITS, MEMORIES, TASK_WORDS, SESSIONS, BRANCHES, CITED = (
    *(b"commits", b"memory", b"tasks", b"sessions", b"other branches", b"cited files"),
)  # the kinds of changes, as shown to an agent

_WORKER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "interfaces", "agent_replies.py")

Stamp = tuple[bytes, bytes, bytes]  # label, facts, path


class PreparedContext:
    """A context built now, to print now and to store for the start of the next session."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._stamps = _settled(project)  # before reading, so that a change made meanwhile is not missed
        made = time.time_ns()
        found = project.context.pack(budget=MAX_TOKENS)
        # A context without sections is of no use to an agent.
        text = context_pack.pack_text(found) if found.sections else ""
        text = text if len(text) <= MAX_CHARACTERS else ""
        self._text, self._until = text, found.until
        self._stamps += _entry_stamps(project, found, before=made)
        head = sent_packs.head_of(project.clone, found, ts=project.clone.now())
        self.kept = KeptContext(
            json.dumps(text)[1:-1].encode("ascii"),
            key=_key(found),
            made=made,
            notes=" ".join(str(one["id"]) for one in sent_packs.entries(found)).encode("ascii", "replace"),
            receipt=json.dumps({"head": head, "lines": [*sent_packs.lines_of(found)]}).encode("ascii"),
            changed=(),
        )

    def keep(self) -> None:
        """Stores it for the next session; not in a sandbox, nor if a redaction rule would change it."""
        clone = self._project.clone
        place, private = freshness.WorkTreePaths(*_paths(self._project)), clone.private.private
        name = kept_context.file_name(os.fsencode(place.git_dir), os.fsencode(place.common_dir))
        if clone.reading or clone.layout.private != private or not name or clone.hide.text(self._text) != self._text:
            return
        until = int(datetime.fromisoformat(self._until).timestamp() * 1e9) if self._until else 0
        data = kept_context.render(self.kept, self._stamps, until=until)
        common = os.fsencode(place.common_dir)
        folder = os.fsdecode(common + CONTEXTS)
        try:
            fsio.make_dirs(folder)
            if data:
                fsio.replace(os.path.join(folder, os.fsdecode(name)), data)
                kept_context.thin_out(common)
            _remember_worker(folder)
        except (HoldfastError, OSError):
            pass  # a full or read-only disk: the next session builds its own


def _remember_worker(folder: str) -> None:
    """Writes the command that prepares contexts into a file; git's hook reads it there."""
    command, path = os.fsencode(f"{sys.executable}\n{_WORKER}\n"), os.path.join(folder, os.fsdecode(WORKER))
    if fsio.find(path, limit=1 << 16) != command:  # 64 KiB: far above two paths
        fsio.replace(path, command)


def _key(found: ContextPack) -> bytes:
    """Returns a hash of a context's text without its marker and its time."""
    text = "\n".join(text for text, line in context_pack.pack_rows(found) if line)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32].encode("ascii")


def _paths(project: Project) -> tuple[str, str, str]:
    repo = project.clone.repo
    return repo.top, repo.git_dir, repo.common_dir


# ── the inputs ───────────────────────────────────────────────────────────────────────────────────


def _settled(project: Project) -> list[Stamp]:
    """Returns the stamps of a context's inputs, taken when file times can tell the last change from the next."""
    stamps = [*_stamps(project)]
    newest = max((int(facts.split(b".")[0]) for _, facts, _ in stamps if facts != b"-"), default=0)
    wait = freshness.settles_in(newest, time.time_ns())
    if 0 < wait <= freshness.TICK:
        time.sleep(wait / 1e9)
        stamps = [*_stamps(project)]
    return stamps


def _stamps(project: Project) -> Iterator[Stamp]:
    for label, path in _places(project):
        raw = os.fsencode(path)
        yield label, kept_context.stamp(raw), raw


def _places(project: Project) -> Iterator[tuple[bytes, str]]:
    layout, (_, git_dir, common) = project.clone.layout, _paths(project)
    for path in (layout.settings, layout.in_tree(SETTINGS), user_settings(project.environ), layout.trusted):
        yield BARRED, path
    yield from _folders(BARRED, layout.erased)
    head = f"{git_dir}/HEAD"
    for name in ("HEAD", "logs/HEAD", "holdfast-line", *freshness.UNDER_WAY):
        yield COMMITS, os.path.join(git_dir, *name.split("/"))
    with open(head, "rb") as file:
        ref = os.fsdecode(file.read(4096)).strip()
    if ref.startswith("ref: "):
        yield COMMITS, os.path.join(common, *ref.removeprefix("ref: ").split("/"))
    yield COMMITS, os.path.join(common, "packed-refs")
    for path in (layout.pending, layout.sealed_changes, layout.candidates, layout.lines, layout.rewrites):
        yield MEMORIES, path
    yield from _folders(MEMORIES, layout.in_tree(MEMORY))
    yield from _folders(TASK_WORDS, layout.in_tree(TASKS))
    for path in (layout.in_tree(LINKS), layout.claims, layout.view("project_state.json")):
        yield TASK_WORDS, path
    for path in (layout.runs, layout.under_way, layout.bodies):
        yield SESSIONS, path
    for path in (layout.sessions, layout.spool):
        yield from _files(SESSIONS, path)
    for name in ("refs/heads", "refs/remotes"):
        yield from _folders(BRANCHES, os.path.join(common, *name.split("/")))


def _folders(label: bytes, top: str) -> Iterator[tuple[bytes, str]]:
    """Yields a folder and its subfolders: a file that is added, deleted or replaced changes its folder's time."""
    for count, (path, folders, _) in enumerate(os.walk(top)):
        folders.sort()
        yield label, path
        if count >= MAX_FOLDERS:
            return
    if not os.path.isdir(top):
        yield label, top


def _files(label: bytes, top: str) -> Iterator[tuple[bytes, str]]:
    """Yields a folder, its subfolders and their files, for files that grow."""
    count = 0
    for path, folders, names in os.walk(top):
        folders.sort()
        yield label, path
        for name in names:
            count += 1
            if count > MAX_FILES:
                return
            yield label, os.path.join(path, name)
    if not os.path.isdir(top):
        yield label, top


def _entry_stamps(project: Project, found: ContextPack, *, before: int) -> list[Stamp]:
    """Returns the stamps of the memory files in a context, and of the files that they cite."""
    included = {str(one["id"]) for one in sent_packs.entries(found)}
    stamps, top = {}, project.clone.repo.top
    for one in project.memory.knowledge().standings:
        if one.id not in included:
            continue
        cited = pack_lines.cited_files(one.memory.evidence) if one.memory.evidence else ()
        for label, path in ((MEMORIES, one.path), *((CITED, path) for path in cited)):
            raw = os.fsencode(os.path.join(top, *str(path).split("/")))
            facts = kept_context.stamp(raw)
            # A file that changed while the context was built may have been read before or after the change.
            is_newer = facts != b"-" and int(facts.split(b".")[0]) >= before
            stamps[raw] = (label, b"-" if is_newer else facts, raw)
    return list(stamps.values())[:MAX_FILES]
