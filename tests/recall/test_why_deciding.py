"""The rules by which a line is somebody's, one by one."""

import pytest

from holdfast.model.transcript import line_hash
from holdfast.recall.why.verdict import (
    NOBODY,
    TOO_LITTLE,
    AuthorDoubt,
    CommitView,
    LineAuthor,
    PlacedVerdict,
    TurnLines,
    TurnName,
    Verdict,
    accompanied,
    decide,
    main_writer,
    with_likely,
)

TEXT = "RETRIES = attempts_before_giving_up(3)"
SHORT = "return None"
MARK = line_hash(TEXT)


def wrote(run: str, turn: int, at: float, *, added: int = 1, removed: int = 0, whole: bool = False) -> TurnLines:
    return TurnLines(
        by=TurnName(run, turn),
        path="a.py",
        begin=at,
        end=at + 5,
        added={MARK: added} if added else {},
        removed={MARK: removed} if removed else {},
        whole=whole,
    )


def view(until: float = 100, *, since: float = 50, here: int = 1, before: int = 0, **runs: int | None) -> CommitView:
    return CommitView(commit="c" * 40, until=until, since=since, here=here, before=before, runs=runs)


def named(verdict: Verdict) -> tuple[str, tuple[int, ...], bool] | None:
    return (verdict.run, verdict.turns, verdict.recorded) if isinstance(verdict, LineAuthor) else None


@pytest.mark.parametrize(
    ("seen", "writes", "answer"),
    [
        (view(R=1), [wrote("R", 1, 60)], ("R", (1,), True)),
        (view(), [wrote("R", 1, 60)], ("R", (1,), False)),  # committed by nobody we know
        (view(), [wrote("R", 1, 103)], None),  # written after the commit was made
        (view(), [wrote("R", 1, 101)], ("R", (1,), False)),  # git's seconds are whole ones
        (view(R=1), [wrote("R", 2, 60)], None),  # in a later turn than the commit
        (view(S=3), [wrote("R", 1, 60)], ("R", (1,), False)),  # another run committed what this one wrote
        (view(), [wrote("R", 1, 60), wrote("S", 1, 70)], None),  # both wrote it, and one is gone
        (view(), [wrote("R", 1, 20), wrote("S", 1, 70)], ("S", (1,), False)),  # the first was before its time
        (view(), [wrote("R", 1, 60), wrote("R", 2, 70)], ("R", (1, 2), False)),  # the run is sure, the turn not
        (view(), [wrote("R", 1, 60), wrote("R", 2, 70, removed=1)], ("R", (2,), False)),  # moved by the second
        (view(), [wrote("R", 1, 60), wrote("S", 1, 70, added=0, removed=1)], None),  # taken out again: typed anew
        (view(here=2), [wrote("R", 1, 60)], None),  # somebody else wrote the second
        (view(here=2, before=1), [wrote("R", 1, 60)], None),  # git cannot tell which of them is new
        (view(here=2, before=1), [wrote("R", 1, 20), wrote("R", 2, 60)], ("R", (1, 2), False)),
        (view(), [wrote("R", 1, 60, whole=True)], None),  # it may have stood there
        (view(), [wrote("R", 1, 60), wrote("S", 1, 70, whole=True)], ("R", (1,), False)),
        (view(here=0), [wrote("R", 1, 60)], None),
        (view(), [], None),
    ],
)
def test_what_was_written_decides_or_nothing_does(
    seen: CommitView, writes: list[TurnLines], answer: tuple[str, tuple[int, ...], bool] | None
) -> None:
    """Each of these is a case in which somebody would be blamed, or left out, wrongly."""
    assert named(decide(MARK, TEXT, [seen], writes)) == answer


def test_a_part_of_a_squash_answers_only_for_all_its_copies() -> None:
    """A squash brings what several commits brought; one of them must not take it all."""
    part, whole = view(R=1), view(200, here=2)
    writes = [wrote("R", 1, 60), wrote("S", 1, 150)]
    found = decide(MARK, TEXT, [part, whole], writes)
    assert isinstance(found, AuthorDoubt) and {by.run for by in found.maybe} == {"R", "S"}
    assert named(decide(MARK, TEXT, [part, view(200)], writes[:1])) == ("R", (1,), True)


def test_what_everybody_writes_needs_its_neighbours() -> None:
    """`return None` is found in every file and written by everyone."""
    mark = line_hash(SHORT)
    one = TurnLines(by=TurnName("R", 1), path="a.py", begin=60, end=61, added={mark: 1}, removed={})
    assert named(decide(mark, SHORT, [view()], [one])) is None, "not in a commit of the run"
    short = decide(mark, SHORT, [view(R=1)], [one])
    sure = decide(MARK, TEXT, [view(R=1)], [wrote("R", 1, 60)])
    assert named(short) == named(sure) == ("R", (1,), True)
    beside = [PlacedVerdict(sure, "c", 1, 1), PlacedVerdict(short, "c", 2, 2)]
    assert [named(said) for said in accompanied(beside)] == [("R", (1,), True)] * 2
    for other in (
        PlacedVerdict(short, "c", 2, 7),
        PlacedVerdict(short, "d", 2, 2),
    ):  # it stood elsewhere, or came another time
        assert [named(said) for said in accompanied([beside[0], other])] == [("R", (1,), True), None]
    assert named(decide(mark, SHORT, [view(R=1)], [one], copies=2)) is None, "somebody added one since"
    assert named(decide(line_hash("}"), "}", [view(R=1)], [one])) is None


NOBODYS, BLANK = AuthorDoubt(NOBODY), AuthorDoubt(TOO_LITTLE)


def by(run: str, turn: int = 1) -> LineAuthor:
    return LineAuthor(run, (turn,), False, view())


DAY = 86_400.0
BROUGHT = {f"m{n}" for n in range(10)}


def part(run: str, first: int, last: int, begin: float = 60, turn: int = 1) -> TurnLines:
    """A turn that wrote some of the ten lines that the commit brought."""
    added = {f"m{n}": 1 for n in range(first, last)} | {"other": 1}
    return TurnLines(by=TurnName(run, turn), path="a.py", begin=begin, end=begin + 1, added=added, removed={})


@pytest.mark.parametrize(
    ("wrote", "named", "writer"),
    [
        ([part("R", 0, 4)], False, TurnName("R", 1)),
        ([part("R", 0, 3)], False, None),  # too small a share
        ([part("R", 0, 2), part("R", 2, 4, turn=3)], False, TurnName("R", 3)),  # the last turn that wrote of it
        ([part("R", 0, 4), part("S", 4, 7)], False, None),  # two runs, and none much more than the other
        ([part("R", 0, 6), part("S", 4, 7)], False, TurnName("R", 1)),
        ([part("R", 0, 6, begin=200)], False, None),  # after the commit
        ([part("R", 0, 6, begin=100 - 31 * DAY)], False, None),  # long before
        ([part("R", 0, 1, begin=100 - 31 * DAY)], True, TurnName("R", 1)),  # the commit itself names the run
        ([part("R", 0, 0)], True, None),  # but it wrote nothing of it
        ([part("R", 0, 1), part("S", 1, 2)], True, None),
        ([], False, None),
    ],
)
def test_the_main_writer_of_a_commit_stands_out(wrote: list[TurnLines], named: bool, writer: TurnName | None) -> None:
    """Without a log of git only what was written tells whose commit it is; a guess would be worse than nothing."""
    assert main_writer(BROUGHT, wrote, 100, 100, named=named) == writer


@pytest.mark.parametrize(
    ("said", "likely"),
    [
        (NOBODYS, (TurnName("R", 3),)),  # by the nearest line
        (BLANK, (TurnName("R", 3),)),
        (AuthorDoubt("again", (TurnName("R", 2), TurnName("S", 1))), (TurnName("R", 2),)),
        (AuthorDoubt("again", (TurnName("S", 1),)), None),  # others are known to have written it
    ],
)
def test_the_rest_of_a_commit_is_likely_its_writers(said: AuthorDoubt, likely: tuple[TurnName, ...] | None) -> None:
    """A person changes a word, a formatter a line: that is marked as likely and never stated."""
    verdicts: list[Verdict] = [by("R"), by("R", 3), said]
    placed = [PlacedVerdict(one, "c", number, number) for number, one in enumerate(verdicts)]
    found = with_likely(placed, verdicts, [None, None, TurnName("R", 7)])
    assert found == [*verdicts[:2], AuthorDoubt(said.reason, likely, likely=True) if likely else said]
    assert with_likely(placed, verdicts, [None] * 3) == verdicts
    elsewhere = [*placed[:2], PlacedVerdict(said, "d", 2, 2)]
    (last,) = with_likely(elsewhere, verdicts, [None, None, TurnName("R", 7)])[2:]
    assert not isinstance(last, LineAuthor) and (said.maybe or last.maybe == (TurnName("R", 7),))
