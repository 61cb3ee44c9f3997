"""Bytes to values and back: event lines, segments, bodies. `docs/reference/log-format.md` is the standard.

Readers hash the raw bytes of an event and never re-serialise it. The form is exact, so one regular expression both
parses it and refuses anything else, a repeated key included. A later version may add fields before `hash_prev`; their
form is fixed, and they stay with the event. The field `line` is the id of a branch's work.
"""

import contextlib
import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from holdfast.errors import CorruptLog, FutureFormat, TooLarge
from holdfast.model.event import Event, EventDraft
from holdfast.patterns import regex
from holdfast.store import layout
from holdfast.values import frozen

VERSION = 1
# Limits of the format, guesses: a reader holds one event, body or segment in memory, and git one file.
MAX_ENVELOPE = 4096
MAX_BODY = 1 << 20  # bytes; a guess: an event is small, large content is kept beside it
MAX_SEGMENT = 1 << 20  # bytes; a guess: merges of git stay quick, and a file is read at once
MAX_SEGMENT_EVENTS = 1000  # a guess: as MAX_SEGMENT, for small events
SALT_BYTES = 32  # as long as the hash: a salt cannot be guessed more easily

_EVENT_TAG = b"holdfast-event-1\n"
_BODY_TAG = b"holdfast-body-1\n"
_EVENT_SEED = _EVENT_TAG + b"{"

_TS = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"
_KEY = rb"[A-Za-z0-9][A-Za-z0-9._-]{0,95}"
_INT = rb"-?(?:0|[1-9]\d{0,15})"
_HASH = rb"[0-9a-f]{64}"
_NAME = rb"[a-z][a-z0-9_]{0,31}"
_PLAIN = rb"(?:null|true|false|" + _INT + rb'|"[!#-\[\]-~]{0,200}")'  # strings without blank, quote, backslash
_ADDED = rb'"' + _NAME + rb'":(?:' + _PLAIN + rb"|\[(?:" + _PLAIN + rb"(?:," + _PLAIN + rb"){0,31})?\])"

EVENT = regex(
    rb'\{"hash_self":"(' + _HASH + rb')",'
    rb'("v":1,"ts":"(' + _TS + rb')","kind":"([a-z]{1,16})","target":(?:null|"(' + _KEY + rb')"),'
    rb'"line":"([a-z0-9-]{1,64})","writer":"([a-z0-9]{1,64})","seq":(0|[1-9]\d{0,15}),'
    rb'"run_id":(?:null|"(' + _KEY + rb')"),"parent_run_id":(?:null|"(' + _KEY + rb')"),'
    rb'"head":(?:null|"([0-9a-f]{40}|[0-9a-f]{64})"),"layer":(?:null|"([A-Za-z0-9][A-Za-z0-9._-]{0,31})"),'
    rb'"systemic_scale":(?:null|(' + _INT + rb')),"exit_status":(?:null|(' + _INT + rb")),"
    rb'"body":(?:null|"(' + _HASH + rb')"),((?:' + _ADDED + rb",){0,16})"
    rb'"hash_prev":\[((?:"' + _HASH + rb'"(?:,"' + _HASH + rb'"){0,31})?)\]\})\n'
)
HEADER = regex(
    rb'\{"holdfast":"segment","v":1,"line":"([a-z0-9-]{1,64})","count":([1-9]\d{0,3}),'
    rb'"first_ts":"(' + _TS + rb')"((?:,' + _ADDED + rb"){0,16})\}\n"
)
_IN_EVENT = frozenset(
    b"""hash_self v ts kind target line writer seq run_id parent_run_id head layer systemic_scale
    exit_status body hash_prev""".split()
)
_OF_DRAFT = ("kind", "target", "run_id", "parent_run_id", "layer", "systemic_scale", "exit_status")
_IN_HEADER = frozenset(b"holdfast v line count first_ts".split())
_NEWER = regex(rb'"v":([1-9]\d*)')


_Names = tuple[str, ...]


def _form(value: str | int | None) -> str:
    return "null" if value is None else f'"{value}"' if isinstance(value, str) else str(value)


def make_event(
    draft: EventDraft, *, ts: str, line: str, writer: str, seq: int, head: str | None, body: str | None, parents: _Names
) -> tuple[Event, bytes]:
    """Returns an event and its bytes, which start with its hash; parents must be sorted and unique."""
    named = ",".join(f'"{parent}"' for parent in parents)
    rest = (
        f'"v":1,"ts":"{ts}","kind":"{draft.kind}","target":{_form(draft.target)},"line":"{line}",'
        f'"writer":"{writer}","seq":{seq},"run_id":{_form(draft.run_id)},'
        f'"parent_run_id":{_form(draft.parent_run_id)},"head":{_form(head)},"layer":{_form(draft.layer)},'
        f'"systemic_scale":{_form(draft.systemic_scale)},"exit_status":{_form(draft.exit_status)},'
        f'"body":{_form(body)},"hash_prev":[{named}]}}'
    )
    name = hashlib.sha256(_EVENT_SEED + rest.encode("ascii")).hexdigest()
    data = f'{{"hash_self":"{name}",{rest}\n'.encode("ascii")
    if len(data) > MAX_ENVELOPE:
        raise TooLarge(f"the event's envelope has {len(data)} bytes; at most {MAX_ENVELOPE} are stored")
    fields: dict[str, Any] = {field: getattr(draft, field) for field in _OF_DRAFT}
    fields |= {"line": line, "writer": writer, "seq": seq, "head": head, "body": body, "hash_prev": parents}
    return Event(hash_self=name, ts=ts, **fields), data


def match_event(line: bytes) -> re.Match[bytes]:
    """Returns the match of a row with the right form and hash; raises CorruptLog with the reason otherwise."""
    found = EVENT.fullmatch(line)
    if found is None:
        raise _not_an_event(line)
    if hashlib.sha256(_EVENT_SEED + found[2]).hexdigest().encode("ascii") != found[1]:
        raise CorruptLog("its bytes do not match its hash")
    if found[16]:
        added(found[16], known=_IN_EVENT)
    return found


def added(fields: bytes, *, known: Collection[bytes] = ()) -> dict[str, Any]:
    """Returns the fields that a later version added; raises CorruptLog if one is repeated or known."""
    pairs = json.loads(b"{%s}" % fields.strip(b","), object_pairs_hook=list)
    names = [name.encode("ascii") for name, _ in pairs]
    if len(set(names)) != len(names) or any(name in known for name in names):
        raise CorruptLog("it has a field twice")
    return dict(pairs)


def _not_an_event(line: bytes) -> CorruptLog | FutureFormat:
    version = _NEWER.search(line[:200])
    if line[78:84] == b'","v":' and version and int(version[1]) > VERSION:
        return FutureFormat(f"the event has format version {int(version[1])}; this Holdfast reads version {VERSION}")
    if not line.endswith(b"\n"):
        return CorruptLog("the line is torn: it has no end")
    return CorruptLog("the line does not have the form of an event")


def parents_of(found: re.Match[bytes]) -> tuple[str, ...]:
    """Returns the parents of a matched row."""
    named = found[17]
    return tuple(named.decode("ascii")[1:-1].split('","')) if named else ()


def parse_event(line: bytes) -> Event:
    """Parses one row and checks its hash."""
    found = match_event(line)
    groups: list[Any] = [None if group is None else group.decode("ascii") for group in found.groups()]
    name, _, ts, kind, target, where, writer, seq, run, parent, head, layer, scale, status, body, more, _ = groups
    scale, status = (None if number is None else int(number) for number in (scale, status))
    ids, parents = (where, writer, int(seq), run, parent, head, layer), sorted_parents(found)
    return Event(name, ts, kind, target, *ids, scale, status, body, parents, more or "")


def events_in(data: bytes, kind: str = "") -> Iterator[tuple[Event, bytes]]:
    """Yields the events in some bytes, or those of one kind, with their rows; skips others, which `doctor` reports."""
    named = f'"kind":"{kind}'.encode("ascii")
    for line in split_lines(data) if named in data else ():
        with contextlib.suppress(CorruptLog, FutureFormat):
            if named in line and kind in ("", (event := parse_event(line)).kind):
                yield event, line


def sorted_parents(found: re.Match[bytes]) -> tuple[str, ...]:
    """Returns the parents of a matched row; raises CorruptLog if they are not sorted and unique."""
    parents = parents_of(found)
    if len(parents) > 1 and any(one >= other for one, other in pairwise(parents)):
        raise CorruptLog("its parents are not sorted or repeat")
    return parents


def split_lines(data: bytes) -> Iterator[bytes]:
    """Yields lines with their LF; only LF ends a line, and an incomplete last one comes without it."""
    start = 0
    while (end := data.find(b"\n", start)) >= 0:
        yield data[start : end + 1]
        start = end + 1
    if start < len(data):
        yield data[start:]


@frozen
class Segment:
    """A sealed, immutable piece of the log; its name is the hash of its bytes."""

    name: str
    line: str
    first_ts: str
    data: bytes

    @property
    def path(self) -> str:
        return layout.segment_path(self.name, self.first_ts)


def segment_name(data: bytes) -> str:
    """Returns the name of a segment with these bytes."""
    return hashlib.sha256(data).hexdigest()[:32]


def make_segments(line: str, events: Iterable[tuple[str, bytes]]) -> list[Segment]:
    """Packs pairs of time and event row, in order, into as few segments as the limits allow."""
    segments: list[Segment] = []
    batch: list[tuple[str, bytes]] = []
    size = 0
    for ts, data in events:
        if batch and (len(batch) == MAX_SEGMENT_EVENTS or size + len(data) > MAX_SEGMENT - 256):  # 256: the header
            segments.append(_make_segment(line, batch))
            batch, size = [], 0
        batch.append((ts, data))
        size += len(data)
    return [*segments, _make_segment(line, batch)] if batch else segments


def _make_segment(line: str, batch: list[tuple[str, bytes]]) -> Segment:
    first_ts = batch[0][0]
    header = f'{{"holdfast":"segment","v":1,"line":"{line}","count":{len(batch)},"first_ts":"{first_ts}"}}\n'
    data = header.encode("ascii") + b"".join(event for _, event in batch)
    return Segment(segment_name(data), line, first_ts, data)


def segment_lines(name: str, data: bytes) -> tuple[str, list[bytes]]:
    """Returns the line id and the event rows of a segment; checks its name and header."""
    lines = list(split_lines(data))
    header = match_header(lines[0]) if lines else None
    if header is None:
        version = _NEWER.search(data[:200]) if data.startswith(b'{"holdfast":"segment"') else None
        if version and int(version[1]) > VERSION:
            raise FutureFormat(f"segment {name} has format version {int(version[1])}")
        raise CorruptLog(f"segment {name} does not begin with a segment header")
    if segment_name(data) != name:
        raise CorruptLog(f"segment {name} does not match the hash in its name")
    if int(header[2]) != len(lines) - 1:
        raise CorruptLog(f"segment {name} says {int(header[2])} events and has {len(lines) - 1}")
    return header[1].decode("ascii"), lines[1:]


def match_header(line: bytes) -> re.Match[bytes] | None:
    """Matches a segment's header, with the groups line, count and first_ts; None if it is not a header."""
    found = HEADER.fullmatch(line)
    if found is not None and found[4]:
        try:
            added(found[4], known=_IN_HEADER)
        except CorruptLog:
            return None
    return found


def sound_events(path: str, data: bytes) -> list[re.Match[bytes]]:
    """Returns the events of a valid segment; raises CorruptLog or FutureFormat for another.

    `path` is its path below the log's folder, or only its name if all segments are in one folder.
    """
    folder, _, file = path.rpartition("/")
    name = file.removesuffix(".jsonl")
    line, pieces = segment_lines(name, data)
    found = [match_event(piece) for piece in pieces]
    if not found or len(found) > MAX_SEGMENT_EVENTS or len(data) > MAX_SEGMENT:
        raise CorruptLog(f"segment {name} is empty or larger than a segment may be")
    first = found[0][3].decode("ascii")
    header = match_header(data[: data.find(b"\n") + 1])
    if header is None or header[3].decode("ascii") != first or (folder and folder != first[:10].replace("-", "/")):
        raise CorruptLog(f"segment {name} does not fit its first event")
    if any(event[6].decode("ascii") != line for event in found):
        raise CorruptLog(f"segment {name} mixes lines")
    for event in found:
        sorted_parents(event)
    return found


def body_bytes(body: Mapping[str, Any]) -> bytes:
    """Returns a body as it is stored: compact JSON in UTF-8."""
    data = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")
    if len(data) > MAX_BODY:
        raise TooLarge(f"the event's body has {len(data)} bytes; at most {MAX_BODY} are stored")
    return data


def body_name(stored: bytes) -> str:
    """Returns the hash that commits to a stored body, its salt and its bytes."""
    return hashlib.sha256(_BODY_TAG + stored).hexdigest()
