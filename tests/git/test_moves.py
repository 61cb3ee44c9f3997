"""The next command notices what git did, with hooks and without them."""

import os
import random
from pathlib import Path

import pytest

from holdfast.git import moves
from holdfast.git import moves as git_moves
from holdfast.git.cited_commits import rewrite_map
from holdfast.git.moves import Moves
from holdfast.git.reflog import ReflogRow
from holdfast.store.git_inbox import FiredHook
from tests.conftest import GitRepo
from tests.git.place import Place, now


def look(place: Place, *fired: FiredHook) -> Moves:
    """What the next command notices."""
    return moves.observe(place.open(), fired)


def kinds(place: Place, *fired: FiredHook) -> list[str]:
    return [move.kind for move in look(place, *fired).new]


def firing(place: Place, hook: str, *args: str, pairs: tuple[tuple[str, str], ...] = ()) -> FiredHook:
    repo = place.open().repo
    head = repo.head()
    ts = place.open().now()
    return FiredHook(ts=ts, hook=hook, git_dir=repo.git_dir, head=head.oid, ref=head.ref, args=args, pairs=pairs)


@pytest.fixture
def seen(place: Place) -> Place:
    """A project in which a command has looked around."""
    place.repo.commit("a")
    place.repo.commit("b")
    look(place)
    return place


def test_nothing_moved_is_nothing_noticed_and_nothing_written(seen: Place) -> None:
    """Every command looks; none may pay for what did not happen."""
    files = {path: path.stat().st_mtime_ns for path in (seen.store / "seen").iterdir()}
    assert look(seen) == Moves()
    assert {path: path.stat().st_mtime_ns for path in (seen.store / "seen").iterdir()} == files


def test_the_first_look_tells_of_nothing(place: Place) -> None:
    """What was before Holdfast came is no news."""
    place.repo.commit("a")
    place.git("switch", "-q", "-c", "feat")
    assert kinds(place) == []


def test_commits_are_counted_and_named(seen: Place) -> None:
    """Work done without an agent is work."""
    first, second = seen.repo.commit("c"), seen.repo.commit("d")
    found = look(seen)
    assert [(m.kind, m.count, m.ref) for m in found.new] == [("commits", 2, "refs/heads/main")]
    assert [made.oid for made in found.made] == [first, second]
    assert {made.line for made in found.made} == {seen.line()}
    assert "2 commits were made on main" in found.new[0].sentence
    assert look(seen).new == (), "said once"


def test_a_publish_is_no_news(seen: Place) -> None:
    """Our own commit must not be counted as somebody's work."""
    seen.git("switch", "-q", "-c", "feat")
    look(seen)
    seen.ran("r1")
    seen.publish()
    found = look(seen)
    assert (found.new, found.made) == ((), ())


def test_commits_belong_to_the_branch_they_were_made_on(seen: Place) -> None:
    """A commit on one branch must not become evidence on the next."""
    seen.git("switch", "-q", "-c", "feat")
    look(seen)
    feat = seen.line()
    oid = seen.repo.commit("c")
    seen.git("switch", "-q", "main")
    found = look(seen)
    assert [move.kind for move in found.new] == ["commits", "branch"]
    assert [(made.line, made.oid) for made in found.made] == [(feat, oid)]
    assert found.new[1].before == "refs/heads/feat"


def test_there_and_back_again_is_no_branch_change(seen: Place) -> None:
    """A look at another branch, or a bisect, leaves nothing to reconcile."""
    seen.git("switch", "-q", "-c", "feat")
    seen.git("switch", "-q", "main")
    seen.git("switch", "-q", "--detach", "HEAD~1")
    seen.git("switch", "-q", "main")
    assert kinds(seen) == []


def test_an_amend_is_kept_in_the_map_without_any_hook(seen: Place) -> None:
    """The reflog says for certain what became of the commit."""
    old = seen.repo.commit("c")
    look(seen)
    seen.git("commit", "-q", "--amend", "-m", "better")
    new = seen.git("rev-parse", "HEAD")
    found = look(seen)
    assert [(m.kind, m.before, m.after) for m in found.new] == [("amend", old, new)]
    assert found.pairs == ((old, new),)
    assert rewrite_map.follow(seen.open().layout, old) == new
    assert [event.kind for event in seen.open().events()] == ["rewrite"]


def test_a_rebase_is_one_move_and_its_pairs_are_never_guessed(seen: Place) -> None:
    """Only git's own map says which commit became which."""
    seen.git("switch", "-q", "-c", "feat", "HEAD~1")
    seen.repo.commit("c")
    old = seen.repo.commit("d")
    look(seen)
    seen.git("rebase", "-q", "main")
    found = look(seen)
    assert [(m.kind, m.before, m.count) for m in found.new] == [("rebase", old, 2)]
    assert (found.pairs, found.made) == ((), ())
    assert rewrite_map.follow(seen.open().layout, old) is None


def test_the_map_of_a_rebase_is_kept_when_the_hook_told(seen: Place) -> None:
    """Git says it once, to the hook."""
    seen.git("switch", "-q", "-c", "feat", "HEAD~1")
    old = seen.repo.commit("c")
    look(seen)
    seen.git("rebase", "-q", "main")
    new = seen.git("rev-parse", "HEAD")
    assert kinds(seen, firing(seen, "post-rewrite", "rebase", pairs=((old, new),))) == ["rebase"]
    assert rewrite_map.follow(seen.open().layout, old) == new


def test_an_interactive_rebase_with_amends_inside_is_one_rebase(seen: Place) -> None:
    """What git did on the way is not news of its own."""
    seen.repo.commit("c")
    seen.repo.commit("d")
    look(seen)
    seen.git("-c", "sequence.editor=sed -i '1s/pick/edit/'", "rebase", "-q", "-i", "HEAD~2")
    assert kinds(seen) == [], "git is in the middle of it"
    assert look(seen).under_way == "a rebase"
    seen.git("commit", "-q", "--amend", "-m", "reworded")
    seen.git("rebase", "--continue")
    found = look(seen)
    assert [move.kind for move in found.new] == ["rebase"]
    assert found.made == ()


def test_an_aborted_rebase_was_nothing(seen: Place) -> None:
    """Nothing is rewritten, so nothing is said."""
    seen.git("switch", "-q", "-c", "feat", "HEAD~1")
    seen.repo.commit("b", "other\n")
    look(seen)
    seen.git("rebase", "-q", "main", ok=False)
    assert kinds(seen) == []
    seen.git("rebase", "--abort")
    assert kinds(seen) == []


def test_merges_and_fast_forwards_bring_but_make_nothing(seen: Place) -> None:
    """Somebody else's commits are nobody's evidence here."""
    seen.git("switch", "-q", "-c", "feat")
    seen.repo.commit("c")
    seen.git("switch", "-q", "main")
    look(seen)
    seen.git("merge", "-q", "feat")
    found = look(seen)
    assert [(m.kind, m.count) for m in found.new] == [("forward", 1)]
    assert found.made == ()
    seen.git("switch", "-q", "feat")
    seen.repo.commit("d")
    seen.git("switch", "-q", "main")
    seen.repo.commit("e")
    look(seen)
    seen.git("merge", "-q", "--no-edit", "feat")
    found = look(seen)
    assert [(m.kind, m.count) for m in found.new] == [("merge", 2)]
    assert found.new[0].sentence == "feat was merged into main: 2 new commits"


@pytest.mark.parametrize("how", ["--hard", "--soft", "--mixed"])
def test_a_reset_says_how_many_commits_it_took(seen: Place, how: str) -> None:
    """Whoever rewinds three commits wants to hear three."""
    seen.repo.commit("c")
    look(seen)
    seen.git("reset", "-q", how, "HEAD~3")
    found = look(seen)
    assert [(m.kind, m.count) for m in found.new] == [("reset", 3)]
    assert "3 commits are no longer in it" in found.new[0].sentence


def test_a_stash_is_no_reset(seen: Place) -> None:
    """Git logs it as one."""
    seen.repo.write("a", "changed\n")
    seen.git("stash", "-q")
    seen.git("stash", "pop", "-q")
    assert kinds(seen) == []


def test_a_reset_onto_another_history_is_told_as_one(seen: Place) -> None:
    """`checkout -B` and `reset --hard OTHER` lose commits as surely as a rewind."""
    seen.git("switch", "-q", "-c", "feat", "HEAD~1")
    seen.repo.commit("c")
    look(seen)
    seen.git("reset", "-q", "--hard", "main")
    assert [(m.kind, m.count) for m in look(seen).new] == [("reset", 1)]
    seen.git("switch", "-q", "-C", "feat", "HEAD~1")
    assert [(m.kind, m.count) for m in look(seen).new] == [("reset", 1)]


def test_a_cherry_pick_is_a_commit_made_here(seen: Place) -> None:
    """It was somebody's choice to have it here."""
    seen.git("switch", "-q", "-c", "feat")
    oid = seen.repo.commit("c")
    seen.git("switch", "-q", "main")
    seen.repo.commit("e")
    look(seen)
    seen.git("cherry-pick", oid)
    found = look(seen)
    assert [move.kind for move in found.new] == ["cherry-pick"]
    assert [made.oid for made in found.made] == [seen.git("rev-parse", "HEAD")]


def test_a_detached_head_and_the_way_back(seen: Place) -> None:
    """What is done on a detached HEAD is easily lost."""
    seen.git("switch", "-q", "--detach")
    assert kinds(seen) == ["detached"]
    oid = seen.repo.commit("c")
    found = look(seen)
    assert [(made.line, made.oid) for made in found.made] == [(seen.line(), oid)]
    seen.git("switch", "-q", "main")
    assert kinds(seen) == ["branch"]


def test_a_renamed_branch_is_the_same_line(seen: Place) -> None:
    """A rename is no branch change, whoever's branch it is."""
    line = seen.line()
    seen.git("branch", "-m", "main", "trunk")
    found = look(seen)
    assert [(m.kind, m.before, m.after) for m in found.new] == [("renamed", "refs/heads/main", "refs/heads/trunk")]
    assert seen.line() == line


def test_a_deleted_branch_is_told_once_in_all_work_trees(seen: Place, tmp_path: Path) -> None:
    """One clone, one branch: whoever looks first says it."""
    seen.git("switch", "-q", "-c", "feat")
    look(seen)
    seen.git("switch", "-q", "main")
    seen.git("worktree", "add", "-q", "-b", "agent", str(tmp_path / "wt"))
    assert kinds(seen) == ["branch", "worktree-added"]
    seen.git("branch", "-q", "-D", "feat")
    assert kinds(seen.at(tmp_path / "wt")) == ["deleted"]
    assert kinds(seen) == []
    assert [m.kind for m in look(seen).waiting] == ["branch", "branch", "worktree-added", "deleted"]


def test_a_branch_deleted_and_made_anew_is_another_line(seen: Place) -> None:
    """Branches are often called `fix`; what the first one left is not the second one's."""
    seen.git("switch", "-q", "-c", "fix")
    look(seen)
    seen.git("switch", "-q", "main")
    seen.later()
    seen.git("branch", "-q", "-D", "fix")
    seen.git("switch", "-q", "-c", "fix", "HEAD~1")
    assert [move.sentence for move in look(seen).new if move.kind == "deleted"] == [
        "the branch fix was deleted and created again"
    ]


def test_a_branch_name_that_is_no_unicode_is_no_obstacle(seen: Place) -> None:
    """Git takes any bytes; we must be able to remember them."""
    seen.git("switch", "-q", "-c", os.fsdecode(b"caf\xe9/" + b"x" * 180))
    seen.repo.commit("c")
    assert kinds(seen) == ["commits", "branch"]
    seen.git("switch", "-q", "main")
    assert kinds(seen) == ["branch"]
    assert kinds(seen) == []


def test_what_is_told_before_it_is_seen_is_told_again_after_a_crash(seen: Place) -> None:
    """A command killed between noticing and noting must not lose a commit."""

    def crash(_: Moves) -> None:
        raise KeyboardInterrupt

    seen.repo.commit("c")
    with pytest.raises(KeyboardInterrupt):
        moves.observe(seen.open(), note=crash)
    assert kinds(seen) == ["commits"]


@pytest.mark.parametrize("how", ["git", "rm"])
def test_work_trees_that_come_and_go_are_noticed(seen: Place, tmp_path: Path, how: str) -> None:
    """Agents' work trees vanish without a word, and so do their folders."""
    wt = tmp_path / "wt"
    seen.git("worktree", "add", "-q", "--detach", str(wt))
    assert kinds(seen) == ["worktree-added"]
    assert kinds(seen.at(wt)) == []
    if how == "git":
        seen.git("worktree", "remove", "--force", str(wt))
    else:
        os.rename(wt, tmp_path / "elsewhere")
    assert kinds(seen) == ["worktree-removed"]
    assert not (seen.store / "seen" / "tree-wt.json").exists()


def test_a_rewritten_upstream_is_noticed_with_the_fetch(seen: Place, tmp_path: Path) -> None:
    """Somebody force-pushed: what was built on it must be told."""
    origin = tmp_path / "origin"
    seen.git("clone", "-q", "--bare", str(seen.repo.path), str(origin))
    seen.git("remote", "add", "origin", str(origin))
    seen.git("fetch", "-q")
    seen.git("branch", "-q", "-u", "origin/main")
    seen.git("clone", "-q", str(origin), str(tmp_path / "other"))
    look(seen)
    other = GitRepo(tmp_path / "other")
    other.git("commit", "-q", "--amend", "-m", "rewritten")
    other.git("push", "-q", "-f")
    seen.git("fetch", "-q")
    found = look(seen)
    assert [(m.kind, m.count, m.ref) for m in found.new] == [("upstream", 1, "refs/remotes/origin/main")]
    seen.git("reset", "-q", "--hard", "origin/main")
    assert kinds(seen) == ["reset"]
    seen.git("fetch", "-q")
    assert kinds(seen) == []


def test_a_rewrite_after_other_news_of_the_same_upstream_is_noticed(seen: Place, tmp_path: Path) -> None:
    """Two fetches before the next command: the first brought commits, the second another history."""
    seen.git("clone", "-q", "--bare", ".", str(tmp_path / "up.git"))
    seen.git("remote", "add", "origin", str(tmp_path / "up.git"))
    seen.git("fetch", "-q", "origin")
    seen.git("branch", "-q", "--set-upstream-to=origin/main")
    look(seen)
    other = seen.at(tmp_path / "theirs")
    seen.git("clone", "-q", str(tmp_path / "up.git"), str(other.repo.path))
    for change in ("commit", "amend"):
        if change == "commit":
            other.repo.commit("theirs")
        else:
            other.git("commit", "-q", "--amend", "-m", "other words")
        other.git("push", "-q", "-f")
        seen.git("fetch", "-q", "origin")
    assert [(move.kind, move.count) for move in look(seen).new] == [("upstream", 1)]
    assert look(seen).new == ()


def test_a_rewrite_is_told_even_where_the_old_commits_are_gone(seen: Place) -> None:
    """A garbage collection came first: how many there were nobody can say, and none is made up."""
    head, old, later = seen.git("rev-parse", "HEAD"), "f" * 40, int(now().timestamp()) + 5
    seen.git("remote", "add", "origin", "/nowhere")
    seen.git("update-ref", "refs/remotes/origin/main", head)
    seen.git("branch", "-q", "-u", "origin/main")
    look(seen)
    who = f"Ada <ada@example.org> {later} +0000"
    rows = f"{'0' * 40} {old} {who}\tfetch: storing head\n{old} {head} {who}\tfetch: forced-update\n"
    seen.repo.write(".git/logs/refs/remotes/origin/main", rows)
    seen.repo.write(".git/FETCH_HEAD", f"{head}\t\tbranch 'main' of /nowhere\n")
    (found,) = look(seen).new
    assert (found.kind, found.count, found.before, found.after) == ("upstream", 0, old, head)
    assert found.sentence == "origin/main was rewritten on its remote: 0 commits no longer in it"


def test_a_shallow_clone_says_so_once(seen: Place, tmp_path: Path) -> None:
    """Whoever asks whether an old commit holds gets no answer there, and should know why."""
    seen.git("clone", "-q", "--depth", "1", f"file://{seen.repo.path}", str(tmp_path / "shallow"))
    shallow = seen.at(tmp_path / "shallow")
    assert kinds(shallow) == ["shallow"]
    assert kinds(shallow) == []
    shallow.git("fetch", "-q", "--unshallow")
    assert kinds(shallow) == ["unshallow"]


def test_without_reflogs_heads_are_compared(place: Place) -> None:
    """Servers switch logs off; a rewind must be noticed there, too."""
    place.git("config", "core.logAllRefUpdates", "false")
    for name in "abcd":
        place.repo.commit(name)
    (place.repo / ".git/logs/HEAD").unlink()
    look(place)
    place.git("reset", "-q", "--hard", "HEAD~3")
    assert [(m.kind, m.count) for m in look(place).new] == [("reset", 3)]
    oid = place.repo.commit("e")
    found = look(place)
    assert ([m.kind for m in found.new], found.made) == (["forward"], ()), "whose commit it is cannot be known"
    oid = place.repo.commit("f")
    assert [made.oid for made in look(place, firing(place, "post-commit")).made] == [oid], "but the hook knows"


def test_an_expired_log_is_found_again_by_its_rows(seen: Place) -> None:
    """Git tidies reflogs; what came after our last look is still told."""
    log = seen.repo / ".git/logs/HEAD"
    seen.repo.commit("c")
    log.write_text("".join(log.read_text().splitlines(keepends=True)[1:]))
    assert kinds(seen) == ["commits"]


def test_a_firing_in_another_work_tree_counts_there(seen: Place, tmp_path: Path) -> None:
    """Whoever drains the inbox reads everybody's lines."""
    wt = tmp_path / "wt"
    seen.git("worktree", "add", "-q", "-b", "agent", str(wt))
    there = seen.at(wt)
    look(there)
    oid = there.repo.commit("c")
    found = look(seen, firing(there, "post-commit"))
    assert [(made.worktree, made.line, made.oid) for made in found.made] == [("wt", there.line(), oid)]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"head": 1}', '{"waiting": [{}]}', "null"])
def test_a_damaged_note_is_a_first_look(seen: Place, text: str) -> None:
    """Hints may be lost; no command may fail for it."""
    for path in (seen.store / "seen").glob("*.json"):
        path.write_text(text)
    seen.git("switch", "-q", "-c", "feat")
    assert kinds(seen) == []
    seen.repo.commit("c")
    assert kinds(seen) == ["commits"]


def test_moves_wait_until_somebody_was_told(seen: Place) -> None:
    """`reconcile` lists what happened since it was last asked."""
    seen.repo.commit("c")
    look(seen)
    seen.git("reset", "-q", "--hard", "HEAD~1")
    assert [m.kind for m in look(seen).waiting] == ["commits", "reset"]
    moves.mark_reported(seen.open())
    assert look(seen).waiting == ()


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("commit (initial): a", "commits"),
        ("commit: fix (amend): it", "commits"),
        ("commit (amend): x", "amend"),
        ("commit (merge): x", "merge"),
        ("commit (cherry-pick): x", "cherry-pick"),
        ("merge feature/(x): Fast-forward", "forward"),
        ("pull: Fast-forward", "forward"),
        ("pull https://example.org/x main: Fast-forward", "forward"),
        ("pull -q: Merge made by the 'ort' strategy.", "merge"),
        ("pull --rebase (pick): x", "rebase"),
        ("rebase -i (finish): returning to refs/heads/x", "rebase"),
        ("rebase finished: returning to refs/heads/x", "rebase"),
        ('revert: Revert "x"', "commits"),
        ("reset: moving to HEAD~3", "reset"),
        ("cherry-pick: x", "cherry-pick"),
        ("filter-branch: rewrite", "moved"),
        ("", "moved"),
    ],
)
def test_the_messages_of_git_are_understood(message: str, kind: str) -> None:
    """They are all that tells a rewind from a pull."""
    assert git_moves.kind_of(message)[0] == kind


def test_any_rows_give_steps_that_hang_together(seed: int) -> None:
    """Strange reflogs must never stop a command."""
    chance = random.Random(seed)
    words = (
        *("commit: a", "commit (amend): a", "cherry-pick: a", "reset: moving to x", "merge x: Fast-forward"),
        *("rebase (start): checkout x", "rebase (pick): a", "rebase (finish): returning to refs/heads/f"),
        *("rebase (abort): x", "checkout: moving from a to b", "?"),
        "Branch: renamed refs/heads/a to refs/heads/b",
    )
    for _ in range(300):
        oids = [f"{chance.randrange(4):040x}" for _ in range(chance.randrange(12))]
        rows = [ReflogRow(oid, n, False, chance.choice(words)) for n, oid in enumerate(oids)]
        found = git_moves.read_steps(rows, head="f" * 40, ref="refs/heads/a")
        assert all(step.before != step.after or step.commits for step in found)
        assert {step.after for step in found} <= set(oids)


def test_an_amend_that_no_log_tells_of_is_a_rewrite(seen: Place) -> None:
    """`moved forward: 0 commits` hides that a commit is gone."""
    seen.repo.commit("a")
    look(seen)
    old = seen.git("rev-parse", "HEAD")
    seen.git("commit", "-q", "--amend", "-m", "other words")
    seen.git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    seen.git("gc", "-q", "--prune=now")
    [found] = look(seen).new
    assert found.kind == "moved"
    assert found.sentence.startswith(f"main was rewritten: it was at {old[:12]}, which no longer exists")


def test_moves_are_told_in_the_order_of_time(seen: Place) -> None:
    """A story out of order is none."""
    seen.git("switch", "-q", "-c", "feat")
    look(seen)
    seen.git("switch", "-q", "main")
    seen.git("branch", "-q", "-D", "feat")
    found = look(seen)
    assert [move.ts for move in found.waiting] == sorted(move.ts for move in found.waiting)
    assert [move.kind for move in found.new] == ["branch", "deleted"]


def test_a_long_name_is_cut_in_a_sentence(seen: Place) -> None:
    """One name must not fill the screen."""
    seen.git("switch", "-q", "-c", "x" * 200)
    [found] = look(seen).new
    assert len(found.sentence) < 120
    assert found.after == "refs/heads/" + "x" * 200
