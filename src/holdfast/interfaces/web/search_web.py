"""Search, and where any id leads: the same `recall` as the command line, and the page of whatever a name means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError, NotFound
from holdfast.index import hit_text
from holdfast.index.query import EVERY_BRANCH, MAX_QUERY
from holdfast.index.ranking import KINDS
from holdfast.interfaces import agent_replies
from holdfast.interfaces.cli.output import as_text
from holdfast.interfaces.cli.show_commands import record_text
from holdfast.interfaces.web import page_templates
from holdfast.interfaces.web.web_query import WebPage, WebQuery, WebRedirect
from holdfast.model import ids
from holdfast.model.evidence import is_tracked_path
from holdfast.model.memory import TYPES
from holdfast.patterns import regex
from holdfast.recall import search

if TYPE_CHECKING:
    from holdfast.interfaces.web.project_reading import ProjectReading
    from holdfast.interfaces.web.web_query import PageMaker
    from holdfast.recall.lookup import ShownRecord
    from holdfast.recall.search import Hit

FEW, MANY = 10, 100  # hits: a screen or two, and all that somebody reads through
_TURN = regex(r"(?:run:)?(?P<run>[0-9A-Za-z][\w.-]*)(?:#(?P<turn>[1-9][0-9]{0,4})(?:\.[0-9]+)?)?")
_OID = regex(r"[0-9a-f]{7,64}")
_PLACE = regex(r"(?P<path>.+?)(?::(?P<line>[1-9][0-9]{0,8})(?:-[0-9]+)?|#(?P<name>[^#]*))?")


def search_page(reading: ProjectReading, query: WebQuery) -> WebPage:
    """What was found for some words, best first; without words, the most recent."""
    given = {name: query.one(name).strip() for name in ("q", "kind", "branch", "since")}
    asked = {name: text if is_text(text) else "\ufffd" for name, text in given.items()}
    everything = query.one("all") == "1"
    answer: tuple[list[Hit], list[str], str] = ([], [], "")
    error = None
    try:
        answer = _found(reading, asked, limit=MANY if everything else FEW)
    except HoldfastError as wrong:  # a branch or a time that is none: the form stays, to be mended
        error = wrong
    found, notes, advice = answer
    shown = found if everything or not asked["q"] else found[: len(hit_text.relevant(search.as_rows(found)))]
    near = 0
    if not found and not error and asked["q"] and asked["kind"] in ("", "fact"):
        near = len(_found(reading, {**asked, "kind": "candidate"}, limit=MANY)[0])
    values = {
        "asked": asked,
        "hits": [(hit, _address(hit), _excerpt(hit), _states(hit)) for hit in shown],
        "more": not everything and len(found) == FEW,
        "everything": everything,
        "left": len(found) - len(shown),
        "notes": notes,
        "advice": advice,
        "near": near,
        "kinds": (*TYPES, *(kind for kind in KINDS if kind not in TYPES)),
        "branches": _branches(reading),
        "every_branch": EVERY_BRANCH,
        "error": error,
    }
    return WebPage("search.html", values, 400 if error else 200)


def _found(reading: ProjectReading, asked: dict[str, str], *, limit: int) -> tuple[list[Hit], list[str], str]:
    """The hits, what there is to say of this answer, and how to ask better."""
    project = reading.project
    before = list(project.notices)
    project.notices.clear()
    try:
        hits = project.recall(
            asked["q"][:MAX_QUERY],
            limit=limit,
            kind=asked["kind"] or None,
            branch=asked["branch"] or None,
            since=asked["since"] or None,
            count=False,  # a page is asked for again whenever something changes
        )
        notes = list(project.notices)
    finally:
        project.notices[:] = before
        advice = project.recall.advice
        project.recall.close()  # a note about what was not searched is given once while the index is open
    if project.has_unread and not project.clone.reading:
        project.has_unread = False
        agent_replies.embed_later(project.clone.repo.top)
    return hits, notes, advice


def _excerpt(hit: Hit) -> str:
    return hit_text.cut(hit_text.excerpt(hit.kind, hit.title, hit.text, hit.task, hit.target, hit.what))


def _states(hit: Hit) -> str:
    """How a hit stands: a memory's or task's state, how a run ended."""
    if hit.state or hit.kind != "run":
        return hit.state or ""
    return "interrupted" if hit.exit_status is None else f"exit {hit.exit_status}"


def _address(hit: Hit) -> str:
    return f"/show/{page_templates.path(hit.id)}"


def _branches(reading: ProjectReading) -> list[str]:
    """The branches here that can be asked."""
    names = reading.project.clone.repo.text("for-each-ref", "--format=%(refname)", "--count=100", "refs/heads")
    return [name.removeprefix("refs/heads/") for name in names.splitlines()]


# Where a name leads.


def is_text(name: str) -> bool:
    """Whether a name of an address is text: names of files need not be, all others are."""
    return not any("\ud800" <= sign <= "\udfff" for sign in name)


def show_page(reading: ProjectReading, query: WebQuery) -> WebPage | WebRedirect:
    """The page of whatever a name means; what has no page of its own is shown as `holdfast show` prints it."""
    name = query.parts["name"].strip()
    known = name.removeprefix("file:").replace("commit ", "commit:", 1)
    if address := (is_text(known) and _known(reading, known)) or _place(reading, known):
        return WebRedirect(address)
    hint = "It may be on another branch, or erased. Search for words of it."
    if not is_text(known):
        raise NotFound("no such name can be stored here", hint=hint)
    try:
        found = reading.project.log.show(known)
    except NotFound as error:
        raise NotFound(str(error), hint=hint) from None
    if address := _page_of(reading, found):
        return WebRedirect(address)
    return WebPage("record.html", {"found": found, "text": as_text(record_text(found))})


def _known(reading: ProjectReading, name: str) -> str:
    """The address of what is here under this whole name; found without reading all memories and tasks."""
    path, clone = page_templates.path(name), reading.project.clone
    if (one := reading.memories.get(name)) is not None:
        is_waiting = one.status == "candidate" and name in reading.items
        return f"/{'review' if is_waiting else 'memory'}/{path}"
    if name.startswith(f"{ids.TASK}-"):
        return f"/plan/{path}" if name in reading.board.placed else ""
    if (turn := _TURN.fullmatch(name)) and clone.find_events("all", kinds=("run",), runs=(turn["run"],)):
        at = f"/turns/{turn['turn']}" if turn["turn"] else ""
        return f"/runs/{page_templates.path(turn['run'])}{at}"
    kind, _, oid = name.rpartition(":")
    if kind in ("", "commit") and _OID.fullmatch(oid) and (full := clone.repo.commit_of(oid)):
        return f"/commits/{full}" if full.startswith(oid) else ""
    return ""


def _place(reading: ProjectReading, name: str) -> str:
    """The address of a tracked file, or of a line of it."""
    found = _PLACE.fullmatch(name)
    for path, line in ((name, None), (found["path"], found["line"])) if found else ():
        if is_tracked_path(path) and reading.project.clone.repo.blobs_at("HEAD", [path]):
            at = f"?line={line}#L{line}" if line else ""
            return f"/code/{page_templates.path(path)}{at}"
    return ""


def _page_of(reading: ProjectReading, found: ShownRecord) -> str:
    """The address of what was found by the start of its name, or by its place; empty if it has no page."""
    said, name = found.fields, page_templates.path(found.id)
    if found.kind in ("memory", "candidate", "task"):
        return _known(reading, found.id)
    if found.kind in ("turn", "cycle"):
        return f"/runs/{page_templates.path(said['run_id'])}/turns/{said['turn']}"
    if found.kind in ("code", "doc"):
        return f"/code/{page_templates.path(said['file'])}"
    folder = {"run": "runs", "session": "sessions", "commit": "commits"}.get(found.kind)
    return f"/{folder}/{name}" if folder else ""


PAGES: dict[str, PageMaker] = {"/search": search_page, "/show/{name:path}": show_page}
