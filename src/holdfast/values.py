"""Defines small classes of named fields at almost no cost at import.

`@frozen` replaces `@dataclass(frozen=True, slots=True)`, and `@mutable` replaces `@dataclass(slots=True)`. A dataclass
compiles its methods when its module is imported, about 0.9 ms each, and a command that loads a hundred of them waits
for all; here the constructor is compiled when the first instance is created, and comparing needs no compiled code
(docs/adr/0025).
"""

from __future__ import annotations

from operator import attrgetter

TYPE_CHECKING = False  # `typing` itself would cost every start
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, TypeVar, dataclass_transform

    K = TypeVar("K")
    T = TypeVar("T")
else:

    def dataclass_transform(**_):
        return lambda function: function


_MAKERS: dict[Any, Callable[..., Any]] = {}
MISSING: Any = object()  # the default of a field that has none


class FrozenValue(AttributeError):
    """Raised on assignment to a field of a frozen value; use `replace`."""


class ValueField:
    """One field of a value, with its default."""

    __slots__ = ("compare", "default", "default_factory", "kw_only", "name", "type")

    def __init__(self, default: Any, default_factory: Any, compare: bool) -> None:
        self.name, self.kw_only = "", False
        self.type: Any = None  # the annotation
        self.default, self.default_factory, self.compare = default, default_factory, compare


def field(*, default: Any = MISSING, default_factory: Any = MISSING, compare: bool = True) -> Any:
    """Returns a field with a default, a default built for each instance, or one that comparisons ignore."""
    return ValueField(default, default_factory, compare)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: Any = None, /, *, kw_only: bool = False, order: bool = False, eq: bool = True) -> Any:
    """Makes a class of annotated names a value: immutable, and compared by its fields."""

    def build(cls: Any) -> Any:
        return _build(cls, kw_only=kw_only, order=order, eq=eq, is_frozen=True)

    return build if cls is None else build(cls)


@dataclass_transform(field_specifiers=(field,))
def mutable(cls: Any) -> Any:
    """Makes a class of annotated names a value whose fields may be assigned to."""
    return _build(cls, kw_only=False, order=False, eq=True, is_frozen=False)


def grouped(pairs: Iterable[tuple[K, T]]) -> dict[K, list[T]]:
    """Returns the second items of the pairs grouped by the first ones, both in their original order."""
    found: dict[K, list[T]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def dict_of(value: object) -> dict[str, Any]:
    """Returns a value from foreign JSON if it is an object, else an empty dictionary."""
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    """Returns a value from foreign JSON if it is a list, else an empty list."""
    return value if isinstance(value, list) else []


def dicts_of(value: object) -> list[dict[str, Any]]:
    """Returns the objects of a list in foreign JSON; leaves out other items."""
    return [item for item in list_of(value) if isinstance(item, dict)]


def fields(of: Any) -> tuple[ValueField, ...]:
    """Returns the fields of a value or of its class, in the order of the constructor."""
    found: tuple[ValueField, ...] = of.__fields__
    return found


def field_names(of: Any) -> tuple[str, ...]:
    """Returns the names of the fields."""
    return tuple(one.name for one in fields(of))


def is_value(thing: object) -> bool:
    """Returns whether something is an instance of a class made by `frozen` or `mutable`."""
    return hasattr(type(thing), "__fields__")


def replace(old: T, /, **changes: Any) -> T:
    """Returns a copy of a value with some fields changed."""
    return type(old)(**{one.name: getattr(old, one.name) for one in fields(old)} | changes)


def asdict(thing: Any) -> dict[str, Any]:
    """Returns a value, and all values in it, as plain dictionaries."""
    return {one.name: _plain(getattr(thing, one.name)) for one in fields(thing)}


def _plain(thing: Any) -> Any:
    if is_value(thing):
        return asdict(thing)
    if isinstance(thing, (list, tuple)):
        plain = map(_plain, thing)
        return type(thing)(*plain) if hasattr(thing, "_fields") else type(thing)(plain)  # a NamedTuple, or not
    if isinstance(thing, dict):
        return {key: _plain(one) for key, one in thing.items()}
    return thing


def _build(cls: Any, *, kw_only: bool, order: bool, eq: bool, is_frozen: bool) -> Any:
    space = dict(cls.__dict__)
    inherited = {one.name: one for base in reversed(cls.__mro__[1:]) for one in base.__dict__.get("__fields__", ())}
    found = inherited | {one.name: one for one in _own_fields(space, kw_only)}
    every = tuple(found.values())
    for name in ("__dict__", "__weakref__", *found):
        space.pop(name, None)
    space["__qualname__"] = cls.__qualname__
    space["__slots__"] = tuple(name for name in found if name not in inherited)
    space["__fields__"] = every
    space["__match_args__"] = tuple(one.name for one in every if not one.kw_only)
    space.setdefault("__repr__", _shown)
    if eq:
        _compare(space, every, order=order, is_frozen=is_frozen)
    if is_frozen:
        space["__setattr__"] = space["__delattr__"] = _refuse
        space["__reduce__"] = _reduce
    made = type(cls)(cls.__name__, cls.__bases__, space)
    if "__init__" not in space:
        made.__init__ = _compiled_on_first_use(made, every, is_frozen)
    return made


def _own_fields(space: Mapping[str, Any], kw_only: bool) -> list[ValueField]:
    own = []
    for name, kind in space.get("__annotations__", {}).items():
        if "ClassVar" in str(kind):
            continue
        default = space.get(name, MISSING)
        one = default if isinstance(default, ValueField) else ValueField(default, MISSING, True)
        if type(one.default).__hash__ is None:
            raise TypeError(f"all instances would share the default of {name}: use field(default_factory=...)")
        one.name, one.type, one.kw_only = name, kind, kw_only
        own.append(one)
    return own


def _compare(space: dict[str, Any], every: tuple[ValueField, ...], *, order: bool, is_frozen: bool) -> None:
    names = [one.name for one in every if one.compare]
    # With a single name, attrgetter would not return a tuple.
    get: Any = attrgetter(*names, names[0]) if names else type

    def equal(self: Any, other: Any) -> Any:
        return get(self) == get(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: Any) -> int:
        return hash(get(self))

    def before(self: Any, other: Any) -> Any:
        return get(self) < get(other) if other.__class__ is self.__class__ else NotImplemented

    def not_after(self: Any, other: Any) -> Any:
        return get(self) <= get(other) if other.__class__ is self.__class__ else NotImplemented

    space.setdefault("__eq__", equal)
    if "__hash__" not in space or space["__hash__"] is None:
        space["__hash__"] = hashed if is_frozen else None
    if order:
        space["__lt__"], space["__le__"] = before, not_after  # Python uses these for > and >=, too


def _compiled_on_first_use(cls: Any, every: tuple[ValueField, ...], is_frozen: bool) -> Callable[..., None]:
    def __init__(self: Any, *args: Any, **given: Any) -> None:
        cls.__init__ = _constructor(cls, every, is_frozen)
        cls.__init__(self, *args, **given)

    return __init__


def _constructor(cls: Any, every: tuple[ValueField, ...], is_frozen: bool) -> Any:
    """Compiles the constructor that one would write by hand."""
    scope: dict[str, Any] = {"_missing": MISSING}
    first: list[str] = []
    later: list[str] = []
    body = []
    for one in every:
        name, given = one.name, one.name
        if one.default_factory is not MISSING:
            scope[f"_make_{name}"] = one.default_factory
            given, parameter = f"_make_{name}() if {name} is _missing else {name}", f"{name}=_missing"
        elif one.default is not MISSING:
            scope[f"_default_{name}"] = one.default
            parameter = f"{name}=_default_{name}"
        else:
            parameter = name
        (later if one.kw_only else first).append(parameter)
        scope[f"_set_{name}"] = getattr(cls, name).__set__
        body.append(f"_set_{name}(self, {given})" if is_frozen else f"self.{name} = {given}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    parameters = ", ".join(["self", *first, *(["*", *later] if later else [])])
    exec(f"def __init__({parameters}):\n " + "\n ".join(body or ["pass"]), scope)
    made = scope["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _shown(self: Any) -> str:
    inside = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self))
    return f"{type(self).__qualname__}({inside})"


def _reduce(self: Any) -> tuple[Any, ...]:
    """Tells `copy` and `pickle` to use `put_together`: by default they would assign to the fields."""
    return put_together, (type(self), *(getattr(self, one.name) for one in fields(self)))


def put_together(cls: Any, *given: Any) -> Any:
    """Returns a value with these fields, in their order, which the caller has checked."""
    make = _MAKERS.get(cls)
    if make is None:
        make = _MAKERS[cls] = _maker(cls)
    return make(*given)


def _maker(cls: Any) -> Callable[..., Any]:
    """Compiles a function that sets all fields: ten thousand memories are built at a time."""
    names = [one.name for one in fields(cls)]
    scope: dict[str, Any] = {
        "new": cls.__new__,
        "cls": cls,
        **{f"_set_{name}": getattr(cls, name).__set__ for name in names},
    }
    body = ["made = new(cls)", *(f"_set_{name}(made, {name})" for name in names), "return made"]
    exec(f"def make({', '.join(names)}):\n " + "\n ".join(body), scope)
    made: Callable[..., Any] = scope["make"]
    return made


def _refuse(self: object, name: str, *_: object) -> None:
    raise FrozenValue(f"{type(self).__name__}.{name} is fixed")
