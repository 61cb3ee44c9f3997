"""Is the log what was written? Bytes in, findings out; nothing here reads the disk or git.

A Ledger takes every file of the log, one after the other, and judges at the end what only the whole
can tell: whether parents are here, and whether an odd line of a spool was ever acknowledged.
The rules are those of `docs/reference/log-format.md`.

A checkpoint is a small note of how far the log reached. The heads of the log commit to everything before them; kept
where nobody can change them, they show later that history was cut off or a branch of it dropped.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from holdfast.diagnostics.findings import HealthFinding
from holdfast.errors import BadInput, CorruptLog, FutureFormat
from holdfast.patterns import regex
from holdfast.store import format as log_format
from holdfast.store import layout
from holdfast.values import asdict, frozen

_KEPT = (1, 3, 4, 5, 6, 9, 15)  # groups of format.EVENT, in the order of Seen's fields
_NEWER = regex(rb'\{"holdfast":"segment","v":(?:[2-9]|[1-9]\d+),')
_LISTED = 20  # of many missing parents
_RESTORE = "Bring the file back from git or a backup; other clones hold the same bytes under the same name."
_UPDATE = "Update Holdfast; this version leaves newer files untouched."


class VerifiedEvent(NamedTuple):
    """What verifying keeps of an event: bytes as they stand in its line, and where that was."""

    hash_self: bytes
    ts: bytes
    kind: bytes
    target: bytes | None
    line: bytes
    run_id: bytes | None
    body: bytes | None
    parents: tuple[str, ...]
    file: str
    number: int
    data: bytes  # the whole line, if it is a run this clone recorded; else nothing

    @property
    def names(self) -> set[str]:
        """Everything that an erase may name this event by."""
        return {value.decode("ascii") for value in (self.hash_self, self.run_id, self.target) if value}


@frozen
class UnreadableLine:
    """A line of a spool that is no event; whether it was ever acknowledged is judged at the end."""

    file: str
    path: str
    number: int
    data: bytes
    newer: bool
    after: VerifiedEvent | None  # the next event of the file


class Ledger:
    """Every event of the log that verifies, and a finding for whatever does not."""

    def __init__(self) -> None:
        self.events: dict[str, VerifiedEvent] = {}
        self.own: dict[str, VerifiedEvent] = {}  # those this clone recorded: their bodies are expected here
        self.findings: list[HealthFinding] = []
        self.files = 0
        self._odd: list[UnreadableLine] = []
        self._sound: dict[bytes, list[VerifiedEvent | None]] = {}  # a segment's bytes to its events

    def segment(self, file: str, name: str, data: bytes, *, own: bool = False) -> None:
        """Take a segment: each event, the header, the name, and for a tracked one its folder."""
        self.files += 1
        if _is_endless(data) and not _NEWER.match(data):  # a finding for each line would take gigabytes
            sentence = f"this is not what was sealed: no segment is as large ({len(data):,} bytes)"
            self._say("problem", file, None, sentence, _RESTORE)
            return
        pieces = list(log_format.split_lines(data))
        # What was sealed here and is committed has the same bytes twice.
        seen: list[VerifiedEvent | None] = [] if own else self._sound.get(data, [])
        faults: dict[int, str] = {}
        newer = bool(_NEWER.match(data))
        for number, piece in enumerate(pieces[1:] if not seen else (), 2):
            try:
                seen.append(_read(piece, file, number, own=own))
            except FutureFormat as error:
                newer, faults[number] = True, str(error)
                seen.append(None)
            except CorruptLog as error:
                faults[number] = str(error)
                seen.append(None)
        if newer and log_format.segment_name(data) == name:
            self._say("partial", file, 1, "this segment was written by a newer Holdfast", _UPDATE)
            return
        if not faults:
            self._sound[data] = seen
        self._keep(seen, own=own)
        line = next((event.line for event in seen if event is not None), None)
        odd = (event for event in seen if event is not None and event.line != line)  # a segment never mixes lines
        faults |= {event.number: "it belongs to another line than the first event" for event in odd}
        if fault := _header_fault(file, name, data, pieces, seen, sound=not faults):
            faults[1] = fault
        for number in sorted(faults):
            self._say("problem", file, number, f"this is not what was sealed: {faults[number]}", _RESTORE)

    def spool(self, file: str, path: str, data: bytes) -> None:
        """Take a spool; what is no event in it is judged by `finish`."""
        self.files += 1
        after: VerifiedEvent | None = None
        kept: list[VerifiedEvent] = []
        for number, piece in reversed(list(enumerate(log_format.split_lines(data), 1))):
            try:
                after = _read(piece, file, number, own=True)
                kept.append(after)
            except (CorruptLog, FutureFormat) as error:
                if piece != b"\n":  # it only ended a torn line
                    self._odd.append(UnreadableLine(file, path, number, piece, isinstance(error, FutureFormat), after))
        self._keep(reversed(kept), own=True)

    def finish(self) -> None:
        """Judge what only the whole log can tell; call it once, after the last file."""
        for odd in sorted(self._odd, key=lambda odd: (odd.file, odd.number)):
            self._judge(odd)
        missing: dict[str, VerifiedEvent] = {}
        for event in self.events.values():
            for parent in event.parents:
                if parent not in self.events:
                    missing.setdefault(parent, event)
        step = "Nothing is wrong if it is on another branch or in history this clone does not have."
        for parent, child in list(missing.items())[:_LISTED]:
            sentence = f"the event before this one is not here: {parent[:16]}…"
            self._say("partial", child.file, child.number, sentence, step)
        if len(missing) > _LISTED:
            sentence = f"{len(missing) - _LISTED} more events name one that is not here"
            self._say("partial", layout.LOG, None, sentence, step)

    def stranger(self, file: str) -> None:
        """Something that is no segment lies where only segments belong."""
        self._say("problem", file, None, "only segments belong in the log", f"Remove it: `git rm {file}`.")

    def _keep(self, seen: Iterable[VerifiedEvent | None], *, own: bool) -> None:
        for event in seen:
            if event is not None:
                name = event.hash_self.decode("ascii")
                self.events.setdefault(name, event)
                if own:
                    self.own.setdefault(name, event)

    def _judge(self, odd: UnreadableLine) -> None:
        """A piece of a line is torn if it was never acknowledged.

        A cut line never has an event's end, and the next event names its writer's last acknowledged
        one: if that is not here, the line between them was acknowledged and has been altered.
        """
        parents = odd.after.parents if odd.after is not None else ()
        if not odd.data.endswith(b"]}\n") and all(parent in self.events for parent in parents):
            sentence = f"a write was cut short here; its {len(odd.data)} bytes were never acknowledged"
            step = "Run `holdfast doctor --repair` to set them aside."
            self._say("note", odd.file, odd.number, sentence, step, repair="set-aside", path=odd.path)
        elif odd.newer:
            self._say("partial", odd.file, odd.number, "this event was written by a newer Holdfast", _UPDATE)
        else:
            sentence = "this event is not what was written: its bytes do not match its hash"
            self._say("problem", odd.file, odd.number, sentence, "Bring the file back from a backup.")

    def _say(self, severity: str, file: str, line: int | None, sentence: str, step: str, **repair: str) -> None:
        self.findings.append(HealthFinding(severity, "log", file, sentence, step, line, **repair))


def _is_endless(data: bytes) -> bool:
    """Whether this is more than anybody seals, whatever a changed byte made of it."""
    return len(data) > 2 * log_format.MAX_SEGMENT or data.count(b"\n") > 2 * log_format.MAX_SEGMENT_EVENTS


def _read(piece: bytes, file: str, number: int, *, own: bool) -> VerifiedEvent:
    """The event in one text line, its form, hash and parents checked."""
    found = log_format.match_event(piece)
    parents = log_format.sorted_parents(found)
    data = piece if own and found[4] == b"run" else b""
    return VerifiedEvent._make((*found.group(*_KEPT), parents, file, number, data))


def _header_fault(
    file: str, name: str, data: bytes, pieces: list[bytes], seen: list[VerifiedEvent | None], *, sound: bool
) -> str | None:
    """What is wrong with a segment as a whole; the events say what its header has to be."""
    if not seen:
        return "it holds no events"
    if len(data) > log_format.MAX_SEGMENT or len(seen) > log_format.MAX_SEGMENT_EVENTS:
        return "it is larger than a segment may be"
    first = seen[0]
    header = log_format.match_header(pieces[0])
    sound_one = next((event for event in seen if event is not None), None)
    # Where the first is damaged, as far as can be told.
    fits = header is not None and int(header[2]) == len(seen) and (first is None or first.ts == header[3])
    if header is None or not fits or (sound_one is not None and sound_one.line != header[1]):
        return "its header does not fit the events that follow"
    tracked = file.startswith(f"{layout.LOG}/")
    if first is not None and tracked and file != layout.segment_path(name, first.ts.decode("ascii")):
        return "it lies in the folder of another day"
    return "its name is not the hash of its bytes" if sound and log_format.segment_name(data) != name else None


MAX_CHECKPOINT = 8 << 20  # bytes; a guess: a checkpoint has a few lines for each branch
_HASH = regex(r"[0-9a-f]{64}")


@frozen
class LogCheckpoint:
    """The sorted heads of a log and how many events they stood for."""

    heads: tuple[str, ...]
    count: int
    ts: str


def make_checkpoint(parents: Mapping[str, Sequence[str]], ts: str) -> LogCheckpoint:
    """A checkpoint of a log given as event -> the parents it names."""
    named = {parent for before in parents.values() for parent in before}
    return LogCheckpoint(tuple(sorted(set(parents) - named)), len(parents), ts)


def checkpoint_to_bytes(checkpoint: LogCheckpoint) -> bytes:
    """The file to keep."""
    record = {"holdfast": "checkpoint", "v": 1, **asdict(checkpoint)}
    return json.dumps(record, separators=(",", ":")).encode("ascii") + b"\n"


def checkpoint_from_bytes(data: bytes, name: str) -> LogCheckpoint:
    """The checkpoint in a file; BadInput if it is none."""
    try:
        record = json.loads(data) if len(data) <= MAX_CHECKPOINT else None
    except ValueError:
        record = None
    if not isinstance(record, dict) or record.get("holdfast") != "checkpoint":
        raise BadInput(f"{name} is not a checkpoint", hint="Make one with `holdfast log --checkpoint FILE`.")
    if record.get("v") != 1:
        raise FutureFormat(f"{name} has format version {record.get('v')!r}; this Holdfast reads version 1")
    heads: Any = record.get("heads")
    count = record.get("count")
    sound = isinstance(heads, list) and all(isinstance(h, str) and _HASH.fullmatch(h) for h in heads)
    if not sound or type(count) is not int or count < 0:
        raise BadInput(f"{name} is a damaged checkpoint", hint="Use another copy of it.")
    return LogCheckpoint(tuple(sorted(set(heads))), count, str(record.get("ts", "")))


def compare_checkpoint(kept: LogCheckpoint, parents: Mapping[str, Sequence[str]], name: str) -> list[HealthFinding]:
    """What the log has lost since a checkpoint; new events and new heads are no loss."""
    gone = [head for head in kept.heads if head not in parents]
    found = [_lost(name, f"event {head[:16]}… was here at the checkpoint and is gone") for head in gone]
    seen: set[str] = set()
    todo = [head for head in kept.heads if head in parents]
    while todo:
        if (event := todo.pop()) not in seen:
            seen.add(event)
            todo.extend(parent for parent in parents[event] if parent in parents)
    if (short := kept.count - len(seen)) > 0:
        found.append(_lost(name, f"{short} of the {kept.count} events behind the checkpoint are gone"))
    return found


def _lost(name: str, sentence: str) -> HealthFinding:
    step = "Look for it on another branch, in another clone or in a backup: somebody dropped history."
    return HealthFinding("problem", "checkpoint", name, sentence, step)
