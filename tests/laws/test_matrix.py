"""Every way git moves history, against every state we can be in: nothing lost, nothing wrong, and noticed.

One project is built once and copied for each case: a published task on main; a branch with commits, a
session, tasks that cite commits and a milestone with its checkpoint. Then git does something, and the
next command is asked.
"""

import contextlib
import os
import random
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from holdfast.capture import cited_commits, git_notices, reconciliation, session_lookup, session_work
from holdfast.diagnostics import doctor
from holdfast.errors import Ambiguous, BadInput, NotFound
from holdfast.git import hooks, project_setup, publish, rewinds
from holdfast.git.cited_commits import commit_anchors
from holdfast.git.clone import Clone
from holdfast.git.moves import Moves
from holdfast.model.event import EventDraft
from holdfast.model.ids import pick
from holdfast.store import git_inbox, pending_changes, session_files
from holdfast.work import task_board as boards
from holdfast.work import task_claims, task_lifecycle
from holdfast.work.task_lifecycle import TaskWorker
from tests.conftest import SEED, GitRepo, make_repo

MAIN = {"Base"}
FEAT = {"Base", "Feature work", "Done part", "First milestone"}
WAITING = {"Waiting idea"}
STATES = ("clean", "pending", "two-worktrees")
COMMITS = ("mark-1", "mark-2", "mark-3", "mark-4")


@dataclass
class Case:
    """One work tree of the project under test, and what the next command there finds."""

    repo: GitRepo
    cache: str
    notes: list[str] = field(default_factory=list)

    def at(self, name: str) -> "Case":
        return Case(GitRepo(self.repo.path.parent / name), self.cache)

    def git(self, *args: str, ok: bool = True) -> str:
        return self.repo.git(*args, ok=ok)

    def command(self) -> tuple[Clone, Moves]:
        """What every command does first."""
        clone = Clone.open(str(self.repo.path), cache=self.cache)
        found = git_notices.notice(clone)
        self.notes = clone.notes
        return clone, found

    def open(self) -> Clone:
        return self.command()[0]

    def commit(self, mark: str) -> str:
        return self.repo.commit(f"{mark}.txt", f"{mark}\n" * 5, f"{mark}: work")

    def titles(self) -> set[str]:
        return {task.title for task in boards.read(self.open()).tasks}

    def elsewhere(self) -> GitRepo:
        """Somebody else's clone of the remote, on feat."""
        path = self.repo.path.parent / "else"
        self.git("clone", "-q", "-b", "feat", "../origin.git", str(path))
        return GitRepo(path)


def _build(folder: Path) -> None:
    """The project that all cases are copies of."""
    case = Case(make_repo(folder / "repo"), str(folder / "cache"))
    project_setup.initialise(str(case.repo.path), cache=case.cache, commit=True)
    task_lifecycle.add(case.open(), title="Base")
    publish.publish(case.open(), here=True)
    case.git("clone", "-q", "--bare", ".", "../origin.git")
    case.git("remote", "add", "origin", "../origin.git")
    case.git("switch", "-q", "-c", "feat")
    clone = case.open()
    work = task_lifecycle.add(clone, title="Feature work")
    session_work.start(clone, objective="Build it", tasks=[work.id])
    session_work.note(clone, "Began.", open=["finish the parser"])
    task_lifecycle.start(clone, work.id, TaskWorker("ada"))
    oids = [case.commit(mark) for mark in COMMITS[:3]]
    clone = case.open()
    done = task_lifecycle.add(clone, title="Done part")
    task_lifecycle.done(clone, done.id, cited=[oids[1]])
    task_lifecycle.done(clone, task_lifecycle.add(clone, title="First milestone", kind="milestone").id, without=True)
    publish.publish(case.open())
    case.commit(COMMITS[3])
    case.git("push", "-q", "-u", "origin", "feat")
    case.git("switch", "-q", "main")
    case.repo.commit("trunk.txt", "moved on\n", "main moves on")
    case.git("push", "-q", "origin", "main")
    case.git("fetch", "-q")
    case.git("branch", "-q", "-u", "origin/main")
    case.git("switch", "-q", "feat")
    case.open()


def _add_pending(case: Case) -> None:
    clone = case.open()
    task_lifecycle.add(clone, title="Waiting idea")
    task_lifecycle.edit(clone, _id(clone, "Feature work"), priority=0)
    clone.record(EventDraft("run", run_id="run-1", body={"task": "T"}))


def _add_worktree(case: Case) -> None:
    case.git("worktree", "add", "-q", "-b", "side", "../wt", "main")
    there = case.at("wt").open()
    task_lifecycle.add(there, title="Side job")
    session_work.start(there, objective="Look aside")
    case.open()


def _id(clone: Clone, title: str) -> str:
    return next(task.id for task in boards.read(clone).tasks if task.title == title)


PREPARE: dict[str, Callable[[Case], None]] = {
    "clean": lambda _: None,
    "pending": _add_pending,
    "two-worktrees": _add_worktree,
}
TEMPLATES: dict[str, Path] = {}


@pytest.fixture
def case(request: pytest.FixtureRequest, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Case:
    """A fresh copy of the project in the state the case asks for."""
    state = request.param
    if "built" not in TEMPLATES:
        TEMPLATES["built"] = tmp_path_factory.mktemp("matrix")
        _build(TEMPLATES["built"])
    if state not in TEMPLATES:
        TEMPLATES[state] = tmp_path_factory.mktemp(state) / "all"
        _prepare(_copy(TEMPLATES["built"], TEMPLATES[state]), state)
    return _copy(TEMPLATES[state], tmp_path / "all")


def _prepare(case: Case, state: str) -> None:
    PREPARE[state](case)


def _copy(source: Path, target: Path) -> Case:
    shutil.copytree(source, target, symlinks=True)
    case = Case(GitRepo(target / "repo"), str(target / "cache"))
    if (target / "wt").exists():
        case.git("worktree", "repair", "../wt")
    return case


# What git does, what it is called, and what is visible on the checked-out line afterwards.


@dataclass(frozen=True)
class Deed:
    do: Callable[[Case], None]
    noticed: set[str]
    visible: set[str]
    keeps_pending: bool = True  # what waits on feat is visible afterwards
    rewrites: bool = False  # what was cited is in HEAD's history under another name


def _rebase(case: Case) -> None:
    case.git("rebase", "-q", "main")
    case.git("push", "-q", "-f")


def _forward(case: Case) -> None:
    other = case.elsewhere()
    other.commit("theirs.txt", "x\n", "theirs")
    other.git("push", "-q")
    case.git("pull", "-q", "--ff-only")


def _forced(case: Case) -> None:
    other = case.elsewhere()
    other.git("rebase", "-q", "origin/main")
    other.git("push", "-q", "-f")
    case.git("fetch", "-q")
    case.git("reset", "-q", "--hard", "origin/feat")


def _squashed(case: Case) -> None:
    other = case.elsewhere()
    other.git("switch", "-q", "main")
    other.git("merge", "-q", "--squash", "feat")
    other.git("commit", "-q", "-m", f"Feature (#1)\n\n{' '.join(COMMITS)}")
    other.git("push", "-q", "origin", "main", ":feat")
    case.git("switch", "-q", "main")
    case.git("pull", "-q", "--ff-only", "--prune")
    case.git("branch", "-q", "-D", "feat")


def _picked(case: Case) -> None:
    oid = case.git("log", "--format=%H", "--grep=mark-2", "-1")
    case.git("switch", "-q", "main")
    case.git("cherry-pick", oid)


def _deleted(case: Case) -> None:
    case.git("switch", "-q", "main")
    case.git("branch", "-q", "-D", "feat")


def _removed(case: Case) -> None:
    case.git("worktree", "add", "-q", "-b", "extra", "../extra")
    there = case.at("extra").open()
    task_lifecycle.add(there, title="Extra job")
    case.open()
    case.git("worktree", "remove", "--force", "../extra")


def _outside(case: Case) -> None:
    session_work.end(case.open(), reason="done for today", with_tasks=False)
    case.commit("mark-5")


def _amended(case: Case) -> None:
    case.repo.write("mark-4.txt", "mark-4\n" * 6)
    case.git("commit", "-q", "-a", "--amend", "--no-edit")
    case.git("push", "-q", "-f")


DEEDS = {
    "branch change": Deed(lambda c: c.git("switch", "-q", "main") and None, {"branch"}, MAIN, keeps_pending=False),
    "rebase": Deed(_rebase, {"rebase"}, FEAT, rewrites=True),
    "merge": Deed(lambda c: c.git("merge", "-q", "--no-edit", "main") and None, {"merge"}, FEAT),
    "fast-forward": Deed(_forward, {"forward"}, FEAT),
    "reset": Deed(lambda c: c.git("reset", "-q", "--hard", "HEAD~3") and None, {"reset"}, MAIN),
    "force-push pulled": Deed(_forced, {"upstream", "reset"}, FEAT, rewrites=True),
    "squash-merge": Deed(_squashed, {"branch", "forward", "deleted"}, FEAT, keeps_pending=False, rewrites=True),
    "cherry-pick": Deed(_picked, {"branch", "cherry-pick"}, MAIN, keeps_pending=False),
    "detached": Deed(lambda c: c.git("switch", "-q", "--detach", "HEAD~1") and None, {"detached"}, FEAT),
    "rename": Deed(lambda c: c.git("branch", "-m", "feat", "feature/größer") and None, {"renamed"}, FEAT),
    "delete": Deed(_deleted, {"branch", "deleted"}, MAIN, keeps_pending=False),
    "worktree add": Deed(
        lambda c: c.git("worktree", "add", "-q", "-b", "extra", "../extra") and None, {"worktree-added"}, FEAT
    ),
    "worktree remove": Deed(_removed, {"worktree-removed"}, FEAT),
    "outside work": Deed(_outside, {"commits"}, FEAT),
    "amend": Deed(_amended, {"amend"}, FEAT),
}
HOOKED = ("rebase", "amend", "outside work", "merge", "branch change")


@dataclass(frozen=True)
class Held:
    """What must not be lost."""

    events: set[str]
    entries: set[str]
    cited: dict[str, str]  # commit to the mark in its message
    status: str


def _held(case: Case) -> Held:
    clone = case.open()
    cited = {oid for _, _, oid in cited_commits._citations(clone, boards.read(clone))}
    rows = case.git("log", "--no-walk", "--format=%H %s", *cited).splitlines()
    marks = {oid: subject.partition(":")[0] for oid, _, subject in (row.partition(" ") for row in rows)}
    assert set(marks.values()) >= {"mark-2", "mark-3"}
    events = {event.hash_self for event in clone.all_events()}
    return Held(events, _entries(case, clone), marks, case.repo.status())


def _entries(case: Case, clone: Clone) -> set[str]:
    """The path of every entry that the store or a branch's tree holds."""
    stored = {c.path for c in (*pending_changes.waiting(clone.layout), *pending_changes.published(clone.layout))}
    refs = case.git("for-each-ref", "--format=%(objectname)").split()
    trees = {path for oid in set(refs) for path in clone.repo.tree(oid, ".holdfast/tasks")}
    return {path for path in (*stored, *trees) if path.startswith(".holdfast/tasks")}


def _check(case: Case, before: Held, clone: Clone) -> None:
    """Nothing is lost, nothing is cited wrongly, and git sees none of it."""
    assert before.events <= {event.hash_self for event in clone.all_events()}
    assert before.entries <= _entries(case, clone)
    for oid, found in commit_anchors.resolve(clone, before.cited).items():
        if found.commit is not None:
            message = case.git("log", "-1", "--format=%B", found.commit)
            assert before.cited[oid] in message, f"{oid} is not {found.commit} ({found.how})"
    assert case.repo.status() == before.status


def _thrown() -> list[tuple[str, str]]:
    """Each deed in one of the states; three seeds that follow one another try them all."""
    first = int(os.environ[SEED])
    return [(deed, STATES[(first + place) % len(STATES)]) for place, deed in enumerate(DEEDS)]


@pytest.mark.parametrize(("deed", "case"), _thrown(), indirect=["case"])
def test_whatever_git_does_is_noticed_and_costs_nothing(
    case: Case, deed: str, request: pytest.FixtureRequest, seed: int
) -> None:
    """Whoever works on may not lose a task because somebody tidied history."""
    _play(case, DEEDS[deed], state=request.node.callspec.params["case"])


@pytest.mark.torture
@pytest.mark.parametrize("case", STATES, indirect=True)
@pytest.mark.parametrize("deed", DEEDS)
def test_whatever_git_does_in_any_state_costs_nothing(case: Case, deed: str, request: pytest.FixtureRequest) -> None:
    """The same for every deed in every state."""
    _play(case, DEEDS[deed], state=request.node.callspec.params["case"])


@pytest.mark.parametrize("case", ["clean"], indirect=True)
@pytest.mark.parametrize("deed", HOOKED)
def test_with_hooks_it_is_the_same(case: Case, deed: str) -> None:
    """Hooks tell more, never something else."""
    clone = case.open()
    hooks.install(clone.repo, clone.layout, python=sys.executable)
    _play(case, DEEDS[deed], state="clean", hooked=True)


def _play(case: Case, deed: Deed, *, state: str, hooked: bool = False) -> None:
    before, side = _held(case), _side(case)
    deed.do(case)
    assert git_inbox.is_filled(Clone.open(str(case.repo.path), cache=case.cache).layout) == hooked
    clone, found = case.command()
    assert {move.kind for move in found.new} >= deed.noticed
    assert len(found.new) <= len(deed.noticed) + 1
    assert not case.notes or case.notes[-1].endswith("holdfast reconcile"), "said where a choice is left"
    assert git_notices.notice(clone).new == (), "said once"
    shown = deed.visible | (WAITING if state == "pending" and deed.keeps_pending else set())
    if state == "pending" and deed is DEEDS["reset"]:
        shown = shown | {"Feature work"}  # its change waits; whether it should is asked
    board = boards.read(clone)
    assert {task.title for task in board.tasks} == shown
    _check(case, before, clone)
    report = reconciliation.examine(clone, found)
    assert {move.kind for move in report.moves} >= deed.noticed
    reconciliation.apply(clone)
    again = cited_commits.displaced(clone, boards.read(clone))
    assert [cite for cite in again if cite.state == "moved"] == []
    if deed.rewrites:
        _check_followed(clone)
    _check(case, before, clone)
    problems = doctor.examine(case.open()).problems
    assert problems == [], problems
    assert _side(case) == side, "the other work tree saw nothing of it"


def _check_followed(clone: Clone) -> None:
    """The finished task and the milestone cite commits of this branch's own history."""
    tasks = {task.title: task for task in boards.read(clone).tasks}
    checkpoint = tasks["First milestone"].checkpoint
    assert checkpoint is not None
    cited = [evidence.removeprefix("commit:") for evidence in tasks["Done part"].evidence]
    assert all(clone.repo.is_ancestor(oid, "HEAD") for oid in (checkpoint.commit, *cited)), cited


def _side(case: Case) -> object:
    """How the other work tree stands, if there is one."""
    there = case.at("wt")
    if not there.repo.path.exists():
        return None
    current = session_lookup.current(there.open())
    return there.titles(), current.id if current else None, there.repo.status()


# What particular moves mean.


@pytest.mark.parametrize("case", STATES, indirect=True)
def test_a_shallow_clone_knows_what_it_does_not_know(case: Case) -> None:
    """In CI a cited commit must read as unknown, never as lost and never as another."""
    url = f"file://{case.repo.path.parent / 'origin.git'}"
    case.git("clone", "-q", "--depth", "1", "-b", "feat", url, "../shallow")
    there = case.at("shallow")
    clone, found = there.command()
    assert {move.kind for move in found.new} == {"shallow"}
    assert there.notes == [], "nothing is to be done about it"
    assert there.titles() == FEAT
    cited = cited_commits.displaced(clone, boards.read(clone))
    assert {cite.state for cite in cited} == {"unknown"}
    assert there.repo.status() == ""
    assert doctor.examine(clone).problems == []


def _rewound(case: Case) -> Clone:
    case.git("reset", "-q", "--hard", "HEAD~3")
    return case.open()


@pytest.mark.parametrize("case", ["pending"], indirect=True)
def test_a_rewind_can_have_the_state_of_its_point(case: Case) -> None:
    """Whoever goes back three commits wants to see what was there, and not lose what came later."""
    clone = _rewound(case)
    assert any("came after this point" in note for note in case.notes)
    assert {change.path.rpartition("/")[2][:7] for change in rewinds.stranded(clone)} == {"waiting", "feature"}
    done = reconciliation.drop(clone)
    assert (done.old, len(done.aside)) == (None, 2)
    assert case.titles() == {"Base", "Feature work"}
    [work] = [task for task in boards.read(case.open()).tasks if task.title == "Feature work"]
    assert (work.status, work.priority) == ("started", 2), "as it waited at that commit"
    assert rewinds.stranded(case.open()) == []
    kept = {change.text for change in pending_changes.published(clone.layout)}
    assert any("Waiting idea" in (text or "") for text in kept)
    assert case.repo.status() == ""


@pytest.mark.parametrize("case", ["pending"], indirect=True)
def test_after_a_rewind_what_waits_may_stay(case: Case) -> None:
    """The commits were wrong, the plan was not."""
    clone = _rewound(case)
    done = reconciliation.carry(clone)
    assert len(done.stay) == 2
    assert rewinds.stranded(case.open()) == []
    assert case.titles() == {"Base", "Feature work", "Waiting idea"}


@pytest.mark.parametrize("case", ["clean"], indirect=True)
def test_what_a_rewind_took_comes_back_on_request(case: Case) -> None:
    """A reset by mistake costs nothing."""
    clone, found = _rewound(case), None
    found = git_notices.notice(clone)
    assert len(reconciliation.examine(clone, found).gone) >= 3
    publish.publish(clone, restore=True)
    assert case.titles() == FEAT


@pytest.mark.parametrize("case", ["clean"], indirect=True)
@pytest.mark.parametrize("way", ["fork", "carry", "drop"])
def test_a_session_left_on_another_branch_is_forked_carried_or_dropped(case: Case, way: str) -> None:
    """Three different wishes, and none is guessed."""
    old = session_lookup.current(case.open())
    assert old is not None
    case.git("switch", "-q", "main")
    clone, found = case.command()
    assert any(old.id in note for note in case.notes)
    assert [one.session.id for one in reconciliation.examine(clone, found).sessions if one.left] == [old.id]
    done = getattr(reconciliation, way)(clone)
    now = session_files.find(clone.layout, old.id)
    here = session_lookup.current(case.open())
    assert now.state == ("open" if way == "fork" else "ended")
    if way == "drop":
        assert here is None
    else:
        assert here is not None
        assert [item.text for item in here.still_open] == ["finish the parser"]
        assert (here.previous, now.next) == (old.id, (here.id,))
        assert done.new is not None
    assert reconciliation.adrift(case.open()) == []
    assert [e.kind for e in case.open().events()][-1] == "session"
    case.git("switch", "-q", "feat")
    back = session_lookup.current(case.open())
    assert (back.id if back else None) == (old.id if way == "fork" else None)


@pytest.mark.parametrize("case", ["clean"], indirect=True)
def test_commits_reach_the_session_and_the_claim_by_their_newest_name(case: Case) -> None:
    """`task done` must find the commit that is there, not the one that was amended away."""
    case.commit("mark-5")
    case.open()
    case.repo.write("mark-5.txt", "mark-5\n" * 9)
    case.git("commit", "-q", "-a", "--amend", "--no-edit")
    clone = case.open()
    head = case.git("rev-parse", "HEAD")
    current = session_lookup.current(clone)
    assert current is not None
    assert current.commits[-1] == head
    assert head in dict(current.extra)["was"].values()
    claim = task_claims.find(clone.layout, pick("TSK", [_id(clone, "Feature work")]))
    assert claim is not None
    assert claim.commits[-1] == head
    done = task_lifecycle.done(clone, _id(clone, "Feature work"))
    assert f"commit:{head}" in done.found
    assert not re.search("mark-5", str([case.git("log", "-1", "--format=%s", f[7:]) for f in done.found[:-1]]))


@pytest.mark.parametrize("case", ["clean"], indirect=True)
def test_a_rebase_in_the_middle_concludes_nothing(case: Case) -> None:
    """Half a rebase is not yet history."""
    case.git("-c", "sequence.editor=sed -i '1s/pick/edit/'", "rebase", "-q", "-i", "HEAD~2")
    clone, found = case.command()
    assert (found.new, found.under_way) == ((), "a rebase")
    assert case.titles() >= MAIN
    assert rewinds.stranded(clone) == []
    case.git("rebase", "--abort")
    assert case.command()[1].new == ()
    assert case.titles() == FEAT


def _git_at_random(case: Case, chance: random.Random, step: int) -> str:
    """One thing that somebody might do; what git refuses or cannot merge is taken back."""
    branches = case.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split() or ["feat"]
    commits = case.git("log", "--all", "--no-merges", "--grep=mark", "--format=%H").split()
    deeds: list[tuple[str, ...]] = [
        ("commit", "-q", "-m", f"mark-{step + 10}: work"),
        ("commit", "-q", "--amend", "--no-edit"),
        ("reset", "-q", "--hard", f"HEAD~{chance.randrange(1, 4)}"),
        ("switch", "-q", chance.choice(branches)),
        ("switch", "-q", "-c", f"new-{step}"),
        ("switch", "-q", "--detach", chance.choice(commits)),
        ("rebase", "-q", chance.choice(branches)),
        ("merge", "-q", "--no-edit", chance.choice(branches)),
        ("cherry-pick", chance.choice(commits)),
        ("branch", "-M", f"called-{step}"),
        ("branch", "-q", "-D", chance.choice(branches)),
    ]
    chosen = chance.choice(deeds)
    if chosen[0] == "commit":
        case.repo.write(f"mark-{step + 10}.txt", f"mark-{step + 10} {chance.random()}\n" * 5)
        case.git("add", f"mark-{step + 10}.txt")
    case.git(*chosen, ok=False)
    for name in ("rebase", "merge", "cherry-pick"):
        case.git(name, "--abort", ok=False)
    case.git("reset", "-q", "--hard")
    return " ".join(chosen)


def _wander(case: Case, chance: random.Random, steps: int) -> None:
    before, done = _held(case), []
    for step in range(steps):
        done.append(_git_at_random(case, chance, step))
        print(done[-1])
        if chance.random() < 0.7:
            clone, found = case.command()
            assert not any("was not noted" in note for note in case.notes), case.notes
            reconciliation.examine(clone, found)
            for answer in chance.sample([reconciliation.fork, reconciliation.carry, reconciliation.drop], 1):
                with contextlib.suppress(NotFound, Ambiguous, BadInput):  # no fork from a branch that is gone
                    answer(clone)
            if chance.random() < 0.3:
                task_lifecycle.add(clone, title=f"Thought {step}")
            _check(case, before, clone)
    problems = [problem.file for problem in doctor.examine(case.open()).problems]
    assert set(problems) <= {".holdfast/.gitattributes"}, done  # a walk may lead back before `init`


@pytest.mark.parametrize("case", ["pending"], indirect=True)
@pytest.mark.parametrize("number", range(2))
def test_any_walk_through_git_loses_nothing(case: Case, number: int, seed: int) -> None:
    """People do these things in any order."""
    _wander(case, random.Random(f"{seed} {number}"), 8)


@pytest.mark.torture
@pytest.mark.parametrize("case", STATES, indirect=True)
@pytest.mark.parametrize("number", range(40))
def test_many_walks_through_git_lose_nothing(case: Case, number: int, seed: int) -> None:
    """The same, until something breaks."""
    _wander(case, random.Random(f"{seed} {number}"), 20)
