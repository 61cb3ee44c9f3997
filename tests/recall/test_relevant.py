"""Which session a new one goes on from, asked of real histories."""

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.model.session import Condensed, Session, SessionAnchor, SessionApproval, SessionItem, SessionTurn
from holdfast.recall.pack import last_session
from holdfast.recall.pack.last_session import choose
from holdfast.values import replace
from tests.conftest import GitRepo
from tests.git.place import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place.make(tmp_path / "repo")


Made = Callable[..., Session]


@pytest.fixture
def make(place: Place) -> Made:
    """A session that was here, with one turn."""
    count = iter(range(1, 10_000))

    def make(**fields: Any) -> Session:
        clone, number = place.open(), next(count)
        head = clone.repo.head()
        at = SessionAnchor(f"2026-11-15T19:{number // 60:02}:{number % 60:02}.000000Z", head.oid, head.branch)
        turn = SessionTurn(n=1, anchor=at, summary=f"turn of session {number}")
        made = Session(id=f"SES-{number:04}", line=clone.line().id, worktree=".", started=at, updated=at, turns=(turn,))
        return replace(made, **fields)

    return make


def ended(session: Session) -> Session:
    return replace(session, state="ended", ended=session.updated)


def test_the_same_branch_comes_first_and_open_before_ended(place: Place, make: Made) -> None:
    """Whoever comes back to a branch goes on where it was left, not where another branch is."""
    first, second, third = make(), ended(make()), ended(make())
    place.git("switch", "-q", "-c", "other")
    place.repo.commit("a.txt")
    elsewhere = make()
    place.git("switch", "-q", "main")
    found = choose(place.open(), [first, second, third, elsewhere])
    assert (found.session, found.how) == (first, "branch")
    assert found.why == "the last session on branch main, still open"
    assert found.since == first.updated.commit
    found = choose(place.open(), [ended(first), second, third, elsewhere])
    assert found.session == third
    assert found.why.endswith("ended 2026-11-15 19:00 UTC")


def test_a_renamed_branch_is_the_same_line(place: Place, make: Made) -> None:
    """A name is not an identity: renaming must not lose the thread, nor may reusing a name steal it."""
    place.git("switch", "-q", "-c", "old")
    place.repo.commit("a.txt")
    session = make()
    place.git("branch", "-m", "neu/größer")
    assert choose(place.open(), [session]).how == "branch"
    place.git("switch", "-q", "main")
    place.git("branch", "-D", "neu/größer")
    place.git("switch", "-q", "-c", "old")
    assert choose(place.open(), [session]).how == "none"


def test_a_new_branch_takes_the_nearest_ancestors(place: Place, make: Made) -> None:
    """A branch made a minute ago has no session of its own, but its parent's last one is the thread."""
    far = make()
    place.repo.commit("a.txt")
    near = make()
    place.git("switch", "-q", "-c", "side")
    place.repo.commit("b.txt")
    beside = make()
    place.git("switch", "-q", "main")
    place.git("switch", "-q", "-c", "topic")
    at_once = choose(place.open(), [far, near, beside])
    assert (at_once.session, at_once.how) == (near, "ancestor")
    assert at_once.why.endswith("this one is of branch main and was last at this very commit")
    place.repo.commit("c.txt")
    place.repo.commit("d.txt")
    later = choose(place.open(), [far, near, beside])
    assert later.session == near
    assert "2 commits back" in later.why
    assert later.since == near.updated.commit


def test_of_a_merge_the_shorter_way_counts(place: Place, make: Made) -> None:
    """After a merge the branch that was just merged is nearer than what came long before."""
    for number in range(3):
        place.repo.commit(f"m{number}.txt")
    old = make()
    for number in range(3):
        place.repo.commit(f"n{number}.txt")
    place.git("switch", "-q", "-c", "feature", "HEAD~3")
    place.repo.commit("f.txt")
    merged = make()
    place.git("switch", "-q", "main")
    place.git("merge", "-q", "--no-edit", "feature")
    place.git("switch", "-q", "-c", "next")
    assert choose(place.open(), [old, merged]).session == merged


def test_else_the_session_that_shares_most_files(place: Place, make: Made) -> None:
    """A squashed or unrelated branch still has a thread if it was about the same files."""
    place.git("switch", "-q", "-c", "gone")
    place.repo.commit("z.txt")
    two = make(files=("src/a.py", "src/b.py", "doc.md"))
    one = make(files=("src/a.py",))
    none = make(files=("other.txt",))
    place.git("switch", "-q", "main")
    place.git("switch", "-q", "-c", "fresh")
    place.repo.commit("src/a.py")
    place.repo.commit("src/b.py")
    found = choose(place.open(), [two, one, none])
    assert (found.session, found.how) == (two, "paths")
    assert "worked on 2 of the files that changed here (src/a.py, src/b.py)" in found.why
    assert "branch gone" in found.why
    assert found.since is None


def test_uncommitted_files_count_as_changed(place: Place, make: Made) -> None:
    """Work that is not committed is work, too."""
    place.git("switch", "-q", "-c", "gone")
    place.repo.commit("z.txt")
    session = make(files=("README",))
    place.git("switch", "-q", "main")
    assert choose(place.open(), [session]).how == "none"
    place.repo.write("README", "changed\n")
    assert choose(place.open(), [session]).how == "paths"


def test_pages_of_the_journal_are_no_change(place: Place) -> None:
    """What Holdfast writes by itself is not what changed."""
    place.repo.write("docs/days/2026-11-15.md", "page")
    assert last_session.uncommitted(place.open().repo, journal="docs/days") == {}
    assert last_session.uncommitted(place.open().repo) == {"docs/": "??"}
    place.repo.write("docs/mine.md", "mine")
    assert last_session.uncommitted(place.open().repo, journal="docs/days") == {"docs/": "??"}
    place.git("add", "docs")
    assert last_session.uncommitted(place.open().repo, journal="docs/days") == {"docs/mine.md": "A "}


def test_no_session_is_said(place: Place, make: Made) -> None:
    """An agent must know that there is nothing, not wonder whether something was missed."""
    assert choose(place.open(), []).why == "no session was recorded yet"
    place.git("switch", "-q", "-c", "gone")
    place.repo.commit("z.txt")
    session = make()
    place.git("switch", "-q", "main")
    found = choose(place.open(), [session])
    assert (found.session, found.how) == (None, "none")
    assert found.why.startswith("the only session is not of branch main")


def test_a_session_that_only_began_hides_none_that_tells(place: Place, make: Made) -> None:
    """A hook starts a session and asks for context: it must hear of its own and of the last one."""
    session = ended(make())
    begun = make(turns=(), objective="go on")
    found = choose(place.open(), [session, begun])
    assert found.session == begun and found.before is not None and found.before.session == session
    assert found.why == (
        f"the last session on branch main, still open; it has no entries yet, {session.id} was the last with entries"
    )
    alone = choose(place.open(), [begun])
    assert (alone.session, alone.before) == (begun, None) and alone.why.endswith("no entries yet")
    item = SessionItem(id="o1", text="half done", ts=begun.updated.ts)
    telling = choose(place.open(), [session, replace(begun, open=(item,))])
    assert telling.session != session and telling.before is None


def test_a_session_that_only_began_on_a_new_branch_names_whose_the_last_one_is(place: Place, make: Made) -> None:
    """What came before on another branch is told as that branch's, never as this one's (law 5)."""
    session = ended(make())
    place.git("switch", "-q", "-c", "topic")
    begun = make(turns=())
    found = choose(place.open(), [session, begun])
    assert (found.session, found.how) == (begun, "branch")
    assert found.before is not None and found.before.session == session
    assert f"{session.id} (of branch main) was the last with entries" in found.why


def test_a_commit_that_was_reset_away_is_said(place: Place, make: Made) -> None:
    """Notes about code that is not here any more mislead unless they say so."""
    place.repo.commit("a.txt")
    session = make()
    place.git("reset", "-q", "--hard", "HEAD~1")
    found = choose(place.open(), [session])
    assert (found.session, found.how, found.since) == (session, "branch", None)
    assert found.lost == session.updated.commit
    assert f"its last commit {(found.lost or '')[:12]} is not in this history any more" in found.why


def test_a_rebased_session_is_found_where_its_work_is_now(place: Place, make: Made) -> None:
    """A rebase is an everyday act; the thread must not break by it."""
    place.git("switch", "-q", "-c", "topic")
    place.repo.commit("t.txt", "work\n")
    session = make()
    place.git("switch", "-q", "main")
    place.repo.commit("m.txt")
    place.git("switch", "-q", "topic")
    place.git("rebase", "-q", "main")
    new = place.git("rev-parse", "HEAD")
    found = choose(place.open(), [session])
    assert (found.session, found.how, found.since) == (session, "branch", new)
    assert f"is {new[:12]} now" in found.why
    place.repo.commit("more.txt")
    place.git("switch", "-q", "-c", "next")
    found = choose(place.open(), [session])
    assert (found.how, found.since) == ("ancestor", new)
    assert "1 commit back" in found.why and "before it was rewritten" in found.why


def test_what_a_shallow_clone_cannot_see_is_no_ancestor(place: Place, make: Made, tmp_path: Path) -> None:
    """Unknown is not yes: a wrong session is worse than none."""
    old = make()
    for number in range(3):
        place.repo.commit(f"{number}.txt")
    new = make()
    place.repo.commit("last.txt")
    source = f"file://{place.repo.path}"
    place.git("clone", "-q", "--depth", "2", source, str(tmp_path / "shallow"))
    there = place.at(tmp_path / "shallow")
    assert choose(there.open(), [old]).how == "none"
    assert "shallow" in choose(there.open(), [old]).why
    assert choose(there.open(), [old, new]).session == new


def test_a_shallow_clone_still_knows_what_was_reset_away_in_it(place: Place, make: Made) -> None:
    """The commit is here, and is not in this history: that can be told, however far back history reaches."""
    for number in range(2):
        place.repo.commit(f"{number}.txt")
    session = make()
    place.git("reset", "-q", "--hard", "HEAD~1")
    here = place.git("rev-parse", "HEAD")
    (place.repo.path / ".git" / "shallow").write_text(f"{here}\n")
    found = choose(place.open(), [session])
    assert f"its last commit {(found.lost or '')[:12]} is not in this history any more" in found.why
    unknown = replace(session, updated=replace(session.updated, commit="1" * 40))
    assert "is unknown in a shallow clone" in choose(place.open(), [unknown]).why


def test_before_the_first_commit_there_is_no_ancestor(tmp_path: Path, make: Made) -> None:
    """`holdfast context` is asked in brand-new projects as well."""
    path = tmp_path / "new"
    path.mkdir()
    repo = GitRepo(path)
    repo.git("init", "-q", "-b", "main")
    place = Place(repo, str(tmp_path / "cache2"))
    from holdfast.git import project_setup

    project_setup.initialise(str(path), cache=place.cache)
    assert choose(place.open(), [make()]).how == "none"


def test_a_thousand_sessions_ask_git_no_more_than_one(
    place: Place, make: Made, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """A year of sessions must not make the start of the next one slow."""
    commits = [place.repo.commit(f"{number}.txt") for number in range(5)]
    template, chance = make(line="elsewhere"), random.Random(seed)
    ends = [chance.choice([*commits, os.urandom(20).hex()]) for _ in range(1000)]
    sessions = [
        replace(template, id=f"SES-{n}", updated=replace(template.updated, commit=end)) for n, end in enumerate(ends)
    ]
    clone = place.open()
    asked: list[object] = []
    attempt = clone.repo.attempt

    def count(*args: Any, **options: Any) -> Any:
        asked.append(args)
        return attempt(*args, **options)

    monkeypatch.setattr(clone.repo, "attempt", count)
    found = choose(clone, sessions)
    assert found.since == max((c for c in ends if c in commits), key=commits.index)
    assert len(asked) < 30


def test_distances_are_steps_from_head(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is nearest must not depend on clocks that are wrong."""
    first = place.git("rev-parse", "HEAD")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z")
    place.git("commit", "-q", "--allow-empty", "-m", "older than its parent")
    assert last_session.distances(place.open().repo)[first] == 1


# ── the small questions ──────────────────────────────────────────────────────────────────────────


def test_where_a_session_was_last_is_its_end_else_its_last_word_else_its_last_commit() -> None:
    """A wrong place makes a wrong distance, and the wrong session speaks."""
    start, later, end = (SessionAnchor("2026-11-15T19:00:00.000000Z", name, "main") for name in ("s", "u", "e"))
    one = Session(id="SES-1", line="l", worktree=".", started=start, updated=later, commits=("c1", "c2"))
    assert last_session.last_commit(replace(one, ended=end)) == "e"
    assert last_session.last_commit(replace(one, ended=replace(end, commit=None))) == "u"
    assert last_session.last_commit(one) == "u"
    nowhere = replace(one, updated=replace(later, commit=None))
    assert last_session.last_commit(nowhere) == "c2"
    assert last_session.last_commit(replace(nowhere, commits=())) == "s"
    renamed = replace(one, extra=(("was", {"u": "new", "e": "newer"}),))
    assert last_session.last_commit(renamed) == "new", "as it is called now"
    assert last_session.last_commit(replace(renamed, ended=end)) == "newer"


@pytest.mark.parametrize(
    "said",
    [
        {"condensed": Condensed(turns=2, text="so", by="x")},
        {"summary": "so"},
        {"scratchpad": "so"},
        {"decisions": ("so",)},
        {"open": (SessionItem(id="o1", text="so", ts="x"),)},
        {"follow_ups": (SessionItem(id="f1", text="so", ts="x"),)},
        {"approvals": (SessionApproval(id="a1", text="so", ts="x"),)},
    ],
)
def test_a_session_tells_something_in_whatever_field(make: Made, said: dict[str, Any]) -> None:
    """One line in a scratchpad may be all that a night's work left."""
    silent = make(turns=(), objective="begun", files=("a",), commits=("c",))
    assert last_session.has_content(make())
    assert not last_session.has_content(silent)
    assert last_session.has_content(replace(silent, **said))


def test_the_last_that_told_is_of_this_branch_though_another_told_later(place: Place, make: Made) -> None:
    """What a session of another branch says is never taken for this one's."""
    told, older = make(), make(updated=SessionAnchor("2020-01-01T00:00:00.000000Z", None, "main"))
    place.git("switch", "-qc", "other")
    elsewhere = make()
    place.git("switch", "-q", "main")
    silent = make(turns=())
    found = choose(place.open(), [older, told, elsewhere, silent])
    assert found.session == silent and found.before is not None
    assert found.before.session == told
    assert found.why.endswith(f"; it has no entries yet, {told.id} was the last with entries")


def test_a_session_of_no_commit_goes_on_from_none(place: Place, make: Made) -> None:
    """It began before there was anything to stand on."""
    nowhere = SessionAnchor("2026-11-15T19:42:00.000000Z", None, "main")
    session = make(started=nowhere, updated=nowhere)
    found = choose(place.open(), [session])
    assert (found.session, found.how, found.since, found.lost) == (session, "branch", None, None)
    assert found.why == "the last session on branch main, still open"


def test_an_open_session_of_this_work_tree_comes_before_newer_ones(place: Place, make: Made) -> None:
    """Two agents in two work trees of one branch each have their own thread."""
    here, there, newer = make(), make(worktree="other"), ended(make())
    assert choose(place.open(), [newer, there, here]).session == here
    assert choose(place.open(), [newer, there, ended(here)]).session == there
    assert choose(place.open(), [newer, ended(there), ended(here)]).session == newer


def test_what_changed_here_is_without_our_own_files(place: Place) -> None:
    """Our folder changes with every command."""
    place.repo.commit("a.txt")
    place.git("switch", "-qc", "work")
    for name in ("b.txt", ".holdfast/memory/facts/x.md", ".holdfast2/c.txt"):
        place.repo.write(name, "x\n")
    place.git("add", "-Af")
    place.git("commit", "-qm", "work")
    place.repo.write("a.txt", "changed\n")
    place.repo.write(".holdfast/memory/facts/x.md", "changed\n")
    repo = place.open().repo
    found = last_session.look_at_changes(repo, trunk="main")
    assert dict(found.uncommitted) == {"a.txt": " M"}
    assert found.committed == (".holdfast2/c.txt", "b.txt")
    assert found.paths == {"a.txt", "b.txt", ".holdfast2/c.txt"}
    assert last_session.look_at_changes(repo).committed == ()
    assert last_session.branched_off(repo, "main") == place.git("rev-parse", "main")
    ahead = place.git("commit-tree", "main^{tree}", "-p", "main", "-m", "the trunk went on")
    assert last_session.branched_off(repo, ahead) == place.git("rev-parse", "main")
    assert last_session.branched_off(repo, "nowhere") is None
    assert last_session.branched_off(repo, "work") == place.git("rev-parse", "work")
    assert last_session.changed_files(repo, "HEAD~1") == (".holdfast2/c.txt", "b.txt")
    assert last_session.changed_files(repo, place.git("rev-parse", "HEAD")) == ()


def test_of_many_shared_files_three_are_named(place: Place, make: Made) -> None:
    """A list of a hundred names says no more."""
    place.git("switch", "-qc", "one")
    place.repo.commit("x.txt")
    four = make(files=("a", "b"), turns=(replace(make().turns[0], files=("c", "d", "e")),))
    three, newer = make(files=("a", "b", "c")), make(files=("a", "b", "z"))
    place.git("switch", "-q", "main")
    for name in "abcd":
        place.repo.write(name, "x\n")
    changed = last_session.look_at_changes(place.open().repo)

    def found(*sessions: Session) -> last_session.ChosenSession:
        lost = [replace(one, updated=replace(one.updated, commit="f" * 40)) for one in sessions]
        return choose(place.open(), lost, changed=changed)

    assert found(newer, three, four).why.endswith("worked on 4 of the files that changed here (a, b, c …)")
    assert found(newer, three).why.endswith("worked on 3 of the files that changed here (a, b, c)")
    two = found(three, newer)
    assert two.how == "paths" and two.session is not None and two.session.id == three.id, "who shares most"
    same = found(replace(three, files=("a", "b")), newer)
    assert same.session is not None and same.session.id == newer.id, "of equals the last updated"
    assert same.lost == "f" * 40
