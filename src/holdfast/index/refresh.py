"""Brings the index up to what is visible here, reading only what is new.

The sources that are visible now are compared with those the index has: new ones are read, grown
spools are read from where reading stopped, and a branch switch is a set difference. All of it is
one transaction, so a reader sees the state before or after. What is damaged is left out and named;
the truth is never touched.

Which memories were used after they were recalled, in the index: ranking prefers them, mildly.

It is a copy of the private store's own small file, which the index's signature covers: an index that is
rebuilt holds the same. That something was found counts for nothing here, or what is found would be found.
"""

import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from holdfast.errors import CorruptLog, FutureFormat, HoldfastError
from holdfast.git.clone import Clone
from holdfast.index import freshness, memory_trust, schema, search_rows
from holdfast.index.embed.coverage import sweep
from holdfast.index.fill import IndexFill
from holdfast.index.sqlite import Index, drop_all, meta
from holdfast.index.visible_units import IndexUnit, UnitTexts, visible_units
from holdfast.store import kept_context, statistics
from holdfast.store.format import match_event, split_lines
from holdfast.store.layout import Layout


def fill_used(db: sqlite3.Connection, layout: Layout) -> None:
    """Make the table say what the file says; names are in lower case."""
    found = sorted((name, times, last) for name, (times, last) in statistics.times_used(layout).items())
    if db.execute("SELECT name, times, last FROM used ORDER BY name").fetchall() != found:
        db.execute("DELETE FROM used")
        db.executemany("INSERT INTO used VALUES (?, ?, ?)", found)


Progress = Callable[[int, int], None]  # done, of all


def path_of(clone: Clone, *what: str) -> str:
    """Where this work tree's index lies, or that of something else beside it."""
    folder = os.path.dirname(clone.layout.index(clone.repo_id))
    return os.path.join(folder, schema.file_name(clone.repo.git_dir, clone.repo.common_dir, *what))


def place_of(clone: Clone) -> freshness.WorkTreePaths:
    """This work tree as `freshness` sees it."""
    return freshness.WorkTreePaths(clone.repo.top, clone.repo.git_dir, clone.repo.common_dir)


def signature_of(clone: Clone, *, parts: Sequence[str] = freshness.ALL) -> freshness.IndexSignature | None:
    """The state of this work tree now; take it before you look at what you want to remember.

    Waits out the tick of the file system's clock in which something was just written: a change
    later in the same tick could not be told from it.
    """
    earlier = freshness.taken.pop(clone.repo.top, None)
    if earlier is not None and earlier.settled and tuple(parts) == ("value",):
        return earlier  # what this very command saw first: whatever changed since is seen by the next
    found = freshness.signature(place_of(clone), clone.private, parts=parts)
    if found is not None and 0 < (wait := found.settles_in()) <= freshness.TICK:
        time.sleep(wait / 1e9)
        found = freshness.signature(place_of(clone), clone.private, parts=parts)
    return found


def refresh(clone: Clone, index: Index, *, progress: Progress | None = None) -> tuple[str, ...]:
    """Make the index say what is visible here; gives what a person should be told."""
    for left in (3, 2, 1, 0):
        try:
            with clone.sealed():
                _refresh_once(clone, index, progress)
            sweep(os.path.dirname(index.path))
            break
        except sqlite3.DatabaseError as error:
            if not left:
                raise
            index.recover(error)
    return index.take_notes()


def keep_ready(
    clone: Clone,
    answers: Mapping[str, tuple[str, str]],
    *,
    signature: str,
    valid_until: str | None = None,
    watched: str = "",
    is_clean: bool = False,
) -> None:
    """Keep rendered answers (text and JSON) for the quick path, if the cache can be written and they hold no secret.

    `valid_until` is the time (as events carry it) at which they stop being true, `watched` names the files of the
    work tree they rest on. `is_clean`: they are as they were printed, so no secret is in them.
    """
    said = [watched, *(() if is_clean else (text for answer in answers.values() for text in answer))]
    if any(clone.hide.text(text) != text for text in said if text):
        return  # the name of a file that is watched must be kept as it is: the long way answers
    rows = [(name, signature, *answer, valid_until or "") for name, answer in answers.items()]
    rows += [(freshness.WATCHED, "", watched, "", "")] if watched else []
    index = Index(path_of(clone))
    try:
        with index.writing() as db:
            db.executemany("REPLACE INTO ready VALUES (?, ?, ?, ?, ?)", rows)
    except (sqlite3.DatabaseError, HoldfastError):
        pass  # the next question is answered the long way
    finally:
        index.close()


def forget_all(clone: Clone) -> None:
    """Delete what was made of this clone's texts to be found or told quickly, for all its work trees."""
    drop_all(os.path.dirname(path_of(clone)))
    kept_context.clear(os.fsencode(clone.repo.common_dir))


def _refresh_once(clone: Clone, index: Index, progress: Progress | None) -> None:
    now = signature_of(clone, parts=("memory",))
    told = meta(index.db, "rules")  # for secrets, with which it was made
    if now is not None and now.memory == meta(index.db, "signature") and told == clone.hide.key:
        return
    clone.forget_erased()  # another process may have erased something since
    erased = clone.erased()
    if meta(index.db, "erased") not in (None, _digest(erased)) or told not in (None, clone.hide.key):
        # No word of an erased text may stay, in no work tree's index, and none that a new rule hides;
        # SQLite frees pages without wiping them.
        index.close()
        forget_all(clone)
    wanted = {unit.name: unit for unit in visible_units(clone)}
    with index.writing() as db:
        filling = IndexFill(db)
        texts = UnitTexts(clone, erased, index.notes)
        _fill(filling, wanted, texts, progress)
        memory_trust.weigh(db, clone, wanted, texts, changed=filling.changed)
        fill_used(db, clone.private)
        filling.remember("erased", _digest(erased))
        filling.remember("rules", clone.hide.key)
        filling.remember("signature", now.memory if now is not None and now.settled else "")


def erased_state(clone: Clone) -> str:
    """What was erased here, if this work tree's index knows of all of it; else nothing."""
    clone.forget_erased()
    now, index = _digest(clone.erased()), Index(path_of(clone))
    try:
        return now if meta(index.db, "erased") == now else ""
    except (sqlite3.DatabaseError, HoldfastError):
        return ""
    finally:
        index.close()


def _fill(filling: IndexFill, wanted: dict[str, IndexUnit], texts: UnitTexts, progress: Progress | None) -> None:
    filling.forget_lacking(texts.arrived(filling.lacking()))
    filling.forget_runs(texts.gone(filling.told_runs()))
    have = filling.units()
    for name in have.keys() - wanted.keys():
        filling.hide(name)
    for unit in wanted.values():
        if unit.name in have:
            filling.show(unit.name, unit.kind, unit.until)
    logs = [unit for unit in wanted.values() if unit.source]
    for done, (unit, data) in enumerate(texts.unread(logs, have)):
        if progress:
            progress(done, len(logs))
        filling.show(unit.name, unit.kind, unit.until)
        filling.read_up_to(unit.name, have.get(unit.name, 0) + add_events(filling, unit, data, texts))
    for unit in wanted.values():
        if unit.text is not None and unit.name not in have:
            add_text(filling, unit, texts)
    filling.finish()


def add_events(filling: IndexFill, unit: IndexUnit, data: bytes, texts: UnitTexts) -> int:
    """Put the events of these bytes into the index; gives how many of the bytes were whole lines."""
    number, until, read = filling.id_of(unit.name), unit.until, 0
    joins, add, event_rows = filling.joins, filling.add, search_rows.event_rows
    for line in split_lines(data):
        if not line.endswith(b"\n"):
            break  # still being written
        read += len(line)
        try:
            found = match_event(line)
        except (CorruptLog, FutureFormat):
            continue  # a header, or torn: `doctor` tells them apart
        if not joins(number, bytes.fromhex(found[1].decode("ascii"))[:16]):
            body, lacks = texts.body(found)
            turns = texts.turns(found, body)
            about = search_rows.about_run(body or {}, texts.began(found)) if turns else ""
            rows = event_rows(found, body, lacks=lacks, turns=turns, about=about)
            touches = search_rows.touched_by_event(body, rows) if len(rows) > 1 or body else []
            add(number, rows, until, touches + search_rows.touched_by_turns(turns, rows) if turns else touches)
    return read


def add_text(filling: IndexFill, unit: IndexUnit, texts: UnitTexts) -> None:
    """Put a memory, a task or a session into the index, without what a hand or a merge brought into it."""
    key = hashlib.sha256(unit.name.encode("utf-8", "surrogateescape")).digest()[:20]
    row, paths = _text_row(unit, texts, key)
    if row is None:
        return
    filling.show(unit.name, unit.kind, None)
    number = filling.id_of(unit.name)
    if not filling.joins(number, key):
        filling.add(number, [search_rows.clean_row(row, texts.hide)], touches=[(0, path) for path in paths])


def _text_row(unit: IndexUnit, texts: UnitTexts, key: bytes) -> tuple[search_rows.Row | None, Sequence[str]]:
    """The row of what is no piece of the log, and the files it is about, without secrets in their names."""
    if unit.kind == "task":
        task, clash = texts.task(unit), unit.name.endswith("!clash")
        row = search_rows.task_row(task, key=key, path=unit.path, blob=unit.blob, clash=clash) if task else None
        return row, ()
    if unit.kind == "session":
        session = texts.session(unit)
        paths = list(map(texts.hide.text, session.files)) if session else []
        return search_rows.session_row(session, key=key, paths=paths) if session else None, paths
    memory = texts.memory(unit)
    if memory is None:
        return None, ()
    paths = list(map(texts.hide.text, search_rows.touched_by_memory(memory)))  # whole: their parts are no secrets
    return search_rows.memory_row(memory, key=key, path=unit.path, blob=unit.blob, paths=paths), paths


def _digest(names: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(names)).encode("utf-8", "surrogateescape")).hexdigest()[:32]
