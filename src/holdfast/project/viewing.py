"""Opening a project, and rendering its views: what all faces of a project share."""

import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Self, TypeVar

from holdfast import config
from holdfast.capture import finish_run, git_notices
from holdfast.capture import run as capture
from holdfast.config import Settings
from holdfast.curation import memory_conflicts, memory_pages
from holdfast.curation import memory_pages as memory_edits
from holdfast.curation import memory_state as standing_facts
from holdfast.curation.memory_state import MemoryListing
from holdfast.errors import HoldfastError, SwitchedOff
from holdfast.git import erase, hooks, publish_journal, view_edits
from holdfast.git.clone import Clone
from holdfast.git.repo import Repo
from holdfast.index.freshness import IndexSignature
from holdfast.project import guarding
from holdfast.recall import daily_journal as journals
from holdfast.recall import views
from holdfast.recall.search import TextSearch
from holdfast.security import rules
from holdfast.security.redact import Scanner
from holdfast.store import fsio
from holdfast.store import layout as paths
from holdfast.work import hand_edits, project_state, state_view_edits

T = TypeVar("T")


def _now() -> datetime:
    return datetime.now(UTC)


class Viewing:
    """A project's memory, opened and able to show itself."""

    def __init__(
        self,
        clone: Clone,
        settings: Settings,
        *,
        person: bool | Callable[[], str | None] = False,
        parent: str | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.clone, self.settings = clone, settings
        self.environ = environ or {}
        self._approves = person
        self._parent = parent  # the run this process itself is part of
        self._search: TextSearch | None = None
        self.seen: IndexSignature | None = None  # the state that `status` looked at

    @cached_property
    def _no_person(self) -> str | None:
        """Why approvals given through this object are no person's; looked at when something is approved."""
        if callable(self._approves):
            return self._approves()
        return None if self._approves else "no person was seen at a terminal"

    @property
    def _person(self) -> bool:
        return self._no_person is None

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] = ".",
        *,
        environ: Mapping[str, str] | None = None,
        person: bool | Callable[[], str | None] = False,
        clock: Callable[[], datetime] = _now,
        drain: bool = True,
    ) -> Self:
        """The project at a folder; NotInitialised if it has no memory yet.

        `person` says that approvals given through this object are a person's, or is asked why they are not;
        the command line looks for a terminal and for agents. Without `drain`, what agents' hooks told of
        waits.
        """
        environ = os.environ if environ is None else environ
        repo = Repo.discover(os.fspath(path))
        settings = _settings(repo, environ)
        scan, intake, warnings = _scanners(settings)
        clone = Clone.open(repo, cache=paths.cache_dir(environ), clock=clock, scan=scan, intake=intake)
        clone.trunk = settings.trunk
        clone.notes.extend((*settings.warnings, *warnings))
        parent = environ.get(capture.RUN_VARIABLE)
        project = cls(clone, settings, person=person, parent=parent, environ=environ)
        project._finish_what_was_cut_short()
        project._notice()
        if drain:
            project._drain_some()
        return project

    @classmethod
    def look(cls, path: str | os.PathLike[str] = ".", *, environ: Mapping[str, str] | None = None) -> Self:
        """The project as it lies there: nothing is made, moved or finished, and damage is no obstacle.

        For `doctor` where opening fails, and for `check`, which needs no store.
        """
        environ = os.environ if environ is None else environ
        repo = Repo.discover(os.fspath(path))
        private = os.path.join(repo.common_dir, "holdfast")
        layout = paths.Layout(repo.top, private, paths.cache_dir(environ))
        settings, clone = _settings(repo, environ), Clone(repo, layout, reading=True)
        clone.trunk = settings.trunk
        return cls(clone, settings)

    def _finish_what_was_cut_short(self) -> None:
        clone = self.clone
        clone.notes.extend(filter(None, (publish_journal.resume(clone), erase.resume(clone))))
        for gone in erase.sweep(clone):
            clone.notes.append(f"deleted again what had been erased: {gone}")
        for done in finish_run.complete_killed_runs(clone):
            clone.notes.append(f"completed run {done.run_id}, whose wrapper had been killed")

    def _notice(self) -> None:
        """What happened since the last command: in git, in task files, in the views that may be edited."""
        if self.settings.has("tasks") or self.settings.has("sessions"):
            there = git_notices.notice(self.clone)
            if any(move.kind == "branch" for move in there.new):
                self._render_quietly(all_days=True)  # what the views show is of the branch that was left
            if there.new:
                self._say_what_contradicts()
        self._leave_nothing_switched_off()
        taken: list[object] = [*memory_edits.take_edits(self.clone)]
        if self.settings.has("tasks"):
            taken += [*hand_edits.take(self.clone), *filter(None, [state_view_edits.take(self.clone)])]
        if taken:
            self._render_quietly()

    def _drain_some(self) -> None:
        """Take in what agents did since the last command; whoever knows how says so."""

    def _say_what_contradicts(self) -> None:
        """Two branches may each have accepted what the other denies; nobody looked at both before a merge."""
        for one in memory_conflicts.new_conflicts(self.clone, self.clone.clock())[:3]:
            self.clone.notes.append(f"{one.sentence}; decide with: holdfast review")

    def _leave_nothing_switched_off(self) -> None:
        """Where a feature was switched off after it was used, its hooks and views go; truth stays."""
        layout, has = self.clone.private, self.settings.has
        if not has("sessions") and os.path.lexists(layout.hook) and not self.clone.reading:
            hooks.remove(self.clone.repo, layout)
            self.clone.notes.append("git's hooks were taken out: sessions are switched off")
        for feature, name in (("tasks", project_state.NAME), ("journal", "journal")):
            if not has(feature) and os.path.lexists(layout.view(name)):
                views.remove(layout, name)

    @property
    def notices(self) -> list[str]:
        """What the user should be told beside the answer."""
        return self.clone.notes

    def facts(self) -> MemoryListing:
        """How every fact stands here: trusted, stale, unreviewed, expired, superseded, retired, and so on."""
        return standing_facts.list_memories(self.clone, self.clone.clock(), kind="fact")

    def knowledge(self, *, kind: str | None = None) -> MemoryListing:
        """The same of every memory, or of a kind: decision, assumption, invariant, fact or dead-end."""
        return standing_facts.list_memories(self.clone, self.clone.clock(), kind=kind)

    def artifacts(self) -> dict[str, list[dict[str, Any]]]:
        """Task to the tracked files its runs produced, each content once."""
        tracked = set(self.clone.repo.run("ls-files", "-z").decode("utf-8", "surrogateescape").split("\0"))
        runs = (self.clone.joined(event) for event in self.clone.events() if event.kind == "run" and event.body)
        return views.artifacts(runs, tracked)

    def render_views(self, *, all_days: bool = False) -> None:
        """Write the views of the current state for people and tools; of the journal, today or all days."""
        header = self._header()
        shown, found = memory_edits.show_pages(self.clone, self.clone.clock())
        guarding.write(self.clone, found.standings)
        memories = {
            name: [one.memory for one in getattr(found, name) if one.memory.type == "fact"]
            for name in ("trusted", "stale", "expired", "unreviewed")
        }
        trusted = memories.pop("trusted")
        self._write_view("state.json", views.state_json(trusted, header, **memories))
        for page in shown.pages:
            text = memory_pages.render_page(page, branch=header.branch, head=header.head, time=header.time)
            view_edits.put(self.clone, page.name, text, write=views.write)
        self._write_view("artifacts.json", views.artifacts_json(self.artifacts(), header))
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

    def _needs(self, feature: str) -> None:
        if not self.settings.has(feature):
            said = "the journal is" if feature == "journal" else f"{feature} are"
            where = self.settings.origins.get(f"features.{feature}", paths.SETTINGS)
            where = where.removeprefix(os.path.join(self.clone.repo.top, ""))
            raise SwitchedOff(
                f"{said} switched off (features.{feature} = false in {where})",
                hint=f"Set features.{feature} to true in {where}.",
            )

    def _shown(self, value: T) -> T:
        """What was done is in the views before it is told."""
        self._render_quietly()
        return value

    def _render_quietly(self, *, all_days: bool = False) -> None:
        """A view is never the truth: what was done is done, whether or not it can be shown."""
        try:
            self.render_views(all_days=all_days)
        except (OSError, HoldfastError) as error:
            self.clone.notes.append(f"the views were not rendered: {error}")

    def _write_view(self, name: str, text: str) -> None:
        """Render a view that takes no edits; one that somebody had git track is nobody's to write over."""
        if not view_edits.is_tracked(self.clone, name):
            views.write(self.clone.layout, name, self.clone.hide.text(text))

    def _view_quietly(self, name: str, text: str) -> None:
        try:
            view_edits.spare(self.clone, name)
            text = self.clone.hide.text(text)
            if views.write(self.clone.layout, name, text):
                view_edits.remember(self.clone, name, text.encode("utf-8", "replace"))
        except (OSError, HoldfastError) as error:
            self.clone.notes.append(f"{name} was not rendered: {error}")

    def render_log(self) -> str:
        """Write view/log.jsonl, and give its path."""
        self._write_view("log.jsonl", views.log_jsonl(self.log()))
        return self.clone.layout.view("log.jsonl")

    def log(self) -> list[dict[str, Any]]:
        """Every event visible here, in order, with what its body says."""
        return [self.clone.joined(event) for event in self.clone.events()]

    def _header(self) -> views.ViewHeader:
        head = self.clone.repo.head()
        branch = self.clone.hide.text(head.branch) if head.branch else None
        return views.ViewHeader(branch, head.oid, self.clone.now())

    def _close_search(self) -> None:
        if self._search is not None:
            self._search.close()
            self._search = None


def _settings(repo: Repo, environ: Mapping[str, str]) -> Settings:
    return config.load(
        tracked=os.path.join(repo.top, *paths.SETTINGS.split("/")),
        clone=os.path.join(repo.common_dir, "holdfast", "settings.toml"),
        user=paths.user_settings(environ),
        environ=environ,
    )


def _scanners(settings: Settings) -> tuple[Scanner, Scanner | None, list[str]]:
    """The scanner for everything, the one for what agents say, and which shared rules are not used."""
    scan = Scanner(settings.redact_rules, settings.redact_allow)
    if not settings.shared_rules:
        return scan, None, []
    narrow, refused = rules.narrow(settings.shared_rules, paths.SETTINGS)
    return scan, Scanner((*settings.redact_rules, *narrow), settings.redact_allow), refused
