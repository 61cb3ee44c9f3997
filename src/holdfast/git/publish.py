"""Publishing: what waits on this line becomes a commit of its own, and nothing else moves.

It is a deliberate act, never a hook's. Every step is written to a journal first, so that a crash
at any instant is undone or finished by the next command; a refusal puts index and files back.
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
    """A change that was not published, and why; it still waits."""

    path: str
    reason: str


@frozen
class Published:
    """What a publish did."""

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
    """Seal this line's events, write its waiting files, and commit exactly them."""
    clone.repo.refuse_in_hook_of_publish()
    _refuse_while_busy(clone)
    if not here and not stage:
        _refuse_on_trunk(clone, trunk)
    with fsio.locked(clone.layout.lock, wait=60.0) as lock:
        said = recover(clone)
        if said is not None and os.path.lexists(clone.layout.publishing):
            raise PublishRefused(said, hint="Once git is free again, run `holdfast publish` again.")
        clone.notes.extend([said] if said is not None else [])
        clone.settle()
        _tell_of_erasures(clone)
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
    """What was published and is gone; if nothing is, that is said, and where else it may be."""
    found = reconcile.lost(clone)
    if not found:
        aside = rewinds.lying_aside(clone)
        there = f"; {len(aside):,} set aside after a rewind, see `holdfast reconcile --carry changes`"
        clone.notes.append(f"nothing to restore: what this line published is here{there if aside else ''}")
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
    """People expect trunk to move by pull requests; publishing there must be asked for."""
    upstream = clone.repo.text("rev-parse", "--symbolic-full-name", "-q", "--verify", "@{upstream}", ok=(0, 1, 128))
    head, trunk = clone.repo.head(), clone.repo.trunk(setting)
    # Where the remote never said which branch is its default, the local trunk that follows it stands for it.
    if upstream and trunk in (upstream, head.ref):
        raise OnTrunk(f"{head.branch} follows {upstream.removeprefix('refs/remotes/')}, the remote's default branch")


def _tell_of_erasures(clone: Clone) -> None:
    """What was erased on another line is deleted here too, so the event that says why must come along."""
    deleted = [change.path for change in clone.changes() if change.text is None and not change.segment]
    gone = {name for name in clone.erased() if any(path.endswith(f"-{name}.md") for path in deleted)}
    told = {event.target for event in clone.find_events(kinds=("erase",))} if gone else set()
    for name in sorted(gone - told):
        clone.record(EventDraft("erase", target=name))


def _seal(clone: Clone) -> None:
    """Seal this line's events, and those it inherited into segments of their own line."""
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
            # A parent's segment of which every event was inherited is published as it is: equal blobs merge.
            path = paths.segment_path(source.key, pairs[0][0].ts)
            pending_changes.add(clone.layout, PendingChange(path, None, None, line.id, head, now, segment=source.key))
            done |= {event.hash_self for event, _ in pairs}
        elif pairs:
            loose.setdefault(pairs[0][0].line, {}).update({event.hash_self: (event, d) for event, d in pairs})
    for name, found in loose.items():
        fresh = [pair for key, pair in found.items() if key not in done]
        seal.keep(clone.layout, name, seal.ordered(fresh), head=head, ts=now, owner=line.id)


def _names_in(clone: Clone, sources: Sequence[visible_entries.Source]) -> set[str]:
    """The hashes that events in these segments give themselves; what is false about them is doctor's find."""
    texts = clone.repo.blobs(source.blob for source in sources if source.blob).values()
    files = (clone.read_source(source) for source in sources if not source.blob)
    found = (split_lines(data) for group in (texts, files) for data in group)
    return {line[14:78].decode("ascii", "replace") for rows in found for line in rows}


def _pass_events(clone: Clone) -> None:
    """What was inherited is in our history now: from here on it comes and goes with that, like our own."""
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
class _Ground:
    """What stands in HEAD, in the index and in the work tree before we write."""

    tree: dict[str, str]
    index: dict[str, str]
    sparse: set[str]
    differs: dict[str, str]  # paths whose file is not what HEAD has
    staged: dict[str, visible_entries.Staged]
    sighted: dict[str, visible_entries.Sighting]


def _ground(clone: Clone, asked: Sequence[str]) -> _Ground:
    tagged, differs = publish_journal.tagged_entries(clone.repo), clone.repo.status(paths.TRACKED)
    return _Ground(
        tree=clone.repo.tree("HEAD", paths.TRACKED),
        index={path: facts for path, (_, facts) in tagged.items()},
        sparse={path for path, (tag, _) in tagged.items() if tag == "S"},
        differs=differs,
        staged=visible_entries.read_staged(clone.repo),
        sighted={sighting.path: sighting for sighting in clone.entries(paths.TRACKED, differs=differs, only=asked)},
    )


def _plan(clone: Clone, changes: Sequence[PendingChange]) -> tuple[list[PublishItem], list[UnpublishedChange]]:
    """Decide, path by path, what is written; whatever is not safe to write is kept and explained."""
    asked = {change.path: change for change in changes}
    if not asked:
        return [], []
    ground = _ground(clone, list(asked))
    items, kept = [], []
    for path, change in asked.items():
        data = _content(clone, change, ground.sighted)
        item = _item(clone, path, data, change, ground)
        if item.blob == item.head_blob:
            _close(clone, [change], clone.repo.head().oid)
        elif reason := _why_not(item, ground):
            kept.append(UnpublishedChange(path, reason))
        else:
            items.append(item)
    items += _proofs(clone, items, ground)
    attributes = _attributes(clone, ground)
    return ([attributes, *items] if items and attributes else items), kept


def _item(clone: Clone, path: str, data: bytes | None, change: PendingChange | None, ground: _Ground) -> PublishItem:
    blob = None if data is None else clone.repo.hash_blob(data)
    there, hidden = publish_journal.file_blob(clone.repo, path), path in ground.sparse
    return PublishItem(path, data, blob, ground.tree.get(path), ground.index.get(path), there, hidden, change)


def _proofs(clone: Clone, items: Sequence[PublishItem], ground: _Ground) -> list[PublishItem]:
    """The proofs of the approvals that go along, and the end of those whose text goes or changes."""
    memory = f"{paths.MEMORY}/"
    written = {item.path: item.data for item in items if item.path.startswith(memory)}
    there = {path: blob for path, blob in ground.tree.items() if path.startswith(memory)}
    data = clone.repo.blobs(there[path] for path in written if path in there)
    changed = {path: data.get(there[path], b"") for path in written if path in there}
    changed |= {path: text for path, text in written.items() if text is not None}
    touched = {one.id for one in approval_proofs.texts(clone.repo, changed)}
    given = _accepted(clone, items, touched)
    if not written and not given:
        return []
    gone = tuple(f"-{name}.md" for name in clone.erased())
    left = {path: blob for path, blob in there.items() if path not in written and not path.endswith(gone)}
    texts = clone.entry_memo.texts(paths.MEMORY, left.values(), clone.repo.blobs)
    after = {path: texts.get(blob, "").encode("utf-8", "replace") for path, blob in left.items()} | written
    wanted = approval_proofs.changes(
        clone.repo,
        given=given,
        touched=touched,
        proved={path: blob for path, blob in ground.tree.items() if path.startswith(f"{paths.APPROVALS}/")},
        files={path: text for path, text in after.items() if text is not None},
    )
    asked = {item.path for item in items}
    found = [_item(clone, path, text, None, ground) for path, text in wanted.items() if path not in asked]
    return [item for item in found if item.blob != item.head_blob and _why_not(item, ground) is None]


def _accepted(clone: Clone, items: Sequence[PublishItem], touched: Collection[str]) -> list[tuple[str, bytes]]:
    """Approvals by people that may need a proof, each with its memory and its stored body.

    Those in the segments that are published, and older ones of this clone about texts that are only now.
    """
    segments = [item.data for item in items if item.change and item.change.segment and item.data]
    lines = (line for data in segments for line in split_lines(data) if b'"kind":"accept"' in line)
    found = [parse_event(line) for line in lines]  # a damaged approval is not published: its proof could not come along
    if touched:
        found += clone.find_events("own", kinds=("accept",), targets=touched)
    second_hand = clone.second_hand() if found else set()
    named = {event.body: event.target or "" for event in found if event.hash_self not in second_hand}
    stored = ((target, clone.bodies.raw(body)) for body, target in named.items() if body)
    return [(target, body) for target, body in stored if body is not None]


def _attributes(clone: Clone, ground: _Ground) -> PublishItem | None:
    """Segments must not travel without the rules that keep their bytes; a file of the user's own stays."""
    item = _item(clone, paths.ATTRIBUTES, ATTRIBUTES_TEXT.encode(), None, ground)
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
    """Keep changes of different paths as published; what waits is looked up once for all of them."""
    line = clone.line()
    there = grouped((one.path, one) for one in visible_entries.waiting_changes(clone.stores, line))
    for change in changes:
        waiting = there.get(change.path, [])
        visible_entries.close_change(clone.stores, line, change, waiting, commit=commit, ts=clone.now())
    clone.forget_line()


def _why_not(item: PublishItem, ground: _Ground) -> str | None:
    seen, ours = ground.sighted.get(item.path), ground.staged.get(item.path)
    if seen is not None and seen.clash is not None:
        both = "it was changed here and in the branch's history; "
        if item.path.startswith((paths.TASKS, paths.LINKS)):
            return both + "`holdfast reconcile` shows both, `holdfast task resolve` settles it"
        return (
            both + "`holdfast show` has both texts: "
            "write the one you want into the file, then `holdfast review accept` it"
        )
    if item.path not in ground.differs or item.there in (item.blob, ours.blob if ours else item.blob):
        return None
    if item.there is None:
        return None if item.blob is None or item.head_blob is None else "the file was deleted by hand"
    return "the file differs from HEAD: commit or undo your own edit first"


def _carry_out(clone: Clone, items: Sequence[PublishItem], *, stage: bool, message: str, lock: int) -> str | None:
    """Write, add and commit; on any refusal everything is as it was."""
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
    """Store the new texts in git, byte for byte, so that its index can name them."""
    there = [item.path for item in items if item.blob is not None]
    visible_entries.refuse_conversion(clone.repo, there)  # `git commit` reads the files again, through filters
    names = b"".join(os.fsencode(path) + b"\n" for path in there)
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
    """What was merged with the branch's own text waits in its merged form, to be known in its commit."""
    for item in items:
        change = item.change
        if change and change.text is not None and item.data is not None and change.blob != item.blob:
            clone.change(item.path, item.data.decode("utf-8"))


def _keep_as_published(clone: Clone, items: Sequence[PublishItem], commit: str | None) -> None:
    """Remember each change as it stands in the commit: merged, or as a hook left it."""
    tree = clone.repo.blobs_at("HEAD", [item.path for item in items])
    publish_journal.follow_head(clone.repo, items, tree)
    texts = clone.repo.blobs(tree[i.path] for i in items if i.path in tree and tree[i.path] != i.blob)
    closed = []
    for item in items:
        if item.change is None:
            continue
        change, blob = item.change, tree.get(item.path)
        if blob in texts:
            clone.notes.append(f"a commit hook rewrote {item.path}; what it made of it was committed")
        if change.segment is None and change.blob != blob:
            data = texts.get(blob or "", item.data or b"")
            change = replace(change, blob=blob, text=data.decode("utf-8", "replace"))
        closed.append(change)
    _close(clone, closed, commit)


def _commit(clone: Clone, items: Sequence[PublishItem], message: str, before: repo.Head) -> None:
    # Not --literal-pathspecs: git hands that on to the user's hooks, whose own patterns would then fail.
    names = b"".join(b":(top,literal)" + os.fsencode(item.path) + b"\0" for item in items)
    listed = ("--only", "--pathspec-from-file=-", "--pathspec-file-nul")
    done = clone.repo.attempt_patiently("commit", "-q", "-m", message, *listed, stdin=names, publishing=True)
    after = clone.repo.head().oid
    if done.returncode and after == before.oid:
        raise _refusal(clone, items, done.stderr + done.stdout)
    rewritten = _rewritten(items, clone.repo.tree("HEAD", paths.LOG))
    if rewritten:
        # Nobody can have seen the commit yet: the branch moves back off it.
        where = ("-d", "HEAD") if before.oid is None else ("HEAD", before.oid)
        clone.repo.run("update-ref", "-m", "holdfast: undo publish", *where, after or "", write=True)
        raise HookRewrote(f"a commit hook rewrote {rewritten[0]}, whose bytes are its name")


def _refusal(clone: Clone, items: Sequence[PublishItem], output: bytes) -> HoldfastError:
    files = {item.path: publish_journal.file_blob(clone.repo, item.path) or "" for item in items}
    rewritten = _rewritten(items, files)
    if rewritten:
        return HookRewrote(f"a commit hook rewrote {rewritten[0]}, whose bytes are its name, and refused it")
    return publish_journal.refusal(output, "git refused the commit")


def _rewritten(items: Sequence[PublishItem], blobs: dict[str, str]) -> list[str]:
    return [i.path for i in items if i.path.startswith(paths.LOG) and i.blob and blobs.get(i.path) != i.blob]


def _message(items: Sequence[PublishItem], events: int) -> str:
    counts = [(*words, sum(item.path.startswith(f"{folder}/") for item in items)) for *words, folder in _NAMED]
    counts.append(("event", "events", events))
    parts = [f"{number} {one if number == 1 else many}" for one, many, number in counts if number]
    told = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
    return f"holdfast: publish {told or 'what waited'}"


_NAMED = (("memory", "memories", paths.MEMORY), ("task", "tasks", paths.TASKS), ("link", "links", paths.LINKS))
