"""Canonical links: the files, addresses and commits that everybody should find."""

from holdfast.errors import BadInput, NotFound
from holdfast.git import evidence_check
from holdfast.git.cited_commits import commit_anchors
from holdfast.git.clone import Clone
from holdfast.model.evidence import CommitEvidence, FileEvidence, LinesEvidence, SymbolEvidence
from holdfast.model.ids import LINK, new_id, pick
from holdfast.model.task import Link, link_kind
from holdfast.store import task_files
from holdfast.values import frozen
from holdfast.work import task_board

_ACCEPTED = "Give an address with its scheme (https://…), a commit's id, or a path that is committed or added."


@frozen
class ListedLink:
    """A link, and why it leads nowhere, if it does not."""

    link: Link
    path: str
    dead: str | None = None


def add(clone: Clone, target: str, *, title: str | None = None, id: str | None = None) -> Link:  # noqa: A002
    """Keep a canonical link to a tracked path, an address or a commit."""
    known, _ = task_board.links(clone)
    fields = task_board.cleaned(clone, {"target": target.strip(), "title": title or target.strip()})
    kind, where = _resolved(clone, fields["target"])
    for link, _ in known.values():
        if link.target == where:
            raise BadInput(f"{link.id} links to {where} already", hint="See `holdfast link list`.")
    if id is not None and id.lower() in {name.lower() for name in known}:
        raise BadInput(f"there is a link {id} already", hint="Leave --id out to get a new one.")
    link = Link(id=id or new_id(LINK, known), title=fields["title"], target=where, kind=kind)
    path = task_board.path_for(link)
    clone.change(path, task_files.render(link), event=lambda _: task_board.event_of(link, action="add"))
    return link


def _resolved(clone: Clone, target: str) -> tuple[str, str]:
    """What a target is, and its lasting name: a path as git tracks it, a commit by its full id."""
    if link_kind(target) == "url":
        return "url", target
    try:
        found = evidence_check.resolve(clone, target)
    except NotFound:
        raise NotFound(f"{target} is not a URL, a commit or a tracked path", hint=_ACCEPTED) from None
    if isinstance(found, CommitEvidence):
        commit_anchors.keep(clone, [found.oid])
        return "commit", found.oid
    if isinstance(found, FileEvidence):
        return "path", found.path
    if isinstance(found, LinesEvidence | SymbolEvidence):
        raise BadInput(f"{target} is a part of a file", hint="Link to the whole file by its path.")
    raise BadInput(f"{target} is a run", hint="Link to a path, an address or a commit.")


def remove(clone: Clone, name: str) -> Link:
    """Take a link away."""
    known, _ = task_board.links(clone)
    try:
        link, path = known[pick(name, known)]
    except NotFound:
        raise NotFound(f"no link here is called {name}", hint="See `holdfast link list`.") from None
    clone.change(path, None, event=lambda _: task_board.event_of(link, action="drop"))
    return link


def listed(clone: Clone) -> list[ListedLink]:
    """Every link, the dead ones marked."""
    known, _ = task_board.links(clone)
    there = _tracked(clone, [link.target for link, _ in known.values() if link.kind == "path"])
    commits = commit_anchors.resolve(clone, [link.target for link, _ in known.values() if link.kind == "commit"])
    found = []
    for link, path in known.values():  # of an address nothing is fetched: this works offline
        dead = None
        if link.kind == "path" and link.target.rstrip("/") not in there:
            dead = "no such path is tracked here"
        elif link.kind == "commit" and commits[link.target].state == "unanchored":
            dead = "that commit is in no branch any more"
        found.append(ListedLink(link, path, dead))
    return found


def _tracked(clone: Clone, targets: list[str]) -> set[str]:
    """Which of these paths git tracks, as a file or as a folder."""
    if not targets:
        return set()
    listed = clone.repo.run("ls-files", "-z", "--", *(f":(top,literal){t.rstrip('/')}" for t in targets))
    there = [row.decode("utf-8", "surrogateescape") for row in listed.split(b"\0") if row]
    wanted = {target.rstrip("/") for target in targets}
    return {w for w in wanted if any(path == w or path.startswith(w + "/") for path in there)}
