"""Facts that may no longer hold: expired, or resting on evidence that moved on.

Nothing here is damage. A person decides in review; the doctor only points.
"""

from collections.abc import Collection, Iterator

from holdfast.diagnostics.findings import Finding
from holdfast.errors import BrokenEntry, CorruptLog, GitFailed, TooLarge, UnsafePath
from holdfast.git.clone import Clone
from holdfast.git.visible import Sighting
from holdfast.model import evidence as receipts
from holdfast.model.evidence import CommitEvidence, FileEvidence, RunEvidence
from holdfast.model.memory import Accepted, is_expired, iso
from holdfast.store import entries, layout

_REVIEW = "Look at it in `holdfast facts` and accept it anew with fresh evidence, or retire it."


def examine(clone: Clone, *, runs: Collection[str]) -> Iterator[Finding]:
    """What a person should look at again among the facts visible here."""
    try:
        seen = clone.entries(layout.MEMORY)
    except (CorruptLog, UnsafePath, TooLarge, GitFailed) as error:
        yield _finding("problem", layout.MEMORY, str(error), "Mend what it names, then run this again.")
        return
    for sighting in seen:
        try:
            memory = entries.parse(sighting.text, sighting.path)
        except BrokenEntry as error:
            yield _broken(sighting, error)
            continue
        if isinstance(memory, Accepted):
            yield from _stale(clone, sighting.path, memory, runs)


def _broken(sighting: Sighting, error: BrokenEntry) -> Finding:
    line, _, reason = str(error).removeprefix(f"{sighting.path}:").partition(" ")
    return Finding(
        severity="problem",
        topic="facts",
        file=sighting.path,
        line=int(line) if line.isdigit() else None,
        sentence=reason,
        next_step="Mend the file by hand; until then it is left out and nothing is lost.",
    )


def _stale(clone: Clone, path: str, memory: Accepted, runs: Collection[str]) -> Iterator[Finding]:
    if memory.expires_at is not None and is_expired(memory, clone.clock()):
        yield _finding("note", path, f"{memory.id} expired at {iso(memory.expires_at)}", _REVIEW)
    for text in memory.evidence:
        reason = _why_stale(clone, text, runs)
        if reason:
            yield _finding("note", path, f"{memory.id} is stale: {reason}", _REVIEW)


def _why_stale(clone: Clone, text: str, runs: Collection[str]) -> str | None:
    match receipts.parse(text):
        case RunEvidence(run_id=run):
            return None if run in runs else f"run {run} is not in the log here"
        case CommitEvidence(oid=oid):
            there = clone.repo.attempt("cat-file", "-e", f"{oid}^{{commit}}").returncode == 0
            return None if there else f"commit {oid[:12]} is not in this clone"
        case FileEvidence(path=path, blob=blob):
            now = clone.repo.tree_id("HEAD", path)
            if now is None:
                return f"{path} is no longer tracked"
            return None if now == blob else f"{path} has changed since"


def _finding(severity: str, path: str, sentence: str, step: str) -> Finding:
    return Finding(severity=severity, topic="facts", file=path, sentence=sentence, next_step=step)
