"""Compares two texts of one entry field by field, and applies a person's choices to them.

The sides come from git's index, which keeps an unmerged file as stages 1 (base), 2 (ours) and 3 (theirs), or from
conflict markers in a text, whoever left them there. "Ours" means the same as in git: in a rebase it is the commit
that one rebases onto. A choice is `ours`, `theirs` or a value, for one field or, under EVERY, for all fields in
conflict; the other fields are merged. `merge_conflicts` finds and stores conflicts.
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
    """The sides of a text with conflict markers, each as a whole text, and their names in the markers."""

    ours: str
    theirs: str
    base: str | None  # None: the markers do not show it
    called_ours: str
    called_theirs: str


@mutable
class _Reading:
    """The sides up to the line that was read last."""

    ours: list[str] = field(default_factory=list)
    base: list[str] = field(default_factory=list)
    theirs: list[str] = field(default_factory=list)
    names: list[tuple[str, str]] = field(default_factory=list)
    within: str = ""  # the side that the lines belong to; empty: all of them
    hunks: int = 0
    bases: int = 0
    sound: bool = True

    def take(self, line: str) -> None:
        """Reads one line: a marker where one is allowed, else content."""
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
            # A misplaced marker: it is unknown which side these lines belong to.
            self.sound = self.sound and not any(marker.fullmatch(line) for marker in (_OURS, _BASE, _END))
            for name in (within,) if within else ("ours", "base", "theirs"):
                getattr(self, name).append(line)


def split_markers(text: str) -> MarkedText | None:
    """Returns the sides of a text; None if it has no conflict markers, or they do not match up."""
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
    """The text of one side and where it comes from; no text: that side deleted the file."""

    text: str | None
    origin: str


@frozen
class FieldClash:
    """A field that the two sides changed differently."""

    name: str
    base: Any
    ours: Any
    theirs: Any
    stands: Any = None  # its value after a merge


@frozen
class EntryConflict:
    """One entry whose two sides differ."""

    path: str
    id: str
    kind: str  # "waiting", "edited", "unmerged", "marked", "committed" or "overruled"
    base: str | None
    ours: ConflictSide
    theirs: ConflictSide
    fields: tuple[FieldClash, ...]
    merged: str | None = None  # the text with both sides merged, if nobody has to choose
    stands: str | None = None  # its text after a merge

    @property
    def is_memory(self) -> bool:
        return task_files.reader(self.path) is None


def parts(path: str, text: str) -> dict[str, Any]:
    """Returns an entry's fields by name; raises BrokenEntry if it cannot be parsed."""
    read = task_files.reader(path)
    if read is not None:
        return task_files.parts(read(text, path))
    memory = memory_files.parse(text, path)
    known = {"status": memories.status(memory), "statement": memory.statement, "details": memory.details}
    known |= {name: getattr(memory, name) for name in memories.SHARED}
    return known | {f"+{name}": raw for name, raw in memory.extra}


def identity(path: str, *texts: str | None) -> str:
    """Returns the id of an entry: from the first of its texts that can be parsed, else from its file name."""
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
    """Returns the fields in conflict, and the merged text if there are none."""
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
    """Returns every difference as a clash: without a known base, a person must decide each."""
    names = tuple(name for name in dict.fromkeys([*mine, *other]) if mine.get(name) != other.get(name))
    return MarkdownClash(names) if names else text


def settled(conflict: EntryConflict, choices: Mapping[str, str]) -> str | None:
    """Returns the text that results from a person's choices; None: the file is deleted."""
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
        fields.update(found)  # rendered below, where invalid fields raise a clearer error
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
            hint=f"Choose one of them: holdfast task resolve {conflict.id} --ours (or --theirs)",
        )
    text = (conflict.ours if choice == OURS else conflict.theirs).text
    if text is not None:
        parts(conflict.path, text)
        text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    return text


def _chosen(
    conflict: EntryConflict, choices: Mapping[str, str], mine: Mapping[str, Any], other: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns the new values of the fields that somebody chose."""
    disputed = [clash.name for clash in conflict.fields]
    if unknown := sorted(set(choices) - {EVERY} - {*mine, *other} | {"id"} & set(choices)):
        raise BadInput(
            f"{conflict.id} has no field {', '.join(unknown)} to choose",
            hint=f"Fields in conflict: {', '.join(disputed) or 'none'}",
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
    sentence = f"{conflict.id}: both sides changed {', '.join(names)}"
    one = names[0] if names and names[0] != WHOLE else None
    field = f", or field by field: --field {one}=ours" if one else ""
    return InConflict(sentence, hint=f"Choose: holdfast task resolve {conflict.id} --ours or --theirs{field}")


def value(name: str, text: str) -> Any:
    """Converts the text somebody typed for a field to the field's type."""
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
        # Fewer than 12 characters: more digits are a mistake, and int() of very many is slow.
        if not (text.strip().isascii() and text.strip().isdigit() and len(text) < 12):
            raise BadInput(f"{name} {text[:40]!r} is not a whole number")
        return int(text)
    return " ".join(text.split())


def _items(text: str) -> tuple[str, ...]:
    """Parses a list, either as written in a file or as words separated by commas."""
    if text.strip().startswith("["):
        try:
            found = read_front(f"list: {text.strip()}")[0].value
        except frontmatter.BadFront as error:
            raise BadInput(f"{text[:80]!r} is not a list: {error.reason}") from None
        if isinstance(found, tuple):
            return found
    return tuple(dict.fromkeys(item.strip() for item in text.split(",") if item.strip()))


def _rendered(conflict: EntryConflict, fields: dict[str, Any]) -> str:
    """Returns the file text for some fields; parses it once, so that an unreadable file is never written."""
    new = task_files.render(task_files.joined(conflict.path, fields))
    text = markdown_document.laid_out(new, *filter(None, (conflict.ours.text, conflict.theirs.text)))
    parts(conflict.path, text)
    return text


_MANY = 60  # characters of a value: with its label it fits one line of an 80-column terminal


def differences(path: str, before: str | None, after: str) -> tuple[str, ...]:
    """Returns the differences between two texts, a few words for each field: `status open → done`."""
    try:
        old = parts(path, before) if before else {}
    except BrokenEntry:
        return ("it can be parsed again",)
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
    """Returns a field's value in a few words."""
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
    """Returns every unmerged path below some folders, with its stages."""
    out = repo.run("--literal-pathspecs", "ls-files", "-u", "-z", "--", *folders)
    found: dict[str, dict[str, str]] = {}
    for name, (mode, blob, stage) in listed_rows(out):
        if mode in ("100644", "100755"):
            found.setdefault(name, {})[stage] = blob
    return {path: MergeStages(by.get("1"), by.get("2"), by.get("3")) for path, by in found.items()}


def origins(repo: Repo) -> tuple[str, str] | None:
    """Names ours and theirs for the merge, rebase, cherry-pick or revert in progress; None if there is none."""
    here = repo.head().branch
    if merging := repo.commit_of("MERGE_HEAD"):
        return here or _named(repo, "HEAD"), _named(repo, merging)
    if branch := repo.rebasing():
        replayed = repo.commit_of("REBASE_HEAD") or repo.commit_of("CHERRY_PICK_HEAD")
        short = branch.removeprefix("refs/heads/")
        return (f"{_named(repo, 'HEAD')}, rebased onto", f"{short}: {described(repo, replayed)}" if replayed else short)
    for name, word in (("CHERRY_PICK_HEAD", ""), ("REVERT_HEAD", "the revert of ")):
        if oid := repo.commit_of(name):
            return here or _named(repo, "HEAD"), f"{word}{described(repo, oid)}"
    return None


def _named(repo: Repo, rev: str) -> str:
    """Names a commit by a branch that points to it, else by its hash and title."""
    shape = "--format=%(refname:short)"
    found = repo.text("for-each-ref", f"--points-at={rev}", shape, "refs/heads", "refs/remotes")
    return found.split("\n")[0] if found else described(repo, rev)


def described(repo: Repo, revisions: str, path: str | None = None) -> str:
    """Describes the last of some commits (that touch a path) by its hash and title."""
    arguments = ("--literal-pathspecs", "log", "-1", "--format=%h (%s)", "--no-show-signature", revisions)
    done = repo.attempt(*arguments, *(("--", path) if path else ()))
    words = done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""
    return f"commit {words}" if words else "a commit that is not here"
