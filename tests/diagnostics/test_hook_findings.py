"""What doctor says of git's hooks: nothing where they fire, else one sentence and a next step."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from holdfast.diagnostics import doctor as examined
from holdfast.git import hooks
from holdfast.git.hook_scripts import NAMES
from holdfast.interfaces.cli import hook_commands as words
from holdfast.store import git_inbox
from tests.git.place import Place

PYTHON: str = getattr(sys, "_base_executable", sys.executable)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place.make(tmp_path / "repo")


def install(place: Place, python: str = PYTHON) -> None:
    clone = place.open()
    hooks.install(clone.repo, clone.private, python=python, version=(2, 53))


def said(place: Place) -> list[tuple[str, str, str]]:
    return [(found.severity, found.file, found.sentence) for found in examined.examine_hooks(place.open())]


def test_hooks_nobody_installed_are_not_spoken_of(place: Place) -> None:
    """Holdfast works without them; whoever does not want them must not be told again and again."""
    assert said(place) == []


def test_hooks_that_fire_are_not_spoken_of_and_the_test_leaves_no_firing(place: Place) -> None:
    """A doctor that talks of healthy things is not read."""
    install(place)
    assert said(place) == []
    assert git_inbox.drain(place.open().private) == []
    assert place.status() == ""


def test_one_cause_is_one_finding_with_the_next_step(place: Place, tmp_path: Path) -> None:
    """Four sentences about one deleted environment hide the one thing to do."""
    python = tmp_path / "python"
    shutil.copy("/bin/true", python)
    install(place, str(python))
    (silent,) = examined.examine_hooks(place.open())
    assert silent.severity == "problem" and "recorded nothing" in silent.sentence
    python.unlink()
    (gone,) = examined.examine_hooks(place.open())
    assert gone.severity == "problem" and str(python) in gone.sentence and "hooks install" in gone.next_step
    assert all(name in gone.sentence for name in NAMES)


def test_a_folder_husky_made_anew_is_named(place: Place) -> None:
    """After `npm install` the hooks are gone, and nothing else says so."""
    folder = place.repo / ".husky/_"
    folder.mkdir(parents=True)
    (folder / ".gitignore").write_text("*")
    place.git("config", "core.hooksPath", ".husky/_")
    install(place)
    shutil.rmtree(folder)
    folder.mkdir()
    (found,) = examined.examine_hooks(place.open())
    assert (found.severity, found.file) == ("problem", ".husky/_") and "husky" in found.sentence
    assert "prepare" in found.next_step


def test_one_hook_gone_and_an_older_script_are_told_apart(place: Place) -> None:
    """What needs doing now and what can wait look different."""
    install(place)
    os.unlink(place.repo / ".git/hooks/post-merge")
    with open(place.open().private.hook, "a") as file:
        file.write("# older\n")
    assert [each[:2] for each in said(place)] == [
        ("problem", ".git/hooks/post-merge"),
        ("note", ".git/holdfast/hook.py"),
    ]


def test_the_words_say_what_is_there_and_what_to_do(place: Place) -> None:
    """The screen is all most people ever see of it."""
    clone = place.open()
    assert "hooks install" in words.state(hooks.state(clone.repo, clone.private))
    done = hooks.install(clone.repo, clone.private, python=PYTHON, version=(2, 53))
    assert words.installed(done).splitlines()[0] == f"Installed 4 hooks: {place.repo / '.git/hooks'}"
    again = hooks.install(clone.repo, clone.private, python=PYTHON, version=(2, 53))
    assert words.installed(again) == f"All 4 hooks are installed already: {place.repo / '.git/hooks'}"
    shown = words.state(hooks.state(clone.repo, clone.private)).splitlines()
    assert shown[0] == "post-commit    works  a file of its own" and len(shown) == 4
    os.unlink(place.repo / ".git/hooks/post-commit")
    shown = words.state(hooks.state(clone.repo, clone.private)).splitlines()
    assert shown[0].split() == ["post-commit", "gone"] and shown[-1] == "Repair it with: holdfast hooks install"
    assert words.removed(hooks.remove(clone.repo, clone.private)).startswith("Removed 3 hooks;")
    assert words.removed(hooks.remove(clone.repo, clone.private)).startswith("No git hooks")


def test_an_empty_recording_hook_is_none_of_this_version(place: Place) -> None:
    """A disk that was full leaves it so; installing again mends it."""
    install(place)
    Path(place.open().private.hook).write_bytes(b"")
    assert ("note", ".git/holdfast/hook.py", "the recording hook is of another version of Holdfast") in said(place)
