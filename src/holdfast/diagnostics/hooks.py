"""Do git's hooks tell us what happens? Proved by firing them, not by looking at files.

A hook that does not fire loses nothing: the next command still notices what git did, only later and
without the map of a rewrite. So hooks that were never installed are a note; hooks somebody
installed and believes in, and that do not fire, are a problem.
"""

import os
from collections.abc import Iterator, Sequence

from holdfast.diagnostics.findings import Finding
from holdfast.errors import GitFailed
from holdfast.git import hooks
from holdfast.git.clone import Clone
from holdfast.git.hooks import HookState

INSTALL = "Run `holdfast hooks install`."
_AGAIN = "Run `holdfast hooks install` again."


def examine(clone: Clone) -> list[Finding]:
    """What is wrong or worth knowing about this clone's hooks; one that only looks fires none."""
    try:
        found = hooks.state(clone.repo, clone.private, prove=not clone.reading)
    except GitFailed as error:
        return [_finding("note", "git", f"its hooks cannot be looked at: {error}", "")]
    judged = list(_judged(found, clone.repo.top))
    if hooks.is_outdated(clone.private) and any(hook.installed for hook in found):
        said = "the recording hook is of another version of Holdfast"
        judged.append(_finding("note", _place(clone.private.hook, clone.repo.top), said, _AGAIN))
    return judged


def _judged(found: Sequence[HookState], top: str) -> Iterator[Finding]:
    if not any(hook.installed or hook.trouble for hook in found):
        return  # a choice: what git does is then noticed by the next command, not at once
    # Four hooks with one cause are one thing to mend.
    for trouble in dict.fromkeys(hook.trouble for hook in found if hook.trouble):
        named = [hook for hook in found if hook.trouble == trouble]
        yield _finding("problem", _shown(named, top), f"{_names(named)} cannot fire: {trouble}", _step(trouble))
    silent = [hook for hook in found if hook.fires is False and not hook.trouble]
    if silent:
        step = "See what it prints with `git hook run NAME`, then run `holdfast hooks install` again."
        yield _finding("problem", _shown(silent, top), f"{_names(silent)} ran and recorded nothing", step)
    missing = [hook for hook in found if not hook.installed and not hook.trouble]
    if missing:
        yield _finding("note", _shown(missing, top), f"{_names(missing)} is not installed", INSTALL)


def _step(trouble: str) -> str:
    if "husky" in trouble:
        return f"{_AGAIN} Husky does this with every install of packages; put it behind that in `prepare`."
    return _AGAIN


def _names(found: Sequence[HookState]) -> str:
    names = [hook.name for hook in found]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _shown(found: Sequence[HookState], top: str) -> str:
    return _place(found[0].where, top) if len(found) == 1 else _folder(found, top)


def _folder(found: Sequence[HookState], top: str) -> str:
    where = found[0].where
    return _place(os.path.dirname(where), top) if os.path.isabs(where) else ".git/config"


def _place(path: str, top: str) -> str:
    shown = os.path.relpath(path, top) if os.path.isabs(path) else path
    return path if shown.startswith(os.pardir) else shown.replace(os.sep, "/")


def _finding(severity: str, file: str, sentence: str, step: str) -> Finding:
    return Finding(severity=severity, topic="git", file=file, sentence=sentence, next_step=step)
