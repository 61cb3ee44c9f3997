"""A bundle saves the private store to one file, and brings it back into any clone."""

import hashlib
import io
import json
import re
import tarfile
from pathlib import Path

import pytest

from holdfast.errors import BadBundle, BadInput, FutureFormat
from holdfast.project import Project
from holdfast.store import bundle
from holdfast.store.layout import Layout
from tests.conftest import init


@pytest.fixture
def project(repo, inside) -> Project:
    init(repo.path, commit=True)
    return Project.open(repo.path)


def pack(file: Path, members: list[tarfile.TarInfo], contents: list[bytes], *, listed: dict[str, str]) -> Path:
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
    fact = project.memory.remember("The tide table is in UTC", evidence=[run], accept=True)
    waiting = project.memory.remember("Gulls are loud", evidence=["README"])
    project.sync.export_bundle(str(tmp_path / "saved"))
    repo.git("clone", "-q", str(repo.path), str(tmp_path / "second"))

    second = Project.open(tmp_path / "second")
    assert second.recall("tide") == []
    second.sync.import_bundle(str(tmp_path / "saved"))
    second = Project.open(tmp_path / "second")

    assert {hit.id for hit in second.recall("tide")} >= {run, fact.id}
    assert [standing.id for standing in second.memory.facts().trusted] == [fact.id]
    assert [standing.id for standing in second.memory.candidates()] == [waiting.id]
    assert second.health.doctor().verdict == "ok"


def test_bringing_back_twice_adds_nothing(project, repo, tmp_path):
    """A second import must not double the memory."""
    project.write_log({"outputs": {"summary": "once"}})
    project.sync.export_bundle(str(tmp_path / "saved"))
    Project.open(repo.path).sync.import_bundle(str(tmp_path / "saved"))
    before = Project.open(repo.path).log.events()

    Project.open(repo.path).sync.import_bundle(str(tmp_path / "saved"))

    assert Project.open(repo.path).log.events() == before


def test_an_export_to_an_empty_name_asks_for_one(project):
    """A script whose variable is not set must read what is missing, not a word about a full disk."""
    with pytest.raises(BadInput, match="no file is named"):
        project.sync.export_bundle("")


def test_an_export_never_overwrites(project, tmp_path):
    """The file that stands there may be the only good backup."""
    (tmp_path / "saved").write_text("precious")
    with pytest.raises(BadInput, match="already exists"):
        project.sync.export_bundle(str(tmp_path / "saved"))
    assert (tmp_path / "saved").read_text() == "precious"


@pytest.mark.parametrize(
    "name",
    [
        *("../../outside", "/etc/passwd", "spool/../../x", "config", "runs/./../x"),
        *("sessions/../../x", "trash/../repo-id", "claims/TSK-a.json", "hook.py", "rewrites/x/../../y"),
        *("settings.toml", "inbox/git.log", "seen/x", "statistics/../x", "lock"),
        *("spool/lock", "spool/x.jsonl", "spool/a/b/c.jsonl", f"kept/{'a' * 300}", "kept//x", "runs/x.tmp"),
    ],
)
def test_a_name_that_leads_out_is_refused(project, tmp_path, name):
    """A bundle from a stranger must not write where it likes."""
    data = b"x"
    file = pack(tmp_path / "bad", [tarfile.TarInfo(name)], [data], listed={name: hashlib.sha256(data).hexdigest()})
    with pytest.raises(BadBundle, match="not a file of a store"):
        project.sync.import_bundle(str(file))


def test_a_link_in_a_bundle_is_refused(project, tmp_path):
    """A link would let the next file be written through it."""
    link = tarfile.TarInfo("runs/link")
    link.type, link.linkname = tarfile.SYMTYPE, "/"
    with pytest.raises(BadBundle, match="not a file of a store"):
        project.sync.import_bundle(str(pack(tmp_path / "bad", [link], [b""], listed={})))


def test_any_damage_to_a_bundle_is_found_before_anything_is_stored(project, repo, tmp_path):
    """Half a backup that looks whole is worse than none."""
    project.write_log({"outputs": {"summary": "once"}})
    project.sync.export_bundle(str(tmp_path / "saved"))
    whole = (tmp_path / "saved").read_bytes()
    store = Path(project.clone.private.private)
    before = sorted(path.name for path in store.rglob("*"))
    for damaged in (whole[: len(whole) // 2], whole[:-9], b"", b"not a bundle", b"\0" * 2048):
        (tmp_path / "bad").write_bytes(damaged)
        with pytest.raises(BadBundle):
            project.sync.import_bundle(str(tmp_path / "bad"))
    assert sorted(path.name for path in store.rglob("*")) == before


def test_a_missing_or_foreign_file_is_one_clear_sentence(project, tmp_path):
    """The common mistake is a wrong name."""
    with pytest.raises(BadBundle, match="there is no file"):
        project.sync.import_bundle(str(tmp_path / "nothing"))


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
    project.sync.export_bundle(str(tmp_path / "saved"))
    repo.git("clone", "-q", str(repo.path), str(tmp_path / "second"))
    second = Project.open(tmp_path / "second")
    there = Path(second.clone.private.private)
    third = "3" * 40
    (there / "anchors").mkdir(exist_ok=True)
    (there / "anchors" / "11.jsonl").write_text(f'{{"commit":"{third}"}}\n')
    (there / "rewrites").write_text(f"{new} {third} amend 2026-11-15T10:00:00Z\n")

    second.sync.import_bundle(str(tmp_path / "saved"))

    assert (there / "sessions/20261115T100000Z_main-SES-one.json").exists()
    assert (there / "kept/note.md").read_text() == "refused"
    assert (there / "trash/20261115T100000Z-abcdefghjk/sessions/x-SES-two.json").exists()
    assert not list(there.rglob("TSK-*.json")) and not (there / "sessions/model-calls.json").exists()
    assert old in (there / "anchors/11.jsonl").read_text()
    lines = (there / "rewrites").read_text().splitlines()
    assert [line.split()[0] for line in lines] == [old, new], "ours are the newest"
    once = (there / "rewrites").read_bytes()
    Project.open(tmp_path / "second").sync.import_bundle(str(tmp_path / "saved"))
    assert (there / "rewrites").read_bytes() == once


def test_a_copy_in_the_trash_may_name_nothing_but_entries(project, tmp_path):
    """Taking a reset back makes a change of it, which is committed one day."""
    name = "trash/20261115T100000Z-abcdefghjk/texts.jsonl"
    row = {"id": "TSK-a", "path": ".github/workflows/x.yml", "text": "", "blob": "", "origin": "tree"}
    data = json.dumps({**row, "base": None}).encode() + b"\n"
    listed = {name: hashlib.sha256(data).hexdigest()}
    file = pack(tmp_path / "bad", [tarfile.TarInfo(name)], [data], listed=listed)
    with pytest.raises(BadBundle, match="not a file of the memory"):
        project.sync.import_bundle(str(file))


# File by file, without a project around it.


@pytest.fixture
def stores(tmp_path: Path) -> tuple[Layout, Layout]:
    """A store with one file of every sort, and an empty one."""
    made = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        made.append(Layout(str(tmp_path), str(tmp_path / name)))
    for name in (*CARRIED, *LEFT):
        path = tmp_path / "one" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode() + b"\n")
    return made[0], made[1]


CARRIED = (
    *("spool/main/abc.jsonl", "spool/main/old.1.closed", "sealed/log/ab.jsonl", "bodies/ab", "lines/l.json"),
    *("runs/R-1/MANIFEST", "runs/R-1/outputs/a", "candidates/FCT-a.md", "sessions/2031Z_main-SES-a.json"),
    *("anchors/ab.jsonl", "trash/t/sessions/x-SES-b.json", "receipts/R-1/1.jsonl", "rewrites", "kept/a.md"),
)
LEFT = (
    *(
        "runs/R-1/open",
        "sessions/sessions.lock",
        "anchors/lock",
        "bodies/x.tmp",
        "claims/T-1.json",
        "config",
        "kept/a.lock",
    ),
    *("trash/t/claims/T-1.json", "sessions/notes.json", "guards/main", "seen/clone.json"),
)


def there(layout: Layout) -> set[str]:
    top = Path(layout.private)
    return {str(path.relative_to(top)) for path in top.rglob("*") if path.is_file()}


def test_what_is_carried_and_what_stays(stores, tmp_path):
    """Locks and claims are of this clone, now; everything else is memory."""
    one, two = stores
    done = bundle.export(one, str(tmp_path / "saved"), ts="2031")
    assert done.files == len(CARRIED) and done.size == (tmp_path / "saved").stat().st_size
    back = bundle.bring_back(two, str(tmp_path / "saved"), erased=set())
    assert back.files == len(CARRIED) and back.size == sum(len(name) + 1 for name in CARRIED)
    spools = {name for name in there(two) if name.startswith("spool/")}
    assert there(two) - spools == {name for name in CARRIED if not name.startswith("spool/")}
    assert len(spools) == 2 and all(name.endswith(".closed") for name in spools)
    for name in there(two) - spools:
        path = Path(two.private, name)
        assert path.read_bytes() == name.encode() + b"\n"
        assert path.stat().st_mode & 0o777 == (0o400 if name.startswith(("sealed/log/", "runs/")) else 0o600)
    assert sorted(bundle.log_lines(str(tmp_path / "saved"))) == sorted(
        name.encode() + b"\n" for name in CARRIED if name.startswith(("spool/", "sealed/log/"))
    )
    assert bundle.bring_back(two, str(tmp_path / "saved"), erased=set()).files == 0


def test_what_was_erased_here_is_not_brought_back_by_its_name(stores, tmp_path):
    """A run, a candidate, a session: each by the id in its path."""
    one, two = stores
    bundle.export(one, str(tmp_path / "saved"), ts="2031")
    bundle.bring_back(two, str(tmp_path / "saved"), erased={"R-1", "FCT-a", "SES-a", "SES-b"})
    gone = {name for name in CARRIED if any(word in name for word in ("R-1", "FCT-a", "SES-a", "SES-b"))}
    assert not gone & there(two) and len(there(two)) == len(CARRIED) - len(gone)


def test_what_is_here_is_never_changed_and_lines_are_added_before_ours(stores, tmp_path):
    """Of two lines about the same commit the last counts, and that is this clone's."""
    one, two = stores
    Path(two.private, "bodies").mkdir()
    Path(two.private, "bodies/ab").write_bytes(b"ours")
    Path(two.private, "rewrites").write_bytes(b"ours\n")
    Path(one.private, "rewrites").write_bytes(b"theirs\nours\n\n")
    bundle.export(one, str(tmp_path / "saved"), ts="2031")
    bundle.bring_back(two, str(tmp_path / "saved"), erased=set())
    assert Path(two.private, "bodies/ab").read_bytes() == b"ours"
    assert Path(two.private, "rewrites").read_bytes() == b"theirs\nours\n"
    assert Path(two.private, "anchors/ab.jsonl").read_bytes() == b"anchors/ab.jsonl\n"


def stranger(file: Path, manifest: object, *members: tuple[str, bytes]) -> Path:
    """A bundle with any list and any files."""
    with tarfile.open(file, "w:gz") as tar:
        for name, data in (("holdfast-bundle.json", json.dumps(manifest).encode()), *members):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return file


def hashed(*members: tuple[str, bytes]) -> dict[str, object]:
    return {"v": 1, "files": {name: hashlib.sha256(data).hexdigest() for name, data in members}}


@pytest.mark.parametrize(
    ("manifest", "members", "why"),
    [
        ({"v": 2, "files": {}}, [], "version 2"),
        ({"v": 0, "files": {}}, [], "its version is invalid"),
        ({"v": True, "files": {}}, [("bodies/a", b"x")], "does not match"),
        ({"files": {}}, [], "not a complete"),
        ({"v": 1}, [], "not a complete"),
        ([], [], "not a complete"),
        (hashed(("bodies/a", b"x")), [], "bodies/a is missing"),
        (hashed(("bodies/a", b"x")), [("bodies/a", b"y")], "does not match its hash"),
        (hashed(), [("bodies/a", b"x")], "does not match its hash"),
        (hashed(), [("bodies", b"x")], "not a file of a store"),
        (hashed(), [("bodies/", b"x")], "not a file of a store"),
        (hashed(), [("rewrites/x", b"x")], "not a file of a store"),
        (hashed(), [("bodies/../../x", b"x")], "not a file of a store"),
        (hashed(), [("/bodies/x", b"x")], "not a file of a store"),
        (hashed(), [("other/x", b"x")], "not a file of a store"),
    ],
)
def test_a_strangers_bundle_is_refused_with_its_reason(stores, tmp_path, manifest, members, why):
    """Nothing of it is stored, whichever part was wrong."""
    file = stranger(tmp_path / "strange", manifest, *members)
    with pytest.raises((BadBundle, FutureFormat), match=why):
        bundle.bring_back(stores[1], str(file), erased=set())
    assert there(stores[1]) == set()


@pytest.mark.parametrize(
    "name", ["pending/a.json", "sealed/changes/a.json", "trash/20310101T000000Z-abcdefghij/texts.jsonl"]
)
def test_a_change_that_would_touch_other_files_is_refused(stores, tmp_path, name):
    """The next publish would commit it in the user's name."""
    verb = "bring" if name.startswith("trash") else "change"
    would = f"{name} would {verb} '.git/config', which is not a file of the memory"
    for path, why in ((".git/config", re.escape(would)), (".holdfast/memory/facts/a.md", None)):
        member = (name, json.dumps({"path": path}).encode() + b"\n")
        file = stranger(tmp_path / path.replace("/", "-"), hashed(member), member)
        if why:
            with pytest.raises(BadBundle, match=why):
                bundle.bring_back(stores[1], str(file), erased=set())
            assert there(stores[1]) == set()
        else:
            assert bundle.bring_back(stores[1], str(file), erased=set()).files == 1


@pytest.mark.parametrize("name", ["lines/a.json", "trash/20310101T000000Z-abcdefghij/other.jsonl"])
def test_only_changes_and_copies_are_asked_which_path_they_are_of(stores, tmp_path, name):
    """Other records name files of the repository, too: that is what they are about."""
    member = (name, json.dumps({"path": ".git/config"}).encode() + b"\n")
    file = stranger(tmp_path / "some", hashed(member), member)
    assert bundle.bring_back(stores[1], str(file), erased=set()).files == 1


def test_a_bundle_that_unpacks_to_too_much_is_refused(stores, tmp_path, monkeypatch):
    """A small file must not fill a disk."""
    member = ("bodies/a", bytes(3 << 20))
    file = stranger(tmp_path / "bomb", hashed(member), member)
    monkeypatch.setattr(bundle, "MAX_RATIO", 1)
    with pytest.raises(BadBundle, match="unpacks to more"):
        bundle.bring_back(stores[1], str(file), erased=set())
    monkeypatch.setattr(bundle, "MAX_RATIO", 1000)
    monkeypatch.setattr(bundle, "MAX_FILE", (3 << 20) - 1)
    with pytest.raises(BadBundle, match="unpacks to more"):
        bundle.bring_back(stores[1], str(file), erased=set())
    monkeypatch.setattr(bundle, "MAX_FILE", 3 << 20)
    monkeypatch.setattr(bundle, "MAX_TOTAL", 3 << 20)
    assert bundle.bring_back(stores[1], str(file), erased=set()).files == 1
    monkeypatch.setattr(bundle, "MAX_MANIFEST", 10)
    with pytest.raises(BadBundle, match="list of files"):
        bundle.bring_back(stores[1], str(file), erased=set())


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ("[" * 200_000 + "]" * 200_000, "not a complete Holdfast bundle"),
        ('{"x": "' + "A" * 60_000_000 + '"}', "does not begin with its list"),
        ("{" + ",".join(f'"kept/{n}":""' for n in range(40_000)) + "}", "too many files for its size"),
    ],
)
def test_a_list_that_is_a_bomb_is_refused_at_once(project, repo, tmp_path, listed, said):
    """A few hundred kilobytes must not cost gigabytes of memory, or an hour of making files."""
    manifest = ('{"v": 1, "files": ' + listed + "}").encode()
    file = tmp_path / "bomb"
    with tarfile.open(file, "w:gz") as tar:
        first = tarfile.TarInfo("holdfast-bundle.json")
        first.size = len(manifest)
        tar.addfile(first, io.BytesIO(manifest))
    with pytest.raises(BadBundle, match=said):
        project.sync.import_bundle(str(file))
    assert Project.open(repo.path).health.doctor().verdict == "ok"
