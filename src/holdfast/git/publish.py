"""Publishes: commits what waits on this branch, in a commit of its own, and changes nothing else.

Only a command publishes, never a hook. Every step is written to a journal first, so that the next command
undoes or finishes a publish after a crash at any moment; if git refuses, index and files are restored.
"""

import os
from collections.abc import Collection, Iterable, Sequence

from holdfast.errors import HoldfastError, HookRewrote, OnTrunk, PublishRefused
from holdfast.git import approval_proofs, branch_lines, publish_journal, reconcile, repo, rewinds, visible_entries
from holdfast.git.clone import Clone
from holdfast.git.project_setup import ATTRIBUTES_TEXT, EARLIER_ATTRIBUTES
from holdfast.git.publish_journal import PublishItem
from holdfast.model.event import Event, EventDraft
from holdfast.store import fsio, pending_changes, seal
from holdfast.store import layout as paths
from holdfast.store.format import parse_event, split_lines
from holdfast.store.pending_changes import PendingChange
from holdfast.values import frozen, grouped, replace

recover, resume = publish_journal.recover, publish_journal.resume


@frozen
class UnpublishedChange:
    """A change that was not published, with the reason; it still waits."""

    path: str
    reason: str


@frozen
class Published:
    """The result of a publish."""

    commit: str | None
    paths: tuple[str, ...]
    events: int
    kept: tuple[UnpublishedChange, ...]
    staged: bool


def publish(
    clone: Clone,
    *,
    stage: bool = False,
    here: bool = False,
    restore: bool = False,
    trunk: str | None = None,
    message: str | None = None,
) -> Published:
    """Seals this line's events, writes its waiting files, and commits exactly those."""
    clone.repo.refuse_in_hook_of_publish()
    _refuse_while_busy(clone)
    if not here and not stage:
        _refuse_on_trunk(clone, trunk)
    with fsio.locked(clone.layout.lock, wait=60.0) as lock:
        note = recover(clone)
        if note is not None and os.path.lexists(clone.layout.publishing):
            raise PublishRefused(note, hint="When the other git process has ended, run `holdfast publish` again.")
        clone.notes.extend([note] if note is not None else [])
        clone.settle()
        _record_erasures(clone)
        _seal(clone)
        changes = [*(_lost(clone) if restore else ()), *clone.changes()]
        items, kept = _plan(clone, changes)
        events = sum(_count(clone, i.change.segment) for i in items if i.change and i.change.segment)
        if not items:
            _pass_events(clone)
            return Published(None, (), 0, tuple(kept), stage)
        commit = _carry_out(clone, items, stage=stage, message=message or _message(items, events), lock=lock)
        if commit:
            _pass_events(clone)
    return Published(commit, tuple(item.path for item in items), events, tuple(kept), stage)


def _lost(clone: Clone) -> list[PendingChange]:
    """Returns what was published and is missing; if nothing is, adds a note that tells where else to look."""
    found = reconcile.lost(clone)
    if not found:
        aside = rewinds.lying_aside(clone)
        more = f"; {len(aside):,} changes were set aside after a rewind, see `holdfast reconcile --carry changes`"
        clone.notes.append(f"nothing to restore: all that this branch published is here{more if aside else ''}")
    return found


def _refuse_while_busy(clone: Clone) -> None:
    operation = clone.repo.operation()
    if operation:
        raise PublishRefused(f"git is in the middle of {operation}")
    if clone.repo.head().ref is None:
        raise PublishRefused("HEAD is detached: there is no branch to publish on", hint="Switch to a branch first.")
    if clone.layout.private != clone.private.private:
        reason = ".git cannot be written here, so nothing can be committed"
        raise PublishRefused(reason, hint="Publish outside the sandbox.")


def _refuse_on_trunk(clone: Clone, setting: str | None) -> None:
    """Raises OnTrunk on the remote's default branch: people expect it to change only by pull requests."""
    upstream = clone.repo.text("rev-parse", "--symbolic-full-name", "-q", "--verify", "@{upstream}", ok=(0, 1, 128))
    head, trunk = clone.repo.head(), clone.repo.trunk(setting)
    # If the remote's default branch is unknown, the local trunk that follows it is used instead.
    if upstream and trunk in (upstream, head.ref):
        raise OnTrunk(f"{head.branch} follows {upstream.removeprefix('refs/remotes/')}, the remote's default branch")


def _record_erasures(clone: Clone) -> None:
    """Records on this line what was erased on another, so that the deletion is published with its event."""
    deleted = [change.path for change in clone.changes() if change.text is None and not change.segment]
    gone = {name for name in clone.erased() if any(path.endswith(f"-{name}.md") for path in deleted)}
    recorded = {event.target for event in clone.find_events(kinds=("erase",))} if gone else set()
    for name in sorted(gone - recorded):
        clone.record(EventDraft("erase", target=name))


def _seal(clone: Clone) -> None:
    """Seals this line's events, and inherited events into segments of their own line."""
    line, head, now = clone.line(), clone.repo.head().oid, clone.now()
    seal.seal(clone.layout, line.id, head=head, ts=now)
    inherited = [s for s in visible_entries.own_sources(clone.stores, line) if s.line != line.id]
    if not inherited:
        return
    ready = {c.segment for c in clone.changes() if c.segment}
    segments = [source for source in clone.sources() if source.kind == "segment"]
    done = _names_in(clone, [source for source in segments if source.blob is not None or source.key in ready])
    loose: dict[str, dict[str, tuple[Event, bytes]]] = {}
    for source in sorted(inherited, key=lambda source: source.kind):
        pairs = [(event, data) for event, data in clone.read_sources([source]) if event.hash_self not in done]
        if pairs and source.kind == "segment" and len(pairs) == _count(clone, source.key):
            # If all events of a parent's segment were inherited, it is published unchanged: equal blobs merge.
            path = paths.segment_path(source.key, pairs[0][0].ts)
            pending_changes.add(clone.layout, PendingChange(path, None, None, line.id, head, now, segment=source.key))
            done |= {event.hash_self for event, _ in pairs}
        elif pairs:
            loose.setdefault(pairs[0][0].line, {}).update({event.hash_self: (event, d) for event, d in pairs})
    for name, found in loose.items():
        fresh = [pair for key, pair in found.items() if key not in done]
        seal.keep(clone.layout, name, seal.ordered(fresh), head=head, ts=now, owner=line.id)


def _names_in(clone: Clone, sources: Sequence[visible_entries.Source]) -> set[str]:
    """Returns the hashes that the events in these segments claim; `doctor` finds false ones."""
    texts = clone.repo.blobs(source.blob for source in sources if source.blob).values()
    files = (clone.read_source(source) for source in sources if not source.blob)
    found = (split_lines(data) for group in (texts, files) for data in group)
    return {line[14:78].decode("ascii", "replace") for rows in found for line in rows}


def _pass_events(clone: Clone) -> None:
    """Records which inherited lines are in our history now: from here on they follow it, like our own events."""
    line = clone.line()
    ended = [name for name, until in line.limits().items() if until is not None]
    sources = [s for s in visible_entries.own_sources(clone.stores, line) if s.line in ended]
    events = {event.hash_self for event, _ in clone.read_sources(sources)}
    tree = [source for source in clone.sources() if source.blob] if events else []
    if events <= _names_in(clone, tree):
        left = {change.line for change in visible_entries.waiting_changes(clone.stores, line)}
        passed = [branch_lines.events_of(name) for name in ended]
        passed += [branch_lines.all_of(name) for name in ended if not left & set(ended)]
        branch_lines.pass_by(clone.layout, line.id, passed, ts=clone.now())
        clone.forget_line()


def _count(clone: Clone, segment: str) -> int:
    return seal.sealed_bytes(clone.layout, segment).count(b"\n") - 1


@frozen
class _Before:
    """The state of HEAD, the index and the work tree before we write."""

    tree: dict[str, str]
    index: dict[str, str]
    sparse: set[str]
    differs: dict[str, str]  # paths whose file differs from HEAD
    staged: dict[str, visible_entries.Staged]
    sighted: dict[str, visible_entries.Sighting]


def _state_before(clone: Clone, wanted: Sequence[str]) -> _Before:
    tagged, differs = publish_journal.tagged_entries(clone.repo), clone.repo.status(paths.TRACKED)
    return _Before(
        tree=clone.repo.tree("HEAD", paths.TRACKED),
        index={path: facts for path, (_, facts) in tagged.items()},
        sparse={path for path, (tag, _) in tagged.items() if tag == "S"},
        differs=differs,
        staged=visible_entries.read_staged(clone.repo),
        sighted={sighting.path: sighting for sighting in clone.entries(paths.TRACKED, differs=differs, only=wanted)},
    )


def _plan(clone: Clone, changes: Sequence[PendingChange]) -> tuple[list[PublishItem], list[UnpublishedChange]]:
    """Decides for each path what is written; a change that is not safe to write is kept, with the reason."""
    wanted = {change.path: change for change in changes}
    if not wanted:
        return [], []
    state = _state_before(clone, list(wanted))
    items, kept = [], []
    for path, change in wanted.items():
        data = _content(clone, change, state.sighted)
        item = _item(clone, path, data, change, state)
        if item.blob == item.head_blob:
            _close(clone, [change], clone.repo.head().oid)
        elif reason := _why_not(item, state):
            kept.append(UnpublishedChange(path, reason))
        else:
            items.append(item)
    items += _proofs(clone, items, state)
    attributes = _attributes(clone, state)
    return ([attributes, *items] if items and attributes else items), kept


def _item(clone: Clone, path: str, data: bytes | None, change: PendingChange | None, state: _Before) -> PublishItem:
    blob = None if data is None else clone.repo.hash_blob(data)
    file, hidden = publish_journal.file_blob(clone.repo, path), path in state.sparse
    return PublishItem(path, data, blob, state.tree.get(path), state.index.get(path), file, hidden, change)


def _proofs(clone: Clone, items: Sequence[PublishItem], state: _Before) -> list[PublishItem]:
    """Returns the proofs of the published approvals, and deletes those whose text is deleted or changed."""
    memory = f"{paths.MEMORY}/"
    written = {item.path: item.data for item in items if item.path.startswith(memory)}
    in_tree = {path: blob for path, blob in state.tree.items() if path.startswith(memory)}
    data = clone.repo.blobs(in_tree[path] for path in written if path in in_tree)
    changed = {path: data.get(in_tree[path], b"") for path in written if path in in_tree}
    changed |= {path: text for path, text in written.items() if text is not None}
    touched = {one.id for one in approval_proofs.texts(clone.repo, changed)}
    approvals = _accepted(clone, items, touched)
    if not written and not approvals:
        return []
    gone = tuple(f"-{name}.md" for name in clone.erased())
    left = {path: blob for path, blob in in_tree.items() if path not in written and not path.endswith(gone)}
    texts = clone.entry_memo.texts(paths.MEMORY, left.values(), clone.repo.blobs)
    after = {path: texts.get(blob, "").encode("utf-8", "replace") for path, blob in left.items()} | written
    wanted = approval_proofs.changes(
        clone.repo,
        given=approvals,
        touched=touched,
        proved={path: blob for path, blob in state.tree.items() if path.startswith(f"{paths.APPROVALS}/")},
        files={path: text for path, text in after.items() if text is not None},
    )
    planned = {item.path for item in items}
    found = [_item(clone, path, text, None, state) for path, text in wanted.items() if path not in planned]
    return [item for item in found if item.blob != item.head_blob and _why_not(item, state) is None]


def _accepted(clone: Clone, items: Sequence[PublishItem], touched: Collection[str]) -> list[tuple[str, bytes]]:
    """Returns the approvals by people that may need a proof, each with its memory and its stored body.

    These are in the published segments, and older ones of this clone about texts that are published only now.
    """
    segments = [item.data for item in items if item.change and item.change.segment and item.data]
    lines = (line for data in segments for line in split_lines(data) if b'"kind":"accept"' in line)
    found = [parse_event(line) for line in lines]  # raises for a damaged approval: it could not have a proof
    if touched:
        found += clone.find_events("own", kinds=("accept",), targets=touched)
    second_hand = clone.second_hand() if found else set()
    named = {event.body: event.target or "" for event in found if event.hash_self not in second_hand}
    stored = ((target, clone.bodies.raw(body)) for body, target in named.items() if body)
    return [(target, body) for target, body in stored if body is not None]


def _attributes(clone: Clone, state: _Before) -> PublishItem | None:
    """Returns our .gitattributes, whose rules protect the bytes of segments; None if the user has their own."""
    item = _item(clone, paths.ATTRIBUTES, ATTRIBUTES_TEXT.encode(), None, state)
    if item.head_blob is None:
        return item if item.there in (None, item.blob) else None
    earlier = {clone.repo.hash_blob(text.encode()) for text in EARLIER_ATTRIBUTES}
    converted = {clone.repo.hash_blob(text.replace("\n", "\r\n").encode()) for text in EARLIER_ATTRIBUTES}
    return item if item.head_blob in earlier and item.there in earlier | converted else None


def _content(clone: Clone, change: PendingChange, sighted: dict[str, visible_entries.Sighting]) -> bytes | None:
    if change.segment is not None:
        return seal.sealed_bytes(clone.layout, change.segment)
    if change.text is None:
        return None
    seen = sighted.get(change.path)
    merged = seen is not None and seen.origin == "pending" and change.published is None
    return (seen.text if merged and seen is not None else change.text).encode("utf-8")


def _close(clone: Clone, changes: Iterable[PendingChange], commit: str | None) -> None:
    """Records changes of different paths as published; the waiting changes are read once for all of them."""
    line = clone.line()
    by_path = grouped((one.path, one) for one in visible_entries.waiting_changes(clone.stores, line))
    for change in changes:
        waiting = by_path.get(change.path, [])
        visible_entries.close_change(clone.stores, line, change, waiting, commit=commit, ts=clone.now())
    clone.forget_line()


def _why_not(item: PublishItem, state: _Before) -> str | None:
    seen, ours = state.sighted.get(item.path), state.staged.get(item.path)
    if seen is not None and seen.clash is not None:
        both = "it was changed here and in the branch's history; "
        if item.path.startswith((paths.TASKS, paths.LINKS)):
            return both + "`holdfast reconcile` shows both, `holdfast task resolve` resolves it"
        return (
            both + "`holdfast show` prints both texts: "
            "write the one you want into the file, then `holdfast review accept` it"
        )
    if item.path not in state.differs or item.there in (item.blob, ours.blob if ours else item.blob):
        return None
    if item.there is None:
        return None if item.blob is None or item.head_blob is None else "the file was deleted by hand"
    return "the file differs from HEAD: commit or undo your own edit first"


def _carry_out(clone: Clone, items: Sequence[PublishItem], *, stage: bool, message: str, lock: int) -> str | None:
    """Writes, adds and commits; if git refuses, restores everything."""
    before = clone.repo.head()
    publish_journal.write(clone, items)
    with publish_journal.undone_on_failure(clone, items):
        for item in items:
            _write(clone, item)
        _store_objects(clone, items)
        rows = [(item.path, f"100644 {item.blob}" if item.blob else None) for item in items]
        publish_journal.write_index(clone.repo, rows, lock=lock)
        if not stage:
            _commit(clone, items, message, before)
    commit = None if stage else clone.repo.head().oid
    if stage:
        visible_entries.remember_staged(clone.repo, clone.line().id, ((item.path, item.blob) for item in items))
        _rebase_merged(clone, items)
    else:
        _keep_as_published(clone, items, commit)
        if visible_entries.read_staged(clone.repo):
            visible_entries.remember_staged(clone.repo, clone.line().id, ())
    fsio.remove(clone.layout.publishing)
    return commit


def _store_objects(clone: Clone, items: Sequence[PublishItem]) -> None:
    """Stores the new texts in git, byte for byte, so that its index can name them."""
    written = [item.path for item in items if item.blob is not None]
    visible_entries.refuse_conversion(clone.repo, written)  # `git commit` reads the files again, through filters
    names = b"".join(os.fsencode(path) + b"\n" for path in written)
    if names:
        clone.repo.run("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=names, write=True)
    clone.repo.know_blobs({item.blob: item.data for item in items if item.blob and item.data is not None})


def _write(clone: Clone, item: PublishItem) -> None:
    full = fsio.inside(clone.repo.top, item.path)
    if item.data is None:
        fsio.remove(full)
    elif item.there != item.blob:
        fsio.make_dirs(os.path.dirname(full), mode=0o755)
        fsio.replace(full, item.data, mode=0o644)


def _rebase_merged(clone: Clone, items: Sequence[PublishItem]) -> None:
    """Lets each merged text wait in its merged form, so that it is recognised in the user's commit."""
    for item in items:
        change = item.change
        if change and change.text is not None and item.data is not None and change.blob != item.blob:
            clone.change(item.path, item.data.decode("utf-8"))


def _keep_as_published(clone: Clone, items: Sequence[PublishItem], commit: str | None) -> None:
    """Records each change as it is in the commit: merged, or as a commit hook left it."""
    tree = clone.repo.blobs_at("HEAD", [item.path for item in items])
    publish_journal.follow_head(clone.repo, items, tree)
    texts = clone.repo.blobs(tree[i.path] for i in items if i.path in tree and tree[i.path] != i.blob)
    closed = []
    for item in items:
        if item.change is None:
            continue
        change, blob = item.change, tree.get(item.path)
        if blob in texts:
            clone.notes.append(f"a commit hook rewrote {item.path}; its version was committed")
        if change.segment is None and change.blob != blob:
            data = texts.get(blob or "", item.data or b"")
            change = replace(change, blob=blob, text=data.decode("utf-8", "replace"))
        closed.append(change)
    _close(clone, closed, commit)


def _commit(clone: Clone, items: Sequence[PublishItem], message: str, before: repo.Head) -> None:
    # Not --literal-pathspecs: git passes it on to the user's hooks, whose own patterns would then fail.
    names = b"".join(b":(top,literal)" + os.fsencode(item.path) + b"\0" for item in items)
    listed = ("--only", "--pathspec-from-file=-", "--pathspec-file-nul")
    done = clone.repo.attempt_patiently("commit", "-q", "-m", message, *listed, stdin=names, publishing=True)
    after = clone.repo.head().oid
    if done.returncode and after == before.oid:
        raise _refusal(clone, items, done.stderr + done.stdout)
    rewritten = _rewritten(items, clone.repo.tree("HEAD", paths.LOG))
    if rewritten:
        # Nobody can have seen the commit yet, so the branch is moved back.
        where = ("-d", "HEAD") if before.oid is None else ("HEAD", before.oid)
        clone.repo.run("update-ref", "-m", "holdfast: undo publish", *where, after or "", write=True)
        raise HookRewrote(f"a commit hook rewrote {rewritten[0]}, whose name is the hash of its bytes")


def _refusal(clone: Clone, items: Sequence[PublishItem], output: bytes) -> HoldfastError:
    files = {item.path: publish_journal.file_blob(clone.repo, item.path) or "" for item in items}
    rewritten = _rewritten(items, files)
    if rewritten:
        return HookRewrote(f"a commit hook rewrote {rewritten[0]}, whose name is the hash of its bytes, and refused it")
    return publish_journal.refusal(output, "git refused the commit")


def _rewritten(items: Sequence[PublishItem], blobs: dict[str, str]) -> list[str]:
    return [i.path for i in items if i.path.startswith(paths.LOG) and i.blob and blobs.get(i.path) != i.blob]


def _message(items: Sequence[PublishItem], events: int) -> str:
    counts = [(*words, sum(item.path.startswith(f"{folder}/") for item in items)) for *words, folder in _NAMED]
    counts.append(("event", "events", events))
    parts = [f"{number} {one if number == 1 else many}" for one, many, number in counts if number]
    words = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
    return f"holdfast: publish {words or 'what waited'}"


_NAMED = (("memory", "memories", paths.MEMORY), ("task", "tasks", paths.TASKS), ("link", "links", paths.LINKS))
