"""How much redaction finds, what it touches where there is nothing to find, and what it costs.

The secrets are made up from a seed. Source trees (Python's own library, the packages installed here and this
repository; further ones with `SOURCES=folder:folder`) count by lines. `DATA=folder` also reads transcripts: a
record (a line, or a whole file of another kind) counts as touched if redaction changes any of its strings.
Trees and transcripts that hold no real secret give the rate of false hits; whoever counts looks at what the
rules met. `BASE=folder` names the `src` of another version, whose speed is measured in the same run.
"""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from bench.measure import Result, cpu, least, told
from holdfast.errors import ScanFailed
from holdfast.security.redact import Scanner
from tests.security import kinds
from tests.security.corpus import CODINGS, samples

SEED, ROUNDS = 20261115, 8
FOUND, FOUND_KINDS, TOUCHED, SLOWER = 0.99, 0.95, 0.003, 1.2
MAX_FILE = 1 << 20
_PIECE = 1 << 16
_MARK = re.compile(rb"\[redacted:([a-z0-9-]+)\]")
_OUTPUT = (
    b"compiling src/main.c with -O2 -g, commit 4a8cc7d1e5b1a9c0d2f3e4b5a6978877665544ff\n"
    b"  token = next(tokens)  # the key of the next entry\n"
    b'{"type":"tool_result","id":"toolu_01AbCdEfGhIjKlMnOpQrStUv","text":"12 passed in 0.31s"}\n'
    b"   14\xe2\x86\x92    return self.cache.get(key, default)\n"
)
# What both versions run: the time of one stream over a file, the least of three.
_TIMED = """
import sys, time
from holdfast.security.redact import Scanner
data = open(sys.argv[1], "rb").read()
pieces = [data[at : at + 65536] for at in range(0, len(data), 65536)]
def once():
    stream, start = Scanner().stream(), time.process_time()
    for piece in pieces:
        stream.feed(piece)
    stream.finish()
    return time.process_time() - start
once()
print(min(once() for _ in range(3)))
"""


def redact(folder: str) -> Iterator[Result]:
    """Recall in each coding and of each kind, false hits, and speed."""
    yield from _found()
    yield from _found_kinds()
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    trees = {"Python and packages": os.path.dirname(os.__file__), "this repository": here}
    trees |= {os.path.basename(top): top for top in os.environ.get("SOURCES", "").split(":") if top}
    for name, top in trees.items():
        yield _touched_lines(name, top)
    data = os.environ.get("DATA")
    if data:
        yield _touched(data)
    yield _speed()
    if base := os.environ.get("BASE"):
        yield _beside(base, "plain output", _OUTPUT * 12_000, folder)
        if data:
            yield _beside(base, "transcripts", b"".join(_bytes(data)), folder)


def _share(what: str, share: float, of: int, bar: float) -> Result:
    return Result(what, f"{share:.2%}", f"of {of:,}", share, f">= {bar:.0%}", share >= bar)


def _found() -> Iterator[Result]:
    scan, made, missed = Scanner(), Counter[str](), Counter[str]()
    for sample in samples(SEED, rounds=ROUNDS):
        made[sample.coding] += 1
        clean = scan.text(sample.text)
        missed[sample.coding] += "[redacted:" not in clean or any(trace in clean for trace in sample.traces)
    for coding in CODINGS:
        share = 1 - missed[coding] / made[coding]
        yield _share(f"secrets found, {coding}", share, made[coding], FOUND)


def _found_kinds() -> Iterator[Result]:
    """The kinds of a public scanner in five contexts: by a prefix, a provider's name, or words around."""
    scan, made, missed = Scanner(), Counter[str](), Counter[str]()
    names: Counter[str] = Counter()
    for sample in kinds.samples(SEED, rounds=4):
        shown = sample.kind.shown_by if sample.kind.shown_by in ("prefix", "around") else "provider's name"
        made[shown] += 1
        if sample.is_left_in(scan.text(sample.text)):
            missed[shown] += 1
            names[sample.kind.name] += 1
    print(f"redact: missed most often: {dict(names.most_common(12))}")
    for shown, count in made.items():
        share = 1 - missed[shown] / count
        yield _share(f"{len(kinds.kinds())} kinds in five contexts, by {shown}", share, count, FOUND_KINDS)
    identified = ("prefix", "provider's name")
    count = sum(made[shown] for shown in identified)
    share = 1 - sum(missed[shown] for shown in identified) / count
    yield _share("  where a prefix or a provider's name shows them", share, count, FOUND_KINDS)


def _touched_lines(name: str, top: str) -> Result:
    scan, lines, touched, rules = Scanner().for_others(), 0, 0, Counter[str]()
    for data in _bytes(top):
        lines += data.count(b"\n") + 1
        clean = scan.file(data)
        if clean != data:
            touched += sum(a != b for a, b in zip(data.split(b"\n"), clean.split(b"\n"), strict=True))
            rules.update(mark.decode() for mark in _MARK.findall(clean))
    share = touched / max(1, lines)
    print(f"redact: {name}: {touched:,} of {lines:,} lines touched: {dict(rules.most_common(6))}")
    what = f"lines touched: {name}"
    return Result(what, f"{share:.3%}", f"of {lines:,}", share, f"<= {TOUCHED:.1%}", share <= TOUCHED)


def _bytes(top: str) -> Iterator[bytes]:
    """Every text below a folder that is not too large."""
    for here, folders, names in os.walk(top):
        folders[:] = sorted(set(folders) - {".git", "__pycache__", "node_modules"})
        for name in sorted(names):
            try:
                with open(os.path.join(here, name), "rb") as file:
                    data = file.read(MAX_FILE + 1)
            except OSError:
                continue
            if len(data) <= MAX_FILE and b"\0" not in data[:8000]:
                yield data


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


def _beside(base: str, what: str, data: bytes, folder: str) -> Result:
    """How much longer a scan takes than in another version: both in turn, three times, the least of each."""
    path = os.path.join(folder, "scanned")
    with open(path, "wb") as file:
        file.write(data)
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

    def timed(src: str) -> float:
        env = {**os.environ, "PYTHONPATH": src}
        done = subprocess.run([sys.executable, "-c", _TIMED, path], env=env, capture_output=True, check=True)
        return float(done.stdout)

    best = least({"ours": lambda: timed(os.path.join(here, "src")), "base": lambda: timed(base)}, 3)
    ratio, size = best["ours"] / best["base"], len(data) / 1e6
    ours, other = (f"{size / best[name]:,.1f} MB/s" for name in ("ours", "base"))
    return Result(f"scan time beside BASE: {what}", ours, other, ratio, f"<= {SLOWER:g} x", ratio <= SLOWER)
