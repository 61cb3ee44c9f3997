"""`holdfast review`: what waits and why, what was decided, what can be done next."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from holdfast.errors import BadInput
from holdfast.index import hit_text
from holdfast.interfaces.cli import memory_commands as memories
from holdfast.interfaces.cli.invocation import Invocation, answer, as_json, command, here, on_a_terminal, options
from holdfast.interfaces.cli.memory_commands import file_trouble, memory_row, refresh_tools, standing_object
from holdfast.interfaces.cli.output import columns, picked, say, show, strong, wants_json, width
from holdfast.interfaces.cli.phrases import ago, count, lines, short, table, toned, wording
from holdfast.interfaces.cli.root import root
from holdfast.model.evidence import receipt_name
from holdfast.model.memory import TYPES, Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from holdfast.crew.crew_journal import CrewConflict
    from holdfast.curation import decisions, memory_conflicts, review_queue
    from holdfast.project import Project
    from holdfast.project.memory_book import Decided

    # With a close look if there was time for one.
    Waiting = Sequence[tuple[review_queue.QueueItem, review_queue.ReviewLook | None]]
    from holdfast.curation.memory_health import CuratorFinding, MemoryHealth

ALL = "holdfast review list --all"
CLOSELY = 200  # items that are looked at closely in a list: more would take long, and nobody reads them
REASONS = ("proposed", "suggested", "edited", "stale", "expired", "contradicts", "elsewhere")
SIDE = 46  # columns of each of two texts side by side
SAME = 60  # letters by which a quotation is known
DIFF = 12  # lines of what made a memory stale
TITLE = 78  # columns of what a session did
_ELSEWHERE = "proposed on another line"  # as notes say it
_STATE = {"holds": "unchanged", "changed": "changed since", "gone": "is gone", "unanchored": "is on no branch"}
_VERB = {"rejected": "rejected", "deprecated": "retired"}


@root.group("review", invoke_without_command=True)
@as_json
@click.pass_context
def review(context: click.Context) -> None:
    """See what waits for a decision, and decide.

    On a terminal this opens a screen; elsewhere it lists what waits.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_waiting if wants_json() or not _can_show_a_screen() else _screen)


def _can_show_a_screen() -> bool:
    """Whether there is a terminal, and what draws on it is installed."""
    from importlib.util import find_spec

    terminal, drawn = on_a_terminal() and sys.stdout.isatty(), find_spec("textual") is not None
    if terminal and not drawn:
        say("To review on a screen, type in Holdfast's own folder: pip install '.[tui]'")
    return terminal and drawn


@click.command(hidden=True)
@here
def _screen(place: Invocation) -> None:
    from holdfast.interfaces.tui.review_screen import run

    with place.project() as project:
        run(project, said="\n".join(crew_rows(_crew_conflicts(project))))
        refresh_tools(project)


def _crew_conflicts(project: Project) -> Sequence[CrewConflict]:
    """What tasks of a crew disagree about, or wait for."""
    if not os.path.exists(project.clone.private.crew):  # no crew ever worked here, and nothing is loaded
        return ()
    from holdfast.crew import crew_runs

    return crew_runs.conflicts(project)


_CREW = {"overlap": "the same files", "merge": "conflict", "decision": "asks you"}


def crew_rows(found: Sequence[CrewConflict]) -> list[str]:
    """What is open between tasks of a crew, and how to go on; nothing if nothing is."""
    if not found:
        return []
    run = found[0].run
    asks = any(one.kind == "decision" for one in found)
    way = f"Once you decided: holdfast crew resume --run {run}" if asks else "The crew goes on by itself."
    rows = [(f"{_CREW[one.kind]}:", one.tasks[0], one.said.removeprefix(f"{one.tasks[0]} ")) for one in found]
    return [f"{count(len(found), 'conflict')} in the crew {run}:", *table(rows), f"  {way}"]


_filter = options(  # which of what waits
    click.option("--tag", "tags", multiple=True, metavar="WORD", help="Only those with this tag."),
    click.option("--type", "kinds", multiple=True, type=click.Choice(TYPES), help="Only this type."),
    click.option(
        "--waits-as", "reasons", multiple=True, type=click.Choice(REASONS), help="Only those that wait for this reason."
    ),
    click.option("--from", "source", metavar="SOURCE", help="Only candidates from this run, session or file."),
    click.option(
        "--min-confidence", "confidence", type=click.FloatRange(0, 1), help="Only those with at least this confidence."
    ),
)
_many = options(
    click.argument("names", metavar="[ID]...", nargs=-1),
    click.option(
        "--all", "everything", is_flag=True, help="All candidates that `review list` shows, or that fit the filter."
    ),
    _filter,
)
_reviewer = click.option("--reviewer", metavar="NAME", help="Who decides; your git name if not given.")


def waiting_text(
    waiting: Waiting,
    lost: Sequence[review_queue.UnreadableMemory] = (),
    *,
    everything: bool = True,
    title: Callable[[str], str] = lambda _: "",
    crew: Sequence[CrewConflict] = (),
) -> str:
    """What waits: of each session what is worth reading, then a count of the rest, or `everything`."""
    if crew:
        return lines(crew_rows(crew), ["", waiting_text(waiting, lost, everything=everything, title=title)])
    if lost:  # what a person approved and agents no longer see, with how to bring each back
        said = []
        for one in lost:
            said += [f"{strong(one.id)} was approved and cannot be read any more, so agents no longer see it."]
            said += [f"    {file_trouble(one.path, one.why)}", f"    bring it back and commit it: {one.next_step}"]
        return lines(said, ["", waiting_text(waiting, everything=everything, title=title)] if waiting else [])
    if not waiting:
        return "Nothing waits for review."
    from holdfast.curation.review_queue import worth_reading

    shown = {item.id for item in worth_reading([item for item, _ in waiting])}
    closely = [one for one in waiting if one[0].id in shown]
    rest = [item for item, _ in waiting if item.id not in shown]
    return lines(
        f"{count(len(waiting), 'memory', 'wait')}.",
        *(["", *rows] for rows in _by_session(closely, title, everything=everything)),
        *(
            _put_off_rows(rest)
            if everything
            else [["", f"{put_off_text(put_off_counts(rest))}: {ALL}"]]
            if rest
            else []
        ),
        *(["", f"Accept one with: holdfast review accept {closely[0][0].id}"] if closely else []),
    )


def put_off_text(counts: Mapping[str, int]) -> str:
    """How many wait below the others, and why: `try`, `start` and `review list` say it alike."""
    if len(counts) == 1:
        ((why, number),) = counts.items()
        return f"{number:,} more, {why}"
    said = ", ".join(f"{number:,} {why}" for why, number in sorted(counts.items(), key=lambda one: (-one[1], one[0])))
    return f"{sum(counts.values()):,} more: {said}"


def put_off_counts(items: Sequence[review_queue.QueueItem]) -> Mapping[str, int]:
    from collections import Counter

    return Counter(item.put_off or "others" for item in items)


def _put_off_rows(items: Sequence[review_queue.QueueItem]) -> list[list[str]]:
    """What waits below the others, by why it does."""
    groups = {why: [item for item in items if item.put_off == why] for why in dict.fromkeys(i.put_off for i in items)}
    return [
        ["", f"{len(some)} {why or 'others'}:", *(row for item in some for row in _in_full(item.standing))]
        for why, some in groups.items()
    ]


def _by_session(waiting: Waiting, title: Callable[[str], str], *, everything: bool) -> list[list[str]]:
    """What is printed of each item, those of one session together below a line that says what it did."""
    found: dict[str, list[str]] = {}
    shown: set[frozenset[str]] = set()  # pairs that contradict each other, each of which is printed once
    for item, look in waiting:
        source = (item.provenance and item.reason == "proposed" and item.standing.memory.source) or ""
        if (source or item.id) in found:
            found[source] += [""]
        told = title(source) if source else ""
        moment, _, did = told.partition("  ")  # as `session_title` begins
        begins = [f"{short(did, min(TITLE, memories.columns_to_read()))}  ({ago(moment)}, {source})"] if told else []
        rows = found.setdefault(source or item.id, begins)
        rows += [*_heading(item.standing), *_grounds(item, look, fully=everything, titled=bool(told), shown=shown)]
    return list(found.values())


def _heading(standing: decisions.MemoryStanding) -> list[str]:
    """The id, the whole statement and what kind it is: nobody decides about half a sentence."""
    name, statement, kind = memory_row(standing)
    row = f"  {name}  {statement}  {kind}".rstrip()
    if not statement.endswith("…") and not 0 < columns() < width(row):
        return [row]
    first, *rest = memories.wrapped(standing.memory.statement, begins=len(standing.id))
    return [f"  {name}  {first}", *(f"    {row}" for row in rest), *([f"    {kind}"] if kind else [])]


def _in_full(standing: decisions.MemoryStanding) -> list[str]:
    """All that is approved of a memory: nobody approves what they were not shown."""
    moved = ["    its evidence changed"] if standing.code_moved else []
    return [*_heading(standing), *memories.body_rows(standing.memory), *moved]


def _grounds(
    item: review_queue.QueueItem,
    look: review_queue.ReviewLook | None,
    *,
    fully: bool,
    titled: bool,
    shown: set[frozenset[str]],
) -> list[str]:
    """What one decides by: why it waits, what it rests on and whether that holds, where it was said.

    For a session's find, further quotes and what changed since are on the screen, and here if `fully`.
    """
    memory, cited = item.standing.memory, item.standing.receipts
    told = (*(text for text, _ in cited), *([_ELSEWHERE] if item.branch else []))  # said better elsewhere
    notes = [note for note in item.standing.notes if not note.startswith(told)]
    because = getattr(memory, "because", "")
    own = (memory.source, "holds") if len(cited) > 1 else None  # the run that says it, which is named below
    states = [(text, toned(_STATE.get(state, state), state)) for text, state in cited if own != (text, state)]
    evidence = ", ".join(f"{receipt_name(text)} ({state})" for text, state in states)
    status, source = item.standing.status, memory.source
    why = status if status in (hit_text.EDITED, hit_text.UNCHECKED) else wording("waits").get(item.reason)
    waits = toned(": ".join(filter(None, (why, because))), item.reason)
    said = [f"proposed {ago(item.proposed)}"] if item.proposed else ["proposed"]
    said += [f"on {item.branch}"] if item.branch else []
    said += [f"by {receipt_name(source)}"] if source and source not in dict(cited) else []
    found = (source or "").startswith(("run:", "session:")) and bool(item.provenance)  # by reading a session
    brief = not fully and found and item.reason == "proposed"
    quotes = [one for one in item.provenance[: 1 if brief else 3] if not _repeats(one.words, memory)]
    alone = brief and titled and cited == ((memory.source, "holds"),)  # nothing but the run, named above
    return [
        *([f"    {waits}"] if (item.reason in wording("waits") and item.reason != "stale") or because else []),
        *([] if alone else [f"    evidence: {evidence or 'none'}"]),
        *([f"    {' '.join(said)}"] if item.reason in ("proposed", "suggested") and not (brief and titled) else []),
        *(
            _fitting(f"    said in turn {one.turn}: ", one.words)
            if brief and one.turn
            else _fitting(f"    said: {_place(one.source, one.turn)}: ", one.words)
            for one in quotes
        ),
        *(f"    note: {note}" for note in notes),
        *memories.body_rows(memory),  # all that is approved with it
        *(_beside(look, shown, diff=1 if brief else DIFF, fully=fully) if look else ()),
    ]


def grounds(item: review_queue.QueueItem) -> list[str]:
    """An item in short: what it states, and what that rests on."""
    return [*_heading(item.standing), *_grounds(item, None, fully=False, titled=True, shown=set())]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def _repeats(words: str, memory: Memory) -> bool:
    """Whether words are the memory's own: shown once, they say as much."""
    told, own = _letters(f"{memory.statement} {memory.details}"), _letters(words)
    return own[:SAME] in told or _letters(memory.statement) in own


def _beside(
    look: review_queue.ReviewLook, shown: set[frozenset[str]], *, diff: int = DIFF, fully: bool = True
) -> list[str]:
    """What speaks against it, both texts side by side, and what made it stale; no pair that is `shown` above.

    What only may contradict it is often wrong where no two words of both can be named, so a list has such only if all
    of it was asked for.
    """
    certain = [one for one in (*look.conflicts[:3], *look.rivals) if one.verdict.certain]
    certain = [one for one in certain if one in look.conflicts or frozenset((one.one.id, one.other.id)) not in shown]
    likely = [one for one in (*look.conflicts[:3], *look.rivals) if not one.verdict.certain]
    rows = [row for conflict in certain for row in _conflict(conflict, shown)]
    hints = [one for one in (*likely, *look.hints) if fully or one.verdict.names]
    rows += [_may_contradict(one) for one in hints if _is_new(one, shown)]
    rows += [f"    looks like {strong(name)}" for name in look.same[:3]]
    more = [f"    … {len(look.diff) - diff} more lines"] if len(look.diff) > diff > 1 else []
    return [*rows, *(f"    {line}" for line in look.diff[:diff]), *more]


def _is_new(conflict: memory_conflicts.MemoryConflict, shown: set[frozenset[str]]) -> bool:
    """Whether a pair is not shown yet; from now on it is."""
    pair = frozenset((conflict.one.id, conflict.other.id))
    is_new = pair not in shown
    shown.add(pair)
    return is_new


def _may_contradict(conflict: memory_conflicts.MemoryConflict) -> str:
    why = f" ({conflict.verdict.why})" if conflict.verdict.names else ""
    return _fitting(f"    may contradict {conflict.other.id}{why}: ", conflict.other.statement)


def _conflict(conflict: memory_conflicts.MemoryConflict, shown: set[frozenset[str]]) -> list[str]:
    from itertools import zip_longest

    if not _is_new(conflict, shown):
        return [f"    contradicts {strong(conflict.other.id)}, as shown above"]
    sides = (conflict.one.statement, conflict.other.statement)
    pairs = zip_longest(*(memories.wrapped(text, SIDE)[:6] for text in sides), fillvalue="")
    names = (conflict.one.id, f"{conflict.other.id} ({conflict.status})")
    rows = table([names, *pairs], indent="      ")
    return [f"    contradicts {strong(conflict.other.id)}: {conflict.verdict.why}", *rows]


def _fitting(lead: str, words: str) -> str:
    """Words behind a lead, in the columns that text is read in."""
    return lead + short(words.replace("**", ""), max(memories.columns_to_read() + 4 - len(lead), SIDE // 2))


def _place(source: str, turn: int | None) -> str:
    unit = "line" if source.startswith("file:") else "turn"
    return source if turn is None else f"{source}, {unit} {turn}"


def elsewhere_text(number: int, *, trusting: bool) -> str:
    """What came by git is decided about all at once, unless that was done, or one by one."""
    way = "holdfast review list --waits-as elsewhere"
    came = f"besides, {count(number, 'memory')} came by git, not approved here"
    return f"{came}: {way}" if trusting else f"{came}: holdfast trust, or {way}"


def waiting_object(waiting: Waiting, lost: Sequence[review_queue.UnreadableMemory]) -> dict[str, Any]:
    """What waits as a list, and what was approved and cannot be read any more."""
    return {"items": [_waiting_object(item, look) for item, look in waiting], "unreadable": lost}


def _waiting_object(item: review_queue.QueueItem, look: review_queue.ReviewLook | None) -> dict[str, Any]:
    found = {
        **standing_object(item.standing),
        **picked(item, "reason", "branch", "likely"),
        "proposed_at": item.proposed,
        "said": item.provenance,
    }
    if look is None:
        return found
    conflicts, hints, rivals = (
        [
            {**picked(one.other, "id", "statement"), "status": one.status, **picked(one.verdict, "kind", "why")}
            for one in found
        ]
        for found in (look.conflicts, look.hints, look.rivals)
    )
    return {**found, **picked(look, "same", "diff"), "conflicts": conflicts, "may_contradict": hints, "rivals": rivals}


@command(review, "list")
@click.option("--all", "everything", is_flag=True, help="Also show candidates that are less likely worth keeping.")
@_filter
def list_waiting(place: Invocation, everything: bool = False, **chosen: Any) -> None:
    """List what waits for review, with its evidence and contradictions.

    Of the candidates found in sessions it shows those most likely worth keeping; --all shows the rest.
    """
    from functools import partial

    from holdfast.curation.review_queue import chosen as fitting
    from holdfast.curation.review_queue import session_title
    from holdfast.git import upstream

    with place.project() as project:
        queue = project.memory.queue()
        items = fitting(queue.items, **{key: value for key, value in chosen.items() if value is not None})
        theirs = [] if chosen["reasons"] else [item for item in items if item.reason == "elsewhere"]
        if theirs:  # a fresh clone may have thousands of these, and one answer for all
            items = [item for item in items if item.reason != "elsewhere"]
            held = upstream.held(project.clone)
            project.notices.append(elsewhere_text(len(theirs), trusting=held is not None and not held.void))
        closely = [(item, queue.look(item) if number < CLOSELY else None) for number, item in enumerate(items)]
        lost = () if any(chosen.values()) else queue.unreadable
        crew = () if any(chosen.values()) else _crew_conflicts(project)
        title = partial(session_title, project.clone)
        everything = everything or any(chosen.values())
        text = partial(waiting_text, everything=everything, title=title, crew=crew)
        show((closely, lost), lambda found: text(*found), lambda found: {**waiting_object(*found), "crew": crew})


def decided_text(done: Decided) -> str:
    """Many decisions at once, and what was left."""
    verbs = {_VERB.get(standing.status, "accepted") for standing in done.done} or {"decided"}
    verb = verbs.pop() if len(verbs) == 1 else "decided"
    return lines(
        f"{count(len(done.done), 'memory')} {verb}.",
        [row for standing in done.done if standing.status == "accepted" for row in _in_full(standing)],
        table([memory_row(standing) for standing in done.done if standing.status != "accepted"]),
        memories.why_not_approved([one for one in done.done if one.status == "accepted"]),
        *(["", f"{count(len(done.left), 'memory')} left:"] if done.left else []),
        [f"  {strong(name)}  {why}" for name, why in done.left],
        [f"hint: {hint}" for hint in done.hints[: memories.MOST_NAMED]],
    )


def decided_object(done: Decided) -> dict[str, Any]:
    """Many decisions at once."""
    left = [{"id": name, "why": why} for name, why in done.left]
    return {"items": [*map(standing_object, done.done)], "left": left, "hints": done.hints}


def _show_many(found: Decided) -> int:
    """Show many decisions; the exit code is 1 if things waited and none of them could be decided."""
    show(found, decided_text, decided_object)
    return 1 if found.left and not found.done else 0


def _meant(
    project: Project, names: tuple[str, ...], everything: bool, chosen: dict[str, Any]
) -> list[review_queue.QueueItem] | None:
    """The items that a filter means, candidates only unless it says otherwise; None if ids are named."""
    from holdfast.curation.review_queue import chosen as fitting

    given = {key: value for key, value in chosen.items() if value not in (None, ())}
    if names and (everything or given):
        raise BadInput("name ids, or use --all with a filter, not both")
    if names:
        return None
    if not everything:
        said = "a filter decides many at once" if given else "nothing was named to decide about"
        raise BadInput(said, hint="Add --all to mean it." if given else "Name ids, or add --all.")
    items = fitting(project.memory.queue().items, **{"reasons": ("proposed",), **given})
    if given:
        return items
    from holdfast.curation.review_queue import worth_reading

    shown = worth_reading(items)  # nobody decides about what they were not shown
    if left := len(items) - len(shown):
        unseen = f"{count(left, 'memory')} that `review list` does not show"
        project.notices.append(f"{unseen} left as they are: add --min-confidence 0 to mean all")
    return shown


@command(review, "accept")
@_many
@click.option("--supersede", multiple=True, metavar="ID", help="It replaces this memory.")
@click.option("--keep-both", is_flag=True, help="Keep it and the memory that it seems to contradict.")
@click.option("--applies-to", multiple=True, metavar="PATH", help="The paths it applies to; '**' for everywhere.")
@click.option("--expires", metavar="WHEN", help="When it expires: a date, 30d, or never.")
@click.option("--reviewer", metavar="NAME", help="Who approves; your git name if not given.")
def accept(place: Invocation, names: tuple[str, ...], everything: bool, reviewer: str | None, **given: Any) -> int:
    """Approve candidates, memories edited by hand, or stale ones.

    A memory that contradicts an accepted one needs --supersede or --keep-both.
    """
    wish: dict[str, Any] = {name: given.pop(name) or None for name in ("applies_to", "expires")}
    wish |= {name: given.pop(name) for name in ("supersede", "keep_both")}
    with place.project() as project:
        items = _meant(project, names, everything, given)
        if items is not None:
            if any(wish.values()):
                raise BadInput(
                    "--supersede, --keep-both, --applies-to and --expires are for one memory", hint="Name its id."
                )
            code = _show_many(project.memory.accept_all(items, reviewer=reviewer))
            refresh_tools(project)
            return code
        accepted = False
        try:
            for name in names:
                done = project.memory.accept(name, **wish, reviewer=reviewer)
                show(done, memories.accepted_text, standing_object)
                accepted = True
        finally:
            refresh_tools(project, accepted)  # those before the one that was refused are accepted
        return 0


def rejected_text(standing: decisions.MemoryStanding) -> str:
    return f"{strong(standing.id)}  rejected: {short(standing.memory.statement)}"


@command(review, "reject")
@_many
@click.option("--reason", metavar="TEXT", default="", help="Why you reject it.")
@_reviewer
def reject(
    place: Invocation, names: tuple[str, ...], everything: bool, reason: str, reviewer: str | None, **chosen: Any
) -> int:
    """Reject candidates; the same claim is not proposed again, even reworded."""
    with place.project() as project:
        items = _meant(project, names, everything, chosen)
        if items is not None:
            return _show_many(project.memory.reject_all(items, reason=reason, reviewer=reviewer))
        for name in names:
            show(project.memory.reject(name, reason=reason, reviewer=reviewer), rejected_text, standing_object)
        return 0


@answer(review, "merge", lambda known: f"{strong(known.id)}  has its evidence too", standing_object)
@click.argument("name", metavar="ID")
@click.argument("into", metavar="INTO")
@_reviewer
def merge(project: Project, name: str, into: str, reviewer: str | None) -> object:
    """Merge a candidate into a memory that says the same: it gets the evidence."""
    return project.memory.join(name, into, reviewer=reviewer)


@command(review, "undo")
@click.option("--last", type=click.IntRange(1, 100), default=1, metavar="N", help="How many decisions to undo.")
def undo(place: Invocation, last: int) -> None:
    """Undo the last decision, unless it was published."""
    with place.project() as project:
        for _ in range(last):
            show(project.memory.undo(), lambda step: f"{strong(step.id)}  undone: the last {step.action}")
        refresh_tools(project)


@command(review, "retire")
@click.argument("name", metavar="ID")
@click.option("--reason", metavar="TEXT", default="", help="Why it no longer holds.")
@_reviewer
def retire(place: Invocation, name: str, reason: str, reviewer: str | None) -> None:
    """Mark an accepted memory as no longer valid; its file stays.

    If an agent runs this, it becomes a suggestion that waits for review.
    """
    memories.retire_memory(place, name, reason=reason, reviewer=reviewer)


root.add_command(retire, "deprecate")  # its older name


# The command for memory's health: curate.

_LISTED = 20  # findings of a topic that are listed one by one


def health_text(health: MemoryHealth) -> str:
    from holdfast.curation.memory_health import TOPICS

    if not health.findings:
        return f"{count(health.memories, 'memory')}, no problems found."
    waits = [finding for finding in health.findings if finding.candidate]
    said = [f"{count(health.memories, 'memory')}, {count(len(health.findings), 'finding')}."]
    for topic, found in ((topic, health.of(topic)) for topic in TOPICS if health.of(topic)):
        said += ["", f"{topic.capitalize()} ({len(found)}):", *map(_finding, found[:_LISTED])]
        said += [f"  … and {len(found) - _LISTED} more"] if len(found) > _LISTED else []
    return lines(said, ["", f"{count(len(waits), 'suggestion', 'wait')} for you: holdfast review"] if waits else [])


def _finding(finding: CuratorFinding) -> str:
    names = " and ".join(strong(name) for name in finding.ids)
    what = {"merge": "merging", "deprecate": "deprecating"}
    action = what[finding.suggestion.suggests.partition(":")[0]] if finding.suggestion else ""
    waits = f" ({finding.candidate} suggests {action} it)" if finding.candidate else ""
    return f"  {names}  {finding.sentence}{waits}".replace("    ", "  ")


def health_object(health: MemoryHealth) -> dict[str, Any]:
    items = [
        {
            "id": finding.ids[0] if finding.ids else None,
            **picked(finding, "topic", "ids", "sentence", "candidate"),
            **{name: getattr(finding.suggestion, name, None) for name in ("suggests", "because")},
        }
        for finding in health.findings
    ]
    return {"memories": health.memories, "items": items}


@answer(root, "curate", health_text, health_object)
@click.option("--dry-run", is_flag=True, help="Only report; make no suggestions.")
def curate(project: Project, dry_run: bool) -> object:
    """Find stale, duplicate and contradicting memories.

    Also expired, never recalled, never used, orphaned, dangling and oversized ones. Suggestions wait in
    `holdfast review`; nothing else is changed.
    """
    return project.memory.curate(dry_run=dry_run)
