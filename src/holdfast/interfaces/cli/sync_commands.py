"""The command between the private store and git: publish.

`holdfast reconcile`: what git moved, and fork, carry or drop; asked on a terminal, else by option.

What `holdfast reconcile` says, in words and as the object that `--json` promises.

`holdfast team push`: a lost or new database server filled from this clone.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from holdfast.interfaces.cli.invocation import Invocation, answer, command, group, on_a_terminal
from holdfast.interfaces.cli.output import as_plain, flush, picked, say, show, strong, wants_json
from holdfast.interfaces.cli.phrases import count, lines
from holdfast.interfaces.cli.root import root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from holdfast.agent_store.shared_claims import StorePushed
    from holdfast.capture import cited_commits, reconciliation
    from holdfast.git.publish import Published
    from holdfast.git.reconcile import OrphanLine
    from holdfast.model.session import Session
    from holdfast.project import Project
    from holdfast.store.pending_changes import PendingChange

    Answers = dict[str, Callable[[str | None], reconciliation.ReconcileChoice | OrphanLine]]


def published(done: Published) -> str:
    kept = [f"  not published: {item.path}: {item.reason}" for item in done.kept]
    if done.staged and done.paths:
        first = f"Staged {count(len(done.paths), 'file')}; your next commit includes them."
    elif done.commit:
        first = f"Published {count(len(done.paths), 'file')} as {done.commit[:12]}"
    else:
        first = "Nothing to publish." if not kept else "Nothing was published."
    return lines(first, [f"  {path}" for path in done.paths], kept)


_INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")  # files of most agents; `doctor` looks at all of them


@command(root, "publish")
@click.option("--stage", is_flag=True, help="Only stage the files, for your own next commit.")
@click.option("--here", is_flag=True, help="Publish even on the default branch.")
@click.option("--restore", is_flag=True, help="Restore what was published and is missing on this branch.")
def publish(place: Invocation, **how: Any) -> None:
    """Commit this branch's events and memories."""
    with place.project() as project:
        done = project.sync.publish(**how)
        show(done, published, lambda done: {"id": done.commit, **as_plain(done)})
        there = any(os.path.exists(os.path.join(project.clone.repo.top, name)) for name in _INSTRUCTIONS)
        if done.paths and there and project.clients.behind():
            flush()
            say("Update the instructions for agents with: holdfast connect")


MOST = 20  # rows of one sort
DETACHED = "a detached HEAD"
FORK = "Continue here with --fork (it stays open there) or --carry (it ends there), or end it with --drop"
STAY = "Keep them with --carry changes, or set them aside with --drop changes"
BACK = "Restore it with --carry changes"
TAKE_OVER = "Take it over with --carry ID, or stop listing it with --drop ID"
SETTLE = "Choose a side with: holdfast task resolve ID"
LONGEST = 60  # characters of a branch's name
MENDED = ("task", "checkpoint", "session")  # what --apply rewrites; an approved text is only shown


def reconciled(whole: reconciliation.ReconcileOverview) -> str:
    """What is new or to be chosen; what lasts is shown once."""
    found = whole.news()
    before = whole.size() - found.size()
    if not before:
        return reconcile_text(found)
    rest = f"{count(before, 'thing')} shown before: holdfast reconcile --all"
    return lines(lines(*_parts(found)) or "Nothing new.", rest)


def reconcile_text(found: reconciliation.ReconcileOverview) -> str:
    """The whole report; what needs a choice comes first."""
    return lines(*_parts(found)) or "Nothing changed in git that needs a decision."


def _parts(found: reconciliation.ReconcileOverview) -> Iterator[list[str]]:
    yield _part("Git moved:", [move.sentence for move in found.moves])
    if found.under_way:
        yield [f"Git is in the middle of {found.under_way}: run this again when it ends."]
    left, old = ([_session(one) for one in found.sessions if one.left == is_left] for is_left in (True, False))
    lost = [_session(one) for one in found.sessions if one.left and one.gone]
    yield _part("Left open when the branch changed:", [row for row in left if row not in lost], FORK)
    yield _part("Left open on branches that are gone:", lost, "Continue here with --carry, or end it with --drop")
    yield _part("Open, but not worked on for a long time:", old, "End one with: holdfast session end ID")
    rows = [f"{change.path}  recorded at {(change.head or '')[:12]}" for change in found.stranded]
    yield _part("Not published, and made after this commit:", rows, STAY)
    yield _part("Set aside earlier, and its commit is here again:", [change.path for change in found.aside], BACK)
    how = ["a merge chose" if one.kind == "overruled" else "both changed it" for one in found.conflicts]
    sides = zip(found.conflicts, how, strict=True)
    rows = [f"{strong(one.id)}  {one.ours.origin} and {one.theirs.origin}: {said}" for one, said in sides]
    yield _part("In conflict:", rows, SETTLE)
    cited = sorted(found.cited, key=lambda cite: cite.state != "moved")
    mends = any(cite.state == "moved" and cite.kind in MENDED for cite in cited)
    after = "Cite the new ones with --apply" if mends else None
    yield _part("Commits that tasks or memories cite, and that were rewritten:", [_cite(cite) for cite in cited], after)
    whys = [f"deleted by {one.commit[:12]}" if one.commit else "history was rewritten" for one in found.gone]
    rows = [f"{one.path}  {why}" for one, why in zip(found.gone, whys, strict=True)]
    yield _part("Published, but missing on this branch:", rows, "Restore them with: holdfast publish --restore")
    yield _part("Left behind:", [orphan(item) for item in found.orphans], TAKE_OVER)
    rows = [f"{strong(one.task)}  {one.why}{f': {one.title}' if one.title else ''}" for one in found.tasks]
    yield _part("Claimed in a work tree or branch that is gone:", rows)
    where = [f"on {', '.join(one.branches)}" if one.branches else "nowhere in this clone" for one in found.links]
    rows = [f"{strong(one.task)}  names {one.node} which is {at}" for one, at in zip(found.links, where, strict=True)]
    yield _part("Tasks that need one of another branch:", rows)
    rows = [f"{b.branch}  since {b.last[:10]}, {'merged' if b.merged else 'not merged'}" for b in found.branches]
    yield _part("Branches without commits for a month:", rows)


def _part(title: str, rows: Sequence[str], after: str | None = None) -> list[str]:
    more = [f"and {len(rows) - MOST:,} more"] if len(rows) > MOST else []
    return [title, *(f"  {row}" for row in (*rows[:MOST], *more)), *([after] if after else [])] if rows else []


def _session(one: reconciliation.AdriftSession) -> str:
    items = len(one.session.still_open) + len(one.session.still_to_follow) + len(one.session.pending)
    said = f": {one.session.objective}" if one.session.objective else ""
    return f"{strong(one.session.id)}  {one.why}{said} ({count(items, 'open item')})"


def changes(found: Sequence[PendingChange]) -> str:
    """How many changes wait."""
    return f"{count(len(found), 'change', 'wait')} here"


def _cite(cite: cited_commits.DisplacedCommit) -> str:
    now = "no commit here is certainly the same"
    now = "cannot be looked for in a shallow clone" if cite.state == "unknown" else now
    now = f"is {cite.new[:12]} now ({cite.how})" if cite.new is not None else now
    return f"{strong(cite.id)}  {cite.old[:12]} {now}"


def orphan(item: OrphanLine) -> str:
    who = name_of(item.name)
    if item.foreign:
        who = f"{who} of another clone" if who.startswith(DETACHED) else f"the branch {who} of another clone"
    elif not who.startswith(DETACHED):
        who = f"the deleted branch {who}"
    waits = f"{count(len(item.events), 'event')}, {count(len(item.changes), 'change')} waiting"
    alone = f"{count(len(item.published), 'published file')} that no branch has"
    left = [*([waits] if item.events or item.changes else ()), *([alone] if item.published else ())]
    return f"{strong(item.line)}  {who} left {', and '.join(left)}"


def place_of(session: Session) -> str:
    """The branch of a session, in words."""
    return name_of(session.branch or DETACHED)


def name_of(branch: str) -> str:
    """A branch's name as a sentence can hold it."""
    return branch if len(branch) <= LONGEST else f"{branch[: LONGEST - 1]}…"


def chosen(choice: reconciliation.ReconcileChoice) -> str:
    """What was chosen, and what it did."""
    done, rows = choice.reanchored, _chosen(choice)
    named = [*done.tasks, *done.sessions]
    rows += [f"Cites the new commits: {', '.join(named)}"] if named else []
    rows += [f"In conflict, to be settled first: {', '.join(done.left)}"] if done.left else []
    return lines(rows) or "Nothing had to be changed."


def carried(item: OrphanLine) -> str:
    return lines(f"Taken over: {orphan(item)}", "Share it with: holdfast publish")


def _chosen(choice: reconciliation.ReconcileChoice) -> list[str]:
    old, new = choice.old, choice.new
    rows = []
    if old and new:
        how = "stays open" if choice.action == "fork" else "ended"
        rows.append(f"{strong(new.id)} continues here; {old.id} {how} on {place_of(old)}")
    elif old:
        rows.append(f"{strong(old.id)} ended")
    if choice.stay:
        rows.append(f"{changes(choice.stay)} as before")
    rows += [f"  waits again: {change.path}" for change in choice.back]
    rows += [f"  stays set aside, because it was changed since: {change.path}" for change in choice.left]
    again = "; its earlier text is to be published again"
    rows += [f"  set aside: {one.change.path}{again if one.again else ''}" for one in choice.aside]
    return [*rows, *(["Restore what was set aside with: holdfast reconcile --carry changes"] * bool(choice.aside))]


# Objects.


def report_object(found: reconciliation.ReconcileOverview) -> dict[str, Any]:
    """What is gone and what was left, counted rather than quoted; and all that moved."""
    return {
        "gone": [{"id": item.path, "path": item.path, "commit": item.commit} for item in found.gone],
        "orphans": [orphan_object(item) for item in found.orphans],
        "moves": [
            {"id": None, "from": m.before, "to": m.after, **picked(m, "kind", "ts", "ref", "count", "sentence")}
            for m in found.moves
        ],
        "under_way": found.under_way,
        "needs_choice": found.asks,
        "sessions": [_adrift(one) for one in found.sessions],
        "tasks": [{"id": t.task, **picked(t, "title", "owner", "branch", "why")} for t in found.tasks],
        "aside": [{"id": c.path, **picked(c, "path", "head", "ts", "blob")} for c in found.aside],
        "stranded": [{"id": c.path, **picked(c, "path", "head", "ts", "blob")} for c in found.stranded],
        "cited": [{"id": c.id, **picked(c, "kind", "old", "new", "state", "how")} for c in found.cited],
        "branches": [{"id": b.branch, **picked(b, "last", "merged")} for b in found.branches],
        "links": [{"id": x.task, "node": x.node, "branches": list(x.branches)} for x in found.links],
        "conflicts": [{"id": c.id, "path": c.path, "kind": c.kind} for c in found.conflicts],
    }


def _adrift(one: reconciliation.AdriftSession) -> dict[str, Any]:
    left = [item.text for item in (*one.session.still_open, *one.session.still_to_follow)]
    return {**picked(one, "why", "left", "gone"), **picked(one.session, "id", "branch", "objective"), "open": left}


def orphan_object(item: OrphanLine) -> dict[str, Any]:
    """What a lost line left, counted."""
    counts = {name: len(getattr(item, name)) for name in ("events", "changes", "published")}
    return {"id": item.line, **picked(item, "name", "foreign"), **counts}


def choice_object(value: reconciliation.ReconcileChoice) -> dict[str, Any]:
    """What was chosen, and what it did."""
    old, new = value.old.id if value.old else None, value.new.id if value.new else None
    paths = {name: [change.path for change in getattr(value, name)] for name in ("stay", "back", "left")}
    paths["aside"] = [aside.change.path for aside in value.aside]
    return {"id": new or old, **picked(value, "action", "reanchored"), "old": old, "new": new, **paths}


CHANGES = "changes"
LEFT = "left"  # an option without a name: what this work tree left behind


def _choice(name: str, metavar: str, *words: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(name, is_flag=False, flag_value=LEFT, metavar=metavar, help=" ".join(words))


@command(root, "reconcile")
@_choice("--fork", "[SESSION]", "Continue here with copies of the open items of a session on another branch.")
@_choice(
    *("--carry", "[NAME]", "Move a session's open items here. `changes`: keep or restore changes made after a reset."),
    "ID of a deleted branch: take over its work.",
)
@_choice(
    *("--drop", "[NAME]", "End the session on the other branch. `changes`: set aside changes made after a reset."),
    "ID of a deleted branch: stop listing it.",
)
@click.option("--apply", is_flag=True, help="Cite the new commits in place of rewritten ones.")
@click.option("--all", "everything", is_flag=True, help="Also list what was shown before.")
def reconcile(place: Invocation, apply: bool, everything: bool, **answers: str | None) -> None:
    """Show what changed in git, and decide about work on other branches."""
    given = {how: name if name != LEFT else None for how, name in answers.items() if name}
    if len(given) + apply > 1:
        raise click.UsageError("--fork, --carry, --drop and --apply do not go together.")
    with place.project() as project:
        if "fork" in given:
            _show(project.sync.fork(given["fork"]))
        elif "carry" in given:
            _show(project.sync.carry(given["carry"]), carried)
        elif "drop" in given:
            _show(project.sync.drop(given["drop"]), lambda line: f"Let go: {orphan(line)}")
        elif apply:
            _show(project.sync.reanchor())
        else:
            report = project.sync.reconcile()
            show(report, reconcile_text if everything else reconciled, report_object, asks=True)
            if on_a_terminal() and not wants_json():
                flush()
                _ask(project, report)


def _show(done: reconciliation.ReconcileChoice | OrphanLine, of_orphan: Callable[[OrphanLine], str] = orphan) -> None:
    from holdfast.git.reconcile import OrphanLine

    if isinstance(done, OrphanLine):
        show(done, of_orphan, orphan_object)
    else:
        show(done, chosen, choice_object)


def _ask(project: Project, report: reconciliation.ReconcileOverview) -> None:
    """Each question once; leaving it open is an answer, too."""
    answers: Answers = {"fork": project.sync.fork, "carry": project.sync.carry, "drop": project.sync.drop}
    some = {name: answer for name, answer in answers.items() if name != "fork"}
    for one in (one for one in report.sessions if one.left):
        fitting = some if one.gone else answers
        _choose(f"{one.session.id} was left on {place_of(one.session)}", fitting, one.session.id)
    if report.stranded:
        _choose(f"{changes(report.stranded)} from after this point of history", some, CHANGES)
    moved = [cite for cite in report.cited if cite.state == "moved" and cite.kind in MENDED]
    if moved and click.confirm("Cite the new commits in place of the rewritten ones?", default=True, err=True):
        _show(project.sync.reanchor())


def _choose(question: str, answers: Answers, name: str | None) -> None:
    say(question)
    choice = click.Choice([*answers, "leave"])
    said = click.prompt("What to do with it?", type=choice, default="leave", err=True)
    if said in answers:
        _show(answers[said](name))


@group(root, "team", "push")
def team() -> None:
    """Sync with the database that all clones share."""


def team_pushed_text(done: StorePushed) -> str:
    """What the server got, and what it did not."""
    got = [count(done.rows, "row") + (f" ({count(done.agents, 'agent')})" if done.agents else "")] * bool(done.rows)
    got += [count(done.claims, "claim")] * bool(done.claims)
    return lines(
        f"The server got {' and '.join(got)}." if got else "Nothing new: the server has everything of this clone.",
        [f"left alone: {why}" for why in done.left],
        [f"not claimed: {why}" for why in done.taken],
    )


@answer(team, "push", team_pushed_text)
def team_push(project: Project) -> object:
    """Copy agents and claims of this clone to a new or restored server.

    Run it in every clone. It changes nothing that the server already has.
    """
    return project.tasks.push()
