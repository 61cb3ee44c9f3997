"""What people cite becomes a receipt, and receipts are checked against the clone."""

import subprocess
from typing import Any

import pytest

from holdfast.errors import Ambiguous, BadInput, NotFound
from holdfast.git.cited_commits import commit_anchors
from holdfast.git.evidence_check import resolve, resolve_all, resolve_evidence, state, states
from holdfast.model.evidence import CommitEvidence, FileEvidence, LinesEvidence, RunEvidence, SymbolEvidence
from tests.conftest import make_repo


def test_a_run_is_found_by_its_beginning(bench: Any) -> None:
    """Nobody types a whole run id."""
    bench.run("20261115T194200Z-abc123")
    bench.run("20261116T080000Z-abd456")
    assert resolve(bench.clone, "20261115") == RunEvidence("20261115T194200Z-abc123")
    assert resolve(bench.clone, "run:20261116t08") == RunEvidence("20261116T080000Z-abd456")
    assert resolve(bench.clone, "20261116T080000Z-abd456") == RunEvidence("20261116T080000Z-abd456")
    with pytest.raises(Ambiguous, match="matches 2 things"):
        resolve(bench.clone, "run:2026")


def test_a_commit_is_found_by_any_name_and_kept_whole(bench: Any) -> None:
    """A branch moves on; the receipt must not move with it."""
    oid = bench.repo.git("rev-parse", "HEAD")
    for name in ("HEAD", "main", oid[:10], f"commit:{oid}", "commit:main"):
        assert resolve(bench.clone, name) == CommitEvidence(oid)


def test_a_tracked_path_is_cited_with_its_blob(bench: Any) -> None:
    """The hash is git's own: a checkout with other line endings is the same file."""
    blob = bench.repo.git("rev-parse", "HEAD:src/a.py")
    top = bench.clone.repo.top
    for name in ("src/a.py", "./src/a.py", f"{top}/src/a.py", "file:src/a.py", f"file:src/a.py@{blob}"):
        assert resolve(bench.clone, name) == FileEvidence("src/a.py", blob)


def test_any_name_git_tracks_can_be_cited(bench: Any) -> None:
    """A pathspec taken for a pattern would cite another file."""
    names = ["a file.txt", "a@b", "*.py", ":(top)x", "[x].md", "-q", "ünï.md", "a\tb"]
    for name in names:
        bench.repo.write(name, f"{name}\n")
    bench.repo.git("--literal-pathspecs", "add", "--", *names)
    bench.repo.git("commit", "-qm", "named")
    for name in names:
        found = resolve(bench.clone, f"file:{name}")
        assert found == FileEvidence(name, bench.repo.git("hash-object", "--", name))
        assert state(bench.clone, found) == "holds"


def test_a_staged_file_can_be_cited_before_its_commit(bench: Any) -> None:
    """Evidence often comes with the change that shows it."""
    bench.repo.write("new.py", "1\n")
    bench.repo.git("add", "new.py")
    found = resolve(bench.clone, "new.py")
    assert state(bench.clone, found) == "holds"
    bench.repo.git("commit", "-q", "-m", "new")
    assert state(bench.clone, found) == "holds"


def test_what_others_cannot_check_is_refused(bench: Any) -> None:
    """A receipt for a file only I have proves nothing to anybody."""
    bench.repo.commit(".gitignore", "*.log\n")
    bench.repo.write("x.log", "secret\n")
    bench.repo.write("draft.py", "1\n")
    with pytest.raises(BadInput, match="ignored by git"):
        resolve(bench.clone, "x.log")
    with pytest.raises(BadInput, match="not tracked by git"):
        resolve(bench.clone, "draft.py")
    with pytest.raises(BadInput, match="is a folder"):
        resolve(bench.clone, "src")


def test_a_file_of_a_submodule_is_refused_in_words(bench: Any, tmp_path: Any) -> None:
    """Its content is another repository's; git's own complaint would lead nowhere."""
    receipt = str(resolve(bench.clone, "src/a.py"))
    lib = make_repo(tmp_path / "lib")
    bench.repo.git("submodule", "add", "-q", str(lib.path), "sub")
    bench.repo.git("commit", "-q", "-m", "a library")
    for text in ("sub/README", "file:sub/README", "sub/nothing"):
        with pytest.raises(BadInput, match="in the submodule sub"):
            resolve(bench.clone, text)
    inner = "file:sub/README@" + "0" * 40
    assert states(bench.clone, [receipt, inner]) == {receipt: "holds", inner: "gone"}


def test_what_is_not_here_is_said_so(bench: Any) -> None:
    """A typing error must not become evidence."""
    for text in ("nothing", "run:nothing", "commit:nothing", "file:nothing", "/etc/passwd", "../x", "-h", "a:b"):
        with pytest.raises(NotFound):
            resolve(bench.clone, text)


def test_what_cannot_be_a_name_is_refused(bench: Any) -> None:
    """Git would be handed nonsense."""
    for text in ("", "  ", "a\0b", "a\nb", "x" * 9000):
        with pytest.raises(BadInput):
            resolve(bench.clone, text)


def test_a_name_of_two_things_must_be_told_apart(bench: Any) -> None:
    """A branch and a file of the same name: guessing would cite the wrong one."""
    bench.repo.commit("docs", "text\n")
    bench.repo.git("branch", "docs")
    with pytest.raises(Ambiguous) as caught:
        resolve(bench.clone, "docs")
    assert "commit:" in caught.value.hint
    assert isinstance(resolve(bench.clone, "file:docs"), FileEvidence)
    assert isinstance(resolve(bench.clone, "commit:docs"), CommitEvidence)


def test_evidence_changes_goes_and_drifts(bench: Any) -> None:
    """A stale fact is found because its receipts are looked at again."""
    bench.run("r1")
    bench.repo.git("switch", "-qc", "side")
    side = bench.repo.commit("side.txt")
    texts = ["run:r1", "run:r2", f"commit:{side}", f"commit:{'1' * 40}"]
    texts += [str(resolve(bench.clone, path)) for path in ("src/a.py", "side.txt")]
    assert list(states(bench.clone, texts).values()) == ["holds", "gone", "holds", "gone", "holds", "holds"]
    bench.repo.git("switch", "-q", "main")
    bench.repo.git("branch", "-qD", "side")
    bench.repo.commit("src/a.py", "changed\n")
    expected = ["holds", "gone", "unanchored", "gone", "changed", "gone"]
    assert list(states(bench.clone, texts).values()) == expected


def test_a_rewritten_commit_holds_under_its_new_name(bench: Any) -> None:
    """An amend must not send every fact that cites the commit back to review."""
    bench.repo.git("switch", "-qc", "side")
    old = bench.repo.commit("side.txt", "the work, in some words\n")
    receipt, other = f"commit:{old}", str(resolve(bench.clone, "src/a.py"))
    assert commit_anchors.resolve(bench.clone, [old])[old].commit == old
    bench.repo.git("commit", "-q", "--amend", "-m", "better words")
    new = bench.repo.git("rev-parse", "HEAD")
    assert states(bench.clone, [receipt, other]) == {receipt: "holds", other: "holds"}
    assert commit_anchors.resolve(bench.clone, [old])[old].commit == new


def test_in_a_shallow_clone_an_old_commit_is_not_called_gone(bench: Any, tmp_path: Any) -> None:
    """A build machine fetches one commit; that says nothing about the others."""
    from holdfast.git.clone import Clone

    old = resolve(bench.clone, "HEAD")
    bench.repo.commit("later.txt")
    path = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{bench.repo.path}", path], check=True)
    assert state(Clone.open(str(path), cache=str(tmp_path / "c2")), old) == "unanchored"


def test_many_receipts_take_few_processes(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A listing of a thousand facts must not start a thousand gits."""
    count = []
    real = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: (count.append(1), real(*a, **k))[1])
    oid = bench.repo.git("rev-parse", "HEAD:src/a.py")
    found = states(bench.clone, [f"file:src/{n}.py@{oid}" for n in range(150)] + [f"file:src/a.py@{oid}"])
    assert sorted(found.values()) == ["gone"] * 150 + ["holds"]
    assert len(count) < 8


def test_a_memory_can_rest_on_every_kind_of_evidence_at_once(bench: Any) -> None:
    """One question answers for all of them."""
    bench.run("r1")
    bench.repo.commit("src/b.py", "A = 1\n\n\ndef go():\n    return A\n")
    found = resolve_all(bench.clone, ["r1", "HEAD", "src/b.py", "src/b.py:4-5", "src/b.py#go"])
    kinds = [RunEvidence, CommitEvidence, FileEvidence, LinesEvidence, SymbolEvidence]
    assert [type(item) for item in found] == kinds
    texts = [str(item) for item in found]
    assert set(states(bench.clone, texts).values()) == {"holds"}
    bench.repo.commit("src/b.py", "A = 2\n\n\ndef go():\n    return A\n")
    assert list(states(bench.clone, texts).values()) == ["holds", "holds", "changed", "holds", "holds"]


def test_a_memory_keeps_the_receipt_of_the_symbol_it_rests_on(bench: Any) -> None:
    """An edit elsewhere in the file must not send it back to review."""
    bench.repo.commit("src/b.py", "def go():\n    return 1\n")
    made = bench.propose("Going returns one.", evidence=["src/b.py#go"])
    assert made.evidence == (str(resolve(bench.clone, "src/b.py#go")),)
    bench.repo.commit("src/b.py", "import os\n\n\ndef go():\n    return 1\n")
    assert state(bench.clone, resolve(bench.clone, made.evidence[0])) == "holds"


def test_a_memory_that_cites_lines_rests_on_their_function_too(bench: Any) -> None:
    """The lines may stand as they were while an early return above them makes them do nothing."""
    code = "def go(a):\n    # why\n    b = a + 1\n    c = b * 2\n    return c\n"
    bench.repo.commit("src/b.py", code)
    made = bench.propose("Going doubles.", evidence=["src/b.py:3-4"])
    lines, function = cited = made.evidence
    assert lines.startswith("lines:src/b.py:3-4@")
    assert function == str(resolve(bench.clone, "src/b.py#go"))
    assert resolve_evidence(bench.clone, cited) == [resolve(bench.clone, text) for text in cited]
    bench.repo.commit("src/b.py", code.replace("# why\n", "# because\n").replace("(a)", "(a: int)"))
    assert list(states(bench.clone, cited).values()) == ["holds", "holds"]
    bench.repo.commit("src/b.py", code.replace("# why\n", "return 0\n"))
    assert list(states(bench.clone, cited).values()) == ["holds", "changed"]
    bench.repo.commit("src/b.py", code)
    for typed in ("src/b.py:1-5", "src/b.py:2"):  # the whole function, or only words
        assert len(resolve_evidence(bench.clone, [typed])) == 1
