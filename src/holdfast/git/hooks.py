"""Installs git hooks that only record, in addition to existing hooks, and removes them without a trace.

Git 2.54 and newer run hooks named in the clone's configuration; for older versions a marked block is added in
the folder that git takes hooks from, also where `core.hooksPath` sets it; that setting itself is never changed.
A folder that git tracks, or that is outside the repository, belongs to others: `install` refuses, with the line
its owner can add. `state` runs the hooks to prove that they work.
"""

import contextlib
import json
import os
import re
import shlex
from collections.abc import Iterator

from holdfast.errors import Busy, GitFailed, ReadOnlyStore, TooLarge, UnsafePath
from holdfast.git import hook_scripts
from holdfast.git.hook_scripts import ASIDE, NAMES
from holdfast.git.repo import Repo
from holdfast.patterns import regex
from holdfast.store import fsio, git_inbox, loose_records
from holdfast.store.layout import Layout
from holdfast.values import frozen, replace

CONFIG_HOOKS = (2, 54)  # the first git that reads hooks from its configuration
HOOK_RUN = (2, 36)  # the first git with `git hook run`
_SECTION = "hook.holdfast-"
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_BORROWED = regex(rb"^from holdfast\.store\.discovery import .*\n", re.MULTILINE)


@frozen
class HooksInstalled:
    """The result of `install`."""

    how: str  # config or files
    where: str  # the folder of hooks, or git's configuration file
    hooks: tuple[tuple[str, str], ...]  # each hook, and how: config, file, block or beside
    changed: bool


@frozen
class HooksRemoved:
    """The result of `remove`: what it removed, and what it had to leave."""

    hooks: tuple[str, ...]  # files and keys
    left: tuple[str, ...] = ()


@frozen(kw_only=True)
class HookState:
    """The state of one hook."""

    name: str
    where: str  # the file, or the key in git's configuration
    how: str  # config, file, block, beside, by hand, or nothing
    installed: bool
    fires: bool | None  # whether it ran in the test; None: not tested
    last: str | None = None  # when git ran it last, if no command has read that record yet
    trouble: str = ""  # why it cannot run, in words


def git_version(repo: Repo) -> tuple[int, int]:
    """Returns the version of the installed git."""
    found = re.search(r"(\d+)\.(\d+)", repo.text("version"))
    return (int(found[1]), int(found[2])) if found else (0, 0)


def install(repo: Repo, layout: Layout, *, python: str, version: tuple[int, int] | None = None) -> HooksInstalled:
    """Makes git's hooks record; a second call changes only what differs."""
    git = version or git_version(repo)
    with fsio.locked(layout.lock, wait=60.0):  # a guess: longer than most publishes hold it
        fsio.make_dirs(layout.inbox)
        fresh = _write(layout.hook, _script())
        if git >= CONFIG_HOOKS:
            return _install_config(repo, layout, python, fresh=fresh)
        return _install_files(repo, layout, python, fresh=fresh)


def refusal(repo: Repo) -> UnsafePath | None:
    """Returns why hooks cannot be installed here, with a hint; None if they can."""
    if git_version(repo) >= CONFIG_HOOKS:
        return None
    try:
        _usable_folder(repo)
    except UnsafePath as why:
        return why
    return None


def remove(repo: Repo, layout: Layout) -> HooksRemoved:
    """Restores every file as it was before, and deletes only our own."""
    with fsio.locked(layout.lock, wait=60.0):
        removed, left = _remove_files(repo, layout)
        removed += _remove_config(repo)
        for path in (layout.hook, _places_file(layout)):
            fsio.remove(path)
    return HooksRemoved(tuple(removed), tuple(left))


def state(repo: Repo, layout: Layout, *, prove: bool = True, version: tuple[int, int] | None = None) -> list[HookState]:
    """Returns the state of each hook; with `prove`, runs it with a token and checks that the token was recorded."""
    found = list(_look(repo, layout, version))
    if prove and any(hook.installed for hook in found):
        found = _proved(repo, layout, found, version or git_version(repo))
    waiting = [fired for fired in git_inbox.peek(layout) if fired.probe is None]
    last = {fired.hook: fired.ts for fired in waiting}
    return [replace(hook, last=last.get(hook.name)) for hook in found]


def is_outdated(layout: Layout) -> bool:
    """Returns whether the recording hook in the store is another version's; it still records."""
    with contextlib.suppress(OSError, UnsafePath, TooLarge):
        return fsio.read(layout.hook, limit=hook_scripts.MAX_SCRIPT) != _script()
    return False


def _script() -> bytes:
    """Returns the recording hook as one file: it must run even after Holdfast was uninstalled."""
    with (
        open(os.path.join(_PACKAGE, "interfaces", "hook.py"), "rb") as hook,
        open(os.path.join(_PACKAGE, "store", "discovery.py"), "rb") as discovery,
    ):
        text = discovery.read().partition(b"# \xe2\x94\x80\xe2\x94\x80 finding it")[0]
        return _BORROWED.sub(lambda _: text, hook.read(), count=1)


def _write(path: str, data: bytes) -> bool:
    """Writes a file of the store unless it has these bytes already; returns whether it wrote."""
    if loose_records.content(path, limit=hook_scripts.MAX_SCRIPT) == data:
        return False
    fsio.replace(path, data)
    return True


# Hooks in files


def _hooks_folder(repo: Repo) -> str:
    """Returns the folder git takes hooks from; /dev/null if hooks are disabled."""
    try:
        return os.path.realpath(repo.text("rev-parse", "--path-format=absolute", "--git-path", "hooks"))
    except GitFailed:  # core.hooksPath is empty
        return os.devnull


def _usable_folder(repo: Repo) -> str:
    """Returns the folder git takes hooks from; raises UnsafePath if it belongs to others."""
    folder, top = _hooks_folder(repo), os.path.realpath(repo.top)
    if os.path.lexists(folder) and not os.path.isdir(folder):
        message = f"git's hooks are disabled here: core.hooksPath is {folder}"
        raise UnsafePath(message, hint="Nothing is lost: the next holdfast command finds out what git did.")
    if _is_below(folder, os.path.realpath(repo.common_dir)):
        return folder
    if not _is_below(folder, top):
        raise UnsafePath(f"git takes its hooks from {folder}, outside this repository", hint=_manual_hint())
    paths = [os.path.join(os.path.relpath(folder, top), *more) for name in NAMES for more in ((name,), (ASIDE, name))]
    if repo.ignored(paths) != set(paths):
        shown = os.path.relpath(folder, top)
        message = f"git takes its hooks from {shown}, where new files would appear in `git status`"
        raise UnsafePath(message, hint=_manual_hint())
    return folder


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _manual_hint() -> str:
    named = f"{', '.join(NAMES[:-1])} and {NAMES[-1]}"
    return f"Add a line like this at the end of {named} there: {hook_scripts.by_hand(NAMES[0])}"


def _places_file(layout: Layout) -> str:
    return os.path.join(layout.private, "hooks.json")


def _places(layout: Layout) -> dict[str, bool]:
    """Returns the folders that have our blocks, each with whether we created it."""
    known = loose_records.read(_places_file(layout))
    return {folder: made is True for folder, made in known.items()}


def _install_files(repo: Repo, layout: Layout, python: str, *, fresh: bool) -> HooksInstalled:
    folder, places = _usable_folder(repo), _places(layout)
    script = os.path.relpath(os.path.realpath(layout.hook), folder)
    made = not os.path.isdir(folder)
    # Stored before it is used: after a crash, `remove` still finds the folder.
    known = json.dumps({**places, folder: places.get(folder, made)}, indent=1)
    noted = _write(_places_file(layout), known.encode("utf-8") + b"\n")
    fsio.make_dirs(folder, mode=0o755)
    before = [hook_scripts.look(os.path.join(folder, name)) for name in NAMES]
    hooks = [(name, hook_scripts.put_in(folder, name, script=script, python=python)) for name in NAMES]
    after = [hook_scripts.look(os.path.join(folder, name)) for name in NAMES]
    changed = bool(_remove_config(repo)) or fresh or noted or before != after
    return HooksInstalled("files", folder, tuple(hooks), changed)


def _remove_files(repo: Repo, layout: Layout) -> tuple[list[str], list[str]]:
    removed, left = [], []
    places = _places(layout)
    # Only files with our lines are changed, so every folder that may have them can be searched.
    usual = os.path.join(os.path.realpath(repo.common_dir), "hooks")
    for folder in dict.fromkeys((*places, usual, _hooks_folder(repo))):
        for name in NAMES if os.path.isdir(folder) else ():
            changed, note = hook_scripts.take_out(folder, name)
            removed += [os.path.join(folder, name)] if changed else []
            left += [note] if note else []
        if places.get(folder):
            with contextlib.suppress(OSError):  # gone, or it holds other files
                os.rmdir(folder)
    return removed, left


# Hooks in git's configuration


def _install_config(repo: Repo, layout: Layout, python: str, *, fresh: bool) -> HooksInstalled:
    wanted = {name: hook_scripts.configured(name, script=layout.hook, python=python) for name in NAMES}
    known = _configured(repo)
    for name, command in wanted.items():
        if known.get(name) != command:
            _configure(repo, "--replace-all", f"{_SECTION}{name}.command", command)
            _configure(repo, "--replace-all", f"{_SECTION}{name}.event", name)
    removed, _ = _remove_files(repo, layout)  # with both, everything would be recorded twice
    fsio.remove(_places_file(layout))
    changed = fresh or known != wanted or bool(removed)
    where = os.path.join(repo.common_dir, "config")
    return HooksInstalled("config", where, tuple((name, "config") for name in NAMES), changed)


def _configured(repo: Repo) -> dict[str, str]:
    """Returns each hook of ours in the clone's configuration, with its command."""
    arguments = ("config", "--local", "--null", "--get-regexp", r"^hook\.holdfast-.*\.command$")
    rows = os.fsdecode(repo.run(*arguments, ok=(0, 1))).split("\0")[:-1]
    pairs = [row.partition("\n")[::2] for row in rows]
    return {key[len(_SECTION) : -len(".command")]: command for key, command in pairs}


def _remove_config(repo: Repo) -> list[str]:
    known = [f"{_SECTION}{name}" for name in _configured(repo)]
    for section in known:
        _configure(repo, "--remove-section", section)
    return known


def _configure(repo: Repo, *args: str) -> None:
    done = repo.attempt_patiently("config", "--local", *args)
    if done.returncode:
        raise GitFailed(f"git did not change its configuration: {os.fsdecode(done.stderr).strip()}")


# The state of hooks, and whether they run


def _look(repo: Repo, layout: Layout, version: tuple[int, int] | None) -> Iterator[HookState]:
    folder, commands = _hooks_folder(repo), _configured(repo)
    config = bool(commands) and (version or git_version(repo)) >= CONFIG_HOOKS
    for name in NAMES:
        if name in commands:
            older = "this git is older than 2.54 and does not read hooks from its configuration"
            trouble, where = _trouble(layout, commands[name]) if config else older, f"{_SECTION}{name}"
            yield HookState(name=name, where=where, how="config", installed=True, fires=None, trouble=trouble)
        else:
            yield _look_at_file(layout, folder, name)


def _look_at_file(layout: Layout, folder: str, name: str) -> HookState:
    path = os.path.join(folder, name)
    try:
        seen = hook_scripts.look(path)
    except (OSError, UnsafePath, TooLarge):
        seen = None
    if seen is None or seen.block is None:
        by_hand = seen is not None and b"holdfast/hook.py" in (seen.data or b"")
        trouble = "" if by_hand else _why_missing(layout, folder)
        how = "by hand" if by_hand else ""
        return HookState(name=name, where=path, how=how, installed=by_hand, fires=None, trouble=trouble)
    aside = os.path.lexists(os.path.join(folder, ASIDE, name))
    how = ("beside" if aside else "file") if seen.is_ours else "block"
    trouble = _trouble(layout, seen.block) or ("" if seen.mode & 0o100 else "it is not executable")
    return HookState(name=name, where=path, how=how, installed=True, fires=None, trouble=trouble)


def _why_missing(layout: Layout, folder: str) -> str:
    """Returns why an installed hook is missing, in words; empty if none was installed."""
    places = _places(layout)
    if folder in places and os.path.basename(folder) == "_":
        return "husky recreated its folder without it"
    if folder in places:
        return "it was installed and is gone: another program has written this file"
    return "git takes its hooks from another folder now than when it was installed" if places else ""


def _trouble(layout: Layout, text: bytes | str) -> str:
    python = hook_scripts.interpreter(text)
    if python is None or not os.access(python, os.X_OK):
        return f"the Python it was installed with is gone: {python}"
    return "" if os.path.isfile(layout.hook) else f"{layout.hook} is gone"


def _proved(repo: Repo, layout: Layout, found: list[HookState], version: tuple[int, int]) -> list[HookState]:
    token, tried = os.urandom(8).hex(), [hook for hook in found if _may_be_fired(hook)]
    try:
        fsio.make_dirs(layout.inbox)
        with git_inbox.held(layout):
            for hook in tried:
                _fire(repo, hook, token, version)
            recorded = {fired.hook for fired in git_inbox.peek(layout) if fired.probe == token}
    except (Busy, ReadOnlyStore):
        return found
    return [
        replace(hook, fires=hook.name in recorded) if hook in tried or (hook.installed and hook.trouble) else hook
        for hook in found
    ]


def _may_be_fired(hook: HookState) -> bool:
    """Returns whether a test would run only our lines."""
    if not hook.installed or hook.trouble or hook.how == "by hand":
        return False
    if hook.how == "config":
        return True
    seen = hook_scripts.look(hook.where)
    return seen is not None and hook_scripts.leads(seen.data or b"")


def _fire(repo: Repo, hook: HookState, token: str, version: tuple[int, int]) -> None:
    options = [*_without_others(repo)] if hook.how == "config" else []
    run = ["hook", "run", "--ignore-missing", hook.name]
    if version < HOOK_RUN:
        options, run = ["-c", f"alias.holdfast-probe=!{shlex.quote(hook.where)}"], ["holdfast-probe"]
    repo.attempt(*options, *run, environ={git_inbox.PROBE: token})


def _without_others(repo: Repo) -> Iterator[str]:
    """Yields options with which git runs only our hooks."""
    yield from ("-c", f"core.hooksPath={os.devnull}")
    out = os.fsdecode(repo.run("config", "--null", "--name-only", "--get-regexp", r"^hook\..*\.command$", ok=(0, 1)))
    for key in dict.fromkeys(out.split("\0")[:-1]):
        if not key.startswith(_SECTION):
            yield from ("-c", f"{key.removesuffix('.command')}.enabled=false")
