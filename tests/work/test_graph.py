"""The task graph's rules: against a slow reading of the same rules, and in the words people see."""

import random
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from holdfast.model.task import STATUSES, Task
from holdfast.values import replace
from holdfast.work.task_graph import TaskGraph, WaitingTask

NAMES = tuple(f"TSK-{letter}" for letter in "abcdefgh")


def task(name: str, *needs: str, **fields: object) -> Task:
    return Task(**{"id": name, "title": f"do {name}", "needs": needs, **fields})  # type: ignore[arg-type]


@st.composite
def plans(
    draw: st.DrawFn, statuses: tuple[str, ...] = STATUSES, strangers: bool = True, ordered: bool = False
) -> list[Task]:
    """A few tasks, tangled in any way: needs and parents may be unknown, and may run in circles.

    `ordered` ones name only earlier tasks, so that few circles are left.
    """
    count = draw(st.integers(1, len(NAMES)))
    within = NAMES[: min(count + strangers, len(NAMES))]
    tasks = []
    for place, name in enumerate(NAMES[:count]):
        others = within[:place] if ordered else tuple(n for n in within if n != name)
        tasks.append(draw(_node(name, list(others), statuses)))
    return tasks


@st.composite
def _node(draw: st.DrawFn, name: str, others: list[str], statuses: tuple[str, ...]) -> Task:
    some = st.sampled_from(others) if others else st.nothing()
    needs = draw(st.lists(some, max_size=3, unique=True)) if others else []
    parent = draw(st.none() | some) if others else None
    status, priority = draw(st.sampled_from(statuses)), draw(st.integers(0, 2))
    return task(name, *needs, parent=parent, status=status, priority=priority)


# The rules, read slowly.


def above(tasks: dict[str, Task], name: str) -> list[str]:
    found: list[str] = []
    parent = tasks[name].parent
    while parent in tasks and parent not in found:
        found.append(parent)
        parent = tasks[parent].parent
    return found


def is_ready(tasks: dict[str, Task], name: str) -> bool:
    met = {n for n, t in tasks.items() if t.is_closed}
    mine = tasks[name]
    if mine.is_closed or mine.status == "blocked" or set(mine.needs) - met:
        return False
    if any(t.parent == name and not t.is_closed for t in tasks.values()):
        return False
    ancestors = above(tasks, name)
    if name in ancestors or any(a in above(tasks, a) for a in ancestors):
        return False
    for one in ancestors:
        outer = [need for need in tasks[one].needs if need not in tasks or one not in above(tasks, need)]
        if tasks[one].is_closed or tasks[one].status == "blocked" or set(outer) - met:
            return False
    return True


def all_ready(tasks: Iterable[Task]) -> set[str]:
    known = {t.id: t for t in tasks}
    return {name for name in known if is_ready(known, name)}


def finished(tasks: Iterable[Task], *names: str) -> list[Task]:
    return [replace(t, status="done") if t.id in names else t for t in tasks]


def left_over(tasks: list[Task]) -> list[Task]:
    """What is still open when everything that is ready has been finished, again and again."""
    while names := [t.id for t in TaskGraph(tasks).ready()]:
        tasks = finished(tasks, *names)
    return [t for t in tasks if not t.is_closed]


@given(tasks=plans())
def test_ready_is_what_the_rules_say_and_the_rest_waits_with_a_reason(tasks: list[Task]) -> None:
    """An agent given work that cannot be done yet wastes its day; one not given any waits for nothing."""
    graph = TaskGraph(tasks)
    ready, waiting = graph.ready(), graph.waiting()
    assert {t.id for t in ready} == all_ready(tasks)
    assert sorted([t.id for t in ready] + [w.task.id for w in waiting]) == [t.id for t in tasks if not t.is_closed]
    assert all(w.reasons and all(w.reasons) for w in waiting)
    assert all(graph.standing(t.id) == () for t in ready)
    assert all(graph.standing(w.task.id) == w.reasons for w in waiting)


@given(tasks=plans())
def test_unblocks_is_the_difference_that_finishing_makes(tasks: list[Task]) -> None:
    """ "Do this first, it frees three others" must not be a guess."""
    graph = TaskGraph(tasks)
    before = all_ready(tasks)
    for name in graph.tasks:
        if not graph.tasks[name].is_closed:
            assert set(graph.unblocks(name)) == all_ready(finished(tasks, name)) - before


@given(tasks=plans())
def test_work_ends_unless_something_says_why_not(tasks: list[Task]) -> None:
    """A plan that stops without a word of why is a plan nobody trusts."""
    graph = TaskGraph(tasks)
    known = graph.tasks
    open_ = [t for t in tasks if not t.is_closed]
    obstacles = (
        any(t.status == "blocked" for t in open_)
        or any(need not in known for t in open_ for need in t.needs)
        or any(known[a].is_closed for t in open_ for a in above(known, t.id))
        or any("cycle" in reason for w in graph.waiting() for reason in w.reasons)
    )
    assert bool(left_over(tasks)) == obstacles


@given(tasks=plans(statuses=("open", "started"), strangers=False))
def test_a_cycle_is_found_exactly_when_the_work_cannot_end(tasks: list[Task]) -> None:
    """A cycle that slips through holds people up for ever; one that is not there must refuse nothing."""
    graph = TaskGraph(tasks)
    ring = graph.cycle()
    assert (ring is not None) == bool(left_over(tasks))
    if ring is not None:
        assert ring[0] == ring[-1]
        assert all(_linked(graph, one, other) for one, other in pairwise(ring))


def _linked(graph: TaskGraph, one: str, other: str) -> bool:
    """Whether one waits for the other by a need, or as its part, or as what it is part of."""
    a, b = graph.tasks[one], graph.tasks[other]
    return other in a.needs or other == a.parent or one == b.parent


@given(tasks=plans(strangers=False, ordered=True), changed=st.data())
def test_a_change_is_refused_exactly_when_it_makes_a_cycle(tasks: list[Task], changed: st.DataObject) -> None:
    """Whoever asks before saving must hear of the cycle then, not after the next merge."""
    graph = TaskGraph(tasks)
    assume(graph.cycle() is None)
    new = changed.draw(_node(tasks[0].id, [t.id for t in tasks[1:]], STATUSES))
    found = graph.cycle(new)
    after = TaskGraph([new, *tasks[1:]])
    assert (found is None) == (after.cycle() is None)
    assert found is None or all(_linked(after, a, b) for a, b in pairwise(found))


@given(tasks=plans(), data=st.data())
def test_another_need_makes_nothing_else_ready(tasks: list[Task], data: st.DataObject) -> None:
    """Saying more about what must come first can only hold back."""
    chosen = data.draw(st.sampled_from(tasks))
    need = data.draw(st.sampled_from([n for n in NAMES if n != chosen.id and n not in chosen.needs]))
    after = [replace(t, needs=(*t.needs, need)) if t is chosen else t for t in tasks]
    assert {t.id for t in TaskGraph(after).ready()} <= {t.id for t in TaskGraph(tasks).ready()}


@given(tasks=plans(), data=st.data())
def test_the_order_given_only_decides_between_equals(tasks: list[Task], data: st.DataObject) -> None:
    """Two clones that list their files differently must not work in different orders."""
    shuffled = data.draw(st.permutations(tasks))
    one, other = TaskGraph(tasks), TaskGraph(shuffled)

    def rank(graph: TaskGraph, t: Task) -> tuple[int, bool, int]:
        return t.priority, t.status != "started", -len(graph.unblocks(t.id))

    ranks = [rank(one, t) for t in one.ready()]
    assert ranks == sorted(ranks) == [rank(other, t) for t in other.ready()]
    assert one.critical_path() == other.critical_path()
    assert one.cycle() == other.cycle()
    assert [t.id for t in other.ready()] == sorted(
        (t.id for t in other.ready()),
        key=lambda name: (rank(other, other.tasks[name]), shuffled.index(other.tasks[name])),
    )


@given(tasks=plans())
def test_the_critical_path_is_a_chain_of_open_work(tasks: list[Task]) -> None:
    """People plan their days by it."""
    graph = TaskGraph(tasks)
    path = graph.critical_path()
    assert all(not graph.tasks[name].is_closed for name in path)
    assert len(set(path)) == len(path)
    assert bool(path) == any(not t.is_closed for t in tasks)


@given(tasks=plans(statuses=("open", "done"), strangers=False, ordered=True), flat=st.booleans())
def test_the_critical_path_takes_as_many_steps_as_the_work(tasks: list[Task], flat: bool) -> None:
    """With hands enough, no plan ends sooner than its longest chain, nor later."""
    left = [replace(t, parent=None) if flat else replace(t, status="open") for t in tasks]
    graph, steps = TaskGraph(left), 0
    assume(graph.cycle() is None)
    while names := [t.id for t in TaskGraph(left).ready()]:
        left, steps = finished(left, *names), steps + 1
    assert len(graph.critical_path()) == steps


def test_the_critical_path_names_a_parent_between_its_part_and_what_needs_it() -> None:
    """Whoever waits for an epic waits until somebody closes it, and must see that."""
    plan = [task("part", parent="epic"), task("epic", kind="epic"), task("after", "epic")]
    assert TaskGraph(plan).critical_path() == ("part", "epic", "after")


def test_an_open_node_is_not_counted_as_closed_because_its_parts_are() -> None:
    """A goal that reads 1 of 1 looks finished while its only task is still open."""
    plan = [task("goal", kind="goal"), task("a", parent="goal"), task("a1", parent="a", status="done")]
    assert TaskGraph(plan).progress("goal") == (1, 2)
    assert TaskGraph(finished(plan, "a")).progress("goal") == (2, 2)


# The words.


def reasons(graph: TaskGraph, name: str) -> tuple[str, ...]:
    return next((w.reasons for w in graph.waiting() if w.task.id == name), ())


def test_reasons_are_said_in_words() -> None:
    """Whoever asks why must get an answer they can act on."""
    graph = TaskGraph(
        [
            task("TSK-g", kind="goal"),
            task("TSK-e", "TSK-q", kind="epic", parent="TSK-g"),
            task("TSK-q"),
            task("TSK-a", "TSK-q", "TSK-z", "TSK-d", parent="TSK-e", status="started"),
            task("TSK-b", status="blocked", reason="waiting for keys"),
            task("TSK-c", parent="TSK-b"),
            task("TSK-d", status="dropped", kind="milestone"),
            task("TSK-f", parent="TSK-d"),
            task("TSK-h", status="blocked"),
        ]
    )
    assert reasons(graph, "TSK-g") == ("has 1 open part",)
    assert reasons(graph, "TSK-e") == ("needs TSK-q (open)", "has 1 open part")
    assert reasons(graph, "TSK-a") == (
        "needs TSK-q (open)",
        "needs TSK-z, which is not on this branch",
        "its epic TSK-e needs TSK-q (open)",
    )
    assert reasons(graph, "TSK-b") == ("blocked: waiting for keys", "has 1 open part")
    assert reasons(graph, "TSK-c") == ("its task TSK-b is blocked: waiting for keys",)
    assert reasons(graph, "TSK-f") == ("its milestone TSK-d is dropped",)
    assert reasons(graph, "TSK-h") == ("blocked: no reason given",)
    assert [t.id for t in graph.ready()] == ["TSK-q"]
    assert graph.unblocks("TSK-q") == ()
    assert graph.standing("TSK-d") == ()


def test_ready_is_ordered_by_urgency_then_what_was_begun_then_what_it_frees_then_age() -> None:
    """The first line of `next` is what an agent takes."""
    graph = TaskGraph(
        [
            task("TSK-plain"),
            task("TSK-frees"),
            task("TSK-then", "TSK-frees"),
            task("TSK-begun", status="started"),
            task("TSK-urgent", priority=0),
            task("TSK-later", priority=4, status="started"),
            task("TSK-also"),
        ]
    )
    assert [t.id for t in graph.ready()] == [
        "TSK-urgent",
        "TSK-begun",
        "TSK-frees",
        "TSK-plain",
        "TSK-also",
        "TSK-later",
    ]
    assert graph.unblocks("TSK-frees") == ("TSK-then",)


def test_a_node_is_ready_to_be_closed_when_its_parts_are() -> None:
    """An epic nobody is told to close stays open for ever."""
    tasks = [task("TSK-e", kind="epic"), task("TSK-a", parent="TSK-e"), task("TSK-b", parent="TSK-e")]
    assert TaskGraph(tasks).unblocks("TSK-a") == ()
    half = finished(tasks, "TSK-a")
    assert TaskGraph(half).unblocks("TSK-b") == ("TSK-e",)
    assert [t.id for t in TaskGraph(finished(half, "TSK-b")).ready()] == ["TSK-e"]


def test_parts_come_free_with_what_their_epic_needs() -> None:
    """Finishing one thing may free a whole epic, and `next` should say so."""
    graph = TaskGraph(
        [
            task("TSK-e", "TSK-q", kind="epic"),
            task("TSK-a", parent="TSK-e"),
            task("TSK-b", parent="TSK-e"),
            task("TSK-q"),
        ]
    )
    assert graph.unblocks("TSK-q") == ("TSK-a", "TSK-b")
    assert graph.critical_path() == ("TSK-q", "TSK-a", "TSK-e")


def test_needing_ones_own_part_is_no_cycle() -> None:
    """An epic that names its parts as needs says only what holds anyway; it must not lock them all."""
    graph = TaskGraph([task("TSK-e", "TSK-a"), task("TSK-a", parent="TSK-e"), task("TSK-b", parent="TSK-e")])
    assert graph.cycle() is None
    assert [t.id for t in graph.ready()] == ["TSK-a", "TSK-b"]


@pytest.mark.parametrize(
    ("tasks", "ring"),
    [
        ([task("TSK-a", "TSK-b"), task("TSK-b", "TSK-a")], "TSK-a → TSK-b → TSK-a"),
        ([task("TSK-a", parent="TSK-b"), task("TSK-b", parent="TSK-a")], "TSK-a → TSK-b → TSK-a"),
        ([task("TSK-p"), task("TSK-c", "TSK-p", parent="TSK-p")], "TSK-c → TSK-p → TSK-c"),
        (
            [task("TSK-p", "TSK-q"), task("TSK-c", parent="TSK-p"), task("TSK-q", "TSK-c")],
            "TSK-c → TSK-p → TSK-q → TSK-c",
        ),
    ],
    ids=["needs", "parents", "a part that needs the whole", "through what the whole needs"],
)
def test_cycles_are_shown_and_their_nodes_wait(tasks: list[Task], ring: str) -> None:
    """Two branches, each without a cycle, merge into one with: nobody may hang, everybody must see it."""
    graph = TaskGraph(tasks)
    assert " → ".join(graph.cycle() or ()) == ring
    assert graph.ready() == []
    assert any(f"is part of a cycle: {ring}" in w.reasons for w in graph.waiting())
    assert all("is part of a cycle: " in w.reasons[0] for w in graph.waiting())
    assert TaskGraph(tasks[:-1]).cycle(tasks[-1]) is not None


def test_a_cycle_with_a_closed_node_holds_up_nobody() -> None:
    """What is done is done, whatever it once waited for; but saving such a circle anew is refused."""
    tasks = [task("TSK-a", "TSK-b", status="done"), task("TSK-b", "TSK-a")]
    assert [t.id for t in TaskGraph(tasks).ready()] == ["TSK-b"]
    assert TaskGraph(tasks[:1]).cycle(tasks[1]) == ("TSK-b", "TSK-a", "TSK-b")


def test_a_cycle_can_be_undone_edge_by_edge() -> None:
    """A refusal to save what makes a cycle better would lock people in."""
    a = task("TSK-a", "TSK-b", "TSK-c")
    graph = TaskGraph([a, task("TSK-b", "TSK-a"), task("TSK-c", "TSK-a")])
    assert graph.cycle(replace(a, needs=("TSK-b",))) is None
    assert graph.cycle(replace(a, title="another title")) is None
    assert graph.cycle(replace(a, needs=("TSK-b", "TSK-d"))) == ("TSK-a", "TSK-b", "TSK-a")


def test_taking_a_node_out_of_its_parent_may_make_a_cycle_elsewhere() -> None:
    """The one change whose cycle does not run through what was changed."""
    tasks = [
        task("TSK-p", "TSK-c"),
        task("TSK-m", parent="TSK-p"),
        task("TSK-c", "TSK-d", parent="TSK-m"),
        task("TSK-d", parent="TSK-p"),
    ]
    graph = TaskGraph(tasks)
    assert graph.cycle() is None
    assert graph.cycle(replace(tasks[1], parent=None)) is not None


class Loose:
    """A task as a quick command has it: plain attributes that nobody checked."""

    def __init__(self, name: str, needs: tuple[str, ...] = (), parent: str | None = None) -> None:
        self.id, self.needs, self.parent = name, needs, parent
        self.kind, self.status, self.priority, self.reason, self.title = "task", "open", 2, None, name


def test_unchecked_values_are_borne() -> None:
    """A file written by hand may need itself, or the same thing twice."""
    tasks = [Loose("a", ("a",)), Loose("b", ("c", "c")), Loose("c"), Loose("d", parent="d")]
    graph = TaskGraph(tasks)  # type: ignore[arg-type]
    assert reasons(graph, "a") == ("is part of a cycle: a → a", "needs a (open)")
    assert reasons(graph, "b") == ("needs c (open)",)
    assert reasons(graph, "d") == ("is part of a cycle: d → d", "has 1 open part")
    assert [t.id for t in graph.ready()] == ["c"]
    assert graph.unblocks("c") == ("b",)


def test_structure_is_told_in_the_order_given() -> None:
    """What is shown must not jump about between two looks."""
    graph = TaskGraph(
        [
            task("TSK-g", kind="goal"),
            task("TSK-b", parent="TSK-g", status="done"),
            task("TSK-a", parent="TSK-g"),
            task("TSK-x", parent="TSK-a", status="dropped"),
            task("TSK-y", parent="TSK-a"),
            task("TSK-o", parent="TSK-elsewhere"),
            task("TSK-1", parent="TSK-2"),
            task("TSK-2", parent="TSK-1"),
        ]
    )
    assert graph.children("TSK-g") == ("TSK-b", "TSK-a")
    assert graph.children("TSK-nobody") == ()
    assert graph.roots() == ("TSK-g", "TSK-o", "TSK-1")
    assert graph.progress("TSK-g") == (2, 4)
    assert graph.progress("TSK-a") == (1, 2)
    assert graph.progress("TSK-y") == (0, 0)
    assert graph.standing("TSK-o") == ()


@pytest.mark.parametrize("count", [2_500, pytest.param(10_000, marks=pytest.mark.torture)])
@pytest.mark.parametrize("shape", ["needs", "parents", "a ring of needs", "a ring of parents"])
def test_thousands_in_a_row_are_borne(shape: str, count: int) -> None:
    """A plan that was imported may be a chain; no stack may end and no time may grow with its square."""
    names = [f"TSK-{number:05}" for number in range(count)]
    before = [names[-1] if "ring" in shape else None, *names[:-1]]
    tasks = [
        task(name, *((other,) if other else ())) if "needs" in shape else task(name, parent=other)
        for name, other in zip(names, before, strict=True)
    ]
    graph = TaskGraph(tasks)
    assert len(graph.ready()) == ("ring" not in shape)
    assert len(graph.waiting()) == len(names) - len(graph.ready())
    assert len(graph.critical_path()) == {"needs": count, "parents": count}.get(shape, len(graph.critical_path()))
    assert len(graph.cycle() or ()) == (count + 1 if "ring" in shape else 0)
    assert len("; ".join(graph.waiting()[0].reasons)) < 400
    graph.progress(names[0])


def test_many_parts_below_many_needs_do_not_multiply() -> None:
    """A thousand needs of an epic with thousands of parts are not told to each part."""
    needs = [f"TSK-n{number}" for number in range(1000)]
    epic = task("TSK-e", *needs, kind="epic")
    graph = TaskGraph([epic, *(task(f"TSK-{number}", parent="TSK-e") for number in range(5000))])
    told = reasons(graph, "TSK-77")
    assert told[-1] == "its epic TSK-e needs 997 more"
    assert len(told) == 4


def test_a_tangle_of_thousands_is_said_without_hanging(seed: int) -> None:
    """A bad import may connect everything with everything."""
    chosen = random.Random(seed)
    names = [f"TSK-{number:04}" for number in range(2000)]
    tasks = [task(name, *(set(chosen.sample(names, 3)) - {name})) for name in names]
    waiting = TaskGraph(tasks).waiting()
    tangled = [w for w in waiting if w.reasons[0].startswith("is part of a cycle: ")]
    assert len(tangled) > 1000
    assert all(len(w.reasons[0]) < 200 for w in tangled)


def test_waiting_is_a_value() -> None:
    """Two equal answers are equal."""
    one = WaitingTask(task("TSK-a"), ("needs TSK-b (open)",))
    assert one == WaitingTask(task("TSK-a"), ("needs TSK-b (open)",))
    assert len({one, WaitingTask(task("TSK-a"), ("needs TSK-b (open)",))}) == 1
    assert one != "TSK-a"
