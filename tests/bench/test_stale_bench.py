"""The benchmark of stale evidence judges by itself, and counts rightly."""

import random
from pathlib import Path

from bench.stale import Walk

from tests.conftest import make_repo

GO = "package a\n\nfunc add(a int, b int) int {\n\tsum := a\n\tsum += b\n\t// done\n\tsum += 0\n\treturn sum\n}\n"
PYTHON = "def add(a, b):\n    total = a\n    total += b\n    total += 0\n    print(total)\n    return total\n"


def test_flags_edits_and_moves_are_told_apart(tmp_path: Path) -> None:
    """A figure that counts a comment as a change of code would hide what the comparison is worth."""
    repo = make_repo(tmp_path / "repo")
    repo.commit("a.go", GO)
    repo.commit("a.py", PYTHON)
    repo.commit("a.go", GO.replace("// done", "// all done"), "a comment")
    repo.commit(
        "a.py", PYTHON.replace("(a, b)", "(a: int, b: int)").replace("print(total)", "print(  total)"), "layout"
    )
    repo.commit("a.go", GO.replace("sum += 0", "sum += 1"), "code")
    repo.git("mv", "a.py", "b.py")
    repo.git("commit", "-qm", "a new name")
    walk = Walk(tmp_path, str(repo.path), 4)
    assert walk.cite(10, random.Random(1)) == 4
    for commit in walk.steps(10):
        walk.check(commit)
    symbol, lines = walk.tallies["symbol"], walk.tallies["lines"]
    assert (symbol.flags, symbol.real, symbol.spared, symbol.moved) == (1, 1, 3, 1)
    assert (lines.flags, lines.real, lines.moved) == (1, 1, 1)
    assert not [*symbol.missed, *symbol.false, *lines.missed, *lines.false]
    assert "1 flags, 100.0 % real; 0 changes missed" in walk.table(verbose=False)
