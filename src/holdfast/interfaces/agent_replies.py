"""What an agent's hook says to the agent, and what it does afterwards in the background.

At a session's start the context pack, from what the index keeps ready if that is still true, else rebuilt;
at a later prompt, approved memories that its words or paths newly call for; before an edit or a command,
approved invariants and dead ends that hold for it. Each once a session, all as data between markers
(law 16), nothing that no person approved but what a pack tells of this clone's own work (law 11). Whatever is
in doubt is not said. The child of the hook runs this; `agent_replies.py drain` is the background process.
"""

import os
import sys
import time
from itertools import dropwhile, pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.project import Project
    from holdfast.recall.guards import GuardFile
    from holdfast.store.discovery import RepositoryPlace
    from holdfast.store.layout import Layout

MAX_CHARACTERS = 8_000  # Claude cuts at 10,000, Codex at 2,500 tokens
MAX_TOKENS = 2_000  # counted high: never less than a quarter of the bytes, so this is within the characters
MOST_BEFORE, MOST_ASKED = 3, 4  # lines before a tool, and at a prompt
IN_TIME = 1.4  # seconds after which nobody listens any more
AGAIN = 5_000_000_000  # nanoseconds within which the same start is the same hook, installed twice
RENEW = 5  # seconds between two attempts to render guards that are behind
EMBEDDING = 30.0  # seconds that the background may embed after a turn
SETTLING = 0.7  # seconds: Claude writes its last answer after the event that says it is done
READY = "inject"  # the row that keeps the pack
NOT_A_PROMPT = ("<task-notification>", "<local-command", "<command-name>")
_PATCHED = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")


def tell(  # noqa: PLR0917 - the hook has all of this at hand, and it is called once
    agent: str, event: str, given: "dict[str, Any]", place: "RepositoryPlace", inbox: bytes, end: int
) -> None:
    """Say what there is to say through `end`, close it, and do what is left to do."""
    moment = HookMoment(agent, event, given, place, inbox)
    with moment.told:
        try:
            text = moment.said()
        except (OSError, ValueError):
            text = ""
        moment.answer(text, end)
    moment.afterwards()


class HookMoment:
    """One event of a session: what is said at it."""

    def __init__(self, agent: str, event: str, given: "dict[str, Any]", place: "RepositoryPlace", inbox: bytes) -> None:
        self.began = time.monotonic()
        self.agent, self.event, self.given = agent, event, given
        self.session = str(given.get("session_id") or "")
        self.top, self.git_dir, self.common = (os.fsdecode(path) for path in (place.top, place.git_dir, place.common))
        self.inbox = os.fsdecode(inbox)
        self.told = ContextDelivery(self.inbox, agent, self.session)
        self._fresh: FreshContext | None = None  # made only where the index has no answer
        self._notes: list[str] = []  # what is written down once it was said
        self._pack: str = ""  # a pack that was said, as a receipt takes it
        self._behind = False

    def said(self) -> str:
        """The text, or nothing."""
        if self.event == "PreToolUse":
            from holdfast.interfaces import agent_callers

            is_first = self.agent in agent_callers.LATE and not self.told.holds("pack")
            return self._packed("pack tool") if is_first else self._before_tool()
        if self.event == "SessionStart":
            again = f"pack {self.given.get('source') or 'startup'}"
            return "" if self.told.is_recent(again) else self._packed(again)
        prompt = self._prompt()
        if prompt is None:
            return ""
        if not self.told.holds("pack"):
            self._notes.append("prompt")
            return self._packed("pack prompt")
        if not self.told.holds("prompt"):  # the start has told the pack, but not what this prompt calls for
            self._notes.append("prompt")
        return self._called_for(prompt)

    def answer(self, text: str, end: int) -> None:
        """Print it, and write down that it was said; what comes too late was not."""
        from holdfast.interfaces import agent_callers

        data = f"{agent_callers.reply(self.agent, self.event, text)}\n".encode("utf-8", "replace") if text else b""
        in_time = time.monotonic() - self.began < IN_TIME
        try:
            while data and in_time:
                data = data[os.write(end, data) :]
        except OSError:
            in_time = False
        os.close(end)
        if in_time:
            self.told.add(self._notes)
            if self._pack:
                self._keep_pack()
            elif text:
                self._count(text)
            return
        self.told.was_late(self.agent)
        if self._fresh is not None:  # the first prompt, which waits for our lock, finds it ready
            self._fresh.keep()
            self._fresh = None

    def afterwards(self) -> None:
        """Keep the rebuilt pack, and start what waits."""
        if self._fresh is not None:
            self._fresh.keep()
        if (self.event == "SessionStart" or self._behind) and self.inbox:
            from holdfast.interfaces import agent_events

            agent_events.drain_later(os.fsencode(self.top), os.fsencode(self.inbox))

    # ── the pack ─────────────────────────────────────────────────────────────────────────────────

    def _packed(self, note: str) -> str:
        """The pack: as it was kept, or made now."""
        from holdfast.interfaces import quick

        is_plain = quick.is_plain(os.environ) and "HOLDFAST_RUN_ID" not in os.environ
        found = quick.kept_context(self.top, READY) if is_plain else None
        if found is None:
            self._fresh = FreshContext(open_project(self.top))
            found = self._fresh.text, self._fresh.receipt
        text, receipt = found
        ids, _, pack = receipt.partition("\n")
        self._notes += [note, *ids.split()]
        self._pack = pack if text else ""
        return text if len(text) <= MAX_CHARACTERS else ""

    def _keep_pack(self) -> None:
        """Leave the pack for the next drain, which makes a receipt of it."""
        from _json import encode_basestring_ascii as quoted

        if not self.inbox:
            return
        now = time.time_ns()
        named = f'"agent":{quoted(self.agent)},"session":{quoted(self.session)},"ts":{now},"took":{self._took()}'
        data = f'{{{named},"pack":{self._pack}}}\n'.encode("utf-8", "replace")
        path = os.path.join(self.inbox, f"{self.told.stem}-{now}.pack")
        _append(path, data, os.O_EXCL)

    def _count(self, text: str) -> None:
        """Count text given at a prompt or before a tool; a pack is counted with its receipt."""
        from holdfast.store import tally

        how = "tool" if self.event == "PreToolUse" else "prompt"
        memories = [note for note in self._notes if " " not in note and note != "prompt"]
        size = (len(text.encode("utf-8", "replace")) + 3) // 4
        tally.told_now(self._layout(), tally.telling(how, tokens=size, memories=memories), self._took())

    def _layout(self) -> "Layout":
        from holdfast.store.layout import Layout

        return Layout(self.top, os.path.join(self.common, "holdfast"))

    def _took(self) -> int:
        """Microseconds since the event."""
        return int((time.monotonic() - self.began) * 1e6)

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
        from holdfast.recall.guards import GuardFile, name_of

        tree = Tree(self.top, self.git_dir, self.common)
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        guards = GuardFile(tree, self._layout(), now, self._memory_tree)
        if guards.is_current:
            return guards
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


class ContextDelivery:
    """What a session was given already, a line each, beside its pointers; locked while it is read."""

    def __init__(self, inbox: str, agent: str, session: str) -> None:
        from holdfast.interfaces.agent_events import file_name

        self.stem = os.fsdecode(file_name(agent, session))
        self.path = os.path.join(inbox, f"{self.stem}.told") if inbox else ""
        self._fd, self._lines = -1, [""]

    def __enter__(self) -> None:
        if not self.path:
            return
        self._fd = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        os.lockf(self._fd, os.F_LOCK, 0)  # the same event, from a second installation, waits here
        self._lines = os.read(self._fd, 1 << 20).decode("ascii", "replace").split("\n")

    def __exit__(self, *_: object) -> None:
        if self._fd >= 0:
            os.close(self._fd)

    def holds(self, note: str) -> bool:
        return any(line == note or line.startswith(f"{note} ") for line in self._lines)

    def is_recent(self, note: str) -> bool:
        """Whether it was noted a moment ago."""
        times = [line.rpartition(" ")[2] for line in self._lines if line.startswith(f"{note} ")]
        return any(word.isdigit() and 0 <= time.time_ns() - int(word) < AGAIN for word in times)

    def was_late(self, agent: str) -> None:
        """Count an answer that came too late: a byte each."""
        if self.path:
            _append(os.path.join(os.path.dirname(self.path), f"late-{agent}"), b".", os.O_APPEND)

    def add(self, notes: "list[str]") -> None:
        """Record what was given."""
        now = time.time_ns()
        rows = [f"{note} {now}" if note.startswith("pack") else note for note in notes]
        if rows and self._fd >= 0:
            os.write(self._fd, ("\n".join(rows) + "\n").encode("ascii", "replace"))


def _append(path: str, data: bytes, how: int) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | how, 0o600)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)


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
    from holdfast.interfaces import quick
    from holdfast.project import Project

    environ = {name: value for name, value in os.environ.items() if name not in quick.STEERING}
    for name in quick.STEERING:
        os.environ.pop(name, None)
    return Project.open(top, environ=environ, drain=False)


class FreshContext:
    """A pack made now, to be told and to be kept ready for the next session's start."""

    def __init__(self, project: "Project") -> None:
        from json import dumps

        from holdfast.interfaces.worktree import WorkTree
        from holdfast.recall.pack import sent_packs
        from holdfast.recall.pack.context_pack import pack_text

        self._project, self._tree = project, WorkTree(project)
        found = project.context.pack(budget=MAX_TOKENS)
        self._until = found.until
        # A frame with nothing in it tells an agent nothing.
        self.text = pack_text(found) if found.sections else ""
        ids = " ".join(str(one["id"]) for one in sent_packs.entries(found))
        head = sent_packs.head_of(project.clone, found, ts=project.clone.now())
        self.receipt = f"{ids}\n{dumps({'head': head, 'lines': [*sent_packs.lines_of(found)]})}"

    def keep(self) -> None:
        """Put it into the index; not where something may have changed meanwhile, or a variable changes it."""
        from holdfast.index.refresh import keep_ready
        from holdfast.interfaces import quick

        seen, clone, tree = self._project.seen, self._project.clone, self._tree
        if seen is None or not seen.settled or not tree.digest or not quick.is_plain(os.environ):
            return
        state, answer = quick.resting_on("context", seen, os.environ, tree=tree.digest), (self.text, self.receipt)
        keep_ready(clone, {READY: answer}, signature=state, valid_until=self._until, watched=tree.paths)


def drain(project: "Project") -> None:
    """Import what agents' hooks reported, and prepare the context of the next session."""
    project.transcripts.drain()
    project.health.reckon_uses()
    project.context.render_guards()
    FreshContext(project).keep()
    if project.models.embeds_in_background() or project.recall.index_waits():
        embed_later()


def embed_later() -> None:
    """Start a process that embeds: it takes longer, and the lock of this one must not wait for it."""
    from subprocess import DEVNULL, Popen

    command = [sys.executable, "-I", os.path.abspath(__file__), "embed"]
    Popen(command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True)


def embed(project: "Project") -> None:
    """Read the repository and give vectors to what has none, for a bounded time; the next turn goes on."""
    if project.recall.index_waits():
        project.recall.build_index(seconds=EMBEDDING)
    if project.models.embeds_in_background():
        project.models.embed(seconds=EMBEDDING)


def in_background(work: str) -> None:
    """Do what waits, in a process of its own."""
    from holdfast.capture.ingest.live_transcripts import BAD

    if work == "drain":
        time.sleep(SETTLING)
    try:
        {"drain": drain, "embed": embed}[work](open_project(os.getcwd()))
    except BAD:
        pass  # nobody listens; the next command finds the same and says so, or `holdfast model` does


if __name__ == "__main__":
    sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    in_background(sys.argv[1])
