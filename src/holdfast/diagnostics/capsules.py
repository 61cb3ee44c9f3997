"""Is a run's capsule what was sealed? Its files against its root hash, its meta against its event."""
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

META = "meta.json"


@dataclass(frozen=True, slots=True)
class Fault:
    path: str
    sentence: str


def verify(folder: str, root: str, joined: Mapping[str, Any]) -> Iterator[Fault]:
    if not os.path.isdir(folder):
        yield Fault("", "the capsule of this run is missing")
        return
    sums = []
    for base, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(base, name)
            rel = os.path.relpath(path, folder).replace(os.sep, "/")
            if rel != META:
                with open(path, "rb") as file:
                    sums.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {rel}\n".encode())
    if hashlib.sha256(b"".join(sorted(sums))).hexdigest() != root:
        yield Fault("", "one of its files was changed")
    try:
        with open(os.path.join(folder, META), "rb") as file:
            same = json.load(file) == dict(joined)
    except (OSError, ValueError):
        same = False
    if not same:
        yield Fault(META, "it does not equal the run's event")
