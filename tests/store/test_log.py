"""The log's own files: what a writer does, what a reader sets apart, what sealing keeps."""

import hashlib
import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from holdfast.errors import CorruptLog, FutureFormat, NotStored, TooLarge
from holdfast.model.event import MAX_PARENTS, EventDraft
from holdfast.store import format as forms
from holdfast.store import fsio, log, pending_changes, seal
from holdfast.store.layout import Layout
from holdfast.store.log import Bodies
from tests.conftest import Quick

HEADS = tuple(sorted(letter * 64 for letter in "abc"))


class Clock:
    now = datetime(2031, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    (tmp_path / "store").mkdir()
    return Layout(str(tmp_path), str(tmp_path / "store"))


def writer(layout: Layout, heads: Sequence[str] = (), line: str = "main") -> log.SpoolWriter:
    return log.SpoolWriter(layout, line, heads=lambda: heads, clock=Clock())


def spools(layout: Layout) -> list[Path]:
    return sorted(Path(layout.spool, "main").iterdir())


def grow_old(path: Path) -> None:
    before = time.time() - 2 * log.IDLE_SECONDS
    os.utime(path, (before, before))


def test_each_event_names_what_was_there_before_it(layout: Layout) -> None:
    """A line that names nothing can be cut out and nobody sees it."""
    mine = writer(layout, heads=(*HEADS, HEADS[0]))
    events = [mine.append(EventDraft("run", run_id=f"R-{n}")) for n in range(3)]
    assert [event.hash_prev for event in events] == [HEADS, *((e.hash_self,) for e in events[:2])]
    assert [event.seq for event in events] == [0, 1, 2]
    assert len({event.writer for event in events}) == 1
    (path,) = spools(layout)
    assert log.read_spool(str(path)) == log.SpoolReading(path.read_bytes().splitlines(keepends=True), events, [])


def test_of_many_heads_only_so_many_are_named(layout: Layout) -> None:
    """An envelope has a size, and the first event after a hundred branches must be stored too."""
    many = [f"{n:064x}" for n in range(MAX_PARENTS + 5)]
    assert writer(layout, heads=many).append(EventDraft("run")).hash_prev == tuple(many[:MAX_PARENTS])


def test_an_idle_spool_is_continued_and_its_last_event_named(layout: Layout) -> None:
    """A thousand commands must not leave a thousand files, nor heads that nobody joined."""
    first = writer(layout)
    last = [first.append(EventDraft("run")) for _ in range(2)][-1]
    (path,) = spools(layout)
    grow_old(path)

    event = writer(layout, heads=HEADS[:1]).append(EventDraft("run"))

    assert spools(layout) == [path]
    assert (event.writer, event.seq) == (last.writer, 2)
    assert event.hash_prev == tuple(sorted((last.hash_self, HEADS[0])))
    after = first.append(EventDraft("run"))  # it finds that its spool has grown without it
    assert after.hash_prev == (last.hash_self,) and after.writer != last.writer
    assert len(spools(layout)) == 2


def test_what_somebody_writes_or_holds_is_left_to_them(layout: Layout) -> None:
    """Two writers of one file would wait for one another, and mix what they say."""
    one = writer(layout).append(EventDraft("run"))
    two = writer(layout).append(EventDraft("run"))  # the first spool is fresh
    assert one.writer != two.writer and len(spools(layout)) == 2
    for path in spools(layout):
        grow_old(path)
    with open(spools(layout)[0], "rb") as a, open(spools(layout)[1], "rb") as b:
        assert fsio.try_lock_fd(a.fileno()) and fsio.try_lock_fd(b.fileno())
        assert writer(layout).append(EventDraft("run")).seq == 0
    assert len(spools(layout)) == 3


def test_what_is_no_spool_is_not_continued(layout: Layout, tmp_path: Path) -> None:
    """A link, a closed spool, an empty file, another writer's content: none is ours to add to."""
    event = writer(layout).append(EventDraft("run"))
    (path,) = spools(layout)
    whole = path.read_bytes()
    path.rename(path.with_suffix(".1.closed"))
    (tmp_path / "elsewhere").write_bytes(whole)
    path.symlink_to(tmp_path / "elsewhere")
    Path(layout.spool, "main", "empty.jsonl").write_bytes(b"")
    Path(layout.spool, "main", "foreign.jsonl").write_bytes(whole)
    before = {file.name: file.read_bytes() for file in spools(layout)}
    for file in spools(layout):
        if not file.is_symlink():
            grow_old(file)
    grow_old(tmp_path / "elsewhere")

    new = writer(layout).append(EventDraft("run"))

    assert new.writer != event.writer and new.seq == 0
    assert {file.name: file.read_bytes() for file in spools(layout) if file.name in before} == before
    assert len(spools(layout)) == len(before) + 1


def idle_spools(layout: Layout, *ages: int) -> list[str]:
    """Spools that were written so many seconds ago, by their writers."""
    names = [writer(layout).append(EventDraft("run")).writer for _ in ages]
    for age, name in zip(ages, names, strict=True):
        os.utime(layout.spool_file("main", name), (time.time() - age, time.time() - age))
    return names


def test_the_newest_idle_spool_is_taken(layout: Layout) -> None:
    """What was written last is what the next event follows."""
    names = idle_spools(layout, 50, 10, 30)
    assert len(set(names)) == 3
    assert writer(layout).append(EventDraft("run")).writer == names[1]


def test_a_spool_that_is_sealed_under_our_hands_is_passed_over(layout: Layout) -> None:
    """A publish may rename it between the look and the opening; the next one serves as well."""
    names = idle_spools(layout, 10, 30)

    class Racing(Quick):
        def open(self, path: str, flags: int, mode: int) -> int:
            if names[0] in path and os.path.exists(path):
                os.rename(path, f"{path}.1.closed")
            return super().open(path, flags, mode)

    before, fsio.ops = fsio.ops, Racing()
    try:
        assert writer(layout).append(EventDraft("run")).writer == names[1]
    finally:
        fsio.ops = before


def test_a_writer_that_nobody_holds_lets_go_of_its_file(layout: Layout) -> None:
    """A program that opens its project again and again must not run out of files."""
    before = len(os.listdir("/proc/self/fd"))
    mine = writer(layout)
    mine.append(EventDraft("run"))
    assert len(os.listdir("/proc/self/fd")) == before + 1
    del mine
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_sealed_spool_is_followed_by_a_new_file_of_the_same_writer(layout: Layout) -> None:
    """Publishing renames the file under a writer that lives on; its next event must not go with it."""
    mine = writer(layout)
    first = mine.append(EventDraft("run"))
    (path,) = spools(layout)
    (closed,) = seal.close_spools(layout, "main")
    second = mine.append(EventDraft("run"))
    assert (second.hash_prev, second.seq) == ((first.hash_self,), 1)
    assert log.read_spool(closed).events == [first] and log.read_spool(str(path)).events == [second]


def test_two_writers_of_one_sealed_spool_do_not_stop_each_other(layout: Layout) -> None:
    """A slow writer whose spool another one continued must not lose its event when that spool is sealed."""
    slow, quick = writer(layout), writer(layout)
    slow.append(EventDraft("run"))
    (spool,) = spools(layout)
    grow_old(spool)
    quick.append(EventDraft("run"))
    assert spools(layout) == [spool], "it was continued"
    seal.close_spools(layout, "main")
    quick.append(EventDraft("run"))
    slow.append(EventDraft("run"))
    assert len(spools(layout)) == 3


def test_a_forked_child_writes_a_spool_of_its_own(layout: Layout) -> None:
    """Parent and child share the descriptor; if they shared the file, too, each would count on."""
    mine = writer(layout)
    mine.append(EventDraft("run"))
    pid = os.fork()
    if pid == 0:
        os._exit(0 if mine.append(EventDraft("run")).seq == 0 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert mine.append(EventDraft("run")).seq == 1
    assert sorted(len(log.read_spool(str(path)).events) for path in spools(layout)) == [1, 2]


def test_a_torn_tail_is_ended_and_the_next_event_is_whole(layout: Layout) -> None:
    """A killed writer leaves half a line; gluing the next event to it would lose an acknowledged one."""
    first = writer(layout).append(EventDraft("run"))
    (path,) = spools(layout)
    with path.open("ab") as file:
        file.write(b'{"hash_self":"12')
    grow_old(path)
    second = writer(layout).append(EventDraft("run"))
    reading = log.read_spool(str(path))
    assert reading.events == [first, second] and second.seq == 1
    assert [(torn.number, torn.data) for torn in reading.torn] == [(2, b'{"hash_self":"12\n')]


def test_torn_and_foreign_lines_are_reported_with_their_place(layout: Layout) -> None:
    """A line that is dropped without a word is a loss that nobody looks for."""
    events = [writer(layout).append(EventDraft("run")) for _ in range(2)]
    one, two = (path.read_bytes() for path in spools(layout))
    altered = one.replace(b'"kind":"run"', b'"kind":"ran"')
    newer = one.replace(b'"v":1', b'"v":2')
    parts = [one, b"\n", altered, newer, b"half a li\n", two, two[:50]]
    path = spools(layout)[0]
    path.write_bytes(b"".join(parts))

    reading = log.read_spool(str(path))

    assert {event.hash_self for event in reading.events} == {event.hash_self for event in events}
    assert reading.lines == [one, two]
    starts = [sum(map(len, parts[:n])) for n in range(len(parts))]
    found = [(torn.path, torn.number, torn.offset, torn.data) for torn in reading.torn]
    assert found == [(str(path), n + 1, starts[n], parts[n]) for n in (2, 4, 6)]
    assert reading.newer, "a later version's line is not torn; it is not ours to set aside"
    reasons = [torn.reason for torn in reading.torn]
    for said, wanted in zip(reasons, ("do not match its hash", "form of an event", "torn"), strict=True):
        assert wanted in said
    path.write_bytes(one + two[:50])
    assert not log.read_spool(str(path)).newer


def test_a_spool_that_a_later_version_went_on_with_is_not_continued(layout: Layout) -> None:
    """Its next number is taken already, by a line that this version cannot read."""
    (name,) = idle_spools(layout, 10)
    path = Path(layout.spool_file("main", name))
    first = path.read_bytes()
    path.write_bytes(first + first.replace(b'"v":1', b'"v":2'))
    grow_old(path)
    assert writer(layout).append(EventDraft("run")).writer != name
    path.write_bytes(first.replace(b'"v":1', b'"v":2') + first)
    grow_old(path)
    os.unlink(next(file for file in spools(layout) if file != path))
    assert writer(layout).append(EventDraft("run")).writer == name, "the last line is ours"


def test_sealing_sets_torn_bytes_aside_and_keeps_every_event(layout: Layout) -> None:
    """The spool goes when it is sealed; what was not an event must not go with it unseen."""
    mine = writer(layout)
    events = [mine.append(EventDraft("run")) for _ in range(3)]
    (path,) = spools(layout)
    whole = path.read_bytes()
    path.write_bytes(whole + b"half a li")

    (change,) = seal.seal(layout, "main", head=None, ts="2031-01-01T00:00:00.000000Z")

    assert spools(layout) == []
    (aside,) = Path(layout.quarantine).iterdir()
    assert aside.read_bytes() == b"half a li" and str(len(whole)) in aside.name
    assert [event for event, _ in seal.read_sealed(layout, change.segment or "")] == events
    assert pending_changes.waiting(layout) == [change] and change.line == "main"


def test_a_seal_cut_short_seals_each_event_once(layout: Layout) -> None:
    """A crash after the segment and before the spool is gone; the next publish must not tell it twice."""
    mine = writer(layout)
    mine.append(EventDraft("run"))
    (path,) = spools(layout)
    (closed,) = seal.close_spools(layout, "main")
    kept = Path(closed).read_bytes()
    (first,) = seal.seal(layout, "main", head=None, ts="2031-01-01T00:00:00.000000Z", owner="other")
    assert (first.line, first.published) == ("other", None)
    Path(closed).write_bytes(kept)
    new = mine.append(EventDraft("run"))
    (second,) = seal.seal(layout, "main", head=None, ts="2031-01-01T00:00:01.000000Z", owner="other")
    assert [event for event, _ in seal.read_sealed(layout, second.segment or "")] == [new]
    Path(closed).write_bytes(kept)
    assert seal.seal(layout, "main", head=None, ts="2031-01-01T00:00:02.000000Z", owner="other") == []
    (again,) = _sealed_for(layout, "main", kept, closed)  # another line knows nothing of it
    assert again.segment is not None
    assert not path.exists() and seal.spools(layout, "main") == []


def _sealed_for(layout: Layout, owner: str, data: bytes, path: str) -> list[pending_changes.PendingChange]:
    Path(path).write_bytes(data)
    return seal.seal(layout, "main", head=None, ts="2031-01-01T00:00:03.000000Z", owner=owner)


def test_closing_takes_no_name_that_is_taken_and_leaves_empty_spools(layout: Layout) -> None:
    """A rename over what a crash left behind would delete acknowledged events."""
    mine = writer(layout)
    closed = []
    for _ in range(3):
        mine.append(EventDraft("run"))
        closed = seal.close_spools(layout, "main")
    assert len(closed) == 3 and sum(len(log.read_spool(path).events) for path in closed) == 3
    Path(layout.spool, "main", "empty.jsonl").write_bytes(b"")
    Path(layout.spool, "main", "notes.txt").write_bytes(b"x")
    assert seal.close_spools(layout, "main") == closed
    assert {os.path.basename(path) for path in set(seal.spools(layout, "main")) - set(closed)} == {"empty.jsonl"}
    assert seal.spool_lines(layout) == ["main"] and seal.spools(layout, "none") == []


def test_a_sealed_segment_that_is_gone_is_named(layout: Layout) -> None:
    """Whoever deleted it must be told by the next command, not by a missing event a year later."""
    with pytest.raises(CorruptLog, match=f"{'ab' * 16} is missing"):
        seal.sealed_bytes(layout, "ab" * 16)


class Failing(Quick):
    """A disk that refuses one kind of call."""

    def __init__(self, *calls: str) -> None:
        for name in calls:
            setattr(self, name, self._refuse)

    def _refuse(self, *_: object) -> None:
        raise OSError(28, "no space left")


def test_a_write_that_was_refused_leaves_nothing_behind(layout: Layout) -> None:
    """Half a line would be read as damage, and the event was never acknowledged."""
    mine = writer(layout)
    first = mine.append(EventDraft("run"))
    (path,) = spools(layout)
    whole, before = path.read_bytes(), fsio.ops
    for calls, left in ((("sync_data",), 0), (("sync_data", "truncate"), 1)):
        fsio.ops = Failing(*calls)
        try:
            with pytest.raises(NotStored):
                mine.append(EventDraft("run"))
        finally:
            fsio.ops = before
        assert (path.read_bytes() != whole) == bool(left)
    second = mine.append(EventDraft("run"))
    assert second.hash_prev == (first.hash_self,)
    assert second in [event for spool in spools(layout) for event in log.read_spool(str(spool)).events]


def test_a_spool_that_cannot_be_synced_is_not_written_to(layout: Layout) -> None:
    """After a power cut it might not be there, with all that was acknowledged in it."""
    mine, before = writer(layout), fsio.ops
    Path(layout.spool, "main").mkdir(parents=True)
    held = len(os.listdir("/proc/self/fd"))
    fsio.ops = Failing("sync_dir")
    try:
        with pytest.raises(NotStored):
            mine.append(EventDraft("run"))
    finally:
        fsio.ops = before
    (empty,) = spools(layout)
    assert empty.read_bytes() == b"" and len(os.listdir("/proc/self/fd")) == held
    assert mine.append(EventDraft("run")).seq == 0
    assert empty.read_bytes() == b"" and len(spools(layout)) == 2


def test_the_ends_of_a_spool_say_what_follows_and_what_is_named(layout: Layout) -> None:
    """The next event names what nobody named yet: one head too few and it is lost from the graph."""
    mine = writer(layout, heads=HEADS)
    events = [mine.append(EventDraft("run", target="t" * 90)) for _ in range(40)]
    (path,) = spools(layout)
    named, last = log.spool_ends(str(path))
    assert last == events[-1].hash_self
    assert set(HEADS) <= named and events[-2].hash_self in named and last not in named
    path.write_bytes(b"half a li")
    assert log.spool_ends(str(path)) == (set(), None)
    path.write_bytes(b"")
    assert log.spool_ends(str(path)) == (set(), None)


def test_segments_are_as_few_as_the_limits_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A segment that is too large is refused by every reader, and a thousand small ones slow every clone."""
    monkeypatch.setattr(forms, "MAX_SEGMENT_EVENTS", 3)
    made = forms.make_segments("main", [(f"2031-01-0{n}T00:00:00.000000Z", b"%d\n" % n) for n in range(1, 8)])
    counts = [len(forms.segment_lines(one.name, one.data)[1]) for one in made]
    assert counts == [3, 3, 1] and [one.first_ts[:10] for one in made] == ["2031-01-01", "2031-01-04", "2031-01-07"]
    assert forms.make_segments("main", []) == []
    monkeypatch.setattr(forms, "MAX_SEGMENT", 256 + 10)
    sizes = [("2031-01-01T00:00:00.000000Z", b"x" * n + b"\n") for n in (4, 4, 4, 20, 4)]
    counts = [len(forms.segment_lines(one.name, one.data)[1]) for one in forms.make_segments("main", sizes)]
    assert counts == [2, 1, 1, 1]


def test_a_body_is_given_back_as_it_was_and_never_if_it_was_altered(layout: Layout, tmp_path: Path) -> None:
    """The name commits to the bytes: what does not match is somebody else's text."""
    (tmp_path / "second").mkdir()
    other = Layout(str(tmp_path), str(tmp_path / "second"))
    for one in (layout, other):
        os.mkdir(os.path.dirname(one.body("x")))
    held = Bodies(layout, other)
    name = held.put(b'{"task":"one"}')
    assert Bodies(layout).get(name) == held.get(name) == {"task": "one"}
    assert held.put(b'{"task":"one"}') != name, "the salt differs"
    held.get(name)["task"] = "changed"  # type: ignore[index]
    assert held.get(name) == {"task": "one"}
    os.rename(layout.body(name), other.body(name))
    assert held.get(name) == {"task": "one"} and held.has(name) and not Bodies(layout).has(name)
    Path(other.body(name)).write_bytes(b"x" * 40)
    with pytest.raises(CorruptLog, match="altered"):
        Bodies(layout, other).get(name)
    held.drop(name)
    assert held.get(name) is None and held.raw(name) is None and not held.has(name)


def test_a_body_or_an_envelope_that_is_too_large_is_refused() -> None:
    """What is stored must be readable again."""
    assert len(forms.body_bytes({"a": "x" * (forms.MAX_BODY - 8)})) == forms.MAX_BODY
    with pytest.raises(TooLarge):
        forms.body_bytes({"a": "x" * (forms.MAX_BODY - 7)})
    with pytest.raises(ValueError):
        forms.body_bytes({"a": float("nan")})


# Lines and segments that somebody wrote by hand.


def made(*, parents: tuple[str, ...] = (), line: str = "main", more: str = "", ts: int = 1) -> bytes:
    """An event's line with a right hash, whatever else is wrong with it."""
    moment = f"2031-01-0{ts}T00:00:00.000000Z"
    options = {"line": line, "writer": "w", "seq": 0, "head": None, "body": None, "parents": parents}
    _, data = forms.make_event(EventDraft("run"), ts=moment, **options)  # type: ignore[arg-type]
    rest = data[data.index(b'"v":') : -1].replace(b',"hash_prev"', f'{more},"hash_prev"'.encode())
    name = hashlib.sha256(b"holdfast-event-1\n{" + rest).hexdigest()
    return b'{"hash_self":"%s",%s\n' % (name.encode(), rest)


def test_parents_are_sorted_and_each_once() -> None:
    """Two spellings of one line would be two events that say the same."""
    assert forms.parse_event(made(parents=HEADS[:2])).hash_prev == HEADS[:2]
    for parents in (HEADS[1::-1], (HEADS[0], HEADS[0]), (HEADS[0], HEADS[2], HEADS[1])):
        with pytest.raises(CorruptLog, match="not sorted or repeat"):
            forms.parse_event(made(parents=parents))


def test_a_later_versions_fields_are_kept_and_none_is_there_twice() -> None:
    """Of a field that stands there twice two readers may believe different ones."""
    assert forms.parse_event(made(more=',"later":1,"other":[2]')).added == '"later":1,"other":[2],'
    assert forms.parse_event(made()).added == ""
    for more in (',"later":1,"later":2', ',"kind":"accept"', ',"later":1,"kind":"accept"'):
        with pytest.raises(CorruptLog):
            forms.parse_event(made(more=more))


def segment(*lines: bytes, first: int = 1, line: str = "main") -> tuple[str, bytes]:
    made_of = forms.make_segments(line, [(f"2031-01-0{first}T00:00:00.000000Z", data) for data in lines])
    return made_of[0].name, made_of[0].data


def test_a_segment_in_which_anything_is_wrong_is_not_rested_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """New events name its events as what was before them."""
    one, two = made(), made(ts=2)
    name, data = segment(one, two)
    for path in (f"{name}.jsonl", f"2031/01/01/{name}.jsonl", name):
        assert [found[0] for found in forms.sound_events(path, data)] == [one, two]
    with pytest.raises(CorruptLog, match="first event"):
        forms.sound_events(f"2031/01/02/{name}.jsonl", data)
    for wrong, why in (
        (segment(one, made(line="other")), "mixes lines"),
        (segment(one, first=2), "first event"),
        (segment(one, made(parents=HEADS[::-1])), "not sorted"),
        (segment(one, two[:-1] + b" \n"), "form of an event"),
    ):
        with pytest.raises(CorruptLog, match=why):
            forms.sound_events(*wrong)
    for limit, value in (("MAX_SEGMENT_EVENTS", 1), ("MAX_SEGMENT", len(data) - 1)):
        with monkeypatch.context() as patched:
            patched.setattr(forms, limit, value)
            with pytest.raises(CorruptLog, match="larger than"):
                forms.sound_events(name, data)
    for limit, value in (("MAX_SEGMENT_EVENTS", 2), ("MAX_SEGMENT", len(data))):
        monkeypatch.setattr(forms, limit, value)
    assert len(forms.sound_events(name, data)) == 2


@pytest.mark.parametrize(("version", "error"), [(2, FutureFormat), (1, CorruptLog), (0, CorruptLog)])
def test_only_a_later_version_of_a_segment_is_called_newer(version: int, error: type[Exception]) -> None:
    """Who is told to update Holdfast for a damaged file updates in vain."""
    data = f'{{"holdfast":"segment","v":{version},"odd":true}}\n'.encode()
    with pytest.raises(error):
        forms.segment_lines("name", data)


# ── a segment's own bytes ─────────────────────────────────────────────────────


def event_line(*, parents: Sequence[str] = (), seq: int = 0) -> bytes:
    given = {"ts": "2031-01-01T00:00:00.000000Z", "line": "main", "writer": "w", "head": None, "body": None}
    return forms.make_event(EventDraft("run", run_id="R-1"), seq=seq, parents=tuple(parents), **given)[1]


def test_an_event_larger_than_an_envelope_may_be_is_not_made() -> None:
    """What a reader would refuse must not be written as true."""
    many = tuple(f"{number:064x}" for number in range(70))
    with pytest.raises(TooLarge, match="at most 4096 are stored"):
        event_line(parents=many)
    assert forms.parse_event(event_line(parents=many[:32])).hash_prev == many[:32]


def test_a_segment_is_what_its_name_and_its_header_say() -> None:
    """Any changed byte is found, and said in words that tell what was changed."""
    event, other = event_line(), event_line(seq=1)
    ts = "2031-01-01T00:00:00.000000Z"
    (made,) = forms.make_segments("main", [(ts, event), (ts, other)])
    assert forms.segment_lines(made.name, made.data) == ("main", [event, other])
    header = made.data.split(b"\n")[0] + b"\n"

    def wrong(data: bytes, name: str | None = None) -> str:
        with pytest.raises(CorruptLog) as caught:
            forms.segment_lines(name or forms.segment_name(data), data)
        return str(caught.value).partition(" ")[2].partition(" ")[2]

    assert wrong(made.data, "0" * 32) == "does not match the hash in its name"
    assert wrong(header + event) == "says 2 events and has 1"
    assert wrong(event + other) == wrong(b"") == "does not begin with a segment header"
    assert wrong(header.replace(b'"count":2', b'"count":x') + event) == "does not begin with a segment header"
    twice = header.replace(b"}\n", b',"new":1,"new":2}\n') + event + other
    known = header.replace(b"}\n", b',"count":2}\n') + event + other
    assert wrong(twice) == wrong(known) == "does not begin with a segment header"
    later = header.replace(b"}\n", b',"new":[1,"x"]}\n') + event + other
    assert forms.segment_lines(forms.segment_name(later), later) == ("main", [event, other])
    newer = header.replace(b'"v":1', b'"v":12') + event
    with pytest.raises(FutureFormat, match="format version 12"):
        forms.segment_lines(forms.segment_name(newer), newer)


def test_fields_that_a_later_version_added_are_read() -> None:
    """Whoever shows an event shows all of it."""
    assert forms.added(b'"new":1,"list":["a",null],') == {"new": 1, "list": ["a", None]}
    with pytest.raises(CorruptLog, match="twice"):
        forms.added(b'"new":1,"new":1,')


def test_a_body_is_stored_in_the_words_it_was_said_in() -> None:
    """A body is text that people grep; escapes would hide it and cost more room."""
    assert forms.body_bytes({"said": "Grüße", "n": [1, None]}) == '{"said":"Grüße","n":[1,null]}'.encode()
    assert b"?" in forms.body_bytes({"said": "\udc80"})
    assert len(forms.body_bytes({"x": "y" * (forms.MAX_BODY - 8)})) == forms.MAX_BODY
    with pytest.raises(TooLarge):
        forms.body_bytes({"x": "y" * (forms.MAX_BODY - 7)})


def test_only_a_line_feed_ends_a_line() -> None:
    """A torn last line comes as it is, and so does an empty first one."""
    assert list(forms.split_lines(b"\na\r\x85b\n\nc")) == [b"\n", b"a\r\x85b\n", b"\n", b"c"]
    assert list(forms.split_lines(b"")) == []
