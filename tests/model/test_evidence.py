"""Evidence: what people and files may name, and how it is spelled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import BadInput
from holdfast.model import evidence
from holdfast.model.evidence import CommitEvidence, FileEvidence, LinesEvidence, RunEvidence, SymbolEvidence
from holdfast.model.memory import join_evidence

OID = "3b18e512dba79e4c8300dd08aeb37f8e728b8dad"
PATHS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40)


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="#"), min_size=1, max_size=40)


@pytest.mark.parametrize(
    "text",
    [
        "run:20261115T194200Z-abc123",
        f"commit:{OID}",
        f"file:src/a@b.py@{OID}",
        f"lines:src/a.py:10-20@{OID}",
        f"symbol:src/a.py#Class.method@{OID}",
    ],
)
def test_evidence_reads_back_as_written(text: str) -> None:
    """A receipt that changes its spelling no longer matches what the log says."""
    assert str(evidence.parse_evidence(text)) == text


@given(PATHS.filter(evidence.is_tracked_path))
def test_any_path_git_can_hold_can_be_cited(path: str) -> None:
    """A file with a space or an @ in its name is a file, too."""
    for cited in (FileEvidence(path, OID), LinesEvidence(path, 1, 20, OID), SymbolEvidence(path, "a.b", OID)):
        assert evidence.parse_evidence(str(cited)) == cited


@given(st.sampled_from(["a#b.md", "a:1-2@x", "#", "ü ñ/@", "C#/a.cs"]), NAMES.filter(evidence.is_symbol_name))
def test_any_symbol_of_an_odd_path_reads_back_as_written(path: str, name: str) -> None:
    """A `#` in a file's name must not make its symbols those of another file."""
    cited = SymbolEvidence(path, name, OID)
    assert evidence.parse_evidence(str(cited)) == cited
    assert str(evidence.parse_evidence(str(cited))) == str(cited)


@pytest.mark.parametrize(
    "text",
    ["", "run:", "run:a b", "commit:abc", f"commit:{OID.upper()}", f"file:@{OID}", "file:a@xyz", "file:a",
     f"file:/etc/passwd@{OID}", f"file:../a@{OID}", f"file:a//b@{OID}", "https://example.org", OID,
     f"lines:a:0-1@{OID}", f"lines:a:2-1@{OID}", f"lines:a:01-2@{OID}", f"lines:a:1@{OID}",
     f"lines::1-2@{OID}",
     f"lines:a:1-2@{OID[:8]}", f"lines:../a:1-2@{OID}", f"lines:a:1-9999999999@{OID}", "lines:a:1-2",
     f"symbol:a#@{OID}", f"symbol:a@{OID}", f"symbol:#b@{OID}", f"symbol:a#b\nc@{OID}", "symbol:a#b",
     f"symbol:a#{'b' * 1025}@{OID}", f"symbol:/a#b@{OID}", f"symbol:a# b@{OID}"],
)  # fmt: skip
def test_what_is_no_evidence_is_refused(text: str) -> None:
    """A memory that cites nothing checkable must not look as if it did."""
    with pytest.raises(BadInput):
        evidence.parse_evidence(text)


def test_the_kinds_are_told_apart() -> None:
    """Each kind is verified in its own way."""
    texts = ("run:a", f"commit:{OID}", f"file:a@{OID}", f"lines:a:1-2@{OID}", f"symbol:a#b@{OID}")
    kinds = [type(evidence.parse_evidence(t)) for t in texts]
    assert kinds == [RunEvidence, CommitEvidence, FileEvidence, LinesEvidence, SymbolEvidence]


def test_a_newer_receipt_for_the_same_file_takes_the_olders_place() -> None:
    """Two hashes for one path would leave one of them stale for ever."""
    newer = OID.replace("3", "4")
    joined = join_evidence((f"file:a@{OID}", "run:x"), (f"file:a@{newer}", "run:y"))
    assert joined == (f"file:a@{newer}", "run:x", "run:y")


def test_a_newer_receipt_for_the_same_span_takes_the_olders_place() -> None:
    """The same lines or symbol, looked at again; other lines of the file stay cited."""
    newer = OID.replace("3", "4")
    known = (f"lines:a:1-2@{OID}", f"symbol:a#b@{OID}", f"lines:a:1-3@{OID}", f"file:a@{OID}")
    joined = join_evidence(known, (f"lines:a:1-2@{newer}", f"symbol:a#b@{newer}"))
    assert joined == (f"lines:a:1-2@{newer}", f"symbol:a#b@{newer}", *known[2:])
