"""Search by meaning: how fast the nearest are found, how many of them, and what vectors take.

The vectors are made up: in clusters, with a decaying spectrum, as those of texts are. The floor of the search
is numpy's own product of all vectors with the question, which finds the same ten.
"""

import os
import resource
import time
from collections.abc import Iterator

from bench.measure import Result, told

SIZE = 384
QUESTIONS = 60
BYTES, MILLISECONDS, RECALL = 450, 5.0, 0.97


def vectors(folder: str) -> Iterator[Result]:
    """Of a hundred thousand texts, and of a million; nothing where the extra is not installed."""
    from holdfast.index.embed import embedding_model

    if lacking := embedding_model.missing():
        yield told("vectors", f"not measured: {', '.join(lacking)} missing")
        return
    yield from _among(folder, 100_000, held=True)
    yield from _among(folder, 1_000_000, held=False)


def _among(folder: str, count: int, *, held: bool) -> Iterator[Result]:
    import numpy as np

    from holdfast.index.embed import similarity
    from holdfast.index.embed.similarity import NearestTexts

    kept, known = _made(folder, count)
    kept.tidy()
    size = os.path.getsize(kept.path) / count
    began = time.process_time()
    matrix = similarity.load(kept, known)
    loading = time.process_time() - began
    questions = _some(np.random.default_rng(3), QUESTIONS)
    ours, exact, found = [], [], 0
    for question in questions:
        began = time.process_time()
        best = NearestTexts(matrix, question).best(10)
        ours.append(time.process_time() - began)
        began = time.process_time()
        cosines = _all(matrix, question)
        top = np.argpartition(-cosines, 10)[:10]
        exact.append(time.process_time() - began)
        found += len({matrix.content(int(place)) for place in top} & {content for content, _ in best})
    middle, recall = sorted(ours)[QUESTIONS // 2] * 1e3, found / 10 / QUESTIONS
    name = f"{count:,} vectors"
    bar = f"<= {MILLISECONDS:g} ms" if held else ""
    floor = sorted(exact)[QUESTIONS // 2] * 1e3
    met = middle <= MILLISECONDS if held else None
    yield Result(f"{name}: search", f"{middle:.2f} ms", f"{floor:.2f} ms", middle / floor, bar, met)
    yield Result(f"{name}: recall@10", f"{recall:.3f}", "", 0.0, f">= {RECALL}", recall >= RECALL)
    yield Result(f"{name}: on disk", f"{size:.0f} bytes each", "", 0.0, f"<= {BYTES}", size <= BYTES)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield told(f"{name}: loading", f"{loading * 1e3:.0f} ms, peak {peak:.0f} MB")
    kept.close()
    os.unlink(kept.path)


def _all(matrix, question):  # type: ignore[no-untyped-def]
    """The cosines with all vectors, a hundred thousand at a time: as floats they are many."""
    import numpy as np

    steps = range(0, len(matrix), 100_000)
    parts = [matrix.cosines(question, slice(at, min(at + 100_000, len(matrix)))) for at in steps]
    return np.concatenate(parts)


def _made(folder: str, count: int):  # type: ignore[no-untyped-def]
    import numpy as np

    from holdfast.index.embed.vectors import Vectors

    random = np.random.default_rng(1)
    kept = Vectors(os.path.join(folder, f"vectors-{count}", "vectors.db"))
    known = kept.of("made-up", source="minilm", size=SIZE)
    for at in range(0, count, 20_000):  # in order: a million in none would be written many times over
        contents = [number.to_bytes(4, "big") + random.bytes(12) for number in range(at, at + 20_000)]
        kept.put(known, contents, _some(random, 20_000))
    return kept, kept.models()[0]


def _some(random, count: int):  # type: ignore[no-untyped-def]
    """Vectors of length one around 300 middles, which are always the same."""
    import numpy as np

    decay = (1 / np.sqrt(1 + np.arange(SIZE) / 24)).astype(np.float32)
    middles = np.random.default_rng(0).standard_normal((300, SIZE), dtype=np.float32) * decay
    turn = np.linalg.qr(np.random.default_rng(2).standard_normal((SIZE, SIZE)))[0].astype(np.float32)
    found = middles[random.integers(0, 300, count)]
    found = found + 1.2 * random.standard_normal((count, SIZE), dtype=np.float32) * decay
    found = found @ turn
    return found / np.linalg.norm(found, axis=1, keepdims=True)
