"""What a memory rests on (its evidence), and where a candidate comes from (its provenance).

Evidence is a run, a commit, some lines or a symbol of a file, or a whole file, written as `run:<run id>`,
`commit:<full oid>`, `lines:<path>:<first>-<last>@<hash>`, `symbol:<path>#<name>@<hash>`, `file:<path>@<blob oid>`. A
file is named by git's own hash of its content; lines and symbols by git's hash of their own text (`model.spans`), so
edits elsewhere in the file do not count. Whether evidence still holds is checked in a clone, by `git.evidence_check`.

Provenance names a run, session or file, a turn or line in it, and the words, on one line a reviewer can look up:
`run:20261115T194200Z-abc123#3 the very words`.
"""

import re

from holdfast.errors import BadInput
from holdfast.model.ids import is_id
from holdfast.patterns import regex
from holdfast.values import frozen

_OID = regex(r"[0-9a-f]{40}|[0-9a-f]{64}")
_RANGE = regex(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")  # one spelling only: receipts are compared as text
_FORMS = (
    "Write run:<run id>, commit:<full id>, lines:<path>:<first>-<last>@<hash>, "
    "symbol:<path>#<name>@<hash> or file:<path>@<blob id>."
)
OF_FILES = ("file:", "lines:", "symbol:")  # how evidence begins that is code: its state can make a memory stale
MAX_PATH = 4096  # PATH_MAX of Linux
MAX_NAME = 1024  # characters of a symbol; a guess: generated names are long
MAX_LINE = 999_999_999  # of a file; a guess: nine digits


@frozen
class RunEvidence:
    run_id: str

    def __post_init__(self) -> None:
        if not is_id(self.run_id):
            raise BadInput(f"{self.run_id!r} is not a run id", hint=_FORMS)

    def __str__(self) -> str:
        return f"run:{self.run_id}"


@frozen
class CommitEvidence:
    oid: str

    def __post_init__(self) -> None:
        if not is_oid(self.oid):
            raise BadInput(f"{self.oid!r} is not a full commit id", hint=_FORMS)

    def __str__(self) -> str:
        return f"commit:{self.oid}"


@frozen
class FileEvidence:
    path: str  # from the top of the repository, with forward slashes
    blob: str

    def __post_init__(self) -> None:
        _check_place(self.path, self.blob)

    def __str__(self) -> str:
        return f"file:{self.path}@{self.blob}"


@frozen
class LinesEvidence:
    path: str
    first: int  # counted from 1; where the text stood when it was cited
    last: int
    hash: str

    def __post_init__(self) -> None:
        _check_place(self.path, self.hash)
        if not 1 <= self.first <= self.last <= MAX_LINE:
            raise BadInput(f"{self.first}-{self.last} are not lines of a file", hint=_FORMS)

    def __str__(self) -> str:
        return f"lines:{self.path}:{self.first}-{self.last}@{self.hash}"


@frozen
class SymbolEvidence:
    path: str
    name: str  # qualified: Class.method; without #, which ends the path
    hash: str

    def __post_init__(self) -> None:
        _check_place(self.path, self.hash)
        if not is_symbol_name(self.name):
            raise BadInput(f"{self.name[:200]!r} is not the name of a symbol", hint=_FORMS)

    def __str__(self) -> str:
        return f"symbol:{self.path}#{self.name}@{self.hash}"


Span = LinesEvidence | SymbolEvidence
Evidence = RunEvidence | CommitEvidence | FileEvidence | Span


def parse_evidence(text: str) -> Evidence:
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
        case "lines":
            place, _, digest = rest.rpartition("@")
            path, _, span = place.rpartition(":")
            if not (numbers := _RANGE.fullmatch(span)):
                raise BadInput(f"{span[:200]!r} is not a range of lines", hint=_FORMS)
            return LinesEvidence(path, int(numbers[1]), int(numbers[2]), digest)
        case "symbol":
            place, _, digest = rest.rpartition("@")
            path, _, name = place.rpartition("#")
            return SymbolEvidence(path, name, digest)
        case _:
            raise BadInput(f"{text[:200]!r} is not evidence", hint=_FORMS)


def receipt_name(receipt: str) -> str:
    """A receipt as people know it: a place without its hash, a commit by the beginning of its name."""
    kind, _, rest = receipt.partition(":")
    if kind in ("file", "lines", "symbol"):
        place = rest.rpartition("@")[0] or rest
        path, _, span = place.rpartition(":")
        first, _, last = span.partition("-")
        return f"{path}:{first}" if kind == "lines" and path and first == last else place
    return f"commit {rest[:12]}" if kind == "commit" else receipt


def subject(evidence: Evidence) -> str:
    """What the evidence is about: a newer receipt for the same subject takes the older one's place."""
    is_whole = isinstance(evidence, RunEvidence | CommitEvidence)
    return str(evidence) if is_whole else str(evidence).rpartition("@")[0]  # all but the hash


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


def is_symbol_name(name: str) -> bool:
    """Whether a receipt can carry this name: short, one line, no `#`."""
    return 0 < len(name) <= MAX_NAME and "#" not in name and name == name.strip() and name.isprintable()


def _check_place(path: str, digest: str) -> None:
    if not is_tracked_path(path):
        raise BadInput(f"{path[:200]!r} is not a path inside the repository", hint=_FORMS)
    if not is_oid(digest):
        raise BadInput(f"{digest[:200]!r} is not a full hash of git", hint=_FORMS)


MAX_PROVENANCE_WORDS = 2000  # characters; a guess: what a reviewer reads of a quotation
_SOURCE = regex(r"(?:run|session|file|commit|agent):\S.*|person(?::.+)?|curate")
_PROVENANCE_FORM = regex(
    r"(?P<source>(?:[^\s#]|#(?!\d+(?:\s|$)))+)(?:#(?P<turn>\d{1,9}))?(?: (?P<words>.*))?", re.DOTALL
)


@frozen
class Provenance:
    """One place where something was said or shown."""

    source: str  # run:<id>, session:<id>, file:<path>, commit:<oid>, person:<name>, agent:<name> or curate
    turn: int | None = None  # of a run or session; of a file, the line
    words: str = ""  # verbatim, on one line

    def __str__(self) -> str:
        source = re.sub(r"\s", "%20", self.source.replace("%", "%25"))  # the first space ends it
        place = source + ("" if self.turn is None else f"#{self.turn}")
        return f"{place} {' '.join(self.words.split())[:MAX_PROVENANCE_WORDS]}".strip()


def parse_provenance(text: str) -> Provenance:
    """What a line says; BadInput if it is none."""
    found = _PROVENANCE_FORM.fullmatch(text)
    source = "" if found is None else found["source"].replace("%20", " ").replace("%25", "%")
    if found is None or not _SOURCE.fullmatch(source):
        raise BadInput(f"provenance {text[:80]!r} names no run, session, file or person")
    return Provenance(source, int(found["turn"]) if found["turn"] else None, found["words"] or "")
