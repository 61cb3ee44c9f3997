"""Recording: one durable event, and sixteen writers at once."""

import fcntl
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from bench.corpus import Corpus, empty_project
from bench.measure import Result, at_least, middle, told, wall
from holdfast.model.event import EventDraft

ENVELOPE = 480  # bytes, as an event's line has
BODY = {"task": "T-1", "command": ["make", "test"], "outputs": {"summary": "a few words about what happened " * 6}}
EACH = 60
WRITERS = 16


def append(fd: int, data: bytes) -> None:
    os.write(fd, data)
    os.fdatasync(fd)


def events(folder: str, cache: str) -> Iterator[Result]:
    """One event, durable on return, against an append and fdatasync of as many bytes."""
    clone = empty_project(os.path.join(folder, "events"), cache).clone()
    place = clone.layout.spool
    raw = os.open(os.path.join(place, "raw"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    line = b"x" * (ENVELOPE - 1) + b"\n"
    names = iter(range(10**9))

    def raw_with_body() -> None:
        path = os.path.join(place, f"raw-{next(names)}")
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(fd, b"x" * 350)
        os.fsync(fd)
        os.close(fd)
        append(raw, line)

    cases: dict[str, Callable[[], object]] = {
        "raw": lambda: append(raw, line),
        "envelope": lambda: clone.record(EventDraft("run", run_id="r-1", exit_status=0)),
        "body": lambda: clone.record(EventDraft("run", run_id="r-1", exit_status=0, body=BODY)),
        "raw body": raw_with_body,
    }
    timed = {name: partial(_rate, case) for name, case in cases.items()}
    found = middle(timed, floor="raw", rounds=15)
    os.close(raw)
    yield at_least("durable event, envelope only", *found["envelope"], 0.5, "/s")
    yield at_least("durable event with a body", *found["body"], 0.25, "/s")
    ours, floor = found["raw body"]
    yield told("  (raw body file + append)", f"{ours:,.0f} /s", f"{floor:,.0f} /s", ours / floor)


def _rate(case: Callable[[], object]) -> float:
    return EACH / wall(lambda: [case() for _ in range(EACH)])


def writers(folder: str, cache: str) -> Iterator[Result]:
    """Sixteen processes, every event durable on return, against as many that share one locked file."""
    project = empty_project(os.path.join(folder, "writers"), cache)
    shared = os.path.join(project.top, ".git", "shared")
    cases = {
        "ours": lambda: _race(_record, project, 60),
        "shared": lambda: _race(_append_locked, shared, 60),
        "apart": lambda: _race(_append_apart, shared, 60),
        "one": lambda: _race(_append_locked, shared, 200, writers=1),
    }
    found = middle(cases, floor="shared", rounds=5)
    yield at_least("16 writers, against 16 on one locked file", *found["ours"], 5, "/s")
    names = {"apart": "  (16 bare appends to files of their own)", "one": "  (one writer alone on that file)"}
    for name, what in names.items():
        ours, floor = found[name]
        yield told(what, f"{ours:,.0f} /s", f"{floor:,.0f} /s", ours / floor)


def _race(work: Callable[..., None], place: Any, each: int, *, writers: int = WRITERS) -> float:
    """Events a second, from the moment all are ready to the moment all are done."""
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(writers + 1)
    workers = [context.Process(target=work, args=(place, each, barrier)) for _ in range(writers)]
    for worker in workers:
        worker.start()
    barrier.wait()
    start = time.perf_counter()
    barrier.wait()
    seconds = time.perf_counter() - start
    for worker in workers:
        worker.join()
    return writers * each / seconds


def _record(project: Corpus, each: int, barrier: Any) -> None:
    clone = project.clone()
    clone.record(EventDraft("run", run_id="warm", exit_status=0))
    barrier.wait()
    for _ in range(each):
        clone.record(EventDraft("run", run_id="r-1", exit_status=0))
    barrier.wait()


def _append_apart(path: str, each: int, barrier: Any) -> None:
    fd = os.open(f"{path}-{os.getpid()}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    line = b"x" * (ENVELOPE - 1) + b"\n"
    barrier.wait()
    for _ in range(each):
        append(fd, line)
    barrier.wait()


def _append_locked(path: str, each: int, barrier: Any) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    line = b"x" * (ENVELOPE - 1) + b"\n"
    barrier.wait()
    for _ in range(each):
        fcntl.flock(fd, fcntl.LOCK_EX)
        append(fd, line)
        fcntl.flock(fd, fcntl.LOCK_UN)
    barrier.wait()
