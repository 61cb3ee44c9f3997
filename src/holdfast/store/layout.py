"""The paths of all our files. No other module spells a path of the store.

Paths are plain strings and imports are light: fast commands start here. A line is the id of a branch's work.
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


# The statistics of a clone, without the key for hashes of questions, which never leaves the clone.
STATISTICS = ("statistics", "statistics.old", "statistics.sums", "statistics.used")


def entry_path(kind: str, slug: str, identity: str) -> str:
    """Returns the path of an accepted memory in the work tree; it never moves."""
    return f"{FOLDER_OF[kind]}/{slug}-{identity}.md"


def proof_path(identity: str, body: str) -> str:
    """Returns the path of the proof that a person approved a memory's text, in the work tree."""
    return f"{APPROVALS}/{identity}/{body}"


def node_path(folder: str, slug: str, identity: str) -> str:
    """Returns the path of a task or a link in the work tree; it never moves."""
    return f"{folder}/{slug}-{identity}.md"


def segment_path(name: str, first_ts: str) -> str:
    """Returns the path of a sealed segment in the work tree."""
    year, month, day = first_ts[:10].split("-")
    return f"{LOG}/{year}/{month}/{day}/{name}.jsonl"


def cache_dir(environ: "Mapping[str, str]") -> str:
    """Returns Holdfast's folder in the user's cache folder."""
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
    """Whether another user could replace a folder that we create in this folder."""
    try:
        facts = os.stat(folder)
    except OSError:  # it does not exist yet
        return False
    if not hasattr(os, "geteuid"):
        return False
    anybody_renames = facts.st_mode & 0o1002 == 0o002  # writable for all, without the sticky bit
    return facts.st_uid not in (0, os.geteuid()) or anybody_renames


def models_dir(cache: str) -> str:
    """Returns the folder of models for search by meaning, for all clones of this user."""
    return os.path.join(cache, "models")


def user_settings(environ: "Mapping[str, str]") -> str:
    """Returns the path of the user's own settings file."""
    base = environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "holdfast", "settings.toml")


def user_data(environ: "Mapping[str, str]") -> str:
    """Returns the folder of the launchers that agents' settings name, for all clones; it never moves."""
    base = environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(base, "holdfast")


def crew_folder(environ: "Mapping[str, str]", repo_id: str) -> str:
    """Returns the folder of a crew's work trees: not a cache, as they hold work; not in `.git`, which tools skip."""
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
    decided = _Place("decided.json")  # a reviewer's last decisions that can be undone
    sessions = _Place("sessions")
    receipts = _Place("receipts")  # the packs that were given to agents, in a folder for each run or session
    claims = _Place("claims")  # the current claims on tasks, in all work trees of this clone
    inbox = _Place("inbox")  # reports of hooks that no command has read yet; pointers only
    git_inbox = _Place("inbox", "git.log")
    silent = _Place("silent")  # an empty file for each agent whose user-wide hooks do not serve this clone
    agents = _Place("agents")  # the import state of agents' sessions, one file for each
    agent_database = _Place("agents.db")  # the working memory of agents that people build themselves
    agent_runs = _Place("agent-runs")  # their runs as transcripts, which are imported as recorded runs
    agent_vectors = _Place("agent-vectors")  # Chroma's index of their vectors; rebuilt from the database
    project_id = _Place("project-id")  # the project's name in a database that many clones share
    keys = _Place("keys")  # wrapped keys of sealed recordings, and which keys were destroyed
    # The approved invariants and dead ends that the hook shows before an edit or a command.
    guards = _Place("guards")
    contexts = _Place("contexts")  # the context of each work tree and branch, ready for the hook
    hook = _Place("hook.py")  # the recording hook: in the store, so that it survives our uninstallation
    rewrites = _Place("rewrites")  # old commit to new commit, as git reported rewrites of history
    anchors = _Place("anchors")  # the data to find a cited commit again after a rewrite
    seen = _Place("seen")  # the state of each work tree at the last command
    statistics = _Place("statistics")  # counts; the old part, the sums and the key are beside it
    uses = _Place("statistics.used")  # which memories were used after they were recalled
    trash = _Place("trash")  # what `reset` removed, until it is restored or pruned
    kept = _Place("kept")  # texts of edits that were refused
    trusted = _Place("trusted")  # the upstream whose trunk the user trusts; never tracked, never exported
    lines = _Place("lines")
    heads = _Place("heads")
    quarantine = _Place("quarantine")
    repo_id = _Place("repo-id")
    settings = _Place("settings.toml")
    # The journal of a running publish; it lets the next command undo or finish it.
    publishing = _Place("publishing.json")
    erasing = _Place("erasing.json")  # the journal of a running erase; the next command finishes it
    erased = _Place("erased")  # one empty file for each target that this clone erased, so that it stays erased
    # One empty file for each approval that was in the store of last resort: it does not count as a person's.
    drained = _Place("drained")
    crew = _Place("crew")  # a lock, held while a crew is supervised from this clone; never deleted
    lock = _Place("lock")  # held while the store is created, sealed, published or drained; never deleted

    def __init__(self, top: str, private: str, cache: str = "", notes: "list[str] | None" = None) -> None:
        self.top = top  # the work tree
        self.private = private  # $GIT_COMMON_DIR/holdfast, or .holdfast/local in a sandbox
        self.cache = cache  # <user cache dir>/holdfast
        self.notes = [] if notes is None else notes  # notes for the user

    def sandboxed(self) -> "Layout":
        """Returns the store of last resort, for a sandbox that cannot write to .git."""
        return Layout(self.top, os.path.join(self.top, ".holdfast", "local"), self.cache, self.notes)

    def leave_out(self, why: object) -> None:
        """Notes once that a part of this store is damaged and does not count."""
        note = f"left out: {why}"
        if note not in self.notes:
            self.notes.append(note)

    def listed(self, folder: str, ending: str = "") -> "list[str]":
        """Returns the sorted names in a folder of the store with this ending; reports a file in its place."""
        try:
            return sorted(name for name in os.listdir(folder) if name.endswith(ending))
        except FileNotFoundError:
            return []
        except NotADirectoryError:
            self.leave_out(f"{folder} is in the way: a folder belongs there")
            return []

    def in_tree(self, path: str) -> str:
        """Returns the full path of a tracked path."""
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
        """Returns the path of the vectors of this clone's texts: one file for all its work trees."""
        return os.path.join(self.cache, repo_id, "vectors.db")

    def event_index(self, repo_id: str) -> str:
        """Returns the path of the event index; named like the indexes, to be deleted with them after an erase."""
        return os.path.join(self.cache, repo_id, "index~log.db")

    def entry_memo(self, repo_id: str) -> str:
        return os.path.join(self.cache, repo_id, "index~entries.db")

    def index(self, repo_id: str) -> str:
        return os.path.join(self.cache, repo_id, "index.db")
