"""Mending what can be mended without inventing anything.

Torn bytes are taken out of a spool, a run's meta file is written again from its event, permissions
are closed, leftovers and damaged records are moved away, and what git or the log still knows is written
again. Whatever is changed lies in `quarantine/` first. A dry
run says what would be done; the same call with `apply` does it.
"""

import os
import stat
from itertools import count

from holdfast.diagnostics.findings import HealthFinding, HealthReport
from holdfast.errors import HoldfastError, NotFound
from holdfast.git import branch_lines, erase, publish_journal
from holdfast.git.clone import Clone
from holdfast.patterns import PatternFile
from holdfast.store import capsule, fsio, log, private_store
from holdfast.store.format import split_lines
from holdfast.values import frozen

_MAX_COPY = 64 << 20  # bytes; a guess: more is no file of ours


@frozen
class Repair:
    """One mending: what it does to which file, and whether it is done."""

    file: str
    action: str
    done: bool
    failed: str | None = None  # why it could not be done

    def __str__(self) -> str:
        if self.failed:
            return f"{self.file}: could not {self.action}: {self.failed}"
        return f"{self.file}: {'did' if self.done else 'would'} {self.action}"


_TEXTS = PatternFile(__file__)


def repair(clone: Clone, report: HealthReport, *, apply: bool) -> list[Repair]:
    """Do what the report's findings allow, or with `apply` false only say what that would be."""
    plan = {(finding.repair, finding.path): finding for finding in report.repairable}
    if not apply:
        return [_said(finding, done=False) for finding in plan.values()]
    with fsio.locked(clone.private.lock, wait=60.0):
        # What is moved away cannot be closed any more where it lay.
        done = []
        for finding in sorted(plan.values(), key=lambda finding: finding.repair != "permissions"):
            try:
                _mend(clone, report, finding)
                done.append(_said(finding, done=True))
            except (HoldfastError, OSError) as error:
                done.append(_said(finding, done=False, failed=str(error)))
        return done


def _said(finding: HealthFinding, *, done: bool, failed: str | None = None) -> Repair:
    actions = dict(row.split(": ", 1) for row in _TEXTS.lines("actions"))
    return Repair(finding.file, actions[finding.repair or ""], done, failed)


def _mend(clone: Clone, report: HealthReport, finding: HealthFinding) -> None:
    match finding.repair:
        case "set-aside":
            _set_aside(clone, report, finding)
        case "rebuild-meta":
            run = os.path.basename(os.path.dirname(finding.path))
            event = next((e for e in clone.own_events() if e.kind == "run" and e.run_id == run), None)
            if event is None:
                raise NotFound(f"run {run} has no event to rebuild {finding.file} from")
            if os.path.lexists(finding.path):
                _keep_copy(clone, finding.path, fsio.read(finding.path, limit=_MAX_COPY))
            fsio.replace(finding.path, capsule.to_json(clone.joined(event)), mode=0o400)
        case "permissions":
            os.chmod(finding.path, stat.S_IMODE(os.lstat(finding.path).st_mode) & 0o700)
        case "unstage":
            publish_journal.unstage(clone.repo, [finding.path])
        case _:
            _move_away(clone, finding)


def _move_away(clone: Clone, finding: HealthFinding) -> None:
    """Set a damaged file aside, and write again what must not be missing once it is gone."""
    path = finding.path
    if path == clone.private.quarantine:  # it is itself what stands in the way
        path = f"{path}.aside"
        fsio.move(finding.path, path)
    fsio.make_dirs(clone.private.quarantine)
    fsio.move(path, _place(clone, path))
    name = os.path.basename(finding.path)
    store = next((s for s in clone.stores if finding.path.startswith(s.private + os.sep)), clone.private)
    if finding.repair == "line":
        stores = (store, *(other for other in clone.stores if other is not store))
        branch_lines.mend(clone.repo, stores, name.removesuffix(".json"), clone.clock)
        clone.forget_line()
    elif finding.repair == "erased":
        erase.mark_again(clone, name)
    elif finding.repair == "repo-id":
        private_store.name_store(store)
    elif finding.path in store.folders:
        fsio.make_dirs(finding.path)


def _set_aside(clone: Clone, report: HealthReport, finding: HealthFinding) -> None:
    """Take a spool's torn lines out; its writer finds it closed, as by sealing, and starts a new file."""
    torn = {f.line for f in report.repairable if f.path == finding.path and f.repair == finding.repair}
    fd = os.open(finding.path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    try:
        fsio.lock_fd(fd, wait=30.0, what=finding.path)
        data = fsio.read(finding.path, limit=log.MAX_SPOOL)
        pieces = list(enumerate(split_lines(data), 1))
        if any(number in torn and _is_event(piece) for number, piece in pieces):
            raise NotFound(f"{finding.file} has changed since it was examined", hint="Run it again.")
        _keep_copy(clone, finding.path, data)
        whole = b"".join(piece for number, piece in pieces if number not in torn)
        if whole:
            fsio.replace(_closed(finding.path), whole)
        if not whole or finding.path.endswith(".jsonl"):
            fsio.remove(finding.path)
    finally:
        os.close(fd)


def _closed(path: str) -> str:
    """Where the mended spool lies: a closed one stays, an open one is closed under a free number."""
    if not path.endswith(".jsonl"):
        return path
    stem = path.removesuffix(".jsonl")
    return next(free for n in count() if not os.path.lexists(free := f"{stem}.{n}.closed"))


def _is_event(piece: bytes) -> bool:
    return piece.startswith(b'{"hash_self":"') and piece.endswith(b"]}\n")


def _keep_copy(clone: Clone, path: str, data: bytes) -> None:
    fsio.make_dirs(clone.private.quarantine)
    fsio.replace(_place(clone, path), data)


def _place(clone: Clone, path: str) -> str:
    """A name in quarantine/ that says when and what, and takes nobody's place."""
    moment = clone.now()[:19].replace("-", "").replace(":", "")
    stem = os.path.join(clone.private.quarantine, f"{moment}Z-{os.path.basename(path)}")
    return next(free for n in count() if not os.path.lexists(free := f"{stem}.{n}" if n else stem))
