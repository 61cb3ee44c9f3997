"""Values behave as dataclasses do: each class is built both ways, and what one does the other does."""

import copy
import dataclasses
import inspect
import pickle
import re
import subprocess
import sys
from typing import Any, ClassVar, NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.values import FrozenValue, asdict, field, field_names, fields, frozen, grouped, is_value, mutable, replace

NAMES = ("a", "b", "c", "d", "e")
SORTS = ("required", "default", "factory", "uncompared")
NUMBERS = st.integers(-2, 2)


class Plan(NamedTuple):
    """A class to be built: each field's sort, how many fields a base has, and the options."""

    sorts: tuple[str, ...]
    inherited: int
    kw_only: bool
    order: bool
    eq: bool
    is_frozen: bool


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    kw_only, is_frozen = draw(st.booleans()), draw(st.booleans())
    if not is_frozen:  # `mutable` has no options
        kw_only = False
    sorts = draw(st.lists(st.sampled_from(SORTS), max_size=len(NAMES)))
    if not kw_only:  # what has a default comes last
        sorts.sort(key=lambda sort: sort not in ("required", "uncompared"))
    eq = not is_frozen or draw(st.booleans())
    order = is_frozen and eq and any(sort != "uncompared" for sort in sorts) and draw(st.booleans())
    return Plan(tuple(sorts), draw(st.integers(0, len(sorts))), kw_only, order, eq, is_frozen)


def body(plan: Plan, names: slice, make: Any) -> dict[str, Any]:
    space: dict[str, Any] = {"__annotations__": dict.fromkeys(NAMES[: len(plan.sorts)][names], "Any")}
    for name, sort in list(zip(NAMES, plan.sorts, strict=False))[names]:
        if sort == "default":
            space[name] = ord(name)
        elif sort == "factory":
            space[name] = make(default_factory=list)
        elif sort == "uncompared":
            space[name] = make(compare=False)
    return space | {"__module__": __name__, "constant": 7}


def built(plan: Plan) -> tuple[Any, Any]:
    """Our class, and the dataclass."""

    def ours(cls: type) -> Any:
        return frozen(kw_only=plan.kw_only, order=plan.order, eq=plan.eq)(cls) if plan.is_frozen else mutable(cls)

    def theirs(cls: type) -> Any:
        options = {"kw_only": plan.kw_only, "order": plan.order, "eq": plan.eq, "frozen": plan.is_frozen}
        return dataclasses.dataclass(slots=True, **options)(cls)

    made = []
    for decorate, make in ((ours, field), (theirs, dataclasses.field)):
        base = decorate(type("Base", (), body(plan, slice(plan.inherited), make)))
        made.append(decorate(type("Made", (base,), body(plan, slice(plan.inherited, None), make))))
    return made[0], made[1]


def outcome(act: Any) -> Any:
    """What something gives; of a failure its kind and its sentence."""
    try:
        return act()
    except (AttributeError, TypeError) as error:
        kind = AttributeError if isinstance(error, AttributeError) else TypeError
        return kind, re.sub(r"^.*?(Made|Base)\.", "", str(error)) if kind is TypeError else ""


def state(thing: Any) -> Any:
    return {name: getattr(thing, name) for name in NAMES if hasattr(thing, name)}


def made_of(cls: Any, args: tuple[Any, ...], given: dict[str, Any]) -> Any:
    thing = outcome(lambda: cls(*args, **given))
    return (state(thing), repr(thing)) if isinstance(thing, cls) else thing


FEW = st.lists(NUMBERS, max_size=len(NAMES) + 1).map(tuple)
NAMED = st.dictionaries(st.sampled_from((*NAMES, "other")), NUMBERS)


@given(plan=plans(), args=FEW, named=NAMED)
@example(Plan(("required", "default", "factory"), 1, False, False, True, True), (1,), {"c": 2})
@example(Plan(("default", "required"), 1, True, False, True, True), (), {"b": 2})
def test_a_constructor_takes_and_refuses_the_same(plan: Plan, args: tuple[int, ...], named: dict[str, int]) -> None:
    """A call that worked with a dataclass must not fail, nor the other way round."""
    ours, theirs = built(plan)
    for _ in range(2):  # the first compiles it
        assert made_of(ours, args, named) == made_of(theirs, args, named)
    assert list(inspect.signature(ours).parameters) == list(inspect.signature(theirs).parameters)


@given(plan=plans(), one=st.tuples(*[NUMBERS] * len(NAMES)), two=st.tuples(*[NUMBERS] * len(NAMES)))
def test_two_compare_and_hash_as_dataclasses_do(plan: Plan, one: tuple[int, ...], two: tuple[int, ...]) -> None:
    """A set or a sorted list would hold others than it did."""
    count = len(plan.sorts)
    answers = []
    for cls in built(plan):
        left, right = (cls(**dict(zip(NAMES, values[:count], strict=False))) for values in (one, two))
        answers.append([left == right, left != right, left == copy.copy(left), left == 7, kind_of_hash(left, right)])
        if plan.order:
            answers[-1] += [left < right, left <= right, left > right, left >= right]
            with pytest.raises(TypeError):
                assert left < 7
    assert answers[0] == answers[1]


def kind_of_hash(left: Any, right: Any) -> str:
    """Whether two can be hashed, and whether equal ones are equal in sets."""
    try:
        return "kept apart" if left == right and hash(left) != hash(right) else "hashed"
    except TypeError:
        return "none"


@given(plan=plans(), values=st.tuples(*[NUMBERS] * len(NAMES)), change=NUMBERS)
def test_a_value_is_copied_replaced_and_fixed_as_a_dataclass_is(
    plan: Plan, values: tuple[int, ...], change: int
) -> None:
    """What is fixed may be shared; what is changed in a copy must not change the first."""
    ours, theirs = built(plan)
    given = dict(zip(NAMES, values[: len(plan.sorts)], strict=False))
    mine, other = ours(**given), theirs(**given)
    assert asdict(mine) == dataclasses.asdict(other) == given
    assert [(one.name, one.type, one.kw_only, one.compare) for one in fields(mine)] == [
        (one.name, one.type, one.kw_only, one.compare) for one in dataclasses.fields(other)
    ]
    assert field_names(ours) == tuple(given) and ours.__match_args__ == theirs.__match_args__
    assert is_value(mine) and not is_value(ours) and not is_value(other)
    assert mine.constant == 7 and not hasattr(mine, "__dict__")
    for twin in (copy.copy(mine), copy.deepcopy(mine), replace(mine)):
        assert type(twin) is ours and state(twin) == state(mine) and twin is not mine
    for name in (*given, "other"):
        changes = {name: change}
        assert outcome(lambda c=changes: state(replace(mine, **c))) == outcome(
            lambda c=changes: state(dataclasses.replace(other, **c))
        )
    for name in given:
        for act in (lambda x, n=name: setattr(x, n, change), lambda x, n=name: delattr(x, n)):
            assert outcome(lambda a=act: a(mine)) == outcome(lambda a=act: a(other))
            assert state(mine) == state(other)
    with pytest.raises(AttributeError):
        mine.other = 1


@frozen
class Spot:
    """A value for the tests below."""

    x: int
    y: int = 0
    origin: ClassVar[str] = "corner"


@mutable
class Bag:
    """A holder of values."""

    spots: list[Spot] = field(default_factory=list)
    named: dict[str, Spot] = field(default_factory=dict)
    pair: Any = None


class Pair(NamedTuple):
    """A tuple with names."""

    left: Spot
    right: int


def test_a_value_is_matched_by_position_and_by_name() -> None:
    """`match` over kinds of memory decides what an agent may see."""
    match Spot(1, 2):
        case Spot(1, y=found):
            assert found == 2
        case _:
            pytest.fail("not matched")


def test_a_field_of_a_frozen_value_cannot_be_set() -> None:
    """Values are shared between caches; who changed one would change all."""
    spot = Spot(1)
    with pytest.raises(FrozenValue, match=r"^Spot\.x is fixed$"):
        spot.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenValue, match=r"^Spot\.y is fixed$"):
        del spot.y
    assert spot == Spot(1, 0) and Spot.origin == spot.origin == "corner"


def test_each_instance_has_a_list_of_its_own() -> None:
    """A shared list would carry one run's words into the next."""
    one, two = Bag(), Bag()
    one.spots.append(Spot(1))
    assert two.spots == [] and two == Bag()
    with pytest.raises(TypeError, match="share the default of things"):

        @frozen
        class _Shared:
            things: list[int] = []  # noqa: RUF012 - this is what is refused


def test_values_inside_values_become_dictionaries() -> None:
    """What is written to disk must not hold an object of ours."""
    bag = Bag([Spot(1)], {"a": Spot(2)}, Pair(Spot(3), 4))
    x = {"y": 0}
    assert asdict(bag) == {"spots": [{"x": 1} | x], "named": {"a": {"x": 2} | x}, "pair": Pair({"x": 3} | x, 4)}


def test_a_value_can_be_pickled() -> None:
    """Workers of a pool are given values."""
    assert pickle.loads(pickle.dumps(Spot(1, 2))) == Spot(1, 2)


def test_what_a_class_writes_itself_is_kept() -> None:
    """Some refuse bad values, compare by an id alone or show less of a secret."""

    @frozen
    class Checked:
        id: int
        note: str = ""

        def __post_init__(self) -> None:
            if self.id < 0:
                raise ValueError(self.id)

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Checked) and other.id == self.id

        def __hash__(self) -> int:
            return self.id

        def __repr__(self) -> str:
            return f"<{self.id}>"

    assert Checked(1, "a") == Checked(1, "b") and hash(Checked(9)) == 9 and repr(Checked(1)) == "<1>"
    with pytest.raises(ValueError, match="-1"):
        Checked(-1)
    assert Checked.__qualname__.endswith("<locals>.Checked")


def test_the_constructor_is_compiled_when_it_is_first_called() -> None:
    """A start that loads a hundred classes uses ten; `dataclasses` itself would load `inspect`."""
    code = (
        "import builtins, sys; compiled = []; old = builtins.exec\n"
        "import holdfast.values as v\n"
        "builtins.exec = lambda *a: (compiled.append(a[0]), old(*a))\n"
        "class A:\n    x: int = 0\n"
        "B = v.frozen(A); before = len(compiled); B(1); B(2)\n"
        "loaded = {'typing', 'dataclasses', 'inspect', 're'} & set(sys.modules)\n"
        "print(before, len(compiled), sorted(loaded))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0 1 []\n"


def test_what_is_grouped_keeps_its_order() -> None:
    """Answers would change from one run to the next."""
    assert list(grouped([("b", 1), ("a", 2), ("b", 3)]).items()) == [("b", [1, 3]), ("a", [2])]
