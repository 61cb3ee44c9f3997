"""Commands about git's hooks: hooks install, remove, status.

What the commands about git's hooks say, in words and as objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.interfaces.cli.invocation import Invocation, answer, command, group
from holdfast.interfaces.cli.output import as_plain, picked, show
from holdfast.interfaces.cli.phrases import count, lines, table, wording
from holdfast.interfaces.cli.root import root

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.git.hooks import HooksInstalled, HooksRemoved, HookState
    from holdfast.project import Project


def installed(done: HooksInstalled) -> str:
    if not done.changed:
        return f"All {count(len(done.hooks), 'hook')} are installed already: {done.where}"
    return lines(
        f"Installed {count(len(done.hooks), 'hook')}: {done.where}",
        table([(name, wording("hooks").get(how, "")) for name, how in done.hooks]),
        "Test them with: holdfast hooks status",
    )


def installed_object(done: HooksInstalled) -> dict[str, Any]:
    return {**as_plain(done), "hooks": [{"id": name, "how": how} for name, how in done.hooks]}


def removed(done: HooksRemoved) -> str:
    if not done.hooks and not done.left:
        return "No git hooks of Holdfast are installed here."
    return lines(
        f"Removed {count(len(done.hooks), 'hook')}; every file is as it was before.",
        [f"  {name}" for name in done.hooks],
        [f"note: {sentence}" for sentence in done.left],
    )


def state(found: Sequence[HookState]) -> str:
    if not any(hook.installed or hook.trouble for hook in found):
        return lines(
            "No git hooks are installed; each command finds what git did since the last one.",
            "Install them with: holdfast hooks install",
        )
    firing = {True: "works", False: "does not work"}
    rows = []
    how = wording("hooks")
    for hook in found:
        untried = "not tried" if hook.installed else "gone" if hook.trouble else "not installed"
        rows.append((hook.name, untried if hook.fires is None else firing[hook.fires], how.get(hook.how, "")))
    return lines(
        table(rows, indent=""),
        [f"{hook.name}: {hook.trouble} ({hook.where})" for hook in found if hook.trouble],
        ["Repair it with: holdfast hooks install"] if _broken(found) else [],
    )


def _broken(found: Sequence[HookState]) -> bool:
    return any(hook.trouble or hook.fires is False for hook in found)


def state_object(found: Sequence[HookState]) -> list[dict[str, Any]]:
    names = ("how", "where", "installed", "fires", "last", "trouble")
    return [{"id": hook.name, **picked(hook, *names)} for hook in found]


@group(root, "hooks", "status")
def hooks() -> None:
    """Install or remove git hooks that record what git does."""


@answer(hooks, "install", installed, installed_object)
def install(project: Project) -> object:
    """Install git hooks that record commits, merges, checkouts and rewrites.

    Hooks that you have already go on working.
    """
    return project.sync.install_hooks()


@answer(hooks, "remove", removed)
def remove(project: Project) -> object:
    """Remove the hooks and restore every file."""
    return project.sync.remove_hooks()


@command(hooks, "status")
def status(place: Invocation) -> int:
    """Show each hook and test that it runs; exit code 1 if one does not.

    Each of our hooks is run once; other hooks are not run.
    """
    with place.project() as project:
        found = project.sync.hook_states()
        show(found, state, state_object)
        return int(_broken(found))
