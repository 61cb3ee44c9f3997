"""Updates the index to what is visible here, reading only what is new.

The visible sources are compared with those in the index: new ones are read, grown spools are read from where reading
stopped, and a branch switch is a set difference. All of it is one transaction, so a reader sees the state before or
after. Damaged sources are left out and reported; the store is never changed.

The table `used` counts which memories were used after a search found them, and the ranking slightly prefers them. It is
a copy of a small file of the private store that the signature covers, so a rebuilt index contains the same. Being found
does not count, or found memories would be found more.
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
    """Copies the file's counts into the table; names are in lower case."""
    found = sorted((name, times, last) for name, (times, last) in statistics.times_used(layout).items())
    if db.execute("SELECT name, times, last FROM used ORDER BY name").fetchall() != found:
        db.execute("DELETE FROM used")
        db.executemany("INSERT INTO used VALUES (?, ?, ?)", found)


Progress = Callable[[int, int], None]  # done, total


def path_of(clone: Clone, *what: str) -> str:
    """Returns the path of this work tree's index, or of another file next to it."""
    folder = os.path.dirname(clone.layout.index(clone.repo_id))
    return os.path.join(folder, schema.file_name(clone.repo.git_dir, clone.repo.common_dir, *what))


def place_of(clone: Clone) -> freshness.WorkTreePaths:
    """Returns this work tree's paths for `freshness`."""
    return freshness.WorkTreePaths(clone.repo.top, clone.repo.git_dir, clone.repo.common_dir)


def signature_of(clone: Clone, *, parts: Sequence[str] = freshness.ALL) -> freshness.IndexSignature | None:
    """Returns the current state of this work tree; call it before you read what you want to store.

    Waits out the tick of the file system's clock in which something was just written: a later change in the same tick
    would have the same time.
    """
    earlier = freshness.taken.pop(clone.repo.top, None)
    if earlier is not None and earlier.settled and tuple(parts) == ("value",):
        return earlier  # this command's first state: the next command sees later changes
    found = freshness.signature(place_of(clone), clone.private, parts=parts)
    if found is not None and 0 < (wait := found.settles_in()) <= freshness.TICK:
        time.sleep(wait / 1e9)
        found = freshness.signature(place_of(clone), clone.private, parts=parts)
    return found


def refresh(clone: Clone, index: Index, *, state: str = "", progress: Progress | None = None) -> tuple[str, ...]:
    """Updates the index; returns notes for the user.

    `state` is the `memory` part of a signature that was just taken: if the index shows it, no file is looked at.
    """
    for left in (3, 2, 1, 0):
        try:
            with clone.sealed():
                _refresh_once(clone, index, state, progress)
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
    """Stores rendered answers (text and JSON) for the quick path, if they contain no secret.

    `valid_until` is the time (spelled as in events) at which they expire, `watched` names the files of the work tree
    they depend on. `is_clean`: they are as printed, so they contain no secret.
    """
    said = [watched, *(() if is_clean else (text for answer in answers.values() for text in answer))]
    if any(clone.hide.text(text) != text for text in said if text):
        return  # a watched file's name must be stored unchanged: leave the answer to the full path
    rows = [(name, signature, *answer, valid_until or "") for name, answer in answers.items()]
    rows += [(freshness.WATCHED, "", watched, "", "")] if watched else []
    index = Index(path_of(clone))
    try:
        with index.writing() as db:
            db.executemany("REPLACE INTO ready VALUES (?, ?, ?, ?, ?)", rows)
    except (sqlite3.DatabaseError, HoldfastError):
        pass  # the next question takes the full path
    finally:
        index.close()


def forget_all(clone: Clone) -> None:
    """Deletes everything derived from this clone's texts, for all its work trees."""
    drop_all(os.path.dirname(path_of(clone)))
    kept_context.clear(os.fsencode(clone.repo.common_dir))


def _refresh_once(clone: Clone, index: Index, state: str, progress: Progress | None) -> None:
    shown, told = meta(index.db, "signature"), meta(index.db, "rules")  # the rules for secrets it was built with
    if state and state == shown and told == clone.hide.key:
        return
    now = signature_of(clone, parts=("memory",))
    if now is not None and now.memory == shown and told == clone.hide.key:
        return
    clone.forget_erased()  # another process may have erased something since
    erased = clone.erased()
    if meta(index.db, "erased") not in (None, _digest(erased)) or told not in (None, clone.hide.key):
        # Erased text, and text that a new rule hides, must not stay in any work tree's index;
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
    """Returns the digest of what was erased here, if this work tree's index covers all of it; else empty."""
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
    """Adds the events of these bytes to the index; returns how many bytes were complete lines."""
    number, until, read = filling.id_of(unit.name), unit.until, 0
    joins, add, event_rows = filling.joins, filling.add, search_rows.event_rows
    for line in split_lines(data):
        if not line.endswith(b"\n"):
            break  # still being written
        read += len(line)
        try:
            found = match_event(line)
        except (CorruptLog, FutureFormat):
            continue  # a header, or torn: `doctor` reports which
        if not joins(number, bytes.fromhex(found[1].decode("ascii"))[:16]):
            body, lacks = texts.body(found)
            turns = texts.turns(found, body)
            about = search_rows.about_run(body or {}, texts.began(found)) if turns else ""
            rows = event_rows(found, body, lacks=lacks, turns=turns, about=about)
            touches = search_rows.touched_by_event(body, rows) if len(rows) > 1 or body else []
            add(number, rows, until, touches + search_rows.touched_by_turns(turns, rows) if turns else touches)
    return read


def add_text(filling: IndexFill, unit: IndexUnit, texts: UnitTexts) -> None:
    """Adds a memory, a task or a session to the index, without secrets that a hand or a merge brought in."""
    key = hashlib.sha256(unit.name.encode("utf-8", "surrogateescape")).digest()[:20]
    row, paths = _text_row(unit, texts, key)
    if row is None:
        return
    filling.show(unit.name, unit.kind, None)
    number = filling.id_of(unit.name)
    if not filling.joins(number, key):
        filling.add(number, [search_rows.clean_row(row, texts.hide)], touches=[(0, path) for path in paths])


def _text_row(unit: IndexUnit, texts: UnitTexts, key: bytes) -> tuple[search_rows.Row | None, Sequence[str]]:
    """Returns the row of a unit that is not a piece of the log, and its files, without secrets in their names."""
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
    paths = list(map(texts.hide.text, search_rows.touched_by_memory(memory)))  # whole: parts are no secrets
    return search_rows.memory_row(memory, key=key, path=unit.path, blob=unit.blob, paths=paths), paths


def _digest(names: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(names)).encode("utf-8", "surrogateescape")).hexdigest()[:32]
