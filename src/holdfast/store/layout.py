"""Where everything lies. No other module spells a path of the store.

Paths are plain strings and nothing heavy is imported: the hot commands start here.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

TRACKED = ".holdfast"
LOG = ".holdfast/log"
MEMORY = ".holdfast/memory"
APPROVALS = ".holdfast/approvals"
TASKS = ".holdfast/tasks"
LINKS = ".holdfast/links"
SETTINGS = ".holdfast/holdfast.toml"
ATTRIBUTES = ".holdfast/.gitattributes"
VIEW = ".holdfast/view"
LOCAL = ".holdfast/local"

FOLDER_OF = {kind: f"{MEMORY}/{kind}s" for kind in ("decision", "assumption", "invariant", "fact", "dead-end")}


# What was counted in a clone, apart from the key that hides what was asked: that one never leaves it.
STATISTICS = ("statistics", "statistics.old", "statistics.sums", "statistics.used")


def entry_path(kind: str, slug: str, identity: str) -> str:
    """Where an accepted memory lies in the work tree; it never moves."""
    return f"{FOLDER_OF[kind]}/{slug}-{identity}.md"


def proof_path(identity: str, body: str) -> str:
    """Where the proof that a person approved a memory's text lies in the work tree."""
    return f"{APPROVALS}/{identity}/{body}"


def node_path(folder: str, slug: str, identity: str) -> str:
    """Where a task or a link lies in the work tree; it never moves."""
    return f"{folder}/{slug}-{identity}.md"


def segment_path(name: str, first_ts: str) -> str:
    """Where a sealed segment lies in the work tree."""
    year, month, day = first_ts[:10].split("-")
    return f"{LOG}/{year}/{month}/{day}/{name}.jsonl"


def cache_dir(environ: "Mapping[str, str]") -> str:
    """Where this user's caches lie: Holdfast's folder in it."""
    base = environ.get("XDG_CACHE_HOME", "")
    if base.startswith("/") and not others_rule(base) and not others_rule(os.path.join(base, "holdfast")):
        return os.path.join(base, "holdfast")
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Caches", "holdfast")
    if sys.platform == "win32":
        return os.path.join(environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local"), "holdfast")
    return os.path.join(home, ".cache", "holdfast")


def others_rule(folder: str) -> bool:
    """Whether another user could put a folder of their own in place of one that we make in this one."""
    try:
        facts = os.stat(folder)
    except OSError:  # not there yet
        return False
    if not hasattr(os, "geteuid"):
        return False
    anybody_renames = facts.st_mode & 0o1002 == 0o002  # all may write, and no sticky bit keeps them apart
    return facts.st_uid not in (0, os.geteuid()) or anybody_renames


def models_dir(cache: str) -> str:
    """Where models for search by meaning lie: one place for all clones of this user."""
    return os.path.join(cache, "models")


def user_settings(environ: "Mapping[str, str]") -> str:
    """The user's own settings file."""
    base = environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "holdfast", "settings.toml")


def user_data(environ: "Mapping[str, str]") -> str:
    """Where the launchers lie that agents' settings name: one place for all clones, and it never moves."""
    base = environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(base, "holdfast")


def crew_folder(environ: "Mapping[str, str]", repo_id: str) -> str:
    """Where a crew's work trees lie: no cache, for they hold work; not below `.git`, where many tools do not look."""
    return os.path.join(user_data(environ), "worktrees", repo_id)


class _Place:
    """A folder or a file of the private store."""

    def __init__(self, *parts: str) -> None:
        self._parts = parts

    def __get__(self, layout: "Layout", _: object = None) -> str:
        return os.path.join(layout.private, *self._parts)


class Layout:
    """The folders of one clone: its work tree, its private store and its cache."""

    __slots__ = ("cache", "notes", "private", "top")

    spool = _Place("spool")
    pending = _Place("pending")
    sealed = _Place("sealed")
    sealed_log = _Place("sealed", "log")
    sealed_changes = _Place("sealed", "changes")
    bodies = _Place("bodies")
    runs = _Place("runs")
    under_way = _Place("open")  # one empty file for each run that began and is not known to have ended
    candidates = _Place("candidates")
    decided = _Place("decided.json")  # a reviewer's last decisions, as far as they can be taken back
    sessions = _Place("sessions")
    receipts = _Place("receipts")  # the packs that were given to agents, in a folder for each run or session
    claims = _Place("claims")  # who works on which task right now, in any work tree of this clone
    inbox = _Place("inbox")  # what hooks noticed and no command has read yet; pointers only
    git_inbox = _Place("inbox", "git.log")
    silent = _Place("silent")  # an empty file for each agent whose user-wide hooks do not serve this clone
    agents = _Place("agents")  # what was read of each agent's transcripts so far, a file a session
    agent_database = _Place("agents.db")  # the working memory of agents that people build themselves
    agent_runs = _Place("agent-runs")  # their runs as transcripts, for the import that makes recorded runs of them
    agent_vectors = _Place("agent-vectors")  # what Chroma makes of their vectors; made again from the database
    project_id = _Place("project-id")  # what this project is called in a database that many clones share
    keys = _Place("keys")  # wrapped keys of sealed recordings, and which keys were destroyed
    # What is said before an edit or a command: approved invariants and dead ends, ready for the hook.
    guards = _Place("guards")
    contexts = _Place("contexts")  # the context of each work tree and branch, ready for the hook
    hook = _Place("hook.py")  # the recording hook, beside the store it writes to, whatever becomes of our installation
    rewrites = _Place("rewrites")  # old commit to new commit, as git told it when history was rewritten
    anchors = _Place("anchors")  # what is needed to find a cited commit again after a rewrite
    seen = _Place("seen")  # how each work tree looked to the last command
    statistics = _Place("statistics")  # what was counted; its old part, its sums and its key lie beside it
    uses = _Place("statistics.used")  # which memories were used after they were recalled
    trash = _Place("trash")  # what `reset` took away, until it is put back or pruned
    kept = _Place("kept")  # texts of edits that were refused
    trusted = _Place("trusted")  # the upstream whose trunk the user trusts; never tracked, never exported
    lines = _Place("lines")
    heads = _Place("heads")
    quarantine = _Place("quarantine")
    repo_id = _Place("repo-id")
    settings = _Place("settings.toml")
    # The journal of a publish under way; it lets the next command undo or finish it.
    publishing = _Place("publishing.json")
    erasing = _Place("erasing.json")  # the journal of an erase under way; the next command finishes it
    erased = _Place("erased")  # one empty file for each target this clone erased, so that it stays gone
    # One empty file for each approval that lay in the store of last resort: it is no person's.
    drained = _Place("drained")
    crew = _Place("crew")  # held while a crew is supervised from this clone. Never unlinked
    lock = _Place("lock")  # held while the store is created, sealed, published or drained. Never unlinked

    def __init__(self, top: str, private: str, cache: str = "", notes: "list[str] | None" = None) -> None:
        self.top = top  # the work tree
        self.private = private  # $GIT_COMMON_DIR/holdfast, or .holdfast/local in a sandbox
        self.cache = cache  # <user cache dir>/holdfast
        self.notes = [] if notes is None else notes  # what the user should be told

    def sandboxed(self) -> "Layout":
        """The store of last resort, used where .git cannot be written."""
        return Layout(self.top, os.path.join(self.top, ".holdfast", "local"), self.cache, self.notes)

    def leave_out(self, why: object) -> None:
        """Say once that something of this store is damaged and does not count."""
        said = f"left out: {why}"
        if said not in self.notes:
            self.notes.append(said)

    def listed(self, folder: str, ending: str = "") -> "list[str]":
        """The names in a folder of the store that end so, sorted; a file in its place is left out and said."""
        try:
            return sorted(name for name in os.listdir(folder) if name.endswith(ending))
        except FileNotFoundError:
            return []
        except NotADirectoryError:
            self.leave_out(f"{folder} is in the way: a folder belongs there")
            return []

    def in_tree(self, path: str) -> str:
        """A tracked path, as the file system spells it."""
        return os.path.join(self.top, *path.split("/"))

    def spool_file(self, line: str, writer: str) -> str:
        return os.path.join(self.spool, line, f"{writer}.jsonl")

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders every store has, parents first."""
        top = (self.spool, self.pending, self.sealed, self.bodies, self.runs, self.candidates, self.lines)
        return (*top, self.heads, self.erased, self.quarantine, self.sealed_log, self.sealed_changes)

    def sealed_segment(self, name: str) -> str:
        return os.path.join(self.sealed_log, f"{name}.jsonl")

    def body(self, name: str) -> str:
        return os.path.join(self.bodies, name)

    def run(self, run_id: str) -> str:
        return os.path.join(self.runs, run_id)

    def view(self, *parts: str) -> str:
        return os.path.join(self.top, ".holdfast", "view", *parts)

    def vectors(self, repo_id: str) -> str:
        """What models made of this clone's texts: one file for all its work trees."""
        return os.path.join(self.cache, repo_id, "vectors.db")

    def event_index(self, repo_id: str) -> str:
        """Where events lie in the log; named like the indexes, to be deleted with them after an erase."""
        return os.path.join(self.cache, repo_id, "index~log.db")

    def entry_memo(self, repo_id: str) -> str:
        return os.path.join(self.cache, repo_id, "index~entries.db")

    def index(self, repo_id: str) -> str:
        return os.path.join(self.cache, repo_id, "index.db")
