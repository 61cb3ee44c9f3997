"""The lines that a memory rests on, as they stand in a file: who decides about it need not open the file."""

from collections.abc import Iterator, Mapping, Sequence

from holdfast.errors import HoldfastError
from holdfast.git.clone import Clone
from holdfast.git.tracked import places, texts
from holdfast.model.evidence import CommitEvidence, FileEvidence, RunEvidence, parse
from holdfast.values import frozen

MOST = 12  # lines of one citation
MAX_WIDTH = 400  # characters of a line
MAX_CITED = 6  # citations of one memory whose lines are looked up


@frozen
class Lines:
    """Some lines of a file."""

    number: int  # of the first of them, counted from 1
    lines: tuple[str, ...]
    more: int = 0  # that belong to it and are not here


def cited(clone: Clone, receipts: Sequence[tuple[str, str]]) -> Mapping[str, Lines]:
    """The lines of each receipt that holds and is of a file; what changed is shown as a diff instead."""
    holding = [receipt for receipt, state in receipts if state == "holds"]
    found = ((receipt, _standing(clone, receipt)) for receipt in holding[:MAX_CITED])
    return {receipt: lines for receipt, lines in found if lines is not None}


def _standing(clone: Clone, receipt: str) -> Lines | None:
    try:
        return next(_found(clone, receipt), None)
    except (HoldfastError, OSError):  # a receipt that somebody wrote by hand, or a file that cannot be read
        return None


def _found(clone: Clone, receipt: str) -> Iterator[Lines]:
    part = parse(receipt)
    if isinstance(part, RunEvidence | CommitEvidence):
        return
    place = places(clone.repo, [part.path]).get(part.path)
    for text in texts(clone.repo, place) if place else ():
        span = (1, len(text.lines)) if isinstance(part, FileEvidence) else text.place(part)
        if span is not None and text.lines:
            rows = text.lines[span[0] - 1 : min(span[1], span[0] - 1 + MOST)]
            said = tuple(row.decode("utf-8", "replace").rstrip("\r\n")[:MAX_WIDTH] for row in rows)
            yield Lines(span[0], said, span[1] - span[0] + 1 - len(said))
