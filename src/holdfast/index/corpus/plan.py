"""What has to change in the corpus so that it shows another commit.

Between two commits that are here it is a difference of trees and of histories. Without a commit to start
from (the first time, after other settings, after history was rewritten and the old commit is gone) what
there should be is compared with what there is.
"""

from collections.abc import Iterable

from holdfast.index.corpus.choosing import Rules
from holdfast.index.corpus.objects import File, Objects
from holdfast.index.corpus.shelf import Shelf
from holdfast.values import field, mutable


@mutable
class Plan:
    """Keys to hide and to show again, commits and files to read."""

    hide: list[bytes] = field(default_factory=list)
    show: list[bytes] = field(default_factory=list)
    commits: list[str] = field(default_factory=list)
    files: list[tuple[str, File]] = field(default_factory=list)  # each with its kind

    @property
    def size(self) -> int:
        return len(self.hide) + len(self.show) + len(self.commits) + len(self.files)


def between(objects: Objects, rules: Rules, old: str, new: str, *, commits: bool) -> Plan | None:
    """The way from one commit to another; None if git cannot tell."""
    changes = objects.changes(old, new)
    come = objects.commits(new, without=old) if commits else []
    gone = objects.commits(old, without=new) if commits else []
    if changes is None or come is None or gone is None:
        return None
    plan = Plan(hide=[bytes.fromhex(oid) for oid in gone], commits=come)
    for was, now in changes:
        if was == now:
            continue  # only its mode changed
        if was is not None and rules.kind_of(was.path):
            plan.hide.append(rules.key(*was))
        if now is not None and (kind := rules.kind_of(now.path)):
            plan.files.append((kind, now))
    return plan


def towards(objects: Objects, rules: Rules, shelf: Shelf, new: str, *, commits: bool) -> Plan:
    """The way from whatever the corpus has to a commit."""
    known = dict(shelf.known())
    plan = Plan()
    oids = (objects.commits(new) or []) if new and commits else []
    plan.commits = [oid for oid in oids if _is_new(plan, known, bytes.fromhex(oid))]
    for file in objects.files(new) if new else ():
        kind = rules.kind_of(file.path)
        if kind and _is_new(plan, known, rules.key(*file)):
            plan.files.append((kind, file))
    plan.hide = [key for key, shown in known.items() if shown]
    return plan


def _is_new(plan: Plan, known: dict[bytes, int], key: bytes) -> bool:
    """Whether the corpus has nothing under a key; what it has is shown from now on."""
    shown = known.pop(key, None)
    if shown == 0:
        plan.show.append(key)
    return shown is None


def unknown(shelf: Shelf, rules: Rules, plan: Plan) -> Plan:
    """The same plan, where what the corpus has already is shown again instead of being read."""
    commits: Iterable[str] = [oid for oid in plan.commits if not shelf.turn(bytes.fromhex(oid), shown=True)]
    files = [one for one in plan.files if not shelf.turn(rules.key(*one[1]), shown=True)]
    return Plan(plan.hide, plan.show, list(commits), files)
