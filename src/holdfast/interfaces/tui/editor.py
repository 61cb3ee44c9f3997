"""A small editor for what a memory says: statement, rationale and further paragraphs, tags, paths."""

from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Static, TextArea

from holdfast.interfaces.cli.output import shown as visible
from holdfast.interfaces.tui.dialogs import Dialog
from holdfast.interfaces.tui.page import safe
from holdfast.interfaces.tui.typed import restored, split
from holdfast.model.memory import Memory


class Editor(Dialog[dict[str, Any]]):
    """Gives the fields that were changed; none if nothing was."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "save", "save", priority=True)]
    DEFAULT_CSS = """
    Editor > Vertical { height: 90%; }
    Editor TextArea, Editor TextArea:focus { border: none; padding: 0; background: $boost; }
    Editor #statement { height: 1fr; min-height: 2; }
    Editor #details { height: 2fr; min-height: 3; }
    """

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
            yield Static(Text("Tags, applies_to (paths); apart by commas", style="dim"))
            yield Input(visible(", ".join(memory.tags)), placeholder="tags", id="tags")
            yield Input(visible(", ".join(memory.applies_to)), placeholder="applies_to", id="applies_to")
            yield Static(Text("Ctrl+S saves   Tab next field   Escape leaves it as it was", style="dim"))

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
