"""Connects tools by the instruction file each of them reads: which file gets which block, planned, shown, then done.

First everything is planned from what stands on disk, so that it can be shown as a diff; then it is done. Which tools
are connected is known from the files alone. Hooks and servers in clients' settings are `connect_client`'s business.

A file is read, written through a link, or deleted. `AGENTS.md -> CLAUDE.md` is common, so links are followed, but only
to a real file of this work tree: a link out of it, into .git or into the store would let a pull request choose what we
write over.
"""

import contextlib
import difflib
import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Sequence

from holdfast.capture.wiring import block
from holdfast.capture.wiring.block import BlockMemory, InstructionBlock
from holdfast.errors import BadInput, BlockEdited, HoldfastError, TooLarge, UnsafePath
from holdfast.git.clone import Clone
from holdfast.model.text import visible
from holdfast.store import fsio
from holdfast.values import frozen, mutable

MAX_FILE = 1 << 20  # nobody hands an agent more than this to read first
NEW_MODE = 0o644  # as editors create files


@frozen
class AgentFile:
    """What stands at a path that a tool reads."""

    path: str  # as the tool names it, from the top of the work tree
    real: str  # the full path behind any links
    data: bytes | None  # None: there is nothing
    mode: int = NEW_MODE
    folders: int = 0  # how many folders are missing above it


def look(top: str, path: str) -> AgentFile:
    """The file that a tool would read; refused where writing it would write elsewhere."""
    top = os.path.realpath(top)
    named = os.path.join(top, *path.split("/"))
    real = os.path.realpath(named)
    _refuse_outside(top, path, real)
    return _at(named, real, path, top)


def look_at(named: str, shown: str) -> AgentFile:
    """A file of the user's own, wherever it lies: a link in it is the user's own too, and is followed."""
    return _at(named, os.path.realpath(named), shown, os.sep)


def _at(named: str, real: str, path: str, top: str) -> AgentFile:
    try:
        facts = os.lstat(real)
    except (FileNotFoundError, NotADirectoryError):
        if os.path.islink(named):
            raise UnsafePath(f"{path} is a link to nothing", hint="Mend or remove the link.") from None
        return AgentFile(path, real, None, folders=missing_folders(top, real))
    if not stat.S_ISREG(facts.st_mode):
        raise UnsafePath(f"{path} is not a regular file", hint="Move it out of the way.")
    try:
        data = fsio.read(real, limit=MAX_FILE)
    except TooLarge:
        raise TooLarge(
            f"{path} has {facts.st_size:,} bytes; at most {MAX_FILE:,} are read", hint="Shorten it."
        ) from None
    return AgentFile(path, real, _text_only(path, data), stat.S_IMODE(facts.st_mode))


def delete(file: AgentFile, *, folders: int) -> None:
    """Remove a file of ours, and as many folders above it as we made, if nothing else is in them."""
    fsio.remove(file.real)
    remove_empty(os.path.dirname(file.real), folders)


def remove_empty(folder: str, count: int) -> None:
    """Remove a folder and those above it, so many in all, as far as nothing is in them."""
    for _ in range(count):
        with contextlib.suppress(OSError):
            fsio.ops.rmdir(folder)
        folder = os.path.dirname(folder)


def _refuse_outside(top: str, path: str, real: str) -> None:
    inside = os.path.relpath(real, top).split(os.sep)
    if inside[0] == os.pardir or os.path.isabs(os.path.join(*inside)):
        raise UnsafePath(
            f"{path} is a link that leads out of the work tree; it is left alone",
            hint="Put a real file in its place, then connect again.",
        )
    if inside[0].lower() in (".git", ".holdfast") or ".git" in (part.lower() for part in inside):
        raise UnsafePath(f"{path} is a link into {inside[0]}; it is left alone", hint="Remove the link.")


def missing_folders(top: str, real: str) -> int:
    """How many folders are missing above a path."""
    missing, parent = 0, os.path.dirname(real)
    while parent.startswith(top.rstrip(os.sep) + os.sep) and not os.path.isdir(parent):
        if os.path.lexists(parent):
            raise UnsafePath(f"{parent} is in the way: a folder belongs there", hint="Move it out of the way.")
        missing, parent = missing + 1, os.path.dirname(parent)
    return missing


def _text_only(path: str, data: bytes) -> bytes:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        data = b"\0"
    if b"\0" in data:
        raise BadInput(f"{path} is not UTF-8 text", hint="Save it as UTF-8, then connect again.")
    return data


AGENTS, AGENTS_TOOL = "AGENTS.md", "agents"
_CURSOR = (
    "---\ndescription: How to use this project's memory, its invariants and its decisions\nalwaysApply: true\n---\n"
)
_AIDER = "aider reads CONVENTIONS.md only if .aider.conf.yml says `read: CONVENTIONS.md`"


@frozen
class Tool:
    """One tool: where its block belongs."""

    name: str
    paths: tuple[str, ...]  # the first that is there counts, else the first
    imports: bool = False  # whether a line `@AGENTS.md` takes that file in
    front: str = ""  # what a file of our own begins with
    note: str = ""  # what somebody must still do


TOOLS = {
    tool.name: tool
    for tool in (
        Tool("agents", (AGENTS,)),
        Tool("claude", ("CLAUDE.md", ".claude/CLAUDE.md"), imports=True),
        Tool("gemini", ("GEMINI.md",), imports=True),
        Tool("cursor", (".cursor/rules/holdfast.mdc",), front=_CURSOR),
        Tool("copilot", (".github/copilot-instructions.md",)),
        Tool("aider", ("CONVENTIONS.md",), note=_AIDER),
    )
}
# Tools that read AGENTS.md, by their own names.
ALIASES = dict.fromkeys(("codex", "opencode", "qwen", "pi", "kimi", "cline"), AGENTS_TOOL)
NAMES = (*ALIASES, *TOOLS)  # what `connect` takes


def tool_named(name: str) -> Tool:
    """The tool of that name."""
    if name not in TOOLS:
        raise BadInput(f"{name!r} is not a tool that can be connected", hint=f"Use one of {', '.join(NAMES)}.")
    return TOOLS[name]


CODEX_READS = 32 * 1024  # bytes; the default of Codex's project_doc_max_bytes
UNTOUCHED = ("keep", "absent")  # actions that change nothing
_REMOVING = {"refresh": "remove", "keep": "absent"}


@frozen
class ConnectionChange:
    """One file, and what becomes of it."""

    tools: tuple[str, ...]
    path: str
    action: str  # create, add, refresh, keep; remove, delete, absent
    diff: tuple[str, ...] = ()
    edited: str | None = None  # where somebody edited inside our block: path:line
    what: str = "block"  # what of ours is in it


@frozen
class ConnectionPlan:
    """What connecting or disconnecting does; `done` says whether it was done."""

    changes: tuple[ConnectionChange, ...]
    notes: tuple[str, ...] = ()
    done: bool = False
    kept: tuple[str, ...] = ()  # files that hold edited blocks which were replaced

    @property
    def changed(self) -> tuple[ConnectionChange, ...]:
        return tuple(change for change in self.changes if change.action not in UNTOUCHED)


@frozen
class ConnectedTool:
    """A tool that reads a block of ours."""

    tool: str
    path: str  # of the file that holds the block
    current: bool  # False: the block does not say what is accepted now


@mutable
class _Step:
    """A change under way: the file as it is, our block in it, and the bytes to come."""

    tools: list[str]
    file: AgentFile
    block: InstructionBlock | None
    after: bytes | None

    @property
    def action(self) -> str:
        if self.after == self.file.data:
            return "keep"
        if self.after is None:
            return "delete"
        if self.file.data is None:
            return "create"
        return "refresh" if self.block else "add"

    @property
    def edited(self) -> str | None:
        if self.block is None or not self.block.edited or self.action == "keep":
            return None
        return f"{self.file.path}:{self.block.line}"


def connect(
    clone: Clone, names: Sequence[str], told: Sequence[BlockMemory], *, force: bool = False, dry_run: bool = False
) -> ConnectionPlan:
    """Put our block into the files of these tools, or refresh every block that is there.

    A block that somebody edited inside is left, unless forced; BlockEdited names it when the others are done.
    """
    tools = [tool_named(name) for name in names]
    tools = tools or [tool for tool in _readable(clone) if _seen(clone, tool)[1] is not None]
    if not tools:
        raise BadInput(
            "no agent is connected yet", hint=f"Connect one with: holdfast connect NAME ({', '.join(NAMES)})"
        )
    with contextlib.nullcontext() if dry_run else fsio.locked(clone.layout.lock):
        steps = _steps(clone, tools, block.block_text(told))
        notes = [tool.note for tool in tools if tool.note] + [
            f"{step.file.path} has {len(step.after):,} bytes; Codex reads the first {CODEX_READS:,} only"
            for step in steps
            if "agents" in step.tools and step.after is not None and len(step.after) > CODEX_READS
        ]
        return _carried_out(clone, steps, notes, force=force, dry_run=dry_run)


def disconnect(
    clone: Clone, names: Sequence[str] = (), *, force: bool = False, dry_run: bool = False
) -> ConnectionPlan:
    """Take our block out of the files of these tools, or of all; each file is as it was before.

    A block that somebody edited inside is left, unless forced; BlockEdited names it when the others are done.
    """
    tools = [tool_named(name) for name in names] or list(TOOLS.values())
    with fsio.locked(clone.layout.lock):
        steps: dict[str, _Step] = {}
        for tool in tools if names else _readable(clone):
            file, ours = _read(clone, _path(clone, tool))
            if names or ours is not None:
                after = block.take_out(file.data, ours, front=tool.front) if file.data and ours else file.data
                _join(steps, tool, file, ours, after)
        notes = _left_without(clone, tools, list(steps.values()))
        return _carried_out(clone, list(steps.values()), notes, force=force, dry_run=dry_run, removing=True)


def connected(clone: Clone, told: Callable[[], Sequence[BlockMemory]]) -> list[ConnectedTool]:
    """The tools that read a block of ours, and whether it says what is accepted now.

    What is accepted is asked for only if there is a block at all.
    """
    found: list[tuple[str, str, InstructionBlock]] = []
    for tool in TOOLS.values():
        try:
            file, ours = _seen(clone, tool)
            if ours is not None and ours.inside == block.IMPORT_LINE:
                file, ours = _read(clone, AGENTS)
        except (HoldfastError, OSError) as error:
            clone.layout.leave_out(error)
            continue
        if ours is not None:
            found.append((tool.name, file.path, ours))
    inside = block.block_text(told()) if found else ""
    return [ConnectedTool(tool, path, ours.inside == inside) for tool, path, ours in found]


def _readable(clone: Clone) -> list[Tool]:
    """The tools whose files can hold a block of ours; of the others it is said why not."""
    found = []
    for tool in TOOLS.values():
        try:
            look(clone.repo.top, _path(clone, tool))
        except (HoldfastError, OSError) as error:
            clone.layout.leave_out(error)
        else:
            found.append(tool)
    return found


def _path(clone: Clone, tool: Tool) -> str:
    top = clone.repo.top
    there = [path for path in tool.paths if os.path.lexists(os.path.join(top, *path.split("/")))]
    return (there or [*tool.paths])[0]


def _read(clone: Clone, path: str) -> tuple[AgentFile, InstructionBlock | None]:
    file = look(clone.repo.top, path)
    return file, block.find(file.data, path) if file.data is not None else None


def _seen(clone: Clone, tool: Tool) -> tuple[AgentFile, InstructionBlock | None]:
    """The file whose block a tool reads: its own, or the one it takes in."""
    file, ours = _read(clone, _path(clone, tool))
    if ours is None and tool.imports and file.data is not None and block.imports(file.data):
        return _read(clone, AGENTS)
    return file, ours


def _steps(clone: Clone, tools: Sequence[Tool], inside: str) -> list[_Step]:
    steps: dict[str, _Step] = {}
    for tool in sorted(tools, key=lambda tool: tool.name != "agents"):  # whoever takes it in comes after it
        file, ours = _seen(clone, tool)
        text, own = inside, file.data is None or (ours is not None and ours.inside == block.IMPORT_LINE)
        if tool.name == "claude" and own and file.path == tool.paths[0]:
            agents, there = _read(clone, AGENTS)
            if agents.real != file.real and (there is not None or agents.real in steps):
                text = block.IMPORT_LINE  # CLAUDE.md is ours alone and AGENTS.md has the block: one line suffices
        _join(steps, tool, file, ours, _with_block(file, ours, text, tool))
    return list(steps.values())


def _with_block(file: AgentFile, ours: InstructionBlock | None, inside: str, tool: Tool) -> bytes:
    if file.data is not None and ours is not None:
        return file.data if ours.inside == inside else block.refresh(file.data, ours, inside)
    if file.data is not None:
        _, open_fence = block.fenced(file.data)
        if open_fence is not None:
            raise BadInput(
                f"{file.path}:{open_fence} opens a code fence that never closes; the block would be code",
                hint="Close the fence, then connect again.",
            )
    return block.put(file.data, inside, front=tool.front, folders=file.folders)


def _join(
    steps: dict[str, _Step], tool: Tool, file: AgentFile, ours: InstructionBlock | None, after: bytes | None
) -> None:
    """One step a real file: two names of one file, or a file and the one that includes it, are written once."""
    if file.real in steps:
        steps[file.real].tools.append(tool.name)
    else:
        steps[file.real] = _Step([tool.name], file, ours, after)


def _carried_out(
    clone: Clone, steps: Sequence[_Step], notes: Iterable[str], *, force: bool, dry_run: bool, removing: bool = False
) -> ConnectionPlan:
    changes = tuple(
        ConnectionChange(
            tuple(step.tools),
            step.file.path,
            _REMOVING.get(step.action, step.action) if removing else step.action,
            () if step.action == "keep" else difference(step.file.path, step.file.data, step.after),
            step.edited,
        )
        for step in steps
    )
    if dry_run:
        return ConnectionPlan(changes, tuple(notes))
    doing = [step for step in steps if force or not step.edited]
    kept = tuple(_keep(clone, step) for step in doing if step.edited)
    for step in doing:
        if step.action == "delete":
            delete(step.file, folders=step.block.folders if step.block else 0)
        elif step.action != "keep" and step.after is not None:
            fsio.write_as(step.file.real, step.after, mode=step.file.mode)
    if len(doing) < len(steps):  # one file that somebody edited does not hold up the others
        raise BlockEdited(_refusal(changes))
    return ConnectionPlan(changes, tuple(notes), done=True, kept=kept)


def _refusal(changes: Sequence[ConnectionChange]) -> str:
    """The sentence, what was done all the same, and what would be lost."""
    edited = [change for change in changes if change.edited]
    done = [change.path for change in changes if not change.edited and change.action not in UNTOUCHED]
    places = ", ".join(change.edited or "" for change in edited)
    said = f"somebody edited inside the block at {places}; it is left as it is"
    others = f"; the others are done: {', '.join(done)}" if done else ""
    return "\n".join([said + others, *(line for change in edited for line in change.diff)])


def _keep(clone: Clone, step: _Step) -> str:
    """Set the edited inside of a block aside before it is replaced."""
    assert step.block is not None
    text = clone.scan.text(step.block.inside.encode("utf-8", "replace").decode()).encode()
    when = clone.now()[:19].replace("-", "").replace(":", "")
    name = f"{when}Z-{hashlib.sha256(text).hexdigest()[:8]}-{step.file.path.replace('/', '-')}"
    fsio.make_dirs(clone.layout.kept)
    path = os.path.join(clone.layout.kept, name)
    fsio.replace(path, text)
    return path


def difference(path: str, old: bytes | None, new: bytes | None) -> tuple[str, ...]:
    """What changes in a file, as people read it in git."""
    old_name, new_name = (path, path) if path.startswith(("~", "/")) else (f"a/{path}", f"b/{path}")
    names = ("/dev/null" if old is None else old_name, "/dev/null" if new is None else new_name)
    return tuple(difflib.unified_diff(_lines(old), _lines(new), *names, lineterm=""))


def _lines(data: bytes | None) -> list[str]:
    """The lines for people to see; a file without a last line end says so, as git does."""
    *rows, last = visible((data or b"").decode("utf-8", "replace")).split("\n")
    return [*rows, f"{last}\n\\ No newline at end of file"] if last else rows


def _left_without(clone: Clone, tools: Sequence[Tool], steps: Sequence[_Step]) -> list[str]:
    """Tools that took in a block which goes now, and are not told so themselves."""
    going = {step.file.real for step in steps if step.action != "keep"}
    notes = []
    for tool in _readable(clone):
        if not tool.imports or tool in tools:
            continue
        file, ours = _read(clone, _path(clone, tool))
        taken_in = file.data is not None and block.imports(file.data)
        if taken_in and file.real not in going and look(clone.repo.top, AGENTS).real in going:
            again = f"; refresh it with: holdfast connect {tool.name}" if ours else ""
            notes.append(f"{file.path} takes in {AGENTS}, which has no block any more{again}")
    return notes
