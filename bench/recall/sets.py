"""What a question set is, whatever its format: documents that are found, questions, and their answers."""

from collections.abc import Callable
from dataclasses import dataclass, field

from bench.recall.loading import LoadedDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, and the names of the documents that answer it."""

    text: str
    answers: frozenset[str]
    files: tuple[str, ...] = ()  # open around whoever asks
    after: int | None = None  # asked when so many documents were there; None: when all were
    kind: str = ""  # as the set calls it
    fold: int = 0  # questions of one fold are held out together

    def groups(self, collection: "Collection") -> frozenset[str]:
        """The groups in which the answers stand, as far as they stand in one."""
        found = (collection.group_of.get(name) for name in self.answers)
        return frozenset(group for group in found if group)


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents that lie in one index, in the order they came, and the questions about them."""

    documents: list[LoadedDocument]
    questions: list[Question]
    group_of: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.group_of.update((one.name, one.group) for one in self.documents if one.group)


@dataclass(frozen=True, slots=True)
class Measure:
    """Of which hits the share of answers is told: the first `at` rows, or the first groups of rows."""

    what: str
    at: tuple[int, ...]
    kind: str | None = None  # what is asked for: the kind of the rows, or that of the groups' own
    by_group: bool = False
    counts: Callable[[Question], bool] = lambda _: True

    @property
    def limit(self) -> int:
        """How many hits are asked for."""
        return max(self.at)


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """One set of questions: its collections are asked one by one, each in an index of its own."""

    name: str
    collections: list[Collection]
    measures: tuple[Measure, ...]

    @property
    def size(self) -> str:
        documents = sum(len(one.documents) for one in self.collections)
        questions = sum(len(one.questions) for one in self.collections)
        return f"{questions:,} questions, {documents:,} documents"


def recall(found: list[str], answers: frozenset[str], at: int) -> float:
    """The share of the answers among the first hits."""
    return len(answers & set(found[:at])) / len(answers)


def grouped(found: list[str], collection: Collection) -> list[str]:
    """The groups of hits, each where its first hit stands."""
    return list(dict.fromkeys(collection.group_of[name] for name in found if name in collection.group_of))
