"""A bundle saves the private store to one file, and brings it back into any clone."""

import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest

from holdfast.errors import BadBundle, BadInput
from holdfast.project import Project


@pytest.fixture
def project(repo, inside) -> Project:
    Project.init(repo.path, commit=True)
    return Project.open(repo.path)


def pack(
    file: Path, members: list[tarfile.TarInfo], contents: list[bytes], *, listed: dict[str, str]
) -> Path:
    """A bundle made by a stranger."""
    manifest = json.dumps({"holdfast": "bundle", "v": 1, "ts": "", "files": listed}).encode()
    with tarfile.open(file, "w:gz") as tar:
        first = tarfile.TarInfo("holdfast-bundle.json")
        first.size = len(manifest)
        tar.addfile(first, io.BytesIO(manifest))
        for member, content in zip(members, contents, strict=True):
            member.size = len(content) if member.isreg() else 0
            tar.addfile(member, io.BytesIO(content) if member.isreg() else None)
    return file


def test_another_clone_gets_everything_back(project, repo, tmp_path):
    """Deleting a clone deletes its private runs; the export is the way to keep them."""
    run = project.write_log({"task": "T-1", "outputs": {"summary": "measured the tide"}})
    fact = project.remember("The tide table is in UTC", evidence=[run], accept=True)
    waiting = project.remember("Gulls are loud", evidence=["README"])
    project.export(str(tmp_path / "saved"))
    repo.git("clone", "-q", str(repo.path), str(tmp_path / "second"))

    second = Project.open(tmp_path / "second")
    assert second.recall("tide") == []
    second.bring_back(str(tmp_path / "saved"))
    second = Project.open(tmp_path / "second")

    assert {hit.id for hit in second.recall("tide")} >= {run, fact.id}
    assert [standing.id for standing in second.facts().trusted] == [fact.id]
    assert [standing.id for standing in second.candidates()] == [waiting.id]
    assert second.doctor().verdict == "ok"


def test_bringing_back_twice_adds_nothing(project, repo, tmp_path):
    """A second import must not double the memory."""
    project.write_log({"outputs": {"summary": "once"}})
    project.export(str(tmp_path / "saved"))
    Project.open(repo.path).bring_back(str(tmp_path / "saved"))
    before = Project.open(repo.path).log()

    Project.open(repo.path).bring_back(str(tmp_path / "saved"))

    assert Project.open(repo.path).log() == before


def test_an_export_never_overwrites(project, tmp_path):
    """The file that stands there may be the only good backup."""
    (tmp_path / "saved").write_text("precious")
    with pytest.raises(BadInput, match="there already"):
        project.export(str(tmp_path / "saved"))
    assert (tmp_path / "saved").read_text() == "precious"


@pytest.mark.parametrize(
    "name",
    [
        *("../../outside", "/etc/passwd", "spool/../../x", "config", "runs/./../x"),
        *("sessions/../../x", "trash/../repo-id", "claims/TSK-a.json", "hook.py", "rewrites/x/../../y"),
        *("settings.toml", "inbox/git.log", "seen/x", "statistics/../x", "lock"),
    ],
)
def test_a_name_that_leads_out_is_refused(project, tmp_path, name):
    """A bundle from a stranger must not write where it likes."""
    data = b"x"
    file = pack(
        tmp_path / "bad", [tarfile.TarInfo(name)], [data], listed={name: hashlib.sha256(data).hexdigest()}
    )
    with pytest.raises(BadBundle, match="no file of a store"):
        project.bring_back(str(file))


def test_a_link_in_a_bundle_is_refused(project, tmp_path):
    """A link would let the next file be written through it."""
    link = tarfile.TarInfo("runs/link")
    link.type, link.linkname = tarfile.SYMTYPE, "/"
    with pytest.raises(BadBundle, match="no file of a store"):
        project.bring_back(str(pack(tmp_path / "bad", [link], [b""], listed={})))


def test_any_damage_to_a_bundle_is_found_before_anything_is_stored(project, repo, tmp_path):
    """Half a backup that looks whole is worse than none."""
    project.write_log({"outputs": {"summary": "once"}})
    project.export(str(tmp_path / "saved"))
    whole = (tmp_path / "saved").read_bytes()
    store = Path(project.clone.private.private)
    before = sorted(path.name for path in store.rglob("*"))
    for damaged in (whole[: len(whole) // 2], whole[:-9], b"", b"not a bundle", b"\0" * 2048):
        (tmp_path / "bad").write_bytes(damaged)
        with pytest.raises(BadBundle):
            project.bring_back(str(tmp_path / "bad"))
    assert sorted(path.name for path in store.rglob("*")) == before


def test_a_missing_or_foreign_file_is_one_clear_sentence(project, tmp_path):
    """The common mistake is a wrong name."""
    with pytest.raises(BadBundle, match="there is no file"):
        project.bring_back(str(tmp_path / "nothing"))


def test_sessions_rewrites_and_the_trash_travel_and_claims_stay(project, repo, tmp_path):
    """A new machine starts where the old one stopped; who works there now is nobody's who worked here."""
    store = Path(project.clone.private.private)
    old, new = "1" * 40, "2" * 40
    for name, text in {
        "sessions/20261115T100000Z_main-SES-one.json": "{}",
        "sessions/sessions.lock": "",
        "sessions/model-calls.json": "{}",
        "claims/TSK-a.json": "{}",
        "anchors/11.jsonl": f'{{"commit":"{old}"}}\n',
        "anchors/lock": "",
        "kept/note.md": "refused",
        "trash/20261115T100000Z-abcdefghjk/sessions/x-SES-two.json": "{}",
        "trash/20261115T100000Z-abcdefghjk/claims/TSK-b.json": "{}",
        "rewrites": f"{old} {new} rebase 2026-11-15T10:00:00Z\n",
        "statistics": "1 context.branch\n",
    }.items():
        (store / name).parent.mkdir(parents=True, exist_ok=True)
        (store / name).write_text(text)
    project.export(str(tmp_path / "saved"))
    repo.git("clone", "-q", str(repo.path), str(tmp_path / "second"))
    second = Project.open(tmp_path / "second")
    there = Path(second.clone.private.private)
    third = "3" * 40
    (there / "anchors").mkdir(exist_ok=True)
    (there / "anchors" / "11.jsonl").write_text(f'{{"commit":"{third}"}}\n')
    (there / "rewrites").write_text(f"{new} {third} amend 2026-11-15T10:00:00Z\n")

    second.bring_back(str(tmp_path / "saved"))

    assert (there / "sessions/20261115T100000Z_main-SES-one.json").exists()
    assert (there / "kept/note.md").read_text() == "refused"
    assert (there / "trash/20261115T100000Z-abcdefghjk/sessions/x-SES-two.json").exists()
    assert not list(there.rglob("TSK-*.json")) and not (there / "sessions/model-calls.json").exists()
    assert old in (there / "anchors/11.jsonl").read_text()
    lines = (there / "rewrites").read_text().splitlines()
    assert [line.split()[0] for line in lines] == [old, new], "ours are the newest"
    once = (there / "rewrites").read_bytes()
    Project.open(tmp_path / "second").bring_back(str(tmp_path / "saved"))
    assert (there / "rewrites").read_bytes() == once


def test_a_copy_in_the_trash_may_name_nothing_but_entries(project, tmp_path):
    """Taking a reset back makes a change of it, which is committed one day."""
    name = "trash/20261115T100000Z-abcdefghjk/texts.jsonl"
    row = {"id": "TSK-a", "path": ".github/workflows/x.yml", "text": "", "blob": "", "origin": "tree"}
    data = json.dumps({**row, "base": None}).encode() + b"\n"
    listed = {name: hashlib.sha256(data).hexdigest()}
    file = pack(tmp_path / "bad", [tarfile.TarInfo(name)], [data], listed=listed)
    with pytest.raises(BadBundle, match="not the memory's"):
        project.bring_back(str(file))
