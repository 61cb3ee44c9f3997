"""The upstream of this clone: which remote its trunk comes from, whether it is trusted, and which texts it approves.

Trust is for one remote at one address and one of its branches; if any of these changes, the trust is void.
The trunk is read from the remote-tracking ref, never over the network, and cached for its commit in this process.
This module also counts the memories that the trunk has and this branch lacks: they arrive with a merge.
"""

import contextlib
import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from holdfast.errors import CorruptLog, FutureFormat, NotFound
from holdfast.git import approval_proofs, branch_lines, view_edits
from holdfast.git.approval_proofs import ProvenText
from holdfast.git.approvals import DECISIONS, Vouched, replaces
from holdfast.git.clone import Clone
from holdfast.git.repo import Repo, raw_changes
from holdfast.model import event as model_event
from holdfast.patterns import regex
from holdfast.store import layout, pending_changes, trusted_upstream
from holdfast.store.format import events_in, match_event, segment_name
from holdfast.values import frozen, grouped

_DECISION = regex(rb'"kind":"(?:' + "|".join((*DECISIONS, "erase")).encode("ascii") + rb')"')
_PASSWORD = regex(r"^(https?://)[^/@]*@")
_REMOTES = "refs/remotes/"
_ACCEPT = regex(rb'"hash_self":"([0-9a-f]{64})"[^\n]*?"kind":"accept"')
_ARRIVALS, _UNTIL = "arrivals", "until"  # the commits that brought approvals and proofs, and the last one searched


@frozen
class UpstreamTrust:
    """The upstream that the user trusts, and why the trust is void, if it is."""

    trusted: trusted_upstream.TrustedUpstream
    void: str | None


def find(repo: Repo, trunk: str | None = None) -> trusted_upstream.Upstream | None:
    """Returns the upstream of the trunk; None if it has none. `trunk` is its name in the settings."""
    remotes = repo.text("remote").split()
    ref = (_tracking(repo, repo.trunk(trunk), remotes) if remotes else None) or ""
    named = [name for name in remotes if ref.startswith(f"{_REMOTES}{name}/")]
    if not named:
        return None
    remote = max(named, key=len)
    url = repo.text("remote", "get-url", "--", remote, ok=(0, 2, 128))
    return trusted_upstream.Upstream(ref, remote, _PASSWORD.sub(r"\1", " ".join(url.split()))) if url else None


def _tracking(repo: Repo, trunk: str | None, remotes: Iterable[str]) -> str | None:
    """Returns the remote-tracking ref of the trunk."""
    if trunk is None or trunk.startswith(_REMOTES):
        return trunk
    branch = trunk.removeprefix("refs/heads/")
    followed = repo.text("for-each-ref", "--format=%(upstream)", trunk)
    if followed.startswith(_REMOTES):
        return followed
    names = sorted(remotes, key=lambda name: (name != "origin", name))
    return next((ref for name in names if repo.resolve(ref := f"{_REMOTES}{name}/{branch}")), None)


def trust(clone: Clone, *, by: str) -> trusted_upstream.TrustedUpstream:
    """Trusts the present upstream; the caller must know that a person decided it."""
    now = find(clone.repo, clone.trunk)
    if now is None:
        raise NotFound(
            "this clone does not follow the default branch of a remote, so there is nothing to trust",
            hint="Add the remote and fetch it, or accept entries one by one: holdfast review accept ID",
        )
    given = trusted_upstream.TrustedUpstream(now.ref, now.remote, now.url, clone.scan.text(by), clone.now())
    trusted_upstream.write(clone.private, given)
    return given


def revoke(clone: Clone) -> trusted_upstream.TrustedUpstream | None:
    """Revokes the trust, and returns what was trusted."""
    before = trusted_upstream.read(clone.private)
    trusted_upstream.forget(clone.private)
    return before


def held(clone: Clone) -> UpstreamTrust | None:
    """Returns what the user trusts, and whether it is void; None, without a git process, if nothing is trusted."""
    trusted = trusted_upstream.read(clone.private)
    return None if trusted is None else UpstreamTrust(trusted, _void(trusted, find(clone.repo, clone.trunk)))


def _void(trusted: trusted_upstream.TrustedUpstream, now: trusted_upstream.Upstream | None) -> str | None:
    if now is None:
        return f"{trusted.branch} of {trusted.remote}, which you trusted, is no longer this clone's trunk"
    if (now.remote, now.ref) != (trusted.remote, trusted.ref):
        return f"the trunk is now {now.name}; you trusted {trusted.branch} of {trusted.remote}"
    return f"{now.remote} is now at {now.url}; you trusted it at {trusted.url}" if now.url != trusted.url else None


def vouched(clone: Clone) -> Vouched:
    """Returns the memories and decisions of the trusted trunk; empty if no upstream is trusted."""
    trust = held(clone)
    if trust is None or trust.void:
        return Vouched()
    commit = clone.repo.resolve(trust.trusted.ref)
    return _vouched_at(clone, commit, shallow=clone.repo.is_shallow()) if commit else Vouched()


def _read(repo: Repo, commit: str) -> "_Trunk":
    """Reads the memories, decisions and proofs in a commit, with two git processes."""
    folders = (layout.LOG, layout.MEMORY, layout.APPROVALS)
    tree = {folder: dict[str, str]() for folder in folders}
    for path, blob in repo.tree(commit, layout.TRACKED).items():
        if (folder := "/".join(path.split("/")[:2])) in tree:
            tree[folder][path] = blob
    data = repo.blobs(blob for files in tree.values() for blob in files.values())
    log, memories, shown = ({path: data.get(blob, b"") for path, blob in tree[folder].items()} for folder in folders)
    last, erased = _decisions(log)
    found = {path.rpartition("/")[2]: text for path, text in shown.items()}
    proved = {
        name: body
        for name, one in last.items()
        if one.kind == "accept" and one.body in found
        if (body := approval_proofs.read(one.body, found[one.body])) is not None
    }
    return _Trunk(_texts(repo, commit, memories), last, erased, proved)


@frozen
class _Decision:
    """The last decision about a memory in a trunk's log."""

    kind: str
    body: str
    event: str


@frozen
class _Trunk:
    texts: list[ProvenText]
    last: Mapping[str, _Decision]
    erased: frozenset[str]
    proved: Mapping[str, Mapping[str, Any]]  # memory to the body of its last decision, if that is an approval


@lru_cache(maxsize=4)  # a guess: a process rarely sees a second commit of the trunk
def _vouched_at(clone: Clone, commit: str, *, shallow: bool) -> Vouched:
    trunk = _read(clone.repo, commit)
    bodies = {**_unproved(clone, commit, trunk, shallow=shallow), **trunk.proved}
    known = [one for one in trunk.texts if one.id in bodies]
    approved = {(one.id, one.blob) for one in known if approval_proofs.fits(bodies[one.id], one)}
    replaced = {name: olds for name, body in bodies.items() if (olds := replaces(body))}
    accepted = {name for name, one in trunk.last.items() if one.kind == "accept"}
    unchecked = frozenset(accepted - bodies.keys() if shallow else ())
    return Vouched(
        f"{commit} shallow" if unchecked else commit,
        frozenset(one.blob for one in trunk.texts),
        {name: one.kind for name, one in trunk.last.items()},
        trunk.erased,
        replaced,
        frozenset(approved),
        {name: str(body["blob"]) for name, body in bodies.items() if body.get("blob")},
        unchecked,
    )


def _unproved(clone: Clone, commit: str, trunk: _Trunk, *, shallow: bool) -> dict[str, dict[str, Any]]:
    """Returns the bodies of approvals without a proof: from a proof they once had, or the text that came with them.

    Versions before 0.6 published no proofs. Every commit that brought the approval, in any log file, must have
    the same text: if a later commit brings it again with another text, the approval does not count. In a shallow
    clone only proofs count.
    """
    named = {one.id for one in trunk.texts}
    unproved = {
        name: one
        for name, one in trunk.last.items()
        if one.kind == "accept" and name not in trunk.proved and name in named
    }
    if not unproved:
        return {}
    rows = _arrivals(clone, commit, shallow=shallow)
    shown = {blob for one in unproved.values() for blob in rows.get(_proof_key(one.body), ())}
    data = clone.repo.blobs(shown)
    bodies = {
        name: body
        for name, one in unproved.items()
        for blob in rows.get(_proof_key(one.body), ())
        if (body := approval_proofs.read(one.body, data.get(blob, b""))) is not None
    }
    left = {name: rows.get(one.event, []) for name, one in unproved.items() if name not in bodies}
    if shallow or not left:
        return bodies
    then = _memories_at(clone.repo, {start for starts in left.values() for start in starts}, left)
    found = ((name, _alike([then[start].get(name, []) for start in starts])) for name, starts in left.items())
    return {**bodies, **{name: body for name, body in found if body is not None}}


def _alike(versions: Sequence[Sequence[ProvenText]]) -> dict[str, Any] | None:
    """Returns the approval body for a memory that several commits have; None if its texts differ anywhere."""
    if not versions or not all(versions):
        return None
    found = [one for texts in versions for one in texts]
    digests, memory = {one.digest() for one in found}, found[0].parse()
    if len(digests) != 1 or memory is None:
        return None
    return {"blob": found[0].blob, "approves": digests.pop(), "supersedes": list(memory.supersedes)}


def _memories_at(
    repo: Repo, commits: Collection[str], names: Collection[str]
) -> dict[str, dict[str, list[ProvenText]]]:
    """Returns for each commit its texts of some memories, in any file."""
    files: dict[str, list[str]] = {commit: [] for commit in commits}
    todo = {f"{commit}:{layout.MEMORY}": [commit] for commit in commits}
    while todo:
        trees, inside = repo.blobs(todo), defaultdict[str, list[str]](list)
        for tree, data in trees.items():
            for mode, blob in _tree_rows(data, len(next(iter(commits))) // 2):
                if mode == b"40000":
                    inside[blob] += todo[tree]
                elif mode in (b"100644", b"100755"):
                    for commit in todo[tree]:
                        files[commit].append(blob)
        todo = inside
    read = repo.blobs({blob for held in files.values() for blob in held})
    texts = {blob: list(approval_proofs.texts(repo, {"": data})) for blob, data in read.items()}
    shown = {commit: [one for blob in held for one in texts.get(blob, ())] for commit, held in files.items()}
    return {commit: grouped((one.id, one) for one in some if one.id in names) for commit, some in shown.items()}


def _tree_rows(data: bytes, size: int) -> Iterator[tuple[bytes, str]]:
    """Yields mode and object id of each entry of a tree as git stores it; `size` is that of an id."""
    at = 0
    while (end := data.find(b"\0", at)) >= 0:
        yield data[at:end].partition(b" ")[0], data[end + 1 : end + 1 + size].hex()
        at = end + 1 + size


def _arrivals(clone: Clone, commit: str, *, shallow: bool) -> Mapping[str, list[str]]:
    """Returns the commits that brought each approval into a trunk, and the files that ever claimed to be its proof.

    The key of an approval is its hash, that of a proof the hash of its body. Only commits since the last search are
    read. In a shallow clone nothing is stored: its history may be complete next time.
    """
    known = {} if shallow else view_edits.read_record(clone, _ARRIVALS)
    before = next(iter(known.pop(_UNTIL, ())), "")
    if before == commit:
        return known
    if not before or not clone.repo.is_ancestor(before, commit):
        known, before = {}, ""
    # `-c`: of a merge, only files that no parent has came with it.
    shape = ("--no-show-signature", "--full-history", "-c", "--no-renames", "--raw", "--no-abbrev", "-z")
    span = [commit, *([f"^{before}"] if before else []), "--", layout.LOG, layout.APPROVALS]
    out = clone.repo.run("-c", "log.showRoot=true", "log", *shape, "--format=%x01%H", *span)
    rows = [(start, path, blob) for start, path, _, blob in raw_changes(out) if blob]
    texts = clone.repo.blobs({blob for _, path, blob in rows if path.startswith(f"{layout.LOG}/")})
    events = {blob: _ACCEPT.findall(data) for blob, data in texts.items()}
    for start, path, blob in rows:
        if path.startswith(f"{layout.APPROVALS}/"):
            found = [(_proof_key(path.rpartition("/")[2]), blob)]
        else:
            found = [(event.decode("ascii"), start) for event in events.get(blob, ())]
        for key, value in found:
            if value not in known.setdefault(key, []):
                known[key].append(value)
    if not clone.reading and not shallow:
        view_edits.keep_record(clone, _ARRIVALS, {**known, _UNTIL: [commit]})
    return known


def _proof_key(body: str) -> str:
    return f"proof {body}"


def _texts(repo: Repo, commit: str, files: Mapping[str, bytes]) -> list[ProvenText]:
    """Returns the memories of a trunk: whole files, and each entry's own text if a file holds several.

    If several files claim one id, only the file that was added first counts.
    """
    found = list(approval_proofs.texts(repo, files))
    claims = grouped((one.id, one) for one in found)
    twice = {name for name, texts in claims.items() if name and len({one.blob for one in texts}) > 1}
    if not twice:
        return found
    came = _first_seen(repo, commit, {one.path for name in twice for one in claims[name]})
    return [one for one in found if one.id not in twice or _is_first(one, claims[one.id], came)]


def _first_seen(repo: Repo, commit: str, files: Collection[str]) -> dict[str, int]:
    """Returns for each file how far back the trunk added it: the higher the number, the earlier."""
    shape = ("--no-show-signature", "--first-parent", "-m", "--no-renames", "--diff-filter=A", "--name-only", "-z")
    out = repo.run("--literal-pathspecs", "log", *shape, "--format=%x01", commit, "--", *sorted(files))
    number, found = 0, {}
    for word in out.split(b"\0"):
        number += word.count(b"\x01")
        if name := os.fsdecode(word.strip(b"\n\x01")):
            found[name] = number
    return found


def _is_first(one: ProvenText, claims: Iterable[ProvenText], came: Mapping[str, int]) -> bool:
    """Returns whether a text's file was added before every other file that claims its id with another text."""
    others = [other.path for other in claims if other.blob != one.blob and other.path != one.path]
    return all(came.get(one.path, 0) > came.get(path, 0) for path in others)


def _decisions(segments: Mapping[str, bytes]) -> tuple[dict[str, _Decision], frozenset[str]]:
    """Returns the last decision about each memory, and the erased ids."""
    about: dict[str, dict[str, _Decision]] = defaultdict(dict)
    erased = set()
    for found in _decision_rows(segments):
        event, kind, target = (os.fsdecode(found[number]) for number in (1, 4, 5))
        if kind == "erase":
            erased.add(target)
            continue
        about[target][event] = _Decision(kind, os.fsdecode(found[15] or b""), event)
    last = {target: next(iter(ones.values())) for target, ones in about.items()}
    unsure = {target for target, ones in about.items() if len(ones) > 1}
    if unsure:  # only the order of all events shows which was the last
        for one in model_event.in_order(event for data in segments.values() for event, _ in events_in(data)):
            if one.target in unsure and one.kind in DECISIONS:
                last[one.target] = about[one.target].get(one.hash_self, last[one.target])
    return last, frozenset(erased)


def _decision_rows(segments: Mapping[str, bytes]) -> Iterator[re.Match[bytes]]:
    """Yields every decision and erasure with a target; skips segments whose name is not the hash of their bytes."""
    for path, data in segments.items():
        places = [place.span() for place in _DECISION.finditer(data)]
        if not places or not path.endswith(f"/{segment_name(data)}.jsonl"):
            continue
        for start, end in places:
            with contextlib.suppress(CorruptLog, FutureFormat):
                found = match_event(data[data.rfind(b"\n", 0, start) + 1 : data.find(b"\n", end) + 1])
                if found[5] is not None:
                    yield found


_MEMORY_ID = regex(r"-([A-Z]{3}-[^/]+)\.md")


@frozen
class MissingFromTrunk:
    """How many memories the trunk has and this branch lacks."""

    memories: int
    trunk: str

    def __str__(self) -> str:
        many = "1 memory" if self.memories == 1 else f"{self.memories:,} memories"
        here = f"{'is' if self.memories == 1 else 'are'} not on this branch"
        return f"{many} on {self.trunk} {here}; a merge brings what is published there"


def missing_from_trunk(clone: Clone) -> MissingFromTrunk | None:
    """Counts the memories that only the trunk has, published or waiting; None on the trunk, or if there are none."""
    head, ref = clone.repo.head(), _local_trunk(clone)
    if ref is None or ref == head.ref:
        return None
    on_trunk = set(map(_memory_id, clone.repo.tree(ref, layout.MEMORY))) | _waiting_on(clone, ref)
    missing = on_trunk - {_memory_id(one.path) for one in clone.entries()} - clone.erased()
    name = ref.removeprefix("refs/heads/").removeprefix(_REMOTES)
    return MissingFromTrunk(len(missing), name) if missing else None


def _local_trunk(clone: Clone) -> str | None:
    """Returns the trunk's local branch if there is one, else its remote-tracking ref."""
    trunk = clone.repo.trunk(clone.trunk)
    if trunk is None or not trunk.startswith(_REMOTES):
        return trunk
    branch = f"refs/heads/{trunk.removeprefix(_REMOTES).partition('/')[2]}"
    return branch if clone.repo.resolve(branch) else trunk


def _waiting_on(clone: Clone, ref: str) -> set[str]:
    """Returns the ids of the memories that wait to be published on a branch."""
    known = branch_lines.known(*clone.stores).values()
    own = {one.id for one in known if one.refs[-1:] == (ref,) and not one.dropped}
    return {
        _memory_id(change.path)
        for store in clone.stores
        for change in (pending_changes.waiting(store) if own else ())
        if change.line in own and change.text is not None and change.path.startswith(f"{layout.MEMORY}/")
    }


def _memory_id(path: str) -> str:
    found = _MEMORY_ID.search(path)
    return found[1] if found else path
