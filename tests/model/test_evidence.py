"""Evidence: what people and files may name, and how it is spelled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import BadInput
from holdfast.model import evidence
from holdfast.model.evidence import CommitEvidence, FileEvidence, RunEvidence
from holdfast.model.memory import join_evidence

OID = "3b18e512dba79e4c8300dd08aeb37f8e728b8dad"
PATHS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40)


@pytest.mark.parametrize("text", ["run:20261115T194200Z-abc123", f"commit:{OID}", f"file:src/a@b.py@{OID}"])
def test_evidence_reads_back_as_written(text: str) -> None:
    """A receipt that changes its spelling no longer matches what the log says."""
    assert str(evidence.parse(text)) == text


@given(PATHS.filter(evidence.is_tracked_path))
def test_any_path_git_can_hold_can_be_cited(path: str) -> None:
    """A file with a space or an @ in its name is a file, too."""
    cited = FileEvidence(path, OID)
    assert evidence.parse(str(cited)) == cited


@pytest.mark.parametrize(
    "text",
    ["", "run:", "run:a b", "commit:abc", f"commit:{OID.upper()}", f"file:@{OID}", "file:a@xyz", "file:a",
     f"file:/etc/passwd@{OID}", f"file:../a@{OID}", f"file:a//b@{OID}", "https://example.org", OID],
)  # fmt: skip
def test_what_is_no_evidence_is_refused(text: str) -> None:
    """A memory that cites nothing checkable must not look as if it did."""
    with pytest.raises(BadInput):
        evidence.parse(text)


def test_the_three_kinds_are_told_apart() -> None:
    """Each kind is verified in its own way."""
    kinds = [type(evidence.parse(t)) for t in ("run:a", f"commit:{OID}", f"file:a@{OID}")]
    assert kinds == [RunEvidence, CommitEvidence, FileEvidence]


def test_a_newer_receipt_for_the_same_file_takes_the_olders_place() -> None:
    """Two hashes for one path would leave one of them stale for ever."""
    newer = OID.replace("3", "4")
    joined = join_evidence((f"file:a@{OID}", "run:x"), (f"file:a@{newer}", "run:y"))
    assert joined == (f"file:a@{newer}", "run:x", "run:y")
