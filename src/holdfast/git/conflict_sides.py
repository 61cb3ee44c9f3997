"""Two texts of one entry, compared field by field, and what a person's choices make of them.

The sides come from git's index, where it keeps a file it could not merge as stages 1 (before), 2 (ours) and 3
(theirs), or from conflict markers in a text, whoever left them there. "Ours" means what git means by it: in a rebase
it is what one rebases onto. A choice is `ours`, `theirs` or a value, for one field or, under EVERY, for all that are
in dispute; what is not in dispute is merged. Where conflicts are found and stored is `merge_conflicts`' work.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.errors import BadInput, BrokenEntry, InConflict, TooLarge
from holdfast.git.git_memo import listed_rows
from holdfast.git.repo import Repo
from holdfast.model import memory as memories
from holdfast.model import task as rules
from holdfast.patterns import regex
from holdfast.store import frontmatter, markdown_document, memory_files, task_files
from holdfast.store.frontmatter import read as read_front
from holdfast.store.markdown_document import MarkdownClash
from holdfast.values import field, frozen, mutable

_OURS = regex(r"<{7}(?: (.*))?")
_BASE = regex(r"\|{7}(?: .*)?")
_THEIRS = regex(r"={7}")
_END = regex(r">{7}(?: (.*))?")


@frozen
class MarkedText:
    """The sides of a text with conflict markers, whole, and what the markers call them."""

    ours: str
    theirs: str
    base: str | None  # None: the markers do not tell
    called_ours: str
    called_theirs: str


@mutable
class _Reading:
    """The sides as far as they have been read."""

    ours: list[str] = field(default_factory=list)
    base: list[str] = field(default_factory=list)
    theirs: list[str] = field(default_factory=list)
    names: list[tuple[str, str]] = field(default_factory=list)
    within: str = ""  # the side that the lines belong to; none: all of them
    hunks: int = 0
    bases: int = 0
    sound: bool = True

    def take(self, line: str) -> None:
        """Read one line: a marker where one may stand, else content."""
        within = self.within
        if not within and (found := _OURS.fullmatch(line)):
            self.within, self.hunks = "ours", self.hunks + 1
            self.names.append((found[1] or "", ""))
        elif within == "ours" and _BASE.fullmatch(line):
            self.within, self.bases = "base", self.bases + 1
        elif within in ("ours", "base") and _THEIRS.fullmatch(line):
            self.within = "theirs"
        elif within == "theirs" and (found := _END.fullmatch(line)):
            self.within = ""
            self.names[-1] = (self.names[-1][0], found[1] or "")
        else:
            # A marker where none belongs: nobody can say whose lines these are.
            self.sound = self.sound and not any(marker.fullmatch(line) for marker in (_OURS, _BASE, _END))
            for name in (within,) if within else ("ours", "base", "theirs"):
                getattr(self, name).append(line)


def split_markers(text: str) -> MarkedText | None:
    """The sides of a text; None if it has no markers, or they do not fit together."""
    if "<<<<<<<" not in text:
        return None
    reading = _Reading()
    for line in text.replace("\r\n", "\n").split("\n"):
        reading.take(line)
    if not reading.hunks or reading.within or not reading.sound:
        return None
    ours, theirs = (next(filter(None, side), "") for side in zip(*reading.names, strict=True))
    base = "\n".join(reading.base) if reading.bases == reading.hunks else None
    return MarkedText("\n".join(reading.ours), "\n".join(reading.theirs), base, ours, theirs)


WHOLE = "the whole file"
EVERY = "*"
OURS, THEIRS = "ours", "theirs"
_NUMBERS = ("priority", "systemic_scale")


@frozen
class ConflictSide:
    """What one side says, and who that is; no text: it deleted the file."""

    text: str | None
    origin: str


@frozen
class FieldClash:
    """A field that both sides changed, each in its own way."""

    name: str
    base: Any
    ours: Any
    theirs: Any
    stands: Any = None  # what a merge made of it


@frozen
class EntryConflict:
    """One entry of which two sides say different things."""

    path: str
    id: str
    kind: str  # "waiting", "edited", "unmerged", "marked", "committed" or "overruled"
    base: str | None
    ours: ConflictSide
    theirs: ConflictSide
    fields: tuple[FieldClash, ...]
    merged: str | None = None  # the text in which both sides are heard, where nobody has to choose
    stands: str | None = None  # the text that a merge made of it

    @property
    def is_memory(self) -> bool:
        return task_files.reader(self.path) is None


def parts(path: str, text: str) -> dict[str, Any]:
    """An entry's fields by name; BrokenEntry if it cannot be read."""
    read = task_files.reader(path)
    if read is not None:
        return task_files.parts(read(text, path))
    memory = memory_files.parse(text, path)
    known = {"status": memories.status(memory), "statement": memory.statement, "details": memory.details}
    known |= {name: getattr(memory, name) for name in memories.SHARED}
    return known | {f"+{name}": raw for name, raw in memory.extra}


def identity(path: str, *texts: str | None) -> str:
    """The id of an entry: what any of its texts says, else what its file is called."""
    for text in texts:
        try:
            return str(parts(path, text or "")["id"])
        except BrokenEntry:
            continue
    stem = path.rsplit("/", 1)[-1].removesuffix(".md")
    words = stem.split("-")
    kind = next((place for place, word in enumerate(words) if word.isupper() and len(word) == 3), None)
    return "-".join(words[kind:]) if kind is not None else stem


def compare(
    path: str, base: str | None, ours: str | None, theirs: str | None, *, base_known: bool = True
) -> tuple[tuple[FieldClash, ...], str | None]:
    """The fields in dispute, and the merged text if there are none."""
    whole = (FieldClash(WHOLE, base, ours, theirs),), None
    if ours is None or theirs is None:
        return whole
    try:
        mine, other = parts(path, ours), parts(path, theirs)
        merged = _all_that_differs(mine, other, ours) if not base_known else task_files.merge(path, base, ours, theirs)
        before = parts(path, base) if base else {}
    except (BrokenEntry, BadInput, TooLarge):
        return whole
    if isinstance(merged, str):
        return (), merged
    clashes = (FieldClash(n, before.get(n), mine.get(n), other.get(n)) for n in merged.fields)
    return tuple(clashes), None


def _all_that_differs(mine: Mapping[str, Any], other: Mapping[str, Any], text: str) -> MarkdownClash | str:
    """Where nobody knows what was there before, every difference is for a person to decide."""
    names = tuple(name for name in dict.fromkeys([*mine, *other]) if mine.get(name) != other.get(name))
    return MarkdownClash(names) if names else text


def settled(conflict: EntryConflict, choices: Mapping[str, str]) -> str | None:
    """The text that some choices make of a conflict; None: the file goes."""
    if not choices:
        if conflict.merged is None:
            raise _undecided(conflict, [clash.name for clash in conflict.fields])
        return conflict.merged
    if any(clash.name == WHOLE for clash in conflict.fields):
        return _whole(conflict, choices)
    mine, other = (parts(conflict.path, side.text or "") for side in (conflict.ours, conflict.theirs))
    chosen = _chosen(conflict, choices, mine, other)
    if conflict.stands is not None:
        return _rendered(conflict, {**parts(conflict.path, conflict.stands), **chosen})
    before = parts(conflict.path, conflict.base) if conflict.base else {}
    texts = {"base": before, "ours": {**mine, **chosen}, "theirs": {**other, **chosen}}
    fields: dict[str, Any] = {}

    def keep(found: dict[str, Any]) -> str:
        fields.update(found)  # rendered below: what is wrong with them has words of its own
        return ""

    sides = ("base", "ours", "theirs")
    merged = markdown_document.merge(sides, parts=texts.__getitem__, joined=keep, lists=rules.LISTS)
    if isinstance(merged, MarkdownClash):
        raise _undecided(conflict, merged.fields)
    return _rendered(conflict, fields)


def _whole(conflict: EntryConflict, choices: Mapping[str, str]) -> str | None:
    choice = choices.get(EVERY, choices.get(WHOLE))
    if choice not in (OURS, THEIRS):
        raise InConflict(
            f"{conflict.id}: the sides cannot be compared field by field",
            hint=f"Take one of them: holdfast task resolve {conflict.id} --ours (or --theirs)",
        )
    text = (conflict.ours if choice == OURS else conflict.theirs).text
    if text is not None:
        parts(conflict.path, text)
        text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    return text


def _chosen(
    conflict: EntryConflict, choices: Mapping[str, str], mine: Mapping[str, Any], other: Mapping[str, Any]
) -> dict[str, Any]:
    """What the fields become that somebody chose."""
    disputed = [clash.name for clash in conflict.fields]
    if unknown := sorted(set(choices) - {EVERY} - {*mine, *other} | {"id"} & set(choices)):
        raise BadInput(
            f"{conflict.id} has no field {', '.join(unknown)} to choose",
            hint=f"In dispute: {', '.join(disputed) or 'none'}",
        )
    wanted = {name: choices.get(name, choices.get(EVERY)) for name in disputed} | {
        name: choice for name, choice in choices.items() if name != EVERY
    }
    if open_ones := [name for name, choice in wanted.items() if choice is None and not conflict.stands]:
        raise _undecided(conflict, open_ones)
    sides = {OURS: mine, THEIRS: other}
    return {
        name: sides[choice].get(name) if choice in sides else value(name, choice)
        for name, choice in wanted.items()
        if choice is not None
    }


def _undecided(conflict: EntryConflict, names: "list[str] | tuple[str, ...]") -> InConflict:
    said = f"{conflict.id}: both sides changed {', '.join(names)}"
    one = names[0] if names and names[0] != WHOLE else None
    field = f", or field by field: --field {one}=ours" if one else ""
    return InConflict(said, hint=f"Choose: holdfast task resolve {conflict.id} --ours or --theirs{field}")


def value(name: str, text: str) -> Any:
    """What somebody typed for a field, in the form the field has."""
    if name == "notes":
        return text.replace("\r\n", "\n").strip("\n")
    if name.startswith("+"):
        return f"{name[1:]}: {text}"
    if name in rules.LISTS or name == "checkpoint":
        items = _items(text)
        return (rules.Checkpoint.of(items) if items else None) if name == "checkpoint" else items
    if text.strip() in ("", "null"):
        return None
    if name in _NUMBERS:
        if not (text.strip().isascii() and text.strip().isdigit() and len(text) < 12):
            raise BadInput(f"{name} {text[:40]!r} is not a whole number")
        return int(text)
    return " ".join(text.split())


def _items(text: str) -> tuple[str, ...]:
    """A list as a file has it, or words with commas between them."""
    if text.strip().startswith("["):
        try:
            found = read_front(f"list: {text.strip()}")[0].value
        except frontmatter.BadFront as error:
            raise BadInput(f"{text[:80]!r} is not a list: {error.reason}") from None
        if isinstance(found, tuple):
            return found
    return tuple(dict.fromkeys(item.strip() for item in text.split(",") if item.strip()))


def _rendered(conflict: EntryConflict, fields: dict[str, Any]) -> str:
    """The file for some fields, read back once: what cannot be read is never written."""
    new = task_files.render(task_files.joined(conflict.path, fields))
    text = markdown_document.laid_out(new, *filter(None, (conflict.ours.text, conflict.theirs.text)))
    parts(conflict.path, text)
    return text


# Saying it.

_MANY = 60


def differences(path: str, before: str | None, after: str) -> tuple[str, ...]:
    """What a text changes of another, a few words a field: `status open → done`."""
    try:
        old = parts(path, before) if before else {}
    except BrokenEntry:
        return ("it can be read again",)
    new = parts(path, after)
    names = [name for name in dict.fromkeys([*new, *old]) if old.get(name) != new.get(name)]
    return tuple(_difference(name, old.get(name), new.get(name)) for name in names)


def _difference(name: str, old: Any, new: Any) -> str:
    called = name.removeprefix("+")
    if name == "notes":
        before, after = (set((text or "").split("\n")) for text in (old, new))
        return f"notes (+{len(after - before)} −{len(before - after)} lines)"
    if isinstance(old or new, tuple):
        words = [f"+{item}" for item in new or () if item not in (old or ())]
        words += [f"−{item}" for item in old or () if item not in (new or ())]
        return f"{called} {shown(' '.join(words)) if words else 'in another order'}"
    return f"{called} {shown(old)} → {shown(new)}"


def shown(value: Any) -> str:
    """A field's value in a few words."""
    if isinstance(value, rules.Checkpoint):
        value = value.words()
    if isinstance(value, tuple):
        value = ", ".join(map(str, value))
    text = "none" if value is None or value == "" else " ".join(str(value).split())
    return text if len(text) <= _MANY else f"{text[: _MANY - 1]}…"


@frozen
class MergeStages:
    """The blobs of an unmerged path; None where a side has no such file."""

    base: str | None = None
    ours: str | None = None
    theirs: str | None = None


def stages(repo: Repo, folders: Sequence[str]) -> dict[str, MergeStages]:
    """Every unmerged path below some folders, with its stages."""
    out = repo.run("--literal-pathspecs", "ls-files", "-u", "-z", "--", *folders)
    found: dict[str, dict[str, str]] = {}
    for name, (mode, blob, stage) in listed_rows(out):
        if mode in ("100644", "100755"):
            found.setdefault(name, {})[stage] = blob
    return {path: MergeStages(by.get("1"), by.get("2"), by.get("3")) for path, by in found.items()}


def origins(repo: Repo) -> tuple[str, str] | None:
    """Who ours and theirs are, by what git is in the middle of; None if it is in the middle of nothing."""
    here = repo.head().branch
    if merging := repo.commit_of("MERGE_HEAD"):
        return here or _named(repo, "HEAD"), _named(repo, merging)
    if branch := repo.rebasing():
        replayed = repo.commit_of("REBASE_HEAD") or repo.commit_of("CHERRY_PICK_HEAD")
        told = branch.removeprefix("refs/heads/")
        return (f"{_named(repo, 'HEAD')}, rebased onto", f"{told}: {described(repo, replayed)}" if replayed else told)
    for name, word in (("CHERRY_PICK_HEAD", ""), ("REVERT_HEAD", "the revert of ")):
        if oid := repo.commit_of(name):
            return here or _named(repo, "HEAD"), f"{word}{described(repo, oid)}"
    return None


def _named(repo: Repo, rev: str) -> str:
    """A commit by the branch that points to it, else as what it is."""
    shape = "--format=%(refname:short)"
    found = repo.text("for-each-ref", f"--points-at={rev}", shape, "refs/heads", "refs/remotes")
    return found.split("\n")[0] if found else described(repo, rev)


def described(repo: Repo, revisions: str, path: str | None = None) -> str:
    """The last of some commits (to a path) in words."""
    asked = ("--literal-pathspecs", "log", "-1", "--format=%h (%s)", "--no-show-signature", revisions)
    done = repo.attempt(*asked, *(("--", path) if path else ()))
    said = done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""
    return f"commit {said}" if said else "a commit that is not here"
