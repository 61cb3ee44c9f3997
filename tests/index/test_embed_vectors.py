"""Vectors: kept by content and model, searched exactly, renewed, and gone when they have to be."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from holdfast.index.embed import similarity
from holdfast.index.embed.similarity import NearestTexts, VectorMatrix
from holdfast.index.embed.vectors import READY, VectorModel, Vectors, packed

SIZE = 96


@pytest.fixture
def vectors(tmp_path: Path) -> Iterator[Vectors]:
    made = Vectors(str(tmp_path / "vectors.db"))
    yield made
    made.close()
    similarity.forget()


def some(seed: int, count: int, size: int = SIZE) -> tuple[list[bytes], np.ndarray]:
    """Contents and vectors of length one, in clusters as texts are."""
    random = np.random.default_rng(seed)
    middles = random.standard_normal((40, size))
    found = middles[random.integers(0, 40, count)] + 0.7 * random.standard_normal((count, size))
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return [random.bytes(16) for _ in range(count)], found.astype(np.float32)


def known(vectors: Vectors, key: str = "k", source: str = "minilm", size: int = SIZE) -> VectorModel:
    return vectors.of(key, source=source, size=size)


def test_the_nearest_are_the_nearest(vectors: Vectors, seed: int) -> None:
    """An answer that leaves the best text out cannot be mended by any ranking after it."""
    contents, rows = some(seed, 6000)
    model = known(vectors)
    vectors.put(model, contents, rows)
    matrix = similarity.load(vectors, model)
    by_name = dict(zip(contents, rows, strict=True))
    found = 0
    for question in some(seed, 6000)[1][::300] + 0.05:
        question /= np.linalg.norm(question)
        exact = sorted(contents, key=lambda content: -float(by_name[content] @ question))[:10]
        best = NearestTexts(matrix, question).best(10)
        found += len(set(exact) & {content for content, _ in best})
        assert [cosine for _, cosine in best] == sorted((c for _, c in best), reverse=True)
    assert found >= 0.97 * 10 * 20


def test_how_near_is_told_for_any_of_them(vectors: Vectors, seed: int) -> None:
    """Search by words asks how near its own finds are, and some of them were never embedded."""
    contents, rows = some(seed, 500)
    model = known(vectors)
    vectors.put(model, contents, rows)
    told = NearestTexts(similarity.load(vectors, model), rows[3]).of([*contents[:50], b"?" * 16, None, contents[3]])
    assert set(told) == set(contents[:50])
    for place, content in enumerate(contents[:50]):
        assert told[content] == pytest.approx(float(rows[place] @ rows[3]), abs=0.02)
    assert NearestTexts(VectorMatrix(SIZE, (0, 0)), rows[0]).of(contents) == {}
    assert NearestTexts(VectorMatrix(SIZE, (0, 0)), rows[0]).best(5) == []


def test_what_another_process_adds_or_deletes_is_seen(vectors: Vectors, seed: int) -> None:
    """A server that runs for days must not answer with the vectors of its first hour."""
    contents, rows = some(seed, 300)
    model, other = known(vectors), Vectors(vectors.path)
    vectors.put(model, contents[:200], rows[:200])
    matrix = similarity.load(vectors, model)
    assert matrix.state == vectors.state()
    other.put(model, contents[150:], rows[150:])
    assert matrix.state != vectors.state()
    again = similarity.load(vectors, model)
    assert NearestTexts(again, rows[250]).best(1)[0][0] == contents[250]
    assert set(NearestTexts(again, rows[250]).of(contents)) == set(contents)
    assert other.keep_only(set(contents[:10])) == 290
    assert again.state != vectors.state() and len(similarity.load(vectors, model)) == 10
    other.close()


def test_a_text_takes_less_than_450_bytes(vectors: Vectors, seed: int) -> None:
    """A hundred thousand texts must not cost a disk."""
    count = 12_000
    contents, rows = some(seed, count, 384)
    model = known(vectors, size=384)
    for at in range(0, count, 2000):
        vectors.put(model, contents[at : at + 2000], rows[at : at + 2000])
    vectors.tidy()
    assert os.path.getsize(vectors.path) / count <= 450
    assert len(similarity.load(vectors, model)) == count


def test_a_deleted_vector_leaves_no_byte(vectors: Vectors, seed: int) -> None:
    """An erased text could be guessed from its vector."""
    contents, rows = some(seed, 400)
    model = known(vectors)
    vectors.put(model, contents, rows)
    secret = packed(rows[:1])[0]
    assert secret in Path(vectors.path).read_bytes()
    vectors.keep_only(set(contents[1:]))
    assert secret not in Path(vectors.path).read_bytes()
    assert contents[0] not in Path(vectors.path).read_bytes()
    assert vectors.models()[0].count == 399


def test_a_text_is_kept_once_for_each_model(vectors: Vectors, seed: int) -> None:
    """Two processes that embed the same must not count it twice."""
    contents, rows = some(seed, 50)
    one, two = known(vectors), known(vectors, key="other", source="folder:/x")
    for model in (one, one, two):
        vectors.put(model, contents, rows)
    assert {model.key: model.count for model in vectors.models()} == {"k": 50, "other": 50}
    vectors.forget(one)
    assert [(model.key, model.count) for model in vectors.models()] == [("other", 50)]


def test_whoever_only_looks_sees_whether_there_are_vectors(vectors: Vectors, seed: int) -> None:
    """A cold command must know without opening anything."""
    contents, rows = some(seed, 5)
    ready = Path(vectors.path).parent / READY
    model = known(vectors)
    vectors.say_ready()
    assert not ready.exists()
    vectors.put(model, contents, rows)
    vectors.say_ready()
    assert ready.read_text() == "5 minilm\n"
    vectors.forget(model)
    assert not ready.exists()


@pytest.mark.parametrize("damage", [b"", b"not a database at all" * 100, None])
def test_a_damaged_file_is_made_anew(vectors: Vectors, seed: int, damage: bytes | None) -> None:
    """Vectors can be made again, and a question must not fail for them."""
    contents, rows = some(seed, 50)
    vectors.put(known(vectors), contents, rows)
    vectors.close()
    path = Path(vectors.path)
    path.write_bytes(path.read_bytes()[:20_000] if damage is None else damage)
    again = Vectors(vectors.path)
    model = known(again)
    again.put(model, contents, rows)
    assert len(similarity.load(again, model)) == 50
    again.close()


def test_the_older_model_serves_until_the_new_one_has_caught_up() -> None:
    """A change of model must not make search worse for an hour."""
    old, new = VectorModel(1, "a", "minilm", 8, 1000), VectorModel(2, "b", "folder:/m", 8, 500)
    assert similarity.order([old, new], "folder:/m") == [old, new]
    caught_up = VectorModel(2, "b", "folder:/m", 8, 900)
    assert similarity.order([old, caught_up], "folder:/m") == [caught_up, old]
    assert similarity.order([old, VectorModel(2, "b", "folder:/m", 8, 0)], "folder:/m") == [old]
    assert similarity.order([], "minilm") == []


def test_many_may_write_at_once(vectors: Vectors, seed: int) -> None:
    """The background and a person at the terminal."""
    contents, rows = some(seed, 400)
    model = known(vectors)

    def write(start: int) -> None:
        mine = Vectors(vectors.path)
        for at in range(start, start + 200, 20):
            mine.put(model, contents[at : at + 20], rows[at : at + 20])
        mine.close()

    threads = [threading.Thread(target=write, args=(start,)) for start in (0, 100, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert vectors.models()[0].count == len(similarity.load(vectors, model)) == 400
