"""A task: one node of the work graph, be it a goal, a milestone, an epic, a task or a subtask.

    open -> started -> done
         -> blocked (by something outside the graph), dropped; any of them may be opened again

What a node needs and what it is part of are edges by id; whether those nodes are here is for the graph to say
(`work.task_graph`), because a branch may not have them yet. A link is a canonical artefact of the
project: a file, an address or a commit with a title.
"""

import re
from collections.abc import Callable

from holdfast.errors import BadInput, TooLarge
from holdfast.model import evidence as receipts
from holdfast.model.ids import ID_RULE, LAYER_RULE, check_list, field_rule, is_id
from holdfast.model.text import has_hidden
from holdfast.patterns import regex
from holdfast.values import field, frozen

KINDS = ("goal", "milestone", "epic", "task", "subtask")
PLANS = ("goal", "milestone", "epic")  # whoever makes one says where it stands in the whole
STATUSES = ("open", "started", "blocked", "done", "dropped")
CLOSED = ("done", "dropped")
LINK_KINDS = ("path", "url", "commit")
FIELDS = (  # in the order a file names them
    "id", "kind", "title", "status", "needs", "parent", "owner", "priority", "layer", "systemic_scale",
    "impact", "evidence", "acceptance", "checks", "checkpoint", "reason",
)  # fmt: skip
LINK_FIELDS = ("id", "title", "target", "kind")
LISTS = ("needs", "evidence", "acceptance", "checks")
LOWEST = 4  # priorities run from 0, the most urgent, to this
MAX_TITLE = 500  # characters; a guess: one line
MAX_TEXT = 2000  # characters; a guess: a paragraph
MAX_NOTES = 256 * 1024  # bytes; a guess: pages, not a document
MAX_ITEMS = 1000  # a guess: bounds one file
_CONFLICT = regex(r"^(?:<{7}|\|{7}|>{7})", re.MULTILINE)
_URL = regex(r"[a-z][a-z0-9+.-]{1,20}:(?://)?[^\s<>\"]{1,2000}", re.IGNORECASE)
_CHECK = regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_PATCH = regex(r"[0-9a-f]{40}|[0-9a-f]{64}")


@frozen(kw_only=True)
class Checkpoint:
    """Where in git a milestone was reached, in the ways that find it again after a rewrite."""

    commit: str
    tree: str
    patch_id: str | None = None

    def __post_init__(self) -> None:
        if not all(map(receipts.is_oid, (self.commit, self.tree))):
            raise BadInput("checkpoint does not name a commit and its tree by their full ids")
        if self.patch_id is not None and not _PATCH.fullmatch(self.patch_id):
            raise BadInput(f"checkpoint: {self.patch_id!r} is not a patch-id")

    def words(self) -> tuple[str, ...]:
        """The checkpoint as the list a file holds."""
        named = (f"commit:{self.commit}", f"tree:{self.tree}")
        return (*named, f"patch:{self.patch_id}") if self.patch_id else named

    @classmethod
    def of(cls, words: tuple[str, ...]) -> "Checkpoint":
        """The checkpoint that a list of words names."""
        known = dict(word.partition(":")[::2] for word in words)
        if len(known) != len(words) or not {"commit", "tree"} <= set(known) <= {"commit", "tree", "patch"}:
            raise BadInput("checkpoint must be [commit:…, tree:…, patch:…]")
        return cls(commit=known["commit"], tree=known["tree"], patch_id=known.get("patch"))


@frozen(kw_only=True)
class Task:
    """One node of the work graph."""

    id: str
    title: str
    kind: str = "task"
    status: str = "open"
    needs: tuple[str, ...] = ()
    parent: str | None = None
    owner: str | None = None
    priority: int = 2
    layer: str | None = None
    systemic_scale: int | None = None
    impact: str | None = None
    evidence: tuple[str, ...] = ()
    acceptance: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()  # names; the commands are in each user's own settings
    checkpoint: Checkpoint | None = None
    reason: str | None = None  # why it is blocked or was dropped
    notes: str = ""
    extra: tuple[tuple[str, str], ...] = field(default=())  # fields we do not know, as they were written

    def __post_init__(self) -> None:
        for name, rule in CHECKS.items():
            rule(getattr(self, name))
        if self.id in self.needs or self.parent == self.id:
            raise BadInput(f"{self.id} cannot need itself or be part of itself")

    @property
    def is_closed(self) -> bool:
        return self.status in CLOSED


@frozen(kw_only=True)
class Link:
    """A canonical artefact of the project."""

    id: str
    title: str
    target: str
    kind: str
    notes: str = ""
    extra: tuple[tuple[str, str], ...] = field(default=())

    def __post_init__(self) -> None:
        for name, rule in LINK_CHECKS.items():
            rule(getattr(self, name))
        if not _TARGETS[self.kind](self.target):
            raise BadInput(f"target {self.target[:200]!r} is no {self.kind}")


def link_kind(target: str) -> str:
    """What a target is, by its form: a full commit id, an address, else a path."""
    if receipts.is_oid(target):
        return "commit"
    return "url" if _URL.fullmatch(target) and "://" in target else "path"


# What each field may hold. Each rule raises BadInput with a sentence that names the field.


def _one_line(name: str, value: object, limit: int) -> str:
    if not isinstance(value, str):
        raise BadInput(f"{name} must be text")
    if len(value) > limit:
        raise TooLarge(f"{name} has {len(value):,} characters; at most {limit:,} are kept")
    if has_hidden(value) or "\n" in value or value != value.strip():
        raise BadInput(f"{name} must be one line with nothing hidden in it")
    return value


def _check_title(value: object) -> None:
    if not _one_line("title", value, MAX_TITLE):
        raise BadInput("title is empty", hint="Say in a few words what is to be done.")


def _optional_line(name: str) -> Callable[[object], None]:
    def check(value: object) -> None:
        if value is not None and not _one_line(name, value, MAX_TEXT):
            raise BadInput(f"{name} is empty; leave it out instead")

    return check


def _among(name: str, words: tuple[str, ...]) -> Callable[[object], None]:
    return field_rule(lambda value: value in words, f"{name} {{!r}} is not one of {', '.join(words)}")


def _check_needs(value: object) -> None:
    for item in check_list("needs", value, MAX_ITEMS):
        if not is_id(item):
            raise BadInput(f"needs: {item[:200]!r} is not an id")


def _check_evidence(value: object) -> None:
    for item in check_list("evidence", value, MAX_ITEMS):
        receipts.parse_evidence(item)


def _check_acceptance(value: object) -> None:
    for item in check_list("acceptance", value, MAX_ITEMS):
        if not _one_line("acceptance", item, MAX_TEXT):
            raise BadInput("acceptance has an empty line")


def _check_checks(value: object) -> None:
    for item in check_list("checks", value, MAX_ITEMS):
        if not _CHECK.fullmatch(item):
            raise BadInput(f"checks: {item[:200]!r} is not the name of a check", hint="Use a short name, such as test.")


_priority = field_rule(
    lambda value: type(value) is int and 0 <= value <= LOWEST,
    f"priority {{!r}} is not a number from 0 (most urgent) to {LOWEST}",
)
_scale = field_rule(
    lambda value: value is None or (type(value) is int and 0 <= value < 2**31),
    "systemic_scale {!r} is not a whole number",
)
_parent = field_rule(
    lambda value: value is None or (isinstance(value, str) and is_id(value)), "parent {!r} is not an id"
)
_checkpoint = field_rule(
    lambda value: value is None or isinstance(value, Checkpoint), "checkpoint does not name a commit"
)


def _check_notes(value: object) -> None:
    if not isinstance(value, str) or "\r" in value or "\x00" in value or value != value.strip("\n"):
        raise BadInput("notes must be text with plain line breaks and no empty line around it")
    if len(value) > MAX_NOTES:
        raise TooLarge(f"notes have {len(value):,} characters; at most {MAX_NOTES:,} are kept")
    if _CONFLICT.search(value):
        raise BadInput("notes look like an unresolved merge", hint="Indent the lines that look so.")


def _check_target(value: object) -> None:
    if not _one_line("target", value, MAX_TEXT):
        raise BadInput("target is empty", hint="Name a path, an address or a commit.")


CHECKS: dict[str, Callable[[object], None]] = {
    "id": ID_RULE,
    "kind": _among("kind", KINDS),
    "title": _check_title,
    "status": _among("status", STATUSES),
    "needs": _check_needs,
    "parent": _parent,
    "owner": _optional_line("owner"),
    "priority": _priority,
    "layer": LAYER_RULE,
    "systemic_scale": _scale,
    "impact": _optional_line("impact"),
    "evidence": _check_evidence,
    "acceptance": _check_acceptance,
    "checks": _check_checks,
    "checkpoint": _checkpoint,
    "reason": _optional_line("reason"),
    "notes": _check_notes,
}
LINK_CHECKS: dict[str, Callable[[object], None]] = {
    "id": ID_RULE,
    "title": _check_title,
    "target": _check_target,
    "kind": _among("kind", LINK_KINDS),
    "notes": _check_notes,
}
_TARGETS: dict[str, Callable[[str], object]] = {
    "path": lambda target: receipts.is_tracked_path(target.removesuffix("/")),
    "url": _URL.fullmatch,
    "commit": receipts.is_oid,
}
