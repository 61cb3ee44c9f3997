"""What a merge overruled: one side changed a field, and the merged text does not have it.

Git does so with `-X ours` or `-X theirs`, a forge's editor and a person in a hurry do so by hand. Nothing is
blocked by it, the merge stands; but it is said, with what each side had, and can be taken back.
A squash has one parent only and cannot be seen here: what it lost is found by `git.reconcile`.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from holdfast.errors import BrokenEntry
from holdfast.git.clone import Clone
from holdfast.git.disputed.sides import WHOLE, Conflict, FieldClash, Side, identity, parts
from holdfast.git.disputed.unmerged import described
from holdfast.git.repo import Repo
from holdfast.model import task as rules
from holdfast.store import layout as paths
from holdfast.values import replace

MAX_MERGES = 50
_FOLDERS = (paths.TASKS, paths.LINKS, paths.MEMORY)
_NOTHING = frozenset("0")


def overruled(
    clone: Clone, *, since: str | None, folders: Sequence[str] = _FOLDERS, limit: int = MAX_MERGES
) -> list[Conflict]:
    """What merges after a commit overruled, newest first; without a commit, what the last merges did.

    What somebody decided since, with `resolve` or by changing the field again, is not told.
    """
    found: dict[str, Conflict] = {}
    for merge, first, others in _merges(clone.repo, since, limit):
        for other in others:
            for conflict in _of_merge(clone.repo, merge, first, other, folders):
                found.setdefault(conflict.path, conflict)
    if not found:
        return []
    decided = _decided(clone, {conflict.id for conflict in found.values()})
    left = [c for c in found.values() if (c.id, _blob(clone.repo, c.stands)) not in decided]
    folders = tuple({paths.MEMORY if c.is_memory else c.path.rsplit("/", 1)[0] for c in left})
    now = {sighting.path: sighting.text for folder in folders for sighting in clone.entries(folder)}
    return [still for c in left if (still := _still(c, now.get(c.path))) is not None]


def _still(conflict: Conflict, now: str | None) -> Conflict | None:
    """What of it stands as the merge left it; None if nothing does."""
    if conflict.stands is None or now is None:
        return conflict if conflict.stands == now else None
    try:
        fields = parts(conflict.path, now)
    except BrokenEntry:
        return None
    left = tuple(f for f in conflict.fields if f.name == WHOLE or fields.get(f.name) == f.stands)
    return replace(conflict, fields=left, stands=now) if left else None


def _merges(repo: Repo, since: str | None, limit: int) -> Iterator[tuple[str, str, list[str]]]:
    """Merge commits as (commit, first parent, the others)."""
    if repo.head().oid is None:
        return
    span = f"{since}..HEAD" if since else "HEAD"
    done = repo.attempt("rev-list", "--merges", "--parents", f"--max-count={limit}", span, "--")
    for row in done.stdout.decode("ascii").split("\n") if done.returncode == 0 else ():
        if row:
            merge, first, *others = row.split(" ")
            yield merge, first, others


def _of_merge(repo: Repo, merge: str, first: str, other: str, folders: Sequence[str]) -> Iterator[Conflict]:
    base = repo.text("merge-base", first, other, ok=(0, 1, 128)).split("\n")[0]
    if not base:
        return
    ours = _changed(repo, base, first, folders)
    theirs = _changed(repo, base, other, folders) if ours else {}
    both = sorted(path for path in ours.keys() & theirs.keys() if ours[path][1] != theirs[path][1])
    made = repo.blobs_at(merge, both)
    wanted = [oid for path in both for oid in (*ours[path], theirs[path][1], made.get(path))]
    texts = {oid: data.decode("utf-8", "replace") for oid, data in repo.blobs(filter(None, wanted)).items()}
    for path in both:
        oids = (ours[path][0], ours[path][1], theirs[path][1], made.get(path))
        before, mine, its, stands = (texts.get(oid or "") for oid in oids)
        fields = _overruled_fields(path, before, mine, its, stands)
        if fields:
            sides = (Side(mine, _whose(repo, base, first, path)), Side(its, _whose(repo, base, other, path)))
            name = identity(path, stands, mine, its)
            yield Conflict(path, name, "overruled", before, *sides, fields, stands=stands)


def _whose(repo: Repo, base: str, tip: str, path: str) -> str:
    return described(repo, f"{base}..{tip}", path)


def _changed(repo: Repo, old: str, new: str, folders: Sequence[str]) -> dict[str, tuple[str | None, str | None]]:
    """Entry to its blob before and after, for those that differ between two commits."""
    shape = ("-r", "--no-renames", "--raw", "--no-abbrev", "-z")
    out = repo.run("--literal-pathspecs", "diff-tree", *shape, old, new, "--", *folders)
    words = iter(out.split(b"\0")[:-1])
    found = {}
    for word in words:
        _, _, before, after, _ = word.decode("ascii").split(" ")
        path = os.fsdecode(next(words))
        if path.endswith(".md"):
            found[path] = (_oid(before), _oid(after))
    return found


def _oid(text: str) -> str | None:
    return None if set(text) <= _NOTHING else text


def _overruled_fields(
    path: str, base: str | None, ours: str | None, theirs: str | None, stands: str | None
) -> tuple[FieldClash, ...]:
    """The fields that a side changed and the merged text has otherwise."""
    if None in (ours, theirs, stands):
        kept = stands if stands in (ours, theirs) else None
        return (FieldClash(WHOLE, base, ours, theirs, kept),) if ours != theirs else ()
    try:
        before, mine, other, now = (parts(path, text) if text else {} for text in (base, ours, theirs, stands))
    except BrokenEntry:
        return ()  # markers that were committed are a conflict of their own
    names = dict.fromkeys([*before, *mine, *other, *now])
    fields = (FieldClash(n, before.get(n), mine.get(n), other.get(n), now.get(n)) for n in names)
    return tuple(field for field in fields if _is_overruled(field))


def _is_overruled(field: FieldClash) -> bool:
    if field.name in rules.LISTS or field.name in ("tags", "applies_to", "supersedes"):
        return bool(_lost(field, field.ours) or _lost(field, field.theirs))
    return any(side not in (field.base, field.stands) for side in (field.ours, field.theirs))


def _lost(field: FieldClash, side: Any) -> bool:
    """Whether something a side added to a list is missing, or something it took away is there."""
    base, side, stands = set(field.base or ()), set(side or ()), set(field.stands or ())
    return not side - base <= stands or bool((base - side) & stands)


def _decided(clone: Clone, names: set[str]) -> set[tuple[str, str]]:
    """The texts, as (id, blob), that somebody chose with `resolve` in this clone."""
    found = set()
    for event in clone.own_events():
        if event.kind == "task" and event.target in names and event.body:
            body = clone.bodies.get(event.body) or {}
            if body.get("action") == "resolve":
                found.add((event.target or "", str(body.get("blob"))))
    return found


def _blob(repo: Repo, text: str | None) -> str:
    return repo.hash_blob(text.encode("utf-8")) if text is not None else "None"
