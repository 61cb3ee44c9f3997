"""The commands: their names, the modules of `interfaces/cli` that define them, and what each does in one line.

A command's module is imported when the command runs. `holdfast --help` prints this table and imports none of them.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

COMMANDS = """\
init | setup | Set Holdfast up in this repository.
try | try | Show what the last days hold, and write nothing.
status | history | Show what waits, and what is private here.
context | context | Tell an agent what governs its work, and what is open.
next | task | What can be done now, and why the rest cannot.
task | task resolve | Goals, milestones, epics, tasks and subtasks.
tasks | task | List the tasks.
session | session | What is going on: turns, what is open, what waits for a yes.
handoff | export | Tell whoever takes over here what they need.
run | run | Run a command and keep what it did.
recall | history | Search memory, commits, docs and code.
why | why | Tell which run and turn wrote a line, and what was asked.
show | history | Show one thing by its id.
remember | review | Propose a memory, to be reviewed.
facts | review | List what holds here, and what no longer does.
review | review | See what waits for a decision, and decide.
edit | review | Change a memory; without options, in your editor.
supersede | review | Propose what takes another memory's place.
deprecate | review | Say that an accepted memory no longer holds; its file stays.
curate | curate | Look at the health of memory, and suggest.
trust | trust | Let what people accepted upstream speak here.
receipts | context | Tell what an agent knew in a run, or in a session.
connect | connect | Connect agents: hooks, MCP server and instructions.
disconnect | connect | Take agents' hooks, server and block out to the byte.
mcp | mcp | Serve this project's memory to an agent by MCP.
state | task | Show goals, milestones, checkpoints and links.
link | task | Canonical links: files, addresses, commits.
publish | sync | Commit this line's events and memories alone.
reconcile | sync | Explain what git moved or left, and choose.
hooks | hook | Git hooks that record what git does, and never disturb it.
log | history | Show the log.
timeline | history | Show what happened, in order.
diff | history | Compare what two runs produced.
journal | context | Tell what was done on a day: today, yesterday, or 2026-11-15.
stats | health | Show what was counted in this clone; it never leaves it.
check | health | The gate for CI.
doctor | health | Verify everything, and say where it is wrong.
scan | health | Look for secrets in what is stored, with the rules of today.
index | index | Read commits, documents and code, so that recall finds them.
model | index | The model for search by meaning.
erase | review | Delete what an event, run or memory says.
reset | cleanup | Empty caches: sessions, tasks or all of them.
prune | cleanup | Delete old sessions, claims and trash.
export | setup export connect | Save the private store to FILE, or write decisions as records.
import | setup import connect | Bring back a bundle, or propose what others wrote.
uninstall | setup | Take Holdfast out of this clone.
"""
ABOUT = "The memory a project keeps of the agents that work on it."
OPTIONS = (
    ("--version", "Show the version and exit."),
    ("-C DIR", "Work as if started in DIR."),
    ("-h, --help", "Show this message and exit."),
)


def commands() -> dict[str, tuple[list[str], str]]:
    """Each command with its modules and its line of help, in the order of the help."""
    rows = (row.split(" | ") for row in COMMANDS.splitlines())
    return {name: (modules.split(), about) for name, modules, about in rows}


def help_text() -> str:
    """What `holdfast --help` prints."""
    usage = "Usage: holdfast [OPTIONS] [COMMAND] [ARGS]..."
    listed = _columns((name, about) for name, (_, about) in commands().items())
    about = f"{usage}\n\n  {ABOUT}"
    return f"{about}\n\nOptions:\n{_columns(OPTIONS)}\nCommands:\n{listed}"


def _columns(rows: "Iterable[tuple[str, str]]") -> str:
    rows = list(rows)
    width = max(len(name) for name, _ in rows)
    return "".join(f"  {name:{width}}  {about}\n" for name, about in rows)
