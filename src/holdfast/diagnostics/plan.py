"""The gate for tasks and links: may this branch's plan join the trunk?

Read from tree objects like everything `check` looks at. What the branch changed must be readable and bring
no second file for an id and no new ring of needs. What was wrong before the branch began is said as a
note: it is not this branch's doing. So is a name that does not end in its id, as `doctor` says it too: a
file made by hand is taken and published under the name it has.
"""

from collections.abc import Iterable, Iterator, Mapping

from holdfast.diagnostics import nodes
from holdfast.diagnostics.findings import Finding
from holdfast.diagnostics.nodes import Nodes
from holdfast.diagnostics.tracked import Row, rows
from holdfast.git.repo import Repo
from holdfast.model.task import Task
from holdfast.values import frozen, replace
from holdfast.work.graph import Graph

_NAME = "Name it <slug>-<id>.md, as `holdfast task add` does."


@frozen
class Judged:
    """What is wrong with the plan, and how much of it there is."""

    findings: tuple[Finding, ...]
    counts: Mapping[str, int]


def judge(repo: Repo, start: str | None) -> Judged:
    """The tasks and links of HEAD; `start` is where the branch began, "" or None if nobody knows."""
    here = _listed(repo, "HEAD")
    before = _listed(repo, start) if start else {}
    changed = {path for path, row in here.items() if _differs(row, before.get(path))}
    # What was there before comes first, so that of two that clash the newer one is named.
    ordered = sorted(here, key=lambda path: (path in changed, path))
    found, odd = _read(repo, (here[path] for path in ordered))
    findings = [*odd, *found.findings, *nodes.repeated(found), *nodes.clashing(ordered)]
    strangers = nodes.foreign(ordered)
    findings += [nodes.problem(path, "this is no file of a task or a link", _NAME) for path in strangers]
    judged = [nodes.note(path, said, _NAME) for path, said in nodes.misnamed(found)]
    judged += [finding if finding.file in changed else _older(finding) for finding in findings]
    judged += _rings(repo, found, before, start)
    return Judged(tuple(judged), {"tasks": len(found.tasks), "links": len(found.links)})


def _listed(repo: Repo, rev: str) -> dict[str, Row]:
    return {row.path: row for folder in nodes.FOLDERS for row in rows(repo, rev, folder)}


def _differs(row: Row, old: Row | None) -> bool:
    return old is None or (old.oid, old.mode) != (row.oid, row.mode)


def _read(repo: Repo, listed: Iterable[Row]) -> tuple[Nodes, list[Finding]]:
    """What can be read; links and other odd things in the place of a file are named."""
    chosen = [row for row in listed if row.path.endswith(".md")]
    odd = [
        nodes.problem(row.path, "a task or a link must be a plain file", "Put the file itself there.")
        for row in chosen
        if not row.mode.startswith("100")
    ]
    plain = [row for row in chosen if row.mode.startswith("100")]
    blobs, texts = repo.blobs(row.oid for row in plain), {}
    for row in plain:
        try:
            texts[row.path] = blobs.get(row.oid, b"").decode("utf-8")
        except UnicodeDecodeError as error:
            odd.append(nodes.problem(row.path, f"is not UTF-8 at byte {error.start}", "Save it as UTF-8."))
    return nodes.read(texts), odd


def _older(finding: Finding) -> Finding:
    said = f"{finding.sentence} (so it was before this branch)"
    return replace(finding, severity="note", sentence=said)


def _rings(repo: Repo, found: Nodes, before: dict[str, Row], start: str | None) -> Iterator[Finding]:
    """A ring that was there before is nobody's fault here; a new one would join the trunk."""
    places = {task.id: path for path, task in found.tasks.items()}
    seen = nodes.rings(found.tasks.values())
    was = _read(repo, before.values())[0].tasks.values() if seen and start else ()
    for ring in seen:
        said = f"these wait for one another: {nodes.arrows(ring)}"
        finding = nodes.problem(places[min(ring)], said, nodes.TAKE_OUT)
        yield _older(finding) if _was_there(ring, was) else finding


def _was_there(ring: tuple[str, ...], was: Iterable[Task]) -> bool:
    return Graph(task for task in was if task.id in ring).cycle() is not None
