"""The filter line: `retry tag:http type:decision reason:stale` shows what fits all of it."""

from collections.abc import Iterable, Sequence

from holdfast.curation import queue
from holdfast.curation.queue import Item
from holdfast.values import field, frozen

KEYS = {"tag": "tags", "type": "kinds", "reason": "reasons", "from": "source"}


@frozen
class Filter:
    """What somebody typed, taken apart."""

    words: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    text: str = field(default="", compare=False)

    def __call__(self, items: Iterable[Item]) -> list[Item]:
        """The items that fit, in their order."""
        fitting = queue.chosen(items, tags=self.tags, kinds=self.kinds, reasons=self.reasons)
        for source in self.source:
            fitting = queue.chosen(fitting, source=source)
        return [item for item in fitting if _says(item, self.words)] if self.words else fitting


def parse(text: str) -> Filter:
    """The filter that a line means; a word with a colon that we do not know is a word."""
    found: dict[str, list[str]] = {"words": []}
    for word in text.split():
        key, colon, value = word.partition(":")
        if colon and value and key.lower() in KEYS:
            found.setdefault(KEYS[key.lower()], []).append(value)
        else:
            found["words"].append(word.casefold())
    return Filter(**{name: tuple(values) for name, values in found.items()}, text=" ".join(text.split()))


def _says(item: Item, words: Sequence[str]) -> bool:
    said = _searched(item)
    return all(word in said for word in words)


def _searched(item: Item) -> str:
    memory = item.standing.memory
    about = (memory.id, memory.type, memory.statement, memory.details, *memory.tags, *memory.applies_to)
    return " ".join(about).casefold()
