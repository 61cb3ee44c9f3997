"""What an agent's hook says to the agent, and what it does afterwards in the background.

At a session's start the context pack, from what the index keeps ready if that is still true, else rebuilt;
at a later prompt, approved memories that its words or paths newly call for; before an edit or a command,
approved invariants and dead ends that hold for it. Each once a session, all as data between markers
(law 16), nothing that no person approved but what a pack tells of this clone's own work (law 11). Whatever is
in doubt is not said. The child of the hook runs this; `agent_replies.py drain` is the background process.
"""

import _signal  # type: ignore[import-not-found]  # `signal` itself imports enum
import os
import sys
import time
from contextlib import ExitStack, contextmanager
from itertools import dropwhile, pairwise

if __name__ == "__main__":  # in the background it is started by its path
    sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from holdfast.interfaces import agent_events
from holdfast.interfaces.context_delivery import OUTDATED, UPDATED, ContextDelivery, escaped, outdated_note
from holdfast.store import kept_context
from holdfast.store.discovery import CONTEXTS, STEERING, find_repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from holdfast.project import Project
    from holdfast.project.prepared_context import PreparedContext
    from holdfast.recall.guards import GuardFile
    from holdfast.store.kept_context import KeptContext
    from holdfast.store.layout import Layout

MOST_BEFORE, MOST_ASKED = 3, 4  # lines before a tool, and at a prompt
LAST_GOOD = 1.0  # seconds for the next context to be made before the last good one is given
REPLACES = "This replaces the project context that was given at the start of this session.\n"
COARSE = 2_000_000_000  # nanoseconds; as long as the coarsest clock of a file system
RENEW = 5  # seconds between two attempts to render guards that are behind
ROUNDS, TURN = 3, 60.0  # times that a context is prepared again if something changed meanwhile; seconds to wait
EMBEDDING = 30.0  # seconds that the background may embed after a turn
READING = 1800.0  # seconds that it may read and embed what a question or an import left to it
SETTLING = 0.7  # seconds: Claude writes its last answer after the event that says it is done
NOT_A_PROMPT = ("<task-notification>", "<local-command", "<command-name>")
_PATCHED = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")


def tell(told: ContextDelivery, given: "dict[str, Any]", end: int) -> None:
    """Say what there is to say through `end`, close it, and do what is left to do."""
    moment = HookMoment(told, given, end)
    with told:
        try:
            text = moment.said()
        except (OSError, ValueError):
            text = b""
        moment.answer(text)
    moment.afterwards()


class HookMoment:
    """One event of a session: what is said at it."""

    def __init__(self, told: ContextDelivery, given: "dict[str, Any]", end: int) -> None:
        self.told, self.event, self.given, self._end = told, told.event, given, end
        place = told.place
        self.top, self.git_dir, self.common = (os.fsdecode(path) for path in (place.top, place.git_dir, place.common))
        self.inbox = os.fsdecode(told.inbox)
        self._fresh: PreparedContext | None = None  # made only where none is kept
        self._notes: list[str] = []  # what is written down once it was said
        self._receipt = b""  # of a context that was said
        self._behind = False

    def said(self) -> bytes:
        """The text as characters of a JSON string, or nothing."""
        if self.event in ("PreToolUse", "AfterTool"):
            from holdfast.interfaces import agent_callers

            if self.told.agent in agent_callers.LATE and not self.told.holds("pack"):
                return self._context("pack tool")
            return self._updated() + escaped(self._before_tool())
        if self.event in agent_events.STARTS:
            return self._context(self.told.start)
        prompt = self._prompt()
        if prompt is None:
            return b""
        if not self.told.holds("pack"):
            self._notes.append("prompt")
            return self._context("pack prompt")
        if not self.told.holds("prompt"):  # the start has told the context, but not what this prompt calls for
            self._notes.append("prompt")
        return self._updated() + escaped(self._called_for(prompt))

    def answer(self, text: bytes) -> None:
        """Print it, unless the alarm was quicker; what comes too late is ready for the next event."""
        if not self.told.is_open:
            return
        if self.told.give(text, self._end, self._notes, self._receipt):
            if text and not self._receipt:
                self._count(text)
        elif self._fresh is not None:  # the first prompt, which waits for our lock, finds it
            self._fresh.keep()
            self._fresh = None

    def afterwards(self) -> None:
        """Keep the context that was made, and start what waits."""
        if self._fresh is not None:
            self._fresh.keep()
        if self._behind and self.inbox:
            agent_events.drain_later(os.fsencode(self.top), os.fsencode(self.inbox))

    # ── the context ──────────────────────────────────────────────────────────────────────────────

    def _context(self, note: str) -> bytes:
        """The context: as it is kept, or made now; while that takes long, the last good one."""
        kept = self.told.kept()
        # Only where a last good context can be given instead: what was not read yet may take long.
        behind = kept is not None and self.told.is_behind()
        if kept is None or behind or not kept.is_current:
            if kept is not None and behind:
                kept.changed = tuple(dict.fromkeys((*kept.changed, b"sessions")))
            with self._not_too_long(kept, note):
                project = open_project(self.top)
                if behind:
                    project.transcripts.drain_some()
                self._fresh = made_now(project)
            kept = self._fresh.kept
        return self._take(kept, [note])

    def _take(self, kept: "KeptContext", notes: "list[str]") -> bytes:
        self._notes += [*notes, *kept.notes.decode("ascii", "replace").split()]
        self._receipt = kept.receipt if kept.text else b""
        return kept.text

    @contextmanager
    def _not_too_long(self, kept: "KeptContext | None", note: str) -> "Iterator[None]":
        """Give the last good context if the next one takes longer than that; nothing if there is none."""

        def give(*_: object) -> None:
            if kept is None or not self.told.is_open:
                return
            agent_events.forget_clues(self.told.place, self.told.inbox)
            told = [*self._notes, note, f"{OUTDATED} {kept.key.decode('ascii', 'replace')}"]
            text = escaped(outdated_note(kept)) + kept.text if kept.text else b""
            try:
                self.told.give(text, self._end, [*told, *kept.notes.decode("ascii", "replace").split()], kept.receipt)
            except OSError:
                pass
            self.told.__exit__()  # the first prompt need not wait until the next one is made

        _signal.signal(_signal.SIGALRM, give)
        _signal.setitimer(_signal.ITIMER_REAL, LAST_GOOD)
        try:
            yield
        except (OSError, ValueError):
            give()
            raise
        finally:
            _signal.setitimer(_signal.ITIMER_REAL, 0)
            _signal.signal(_signal.SIGALRM, _signal.SIG_DFL)
            _signal.setitimer(_signal.ITIMER_REAL, agent_events.AFTERWARDS)

    def _updated(self) -> bytes:
        """The current context, if the session got an outdated one that says something else."""
        key = self.told.owed()
        kept = self.told.kept() if key else None
        if kept is None or not kept.is_current:
            return b""
        if kept.key.decode("ascii", "replace") == key:
            self._notes.append(f"{UPDATED} {key}")
            return b""
        text = self._take(kept, [f"{UPDATED} {kept.key.decode('ascii', 'replace')}", "pack update"])
        return escaped(REPLACES) + text + escaped("\n") if text else b""

    def _count(self, text: bytes) -> None:
        """Count text given at a prompt or before a tool; a context is counted with its receipt."""
        from holdfast.store import tally

        how = "prompt" if self.event in agent_events.PATIENT else "tool"
        memories = [note for note in self._notes if " " not in note and note != "prompt"]
        size = (len(text) + 3) // 4
        tally.count_context(self._layout(), tally.telling(how, tokens=size, memories=memories), self.told.took())

    def _layout(self) -> "Layout":
        from holdfast.store.layout import Layout

        return Layout(self.top, os.path.join(self.common, "holdfast"))

    # ── at a prompt ──────────────────────────────────────────────────────────────────────────────

    def _prompt(self) -> "str | None":
        """What a person typed; None if it was no person."""
        prompt = self.given.get("prompt")
        if not isinstance(prompt, str):
            return None
        if prompt.startswith("<hook_context>"):  # Gemini puts what we said before the person's words
            prompt = prompt.rpartition("</hook_context>")[2]
        prompt = prompt.strip()
        return None if not prompt or prompt.startswith(NOT_A_PROMPT) else prompt[:20_000]

    def _called_for(self, prompt: str) -> str:
        """Approved memories that a prompt's words, paths or ids call for and that were not told yet."""
        guards = self._guards()
        if guards is None:
            return ""
        from holdfast.recall.applicable_memories import stems
        from holdfast.recall.guards import first, holding

        words = [word.strip("`'\"()[]{},;:!?.") for word in prompt.split()]
        named = (guards.named(word) for word in words if "-" in word)
        paths = [path for path in words if "/" in path or "." in path]
        spoken = [path for path in map(self._from_top, paths[:100]) if path]
        held = holding(guards.every(), paths=spoken) if spoken else ()
        found = {one.id: one for one in (*named, *held) if one is not None}
        shared = guards.about(stems(prompt)[:60])
        ranked = sorted(shared.values(), key=lambda pair: (-len(pair[1]), pair[0].id))
        names = {part for word in words if _is_name(word) for part in stems(word)}
        for one, common in ranked:
            if len(common) >= 3 or (len(common) == 2 and not names.isdisjoint(common)):
                found.setdefault(one.id, one)
        new = (one for one in found.values() if not self.told.holds(one.id))
        chosen = first(new, most=MOST_ASKED, stands=guards.stands)
        self._notes += [one.id for one in chosen]
        return framed([one.text for one in chosen])

    # ── before a tool ────────────────────────────────────────────────────────────────────────────

    def _before_tool(self) -> str:
        """Approved invariants and dead ends that hold for the files or name the command."""
        guards = self._guards()
        if guards is None:
            return ""
        from holdfast.recall.guards import first, holding

        paths, commands = self._touched()
        found = holding(guards.guarding(), paths=paths, commands=commands)
        # What the pack told at the start is said again, at the moment it matters; but once.
        new = (one for one in found if not self.told.holds(f"before {one.id}"))
        chosen = first(new, most=MOST_BEFORE, stands=guards.stands)
        self._notes += [note for one in chosen for note in (f"before {one.id}", one.id)]
        return framed([one.text for one in chosen])

    def _keep_clues(self, words: "list[str]", began: int) -> None:
        """Have the launcher answer for us where no event of a tool can concern a guard."""
        place, inbox = self.told.place, self.told.inbox
        if not inbox.startswith(place.common):
            return
        path = os.fsdecode(agent_events.clues_of(place, inbox))
        new = f"{path}.{os.getpid()}"
        with open(new, "w", encoding="ascii") as file:
            file.writelines(f"{word}\n" for word in words)
        # A shell may compare whole seconds: what changed just before counts as changed since.
        os.utime(new, ns=(began, began - COARSE))
        os.replace(new, path)

    def _touched(self) -> "tuple[list[str], list[list[str]]]":
        """The files that a tool is about to change, from the top, and the commands it is about to run."""
        given = self.given.get("tool_input")
        given = given if isinstance(given, dict) else {}
        named = [given[name] for name in ("file_path", "notebook_path", "path") if isinstance(given.get(name), str)]
        command = given.get("command") or given.get("cmd")
        command = " ".join(map(str, command)) if isinstance(command, list) else command
        commands: list[list[str]] = []
        if isinstance(command, str) and "*** Begin Patch" in command:
            named += [line[len(mark) :] for line in command.split("\n") for mark in _PATCHED if line.startswith(mark)]
        elif isinstance(command, str):
            commands = simple_commands(command[:20_000])
            named += self._written(commands)
        inside = (self._from_top(path.strip()) for path in named)
        return [path for path in inside if path], commands

    def _written(self, commands: "list[list[str]]") -> "list[str]":
        """The words of commands that name a file: one that is there, or that is written to."""
        found = []
        for words in commands:
            for before, word in pairwise(words):
                inside = self._from_top(word) if "/" in word or "." in word else ""
                if inside and (before.endswith(">") or os.path.lexists(os.path.join(self.top, inside))):
                    found.append(word)
        return found[:100]

    def _from_top(self, path: str) -> str:
        """A path as the repository spells it; nothing for what lies outside."""
        cwd = self.given.get("cwd")
        base = cwd if isinstance(cwd, str) and cwd.startswith("/") else self.top
        try:
            named = os.path.normpath(os.path.join(base, path.strip("'\"")))
            full = os.path.join(os.path.realpath(os.path.dirname(named)), os.path.basename(named))
        except ValueError:
            return ""
        top = os.path.join(os.path.realpath(self.top), "")
        return full[len(top) :] if full.startswith(top) else ""

    # ── lines ────────────────────────────────────────────────────────────────────────────────────

    def _guards(self) -> "GuardFile | None":
        """The guards that hold now; None, and they are rendered again, if that is unknown."""
        from holdfast.index.freshness import WorkTreePaths as Tree
        from holdfast.recall.guards import GuardFile, clues, name_of

        tree = Tree(self.top, self.git_dir, self.common)
        while True:
            began = time.time_ns()
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            guards = GuardFile(tree, self._layout(), now, self._memory_tree)
            if guards.is_current:
                if not self.told.owed():
                    self._keep_clues(clues(guards.guarding()), began)
                return guards
            if self.told.took() > LAST_GOOD * 1e6 or not _is_being_prepared(self.told.place.common):
                break
            time.sleep(0.02)  # after a commit it takes a moment, and that is when agents go on
        self._behind = _is_time(os.path.join(self.inbox, f"renew-{name_of(tree)}"))
        return None

    def _memory_tree(self) -> "str | None":
        """The id of what is committed of memory; asked for only after a commit."""
        from holdfast.errors import HoldfastError
        from holdfast.git.repo import Repo
        from holdfast.store.layout import TRACKED

        try:
            return Repo(self.top, self.git_dir, self.common).tree_id("HEAD", TRACKED)
        except HoldfastError:
            return "?"


# ── words ────────────────────────────────────────────────────────────────────────────────────────


def framed(lines: "list[str]") -> str:
    """A few lines as data of this project's memory, between markers that nobody could foresee."""
    if not lines:
        return ""
    marker = os.urandom(6).hex()
    first, *rest = lines
    opened = f"<holdfast-data {marker}> [rules {marker}] that this project's people approved: {first}"
    return "\n".join([opened, *rest]) + f" </holdfast-data {marker}>"


def simple_commands(text: str) -> "list[list[str]]":
    """The commands of a shell line, in their words, as far as that can be seen without a shell."""
    for sign in ("&&", "||", ";", "|", "\n", "$(", "`", "(", ")"):
        text = text.replace(sign, "\0")
    found = []
    for part in text.split("\0"):
        said = (word.strip("'\"") for word in part.split())
        words = [*dropwhile(lambda word: "=" in word or word in ("sudo", "env", "exec", "time", "nohup"), said)]
        if words:
            found.append([words[0].rpartition("/")[2] if words[0].startswith("/") else words[0], *words[1:]])
    return found


def _is_name(word: str) -> bool:
    """Whether a word names something of the code rather than of the language."""
    inner = word[1:]
    return any(c in "_./-" or c.isdigit() for c in inner) or (not word.isupper() and any(map(str.isupper, inner)))


def _is_being_prepared(common: bytes) -> bool:
    """Whether a process prepares contexts and guards at this moment."""
    try:
        fd = os.open(common + CONTEXTS + b"/now.lock", os.O_RDWR)
    except OSError:
        return False
    try:
        import fcntl

        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


def _is_time(stamp: str) -> bool:
    """Whether nobody tried to render guards lately; now somebody does."""
    try:
        if 0 <= time.time() - os.stat(stamp).st_mtime < RENEW:
            return False
    except OSError:
        pass
    how = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    os.close(os.open(stamp, how, 0o600))
    os.utime(stamp)
    return True


# ── the full path ────────────────────────────────────────────────────────────────────────────────


def open_project(top: str) -> "Project":
    """The project, whatever variables point elsewhere: which repository is meant is known."""
    from holdfast.project import Project

    for name in STEERING:
        os.environ.pop(os.fsdecode(name), None)
    environ = dict(os.environ)
    return Project.open(top, environ=environ, drain=False)


def made_now(project: "Project") -> "PreparedContext":
    """The context as it is now."""
    from holdfast.project.prepared_context import PreparedContext

    return PreparedContext(project)


def drain(project: "Project") -> None:
    """Import what agents' hooks reported, and prepare the context of the next session."""
    project.transcripts.drain()
    project.health.reckon_uses()
    prepare(project)


def drain_all(*locks: str) -> None:
    """The same, and again if a hook asked for it meanwhile: that one started no process, for this one was at it.

    Then the index, without the lock, an open file of that number: that may take longer, and the next drain must
    not wait for it.
    """
    for _ in range(ROUNDS):
        time.sleep(SETTLING)
        asked = _last_asked()  # a session that ends after its last turn is read once
        project = open_project(os.getcwd())
        drain(project)
        if _last_asked() == asked:
            break
    for lock in locks:
        os.close(int(lock))
    from holdfast.recall import search

    search.recall(project.clone, "", limit=1)  # Claude Code asks the server for all memories before its first request
    embed(project)


def _last_asked() -> float:
    place = find_repository(os.fsencode(os.getcwd()))
    inboxes = (place.common + b"/holdfast/inbox", place.top + b"/.holdfast/local/inbox") if place else ()
    locks = (inbox + b"/drain.lock" for inbox in inboxes)
    return max((os.stat(path).st_mtime for path in locks if os.path.exists(path)), default=0.0)


def prepare(project: "Project") -> None:
    """Make ready what the next session, edit or command will ask for."""
    project.context.render_guards()
    made_now(project).keep()


def prepare_in_turn() -> None:
    """The same in a process that a change started: one works and one waits, which sees what changed meanwhile."""
    from holdfast.store import fsio

    top = os.getcwd()
    place = find_repository(os.fsencode(top))
    if place is None or not place.is_own:
        return
    folder = os.fsdecode(place.common + CONTEXTS)
    with ExitStack() as turn:
        with fsio.locked(os.path.join(folder, "next.lock"), wait=0.0):
            turn.enter_context(fsio.locked(os.path.join(folder, "now.lock"), wait=TURN))
        for _ in range(ROUNDS):
            prepare(open_project(top))
            kept = kept_context.load(place.git_dir, place.common)
            if kept is not None and kept.is_current:
                return


def embed_later(top: str) -> None:
    """Start a process that goes on until all is read and embedded, for whoever asked in the repository at `top`."""
    from subprocess import DEVNULL, Popen

    command = [sys.executable, "-I", os.path.abspath(__file__), "read"]
    Popen(command, cwd=top, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True)


def embed(project: "Project", seconds: float = EMBEDDING) -> None:
    """Read the repository and give vectors to what has none, for a bounded time; the next turn goes on."""
    if project.recall.index_waits():
        project.recall.build_index(seconds=seconds)
    if project.models.embeds_in_background():
        project.models.embed(seconds=seconds)


def read(project: "Project") -> None:
    """The same for long, behind everything else that wants the machine."""
    if hasattr(os, "nice"):
        os.nice(10)
    embed(project, READING)


def in_background(work: str, *locks: str) -> None:
    """Do what waits, in a process of its own."""
    from holdfast.capture.ingest.live_transcripts import BAD

    try:
        if work == "prepare":
            prepare_in_turn()
        elif work == "drain":
            drain_all(*locks)
        else:
            read(open_project(os.getcwd()))
    except BAD:
        pass  # nobody listens; the next command finds the same and says so, or `holdfast model` does


if __name__ == "__main__":
    in_background(*sys.argv[1:])
    os._exit(0)  # with the lock gone at once: what is asked for while an interpreter ends would wait for the next event
