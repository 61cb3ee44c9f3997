"""Memories that cannot both hold: each branch may have accepted what the other denies, and git merges both.

What the branch added or changed is held against all that stands in it. On the trunk itself that is what its
last commit brought, so that a merge of two branches is judged when it is there.
"""

from collections.abc import Iterator, Mapping

from holdfast.diagnostics.findings import Finding
from holdfast.diagnostics.tracked import rows
from holdfast.git.repo import Repo
from holdfast.model.contradictions import Pair, pairs
from holdfast.model.memory import Accepted, Memory
from holdfast.model.text import visible
from holdfast.store import layout

MAX_SAID = 120  # characters of each side


def judge(repo: Repo, start: str | None, places: Mapping[str, list[Memory]]) -> list[Finding]:
    """What contradicts what, by the memories of each file of HEAD."""
    accepted = {m.id: m for found in places.values() for m in found if isinstance(m, Accepted)}
    replaced = {name for memory in accepted.values() for name in memory.supersedes}
    standing = {name: memory for name, memory in accepted.items() if name not in replaced}
    new = {memory.id for path in _changed(repo, start) for memory in places.get(path, ())}
    files = {memory.id: path for path, found in places.items() for memory in found}
    return [_finding(pair, files[pair.one.id]) for pair in pairs(standing, new)] if new else []


def _changed(repo: Repo, start: str | None) -> Iterator[str]:
    """The files of memories that are not as they were: since the branch began, or since the last commit."""
    head = repo.head().oid
    if start is None:
        return
    before = start
    if start == head:
        done = repo.attempt("rev-parse", "-q", "--verify", "HEAD^1")
        before = done.stdout.decode("ascii").strip() if done.returncode == 0 else ""
    was = {row.path: row.oid for row in rows(repo, before, layout.MEMORY)} if before else {}
    yield from (row.path for row in rows(repo, "HEAD", layout.MEMORY) if was.get(row.path) != row.oid)


def _finding(pair: Pair, path: str) -> Finding:
    one, other = (f"{memory.id} ({visible(memory.statement)[:MAX_SAID]})" for memory in (pair.one, pair.other))
    step = (
        f"Say which holds: `holdfast review accept {pair.one.id} --supersede {pair.other.id}`, the other way "
        f"round, or `--keep-both`; then `holdfast publish`."
    )
    return Finding(
        severity="problem",
        topic="facts",
        file=path,
        sentence=f"{one} contradicts {other}: {pair.verdict.why}",
        next_step=step,
    )
