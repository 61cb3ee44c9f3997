"""Variables and settings of git that change what git prints change nothing of what Holdfast answers."""

import difflib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from holdfast import Project
from holdfast.git import project_setup
from holdfast.store import layout as paths
from tests.conftest import GITCONFIG, Cli, GitRepo, init

VARIABLES = {
    "GIT_ICASE_PATHSPECS": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_GLOB_PATHSPECS": "1",
    "GIT_NOGLOB_PATHSPECS": "1",
    "GIT_EXTERNAL_DIFF": "false",
    "GIT_DIFF_OPTS": "-u9",
    "GIT_NAMESPACE": "elsewhere",
    "GIT_ATTR_SOURCE": "HEAD",
    "GIT_QUARANTINE_PATH": "/nowhere",
    "GIT_TRACE": "1",
    "GIT_TRACE2": "1",
    "GIT_TRACE_SETUP": "1",
    "GIT_PAGER": "false",
    "GIT_DEFAULT_HASH": "sha256",
    "GIT_FLUSH": "0",
    "GIT_REF_PARANOIA": "1",
    "GIT_PRINT_SHA1_ELLIPSIS": "yes",
    "GIT_ADVICE": "1",
    "GIT_COLOR": "always",
    "CLICOLOR_FORCE": "1",
    "PAGER": "false",
    "LESS": "-X",
    "LANGUAGE": "de",
    "LC_ALL": "de_DE.UTF-8",
}
SETTINGS = """\
[color]
	ui = always
	diff = always
	status = always
	branch = always
	grep = always
[core]
	quotePath = true
	pager = false
	abbrev = 5
	commentChar = ";"
	fsmonitor = false
	untrackedCache = true
	attributesFile = {home}/attributes
[diff]
	external = false
	noprefix = true
	mnemonicPrefix = true
	renames = copies
	algorithm = patience
	context = 0
	relative = true
	submodule = log
	wordRegex = .
	orderFile = {home}/order
	colorMoved = zebra
	ignoreSubmodules = all
	suppressBlankEmpty = true
[diff "shout"]
	textconv = "tr a-z A-Z <"
	xfuncname = "^never"
[log]
	showSignature = true
	follow = true
	decorate = full
	date = relative
	abbrevCommit = true
	mailmap = true
	diffMerges = on
	showRoot = false
[format]
	pretty = fuller
[status]
	short = true
	branch = true
	showStash = true
	relativePaths = true
	renames = copies
	showUntrackedFiles = no
	aheadBehind = false
	submoduleSummary = true
[blame]
	ignoreRevsFile = {home}/ignored
	showEmail = true
	date = relative
	coloring = highlightRecent
	markIgnoredLines = true
	blankBoundary = true
[grep]
	lineNumber = true
	patternType = perl
[i18n]
	logOutputEncoding = latin1
[branch]
	sort = -committerdate
[tag]
	sort = -refname
[versionsort]
	suffix = x
[push]
	default = matching
[merge]
	conflictStyle = diff3
	renames = false
[rebase]
	autoStash = true
[commit]
	verbose = true
	status = false
	cleanup = verbatim
	template = {home}/template
"""


ATTRIBUTES = "*.py diff=shout\n*.md diff=shout\n"
HOSTILE = {**VARIABLES, "XDG_CACHE_HOME": "{home}/hostile-cache"}
ODD, PLAIN = "src/Größe.py", "src/[ab].py"
ASKED: list[tuple[str, ...]] = [
    ("status",),
    ("log",),
    ("timeline",),
    ("tasks",),
    ("next",),
    ("recall", "größe"),
    ("recall", "postgres", "--files", PLAIN),
    ("recall", "odd names", "--kind", "commit"),
    ("context", "--files", ODD, "--files", PLAIN),
    ("why", f"{ODD}:2"),
    ("why", "src/moved.py:1"),
    ("journal",),
    ("review", "list"),
    ("reconcile",),
    ("check", "--base", "HEAD~3"),
    ("doctor",),
]


@pytest.fixture
def scene(repo: GitRepo, cli: Cli) -> GitRepo:
    """A project with code, a rename, a merge, names that need quoting, memories, a plan and a session."""
    code = "def open(path):\n    return 1\n\n\ndef close():\n    return 2\n"
    repo.commit(ODD, code, "Über die Größe: wir öffnen")
    repo.commit(PLAIN, "A = 1\n", "Odd names")
    repo.commit("src/old.py", "".join(f"B{n} = {n}\n" for n in range(20)), "Before the move")
    cli("init", "--commit")
    repo.git("switch", "-q", "-c", "feature")
    repo.git("mv", "src/old.py", "src/moved.py")
    repo.git("commit", "-q", "-m", "Move it")
    project = Project.open(repo.path, person=True)
    for words, cited in (("Open returns one.", f"{ODD}:2"), ("A is one.", PLAIN), ("Moves keep B.", "src/moved.py:3")):
        project.memory.accept(project.memory.remember(words, evidence=[cited]).id)
    project.tasks.add("Write it", id="write-it", owner="ada")
    project.sessions.start("Write it", tasks=["write-it"])
    project.sessions.end()
    project.sync.publish(here=True)
    repo.commit(ODD, code.replace("return 1", "return 3"), "Größer")
    repo.write("untracked ü.txt", "x\n")
    return repo


def plain(text: str) -> str:
    """An answer without what differs from one moment to the next."""
    text = re.sub(r'"receipt": .*|"tokens": \d+|\[rules \w+\]', "", text)  # each pack has a mark of its own
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|\+00:00| UTC)?", "<time>", text)
    return re.sub(r"\d+(\.\d+)? ?(s|ms|seconds?|minutes?)\b( ago)?|\"(seconds|ms|took)\": [\d.]+", "<…>", text)


def make_hostile(world: Path) -> dict[str, str]:
    """Write the settings, and give the variables."""
    for name in ("order", "ignored", "template"):
        (world / name).write_text("*.md\n" if name == "order" else "")
    (world / "attributes").write_text(ATTRIBUTES)
    (world / ".gitconfig").write_text(GITCONFIG + SETTINGS.replace("{home}", str(world)))
    return {name: value.replace("{home}", str(world)) for name, value in HOSTILE.items()}


def test_every_answer_is_the_same_under_hostile_settings(scene: GitRepo, cli: Cli, world: Path) -> None:
    """What people put into their shell and ~/.gitconfig for themselves must not change what is known."""
    shutil.copytree(scene.path, world / "copy", symlinks=True)
    before = {words: cli(*words, "--json", ok=False) for words in ASKED}
    shutil.rmtree(scene.path)
    shutil.copytree(world / "copy", scene.path, symlinks=True)
    hostile = make_hostile(world)
    different = {}
    for words, clean in before.items():
        answer = cli(*words, "--json", ok=False, **hostile)
        same = [plain(one.out) for one in (clean, answer)]
        if answer.code != clean.code or same[0] != same[1] or plain(clean.err) != plain(answer.err):
            rows = [row for row in difflib.ndiff(*(one.splitlines() for one in same)) if row[0] in "+-"]
            different[words] = (clean.code, answer.code, rows[:6], answer.err[-300:])
    assert different == {}
    assert [words for words, answer in before.items() if answer.code not in (0, 3)] == []


def test_what_is_written_is_the_same_under_hostile_settings(scene: GitRepo, world: Path, cli: Cli) -> None:
    """A publish must commit our files and nothing else, whatever patterns mean to the user's own git."""
    hostile = make_hostile(world)
    scene.write("SRC/other.txt", "mine\n")
    before = scene.git("status", "--porcelain=v1", "-z", "--untracked-files=all")
    cli("remember", "B follows A.", "--evidence", f"{PLAIN}:1", "--evidence", f"{ODD}#close", **hostile)
    cli("task", "add", "Größer", "--id", "greater", **hostile)
    cli("task", "start", "greater", **hostile)
    scene.commit("src/new.py", "C = 1\n", "For greater")
    cli("task", "done", "greater", **hostile)
    cli("review", "accept", "--all", **hostile)
    cli("publish", "--here", **hostile)

    os.environ["GIT_CONFIG_GLOBAL"] = str(world / "plain")
    (world / "plain").write_text(GITCONFIG)
    changed = scene.git("diff", "--name-only", "HEAD~1", "HEAD").splitlines()
    assert changed
    assert all(path.startswith(".holdfast/") for path in changed)
    assert scene.git("status", "--porcelain=v1", "-z", "--untracked-files=all") == before
    assert Project.open(scene.path).tasks.board().placed["greater"].task.evidence
    assert Project.open(scene.path).health.doctor().verdict == "ok"


def files_below(path: Path) -> dict[str, bytes]:
    tracked = subprocess.run(["git", "ls-files", "-z", ".holdfast"], cwd=path, capture_output=True, check=True)
    names = os.fsdecode(tracked.stdout).split("\0")[:-1]
    return {name: (path / name).read_bytes() for name in names}


@pytest.fixture
def ready(repo: GitRepo, cli: Cli) -> GitRepo:
    """A project with a published memory and a task."""
    init(cli.cwd, commit=True)
    repo.git("switch", "-q", "-c", "feature")
    project = Project.open(repo.path, person=True)
    project.memory.accept(project.memory.remember("It is a project.", evidence=["README"]).id)
    project.tasks.add("Write it", id="write-it")
    project.sync.publish(here=True)
    return repo


@pytest.mark.parametrize("setting", ["core.autocrlf=true", "core.eol=crlf"])
def test_a_clone_with_converted_line_ends_has_our_bytes(ready: GitRepo, tmp_path: Path, setting: str) -> None:
    """Git for Windows converts by default; every tracked file of ours must come out as it went in."""
    ready.commit(".gitattributes", "* text=auto\n*.md merge=union ident\n")
    copy = GitRepo(tmp_path / "copy")
    ready.git("clone", "-q", "-c", setting, str(ready.path), str(copy.path))

    assert files_below(copy.path) == files_below(ready.path)
    assert {"holdfast.toml", ".gitattributes"} <= {Path(name).name for name in files_below(copy.path)}
    project = Project.open(copy.path, person=True)
    project.tasks.add("Write more", id="write-more")
    project.sync.publish(here=True)
    assert copy.status() == ""
    assert Project.open(copy.path).health.doctor().verdict == "ok"
    assert b"\r" not in b"".join(files_below(copy.path).values())


@pytest.mark.parametrize("converted", [False, True])
def test_the_next_publish_brings_our_earlier_attributes_up_to_date(ready: GitRepo, converted: bool) -> None:
    """Only a file that is still exactly ours is changed: what a person wrote there is theirs."""
    earlier = project_setup.EARLIER_ATTRIBUTES[0]
    ready.commit(paths.ATTRIBUTES, earlier, "as an earlier version wrote it")
    if converted:
        ready.git("config", "core.autocrlf", "true")
        (ready / paths.ATTRIBUTES).write_bytes(earlier.replace("\n", "\r\n").encode())
    Project.open(ready.path, person=True).tasks.add("Write more", id="write-more")
    assert paths.ATTRIBUTES in Project.open(ready.path).sync.publish(here=True).paths
    assert ready.git("show", f"HEAD:{paths.ATTRIBUTES}") == project_setup.ATTRIBUTES_TEXT.strip()
    assert (ready / paths.ATTRIBUTES).read_text() == project_setup.ATTRIBUTES_TEXT

    mine = f"{earlier}# mine\n"
    ready.commit(paths.ATTRIBUTES, mine, "with a line of a person's own")
    Project.open(ready.path, person=True).tasks.add("And more", id="and-more")
    assert paths.ATTRIBUTES not in Project.open(ready.path).sync.publish(here=True).paths
    assert (ready / paths.ATTRIBUTES).read_text() == mine
