"""Asks every question of a set, and tells how much of the answers was found, and how fast."""

import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from bench.recall.engines import Engine
from bench.recall.sets import Collection, Measure, Question, QuestionSet, grouped, recall

Making = Callable[[], Engine]
DEEP = 100  # hits whose groups are told, by an engine that knows only rows


@dataclass(slots=True)
class Tally:
    """What one engine found of one set."""

    shares: dict[tuple[str, int], list[float]] = field(default_factory=dict)
    times: list[float] = field(default_factory=list)  # CPU seconds a question

    def add(self, measure: Measure, found: list[str], answers: frozenset[str]) -> None:
        for at in measure.at:
            self.shares.setdefault((measure.what, at), []).append(recall(found, answers, at))

    def percent(self, what: str, at: int) -> float:
        return 100 * statistics.fmean(self.shares.get((what, at), [0.0]))

    @property
    def milliseconds(self) -> float:
        return 1000 * statistics.median(self.times or [0.0])


def measured(questions: QuestionSet, making: Making, *, most: int | None = None) -> Tally:
    """What an engine finds of a set; of very long ones the first `most` questions of each collection."""
    tally = Tally()
    for collection in questions.collections:
        engine = making()
        for question in in_turn(collection, engine, most):
            for measure in questions.measures:
                if measure.counts(question):
                    _ask(tally, measure, engine, question, collection)
    return tally


def _ask(tally: Tally, measure: Measure, engine: Engine, question: Question, collection: Collection) -> None:
    if measure.by_group and engine.parts:
        found = grouped(engine.ask(question, DEEP, engine.parts), collection)
        tally.add(measure, found, question.groups(collection))
        return
    began = time.process_time()
    found = engine.ask(question, measure.limit, measure.kind)
    if not measure.by_group:
        tally.times.append(time.process_time() - began)
    tally.add(measure, found, question.groups(collection) if measure.by_group else question.answers)


def in_turn(collection: Collection, engine: Engine, most: int | None = None) -> Iterator[Question]:
    """The questions in the order they can be asked, with all before them put in and nothing else."""
    held, whole = 0, len(collection.documents)
    for question in sorted(collection.questions[:most], key=lambda one: one.after or whole):
        until = whole if question.after is None else question.after
        if until > held:
            engine.add(collection.documents[held:until])
            held = until
        yield question


def table(questions: QuestionSet, tallies: Sequence[tuple[str, Tally]]) -> str:
    """The figures of a set as a table: a line for each engine."""
    heads = [f"{measure.what} R@{' / '.join(str(at) for at in measure.at)}" for measure in questions.measures]
    wide = max(len(name) for name, _ in tallies)
    lines = [f"{questions.name}: {questions.size}", f"  {'':{wide}}  {'  '.join(heads)}  ms a question"]
    for name, tally in tallies:
        cells = []
        for measure, head in zip(questions.measures, heads, strict=True):
            shares = " / ".join(f"{tally.percent(measure.what, at):.1f}" for at in measure.at)
            cells.append(f"{shares:>{len(head)}}")
        lines.append(f"  {name:{wide}}  {'  '.join(cells)}  {tally.milliseconds:13.2f}")
    return "\n".join(lines)


def fresh(folder: str) -> Callable[[], str]:
    """Names of files that are not there yet."""
    made = iter(range(1_000_000))
    return lambda: os.path.join(folder, f"{next(made)}", "index.db")
