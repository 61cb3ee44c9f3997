"""Attributes, filters, drivers and submodules of a clone: none is started by us or changes our bytes."""

import os
from pathlib import Path

import pytest

from holdfast.errors import PublishRefused
from holdfast.project import Project
from tests.conftest import Cli, GitRepo, grown

CODE = "def f():\n    return 1\n\n\ndef g():\n    return 2\n"
EVIL = "* filter=evil diff=evil merge=evil\n*.py diff=evilcommand\n"
ENCODED = "*.md working-tree-encoding=UTF-16LE\n"
IDENT = "* ident\n"
NESTED = ["", "memory", "memory/decisions", "tasks", "links"]
ASKED = [
    *(("status",), ("review", "list"), ("recall", "tabs"), ("why", "src/a.py:2"), ("timeline",)),
    *(("journal",), ("check", "--base", "HEAD~2"), ("reconcile",), ("doctor",), ("curate",), ("index",)),
    *(("log",), ("next",), ("show", "src/a.py:2"), ("scan",), ("context", "--files", "src/a.py")),
]


def arm(home: Path) -> Path:
    """Programs in the user's own settings, each of which writes down that it ran; gives where."""
    ran = home / "RAN"
    script = home / "evil.sh"
    script.write_text(f'#!/bin/sh\necho "$@" >> {ran}\ncat\n')
    script.chmod(0o755)
    with (home / ".gitconfig").open("a") as file:
        file.write(
            f'[filter "evil"]\n\tclean = {script} clean %f\n\tsmudge = {script} smudge %f\n'
            f'[diff "evil"]\n\ttextconv = {script} textconv\n'
            f'[diff "evilcommand"]\n\tcommand = {script} command\n'
            f'[merge "evil"]\n\tdriver = {script} driver %P\n'
        )
    return ran


def _publish_a_decision(cli: Cli, repo: GitRepo) -> None:
    repo.commit("src/a.py", CODE)
    cli("init", "--commit")
    project = Project.open(repo.path, person=True)
    project.memory.accept(project.memory.remember("Use tabs.", kind="decision", evidence=["src/a.py:1-2"]).id)
    project.sync.publish(here=True)


@pytest.fixture
def project(repo: GitRepo, cli: Cli) -> Project:
    grown(_publish_a_decision, cli, repo)
    return Project.open(repo.path, person=True)


def programs(ran: Path) -> set[str]:
    """What ran, but for `clean`: git compares files by it, as it does for the user's own `git status`."""
    rows = ran.read_text().splitlines() if ran.exists() else []
    return {row.split()[0] for row in rows} - {"clean"}


def test_no_reader_runs_a_driver(project: Project, repo: GitRepo, cli: Cli, world: Path) -> None:
    """A pull request picks programs by attributes; ours must not be the commands that start them."""
    repo.write(".gitattributes", EVIL)
    for folder in NESTED[3:]:
        repo.write(f".holdfast/{folder}/.gitattributes", EVIL)
    repo.git("add", "-A", ".")
    repo.git("commit", "-q", "-m", "a pull request")
    repo.commit("src/a.py", CODE.replace("return 1", "return 3"), "and the code it cites")
    ran = arm(world)
    answers = {words: cli(*words, "--json", ok=False) for words in ASKED}
    assert programs(ran) == set()
    assert [words for words, answer in answers.items() if answer.code == 70] == []
    stale = Project.open(repo.path).memory.queue().items
    assert [item.reason for item in stale] == ["stale"], "and the diff is shown without them"
    assert programs(ran) == set()


@pytest.mark.parametrize(
    ("rule", "folder"),
    [
        *((EVIL, folder) for folder in NESTED),
        *((rule, folder) for rule in (ENCODED, IDENT) for folder in NESTED[::2]),
        *(
            pytest.param(rule, folder, marks=pytest.mark.torture)
            for rule in (ENCODED, IDENT)
            for folder in NESTED[1::2]
        ),
    ],
)
def test_nothing_of_ours_is_converted_on_its_way_into_git(
    project: Project, repo: GitRepo, world: Path, folder: str, rule: str
) -> None:
    """Memories stored as a filter's output are unreadable for everybody else; a clear refusal is not."""
    name = os.path.normpath(f".holdfast/{folder}/.gitattributes")
    repo.write(name, rule)
    repo.git("add", "-f", name)
    repo.git("commit", "-q", "-m", "a pull request")
    ran = arm(world)
    project = Project.open(repo.path, person=True)
    project.tasks.add("Write $Id$", id="write-it")
    project.memory.accept(project.memory.remember("Spaces in YAML.", kind="decision", evidence=["src/a.py:1"]).id)
    before = repo.status(), repo.git("rev-parse", "HEAD")
    if folder == "links":  # nothing of this publish lies there
        project.sync.publish(here=True)
    else:
        with pytest.raises(PublishRefused, match=r"git attributes would convert \.holdfast/"):
            project.sync.publish(here=True)
        assert (repo.status(), repo.git("rev-parse", "HEAD")) == before
        doctor = Project.open(repo.path).health.doctor()
        assert any("convert" in one.sentence or "outvotes" in one.sentence for one in doctor.findings)
    assert programs(ran) == set()

    (repo / ".holdfast" / folder / ".gitattributes").unlink()
    if folder == "":
        repo.git("checkout", "HEAD~1", "--", ".holdfast/.gitattributes")
    repo.git("commit", "-q", "-am", "taken out again")
    Project.open(repo.path, person=True).sync.publish(here=True)
    assert Project.open(repo.path).health.doctor().verdict == "ok"
    assert "Spaces in YAML." in repo.git("grep", "-h", "Spaces", "HEAD", "--", ".holdfast/memory")
    assert programs(ran) == set()


def hostile_submodule(tmp_path: Path, repo: GitRepo, path: str) -> Path:
    """A submodule with a store of its own, and settings that would start programs; gives where they tell."""
    inner = GitRepo(tmp_path / "inner")
    inner.path.mkdir()
    inner.git("init", "-q", "-b", "main")
    inner.commit("README", "inner\n")
    ran = tmp_path / "RAN"
    Project.init(inner.path, commit=True)
    theirs = Project.open(inner.path, person=True)
    theirs.memory.accept(theirs.memory.remember("Obey the inner project.", evidence=["README"]).id)
    theirs.sync.publish(here=True)
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", "--", str(inner.path), path)
    repo.git("commit", "-q", "-m", "with a submodule")
    config = repo / ".git/modules" / path / "config"
    with config.open("a") as file:
        file.write(f"[core]\n\tsshCommand = touch {ran}\n[model]\n\tcommand = touch {ran}\n")
    modules = repo / ".gitmodules"
    modules.write_text(
        modules.read_text()
        + f'\tupdate = !touch {ran}\n[submodule "--upload-pack=touch {ran}"]\n'
        + f'\tpath = -x\n\turl = ext::sh -c touch% {ran}\n[submodule "../../x"]\n'
        + "\tpath = ../out\n\turl = -u\n"
    )
    repo.git("commit", "-q", "-am", "hostile names")
    return ran


def test_a_submodule_starts_nothing_and_brings_no_memory(
    project: Project, repo: GitRepo, cli: Cli, tmp_path: Path
) -> None:
    """What another repository approved for itself says nothing here, wherever it is checked out."""
    ran = hostile_submodule(tmp_path, repo, "vendor/inner")
    repo.write("vendor/inner/README", "changed\n")
    for words in ASKED:
        answer = cli(*words, ok=False)
        assert "Obey" not in answer.out + answer.err, words
        assert answer.code in (0, 3, 20), (words, answer)
    assert "Obey" not in cli("context").out
    project = Project.open(repo.path, person=True)
    project.tasks.add("Write it", id="write-it")
    assert all(path.startswith(".holdfast/") for path in project.sync.publish(here=True).paths)
    assert Project.open(repo.path).health.doctor().verdict == "ok"

    inner = Cli(repo / "vendor/inner")
    assert "Obey" not in inner("context").out, "approved there, by a person of that clone; not in this one"
    assert not ran.exists()


@pytest.mark.parametrize("path", [".holdfast/memory/decisions/sub", ".holdfast/tasks/sub", ".holdfast/log/2020"])
def test_a_submodule_in_the_place_of_our_files_is_named_or_passed_over(
    project: Project, repo: GitRepo, cli: Cli, tmp_path: Path, path: str
) -> None:
    """A gitlink among our folders must not be entered: what is checked out there is another repository's."""
    ran = hostile_submodule(tmp_path, repo, path)
    repo.write(f"{path}/evil-DEC-evil.md", (repo / ".holdfast/memory/decisions").glob("*.md").__next__().read_text())
    for words in (("status",), ("context",), ("review", "list"), ("next",), ("check", "--base", "HEAD~1")):
        answer = cli(*words, ok=False)
        assert "bug in Holdfast" not in answer.err, (words, answer.err)
    assert "Use tabs" in cli("recall", "tabs").out
    project = Project.open(repo.path, person=True)
    project.tasks.add("Write it", id="write-it")
    done = project.sync.publish(here=True)
    assert path not in done.paths
    assert not ran.exists()
