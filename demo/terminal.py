"""The picture of a terminal in the README: real commands in a scratch repository, drawn as an SVG.

    python demo/terminal.py            writes docs/images/terminal.svg

The repository holds one made-up session of Codex (rollout.py). Ids, hashes, dates and the folder are replaced by fixed
ones, so that the picture changes only where the output does.
"""

import os
import pty
import re
import subprocess
import sys
import tempfile
from datetime import timedelta
from html import escape
from pathlib import Path
from typing import NamedTuple

import rollout

from holdfast.security.person import running_agent

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "images" / "terminal.svg"
BIN = Path(sys.executable).parent
COLUMNS, ROWS = 112, 50
AGO = timedelta(hours=2, minutes=30)  # since the session: far from where "2 hours ago" would turn into something else

CELL, LINE, MARGIN, SIZE = 7.8, 18, 16, 13  # pixels: width of a letter, height of a row, border, font size
FONTS = "ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace"
COLOURS = {30: "#6e7681", 31: "#ff7b72", 32: "#7ee787", 33: "#e3b341", 34: "#79c0ff", 35: "#d2a8ff", 36: "#76e3ea"}
PAPER, INK, FAINT, TYPED = "#0d1117", "#c9d1d9", "#8b949e", "#7ee787"


class Style(NamedTuple):
    """How a letter is drawn."""

    colour: str = INK
    bold: bool = False


Cells = list[tuple[str, Style]]

# What differs from run to run, and what stands in its place. Ids keep their kind, and the same one stays the same.
_IDS = re.compile(r"\b(ASM|DEC|DED|FCT|INV|SES|TSK)-[0-9a-z]{4,}")
_FIXED = (
    (_IDS, ""),
    (re.compile(r"\b\d{8}T\d{6}Z-[0-9a-z]{6}\b"), "20261114T090000Z-5d2c1e"),
    (re.compile(r"(?<![-\w])[0-9a-f]{12}\b"), "8c1f0b77d2e4"),
    (re.compile(r"\b20\d\d-\d\d-\d\d \d\d:\d\d\b"), "2026-11-14 09:00"),
    (re.compile(r"\b20\d\d-\d\d-\d\d\b"), "2026-11-14"),
)
_NAMES = ("7f3k2m", "4k2mp0", "c9d1xh", "h2j6tw", "m7a0qe")


def main() -> None:
    picture = draw(record())
    PICTURE.write_text(picture, encoding="utf-8")
    print(f"wrote {PICTURE.relative_to(PICTURE.parent.parent.parent)}", file=sys.stderr)


def record() -> list[Cells]:
    """What the terminal shows, row by row."""
    if agent := running_agent():
        sys.exit(
            f"{agent} is running this: an approval would not count as a person's. Run it in a terminal of your own."
        )
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        shop = home / "shop"
        environ = settle_in(home)
        scratch(shop, environ)
        rows: list[Cells] = []

        def type_in(*command: str, keys: str = "") -> str:
            text = in_terminal(["holdfast", *command], shop, environ, keys)
            shown = [_settled(row) for row in screen(text.replace(str(shop), "~/shop"))]
            typed = _settled(_styled(" ".join(["holdfast", *map(_quoted, command)]), TYPED))
            rows.append([*_styled("$ ", FAINT), *typed])
            rows.extend([*shown, []])
            return text

        begun = type_in("start", keys="y\n")
        waiting = _IDS.search(begun.partition("holdfast review accept ")[2])
        assert waiting, begun
        type_in("review", "accept", waiting[0])
        type_in("recall", "can money be a float", "--limit", "1")
        type_in("why", "checkout.py:2")
        return rows[:-1]


def settle_in(home: Path) -> dict[str, str]:
    """A fresh machine: no settings, no agents but the one whose session is made up."""
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Ada Example\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n", encoding="utf-8"
    )
    return {
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PATH": f"{BIN}{os.pathsep}/usr/bin{os.pathsep}/bin",
        "TERM": "xterm-256color",
        "GIT_CONFIG_NOSYSTEM": "1",
    }


def scratch(shop: Path, environ: dict[str, str]) -> None:
    """A repository in which Codex worked once, before Holdfast was there."""
    shop.mkdir()
    (shop / "README.md").write_text("# A shop\n", encoding="utf-8")

    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=shop, env=environ, check=True, capture_output=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "A shop")
    rollout.write(Path(environ["HOME"]), shop, ago=AGO)
    git("add", ".")
    git("commit", "-q", "-m", "Add up the prices at the checkout")


def in_terminal(command: list[str], folder: Path, environ: dict[str, str], keys: str) -> str:
    """What a command prints on a terminal where `keys` are typed as soon as it asks."""
    child, terminal = pty.fork()
    if not child:
        os.chdir(folder)
        sized = environ | {"COLUMNS": str(COLUMNS), "LINES": str(ROWS)}
        os.execvpe(command[0], command, sized)
    printed = b""
    while True:
        try:
            more = os.read(terminal, 1 << 16)
        except OSError:  # Linux says so when the other side is closed
            more = b""
        if not more:
            break
        printed += more
        if keys and b"[y/N]" in printed:
            os.write(terminal, keys.encode())
            keys = ""
    os.close(terminal)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        sys.exit(f"{' '.join(command)} failed:\n{printed.decode(errors='replace')}")
    return printed.decode()


def screen(text: str) -> list[Cells]:
    """What stays on a terminal after this was printed: lines that were overwritten are gone."""
    rows: list[Cells] = [[]]
    column, style = 0, Style()
    for part in re.split(r"(\x1b\[[\d;?]*[a-zA-Z]|\r|\n)", text):
        if part == "\n":
            rows.append([])
            column = 0
        elif part == "\r":
            column = 0
        elif part.startswith("\x1b["):
            if part[-1] == "m":
                style = _sgr(part[2:-1], style)
            elif part[-1] == "K":
                del rows[-1][column:]
        else:
            for letter in part:
                rows[-1][column : column + 1] = [(letter, style)]
                column += 1
    while rows and not rows[-1]:
        rows.pop()
    return rows


def _sgr(codes: str, style: Style) -> Style:
    for code in (int(code or 0) for code in codes.split(";")):
        if code == 0:
            style = Style()
        elif code == 1:
            style = style._replace(bold=True)
        elif code == 2:
            style = style._replace(colour=FAINT)
        elif code == 22:
            style = style._replace(bold=False, colour=INK)
        elif code == 39:
            style = style._replace(colour=INK)
        else:
            style = style._replace(colour=COLOURS.get(code - 60 if code >= 90 else code, style.colour))
    return style


def draw(rows: list[Cells]) -> str:
    """The rows as a picture that asks no other host for anything."""
    rows = [row[at : at + COLUMNS] for row in rows for at in range(0, max(len(row), 1), COLUMNS)]
    width, height = round(COLUMNS * CELL + 2 * MARGIN), len(rows) * LINE + 2 * MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
        f'<rect width="{width}" height="{height}" rx="8" fill="{PAPER}"/>',
        f'<g font-family="{FONTS}" font-size="{SIZE}" xml:space="preserve">',
    ]
    for number, row in enumerate(rows):
        y, column = MARGIN + number * LINE + SIZE, 0
        for text, style in _pieces(row):
            if seen := text.rstrip():
                weight = ' font-weight="bold"' if style.bold else ""
                at = f'x="{MARGIN + column * CELL:.1f}" y="{y}" textLength="{len(seen) * CELL:.1f}"'
                lines.append(f'<text {at} fill="{style.colour}"{weight}>{escape(seen, quote=False)}</text>')
            column += len(text)
    return "\n".join([*lines, "</g>", "</svg>", ""])


def _pieces(row: Cells) -> list[tuple[str, Style]]:
    """Neighbours of one style as one text that begins with no blank: SVG readers differ in how they keep those."""
    found: list[tuple[str, Style]] = []
    for letter, style in row:
        blank = letter == " "
        if found and found[-1][1] == style and (found[-1][0].isspace() == blank or not found[-1][0].isspace()):
            found[-1] = (found[-1][0] + letter, style)
        else:
            found.append((letter, style))
    return found


def _styled(text: str, colour: str) -> Cells:
    return [(letter, Style(colour)) for letter in text]


def _quoted(word: str) -> str:
    return f'"{word}"' if " " in word else word


_seen: dict[str, str] = {}


def _fixed_id(found: re.Match[str]) -> str:
    return _seen.setdefault(found[0], f"{found[1]}-{_NAMES[len(_seen) % len(_NAMES)]}")


def _settled(row: Cells) -> Cells:
    """The row with fixed ids, hashes and dates, each in the style of what it stands for."""
    for pattern, fixed in _FIXED:
        text = "".join(letter for letter, _ in row)
        for found in reversed([*pattern.finditer(text)]):
            name = fixed or _fixed_id(found)
            row[found.start() : found.end()] = [(letter, row[found.start()][1]) for letter in name]
    return row


if __name__ == "__main__":
    main()
