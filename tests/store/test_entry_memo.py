"""What an entry says is the same whether it was taken apart now or before."""

import sqlite3
from datetime import UTC, datetime

import pytest

from holdfast.model.memory import Accepted, Retired
from holdfast.model.task import Checkpoint, Task
from holdfast.security.redact import Scanner
from holdfast.store import entry_memo, layout, memory_files, task_files
from holdfast.store.entry_memo import FEW, EntryMemo

MANY = FEW + 1
WHEN = datetime(2026, 11, 16, 12, tzinfo=UTC)


def _memories(count: int) -> dict[str, str]:
    made = {}
    for number in range(count):
        kind = Retired if number % 5 == 0 else Accepted
        memory = kind(
            id=f"FCT-{number:06d}",
            type="fact",
            statement=f"Pier {number} is long — très long.",
            details="Because.",
            tags=("sea", "pier"),
            confidence=0.5 if number % 2 else None,
            evidence=(f"run:r{number}",),
            expires_at=WHEN if number % 3 == 0 else None,
            extra=(("colour", "colour: blue"),) if number % 4 == 0 else (),
        )
        made[f"{number:040x}"] = memory_files.render(memory)
    return made


def _tasks(count: int) -> dict[str, str]:
    reached = Checkpoint(commit="a" * 40, tree="b" * 40, patch_id=None)
    tasks = [
        Task(
            id=f"TSK-{n:06d}",
            title=f"Mend pier {n}",
            needs=(f"TSK-{n + 1:06d}",),
            notes="Long.\n\nNotes.",
            checkpoint=reached if n % 7 == 0 else None,
            status="done" if n % 7 == 0 else "open",
        )
        for n in range(count)
    ]
    return {f"{n:040x}": task_files.render(task) for n, task in enumerate(tasks)}


def _asked(texts: dict[str, str], memo: EntryMemo, folder: str) -> tuple[dict[str, str], list[str]]:
    asked: list[str] = []

    def ask(blobs: list[str]) -> dict[str, bytes]:
        asked.extend(blobs)
        return {blob: texts[blob].encode() for blob in blobs}

    return memo.texts(folder, texts, ask), asked


def test_the_next_process_asks_for_nothing_and_reads_the_same(tmp_path) -> None:
    for folder, texts, module in (
        (layout.MEMORY, _memories(MANY), memory_files),
        (layout.TASKS, _tasks(MANY), task_files),
    ):
        path = str(tmp_path / f"{module.__name__}.db")
        wanted = [module.parse(text, "x.md") for text in texts.values()]
        assert _asked(texts, EntryMemo(path, Scanner()), folder) == (texts, list(texts))
        module._known_texts.clear()
        second = EntryMemo(path, Scanner())
        assert _asked(texts, second, folder) == (texts, [])
        assert second.clean == set(texts)
        assert set(texts.values()) <= set(module._known_texts)
        assert [module.parse(text, "x.md") for text in texts.values()] == wanted


def test_a_text_with_a_secret_is_never_kept(tmp_path) -> None:
    texts = _memories(MANY + 1)
    last = list(texts)[-1]
    texts[last] = texts[last].replace("Because.", "password = 'hunter2-Xy7kQ9'")
    path = tmp_path / "memo.db"
    _asked(texts, EntryMemo(str(path), Scanner()), layout.MEMORY)
    second = EntryMemo(str(path), Scanner())
    assert _asked(texts, second, layout.MEMORY) == (texts, [last])
    assert last not in second.clean
    assert b"hunter2" not in path.read_bytes()


def test_other_rules_look_at_everything_again(tmp_path) -> None:
    texts = _memories(MANY)
    path = str(tmp_path / "memo.db")
    _asked(texts, EntryMemo(path, Scanner()), layout.MEMORY)
    other = EntryMemo(path, Scanner((r"pier-[0-9]+",)))
    assert _asked(texts, other, layout.MEMORY)[1] == list(texts)


@pytest.mark.parametrize("fields", ["[1, 2", None, b"\xff", ""])
def test_a_damaged_row_is_read_again(tmp_path, fields: str | bytes | None) -> None:
    texts = _memories(MANY)
    path = str(tmp_path / "memo.db")
    _asked(texts, EntryMemo(path, Scanner()), layout.MEMORY)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE entry SET fields = ? WHERE blob = ?", (fields, list(texts)[3]))
    db.close()
    assert _asked(texts, EntryMemo(path, Scanner()), layout.MEMORY) == (texts, [list(texts)[3]])


def test_what_a_view_shows_of_a_text_is_made_once(tmp_path) -> None:
    texts = _memories(MANY)
    path, made = str(tmp_path / "memo.db"), []

    def make(text: str) -> str:
        made.append(text)
        return text.upper()

    for _ in range(2):
        assert EntryMemo(path, Scanner()).shown("page", texts, make) == {b: t.upper() for b, t in texts.items()}
    assert made == list(texts.values())
    EntryMemo(path, Scanner()).shown("state", texts, make)
    assert len(made) == 2 * MANY


def test_old_texts_make_room(tmp_path) -> None:
    path = str(tmp_path / "memo.db")
    for start in range(0, 40 * MANY, MANY):
        texts = {f"{start + n:040x}": text for n, text in enumerate(_memories(MANY).values())}
        _asked(texts, EntryMemo(path, Scanner()), layout.MEMORY)
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM entry").fetchone()[0] <= 2 * (entry_memo.ROOM + 1) * MANY
    db.close()
