"""What agents of your own recall by vectors: the three stores at a hundred thousand, in one run, recall beside each.

The vectors are those of `bench.vectors`, in twenty namespaces. Each question is put to all stores in turn, so that
what the machine does meanwhile hits all of them. The embedded store is measured as recall uses it, with the mirror's
numbers; the others by their own answer alone, which is what the bar compares it with.
"""

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from bench.measure import Result, told
from bench.vectors import SIZE, _some

COUNT, SPACES, QUESTIONS, LIMIT = 100_000, 20, 60, 10
RECALL = 0.99
MODEL = f"given:{SIZE}"
Ask = Callable[[Any, list[str]], list[str]]


def recall(folder: str) -> Iterator[Result]:
    """Unfiltered, and within one namespace of twenty."""
    try:
        import chromadb  # noqa: F401
        import numpy as np
    except ImportError as error:
        yield told("agents' recall", f"not measured: {error.name} missing")
        return
    from demo.local_postgres import local_postgres

    from holdfast.model.agent_entities import VectorRow
    from holdfast.store.vector_matrix import packed

    floats = _some(np.random.default_rng(1), COUNT)
    rows = [
        VectorRow(f"{place:032x}", "agent", f"space-{place % SPACES}", data)
        for place, data in enumerate(packed(floats))
    ]
    with local_postgres() as server:
        server.make_agents("bench")
        filled: dict[str, float] = {}
        asked = {**_embedded(folder, rows, filled), **_pgvector(server, rows, filled)}
        asked |= _chroma(folder, rows, filled)
        yield from _measured(asked, floats, rows)
        yield told("filling 100,000", "; ".join(f"{name} {seconds:.0f} s" for name, seconds in filled.items()))


def _embedded(folder: str, rows: list[Any], filled: dict[str, float]) -> dict[str, Ask]:
    from holdfast.agent_store import database
    from holdfast.agent_store.tables import VECTOR
    from holdfast.agent_store.vector_store import MemoryVectors

    kept = database.open_url(f"sqlite:///{folder}/agent-recall/agents.db", "bench")
    began = time.monotonic()
    for at in range(0, COUNT, 10_000):
        some = [
            {
                "record_id": row.record,
                "model": MODEL,
                "agent_id": row.agent,
                "namespace": row.namespace,
                "size": SIZE,
                "vector": row.data,
                "added": at,
            }
            for row in rows[at : at + 10_000]
        ]
        kept.run(lambda tx, some=some: tx.insert(VECTOR, *some))
    vectors = MemoryVectors(kept, choice="embedded", folder=folder, notes=[])
    filled["mirror"] = time.monotonic() - began
    began = time.monotonic()
    vectors.nearest(MODEL, _some_question(), limit=LIMIT)
    filled["loading it"] = time.monotonic() - began

    def ask(question: Any, spaces: list[str]) -> list[str]:
        return [one for one, _ in vectors.nearest(MODEL, question, limit=LIMIT, namespaces=spaces).hits]

    return {"embedded": ask}


def _pgvector(server: Any, rows: list[Any], filled: dict[str, float]) -> dict[str, Ask]:
    from holdfast.agent_store import database
    from holdfast.agent_store.vector_backends import PgvectorStore, graph_sql

    kept = database.open_url(server.url("bench"), "bench")
    began = time.monotonic()
    stores = {
        "pgvector exact": PgvectorStore(kept, MODEL, SIZE, project="bench", exact_up_to=10 * COUNT),
        "pgvector HNSW": PgvectorStore(kept, MODEL, SIZE, project="bench", exact_up_to=1),
    }
    stores["pgvector exact"].put(rows)
    filled["pgvector"] = time.monotonic() - began
    began = time.monotonic()
    server.sql(f"SET maintenance_work_mem = '1GB'; {graph_sql(SIZE)}", database="bench")
    server.sql("VACUUM ANALYZE memory_vector", database="bench")
    filled["its HNSW"] = time.monotonic() - began
    return {name: _asking(store) for name, store in stores.items()}


def _chroma(folder: str, rows: list[Any], filled: dict[str, float]) -> dict[str, Ask]:
    from holdfast.agent_store.vector_backends import ChromaStore

    store = ChromaStore(os.path.join(folder, "agent-recall", "chroma"), MODEL, SIZE, project="bench")
    began = time.monotonic()
    store.put(rows)
    filled["chroma"] = time.monotonic() - began
    return {"chroma": _asking(store)}


def _asking(store: Any) -> Ask:
    return lambda question, spaces: [one for one, _ in store.nearest(question, LIMIT, spaces).hits]


def _some_question() -> Any:
    import numpy as np

    return _some(np.random.default_rng(4), 1)[0]


def _measured(asked: dict[str, Ask], floats: Any, rows: list[Any]) -> Iterator[Result]:
    import numpy as np

    whole = np.frombuffer(b"".join(row.data for row in rows), np.int8).reshape(COUNT, SIZE).astype(np.float32)
    whole /= np.linalg.norm(whole, axis=1, keepdims=True)
    questions = _some(np.random.default_rng(3), QUESTIONS)
    for name, spaces, step in (("all", [], 1), ("1 of 20", ["space-0"], SPACES)):
        took: dict[str, list[float]] = {store: [] for store in asked}
        found = dict.fromkeys(asked, 0)
        # Before anything is timed: these products use all cores and empty the caches of whoever comes next.
        truths = [_best(whole[::step], question, step) for question in questions]
        meant = [_best(floats[::step], question, step) for question in questions]
        by_floats = sum(len(one & other) for one, other in zip(truths, meant, strict=True))
        order = list(asked.items())
        for question, truth in zip(questions, truths, strict=True):
            order.append(order.pop(0))  # each comes after each of the others
            for store, ask in order:
                began = time.perf_counter()
                answer = ask(question, spaces)
                took[store].append(time.perf_counter() - began)
                found[store] += len(truth & {int(one, 16) for one in answer})
        shares = {store: count / LIMIT / QUESTIONS for store, count in found.items()}
        yield from _table(name, took, shares)
        yield told(f"{name}: of the ten by floats", f"{by_floats / LIMIT / QUESTIONS:.3f} are those by int8")


def _best(whole: Any, question: Any, step: int) -> set[int]:
    import numpy as np

    return {int(place) * step for place in np.argpartition(-(whole @ question), LIMIT)[:LIMIT]}


def _table(name: str, took: dict[str, list[float]], shares: dict[str, float]) -> Iterator[Result]:
    middles = {store: sorted(times)[len(times) // 2] * 1e3 for store, times in took.items()}
    floor = middles["chroma"]
    # Faster than Chroma where it filters, within twice its time where it does not.
    bar, most = ("<= 2 x chroma", 2.0) if name == "all" else ("< chroma", 1.0)
    for store, middle in middles.items():
        p99 = sorted(took[store])[int(len(took[store]) * 0.99)] * 1e3
        measured = f"{middle:.1f} / {p99:.1f} ms, recall {shares[store]:.3f}"
        ratio, is_ours = middle / floor, store == "embedded"
        met = (ratio <= most and shares[store] >= RECALL) if is_ours else None
        yield Result(
            f"{name}: {store}, p50 / p99",
            measured,
            f"{floor:.1f} ms",
            ratio,
            f"{bar}, {RECALL}" if is_ours else "",
            met,
        )
