"""Cited spans of real files in real git: followed where they move, stale where they change."""

import os
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import Ambiguous, BadInput, NotFound, TooLarge
from holdfast.git import project_setup
from holdfast.git.clone import Clone
from holdfast.git.evidence_check import from_folder, resolve, states
from holdfast.git.span_history import SpanLocation, recite, what_changed, where
from holdfast.model.evidence import FileEvidence, LinesEvidence, SymbolEvidence
from holdfast.store.entry_memo import FEW
from tests.git.place import Place

SOURCE = """\
import os

LIMIT = 3


@cache
def first(a):
    x = a + 1
    return x


class Box:
    def size(self):
        y = 2
        return y

    def other(self):
        return 4


def last():
    return 5
"""
PATH = "src/app.py"


@pytest.fixture
def code(place: Place) -> Place:
    place.repo.commit(PATH, SOURCE, "the code")
    return place


def cite(place: Place, *typed: str) -> list[str]:
    clone = place.open()
    return [str(resolve(clone, text)) for text in typed]


def state(place: Place, cited: str) -> str:
    return states(place.open(), [cited])[cited]


SPANS = (f"{PATH}:6-9", f"{PATH}#first", f"{PATH}#Box.size", f"{PATH}#LIMIT", f"{PATH}:13-15")


def test_what_people_type_becomes_a_receipt(code: Place) -> None:
    """The same lines, however an editor or a forge writes them."""
    clone = code.open()
    lines = resolve(clone, f"{PATH}:6-9")
    assert isinstance(lines, LinesEvidence)
    for text in (f"{PATH}:L6-L9", f"{PATH}#L6-L9", f"{PATH}#L6C1-L9C3", f"lines:{PATH}:6-9", f"./{PATH}:6-9",
                 f"{code.repo.path}/{PATH}:6-9", str(lines), f"file:{PATH}:6-9"):  # fmt: skip
        assert resolve(clone, text) == lines
    assert resolve(clone, f"{PATH}:3") == resolve(clone, f"{PATH}#L3")
    symbol = resolve(clone, f"{PATH}#Box.size")
    assert isinstance(symbol, SymbolEvidence)
    for text in (f"{PATH}#size", f"symbol:{PATH}#Box.size", str(symbol), f"{PATH}#Box::size"):
        assert resolve(clone, text) == symbol
    assert isinstance(resolve(clone, PATH), FileEvidence)


def test_a_path_is_meant_as_seen_from_the_folder(code: Place) -> None:
    """People type what their shell completes."""
    clone, folder = code.open(), str(code.repo / "src")
    for text in ("app.py:6-9", "app.py#first", "app.py#L6-L9", "symbol:app.py#Box.size", "app.py"):
        assert resolve(clone, from_folder(clone, folder, text)).path == PATH  # type: ignore[union-attr]
    receipt = cite(code, f"{PATH}#first")[0]
    again = from_folder(clone, folder, receipt.replace("src/", ""))
    assert str(resolve(clone, again)) == receipt


def test_a_file_whose_very_name_looks_like_a_span_counts_first(place: Place) -> None:
    """A name is a name; guessing lines out of it would cite another file."""
    for name in ("a#b", "a:1", "a:1-2", "lines:x"):
        place.repo.commit(name, f"{name}\n")
    place.repo.commit("a", "one\n")
    place.repo.commit("odd #1: @x.md", "# Top\n\n## Part two\ntext\n")
    clone = place.open()
    for name in ("a#b", "a:1", "a:1-2", "lines:x"):
        found = resolve(clone, name)
        assert isinstance(found, FileEvidence)
        assert found.path == name
    for text in ("odd #1: @x.md#part-two", "odd #1: @x.md#Part two", "odd #1: @x.md:3-4"):
        found = resolve(clone, text)
        assert str(found).startswith(("symbol:odd #1: @x.md#part-two@", "lines:odd #1: @x.md:3-4@"))
        assert state(place, str(found)) == "holds"
        assert resolve(clone, str(found)) == found


def test_what_cannot_be_cited_says_the_next_step(code: Place) -> None:
    """One sentence, and what to type instead."""
    clone = code.open()
    with pytest.raises(BadInput, match=r"has 22 lines, not 30") as bad:
        resolve(clone, f"{PATH}:20-30")
    assert "between 1 and 22" in bad.value.hint
    with pytest.raises(NotFound) as lost:
        resolve(clone, f"{PATH}#Box.sise")
    assert "Box.size" in lost.value.hint
    code.repo.write("draft.py", "a = 1\n")
    with pytest.raises(BadInput, match=r"draft\.py is not tracked"):
        resolve(clone, "draft.py:1")
    (code.repo / "x.bin").write_bytes(b"\0\1\n")
    code.git("add", "x.bin")
    with pytest.raises(BadInput, match="not text"):
        resolve(clone, "x.bin:1")
    with pytest.raises(NotFound):
        resolve(clone, "nothing.py:1-2")
    code.repo.write(PATH, SOURCE.replace("return x", "return -x"))
    stale = cite(code, f"{PATH}#first")[0]
    code.repo.write(PATH, SOURCE)
    with pytest.raises(BadInput, match="has changed since"):
        resolve(clone, stale)
    code.git("branch", f"{PATH}#first")
    with pytest.raises(Ambiguous):
        resolve(clone, f"{PATH}#first")


def test_edits_elsewhere_never_count_and_code_inside_always_does(code: Place, seed: int) -> None:
    """The law of evidence by span: a memory goes stale by its own code, and by nothing else."""
    dice = random.Random(seed)
    cited = dict(zip(SPANS, cite(code, *SPANS), strict=True))
    held = {SPANS[0]: (6, 9), SPANS[1]: (6, 9), SPANS[2]: (13, 15), SPANS[3]: (3, 3), SPANS[4]: (13, 15)}
    lines = SOURCE.splitlines()
    clone = code.open()
    for _ in range(25):
        touched = dice.choice([n for n in range(1, len(lines) + 1) if lines[n - 1]])
        edited = list(lines)
        how = dice.choice(["change", "above", "delete", "comment", "comments"])
        if how == "delete" and lines[touched - 1].lstrip().startswith(("def ", "class ")):
            continue  # what it held would become part of the function before it
        line = lines[touched - 1]
        if how == "change":
            edited[touched - 1] = line.replace(line.split()[0], "changed_" + line.split()[0].strip("@"), 1)
        elif how == "delete":
            del edited[touched - 1]
        elif how == "comment":
            edited[touched - 1] += "  # edited"
        else:
            row = "# inserted" if how == "comments" else line[: len(line) - len(line.lstrip())] + "inserted = 1"
            edited[touched - 1 : touched - 1] = [row] * dice.randint(1, 80)
        end = dice.choice(["\n", "\r\n"])
        (code.repo / PATH).write_bytes(end.join(edited).encode() + dice.choice([b"", end.encode()]))
        code.git("commit", "-qam", "an edit", "--allow-empty")
        found = states(clone, cited.values())
        for name, (first, last) in held.items():
            inside = first <= touched <= last and not (how == "above" and touched == first)
            inside = inside and not how.startswith("comment")
            assert found[cited[name]] == ("changed" if inside else "holds"), (name, touched, how, edited)


@pytest.mark.parametrize("typed", [f"{PATH}#first", f"{PATH}:6-9", PATH])
def test_an_edit_counts_once_it_is_committed(code: Place, typed: str) -> None:
    """A whole file, lines and a symbol go by one rule: the work tree, the index or HEAD may have the text."""
    (cited,) = cite(code, typed)
    code.repo.write(PATH, SOURCE.replace("a + 1", "a + 2"))
    assert state(code, cited) == "holds"
    code.git("add", PATH)
    assert state(code, cited) == "holds"
    assert what_changed(code.open(), cited) == ()
    assert str(resolve(code.open(), cited)) == cited
    code.git("commit", "-qm", "an edit")
    assert state(code, cited) == "changed"
    code.repo.write(PATH, SOURCE)
    assert state(code, cited) == "holds"
    code.git("add", PATH)
    code.repo.write(PATH, "nothing\n")
    assert state(code, cited) == "holds"


@pytest.mark.parametrize("typed", [f"{PATH}#first", f"{PATH}:6-9"])
def test_a_span_holds_while_its_file_is_being_moved(code: Place, typed: str) -> None:
    """HEAD has it under its old name until the move is committed."""
    (cited,) = cite(code, typed)
    code.git("mv", PATH, "b.py")
    code.repo.write("b.py", SOURCE.replace("a + 1", "a + 2"))
    code.git("add", "b.py")
    assert state(code, cited) == "holds"
    code.git("commit", "-qm", "moved")
    assert state(code, cited) == "changed"
    assert "+    x = a + 2" in what_changed(code.open(), cited)


TWINS = """\
class A:
    def limit(self):
        return 3


class B:
    def limit(self):
        return 3
"""
DEPLOY = """\
prod:
  replicas: 3
  image: web

staging:
  replicas: 3
  image: web
"""


SCRIPT = "class A {\n  go() {\n    return 1;\n  }\n}\nclass B extends A {\n  go() {\n    return 1;\n  }\n}\n"
A, B = TWINS[: TWINS.index("class B")], TWINS[TWINS.index("class B") :]
CHANGED = [  # file, what is cited of it, its text, and the text that is committed later
    ("s.py", "#A.limit", TWINS, TWINS.replace("3", "4", 1)),
    ("s.py", ":2-3", TWINS, TWINS.replace("3", "4", 1)),
    ("s.py", ":3", TWINS, TWINS.replace("3", "4", 1)),
    ("s.py", ":2-3", TWINS, "# above\n" + TWINS.replace("3", "4", 1)),
    ("s.py", "#A.limit", TWINS, B),
    ("s.js", "#A.go", SCRIPT, SCRIPT.replace("1", "2", 1)),
    ("deploy.yml", "#prod.replicas", DEPLOY, DEPLOY.replace("3", "5", 1)),
    ("deploy.yml", ":2-2", DEPLOY, DEPLOY.replace("3", "5", 1)),
    ("deploy.yml", ":2-2", DEPLOY, "# above\n" + DEPLOY.replace("3", "5", 1)),
    ("deploy.yml", ":2-2", DEPLOY, DEPLOY.replace("3", "5", 1) + "dev:\n  replicas: 3\n"),
    ("deploy.yml", ":2", DEPLOY, "# a\n# b\n" + DEPLOY.replace("  replicas: 3\n", "", 1)),
    ("a.md", "#use-1", "# T\n## Use\nx\n## Use\nx\n", "# T\n## Use\nx\n## Use\ny\n"),
]
MOVED = [  # and where it stands then
    ("s.py", ":2-3", TWINS, "import os\n\n\n" + TWINS, (5, 6)),
    ("s.py", ":7-8", TWINS, "import os\n\n\n" + TWINS, (10, 11)),
    ("s.py", ":7-8", TWINS, TWINS.replace("3", "4", 1), (7, 8)),
    ("s.py", ":8", TWINS, "import os\n" + TWINS.replace("3", "4", 1), (9, 9)),
    ("s.py", "#A.limit", TWINS, TWINS.replace("class A", "class C"), (2, 3)),
    ("s.py", "#A.limit", TWINS, B + "\n\n" + A, (7, 8)),
    ("s.js", "#B.go", SCRIPT, SCRIPT.replace("1", "2", 1), (7, 9)),
    ("deploy.yml", ":2-2", DEPLOY, "# above\n" + DEPLOY, (3, 3)),
    ("deploy.yml", ":6", DEPLOY, "# above\n" + DEPLOY, (7, 7)),
    ("a.md", "#use", "# T\n## Use\nx\n", "# T\n## Use\nnew\n## Use\nx\n", (4, 5)),
]


def committed(code: Place, cases: Sequence[tuple[Any, ...]]) -> tuple[list[str], str]:
    """The receipts for what each case cites, after its file was changed; and the commit that changed all."""
    for n, (path, _, old, *_) in enumerate(cases):
        code.repo.write(f"{n}/{path}", old)
    code.git("add", ".")
    code.git("commit", "-qm", "twins")
    cited = cite(code, *(f"{n}/{case[0]}{case[1]}" for n, case in enumerate(cases)))
    code.repo.commit("other.txt", "x\n", "unrelated")
    for n, (path, _, _, new, *_) in enumerate(cases):
        code.repo.write(f"{n}/{path}", new)
    code.git("commit", "-qam", "one of them changed")
    return cited, code.git("rev-parse", "HEAD")


def test_an_equal_text_elsewhere_does_not_hide_a_change(code: Place) -> None:
    """A memory about one class must not be held up by another class that says the same."""
    cited, oid = committed(code, CHANGED)
    clone = code.open()
    found = states(clone, cited)
    for text, case in zip(cited, CHANGED, strict=True):
        assert found[text] == "changed", case
        assert what_changed(clone, text)[0].startswith(f"changed in {oid[:12]} by Ada"), case


def test_of_equal_texts_the_cited_one_is_followed(code: Place) -> None:
    """Lines put in above, a class renamed: nothing that was cited changed."""
    cited, _ = committed(code, MOVED)
    clone = code.open()
    found = states(clone, cited)
    for n, (text, case) in enumerate(zip(cited, MOVED, strict=True)):
        assert found[text] == "holds", case
        assert what_changed(clone, text) == (), case
        assert where(clone, text) == SpanLocation(f"{n}/{case[0]}", *case[4]), case


def test_without_its_history_a_common_line_is_not_guessed(code: Place, tmp_path: Path) -> None:
    """A shallow clone cannot tell which of two equal lines was meant; one alone is the one."""
    code.repo.commit("deploy.yml", DEPLOY + "  port: 80\n", "twins")
    cited = cite(code, "deploy.yml:2-2", "deploy.yml:8")
    code.repo.commit("deploy.yml", "# a\n" + DEPLOY + "  port: 80\n", "moved")
    assert set(states(code.open(), cited).values()) == {"holds"}
    path = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{code.repo.path}", path], check=True)
    assert list(states(code.at(path).open(), cited).values()) == ["changed", "holds"]


def test_a_deleted_function_is_changed_and_a_deleted_file_gone(code: Place) -> None:
    """What the memory rests on is not there any more; people must look again."""
    cited = cite(code, *SPANS)
    whole = SOURCE.replace(SOURCE[SOURCE.index("@cache") : SOURCE.index("class Box")], "")
    code.repo.commit(PATH, whole, "without first")
    found = states(code.open(), cited)
    assert list(found.values()) == ["changed", "changed", "holds", "holds", "holds"]
    code.git("rm", "-q", PATH)
    code.git("commit", "-qm", "no code")
    assert set(states(code.open(), cited).values()) == {"gone"}
    assert recite(code.open(), cited[2]) is None
    assert where(code.open(), cited[2]) is None


def test_a_rename_is_followed_committed_or_not(code: Place) -> None:
    """A file that was only moved must not send every memory about it to review."""
    cited = cite(code, *SPANS)
    code.git("mv", PATH, "b.py")
    assert set(states(code.open(), cited).values()) == {"holds"}
    code.git("commit", "-qm", "moved")
    code.repo.commit("b.py", SOURCE.replace("return 5", "return 6"), "elsewhere")
    code.git("switch", "-qc", "side")
    code.git("mv", "b.py", "c.py")
    code.git("commit", "-qm", "again")
    code.git("switch", "-q", "main")
    code.repo.commit("other.txt")
    code.git("merge", "-q", "--no-edit", "side")
    clone = code.open()
    assert set(states(clone, cited).values()) == {"holds"}
    assert where(clone, cited[2]) == SpanLocation("c.py", 13, 15)
    assert recite(clone, cited[2]) == cited[2].replace(PATH, "c.py")
    assert [str(resolve(clone, text)) for text in cited] == cited
    code.git("mv", "c.py", "d.py")
    assert where(code.open(), cited[2]) == SpanLocation("d.py", 13, 15)
    code.repo.write("d.py", SOURCE.replace("y = 2", "y = 3"))
    code.git("commit", "-qam", "inside")
    found = states(code.open(), cited)
    assert list(found.values()) == ["holds", "holds", "changed", "holds", "changed"]
    assert "+        y = 3" in what_changed(code.open(), cited[2])


def test_how_a_file_is_checked_out_does_not_matter(code: Place, tmp_path: Path) -> None:
    """A colleague on another system checks the same memory."""
    cited = cite(code, *SPANS)
    (code.repo / PATH).write_bytes(b"\xef\xbb\xbf" + SOURCE.replace("\n", " \t\r\n").encode().rstrip())
    code.git("add", PATH)
    assert set(states(code.open(), cited).values()) == {"holds"}
    other = tmp_path / "other"
    subprocess.run(["git", "-c", "core.autocrlf=true", "clone", "-q", code.repo.path, other], check=True)
    assert set(states(code.at(other).open(), cited).values()) == {"holds"}


def test_stash_rebase_and_a_sparse_checkout_do_not_matter(code: Place) -> None:
    """What git does around a file is not an edit of it."""
    cited = cite(code, *SPANS)
    code.repo.write("README", "changed\n")
    code.git("stash", "-q")
    assert set(states(code.open(), cited).values()) == {"holds"}
    code.git("stash", "pop", "-q")
    code.git("commit", "-qam", "words")
    code.git("switch", "-qc", "side", "HEAD~1")
    code.repo.commit(PATH, "# new\n" + SOURCE, "a line above")
    code.git("rebase", "-q", "main")
    assert set(states(code.open(), cited).values()) == {"holds"}
    code.git("sparse-checkout", "set", "--no-cone", "/README", "/.holdfast")
    assert not os.path.exists(code.repo / PATH)
    assert set(states(code.open(), cited).values()) == {"holds"}
    assert str(resolve(code.open(), f"{PATH}#first")) == cited[1]
    fresh = code.repo.path.parent / "bare-looking"
    subprocess.run(["git", "clone", "-qn", code.repo.path, fresh], check=True)
    subprocess.run(["git", "-C", fresh, "checkout", "-q", "HEAD", "--", ".holdfast"], check=True)
    assert set(states(code.at(fresh).open(), cited).values()) == {"holds"}


def test_a_link_is_never_followed_out_of_the_repository(code: Place, tmp_path: Path) -> None:
    """What lies outside is nobody's evidence."""
    (cited,) = cite(code, f"{PATH}#first")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "app.py").write_text(SOURCE)
    code.repo.commit(PATH, "x = 1\n", "nothing left")
    os.remove(code.repo / PATH)
    os.rmdir(code.repo / "src")
    os.symlink(outside, code.repo / "src")
    assert state(code, cited) == "changed"
    os.remove(code.repo / "src")
    os.mkdir(code.repo / "src")
    os.symlink(outside / "app.py", code.repo / PATH)
    code.git("add", PATH)
    code.git("commit", "-qm", "a link")
    assert state(code, cited) == "changed"


def test_what_made_it_stale_is_shown_with_its_commit(code: Place) -> None:
    """A reviewer sees what changed without searching for it."""
    lines, symbol, gone, whole = cite(code, f"{PATH}:7-9", f"{PATH}#Box.size", f"{PATH}#last", PATH)
    assert what_changed(code.open(), lines) == ()
    for n in range(3):
        code.repo.commit(PATH, f"# {n}\n{SOURCE}", "above")
    edited = "# more\n# more\n" + SOURCE.replace("a + 1", "a + 2").replace("y = 2", "y = 3")
    oid = code.repo.commit(PATH, edited.replace("def last", "def final"), "a better number")
    code.repo.commit(PATH, "# x\n" + edited.replace("def last", "def final"), "after")
    clone = code.open()
    day = code.git("log", "-1", "--format=%as")
    said = f"changed in {oid[:12]} by Ada Example on {day}: a better number"
    assert what_changed(clone, lines) == (
        said,
        f"--- {PATH}:8-10",
        f"+++ {PATH}:10-12",
        "@@ -1,3 +1,3 @@",
        " def first(a):",
        "-    x = a + 1",
        "+    x = a + 2",
        "     return x",
    )
    found = what_changed(clone, symbol)
    assert found[0] == said
    assert [row for row in found[3:] if row[0] in "+-"] == ["-        y = 2", "+        y = 3"]
    removed = what_changed(clone, gone)
    assert (removed[0], removed[2]) == (said, "+++ gone")
    assert [row for row in removed[3:] if row[0] in "+-"] == ["-def last():", "-    return 5"]
    rows = what_changed(clone, whole)
    assert rows[0].startswith("changed in ")
    assert "+    x = a + 2" in rows


def test_what_is_gone_is_shown_as_taken_away(code: Place) -> None:
    """Who deleted the file, and what it said."""
    cited = cite(code, f"{PATH}:7-9", PATH)
    code.git("rm", "-q", PATH)
    code.git("commit", "-qm", "no code")
    for text in cited:
        rows = what_changed(code.open(), text)
        assert rows[0].startswith("deleted in ")
        assert rows[0].endswith(": no code")
        assert "-    x = a + 1" in rows
        assert not [row for row in rows[3:] if row.startswith("+")]


def test_a_text_that_history_never_held_shows_nothing(code: Place) -> None:
    """Nothing is guessed."""
    code.repo.write(PATH, SOURCE.replace("a + 1", "a + 7"))
    cited = cite(code, f"{PATH}:7-9", f"{PATH}#first")
    code.repo.write(PATH, SOURCE)
    for text in cited:
        assert state(code, text) == "changed"
        assert what_changed(code.open(), text) == ()
    assert recite(code.open(), cited[0]) is None
    assert recite(code.open(), cited[1]) == cite(code, f"{PATH}#first")[0]


def test_a_text_of_another_branch_is_found_there(code: Place) -> None:
    """What was cited on a branch that was never merged."""
    code.git("switch", "-qc", "side")
    oid = code.repo.commit(PATH, SOURCE.replace("a + 1", "a + 8"), "only here")
    (cited,) = cite(code, f"{PATH}:7-9")
    code.git("switch", "-q", "main")
    rows = what_changed(code.open(), cited)
    assert rows[0].startswith(f"the cited text is in {oid[:12]} by Ada")
    assert "+    x = a + 1" in rows


def test_a_changed_span_is_cited_as_it_is_now(code: Place) -> None:
    """One key takes the new text; nobody looks for line numbers."""
    lines, symbol, whole = cite(code, f"{PATH}:7-9", f"{PATH}#Box.size", PATH)
    edited = "# above\n" + SOURCE.replace("    x = a + 1\n", "    x = a\n    x += 1\n").replace("y = 2", "y = 3")
    code.repo.commit(PATH, edited, "edited")
    clone = code.open()
    assert where(clone, lines) == SpanLocation(PATH, 8, 11)
    assert [recite(clone, text) for text in (lines, symbol, whole)] == cite(
        code, f"{PATH}:8-11", f"{PATH}#Box.size", PATH
    )
    assert recite(clone, "run:x") == "run:x"
    assert where(clone, "run:x") is None
    head = f"commit:{code.git('rev-parse', 'HEAD')}"
    assert recite(clone, head) == head


def test_many_spans_take_few_processes(code: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A listing of a thousand memories must not start a thousand gits, nor read a file a thousand times."""
    for n in range(20):
        code.repo.write(f"lib/m{n}.py", SOURCE.replace("LIMIT", f"LIMIT{n}"))
    code.git("add", "lib")
    code.git("commit", "-qm", "many")
    clone = code.open()
    cited = [str(resolve(clone, f"lib/m{n}.py:{at}-{at + 2}")) for n in range(20) for at in (6, 7, 12)]
    for n in range(10):
        code.repo.write(f"lib/m{n}.py", "nothing\n")
    code.git("add", "lib")
    code.git("commit", "-qm", "some are nothing")
    for n in range(10, 15):
        code.repo.write(f"lib/m{n}.py", "# moved\n" + (code.repo / f"lib/m{n}.py").read_text())
    code.git("commit", "-qam", "some moved")
    code.git("rm", "-q", "--cached", "lib/m19.py")
    count: list[Any] = []
    real = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: (count.append(a), real(*a, **k))[1])
    found = list(states(clone, cited).values())
    assert found == ["changed"] * 30 + ["holds"] * 30
    assert len(count) < 16


def test_a_large_span_is_followed_by_its_old_text(code: Place) -> None:
    """Half of a long file, moved: too much to hash everywhere, but not lost."""
    rows = [f"row {n * 7919 % 10007} of {n}" for n in range(20_000)]
    code.repo.commit("big.txt", "\n".join(rows) + "\n", "big")
    (cited,) = cite(code, "big.txt:5000-15000")
    code.repo.commit("big.txt", "\n".join(["above"] * 300 + rows) + "\n", "moved")
    assert state(code, cited) == "holds"
    code.repo.commit("big.txt", "\n".join(["above"] * 300 + rows[:9000] + rows[9001:]) + "\n", "changed")
    assert state(code, cited) == "changed"


def test_a_shallow_clone_shows_what_it_can(code: Place, tmp_path: Path) -> None:
    """A build machine has one commit; it must say less, not something wrong."""
    cited = cite(code, f"{PATH}:7-9", f"{PATH}#Box.size")
    code.repo.commit(PATH, "# new\n" + SOURCE.replace("a + 1", "a + 2"), "edited")
    path = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{code.repo.path}", path], check=True)
    clone = code.at(path).open()
    assert list(states(clone, cited).values()) == ["changed", "holds"]
    assert what_changed(clone, cited[0]) == ()


def test_spans_hold_during_a_merge_that_is_not_settled(code: Place) -> None:
    """A conflict elsewhere in the file says nothing about the span."""
    cited = cite(code, *SPANS)
    code.git("switch", "-qc", "side")
    code.repo.commit(PATH, SOURCE.replace("return 5", "return 6"))
    code.git("switch", "-q", "main")
    code.repo.commit(PATH, SOURCE.replace("return 5", "return 7"))
    code.git("merge", "-q", "side", ok=False)
    assert "<<<<<<<" in (code.repo / PATH).read_text()
    assert set(states(code.open(), cited).values()) == {"holds"}


def test_a_repository_of_longer_hashes_cites_in_them(tmp_path: Path) -> None:
    """Git's newer kind of hash is as long as it is."""
    path = tmp_path / "new"
    subprocess.run(["git", "init", "-q", "--object-format=sha256", path], check=True)
    (path / "a.py").write_text("A = 1\nB = 2\n")
    subprocess.run(["git", "-C", path, "add", "a.py"], check=True)
    project_setup.initialise(str(path), cache=str(tmp_path / "cache"), commit=False)
    clone = Clone.open(str(path), cache=str(tmp_path / "cache"))
    cited = [str(resolve(clone, text)) for text in ("a.py#A", "a.py:2")]
    assert {len(text.rpartition("@")[2]) for text in cited} == {64}
    (path / "a.py").write_text("# above\nA = 1\nB = 2\n")
    subprocess.run(["git", "-C", path, "add", "a.py"], check=True)
    assert set(states(clone, cited).values()) == {"holds"}


def test_a_file_that_cannot_be_read_here_says_nothing(code: Place, tmp_path: Path) -> None:
    """A partial clone without its remote must neither crash nor call a memory stale."""
    cited = cite(code, *SPANS)
    code.git("config", "uploadpack.allowFilter", "true")
    path = tmp_path / "partial"
    args = ["--filter=blob:none", "-n", f"file://{code.repo.path}", path]
    subprocess.run(["git", "clone", "-q", *args], check=True)
    subprocess.run(["git", "-C", path, "checkout", "-q", "HEAD", "--", ".holdfast"], check=True)
    os.rename(code.repo.path, tmp_path / "away")
    clone = code.at(path).open()
    assert set(states(clone, cited).values()) == {"unanchored"}
    assert [what_changed(clone, text) for text in cited] == [()] * len(cited)
    with pytest.raises(TooLarge):
        resolve(clone, f"{PATH}:1")


def test_of_two_equal_methods_the_named_one_is_shown(code: Place) -> None:
    """The text alone would point at the other class."""
    code.repo.commit(PATH, "class A:\n    def go(self): 1\n\n\nclass B:\n    def go(self): 1\n")
    (cited,) = cite(code, f"{PATH}#B.go")
    assert where(code.open(), cited) == SpanLocation(PATH, 6, 6)


def test_before_the_first_commit_a_staged_span_holds(tmp_path: Path) -> None:
    """A project's first memory may come before its first commit."""
    subprocess.run(["git", "init", "-q", tmp_path / "new"], check=True)
    (tmp_path / "new" / "a.py").write_text("A = 1\n")
    subprocess.run(["git", "-C", tmp_path / "new", "add", "a.py"], check=True)
    project_setup.initialise(str(tmp_path / "new"), cache=str(tmp_path / "cache"), commit=False)
    clone = Clone.open(str(tmp_path / "new"), cache=str(tmp_path / "cache"))
    cited, lost = str(resolve(clone, "a.py#A")), f"lines:b.py:1-1@{'0' * 40}"
    assert states(clone, [cited, lost]) == {cited: "holds", lost: "gone"}
    assert what_changed(clone, lost) == ()


def test_what_was_found_out_about_a_file_is_kept_for_these_bytes_alone(place: Place) -> None:
    """Symbols of fifty files take a second to find; an answer about other bytes would hide a change."""
    count = FEW + 3
    functions = [f"def f{n}():\n    return {n}\n" for n in range(count)]
    place.repo.commit(PATH, "\n\n".join(functions), "the code")
    cited = cite(place, *(f"{PATH}#f{n}" for n in range(count)))

    def changed() -> list[str]:
        found = states(place.open(), cited)
        return [text for text in cited if found[text] != "holds"]

    assert changed() == []
    key = next(iter(cited))
    other = [*functions[:1], "def f1():\n    return 'another'\n", *functions[2:]]
    place.repo.write(PATH, "\n\n".join(other))
    place.repo.git("commit", "-qam", "another")
    assert changed() == [cited[1]] == changed()
    place.repo.git("revert", "--no-edit", "HEAD")
    assert changed() == [] and states(place.open(), [key])[key] == "holds"
    kept = place.open().entry_memo
    with kept._file.writing() as db:  # as a bug, or somebody who edits a cache, would
        assert db.execute("UPDATE shown SET text = '' WHERE rules LIKE 'held %'").rowcount > count
    assert changed() == [], "what does not hold by what was kept is looked at"
