"""The upstream of this clone: where its trunk comes from, whether it is trusted, and what it vouches for.

Trust is given to one remote at one address and to one of its branches; where any of these is another now,
it is void. What the trunk says is read from the remote-tracking ref, never over the network, and remembered
for its commit while the process lives.
"""

import contextlib
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from holdfast.errors import CorruptLog, FutureFormat, NotFound
from holdfast.git.approvals import DECISIONS, Vouched
from holdfast.git.clone import Clone
from holdfast.git.repo import Repo
from holdfast.model import dag
from holdfast.model.event import Event
from holdfast.store import layout, pieces, trusted
from holdfast.store.format import match_event, parse_event, split_lines
from holdfast.store.trusted import Trusted

_TELLING = re.compile(rb'"kind":"(?:' + "|".join((*DECISIONS, "erase")).encode("ascii") + rb')"')
_PASSWORD = re.compile(r"^(https?://)[^/@]*@")
_REMOTES = "refs/remotes/"


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
    return _told(clone.repo, commit) if commit else Vouched()


@lru_cache(maxsize=4)
def _told(repo: Repo, commit: str) -> Vouched:
    segments = list(repo.blobs(repo.tree(commit, layout.LOG).values()).values())
    latest, erased = _decisions(segments)
    return Vouched(commit, _texts(repo, repo.tree(commit, layout.MEMORY).values()), latest, erased)


def _texts(repo: Repo, files: Iterable[str]) -> frozenset[str]:
    """The blobs of memories: of their files, and of each one's own text where a file holds several."""
    found = set(files)
    for data in repo.blobs(found).values():
        text = data.decode("utf-8", "replace")
        if not pieces.is_single(text):
            found |= {repo.hash_blob(piece.text.encode("utf-8")) for piece in pieces.pieces(text)}
    return frozenset(found)


def _decisions(texts: list[bytes]) -> tuple[dict[str, str], frozenset[str]]:
    """The last decision about each memory, and what was erased."""
    kinds: dict[str, set[str]] = defaultdict(set)
    for kind, target in _told_by(texts):
        kinds[target].add(kind)
    erased = frozenset(target for target, said in kinds.items() if "erase" in said)
    latest = {target: min(said) for target, said in kinds.items() if len(said) == 1}
    unsure = kinds.keys() - latest.keys()
    if unsure:  # which was the last, only the order of all events can tell
        for event in dag.in_order(_events(texts)):
            if event.target in unsure and event.kind in DECISIONS:
                latest[event.target or ""] = event.kind
    return latest, erased


def _told_by(texts: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    for data in texts:
        for place in _TELLING.finditer(data):
            start, end = data.rfind(b"\n", 0, place.start()) + 1, data.find(b"\n", place.end()) + 1
            with contextlib.suppress(CorruptLog, FutureFormat):
                found = match_event(data[start:end])
                if found[5] is not None:
                    yield os.fsdecode(found[4]), os.fsdecode(found[5])


def _events(texts: Iterable[bytes]) -> Iterator[Event]:
    for data in texts:
        for line in split_lines(data):
            with contextlib.suppress(CorruptLog, FutureFormat):
                yield parse_event(line)
