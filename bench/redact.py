"""How much redaction finds, what it meets in real transcripts, and what it costs beside a plain pass.

The secrets are made up from a seed. `make bench ARGS=redact DATA=folder` also reads transcripts: a record (a
line, or a whole file of another kind) counts as touched if redaction changes any of its strings. Transcripts
that hold no real secret give the rate of false hits; whoever counts looks at what the rules met.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

from bench.measure import Result, cpu, least, told
from holdfast.errors import ScanFailed
from holdfast.security.redact import Scanner
from tests.security.corpus import CODINGS, samples

SEED, ROUNDS = 20261115, 8
FOUND, TOUCHED = 0.99, 0.005
_PIECE = 1 << 16
_OUTPUT = (
    b"compiling src/main.c with -O2 -g, commit 4a8cc7d1e5b1a9c0d2f3e4b5a6978877665544ff\n"
    b"  token = next(tokens)  # the key of the next entry\n"
    b'{"type":"tool_result","id":"toolu_01AbCdEfGhIjKlMnOpQrStUv","text":"12 passed in 0.31s"}\n'
    b"   14\xe2\x86\x92    return self.cache.get(key, default)\n"
)


def redact() -> Iterator[Result]:
    """Recall in each coding, false hits in transcripts if there are any, and speed."""
    yield from _found()
    if data := os.environ.get("DATA"):
        yield _touched(data)
    yield _speed()


def _found() -> Iterator[Result]:
    scan, made, missed = Scanner(), Counter[str](), Counter[str]()
    for sample in samples(SEED, rounds=ROUNDS):
        made[sample.coding] += 1
        clean = scan.text(sample.text)
        missed[sample.coding] += "[redacted:" not in clean or any(trace in clean for trace in sample.traces)
    for coding in CODINGS:
        share = 1 - missed[coding] / made[coding]
        yield Result(
            f"secrets found, {coding}",
            f"{share:.2%}",
            f"of {made[coding]:,}",
            share,
            f">= {FOUND:.0%}",
            share >= FOUND,
        )


def _touched(folder: str) -> Result:
    scan, records, touched, rules = Scanner(), 0, 0, Counter[str]()
    for record in _records(folder):
        records += 1
        met = _met(scan, record)
        touched += bool(met)
        rules.update(met)
    share = touched / max(1, records)
    print(f"redact: {touched} of {records:,} records touched: {dict(rules)}")
    name = "records of transcripts that are touched"
    return Result(name, f"{share:.2%}", f"of {records:,}", share, f"<= {TOUCHED:.1%}", share <= TOUCHED)


def _met(scan: Scanner, record: Any) -> Counter[str]:
    """The rules that change a string of this record."""
    rules: Counter[str] = Counter()
    for text in _strings(record):
        stream = scan.stream()
        stream.feed(text.encode("utf-8", "surrogatepass"))
        stream.finish()
        rules.update(stream.hidden)
    try:
        if not rules and scan.value(record) != record:
            rules["by name"] += 1
    except ScanFailed:
        rules["not scanned"] += 1
    return rules


def _records(folder: str) -> Iterator[Any]:
    for here, _, names in os.walk(folder):
        for name in sorted(names):
            with open(os.path.join(here, name), encoding="utf-8", errors="replace") as file:
                for line in file if name.endswith(".jsonl") else (file.read(),):
                    try:
                        yield json.loads(line)
                    except ValueError:
                        yield line


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _speed() -> Result:
    data = _OUTPUT * 40_000
    pieces = [data[at : at + _PIECE] for at in range(0, len(data), _PIECE)]
    same = bytes(range(256))

    def scanned() -> None:
        stream = Scanner().stream()
        for piece in pieces:
            stream.feed(piece)
        stream.finish()

    def looked_at() -> None:
        for piece in pieces:
            piece.translate(same)

    best = least({"ours": lambda: cpu(scanned), "floor": lambda: cpu(looked_at)}, 5)
    size = len(data) / 1e6
    ours, floor = size / best["ours"], size / best["floor"]
    # For information: the sample is full of words that must be judged, and no bar was set beforehand.
    what = "redaction of output; floor: one pass over the bytes"
    return told(what, f"{ours:,.0f} MB/s", f"{floor:,.0f} MB/s", ours / floor)
