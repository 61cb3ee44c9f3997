"""Checks: what shows that a task is done, and the receipt for it.

A task names its checks. The command behind a name is the user's own: from their settings, or from
`.holdfast/checks.toml` once a person allowed exactly that text for this project. A receipt says what ran on which tree,
how it ended, how long it took, and the hash of all it printed.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from holdfast.crew.step_process import Watch, run_step
from holdfast.errors import BadInput, BrokenEntry, HoldfastError, NeedsReview, NotFound
from holdfast.model.text import visible
from holdfast.store import fsio
from holdfast.store import layout as paths
from holdfast.values import frozen

if TYPE_CHECKING:
    from holdfast.project import Project

SUGGESTED = f"{paths.TRACKED}/checks.toml"
ALLOWED = "allowed-checks"  # a hash a line, in the user's data folder
DEFAULT = "default"  # the check of tasks that name none
MAX_FILE = 64 << 10  # bytes; a guess: a few commands
TAIL = 2000  # characters of a check's last words that a receipt quotes


@frozen(kw_only=True)
class CheckReceipt:
    """One check that ran."""

    check: str
    command: str
    exit_status: int
    tree: str
    seconds: float
    output_sha256: str
    tail: str = ""
    stopped: str | None = None

    @property
    def is_passed(self) -> bool:
        return self.exit_status == 0 and self.stopped is None

    def said(self) -> str:
        """How it ended, in words."""
        how = f": {self.stopped}" if self.stopped else f" ended with {self.exit_status}"
        return f"{self.check}{how}"


def suggested(top: str) -> tuple[dict[str, str], bytes]:
    """The checks that the repository suggests, and the text that does."""
    data = fsio.find(os.path.join(top, SUGGESTED), limit=MAX_FILE)
    if data is None:
        return {}, b""
    try:
        found = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BrokenEntry(f"{SUGGESTED} is not valid TOML: {error}") from None
    if not all(isinstance(value, str) and value.strip() for value in found.values()):
        raise BrokenEntry(f"{SUGGESTED} has something else than names and commands", hint='Write test = "make test".')
    return found, data


def check_commands(project: Project, top: str = "") -> dict[str, str]:
    """Name to command: the user's own, and those suggested ones that a person allowed.

    Suggested in the project's work tree or in `top`, the user's own, where they allow what they see.
    """
    allowed: dict[str, str] = {}
    for folder in filter(None, (project.clone.repo.top, top)):
        try:
            found, data = suggested(folder)
            if found and _mark(project, data) in _allowed(project):
                allowed = found
        except HoldfastError as error:
            project.notices.append(str(error))
    return {**allowed, **project.settings.crew_checks}


def allow(project: Project, *, shown: bytes | None = None) -> dict[str, str]:
    """Allow the checks that the repository suggests, as they were shown or stand now; only a person may."""
    found, data = suggested(project.clone.repo.top)
    if shown is not None and data != shown:
        raise BadInput(f"{SUGGESTED} changed while you read it", hint="Run `holdfast crew allow` again.")
    if not found:
        raise NotFound(f"{SUGGESTED} suggests no checks", hint="Put your own into crew.checks of your settings.")
    if not project.is_person:
        raise NeedsReview(
            f"checks run commands, so a person has to allow them: {project.no_person}",
            hint="Run `holdfast crew allow` in a terminal, or put the checks into your own settings.",
        )
    path = _allowed_file(project)
    fsio.make_dirs(os.path.dirname(path))
    fsio.replace(path, "".join(f"{one}\n" for one in sorted({*_allowed(project), _mark(project, data)})).encode())
    return found


def _allowed_file(project: Project) -> str:
    return os.path.join(paths.user_data(project.environ), ALLOWED)


def _allowed(project: Project) -> set[str]:
    data = fsio.find(_allowed_file(project), limit=MAX_FILE * 16) or b""
    return set(data.decode("ascii", "replace").split())


def _mark(project: Project, data: bytes) -> str:
    """The text and the project it was allowed for: the same text elsewhere may mean another `make test`."""
    return hashlib.sha256(project.agents.project_id.encode() + b"\n" + data).hexdigest()


def checks_of(named: Sequence[str], commands: Mapping[str, str]) -> dict[str, str]:
    """The checks of a task with their commands; BadInput says what is missing."""
    wanted = named or ([DEFAULT] if DEFAULT in commands else [])
    if not wanted:
        raise BadInput(
            "it names no check, and there is no default one, so nothing can show that it is done",
            hint='Set [crew.checks] default = "make test" in your settings; then: holdfast crew resume',
        )
    if missing := [name for name in wanted if name not in commands]:
        raise BadInput(
            f"there is no command for the check {missing[0]}",
            hint=f'Put it into your settings: [crew.checks] {missing[0]} = "COMMAND"; '
            f"or, if {SUGGESTED} suggests one, allow that: holdfast crew allow",
        )
    return {name: commands[name] for name in wanted}


def run_checks(
    checks: Mapping[str, str],
    *,
    cwd: str,
    tree: str,
    environ: Mapping[str, str],
    mark: str,
    seconds: float | None = None,
    watch: Watch = lambda: None,
) -> tuple[CheckReceipt, ...]:
    """Run checks one after the other until one fails; each is a line for the shell."""
    found: list[CheckReceipt] = []
    for name, command in checks.items():
        end = run_step(["/bin/sh", "-c", command], cwd=cwd, environ=environ, mark=mark, seconds=seconds, watch=watch)
        found.append(
            CheckReceipt(
                check=name,
                command=command,
                exit_status=end.exit_status,
                tree=tree,
                seconds=round(end.seconds, 3),
                output_sha256=end.output_sha256,
                tail=visible(end.tail[-TAIL:]),
                stopped=end.stopped,
            )
        )
        if not found[-1].is_passed:
            break
    return tuple(found)
