"""Multi-hop questions over a git history, with the graph and without it, in one run.

    python -m bench.recall.multihop [--stories 300] [--seed 7] [--commits corpus.jsonl]

Two sets: a made-up project (`bench.recall.history`), and chains in real commits (a commit that mends one that
mends another: the question is the newest one's subject, the answer the oldest). Plain FTS5 stands beside.
"""

import argparse
import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from bench.recall.history import Question, history
from bench.recall.loading import LoadedDocument, load_documents
from holdfast.index.query import Scope, SearchQuery, read_query
from holdfast.index.ranking import search
from holdfast.index.second_hop import follow
from holdfast.index.sqlite import Index
from holdfast.recall import graph_search

KS = (1, 5, 10)
HASH = re.compile(r"\b[0-9a-f]{9,40}\b")
Ask = Callable[[Sequence[Connection], str], list[str]]
Step = Callable[[Sequence[Connection], SearchQuery, Sequence[tuple[int, float]]], dict[int, float]]


@dataclass(frozen=True, slots=True)
class Score:
    """How often an answer was among the first so many, by sort of question, and what one took."""

    recall: dict[str, tuple[float, ...]]
    milliseconds: float


def plain(sources: Sequence[Connection], question: str) -> list[str]:
    """SQLite's FTS5 alone: any word of the question, by BM25."""
    match = " OR ".join(read_query(question).terms)
    found = [
        (score, name)
        for db in sources
        for score, name in db.execute(
            "SELECT score, (SELECT name FROM row WHERE id = found.rowid) FROM (SELECT rowid, "
            "bm25(words) AS score FROM words WHERE words MATCH ? ORDER BY score LIMIT 20) AS found",
            (match,),
        )
    ]
    return [name for _, name in sorted(found)]


def asking(step: Step) -> Ask:
    """Our search, with this step from what it found to what that leads to."""

    def ask(sources: Sequence[Connection], question: str) -> list[str]:
        return [hit[0] for hit in search(sources, question, scope=Scope(), limit=20, step=step)]

    return ask


WAYS: dict[str, Ask] = {
    "plain FTS5": plain,
    "no step": asking(lambda *_: {}),
    "links": asking(follow),
    "hipporag": asking(graph_search.walk_links),
}


def measure(sources: Sequence[Connection], questions: Sequence[Question], ask: Ask) -> Score:
    """Recall at each k by sort of question, and CPU time."""
    found: dict[str, list[tuple[float, ...]]] = {}
    began = time.process_time()
    for question in questions:
        names = ask(sources, question.text)
        shares = tuple(len(question.gold & set(names[:k])) / len(question.gold) for k in KS)
        found.setdefault(question.sort, []).append(shares)
    spent = (time.process_time() - began) * 1000 / max(1, len(questions))
    recall = {
        sort: tuple(100 * sum(column) / len(rows) for column in zip(*rows, strict=True)) for sort, rows in found.items()
    }
    return Score(recall, spent)


def chains(path: str) -> tuple[list[LoadedDocument], list[tuple[int, Question]]]:
    """The commits of a file, oldest first, and for each chain where it ends and what is asked there."""
    with open(path, encoding="utf-8") as lines:
        commits = [json.loads(line) for line in lines]
    place = {commit["sha"][:9]: number for number, commit in enumerate(commits)}
    mends = [_mended(commit["msg"], place, number) for number, commit in enumerate(commits)]
    documents = [_document(commit, number) for number, commit in enumerate(commits)]
    asked = []
    for number, earlier in enumerate(mends):
        oldest = frozenset(commits[last]["sha"] for first in earlier for last in mends[first])
        if oldest:
            subject = HASH.sub("", commits[number]["msg"].partition("\n")[0])
            asked.append((number, Question(f"what did this go back to: {subject}", oldest, "commit → commit → commit")))
    return documents, asked


def _mended(message: str, place: dict[str, int], number: int) -> list[int]:
    found = (place.get(word[:9]) for word in HASH.findall(message))
    return [earlier for earlier in found if earlier is not None and earlier < number]


def _document(commit: dict[str, object], number: int) -> LoadedDocument:
    title, _, body = str(commit["msg"]).partition("\n")
    files = commit["files"] if isinstance(commit["files"], list) else []
    day = f"{2000 + number // 8928:04d}-{1 + number // 744 % 12:02d}-{1 + number // 24 % 28:02d}"
    return LoadedDocument(
        name=str(commit["sha"]),
        kind="commit",
        title=title,
        text=body.strip(),
        ts=f"{day}T{number % 24:02d}:00:00.{number:06d}Z",
        paths=tuple(files),
    )


def over_chains(path: str, ways: Sequence[str]) -> dict[str, Score]:
    """The chains, each asked when only what was before its end is there."""
    documents, asked = chains(path)
    found: dict[str, list[Score]] = {way: [] for way in ways}
    with tempfile.TemporaryDirectory() as folder:
        index = Index(os.path.join(folder, "commits.db"))
        at = 0
        for number, question in asked:
            load_documents(index.db, documents[at:number])
            at = number
            for way in ways:
                found[way].append(measure([index.db], [question], WAYS[way]))
        index.close()
    return {way: _mean(scores) for way, scores in found.items()}


def _mean(scores: Sequence[Score]) -> Score:
    rows: dict[str, list[tuple[float, ...]]] = {}
    for score in scores:
        for sort, recall in score.recall.items():
            rows.setdefault(sort, []).append(recall)
    recall = {sort: tuple(sum(column) / len(many) for column in zip(*many, strict=True)) for sort, many in rows.items()}
    return Score(recall, sum(score.milliseconds for score in scores) / max(1, len(scores)))


def over_history(stories: int, seed: int, ways: Sequence[str]) -> dict[str, Score]:
    """The made-up project."""
    made = history(stories, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        indexes = [Index(os.path.join(folder, name)) for name in ("index.db", "corpus.db")]
        for index, documents in zip(indexes, (made.recorded, made.committed), strict=True):
            load_documents(index.db, documents)
        sources = [index.db for index in indexes]
        scores = {way: measure(sources, made.questions, WAYS[way]) for way in ways}
        for index in indexes:
            index.close()
    return scores


def table(scores: dict[str, Score]) -> Iterator[str]:
    """A table in Markdown: a line for each sort of question, R@1 / R@5 / R@10 for each way."""
    yield f"| question | {' | '.join(scores)} |"
    yield f"|---|{'---|' * len(scores)}"
    for sort in next(iter(scores.values())).recall:
        cells = (" / ".join(f"{value:.1f}" for value in score.recall[sort]) for score in scores.values())
        yield f"| {sort} | {' | '.join(cells)} |"
    yield f"| CPU ms | {' | '.join(f'{score.milliseconds:.1f}' for score in scores.values())} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stories", type=int, default=300)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--commits", help="a file of commits, one JSON a line: sha, msg, files")
    given = parser.parse_args()
    print(f"A made-up project, {given.stories} stories, seed {given.seed}: R@1 / R@5 / R@10 in %\n")
    print("\n".join(table(over_history(given.stories, given.seed, tuple(WAYS)))))
    if given.commits:
        print("\nChains of commits, each asked before its end was there: R@1 / R@5 / R@10 in %\n")
        print("\n".join(table(over_chains(given.commits, tuple(WAYS)))))


if __name__ == "__main__":
    main()
