"""Status: where this clone stands, what waits, and what would be lost with the clone."""

import os
from collections.abc import Sequence

from holdfast.git import branch_lines, reconcile, upstream
from holdfast.git.clone import Clone
from holdfast.git.upstream import MissingFromTrunk
from holdfast.store import agent_inbox
from holdfast.values import asdict, frozen


@frozen(kw_only=True)
class Status:
    """One clone at one moment."""

    id: str  # the line
    branch: str | None
    head: str | None
    operation: str | None  # what git is in the middle of
    facts: int
    expired: int
    stale: int
    candidates: int
    unreviewed: int  # entries written or edited by hand
    events_waiting: int
    changes_waiting: tuple[str, ...]  # tracked paths
    private_runs: int
    private_bytes: int
    gone: int
    orphans: tuple[str, ...]
    sandboxed: bool
    tasks: int  # open or begun
    started: int
    ready: int
    session: str | None  # the one that is open on this branch in this work tree
    elsewhere: int = 0  # memories that came by git, approved neither here nor in a trusted trunk
    unmerged: int = 0  # memories of the trunk that this branch does not have
    trunk: str | None = None  # the branch that has them
    trusts: str | None = None  # the upstream whose trunk is trusted
    void: str | None = None  # why what was trusted is not any more
    pointers_waiting: int = 0  # what agents' hooks told of and nobody has read yet
    agent_sessions_waiting: int = 0
    transcripts_gone: tuple[str, ...] = ()  # paths that such pointers lead to, and nothing lies there
    transcripts_unread: tuple[str, ...] = ()  # or what lies there cannot be read
    model: str | None = None  # that search by meaning uses
    unembedded: int = 0  # texts it has no vector of yet
    edited: int = 0  # memories of which a person approved another text
    disputed: int = 0  # tasks of which two sides say different things
    unchecked: int = 0  # memories of whose approval this shallow clone cannot tell the text
    unreadable: int = 0  # memories that a person approved and whose files cannot be read


@frozen
class FactTally:
    """How many facts are in which state; counted by whoever knows what they mean."""

    facts: int
    expired: int
    stale: int
    candidates: int
    unreviewed: int
    elsewhere: int = 0
    edited: int = 0
    unchecked: int = 0
    unreadable: int = 0


@frozen
class WorkTally:
    """How much is to be done, and in which session."""

    tasks: int = 0
    started: int = 0
    ready: int = 0
    session: str | None = None
    disputed: int = 0


def status(clone: Clone, tally: FactTally, work: WorkTally) -> Status:
    """Look at everything once."""
    line, head = clone.line(), clone.repo.head()
    changes = clone.changes()
    found, held = reconcile.examine(clone), upstream.held(clone)
    waiting, lost = agent_inbox.waiting(*clone.stores), agent_inbox.vanished(*clone.stores)
    unread = agent_inbox.vanished(*clone.stores, why=agent_inbox.UNREAD)
    missing = upstream.missing_from_trunk(clone)
    size = _size(clone.private.private, besides=clone.private.statistics)
    return Status(
        **asdict(tally),
        **asdict(work),
        id=line.id,
        branch=head.branch,
        head=head.oid,
        operation=clone.repo.operation(),
        events_waiting=_events_waiting(clone),
        changes_waiting=tuple(sorted({change.path for change in changes if change.segment is None})),
        private_runs=_count(clone.private.runs),
        private_bytes=size,
        gone=len(found.gone),
        orphans=tuple(orphan.name for orphan in found.orphans),
        sandboxed=clone.layout.private != clone.private.private,
        unmerged=missing.memories if missing else 0,
        trunk=missing.trunk if missing else None,
        trusts=held.trusted.name if held and not held.void else None,
        void=held.void if held else None,
        pointers_waiting=sum(len(one.all) for one in waiting),
        agent_sessions_waiting=len(waiting),
        transcripts_gone=tuple(one.path or "?" for one in lost),
        transcripts_unread=tuple(one.path or "?" for one in unread),
    )


def _events_waiting(clone: Clone) -> int:
    """Events the next publish would bring into this branch, what it inherited included."""
    sources = clone.sources()
    waiting = {event.hash_self for event, _ in clone.read_sources(s for s in sources if s.path)}
    if waiting and clone.line().inherits:
        waiting -= {event.hash_self for event, _ in clone.read_sources(s for s in sources if s.blob)}
    return len(waiting)


def _count(folder: str) -> int:
    try:
        return len(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _size(top: str, *, besides: str) -> int:
    """The bytes below a folder, but for a file (and its lock) that merely looking makes grow."""
    size = 0
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            try:
                size += 0 if path.startswith(besides) else os.lstat(path).st_size
            except FileNotFoundError:  # published or sealed just now
                continue
    return size


def render(found: Status) -> str:
    """The status in a few lines, what needs the eye last."""
    branch = found.branch or "a detached HEAD"
    at = f" at {found.head[:12]}" if found.head else ", before the first commit"
    rows = [f"On {branch}{at}, line {found.id}"]
    rows.append(f"  memories    {_facts(found)}")
    if found.tasks:
        rows.append(f"  tasks       {found.tasks} open, {found.started} begun, {found.ready} ready")
    if found.session:
        rows.append(f"  session     {found.session}")
    rows.append(f"  to review   {_to_review(found)}")
    if found.unembedded:
        rows.append(f"  to embed    {_plural(found.unembedded, 'text')}: holdfast model embed")
    rows.append(f"  to publish  {_to_publish(found)}")
    rows.append(
        f"  private     {_plural(found.private_runs, 'run')}, {_bytes(found.private_bytes)}; "
        "deleting this clone deletes them (`holdfast export FILE` keeps them)"
    )
    return "\n".join([*rows, *_warnings(found)]) + "\n"


def _facts(found: Status) -> str:
    more = [f"{count} {word}" for count, word in ((found.expired, "expired"), (found.stale, "stale")) if count]
    return f"{found.facts}" + (f" ({', '.join(more)})" if more else "")


def _to_review(found: Status) -> str:
    kinds = (
        (found.unreviewed, "written or edited by hand"),
        (found.edited, "edited since approval"),
        (found.unchecked, "whose approval cannot be checked: git fetch --unshallow"),
        (found.unreadable, "approved and now unreadable"),
    )
    told = ", ".join(f"{number} {words}" for number, words in kinds if number)
    return f"{found.candidates}, of which {told}" if told else f"{found.candidates}"


def _to_publish(found: Status) -> str:
    return f"{_plural(found.events_waiting, 'event')}, {_plural(len(found.changes_waiting), 'change')}"


def _warnings(found: Status) -> list[str]:
    rows = []
    if found.operation:
        rows.append(f"Git is in the middle of {found.operation}: events are recorded, publishing waits.")
    if found.disputed:
        rows.append(
            f"{_plural(found.disputed, 'task')} {'is' if found.disputed == 1 else 'are'} "
            "in conflict: holdfast task resolve"
        )
    if found.gone:
        rows.append(
            f"{_plural(found.gone, 'file')} published here {'is' if found.gone == 1 else 'are'} "
            "gone from this line: holdfast reconcile"
        )
    if found.orphans:
        rows.append(f"{_leavers(found.orphans)} left something behind: holdfast reconcile")
    if found.trunk:
        rows.append(f"{MissingFromTrunk(found.unmerged, found.trunk)}.")
    rows += _unread(found)
    rows += _silent(found)
    if found.sandboxed:
        rows.append("This is a sandbox: records stay in .holdfast/local until a command outside moves them.")
    return rows


def _unread(found: Status) -> list[str]:
    """What agents did and nobody has read, or can read any more."""
    rows = []
    if found.pointers_waiting:
        many = _plural(found.agent_sessions_waiting, "agent session")
        rows.append(
            f"{many} with {_plural(found.pointers_waiting, 'pointer')} to transcripts "
            f"{'waits' if found.agent_sessions_waiting == 1 else 'wait'} to be read in."
        )
    for path in found.transcripts_gone:
        rows.append(f"An agent's transcript is gone, and what it said with it: {path}")
    for path in found.transcripts_unread:
        rows.append(f"An agent's transcript cannot be read, and nothing is known of it: {path}")
    return rows


def _silent(found: Status) -> list[str]:
    """What came by git and does not speak, where a person could change that at once."""
    if found.void:
        return [f"What came by git does not speak: {found.void}. Trust it again: holdfast trust"]
    if not found.elsewhere:
        return []
    way = "holdfast review list --waits-as elsewhere" if found.trusts else "holdfast trust"
    many = "1 entry" if found.elsewhere == 1 else f"{found.elsewhere:,} entries"
    return [f"{many} came by git and {'does' if found.elsewhere == 1 else 'do'} not speak: {way}"]


def _leavers(names: Sequence[str]) -> str:
    branches = [name for name in names if not name.startswith(branch_lines.DETACHED_NAME)]
    detached = dict.fromkeys(name for name in names if name.startswith(branch_lines.DETACHED_NAME))
    deleted = f"deleted branch{'es' if len(branches) > 1 else ''} {', '.join(branches)}"
    said = " and ".join([*([deleted] if branches else []), *detached])
    return said[:1].upper() + said[1:]


def _plural(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def _bytes(size: int) -> str:
    amount = float(size)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if amount < 1024 or unit == "GiB":
            break
        amount /= 1024
    return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
