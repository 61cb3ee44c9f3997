"""What a memory rests on: a run, a commit, or a file as git knew it.

Written as `run:<run id>`, `commit:<full oid>`, `file:<path>@<blob oid>`. A file is named by git's
own hash of its content, so a checkout with other line endings is still the same file.
Whether evidence still holds is asked of a clone, in `curation.evidence`.
"""

import re
from dataclasses import dataclass
from typing import assert_never

from holdfast.errors import BadInput
from holdfast.model.ids import is_id

_OID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_FORMS = "Write run:<run id>, commit:<full id> or file:<path>@<blob id>."
MAX_PATH = 4096


@dataclass(frozen=True, slots=True)
class RunEvidence:
    run_id: str

    def __post_init__(self) -> None:
        if not is_id(self.run_id):
            raise BadInput(f"{self.run_id!r} is not a run id", hint=_FORMS)

    def __str__(self) -> str:
        return f"run:{self.run_id}"


@dataclass(frozen=True, slots=True)
class CommitEvidence:
    oid: str

    def __post_init__(self) -> None:
        if not is_oid(self.oid):
            raise BadInput(f"{self.oid!r} is not a full commit id", hint=_FORMS)

    def __str__(self) -> str:
        return f"commit:{self.oid}"


@dataclass(frozen=True, slots=True)
class FileEvidence:
    path: str  # from the top of the repository, with forward slashes
    blob: str

    def __post_init__(self) -> None:
        if not is_tracked_path(self.path):
            raise BadInput(f"{self.path!r} is not a path inside the repository", hint=_FORMS)
        if not is_oid(self.blob):
            raise BadInput(f"{self.blob!r} is not a full blob id", hint=_FORMS)

    def __str__(self) -> str:
        return f"file:{self.path}@{self.blob}"


Evidence = RunEvidence | CommitEvidence | FileEvidence


def parse(text: str) -> Evidence:
    """The evidence that a string in a memory names."""
    kind, _, rest = text.partition(":")
    match kind:
        case "run":
            return RunEvidence(rest)
        case "commit":
            return CommitEvidence(rest)
        case "file":
            path, _, blob = rest.rpartition("@")
            return FileEvidence(path, blob)
        case _:
            raise BadInput(f"{text[:200]!r} is not evidence", hint=_FORMS)


def subject(evidence: Evidence) -> str:
    """What the evidence is about: a newer receipt for the same subject takes the older one's place."""
    match evidence:
        case RunEvidence() | CommitEvidence():
            return str(evidence)
        case FileEvidence(path=path):
            return f"file:{path}"
        case _:
            assert_never(evidence)


def is_oid(text: str) -> bool:
    """Whether the text is a whole git object id, SHA-1 or SHA-256."""
    return _OID.fullmatch(text) is not None


def is_tracked_path(path: str) -> bool:
    """Whether git could track a file of this name: relative, inside the repository, no NUL."""
    return (
        0 < len(path) <= MAX_PATH
        and "\x00" not in path
        and not path.startswith("/")
        and not any(part in ("", ".", "..") for part in path.split("/"))
    )
