"""What was said and done in a run, in order, and what may be worth remembering of it.

Turns come from whoever captured the run; what is found in them waits for a person like any other candidate.
"""

from typing import Literal

from holdfast.values import frozen

Who = Literal["user", "agent", "tool"]

# Where words of a session stand: what was asked, what the agent said on the way and last, and the notes of its turns.
SOURCES = ("request", "said", "closing", "commit", "plan", "answer", "refusal", "memory", "comment", "lesson")
UNDONE = "undone"  # names of code that an edit took out again, as an earlier edit of the session had brought them in
ON_THE_WAY = "on the way"  # of a program that tells reports apart: nothing is proposed from it
MIN_STATEMENT, MAX_STATEMENT = 20, 300  # characters: less names nothing, more is no single claim
LIKELY = 0.45  # confidence: of those above it 6 of 10 were right on projects the weights had not seen, 4 of 10 below
MIN_RULE = 12  # of what a person forbids for good: "Never log PII" leaves nothing out
MAX_WORDS = 300  # characters; a guess: two or three sentences
MAX_WHY = 300  # characters; a guess: two or three sentences


@frozen
class Utterance:
    """Words of one turn. A tool's words are never knowledge: anybody may have written them."""

    who: Who
    text: str
    turn: int
    source: str = ""  # one of SOURCES where the turns of a session are known, else nothing
    files: tuple[str, ...] = ()  # of the repository that the turn wrote
    wrote: bool = False  # whether the turn wrote any file or made a commit


@frozen
class TriedCommand:
    """A command somebody ran, and how it ended; None: nobody knows."""

    command: str
    exit_status: int | None
    turn: int


@frozen
class ExtractedMemory:
    """A memory that may be worth keeping: what it says, and which words of which turn say so."""

    kind: str  # a type of memory: decision, assumption, invariant, fact, dead-end
    statement: str
    why: str
    words: str  # verbatim from the turn, at most MAX_WORDS characters
    turn: int
    who: str
    rule: str  # the rule that found it, for people who wonder
    confidence: float
    details: str = ""  # what else was said about it
    also: tuple[tuple[int, str], ...] = ()  # turns, and words there that say the same
