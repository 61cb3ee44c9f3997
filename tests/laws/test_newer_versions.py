"""What a later version of Holdfast wrote is kept, shown and passed on by this one."""

import io
import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from holdfast import Project
from holdfast.diagnostics.doctor import examine
from holdfast.errors import FutureFormat
from holdfast.git import publish
from holdfast.git.clone import Clone
from holdfast.model.event import EventDraft
from holdfast.model.task import Task
from holdfast.store import bundle, seal, task_files
from holdfast.store import format as log_format
from holdfast.values import replace
from holdfast.work import task_board
from tests.conftest import GitRepo, init_store

VERIFIER = Path(__file__).parents[1] / "verifier" / "verify.py"
LINE = "7q3mz0k4t9wx"


def event(*, kind: str = "task", more: str = '"due":"2027-01-01","sizes":[1,2],', v: int = 1, seq: int = 0) -> bytes:
    """An event as a later version may write it."""
    rest = (
        f'"v":{v},"ts":"2026-11-15T19:42:0{seq}.120394Z","kind":"{kind}","target":"TSK-{seq}","line":"{LINE}",'
        f'"writer":"c41f09d2a7be","seq":{seq},"run_id":null,"parent_run_id":null,"head":null,"layer":null,'
        f'"systemic_scale":null,"exit_status":null,"body":null,{more}"hash_prev":[]}}'
    )
    name = sha256(b"holdfast-event-1\n{" + rest.encode()).hexdigest()
    return f'{{"hash_self":"{name}",{rest}\n'.encode()


def name_of(line: bytes) -> str:
    return str(json.loads(line)["hash_self"])


def segment(*lines: bytes, v: int = 1, more: str = ',"codec":"plain"') -> tuple[str, bytes]:
    """The path and the bytes of a segment with a header as a later version may write it."""
    ts = json.loads(lines[0])["ts"]
    header = f'{{"holdfast":"segment","v":{v},"line":"{LINE}","count":{len(lines)},"first_ts":"{ts}"{more}}}\n'
    data = header.encode() + b"".join(lines)
    return f".holdfast/log/2026/11/15/{log_format.segment_name(data)}.jsonl", data


def add(repo: GitRepo, path: str, data: bytes) -> None:
    file = repo.path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    repo.git("add", "-f", path)
    repo.git("commit", "-q", "-m", "a segment")


@pytest.fixture
def opened(repo: GitRepo, tmp_path: Path) -> Callable[[], Clone]:
    init_store(repo.path, commit=True)
    return lambda: Clone.open(str(repo.path), cache=str(tmp_path / "cache"))


def verdicts(repo: GitRepo, clone: Clone) -> tuple[str, int]:
    asked = [sys.executable, str(VERIFIER), str(repo.path), clone.private.private]
    return examine(clone).verdict, subprocess.run(asked, capture_output=True, check=False).returncode


def test_added_fields_and_kinds_are_kept_shown_and_passed_on(
    repo: GitRepo, opened: Callable[[], Clone], tmp_path: Path
) -> None:
    """A team does not upgrade in one minute: the older version must neither reject nor lose what is new."""
    lines = [event(), event(kind="ponder", seq=1)]
    add(repo, *segment(*lines))
    repo.git("switch", "-q", "-c", "other")
    add(repo, *segment(event(seq=2)))
    repo.git("switch", "-q", "main")
    repo.git("merge", "-q", "--no-edit", "other")
    clone = opened()

    assert verdicts(repo, clone) == ("ok", 0)
    shown = {row["hash_self"]: row for row in map(clone.joined, clone.events())}
    assert shown[name_of(lines[0])]["added"] == {"due": "2027-01-01", "sizes": [1, 2]}
    assert shown[name_of(lines[1])]["kind"] == "ponder"
    project = Project.open(repo.path)
    assert {row["kind"] for row in project.log.events()} == {"task", "ponder"}
    assert len(project.log.events()) == 3
    assert len(project.log.timeline()) == 3

    spool = Path(clone.private.private) / "spool" / clone.line().id
    spool.mkdir(parents=True, exist_ok=True)
    own = event(seq=3).replace(LINE.encode(), clone.line().id.encode())
    own = rehashed(own)
    (spool / "c41f09d2a7be.jsonl").write_bytes(own)
    Project.open(repo.path).sync.export_bundle(str(tmp_path / "all.bundle"))
    publish.publish(opened(), here=True)
    assert any(own in data.read_bytes() for data in (repo.path / ".holdfast/log").rglob("*.jsonl"))
    assert verdicts(repo, opened()) == ("ok", 0)

    shutil.rmtree(clone.private.private)
    Project.open(repo.path).sync.import_bundle(str(tmp_path / "all.bundle"))
    assert name_of(own) in {one.hash_self for one in opened().own_events()}
    assert verdicts(repo, opened()) == ("ok", 0)


def rehashed(line: bytes) -> bytes:
    rest = line[80:-1]
    return b'{"hash_self":"' + sha256(b"holdfast-event-1\n{" + rest).hexdigest().encode() + b'",' + rest + b"\n"


@pytest.mark.parametrize("newer", ["an event", "a header"])
def test_a_newer_major_version_is_left_alone_and_said(repo: GitRepo, opened: Callable[[], Clone], newer: str) -> None:
    """What this version cannot read it must not call damaged, and nothing may rest on it."""
    add(repo, *(segment(event(v=2)) if newer == "an event" else segment(event(), v=2)))
    clone = opened()
    assert verdicts(repo, clone) == ("partial", 3)
    [found] = [one for one in examine(clone).findings if one.severity == "partial"]
    assert found.next_step.startswith("Update Holdfast")
    assert clone.record(EventDraft("task", target="TSK-own")).hash_prev == ()


def test_a_spool_that_a_newer_version_wrote_to_is_not_touched(repo: GitRepo, opened: Callable[[], Clone]) -> None:
    """Two versions may use one clone: the older one must not set aside what the newer one acknowledged."""
    clone = opened()
    clone.record(EventDraft("task", target="TSK-own"))
    [spool] = seal.spools(clone.private, clone.line().id)
    before = Path(spool).read_bytes() + event(v=2, seq=1)
    Path(spool).write_bytes(before)

    publish.publish(opened(), here=True)
    other = opened()
    other.record(EventDraft("task", target="TSK-later"))

    left = [Path(path).read_bytes() for path in seal.spools(other.private, other.line().id)]
    assert before in left
    assert not list(Path(other.private.quarantine).glob("*"))
    assert [one.next_step[:15] for one in examine(other).findings if one.severity != "note"] == ["Update Holdfast"]


BROKEN: dict[str, Callable[[str, bytes], tuple[str, bytes]]] = {
    "another name": lambda path, data: (path.replace("/15/", "/15/0")[:-7] + ".jsonl", data),
    "another day": lambda path, data: (path.replace("/15/", "/16/"), data),
    "another count": lambda _, data: named(data.replace(b'"count":1', b'"count":2')),
    "another line in its header": lambda _, data: named(data.replace(LINE.encode(), b"8q3mz0k4t9wx", 1)),
    "a damaged event beside a sound one": lambda _, data: named(
        data.replace(b'"count":1', b'"count":2') + event(seq=4).replace(b"TSK", b"TSL")
    ),
}


def named(data: bytes) -> tuple[str, bytes]:
    return f".holdfast/log/2026/11/15/{log_format.segment_name(data)}.jsonl", data


@pytest.mark.parametrize("how", BROKEN)
def test_no_new_event_rests_on_a_segment_that_the_doctor_rejects(
    repo: GitRepo, opened: Callable[[], Clone], how: str
) -> None:
    """Whoever takes the bad file out again must not leave events behind that name what is gone."""
    sound = event(more="", seq=1)
    add(repo, *segment(sound, more=""))
    path, data = BROKEN[how](*segment(event(more="", seq=3), more=""))
    add(repo, path, data)
    clone = opened()
    assert examine(clone).verdict == "corrupt"

    made: Any = clone.record(EventDraft("task", target="TSK-own"))

    assert made.hash_prev == (name_of(sound),)
    repo.git("rm", "-q", path)
    repo.git("commit", "-q", "-m", "taken out")
    assert examine(opened()).verdict == "ok"


def test_no_new_event_rests_on_a_damaged_segment_of_our_own(repo: GitRepo, opened: Callable[[], Clone]) -> None:
    """The same for what this clone sealed and has not published."""
    clone = opened()
    clone.record(EventDraft("task", target="TSK-one"))
    seal.seal(clone.private, clone.line().id, head=None, ts=clone.now())
    [file] = Path(clone.private.sealed_log).glob("*.jsonl")
    file.chmod(0o600)
    file.write_bytes(file.read_bytes().replace(b'"count":1', b'"count":2'))

    assert opened().record(EventDraft("task", target="TSK-two")).hash_prev == ()


def test_added_fields_of_other_records_are_kept(repo: GitRepo, opened: Callable[[], Clone]) -> None:
    """A waiting change that a later version wrote is published, and its record kept as it was."""
    clone = opened()
    task = task_files.render(Task(id="TSK-a", title="A", extra=(("due", "due: 2027-01-01"),)))
    change = clone.change(".holdfast/tasks/a-TSK-a.md", task)
    [file] = Path(clone.private.pending).glob("*.json")
    file.write_text(json.dumps({**json.loads(file.read_text()), "because": "asked"}))

    clone = opened()
    here = task_board.read(clone)
    task_board.replace_with(clone, here, replace(here.placed["TSK-a"].task, priority=0), action="edit")
    publish.publish(opened(), here=True)

    assert "\ndue: 2027-01-01\n" in (repo.path / change.path).read_text()
    kept = [json.loads(one.read_text()) for one in Path(clone.private.sealed_changes).glob("*.json")]
    assert [one["because"] for one in kept if "because" in one] == ["asked"]
    assert examine(opened()).verdict == "ok"


def test_a_bundle_of_a_newer_version_says_so(tmp_path: Path, opened: Callable[[], Clone]) -> None:
    """To call it damaged would send people to a backup that they do not need."""
    manifest = b'{"holdfast":"bundle","v":2,"files":{}}'
    with tarfile.open(tmp_path / "b", "w:gz") as tar:
        entry = tarfile.TarInfo("holdfast-bundle.json")
        entry.size = len(manifest)
        tar.addfile(entry, io.BytesIO(manifest))
    with pytest.raises(FutureFormat, match="version 2") as error:
        bundle.bring_back(opened().private, str(tmp_path / "b"), erased=set())
    assert error.value.hint.startswith("Update Holdfast")
