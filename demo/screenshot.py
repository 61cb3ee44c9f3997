"""The pictures of the review screen in the docs: a real screen over a scratch project.

    python demo/screenshot.py            writes docs/images/review.svg and the others
    python demo/screenshot.py FOLDER     writes them there

Ids and times are fixed, so that the picture changes only where the screen does.
"""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from holdfast.interfaces.tui.review_screen import ReviewApp
from holdfast.model.event import EventDraft
from holdfast.project import Project
from holdfast.recall.passage import cited

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
PICTURES = {  # by name: columns and rows, and the keys that are pressed once the contradiction is selected
    "review": ((124, 44), ()),
    "review-narrow": ((40, 30), ()),
    "review-wide": ((200, 34), ("x", "x")),
    "review-help": ((100, 30), ("question_mark",)),
}
RUN = "20261114T090000Z-5d2c1e"
PROMPT = """The gateway timed out again last night and two customers were charged twice.
Look at src/net/retry.py: it repeats every failed call three times.
From now on, failed calls must not be retried unless they are safe to repeat.
Reads and idempotent writes may be tried again, payments never.
"""
RETRY = "def retry(call, tries=3):\n    for _ in range(tries):\n        try:\n            return call()\n"
QUEUE = "LIMIT = 1000\n\n\ndef put(job):\n    jobs.append(job)\n"

_FONTS = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
_COMMENT = re.compile(r"\s*<!--.*?-->", re.DOTALL)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        settle_in(Path(folder))
        project = scratch(Path(folder) / "shop")
        images = Path(sys.argv[1]) if sys.argv[1:] else IMAGES
        images.mkdir(parents=True, exist_ok=True)
        for name, (size, keys) in PICTURES.items():
            drawn = plain(asyncio.run(picture(project, size, keys)))
            (images / f"{name}.svg").write_text(drawn, encoding="utf-8")
            print(f"wrote {name}.svg", file=sys.stderr)


def settle_in(folder: Path) -> None:
    """A home of our own: nothing of the user's is read."""
    (folder / ".gitconfig").write_text("[user]\n\tname = Ada Example\n\temail = ada@example.org\n")
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        del os.environ[name]
    os.environ |= {
        "HOME": str(folder),
        "XDG_CACHE_HOME": str(folder / ".cache"),
        "XDG_CONFIG_HOME": str(folder / ".config"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": "2026-11-13T08:00:00Z",
        "GIT_COMMITTER_DATE": "2026-11-13T08:00:00Z",
    }


def scratch(folder: Path) -> Project:
    """A project in which some things were decided and some wait."""
    for name, text in (("src/net/retry.py", RETRY), ("src/queue.py", QUEUE)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "A shop"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    Project.init(folder, commit=True)
    project = Project.open(folder, person=True, clock=ticking())
    told = {"task": "charge customers once", "prompt": PROMPT}  # nothing is proposed from it but by us
    project.clone.record(EventDraft(kind="run", target=RUN, run_id=RUN, exit_status=0, body=told))
    _known(project)
    (folder / "src" / "queue.py").write_text(QUEUE.replace("1000", "50_000"))
    subprocess.run(["git", "commit", "-qam", "A longer queue"], cwd=folder, check=True)
    _waiting(project)
    return project


def ticking() -> Callable[[], datetime]:
    """A clock that is the same for every picture."""
    moments = (datetime(2026, 11, 14, 10, tzinfo=UTC) + timedelta(seconds=n) for n in range(1_000_000))
    return lambda: next(moments)


def _known(project: Project) -> None:
    project.memory.remember(
        "Failed calls must be retried three times.",
        kind="decision",
        id="DEC-4k2m",
        details="Rationale: the gateway drops one call in a hundred.",
        applies_to=["src/net"],
        accept=True,
    )
    project.memory.remember(
        "The queue never holds more than a thousand jobs.",
        kind="assumption",
        id="ASM-p0c4",
        details="Falsified by: a run that logs `queue full`.",
        evidence=["src/queue.py:1"],
        accept=True,
    )


def _waiting(project: Project) -> None:
    words = "failed calls must not be retried unless they are safe to repeat"
    project.memory.remember(
        "Failed calls must not be retried unless they are safe to repeat.",
        kind="decision",
        id="DEC-7f3k",
        details="Rationale: two customers were charged twice.",
        tags=["http", "payments"],
        applies_to=["src/net"],
        confidence=0.8,
        source=f"run:{RUN}",
        evidence=[f"run:{RUN}", "src/net/retry.py#retry"],
        provenance=[f"run:{RUN}#1 {words}"],
    )
    project.memory.remember(
        "Prices are kept in cents, as integers.", kind="invariant", id="INV-c9d1", tags=["payments"]
    )
    project.memory.remember(
        "Pooling database connections per request ran out of sockets.",
        kind="dead-end",
        id="DED-h2j6",
        evidence=[f"run:{RUN}"],
    )
    project.memory.remember(
        "Integration tests need Postgres 16.", id="FCT-m7a0", evidence=[f"run:{RUN}"], tags=["tests"]
    )


async def picture(project: Project, size: tuple[int, int], keys: Sequence[str]) -> str:
    """The screen with the contradiction selected and these keys pressed, once everything was looked up."""
    app = ReviewApp(project.memory, partial(cited, project.clone))
    async with app.run_test(size=size) as pilot:
        while not app.tray.items:
            await pilot.pause(0.05)
        for _ in range(app.tray.place("DEC-7f3k")):
            await pilot.press("j")
        for key in keys:
            await pilot.press(key)
        await pilot.pause(0.5)
        await app.workers.wait_for_complete()
        await pilot.pause()
        return app.export_screenshot(title="holdfast review")


def plain(svg: str) -> str:
    """The picture alone: it asks no other host for fonts."""
    return _COMMENT.sub("", _FONTS.sub("", svg))


if __name__ == "__main__":
    main()
