"""What the rows of HEAD's reflog say that happened, one step for what people would call one thing.

Pure: rows in, steps out. Git writes these messages in English whatever the user's language; one that is
not understood is a step of the kind `moved`, and what it did is asked of the commits themselves.
"""

from collections.abc import Iterator, Sequence

from holdfast.git.reflog import Moment
from holdfast.patterns import regex
from holdfast.values import frozen, replace

_STAGE = regex(r"[^:]*? \(([a-z -]+)\)(?::|$)")
_MOVED = regex(r"checkout: moving from (\S+) to (\S+)")
_RENAMED = regex(r"Branch: renamed (refs/heads/\S+) to (refs/heads/\S+)")
_RETURNED = regex(r"returning to (refs/heads/\S+)")
_MERGED = regex(r"merge ([^:]+): |commit \(merge\): Merge (?:[a-z-]+ )*'([^']+)'")
_COMMIT = regex(r"[0-9a-f]{40}|[0-9a-f]{64}")
_OF_COMMIT = {"amend": "amend", "merge": "merge", "cherry-pick": "cherry-pick"}
_ONE_WORD = {
    "cherry-pick": "cherry-pick",
    "revert": "commits",
    "am": "commits",
    "reset": "reset",
    "checkout": "checkout",
    "Branch": "renamed",
    "rebase": "rebase",
    "clone": "forward",
}
_GATHERED = ("commits", "cherry-pick")  # several in a row are one step


@frozen
class Step:
    """One thing that moved HEAD."""

    kind: str  # commits, amend, merge, forward, reset, rebase, cherry-pick or moved
    before: str | None
    after: str
    ref: str | None  # the branch that was checked out
    time: int
    words: str  # what git says of it
    commits: tuple[str, ...] = ()  # made by it, oldest first


def read(rows: Sequence[Moment], *, head: str | None, ref: str | None) -> list[Step]:
    """The steps that lead on from a commit and a branch; what ends where it began is none."""
    found: list[Step] = []
    for step in _in_order(rows, head, ref):
        last = found[-1] if found else None
        if last and step.kind == last.kind in _GATHERED and step.ref == last.ref:
            found[-1] = replace(last, after=step.after, commits=(*last.commits, *step.commits), time=step.time)
        else:
            found.append(step)
    return found


def _in_order(rows: Sequence[Moment], head: str | None, ref: str | None) -> Iterator[Step]:
    replayed: Step | None = None  # a rebase that has begun
    for row in rows:
        kind, stage = kind_of(row.message)
        if kind == "rebase" and stage == "start":
            replayed = Step("rebase", head, row.oid, ref, row.time, row.message)
        elif replayed is not None and not (kind == "rebase" and stage in ("finish", "abort")):
            replayed = replace(replayed, after=row.oid, time=row.time)
        elif kind == "rebase":
            start = replayed or Step("rebase", head, row.oid, ref, row.time, row.message)
            back = _RETURNED.search(row.message)
            ref, replayed = back[1] if back else start.ref, None
            if start.before != row.oid:
                yield replace(start, after=row.oid, ref=ref, time=row.time)
        elif kind == "renamed":
            ref = _ref_after(row.message, ref)
            continue  # HEAD is where it was, though the log passes through nothing
        elif kind == "checkout":
            before, ref = ref, _ref_after(row.message, ref)
            if before == ref is not None and head != row.oid:  # `checkout -B` of the branch one is on
                yield Step("reset", head, row.oid, ref, row.time, row.message)
        elif row.oid != head or kind in _GATHERED:
            made = (row.oid,) if kind in ("commits", "cherry-pick", "amend") else ()
            yield Step(kind, head, row.oid, ref, row.time, row.message, made)
        head = row.oid
    if replayed is not None and replayed.before != replayed.after:  # `rebase --quit`
        yield replayed


def kind_of(message: str) -> tuple[str, str]:
    """What a row tells of, and the stage of it in brackets."""
    match = _STAGE.match(message)
    stage, first = match[1] if match else "", message.partition(" ")[0].rstrip(":")
    if first == "commit":
        return _OF_COMMIT.get(stage, "commits"), stage
    if first in ("merge", "pull"):
        if stage:
            return "rebase", stage  # pull --rebase
        return ("forward" if message.endswith("Fast-forward") else "merge"), ""
    if message.startswith("rebase finished"):
        return "rebase", "finish"
    return _ONE_WORD.get(first, "moved"), stage


def merged(message: str) -> str | None:
    """What a merge took in, as far as its row tells."""
    found = _MERGED.match(message)
    return (found[1] or found[2]) if found else None


def _ref_after(message: str, ref: str | None) -> str | None:
    if renamed := _RENAMED.fullmatch(message):
        return renamed[2]
    if moved := _MOVED.fullmatch(message):
        return None if moved[2] == "HEAD" or _COMMIT.fullmatch(moved[2]) else f"refs/heads/{moved[2]}"
    return ref
