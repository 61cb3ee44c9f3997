"""What the commands about git's hooks say, in words and as objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.interfaces.cli.words import count, lines, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.git.hooks import HookState, Installed, Removed

_HOW = {
    "config": "in git's configuration",
    "file": "a file of its own",
    "block": "first in the script that is there",
    "beside": "before the hook that is there",
    "by hand": "added by hand",
    "": "",
}


def installed(done: Installed) -> str:
    if not done.changed:
        return f"All {count(len(done.hooks), 'hook')} are installed already: {done.where}"
    return lines(
        f"Installed {count(len(done.hooks), 'hook')}: {done.where}",
        table([(name, _HOW[how]) for name, how in done.hooks]),
        "They only write down that git ran them. See that they fire with: holdfast hooks status",
    )


def installed_object(done: Installed) -> dict[str, Any]:
    hooks = [{"id": name, "how": how} for name, how in done.hooks]
    return {"how": done.how, "where": done.where, "changed": done.changed, "hooks": hooks}


def removed(done: Removed) -> str:
    if not done.hooks and not done.left:
        return "No hooks of Holdfast are installed here."
    return lines(
        f"Took out {count(len(done.hooks), 'hook')}; what was there before is there again.",
        [f"  {name}" for name in done.hooks],
        [f"note: {sentence}" for sentence in done.left],
    )


def removed_object(done: Removed) -> dict[str, Any]:
    return {"hooks": list(done.hooks), "left": list(done.left)}


def state(found: Sequence[HookState]) -> str:
    if not any(hook.installed or hook.trouble for hook in found):
        return lines(
            "No hooks are installed; the next command notices by itself what git did.",
            "Let git tell at once with: holdfast hooks install",
        )
    broken = any(hook.trouble or hook.fires is False for hook in found)
    return lines(
        table([(hook.name, _verdict(hook), _HOW[hook.how]) for hook in found], indent=""),
        [f"{hook.name}: {hook.trouble} ({hook.where})" for hook in found if hook.trouble],
        ["Mend it with: holdfast hooks install"] if broken else [],
    )


def _verdict(hook: HookState) -> str:
    if hook.fires is None:
        return "not tried" if hook.installed else "gone" if hook.trouble else "not installed"
    return "fires" if hook.fires else "does not fire"


def state_object(found: Sequence[HookState]) -> list[dict[str, Any]]:
    names = ("how", "where", "installed", "fires", "last", "trouble")
    return [{"id": hook.name, **{name: getattr(hook, name) for name in names}} for hook in found]
