"""Law 2 for every command, on real file systems: one that is full, and one that may only be read.

Each case mounts its own in a namespace that ends with it. A command either works or says in one sentence what
was not stored; when there is space again, the store is sound and the command run again does its work.
"""

import ctypes
import inspect
import os
import random
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast import errors
from holdfast.project import Project
from tests.conftest import Answer, Quick

from .commands import ARGUMENTS, Stage, apart, every_command, grow
from .disk import plugged

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

NEW_MOUNTS, NEW_USERS = 0x00020000, 0x10000000
READ_ONLY, REMOUNT, BIND, PRIVATE = 1, 32, 4096, 1 << 18 | 1 << 14
SIZE = 48 << 20
CODES = {kind.code for _, kind in inspect.getmembers(errors, inspect.isclass)} - {errors.HoldfastError.code}
SERVES = {"crew work", "mcp", "web"}  # never end by themselves
# What a full disk must not turn into a success: exit 0 and nothing stored.
STORES = (*("import adr", "import codex", "import memory", "remember", "review accept", "session note"), "task add")


def mounted(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    words = [word.encode() or None for word in (source, target, kind)]
    if libc.mount(*words, flags, data.encode() or None):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), target)


def alone() -> None:
    """Leave the mounts of everybody else; without root, as root of a namespace of our own."""
    libc, uid, gid = ctypes.CDLL(None, use_errno=True), os.getuid(), os.getgid()
    if libc.unshare(NEW_MOUNTS if uid == 0 else NEW_MOUNTS | NEW_USERS):
        raise OSError(ctypes.get_errno(), "no namespaces here")
    if uid:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            Path(f"/proc/self/{name}").write_text(text)
    mounted("none", "/", "", PRIVATE)


def can_mount() -> bool:
    def act() -> bool:
        try:
            alone()
            mounted("none", tempfile.gettempdir(), "tmpfs", 0)
            mounted("none", tempfile.gettempdir(), "", REMOUNT | READ_ONLY | BIND)
        except (OSError, AttributeError):
            return False
        return True

    return bool(apart(act))


needs_mounts = pytest.mark.skipif(not can_mount(), reason="no private mounts here")


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    folder = tmp_path_factory.mktemp("stage")
    names = apart(lambda: grow(folder).names)  # nothing of it stays open here, or it could not be remounted
    return Stage(folder, names)


def filled(stage: Stage, left: int) -> Callable[[], None]:
    """Put the stage on a disk with so many bytes left; gives what frees it again."""
    scratch = tempfile.mkdtemp()
    mounted("none", scratch, "tmpfs", 0, f"size={SIZE}")
    for name in ("repo", "home", "out"):
        shutil.copytree(stage.folder / name, f"{scratch}/{name}", symlinks=True)
    mounted(scratch, str(stage.folder), "", BIND)
    filler = stage.folder / "filler"
    with filler.open("wb", buffering=0) as file:
        free = os.statvfs(stage.folder)
        rest = max(free.f_bfree * free.f_frsize - left, 0)
        while rest > 0 and (count := file.write(b"x" * min(rest, 1 << 20))):
            rest -= count
    return filler.unlink


def shut(stage: Stage) -> Callable[[], None]:
    """Let the stage be read only; gives what opens it again."""
    top = str(stage.folder)
    mounted(top, top, "", BIND)
    mounted("none", top, "", REMOUNT | READ_ONLY | BIND)
    return lambda: mounted("none", top, "", REMOUNT | BIND)


def stored(stage: Stage) -> dict[str, Any]:
    project = Project.open(stage.repo.path)
    return {
        "events": len(list(project.clone.own_events())),
        "candidates": len(project.memory.candidates()),
        "entries": len(project.clone.entries(".holdfast")),
    }


def one_sentence(command: str, answer: Answer) -> None:
    """An error with a hint and a code of the catalogue, or an answer."""
    assert "Traceback" not in answer.err and "bug in Holdfast" not in answer.err, answer.err
    said = [line for line in answer.err.splitlines() if line.startswith("error: ")]
    if answer.code not in (0, 1):
        assert len(said) == 1, answer.err
        assert answer.code in CODES or (command == "run" and answer.code == 125), (answer.code, answer.err)
        assert re.search(r"^hint: ", answer.err, re.MULTILINE), answer.err
    else:
        assert not said, answer.err


def attack(stage: Stage, command: str, spoil: Callable[[Stage], Callable[[], None]]) -> None:
    """See the top of this module."""
    stage.rise()
    users = stage.users()
    print(command)

    def act() -> None:
        alone()
        mend = spoil(stage)
        with plugged(Quick()):
            answer = stage.act(stage.argv(command))
            one_sentence(command, answer)
            mend()
            if command == "uninstall":
                return
            now, first = stored(stage), answer.code
            if first == 0 and command in STORES:
                assert now != stage_before, f"it said that it did it:\n{answer.out}{answer.err}"
            found = stage.act(["doctor"])
            assert found.code == 0, found.out + found.err
            if first in CODES:
                # What only a person may do, or a model that is not there, is refused for that, once the disk is no
                # reason any more.
                others = (errors.NeedsReview.code, errors.NoModel.code)
                if command == "export codex":  # the session of the stage has no turn
                    others += (errors.BadInput.code,)
                if command.startswith(("crew", "diff", "import")):  # no crew, one run, few agents on the stage
                    others += (errors.NotFound.code,)
                assert stage.act(stage.argv(command)).code in (0, first, *others)

    stage_before = apart(lambda: _quietly(stage))
    apart(act)
    if command not in ("connect", "start", "uninstall"):
        assert stage.users() == users


def _quietly(stage: Stage) -> dict[str, Any]:
    os.environ.update(stage.environment())
    with plugged(Quick()):
        return stored(stage)


def test_every_command_has_arguments() -> None:
    """A new command is attacked like the others."""
    assert set(every_command()) == set(ARGUMENTS)


@needs_mounts
def test_a_full_or_read_only_disk_is_said_and_harms_nothing(stage: Stage, seed: int) -> None:
    """An import that skips everything for want of space must not look like a success to a script."""
    choose = random.Random(seed)
    attack(stage, choose.choice(sorted(set(ARGUMENTS) - SERVES)), shut)
    for command in ("import adr", "import codex", choose.choice(STORES)):
        attack(stage, command, lambda stage: filled(stage, 0))


@needs_mounts
@pytest.mark.torture
def test_every_command_on_full_and_read_only_disks(stage: Stage) -> None:
    """All commands, with nothing and with a little space left."""
    for command in sorted(set(ARGUMENTS) - SERVES):
        attack(stage, command, shut)
        for left in (0, 4 << 10, 16 << 10, 64 << 10):
            attack(stage, command, lambda stage, left=left: filled(stage, left))
