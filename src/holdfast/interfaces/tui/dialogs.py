"""Questions the review screen asks: a line of text, a yes, how both are meant, what to merge into.

What people type into fields that show text of others.

A small editor for what a memory says: statement, rationale and further paragraphs, tags, paths.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

from rich.console import Group
from rich.table import Table
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static, TextArea
from textual.widgets.option_list import Option

from holdfast.curation.memory_conflicts import MemoryConflict
from holdfast.interfaces.cli.output import shown as visible
from holdfast.interfaces.tui.item_page import Beside, safe
from holdfast.model.memory import Memory
from holdfast.patterns import PatternFile, regex

_MARK = regex(r"⟨U\+([0-9A-F]{4,6})⟩")


def split(text: str) -> tuple[str, ...]:
    """The words between commas, each once."""
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))


def restored(text: str, before: str) -> str:
    """What was typed, with the marks of hidden characters that were there before as these characters.

    Somebody who corrects a word must not change the rest of it; who wants a hidden character gone
    deletes its mark.
    """
    hidden = {f"{ord(sign):04X}": sign for sign in before}
    return _MARK.sub(lambda mark: hidden.get(mark[1], mark[0]), text)


T = TypeVar("T")
MAX_BESIDE = 4  # contradictions that a question shows
MAX_NAMED = 2  # of these in a sentence
SMALL = (60, 20)  # columns and rows; in less, choices are said in a word
AROUND = 4  # rows of a question that are neither its texts nor its choices: border, and two to say it

_TEXTS = PatternFile(__file__)
MARKS = "+ proposed   ? suggested   * edited by hand   ! stale   x expired   ≠ contradicts   < came by git"


def keys(table: str, *, priority: bool = False) -> list[BindingType]:
    """The bindings that a table of `key=action` words means."""
    rows = (word.partition("=") for word in table.split())
    return [Binding(key, action, priority=priority) for key, _, action in rows]


class KeyLine(Static):
    """The keys in one line; a click on one does what the key does."""

    KEYS: ClassVar[dict[str, str]] = {
        "a approve": "approve", "r reject": "reject", "e edit": "edit", "m merge": "merge", "s skip": "skip",
        "u undo": "undo", "A all": "approve_all", "/ search": "filter", "? help": "help", "q quit": "leave",
        "x mark": "mark", "R reject all": "reject_all",
    }  # fmt: skip
    MORE: ClassVar[tuple[str, ...]] = ("x mark", "R reject all")  # where there is room
    LEAVING: ClassVar[tuple[str, ...]] = ("? help", "q quit")  # what nobody may miss

    def on_resize(self) -> None:
        """All of them; where the line is too short, how to get help and how to leave come first."""
        usual = [one for one in self.KEYS if one not in (*self.LEAVING, *self.MORE)]
        first = [*self.LEAVING, *usual]
        fitting = (
            *([*usual, *self.MORE, *self.LEAVING], [*usual, *self.LEAVING]),
            *(first[:number] for number in range(len(first), 0, -1)),
        )
        lines = (" ".join(named) for named in fitting)
        shown = next((line for line in lines if len(line) <= self.content_size.width), self.LEAVING[0])
        said = Text(shown, no_wrap=True)
        said.highlight_regex(r"(?<!\S)\S(?!\S)", "bold")
        self.update(said)

    async def on_click(self, event: events.Click) -> None:
        shown = str(self.render())
        at = event.get_content_offset(self)
        for named, action in self.KEYS.items():
            begins = f" {shown} ".find(f" {named} ")
            if at is not None and 0 <= begins <= at.x < begins + len(named):
                await self.run_action(f"screen.{action}")


class Dialog(ModalScreen[T | None]):
    """A question; Escape answers nothing."""

    BINDINGS: ClassVar[list[BindingType]] = keys("escape=close pagedown=read(1) pageup=read(-1)")
    READ: ClassVar[type[Widget]] = Vertical  # what scrolls where a small terminal cannot show all

    def action_close(self) -> None:
        self.dismiss(None)

    def action_read(self, by: int) -> None:
        self.query(self.READ).first().scroll_relative(y=by * 5, animate=False)


class LineDialog(Dialog[str]):
    """One line of text, which may be empty."""

    def __init__(self, question: str, hint: str, *, value: str = "") -> None:
        super().__init__()
        self._question, self._hint, self._value = question, hint, value

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(safe(self._question, "bold"))
            yield Input(visible(self._value), id="line")
            yield Static(safe(self._hint, "dim"))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(restored(event.value.strip(), self._value))


class YesDialog(Dialog[bool]):
    """Yes or no, by one key."""

    BINDINGS: ClassVar[list[BindingType]] = keys("y,enter=dismiss(True) n=close")

    def __init__(self, question: str, hint: str) -> None:
        super().__init__()
        self._question, self._hint = question, hint

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(safe(self._question, "bold"))
            yield Static(safe(self._hint))
            yield Static(Text("y yes   n no", style="dim"))


class ConflictDialog(Dialog[str]):
    """How a contradiction is meant: "supersede", "both" or "reject"."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *keys("s=take('supersede') b=take('both') r=take('reject') c=close"),
        *keys("pagedown=read(1) pageup=read(-1)", priority=True),  # not the choices, which fit
    ]
    READ = VerticalScroll

    def __init__(self, conflicts: Sequence[MemoryConflict], *, no: str = "reject") -> None:
        super().__init__()
        self._conflicts, self._no = conflicts, no

    def compose(self) -> ComposeResult:
        one, others = self._sides()
        with Vertical():
            yield Static(safe(f"{one} contradicts {others}", "bold"), id="question")
            with VerticalScroll(can_focus=False):
                shown = self._conflicts[:MAX_BESIDE]
                parts = [part for found in shown for part in (safe(found.verdict.why), Beside(found))]
                yield Static(Group(*parts))
            yield OptionList(*self._options())

    def _sides(self) -> tuple[str, str]:
        """What contradicts, and what it contradicts, by as many names as fit into a line."""
        ids = [found.other.id for found in self._conflicts]
        more = f" and {len(ids) - MAX_NAMED} more" if len(ids) > MAX_NAMED else ""
        return self._conflicts[0].one.id, ", ".join(ids[:MAX_NAMED]) + more

    def _options(self, *, small: bool = False) -> list[Option]:
        one, others = self._sides()
        return [
            Option(safe("s  supersede" + ("" if small else f": {one} replaces {others}")), "supersede"),
            Option(
                safe("b  keep both" + ("" if small else ": both are valid; you say where this one applies")), "both"
            ),
            Option(safe(f"r  {self._no}" + ("" if small else f" {one}")), "reject"),
            Option(safe("c  cancel")),
        ]

    def on_resize(self, event: events.Resize) -> None:
        """The choices are always in sight; the texts have what is left, and scroll."""
        small = event.size.width < SMALL[0] or event.size.height < SMALL[1]
        self.set_class(small, "small")
        choices = self.query_one(OptionList)
        at = choices.highlighted
        choices.clear_options()
        choices.add_options(self._options(small=small))
        choices.highlighted = at
        rest = event.size.height - AROUND - len(self._options()) - (0 if small else 2)
        self.query_one(VerticalScroll).styles.max_height = max(1, rest)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.action_take(event.option.id)

    def action_take(self, how: str | None) -> None:
        self.dismiss(how)


class MergeDialog(Dialog[str]):
    """Which memory a candidate is merged into: one that says the same, or any by its id."""

    def __init__(self, identity: str, same: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._identity, self._same = identity, same

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(safe(f"Merge {self._identity} into which memory? Its evidence goes there", "bold"))
            if self._same:
                yield OptionList(*(Option(safe(f"{name}  {text}"), id=name) for name, text in self._same))
            yield Input(placeholder="or type an id", id="line")
            yield Static(Text("Enter merges   Tab to the other field   Escape cancels", style="dim"))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip() or None)


class HelpDialog(Dialog[None]):
    """The keys."""

    BINDINGS: ClassVar[list[BindingType]] = keys("q,question_mark,enter,space=close")

    def compose(self) -> ComposeResult:
        table = Table.grid(padding=(0, 2))
        for key, meaning in (row.split(" | ") for row in _TEXTS.lines("keys")):
            table.add_row(Text(key, style="bold"), Text(meaning))
        with Vertical():
            yield Static(table)
            yield Static(Text(f"\n{MARKS}", style="dim"))


class MemoryEditor(Dialog[dict[str, Any]]):
    """Gives the fields that were changed; none if nothing was."""

    BINDINGS: ClassVar[list[BindingType]] = keys("ctrl+s=save", priority=True)

    def __init__(self, memory: Memory) -> None:
        super().__init__()
        self._memory = memory

    def compose(self) -> ComposeResult:
        memory = self._memory
        with Vertical():
            yield Static(safe(f"{memory.id}  {memory.type}", "bold"))
            yield Static(Text("Statement", style="dim"))
            yield TextArea(visible(memory.statement), id="statement", tab_behavior="focus")
            yield Static(Text("Rationale and the like, as paragraphs", style="dim"))
            yield TextArea(visible(memory.details), id="details", tab_behavior="focus")
            yield Static(Text("Tags, applies_to (paths); separated by commas", style="dim"))
            yield Input(visible(", ".join(memory.tags)), placeholder="tags", id="tags")
            yield Input(visible(", ".join(memory.applies_to)), placeholder="applies_to", id="applies_to")
            yield Static(Text("Ctrl+S saves   Tab next field   Escape cancels", style="dim"))

    def on_mount(self) -> None:
        for area in self.query(TextArea):
            area.move_cursor(area.document.end)

    def action_save(self) -> None:
        memory = self._memory
        found: dict[str, Any] = {
            name: restored(self.query_one(f"#{name}", TextArea).text, getattr(memory, name)).strip()
            for name in ("statement", "details")
        }
        for name in ("tags", "applies_to"):
            before = ", ".join(getattr(memory, name))
            found[name] = split(restored(self.query_one(f"#{name}", Input).value, before))
        self.dismiss({name: value for name, value in found.items() if value != getattr(memory, name)})
