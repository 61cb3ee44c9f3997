"""One run being recorded: its capsule from begin to seal, and its event.

Every step may fail and none may harm the run itself: what is lost is told as a warning, what can
still be written is. A run whose event could not be written stays open, and the next command completes it.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast.capture import account, changes, produced, since
from holdfast.capture.changes import Snapshot
from holdfast.errors import HoldfastError
from holdfast.git.clone import Clone
from holdfast.model.event import Draft, Event
from holdfast.model.ids import is_id, run_id
from holdfast.security.redact import Scanner
from holdfast.store import capsule, receipts
from holdfast.store.capsule import Capsule

GIVEN = "inputs/files.json"
MAX_COMMITS = 50  # that an event names


class Recording:
    """The record of one run while it is made."""

    def __init__(
        self,
        clone: Clone,
        *,
        task: str | None,
        layer: str | None,
        scale: int | None,
        prompt: str | None,
        parent: str | None,
        command: Sequence[str] | None = None,
        environment: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> None:
        # Refuses a bad layer or scale now, before anything has happened.
        Draft(kind="run", layer=layer, systemic_scale=scale)
        self._clone, self.warnings = clone, list[str]()
        self.run_id = run_id(clone.clock())
        self.capsule: Capsule | None = None
        self._seen = capsule.opened(clone.layout)
        began = produced.moment()
        self._before, self._logged = self._look(), since.last_row(clone.repo)
        head = clone.repo.head()
        self.context: dict[str, Any] = {
            "v": 1,
            "run_id": self.run_id,
            "parent_run_id": parent if parent and is_id(parent) else None,
            "task": None if task is None else account.clean_text(task),
            "layer": layer,
            "systemic_scale": scale,
            "command": None if command is None else [account.clean_text(word) for word in command],
            "prompt": None if prompt is None else account.clean_text(prompt),
            "plan": None,
            "environment": {n: account.clean_text(v) for n, v in (environment or {}).items()},
            "cwd": changes.spelled(os.path.relpath(cwd or clone.repo.top, clone.repo.top)),
            "worktree": os.path.relpath(clone.repo.git_dir, clone.repo.common_dir),
            "anchor": {
                "head": head.oid,
                "branch": head.branch,
                "dirty": None if self._before is None else bool(self._before.files),
            },
            "line": self._line(),
            "started": clone.now(),
            "since_ns": began,
        }

    def warn(self, sentence: str) -> None:
        """Something to tell the user, once."""
        if sentence not in self.warnings:
            self.warnings.append(sentence)

    def _look(self) -> Snapshot | None:
        try:
            return changes.snapshot(self._clone.repo)
        except (HoldfastError, OSError) as error:
            self.warn(f"what the run changes is not recorded: {error}")
            return None

    def _line(self) -> str | None:
        """Where the run belongs if its wrapper dies: by then another branch may be checked out."""
        try:
            return self._clone.line().id
        except (HoldfastError, OSError):
            return None

    def open(self) -> None:
        """Begin the capsule; HoldfastError if the disk or the scanner refuses."""
        while True:
            try:
                self.context = self._clone.intake.value(self.context)
                self.capsule = Capsule.create(self._clone.layout, self.run_id, self.context)
                return
            except FileExistsError:  # two runs drew the same id in the same second
                self.run_id = self.context["run_id"] = run_id(self._clone.clock())

    def end(
        self,
        exit_status: int,
        told: Mapping[str, Mapping[str, Any]],
        *,
        extra: Mapping[str, Any] | None = None,
        said: str | None = None,
    ) -> Event | None:
        """Seal the capsule and write the event; None if it could not be written now."""
        ended = self._clone.now()
        self._keep_ending(exit_status, ended)
        files = self._files()
        outputs = account.outputs(
            self.context, told.get("outputs", {}), exit_status=exit_status, ended=ended, files=files, said=said
        )
        root = self._seal(outputs, files)
        body = account.body(self.context, outputs=outputs, inputs=told.get("inputs"), root=root)
        body |= {
            "artifacts": account.artifacts(files or []),
            "derived_facts": [],
            "next_actions": [],
            "receipts": self._receipts(),
        } | dict(extra or {})
        return self._record(exit_status, body)

    def _keep_ending(self, exit_status: int, ended: str) -> None:
        if self.capsule is not None:
            try:
                self.capsule.note({"exit_status": exit_status, "ended": ended})
            except HoldfastError as error:
                self.warn(str(error))

    def _files(self) -> list[dict[str, Any]] | None:
        """The produced files, kept in the capsule; None if nobody can tell."""
        if self._before is None or self.capsule is None:
            return None
        layout, repo = self._clone.layout, self._clone.repo
        try:
            paths = changes.changed(repo, self._before)
            others = produced.neighbours(layout, self.run_id, self.context, self._seen) if paths else []
            return produced.keep(self.capsule, repo.top, paths, scan=self._clone.intake, others=others)
        except (HoldfastError, OSError) as error:
            self.warn(f"what the run changed is not recorded: {error}")
            return None

    def _seal(self, outputs: Mapping[str, Any], files: list[dict[str, Any]] | None) -> str | None:
        if self.capsule is None:
            return None
        try:
            return seal(self.capsule, self.context, outputs, files, scan=self._clone.intake)
        except (HoldfastError, OSError) as error:
            self.warn(f"the capsule of run {self.run_id} is not sealed: {error}")
            return None

    def _receipts(self) -> list[str]:
        """The commits that were made meanwhile; what the run only fetched or went to is others' work."""
        if self._before is None:
            return []
        try:
            made = since.made(self._clone.repo, self._before.head, began=self.context["started"], after=self._logged)
        except (HoldfastError, OSError):
            made = []
        return [f"commit:{oid}" for oid in made[-MAX_COMMITS:]]

    def _record(self, exit_status: int, body: Mapping[str, Any]) -> Event | None:
        try:
            event = self._clone.record(draft(self.context, exit_status, body))
            if self.capsule is not None:
                self.capsule.close(self._clone.joined(event))
            return event
        except (HoldfastError, OSError) as error:
            self.warn(f"run {self.run_id} is not recorded: {error}")
            return None
        finally:
            if self.capsule is not None:
                self.capsule.let_go()


def seal(
    into: Capsule,
    context: Mapping[str, Any],
    outputs: Mapping[str, Any],
    files: Iterable[Mapping[str, Any]] | None,
    *,
    scan: Scanner,
) -> str:
    """Write what is known at the end and give the root hash. The summary comes last: it says all is there."""
    stores = (into.layout, into.layout.sandboxed())  # an agent in a sandbox writes to the second
    if (told := receipts.take_up(stores, into.run_id, context)) is not None:
        into.replace(capsule.CONTEXT, capsule.to_json(told))
    listed = None if files is None else list(files)
    if listed is not None:
        into.replace(produced.FILES, capsule.to_json(listed))
    text = scan.text(account.summary(context, str(outputs.get("summary")), outputs, listed))
    into.replace(capsule.SUMMARY, text.encode("utf-8", "backslashreplace"))
    return into.seal()


def draft(context: Mapping[str, Any], exit_status: int | None, body: Mapping[str, Any]) -> Draft:
    """The run's event, as its context tells it."""
    return Draft(
        kind="run",
        target=context["run_id"],
        run_id=context["run_id"],
        parent_run_id=context.get("parent_run_id"),
        layer=context.get("layer"),
        systemic_scale=context.get("systemic_scale"),
        exit_status=exit_status,
        body=body,
    )
