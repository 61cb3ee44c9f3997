"""The turns of a run: found one by one, and only as long as the run's capsule is here."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

from holdfast.git.clone import Clone
from holdfast.index.refresh import path_of, refresh
from holdfast.index.sqlite import Index, drop
from tests.conftest import GitRepo
from tests.index.conftest import ran

RUN = "20261115T194203Z-abc003"
TURNS: list[dict[str, Any]] = [
    {
        "turn": 1, "ts": "2026-11-15T19:42:00.000001Z", "by": "user",
        "prompt": "Why does alpha fail?", "line": "Found the leak in the parser",
        "said": ["It held the file open."], "files": ["src/parser.py"],
        "commits": [],
    },
    {
        "turn": 2, "ts": "not a time", "by": "user", "prompt": "Then mend getUserName.",
        "line": "", "said": [], "files": ["src/names.py", "src/parser.py"], "commits": ["abc1234"],
    },
    {"turn": 3, "prompt": "", "line": "", "said": [], "files": []},
    {"turn": "4", "prompt": ["odd"], "line": 5, "said": "x", "files": None},
]  # fmt: skip


def capsule(clone: Clone, turns: list[Any] = TURNS) -> Path:
    folder = Path(clone.layout.run(RUN), "outputs")
    folder.mkdir(parents=True)
    lines = "".join(f"{json.dumps(row)}\n" for row in turns)
    (folder / "turns.jsonl").write_text(lines + "not json\n", encoding="utf-8")
    (folder.parent / "context.json").write_text('{"agent": {"name": "claude", "model": "opus"}}')
    return folder.parent


def rows(clone: Clone) -> list[tuple[Any, ...]]:
    index = Index(path_of(clone))
    refresh(clone, index)
    found = index.db.execute(
        "SELECT t.name, t.seq, t.title, t.text, p.name, t.shown, t.context, "
        "(SELECT group_concat(path.name) FROM touch, path WHERE touch.row = t.id AND path.id = touch.path) "
        "FROM row AS t JOIN row AS p ON p.id = t.parent WHERE t.kind = 'turn' ORDER BY t.seq"
    ).fetchall()
    words = index.db.execute("SELECT count(*) FROM words WHERE words MATCH 'mend'").fetchone()[0]
    assert words == sum("mend" in row[3] and row[5] for row in found)
    index.close()
    return found


def test_each_turn_is_found_with_its_run_around_it(clone: Clone) -> None:
    """The answer to "what did we ask it then" is one turn, not a day's work."""
    capsule(clone)
    ran(clone, 3, task="T-9", output_sha256="0" * 64)

    found = rows(clone)

    assert [row[:5] for row in found] == [
        (f"{RUN}#1", 1, "Found the leak in the parser", "Why does alpha fail?\nIt held the file open.", RUN),
        (f"{RUN}#2", 2, "Then mend getUserName.", "Then mend getUserName.", RUN),
    ]
    assert [row[7] for row in found] == ["src/parser.py", "src/parser.py,src/names.py"]
    assert all("claude" in row[6] and RUN in row[6] for row in found)


def test_turns_come_and_go_with_their_capsule(clone: Clone) -> None:
    """A pruned run must not be found in an old index, nor a restored one be missed (law 7)."""
    ran(clone, 3, task="T-9", output_sha256="0" * 64)
    assert rows(clone) == []

    folder = capsule(clone)
    came = rows(clone)
    shutil.rmtree(folder)
    went = rows(clone)
    capsule(clone)
    again = rows(clone)
    drop(path_of(clone))

    assert len(came) == 2 and went == []
    assert came == again == rows(clone)


def test_turns_of_another_line_are_hidden(clone: Clone, repo: GitRepo) -> None:
    """What was asked on one branch is not told on another."""
    repo.git("switch", "-q", "-c", "topic")
    capsule(clone)
    ran(clone, 3, task="T-9", output_sha256="0" * 64)
    here = rows(clone)
    repo.git("switch", "-q", "main")

    assert [row[5] for row in here] == [1, 1]
    assert not any(row[5] for row in rows(clone))
    repo.git("switch", "-q", "topic")
    assert rows(clone) == here
    assert os.path.exists(path_of(clone))
