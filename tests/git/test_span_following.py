"""Cited code that is written otherwise, renamed or moved in real git holds; code that does something else does not."""

import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from holdfast.git.evidence_check import resolve, states
from holdfast.git.span_history import SpanLocation, recite, what_changed, where
from tests.git.place import Place

RETRY = '''\
import time


def retry(call, times=3):
    """Try again."""
    for n in range(times):
        # wait longer each time
        if call():
            return n
        time.sleep(2**n)
    return retry(call, times)


def other():
    return 1
'''
REFORMATTED = '''\
import time


def other():
    return 1


def retry(
    call: Callable[[], bool],
    times: int = 3,
) -> int:
    """Try the call again until it works."""
    for n in range(times):
        if call():
            return n

        time.sleep(2 ** n)  # seconds
    return retry(call, times)
'''
GO = "package a\n\n// F adds.\nfunc F(a int) int {\n\t// one\n\tb := a + 1\n\tc := b\n\treturn c\n}\n"


@pytest.fixture
def code(place: Place) -> Place:
    place.repo.commit("a.py", RETRY, "the code")
    place.repo.commit("b.py", "B = 1\n", "another file")
    place.repo.commit("a.go", GO, "go")
    return place


def cite(place: Place, *typed: str) -> list[str]:
    clone = place.open()
    return [str(resolve(clone, text)) for text in typed]


def found(place: Place, cited: Iterable[str]) -> list[str]:
    return list(states(place.open(), cited).values())


def test_a_formatter_sends_nothing_to_review(code: Place) -> None:
    """Layout, comments, docstrings and annotations: the code does what it did."""
    cited = cite(code, "a.py#retry", "a.py:6-10", "a.go#F", "a.go:6-7")
    code.repo.commit("a.py", REFORMATTED, "formatted")
    code.repo.commit("a.go", GO.replace("// one\n", "/* first */\n").replace("b := a + 1", "b  :=  a+1"), "formatted")
    assert found(code, cited) == ["holds"] * 4
    clone = code.open()
    assert [what_changed(clone, text) for text in cited] == [()] * 4
    assert where(clone, cited[0]) == SpanLocation("a.py", 8, 18)
    assert recite(clone, cited[0]) == cite(code, "a.py#retry")[0]
    oid = code.repo.commit("a.py", REFORMATTED.replace("2 ** n", "3 ** n"), "slower")
    code.repo.commit("a.go", GO.replace("a + 1", "a + 2"), "more")
    assert found(code, cited) == ["changed"] * 4
    said, *rows = what_changed(code.open(), cited[0])
    assert said.startswith(f"changed in {oid[:12]}")
    assert [row for row in rows[2:] if row[0] in "+-"] == [
        "-        time.sleep(2 ** n)  # seconds",
        "+        time.sleep(3 ** n)  # seconds",
    ]


def test_cited_lines_stand_for_their_own_code(code: Place) -> None:
    """A change elsewhere in their function leaves lines as they are; a comment is cited for its words."""
    lines, comment = cite(code, "a.py:8-9", "a.py:7")
    code.repo.commit("a.py", RETRY.replace("2**n", "3**n").replace("if call():", "if call():  # it works"), "slower")
    assert found(code, [lines, comment]) == ["holds", "holds"]
    code.repo.commit("a.py", RETRY.replace("longer each time", "as long each time"), "other words")
    assert found(code, [lines, comment]) == ["holds", "changed"]
    code.repo.commit("a.py", RETRY.replace("return n\n", "return n + 1\n"), "counted from one")
    assert found(code, [lines]) == ["changed"]


def test_a_renamed_function_is_followed(code: Place) -> None:
    """Its name is not what the memory is about."""
    cited = cite(code, "a.py#retry", "a.py:6-10", "a.py#other")
    renamed = RETRY.replace("retry(", "try_again(").replace("other", "another")
    code.repo.commit("a.py", renamed, "better names")
    clone = code.open()
    assert found(code, cited) == ["holds", "holds", "changed"]  # two lines under another name may be another's
    assert where(clone, cited[0]) == SpanLocation("a.py", 4, 11)
    assert recite(clone, cited[0]) == cite(code, "a.py#try_again")[0]
    code.repo.commit("a.py", renamed.replace("2**n", "3**n"), "slower")
    assert found(code, cited[:2]) == ["changed", "changed"]


@pytest.mark.parametrize("is_whole", [False, True])
def test_a_function_that_moved_to_another_file_is_followed(code: Place, is_whole: bool) -> None:
    """A file was split, or joined with another; nothing that was cited changed."""
    cited = cite(code, "a.py#retry", "a.py:6-10")
    start, end = RETRY.index("def retry"), RETRY.index("def other")
    code.repo.write("b.py", "import time\nB = 1\n\n\n" + REFORMATTED[REFORMATTED.index("def retry") :])
    code.repo.write("a.py", RETRY[:start] + RETRY[end:])
    if is_whole:
        code.git("rm", "-qf", "a.py")
    code.git("add", ".")
    oid = code.git("commit", "-qm", "split") or code.git("rev-parse", "HEAD")
    code.repo.commit("b.py", "# above\n" + (code.repo / "b.py").read_text(), f"after {oid}")
    assert found(code, cited) == ["holds", "holds"]
    assert where(code.open(), cited[0]) == SpanLocation("b.py", 6, 16)
    assert recite(code.open(), cited[0]) == cite(code, "b.py#retry")[0]
    code.repo.commit("b.py", (code.repo / "b.py").read_text().replace("2 ** n", "3 ** n"), "slower")
    assert found(code, cited) == ["gone", "gone"] if is_whole else ["changed", "changed"]


def test_of_several_functions_that_moved_each_is_followed_by_its_whole_name(code: Place) -> None:
    """Inner functions of tests are all called alike, and many do the same."""
    text = "def {}():\n    def go():\n        return 1\n\n    return go()\n\n\n"
    both = text.format("a") + text.format("b")
    code.repo.commit("t.py", f"T = 1\n\n\n{both}", "tests")
    cited = cite(code, "t.py#a.go", "t.py#b.go")
    code.repo.write("t.py", "T = 1\n")
    code.repo.write("u.py", both)
    code.git("add", ".")
    code.git("commit", "-qm", "moved")
    assert found(code, cited) == ["holds", "holds"]
    assert where(code.open(), cited[1]) == SpanLocation("u.py", 9, 10)


TWICE = "package a\n\nfunc init() {\n\ta(1)\n\ta(2)\n}\n\nfunc init() {\n\tb(1)\n\tb(2)\n}\n"


def test_of_repeated_definitions_the_cited_one_counts(code: Place) -> None:
    """Numbers say which was meant when it was cited; its code says which it is later."""
    code.repo.commit("i.go", TWICE, "two")
    cited = cite(code, "i.go#init~1", "i.go#init~2")
    assert [text.partition("@")[0] for text in cited] == ["symbol:i.go#init", "symbol:i.go#init~2"]
    above = TWICE.replace("func init() {\n\ta(1)", "func init() {\n\tz()\n}\n\nfunc init() {\n\t// first\n\ta(1)")
    code.repo.commit("i.go", above, "one above")
    assert found(code, cited) == ["holds", "holds"]
    code.repo.commit("i.go", above.replace("b(2)", "b(3)"), "the last one changed")
    assert found(code, cited) == ["holds", "changed"]
    code.repo.commit("i.go", TWICE.replace("a(2)", "a(3)"), "the first one changed")
    assert found(code, cited) == ["changed", "holds"]
    assert str(resolve(code.open(), cited[1])) == cited[1]


def test_without_its_history_only_the_text_counts(code: Place, tmp_path: Path) -> None:
    """A shallow clone does not have the code that was cited; it says changed rather than guess."""
    cited = cite(code, "a.py#retry", "a.py#other")
    code.repo.commit("a.py", REFORMATTED, "formatted")
    path = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{code.repo.path}", path], check=True)
    assert found(code.at(path), cited) == ["changed", "holds"]


def test_what_was_compared_once_is_not_compared_again(code: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command asks whether evidence holds; history must not be read each time."""
    cited = cite(code, "a.py#retry", "a.py#other", "a.go#F")
    code.repo.commit("a.py", REFORMATTED.replace("return 1", "return 2"), "edited")
    clone = code.open()
    assert found(code, cited) == ["holds", "changed", "holds"]
    count: list[Any] = []
    real = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: (count.append(a), real(*a, **k))[1])
    assert list(states(clone, cited).values()) == ["holds", "changed", "holds"]
    assert not [args for args in count if "log" in args[0]]
    code.repo.commit("b.py", "B = 2\n", "elsewhere")
    clone, count[:] = code.open(), []
    assert list(states(clone, cited).values()) == ["holds", "changed", "holds"]
    assert not [args for args in count if "log" in args[0]]


JAVA = "class A {\n  void pay(int a) {\n    go(a);\n    log(a);\n  }\n}\n"
MARKS = ["  @Transactional\n", '  @Get(\n    "/a"\n  )\n', "  @Transactional\n\n  // why\n"]


@pytest.mark.parametrize("mark", MARKS)
def test_an_added_annotation_is_a_change_that_can_be_shown(code: Place, mark: str) -> None:
    """What a function does changes, though not one of its own lines."""
    code.repo.commit("A.java", JAVA, "java")
    cited = cite(code, "A.java#A.pay")
    code.repo.commit("A.java", JAVA.replace("{\n", "{\n\n  /** Pays. */\n", 1), "words")
    assert found(code, cited) == ["holds"]
    code.repo.commit("A.java", JAVA.replace("{\n", "{\n" + mark, 1), "in one transaction")
    assert found(code, cited) == ["changed"]
    said, *rows = what_changed(code.open(), cited[0])
    assert said.endswith("in one transaction")
    assert [row for row in rows if row.startswith("+ ")] == [f"+{row}" for row in mark.split("\n") if row]


def test_what_an_earlier_version_cited_without_its_annotation_holds(code: Place) -> None:
    """Annotations of several lines were not seen once: an upgrade must not send these memories to review."""
    marked = JAVA.replace("{\n", "{\n" + MARKS[1], 1)
    code.repo.commit("A.java", marked, "java")
    lines = cite(code, "A.java:5-8")[0].rpartition("@")[2]
    cited = [f"symbol:A.java#A.pay@{lines}"]
    assert found(code, cited) == ["holds"]
    code.repo.commit("A.java", marked.replace("go(a)", "go(b)"), "changed")
    assert found(code, cited) == ["changed"]
