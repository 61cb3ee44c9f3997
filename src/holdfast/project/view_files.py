"""Renders the views below .holdfast/view for people and tools; Holdfast never reads them as data."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

from holdfast.curation import memory_pages
from holdfast.errors import HoldfastError
from holdfast.git import view_edits
from holdfast.project import guard_file
from holdfast.project.concern import Concern
from holdfast.recall import daily_journal as journals
from holdfast.recall import views
from holdfast.store import fsio
from holdfast.store import layout as paths
from holdfast.work import project_state

if TYPE_CHECKING:
    from holdfast.curation.memory_state import MemoryListing
    from holdfast.project import Project


_SHOWS = {"memory": "state.json", "runs": "artifacts.json", "tasks": view_edits.STATE}  # a view of each subject
_SHOWN = "views-shown"  # begins with `views-`: answers do not depend on this file
MOST_ARTIFACTS = 1000  # files in artifacts.json; a guess: nobody reads a view that grows for ever


class ViewFiles(Concern):
    """The rendered files that people and tools can open."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self._noted: set[str] = set()

    def artifacts(self) -> dict[str, list[dict[str, Any]]]:
        """Returns task to the tracked files that its runs produced, each content once."""
        found = self.clone.produced(newest=MOST_ARTIFACTS)
        listed = self.clone.repo.run("ls-files", "-z") if found else b""
        return views.artifacts(found, set(os.fsdecode(listed).split("\0")), erased=self.clone.erased())

    def render(self, *subjects: str, all_days: bool = False) -> None:
        """Writes the views of the given subjects (memory, candidates, runs, tasks, sessions), or all views; of the
        journal, today or all days.
        """
        at, head = self.clone.repo.head(), self._in_head()
        header = views.ViewHeader(self.clone.hide.text(at.branch) if at.branch else None, at.oid, self.clone.now())
        changed = {*subjects, *self._noted} if subjects else {*_SHOWS}
        self._noted.clear()
        if "memory" in changed:
            self._render_memory(header)
        elif "candidates" in changed:
            self._put_page(memory_pages.show_candidates(self.clone), header)
        if "runs" in changed:
            self.write("artifacts.json", views.artifacts_json(self.artifacts(), header))
        if "tasks" in changed and self.settings.has("tasks"):
            text = project_state.text(project_state.read(self.clone), self.clone)
            view_edits.put(self.clone, project_state.NAME, text, write=views.write)
        if self.settings.has("journal"):
            self._write_journal(None if all_days else [header.time[:10]])
        self._remember({subject: tree for subject, tree in head.items() if subject in changed})

    def catch_up(self, found: MemoryListing) -> bool:
        """Renders views that are out of date (after a pull, or an edited file); returns whether there were any."""
        behind = self.behind()
        states = "\n".join(f"{one.id} {one.status} {one.blob}" for one in found.standings)
        standing = {"standing": hashlib.sha256(states.encode("utf-8", "replace")).hexdigest()}
        if view_edits.read_record(self.clone, _SHOWN).get("standing") != [standing["standing"]]:
            behind.add("memory")
        if behind:
            self.render_quietly(*behind)
            self._remember(standing)
        return bool(behind)

    def behind(self) -> set[str]:
        """Returns the subjects whose views are missing or were written from another state."""
        shown, layout = view_edits.read_record(self.clone, _SHOWN), self.clone.layout
        missing = {subject for subject, name in _SHOWS.items() if not os.path.exists(layout.view(name))}
        missing -= set() if self.settings.has("tasks") else {"tasks"}
        return missing | {subject for subject, state in self._in_head().items() if shown.get(subject) != [state]}

    def published(self, behind: set[str]) -> None:
        """Records that the views are current: publish moved the pending changes to HEAD. Not for views in `behind`."""
        self._remember({subject: tree for subject, tree in self._in_head().items() if subject not in behind})

    def _in_head(self) -> dict[str, str]:
        """Returns subject to the inputs of its views besides pending changes: HEAD, entry files, redaction rules."""
        repo = self.clone.repo
        state = f"{repo.head().oid} {repo.entry_facts() or self.clone.now()} {self.clone.hide.key}"
        return dict.fromkeys(_SHOWS, state)

    def _remember(self, trees: dict[str, str]) -> None:
        shown = view_edits.read_record(self.clone, _SHOWN)
        now = {**shown, **{subject: [tree] for subject, tree in trees.items()}}
        if now != shown and not self.clone.reading:
            view_edits.keep_record(self.clone, _SHOWN, now)

    def note(self, subject: str) -> None:
        """Marks a subject as changed, for the next rendering."""
        self._noted.add(subject)

    def _render_memory(self, header: views.ViewHeader) -> None:
        shown, found = memory_pages.show_pages(self.clone, self.clone.clock())
        guard_file.write(self.clone, found.standings)
        memories = {
            name: [one.memory for one in getattr(found, name) if one.memory.type == "fact"]
            for name in ("trusted", "stale", "expired", "unreviewed")
        }
        trusted = memories.pop("trusted")
        self.write("state.json", views.state_json(trusted, header, **memories))
        for page in shown.pages:
            self._put_page(page, header)

    def _put_page(self, page: memory_pages.MemoryPage, header: views.ViewHeader) -> None:
        text = memory_pages.render_page(page, branch=header.branch, head=header.head, time=header.time)
        view_edits.put(self.clone, page.name, text, write=views.write)

    def _write_journal(self, only: list[str] | None) -> None:
        clone, folder = self.clone, self.settings.journal_path
        if folder is not None:
            journals.write(clone, folder=folder, only=only)
            return
        days = only or [name.removesuffix(".md") for name in clone.layout.listed(clone.layout.view("journal"))]
        for day in days:
            view_edits.spare(clone, f"journal/{day}.md")
        for path in journals.write(clone, only=only):
            name = path.removeprefix(f"{paths.VIEW}/")
            data = fsio.read(fsio.inside(clone.repo.top, path), limit=views.MAX_VIEW)
            view_edits.remember(clone, name, data)

    def render_quietly(self, *subjects: str, all_days: bool = False) -> None:
        """Renders the views; a failure becomes a note, as the command's own work is done."""
        try:
            self.render(*filter(None, subjects), all_days=all_days)
        except (OSError, HoldfastError) as error:
            self.clone.notes.append(f"the views were not rendered: {error}")

    def write(self, name: str, text: str) -> None:
        """Writes a view that is not editable; leaves a file alone that somebody added to git."""
        if not view_edits.is_tracked(self.clone, name):
            views.write(self.clone.layout, name, self.clone.hide.text(text))

    def write_quietly(self, name: str, text: str) -> None:
        try:
            view_edits.spare(self.clone, name)
            text = self.clone.hide.text(text)
            if views.write(self.clone.layout, name, text):
                view_edits.remember(self.clone, name, text.encode("utf-8", "replace"))
        except (OSError, HoldfastError) as error:
            self.clone.notes.append(f"{name} was not rendered: {error}")

    def render_log(self) -> str:
        """Writes view/log.jsonl; returns its path."""
        self.write("log.jsonl", views.log_jsonl(self.project.log.events()))
        return self.clone.layout.view("log.jsonl")
