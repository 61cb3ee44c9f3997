"""The upstream of this clone: where its trunk comes from, whether it is trusted, and what it vouches for.

Trust is given to one remote at one address and to one of its branches; where any of these is another now,
it is void. What the trunk says is read from the remote-tracking ref, never over the network, and remembered
for its commit while the process lives.
"""

import contextlib
import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from holdfast.errors import BrokenEntry, CorruptLog, FutureFormat, NotFound
from holdfast.git.approvals import DECISIONS, Vouched
from holdfast.git.clone import Clone
from holdfast.git.repo import Repo
from holdfast.model import dag
from holdfast.model.event import Event
from holdfast.model.memory import Accepted
from holdfast.store import entries, layout, pieces, trusted
from holdfast.store.format import match_event, parse_event, split_lines
from holdfast.store.trusted import Trusted

_TELLING = re.compile(rb'"kind":"(?:' + "|".join((*DECISIONS, "erase")).encode("ascii") + rb')"')
_PASSWORD = re.compile(r"^(https?://)[^/@]*@")
_REMOTES = "refs/remotes/"
_ID = re.compile(r"^id:[ \t]*[\"']?([\w-]+)", re.MULTILINE)
_SUPERSEDING = re.compile(r"^supersedes:(?![ \t]*\[[ \t]*\])", re.MULTILINE)


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
    texts = _texts(repo, commit)
    replaced = {name: olds for one in texts for name, olds in _replaced(one) if latest.get(name) == "accept"}
    return Vouched(commit, frozenset(one.blob for one in texts), latest, erased, replaced)


@dataclass(frozen=True, slots=True)
class _Text:
    path: str
    blob: str
    text: str
    whole: bool = False  # a file that holds several

    @property
    def id(self) -> str:
        found = None if self.whole else _ID.search(self.text)
        return found[1] if found else ""


def _texts(repo: Repo, commit: str) -> list[_Text]:
    """The memories of a trunk: whole files, and each one's own text where a file holds several.

    Of several files that claim one id only the first that came in is the trunk's word.
    """
    files = repo.tree(commit, layout.MEMORY)
    data = repo.blobs(files.values())
    found = [
        one
        for path, blob in files.items()
        for one in _apart(repo, _Text(path, blob, data.get(blob, b"").decode("utf-8", "replace")))
    ]
    claims: dict[str, set[_Text]] = defaultdict(set)
    for one in found:
        claims[one.id].add(one)
    twice = {name for name, texts in claims.items() if name and len({one.blob for one in texts}) > 1}
    if not twice:
        return found
    came = _first_seen(repo, commit, {one.path for name in twice for one in claims[name]})
    return [one for one in found if one.id not in twice or _is_first(one, claims[one.id], came)]


def _apart(repo: Repo, file: _Text) -> Iterator[_Text]:
    if pieces.is_single(file.text):
        yield file
    else:
        yield replace(file, whole=True)
        for piece in pieces.pieces(file.text):
            yield _Text(file.path, repo.hash_blob(piece.text.encode("utf-8")), piece.text)


def _first_seen(repo: Repo, commit: str, files: Collection[str]) -> dict[str, int]:
    """For each file how many changes of the trunk lie before (the higher, the earlier it came)."""
    shape = ("--first-parent", "-m", "--no-renames", "--diff-filter=A", "--name-only", "-z", "--format=%x01")
    out = repo.run("--literal-pathspecs", "log", *shape, commit, "--", *sorted(files))
    number, found = 0, {}
    for word in out.split(b"\0"):
        number += word.count(b"\x01")
        if name := os.fsdecode(word.strip(b"\n\x01")):
            found[name] = number
    return found


def _is_first(one: _Text, claims: Iterable[_Text], came: Mapping[str, int]) -> bool:
    """Whether a text's file came before every other file that claims its id with other words."""
    others = [other.path for other in claims if other.blob != one.blob and other.path != one.path]
    return all(came.get(one.path, 0) > came.get(path, 0) for path in others)


def _replaced(one: _Text) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The memory of a text and what it supersedes, if anything; few do, so few are read."""
    if not one.whole and _SUPERSEDING.search(one.text) is not None:
        with contextlib.suppress(BrokenEntry):
            memory = entries.parse(one.text, one.path)
            if isinstance(memory, Accepted) and memory.supersedes:
                yield memory.id, memory.supersedes


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
