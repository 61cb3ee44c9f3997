"""Encoded words, one look at a time: where a look ends, where the next begins, what is said in between."""

import base64

import pytest

from holdfast.security import encoded_words
from holdfast.security.encoded_words import BASE64, ESCAPES, PERCENT, Coding
from holdfast.security.redact import Scanner
from holdfast.security.rules import REACH

from .fakes import ISSUED, PASS

SCAN = Scanner()
LONG = "mS4vQxW9kLr2TbYc7HnPf3Zd"  # random enough to be a secret beside a provider's name
GITHUB = ISSUED["github"][0]


@pytest.mark.parametrize(
    ("coding", "unit", "most"), [(BASE64, b"QUJD", REACH - 20), (PERCENT, b"a", REACH - 2), (ESCAPES, b"a", REACH - 8)]
)
def test_a_word_that_may_go_on_is_looked_at_again(coding: Coding, unit: bytes, most: int) -> None:
    """A secret may begin where the first look ends; a word that ended costs no second look."""
    for size, goes_on in ((most - len(unit), False), (most, True), (2 * REACH, True)):
        word = coding.read(b"<" + unit * (size // len(unit)) + b">", 1)
        assert word is not None
        assert word.end == 1 + min(size, REACH // len(unit) * len(unit))
        assert (word.again is not None) == goes_on, size
    assert coding.read(b"<<", 1) is None


BREAKS = ("\n", "\r\n", "\\n", "\n  ", "\n    ", "")


@pytest.mark.parametrize("width", [60, 64, 72, 76, 80])
def test_the_next_look_begins_where_a_line_does(width: int) -> None:
    """Signs that are read askew say nothing, and blanks before a line are no signs."""
    said = b"plain words of settings, line after line\n" * 100
    signs = base64.b64encode(said).decode()
    lines = [signs[at : at + width] for at in range(0, len(signs), width)]
    for between in BREAKS:
        wrapped = between.join(lines).encode()
        word = BASE64.read(wrapped, 0)
        assert word is not None and word.again is not None and said.startswith(word.text)
        further = BASE64.read(wrapped, word.again)
        assert further is not None and len(further.text) > 1000 and further.text in said
        assert 700 < word.again < word.end - 700, "the looks overlap, and there are not many"


@pytest.mark.parametrize(("width", "between"), [(60, "\n"), (64, "\n    "), (72, "\r\n"), (72, "\\n"), (76, "\n  ")])
def test_a_secret_across_the_end_of_a_look_is_found(width: int, between: str) -> None:
    """A packed file of settings in a manifest is indented, and its lines are of any width."""
    for size in range(1380, 1540, 8):
        said = ("a plain line of settings\n" * 400)[:size] + f"\npassword={PASS}\n" + "# end\n" * 300
        signs = base64.b64encode(said.encode()).decode()
        wrapped = between.join(signs[at : at + width] for at in range(0, len(signs), width))
        assert "[redacted:password]" in SCAN.text(f"before {wrapped} after"), size


@pytest.mark.parametrize(("coding", "escape"), [(PERCENT, b"%41"), (ESCAPES, b"\\u0041"), (ESCAPES, b"\\\\\\u0041")])
def test_the_next_look_does_not_begin_within_an_escape(coding: Coding, escape: bytes) -> None:
    """Half an escape is other words."""
    for before in range(len(escape) + 1):
        text = b"b" * before + escape * REACH
        word = coding.read(text, 0)
        assert word is not None and word.again is not None
        further = coding.read(text, word.again)
        assert further is not None and set(further.text) == {ord("A")}


def test_the_next_look_at_one_long_line_and_short_ones_begins_with_the_first_of_these() -> None:
    """A header line of a kilobyte, and then lines as mail has them."""
    signs = base64.b64encode(b"plain words of settings, line after line\n" * 100)
    wrapped = b"\n".join([signs[:1000], *(signs[at : at + 76] for at in range(1000, len(signs), 76))])
    word = BASE64.read(wrapped, 0)
    assert word is not None and word.again == 1001


@pytest.mark.parametrize("joint", ["\\n", "\\r", "\\t", " ", '"'])
@pytest.mark.parametrize("said", ["p%61ssword%3D{}", "p\\u0061ssword\\u003d{}"])
def test_an_encoded_word_is_hidden_from_where_it_begins(joint: str, said: str) -> None:
    """The break before it is not its first letter."""
    assert SCAN.text(f"x{joint}{said.format(PASS)}") == f"x{joint}[redacted:password]"


def test_what_escapes_mean() -> None:
    """A key in JSON within JSON is the same key."""
    word = ESCAPES.read(rb"a\/b\u003d\\u003Dc\\\/d ", 0)
    assert word is not None and word.text == b"a/b==c/d"
    word = PERCENT.read(b"a%2Fb+c%C3%A9 ", 0)
    assert word is not None and word.text == b"a/b c\xc3\xa9"


@pytest.mark.parametrize("joint", ["\\n", "\\r", "\\t", "\n", " ", '"', "=", "\\\\n"])
def test_encoded_text_begins_after_a_break_however_it_is_written(joint: str) -> None:
    """In a log of JSON a line begins after a backslash and an `n`."""
    packed = base64.b64encode(f"password={PASS} is the word for the door".encode()).decode()
    clean = SCAN.text(f'{{"log": "x{joint}{packed}"}}')
    assert packed[:40] not in clean and "[redacted:password]" in clean


def test_a_word_in_base64_is_text_from_its_first_signs() -> None:
    """Pictures and hashes are passed over at once."""
    said = base64.b64encode(b"nothing but words here")
    assert encoded_words.starts_base64(said, 0)
    assert encoded_words.starts_base64(b"x" + said, 1)
    assert not encoded_words.starts_base64(said[:15], 0), "too short to hold anything"
    assert not encoded_words.starts_base64(base64.b64encode(b"nothing\x00 but words"), 0)
    assert not encoded_words.starts_base64(base64.b64encode(b"\xff\xd8\xff\xe0 a picture here"), 0)


@pytest.mark.parametrize(
    "text",
    [
        f'{{"id":"{LONG[::-1]}","datadog_key":"{LONG}"}}',
        f'{{"datadog_key":"{LONG}"}}',
        f'{{"a":"{LONG[::-1]}","b":"{LONG[::-1]}","myDatadogApp":"{LONG}"}}',
        f"datadog: {LONG}",
        f"datadog_app = '{LONG}'",
        f"DATADOG_APP=ab/{LONG}",
        f"datadog_app=a.b/{LONG}",
        f"<datadog_app>{LONG}",
        f'datadog_app\\": \\"{LONG}',
        f"x = 1\ndatadog_app => {LONG}",
        f"{'some words before it ' * 9}\ndatadog_app=ab/{LONG} and after it",
    ],
)
def test_a_random_word_that_is_assigned_to_a_providers_name_is_hidden(text: str) -> None:
    """However the file spells an assignment."""
    clean = SCAN.text(text)
    assert LONG not in clean and "[redacted:provider]" in clean
    assert SCAN.text(text.replace("atadog", "atalog").replace("ATADOG", "ATALOG").replace("_key", "")) != clean


@pytest.mark.parametrize(
    "text",
    [
        f"datadog {LONG}",
        f"datadog_app, {LONG}",
        f'"catalog":"{LONG}"',
        f'"scrollbardatadogs":"{LONG}"',
        f"datadog_commit={LONG}",
        "datadog_app=an-ordinary-long-name-of-things",
    ],
)
def test_beside_a_providers_name_only_what_is_assigned_and_random_is_hidden(text: str) -> None:
    """Ids, hashes and names stand beside names of providers all day."""
    assert SCAN.text(text) == text


def test_the_longest_of_several_words_is_matched() -> None:
    """A prefix that begins another must not hide it."""
    found = encoded_words._any(frozenset({b"ab", b"abc", b"x", b"xyz", b"."}))
    assert [found.match(text)[0] for text in (b"abcd", b"abd", b"xyz", b"xy", b".a")] == [
        *(b"abc", b"ab", b"xyz", b"x", b".")
    ]
    assert found.match(b"ay") is None


def test_long_words_are_found_with_what_is_left_of_one_that_began_before() -> None:
    """A token that arrives in pieces is one word."""
    word = b"A1b2C3d4E5f6G7h8I9j0"
    assert len(word) == 20
    assert encoded_words.long_words(b"<" + word + b">" + word[:19] + b"> " + word, 0) == [(1, 21), (43, 63)]
    assert encoded_words.long_words(word, 0) == [(0, 20)]
    assert encoded_words.long_words(b"", 0) == []
    text = b"<" + word * 10
    assert encoded_words.long_words(text, 150) == [(150 - 64, 201)]


@pytest.mark.parametrize("between", [" ", '":"', "/", ".", "\x1b[0m ", "=", ", "])
def test_a_token_after_a_long_word_is_found(between: str) -> None:
    """Ids stand before tokens in every table."""
    for before in ("an-ordinary-long-name-of-things", "0123456789abcdef" * 3):
        for kind in ("github", "npm", "sendgrid", "vault", "doppler", "airtable"):
            for secret in ISSUED.get(kind, ()):
                assert secret[-12:] not in SCAN.text(before + between + secret), (kind, before)
