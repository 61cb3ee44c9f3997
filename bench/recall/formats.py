"""Question sets in a folder, in the formats people have them in; none of them is part of this project.

- commits: `corpus.jsonl` (sha, date, msg, files; in order) beside `queries.jsonl` (q, gold, i: the query's
  own place, so that only what stands before it may be found, with that commit's files open);
- LoCoMo: a list of conversations (`conversation` with `session_1`…, `qa` with `evidence`);
- MuSiQue and the like: `<name>_corpus.json` (title, text) beside `<name>.json` (question, and either
  `paragraphs` with `is_supporting` or HotpotQA's `supporting_facts`);
- LongMemEval: a list of questions, each with its own `haystack_sessions`.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from bench.recall.loading import LoadedDocument
from bench.recall.sets import Collection, Measure, Question, QuestionSet
from holdfast.index.search_rows import MAX_TEXT

BLOCKS = 5  # folds where the data has none of its own
_ADVERSARIAL = "5"  # LoCoMo: about what was never said by whom it names
_SPOKEN = ("%I:%M %p on %d %B, %Y", "%Y/%m/%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d")
_SESSIONS = Measure("sessions", (5, 10), kind="run", by_group=True)
_WEEKDAY = re.compile(r"\s*\(\w+\)\s*")


def found_in(folder: str) -> Iterator[QuestionSet]:
    """Every question set in a folder and the folders below it, by path; what cannot be read ends it."""
    for here, folders, names in os.walk(folder):
        folders.sort()
        readers = [(os.path.join(here, name), _from_json) for name in sorted(names) if name.endswith(".json")]
        if {"corpus.jsonl", "queries.jsonl"} <= set(names):
            readers.insert(0, (here, commits))
        for path, read in readers:
            try:
                found = read(path)
            except (ValueError, KeyError, TypeError, IndexError) as error:
                raise SystemExit(f"{path} is no question set that can be read: {error!r}") from error
            if found is not None and any(part.questions for part in found.collections):
                yield found


def _from_json(path: str) -> QuestionSet | None:
    """The set whose questions a file holds, if it is one."""
    stem = path.removesuffix(".json")
    if stem.endswith("_corpus"):
        return None  # read with its questions
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    if not isinstance(data, list) or not data or not isinstance(data[0], dict):
        return None
    name, first = os.path.basename(stem), data[0]
    if "haystack_sessions" in first:
        return long_memory(name, data)
    if "conversation" in first and "qa" in first:
        return conversations(name, data)
    if "question" in first and os.path.exists(f"{stem}_corpus.json"):
        with open(f"{stem}_corpus.json", encoding="utf-8") as file:
            return passages(name, data, json.load(file))
    return None


def commits(folder: str) -> QuestionSet:
    """Commits, each asked for by a later one that fixes or follows it."""
    documents = [_commit(row) for row in _lines(os.path.join(folder, "corpus.jsonl"))]
    known = {one.name: place for place, one in enumerate(documents)}
    rows = list(_lines(os.path.join(folder, "queries.jsonl")))
    questions = []
    for place, row in enumerate(rows):
        answers = frozenset(sha for sha in row["gold"] if known.get(sha, row["i"]) < row["i"])
        fold = place * BLOCKS // len(rows)  # blocks of time
        if answers:
            files = documents[row["i"]].paths
            questions.append(Question(text=row["q"], answers=answers, files=files, after=row["i"], fold=fold))
    name = os.path.basename(os.path.abspath(folder))
    return QuestionSet(name, [Collection(documents, questions)], (Measure("commits", (1, 5, 10)),))


def _commit(row: dict[str, Any]) -> LoadedDocument:
    subject, _, body = row["msg"].partition("\n")
    return LoadedDocument(
        name=row["sha"], title=subject, text=body.strip(), kind="commit", ts=_moment(row["date"], 0),
        context=row.get("author", ""), paths=tuple(row["files"]),
    )  # fmt: skip


def conversations(name: str, data: list[dict[str, Any]]) -> QuestionSet:
    """Long conversations of two people, in sessions; questions with the turns that are their evidence."""
    found = [_conversation(place, one) for place, one in enumerate(data)]
    turns = Measure("turns", (5, 10), kind="turn", counts=lambda question: question.kind != _ADVERSARIAL)
    return QuestionSet(name, found, (turns, _SESSIONS))


def _conversation(fold: int, data: dict[str, Any]) -> Collection:
    documents: list[LoadedDocument] = []
    named: dict[str, str] = {}
    talk = data["conversation"]
    for key in sorted((key for key in talk if re.fullmatch(r"session_\d+", key)), key=lambda key: int(key[8:])):
        group, said = _opaque(f"{fold} {key}"), list[LoadedDocument]()
        for place, turn in enumerate(talk[key] or []):
            text = turn["text"] + (f" [{turn['blip_caption']}]" if turn.get("blip_caption") else "")
            named[turn["dia_id"]] = _opaque(f"{fold} {turn['dia_id']}")
            ts = _moment(talk.get(f"{key}_date_time", ""), place)
            said.append(_turn(named[turn["dia_id"]], turn["speaker"], text, ts=ts, group=group, seq=place + 1))
        documents += _with_own(group, said)
    return Collection(documents, list(_asked(fold, data["qa"], named)))


def _asked(fold: int, qa: Iterable[dict[str, Any]], named: dict[str, str]) -> Iterator[Question]:
    for one in qa:
        evidence = re.split(r"[;,\s]+", " ".join(one.get("evidence") or []))
        answers = frozenset(named[turn] for turn in evidence if turn in named)
        if answers:
            yield Question(text=one["question"], answers=answers, kind=str(one.get("category", "")), fold=fold)


def long_memory(name: str, data: list[dict[str, Any]]) -> QuestionSet:
    """Questions with a haystack of chat sessions each; those that have no answer are left out."""
    found = [_haystack(place, one) for place, one in enumerate(data) if not one["question_id"].endswith("_abs")]
    measures = Measure("turns", (5, 10), kind="turn"), _SESSIONS
    return QuestionSet(name, [one for one in found if one.questions], measures)


def _haystack(place: int, data: dict[str, Any]) -> Collection:
    documents: list[LoadedDocument] = []
    answers: list[str] = []
    sessions = zip(data["haystack_session_ids"], data["haystack_dates"], data["haystack_sessions"], strict=True)
    for number, (session, date, turns) in enumerate(sessions):
        group, said = _opaque(f"{number} {session}"), list[LoadedDocument]()
        for at, turn in enumerate(turns):
            own = _opaque(f"{number} {session} {at}")
            ts = _moment(date, at)
            said.append(_turn(own, turn["role"], turn["content"], ts=ts, group=group, seq=at + 1))
            if turn.get("has_answer"):
                answers.append(own)
        documents += _with_own(group, said)
    question = Question(
        text=data["question"], answers=frozenset(answers), kind=data.get("question_type", ""),
        fold=place % BLOCKS,
    )  # fmt: skip
    return Collection(documents, [question] if answers else [])


def _turn(name: str, speaker: str, text: str, *, ts: str | None, group: str, seq: int) -> LoadedDocument:
    return LoadedDocument(name=name, text=text, kind="turn", ts=ts, group=group, seq=seq, context=speaker)


def _with_own(group: str, turns: list[LoadedDocument]) -> list[LoadedDocument]:
    """The turns, and before them a row of the whole as a session has one: what was said, the last first."""
    said = "\n".join(one.text for one in reversed(turns))[:MAX_TEXT]
    own = LoadedDocument(name=group, text=said, kind="run", ts=turns[-1].ts, group=group) if turns else None
    return [own, *turns] if own else []


def passages(name: str, data: list[dict[str, Any]], corpus: list[dict[str, Any]]) -> QuestionSet:
    """Passages with a title, and questions that need several of them."""
    documents = [
        LoadedDocument(name=_opaque(f"{place}"), title=one["title"], text=one["text"])
        for place, one in enumerate(corpus)
    ]
    by_text = {(one.title, one.text): one.name for one in documents}
    by_title: dict[str, str] = {}
    for one in documents:
        by_title.setdefault(one.title, one.name)
    questions = []
    for place, row in enumerate(data):
        answers = frozenset(_supporting(row, by_text, by_title))
        if answers:
            questions.append(Question(text=row["question"], answers=answers, fold=place % BLOCKS))
    return QuestionSet(name, [Collection(documents, questions)], (Measure("passages", (2, 5)),))


def _supporting(row: dict[str, Any], by_text: dict[tuple[str, str], str], by_title: dict[str, str]) -> Iterator[str]:
    for one in row.get("paragraphs", ()):
        text = one["title"], one.get("paragraph_text") or one.get("text") or ""
        if one.get("is_supporting") and text in by_text:
            yield by_text[text]
    for title, *_ in row.get("supporting_facts", ()):
        if title in by_title:
            yield by_title[title]


def _lines(path: str) -> Iterator[dict[str, Any]]:
    with open(path, encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())


def _opaque(name: str) -> str:
    """A name that no question can hit by chance, as those of runs and commits are."""
    return "x" + hashlib.sha256(name.encode()).hexdigest()[:15]


def _moment(text: str, minutes: int) -> str | None:
    """A time as events spell it, so many minutes later; None where it cannot be read."""
    plain = _WEEKDAY.sub(" ", text).strip()
    for shape in _SPOKEN:
        try:
            found = datetime.strptime(plain, shape) + timedelta(minutes=minutes)
        except ValueError:
            continue
        return f"{found:%Y-%m-%dT%H:%M:%S}.000000Z"
    return None
