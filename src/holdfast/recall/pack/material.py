"""Collects all material of a context once: the session, changes, tasks, links, approved memories."""

from collections.abc import Mapping, Sequence

from holdfast.git.clone import Clone
from holdfast.git.repo import Repo
from holdfast.model import brief
from holdfast.model.session import Session, to_json
from holdfast.model.task import PLANS, Task
from holdfast.recall import applicable_memories
from holdfast.recall.applicable_memories import ApplicableMemory, KnownMemory, WorkAtHand
from holdfast.recall.pack import last_session, pack_lines
from holdfast.recall.pack.last_session import ChangedFiles, ChosenSession, SessionThread
from holdfast.store import session_files
from holdfast.values import field, frozen
from holdfast.work import canonical_links as canonical
from holdfast.work import task_board as boards
from holdfast.work import task_claims

MAX_COMMITS = 200  # subjects that are read; a guess: a context names eight, the others are counted
MOST_STARTED = 3  # started tasks that count as current if nobody names one; a guess
_FILE = "file:"


@frozen(kw_only=True)
class RecalledItem:
    """A search hit for the request that no person approved, or not in this revision."""

    id: str
    kind: str
    title: str
    text: str = ""  # the text that was found, without the title
    state: str | None = None  # a warning, such as stale or unreviewed
    blob: str | None = None


@frozen
class PackRequest:
    """The work that a caller names: in words, and by files."""

    words: str = ""
    files: tuple[str, ...] = ()
    found: tuple[RecalledItem, ...] = ()  # by recall; empty without a request
    likely: Mapping[str, float] | None = None  # files that the words may mean; None if files are named


@frozen
class PackMaterial:
    """All that a context may show, before anything is selected."""

    chosen: ChosenSession
    branch: str | None
    head: str | None
    line: str
    changed: ChangedFiles
    commits: tuple[tuple[str, str], ...] = ()  # id and subject, newest first
    commit_count: int = 0
    base: str | None = None  # the commit since which they are
    files: tuple[str, ...] = ()
    board: boards.Board | None = None
    claims: Mapping[str, task_claims.TaskClaim] | None = None
    links: tuple[canonical.ListedLink, ...] = ()
    known: tuple[KnownMemory, ...] = ()
    governs: tuple[ApplicableMemory, ...] = ()  # the known memories that apply to the current work
    hand: WorkAtHand = field(default_factory=WorkAtHand)
    asked: PackRequest = field(default_factory=PackRequest)
    until: str | None = None  # when the first memory or claim expires
    worktree: str = "."
    earlier: tuple[Session, ...] = ()  # sessions before the chosen one, newest first
    blobs: Mapping[str, str] = field(default_factory=dict)  # session to the revision of its file
    shaky: Mapping[str, str] = field(default_factory=dict)  # task to its premises that no longer hold

    @property
    def thread(self) -> SessionThread | None:
        """Returns the sessions to show."""
        first, before = self.chosen.session, self.chosen.before
        if first is None:
            return None
        is_here = (first.state, first.line, first.worktree) == ("open", self.line, self.worktree)
        told = before.session if before else None
        return SessionThread(first, is_here, told, self.earlier, self.blobs, self.line, self.branch or "")

    @property
    def elsewhere(self) -> int:
        """Returns how many approved memories apply to other work."""
        return len(self.known) - len(self.governs)


def gather(
    clone: Clone,
    *,
    known: Sequence[KnownMemory] = (),
    known_until: str | None = None,
    asked: PackRequest | None = None,
    trunk: str | None = None,
    with_sessions: bool = True,
    with_tasks: bool = True,
    journal: str | None = None,
) -> PackMaterial:
    """Returns all material, each source read once.

    `known` are the memories that a person approved; at `known_until` the first expires. Pages of a journal in the
    folder `journal` do not count as changes.
    """
    repo, head, main = clone.repo, clone.repo.head(), clone.repo.trunk(trunk)
    changed = last_session.look_at_changes(repo, trunk=main, journal=journal)
    sessions = session_files.everywhere(clone.stores) if with_sessions else []
    chosen = last_session.choose(clone, sessions, changed=changed)
    first, line = chosen.session, clone.line().id
    since = (chosen.before or chosen).since or last_session.branched_off(repo, main)
    commits, count = _commits(repo, since)
    board = boards.read(clone) if with_tasks else None
    live = task_claims.live(clone.private, clone.now()) if with_tasks else {}
    asked = asked or PackRequest()
    session = first if first and first.line == line and first.state == "open" else None
    hand = _at_hand(asked, changed, session, _tasks_at_hand(clone, session, board, live))
    before = chosen.before.session if chosen.before else None
    earlier = last_session.visible_here(clone, brief.earlier_sessions(sessions, first, line=line)) if first else []
    return PackMaterial(
        chosen=chosen,
        branch=head.branch,
        head=head.oid,
        line=line,
        changed=changed,
        commits=commits,
        commit_count=count,
        base=since,
        files=last_session.changed_files(repo, since) if since else (),
        board=board,
        claims=live,
        links=tuple(canonical.listed(clone)) if with_tasks else (),
        known=tuple(known),
        governs=tuple(governed(known, hand, board)),
        hand=hand,
        asked=asked,
        until=min(filter(None, [known_until, *(claim.until for claim in live.values())]), default=None),
        worktree=clone.worktree,
        earlier=tuple(earlier),
        blobs={one.id: revision(repo, one) for one in (first, before, *earlier) if one},
    )


def of_task(clone: Clone, asked: PackRequest, known: Sequence[KnownMemory]) -> PackMaterial:
    """Returns the material for an agent that has its task: approved memories, selected by the task alone."""
    head, hand = clone.repo.head(), WorkAtHand(asked.files, asked.words, likely=asked.likely)
    return PackMaterial(
        chosen=ChosenSession(None, "none", last_session.NONE_YET),
        branch=head.branch,
        head=head.oid,
        line=clone.line().id,
        changed=ChangedFiles({}, ()),
        known=tuple(known),
        governs=tuple(governed(known, hand, None)),
        hand=hand,
        asked=asked,
        worktree=clone.worktree,
    )


def revision(repo: Repo, session: Session) -> str:
    """Returns a session's revision: git's hash of its file."""
    return repo.hash_blob(to_json(session).encode("utf-8", "replace"))


def governed(known: Sequence[KnownMemory], hand: WorkAtHand, board: boards.Board | None) -> list[ApplicableMemory]:
    """Returns the memories that apply to the work, and those that they and the current tasks name."""
    found = applicable_memories.applicable(known, hand)
    here = {one.known.id for one in found}
    there = [board.placed[name].task for name in hand.tasks if name in board.placed] if board else []
    tasks = {task.id: " ".join((task.title, task.notes, *task.evidence)) for task in there}
    named = applicable_memories.rests_on(known, [one.known for one in found if one.known.type != "fact"], tasks)
    more = [
        ApplicableMemory(one, applicable_memories.TASK, f"{named[one.id]} names it")
        for one in known
        if one.id in named and one.id not in here
    ]
    return applicable_memories.ordered([*found, *more])


def _at_hand(asked: PackRequest, changed: ChangedFiles, session: Session | None, tasks: Sequence[Task]) -> WorkAtHand:
    """Returns the current work: what the caller names, else what is uncommitted, started, or of the open session."""
    worked = sorted(last_session.files_of(session)) if session else []
    cited = [item for task in tasks for item in task.evidence if item.startswith(_FILE)]
    named = [item[len(_FILE) :].rpartition("@")[0] for item in cited]
    files = asked.files or tuple(dict.fromkeys([*sorted(changed.uncommitted), *named, *worked]))
    objective = session.objective if session else None
    words = asked.words or " ".join([*(task.title for task in tasks), objective or ""])
    is_guess = not (asked.files or asked.words)
    return WorkAtHand(files, words, tuple(task.id for task in tasks), changed.committed, asked.likely, is_guess)


def _tasks_at_hand(
    clone: Clone, session: Session | None, board: boards.Board | None, live: Mapping[str, task_claims.TaskClaim]
) -> list[Task]:
    """Returns the current tasks: claimed in this work tree, of the open session, else the first started ones."""
    if board is None:
        return []
    here, line = clone.worktree, clone.line().id
    names = [claim.task for claim in live.values() if (claim.line, claim.worktree) == (line, here)]
    names += session.tasks if session else ()
    there = [board.placed[name].task for name in dict.fromkeys(names) if name in board.placed]
    begun = [task for task in there if not task.is_closed]
    started = [task for task in board.tasks if task.status == "started" and task.kind not in PLANS]
    return begun or sorted(started, key=lambda task: task.priority)[:MOST_STARTED]


def _commits(repo: Repo, since: str | None) -> tuple[tuple[tuple[str, str], ...], int]:
    if since is None or since == repo.head().oid:
        return (), 0
    shape = (f"--max-count={MAX_COMMITS}", "--format=%H%x00%s")
    out = repo.run("log", *shape, f"{since}..HEAD", "--", ok=range(256))
    rows = [row.partition("\0") for row in out.decode("utf-8", "replace").splitlines()]
    is_all = len(rows) < MAX_COMMITS
    count = len(rows) if is_all else int(repo.text("rev-list", "--count", f"{since}..HEAD", "--"))
    return tuple((oid, subject) for oid, _, subject in rows), count


def here(material: PackMaterial) -> pack_lines.ToldRevision:
    """Returns the revision for lines about files: HEAD's commit; before the first one, the branch itself."""
    name, kind = (material.head, "commit") if material.head else (material.line, "line")
    return pack_lines.ToldRevision(name, kind, None, "checked out here")
