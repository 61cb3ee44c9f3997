"""Texts of strangers in every field of the review screen: shown as text, whatever they look like.

Nothing in them becomes markup, a link, an action or an escape; no key ends the screen; and a text of ten
thousand lines or one endless word does not hold it up.
"""

import random
import time
from typing import Any

import pytest
from rich.segment import Segment

from tests.laws.attacks import HIDDEN, unseen
from tests.tui.conftest import Room
from tests.tui.screens import NARROW, SMALL, WIDE, Driven, drive

MARKUP = [
    "[link=https://evil.example]here[/link]",
    "[@click=app.quit]press[/]",
    '[@click="screen.approve"]a[/]',
    "[on red blink]loud[/]",
    "[/] [/red] [[ ]] [ [bold",
    "\\[red] \\\\[b]x",
    "$primary {markup} %s {0} &lt;b&gt;",
    ":skull: :link:",
    "\x1b]8;;https://evil.example\x1b\\x\x1b]8;;\x1b\\",
    "\x1b[?1049l\x1b[2J\x1b[31m",
    "[bold",
    "]" * 200 + "[" * 200,
    "A" * 5_000,
    "\u0301" * 300 + "e",
    "\u200b" * 400,
    "表" * 300,
    "\t" * 80 + "x",
    "👩\u200d👩\u200d👧" * 60,
]
LONG = "\n\n".join(f"Rationale: line {n} [@click=app.quit]x[/]" for n in range(10_000))
KEYS = ["e", "escape", "m", "escape", "r", "escape", "a", "j", "k", "pagedown", "slash", "escape", "question_mark"]


def safe_screen(screen: Driven) -> None:
    """Nothing on it steers a terminal, and nothing of it can be clicked or followed."""
    text = screen.text
    assert unseen(text.replace("\u0301", "")) == []
    for strip in screen.app.screen._compositor.render_strips():
        for segment in strip:
            assert isinstance(segment, Segment)
            style = segment.style
            assert style is None or style.link is None, segment
            assert style is None or "@click" not in style.meta, segment


def words(rng: random.Random) -> str:
    """A few hostile texts with plain words around them."""
    parts = [rng.choice([*MARKUP, *HIDDEN.values()]) for _ in range(rng.randint(1, 3))]
    return " and ".join(["Use tabs", *parts])


def one_line(rng: random.Random) -> str:
    return " ".join(words(rng).split())[:180]


def fields(rng: random.Random) -> dict[str, Any]:
    return {
        "details": f"Rationale: {words(rng)}\n\nRejected: {words(rng)}",
        "tags": ["".join(rng.choice(MARKUP)[:30].replace(",", "").split()) or "x"],
        "applies_to": ["src/" + one_line(rng)[:60].replace("/", "").replace("\\", "")],
    }


def attacked(room: Room, rng: random.Random, number: int) -> int:
    """Candidates of hostile texts; what the store itself refuses is no attack on the screen."""
    made = 0
    for n in range(10 * number):
        if made == number:
            break
        try:
            room.propose(f"DEC-{n}", words(rng)[:900], **fields(rng))
            made += 1
        except Exception as error:  # noqa: BLE001 - its type is checked
            assert type(error).__module__.startswith("holdfast"), error
    return made


def pressed(room: Room, rng: random.Random, size: tuple[int, int], keys: list[str]) -> None:
    async def act(screen: Driven) -> None:
        safe_screen(screen)
        for key in keys:
            await screen.press(key)
            safe_screen(screen)
        assert screen.app.is_running

    drive(room.project, act, size)


def test_no_text_of_a_stranger_is_markup_or_an_action(room: Room, seed: int) -> None:
    """Somebody reviews what agents proposed; a click on a word must not approve, quit or open a page."""
    rng = random.Random(seed)
    assert attacked(room, rng, 3) == 3
    pressed(room, rng, rng.choice([WIDE, NARROW, SMALL]), [*KEYS, "escape"])


def test_names_of_files_branches_and_diffs_are_text(room: Room) -> None:
    """A stranger names files and branches, too; they stand beside the memory, and in errors."""
    evil = "src/[@click=app.quit]x[/] [link=u].py"
    room.repo.commit(evil, "a = 1\nb = '[red]\x1b[31m'\n", "[@click=app.quit]message[/]")
    room.repo.git("switch", "-q", "-c", "b-{red}-\u202ex")
    cited = room.propose("DEC-1", "Use tabs", evidence=[evil])
    room.project.memory.accept(cited.id)
    room.repo.commit(evil, "a = 2\nb = '[blink]\x1b[2J\u200b'\n", "changed")
    room.propose("DEC-2", "Use spaces [b]x[/b]", evidence=[evil])

    async def act(screen: Driven) -> None:
        for key in ("j", "k", "a", "m"):
            await screen.press(key)
            safe_screen(screen)
        await screen.type("[@click=app.quit]nothing[/]\x1b[31m")
        await screen.press("enter")
        safe_screen(screen)
        assert "[@click=app.quit]" in screen.text

    drive(room.project, act, WIDE)


def test_ten_thousand_lines_and_one_endless_word_do_not_hold_it_up(room: Room) -> None:
    """A page that takes a minute to draw keeps everything behind it from being reviewed."""
    room.propose("DEC-1", "Use tabs " + "A" * 900, details=LONG[:60_000])
    room.propose("DEC-2", "Use spaces", details="B" * 60_000)
    began = time.process_time()
    pressed(room, random.Random(0), NARROW, ["j", "k", "pagedown", "e", "escape"])
    assert time.process_time() - began < 20, "seconds of work, however busy the machine is"


@pytest.mark.torture
@pytest.mark.parametrize("number", range(60))
def test_no_text_of_a_stranger_is_markup_or_an_action_at_length(room: Room, seed: int, number: int) -> None:
    rng = random.Random(seed + number)
    attacked(room, rng, 6)
    keys = [rng.choice(KEYS) for _ in range(25)]
    pressed(room, rng, rng.choice([WIDE, NARROW, SMALL]), [*keys, "escape", "escape"])
