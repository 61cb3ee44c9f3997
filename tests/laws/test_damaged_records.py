"""One damaged file of the private store costs that file and nothing else.

Each record is spoiled in several ways in a real store: every command goes on and says what it left out,
`run` runs its command, doctor names the file, and repair mends it. A change that names a path outside
the memory is refused wherever it comes from.
"""

import hashlib
import io
import json
import shutil
import tarfile
from pathlib import Path

import pytest

from holdfast.errors import BadBundle, UnsafePath
from holdfast.project import Project
from holdfast.store import pending_changes
from tests.conftest import init

FEW = (("status",), ("facts",))
COMMANDS = (
    *FEW,
    ("log",),
    ("recall", "postgres"),
    ("review", "list"),
    ("remember", "One more thing is known", "--evidence", "README"),
    ("reconcile",),
)


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """Where the first test leaves a store with one of everything; each spoils a copy of its own."""
    return tmp_path_factory.mktemp("sample") / "repo"


@pytest.fixture
def store(repo, cli, sample):
    """A clone with published and waiting facts, a candidate, something erased, and a run."""
    if not sample.exists():
        fill(repo, cli)
        shutil.copytree(repo.path, sample, symlinks=True)
    shutil.rmtree(repo.path)
    shutil.copytree(sample, repo.path, symlinks=True)
    return Path(repo.path, ".git/holdfast")


def fill(repo, cli) -> None:
    init(cli.cwd, commit=True)
    repo.git("switch", "-q", "-c", "work")
    cli("remember", "Tests need Postgres 16", "--evidence", "README", "--accept")
    cli("run", "--", "true")
    project = Project.open(repo.path)
    gone = project.write_log({"task": "what to erase"})
    cli("erase", gone, "--yes")
    cli("publish")
    cli("remember", "It waits to be published", "--evidence", "README", "--accept")
    cli("remember", "Nobody has decided this", "--evidence", "README")


def place(store: Path, name: str) -> Path:
    """The file that a pattern names, or where it would lie."""
    return next(iter(sorted(store.glob(name))), store / name)


def check(store: Path, cli, *paths: Path, commands=FEW) -> str:
    """Everything goes on, the file is named, repair mends, and nothing else is lost."""
    said = ""
    for command in commands:
        answer = cli(*command, ok=False)
        assert answer.code == 0, (command, answer.err)
        said += answer.err
    ran = cli("run", "--", "echo", "it ran", ok=False)
    assert (ran.code, ran.out) == (0, "it ran\n"), ran.err
    found = cli("doctor", ok=False)
    assert found.code == 1, found.out + found.err
    assert [path for path in paths if path.relative_to(store).as_posix() not in found.out] == []
    mended = cli("doctor", "--repair", "--yes", ok=False)
    assert mended.code == 0, mended.out + mended.err
    assert list((store / "quarantine").iterdir())
    after = cli("status")
    assert "left out" not in after.err
    return said


RECORDS = (
    "publishing.json",
    "erasing.json",
    "pending/*.json",
    "sealed/changes/*.json",
    "lines/*.json",
    "candidates/*.md",
    "repo-id",
)


@pytest.mark.parametrize("data", [b"\xff{", b"", b"[]", b"[" * 100_000])
def test_every_record_damaged_at_once_stops_no_command(store, cli, data):
    """A disk that lies does not stop at one file."""
    paths = [place(store, name) for name in RECORDS]
    for path in paths:
        path.write_bytes(data)

    check(store, cli, *paths, commands=COMMANDS)


@pytest.mark.parametrize("name", RECORDS)
def test_a_truncated_record_costs_only_itself(store, cli, repo, name):
    """One bad sector must not take a project's memory away from those who work with it."""
    path = place(store, name)
    whole = path.read_bytes() if path.exists() else b'{"top": "/x", "kind": "run", "id": "y", "items": []}'
    path.write_bytes(whole[: len(whole) // 3])
    facts = {"Tests need Postgres 16", "It waits to be published"}

    check(store, cli, path)

    kept = {standing.memory.statement for standing in Project.open(repo.path).memory.facts().trusted}
    assert len(facts - kept) <= (1 if name == "pending/*.json" else 0)


@pytest.mark.parametrize("name", ["erased", "heads", "spool/junk", "open", "quarantine"])
def test_a_file_where_a_folder_belongs_stops_nothing(store, cli, name):
    """A mistaken `touch` or a bad restore must be named, not be a traceback."""
    path = store / name
    shutil.rmtree(path, ignore_errors=True)
    path.write_bytes(b"\xff{")

    check(store, cli, path)


@pytest.mark.parametrize("name", ["pending/x.json", "lines/x.json", "candidates/X.md"])
def test_a_folder_where_a_record_belongs_stops_nothing(store, cli, name):
    """The same the other way round."""
    (store / name).mkdir(mode=0o755)

    check(store, cli, store / name)


def test_a_damaged_marker_of_something_erased_still_keeps_it_gone(store, cli):
    """Damage must never bring back what somebody wanted gone."""
    path = place(store, "erased/*")
    path.write_bytes(b'["../pending"]')

    check(store, cli, path)

    assert path.is_file()
    assert path.name in {file.name for file in (store / "erased").iterdir()}


def test_a_changed_word_of_a_waiting_fact_is_found(store, cli, repo):
    """A fact that nobody accepted must not be trusted because it lies where an accepted one lay."""
    path = place(store, "pending/*.json")
    path.write_bytes(path.read_bytes().replace(b"It waits", b"It hates"))

    said = check(store, cli, path)

    assert "its text was changed" in said
    assert "hates" not in cli("facts").out


def test_a_changed_copy_of_what_was_published_is_found(store, cli):
    """`publish --restore` would bring the forged words back."""
    path = next(p for p in (store / "sealed/changes").iterdir() if b"Postgres" in p.read_bytes())
    path.write_bytes(path.read_bytes().replace(b"Postgres 16", b"Postgres 61"))

    assert path.name in cli("doctor", ok=False).out


def test_the_changed_words_of_a_candidate_are_pointed_at(store, cli):
    """Whoever accepts by id alone would approve words that were never proposed."""
    path = place(store, "candidates/*.md")
    path.write_text(path.read_text().replace("Nobody", "Everybody"))

    answer = cli("doctor")

    assert f"the words of {path.stem} were changed after it was proposed" in answer.out
    assert "its words were changed after it was proposed" in cli("review", "list").out
    assert "its words were changed after it was proposed" in cli("review", "accept", path.stem).out


@pytest.mark.parametrize("spoil", [b"\xff{", b'{"id":"other"}'])
def test_a_damaged_line_keeps_its_identity(store, cli, repo, spoil):
    """A new line made over it would hide everything that waits on the branch."""
    path = place(store, "lines/*.json")
    for line in (store / "lines").iterdir():
        line.write_bytes(spoil)
    before = repo.git("config", "--get-regexp", "holdfast$")

    assert "It waits to be published" in cli("facts").out
    cli("doctor", "--repair", "--yes")
    assert "It waits to be published" in cli("facts").out
    assert repo.git("config", "--get-regexp", "holdfast$") == before
    assert json.loads(path.read_bytes())["id"] == path.stem


def test_looking_writes_nothing(store, repo):
    """`check` runs in places where a stray file would be a change."""
    for line in (store / "lines").iterdir():
        line.write_bytes(b"\xff{")
    shutil.rmtree(store / "heads")
    repo.git("switch", "-q", "-c", "another")

    def state():
        files = {p: p.read_bytes() for p in Path(repo.path, ".git").rglob("*") if p.is_file()}
        return {path: data for path, data in files.items() if path.name != "index"}

    before = state()
    project = Project.look(repo.path)
    project.clone.line()
    project.health.doctor()
    project.clone.erased()
    assert state() == before
    assert not (store / "heads").exists()


FORGED = (".github/workflows/evil.yml", "../x", "-rf", ".holdfast/holdfast.toml", ".holdfast/memory/facts/../x.md")


@pytest.mark.parametrize("path", FORGED)
def test_a_change_of_a_foreign_path_is_refused_everywhere(store, cli, repo, tmp_path, path):
    """A bundle from somebody else must not commit a workflow in our name."""
    record = json.loads(place(store, "pending/*.json").read_bytes()) | {"path": path}
    data = json.dumps(record).encode()
    bundle = forged(tmp_path / "forged.tgz", "pending/20260101T000000Z-forged.json", data)
    project = Project.open(repo.path)

    with pytest.raises(BadBundle):
        project.sync.import_bundle(str(bundle))
    assert not (store / "pending/20260101T000000Z-forged.json").exists()
    with pytest.raises(UnsafePath):
        project.clone.change(path, "text")
    (store / "pending/20260101T000000Z-forged.json").write_bytes(data)
    answer = cli("publish")
    assert "20260101T000000Z-forged.json" in answer.err
    assert not Path(repo.path, path).exists() or path == ".holdfast/holdfast.toml"
    assert path not in repo.git("show", "--name-only", "--format=", "HEAD").split()
    assert not pending_changes.is_publishable(path)


def forged(file: Path, name: str, data: bytes) -> Path:
    listed = {name: hashlib.sha256(data).hexdigest()}
    manifest = json.dumps({"holdfast": "bundle", "v": 1, "ts": "x", "files": listed}).encode()
    with tarfile.open(file, "w:gz") as tar:
        for member, content in (("holdfast-bundle.json", manifest), (name, data)):
            entry = tarfile.TarInfo(member)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return file
