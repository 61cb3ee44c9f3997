"""Git hooks that record and never disturb: installed beside what is there, removed without a trace.

Git 2.54 and newer run hooks that the clone's configuration names; older ones get a marked block in the
folder of hooks that counts, wherever `core.hooksPath` puts it; that setting itself is never touched. A
folder that git tracks, or that lies outside the repository, is somebody else's: refused, with the
line its owner can add. That hooks fire is proved by firing them (`state`), never assumed.
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

CONFIG_HOOKS = (2, 54)  # the git that reads hooks from its configuration
HOOK_RUN = (2, 36)  # the git that can run one hook
_SECTION = "hook.holdfast-"
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_BORROWED = regex(rb"^from holdfast\.store\.discovery import .*\n", re.MULTILINE)


@frozen
class HooksInstalled:
    """What `install` did."""

    how: str  # config or files
    where: str  # the folder of hooks, or git's configuration file
    hooks: tuple[tuple[str, str], ...]  # each hook, and how: config, file, block or beside
    changed: bool


@frozen
class HooksRemoved:
    """What `remove` took out, and what it had to leave."""

    hooks: tuple[str, ...]  # files and keys
    left: tuple[str, ...] = ()


@frozen(kw_only=True)
class HookState:
    """One hook as it stands."""

    name: str
    where: str  # the file, or the key in git's configuration
    how: str  # config, file, block, beside, by hand, or nothing
    installed: bool
    fires: bool | None  # None: not tried
    last: str | None = None  # when it fired last, if no command has read that yet
    trouble: str = ""  # why it cannot fire, in words


def git_version(repo: Repo) -> tuple[int, int]:
    """The version of the git at hand."""
    found = re.search(r"(\d+)\.(\d+)", repo.text("version"))
    return (int(found[1]), int(found[2])) if found else (0, 0)


def install(repo: Repo, layout: Layout, *, python: str, version: tuple[int, int] | None = None) -> HooksInstalled:
    """Make git's hooks record; again changes nothing but what moved."""
    asked = version or git_version(repo)
    with fsio.locked(layout.lock, wait=60.0):
        fsio.make_dirs(layout.inbox)
        fresh = _write(layout.hook, _script())
        if asked >= CONFIG_HOOKS:
            return _install_config(repo, layout, python, fresh=fresh)
        return _install_files(repo, layout, python, fresh=fresh)


def refusal(repo: Repo) -> UnsafePath | None:
    """Why hooks cannot be installed here, with the way out; None if they can."""
    if git_version(repo) >= CONFIG_HOOKS:
        return None
    try:
        _ours_to_use(repo)
    except UnsafePath as why:
        return why
    return None


def remove(repo: Repo, layout: Layout) -> HooksRemoved:
    """Give back every file as it was, and delete only what we made."""
    with fsio.locked(layout.lock, wait=60.0):
        taken, left = _remove_files(repo, layout)
        taken += _remove_config(repo)
        for path in (layout.hook, _places_file(layout)):
            fsio.remove(path)
    return HooksRemoved(tuple(taken), tuple(left))


def state(repo: Repo, layout: Layout, *, prove: bool = True, version: tuple[int, int] | None = None) -> list[HookState]:
    """Each hook, and whether it fires: it is fired with a token, and the token looked for."""
    found = list(_look(repo, layout, version))
    if prove and any(hook.installed for hook in found):
        found = _proved(repo, layout, found, version or git_version(repo))
    waiting = [fired for fired in git_inbox.peek(layout) if fired.probe is None]
    last = {fired.hook: fired.ts for fired in waiting}
    return [replace(hook, last=last.get(hook.name)) for hook in found]


def is_outdated(layout: Layout) -> bool:
    """Whether the recording hook in the store is another version's; it still records."""
    with contextlib.suppress(OSError, UnsafePath, TooLarge):
        return fsio.read(layout.hook, limit=1 << 20) != _script()
    return False


def _script() -> bytes:
    """The recording hook as one file: it runs where Holdfast may not be found any more."""
    with (
        open(os.path.join(_PACKAGE, "interfaces", "hook.py"), "rb") as hook,
        open(os.path.join(_PACKAGE, "store", "discovery.py"), "rb") as discovery,
    ):
        text = discovery.read().partition(b"# \xe2\x94\x80\xe2\x94\x80 finding it")[0]
        return _BORROWED.sub(lambda _: text, hook.read(), count=1)


def _write(path: str, data: bytes) -> bool:
    """Set a file of the store unless it says that already; whether it had to."""
    if loose_records.content(path, limit=1 << 20) == data:
        return False
    fsio.replace(path, data)
    return True


# Where our blocks are


def _effective(repo: Repo) -> str:
    """The folder git takes hooks from; no folder if they are switched off."""
    try:
        return os.path.realpath(repo.text("rev-parse", "--path-format=absolute", "--git-path", "hooks"))
    except GitFailed:  # core.hooksPath is empty
        return os.devnull


def _ours_to_use(repo: Repo) -> str:
    """The folder git takes hooks from, refused if writing there is not for us."""
    folder, top = _effective(repo), os.path.realpath(repo.top)
    if os.path.lexists(folder) and not os.path.isdir(folder):
        said = f"git's hooks are switched off here: core.hooksPath is {folder}"
        raise UnsafePath(said, hint="Nothing is lost: the next command notices by itself what git did.")
    if _is_below(folder, os.path.realpath(repo.common_dir)):
        return folder
    if not _is_below(folder, top):
        raise UnsafePath(f"git takes its hooks from {folder}, outside this repository", hint=_by_hand())
    paths = [os.path.join(os.path.relpath(folder, top), *more) for name in NAMES for more in ((name,), (ASIDE, name))]
    if repo.ignored(paths) != set(paths):
        shown = os.path.relpath(folder, top)
        said = f"git takes its hooks from {shown}, and what is written there shows in `git status`"
        raise UnsafePath(said, hint=_by_hand())
    return folder


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _by_hand() -> str:
    named = f"{', '.join(NAMES[:-1])} and {NAMES[-1]}"
    return f"End {named} there each with a line like this: {hook_scripts.by_hand(NAMES[0])}"


def _places_file(layout: Layout) -> str:
    return os.path.join(layout.private, "hooks.json")


def _places(layout: Layout) -> dict[str, bool]:
    """The folders we put blocks in, each with whether we made it."""
    known = loose_records.read(_places_file(layout))
    return {folder: made is True for folder, made in known.items()}


def _install_files(repo: Repo, layout: Layout, python: str, *, fresh: bool) -> HooksInstalled:
    folder, places = _ours_to_use(repo), _places(layout)
    script = os.path.relpath(os.path.realpath(layout.hook), folder)
    made = not os.path.isdir(folder)
    # Known before it is used: what a crash leaves half done, `remove` still finds.
    known = json.dumps({**places, folder: places.get(folder, made)}, indent=1)
    noted = _write(_places_file(layout), known.encode("utf-8") + b"\n")
    fsio.make_dirs(folder, mode=0o755)
    before = [hook_scripts.look(os.path.join(folder, name)) for name in NAMES]
    hooks = [(name, hook_scripts.put_in(folder, name, script=script, python=python)) for name in NAMES]
    after = [hook_scripts.look(os.path.join(folder, name)) for name in NAMES]
    changed = bool(_remove_config(repo)) or fresh or noted or before != after
    return HooksInstalled("files", folder, tuple(hooks), changed)


def _remove_files(repo: Repo, layout: Layout) -> tuple[list[str], list[str]]:
    taken, left = [], []
    places = _places(layout)
    # Only files with our lines are touched, so it does no harm to look where we may never have been.
    usual = os.path.join(os.path.realpath(repo.common_dir), "hooks")
    for folder in dict.fromkeys((*places, usual, _effective(repo))):
        for name in NAMES if os.path.isdir(folder) else ():
            changed, kept = hook_scripts.take_out(folder, name)
            taken += [os.path.join(folder, name)] if changed else []
            left += [kept] if kept else []
        if places.get(folder):
            with contextlib.suppress(OSError):  # gone, or no longer ours alone
                os.rmdir(folder)
    return taken, left


# Hooks in git's configuration


def _install_config(repo: Repo, layout: Layout, python: str, *, fresh: bool) -> HooksInstalled:
    wanted = {name: hook_scripts.configured(name, script=layout.hook, python=python) for name in NAMES}
    known = _configured(repo)
    for name, command in wanted.items():
        if known.get(name) != command:
            _configure(repo, "--replace-all", f"{_SECTION}{name}.command", command)
            _configure(repo, "--replace-all", f"{_SECTION}{name}.event", name)
    taken, _ = _remove_files(repo, layout)  # both would record everything twice
    fsio.remove(_places_file(layout))
    changed = fresh or known != wanted or bool(taken)
    where = os.path.join(repo.common_dir, "config")
    return HooksInstalled("config", where, tuple((name, "config") for name in NAMES), changed)


def _configured(repo: Repo) -> dict[str, str]:
    """Each hook of ours in the clone's configuration, with its command."""
    asked = ("config", "--local", "--null", "--get-regexp", r"^hook\.holdfast-.*\.command$")
    rows = os.fsdecode(repo.run(*asked, ok=(0, 1))).split("\0")[:-1]
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


# How they stand, and whether they fire


def _look(repo: Repo, layout: Layout, version: tuple[int, int] | None) -> Iterator[HookState]:
    folder, commands = _effective(repo), _configured(repo)
    config = bool(commands) and (version or git_version(repo)) >= CONFIG_HOOKS
    for name in NAMES:
        if name in commands:
            older = "this git is older than 2.54 and reads no hooks from its configuration"
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
        trouble = "" if by_hand else _lost(layout, folder)
        how = "by hand" if by_hand else ""
        return HookState(name=name, where=path, how=how, installed=by_hand, fires=None, trouble=trouble)
    aside = os.path.lexists(os.path.join(folder, ASIDE, name))
    how = ("beside" if aside else "file") if seen.is_ours else "block"
    trouble = _trouble(layout, seen.block) or ("" if seen.mode & 0o100 else "it is not executable")
    return HookState(name=name, where=path, how=how, installed=True, fires=None, trouble=trouble)


def _lost(layout: Layout, folder: str) -> str:
    """Why a hook that was installed is not there, in words; nothing if it never was."""
    places = _places(layout)
    if folder in places and os.path.basename(folder) == "_":
        return "husky recreated its folder without it"
    if folder in places:
        return "it was installed and is gone: another program wrote this file"
    return "git takes its hooks from another folder since it was installed" if places else ""


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
            heard = {fired.hook for fired in git_inbox.peek(layout) if fired.probe == token}
    except (Busy, ReadOnlyStore):
        return found
    return [
        replace(hook, fires=hook.name in heard) if hook in tried or (hook.installed and hook.trouble) else hook
        for hook in found
    ]


def _may_be_fired(hook: HookState) -> bool:
    """Whether a test would run nothing but ours."""
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
    """Options under which git runs no hook but ours."""
    yield from ("-c", f"core.hooksPath={os.devnull}")
    out = os.fsdecode(repo.run("config", "--null", "--name-only", "--get-regexp", r"^hook\..*\.command$", ok=(0, 1)))
    for key in dict.fromkeys(out.split("\0")[:-1]):
        if not key.startswith(_SECTION):
            yield from ("-c", f"{key.removesuffix('.command')}.enabled=false")
