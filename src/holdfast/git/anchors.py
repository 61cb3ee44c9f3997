"""Where a cited commit is now that history was rewritten: the right one, or none.

In order: the map git gave us, filter-repo's map, change-ids, patch-ids, trees, squashes, overlapping content.
The first to find something decides; where it finds several equally good commits and HEAD reaches not
exactly one of them, there is no answer. When every asked commit is reachable, two git processes tell.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from holdfast.git import headers, kept, matching, patches, rewrites, squashes
from holdfast.git.clone import Clone
from holdfast.git.kept import Anchor
from holdfast.git.patches import patch_id
from holdfast.git.repo import Repo
from holdfast.git.rewrites import Trail
from holdfast.git.window import Window, adrift
from holdfast.model.evidence import is_oid

__all__ = ["Anchor", "Resolved", "keep", "patch_id", "resolve"]

_ALIASES = 4  # later names of a commit by which it is looked for too
_SPLIT = 4  # commits into which one may have been split

Found = Literal["holds", "moved", "unanchored", "unknown"]


@dataclass(frozen=True, slots=True)
class Resolved:
    """Where a commit is now."""

    asked: str
    commit: str | None  # None: nowhere, or nobody knows
    state: Found
    how: str = ""


def keep(clone: Clone, oids: Iterable[str]) -> None:
    """Remember what is needed to find these commits again, even after git has thrown them away."""
    if clone.reading:
        return
    new = kept.missing(clone.layout, (oid for oid in oids if is_oid(oid)))
    here = sorted(adrift(clone.repo, new)[0])
    if here and not _is_partial(clone.repo):
        kept.save(clone.layout, _described(clone.repo, here).values(), clone.scan)


def _described(repo: Repo, oids: Collection[str]) -> dict[str, Anchor]:
    commits = headers.exactly(repo, list(oids))
    changed = patches.read(repo, commits)
    return {oid: kept.anchor_of(commit, changed[oid]) for oid, commit in commits.items()}


def resolve(clone: Clone, oids: Iterable[str]) -> dict[str, Resolved]:
    """Where each of these commits is now."""
    asked = list(dict.fromkeys(oids))
    here, lost = adrift(clone.repo, [oid for oid in asked if is_oid(oid)])
    gone = [oid for oid in asked if oid not in here or oid in lost]
    found = _Search(clone, [oid for oid in gone if is_oid(oid)]).run() if gone else {}
    blind = bool(gone) and (clone.repo.is_shallow() or _is_partial(clone.repo))
    return {oid: _answer(oid, found.get(oid), holds=oid not in gone, blind=blind) for oid in asked}


def _answer(oid: str, found: tuple[str, str] | None, *, holds: bool, blind: bool) -> Resolved:
    if holds:
        return Resolved(oid, oid, "holds")
    if found is not None:
        return Resolved(oid, found[0], "moved", found[1])
    return Resolved(oid, None, "unknown" if blind else "unanchored")


def _is_partial(repo: Repo) -> bool:
    """Whether git would fetch what it lacks from elsewhere; a look must not wait for a network."""
    pattern = r"^(extensions\.partialclone|remote\..*\.promisor)$"
    return bool(repo.text("config", "--get-regexp", pattern, ok=(0, 1)))


class _Search:
    """The search for commits that are no longer reachable: where each is now, and how it was found."""

    def __init__(self, clone: Clone, lost: list[str]) -> None:
        self._clone, self._repo, self._lost = clone, clone.repo, lost
        self._trails = rewrites.trails(clone.stores, clone.repo, set(lost))
        names = {name for trail in self._trails.values() for name in trail.names}
        self._here, self._adrift = adrift(clone.repo, names | set(lost))
        self._found: dict[str, tuple[str, str]] = {}

    def run(self) -> dict[str, tuple[str, str]]:
        refused = self._follow_maps()
        waiting = [oid for oid in self._lost if oid not in self._found and not self._is_dropped(oid)]
        if waiting and not _is_partial(self._repo):
            self._look(waiting, refused)
        return self._found

    def _is_dropped(self, oid: str) -> bool:
        trail = self._trails.get(oid, Trail())
        return trail.dropped and not trail.names

    def _follow_maps(self) -> set[str]:
        """Take what the maps say where it is reachable; gives the names that are only part of a commit."""
        living = {
            oid: [name for name in trail.names if name in self._here and name not in self._adrift]
            for oid, trail in self._trails.items()
        }
        pairs = [(oid, name) for oid, names in living.items() for name in names]
        parts = _parts(self._clone, pairs, self._anchors([oid for oid, _ in pairs]))
        for oid, names in living.items():
            whole = [name for name in names if (oid, name) not in parts]
            if len(whole) > 1:
                whole = [name for name in whole if self._repo.is_ancestor(name, "HEAD")]
            if len(whole) == 1:
                self._found[oid] = (whole[0], self._trails[oid].how[whole[0]])
        return {name for _, name in parts}

    def _anchors(self, oids: Iterable[str]) -> dict[str, Anchor]:
        """What is known of commits: from git where it still has them, else from what was kept."""
        wanted = list(dict.fromkeys(oids))
        here = [oid for oid in wanted if oid in self._here]
        return kept.load(self._clone.stores, set(wanted) - set(here)) | _described(self._repo, here)

    def _look(self, waiting: list[str], refused: Collection[str]) -> None:
        aliases = {oid: self._aliases(oid, refused) for oid in waiting}
        anchors = self._anchors(name for names in aliases.values() for name in names)
        if not anchors:
            return
        window = Window(self._repo, anchors, here=[oid for oid in anchors if oid in self._here])
        for oid, names in aliases.items():
            for name in names:
                found, how = (
                    _decide(self._repo, window, anchors[name], names) if name in anchors else ([], "")
                )
                if len(found) == 1:
                    self._found[oid] = (found[0], how)
                if found:
                    break

    def _aliases(self, oid: str, refused: Collection[str]) -> list[str]:
        """The names by which a commit is looked for, its newest first."""
        later = [name for name in self._trails.get(oid, Trail()).names if name not in refused]
        return [*reversed(later[-_ALIASES:]), oid]


def _decide(repo: Repo, window: Window, anchor: Anchor, names: Collection[str]) -> tuple[list[str], str]:
    """What the first rule that finds something finds, and its name."""
    sight = window.sight(anchor, own=names)
    for how, rule in matching.RULES:
        if found := rule(sight):
            return found, how
    if found := squashes.find(repo, window, anchor):
        return found, "squash"
    for how, rule in matching.LAST:
        if found := rule(sight):
            return found, how
    return [], ""


def _parts(
    clone: Clone, pairs: Collection[tuple[str, str]], anchors: Mapping[str, Anchor]
) -> set[tuple[str, str]]:
    """Which answers of a map are only the last part of a commit that was split.

    Git names the last part. Whatever of the change lies in commits right before it, which
    nothing else became, shows the split.
    """
    commits = headers.exactly(clone.repo, sorted({new for _, new in pairs}))
    firsts = {commits[new].parents[0] for _, new in pairs if commits[new].parents}
    known = rewrites.targets(clone.stores, firsts)
    suspects = [
        (old, new)
        for old, new in pairs
        if old in anchors
        and anchors[old].lines
        and (parents := commits[new].parents)
        and parents[0] not in known
        and parents != anchors[old].parents
    ]
    return {(old, new) for old, new in suspects if _is_part(clone.repo, anchors[old], new)}


def _is_part(repo: Repo, anchor: Anchor, new: str) -> bool:
    row = repo.text("rev-list", "--first-parent", f"--max-count={_SPLIT + 1}", new).split()
    read = patches.read(repo, row)
    rest = set(anchor.lines) - read[new].lines
    return any(not rest.isdisjoint(read[oid].lines) for oid in row[1:])
