"""Who wrote a line, decided from what was recorded: one turn of one run, or an honest "not known".

Pure. A line is known by the hash of its text, a turn by the hashes of what it added and removed, a commit by
how often it has the text and how often the one before had it. All that was written is gone through in order;
what is left must explain every copy of the line that the commit brought, and come from one run. Where two
could have written it, where a person may have typed the same, or where a line says too little, nothing is
claimed.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from holdfast.model.transcript import telling_lines
from holdfast.values import frozen, replace

DISTINCT = 12  # letters and digits of a line that hardly two people type alike
MOST = 3  # copies of such a line in its file
SLACK = 2.0  # seconds by which a commit's time, told in whole ones, may lie before what went into it

TOO_LITTLE = "the line says too little to tell who wrote it"
NOBODY = "no recorded run wrote this line"


@frozen(order=True)
class TurnName:
    """A turn of a run."""

    run: str
    turn: int


@frozen(kw_only=True)
class TurnLines:
    """What a turn wrote into one file."""

    by: TurnName
    path: str
    begin: float  # seconds
    end: float
    added: Mapping[str, int]  # hash of a line -> how often
    removed: Mapping[str, int]
    whole: bool = False  # all of the file, with lines that may have stood there before


@frozen(kw_only=True)
class CommitView:
    """A commit that brought a line, as it was made; what is not committed yet is one of its own."""

    commit: str | None
    until: float  # when it was made
    since: float | None  # when the one before was; None: there is none, or nobody can tell
    here: int  # copies of the line in the file then
    before: int  # and in the commit before
    runs: Mapping[str, int | None]  # runs in which it was made, and in which turn

    @property
    def new(self) -> int:
        return max(1, self.here - self.before)


@frozen
class LineAuthor:
    """The run that wrote a line, and the turn; several turns if they cannot be told apart."""

    run: str
    turns: tuple[int, ...]
    recorded: bool  # the commit was made in that run; else only the text agrees
    view: CommitView
    needs_company: bool = False  # a line as others write it: it counts only beside others of the same turn


@frozen
class AuthorDoubt:
    """Why nobody is named, and who might have been."""

    reason: str
    maybe: tuple[TurnName, ...] = ()
    likely: bool = False  # the one named is likely: it wrote most of what the commit brought here


Verdict = LineAuthor | AuthorDoubt


@frozen
class _Copy:
    by: TurnName
    end: float
    sure: bool


def is_distinct(text: str, *, copies: int) -> bool:
    """Whether a line's text alone can tell who wrote it."""
    return sum(map(str.isalnum, text)) >= DISTINCT and copies <= MOST


def decide(
    mark: str, text: str, views: Sequence[CommitView], wrote: Iterable[TurnLines], *, copies: int = 1
) -> Verdict:
    """Who wrote a line, by its hash and text; `views` are what it was committed as, the newest name last.

    `wrote` is what was written into the file under that name, in order; `copies` of the line are there now.
    """
    if not telling_lines([text]):
        return AuthorDoubt(TOO_LITTLE)
    about = [one for one in wrote if mark in one.added or mark in one.removed]
    found = [_seen(mark, text, view, about) for view in views]
    claims = [one for one in found if isinstance(one, LineAuthor)]
    told = [one for one in claims if one.recorded] or claims
    # A squash may have brought copies that another of its parts had: one part explains them all, or none.
    explained = max((one.view.new for one in told), default=0) >= max((view.new for view in views[-1:]), default=0)
    if explained and len({(one.run, one.turns) for one in told}) == 1:
        # Of a line as others write it, one was added or taken away since: nobody can tell which.
        unlike = copies > told[0].view.here or any(one.begin > told[0].view.until for one in about)
        return AuthorDoubt(TOO_LITTLE) if told[0].needs_company and unlike else told[0]
    doubts = [by for one in found if isinstance(one, AuthorDoubt) for by in one.maybe]
    maybe = sorted({*doubts, *(TurnName(one.run, turn) for one in told for turn in one.turns)})
    if told:
        return AuthorDoubt("several turns wrote this text, and nothing tells which of them is meant", tuple(maybe))
    reason = next((one.reason for one in found if isinstance(one, AuthorDoubt) and one.maybe), NOBODY)
    return AuthorDoubt(reason, tuple(maybe))


def _seen(mark: str, text: str, view: CommitView, about: Iterable[TurnLines]) -> Verdict:
    """Who wrote a line that this commit brought."""
    if not view.here:
        return AuthorDoubt(NOBODY)
    copies, unsure = _left(mark, [one for one in about if _in_time(one, view)])
    near = [one for one in copies if view.since is None or one.end + SLACK >= view.since]
    # Git cannot tell copies of a text apart: where it stood there before, all of them must be of one run.
    return _judged(text, view, near if near and not view.before else copies, unsure=unsure)


def _judged(text: str, view: CommitView, copies: Sequence[_Copy], *, unsure: bool) -> Verdict:
    maybe = tuple(sorted({one.by for one in copies}))
    runs = {by.run for by in maybe}
    distinct = is_distinct(text, copies=view.here)
    recorded = len(runs) == 1 and maybe[0].run in view.runs
    if not maybe or not (distinct or recorded):
        return AuthorDoubt(TOO_LITTLE if maybe else NOBODY)
    if len(runs) > 1 or unsure:
        return AuthorDoubt("several turns wrote this text, and nothing tells which of them is meant", maybe)
    if not all(one.sure for one in copies):
        return AuthorDoubt("a turn replaced the whole file, and what it held before is not recorded", maybe)
    if len(copies) < view.here:
        return AuthorDoubt("the same text was written more often than the run wrote it", maybe)
    turns = tuple(by.turn for by in maybe)
    return LineAuthor(maybe[0].run, turns, recorded, view, needs_company=not distinct)


def _in_time(one: TurnLines, view: CommitView) -> bool:
    """Whether something was written before a commit was made: by its time, and by its turn."""
    last = view.runs.get(one.by.run)
    return one.begin <= view.until + SLACK and (last is None or one.by.turn <= last)


def _left(mark: str, about: Iterable[TurnLines]) -> tuple[list[_Copy], bool]:
    """The copies of a line that are left of all that was written, and whether it is unsure which."""
    copies: list[_Copy] = []
    unsure = False
    for one in about:
        gone, came = one.removed.get(mark, 0), one.added.get(mark, 0)
        if gone:
            unsure = unsure or (gone < len(copies) and len({copy.by for copy in copies}) > 1)
            copies = copies[gone:] if not unsure else copies
        if one.whole:  # what is there already was not written by it
            came = max(0, came - len(copies))
        copies += [_Copy(one.by, one.end, not one.whole)] * came
    return copies, unsure and len(copies) > 0


@frozen
class PlacedVerdict:
    """A verdict, and where its line stands now and stood in the commit that brought it."""

    verdict: Verdict
    commit: str | None
    number: int
    at: int


def accompanied(lines: Sequence[PlacedVerdict]) -> list[Verdict]:
    """The verdicts on some lines of a file, where one as others write it counts only beside its like."""
    alone = [at for at, one in enumerate(lines) if isinstance(one.verdict, LineAuthor) and one.verdict.needs_company]
    left = {at for at in alone if not any(_is_company(lines, at, step) for step in (-1, 1))}
    return [AuthorDoubt(TOO_LITTLE) if at in left else one.verdict for at, one in enumerate(lines)]


# Of the lines that a commit brought into a file, a run wrote so many, such a share, and so many times as many as any
# other run, in the month before: then the rest is likely its own. How that was measured: docs/reference/why.md.
_LEAST, _SHARE, _LEAD, _MONTH = 3, 0.4, 2, 30 * 86_400.0


def main_writer(
    brought: Collection[str], wrote: Iterable[TurnLines], authored: float, until: float, *, named: bool
) -> TurnName | None:
    """The turn that last wrote some of what a commit brought into a file, of the run that wrote most of it.

    `brought` are hashes of distinct lines. Of runs that the commit itself has `named`, one line is enough.
    """
    lines: dict[str, set[str]] = {}
    last: dict[str, TurnName] = {}
    for one in wrote:
        shared = one.added.keys() & brought
        if shared and one.begin <= until + SLACK and (named or one.end >= authored - _MONTH):
            lines.setdefault(one.by.run, set()).update(shared)
            last[one.by.run] = one.by
    (size, run), *others = sorted(((len(found), run) for run, found in lines.items()), reverse=True) or [(0, "")]
    enough = named or size >= max(_LEAST, _SHARE * len(brought))
    return last.get(run) if enough and all(_LEAD * other <= size for other, _ in others) else None


def with_likely(
    lines: Sequence[PlacedVerdict], verdicts: Sequence[Verdict], writers: Sequence[TurnName | None]
) -> list[Verdict]:
    """The verdicts, where what nobody is named for is likely of the one who wrote most of what came with it."""
    known = [(one, said) for one, said in zip(lines, verdicts, strict=True) if isinstance(said, LineAuthor)]
    rows = zip(lines, verdicts, writers, strict=True)
    return [_likely(one, said, by, known) if by and isinstance(said, AuthorDoubt) else said for one, said, by in rows]


def _likely(
    one: PlacedVerdict, said: AuthorDoubt, by: TurnName, known: Sequence[tuple[PlacedVerdict, LineAuthor]]
) -> AuthorDoubt:
    """A doubt with whose line it likely is: of the turn that may have written it, else of the nearest line's."""
    if said.maybe:
        own = tuple(maybe for maybe in said.maybe if maybe.run == by.run)
        return replace(said, maybe=own, likely=True) if own else said
    near = [(abs(at.number - one.number), it.turns) for at, it in known if (at.commit, it.run) == (one.commit, by.run)]
    turns = min(near)[1] if near else (by.turn,)
    return replace(said, maybe=tuple(TurnName(by.run, turn) for turn in turns), likely=True)


def _is_company(lines: Sequence[PlacedVerdict], place: int, step: int) -> bool:
    """Whether the next line that tells something is of the same turn and stood there in the same commit, too.

    Git takes a line for a moved one as soon as its text agrees: what stands elsewhere now says nothing.
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
