"""The upstream of this clone: where its trunk comes from, whether it is trusted, and what it vouches for.

Trust is given to one remote at one address and to one of its branches; where any of these is another now,
it is void. What the trunk says is read from the remote-tracking ref, never over the network, and remembered
for its commit while the process lives.
"""

import contextlib
import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from holdfast.errors import CorruptLog, FutureFormat, NotFound
from holdfast.git import noticed, proofs
from holdfast.git.approvals import DECISIONS, Vouched
from holdfast.git.clone import Clone
from holdfast.git.proofs import Text
from holdfast.git.repo import Repo
from holdfast.model import dag
from holdfast.model.event import Event
from holdfast.store import layout, trusted
from holdfast.store.format import match_event, parse_event, split_lines
from holdfast.store.trusted import Trusted

_TELLING = re.compile(rb'"kind":"(?:' + "|".join((*DECISIONS, "erase")).encode("ascii") + rb')"')
_PASSWORD = re.compile(r"^(https?://)[^/@]*@")
_REMOTES = "refs/remotes/"
_PLAIN = re.compile(r"[A-Za-z0-9._/-]+")  # a path that can be asked for by name, one a line
_ADDED, _UNTIL = "added", "until"  # which commits added each segment, and up to which commit that is known


@dataclass(frozen=True, slots=True)
class Upstream:
    """A branch of a remote, as this clone follows it."""

    ref: str  # refs/remotes/<remote>/<branch>
    remote: str
    url: str  # without a password

    @property
    def branch(self) -> str:
        return self.ref.removeprefix(f"{_REMOTES}{self.remote}/")

    @property
    def name(self) -> str:
        return f"{self.branch} of {self.remote} ({self.url})"


@dataclass(frozen=True, slots=True)
class Held:
    """What the user trusts, and why that counts for nothing, if so."""

    trusted: Trusted
    void: str | None


def find(repo: Repo, trunk: str | None = None) -> Upstream | None:
    """Where the trunk comes from; None if it comes from nowhere. `trunk` is the settings' word for it."""
    remotes = repo.text("remote").split("\n")
    ref = _tracking(repo, repo.trunk(trunk), remotes)
    if ref is None:
        return None
    named = [name for name in remotes if name and ref.startswith(f"{_REMOTES}{name}/")]
    if not named:
        return None
    remote = max(named, key=len)
    url = repo.text("remote", "get-url", "--", remote, ok=(0, 2, 128))
    return Upstream(ref, remote, _PASSWORD.sub(r"\1", " ".join(url.split()))) if url else None


def _tracking(repo: Repo, trunk: str | None, remotes: Iterable[str]) -> str | None:
    """The ref under which this clone follows its trunk at a remote."""
    if trunk is None or trunk.startswith(_REMOTES):
        return trunk
    branch = trunk.removeprefix("refs/heads/")
    followed = repo.text("for-each-ref", "--format=%(upstream)", trunk)
    if followed.startswith(_REMOTES):
        return followed
    names = sorted(filter(None, remotes), key=lambda name: (name != "origin", name))
    return next((ref for name in names if repo.resolve(ref := f"{_REMOTES}{name}/{branch}")), None)


def trust(clone: Clone, *, by: str) -> Trusted:
    """Trust the upstream that is there now; the caller knows that a person said so."""
    now = find(clone.repo, clone.trunk)
    if now is None:
        raise NotFound(
            "this clone follows no trunk of a remote, so there is nothing to trust",
            hint="Add the remote and fetch it, or accept entries one by one: holdfast review accept ID",
        )
    given = Trusted(now.ref, now.remote, now.url, clone.scan.text(by), clone.now())
    trusted.write(clone.private, given)
    return given


def revoke(clone: Clone) -> Trusted | None:
    """Trust no upstream any more; gives what was trusted."""
    before = trusted.read(clone.private)
    trusted.forget(clone.private)
    return before


def held(clone: Clone) -> Held | None:
    """What the user trusts, and whether it still is that; None, without a git process, if nothing is."""
    given = trusted.read(clone.private)
    return None if given is None else Held(given, _void(given, find(clone.repo, clone.trunk)))


def _void(given: Trusted, now: Upstream | None) -> str | None:
    if now is None:
        return f"{given.branch} of {given.remote}, which you trusted, is not this clone's trunk any more"
    if (now.remote, now.ref) != (given.remote, given.ref):
        return f"the trunk is now {now.name}; you trusted {given.branch} of {given.remote}"
    if now.url != given.url:
        return f"{now.remote} is now at {now.url}; you trusted it at {given.url}"
    return None


def vouched(clone: Clone) -> Vouched:
    """What the trunk of the trusted upstream stands for; nothing where none is trusted."""
    given = held(clone)
    if given is None or given.void:
        return Vouched()
    commit = clone.repo.resolve(given.trusted.ref)
    return _told(clone, commit) if commit else Vouched()


def _read(repo: Repo, commit: str) -> "_Trunk":
    """What a commit has of memories, decisions and proofs; two git processes, however much that is."""
    folders = (layout.LOG, layout.MEMORY, layout.APPROVALS)
    tree = {folder: dict[str, str]() for folder in folders}
    for path, blob in repo.tree(commit, layout.TRACKED).items():
        if (folder := "/".join(path.split("/")[:2])) in tree:
            tree[folder][path] = blob
    data = repo.blobs(blob for files in tree.values() for blob in files.values())
    log, memories, shown = (
        {path: data.get(blob, b"") for path, blob in tree[folder].items()} for folder in folders
    )
    last, erased = _decisions(log)
    found = {path.rpartition("/")[2]: text for path, text in shown.items()}
    proved = {
        name: body
        for name, one in last.items()
        if one.kind == "accept" and one.body in found
        if (body := proofs.read(one.body, found[one.body])) is not None
    }
    return _Trunk(_texts(repo, commit, memories), last, erased, proved)


@dataclass(frozen=True, slots=True)
class _Decision:
    """The last decision about a memory in a trunk's log."""

    kind: str
    body: str
    event: str
    segments: frozenset[str]  # the files of the log that hold it


@dataclass(frozen=True, slots=True)
class _Trunk:
    texts: list[Text]
    last: Mapping[str, _Decision]
    erased: frozenset[str]
    proved: Mapping[str, Mapping[str, Any]]  # memory to what its last decision, an approval, says


@lru_cache(maxsize=4)
def _told(clone: Clone, commit: str) -> Vouched:
    trunk = _read(clone.repo, commit)
    said = {**_unproved(clone, commit, trunk), **trunk.proved}
    approved = {
        (one.id, one.blob) for one in trunk.texts if one.id in said and proofs.fits(said[one.id], one)
    }
    named = {name: body.get("supersedes") for name, body in said.items()}
    replaced = {
        name: tuple(one for one in olds if isinstance(one, str))
        for name, olds in named.items()
        if isinstance(olds, list) and olds
    }
    return Vouched(
        commit,
        frozenset(one.blob for one in trunk.texts),
        {name: one.kind for name, one in trunk.last.items()},
        trunk.erased,
        replaced,
        frozenset(approved),
        {name: str(body["blob"]) for name, body in said.items() if body.get("blob")},
    )


def _unproved(clone: Clone, commit: str, trunk: _Trunk) -> dict[str, dict[str, Any]]:
    """What approvals without a proof were about: the text that came into history together with each.

    Versions before 0.6 published no proofs. Every commit that added the segment of such an approval has to
    show the same text; where that cannot be told, as in a shallow clone, it approves nothing.
    """
    files = {one.id: one.path for one in trunk.texts if one.id and _PLAIN.fullmatch(one.path)}
    asked = {
        name: one
        for name, one in trunk.last.items()
        if one.kind == "accept" and name not in trunk.proved and name in files
    }
    if not asked or clone.repo.is_shallow():
        return {}
    added = _added(clone, commit)
    places = {
        name: [f"{start}:{files[name]}" for path in one.segments for start in added.get(path, ())]
        for name, one in asked.items()
    }
    data = clone.repo.blobs(place for found in places.values() for place in found)
    return {
        name: body
        for name, found in places.items()
        if (body := _alike(clone.repo, name, files[name], [data.get(place, b"") for place in found]))
    }


def _alike(repo: Repo, name: str, path: str, versions: Sequence[bytes]) -> dict[str, Any] | None:
    """What an approval of all these versions of a memory's file would say; None if they differ."""
    found = [[one for one in proofs.texts(repo, {path: data}) if one.id == name] for data in set(versions)]
    if not found or any(len(texts) != 1 for texts in found):
        return None
    said = {one.digest() for (one,) in found}
    memory = found[0][0].parse()
    if len(said) != 1 or memory is None:
        return None
    return {"blob": found[0][0].blob, "approves": said.pop(), "supersedes": list(memory.supersedes)}


def _added(clone: Clone, commit: str) -> Mapping[str, list[str]]:
    """For each segment of a trunk the commits that added it; only those since the last look are asked for."""
    known = noticed.read(clone, _ADDED)
    before = next(iter(known.pop(_UNTIL, ())), "")
    if before == commit:
        return known
    if not before or not clone.repo.is_ancestor(before, commit):
        known, before = {}, ""
    shape = (
        "--no-show-signature",
        "--full-history",
        "--diff-merges=off",
        "--no-renames",
        "--diff-filter=A",
        "--name-only",
    )
    asked = [commit, *([f"^{before}"] if before else [])]
    root = ("-c", "log.showRoot=true")
    out = clone.repo.run(*root, "log", *shape, "-z", "--format=%x01%H", *asked, "--", layout.LOG)
    start = ""
    for word in out.split(b"\0"):
        name = os.fsdecode(word.strip(b"\n"))
        if name.startswith("\x01"):
            start, name = name[1:].partition("\n")[0], name.partition("\n")[2]
        if name.strip():
            known.setdefault(name.strip("\n"), []).append(start)
    if not clone.reading:
        noticed.keep(clone, _ADDED, {**known, _UNTIL: [commit]})
    return known


def _texts(repo: Repo, commit: str, files: Mapping[str, bytes]) -> list[Text]:
    """The memories of a trunk: whole files, and each one's own text where a file holds several.

    Of several files that claim one id only the first that came in is the trunk's word.
    """
    found = list(proofs.texts(repo, files))
    claims: dict[str, set[Text]] = defaultdict(set)
    for one in found:
        claims[one.id].add(one)
    twice = {name for name, texts in claims.items() if name and len({one.blob for one in texts}) > 1}
    if not twice:
        return found
    came = _first_seen(repo, commit, {one.path for name in twice for one in claims[name]})
    return [one for one in found if one.id not in twice or _is_first(one, claims[one.id], came)]


def _first_seen(repo: Repo, commit: str, files: Collection[str]) -> dict[str, int]:
    """For each file how many changes of the trunk lie before (the higher, the earlier it came)."""
    shape = (
        "--no-show-signature",
        "--first-parent",
        "-m",
        "--no-renames",
        "--diff-filter=A",
        "--name-only",
        "-z",
        "--format=%x01",
    )
    out = repo.run("--literal-pathspecs", "log", *shape, commit, "--", *sorted(files))
    number, found = 0, {}
    for word in out.split(b"\0"):
        number += word.count(b"\x01")
        if name := os.fsdecode(word.strip(b"\n\x01")):
            found[name] = number
    return found


def _is_first(one: Text, claims: Iterable[Text], came: Mapping[str, int]) -> bool:
    """Whether a text's file came before every other file that claims its id with other words."""
    others = [other.path for other in claims if other.blob != one.blob and other.path != one.path]
    return all(came.get(one.path, 0) > came.get(path, 0) for path in others)


def _decisions(segments: Mapping[str, bytes]) -> tuple[dict[str, _Decision], frozenset[str]]:
    """The last decision about each memory, and what was erased."""
    about: dict[str, dict[str, _Decision]] = defaultdict(dict)
    erased = set()
    for path, found in _told_by(segments):
        event, kind, target = (os.fsdecode(found[number]) for number in (1, 4, 5))
        if kind == "erase":
            erased.add(target)
            continue
        known = about[target].get(event)
        held = known.segments if known else frozenset()
        about[target][event] = _Decision(kind, os.fsdecode(found[15] or b""), event, held | {path})
    last = {target: next(iter(ones.values())) for target, ones in about.items()}
    unsure = {target for target, ones in about.items() if len(ones) > 1}
    if unsure:  # which was the last, only the order of all events can tell
        for one in dag.in_order(_events(segments.values())):
            if one.target in unsure and one.kind in DECISIONS:
                last[one.target] = about[one.target].get(one.hash_self, last[one.target])
    return last, frozenset(erased)


def _told_by(segments: Mapping[str, bytes]) -> Iterator[tuple[str, re.Match[bytes]]]:
    """Every decision and erasure about something, with the file that holds it."""
    for path, data in segments.items():
        for place in _TELLING.finditer(data):
            start, end = data.rfind(b"\n", 0, place.start()) + 1, data.find(b"\n", place.end()) + 1
            with contextlib.suppress(CorruptLog, FutureFormat):
                found = match_event(data[start:end])
                if found[5] is not None:
                    yield path, found


def _events(texts: Iterable[bytes]) -> Iterator[Event]:
    for data in texts:
        for line in split_lines(data):
            with contextlib.suppress(CorruptLog, FutureFormat):
                yield parse_event(line)
