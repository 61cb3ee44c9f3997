"""What every command does before its own work: notice what git did, note it, and say what matters.

Commits go to the open session and to the claim they were made under. What was rewritten goes by its new
name there, as far as git itself told it. Each move is said once; moves that are everyday life are said
only where sessions or claims are kept. A failure here is said and never stops the command.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from holdfast.capture import cited_commits, reconciliation, session_work, worktree_changes
from holdfast.errors import HoldfastError
from holdfast.git import moves, reconcile
from holdfast.git.cited_commits import commit_anchors, rewrite_map
from holdfast.git.clone import Clone
from holdfast.git.moves import GitMove, Moves, NewCommit
from holdfast.model.text import count
from holdfast.store import git_inbox, session_files
from holdfast.work import task_claims

# What is said in any project; the rest is everyday life, unless it left something behind.
LOUD = ("rebase", "reset", "moved", "upstream", "renamed", "detached", "shallow")
ASKING = ("rebase", "reset", "moved", "upstream")
MOST = 5  # sentences at once


class GitNotice(str):
    """A sentence about what git did; a command that answers it drops it."""

    __slots__ = ()


def drop_notices(clone: Clone) -> None:
    """Drop the notices: the command itself reports what was noticed, or settles it."""
    clone.notes[:] = [note for note in clone.notes if not isinstance(note, GitNotice)]


def notice(clone: Clone) -> Moves:
    """What git did since the last command here, noted where it belongs and said in `clone.notes`."""
    outside: set[str] = set()  # commits that no session knows

    def note(there: Moves) -> None:
        if there.made or there.pairs:
            _follow(clone, there.pairs)
            outside.update(_to_sessions(clone, there.made))
            _to_claims(clone, there.made)

    try:
        with git_inbox.draining(clone.layout) as fired:
            found = moves.observe(clone, fired, note=note)
    except (HoldfastError, OSError) as error:
        clone.notes.append(f"what git did since the last command was not noted: {error}")
        return Moves()
    if found.new:
        clone.notes.extend(map(GitNotice, _sentences(clone, found, outside)))
    return found


def _follow(clone: Clone, pairs: Sequence[tuple[str, str]]) -> None:
    """Let sessions and claims name what their commits certainly became."""
    olds = {old for old, _ in pairs}
    cited = {oid for one in session_files.all(clone.layout) for oid in one.commits if oid in olds}
    noted = {oid for claim in task_claims.every(clone.layout) for oid in claim.commits if oid in olds}
    became = {old: new for old in cited | noted if (new := rewrite_map.follow(clone.layout, old))}
    for one in session_files.all(clone.layout) if became else ():
        cited_commits.follow(clone, one, became)
    for claim in list(task_claims.every(clone.layout)) if became else ():
        for old in claim.commits:
            if old in became:
                task_claims.add_commit(clone.layout, claim.task, became[old])


def _to_sessions(clone: Clone, made: Iterable[NewCommit]) -> set[str]:
    opened, outside, added = session_files.opened(clone.layout), set(), []
    for one in made:
        fitting = [s for s in opened if (s.line, s.worktree) == (one.line, worktree_changes.spelled(one.worktree))]
        if fitting:
            branch = one.ref.removeprefix("refs/heads/") if one.ref else None
            session_work.record_commit(clone, fitting[-1].id, one.oid, ts=one.ts, branch=branch)
            added.append(one.oid)
        else:
            outside.add(one.oid)
    commit_anchors.keep(clone, added)
    return outside


def _to_claims(clone: Clone, made: Sequence[NewCommit]) -> None:
    """A commit belongs to the one task that was claimed where it was made, or to those it names."""
    live = task_claims.live(clone.layout, clone.now()).values()
    messages: dict[str, str] | None = None
    for one in made:
        there = [c.task for c in live if (c.worktree, c.line) == (one.worktree, one.line)]
        if len(there) > 1:
            messages = messages or worktree_changes.commit_messages(clone.repo, [each.oid for each in made])
            there = [task for task in there if task.lower() in messages.get(one.oid, "").lower()]
        for task in there:
            task_claims.add_commit(clone.layout, task, one.oid)
            commit_anchors.keep(clone, [one.oid])


def _sentences(clone: Clone, found: Moves, outside: set[str]) -> Iterator[str]:
    folders = [folder for folder in (clone.layout.sessions, clone.layout.claims) if os.path.isdir(folder)]
    live = any(name.endswith(".json") for folder in folders for name in os.listdir(folder))  # somebody keeps some
    lost = _left_behind(clone, found.new)
    said = [move for move in found.new if move.kind in LOUD or _matters(move, outside, lost, live=live)]
    questions = list(lost.values())
    if any(move.kind in reconciliation.SWITCHES or _ends_a_line(move) for move in said):
        questions += reconciliation.left_open(clone)  # once for each change of branch
    questions += reconciliation.came_later(clone) if said else []
    if not questions and not any(move.kind in ASKING for move in said):
        return  # a line after each answer that asks for nothing is one that nobody reads
    for move in said[:MOST]:
        away = " outside any session" if move.kind == "commits" else ""
        yield f"{move.sentence}{away}"
    if len(said) > MOST:
        yield f"and {len(said) - MOST} more moves of git"
    yield from questions
    yield "see what that means, and choose, with: holdfast reconcile"


def _matters(move: GitMove, outside: set[str], lost: Mapping[str | None, str], *, live: bool) -> bool:
    if move.kind == "commits":
        return live and move.after in outside
    return live or (_ends_a_line(move) and move.before in lost)


def _ends_a_line(move: GitMove) -> bool:
    """Whether a branch went, or a work tree, or a detached HEAD was left."""
    return move.kind in ("deleted", "worktree-removed") or (move.kind == "branch" and move.before is None)


def _left_behind(clone: Clone, new: Iterable[GitMove]) -> dict[str | None, str]:
    """What the lines that just ended left waiting: where it was, and a sentence."""
    ended = {move.before for move in new if _ends_a_line(move)}
    found: dict[str | None, str] = {}
    for orphan in reconcile.orphans(clone, thoroughly=True) if ended else ():
        # A branch by its ref, a detached HEAD by its work tree; None for this one's.
        ref = orphan.refs[-1]
        name = ref.removeprefix("detached:")
        where = None if name != ref and name == os.path.basename(clone.repo.git_dir) else name
        if where in ended:
            waits = f"{count(len(orphan.events), 'event')} and {count(len(orphan.changes), 'change')} waiting"
            alone = f"{count(len(orphan.published), 'published file')} that no branch has"
            said = [*([waits] if orphan.events or orphan.changes else ()), *([alone] if orphan.published else ())]
            found[where] = f"{orphan.name} left {', and '.join(said)}"
    return found
