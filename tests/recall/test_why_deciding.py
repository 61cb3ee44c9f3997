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


@pytest.mark.parametrize(
    ("verdicts", "likely"),
    [
        ([by("R"), by("R", 2), by("R", 3), NOBODYS], TurnName("R", 3)),  # by the nearest
        ([by("R"), by("R"), by("R"), BLANK], TurnName("R", 1)),
        ([by("R"), by("R"), NOBODYS], None),  # too few to tell
        ([by("R"), by("R"), by("S"), NOBODYS], None),  # two runs wrote here
        ([by("R")] * 3 + [NOBODYS] * 3, None),  # half of it is somebody else's
        ([by("R")] * 3 + [BLANK] * 9, TurnName("R", 1)),  # what says too little speaks against nobody
        ([NOBODYS] * 4, None),
    ],
)
def test_the_rest_of_a_commit_is_likely_its_writers(verdicts: list[Verdict], likely: TurnName | None) -> None:
    """A person changes a word, a formatter a line: that is marked as likely and never stated."""
    placed = [PlacedVerdict(said, "c", number, number) for number, said in enumerate(verdicts)]
    found = with_likely(placed, verdicts)
    assert [said for said in found if isinstance(said, LineAuthor)] == [
        said for said in verdicts if isinstance(said, LineAuthor)
    ]
    last = found[-1]
    assert isinstance(last, AuthorDoubt)
    assert (last.likely, last.maybe) == ((True, (likely,)) if likely else (False, ()))


def test_lines_of_other_commits_and_of_none_are_not_likely() -> None:
    """Only what came together belongs together."""
    verdicts: list[Verdict] = [by("R"), by("R"), by("R"), NOBODYS, NOBODYS]
    commits = ["c", "c", "c", "d", None]
    placed = [PlacedVerdict(said, commits[at], at, at) for at, said in enumerate(verdicts)]
    assert with_likely(placed, verdicts)[3:] == [NOBODYS, NOBODYS]


def test_who_may_have_written_a_line_is_not_made_likely() -> None:
    """Several turns wrote the text: that is known, and stays a doubt."""
    doubt = AuthorDoubt("several turns wrote this text", (TurnName("S", 1),))
    verdicts: list[Verdict] = [by("R"), by("R"), by("R"), doubt]
    placed = [PlacedVerdict(said, "c", at, at) for at, said in enumerate(verdicts)]
    assert with_likely(placed, verdicts)[3] == doubt
