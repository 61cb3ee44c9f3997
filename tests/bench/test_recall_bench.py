"""The benchmark of recall reads the formats that people have question sets in, and counts rightly."""

import json
import os

import pytest
from bench.recall.engines import Grep, Holdfast, Plain, telling
from bench.recall.formats import found_in
from bench.recall.loading import LoadedDocument
from bench.recall.measuring import in_turn, measured, table
from bench.recall.sets import Collection, Measure, Question, QuestionSet, grouped, recall


def _put(folder: str, name: str, rows: object, *, lines: bool = False) -> None:
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(map(json.dumps, rows)) if lines and isinstance(rows, list) else json.dumps(rows))


def _commits(folder: str) -> None:
    said = ["Add a cache for parsed pages", "Rename the queue of mails", "Document the release", "Mend the cache"]
    rows = [
        {"sha": f"{place}" * 40, "date": f"2024-01-0{place + 1}", "msg": said[place], "files": [f"src/{place % 3}.py"]}
        for place in range(4)
    ]
    _put(folder, "project/corpus.jsonl", rows, lines=True)
    asked = [{"i": 3, "q": "Mend the cache of pages", "gold": ["0" * 40]}]
    _put(folder, "project/queries.jsonl", asked, lines=True)


def _conversation(folder: str) -> None:
    first = [
        {"speaker": "Ada", "dia_id": "D1:1", "text": "I planted tomatoes on the balcony."},
        {"speaker": "Ben", "dia_id": "D1:2", "text": "How do they grow?", "blip_caption": "a green plant"},
    ]
    second = [{"speaker": "Ben", "dia_id": "D2:1", "text": "My train to Porto was late again."}]
    talk = {
        "session_1": first, "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_2": second, "session_2_date_time": "9:00 am on 2 June, 2023",
    }  # fmt: skip
    qa = [
        {"question": "What did Ada plant?", "evidence": ["D1:1"], "category": 4},
        {"question": "Where did Ben go by train?", "evidence": ["D2:1; D1:2"], "category": 1},
        {"question": "Which train did Ada miss?", "evidence": ["D2:1"], "category": 5},
        {"question": "Who knows?", "evidence": [], "category": 3},
    ]
    _put(folder, "talks.json", [{"conversation": talk, "qa": qa}])


def _passages(folder: str) -> None:
    corpus = [
        {"title": "Grey Harbour", "text": "Grey Harbour is a town on the Lune."},
        {"title": "Lune", "text": "The Lune rises in the fells."},
        {"title": "Fell pony", "text": "A breed of horse."},
    ]
    named = [{"title": "Lune", "paragraph_text": corpus[1]["text"], "is_supporting": True}]
    other = [{"title": "Fell pony", "paragraph_text": corpus[2]["text"], "is_supporting": False}]
    asked = [
        {"question": "Where does the river of Grey Harbour rise?", "paragraphs": named + other},
        {"question": "Which horse lives there?", "supporting_facts": [["Fell pony", 0]]},
    ]
    _put(folder, "hops/made_up_corpus.json", corpus)
    _put(folder, "hops/made_up.json", asked)


def _haystacks(folder: str) -> None:
    sessions = [
        [{"role": "user", "content": "My sister keeps bees now.", "has_answer": True}],
        [{"role": "user", "content": "Name a soup."}, {"role": "assistant", "content": "Lentil soup."}],
    ]
    dates, names = ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"], ["answer_1", "s2"]
    one = {
        "question_id": "q1", "question_type": "single-session-user", "question": "What does my sister keep?",
        "answer": "bees", "question_date": "2023/06/01 (Thu) 09:00", "haystack_session_ids": names,
        "haystack_dates": dates, "haystack_sessions": sessions, "answer_session_ids": ["answer_1"],
    }  # fmt: skip
    _put(folder, "long.json", [one, {**one, "question_id": "q2_abs"}])


@pytest.fixture
def folder(tmp_path: os.PathLike[str]) -> str:
    """One set of each format, made up, and files that are none."""
    here = os.fspath(tmp_path)
    for put in (_commits, _conversation, _passages, _haystacks):
        put(here)
    _put(here, "notes.json", {"no": "set"})
    _put(here, "empty.json", [])
    return here


def _named(folder: str) -> dict[str, QuestionSet]:
    return {one.name: one for one in found_in(folder)}


def test_every_format_in_a_folder_is_found_and_nothing_else(folder: str) -> None:
    """Whoever has one of these sets would get no figures, or those of a file that is no set."""
    assert sorted(_named(folder)) == ["long", "made_up", "project", "talks"]


def test_a_commit_asks_for_what_was_there_before_it_with_its_own_files_open(folder: str) -> None:
    """Figures would be too good: a commit would find itself, or what came later."""
    (collection,) = _named(folder)["project"].collections
    (question,) = collection.questions
    assert (question.after, question.files, question.answers) == (3, ("src/0.py",), {"0" * 40})
    grep = Grep()
    assert [one.text for one in in_turn(collection, grep)] == [question.text]
    assert "3" * 40 not in grep.ask(question, 10)


def test_turns_keep_their_speaker_their_time_and_their_place(folder: str) -> None:
    """Neighbours, dates and names would count for nothing in the figures of conversations."""
    (collection,) = _named(folder)["talks"].collections
    whole, first, second, other, third = collection.documents
    assert (first.context, first.seq, first.ts) == ("Ada", 1, "2023-05-08T13:56:00.000000Z")
    assert (second.text, second.seq) == ("How do they grow? [a green plant]", 2)
    assert first.group == second.group == whole.name != third.group == other.name
    assert (whole.seq, whole.kind) == (0, "run")
    assert whole.text == "How do they grow? [a green plant]\nI planted tomatoes on the balcony."
    assert [len(one.answers) for one in collection.questions] == [1, 2, 1]  # none without evidence


def test_adversarial_questions_count_for_sessions_only(folder: str) -> None:
    """Figures could not be compared with those that others publish."""
    talks = _named(folder)["talks"]
    tally = measured(talks, Plain)
    assert len(tally.shares["turns", 5]) == 2
    assert len(tally.shares["sessions", 5]) == 3


def test_answers_of_passages_are_told_by_paragraph_or_by_title(folder: str) -> None:
    """One of the two usual ways to write multi-hop sets would have no answers."""
    (collection,) = _named(folder)["made_up"].collections
    titles = {one.name: one.title for one in collection.documents}
    assert [{titles[name] for name in one.answers} for one in collection.questions] == [{"Lune"}, {"Fell pony"}]


def test_a_haystack_is_a_collection_and_abstentions_are_left_out(folder: str) -> None:
    """Every question would search the sessions of all the others."""
    (collection,) = _named(folder)["long"].collections
    (question,) = collection.questions
    assert [one.context for one in collection.documents if one.seq] == ["user", "user", "assistant"]
    assert collection.documents[0].ts == "2023-05-20T02:21:00.000000Z"
    assert question.groups(collection) == {collection.documents[0].group}


def test_the_product_finds_the_answers_of_easy_questions(folder: str) -> None:
    """The benchmark would measure something else than what people use."""
    places = iter(range(100))
    for questions in found_in(folder):
        tally = measured(questions, lambda: Holdfast(os.path.join(folder, f"{next(places)}", "index.db")))
        measure = questions.measures[0]
        assert tally.percent(measure.what, measure.at[-1]) == 100.0, questions.name
        assert "100.0" in table(questions, [("Holdfast", tally)])


def test_recall_is_the_share_of_answers_among_the_first_hits() -> None:
    """Every figure would be wrong."""
    assert recall(["a", "b", "c"], frozenset({"b", "z"}), 1) == 0.0
    assert recall(["a", "b", "c"], frozenset({"b", "z"}), 2) == 0.5
    documents = [LoadedDocument(name=name, text="", group=group) for name, group in zip("abc", "xxy", strict=True)]
    assert grouped(["b", "a", "c"], Collection(documents, [])) == ["x", "y"]
    assert Measure("turns", (5, 10)).limit == 10


def test_grep_and_plain_fts5_take_any_question_as_data() -> None:
    """A question with quotes would end the run instead of finding nothing."""
    odd = Question(text='"NEAR( OR " * ) the AND', answers=frozenset("a"))
    for engine in (Grep(), Plain()):
        engine.add([LoadedDocument(name="a", text="near and far")])
        assert engine.ask(odd, 5) in (["a"], [])
    assert telling("where is the") == ["where", "is", "the"]
