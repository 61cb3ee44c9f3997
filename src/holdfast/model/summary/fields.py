"""What a summary holds."""

from collections.abc import Mapping

from holdfast.values import field, frozen


@frozen
class SummaryFile:
    """A file that was written, with the lines written and taken away, all edits together."""

    path: str
    action: str  # add, update, delete, move
    added: int = 0
    removed: int = 0
    whole: bool = False  # written whole, and nobody knows what it held before


@frozen
class SummaryCommand:
    """A command, and how it ended the last time."""

    command: str
    exit_status: int | None  # None: nobody said
    outcome: str


@frozen(kw_only=True)
class Summary:
    """A run of an agent, as somebody must know it who goes on with it."""

    sentence: str
    asked: tuple[str, ...] = ()
    done: tuple[str, ...] = ()  # in the agent's own words, the last turn's last
    files: tuple[SummaryFile, ...] = ()
    more_files: int = 0  # written beyond those listed
    read: tuple[str, ...] = ()  # files it looked at, where it changed none
    commits: tuple[str, ...] = ()
    commands: tuple[SummaryCommand, ...] = ()
    tests: tuple[SummaryCommand, ...] = ()
    more_tests: int = 0  # run beyond those listed
    found: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by type of memory: decision, fact …
    failed: tuple[str, ...] = ()
    left_open: tuple[str, ...] = ()  # perhaps: what was seen of it, and who said so
    unfinished: tuple[str, ...] = ()  # those of it that the agent said, beyond its plan
    model: str | None = None
    turns: int = 0
    steps: int = 0
    calls: int = 0
