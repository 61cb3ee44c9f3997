"""This clone, seen from the branch that is checked out.

The packages above `git/` work through a Clone: it records events, keeps changes until they are published, and
returns what is visible on this branch. A line is the id of a branch's work. Meaning is decided elsewhere.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.errors import (
    BadSettings,
    CorruptLog,
    FutureFormat,
    HoldfastError,
    LockedText,
    NotInitialised,
    ScanFailed,
    TooLarge,
    UnsafePath,
)
from holdfast.git import branch_lines, event_lookup, published_log, visible_entries
from holdfast.git.repo import Head, Repo
from holdfast.git.visible_entries import Sighting, Source
from holdfast.model.event import Event, EventDraft, heads, in_order, timestamp
from holdfast.security import sealed_text
from holdfast.security.redact import Scanner
from holdfast.store import capsule, event_index, fsio, pending_changes, private_store, sandbox, seal, sealed_files
from holdfast.store import entry_memo as entry_memos
from holdfast.store import layout as paths
from holdfast.store.format import added, body_bytes, events_in, sound_events
from holdfast.store.log import MAX_SPOOL, Bodies, SpoolWriter, spool_ends
from holdfast.store.pending_changes import PendingChange
from holdfast.values import grouped

if TYPE_CHECKING:
    from holdfast.security.sealed_text import TextVault

BODY_FIELDS = (
    "task", "inputs", "tool_calls", "outputs", "output_sha256", "derived_facts", "next_actions", "receipts",
    "branch", "artifacts", "reviewer", "statement", "blob", "reason", "tags", "command", "prompt", "summary",
    "action", "status", "started", "ended", "session", "commit", "tree", "patch_id", "count",
)  # fmt: skip
_ENVELOPE = (
    "hash_self", "ts", "kind", "target", "line", "writer", "seq", "run_id", "parent_run_id", "head", "layer",
    "systemic_scale", "exit_status",
)  # fmt: skip


_T = TypeVar("_T")
_LOCAL_PARTS = paths.LOCAL.split("/")
# The events of a run repeat the text of its recording. Decisions about memories and tasks are in tracked files anyway.
_SEALED_KINDS = {"run": ("events", "recordings"), "session": ("events",)}


_now: Callable[[], datetime] = partial(datetime.now, UTC)


class Clone:
    """One clone's memory: its git repository, its private store, the line of its current branch."""

    def __init__(
        self,
        repo: Repo,
        layout: paths.Layout,
        *,
        clock: Callable[[], datetime] = _now,
        scan: Scanner | None = None,
        intake: Scanner | None = None,
        reading: bool = False,
    ) -> None:
        self.repo, self.clock, self.scan = repo, clock, scan or Scanner()
        # The project's shared rules also redact what agents write, but not what people approved:
        # a pull request can change those rules.
        self.intake = intake or self.scan
        self.hide = self.scan.for_others()  # for text that is indexed or shown but was not recorded here
        self.reading = reading  # True: reading creates and stores nothing
        self.sealed_scope: frozenset[str] = frozenset()  # the kinds of text that the settings seal
        self.unlock: Callable[[], TextVault] | None = None  # returns the keys; None: no setting names a key
        self.trunk: str | None = None  # from the settings: the branch whose content counts as approved upstream
        self.notes = layout.notes  # messages for the user, printed on stderr
        self.private = layout
        self.layout = layout if is_writable(layout) else layout.sandboxed()
        self.stores = (layout, layout.sandboxed()) if self._has_own_fallback() else (layout,)
        self.bodies = Bodies(*self._writable_first())
        self.sighted: dict[str, tuple[object, list[Sighting]]] = {}  # entry files by folder, valid for that state
        self._writers: dict[str, SpoolWriter] = {}
        self._line: tuple[tuple[object, ...], branch_lines.BranchLine] | None = None
        self._own: set[str] | None = None
        self._visible_events: tuple[tuple[object, ...], list[Event]] | None = None
        self._erased: set[str] | None = None

    @classmethod
    def open(
        cls,
        start: str | Repo,
        *,
        cache: str,
        clock: Callable[[], datetime] = _now,
        scan: Scanner | None = None,
        intake: Scanner | None = None,
    ) -> Clone:
        """Returns the clone at a folder; in a fresh clone of an initialised project, creates its store."""
        repo = start if isinstance(start, Repo) else Repo.discover(start)
        layout = paths.Layout(repo.top, os.path.join(repo.common_dir, "holdfast"), cache)
        if not is_initialised(repo, layout):
            if repo.tree_id("HEAD", paths.TRACKED):
                ways = "Commit that: git commit -m 'Remove Holdfast' -- .holdfast; or undo it: git restore .holdfast"
                raise NotInitialised(f"Holdfast was removed from {repo.top}, and git still has its files", hint=ways)
            raise NotInitialised(f"{repo.top} has no Holdfast memory yet")
        clone = cls(repo, layout, clock=clock, scan=scan, intake=intake)
        clone._prepare()
        return clone

    def _has_own_fallback(self) -> bool:
        """Returns whether the fallback store `.holdfast/local` was written by this clone: git must track nothing there.

        Otherwise a pull request could bring a whole store, with approvals that nobody gave here.
        """
        local = self.private.sandboxed()
        if not os.path.lexists(local.private) or set(local.listed(local.private)) <= {".gitignore"}:
            return True
        straight = os.path.join(os.path.realpath(local.top), *_LOCAL_PARTS)
        if os.path.realpath(local.private) == straight and not self._came_by_git(local):
            return True
        foreign = f"{paths.LOCAL} came by git, so nothing in it was recorded here"
        if self.layout.private == local.private:
            raise UnsafePath(foreign, hint=f"Delete it: git rm -r {paths.LOCAL}")
        self.private.leave_out(f"{foreign}; delete it: git rm -r {paths.LOCAL}")
        return False

    def _came_by_git(self, local: paths.Layout) -> bool:
        """Returns whether git tracks something in the fallback store, on any branch, or it is a repository itself."""
        if os.path.lexists(os.path.join(local.private, ".git")):  # of a submodule; git leaves its folder behind
            return True
        tracked = {*os.fsdecode(self.repo.run("ls-files", "-z", "--", paths.LOCAL)).split("\0")}
        tracked |= self.repo.tree("HEAD", paths.LOCAL).keys()
        if not tracked <= {"", f"{paths.LOCAL}/.gitignore"}:
            return True
        return sandbox.holds_something(self.private) and self._is_on_a_branch()

    def _is_on_a_branch(self) -> bool:
        """Returns whether a branch has a file in the fallback store, or a submodule in its place."""
        shape = f"--format=%(objectname):{paths.LOCAL}"
        names = self.repo.run("for-each-ref", shape, "refs/heads", "refs/remotes")
        shape = "--batch-check=%(objecttype) %(objectname)"
        rows = {row.decode() for row in self.repo.run("cat-file", shape, stdin=names).split(b"\n")}
        trees = {row.removeprefix("tree ") for row in rows if row.startswith("tree ")}
        if any(row.startswith(("blob ", "commit ")) for row in rows):
            return True
        return any(self.repo.blobs_below(tree).keys() - {".gitignore"} for tree in trees)

    def _prepare(self) -> None:
        private_store.make_store(self.layout)
        if self.layout.private == self.private.private:
            drawer = len(self.stores) > 1 and sandbox.holds_something(self.private)
            if drawer and (moved := sandbox.drain(self.private)).files:
                self.notes.append(f"moved {moved.files} files that a sandbox had recorded into the private store")
                self._record_as_promoted(moved.approvals)
            self.settle()
        else:
            self.notes.append(
                ".git cannot be written here: new records stay in .holdfast/local "
                "until the next command outside the sandbox"
            )

    def _record_as_promoted(self, approvals: Iterable[Event]) -> None:
        """Records after each approval from a sandbox that no person gave it: other clones see only the log."""
        named = set(seal.spool_lines(self.private))
        for event in approvals:
            if event.line in named:
                heads: Callable[[], list[str]] = partial(list, (event.hash_self,))
                writer = SpoolWriter(self.private, event.line, heads=heads, clock=self.clock)
                draft = EventDraft("promote", target=event.target, layer=event.layer)
                writer.append(draft, event.body, head=event.head)
                writer.close()

    @property
    def has_sandbox_inbox(self) -> bool:
        """Whether hooks left something in the fallback store, or an empty folder there."""
        return len(self.stores) > 1 and os.path.lexists(self.private.sandboxed().inbox)

    def second_hand(self) -> set[str]:
        """Returns the approvals among this clone's events that no person is known to have given."""
        return sandbox.second_hand(self.private, drawer=len(self.stores) > 1)

    @property
    def repo_id(self) -> str:
        """This clone's random name, which finds its index in the cache."""
        for store in self.stores:
            try:
                return private_store.read_repo_id(store)
            except FileNotFoundError:
                continue
            except CorruptLog as error:  # it only names a cache: any stable name will do
                store.leave_out(error)
                return hashlib.sha256(os.fsencode(store.private)).hexdigest()[:20]
        raise NotInitialised("this clone's store has no repo-id")

    @property
    def worktree(self) -> str:
        """The name of this work tree among the clone's others; the main one is called `.`"""
        return self.worktree_of(self.repo.git_dir)

    def worktree_of(self, git_dir: str) -> str:
        """Returns the name of any work tree of this clone, by its git folder."""
        common = self.repo.common_dir
        main = git_dir == common or os.path.realpath(git_dir) == os.path.realpath(common)
        return "." if main else os.path.basename(git_dir.rstrip("/"))

    def now(self) -> str:
        return timestamp(self.clock())

    def line(self) -> branch_lines.BranchLine:
        """Returns the current line; a long process looks it up again when HEAD or git's config changes."""
        return self._line_at(self.repo.head())

    def _line_at(self, head: Head) -> branch_lines.BranchLine:
        config = os.path.join(self.repo.common_dir, "config")
        if self._line is None or self._line[0] != (head.ref, fsio.facts(config)) or head.ref is None:
            line = branch_lines.current(self.repo, self._writable_first(), head, self.clock, reading=self.reading)
            self._line = ((head.ref, fsio.facts(config)), line)
        return self._line[1]

    def _writable_first(self) -> tuple[paths.Layout, ...]:
        return (self.layout, *(store for store in self.stores if store.private != self.layout.private))

    def forget_line(self) -> None:
        """Forgets the line, so that its changed record is read again."""
        self._line = None

    def record(self, draft: EventDraft, *, sealed: bool = False) -> Event:
        """Stores an event on the current line: its body first, then its envelope; durable on return.

        `sealed`: seal its text whatever the settings say now.
        """
        head = self.repo.head()
        line = self._line_at(head)
        body = self._store_body(draft, head, sealed=sealed)
        if line.id not in self._writers:
            self._writers[line.id] = SpoolWriter(self.layout, line.id, heads=self.heads, clock=self.clock)
        return self._writers[line.id].append(draft, body, head=draft.head or head.oid)

    def _store_body(self, draft: EventDraft, head: Head, *, sealed: bool) -> str | None:
        if draft.body is None:
            return None
        body_bytes(draft.body)  # raises if it is too large, before the scanner reads a hundred megabytes
        return self.store_body(draft.kind, {**draft.body, "branch": head.branch}, self.scan, sealed=sealed)

    def store_body(self, kind: str, body: Mapping[str, Any], scan: Scanner, *, sealed: bool = False) -> str | None:
        """Stores the text of an event, redacted and, if required, sealed; None and a note if that fails."""
        try:
            cleaned = scan.value(dict(body))
            if sealed or self.seals_body(kind):
                clear = sealed_files.clear_body(cleaned)
                cleaned = sealed_files.seal_object(self._keys(), cleaned, clear, "event")
        except (ScanFailed, LockedText, BadSettings) as error:
            self.notes.append(f"the event's text was not stored: {error}")
            return None
        return self.bodies.put(body_bytes(cleaned))

    def seals_body(self, kind: str) -> bool:
        """Returns whether the text of such an event is sealed; people's decisions are in tracked files anyway."""
        return not self.sealed_scope.isdisjoint(_SEALED_KINDS.get(kind, ()))

    def recording_vault(self, folder: str | None = None) -> TextVault | None:
        """Returns the keys that seal a run's folder; None if it is not sealed. A sealed folder stays sealed."""
        is_begun = folder is not None and capsule.is_sealed(folder)
        return self._keys() if is_begun or "recordings" in self.sealed_scope else None

    def _keys(self) -> TextVault:
        if self.unlock is None:
            raise LockedText("the recorded text here is sealed, and encryption.key is not set")
        return self.unlock()

    def unsealed(self) -> contextlib.AbstractContextManager[None]:
        """Opens sealed text inside the `with` block, with the keys that are here."""
        return sealed_files.opening(self._reading_vault) if self.unlock else contextlib.nullcontext()

    def sealed(self) -> contextlib.AbstractContextManager[None]:
        """Keeps sealed text closed inside the `with` block: what is read there goes into an unsealed file."""
        return sealed_files.opening(None) if self.unlock else contextlib.nullcontext()

    def _reading_vault(self) -> TextVault:
        """Returns the keys for reading; without any, sealed text stays closed and one note gives the reason."""
        try:
            return self._keys()
        except (LockedText, BadSettings) as error:
            if (note := f"sealed text stays closed: {error}") not in self.notes:
                self.notes.append(note)
            return sealed_text.TextVault("")

    def heads(self) -> list[str]:
        """Returns the hashes of the newest events on the line, without reading all of them."""
        return self._retried(self._find_heads)

    def _find_heads(self) -> list[str]:
        tips = dict.fromkeys(self._tree_summary().heads)
        named: set[str] = set()
        for source in visible_entries.own_sources(self.stores, self.line()):
            if source.kind == "spool" and source.path and source.until is None:
                try:
                    parents, last = spool_ends(source.path)
                except (UnsafePath, TooLarge) as error:
                    self.layout.leave_out(error)
                    continue
                named.update(parents)
                tips.update({last: None} if last else {})
            elif source.kind == "spool" or self._is_sound(source):
                tips.update(dict.fromkeys(heads(event for event, _ in self._pairs(source))))
        return [tip for tip in tips if tip not in named]

    def _is_sound(self, source: Source) -> bool:
        """Returns whether a segment is undamaged: only then may a new event name its events as parents."""
        try:
            sound_events(source.key, self.read_source(source))
        except (CorruptLog, FutureFormat, UnsafePath, TooLarge, NotADirectoryError):
            return False
        return True

    def _tree_summary(self) -> published_log.PublishedLog:
        """Returns the heads and the erased targets of the log in HEAD's tree."""
        tree = self.repo.tree_id("HEAD", paths.LOG) if self.repo.head().oid else None
        return (
            published_log.of_tree(self.repo, self.layout, tree, keep=not self.reading)
            if tree
            else published_log.PublishedLog()
        )

    def change(
        self, path: str, text: str | None, *, event: Callable[[PendingChange], EventDraft] | None = None
    ) -> PendingChange:
        """Keeps the next content of a tracked path until it is published on this branch.

        With `event`, the event it returns is recorded as well; if that fails, the change is dropped.
        """
        return self.change_all({path: text}, event=event)[0]

    def change_all(
        self, texts: Mapping[str, str | None], *, event: Callable[[PendingChange], EventDraft] | None = None
    ) -> list[PendingChange]:
        """Keeps the next content of several tracked paths; waiting changes and HEAD are read once."""
        for path in texts:
            pending_changes.refuse_foreign(path)
        waiting = visible_entries.waiting_changes(self.stores, self.line())
        earlier = grouped((change.path, change) for change in waiting if change.segment is None)
        in_tree = self.repo.blobs_at("HEAD", list(texts))
        made = []
        for path, text in texts.items():
            line, head = self.line(), self.repo.head()
            base = self._base(path, text, earlier.get(path, []), in_tree.get(path))
            blob = None if text is None else self.repo.hash_blob(text.encode("utf-8"))
            new = pending_changes.add(self.layout, PendingChange(path, base, blob, line.id, head.oid, self.now(), text))
            if event is not None:
                try:
                    self.record(event(new))
                except HoldfastError:  # the disk is full or read-only: the earlier change still counts
                    pending_changes.drop(self.layout, new)
                    raise
            self.retire(earlier.get(path, []))
            made.append(new)
        return made

    def retire(self, changes: Iterable[PendingChange]) -> None:
        """Takes changes of this line off the waiting list. They are kept: a newer branch may have inherited them."""
        for change in changes:
            if change.line == self.line().id and change.published is None:
                pending_changes.archive(self.layout, change, commit=None, ts=self.now())

    def waiting_for(self, path: str) -> list[PendingChange]:
        """Returns every change of a file that waits here."""
        waiting = visible_entries.waiting_changes(self.stores, self.line())
        return [change for change in waiting if change.path == path and change.segment is None]

    def give_up(self, path: str) -> None:
        """Keeps the branch's own text of a path: its changes no longer wait to be published, but are not deleted."""
        line, waiting = self.line(), self.waiting_for(path)
        branch_lines.pass_by(self.layout, line.id, [c.key for c in waiting if c.line != line.id], ts=self.now())
        self.retire(waiting)
        self.forget_line()

    def _base(self, path: str, text: str | None, earlier: list[PendingChange], in_tree: str | None) -> str | None:
        """Returns the base of a new text: HEAD's blob, or the earlier change's base while that change is in conflict.

        A person who edited the file by hand has seen both sides; any other author has seen only the waiting one.
        """
        if not earlier or earlier[-1].base == in_tree:
            return in_tree
        seen = self.entries(os.path.dirname(path), only=(path,))
        clashes = seen and seen[0].clash is not None and seen[0].edited != text
        return earlier[-1].base if clashes else in_tree

    def changes(self) -> list[PendingChange]:
        """Returns the changes that wait to be published and are visible on this line."""
        return visible_entries.changes(self.stores, self.line())

    def settle(self) -> None:
        """Takes off the waiting list what is in this branch's history by now: committed after --stage, or merged."""
        # A damaged record does not show what was settled before: the same changes would be settled at every command.
        if self.reading or not self.line().whole:
            return
        if self.repo.operation():  # a rebase or merge is running: an abort would remove these commits again
            return
        if not pending_changes.waiting(self.layout) and len(self.line().limits()) == 1:
            return
        if visible_entries.settle(self.repo, self.stores, self.line(), blob_of=self.blob_of, ts=self.now()):
            self.forget_line()

    def blob_of(self, change: PendingChange) -> str | None:
        """Returns the blob that a change writes to its path; None for a deletion."""
        if change.segment is None:
            return change.blob
        return self.repo.hash_blob(seal.sealed_bytes(self.layout, change.segment))

    def entries(
        self, folder: str = paths.MEMORY, *, differs: Iterable[str] | None = None, only: Collection[str] | None = None
    ) -> list[Sighting]:
        """Returns the entry files visible here, or `only` some; `differs`: the files known to differ from HEAD."""
        return visible_entries.sightings(self, folder, differs=differs, only=only)

    @cached_property
    def entry_memo(self) -> entry_memos.EntryMemo:
        """The cache of entry files that were parsed before."""
        kept = self.layout.cache and not self.reading
        return entry_memos.EntryMemo(self.layout.entry_memo(self.repo_id) if kept else None, self.hide, self.erased())

    def sources(self) -> list[Source]:
        """Returns the files of the log visible here."""
        return visible_entries.log_sources(self.repo, self.stores, self.line())

    def read_source(self, source: Source) -> bytes:
        """Returns a source's bytes."""
        if source.path is not None:
            return fsio.read(source.path, limit=MAX_SPOOL)
        return self.repo.blobs([source.blob or ""])[source.blob or ""]

    def _pairs(self, source: Source, data: bytes | None = None) -> Iterator[tuple[Event, bytes]]:
        """Yields the whole events of a source up to its limit; skips damage, which `doctor` reports."""
        try:
            data = self.read_source(source) if data is None else data
        except (UnsafePath, TooLarge, NotADirectoryError) as error:
            self.layout.leave_out(error)
            return
        yield from (pair for pair in events_in(data) if source.until is None or pair[0].ts <= source.until)

    def read_sources(self, sources: Iterable[Source]) -> Iterator[tuple[Event, bytes]]:
        """Yields the whole events of several sources, each with its bytes in the log."""
        chosen = list(sources)
        texts = self.repo.blobs(s.blob for s in chosen if s.path is None and s.blob)
        for source in chosen:
            yield from self._pairs(source, texts.get(source.blob or "") if source.path is None else None)

    def events(self) -> list[Event]:
        """Returns every event visible here, in order."""
        return list(self._retried(self._read_events))

    def _read_events(self) -> list[Event]:
        """Returns the events of the visible files; reads them again only if one of them changed."""
        sources = self.sources()
        state = tuple((s.key, s.until, s.blob or fsio.facts(s.path or "")) for s in sources)
        if self._visible_events is None or self._visible_events[0] != state:
            self._visible_events = (state, in_order(event for event, _ in self.read_sources(sources)))
        return self._visible_events[1]

    def all_events(self) -> list[Event]:
        """Returns every event this clone holds, on any branch, in order."""
        # Own events first: one that is published between the two reads is then found twice, never missed.
        own = self._retried(lambda: list(self.own_events()))
        published = self.read_sources(source for source in self.sources() if source.blob)
        return in_order([*own, *(event for event, _ in published)])

    def _retried(self, read: Callable[[], list[_T]]) -> list[_T]:
        """Reads again if a spool was sealed between finding it and reading it."""
        for _ in range(20):  # a guess: each retry needs another process to seal in that very moment
            with contextlib.suppress(FileNotFoundError):
                return read()
        return read()

    def own_events(self) -> Iterator[Event]:
        """Yields every event this clone recorded: in its spools, and in the segments sealed from them."""
        for source in self.own_files():
            yield from (event for event, _ in self._pairs(source))

    def own_files(self) -> Iterator[Source]:
        """Yields the log files that this clone recorded, on any line."""
        # Spools first: one that is sealed between the two reads is then found twice, never missed.
        for store in self.stores:
            for line in seal.spool_lines(store):
                for path in seal.spools(store, line):
                    yield Source(f"{line}/{os.path.basename(path)}", "spool", line, None, path, None)
        for store in self.stores:
            for name in store.listed(store.sealed_log, ".jsonl"):
                path = os.path.join(store.sealed_log, name)
                yield Source(name.removesuffix(".jsonl"), "segment", None, None, path, None)

    def find_events(self, scope: str = "visible", **wanted: Any) -> list[Event]:
        """Returns the events that match the fields of `EventQuery`, in order, without reading all of them.

        Scope: `visible` here, this clone's `own` on any branch, those `published` on this
        branch or `waiting` to be published, or `all` that the clone holds.
        """
        query = event_index.EventQuery(**wanted)
        return self._retried(lambda: self._lookup.find(scope, query))

    def begun_events(
        self, *, before: str | None = None, kinds: Collection[str] | None = None, newest: int
    ) -> list[tuple[str, Event]]:
        """Returns the newest events in this clone by when they began, newest first, each with that moment.

        A run that was imported began long before it was recorded.
        """
        return self._retried(lambda: self._lookup.begun("all", before=before, kinds=kinds, newest=newest))

    @cached_property
    def _lookup(self) -> event_lookup.EventLookup:
        return event_lookup.EventLookup(self)

    def forget_bodies(self) -> None:
        """Makes the lookup read all events again: bodies arrived that were missing when their events were read."""
        self._lookup.forget()

    def runs_naming(self, words: Collection[str]) -> list[Event]:
        """Returns the runs in this clone whose body names one of these files or commits."""
        return self._retried(lambda: self._lookup.naming("all", words))

    def produced(self, *, newest: int) -> list[tuple[str, dict[str, Any]]]:
        """Returns the newest files that runs visible here produced, oldest first, each with its run."""
        return self._retried(lambda: self._lookup.made("visible", newest=newest))

    def tells_order_by_time(self) -> bool:
        """Returns whether each event in this clone has a later time than all its parents."""
        return all(self._retried(lambda: [self._lookup.in_time("all")]))

    def joined(self, event: Event) -> dict[str, Any]:
        """Returns an event and its body as one flat object; unknown fields are null."""
        body = self.bodies.get(event.body) if event.body and not self._is_erased(event) else None
        envelope = {name: getattr(event, name) for name in _ENVELOPE}
        if body is not None or event.body is None:
            state = "locked" if body and self.bodies.is_locked(event.body or "") else "here"
        elif self._is_erased(event):
            state = "erased"
        else:
            self._own = self._own or {own.hash_self for own in self.own_events()}
            state = "missing" if event.hash_self in self._own else "private"
        return {
            **envelope,
            **{name: (body or {}).get(name) for name in BODY_FIELDS},
            "body": event.body,
            "body_state": state,
            "hash_prev": list(event.hash_prev),
            **({"added": added(event.added.encode("ascii"))} if event.added else {}),
        }

    def _is_erased(self, event: Event) -> bool:
        return not self.erased().isdisjoint((event.hash_self, event.target or "", event.run_id or ""))

    def erased(self) -> set[str]:
        """Returns the ids that are never read, indexed or shown: erased here, or by an event in HEAD's log."""
        if self._erased is None:
            self._erased = self._own_erased() | self._tree_summary().erased
        return self._erased

    def _own_erased(self) -> set[str]:
        return {name for store in self.stores for name in store.listed(store.erased) if not name.endswith(".tmp")}

    def erased_elsewhere(self) -> set[str]:
        """Returns the ids that an event in HEAD's log erased and this clone has not."""
        return self.erased() - self._own_erased()

    def forget_erased(self) -> None:
        """Makes the erased ids and the cache of entries be read again."""
        self._erased = None
        self.__dict__.pop("entry_memo", None)


def is_writable(layout: paths.Layout) -> bool:
    """Returns whether the private store can be written; a sandbox may mount .git read-only."""
    folder = layout.private if os.path.isdir(layout.private) else os.path.dirname(layout.private)
    return os.access(folder, os.W_OK)


def is_initialised(repo: Repo, layout: paths.Layout) -> bool:
    """Returns whether there is a private store, or `.holdfast/` in the work tree or in HEAD.

    If HEAD has it and somebody deleted it, it was removed on purpose; a sparse checkout deletes nothing.
    """
    if os.path.isdir(layout.in_tree(paths.TRACKED)) or os.path.lexists(layout.repo_id):
        return True
    is_in_head = repo.tree_id("HEAD", paths.TRACKED) is not None
    return is_in_head and not repo.run("ls-files", "--deleted", "--", paths.TRACKED)
