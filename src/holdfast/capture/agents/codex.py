"""Transcripts of Codex: where its rollouts are, how one is opened and read, in all its generations.

    the first     sessions/rollout-<day>-<id>.json, one document {"session": …, "items": […]}
    the second    sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl[.zst]: bare items, one a line, no times and no folder
    the third     {timestamp, type, payload} a line, display events beside the items
    the fourth    the same with an ordinal; display events are `item_completed`

Messages of the older API (`tool_calls`, role `tool`) become the items that every later version writes. A packed rollout
is unpacked as it is read and never held; one that unpacks beyond measure is read no further. Offsets in it are those of
the unpacked bytes, so they still hold when Codex packs or unpacks the file. `codex_origin` says whose a rollout is,
`codex_turns` reads its lines, `codex_steps` holds an open turn, `codex_calls` and `codex_patch` read one item.
"""

import io
import os
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from itertools import islice
from types import ModuleType
from typing import IO, Any

from holdfast.capture.agents import transcript_reader
from holdfast.capture.agents.codex_origin import RolloutHead, head_of, named, of_document
from holdfast.capture.agents.codex_turns import CodexTurns, is_wanted
from holdfast.capture.agents.transcript_reader import TranscriptCounts, TranscriptReading, document, records
from holdfast.capture.agents.transcript_text import short_name, text_value
from holdfast.errors import BadInput
from holdfast.model.transcript import TranscriptOrigin, TranscriptTurn, cut
from holdfast.values import dict_of, list_of, replace


def items_of(document: dict[str, Any], size: int) -> Iterator[transcript_reader.TranscriptRecord]:
    """The items, each as a record; a document can only be read again as a whole."""
    for item in list_of(document.get("items")):
        for one in _as_items(item) if isinstance(item, dict) else ():
            yield transcript_reader.TranscriptRecord(one, 0, size)


def _as_items(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "type" in item and item["type"] != "message":
        yield item
        return
    if item.get("role") == "tool":
        yield {"type": "function_call_output", "call_id": item.get("tool_call_id"), "output": item.get("content")}
        return
    if item.get("content"):
        yield {**item, "type": "message"}
    for call in map(dict_of, list_of(item.get("tool_calls"))):
        yield {**dict_of(call.get("function")), "type": "function_call", "call_id": call.get("id")}


# A packed rollout may unpack to this many bytes, and to this many times its own size once it is beyond the
# size that is always allowed; level 3 packs transcripts about 5 to 1, repeated ones 60 to 1.
MAX_UNPACKED, MAX_RATIO, ALWAYS_UNPACKED = 4 << 30, 200, 8 << 20
MAX_WINDOW = 32 << 20  # bytes of memory a packed file may ask for; level 3 asks for 2 MiB
_MOST_NOTES = 32 << 20  # bytes of the notes beside the rollouts that are read
_LONGEST_TITLE = 200  # characters; a guess: one line of a list


def rollout_files(home: str) -> Iterator[str]:
    """All rollouts of a Codex home, the newest first; of a packed and a plain one, the plain one."""
    there: dict[str, str] = {}
    for top in ("archived_sessions", "sessions"):
        for folder, _, names in os.walk(f"{home}/{top}"):
            for name in names:
                plain = name.removesuffix(".zst")
                is_rollout = plain.startswith("rollout-") and plain.endswith((".jsonl", ".json"))
                if is_rollout and (name == plain or plain not in there):
                    there[plain] = f"{folder}/{name}"
    yield from (there[name] for name in sorted(there, reverse=True))


def open_rollout(path: str) -> IO[bytes]:
    """A rollout's bytes, unpacked if it is packed."""
    if not path.endswith(".zst"):
        return open(path, "rb")
    try:  # an extra, so it is looked for only when a packed rollout is there
        unpacking = import_module("zstandard")
    except ImportError as error:
        raise BadInput(
            f"{path} is packed, and what unpacks it is not installed",
            hint="Install again from Holdfast's own folder, with '.[zstd]' in place of '.'",
        ) from error
    return io.BufferedReader(_Unpacked(path, unpacking), 1 << 18)


def export_end(path: str) -> int:
    """Where our own lines end in a thread that we exported: Codex, going on behind them, puts no blanks."""
    end = 0
    with open_rollout(path) as file:
        while (line := file.readline(transcript_reader.MAX_LINE)).startswith(b'{"timestamp": '):
            end += len(line)
    return end


class _Unpacked(io.RawIOBase):
    """The unpacked bytes of a packed file, forward only."""

    def __init__(self, path: str, zstandard: ModuleType) -> None:
        self._packed = open(path, "rb")  # noqa: SIM115 closed with this one
        self._damage = zstandard.ZstdError
        self.most = min(MAX_UNPACKED, max(ALWAYS_UNPACKED, MAX_RATIO * os.path.getsize(path)))
        unpacking = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW)
        self._bytes = unpacking.stream_reader(self._packed, read_across_frames=True)
        self._at = 0
        self.is_damaged = self.is_cut = False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        try:
            data = self._bytes.read(min(len(buffer), self.most - self._at) or 1)
        except self._damage:  # what came before it counts
            self.is_damaged = True
            return 0
        if self._at + len(data) > self.most:  # a few kilobytes may unpack to terabytes
            self.is_cut = True
            return 0
        self._at += len(data)
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, origin: int = os.SEEK_SET) -> int:
        target = offset if origin == os.SEEK_SET else self._at + offset
        scratch = memoryview(bytearray(1 << 16))
        while self._at < target and self.readinto(scratch[: min(1 << 16, target - self._at)]):
            pass
        return self._at

    def close(self) -> None:
        if not self.closed:
            self._bytes.close()
            self._packed.close()
        super().close()


# ── what stands beside the rollouts ──────────────────────────────────────────────────────────────


def title(path: str, session: str) -> str | None:
    """What the person or Codex called a thread, else how its first prompt began; a hint, no source."""
    parts = os.path.abspath(path).split(os.sep)
    tops = [at for at, part in enumerate(parts) if part in ("sessions", "archived_sessions")]
    if not tops:
        return None
    home = os.sep.join(parts[: tops[-1]])
    called = _notes(*_stamped(f"{home}/session_index.jsonl"), "id", "thread_name", last=True).get(session)
    return called or _notes(*_stamped(f"{home}/history.jsonl"), "session_id", "text", last=False).get(session)


def _stamped(path: str) -> tuple[str, int]:
    try:
        return path, os.stat(path).st_mtime_ns
    except OSError:
        return path, 0


@lru_cache(maxsize=8)
def _notes(path: str, stamp: int, key: str, value: str, *, last: bool) -> dict[str, str]:
    """One text for each thread from a file of notes; the file is read again when it changes."""
    told: dict[str, str] = {}
    for record in records(path, TranscriptCounts()) if stamp else ():
        if record.end > _MOST_NOTES:
            break
        of, text = short_name(record.value.get(key)), " ".join(text_value(record.value.get(value), 4000).split())
        if of and text and (last or of not in told):
            told[of] = cut(text, _LONGEST_TITLE)
    return told


_FIRST = 24  # records that are looked at to tell whose a rollout is
_FIRST_BYTES = 8 << 20  # bytes; a guess: instructions at the start are far smaller


def _is_mine(path: str) -> bool:
    if not os.path.isfile(path):  # a pipe would keep its reader waiting for ever
        return False
    try:
        if path.endswith(".json"):
            return _is_first_generation(document(path))
        return head_of(_first(path), path) is not None
    except (OSError, BadInput):
        return False


def _is_first_generation(told: dict[str, Any]) -> bool:
    return isinstance(told.get("session"), dict) and isinstance(told.get("items"), list)


def _first(path: str) -> list[dict[str, Any]]:
    """The first records of a rollout, packed or not; few and short ones will do."""
    if not path.endswith(".zst") and (few := transcript_reader.first_records(path)) and "payload" in few[0]:
        return few
    there = records(path, TranscriptCounts(), opened=open_rollout(path))
    return [one.value for one in islice(there, _FIRST) if one.end < _FIRST_BYTES]


def _read(path: str, start: int = 0, origin: TranscriptOrigin | None = None) -> TranscriptReading:
    """A rollout's turns from a byte on; BadInput if it is none."""
    if not os.path.isfile(path):
        raise BadInput(f"{path} is not a readable file")
    if path.endswith(".json"):
        return _read_document(path)
    head = head_of(_first(path), path, title=title(path, named(path)))
    if head is None:
        raise BadInput(f"{path} is not a transcript of Codex")
    if origin is None and head.is_exported:
        origin = replace(head.origin, own_from=export_end(path))
    head = RolloutHead(origin or head.origin, head.own_from)
    counted = TranscriptCounts()
    teller = CodexTurns(head, counted, resumed=start > 0)
    return TranscriptReading(head.origin, _told(teller, path, counted, start), counted)


def _told(teller: CodexTurns, path: str, counted: TranscriptCounts, start: int) -> Iterator[TranscriptTurn]:
    file = open_rollout(path)
    yield from teller.turns(records(path, counted, start=start, opened=file, wanted=is_wanted))
    if isinstance(raw := getattr(file, "raw", None), _Unpacked):
        counted.damaged += raw.is_damaged
        counted.read_to = raw.most if raw.is_cut else None


def _read_document(path: str) -> TranscriptReading:
    told = document(path)
    if not _is_first_generation(told):
        raise BadInput(f"{path} is not a transcript of Codex")
    origin = of_document(told, path, title=title(path, named(path)))
    counted = TranscriptCounts(end=os.path.getsize(path))
    teller = CodexTurns(RolloutHead(origin), counted, resumed=False)
    return TranscriptReading(origin, teller.turns(items_of(told, counted.end)), counted)


DIALECT = transcript_reader.Dialect(
    "codex", lambda environ, home: environ.get("CODEX_HOME") or f"{home}/.codex", rollout_files, _is_mine, _read
)
