"""Law 12: invisible and control characters never reach a terminal unmarked."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.text import has_hidden, visible

STEERING = {
    "a colour": "\x1b[31mred",
    "a window title": "\x1b]0;owned\x07",
    "an 8-bit sequence": "\x9b31m",
    "a line overwritten": "safe\rrm -rf",
    "a backspace": "ab\x08c",
    "a reversed name": "user\u202etxt.exe",
    "an isolate": "\u2066a\u2069",
    "a zero-width space": "pass\u200bword",
    "a joiner": "a\u200db",
    "a byte order mark": "\ufeffa",
    "tag characters": "hi\U000e0041\U000e0042",
    "a variation selector": "a\ufe0f",
    "a far variation selector": "a\U000e0101",
    "a filler letter": "a\u3164b",
    "a line separator": "a\u2028b",
    "half a character": "a\ud800",
    "a NUL": "a\x00",
}


@pytest.mark.parametrize("text", STEERING.values(), ids=STEERING.keys())
def test_what_hides_is_shown(text: str) -> None:
    """A reviewer who cannot see an instruction approves it."""
    assert has_hidden(text)
    assert "⟨U+" in visible(text)
    assert not has_hidden(visible(text))


@pytest.mark.parametrize("text", ["plain", "two\nlines\tand a tab", "Größe 漢字 עברית", "١٢٣ \u0600", "🙂", "a\r\nb"])
def test_ordinary_text_is_left_alone(text: str) -> None:
    """Marks on every other word would teach people to ignore them."""
    assert not has_hidden(text)
    assert visible(text) == text.replace("\r\n", "\n")


@given(st.text())
def test_nothing_invisible_survives(text: str) -> None:
    """Whatever an agent wrote, the terminal only gets shapes, line breaks and tabs."""
    shown = visible(text)
    assert not has_hidden(shown)
    assert all(unicodedata.category(c) not in ("Cc", "Cs", "Zl", "Zp") or c in "\n\t" for c in shown)
