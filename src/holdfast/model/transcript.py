"""What an agent's transcript says, in our words, whichever tool wrote it.

A transcript is a list of turns; a turn is a request and the steps that followed; a step is one answer of the model: its
thoughts, its text and the calls it made, each with its result, matched by id. A call without a result was interrupted.
These are values; the formats of tools are left to `capture.agents`.

`TranscriptQuotes` separates what an agent only quotes: words that stood in a tool's result before anybody else wrote
them. A result is anybody's text, a page, a file, another program. It must not become knowledge because an agent
repeated it.
"""

import hashlib
from collections import deque
from collections.abc import Iterable, Mapping
from itertools import pairwise
from string import ascii_lowercase, ascii_uppercase

from holdfast.patterns import regex
from holdfast.values import frozen, replace

# The agents whose own transcripts are read, and what people call them.
AGENTS = {"codex": "Codex", "claude": "Claude Code", "gemini": "Gemini CLI", "opencode": "opencode"}
AGENTS |= {"qwen": "Qwen Code", "copilot": "Copilot CLI", "pi": "pi", "kimi": "Kimi Code", "cline": "Cline CLI"}

# What a call does, as far as memory cares.
CALLS = ("shell", "edit", "read", "search", "web", "plan", "agent", "mcp", "ask", "other")
STATES = ("open", "started", "done", "dropped")  # of an item of a plan

# Characters that are kept of a text; a result keeps its beginning and its end.
MAX_PROMPT, MAX_TEXT, MAX_INPUT, MAX_OUTPUT = 200_000, 100_000, 64_000, 16_000
MAX_STEPS = 500  # of one turn; a longer one goes on in the next, so that no reader holds all of it
MAX_LINES = 20_000  # of one edit, added or removed
MAX_TOKENS = 1_000_000_000  # of one answer: what claims more is damaged


@frozen(kw_only=True)
class TranscriptOrigin:
    """Whose transcript it is, and where the agent stood when it began."""

    agent: str  # one of AGENTS, or the name of one that people built
    session: str  # the agent's own name of it
    role: str = "main"  # main, fork, subagent or internal
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
class TranscriptEdit:
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
    edits: tuple[TranscriptEdit, ...] = ()
    todos: tuple[Todo, ...] | None = None  # the plan as this call leaves it
    result: Result | None = None  # None: interrupted
    helper: str = ""  # the session of the helper that it started, if its tool says so


@frozen(kw_only=True)
class TokenUse:
    """What an answer of the model cost, as its agent wrote it down."""

    read: int = 0  # tokens it was given, those from a cache among them
    cached: int = 0  # of these
    written: int = 0  # thoughts among them
    dollars: float | None = None  # where the agent says so

    def __add__(self, other: "TokenUse") -> "TokenUse":
        told = [one for one in (self.dollars, other.dollars) if one is not None]
        return TokenUse(
            read=self.read + other.read,
            cached=self.cached + other.cached,
            written=self.written + other.written,
            dollars=sum(told) if told else None,
        )


def dollars_of(use: TokenUse, model: str, prices: Mapping[str, tuple[float, ...]]) -> float | None:
    """What tokens cost: as the agent says, else by the longest name in the table that its model begins with."""
    known = sorted((name for name in prices if model.startswith(name)), key=len)
    if use.dollars is not None or not known:
        return use.dollars
    dollars_in, dollars_out, *cached = prices[known[-1]]
    from_cache = cached[0] if cached else dollars_in
    return ((use.read - use.cached) * dollars_in + use.cached * from_cache + use.written * dollars_out) / 1e6


def token_use(read: object, written: object, *, cached: object = 0, dollars: object = None) -> TokenUse | None:
    """The numbers of a transcript, as far as they are numbers; None if they say nothing."""
    counts = [one if type(one) is int and 0 <= one < MAX_TOKENS else 0 for one in (read, cached, written)]
    paid = float(dollars) if type(dollars) in (int, float) and 0 <= dollars < MAX_TOKENS else None  # type: ignore[operator, arg-type]
    return TokenUse(read=counts[0], cached=counts[1], written=counts[2], dollars=paid) if any(counts) or paid else None


@frozen(kw_only=True)
class TranscriptStep:
    """One answer of the model: a cycle of its run."""

    id: str  # the same for every copy of this step that the tool makes
    ts: str | None = None
    model: str | None = None
    reasoning: str = ""
    text: str = ""
    calls: tuple[Call, ...] = ()
    aside: bool = False  # a helper's step, told within the main transcript
    on_the_way: bool = False  # its text tells what is being done, not what came of it
    usage: TokenUse | None = None


@frozen(kw_only=True)
class TranscriptTurn:
    """What was asked and what came of it."""

    key: str  # the same for every copy of this turn that the tool makes
    prompt: str = ""  # a person's words; empty if something else set the agent going
    brief: str = ""  # what another agent asked of this one, its helper
    ts: str | None = None
    steps: tuple[TranscriptStep, ...] = ()
    cwd: str | None = None
    branch: str | None = None
    interrupted: bool = False  # a person stopped it
    commits: tuple[str, ...] = ()  # of this repository, that another record says came of it
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


MAX_QUOTED_BYTES = 256 << 10  # bytes of tools' results, and of texts, that are remembered: the last ones
_ENOUGH = 4  # words: fewer stand in too many texts by chance
_ENDS = regex(r"(?<=[.!?:;])\s+|\n+")
_CURLY = str.maketrans("“”‘’«»", '""""""')
_PLAIN = b"""*_`"'>#|.,;:!?()[]{}\\"""
_FOLDED = bytes.maketrans(_PLAIN + ascii_uppercase.encode(), b" " * len(_PLAIN) + ascii_lowercase.encode())


class TranscriptQuotes:
    """One run, step by step: what was heard from tools, and what others had said before."""

    def __init__(self) -> None:
        self._heard, self._said = _RecentTexts(), _RecentTexts()
        self._now = 0

    def out_of(self, turn: TranscriptTurn) -> TranscriptTurn:
        """The turn with what its agent said itself: what it quotes of results is left out."""
        self._add(self._said, turn.prompt)
        return replace(turn, steps=tuple(self._step(step) for step in turn.steps))

    def _step(self, step: TranscriptStep) -> TranscriptStep:
        ends = [0, *(found.end() for found in _ENDS.finditer(step.text)), len(step.text)]
        pieces = [step.text[start:end] for start, end in pairwise(ends)]  # its sentences and lines
        own = "".join(piece for piece in pieces if not self._is_quote(_folded_words(piece)))
        for text in (step.text, *(call.text for call in step.calls)):
            self._add(self._said, text)
        for call in step.calls:
            self._add(self._heard, call.result.text if call.result else "")
        return step if own == step.text else replace(step, text=own)

    def _add(self, to: "_RecentTexts", text: str) -> None:
        self._now += 1
        to.add(self._now, _folded_words(text))

    def _is_quote(self, words: bytes) -> bool:
        """Whether a tool said it, and nobody else before: what a tool only repeats is not the tool's."""
        heard = self._heard.first(words) if words.count(b" ") > _ENOUGH else None
        said = self._said.first(words) if heard is not None else None
        return heard is not None and (said is None or said > heard)


class _RecentTexts:
    """The last texts of somebody, each with its place among all."""

    def __init__(self) -> None:
        self._texts: deque[tuple[int, bytes]] = deque()
        self._room = MAX_QUOTED_BYTES

    def add(self, place: int, words: bytes) -> None:
        if words.isspace():
            return
        self._texts.append((place, words[:MAX_QUOTED_BYTES]))
        self._room -= len(words[:MAX_QUOTED_BYTES])
        while self._room < 0:
            self._room += len(self._texts.popleft()[1])

    def first(self, words: bytes) -> int | None:
        """The place of the first text that these words stand in."""
        return next((place for place, text in self._texts if words in text), None)


def _folded_words(text: str) -> bytes:
    """The words alone, in lower case, a blank around each."""
    plain = text if text.isascii() else text.translate(_CURLY)
    return b" %b " % b" ".join(plain.encode("utf-8", "replace").translate(_FOLDED).split())
