"""Plans as tools tell them: a list of items, each with a text and how far it is."""

from holdfast.capture.agents.reading import dict_of, list_of
from holdfast.capture.agents.stripping import name, spoken, words
from holdfast.model.transcript import Todo, cut

MAX_TASKS = 500
_TEXT = 1000
STATUS = {
    "pending": "open",
    "in_progress": "started",
    "completed": "done",
    "deleted": "dropped",
    "cancelled": "dropped",
}


def todos(items: object, *keys: str) -> tuple[Todo, ...]:
    """A list as a tool tells it; the first of the keys that an item has is its text."""
    found = []
    for known in map(dict_of, list_of(items)[:MAX_TASKS]):
        said = next((text for key in keys if (text := item(known.get(key)))), "")
        if said:
            found.append(Todo(said, STATUS.get(name(known.get("status")), "open")))
    return tuple(found)


def item(value: object) -> str:
    """An item's text."""
    return cut(spoken(words(value)).strip(), _TEXT)
