"""Events found by what is asked are those that reading the whole log would give, in the same order."""

import os
import random
import sqlite3
from datetime import UTC, datetime, timedelta

import pytest

from holdfast.model.event import Event, EventDraft, in_order, timestamp
from holdfast.store.event_index import EventIndex, EventQuery
from holdfast.store.format import make_event, make_segments

START = datetime(2026, 1, 1, tzinfo=UTC)
SEEDS = range(6)


def _graph(chance: random.Random, count: int, *, skew: int) -> list[tuple[Event, bytes]]:
    """Events that build on one another, in several branches; clocks are off by up to `skew` seconds."""
    made: list[tuple[Event, bytes]] = []
    for number in range(count):
        known = [event.hash_self for event, _ in made[-4:]]
        parents = tuple(sorted(chance.sample(known, min(len(known), chance.randint(1, 2)))))
        moment = START + timedelta(seconds=2 * number + chance.uniform(-skew, skew))
        draft = EventDraft(
            chance.choice(("run", "accept", "task")),
            target=f"T-{number % 7}",
            run_id=chance.choice((None, f"r{number}")),
        )
        made.append(
            make_event(
                draft, ts=timestamp(moment), line="l", writer="w", seq=number, head=None, body=None, parents=parents
            )
        )
    return made


def _fits(event: Event, query: EventQuery) -> bool:
    named = (event.hash_self, event.target or "", event.run_id or "")
    return (
        (query.kinds is None or event.kind in query.kinds)
        and (query.targets is None or event.target in query.targets)
        and (query.runs is None or event.run_id in query.runs)
        and (query.beginnings is None or any(n.lower().startswith(b.lower()) for n in named for b in query.beginnings))
        and (query.since is None or event.ts >= query.since)
        and (query.before is None or event.ts < query.before)
    )


def _query(chance: random.Random, events: list[Event]) -> EventQuery:
    some = chance.choice(events)
    return chance.choice(
        [
            EventQuery(kinds=("accept",)),
            EventQuery(kinds=("run", "task"), targets=("T-1", "T-2")),
            EventQuery(runs=(some.run_id or "none",)),
            EventQuery(beginnings=[some.hash_self[:8].upper()]),
            EventQuery(beginnings=["t-", "R4"]),
            EventQuery(since=some.ts),
            EventQuery(before=some.ts, newest=3),
            EventQuery(newest=5),
            EventQuery(kinds=("run",), oldest=3),
            EventQuery(kinds=("task",), newest=2),
            EventQuery(),
        ]
    )


@pytest.mark.parametrize("skew", [0, 30])
@pytest.mark.parametrize("seed", SEEDS)
def test_it_finds_what_reading_everything_finds(tmp_path, seed: int, skew: int) -> None:
    chance = random.Random(seed)
    made = _graph(chance, 80, skew=skew)
    segments = make_segments("l", [(event.ts, data) for event, data in made[:50]])
    (tmp_path / "spool").touch()
    name = f"p:{tmp_path}/spool@1"
    spool = b"".join(data for _, data in made[50:])
    cut = chance.randrange(len(spool))
    for kept_from in (0, 1 << 30):  # all in the file, or all in memory
        index = EventIndex(str(tmp_path / f"{kept_from}.db"), kept_from=kept_from)
        chance.shuffle(segments)
        index.add([(f"s:{one.name}", 0, one.data) for one in segments])
        index.add([(name, 0, spool[:cut])])
        offset = index.offset(name) or 0
        assert spool[:offset].endswith(b"\n") or offset == 0
        index.add([(name, offset, spool[offset:])])
        here = {**{f"s:{one.name}": None for one in segments}, name: None}
        events = in_order(event for event, _ in made)
        for _ in range(12):
            query = _query(chance, events)
            wanted = [event for event in events if _fits(event, query)]
            if query.newest is not None:
                wanted = wanted[-query.newest :]
            if query.oldest is not None:
                wanted = wanted[: query.oldest]
            assert index.find(here, query) == wanted, (seed, query)
        only = made[20][0].ts
        assert {event.ts for event in index.find({name: only}, EventQuery())} <= {e.ts for e in events if e.ts <= only}
        index.close()


def test_a_name_is_looked_up_and_not_searched_for_among_all_of_its_kind(tmp_path) -> None:
    """With a hundred thousand runs, each page of a run and each `show` would else read all of them."""
    index = EventIndex(str(tmp_path / "log.db"))
    condition, values = EventQuery(kinds=("run",), beginnings=["20260301T0"]).sql()
    index.find({}, EventQuery())  # makes the tables
    plan = index._file.db.execute(f"EXPLAIN QUERY PLAN SELECT * FROM event AS e WHERE {condition}", values).fetchall()
    used = {row[-1].partition("INDEX ")[2].partition(" ")[0] for row in plan if " e " in row[-1]}
    assert used == {"event_hash", "event_target", "event_run"}, plan


def test_a_second_process_reads_what_the_first_kept(tmp_path) -> None:
    made = _graph(random.Random(1), 30, skew=0)
    segment = make_segments("l", [(event.ts, data) for event, data in made])[0]
    first = EventIndex(str(tmp_path / "log.db"), kept_from=0)
    first.add([(f"s:{segment.name}", 0, segment.data)])
    second = EventIndex(str(tmp_path / "log.db"))
    second.look()
    assert second.offset(f"s:{segment.name}") == len(segment.data)
    assert len(second.find({f"s:{segment.name}": None}, EventQuery())) == 30
    assert second.find({}, EventQuery()) == []


@pytest.mark.parametrize("kept_from", [0, 1 << 30])
def test_clocks_that_disagree_are_noticed_whichever_segment_comes_first(tmp_path, kept_from: int) -> None:
    late = make_event(
        EventDraft("run"), ts=timestamp(START + timedelta(hours=1)), line="l", writer="w", seq=0, head=None, body=None,
        parents=(),
    )  # fmt: skip
    child = make_event(
        EventDraft("task"), ts=timestamp(START), line="l", writer="v", seq=0, head=None, body=None,
        parents=(late[0].hash_self,),
    )  # fmt: skip
    parts = [make_segments("l", [(event.ts, data)])[0] for event, data in (child, late)]
    index = EventIndex(str(tmp_path / "log.db"), kept_from=kept_from)
    for part in parts:
        index.add([(f"s:{part.name}", 0, part.data)])
    here = {f"s:{part.name}": None for part in parts}
    assert index.find(here, EventQuery()) == [late[0], child[0]]
    assert not index.in_time(here)


def test_an_altered_segment_is_never_kept(tmp_path) -> None:
    made = _graph(random.Random(2), 5, skew=0)
    segment = make_segments("l", [(event.ts, data) for event, data in made])[0]
    altered = segment.data.replace(made[2][1], b"")
    index = EventIndex(str(tmp_path / "log.db"), kept_from=0)
    index.add([(f"s:{segment.name}", 0, altered)])
    assert len(index.find({f"s:{segment.name}": None}, EventQuery())) == 4
    other = EventIndex(str(tmp_path / "log.db"))
    other.look()
    assert other.offset(f"s:{segment.name}") is None


@pytest.mark.parametrize("damage", ["rubbish", "other", "folder"])
def test_a_file_that_is_no_index_is_replaced_or_done_without(tmp_path, damage: str) -> None:
    path = str(tmp_path / "log.db")
    if damage == "rubbish":
        (tmp_path / "log.db").write_bytes(b"x" * 5000)
    elif damage == "other":
        with sqlite3.connect(path) as db:
            db.execute("CREATE TABLE event (x)")
        db.close()
    else:
        os.mkdir(path)
    made = _graph(random.Random(3), 5, skew=0)
    segment = make_segments("l", [(event.ts, data) for event, data in made])[0]
    for _ in range(2):
        index = EventIndex(path, kept_from=0)
        index.add([(f"s:{segment.name}", 0, segment.data)])
        assert len(index.find({f"s:{segment.name}": None}, EventQuery())) == 5
        index.close()
    last = EventIndex(path)
    last.look()
    assert os.path.isdir(path) or last.offset(f"s:{segment.name}") == len(segment.data)


def test_what_a_run_names_is_found_after_its_spool_was_sealed(tmp_path) -> None:
    """Numbers of rows that were given again would hide the runs of a publish."""
    made = [
        make_event(
            EventDraft("run", run_id=f"r{n}"), ts=timestamp(START + timedelta(seconds=n)), line="l", writer="w", seq=n,
            head=None, body=f"{n:064x}", parents=(),
        )
        for n in range(3)
    ]  # fmt: skip
    spool, lines = tmp_path / "spool", b"".join(data for _, data in made)
    spool.touch()
    index = EventIndex(str(tmp_path / "log.db"), kept_from=0)

    def read(body: str) -> tuple[list[str], list[str]]:
        return [f"file{int(body, 16)}"], [f"item{int(body, 16)}"]

    index.add([(f"p:{spool}@1", 0, lines)])
    assert [e.run_id for e in index.naming({f"p:{spool}@1": None}, ["file1"], read)] == ["r1"]
    spool.unlink()
    segment = make_segments("l", [(event.ts, data) for event, data in made])[0]
    index.add([(f"s:{segment.name}", 0, segment.data)])
    here = {f"s:{segment.name}": None}
    for n in range(3):
        assert [e.run_id for e in index.naming(here, [f"file{n}"], read)] == [f"r{n}"]
    assert [item for _, _, item in index.made(here, read, newest=9)] == ["item0", "item1", "item2"]
