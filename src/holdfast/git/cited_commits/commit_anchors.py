"""Finds the commit that a cited commit became when history was rewritten: the right one, or none.

In order: the map from git's hook, filter-repo's map, change-ids, patch-ids, trees, squashes, overlapping content. The
first that finds something decides; if it finds several equally good commits and HEAD reaches not exactly one of them,
there is no answer. If all the commits are reachable, two git processes suffice.

A search takes seconds on a large repository, and every command asks about the same few commits. So the answers are
cached until refs, HEAD or the maps change; the cache file may be deleted.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Literal

from holdfast.errors import Busy, GitFailed, NotStored, ReadOnlyStore, UnsafePath
from holdfast.git.cited_commits import anchor_store, commit_details, commit_matching, rewrite_map
from holdfast.git.clone import Clone
from holdfast.git.repo import Repo
from holdfast.model.evidence import is_oid
from holdfast.store import fsio, loose_records
from holdfast.store.layout import Layout
from holdfast.values import frozen

if TYPE_CHECKING:
    from holdfast.git.cited_commits.commit_matching import HistoryWindow, MatchScope, Rule

Answer = tuple[str, str] | None  # the commit it became and how that was found; None: not found

_MAX_STATES = 4  # cached states; a guess: work trees with another HEAD take turns
_MAX_ANSWERS = 5_000  # of one state; a guess: more lost commits than records cite
_LIMIT = 1 << 24  # 16 MiB: four states of 5,000 answers take about 2 MiB


def state_of(repo: Repo, layouts: Iterable[Layout]) -> str:
    """Returns a hash of everything that answers depend on."""
    refs = repo.run("for-each-ref", "--format=%(objectname) %(refname)")
    others = ("HEAD", *(os.path.join(folder, "HEAD") for folder in repo.worktrees()[1:]))
    heads = [loose_records.content(os.path.join(repo.common_dir, name), limit=4096) for name in others]
    beside = (os.path.join("filter-repo", "commit-map"), "shallow")
    maps = (*(layout.rewrites for layout in layouts), *(os.path.join(repo.common_dir, name) for name in beside))
    files = [fsio.facts(path) for path in maps]
    here = repo.head()
    return hashlib.sha256(repr((refs, heads, files, here.oid, here.ref)).encode()).hexdigest()[:32]


def load_answers(layout: Layout, state: str) -> dict[str, Answer]:
    """Returns the cached answers for this state of the repository."""
    found: dict[str, Answer] = {}
    rows = loose_records.read(_answers_path(layout), limit=_LIMIT).get(state)
    for oid, row in rows.items() if isinstance(rows, dict) else ():
        match row:
            case None:
                found[oid] = None
            case [str(commit), str(how)]:
                found[oid] = (commit, how)
    return found


def save_answers(layout: Layout, state: str, answers: Mapping[str, Answer]) -> None:
    """Caches answers; if they cannot be stored, the next command searches again."""
    known = loose_records.read(_answers_path(layout), limit=_LIMIT).items()
    kept = [(name, rows) for name, rows in known if name != state and isinstance(rows, dict)]
    newest = dict(list(answers.items())[-_MAX_ANSWERS:])
    states = dict([*kept, (state, newest)][-_MAX_STATES:])
    with contextlib.suppress(NotStored, ReadOnlyStore, UnsafePath, Busy):
        fsio.make_dirs(layout.anchors)
        fsio.replace(_answers_path(layout), json.dumps(states, separators=(",", ":")).encode("ascii"))


def _answers_path(layout: Layout) -> str:
    return os.path.join(layout.anchors, "answers.json")


_ALIASES = 4  # later ids of a commit that are searched as well; a guess: each costs a search
_PARTS = 8  # commits into which one may have been split; a guess: people split into two or three

Found = Literal["holds", "moved", "unanchored", "unknown"]


@frozen
class ResolvedCommit:
    """A cited commit, and the commit it is now."""

    asked: str
    commit: str | None  # None: it does not exist, or that is unknown
    state: Found
    how: str = ""


def keep(clone: Clone, oids: Iterable[str]) -> None:
    """Stores the facts needed to find these commits again, even after git has deleted them."""
    if clone.reading:
        return
    new = anchor_store.missing(clone.layout, (oid for oid in oids if is_oid(oid)))
    here = sorted(commit_details.adrift(clone.repo, new)[0])
    if here and not _is_partial(clone.repo):
        anchor_store.save(clone.layout, _described(clone.repo, here).values(), clone.scan)


def _described(repo: Repo, oids: Collection[str]) -> dict[str, anchor_store.CommitAnchor]:
    commits = commit_details.exactly(repo, list(oids))
    changed = commit_details.read_patches(repo, commits)
    return {oid: anchor_store.anchor_of(commit, changed[oid]) for oid, commit in commits.items()}


def learn(clone: Clone, pairs: Iterable[tuple[str, str]], *, kind: str) -> None:
    """Stores git's pairs of old and new commits, while git still has both and a split can be detected.

    For a commit that was split, git names only the last part; such a pair is not stored.
    """
    known = list(dict.fromkeys(pairs))
    split = set() if _is_partial(clone.repo) else _split(clone.repo, known)
    rewrite_map.add(clone.layout, [pair for pair in known if pair not in split], kind=kind, ts=clone.now())


def _split(repo: Repo, pairs: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Returns the pairs of a split: the new commit follows unpaired commits that have the rest of the old one."""
    here = commit_details.adrift(repo, {oid for pair in pairs for oid in pair if is_oid(oid)})[0]
    commits = commit_details.exactly(repo, sorted(here))
    became = {new for _, new in pairs}
    found = set()
    for old, new in pairs:
        parents = commits[new].parents if new in commits and old in commits else ()
        amended = parents and parents == commits[old].parents
        if parents and not amended and parents[0] not in became and _is_last_part(repo, old, new, became):
            found.add((old, new))
    return found


def _is_last_part(repo: Repo, old: str, new: str, became: Collection[str]) -> bool:
    row = repo.text("rev-list", "--first-parent", f"--max-count={_PARTS}", new, "--not", old).split()
    before = list(takewhile(lambda oid: oid not in became, row[1:]))
    read = commit_details.read_patches(repo, [old, new, *before]) if before else {}
    return any(not (read[old].lines - read[new].lines).isdisjoint(read[oid].lines) for oid in before)


def resolve(clone: Clone, oids: Iterable[str]) -> dict[str, ResolvedCommit]:
    """Returns which commit each of these is now."""
    wanted = list(dict.fromkeys(oids))
    here, lost = commit_details.adrift(clone.repo, [oid for oid in wanted if is_oid(oid)])
    gone = [oid for oid in wanted if oid not in here or oid in lost]
    blind = bool(gone) and (clone.repo.is_shallow() or _is_partial(clone.repo))
    try:
        found = _found(clone, [oid for oid in gone if is_oid(oid)]) if gone else {}
    except GitFailed as error:  # damage somewhere in history must not make every listing fail
        clone.layout.leave_out(f"rewritten commits could not be searched: {error}")
        found, blind = {}, True
    return {oid: _answer(oid, found.get(oid), holds=oid not in gone, blind=blind) for oid in wanted}


def _found(clone: Clone, lost: list[str]) -> dict[str, Answer]:
    """Returns the answers for lost commits; searches only for those without a cached answer."""
    state = state_of(clone.repo, clone.stores)
    known = load_answers(clone.layout, state)
    new = [oid for oid in lost if oid not in known]
    if new:
        found = _Search(clone, new, partial=_is_partial(clone.repo)).run()
        known |= {oid: found.get(oid) for oid in new}
        if not clone.reading and clone.layout.private == clone.private.private:
            save_answers(clone.layout, state, known)
    return known


def _answer(oid: str, found: Answer, *, holds: bool, blind: bool) -> ResolvedCommit:
    if holds:
        return ResolvedCommit(oid, oid, "holds")
    if found is not None:
        return ResolvedCommit(oid, found[0], "moved", found[1])
    return ResolvedCommit(oid, None, "unknown" if blind else "unanchored")


def _is_partial(repo: Repo) -> bool:
    """Returns whether the clone is partial: git would fetch missing objects, and we must not wait for a network."""
    pattern = r"^(extensions\.partialclone|remote\..*\.promisor)$"
    return bool(repo.text("config", "--get-regexp", pattern, ok=(0, 1)))


class _Search:
    """A search for commits that are no longer reachable: what each became, and how that was found."""

    def __init__(self, clone: Clone, lost: list[str], *, partial: bool) -> None:
        self._clone, self._repo, self._lost, self._partial = clone, clone.repo, lost, partial
        self._trails = rewrite_map.trails(clone.stores, clone.repo, set(lost))
        names = {name for trail in self._trails.values() for name in trail.names}
        self._here, self._adrift = commit_details.adrift(clone.repo, names | set(lost))
        self._found: dict[str, Answer] = {}

    def run(self) -> dict[str, Answer]:
        doubtful = self._follow_maps()
        waiting = [oid for oid in self._lost if oid not in self._found]
        if waiting and not self._partial:
            self._search_content(waiting, doubtful)
        return self._found

    def _trail(self, oid: str) -> rewrite_map.RewriteTrail:
        return self._trails.get(oid, rewrite_map.RewriteTrail())

    def _living(self, oid: str) -> list[str]:
        return [name for name in self._trail(oid).names if name in self._here and name not in self._adrift]

    def _follow_maps(self) -> dict[str, list[str]]:
        """Uses the maps' answers that are reachable and complete; returns those with only a part of the change."""
        living = {oid: self._living(oid) for oid in self._trails}
        anchors = {} if self._partial else self._anchors(oid for oid, names in living.items() if names)
        read = commit_details.read_patches(self._repo, (name for oid in anchors for name in living[oid]))
        doubtful = {}
        for oid, names in living.items():
            anchor = anchors.get(oid)
            doubtful[oid] = [name for name in names if anchor and commit_matching.rest(anchor, read[name])]
            self._take(oid, [name for name in names if name not in doubtful[oid]])
            if self._trail(oid).dropped and not self._trail(oid).names:
                self._found[oid] = None
        return doubtful

    def _take(self, oid: str, names: list[str]) -> None:
        """Chooses among new ids that are all correct: the only one, else the only one that HEAD reaches."""
        near = [name for name in names if len(names) == 1 or self._repo.is_ancestor(name, "HEAD")]
        if names:
            self._found[oid] = (near[0], self._trail(oid).how[near[0]]) if len(near) == 1 else None

    def _anchors(self, oids: Iterable[str]) -> dict[str, anchor_store.CommitAnchor]:
        """Returns the anchors of commits: from git if it still has them, else from the store."""
        wanted = list(dict.fromkeys(oids))
        here = [oid for oid in wanted if oid in self._here]
        try:
            return anchor_store.load(self._clone.stores, set(wanted) - set(here)) | _described(self._repo, here)
        except GitFailed:  # git has the commit but lacks a blob of it
            return anchor_store.load(self._clone.stores, wanted)

    def _search_content(self, waiting: list[str], doubtful: Mapping[str, list[str]]) -> None:
        """Searches by content, starting with the newest id that a commit had before it was lost."""
        aliases = {oid: self._aliases(oid) for oid in waiting}
        anchors = self._anchors(name for names in aliases.values() for name in names)
        if not anchors:
            return
        window = commit_matching.HistoryWindow(self._repo, anchors, here=[oid for oid in anchors if oid in self._here])
        for oid, names in aliases.items():
            scopes = {name: window.scope_of(anchors[name], own=names) for name in names if name in anchors}
            own = scopes.get(oid)
            self._take(oid, [name for name in doubtful.get(oid, ()) if self._is_it(oid, name, name, own)])
            for name, scope in scopes.items():
                if oid not in self._found:
                    self._search(oid, name, window, scope, own)

    def _aliases(self, oid: str) -> list[str]:
        living = self._living(oid)
        lost = [name for name in self._trail(oid).names if name not in living]
        return [*reversed(lost[-_ALIASES:]), oid]

    def _search(self, oid: str, name: str, window: HistoryWindow, scope: MatchScope, own: MatchScope | None) -> None:
        found, how = _decide(self._repo, window, scope)
        found = [new for new in found if self._is_it(oid, name, new, own)]
        if found:
            self._found[oid] = (found[0], how) if len(found) == 1 else None

    def _is_it(self, oid: str, alias: str, new: str, own: MatchScope | None) -> bool:
        """Returns whether a commit found under another id is still the lost one, with its whole change."""
        if own is None or alias == oid:
            return True
        if alias in self._trail(oid).joined:  # if it was squashed with its own revert, nothing of it may be left
            return not commit_matching.rest(own.anchor, own.patches.get(new, commit_details.Patch()))
        return not commit_matching.is_part(own, new)


def _decide(repo: Repo, window: HistoryWindow, scope: MatchScope) -> tuple[list[str], str]:
    """Returns what the first successful rule finds, and the rule's name."""
    squash: tuple[str, Rule] = ("squash", partial(commit_matching.find_squash, repo, window))
    found = ((rule(scope), how) for how, rule in (*commit_matching.RULES, squash, *commit_matching.LAST))
    return next(((names, how) for names, how in found if names), ([], ""))
