"""Law 10: known secrets are removed before the first write; if the scanner fails, no body is stored."""

import base64
import json
import os
import re
import time
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from holdfast.errors import BadSettings, ScanFailed
from holdfast.security import rules
from holdfast.security.redact import MAX_DEPTH, Scanner
from holdfast.security.rules import REACH, Patience, UserRule, shapes

from .fakes import AWS_SECRET, HARMLESS, IN_CONTEXT, ISSUED, KEY_BODY, PASS, PEM, VALUE, key_block, word
from .kinds import samples

SHAPES = shapes()
SCAN = Scanner()
ALONE = [(rule, secret) for rule, secrets in ISSUED.items() for secret in secrets]
PLACES = (
    "{}",
    "before {} after\n",
    '{{"key_id":"{}"}}',
    '{{\\"log\\":\\"{}\\"}}',
    "\x1b[31m{}\x1b[0m",
    "\x1b[38;2;255;100;3m{}\x1b[m\x1b[K",
    "é{}é",
    "\x00{}\x00",
    "x={};",
)


def piecewise(data: bytes, cuts: list[int], scan: Scanner = SCAN) -> bytes:
    stream = scan.stream()
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    return b"".join(stream.feed(data[a:b]) for a, b in pairwise(edges)) + stream.finish()


@pytest.mark.parametrize(("rule", "secret"), ALONE, ids=[f"{r}-{n}" for n, (r, _) in enumerate(ALONE)])
def test_an_issued_token_vanishes_wherever_it_stands(rule: str, secret: str) -> None:
    """A key that reached a log line is in every backup of it."""
    for place in PLACES:
        assert SCAN.text(place.format(secret)) == place.format(f"[redacted:{rule}]")


@pytest.mark.parametrize(("rule", "text", "secret"), IN_CONTEXT, ids=[f"{c[0]}-{n}" for n, c in enumerate(IN_CONTEXT)])
def test_a_secret_shown_by_its_context_vanishes(rule: str, text: str, secret: str) -> None:
    """Passwords have no shape of their own; the words around them give them away."""
    for place in ("{}", "x {}\ny", "\x1b[1m{}\x1b[0m"):
        clean = SCAN.text(place.format(text) if "{}" in place else text)
        assert secret in text and secret not in clean
        assert f"[redacted:{rule}]" in clean


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_is_left_alone(text: str) -> None:
    """A log whose commit ids are blotted out is of no use as evidence."""
    assert SCAN.text(text) == text


def test_every_rule_has_a_fake() -> None:
    """A rule nobody tries may never have worked."""
    named = {shape.name for shape in SHAPES} - {"private"}  # which test_private.py tries
    said = "\n".join(SCAN.text(one.text) for one in samples(7))
    found = set(re.findall(r"\[redacted:([a-z0-9-]+)\]", said))
    tried = set(ISSUED) | {rule for rule, _, _ in IN_CONTEXT}
    assert tried <= named and named - tried <= found


def test_what_surrounds_a_secret_is_kept() -> None:
    """The reader still needs to know which command failed against which host."""
    assert SCAN.text(f"postgres://app:{PASS}@db:5432/x") == "postgres://app:[redacted:url-password]@db:5432/x"
    assert SCAN.text(f"A=1\nDB_PASSWORD={PASS}\nB=2") == "A=1\nDB_PASSWORD=[redacted:password]\nB=2"
    assert SCAN.text(f"a\n{key_block()}\nb") == "a\n[redacted:private-key]\nb"


def test_a_token_among_the_words_that_show_a_password_vanishes_too() -> None:
    """`https://TOKEN:x-oauth-basic@host` hides the harmless half only, if one is careless."""
    secret = ISSUED["github"][0]
    assert SCAN.text(f"https://{secret}:x-oauth-basic@example.com/r") == (
        "https://[redacted:github]:[redacted:url-password]@example.com/r"
    )
    assert SCAN.text(f"curl -d {secret} -u bob:{PASS} x") == "curl -d [redacted:github] -u bob:[redacted:basic-auth] x"


def test_colour_within_a_token_does_not_hide_it() -> None:
    """`grep --color` splits the token it found with colour codes."""
    secret = ISSUED["github"][0]
    shown = f"a:\x1b[01;31m\x1b[K{secret[:7]}\x1b[m\x1b[K{secret[7:]}\x1b[0m rest"
    assert SCAN.text(shown) == "a:\x1b[01;31m\x1b[K[redacted:github]\x1b[0m rest"


def test_a_key_block_without_its_end_is_hidden_up_to_the_limit() -> None:
    """`head key.pem` shows most of a key and no end."""
    cut_short = key_block().rsplit(PEM + "END", 1)[0]
    assert SCAN.text(f"a {cut_short}") == "a [redacted:private-key]"
    clean = SCAN.text(cut_short + "x " * 20_000)
    assert len(clean) < 42_000 and KEY_BODY[-20:] not in clean and clean.endswith("x x ")


def test_an_endless_token_is_swallowed_in_bounded_memory() -> None:
    """A command that prints one endless line must not take all memory."""
    stream = SCAN.stream()
    out = stream.feed(("gh" + "p_").encode())
    for _ in range(50):
        out += stream.feed(b"a1" * 8192)
        assert held_back(stream) < 20_000
    out += stream.finish()
    assert out.startswith((b"[redacted:github]a1a1", b"[redacted:github]1a1a"))
    assert len(out) <= 50 * 16384 - 65536 + 17


def test_a_flood_of_colour_codes_is_passed_on_in_bounded_memory() -> None:
    """A progress bar may print nothing but codes for an hour."""
    stream = SCAN.stream()
    data = b"\x1b[0m\x1b[31m" * 4096
    out = b""
    for _ in range(20):
        out += stream.feed(data)
        assert held_back(stream) < 1000
    assert out + stream.finish() == data * 20


def held_back(stream: object) -> int:
    return len(getattr(stream, "_held"))  # noqa: B009 - the bound is a promise about memory, not an interface


def test_plain_output_is_passed_on_almost_at_once() -> None:
    """If the wrapper is killed, what it held back is lost."""
    stream = SCAN.stream()
    given_back = stream.feed(b"compiling src/main.c\n" * 50)
    assert len(given_back) >= 21 * 50 - 128


ENCODED = [
    *(base64.b64encode(f"a line\n{text}\n".encode()).decode() for _, text, _ in IN_CONTEXT[::4]),
    *(quote(text, safe="") for _, text, _ in IN_CONTEXT[::4]),
    *(json.dumps(json.dumps(text)).replace("/", "\\/") for _, text, _ in IN_CONTEXT[::4]),
    base64.encodebytes(("a plain line\n" * 300 + VALUE + f" password={PASS}").encode()).decode(),
    base64.b64encode(("a plain line\n" * 400 + f" password={PASS}\n" + "b" * 900).encode()).decode(),
    quote("a plain line\n" * 150 + f"password={PASS}\n" + "b" * 900, safe=""),
    *("%3D", "%2", "%", "\\u003d", "\\u00", "\\/", "\\n", "cGFzc3dvcmQ9", "data:;base64,"),
]
PIECES = st.one_of(
    st.sampled_from([secret for _, secret in ALONE]),
    st.sampled_from([text for _, text, _ in IN_CONTEXT]),
    st.sampled_from(HARMLESS),
    st.sampled_from(
        ["password", "token", "=", ": ", '"', "'", '\\"', "\\", "Bearer ", "://u:", "@", " ", "\n", "\r\n"]
    ),
    st.sampled_from(["\x1b[0m", "\x1b[31;1m", "\x1b", "\x1b[", "\x1b[K", "\x00", "é", "--", "-----", "[redacted:jwt]"]),
    st.sampled_from(
        ["_KEY=", "api_key", "curl -u b:", "secret", "sk-", "ey" + "J", "x" * 70, "1a" * 1100, PEM + "BEGIN "]
    ),
    st.sampled_from(ENCODED),
    st.text(max_size=12),
)
TEXTS = st.lists(PIECES, max_size=9).map("".join)
DATA = st.one_of(TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")), st.binary(max_size=80))
MIXED = st.lists(DATA, max_size=3).map(b"".join)


@settings(max_examples=150, deadline=None)
@given(data=MIXED, cuts=st.lists(st.integers(0, 6000), max_size=12))
@example(data=b"\x1b[0m" * 9 + VALUE.encode(), cuts=[3, 5, 9, 30])
def test_any_chunking_gives_the_same_output(data: bytes, cuts: list[int]) -> None:
    """A pipe cuts where it likes; a token cut in two must still vanish."""
    assert piecewise(data, cuts) == piecewise(data, [])


@settings(max_examples=15, deadline=None)
@given(data=MIXED)
def test_byte_by_byte_gives_the_same_output(data: bytes) -> None:
    """The worst pipe of all."""
    assert piecewise(data, list(range(min(len(data), 3000)))) == piecewise(data, [])


@pytest.mark.torture
@settings(max_examples=4000, deadline=None)
@given(data=MIXED, cuts=st.lists(st.integers(0, 6000), max_size=12), each=st.booleans())
def test_any_chunking_gives_the_same_output_often(data: bytes, cuts: list[int], each: bool) -> None:
    """The same with enough examples to meet two secrets that touch at a cut."""
    whole = piecewise(data, [])
    assert piecewise(data, list(range(min(len(data), 3000))) if each else cuts) == whole
    assert SCAN.file(SCAN.file(data)) == SCAN.file(data)


@settings(max_examples=40, deadline=None)
@given(data=MIXED, cuts=st.lists(st.integers(0, 6000), max_size=8))
def test_user_rules_hold_across_chunks_too(data: bytes, cuts: list[int]) -> None:
    """A house rule is a promise like ours."""
    scan = Scanner([r"(?<![a-z])corp-[0-9]{4,}", r"x{3,90}y", r"^1a1a"])
    data = data + b" corp-123456 " + data
    assert piecewise(data, cuts, scan) == piecewise(data, [], scan)


@settings(max_examples=150, deadline=None)
@given(text=TEXTS)
@example("curl -u b:-----BEGIN%20RSA%20PRIVATE%20KEY-----%0AcBNurSRHZYn0t%2FcLN7%0A-----END%20RSA%20PRIVATE%20KEY-----")
@example("curl -u b:-----BEGIN%20RSA%20PRIVATE%20KEY-----%0AcBNurSRHZYn0t%2FcLN7hgY3%0Apostgres://app:pw1@db:5432/app")
@example(f"curl -u {VALUE}=password=hunter2-Tr0ub4dor:{VALUE}")
@example("cio" + word(32, "n8") + "github_pat_" + word(40, "eM"))
@example(f"https://example.com{VALUE}@github.com:bob/project.git")
@example(f"{key_block()}ABSK{word(80, 'Q1')}")
@example('X-Api-Key: cLN3WjM2OiRUDfjvzcQKrqa9password = "hunter2-Tr0ub4dor"')
def test_redacting_twice_changes_nothing(text: str) -> None:
    """Text is scanned again at sealing; evidence must not drift."""
    once = SCAN.text(text)
    assert SCAN.text(once) == once


def test_a_mark_is_no_user_name() -> None:
    """A mark that is torn by the next scan tells nobody any more what was hidden."""
    for text in ("curl -u [redacted:password]more:words", "https://example.com[redacted:slack]@host/x"):
        assert SCAN.text(text) == text


@settings(max_examples=60, deadline=None)
@given(before=TEXTS, after=TEXTS, secret=st.sampled_from(ALONE))
def test_no_neighbour_saves_a_token(before: str, after: str, secret: tuple[str, str]) -> None:
    """What stands around a key must not decide whether it leaks."""
    assume(secret[1] not in before + after)  # glued to other letters it may be no token at all
    assert secret[1] not in SCAN.text(f"{before} {secret[1]} {after}")


def test_random_bytes_pass_unharmed() -> None:
    """Binary output is evidence too."""
    data = bytes(range(256)) * 64 + b"\xff\xfe\x00"
    assert piecewise(data, [1, 100, 5000]) == data


def test_values_are_scanned_deep_with_their_keys() -> None:
    """A tool call is JSON; the secret sits three levels down, or is a key."""
    secret = ISSUED["github"][0]
    value = {"calls": [{"args": {"header": f"x {secret}"}, secret: 1}], "n": 1.5, "none": None, "ok": True}
    clean = SCAN.value(value)
    assert secret not in json.dumps(clean)
    assert clean["calls"][0] == {"args": {"header": "x [redacted:github]"}, "[redacted:github]": 1}
    assert (clean["n"], clean["none"], clean["ok"]) == (1.5, None, True)
    assert SCAN.value(clean) == clean


def test_a_value_under_a_secret_name_vanishes() -> None:
    """`{"password": "…"}` is an assignment once it is printed."""
    clean = SCAN.value({"password": "correct horse", "apiKey": VALUE, "token": "${TOKEN}", "argv": ["--token", VALUE]})
    assert clean == {
        "password": "[redacted:password]",
        "apiKey": "[redacted:secret]",
        "token": "${TOKEN}",
        "argv": ["--token", "[redacted:secret]"],
    }
    assert SCAN.value(clean) == clean


def test_two_secret_keys_keep_both_values() -> None:
    """Redaction must not lose what it does not hide."""
    first, second = ISSUED["github"][:2]
    assert sorted(SCAN.value({first: 1, second: 2}).values()) == [1, 2]
    third = ISSUED["github"][2]
    marker = "[redacted:github]"
    assert SCAN.value({first: 1, second: 2, third: 3}) == {marker: 1, f"{marker}#2": 2, f"{marker}#3": 3}
    assert SCAN.value({f"{marker}#2": 0, first: 1, second: 2}) == {f"{marker}#2": 0, marker: 1, f"{marker}#3": 2}


def test_only_an_option_that_is_a_name_makes_a_secret_of_what_follows() -> None:
    """A sentence, or an option that has its value already, says nothing about the next word."""
    for before in ("--env=API_TOKEN", "- keep the token", "token", "-"):
        kept = [before, "something-longer-1"]
        assert SCAN.value(kept) == kept
    for before in ("--token", "-token", "--api-key", "--db_password"):
        assert SCAN.value([before, "something-longer-1"])[1].startswith("[redacted:"), before


def test_what_cannot_be_scanned_is_refused() -> None:
    """A body that was not read to its end must not be stored."""
    deep: list[object] = []
    for _ in range(MAX_DEPTH + 1):
        deep = [deep]
    for value in (deep, {"x": b"bytes"}, {1: "x"}, {"x": {1, 2}}):
        with pytest.raises(ScanFailed):
            SCAN.value(value)


def test_own_rules_are_applied_and_bad_ones_refused() -> None:
    """A team's ticket passwords have a shape only the team knows."""
    scan = Scanner(["corp-[0-9]{6}", "schlüssel-[0-9]+"])
    assert scan.text("a corp-123456 b schlüssel-77 ü") == "a [redacted:custom] b [redacted:custom] ü"
    for rule in ("(", "", "x*", "a" * 2000, "(?P<n>a"):
        with pytest.raises(BadSettings):
            Scanner([rule])
        with pytest.raises(BadSettings):
            Scanner(allow=[rule])


@pytest.mark.parametrize(
    "rule",
    [
        "(a+)+$",
        "(.*)*x",
        "(?:a|ab)+x",
        "(?:a?){30}a{30}",
        "a?" * 30 + "a" * 30,
        "(a|a)" * 40 + "b",
        "(?:a{0,2000}){0,2000}b",
        "a+b+c+d",
        "a+a+[ab]{600}c",
        "a+a+" + "a" * 900 + "b",
        "(?=(a+)+$)b",
        "(?>(?:a|a)+)b",
        r"(['x])[a-z]+\1",
        r"(a)?(?(1)b|c)",
    ],
)
def test_a_rule_that_could_take_for_ever_is_refused(rule: str) -> None:
    """The rules stand in a file that a pull request can change; one must not hang every run."""
    for make in (lambda: Scanner([rule]), lambda: Scanner(allow=[rule])):
        with pytest.raises(BadSettings, match="which is refused: ") as refusal:
            make()
        assert "{1,64}" in refusal.value.hint


@pytest.mark.parametrize(
    ("rule", "secret"),
    [
        ("ACME-[0-9]{6}", "ACME-123456"),
        ("corp_[a-z0-9]+", "corp_x7k2"),
        ("[A-Z]+-[0-9]+x", "ABC-1234567x"),
        (r"[a-z]+@[a-z]+\.internal\.example\.com", "me@db.internal.example.com"),
        ("(int_[a-z]+)-([0-9]+)", "int_prod-42"),
        ("(?:[0-9]{4}-){3}[0-9]{4}", "1234-5678-9012-3456"),
        ("(?i)(?:foo|bar)key[:=][a-z]++-[a-z]++-[a-z]++", "FooKey:ab-cd-ef"),
        (r"a*b*c(?<=[ac])0", "aabc0"),
    ],
)
def test_ordinary_rules_are_taken_and_hold_across_chunks(rule: str, secret: str) -> None:
    """A rule against hanging must not refuse what teams write."""
    scan = Scanner([rule])
    data = b"= " * 3000 + secret.encode() + b" =" * 3000
    clean = b"= " * 3000 + b"[redacted:custom]" + b" =" * 3000
    for cut in range(6000 - 1, 6000 + len(secret) + 1):
        assert piecewise(data, [cut], scan) == clean
    assert piecewise(data, [1, 2048, 4096, 6002], scan) == clean


@pytest.mark.parametrize("rule", [pytest.param("a*b*c", marks=pytest.mark.torture), "a+a+[ab]{10}c"])
def test_a_slow_rule_ends_within_its_budget(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A legal rule on unlucky output: the command goes on, and nothing unscanned is kept."""
    monkeypatch.setattr(rules, "GRACE", 0.2)
    scan = Scanner([rule])
    stream = scan.stream()
    started = time.thread_time()
    with pytest.raises(ScanFailed, match=r"redact\.rules"):
        for _ in range(64):
            stream.feed(b"a" * 65536)
    print(rule, "ended after", time.thread_time() - started)
    with pytest.raises(ScanFailed):  # and no second stream gets the same time again
        scan.stream().feed(b"a" * 65536)
    assert scan.text("a word of the event") == "a word of the event"


def test_time_for_rules_grows_with_the_text() -> None:
    """A process that lives for days must not run out of it."""
    ticks = iter(range(1000))
    patience = Patience(clock=lambda: float(next(ticks)))
    rule = UserRule.read("x[0-9]", "redact.rules")
    for _ in range(20):
        patience.looking_at(1 << 20)
        assert patience.find(rule, b"..x1", 0) == 2
    for _ in range(2):
        patience.match(rule, b"x1", 0)
    with pytest.raises(ScanFailed):
        patience.match(rule, b"x1", 0)


def test_allowed_values_are_left_alone_and_only_they() -> None:
    """A documented test key is no secret; one that merely begins like it is."""
    example_key = "AK" + "IA" + "EXAMPLE" + word(9, "A7")
    scan = Scanner(allow=[re.escape(example_key), "test-password-1"])
    assert scan.text(f"id {example_key} password=test-password-1") == f"id {example_key} password=test-password-1"
    assert scan.text("password=test-password-12") == "password=[redacted:password]"
    assert scan.text(f"secret_access_key={AWS_SECRET}") == "secret_access_key=[redacted:aws-secret]"
    assert scan.value({"password": "test-password-1"}) == {"password": "test-password-1"}


def test_lone_surrogates_survive() -> None:
    """File names that are no UTF-8 reach us so."""
    name = os.fsdecode(b"caf\xe9")
    assert SCAN.text(f"{name} {ISSUED['npm'][0]}") == f"{name} [redacted:npm]"


def test_no_pattern_looks_further_than_it_may() -> None:
    """A rule that needs more than the reach would depend on how the pipe cuts."""
    import re._parser as parser  # the only way to know a pattern's longest match

    for shape in SHAPES:
        assert parser.parse(shape.pattern).getwidth()[1] + 512 <= REACH, shape.name


def test_a_secret_far_into_an_encoded_word_is_found() -> None:
    """A whole file may be one percent-encoded word; a look that ends half-way through a key misses it."""
    token = "ghp_" + "A1b2C3d4E5" * 3 + "abcdef"
    for before in (500, 650, 700, 900):
        encoded = "".join(f"%{byte:02X}" for byte in b"a " * (before // 2) + token.encode())
        assert Scanner().text(encoded).endswith("[redacted:github]"), before


def test_a_name_makes_a_secret_of_a_value_long_enough_to_be_one() -> None:
    """`token: none` and a link are facts; four characters can be a password, seven are no token."""
    kept = ({"password": "abc"}, {"token": "abcdefg"}, {"token": "https://x.example/y"})
    assert [Scanner().value(one) for one in kept] == list(kept)
    assert Scanner().value({"password": "abcd"}) == {"password": "[redacted:password]"}
    assert Scanner().value({"token": "abcdefgh"}) == {"token": "[redacted:secret]"}
    assert Scanner().value(["--token", "--password"]) == ["--token", "[redacted:secret]"]


@pytest.mark.parametrize(("rule", "secret"), ALONE[:5])
def test_a_secret_that_is_the_name_of_a_field_is_seen(rule: str, secret: str) -> None:
    """A table of tokens by their value is as bad as a list of them."""
    clean = SCAN.value({"used": {secret: 3}})
    assert secret not in json.dumps(clean) and f"[redacted:{rule}]" in json.dumps(clean)


def test_what_is_nested_as_deep_as_may_be_is_scanned_to_its_end() -> None:
    """A limit that is reached at half the depth refuses what is allowed."""
    rule, secret = ALONE[0]
    deep: object = secret
    for _ in range(MAX_DEPTH - 1):
        deep = [deep]
    assert f"[redacted:{rule}]" in json.dumps(SCAN.value(deep))
    deep = secret
    for _ in range(MAX_DEPTH - 1):
        deep = {"x": deep}
    assert f"[redacted:{rule}]" in json.dumps(SCAN.value(deep))


def test_what_follows_a_secret_directly_is_a_word_of_its_own_and_each_is_counted() -> None:
    """Two keys without a blank between are two keys, and whoever reads the count knows how many."""
    scan, token = Scanner(["corp-[0-9]{6}"]), ISSUED["npm"][0]
    stream = scan.stream()
    data = f"corp-123456{token} and {token}".encode()
    assert stream.feed(data) + stream.finish() == b"[redacted:custom][redacted:npm] and [redacted:npm]"
    assert stream.hidden == {"custom": 1, "npm": 2}
