"""One item as a reviewer reads it: its text, what it rests on, what contradicts it, where it was said.

Only values come in and only text goes out. Every text of others passes `safe`: what hides is shown, and
nothing in it is taken for markup.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from holdfast.curation.memory_conflicts import MemoryConflict
from holdfast.curation.review_queue import QueueItem, ReviewLook
from holdfast.interfaces.cli.output import shown as visible
from holdfast.interfaces.review_filter import differing, why_waiting
from holdfast.model.evidence import Provenance, receipt_name
from holdfast.model.memory import Candidate, Memory, iso
from holdfast.model.text import has_hidden
from holdfast.patterns import regex
from holdfast.recall.passage import CitedLines, Passage
from holdfast.store.memory_files import LABELS
from holdfast.values import field, frozen

MAX_SHOWN = 8_000  # characters of a memory; beyond that it says where the rest is
MAX_BESIDE = 1_500  # of each side of a contradiction
MAX_DIFF = 120  # lines
MAX_CONFLICTS = 8  # a guess: more is not read
STACKED = 56  # columns; below that the two sides of a contradiction stand one above the other
STATES = {"holds": "green", "changed": "yellow", "gone": "red", "unanchored": "yellow"}
_SHOWN = {"holds": "unchanged"}  # it says that the code is as it was, not that the memory is true
_MARK = regex(r"⟨U\+[0-9A-F]{4,6}⟩")

Said = Sequence[tuple[Provenance, Passage]]


@frozen
class ReviewItem:
    """What a close look at an item found."""

    look: ReviewLook
    said: Said = ()
    cited: Mapping[str, CitedLines] = field(default_factory=dict)  # by receipt


def safe(text: str, style: str = "") -> Text:
    """Text of others, as it is: what hides stands out, tabs have their width."""
    shown = Text(visible(text), style=style, tab_size=4)
    shown.highlight_regex(_MARK, "bold red")
    shown.expand_tabs()
    return shown


def one_line(text: str, *, most: int = 400) -> str:
    """The beginning of a text on one line."""
    return " ".join(visible(text[:most]).split())


def page(item: QueueItem, seen: ReviewItem | None) -> Group:
    """Everything about an item; what is still being looked up is said to be so."""
    parts: list[RenderableType] = [*_heading(item), *_body(item.standing.memory)]
    if seen is None:
        parts += [Text("Looking for what contradicts it…", style="dim italic"), Text()]
    else:
        parts += [*_conflicts(seen.look.conflicts), *_conflicts((*seen.look.hints, *seen.look.rivals))]
        if same := ", ".join(map(visible, seen.look.same)):
            parts += [Text.assemble(("Looks like ", "cyan"), (same, "bold cyan"), ("  (m merges)\n", "dim"))]
        parts += [*_diff(seen.look.diff)]
    parts += _fields(item, seen.cited if seen else {})
    if item.provenance:
        parts += _provenance(item.provenance, seen.said if seen else None)
    return Group(*parts)


# The memory itself.


def _heading(item: QueueItem) -> Iterator[RenderableType]:
    memory = item.standing.memory
    yield Text.assemble((visible(memory.id), "bold"), "  ", memory.type, "  ", (why_waiting(item), "dim"))
    if isinstance(memory, Candidate) and memory.suggests:
        action, _, target = memory.suggests.partition(":")
        yield Text.assemble(("Approve it to ", "bold"), (f"{action} {visible(target)}", "bold yellow"))
    if isinstance(memory, Candidate) and memory.because:
        yield safe(f"Because: {memory.because}")
    if any(map(has_hidden, (memory.statement, memory.details, *memory.tags, *memory.applies_to))):
        yield Text("It contains invisible characters; they are shown by their numbers.", style="bold red")
    yield Text()


def _body(memory: Memory) -> Iterator[RenderableType]:
    for text in _labelled(memory, MAX_SHOWN):
        label, colon, rest = text.partition(":")
        if colon and len(label) <= 20 and "\n" not in label:
            yield Text.assemble(safe(label + colon, "bold"), safe(rest))
        else:
            yield safe(text)
        yield Text()


def _labelled(memory: Memory, most: int) -> list[str]:
    """The paragraphs of an entry's body, cut where they are endless."""
    text = f"{LABELS.get(memory.type, memory.type)}: {memory.statement}\n\n{memory.details}".strip()
    if len(text) > most:
        text = f"{text[:most]}…\n\n({len(text) - most:,} more characters: holdfast show {memory.id})"
    return re.split(r"\n[^\S\n]*\n\s*", text)


def _fields(item: QueueItem, cited: Mapping[str, CitedLines]) -> Iterator[RenderableType]:
    """The frontmatter in the form that files have; evidence with its state, and the lines it names."""
    memory = item.standing.memory
    for name, value in _plain_fields(memory):
        yield Text.assemble((f"{name}: ", "dim"), safe(value))
    if not memory.evidence:
        yield Text.assemble(("evidence: ", "dim"), ("none", "yellow"))
    states = dict(item.standing.receipts)
    for number, receipt in enumerate(memory.evidence):
        state = states.get(receipt, "")
        label = "evidence: " if number == 0 else "          "
        # As wide as the longest of these words, and a blank.
        shown = (f"{_SHOWN.get(state, state):<11}" if state else "", STATES.get(state, ""))
        yield Text.assemble((label, "dim"), shown, safe(receipt_name(receipt)))
        if receipt in cited:
            yield from _lines(cited[receipt])
    for note in item.standing.notes:
        if not note.startswith(memory.evidence):  # that stands above already
            yield safe(f"note: {note}", "yellow")


def _lines(found: CitedLines) -> Iterator[RenderableType]:
    wide = len(str(found.number + len(found.lines)))
    for number, line in enumerate(found.lines, start=found.number):
        yield Text.assemble((f"  {number:>{wide}} ", "dim"), safe(line, "dim"))
    if found.more:
        yield Text(f"  {'':>{wide}} … {found.more} more", style="dim")


def _plain_fields(memory: Memory) -> Iterator[tuple[str, str]]:
    lists = ("tags", "applies_to", "supersedes", "compatible_with")
    yield from ((name, ", ".join(getattr(memory, name))) for name in lists if getattr(memory, name))
    if memory.confidence is not None:
        yield "confidence", f"{memory.confidence:.2g}"
    yield from ((name, getattr(memory, name)) for name in ("source", "layer") if getattr(memory, name))
    if memory.expires_at:
        yield "expires_at", iso(memory.expires_at)


# What stands beside it.


def _conflicts(found: Sequence[MemoryConflict]) -> Iterator[RenderableType]:
    for conflict in found[:MAX_CONFLICTS]:
        verb, colour = ("Contradicts", "red") if conflict.verdict.certain else ("May contradict", "yellow")
        yield _title(f"{verb} {conflict.other.id}", colour)
        yield safe(conflict.verdict.why, "bold")
        yield Beside(conflict)
    if len(found) > MAX_CONFLICTS:
        yield Text(f"and {len(found) - MAX_CONFLICTS} more\n", style="red")


@frozen
class Beside:
    """The two texts of a contradiction side by side; where that is too narrow, one above the other."""

    conflict: MemoryConflict

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """What Rich draws."""
        one, other = self.conflict.one, self.conflict.other
        heads = [Text(visible(one.id), "bold"), Text.assemble((visible(other.id), "bold"), f"  {self.conflict.status}")]
        sides = [_side(one, other), _side(other, one)]
        if options.max_width < STACKED:
            yield Group(heads[0], sides[0], Text(), heads[1], sides[1], Text())
            return
        table = Table(box=box.ROUNDED, expand=True, border_style="dim", show_header=True, header_style="")
        for head in heads:
            table.add_column(head, ratio=1, overflow="fold")
        table.add_row(*sides)
        yield table


def _side(memory: Memory, other: Memory) -> Text:
    text = safe("\n\n".join(_labelled(memory, MAX_BESIDE)))
    start = text.plain.find(" ") + 1  # the label is no claim
    for span in differing(text.plain[: start + len(memory.statement)], start, other):
        text.stylize("bold yellow", *span)
    for name, value in _plain_fields(memory):
        if name in ("applies_to", "source", "supersedes"):
            text = Text("\n").join((text, Text.assemble((f"{name}: ", "dim"), safe(value))))
    return text


def _diff(lines: Sequence[str]) -> Iterator[RenderableType]:
    if not lines:
        return
    yield _title("What made it stale", "yellow")
    for line in lines[:MAX_DIFF]:
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
        yield safe(line.rstrip("\n"), style)
    if len(lines) > MAX_DIFF:
        yield Text(f"({len(lines) - MAX_DIFF} more lines)", style="dim")
    yield Text()


# Where it was said.


def _provenance(named: Sequence[Provenance], said: Said | None) -> Iterator[RenderableType]:
    yield Text()
    yield _title("Where it was said", "cyan")
    if said is None:
        for source, words in dict.fromkeys((one.source, one.words) for one in named):
            yield safe(source, "dim")
            yield safe(f"  {words}")
        return
    shown = set()
    for one, found in said:  # several words of one place, or one that was noted twice, are shown once
        place = (found.title, found.number, found.lines or one.words)
        if place not in shown:
            shown.add(place)
            yield from _passage(one, found)


def _passage(one: Provenance, found: Passage) -> Iterator[RenderableType]:
    yield safe(found.title, "bold")
    if found.missing:
        yield Text(f"  {found.missing}", style="yellow")
        if one.words:
            yield safe(f"  “{one.words}”")
    wide = len(str(found.number + len(found.lines)))
    for index, line in enumerate(found.lines):
        marked = found.first <= index <= found.last
        gutter = Text(f"{'▌' if marked else ' '}{found.number + index:>{wide}} ", style="dim")
        begin, end = found.marks[index - found.first] if marked else (0, 0)
        pieces = (safe(line[:begin]), safe(line[begin:end], "reverse"), safe(line[end:]))
        yield Text.assemble(gutter, *pieces)


def _title(text: str, colour: str) -> Rule:
    return Rule(Text(visible(text), style=f"bold {colour}"), align="left", style="dim", characters="─")
