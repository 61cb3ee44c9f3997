"""Opens a project: finishes interrupted work, and imports what happened since the last command."""

from __future__ import annotations

import contextlib
import os
import re
from functools import partial
from typing import TYPE_CHECKING

from holdfast import config
from holdfast.capture import finish_run, git_notices
from holdfast.curation import memory_conflicts, memory_pages
from holdfast.errors import HoldfastError, SwitchedOff
from holdfast.git import erase, hooks, last_seen, project_setup, publish_journal, view_edits
from holdfast.git.clone import Clone
from holdfast.git.repo import Repo
from holdfast.model.ids import RUN_VARIABLE
from holdfast.project import Project
from holdfast.recall import views
from holdfast.security import redact, rules, sealed_text
from holdfast.store import agent_inbox, git_inbox, sealed_files
from holdfast.store import layout as paths
from holdfast.work import hand_edits, state_view_edits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from holdfast.security.sealed_text import TextVault
    from holdfast.store.sealed_files import SealingKeys


_LOOKED_AT = "views-entries"  # begins with `views-`: answers do not depend on this file


def open_project(
    path: str,
    *,
    environ: Mapping[str, str],
    person: bool | Callable[[], str | None] = False,
    clock: Callable[[], datetime] | None = None,
    drain: bool = True,
) -> Project:
    """Opens the project at a folder and brings it up to date."""
    repo = Repo.discover(path)
    settings = _settings(repo, environ)
    scan, intake = redact.Scanner(settings.redact_rules, settings.redact_allow), None
    warnings = [*settings.warnings]
    more: list[str] = []  # texts of agents are also redacted by the repository's shared rules, if these are safe
    if settings.shared_rules:
        more, refused = rules.narrow(settings.shared_rules, paths.SETTINGS)
        warnings += refused
    if settings.encryption_key:
        more += map(re.escape, sealed_text.words_of_variable(settings.encryption_key, environ))
    if more:
        intake = redact.Scanner((*settings.redact_rules, *more), settings.redact_allow)
    given = {} if clock is None else {"clock": clock}
    clone = Clone.open(repo, cache=paths.cache_dir(environ), scan=scan, intake=intake, **given)
    clone.trunk = settings.trunk
    clone.notes.extend(warnings)
    project = Project(clone, settings, person=person, parent_run=environ.get(RUN_VARIABLE), environ=environ)
    _set_up_sealing(project)
    _finish_interrupted_work(clone)
    _import_changes(project)
    if drain and (clone.has_sandbox_inbox or any(agent_inbox.is_filled(store) for store in clone.stores)):
        project.transcripts.drain_some()
    return project


def look(path: str, *, environ: Mapping[str, str]) -> Project:
    """Opens the project read-only, without repairs."""
    repo = Repo.discover(path)
    private = os.path.join(repo.common_dir, "holdfast")
    layout = paths.Layout(repo.top, private, paths.cache_dir(environ))
    settings, clone = _settings(repo, environ), Clone(repo, layout, reading=True)
    clone.trunk = settings.trunk
    project = Project(clone, settings, environ=environ)
    _set_up_sealing(project)
    return project


def _set_up_sealing(project: Project) -> None:
    """Tells the clone which files are sealed, and how to unlock them; a key is read only when it is needed."""
    project.clone.sealed_scope = frozenset(project.settings.encryption_scope)

    def unlock() -> TextVault:
        return project.keys.unlock()

    if project.settings.encryption_scope or project.settings.encryption_key:
        project.clone.unlock = unlock


def sealing_keys(project: Project) -> SealingKeys:
    """Returns the keys that the settings name."""
    settings = project.settings
    project_id = project_setup.project_id(
        project.clone, chosen=settings.database_project, is_shared=settings.database_url is not None
    )
    source = sealed_text.key_source(
        settings.encryption_key, project=project_id, identity=settings.encryption_identity, environ=project.environ
    )
    vault = sealed_text.TextVault(project_id, scope=settings.encryption_scope)
    shelf, lock = sealed_files.KeyFolder(project.clone.private), os.path.join(paths.cache_dir(project.environ), "keys")

    def join() -> object:
        has_agents = settings.database_url is not None or os.path.exists(project.clone.layout.agent_database)
        return project.agents.keys if has_agents else None

    return sealed_files.SealingKeys(vault, source, shelf, lock=f"{lock}.lock", join=join)


def initialise(path: str, *, commit: bool, git: bool, environ: Mapping[str, str]) -> project_setup.ProjectSetup:
    """Sets up a project's memory; with `git`, in a new git repository if there is none."""
    from holdfast.values import replace

    made_git = git and project_setup.enclosing_repository(path) is None
    if made_git:
        project_setup.git_init(path)
    done = project_setup.initialise(path, cache=paths.cache_dir(environ), commit=commit)
    Project.open(path, environ=environ).views.render_quietly()
    return replace(done, git_init=made_git)


def switched_off(project: Project, feature: str) -> SwitchedOff:
    """Returns the error for a feature that the settings switch off."""
    subject = "the journal is" if feature == "journal" else f"{feature} are"
    where = project.settings.origins.get(f"features.{feature}", paths.SETTINGS)
    where = where.removeprefix(os.path.join(project.clone.repo.top, ""))
    return SwitchedOff(
        f"{subject} switched off (features.{feature} = false in {where})",
        hint=f"Set features.{feature} to true in {where}.",
    )


def _finish_interrupted_work(clone: Clone) -> None:
    """Finishes a publish, an erase or a run that was killed; imports no module if there is none."""
    layout = clone.layout
    if os.path.lexists(layout.publishing):
        clone.notes.extend(filter(None, [publish_journal.resume(clone)]))
    if os.path.lexists(layout.erasing) or os.path.lexists(layout.trusted) or layout.listed(layout.erased):
        clone.notes.extend(filter(None, [erase.resume(clone)]))
        clone.notes.extend(f"deleted again, as it was erased before: {gone}" for gone in erase.sweep(clone))
    if any(store.listed(store.under_way) for store in clone.stores):
        for done in finish_run.complete_killed_runs(clone):
            clone.notes.append(f"completed run {done.run_id}, whose wrapper had been killed")


def _import_changes(project: Project) -> None:
    """Imports what happened since the last command: in git, in task files, in the editable views."""
    clone, has = project.clone, project.settings.has
    if (has("tasks") or has("sessions")) and (git_inbox.is_filled(clone.layout) or not last_seen.is_current(clone)):
        there = git_notices.notice(clone)
        if any(move.kind == "branch" for move in there.new):
            project.views.render_quietly(all_days=True)  # the views still show the previous branch
        # Two branches may each have accepted the opposite of the other; nobody compared them before the merge.
        for one in memory_conflicts.new_conflicts(clone, clone.clock())[:3] if there.new else ():
            clone.notes.append(f"{one.sentence}; decide with: holdfast review")
    _remove_switched_off(project)
    outcomes: list[object] = [*take_pages(clone)]
    if has("tasks"):
        outcomes += [*_take_task_files(clone), take_state(clone)]
    if any(outcomes):
        project.views.render_quietly()


def take_pages(clone: Clone) -> list[memory_pages.PageOutcome]:
    """Imports the memory pages that were edited since the last command; the clone's notes name them."""

    def take(name: str, data: bytes) -> memory_pages.PageOutcome:
        return memory_pages.take_page(clone, name, data)

    names = view_edits.changed(clone, view_edits.MEMORY_PAGES)
    found = [view_edits.taken(clone, name, partial(take, name)) for name in names]
    return [outcome for outcome in found if outcome is not None]


def take_state(clone: Clone) -> state_view_edits.ViewEditOutcome | None:
    """Imports an edit of project_state.json, or refuses it and keeps its text; None if there is none."""
    if not view_edits.changed(clone, [view_edits.STATE]):
        return None
    return view_edits.taken(clone, view_edits.STATE, lambda data: state_view_edits.take_state(clone, data))


def _take_task_files(clone: Clone) -> Sequence[object]:
    """Imports edits of task and link files; runs git only if an entry file, its index or HEAD changed."""
    facts = clone.repo.entry_facts()
    if facts is not None and view_edits.read_record(clone, _LOOKED_AT).get(_LOOKED_AT) == [facts]:
        return ()
    taken = hand_edits.take(clone)
    if facts is not None and not taken and not clone.reading and not hand_edits.has_taken(clone):
        with contextlib.suppress(HoldfastError, OSError):
            view_edits.keep_record(clone, _LOOKED_AT, {_LOOKED_AT: [facts]})
    return taken


def _remove_switched_off(project: Project) -> None:
    """Removes the hooks and views of features that were switched off after use; their data stays."""
    clone, layout, has = project.clone, project.clone.private, project.settings.has
    if not has("sessions") and os.path.lexists(layout.hook) and not clone.reading:
        hooks.remove(clone.repo, layout)
        clone.notes.append("git's hooks were removed: sessions are switched off")
    for feature, name in (("tasks", view_edits.STATE), ("journal", "journal")):
        if not has(feature) and os.path.lexists(layout.view(name)):
            views.remove(layout, name)


def _settings(repo: Repo, environ: Mapping[str, str]) -> config.Settings:
    return config.load(
        tracked=os.path.join(repo.top, *paths.SETTINGS.split("/")),
        clone=os.path.join(repo.common_dir, "holdfast", "settings.toml"),
        user=paths.user_settings(environ),
        environ=environ,
    )
