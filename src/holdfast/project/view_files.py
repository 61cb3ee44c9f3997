"""The rendered views below .holdfast/view: written for people and tools, never read as truth."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast import config
from holdfast.curation import memory_pages
from holdfast.curation import memory_pages as memory_edits
from holdfast.errors import HoldfastError
from holdfast.git import view_edits
from holdfast.project import guarding
from holdfast.project.concern import Concern
from holdfast.recall import daily_journal as journals
from holdfast.recall import views
from holdfast.security import redact, rules
from holdfast.store import fsio
from holdfast.store import layout as paths
from holdfast.work import project_state

if TYPE_CHECKING:
    from holdfast.config import Settings
    from holdfast.git.repo import Repo
    from holdfast.security.redact import Scanner

T = TypeVar("T")


class ViewFiles(Concern):
    """What people and tools can open."""

    def artifacts(self) -> dict[str, list[dict[str, Any]]]:
        """Task to the tracked files its runs produced, each content once."""
        tracked = set(self.clone.repo.run("ls-files", "-z").decode("utf-8", "surrogateescape").split("\0"))
        runs = (self.clone.joined(event) for event in self.clone.events() if event.kind == "run" and event.body)
        return views.artifacts(runs, tracked)

    def render(self, *, all_days: bool = False) -> None:
        """Write the views of the current state for people and tools; of the journal, today or all days."""
        header = self._header()
        shown, found = memory_edits.show_pages(self.clone, self.clone.clock())
        guarding.write(self.clone, found.standings)
        memories = {
            name: [one.memory for one in getattr(found, name) if one.memory.type == "fact"]
            for name in ("trusted", "stale", "expired", "unreviewed")
        }
        trusted = memories.pop("trusted")
        self.write("state.json", views.state_json(trusted, header, **memories))
        for page in shown.pages:
            text = memory_pages.render_page(page, branch=header.branch, head=header.head, time=header.time)
            view_edits.put(self.clone, page.name, text, write=views.write)
        self.write("artifacts.json", views.artifacts_json(self.artifacts(), header))
        if self.settings.has("tasks"):
            text = self.clone.hide.text(project_state.text(project_state.read(self.clone)))
            view_edits.put(self.clone, project_state.NAME, text, write=views.write)
        if self.settings.has("journal"):
            self._write_journal(None if all_days else [header.time[:10]])

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

    def render_quietly(self, *, all_days: bool = False) -> None:
        """A view is never the truth: what was done is done, whether or not it can be shown."""
        try:
            self.render(all_days=all_days)
        except (OSError, HoldfastError) as error:
            self.clone.notes.append(f"the views were not rendered: {error}")

    def write(self, name: str, text: str) -> None:
        """Render a view that takes no edits; one that somebody had git track is nobody's to write over."""
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
        """Write view/log.jsonl, and give its path."""
        self.write("log.jsonl", views.log_jsonl(self.project.log.events()))
        return self.clone.layout.view("log.jsonl")

    def _header(self) -> views.ViewHeader:
        head = self.clone.repo.head()
        branch = self.clone.hide.text(head.branch) if head.branch else None
        return views.ViewHeader(branch, head.oid, self.clone.now())


def _now() -> datetime:
    return datetime.now(UTC)


def _settings(repo: Repo, environ: Mapping[str, str]) -> Settings:
    return config.load(
        tracked=os.path.join(repo.top, *paths.SETTINGS.split("/")),
        clone=os.path.join(repo.common_dir, "holdfast", "settings.toml"),
        user=paths.user_settings(environ),
        environ=environ,
    )


def _scanners(settings: Settings) -> tuple[Scanner, Scanner | None, list[str]]:
    """The scanner for everything, the one for what agents say, and which shared rules are not used."""
    scan = redact.Scanner(settings.redact_rules, settings.redact_allow)
    if not settings.shared_rules:
        return scan, None, []
    narrow, refused = rules.narrow(settings.shared_rules, paths.SETTINGS)
    return scan, redact.Scanner((*settings.redact_rules, *narrow), settings.redact_allow), refused
