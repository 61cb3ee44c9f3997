"""What the review screen and the review page share: the filter line, and the words for why an item waits.

The filter line: `retry tag:http type:decision reason:stale` shows what fits all of it.
"""

from collections.abc import Iterable, Iterator

from holdfast.curation import review_queue
from holdfast.curation.review_queue import QueueItem
from holdfast.index.hit_text import EDITED, UNCHECKED
from holdfast.model.memory import Memory, iso
from holdfast.model.text import visible
from holdfast.patterns import regex
from holdfast.values import field, frozen

ALL = "all"  # the filter that shows what is less likely, too
CANDIDATES = ("proposed", "suggested")  # what is rejected and not retired
SINGLE = ("contradicts", "elsewhere")  # what is looked at one by one
KEYS = {"tag": "tags", "type": "kinds", "reason": "reasons", "from": "source"}
_WORD = regex(r"\w+")


@frozen
class Filter:
    """What somebody typed, taken apart."""

    words: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    text: str = field(default="", compare=False)

    def __call__(self, items: Iterable[QueueItem]) -> list[QueueItem]:
        """The items that fit, in their order."""
        fitting = review_queue.chosen(items, tags=self.tags, kinds=self.kinds, reasons=self.reasons)
        for source in self.source:
            fitting = review_queue.chosen(fitting, source=source)
        return [item for item in fitting if all(word in _searched(item) for word in self.words)]


def parse(text: str) -> Filter:
    """The filter that a line means; a word with a colon that we do not know is a word."""
    found: dict[str, list[str]] = {"words": []}
    for word in text.split():
        key, colon, value = word.partition(":")
        if word.lower() == ALL:
            continue
        if colon and value and key.lower() in KEYS:
            found.setdefault(KEYS[key.lower()], []).append(value)
        else:
            found["words"].append(word.casefold())
    return Filter(**{name: tuple(values) for name, values in found.items()}, text=" ".join(text.split()))


def _searched(item: QueueItem) -> str:
    memory = item.standing.memory
    about = (memory.id, memory.type, memory.statement, memory.details, *memory.tags, *memory.applies_to)
    return " ".join(about).casefold()


def why_waiting(item: QueueItem) -> str:
    """Why an item waits, in a few words."""
    memory = item.standing.memory
    when = f" {item.proposed[:10]}" if item.proposed else ""
    when += f" on branch {visible(item.branch)}" if item.branch else ""
    over = f" on {iso(memory.expires_at)[:10]}" if memory.expires_at else ""
    reason = item.standing.status if item.standing.status in (EDITED, UNCHECKED) else item.reason
    reason = "elsewhere" if reason == item.reason and item.standing.trust == "T4" else reason
    return {
        EDITED: "edited since a person approved it; the diff shows what changed",
        UNCHECKED: "its approval cannot be checked here; the notes say why",
        "proposed": f"proposed{when}",
        "suggested": f"suggested{when}",
        "edited": "written or edited by hand, not approved yet",
        "stale": "accepted earlier; its evidence changed since",
        "expired": f"accepted earlier; it expired{over}",
        "elsewhere": "came by git, not approved here",
        "contradicts": "accepted, and contradicts another accepted memory",
    }[reason]


def differing(text: str, start: int, other: Memory) -> Iterator[tuple[int, int]]:
    """Where words of a statement stand that another memory's statement does not hold."""
    known = {word.casefold() for word in _WORD.findall(other.statement)}
    for word in _WORD.finditer(text, start):
        if word[0].casefold() not in known:
            yield word.span()
