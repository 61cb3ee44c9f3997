"""How many tokens a text takes, counted high: whatever model reads it, it should find no more.

Tokenizers differ and none is at hand, so each kind of character is counted as those that split it finest do.
Four letters of a word make one token, its space among them (models take a whole short word for one); of
capitals three, of runs longer than words two. Every digit and every sign is one: some models read digits one
by one. Any other character takes one token less than it has bytes in UTF-8: an accent one, a Chinese
character two, an emoji three. A line break is one. So it is never less than a quarter of the bytes.
"""

from functools import lru_cache

from holdfast.patterns import regex

HOW = "4 letters, 1 digit or 1 sign each"
_PIECES = regex(r" ?[A-Z]?[a-z]+| ?[A-Z]+|[\x00-\x7f]|[^\x00-\x7f]+")
_WORD, _LONG = 4, 14  # letters of a token; from how many on a run of letters is no word


@lru_cache(maxsize=4096)  # lines are counted each time a section is cut anew
def count(text: str) -> int:
    """The tokens of a text; of several lines it is the sum over the lines and their ends."""
    return sum(map(_piece, _PIECES.findall(text)))


def _piece(piece: str) -> int:
    if not piece.isascii():
        return len(piece.encode("utf-8", "replace")) - len(piece)
    if len(piece) == 1:
        return 1
    letters = piece.strip(" ")
    size = 2 if len(letters) > _LONG else 3 if letters.isupper() else _WORD
    return -(-len(piece) // size)


def of_line(line: str) -> int:
    """The tokens of a line and its end; nothing for none."""
    return count(line) + 1 if line else 0


def clipped(text: str, room: int) -> str:
    """A text of at most `room` tokens, with a mark where it was cut."""
    if len(text.encode("utf-8", "replace")) <= room or count(text) <= room:
        return text
    left, end = room - 2, 0  # the mark takes two
    for found in _PIECES.finditer(text):
        piece = found[0]
        if (cost := _piece(piece)) > left:
            end += max(0, left // 3 if not piece.isascii() else 2 * left - 1)  # a part is never dearer
            break
        left -= cost
        end = found.end()
    return text[:end].rstrip() + "…"
