"""How much is found: made-up secrets of every shape in five codings, and what must survive."""

import base64
import hashlib
import json
import random
import uuid
from collections import Counter
from collections.abc import Callable
from urllib.parse import quote

import pytest

from holdfast.security.redact import Scanner, Stream

from .corpus import CODINGS, samples
from .fakes import HARMLESS, ISSUED, PASS

SCAN = Scanner()


def found(seed: int, rounds: int) -> tuple[Counter[str], list[str]]:
    """How many of each coding there were, and which rules and codings were missed."""
    made: Counter[str] = Counter()
    missed = []
    for sample in samples(seed, rounds=rounds):
        made[sample.coding] += 1
        clean = SCAN.text(sample.text)
        if "[redacted:" not in clean or any(trace in clean for trace in sample.traces):
            missed.append(f"{sample.rule} in {sample.coding}")
    return made, missed


def test_known_shapes_are_found_in_every_coding(seed: int) -> None:
    """An agent prints a key in whatever form the tool gave it."""
    made, missed = found(seed, 2)
    print(made, Counter(missed))
    assert set(made) == set(CODINGS)
    for coding in CODINGS:
        lost = sum(entry.endswith(f" in {coding}") for entry in missed)
        assert lost <= made[coding] / 100, f"{coding}: {Counter(missed)}"


@pytest.mark.torture
def test_known_shapes_are_found_in_every_coding_often(seed: int) -> None:
    """The same, with enough values to see a rare gap."""
    made, missed = found(seed, 40)
    print(made, Counter(missed))
    assert len(missed) <= made.total() / 200


def harmless(chance: random.Random) -> list[str]:
    """Long words that are no secrets: ids, hashes, signatures, pictures, lock files."""
    noise = chance.randbytes
    return [
        *HARMLESS,
        noise(20).hex(),
        hashlib.sha256(noise(8)).hexdigest(),
        f"sha512-{base64.b64encode(noise(64)).decode()}",
        str(uuid.UUID(bytes=noise(16))),
        f"data:image/png;base64,{base64.b64encode(noise(3000)).decode()}",
        base64.encodebytes(noise(2000)).decode(),
        base64.urlsafe_b64encode(noise(1500)).decode(),
        base64.b64encode(b"Nothing to hide here, only words of a letter.").decode(),
        quote("https://example.com/a path?x=1&next=/home?tab=2#top"),
        json.dumps({"url": "https://example.com/a/b"}).replace("/", "\\/"),
        "\\u003cdiv class=\\u0022key\\u0022\\u003e",
        "100%25 of C%C3%B4te%20d%27Ivoire",
        f"toolu_{base64.b32encode(noise(15)).decode()} req_{noise(12).hex()} call_{noise(12).hex()}",
    ]


def test_ids_hashes_pictures_and_blobs_survive(seed: int) -> None:
    """A record whose commit ids are blotted out is of no use as evidence."""
    chance = random.Random(seed)
    for text in (text for _ in range(60) for text in harmless(chance)):
        assert SCAN.text(text) == text


def test_a_key_within_a_blob_by_chance_is_no_key(seed: int) -> None:
    """Encrypted reasoning is long enough to hold the beginning of any token."""
    chance = random.Random(seed)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for begin in ("sk-", "hf_", "gh" + "p_", "AK" + "IA", "ey" + "J", "np" + "m_", "SK"):
        for _ in range(20):
            blob = "".join(chance.choice(letters) for _ in range(400)) + "Q" + begin
            blob += "".join(chance.choice(letters[:62]) for _ in range(400))
            assert SCAN.text(blob) == blob


def test_a_whole_key_in_the_middle_of_a_blob_is_no_key_but_one_after_a_name_is() -> None:
    """A picture must not be cut, and a key in a path or after a long name must not be kept."""
    blob = "mS4vQxW9kLr2TbYc7HnPf3ZdJg8RuEa5XsKi6VoNq1BwMt0"
    names = (
        *("token=", 'key: "', "https://host.example/v1/Users2/my-Project1/", "git@", "+", "a/B1/c2/D3/e4/"),
        *("the-token-of-the-Production2-deployment-in-Europe1/", "0123456789abcdef0123456789abcdef01234567/"),
        *("DEPLOY_TOKEN_OF_SERVICE_2_IN_REGION_EU_WEST_1/", f"{blob}=", f"{blob}.", f"{blob}\\n", f"{blob} "),
    )
    for kind, secrets in ISSUED.items():
        for secret in secrets:
            if secret.startswith("ABSK"):
                continue  # only after what is in no base64
            for name in names:
                assert secret[-12:] not in SCAN.text(name + secret), (kind, name)
            if kind == "jwt" or secret.startswith("whsec_"):
                continue  # the one has a second part that begins after a dot, the other a prefix that is no chance
            for joint in ("", "-", "_", "/", "+"):
                assert SCAN.text(blob + joint + secret) == blob + joint + secret, (kind, joint)
    coloured = f"{blob}\x1b[31m{ISSUED['npm'][0]}\x1b[0m"
    assert "[redacted:npm]" in SCAN.text(coloured), "what a tool marks is a word of its own"


@pytest.mark.parametrize("write", ["raw", "base64", "percent", "escapes"])
def test_own_rules_and_allowed_values_count_in_codings_too(write: str) -> None:
    """A team's rule is about what is said, not about how it is written."""
    scan = Scanner(["corp-[0-9]{6}"], [ISSUED["npm"][0], "corp-000000"])
    ways: dict[str, Callable[[str], str]] = {
        "raw": lambda text: text,
        "base64": lambda text: base64.b64encode(text.encode()).decode(),
        "percent": lambda text: quote(text, safe="") + "%20",
        "escapes": lambda text: text.replace(" ", "\\u0020"),
    }
    wrote = ways[write]
    assert "[redacted:custom]" in scan.text(wrote("the badge is corp-123456 today"))
    for allowed in ("the badge is corp-000000 today", f"the token is {ISSUED['npm'][0]} in tests"):
        assert scan.text(wrote(allowed)) == wrote(allowed)


def test_a_long_encoded_text_is_looked_at_to_its_end() -> None:
    """The settings file whose last line is the password was packed whole."""
    for size in range(0, 9000, 700):
        said = ("a plain line of settings\n" * 400)[:size] + f"\npassword={PASS}\n" + "# end\n" * 300
        packed = base64.b64encode(said.encode()).decode()
        clean = SCAN.text(f"before {packed} after")
        assert clean.startswith("before ") and clean.endswith("[redacted:password] after")
        assert PASS.encode() not in base64.b64decode(clean.split()[1].split("[")[0] + "==")


class Looks:
    """Counts how many bytes a coding decodes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.size = 0
        real = Stream._said

        def counted(stream: Stream, text: bytes) -> str | None:
            self.size += len(text)
            return real(stream, text)

        monkeypatch.setattr(Stream, "_said", counted)


@pytest.mark.parametrize(
    "unit",
    [
        base64.b64encode(b"hello there " * 4) + b"\n",
        base64.b64encode(b"hello there " * 3),
        base64.b64encode(b"hello there, friend") + b" ",
        b"%41",
        quote("%41" * 50).encode() + b" ",
        b"\\u0041",
        b"a\\/b ",
        base64.b64encode(base64.b64encode(b"hello there my friend, how are you") * 20) + b" ",
    ],
)
def test_encoded_text_is_looked_at_a_bounded_number_of_times(unit: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hostile transcript must not hold up the import: no byte is decoded again and again."""
    looks = Looks(monkeypatch)
    for size in (15_000, 60_000):
        looks.size = 0
        SCAN.text((unit * (size // len(unit) + 1))[:size].decode())
        assert looks.size <= 6 * size
