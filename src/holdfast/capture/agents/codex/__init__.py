"""Transcripts of Codex: rollouts of all its generations.

    the first     sessions/rollout-*.json, one document                                 `document`
    the second    bare items, one a line, no times and no folder
    the third     {timestamp, type, payload} a line, display events beside the items
    the fourth    the same with an ordinal; display events are `item_completed`

`files` finds and opens them, `origin` says whose they are, `turns` reads the lines, `steps` holds a turn
while it is read; `prompts`, `calls`, `results`, `patch` and `script` know what one item means.
"""

import os
from collections.abc import Iterator
from itertools import islice
from typing import Any

from holdfast.capture.agents.codex.document import items_of
from holdfast.capture.agents.codex.files import export_end, found, is_damaged, is_file, opened, read_to, title
from holdfast.capture.agents.codex.origin import Head, head_of, named, of_document
from holdfast.capture.agents.codex.passed import is_wanted
from holdfast.capture.agents.codex.turns import Teller
from holdfast.capture.agents.reading import Counted, Dialect, Reading, document, first_records, records
from holdfast.errors import BadInput
from holdfast.model.transcript import Origin, Turn
from holdfast.values import replace

_FIRST = 24  # records that are looked at to tell whose a rollout is
_FIRST_BYTES = 8 << 20


def _home(environ: dict[str, str], home: str) -> str:
    return environ.get("CODEX_HOME") or f"{home}/.codex"


def _is_mine(path: str) -> bool:
    if not is_file(path):
        return False
    if _is_document(path):
        return _is_first_generation(path)
    try:
        return head_of(_first(path), path) is not None
    except (OSError, BadInput):
        return False


def _is_document(path: str) -> bool:
    return path.endswith(".json")


def _is_first_generation(path: str) -> bool:
    try:
        told = document(path)
    except (OSError, BadInput):
        return False
    return isinstance(told.get("session"), dict) and isinstance(told.get("items"), list)


def _first(path: str) -> list[dict[str, Any]]:
    """The first records of a rollout, packed or not; few and short ones will do."""
    if not path.endswith(".zst") and (few := first_records(path)) and "payload" in few[0]:
        return few
    there = records(path, Counted(), opened=opened(path))
    return [one.value for one in islice(there, _FIRST) if one.end < _FIRST_BYTES]


def _read(path: str, start: int = 0, origin: Origin | None = None) -> Reading:
    """A rollout's turns from a byte on; BadInput if it is none."""
    if not is_file(path):
        raise BadInput(f"{path} is no file that could be read")
    if _is_document(path):
        return _read_document(path)
    head = head_of(_first(path), path, title=title(path, named(path)))
    if head is None:
        raise BadInput(f"{path} is no transcript of Codex")
    if origin is None and head.is_exported:
        origin = replace(head.origin, own_from=export_end(path))
    head = Head(origin or head.origin, head.own_from)
    counted = Counted()
    teller = Teller(head, counted, resumed=start > 0)
    return Reading(head.origin, _told(teller, path, counted, start), counted)


def _told(teller: Teller, path: str, counted: Counted, start: int) -> Iterator[Turn]:
    file = opened(path)
    yield from teller.turns(records(path, counted, start=start, opened=file, wanted=is_wanted))
    counted.damaged += is_damaged(file)
    counted.read_to = read_to(file)


def _read_document(path: str) -> Reading:
    told = document(path)
    if not isinstance(told.get("session"), dict) or not isinstance(told.get("items"), list):
        raise BadInput(f"{path} is no transcript of Codex")
    origin = of_document(told, path, title=title(path, named(path)))
    counted = Counted(end=os.path.getsize(path))
    teller = Teller(Head(origin), counted, resumed=False)
    return Reading(origin, teller.turns(items_of(told, counted.end)), counted)


DIALECT = Dialect("codex", _home, found, _is_mine, _read)
