"""Updates the corpus to the commit that is checked out, reading only what it lacks.

Between two commits that are here, the changes are a difference of trees and of histories. Without a commit to start
from (the first time, after a change of settings, after a rewrite that removed the old commit) the wanted keys are
compared with the existing ones.

A small change (a commit, most switches) is one transaction in the file itself: a reader sees the state before or after
it. A large one is built in a second file, step by step, which replaces the first one when it is complete; after an
interruption, even by `kill -9`, the next call continues with the next step. Meanwhile searches read the second file,
and report that it is incomplete.
"""

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from hashlib import blake2b

from holdfast.errors import Busy, HoldfastError
from holdfast.git.clone import Clone
from holdfast.index import refresh
from holdfast.index.corpus import git_objects as history
from holdfast.index.corpus.chunks import FileChunk
from holdfast.index.corpus.corpus_rows import OWN_INDEXES, CorpusRows
from holdfast.index.corpus.file_choice import CorpusChoice, CorpusRules, attributes_of, chunks_of
from holdfast.index.corpus.git_objects import RepositoryObjects, TreeFile, commit_of
from holdfast.index.fill import ROOM, tune
from holdfast.index.sqlite import CORPUS_FORM, Index, drop
from holdfast.store import fsio
from holdfast.values import field, frozen, mutable


@mutable
class CorpusPlan:
    """Keys to hide and to show again, commits and files to read."""

    hide: list[bytes] = field(default_factory=list)
    show: list[bytes] = field(default_factory=list)
    commits: list[str] = field(default_factory=list)
    files: list[tuple[str, TreeFile]] = field(default_factory=list)  # each with its kind

    @property
    def size(self) -> int:
        return len(self.hide) + len(self.show) + len(self.commits) + len(self.files)


def between(objects: RepositoryObjects, rules: CorpusRules, old: str, new: str, *, commits: bool) -> CorpusPlan | None:
    """Returns the changes from one commit to another; None if git cannot tell."""
    changes = objects.changes(old, new)
    come = objects.commits(new, without=old) if commits else []
    gone = objects.commits(old, without=new) if commits else []
    if changes is None or come is None or gone is None:
        return None
    plan = CorpusPlan(hide=[bytes.fromhex(oid) for oid in gone], commits=come)
    for was, now in changes:
        if was == now:
            continue  # only its mode changed
        if was is not None and rules.kind_of(was.path):
            plan.hide.append(rules.key(*was))
        if now is not None and (kind := rules.kind_of(now.path)):
            plan.files.append((kind, now))
    return plan


def towards(
    objects: RepositoryObjects, rules: CorpusRules, shelf: CorpusRows, new: str, *, commits: bool
) -> CorpusPlan:
    """Returns the changes from the current corpus to a commit."""
    known = dict(shelf.known())
    plan = CorpusPlan()
    oids = (objects.commits(new) or []) if new and commits else []
    plan.commits = [oid for oid in oids if _is_new(plan, known, bytes.fromhex(oid))]
    for file in objects.files(new) if new else ():
        kind = rules.kind_of(file.path)
        if kind and _is_new(plan, known, rules.key(*file)):
            plan.files.append((kind, file))
    plan.hide = [key for key, shown in known.items() if shown]
    return plan


def _is_new(plan: CorpusPlan, known: dict[bytes, int], key: bytes) -> bool:
    """Whether the corpus has no row for a key; an existing one is marked to be shown."""
    shown = known.pop(key, None)
    if shown == 0:
        plan.show.append(key)
    return shown is None


def unknown(shelf: CorpusRows, rules: CorpusRules, plan: CorpusPlan) -> CorpusPlan:
    """Returns the plan with existing rows shown again instead of read."""
    commits = [oid for oid in plan.commits if not shelf.turn(bytes.fromhex(oid), shown=True)]
    files = [one for one in plan.files if not shelf.turn(rules.key(*one[1]), shown=True)]
    return CorpusPlan(plan.hide, plan.show, commits, files)


Progress = Callable[[int, int], None]  # done, total

FEW = 5000  # files and commits that are changed in place; a guess: a few seconds
SMALL = 5000  # files, and commits, that a first question may wait for; a guess: a few seconds
STEP = 1000  # commits a transaction; a guess: an interruption loses little
FILES = 500  # files a transaction; a guess as above
BUILDING = ".building"
MOST_GREPPED = 8  # words of a question that `git grep` searches; a guess
LONG, SHORT = 60.0, 2.0  # seconds to wait for another process that builds: a command, a question; guesses
AT_ONCE = 1.5  # seconds that a question reads of a large repository before it searches what is there; a guess
_CACHE = "PRAGMA cache_size = -131072"  # KiB: a change in place must not reach the disk before it is complete


@frozen
class CorpusState:
    """The progress of the corpus."""

    built: bool  # it exists, for any commit
    current: bool  # it shows HEAD, with the current settings
    commits: int = 0
    files: int = 0
    chunks: int = 0
    size: int = 0  # bytes
    share: float | None = None  # the part that is read; None if no build is in progress


def path_of(clone: Clone) -> str:
    """Returns the path of this work tree's corpus."""
    return refresh.path_of(clone, "corpus")


def open_corpus(clone: Clone) -> Index:
    """Returns this work tree's corpus; it is not built yet."""
    return _corpus_at(path_of(clone))


def _corpus_at(path: str) -> Index:
    return Index(path, form=CORPUS_FORM, wal=False, what="the index of commits, docs and code", in_memory=False)


class CorpusUpdate:
    """One work tree's corpus on its way to HEAD."""

    def __init__(self, clone: Clone, corpus: Index, choice: CorpusChoice) -> None:
        self._clone, self._corpus, self._choice = clone, corpus, choice
        self._objects = RepositoryObjects(clone.repo)
        self.head = commit_of(clone.repo)
        self._wanted = f"{choice.shape()} {clone.hide.key} {self._shallow()}"

    @cached_property
    def _rules(self) -> CorpusRules:
        """Returns the rules of the choice, with HEAD's own attributes."""
        return CorpusRules(self._choice, self._attributes)

    @property
    def _shape(self) -> str:
        """Returns what decides which files are chosen: `_wanted` and HEAD's attributes."""
        return f"{self._wanted} {blake2b(self._attributes.encode(), digest_size=8).hexdigest()}"

    @cached_property
    def _attributes(self) -> str:
        return attributes_of(self._objects.text_at(self.head, ".gitattributes") if self.head else b"")

    def _shallow(self) -> str:
        """Returns how far history reaches here: a deepened shallow clone has more commits, at the same HEAD."""
        try:
            data = fsio.read(os.path.join(self._clone.repo.common_dir, "shallow"), limit=1 << 24)
        except OSError:
            return "-"
        return blake2b(data, digest_size=8).hexdigest()

    # What stands there

    def is_current(self) -> bool:
        """Whether the corpus shows HEAD, with the current settings."""
        return os.path.exists(self._corpus.path) and self._shows_head(_meta(self._corpus.db))

    def _shows_head(self, told: dict[str, str]) -> bool:
        """Whether the stored state is HEAD's; HEAD's attributes follow from HEAD and need no comparison."""
        return told.get("head") == (self.head or "-") and told.get("shape", "").rpartition(" ")[0] == self._wanted

    def forget_other_rules(self) -> None:
        """Deletes text that was read with other rules for secrets: text that a new rule hides must not stay."""
        if os.path.exists(self._corpus.path):
            shape = _meta(self._corpus.db).get("shape", "")
            if shape and shape.split(" ")[1] != self._clone.hide.key:
                self._corpus.close()
                drop(self._corpus.path)
                drop(self._corpus.path + BUILDING)

    def is_small(self) -> bool:
        """Whether a first build takes seconds at most: few files and few commits."""
        if _staged(self._clone.repo.git_dir) > SMALL:
            return False
        if not self.head or not self._choice.commits:
            return True
        return len(self._objects.commits(self.head, most=SMALL + 1) or ()) <= SMALL

    # Small changes, in place

    def update(self) -> bool:
        """Updates the corpus to HEAD if the change is small; returns whether it is current now."""
        if not os.path.exists(self._corpus.path):
            return False
        with self._corpus.writing() as db:
            db.execute(_CACHE)
            told = _meta(db)
            if self._shows_head(told):
                return True
            target = f"{self.head} {self._wanted}"
            plan = None if told.get("behind") == target else self._small_plan(db, told)
            if plan is None:
                _remember(db, head="", behind=target)  # until then it must not count as HEAD's
                return False
            for definition in OWN_INDEXES.values():  # a rebuilt file has none
                db.execute(definition)
            shelf = CorpusRows(db)
            list(self._carry_out(shelf, unknown(shelf, self._rules, plan)))
            shelf.flush()
            hidden = int(told.get("hidden", "0")) + len(plan.hide)
            if hidden > ROOM:  # an exact count costs more than a commit
                hidden = shelf.make_room()
            _remember(db, head=self.head or "-", was=self.head, shape=self._shape, hidden=str(hidden), behind="")
        return True

    def _small_plan(self, db: sqlite3.Connection, told: dict[str, str]) -> CorpusPlan | None:
        old, plan, same = told.get("was"), None, told.get("shape") == self._shape
        if old and self.head and same:
            plan = between(self._objects, self._rules, old, self.head, commits=self._choice.commits)
        if plan is None and self.is_small():
            if not same:
                db.execute("DELETE FROM unit")  # other settings: files that were left out are checked again
            plan = towards(self._objects, self._rules, CorpusRows(db), self.head, commits=self._choice.commits)
        return plan if plan is not None and plan.size <= FEW else None

    # Large changes, in a second file

    def build(self, *, progress: Progress | None = None, seconds: float | None = None, wait: float = LONG) -> bool:
        """Builds the corpus in a second file and replaces the first; returns whether it is complete.

        With `seconds` it stops after about that time; the next call continues.
        """
        path = self._corpus.path + BUILDING
        end = None if seconds is None else time.monotonic() + seconds
        fsio.make_dirs(os.path.dirname(path))
        try:
            with fsio.locked(f"{path}-lock", wait=wait):
                return self._build(path, progress, end)
        except Busy:
            if wait:
                raise
            return False

    def _build(self, path: str, progress: Progress | None, end: float | None) -> bool:
        if self.is_current():  # another process was faster
            drop(path)
            return True
        building = _corpus_at(path)
        try:
            self._begin(building)
            if not self._advance(building, progress, end):
                return False
        except sqlite3.DatabaseError:
            building.close()
            drop(path)  # interrupted within a write, or not ours: start again
            raise
        finally:
            building.close()
        with open(path, "rb+") as file:
            os.fsync(file.fileno())
        try:
            with self._corpus.writing():  # no process is changing the file that is replaced
                os.replace(path, self._corpus.path)
        except (sqlite3.DatabaseError, PermissionError):  # damaged, or Windows does not delete an open file
            self._corpus.close()
            drop(self._corpus.path)
            os.replace(path, self._corpus.path)
        self._corpus.close()
        return True

    def _begin(self, building: Index) -> None:
        """Prepares a file to build in: an unfinished one, else a copy of the current one, else an empty one."""
        is_new = not os.path.exists(building.path)
        db = building.db
        db.execute("PRAGMA synchronous = OFF")  # synced once, before it takes its place
        db.execute(_CACHE)
        told = _meta(db)
        if is_new and os.path.exists(self._corpus.path):
            with contextlib.suppress(sqlite3.DatabaseError):
                self._corpus.db.backup(db)
                told = _meta(db)
        with building.writing():
            for definition in OWN_INDEXES.values():
                db.execute(definition)
            if told.get("shape") != self._shape:
                db.execute("DELETE FROM unit")
            _remember(db, shape=self._shape, head="", was="")

    def _advance(self, building: Index, progress: Progress | None, end: float | None) -> bool:
        """Carries out the plan, one transaction a step; returns False if the time was over before the end."""
        with building.writing() as db:
            shelf = CorpusRows(db)
            plan = towards(self._objects, self._rules, shelf, self.head, commits=self._choice.commits)
            steps = self._carry_out(shelf, plan)
            total, done = plan.size, 0
            tune(db, automerge=0, crisismerge=16, hashsize=8 << 20)
        while True:
            with building.writing() as db:
                step = next(steps, None)
                done += step or 0
                _remember(db, share=f"{done / max(total, 1):.3f}")
            if step is None:
                break
            if progress:
                progress(done, total)
            if end is not None and time.monotonic() > end:
                return False
        with building.writing() as db:
            hidden = shelf.make_room()
            tune(db, automerge=4, hashsize=1 << 20)
            _remember(db, head=self.head or "-", was=self.head, hidden=str(hidden), behind="")
        return True

    # Both

    def _carry_out(self, shelf: CorpusRows, plan: CorpusPlan) -> Iterator[int]:
        """Carries out a plan step by step; yields how much was done."""
        for keys, shown in ((plan.hide, False), (plan.show, True)):
            for start in range(0, len(keys), STEP):
                part = keys[start : start + STEP]
                for key in part:
                    shelf.turn(key, shown=shown)
                shelf.flush()
                yield len(part)
        for start in range(0, len(plan.commits), STEP):
            oids = plan.commits[start : start + STEP]
            for commit in history.read_commits(self._clone.repo, oids, self._clone.hide):
                if history.is_memory_commit(commit):
                    shelf.leave_out(bytes.fromhex(commit.oid))
                else:
                    shelf.add_commit(history.commit_row(commit), history.commit_paths(commit))
            shelf.flush()
            yield len(oids)
        for start in range(0, len(plan.files), FILES):
            yield self._read_files(shelf, plan.files[start : start + FILES])

    def _read_files(self, shelf: CorpusRows, files: list[tuple[str, TreeFile]]) -> int:
        places: dict[str, list[tuple[str, TreeFile]]] = {}
        rules, scan = self._rules, self._clone.hide
        for kind, file in files:
            places.setdefault(file.blob, []).append((kind, file))
        leaks = not scan.none_in("\n".join(file.path for _, file in files).encode("utf-8", "surrogateescape"))
        for blob, data in self._objects.texts(list(places), limit=self._choice.max_file):
            for kind, file in places[blob]:
                chunks = chunks_of(file.path, data, scan) if data is not None else ()
                path = scan.text(file.path) if leaks else file.path
                shelf.add_file(rules.key(*file), kind, path, blob, chunks)
        shelf.flush()
        return len(files)


def bring_corpus(
    clone: Clone, corpus: Index, choice: CorpusChoice, *, progress: Progress | None = None, patience: bool = False
) -> bool:
    """Updates the corpus to HEAD if that is quick, or with `patience` in any time; returns whether it is current.

    An unreadable corpus is deleted and rebuilt, which its notes report. Without patience no obstacle is an error: the
    question is answered from memory.
    """
    try:
        for _ in range(2):
            try:
                return _bring(clone, corpus, choice, progress, patience=patience)
            except sqlite3.DatabaseError as error:
                corpus.recover(error)
        return _bring(clone, corpus, choice, progress, patience=patience)
    except HoldfastError as error:
        if patience:
            raise
        corpus.notes.append(f"commits, docs and code were not searched: {error}")
        return False


def _bring(clone: Clone, corpus: Index, choice: CorpusChoice, progress: Progress | None, *, patience: bool) -> bool:
    going = CorpusUpdate(clone, corpus, choice)
    going.forget_other_rules()
    if going.is_current() or going.update():
        return True
    if patience or (not os.path.exists(corpus.path) and going.is_small()):
        return going.build(progress=progress, wait=LONG if patience else SHORT)
    # The caller reports what was not searched; the first time there is nothing else to search.
    return not os.path.exists(corpus.path) and going.build(progress=progress, seconds=AT_ONCE, wait=0)


def unfinished(corpus: Index) -> tuple[Index, float] | None:
    """Returns the incomplete second file and the part that is read; close it after use."""
    if not os.path.exists(corpus.path + BUILDING):
        return None
    building = _corpus_at(corpus.path + BUILDING)
    try:
        building.db.execute(f"PRAGMA busy_timeout = {int(1000 * SHORT)}")
        return building, float(_meta(building.db).get("share", "0"))
    except (sqlite3.DatabaseError, HoldfastError):
        building.close()
        return None


def grepped(clone: Clone, choice: CorpusChoice, words: Sequence[str], most: int) -> list[tuple[str, str, FileChunk]]:
    """Returns pieces of files with these words by `git grep`, with kind and path: for files that are not indexed yet.

    Files with all of the words come first; if there are none, those with the longest of them.
    """
    going = CorpusUpdate(clone, open_corpus(clone), choice)
    found: list[tuple[str, str, FileChunk]] = []
    for some in (words[:MOST_GREPPED], sorted(words, key=len)[-1:]):
        given = [part for word in some for part in ("-e", word)]
        done = clone.repo.attempt("grep", "-l", "-z", "-I", "-i", "-F", "--full-name", "--all-match", *given)
        paths = [path for path in os.fsdecode(done.stdout).split("\0") if path]
        for path in sorted(paths, key=lambda path: (path.count("/"), len(path), path))[: 4 * most]:
            kind, data = going._rules.kind_of(path), going._objects.text_at(going.head, path) if going.head else b""
            pieces = list(chunks_of(path, data, clone.hide)) if kind and data else []
            low = [word.casefold() for word in some]
            best = max(pieces, key=lambda one: sum(word in one.text.casefold() for word in low), default=None)
            if kind and best is not None:
                found.append((kind, clone.hide.text(path), best))
            if len(found) == most:
                break
        if found:
            break
    return found


def is_being_read(corpus: Index) -> bool:
    """Whether a process is building at this moment."""
    lock = f"{corpus.path}{BUILDING}-lock"
    try:
        with fsio.locked(lock, wait=0) if os.path.exists(lock) else contextlib.nullcontext():
            return False
    except Busy:
        return True


def work(
    clone: Clone, corpus: Index, choice: CorpusChoice, *, seconds: float, progress: Progress | None = None
) -> bool:
    """Continues towards HEAD for about this time, unless another process does; returns whether it was reached."""
    try:
        going = CorpusUpdate(clone, corpus, choice)
        going.forget_other_rules()
        return going.is_current() or going.update() or going.build(seconds=seconds, wait=0, progress=progress)
    except sqlite3.DatabaseError as error:
        corpus.recover(error)
        return False


def waits(clone: Clone, corpus: Index, choice: CorpusChoice) -> bool:
    """Whether something must be read before the corpus shows HEAD; decided without git."""
    try:
        return not CorpusUpdate(clone, corpus, choice).is_current()
    except sqlite3.DatabaseError:
        return True


def state_of(clone: Clone, corpus: Index, choice: CorpusChoice) -> CorpusState:
    """Returns the progress and size of the corpus."""
    share = None
    if going_on := unfinished(corpus):
        share = going_on[1]
        going_on[0].close()
    if not os.path.exists(corpus.path):
        return CorpusState(built=False, current=False, share=share)
    try:
        db = corpus.db
        db.execute("SELECT 1 FROM words LIMIT 1").fetchone()
        told = "SELECT kind = 'commit', count(*) FROM row WHERE key IS NOT NULL AND shown GROUP BY 1"
        counted = dict(db.execute(told))
        chunks = db.execute("SELECT count(*) FROM row WHERE shown AND kind <> 'commit'").fetchone()[0]
        current, size = CorpusUpdate(clone, corpus, choice).is_current(), os.path.getsize(corpus.path)
        return CorpusState(True, current, counted.get(1, 0), counted.get(0, 0), chunks, size, share)
    except sqlite3.DatabaseError as error:
        clone.notes.append(f"the index of this repository's files is damaged ({error}): holdfast index")
        return CorpusState(built=False, current=False)


def _meta(db: sqlite3.Connection) -> dict[str, str]:
    return dict(db.execute("SELECT name, value FROM meta"))


def _remember(db: sqlite3.Connection, **values: str) -> None:
    """Stores which commit the corpus shows (`head`), and was built from (`was`): they differ while it is behind."""
    db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())


def _staged(git_dir: str) -> int:
    """Returns how many files git's index lists, from its first bytes."""
    try:
        with open(os.path.join(git_dir, "index"), "rb") as file:
            head = file.read(12)
    except OSError:
        return 0
    return int.from_bytes(head[8:12], "big") if head[:4] == b"DIRC" else 0
