"""Session files: whole or not there, changed one after the other, damaged ones left alone."""

import json
import os
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.errors import Ambiguous, BadInput, CorruptLog, FutureFormat, NotFound, TooLarge
from holdfast.model.session import MAX_TURNS, Session, SessionAnchor, SessionTurn, add_items, to_object
from holdfast.store import fsio, session_files, statistics
from holdfast.store.layout import Layout
from holdfast.values import replace

TS = "2026-11-16T00:00:00.000000Z"


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(str(tmp_path), str(tmp_path / "private"))


def made(name: str = "SES-abc123", *, branch: str | None = "main", line: str = "l1", **fields: object) -> Session:
    at = SessionAnchor(TS, None, branch)
    known = {"id": name, "line": line, "worktree": ".", "started": at, "updated": at}
    return Session(**{**known, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("branch", "middle"),
    [
        ("main", "main"),
        ("feature/login form", "feature-login-form"),
        ("žluťoučký/kůň", "zlutoucky-kun"),
        ("日本語", "entry"),
        ("x/" * 100 + "end", "-".join("x" * 20)),
        (None, "detached"),
    ],
)
def test_any_branch_name_gives_a_short_plain_file_name(layout: Layout, branch: str | None, middle: str) -> None:
    """A file that a disk refuses is a session that is lost; the true name stands inside."""
    path = session_files.save(layout, made(branch=branch))
    assert os.path.basename(path) == f"20261116T000000Z_{middle}-SES-abc123.json"
    assert session_files.find(layout, "SES-abc123").branch == branch
    assert os.stat(path).st_mode & 0o077 == 0


def test_a_session_is_found_by_the_beginning_of_its_id(layout: Layout) -> None:
    """Nobody types six random characters."""
    session_files.save(layout, made("SES-abc123"))
    session_files.save(layout, made("SES-abd456"))
    assert session_files.find(layout, "abc").id == "SES-abc123"
    with pytest.raises(Ambiguous):
        session_files.find(layout, "SES-ab")
    with pytest.raises(NotFound):
        session_files.find(layout, "SES-zz")


def test_lookups_by_line_and_state(layout: Layout) -> None:
    """Another branch's session must not pass for this one's."""
    at = SessionAnchor(TS, None, "main")
    session_files.save(layout, made("SES-1"))
    session_files.save(layout, made("SES-2", line="l2"))
    session_files.save(layout, made("SES-3", worktree="tree-1"))
    session_files.save(layout, made("SES-4", state="ended", ended=at))
    session_files.save(layout, made("SES-5", agent_session="abc", updated=replace(at, ts=TS.replace("00Z", "01Z"))))
    names = lambda found: [one.id for one in found]  # noqa: E731
    assert names(session_files.opened(layout, line="l1", worktree=".")) == ["SES-1", "SES-5"]
    assert names(session_files.opened(layout, agent_session="abc")) == ["SES-5"]
    assert names(session_files.of_line(layout, "l1")) == ["SES-1", "SES-3", "SES-4", "SES-5"]
    assert names(session_files.all(layout)) == [f"SES-{n}" for n in range(1, 6)]


def test_few_of_many_old_sessions_are_read(layout: Layout) -> None:
    """After a year there are thousands; a start must not read them all to find the few that matter."""
    at = SessionAnchor(TS, None, "main")
    for n in range(30):
        began = replace(at, ts=f"2026-11-{n + 1:02d}T00:00:00.000000Z", branch="main" if n % 10 else "old/line")
        ended = {} if n == 5 else {"state": "ended", "ended": at}
        session_files.save(layout, made(f"SES-{n:02d}", started=began, **ended))
    found = session_files.likely([layout], branch="old/line", most=4)
    assert [one.id for one in found] == [f"SES-{n:02d}" for n in (0, 5, 10, 20, 26, 27, 28, 29)]
    whole = Path(session_files.path_of(layout, "SES-02"))
    whole.write_bytes(whole.read_bytes()[:300])  # torn, but it says that it ended
    assert [one.id for one in session_files.opened(layout)] == ["SES-05"] and layout.notes == []
    assert len(session_files.all(layout)) == 29 and len(layout.notes) == 1


DAMAGE = [b"", b"{", b"[]", b'{"version": 1}', b"\xff\xfe", b"[" * 100_000]


@pytest.mark.parametrize("data", DAMAGE)
def test_a_damaged_file_is_left_out_said_and_never_written_over(layout: Layout, data: bytes) -> None:
    """What a disk tore may still be mended by hand; a rewrite would end that."""
    session_files.save(layout, made("SES-whole1"))
    path = Path(session_files.save(layout, made("SES-torn11")))
    path.write_bytes(data)
    assert [one.id for one in session_files.all(layout)] == ["SES-whole1"]
    assert any("SES-torn11" in note for note in layout.notes)
    with pytest.raises(CorruptLog):
        session_files.update(layout, "SES-torn11", lambda old: replace(old, summary="new"))
    with pytest.raises(BadInput):
        session_files.save(layout, made("SES-torn11"))
    assert path.read_bytes() == data
    assert [os.path.basename(p) for p, _ in session_files.damaged(layout)] == [path.name]


def test_a_newer_file_is_left_out_and_left_alone(layout: Layout) -> None:
    """Two versions of Holdfast share one clone while somebody updates."""
    path = Path(session_files.save(layout, made()))
    path.write_text(json.dumps({**to_object(made()), "version": 9}))
    assert session_files.all(layout) == []
    with pytest.raises(FutureFormat):
        session_files.update(layout, "SES-abc123", lambda old: old)


def test_a_file_under_another_name_does_not_count(layout: Layout) -> None:
    """A copy made by hand must not be a second session with the same id."""
    path = Path(session_files.save(layout, made()))
    (path.parent / path.name.replace("SES-abc123", "SES-copy01")).write_bytes(path.read_bytes())
    (path.parent / "notes.json").write_text("mine")
    os.symlink(path, path.parent / path.name.replace("SES-abc123", "SES-link01"))
    assert [one.id for one in session_files.all(layout)] == ["SES-abc123"]
    assert len(layout.notes) == 2


def test_what_could_not_be_read_back_is_not_stored(layout: Layout) -> None:
    """A session that only its writer understands is lost to everybody else."""
    path = Path(session_files.save(layout, made()))
    before = path.read_bytes()
    with pytest.raises(BadInput):
        session_files.update(layout, "abc", lambda old: replace(old, state="ended"))
    with pytest.raises(BadInput):
        session_files.update(layout, "abc", lambda old: replace(old, id="SES-other1"))
    turn = SessionTurn(n=1, anchor=SessionAnchor(TS, None, None), summary="x" * 20_000)
    many = tuple(replace(turn, n=n) for n in range(1, 400))
    with pytest.raises(TooLarge):
        session_files.update(layout, "abc", lambda old: replace(old, turns=many))
    assert len(many) < MAX_TURNS and path.read_bytes() == before


def test_half_a_character_survives(layout: Layout) -> None:
    """File names and branches on Linux may be no text at all."""
    session_files.save(layout, made(branch="caf\udce9"))
    again = session_files.update(layout, "abc", lambda old: replace(old, summary="x"))
    assert session_files.find(layout, "abc").branch == again.branch == "caf\udce9"


def in_processes(count: int, act: Callable[[int], None]) -> None:
    """Run something in many processes at once; all must end well."""
    pids = []
    for number in range(count):
        pid = os.fork()
        if pid == 0:
            try:
                act(number)
                os._exit(0)
            except BaseException:  # noqa: BLE001 - a child of a test must not run the rest of it
                traceback.print_exc()
                os._exit(1)
        pids.append(pid)
    assert [os.waitpid(pid, 0)[1] for pid in pids] == [0] * count


def test_sixteen_processes_noting_at_once_lose_nothing(layout: Layout) -> None:
    """Agents in parallel share a session file; each acknowledged note must be in it."""
    session_files.save(layout, made())

    def note(number: int) -> None:
        for turn in range(4):
            text = f"{number}.{turn}"
            session_files.update(
                layout, "abc", lambda old, t=text: replace(old, open=add_items(old.open, [t], letter="o", ts=TS))
            )

    in_processes(16, note)
    found = session_files.find(layout, "abc").open
    assert {item.text for item in found} == {f"{n}.{t}" for n in range(16) for t in range(4)}
    assert sorted(int(item.id[1:]) for item in found) == list(range(1, 65))


def test_of_sixteen_first_starts_one_makes_the_session(layout: Layout) -> None:
    """Two sessions for the same work would each hold half of it."""

    def begin(number: int) -> None:
        session_files.start(layout, lambda there: there[0] if there else made(f"SES-p{number}"))

    in_processes(16, begin)
    assert len(session_files.all(layout)) == 1


def test_model_calls_are_counted_across_processes_and_by_day(layout: Layout) -> None:
    """A budget that two agents can each use up is no budget."""

    def call(number: int) -> None:
        statistics.take_model_call(layout, "2026-11-16", limit=10)

    in_processes(16, call)
    assert statistics.model_calls_used(layout, "2026-11-16") == 10
    assert statistics.take_model_call(layout, "2026-11-16", limit=10) is None
    assert statistics.take_model_call(layout, "2026-11-17", limit=10) == 1
    fsio.replace(os.path.join(layout.sessions, "model-calls.json"), b"{torn")
    assert statistics.model_calls_used(layout, "2026-11-17") == 0
    assert session_files.all(layout) == [] and layout.notes == []


def test_a_start_stores_what_is_made_or_goes_on_with_what_is_open(layout: Layout) -> None:
    """Two agents that start at once must find one another, not each make a session."""
    first = session_files.start(layout, lambda there: made() if there == [] else there[0])
    assert first == made() and session_files.find(layout, "SES-abc123") == first
    path = session_files.path_of(layout, "SES-abc123")
    before = os.stat(path).st_ino
    again = session_files.start(layout, lambda there: there[0])
    assert again == first and os.stat(path).st_ino == before
    second = session_files.start(layout, lambda there: made(f"SES-{len(there)}"))
    assert second.id == "SES-1" and {one.id for one in session_files.opened(layout)} == {"SES-abc123", "SES-1"}


def test_a_newer_or_a_vanished_file_is_named(layout: Layout) -> None:
    """Which file it is must be known to whoever updates Holdfast."""
    path = session_files.save(layout, made())
    Path(path).write_text(Path(path).read_text().replace('"version": 1', '"version": 99'))
    with pytest.raises(FutureFormat, match=r"SES-abc123\.json is from a newer Holdfast"):
        session_files.read(path)
    with pytest.raises(NotFound, match="there is no session SES-none"):
        session_files._path_of(layout, "SES-none")
    session_files.remove(layout, "SES-abc123")
    assert not os.path.exists(path) and session_files.ids(layout) == []


def test_a_session_that_ended_is_not_open_whatever_its_file_looks_like(layout: Layout) -> None:
    """The next note would go into a session that somebody closed."""
    ended = made("SES-ended1", state="ended", ended=SessionAnchor(TS, None, "main"))
    path = session_files.save(layout, ended)
    turned = dict(reversed(to_object(ended).items()))  # as a later version or a hand may write it
    Path(path).write_text(json.dumps(turned))
    session_files.save(layout, made("SES-open22"))
    assert [one.id for one in session_files.opened(layout)] == ["SES-open22"]


def test_of_several_stores_the_firsts_word_counts(layout: Layout, tmp_path: Path) -> None:
    """What a sandbox kept beside the store must not take the place of what is in it."""
    other = Layout(str(tmp_path), str(tmp_path / "other"))
    session_files.save(layout, made("SES-2", objective="ours"))
    session_files.save(other, made("SES-2", objective="theirs"))
    session_files.save(other, made("SES-1", objective="only theirs"))
    found = session_files.everywhere([layout, other])
    assert [(one.id, one.objective) for one in found] == [("SES-1", "only theirs"), ("SES-2", "ours")]


def test_a_session_cannot_become_another(layout: Layout) -> None:
    """Its file's name says when and where it began: nobody would find it again."""
    session_files.save(layout, made("SES-1"))
    for change in ({"id": "SES-2"}, {"started": SessionAnchor(TS, None, "another")}):
        with pytest.raises(BadInput, match="cannot become another session"):
            session_files.update(layout, "SES-1", lambda old, change=change: replace(old, **change))
    assert session_files.find(layout, "SES-1") == made("SES-1")
