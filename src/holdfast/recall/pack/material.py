"""All that a pack may tell, looked up once: the session, what changed, tasks, links, what is known."""

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

MAX_COMMITS = 200  # that are read; more are only counted
MOST_STARTED = 3  # tasks that count as at hand where nobody said which
_FILE = "file:"


@frozen(kw_only=True)
class RecalledItem:
    """Something that recall found for what was asked, and that no person approved, or not as it is now."""

    id: str
    kind: str
    title: str
    text: str = ""  # what was found in it, beside its title
    state: str | None = None  # what must be known before it is believed
    blob: str | None = None


@frozen
class PackRequest:
    """What somebody is about to do: in words, and to which files."""

    words: str = ""
    files: tuple[str, ...] = ()
    found: tuple[RecalledItem, ...] = ()  # by recall; nothing where nobody asked
    likely: Mapping[str, float] | None = None  # files that the words may be about; None where files are named


@frozen
class PackMaterial:
    """All that may be told, before anything is chosen from it."""

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
    governs: tuple[ApplicableMemory, ...] = ()  # those of the known that hold for the work at hand
    hand: WorkAtHand = field(default_factory=WorkAtHand)
    asked: PackRequest = field(default_factory=PackRequest)
    until: str | None = None  # when the first of the known or of the claims runs out
    worktree: str = "."
    earlier: tuple[Session, ...] = ()  # what came before the chosen session, newest first
    blobs: Mapping[str, str] = field(default_factory=dict)  # session to the revision of its file
    shaky: Mapping[str, str] = field(default_factory=dict)  # task to what it rests on and does not hold

    @property
    def thread(self) -> SessionThread | None:
        """The sessions to tell of."""
        first, before = self.chosen.session, self.chosen.before
        if first is None:
            return None
        is_here = (first.state, first.line, first.worktree) == ("open", self.line, self.worktree)
        told = before.session if before else None
        return SessionThread(first, is_here, told, self.earlier, self.blobs, self.line, self.branch or "")

    @property
    def elsewhere(self) -> int:
        """How many approved memories are about other work than this."""
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
    """Look at everything once.

    `known` are the memories that a person approved; at `known_until` the first expires.
    A journal's pages in the folder `journal` are nobody's work.
    """
    repo, head, main = clone.repo, clone.repo.head(), clone.repo.trunk(trunk)
    changed = last_session.look_at_changes(repo, trunk=main, journal=journal)
    told = session_files.everywhere(clone.stores) if with_sessions else []
    chosen = last_session.choose(clone, told, changed=changed)
    first, line = chosen.session, clone.line().id
    since = (chosen.before or chosen).since or last_session.branched_off(repo, main)
    commits, count = _commits(repo, since)
    board = boards.read(clone) if with_tasks else None
    live = task_claims.live(clone.private, clone.now()) if with_tasks else {}
    asked = asked or PackRequest()
    session = first if first and first.line == line and first.state == "open" else None
    hand = _at_hand(asked, changed, session, _tasks_at_hand(clone, session, board, live))
    before = chosen.before.session if chosen.before else None
    earlier = last_session.told_here(clone, brief.earlier_sessions(told, first, line=line)) if first else []
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
    """The same for an agent that has its task: approved memory alone, and the task alone says what it is about."""
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
    """Which state of a session a line is about: git's hash of its file."""
    return repo.hash_blob(to_json(session).encode("utf-8", "replace"))


def governed(known: Sequence[KnownMemory], hand: WorkAtHand, board: boards.Board | None) -> list[ApplicableMemory]:
    """What holds for the work at hand, and what that and the tasks at hand name."""
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
    """What the work is: as somebody says it, else what is not committed, started, or of the open session."""
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
    """The tasks that somebody works on here: claimed in this place, of the open session, else the first started."""
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
    """The place that lines about files are of: its commit; before the first one, the branch itself."""
    name, kind = (material.head, "commit") if material.head else (material.line, "line")
    return pack_lines.ToldRevision(name, kind, None, "checked out here")
