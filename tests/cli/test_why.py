"""`holdfast why`: what people read when they ask where a line comes from."""

import json
import re
from pathlib import Path

import pytest

from holdfast.model.text import has_hidden
from holdfast.project import Project
from tests.conftest import PAST, Cli, golden
from tests.recall.authors import World

FILE = "src/carrier.py"
LINE = "RETRIES = attempts_before_giving_up(3)"
OTHER = "TIMEOUT = seconds_until_the_carrier_hangs_up(30)"
MINE = "BACKOFF = what_the_person_typed_by_hand(7)"
IDS = re.compile(r"\b\d{8}T\d{6}Z-\w{6}\b|\b(?:DEC|INV)-\w{6}\b|(?<=commit )[0-9a-f]{12}\b")


@pytest.fixture
def scene(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> World:
    """Two runs and a person in one file, under two decisions of which one was replaced."""
    made = World.make(tmp_path, tmp_path_factory.getbasetemp() / "authors" / "repo")
    project = Project.open(made.repo.path, person=True)
    old = project.memory.remember("Try three times.", kind="decision", why="calls drop", applies_to=[FILE], accept=True)
    first = made.session().told(FILE).asks("Make carrier calls sturdy, please.")
    first.writes(FILE, ["import os", LINE]).commits("Retry carrier calls")
    first.ends()
    made.write(FILE, ["import os", LINE, "", MINE])
    made.commit("By hand")
    second = made.session().asks("And let them end some time.")
    second.patches(FILE, ["import os", LINE, "", MINE, OTHER], [OTHER], []).ends()
    project.memory.supersede(old.id, "Try five times.", accept=True)
    project.memory.remember("Names are English.", kind="invariant", evidence=["README"], applies_to=["**"], accept=True)
    return made


def screen(text: str) -> str:
    """A screen with names in the place of what is new each time, the same for the same."""
    names: dict[str, str] = {}
    return IDS.sub(lambda found: names.setdefault(found[0], f"<{len(names) + 1}>"), text)


def test_the_screens_say_who_and_why(scene: World) -> None:
    """What is read first must be what was asked for."""
    cli = Cli(scene.repo.path)
    for name, place in (("line", f"{FILE}:2"), ("file", FILE), ("range", f"{FILE}:2-5")):
        found = PAST.sub("9 days ago", screen(cli("why", place).out))
        golden(f"why-{name}", found)


def test_nothing_hides_in_json(scene: World) -> None:
    """A line of a file may steer a terminal, or an agent that reads the answer."""
    scene.write(FILE, ["\x1b[31mred = what_the_person_typed\u202e(7)"])
    out = Cli(scene.repo.path)("why", f"{FILE}:1", "--json").out
    (text,) = json.loads(out)["answers"][0]["text"]
    assert not has_hidden(text) and "what_the_person_typed" in text


def test_json_has_every_word_and_errors_have_a_next_step(scene: World) -> None:
    """Scripts and agents ask, too; and a slip of the pen must not end in a riddle."""
    cli = Cli(scene.repo.path / "src")
    found = json.loads(cli("why", "carrier.py:2", "--json").out)
    (answer,) = found["answers"]
    assert (found["v"], found["path"], answer["state"]) == (1, FILE, "recorded")
    assert answer["turns"][0]["prompt"] == "Make carrier calls sturdy, please."
    assert [one["holds"] for one in found["governs"]].count(False) == 1
    assert json.loads(cli("why", "carrier.py", "--json").out)["runs"][0]["count"] == 1
    missing = cli("why", "carrier.py:99", ok=False)
    assert missing.code == 14 and "has 5 lines" in missing.err and "hint:" in missing.err
    (scene.repo / "src" / "new.py").write_text("\x1b[31mred\n")
    odd = cli("why", "new.py")
    assert "git does not track src/new.py" in odd.err and "\x1b" not in odd.out
