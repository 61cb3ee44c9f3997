"""Law 2 for publishing: our process ends just before or just after any call of git."""

import os
import shutil
from pathlib import Path

import pytest

from holdfast.git import publish
from tests.conftest import Quick

from .disk import plugged
from .scene import Scene, check_nothing_lost, check_published
from .test_append_faults import in_child

GIT = """\
#!/bin/sh
# Stands before the real git: ends the process that calls it, before or after the chosen call.
count=$(($(cat "$COUNTER") + 1))
echo $count > "$COUNTER"
[ "$WHEN" = before ] && [ $count -eq $AT ] && kill -9 $PPID && exit 1
"$REAL_GIT" "$@"
code=$?
[ "$WHEN" = after ] && [ $count -eq $AT ] && kill -9 $PPID
exit $code
"""


def publish_with_git_in_the_way(scene: Scene, folder: Path, *, at: int, when: str) -> int:
    """Publish in a process that git's `at`-th call ends; gives how many calls of git there were."""
    counter = folder / "count"
    counter.write_text("0")

    def act(_: object) -> None:
        real = {"REAL_GIT": shutil.which("git") or "git", "PATH": f"{folder}:{os.environ['PATH']}"}
        clone = scene.clone()
        os.environ.update(real, COUNTER=str(counter), AT=str(at), WHEN=when)
        with plugged(Quick()):
            publish.publish(clone)

    code, _ = in_child(act)
    assert code == (-9 if at else 0)
    return int(counter.read_text())


def play_git(scene: Scene, scratch: Path, *, every: int, first: int) -> None:
    (scratch / "bin").mkdir()
    (scratch / "bin" / "git").write_text(GIT)
    (scratch / "bin" / "git").chmod(0o755)
    calls = publish_with_git_in_the_way(
        scene.at(scratch / "quiet" / "repo"), scratch / "bin", at=0, when="never"
    )
    assert calls > 5
    for number in range(first % every, 2 * calls, every):
        at, when = 1 + number // 2, ("before", "after")[number % 2]
        struck = scene.at(scratch / f"git-{number}" / "repo")
        publish_with_git_in_the_way(struck, scratch / "bin", at=at, when=when)
        with plugged(Quick()):
            check_nothing_lost(struck, f"killed {when} git call {at} of {calls}")
            check_published(struck, f"killed {when} git call {at} of {calls}")
        shutil.rmtree(struck.path.parent)


def test_a_publish_killed_around_a_call_of_git_loses_nothing(scene: Scene, scratch: Path, seed: int) -> None:
    """Between `git add` and `git commit` the index holds what no commit has."""
    play_git(scene, scratch, every=7, first=seed)


@pytest.mark.torture
def test_a_publish_killed_around_any_call_of_git_loses_nothing(scene: Scene, scratch: Path) -> None:
    """The same around every call."""
    play_git(scene, scratch, every=1, first=0)
