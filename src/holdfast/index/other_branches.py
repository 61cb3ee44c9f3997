"""What other branches of this clone have and this one does not, in a file of its own that never ranks here.

It contains entries that other local branches published since they left HEAD, pending changes on other lines (a line is
a branch's work), and what this clone recorded there. The file lies next to the index, with the same tables; `place`
says which branches have a row, `missing` and `sees` what of this branch another one lacks or has. No agent gets it
unasked. It is updated when a question takes the full path.
"""

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence

from holdfast.errors import HoldfastError
from holdfast.git import branch_lines
from holdfast.git.clone import Clone
from holdfast.index import freshness, memory_trust, refresh
from holdfast.index.answer import other_branches_file
from holdfast.index.fill import IndexFill
from holdfast.index.sqlite import Index, drop, meta
from holdfast.index.visible_units import IndexUnit, UnitTexts, own_units
from holdfast.model.session import from_json
from holdfast.patterns import PatternFile
from holdfast.store import fsio, pending_changes, session_files
from holdfast.store import layout as paths
from holdfast.store.format import split_lines
from holdfast.values import field, mutable

MAX_BRANCHES = 200  # the newest; a guess: a repository may have thousands, and old ones are rarely wanted
MAX_ENTRIES = 5000  # files of other branches that are read; a guess that bounds the time
DELETED, NOT_HERE = "deleted", "not here"  # why git does not have a branch
UNNAMED = "a branch without a name"  # if its name was not recorded
_FORM = "3"  # of these tables
_FOLDERS = (paths.MEMORY, paths.TASKS)
_FILE = PatternFile(__file__)
OWN_TABLES = ("place", "missing", "sees", "published")


@mutable
class _Others:
    """The records of other branches, as they are collected."""

    units: dict[str, IndexUnit] = field(default_factory=dict)
    branches: dict[str, set[str]] = field(default_factory=dict)  # by unit, for units that are not pieces of the log
    tips: str = ""  # digest of the commits of HEAD and all branches
    published: set[tuple[str, str, str]] = field(default_factory=set)  # path, blob and branch
    missing: set[tuple[str, str]] = field(default_factory=set)  # branch and path
    strange: set[str] = field(default_factory=set)  # branches that only a transcript names
    floors: dict[str, str] = field(default_factory=dict)  # the time up to which a piece of the log is visible here

    def add(self, unit: IndexUnit, branch: str) -> None:
        self.units[unit.name] = unit
        self.branches.setdefault(unit.name, set()).add(branch)


def path_of(clone: Clone) -> str:
    """Returns its path: next to this work tree's index, and deleted with it."""
    return other_branches_file(refresh.path_of(clone))


def open_others(clone: Clone) -> Index:
    """Returns the file of other branches; it is not filled yet."""
    return Index(path_of(clone), wal=False, what="the index of other branches", tables=OWN_TABLES)


def state_of(clone: Clone, memory: str) -> str:
    """Returns the state it depends on: the index's, and the commits of all branches."""
    return f"{memory} {freshness.heads(refresh.place_of(clone))}" if memory else ""


def bring_others(clone: Clone, there: Index, here: Index, *, memory: str) -> str:
    """Updates it to what other branches have now; returns the state it shows, empty if unknown.

    `here` is this work tree's index, up to date: it says what is visible.
    """
    state = state_of(clone, memory)
    form = f"{_FORM} {clone.hide.key}"
    if state and state == _meta(there, "state") and _meta(there, "form") == form:
        return state
    erased = clone.erased()
    erased_names = " ".join(sorted(erased))
    if _meta(there, "erased") not in (None, erased_names) or _meta(there, "form") not in (None, form):
        there.close()
        drop(there.path)  # erased text, and text that a new rule hides, must not stay
    visible = dict(here.db.execute("SELECT name, until FROM unit WHERE shown"))
    with there.writing() as db:
        for statement in _FILE.lines("tables"):
            db.execute(statement)
        others = _collect(clone, db, visible)
        texts = UnitTexts(clone, erased, [])
        filling = IndexFill(db)
        _fill(filling, others, texts)
        memory_trust.weigh(db, clone, {}, texts, changed=filling.changed)
        _place(db, clone, others)
        filling.remember("tips", others.tips)
        filling.remember("erased", erased_names)
        filling.remember("form", form)
        filling.remember("state", state)
    return state


def _collect(clone: Clone, db: sqlite3.Connection, visible: Mapping[str, str | None]) -> _Others:
    others = _Others()
    _published(clone, others, db)
    names = {name: _branch_name(clone, line.refs[-1]) for name, line in branch_lines.known(*clone.stores).items()}
    here = clone.line()
    for change in (change for store in clone.stores for change in pending_changes.waiting(store)):
        is_here = change.text is None or here.sees(change.line, change.ts)
        if not is_here and (unit := _entry(change.path, change.text, change.blob)):
            others.add(unit, names.get(change.line, change.line))
    for unit, line, branch in _sessions(clone):
        name = names.get(line) or branch or UNNAMED
        others.add(unit, name)
        if line not in names:
            others.strange.add(name)
    for unit in own_units(clone):
        floor = visible.get(unit.name, "")
        if floor is not None:
            others.units[unit.name] = unit
            others.floors[unit.name] = floor
    for name in visible.keys() - others.floors.keys():
        others.units.pop(name, None)
    return others


def _sessions(clone: Clone) -> Iterator[tuple[IndexUnit, str, str]]:
    """Yields this clone's sessions on lines that are not visible here, with their line and branch name."""
    here = clone.line()
    for folder, name in ((s.sessions, name) for s in clone.stores for name in s.listed(s.sessions)):
        try:
            data = fsio.read(os.path.join(folder, name), limit=session_files.MAX_FILE)
            text = data.decode("utf-8", "replace")
            session = from_json(text)
        except (HoldfastError, OSError, ValueError):
            continue  # `session list` and `doctor` report a broken one
        if not here.sees(session.line, session.updated.ts):
            unit = IndexUnit(f"n:{name}@{clone.repo.hash_blob(data)}", "session", text=text)
            yield unit, session.line, session.updated.branch or ""


def _entry(path: str, text: str | None, blob: str | None) -> IndexUnit | None:
    """Returns a memory's or a task's unit, without its text if that was read before; None for anything else."""
    if blob is None:
        return None
    if path.startswith(f"{paths.TASKS}/"):
        return IndexUnit(f"t:{path}@{blob}", "task", text=text, path=path, blob=blob)
    is_memory = path.startswith(f"{paths.MEMORY}/") and path.endswith(".md")
    return IndexUnit(f"e:{path}@{blob}", "entry", text=text, path=path, blob=blob) if is_memory else None


def _published(clone: Clone, others: _Others, db: sqlite3.Connection) -> None:
    """Adds what other local branches have that HEAD never had, and what of this branch they lack."""
    head, tips = _tips(clone)
    state = " ".join([head, *(f"{oid}:{','.join(names)}" for oid, names in sorted(tips.items()))])
    others.tips = hashlib.sha256(state.encode("utf-8", "surrogateescape")).hexdigest()
    if others.tips == meta(db, "tips"):
        others.published.update(db.execute("SELECT path, blob, branch FROM published"))
        others.missing.update(db.execute("SELECT branch, path FROM missing"))
    else:
        _compare(clone, others, head, tips)
    have = {name for (name,) in db.execute("SELECT name FROM unit")}
    lacking = {blob for path, blob, _ in others.published if not {f"e:{path}@{blob}", f"t:{path}@{blob}"} & have}
    texts = clone.repo.blobs(lacking) if lacking else {}
    for path, blob, branch in others.published:
        text = texts[blob].decode("utf-8", "replace") if blob in texts else None
        if unit := _entry(path, text, blob):
            others.add(unit, branch)


def _tips(clone: Clone) -> tuple[str, dict[str, list[str]]]:
    """Returns HEAD's commit, and the other commits of local branches with their names."""
    head = clone.repo.head()
    asked = ("for-each-ref", "--sort=-committerdate", f"--count={MAX_BRANCHES}")
    rows = clone.repo.text(*asked, "--format=%(objectname) %(refname)", "refs/heads").splitlines()
    tips: dict[str, list[str]] = {}
    for oid, _, ref in (row.partition(" ") for row in rows):
        if head.oid is not None and ref != head.ref and oid != head.oid:
            tips.setdefault(oid, []).append(_branch_name(clone, ref))
    return head.oid or "", tips


def _branch_name(clone: Clone, ref: str) -> str:
    """Returns a branch's name for storing; invalid UTF-8 is marked, because SQLite refuses it."""
    return os.fsencode(clone.hide.text(branch_lines.called(ref))).decode("utf-8", "replace")


def _compare(clone: Clone, others: _Others, head: str, tips: Mapping[str, Sequence[str]]) -> None:
    if not tips:
        return
    # The objects below our folders that branches added since they left HEAD.
    given = "\n".join([*tips, f"^{head}", "--", *_FOLDERS]) + "\n"
    done = clone.repo.attempt("rev-list", "--objects", "--stdin", stdin=given.encode("utf-8"))
    listed = (row.partition(b" ") for row in done.stdout.splitlines())
    new = {oid.decode("ascii", "replace") for oid, blank, _ in listed if blank}
    for tip, status, path, blob in _changes(clone, head, tips):
        for name in tips.get(tip, ()):
            if status != "A":
                others.missing.add((name, path))
            if status != "D" and blob in new and path.endswith(".md") and len(others.published) < MAX_ENTRIES:
                others.published.add((path, blob, name))


def _changes(clone: Clone, head: str, tips: Iterable[str]) -> Iterator[tuple[str, str, str, str]]:
    """Yields the differences below our folders between HEAD and each tip: the tip, the status there, path and blob."""
    asked = ("diff-tree", "--stdin", "-r", "-z", "--no-renames", "--no-abbrev", "--", *_FOLDERS)
    given = "".join(f"{tip} {head}\n" for tip in tips)
    tip = ""
    words = iter(clone.repo.attempt(*asked, stdin=given.encode("ascii")).stdout.split(b"\0"))
    for word in words:
        facts = word.strip().split(b" ")
        if len(facts) == 5:
            yield tip, facts[4][:1].decode("ascii"), os.fsdecode(next(words, b"")), facts[3].decode("ascii")
        elif word.strip():
            tip = facts[0].decode("ascii", "replace")


def _fill(filling: IndexFill, others: _Others, texts: UnitTexts) -> None:
    """Adds new units, deletes old ones, and reads from the log only what is not visible here."""
    have = filling.units()
    filling.forget(have.keys() - {_stored(unit, others) for unit in others.units.values()})
    logs = [unit for unit in others.units.values() if unit.source]
    known = {unit.name: have[name] for unit in logs if (name := _stored(unit, others)) in have}
    for unit, data in texts.unread(logs, known):
        whole = data[: data.rfind(b"\n") + 1]
        name, floor = _stored(unit, others), others.floors.get(unit.name, "").encode("ascii", "replace")
        filling.show(name, unit.kind, None)
        # The events after a time; none is torn, and `seal` wrote their times at a fixed place.
        after = (line for line in split_lines(whole) if line.partition(b'"ts":"')[2].partition(b'"')[0] > floor)
        refresh.add_events(filling, IndexUnit(name, unit.kind), b"".join(after) if floor else whole, texts)
        filling.read_up_to(name, known.get(unit.name, 0) + len(whole))
    for unit in others.units.values():
        if unit.text is not None and unit.name not in have:
            refresh.add_text(filling, unit, texts)
    filling.finish()


def _stored(unit: IndexUnit, others: _Others) -> str:
    """Returns the stored name of a unit: a partly visible piece of the log changes its name when that part changes."""
    floor = others.floors.get(unit.name)
    return f"{unit.name}>{floor}" if floor else unit.name


def _place(db: sqlite3.Connection, clone: Clone, others: _Others) -> None:
    """Stores which branches have each row, and what of this branch they have."""
    for table in OWN_TABLES:
        db.execute(f"DELETE FROM {table}")
    by_unit = "SELECT m.row, ? FROM member AS m JOIN unit AS u ON u.id = m.unit WHERE u.name = ?"
    units = [(branch, name) for name, some in others.branches.items() for branch in some]
    db.executemany(f"INSERT OR IGNORE INTO place {by_unit}", units)
    known = branch_lines.known(*clone.stores)
    named = [(_branch_name(clone, line.refs[-1]), line) for line in known.values() if line.refs]
    by_line = "SELECT id, ? FROM row WHERE line = ? AND kind <> 'candidate'"
    db.executemany(f"INSERT OR IGNORE INTO place {by_line}", [(name, line.id) for name, line in named])
    db.execute("INSERT OR IGNORE INTO place SELECT r.id, p.branch FROM row AS r JOIN place AS p ON p.row = r.parent")
    db.executemany("INSERT INTO missing VALUES (?, ?)", sorted(others.missing))
    db.executemany("INSERT INTO published VALUES (?, ?, ?)", sorted(others.published))
    db.executemany("INSERT OR REPLACE INTO gone VALUES (?, ?)", _gone(db, clone, others, dict(named)))
    for name, line in named:
        seen = [(name, line.id, None), *((name, one.line, one.until) for one in line.inherits)]
        db.executemany("INSERT INTO sees VALUES (?, ?, ?)", seen)


def _gone(
    db: sqlite3.Connection, clone: Clone, others: _Others, named: Mapping[str, branch_lines.KnownLine]
) -> Iterator[tuple[str, str]]:
    """Yields the branches of these rows that git does not have, with the reason: deleted, or never in this clone."""
    living = set(clone.repo.text("for-each-ref", "--format=%(refname)", "refs/heads").splitlines())
    living |= {ref for git_dir in clone.repo.worktrees() if (ref := clone.repo.ref_of(git_dir))}
    called = {_branch_name(clone, ref) for ref in living}
    for (name,) in db.execute("SELECT DISTINCT branch FROM place").fetchall():
        ref = named[name].refs[-1] if name in named else f"refs/heads/{name}"
        if ref.startswith("refs/heads/") and ref not in living and name not in called:
            yield name, NOT_HERE if name in others.strange else DELETED


def _meta(index: Index, name: str) -> str | None:
    try:
        return meta(index.db, name)
    except (sqlite3.DatabaseError, HoldfastError):
        return None
