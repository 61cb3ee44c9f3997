"""Decides who wrote a line: one turn of one run, or "not known" with a reason.

Pure. A line is known by the hash of its text, a turn by the hashes of the lines it added and removed, a commit by how
often it and its parent contain the text. All writes are replayed in order; what is left must explain every copy of the
line that the commit added, and come from one run. If two runs could have written it, if a person may have typed the
same, or if the line is too common, nobody is named.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from holdfast.model.transcript import telling_lines
from holdfast.values import frozen, replace

DISTINCT = (
    12  # letters and digits that two people hardly type alike; so 99.4 % of answers are right (docs/reference/why.md)
)
MOST = 3  # copies of such a line in its file; a guess: a text that stands there more often is common
SLACK = 2.0  # seconds: git rounds a commit's time down, so it may lie before the edits in it

TOO_LITTLE = "the line says too little to tell who wrote it"
NOBODY = "no recorded run wrote this line"
_SEVERAL = "several turns wrote this text, and it is not known which of them wrote this line"


@frozen(order=True)
class TurnName:
    """A turn of a run."""

    run: str
    turn: int


@frozen(kw_only=True)
class TurnLines:
    """The lines that a turn added to and removed from one file."""

    by: TurnName
    path: str
    begin: float  # seconds
    end: float
    added: Mapping[str, int]  # hash of a line -> how often
    removed: Mapping[str, int]
    whole: bool = False  # it wrote the whole file, with lines that may have been there before


@frozen(kw_only=True)
class CommitView:
    """A commit that added a line, as it was made; uncommitted changes are one of their own."""

    commit: str | None
    until: float  # its time
    since: float | None  # the parent's time; None: there is none, or it is unknown
    here: int  # copies of the line in the file then
    before: int  # and in the parent
    runs: Mapping[str, int | None]  # the runs that made it, with the turn

    @property
    def new(self) -> int:
        return max(1, self.here - self.before)


@frozen
class LineAuthor:
    """The run and turn that wrote a line; several turns if they cannot be told apart."""

    run: str
    turns: tuple[int, ...]
    recorded: bool  # the commit was made in that run; else only the text matches
    view: CommitView
    needs_company: bool = False  # a common line: it counts only next to others of the same turn


@frozen
class AuthorDoubt:
    """Why nobody is named, and who may have written the line."""

    reason: str
    maybe: tuple[TurnName, ...] = ()
    likely: bool = False  # the turn in `maybe` is likely: its run wrote most of what the commit added here


Verdict = LineAuthor | AuthorDoubt


@frozen
class _Copy:
    by: TurnName
    end: float
    sure: bool


def is_distinct(text: str, *, copies: int) -> bool:
    """Whether a line's text alone can identify its author."""
    return sum(map(str.isalnum, text)) >= DISTINCT and copies <= MOST


def decide(
    mark: str, text: str, views: Sequence[CommitView], wrote: Iterable[TurnLines], *, copies: int = 1
) -> Verdict:
    """Returns who wrote a line, by its hash and text; `views` are its commits, the current id last.

    `wrote` is what turns wrote into the file under that name, in order; `copies` of the line are there now.
    """
    if not telling_lines([text]):
        return AuthorDoubt(TOO_LITTLE)
    about = [one for one in wrote if mark in one.added or mark in one.removed]
    verdicts = [_decide_for_commit(mark, text, view, about) for view in views]
    claims = [one for one in verdicts if isinstance(one, LineAuthor)]
    usable = [one for one in claims if one.recorded] or claims
    # A squash may contain copies of several commits: one of these explains all copies, or none does.
    explained = max((one.view.new for one in usable), default=0) >= max((view.new for view in views[-1:]), default=0)
    if explained and len({(one.run, one.turns) for one in usable}) == 1:
        # A copy of a common line was added or removed since: nobody can tell which one.
        unlike = copies > usable[0].view.here or any(one.begin > usable[0].view.until for one in about)
        return AuthorDoubt(TOO_LITTLE) if usable[0].needs_company and unlike else usable[0]
    doubts = [by for one in verdicts if isinstance(one, AuthorDoubt) for by in one.maybe]
    maybe = sorted({*doubts, *(TurnName(one.run, turn) for one in usable for turn in one.turns)})
    if usable:
        return AuthorDoubt(_SEVERAL, tuple(maybe))
    reason = next((one.reason for one in verdicts if isinstance(one, AuthorDoubt) and one.maybe), NOBODY)
    return AuthorDoubt(reason, tuple(maybe))


def _decide_for_commit(mark: str, text: str, view: CommitView, about: Iterable[TurnLines]) -> Verdict:
    """Returns who wrote a line that this commit added."""
    if not view.here:
        return AuthorDoubt(NOBODY)
    copies, unsure = _remaining_copies(mark, [one for one in about if _in_time(one, view)])
    near = [one for one in copies if view.since is None or one.end + SLACK >= view.since]
    # Git cannot tell copies of a text apart: if the parent has some, one run must have written all.
    return _judge(text, view, near if near and not view.before else copies, unsure=unsure)


def _judge(text: str, view: CommitView, copies: Sequence[_Copy], *, unsure: bool) -> Verdict:
    maybe = tuple(sorted({one.by for one in copies}))
    runs = {by.run for by in maybe}
    distinct = is_distinct(text, copies=view.here)
    recorded = len(runs) == 1 and maybe[0].run in view.runs
    if not maybe or not (distinct or recorded):
        return AuthorDoubt(TOO_LITTLE if maybe else NOBODY)
    if len(runs) > 1 or unsure:
        return AuthorDoubt(_SEVERAL, maybe)
    if not all(one.sure for one in copies):
        return AuthorDoubt("a turn replaced the whole file, and its earlier content is not recorded", maybe)
    if len(copies) < view.here:
        return AuthorDoubt("the file has this text more often than the run wrote it", maybe)
    turns = tuple(by.turn for by in maybe)
    return LineAuthor(maybe[0].run, turns, recorded, view, needs_company=not distinct)


def _in_time(one: TurnLines, view: CommitView) -> bool:
    """Whether something was written before a commit was made, by its time and by its turn."""
    last = view.runs.get(one.by.run)
    return one.begin <= view.until + SLACK and (last is None or one.by.turn <= last)


def _remaining_copies(mark: str, about: Iterable[TurnLines]) -> tuple[list[_Copy], bool]:
    """Returns the copies of a line that remain after all writes, and whether it is unclear which."""
    copies: list[_Copy] = []
    unsure = False
    for one in about:
        removed, added = one.removed.get(mark, 0), one.added.get(mark, 0)
        if removed:
            unsure = unsure or (removed < len(copies) and len({copy.by for copy in copies}) > 1)
            copies = copies[removed:] if not unsure else copies
        if one.whole:  # it did not write the copies that exist already
            added = max(0, added - len(copies))
        copies += [_Copy(one.by, one.end, not one.whole)] * added
    return copies, unsure and len(copies) > 0


@frozen
class PlacedVerdict:
    """A verdict with the line's number now and in the commit that added it."""

    verdict: Verdict
    commit: str | None
    number: int
    at: int


def accompanied(lines: Sequence[PlacedVerdict]) -> list[Verdict]:
    """Returns the verdicts on a file's lines, where a common line counts only next to others of its turn."""
    common = [at for at, one in enumerate(lines) if isinstance(one.verdict, LineAuthor) and one.verdict.needs_company]
    isolated = {at for at in common if not any(_is_company(lines, at, step) for step in (-1, 1))}
    return [AuthorDoubt(TOO_LITTLE) if at in isolated else one.verdict for at, one in enumerate(lines)]


# The rest of a commit's lines in a file is likely by a run that wrote so many of them, such a share, and so many times
# more than any other run, in the month before (docs/reference/why.md: 99.7 % of the likely answers are right).
_LEAST, _SHARE, _LEAD, _MONTH = 3, 0.4, 2, 30 * 86_400.0


def main_writer(
    added: Collection[str], wrote: Iterable[TurnLines], authored: float, until: float, *, named: bool
) -> TurnName | None:
    """Returns the last turn that wrote some of a commit's lines, of the run that wrote most of them.

    `brought` are hashes of distinct lines. For runs that the commit itself has `named`, one line is enough.
    """
    lines: dict[str, set[str]] = {}
    last: dict[str, TurnName] = {}
    for one in wrote:
        shared = one.added.keys() & added
        if shared and one.begin <= until + SLACK and (named or one.end >= authored - _MONTH):
            lines.setdefault(one.by.run, set()).update(shared)
            last[one.by.run] = one.by
    (size, run), *others = sorted(((len(found), run) for run, found in lines.items()), reverse=True) or [(0, "")]
    enough = named or size >= max(_LEAST, _SHARE * len(added))
    return last.get(run) if enough and all(_LEAD * other <= size for other, _ in others) else None


def with_likely(
    lines: Sequence[PlacedVerdict], verdicts: Sequence[Verdict], writers: Sequence[TurnName | None]
) -> list[Verdict]:
    """Returns the verdicts, with a likely author where nobody is named and one run wrote most of the commit's lines."""
    known = [(one, said) for one, said in zip(lines, verdicts, strict=True) if isinstance(said, LineAuthor)]
    rows = zip(lines, verdicts, writers, strict=True)
    return [_likely(one, said, by, known) if by and isinstance(said, AuthorDoubt) else said for one, said, by in rows]


def _likely(
    one: PlacedVerdict, said: AuthorDoubt, by: TurnName, known: Sequence[tuple[PlacedVerdict, LineAuthor]]
) -> AuthorDoubt:
    """Returns a doubt with its likely turn: one that may have written it, else that of the nearest line."""
    if said.maybe:
        own = tuple(maybe for maybe in said.maybe if maybe.run == by.run)
        return replace(said, maybe=own, likely=True) if own else said
    near = [(abs(at.number - one.number), it.turns) for at, it in known if (at.commit, it.run) == (one.commit, by.run)]
    turns = min(near)[1] if near else (by.turn,)
    return replace(said, maybe=tuple(TurnName(by.run, turn) for turn in turns), likely=True)


def _is_company(lines: Sequence[PlacedVerdict], place: int, step: int) -> bool:
    """Whether the next specific line is of the same turn, and stood there in the same commit too.

    Git reports a line as moved as soon as its text matches: a line that is elsewhere now proves nothing.
    """
    one, at = lines[place], place + step
    while 0 <= at < len(lines):
        other = lines[at]
        if other.commit != one.commit or other.at - one.at != other.number - one.number:
            return False
        match one.verdict, other.verdict:
            case LineAuthor() as ours, LineAuthor(needs_company=False) as theirs:
                return (ours.run, ours.turns) == (theirs.run, theirs.turns)
            case _, AuthorDoubt(reason=reason) if reason != TOO_LITTLE:
                return False
        at += step
    return False
