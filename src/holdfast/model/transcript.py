"""What an agent's transcript says, in our words, whichever tool wrote it.

A transcript is a list of turns; a turn is what somebody asked and the steps that followed; a step is one
answer of the model: what it thought and said and the calls it made, each with its result, matched by id.
A call without a result was interrupted. These are values; tools' quirks are `capture.agents`' business.
"""

import hashlib
from collections.abc import Iterable

from holdfast.values import frozen

ROLES = ("main", "fork", "subagent", "internal")
# What a call does, as far as memory cares.
CALLS = ("shell", "edit", "read", "search", "web", "plan", "agent", "mcp", "ask", "other")
STATES = ("open", "started", "done", "dropped")  # of an item of a plan

# Characters that are kept of a text; a result keeps its beginning and its end.
MAX_PROMPT, MAX_TEXT, MAX_INPUT, MAX_OUTPUT = 200_000, 100_000, 64_000, 16_000
MAX_STEPS = 500  # of one turn; a longer one goes on in the next, so that no reader holds all of it
MAX_LINES = 20_000  # of one edit, added or removed


@frozen(kw_only=True)
class Origin:
    """Whose transcript it is, and where the agent stood when it began."""

    agent: str  # codex, claude, gemini
    session: str  # the agent's own name of it
    role: str = "main"
    parent: str | None = None  # the session it was forked from or spawned by
    version: str | None = None
    cwd: str | None = None
    cwd_sha256: str | None = None  # of the folder, where that is all the tool tells of it
    branch: str | None = None
    commit: str | None = None
    remote: str | None = None
    started: str | None = None
    title: str | None = None
    own_from: int = 0  # bytes before it are our own export, which is no news to us


@frozen(kw_only=True)
class Edit:
    """What a call wrote into one file."""

    path: str  # as the agent named it: absolute, or as seen from the turn's folder
    action: str = "update"  # add, update, delete, move
    moved_to: str | None = None
    added: tuple[str, ...] = ()  # lines without their ends
    removed: tuple[str, ...] = ()
    whole: bool = False  # whether `added` is all the file holds afterwards
    kept: tuple[str, ...] | None = ()  # what of `added` stood there before; None if nobody knows


@frozen
class Todo:
    """One item of an agent's plan."""

    text: str
    status: str = "open"  # one of STATES


@frozen(kw_only=True)
class Result:
    """What a call gave back."""

    text: str = ""  # the beginning and the end of a long one
    size: int = 0  # characters of all of it
    exit_status: int | None = None
    failed: bool = False
    refused: bool = False  # somebody was asked and said no


@frozen(kw_only=True)
class Call:
    """One tool call of a step."""

    id: str
    name: str  # as the agent calls the tool
    kind: str = "other"  # one of CALLS
    text: str = ""  # its arguments, as the model wrote them
    command: str | None = None  # what a shell was given
    paths: tuple[str, ...] = ()  # files it read or asked about
    edits: tuple[Edit, ...] = ()
    todos: tuple[Todo, ...] | None = None  # the plan as this call leaves it
    result: Result | None = None  # None: interrupted


@frozen(kw_only=True)
class Step:
    """One answer of the model: a cycle of its run."""

    id: str  # the same for every copy of this step that the tool makes
    ts: str | None = None
    model: str | None = None
    reasoning: str = ""
    text: str = ""
    calls: tuple[Call, ...] = ()
    aside: bool = False  # a helper's step, told within the main transcript


@frozen(kw_only=True)
class Turn:
    """What was asked and what came of it."""

    key: str  # the same for every copy of this turn that the tool makes
    prompt: str = ""  # a person's words; empty if something else set the agent going
    ts: str | None = None
    steps: tuple[Step, ...] = ()
    cwd: str | None = None
    branch: str | None = None
    interrupted: bool = False  # a person stopped it
    continues: bool = False  # goes on with the turn before it, which had MAX_STEPS steps
    start: int = 0  # bytes of the file from which it can be read again, and up to which it goes
    end: int = 0

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(call for step in self.steps for call in step.calls)

    @property
    def answer(self) -> str:
        """What the agent said last, to the person."""
        said = [step.text for step in self.steps if step.text.strip() and not step.aside]
        return said[-1] if said else ""

    @property
    def fingerprint(self) -> str | None:
        """The same for one exchange seen through two tools; None if it says too little to tell."""
        asked, said = _folded(self.prompt), _folded(self.answer)
        if len(asked) < 16 or len(said) < 16:
            return None
        return hashlib.sha256(f"{asked}\n{said}".encode("utf-8", "replace")).hexdigest()[:24]


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def cut(text: str, limit: int) -> str:
    """The beginning of a text that is too long."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def ends(text: str, limit: int = MAX_OUTPUT) -> str:
    """A text that is too long by its beginning and its end, with how much is left out between them."""
    if len(text) <= limit:
        return text
    half = limit // 2 - 20
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters …]\n{text[-half:]}"


def line_hash(line: str) -> str:
    """What names a written line: blanks at either end do not count, as `git blame -w` has it."""
    return hashlib.sha256(line.strip().encode("utf-8", "replace")).hexdigest()[:16]


def telling_lines(lines: Iterable[str]) -> list[str]:
    """The lines that say something: a lone bracket is written by everybody."""
    return [line for line in lines if sum(map(str.isalnum, line)) >= 3]
