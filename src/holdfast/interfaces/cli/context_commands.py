"""Commands for whoever starts or looks back: context, receipts, journal.

Contexts and receipts in words and as objects.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import click

from holdfast.errors import NotFound
from holdfast.index import freshness
from holdfast.interfaces import quick
from holdfast.interfaces.cli.invocation import Invocation, command
from holdfast.interfaces.cli.output import as_json, as_plain, as_text, columns, flush, picked, say, show, width
from holdfast.interfaces.cli.phrases import count, lines, short, table, when
from holdfast.interfaces.cli.root import root

if TYPE_CHECKING:
    from holdfast.project import Project
    from holdfast.recall.pack import context_pack, sent_packs

_SUBMODULE = b"160000"  # the mode of its row in git's index
_SHORT, _LONG = 12, 40  # characters of a commit, and of a name
_LEAST, _WIDE = 16, 120  # columns of the words of an entry at least; of a line where there is no terminal


def context_object(found: context_pack.ContextPack) -> dict[str, Any]:
    """A context as JSON, with what went in and where it is kept."""
    from holdfast.recall.pack.pack_lines import HOW
    from holdfast.recall.pack.sent_packs import entries

    names = ("how", "why", "session", "branch", "head", "since", "budget", "tokens", "dropped", "silent")
    parts = ("name", "reviewed", "title", "left_out", "more")
    return {
        **picked(found, *names),
        "session_branch": found.foreign or found.branch if found.session else None,
        "of_this_branch": found.session is not None and found.foreign is None,
        "sections": [{**picked(one, *parts), "lines": [line.text for line in one.lines]} for one in found.sections],
        "unmerged": found.unmerged.memories if found.unmerged else 0,
        "for": found.asked.words or None,
        "files": found.asked.files,
        "receipt": {
            **{name: getattr(found.receipt, name, None) for name in ("ts", "owner", "number", "root")},
            **picked(found, "marker", "tokens", "budget", "branch", "head"),
            "counted": HOW,
            "entries": entries(found),
        },
    }


def silent(number: int, *, can_trust: bool) -> str:
    """That agents are shown nothing of what came, and what changes that."""
    are = "is" if number == 1 else "are"
    how = "holdfast trust" if can_trust else "holdfast review"
    return f"{count(number, 'memory')} came by git and {are} not shown to agents: {how}"


def receipts_text(found: sent_packs.AgentKnowledge) -> str:
    """What a run or a session was given, context by context."""
    if not found.packs:
        return f"No context was given in {found.kind} {found.owner}"
    dropped = f"; {found.dropped:,} older ones were not kept" if found.dropped else ""
    head = f"{found.kind.capitalize()} {found.owner} was given {count(len(found.packs), 'context')}{dropped}."
    said = [part for pack in found.packs for part in ("", *_told(pack))]
    return lines(head, *said, "", f"Print one as it was sent: holdfast receipts {found.owner} --context N")


def _told(pack: sent_packs.SentPack) -> list[str]:
    at = f" at {pack.head[:12]}" if pack.head else ""
    size = f"{pack.tokens or 0:,} of {pack.budget or 0:,} tokens"
    where = f"{pack.branch or 'a detached HEAD'}{at}"
    rows = [_entry(one) for one in pack.entries]
    beside = sum(max((width(row[at]) for row in rows), default=0) for at in (0, 2, 3))
    room = max(_LEAST, (columns() or _WIDE) - beside - len("  ") * 4)
    rows = [(name, short(said, room), *rest) for name, said, *rest in rows]
    asked = [f"  for: {pack.asked}"] if pack.asked else []
    files = [f"  files: {', '.join(pack.files[:8])}{' …' if len(pack.files) > 8 else ''}"] if pack.files else []
    late = ["  given after the run had ended: its recording does not prove it"] if pack.late else []
    gone = ["  its text was deleted"] if pack.text is None else []
    given = when(pack.ts) if pack.ts else "at an unknown time"
    title = f"Context {pack.number}, {given}, {where}, {size}"
    return [title, *asked, *files, *late, *gone, *table(rows)]


def _entry(one: sent_packs.SentEntry) -> tuple[str, ...]:
    """One line that was given: its name, the words, why, and how it stands since."""
    name = one.id[:_SHORT] if one.kind in ("commit", "line") else one.id[:_LONG]
    reason = one.why.partition("; undecided")[0]
    said = one.line.removeprefix("- ").removeprefix(one.id).removesuffix(f"[{reason}]").strip()
    said = said.removeprefix(one.id[:_SHORT]).strip() if name != one.id else said
    return name, said, one.why, one.state


def receipts_object(found: sent_packs.AgentKnowledge) -> dict[str, Any]:
    """The same as JSON; the texts only where one pack is asked for."""
    packs = [{name: value for name, value in as_plain(one).items() if name != "text"} for one in found.packs]
    return {"id": found.owner, "kind": found.kind, "dropped": found.dropped, "packs": packs}


@command(root, "context")
@click.option("--for", "asked", metavar="WORDS", help="What you are about to do.")
@click.option("--files", multiple=True, metavar="PATH", help="Files or folders you are about to change.")
@click.option("--budget", type=click.IntRange(200, 100_000), metavar="TOKENS", help="The maximum length.")
@click.argument("more", nargs=-1, metavar="[PATH]...")
def context(
    place: Invocation, asked: str | None, files: tuple[str, ...], more: tuple[str, ...], budget: int | None
) -> None:
    """Show the context that agents get at a start.

    Text for an agent. It says why each entry is in it, and which session it continues. Unapproved text is
    included only if it is this clone's own work, or was found for --for.
    """
    from holdfast.git import upstream
    from holdfast.recall.pack.context_pack import pack_text
    from holdfast.recall.pack.sent_packs import counted_of

    paths = [os.path.join(os.path.abspath(place.folder), path) for path in (*files, *more)]
    is_plain = not (paths or asked or budget)
    with place.project() as project:
        tree = _TrackedFiles(project) if is_plain else None
        found = project.context(asked, paths, budget=budget)
        show(found, pack_text, context_object)
        if found.silent:
            # Not among the notices: the answer is kept all the same, and it is said again with the next one.
            flush()
            say(silent(found.silent, can_trust=upstream.find(project.clone.repo, project.clone.trunk) is not None))
        if found.unmerged:
            flush()
            say(str(found.unmerged))
        if tree is not None and tree.digest:
            said, data = as_text(pack_text(found)), as_json(context_object(found))
            told = counted_of(found)
            keep_answer(project, "context", said, data, until=found.until, tree=tree, told=told)


@command(root, "receipts")
@click.argument("run", metavar="RUN")
@click.option(
    "--context", "--pack", "number", type=click.IntRange(1), metavar="N", help="Print one context as it was sent."
)
def receipts(place: Invocation, run: str, number: int | None) -> None:
    """Show the contexts that a run or session got.

    For each entry: why it was included, and whether it is still valid here.
    """
    with place.project() as project:
        found = project.context.receipts(run)
        there = {one.number: one for one in found.packs}
        if number is None:
            show(found, receipts_text, receipts_object)
        elif number in there:
            gone = f"The text of context {number} was deleted."
            show(there[number], lambda pack: pack.text or gone)
        else:
            named = ", ".join(map(str, there)) or "none"
            raise NotFound(f"{found.owner} has no context {number}", hint=f"There are: {named}")


@command(root, "journal")
@click.argument("date", default="today")
@click.option("--all", "everywhere", is_flag=True, help="Also show other branches.")
@click.option("--render", is_flag=True, help="Write the journal files of all days that changed.")
def journal(place: Invocation, date: str, everywhere: bool, render: bool) -> None:
    """Show the work of a day: today, yesterday, or 2026-11-15.

    Days are UTC days. The same is written to .holdfast/view/journal, or where journal.path says.
    """
    with place.project() as project:
        if render:
            written = project.context.render_journal()
            show(written, lambda paths: "\n".join(paths) or "Nothing changed.", list)
        else:
            show(project.context.journal(date, everywhere=everywhere), str, lambda told: {"text": told})


def keep_answer(
    project: Project,
    name: str,
    text: str,
    data: str,
    *,
    until: str | None = None,
    tree: _TrackedFiles | None = None,
    told: str = "",
) -> None:
    """Keep an answer for the quick path, until a moment or until what it rests on changes.

    `project.seen` must have been taken before the answer was made. Nothing is kept if there was something
    to say beside it, or if a variable changes it. `told` is kept along, for counting.
    """
    from holdfast.index.refresh import keep_ready

    seen = project.seen
    if seen is None or not seen.settled or project.notices or not quick.is_plain(os.environ):
        return
    state, watched = (
        quick.resting_on(name, seen, os.environ, tree=tree.digest if tree else ""),
        tree.paths if tree else "",
    )
    answers = {quick.kept_name(name, json=form): (said, told) for form, said in ((False, text), (True, data))}
    keep_ready(project.clone, answers, signature=state, valid_until=until, watched=watched, is_clean=True)


class _TrackedFiles:
    """How the files git tracks look, taken before an answer tells of them; no digest: that cannot be told.

    With submodules, with names that are no text, or with very many files, git has to be asked each time.
    """

    def __init__(self, project: Project) -> None:
        self.digest, self.paths = "", ""
        rows = project.clone.repo.run("ls-files", "-s", "-z").split(b"\0")[:-1]
        if any(row.startswith(_SUBMODULE) for row in rows):
            return
        names = {row.partition(b"\t")[2] for row in rows}
        names = {name for name in names if not name.startswith(b".holdfast/")}
        folders = {name.rpartition(b"/")[0] for name in names}
        while above := {folder.rpartition(b"/")[0] for folder in folders if folder} - folders:
            folders |= above
        try:
            self.paths = b"\n".join(sorted(names | folders)).decode("utf-8")
        except UnicodeDecodeError:
            return
        if len(names) <= freshness.MAX_WATCHED and self.paths.count("\n") == len(names | folders) - 1:
            self._look(project.clone.repo.top)

    def _look(self, top: str) -> None:
        digest, newest = freshness.watched(top, self.paths)
        wait = freshness.settles_in(newest, time.time_ns())
        if 0 < wait <= freshness.TICK:
            # Something was just written: another change in the same tick would go unseen.
            time.sleep(wait / 1e9)
            digest, newest = freshness.watched(top, self.paths)
            wait = freshness.settles_in(newest, time.time_ns())
        self.digest = digest if wait <= 0 else ""
