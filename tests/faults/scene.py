"""A project in the middle of work, and what must hold whatever a publish there comes to."""

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from holdfast.diagnostics import doctor
from holdfast.git import publish
from holdfast.git.clone import Clone
from holdfast.git.project_setup import initialise
from holdfast.model.event import EventDraft
from holdfast.store import fsio
from tests.conftest import GitRepo, Quick

from .disk import plugged

OLD = ".holdfast/memory/facts/old-FCT-old1.md"
GONE = ".holdfast/memory/facts/gone-FCT-gone.md"
NEW = ".holdfast/memory/facts/new-FCT-new1.md"
HEAD_LINES = "type: fact\nstatus: accepted\nlayer: L5\ntags: []\nsource: person:ada\nconfidence: 0.9\nevidence: []\n"


def entry(name: str, statement: str) -> str:
    last = "applies_to: []\nsupersedes: []\nexpires_at: null\n"
    return f"---\nid: FCT-{name}\n{HEAD_LINES}{last}---\nFact: {statement}\n"


@dataclass(frozen=True, slots=True)
class Scene:
    """A project with work of the user's under way, and memory that waits to be published."""

    path: Path
    recorded: frozenset[str]
    index: str = ""  # everything in git's index that is not Holdfast's
    files: Mapping[str, bytes] = field(default_factory=dict)  # every other file of the work tree, ignored or not

    def users_index(self) -> str:
        return self.git("ls-files", "-s", "-t", "--", ".", ":(exclude).holdfast")

    def users_files(self) -> dict[str, bytes]:
        files = (path for path in self.path.rglob("*") if path.is_file())
        named = {str(path.relative_to(self.path)): path for path in files}
        own = (".git/", ".holdfast/")
        return {name: path.read_bytes() for name, path in named.items() if not name.startswith(own)}

    def git(self, *args: str) -> str:
        done = subprocess.run(["git", *args], cwd=self.path, capture_output=True, check=True)
        return done.stdout.decode()

    def at(self, path: Path) -> "Scene":
        """The same scene, played elsewhere."""
        shutil.copytree(self.path, path, symlinks=True)
        return replace(self, path=path)

    def clone(self) -> Clone:
        return Clone.open(str(self.path), cache=str(self.path.parent / "cache"))

    def next_command(self) -> Clone:
        """What any command does first: mend what another left behind."""
        clone = self.clone()
        with fsio.locked(clone.layout.lock):
            publish.recover(clone)
        return clone


def leave_work(repo: GitRepo) -> None:
    """A user's own work under way: staged, edited, untracked and ignored files."""
    repo.write("mine.txt", "staged\n")
    repo.git("add", "mine.txt")
    repo.write("mine.txt", "staged and edited\n")
    repo.write("README", "edited\n")
    repo.write(".env", "what nobody may commit\n")
    repo.write("notes.txt", "untracked\n")
    with (repo.path / ".git/info/exclude").open("a") as ignored:
        ignored.write(".env\n")


def set_up(repo: GitRepo) -> Scene:
    """On a branch: one entry is new, one changed, one goes; the user has staged and unstaged work."""
    cache = str(repo.path.parent / "cache")
    initialise(str(repo.path), cache=cache, commit=True)
    repo.git("switch", "-q", "-c", "work")
    with plugged(Quick()):
        clone = Clone.open(str(repo.path), cache=cache)
        for path, name in ((OLD, "old1"), (GONE, "gone")):
            clone.change(path, entry(name, "As it was."))
        publish.publish(clone)
        events = [
            clone.record(EventDraft("run", run_id=f"run-{n}", exit_status=0, body={"task": "t"})) for n in range(3)
        ]
        clone.change(OLD, entry("old1", "As it is now."))
        clone.change(GONE, None)
        clone.change(NEW, entry("new1", "It is new."))
    leave_work(repo)
    found = Scene(repo.path, frozenset(event.hash_self for event in events))
    return replace(found, index=found.users_index(), files=found.users_files())


def check_nothing_lost(scene: Scene, what: str) -> None:
    """After the next command: all events, all that waits, the user's own work, and nothing of ours staged."""
    clone = scene.next_command()
    assert scene.recorded <= {event.hash_self for event in clone.all_events()}, f"{what}: events are gone"
    texts = {sighting.path: sighting.text for sighting in clone.entries()}
    assert "As it is now." in texts[OLD] and "It is new." in texts[NEW] and GONE not in texts, f"{what}: {texts}"
    assert scene.users_index() == scene.index, f"{what}: the user's index was changed"
    assert scene.users_files() == scene.files, f"{what}: the user's files were changed"
    ours = scene.git("status", "--porcelain", "--untracked-files=all", "--", ".holdfast")
    assert ours == "", f"{what}: left behind: {ours}"


def check_published(scene: Scene, what: str) -> None:
    """A repeated publish brings everything into the commit, once."""
    clone = scene.clone()
    publish.publish(clone)
    check_nothing_lost(scene, what)
    shown = scene.git("ls-tree", "-r", "--name-only", "HEAD", "--", ".holdfast").split()
    assert OLD in shown and NEW in shown and GONE not in shown, what
    log = "".join(scene.git("show", f"HEAD:{path}") for path in shown if path.startswith(".holdfast/log/"))
    for name in scene.recorded:
        assert log.count(f'{{"hash_self":"{name}"') == 1, f"{what}: an event is missing or there twice"
    assert not scene.clone().changes(), f"{what}: published, and still waiting"
    assert doctor.examine(scene.clone()).verdict == "ok", what
