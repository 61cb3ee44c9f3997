"""Sandboxes that keep .git read-only: recorded in the work tree, said so, moved home by the next command."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.errors import PublishRefused
from holdfast.git.clone import Clone
from holdfast.model.event import EventDraft
from holdfast.store.private_store import make_store
from tests.git.place import Place, fact_path, fact_text

ACT = """
import json, sys
from holdfast.errors import HoldfastError
from holdfast.git import publish
from holdfast.git.clone import Clone
from holdfast.model.event import EventDraft
top, cache, *acts = sys.argv[1:]
try:
    clone = Clone.open(top, cache=cache)
    for act in acts:
        word, _, rest = act.partition("=")
        if word == "run":
            clone.record(EventDraft("run", run_id=rest, body={"task": rest}))
        elif word == "keep":
            path, text = rest.split("|")
            clone.change(path, text)
        elif word == "publish":
            publish.publish(clone)
    said = {"notes": clone.notes, "line": clone.line().id,
            "runs": sorted(event.run_id for event in clone.events()),
            "tasks": sorted(clone.joined(event)["task"] or "" for event in clone.events()),
            "facts": [seen.path for seen in clone.entries()]}
except HoldfastError as error:
    said = {"error": type(error).__name__, "sentence": str(error)}
print(json.dumps(said))
"""


def can_mount() -> bool:
    if not shutil.which("unshare"):
        return False
    shell = "mount --bind /tmp /tmp && mount -o remount,ro,bind /tmp"
    return subprocess.run(["unshare", "-m", "sh", "-c", shell], check=False, capture_output=True).returncode == 0


needs_mounts = pytest.mark.skipif(not can_mount(), reason="no private mounts here")


def inside(place: Place, *acts: str, shut: tuple[str, ...] = (".git",)) -> dict[str, list[str]]:
    """Do something where some folders of the repository are read-only."""
    binds = " && ".join(f"mount --bind {n} {n} && mount -o remount,ro,bind {n}" for n in shut)
    args = [sys.executable, "-c", ACT, str(place.repo.path), place.cache, *acts]
    shell = f'{binds} && exec "$@"'
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", shell, "sh", *args],
        cwd=place.repo.path,
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, list[str]] = json.loads(done.stdout)
    return answer


@needs_mounts
def test_a_sandbox_records_beside_git_and_the_next_command_moves_it_home(place: Place) -> None:
    """Codex keeps .git read-only; what its agents did must not be lost, and nobody must be told otherwise."""
    place.ran("before")
    path, text = fact_path("one"), fact_text("one")
    said = inside(place, "run=r1", f"keep={path}|{text}")
    assert any("until the next command outside the sandbox" in note for note in said["notes"])
    assert said["runs"] == ["before", "r1"], "the line's own records are visible inside too"
    assert said["tasks"] == ["before", "r1"]
    assert said["facts"] == [path]
    assert said["line"] == place.line()
    assert place.status() == ""
    again = inside(place, "run=r2")
    assert again["runs"] == ["before", "r1", "r2"]
    assert place.runs() == {"before", "r1", "r2"}
    assert any("a sandbox had recorded" in note for note in place.notes)
    place.notes.clear()
    assert set(place.facts()) == {"one"}
    assert place.notes == [], "moved once, told once"
    left = [name for _, _, files in os.walk(place.repo / ".holdfast/local") for name in files]
    assert not [name for name in left if name.endswith((".jsonl", ".closed"))]
    assert place.publish().events == 3
    assert place.verdict() == "ok"
    assert place.open().joined(place.open().events()[-1])["task"] == "r2"


@needs_mounts
def test_a_branch_first_seen_in_a_sandbox_keeps_its_records(place: Place) -> None:
    """The line cannot be written to git's config there; it is found again by name and birth."""
    place.ran("on-main")
    place.git("switch", "-q", "-c", "feat")
    said = inside(place, "run=r1")
    assert str(said["line"]).startswith("ref-")
    assert said["runs"] == ["on-main", "r1"]
    assert inside(place, "run=r2")["runs"] == ["on-main", "r1", "r2"]
    assert place.runs() == {"on-main", "r1", "r2"}
    place.git("switch", "-q", "main")
    assert place.runs() == {"on-main"}


@needs_mounts
def test_a_detached_work_tree_in_a_sandbox_records_too(place: Place) -> None:
    """Cloud agents are started on detached heads."""
    place.git("switch", "-q", "--detach")
    assert inside(place, "run=r1")["runs"] == ["r1"]
    assert inside(place, "run=r2")["runs"] == ["r1", "r2"]
    assert place.runs() == {"r1", "r2"}


@needs_mounts
def test_only_gits_config_denied_is_no_sandbox(place: Place) -> None:
    """Some sandboxes deny the config alone: the private store is used as ever."""
    place.git("switch", "-q", "-c", "feat")
    said = inside(place, "run=r1", shut=(".git/config",))
    assert str(said["line"]).startswith("ref-")
    assert said["notes"] == []
    assert place.runs() == {"r1"}
    assert not place.line().startswith("ref-")


@needs_mounts
def test_where_nothing_can_be_written_recording_is_refused(place: Place) -> None:
    """Better no memory than a false one."""
    said = inside(place, "run=r1", shut=(".git", ".holdfast"))
    assert said["error"] == "ReadOnlyStore"
    assert "r1" not in place.all_runs()


@needs_mounts
def test_publishing_in_a_sandbox_is_refused_in_words(place: Place) -> None:
    """There is no way to commit; the reason is not a hook."""
    said = inside(place, "run=r1", "publish")
    assert said["error"] == PublishRefused.__name__
    assert ".git cannot be written" in str(said["sentence"])
    assert place.status() == ""
    assert place.publish().events == 1


@needs_mounts
def test_draining_twice_with_the_same_writer_loses_nothing(place: Place) -> None:
    """A sandboxed agent records, somebody outside runs a command, the agent goes on recording."""
    place.line()
    clone = Clone.open(str(place.repo.path), cache=place.cache)
    clone.layout = clone.private.sandboxed()
    make_store(clone.layout)
    for number in range(3):
        clone.record(EventDraft("run", run_id=f"r{number}"))
        assert f"r{number}" in place.runs()
    assert place.runs() == {"r0", "r1", "r2"}


def test_two_files_of_one_name_are_both_kept(place: Place) -> None:
    """A candidate changed inside and outside: neither text is thrown away."""
    local = Path(place.open().private.sandboxed().private)
    (local / "candidates").mkdir(parents=True, exist_ok=True)
    (place.store / "candidates" / "FCT-1.md").write_text("outside")
    (local / "candidates" / "FCT-1.md").write_text("inside")
    (local / "bodies").mkdir(exist_ok=True)
    place.open()
    assert (place.store / "candidates" / "FCT-1.md").read_text() == "outside"
    kept = list((place.store / "quarantine").iterdir())
    assert [path.read_text() for path in kept] == ["inside"]


def test_where_no_mount_can_be_made_the_same_holds(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule hangs on one question, whether the private store can be written."""
    place.ran("before")
    with monkeypatch.context() as shut:
        shut.setattr("holdfast.git.clone.is_writable", lambda _: False)
        place.ran("r1")
        assert place.runs() == {"before", "r1"}
        with pytest.raises(PublishRefused):
            place.publish()
    assert place.runs() == {"before", "r1"}
    assert place.publish().events == 2


# ── a drawer that is not ours, and what may come out of one ───────────────────


def planted(place: Place, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Something in the drawer that the next command would move."""
    with monkeypatch.context() as shut:
        shut.setattr("holdfast.git.clone.is_writable", lambda _: False)
        place.ran("planted")
    return place.repo / ".holdfast/local"


@pytest.mark.parametrize("sign", ["git folder", "git file", "index", "branch", "remote branch", "submodule"])
def test_a_drawer_that_came_by_git_is_left_where_it_is(
    place: Place, monkeypatch: pytest.MonkeyPatch, sign: str
) -> None:
    """Whatever git can put there, or leave there, would be taken for this clone's own records."""
    local = planted(place, monkeypatch)
    if sign == "git folder":
        (local / ".git").mkdir()
    elif sign == "git file":
        (local / ".git").write_text("gitdir: ../../.git/modules/x\n")
    elif sign == "submodule":
        tip = place.git("rev-parse", "HEAD")
        place.git("update-index", "--add", "--cacheinfo", f"160000,{tip},.holdfast/local")
    else:
        place.git("add", "-f", ".holdfast/local")
        if sign != "index":
            tree = place.git("write-tree")
            commit = place.git("commit-tree", tree, "-m", "harmless")
            place.git("update-ref", f"refs/{'heads' if sign == 'branch' else 'remotes/origin'}/evil", commit)
            place.git("rm", "-rq", "--cached", ".holdfast/local")
    assert place.runs() == set()
    assert any("came by git" in note for note in place.notes)
    assert list(local.rglob("*.jsonl")), "it is not ours to delete"


def test_what_an_empty_drawer_holds_is_ours(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule must not lock out those who work in sandboxes."""
    planted(place, monkeypatch)
    assert place.runs() == {"planted"}
    planted(place, monkeypatch)
    assert place.runs() == {"planted"}
    assert not any("came by git" in note for note in place.notes)
