"""What agents were told is kept as it was sent, proven with the run, and forgotten when it must be."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from holdfast.capture import finish_run
from holdfast.capture.run import recording
from holdfast.interfaces import quick
from holdfast.project import Project
from holdfast.recall.pack import sent_packs as given
from holdfast.recall.pack.context_pack import pack_text
from holdfast.store import capsule, receipt_files
from holdfast.store.layout import Layout
from tests.conftest import Cli, GitRepo, grown
from tests.git.place import Place

SAID = "Sessions live in signed cookies"


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(str(tmp_path / "top"), str(tmp_path / "store"))


def lines(*told: str) -> Iterator[dict[str, Any]]:
    yield {"text": "<holdfast-data x>"}
    for name in told:
        entry = {"id": name, "kind": "decision", "blob": "b" * 40, "why": "governs src", "section": "decisions"}
        yield {"text": f"- {name} {SAID}", "told": [entry]}


def keep(layout: Layout, owner: str, *told: str) -> receipt_files.StoredReceipt:
    return receipt_files.keep(
        layout, owner, head={"ts": f"t{time.monotonic_ns():020}", "budget": 9}, lines=lines(*told)
    )


def test_packs_are_kept_in_order_and_the_oldest_go(layout: Layout) -> None:
    """An agent that asks every minute must not fill the disk, nor hide that it asked."""
    for _ in range(receipt_files.MOST + 3):
        keep(layout, "run-1", "DEC-1")
    numbers = [one.number for one in receipt_files.read([layout], "run-1")]
    assert numbers == list(range(4, receipt_files.MOST + 4))


def test_only_so_many_sessions_keep_their_packs(layout: Layout) -> None:
    """Years of sessions must not grow without end."""
    for number in range(receipt_files.MOST_SESSIONS + 5):
        keep(layout, f"SES-{number}")
    there = receipt_files.owners([layout])
    assert len(there) == receipt_files.MOST_SESSIONS and "SES-0" not in there and "SES-68" in there


def test_any_changed_byte_is_found(layout: Layout) -> None:
    """A receipt that can be edited proves nothing (law 4)."""
    kept = keep(layout, "run-1", "DEC-1")
    context = receipt_files.take_up([layout], "run-1", {"v": 1}) or {}
    assert receipt_files.faults([layout], "run-1", context) == []
    data = Path(kept.path).read_bytes()
    for at in range(0, len(data), 7):
        Path(kept.path).write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        found = receipt_files.read([layout], "run-1")
        assert not found or (found[0].root, found[0].text) == (kept.root, kept.text)
        assert bool(receipt_files.faults([layout], "run-1", context)) == (not found)
    Path(kept.path).unlink()
    assert receipt_files.faults([layout], "run-1", context) == ["pack 1 of run run-1 was changed or is missing"]


def test_what_is_erased_is_struck_out_and_the_rest_still_proven(layout: Layout) -> None:
    """The words go for good (law 14); that they were told, and all else that was, can still be shown."""
    kept = keep(layout, "run-1", "DEC-1", "DEC-10")
    context = receipt_files.take_up([layout], "run-1", {}) or {}
    assert receipt_files.erase(layout, "DEC-1") == ["rows about DEC-1 in pack 1 of run-1"]
    data = Path(kept.path).read_text("utf-8")
    assert "- DEC-1 " not in data and data.count("b" * 40) == 1 and f"- DEC-10 {SAID}" in data
    (found,) = receipt_files.read([layout], "run-1")
    assert found.text == f"<holdfast-data x>\n[erased]\n- DEC-10 {SAID}\n" and found.root == kept.root
    assert receipt_files.faults([layout], "run-1", context) == []
    assert receipt_files.erase(layout, "DEC-1") == []  # a second time there is nothing left to do


def test_an_erased_runs_packs_go_with_it(layout: Layout) -> None:
    """Whoever erases a run erases what it was told."""
    keep(layout, "run-1", "DEC-1")
    keep(layout, "run-2", "DEC-1")
    assert receipt_files.erase(layout, "run-1") == ["packs given to run-1"]
    assert receipt_files.owners([layout]) == ["run-2"]


def test_a_damaged_pack_is_left_out_and_said(layout: Layout) -> None:
    """One torn file must not hide the others."""
    first, second = keep(layout, "run-1", "DEC-1"), keep(layout, "run-1", "DEC-2")
    Path(first.path).write_bytes(b'{"parts": [[[')
    assert [one.root for one in receipt_files.read([layout], "run-1")] == [second.root]
    assert len(layout.notes) == 1
    assert receipt_files.erase(layout, "DEC-2") and receipt_files.owners([layout]) == ["run-1"]


# ── with runs ────────────────────────────────────────────────────────────────────────────────────


def _remember(cli: Cli, repo: GitRepo) -> None:
    cli("init")
    Project.open(repo, person=True).memory.remember(SAID, evidence=["README"], accept=True, reviewer="ada")


@pytest.fixture
def project(cli: Cli, repo: GitRepo) -> Project:
    grown(_remember, cli, repo)
    return Project.open(repo, person=True)


def within(repo: GitRepo, run_id: str) -> Project:
    return Project.open(repo, environ={**os.environ, "HOLDFAST_RUN_ID": run_id})


def context_of(project: Project, run_id: str) -> Mapping[str, Any]:
    return capsule.read_json(project.clone.layout.run(run_id), capsule.CONTEXT)  # type: ignore[no-any-return]


def sound(project: Project, run_id: str) -> bool:
    folder = project.clone.layout.run(run_id)
    event = next(e for e in project.clone.all_events() if e.run_id == run_id)
    joined = project.clone.joined(event)
    return list(capsule.faults(folder, joined["output_sha256"], joined)) == []


def test_a_run_knows_what_it_was_told(project: Project, repo: GitRepo) -> None:
    """ "What did the agent know?" must have an answer that the capsule proves."""
    with recording(project.clone, task="T") as run:
        packed = within(repo, run.run_id).context()
        second = within(repo, run.run_id).context(budget=300)
    assert packed.receipt and packed.receipt.owner == run.run_id and packed.receipt.number == 1
    listed = context_of(project, run.run_id)["receipts"]
    assert [one["root"] for one in listed] == [packed.receipt.root, second.receipt and second.receipt.root]
    assert sound(project, run.run_id)
    knew = Project.open(repo).context.receipts(run.run_id[:-2])
    assert (knew.kind, len(knew.packs), knew.dropped) == ("run", 2, 0)
    assert knew.packs[0].text == pack_text(packed) and not knew.packs[0].late
    (fact,) = [one for one in knew.packs[0].entries if one.kind == "fact"]
    assert (fact.why, fact.state) == ("newest", "stands") and fact.blob
    assert fact.line == f"- {fact.id} {SAID} [newest]"


def test_entries_come_in_the_packs_order_with_the_words_first_told(project: Project) -> None:
    """Whoever looks back reads down the pack; a thing told twice stands where it was told first."""
    keep(project.clone.layout, "SES-1", "DEC-2", "DEC-1", "DEC-2")
    (found,) = given.knew(project.clone, "SES-1", kind="session", now={}).packs
    assert [(one.id, one.line) for one in found.entries] == [("DEC-2", f"- DEC-2 {SAID}"), ("DEC-1", f"- DEC-1 {SAID}")]


def test_a_receipt_says_what_became_of_what_was_told(project: Project, repo: GitRepo) -> None:
    """A decision of yesterday's agent may rest on what is no longer so."""
    with recording(project.clone) as run:
        packed = within(repo, run.run_id).context()
    (name,) = [one["id"] for one in given.entries(packed) if one["kind"] == "fact"]
    repo.commit("README", "another text\n")
    states = {one.id: one.state for one in Project.open(repo).context.receipts(run.run_id).packs[0].entries}
    assert states[name] == "stale"


def test_a_pack_that_comes_too_late_does_not_spoil_the_capsule(project: Project, repo: GitRepo) -> None:
    """What a background process asks when the run is sealed must not make its record look forged."""
    with recording(project.clone) as run:
        inside = within(repo, run.run_id)
        inside.context()
        late = inside.context()
        given.keep(project.clone, late, owner="another-run", ts="x")
    given.keep(project.clone, late, owner=run.run_id, ts="x")
    assert sound(project, run.run_id)
    assert [one.late for one in Project.open(repo).context.receipts(run.run_id).packs] == [False, False, True]


def test_packs_outside_a_run_are_kept_for_the_open_session(project: Project, repo: GitRepo) -> None:
    """Most agents have a session and no wrapper; a run of another project counts for nothing here."""
    alone = project.context().receipt
    assert alone is not None and alone.owner is None
    session = project.sessions.start("Go on")
    packed = within(repo, "20200101T000000Z-aaaaaa").context()
    assert packed.receipt and packed.receipt.owner == session.id
    knew = Project.open(repo).context.receipts(session.id)
    assert knew.kind == "session" and knew.packs[0].text == pack_text(packed)


SCRIPT = """
import sys, time
from holdfast.interfaces import quick
from holdfast.project import Project
from holdfast.capture.run import recording
with recording(Project.open(".").clone) as run:
    print(run.run_id, flush=True)
    time.sleep(60)
"""


def test_a_killed_wrapper_loses_no_receipt(project: Project, repo: GitRepo) -> None:
    """What an agent was told before the power went is what explains what it did (law 1)."""
    process = subprocess.Popen([sys.executable, "-c", SCRIPT], cwd=repo.path, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    run_id = process.stdout.readline().strip()
    packed = within(repo, run_id).context()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert [one.run_id for one in finish_run.complete_killed_runs(project.clone)] == [run_id]
    (listed,) = context_of(project, run_id)["receipts"]
    assert packed.receipt and listed["root"] == packed.receipt.root and sound(project, run_id)


def test_a_recovery_that_is_killed_can_begin_again(project: Project, repo: GitRepo, tmp_path: Path) -> None:
    """Taking up receipts twice gives what taking them up once does."""
    place = Place(repo, str(tmp_path / "cache"))
    with recording(place.open()) as run:
        within(repo, run.run_id).context()
        stores = project.clone.stores
        once = receipt_files.take_up(stores, run.run_id, {"run_id": run.run_id}) or {}
        assert receipt_files.take_up(stores, run.run_id, once) == once
        assert receipt_files.take_up(stores, "another", {"run_id": "another"}) is None


def test_the_quick_path_leaves_what_must_be_kept(
    inside: GitRepo, project: Project, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kept answer within a run would be an answer that nobody can prove."""
    cli("context")
    assert quick.main(["context"]) == 0
    monkeypatch.setenv("HOLDFAST_RUN_ID", "20200101T000000Z-aaaaaa")
    assert quick.main(["context"]) == quick.NOT_HANDLED
    monkeypatch.delenv("HOLDFAST_RUN_ID")
    assert quick.main(["context", "--for", "x"]) == quick.NOT_HANDLED


def test_a_pack_whose_text_is_gone_is_told_from_the_capsule_in_its_order(project: Project) -> None:
    """Of an old run only what its capsule proves is left: which things it was told, and when."""
    layout, owner = project.clone.layout, "20310101T000000Z-abc123"
    rows = [
        {"number": 3, "root": "r3", "ts": "2031-01-01T00:00:03Z", "budget": 5, "tokens": 4, "ids": ["DEC-1", "DEC-2"]},
        {"number": 2, "root": "r2", "ts": "2031-01-01T00:00:02Z", "branch": "main", "head": "h"},
        {"number": 2, "root": "r1", "ts": "2031-01-01T00:00:01Z", "ids": None},
        {"number": 2, "root": "r0", "ts": None},
        {"number": "no"},
    ]
    made = capsule.Capsule.create(layout, owner, {"receipts": rows})
    kept = keep(layout, owner, "DEC-3")

    def packs() -> list[given.SentPack]:
        now = {"DEC-1": given.CurrentStanding("accepted", None), "DEC-2": given.CurrentStanding("deprecated", None)}
        knew = given.knew(project.clone, owner, kind="run", now=now)
        assert (knew.owner, knew.kind, knew.dropped) == (owner, "run", 0)
        return list(knew.packs)

    found = packs()
    assert [one.root for one in found] == [kept.root, "r0", "r1", "r2", "r3"]
    assert [(one.late, one.text is None) for one in found] == [(False, False), *[(False, True)] * 4]
    last = found[-1]
    assert (last.ts, last.budget, last.tokens, last.branch) == ("2031-01-01T00:00:03Z", 5, 4, None)
    assert [(one.id, one.state, one.line) for one in last.entries] == [
        ("DEC-1", "stands", ""),
        ("DEC-2", "retired", ""),
    ]
    assert (found[3].branch, found[3].head, found[3].entries) == ("main", "h", ())
    assert given.is_under_way(project.clone, owner)
    made.close({})
    assert not given.is_under_way(project.clone, owner)
    assert [one.late for one in packs()] == [True, False, False, False, False]
    nothing = given.knew(project.clone, "SES-none", kind="session", now={})
    assert (nothing.packs, nothing.dropped) == ((), 0)
