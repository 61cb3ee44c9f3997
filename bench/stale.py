"""How well stale evidence is told from evidence that holds, on a repository's own history.

python -m bench.stale REPO                     cite functions and lines of an old commit, walk on to the newest
python -m bench.stale REPO --back 400          begin so many commits before the newest, by first parents
python -m bench.stale REPO --functions 200     how many functions are cited, and lines inside them

A flag is real if the cited function's code is not in its file any more. That is judged here, without Holdfast's own
comparison: Python by `ast.dump` of the function of that name without docstrings and annotations, other languages by
looking for the function's text without comments and blanks. What was flagged is cited again as it is then.
"""

import argparse
import ast
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.git import project_setup
from holdfast.git.clone import Clone
from holdfast.git.evidence_check import resolve, states
from holdfast.git.span_history import where
from holdfast.model.spans.file_version import FileVersion

ENDINGS = (
    ".py",
    ".go",
    ".ts",
    ".tsx",
    ".js",
    ".jsx",
    ".mjs",
    ".rs",
    ".c",
    ".h",
    ".cc",
    ".cpp",
    ".java",
    ".kt",
    ".swift",
)
_TELLING = 5  # lines of a function in which lines are cited
_NO_FUNCTION = re.compile(
    rb"\b(?:class|struct|interface|enum|trait|impl|type|namespace|mod|union|var|static const)\b"
    rb"|^\s*const \w+ =? ?[`\"']|`"
)
_QUOTED = r'"(?:[^"\\\n]|\\.)*"?'
_SCRIPT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*'?|" + _QUOTED + r"|\s+", re.S)
_OTHER = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|`[^`]*`|'(?:\\[^\n]{1,9}?|[^'\\\n])'|" + _QUOTED + r"|\s+", re.S)


def main() -> int:
    """Print the table; 1 if there is nothing to measure."""
    options = _read_options()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        walk = Walk(Path(folder), options.repo, options.back)
        if len(walk.commits) < 2 or not walk.cite(options.functions, random.Random(options.seed)):
            print(f"{options.repo} has no history with functions to cite.", file=sys.stderr)
            return 1
        for commit in walk.steps(options.steps):
            walk.check(commit)
    print(walk.table(verbose=options.verbose))
    print(f"  {time.monotonic() - began:.0f} s in all")
    return 0


@dataclass
class Cited:
    """One receipt, and what the judge knows of it."""

    receipt: str
    kind: str  # symbol or lines
    path: str  # followed by git's own renames
    name: str
    key: str  # of the whole function
    lines_key: str  # of the cited lines
    counts: tuple[int, int]  # how often each stood in the file
    lines: Sequence[bytes]


@dataclass(frozen=True)
class Spot:
    """A function, or the lines in its middle."""

    path: str
    name: str
    first: int
    last: int
    inner: bool = False

    @property
    def span(self) -> tuple[int, int]:
        third = (self.last - self.first) // 3 if self.inner else 0
        return self.first + third, self.last - third


@dataclass
class Tally:
    """What was counted for one kind of evidence."""

    checks: int = 0
    flags: int = 0
    real: int = 0
    missed: list[str] = field(default_factory=list)
    false: list[str] = field(default_factory=list)
    moved: int = 0  # to another file or name, or with its file
    lost: list[str] = field(default_factory=list)  # moved, but flagged
    quiet: int = 0  # rightly not flagged
    spared: int = 0  # though the cited text was edited
    unknown: int = 0


class Walk:
    """A clone of a repository, led from an old commit to the newest; nothing is checked out."""

    def __init__(self, folder: Path, repo: str, back: int) -> None:
        self.top, self.cache = folder / "walk", str(folder / "cache")
        subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", repo, self.top], check=True)
        newest = self.git("rev-list", "--first-parent", f"-n{back + 1}", "HEAD").split()
        self.commits = newest[::-1]
        self._stand_at(self.commits[0])  # what git holds counts; the work tree stays empty
        project_setup.initialise(str(self.top), cache=self.cache, commit=False)
        self.cited: list[Cited] = []
        self.tallies = {"symbol": Tally(), "lines": Tally()}
        self._before = self.commits[0]
        self._data: dict[tuple[str, str], bytes] = {}

    def git(self, *args: str, ok: tuple[int, ...] = (0,)) -> str:
        done = subprocess.run(["git", "-C", self.top, *args], capture_output=True, check=False)
        if done.returncode not in ok:
            raise SystemExit(done.stderr.decode("utf-8", "replace"))
        return done.stdout.decode("utf-8", "replace")

    def _stand_at(self, commit: str) -> None:
        self.git("update-ref", "--no-deref", "HEAD", commit)
        self.git("read-tree", commit)

    def data(self, commit: str, path: str) -> bytes:
        if (commit, path) not in self._data:
            asked = ["git", "-C", str(self.top), "cat-file", "blob", f"{commit}:{path}"]
            self._data[commit, path] = subprocess.run(asked, capture_output=True, check=False).stdout
        return self._data[commit, path]

    def clone(self) -> Clone:
        return Clone.open(str(self.top), cache=self.cache)

    def cite(self, most: int, dice: random.Random) -> int:
        """Cite functions that will be touched, and lines inside them."""
        start, end = self.commits[0], self.commits[-1]
        touched = set(self.git("diff", "--name-only", "-z", "--no-renames", start, end).split("\0"))
        paths = [path for path in self.git("ls-files", "-z").split("\0") if path.endswith(ENDINGS) and path in touched]
        found = [(path, name, a, b) for path in paths for name, a, b in functions(path, self.data(start, path))]
        dice.shuffle(found)
        clone = self.clone()
        for path, name, first, last in found[:most]:
            self._cite(clone, start, Spot(path, name, first, last))
            if last - first >= _TELLING:
                self._cite(clone, start, Spot(path, name, first, last, inner=True))
        return len(self.cited)

    def _cite(self, clone: Clone, commit: str, spot: "Spot") -> None:
        path, data = spot.path, self.data(commit, spot.path)
        text, (a, b) = FileVersion(path, data), spot.span
        lines = text.lines[a - 1 : b]
        key, inside = key_of(path, text.lines[spot.first - 1 :]), _stripped(path, lines)
        if not key or len(inside) < 8:  # a comment, or nothing that could be told from another
            return
        try:
            receipt = str(resolve(clone, f"{path}:{a}-{b}" if spot.inner else f"{path}#{spot.name}"))
        except HoldfastError:
            return
        judge, kind = judge_of(path, data), "lines" if spot.inner else "symbol"
        counts = (judge.count(key, spot.name), judge.text.count(inside))
        if counts[0]:
            self.cited.append(Cited(receipt, kind, path, spot.name, key, inside, counts, list(lines)))

    def steps(self, most: int) -> list[str]:
        """The commits that touch a cited file, under whatever name it has then."""
        paths, span = {one.path for one in self.cited}, f"{self.commits[0]}..{self.commits[-1]}"
        log = ("log", "--reverse", "--first-parent", "-m", "--format=%x01%H", "-M", "--name-status", span)
        found = []
        for part in self.git(*log).split("\x01")[1:]:
            commit, *rows = part.split("\n")
            touched = [row.split("\t")[1:] for row in rows if row]
            if any(paths & set(names) for names in touched):
                paths |= {names[-1] for names in touched if names[0] in paths}
                found.append(commit)
        return found[:: max(1, -(-len(found) // most))]

    def check(self, commit: str) -> None:
        """Lead the clone to a commit, and compare what Holdfast says with the judge."""
        renames = self.git("diff", "--name-status", "-M", "-z", "--diff-filter=R", self._before, commit).split("\0")
        moved = dict(zip(renames[1::3], renames[2::3], strict=False))
        changed = set(self.git("diff", "--name-only", "-z", "--no-renames", self._before, commit).split("\0"))
        self._stand_at(commit)
        clone = self.clone()
        told = states(clone, [one.receipt for one in self.cited])
        keep: list[Cited] = []
        todo, self.cited = self.cited, keep
        for one in todo:
            one.path = moved.get(one.path, one.path)
            if one.path not in changed and told[one.receipt] == "holds":
                keep.append(one)
                continue
            is_moved = one.path in moved.values()
            self._compare(clone, commit, one, changed=changed, told=told[one.receipt], is_moved=is_moved)
        self._before = commit

    def _compare(self, clone: Clone, commit: str, one: Cited, *, changed: set[str], told: str, is_moved: bool) -> None:
        judge = judge_of(one.path, self.data(commit, one.path))
        tally, what = self.tallies[one.kind], f"{commit[:10]} {one.receipt}"
        tally.checks += 1
        if judge.is_unknown:
            tally.unknown += 1
            return
        is_same = judge.count(one.key, one.name) >= one.counts[0]
        are_same = is_same or judge.text.count(one.lines_key) >= one.counts[1]
        if told == "holds":
            self.cited.append(one)
            if is_same if one.kind == "symbol" else are_same:
                tally.quiet += 1
                tally.spared += b"\n".join(one.lines) not in b"\n".join(judge.lines)
                tally.moved += is_moved
            elif self._went(clone, commit, one):
                tally.moved += 1
            else:
                tally.missed.append(what)
            return
        tally.flags += 1
        if is_same:
            tally.false.append(what)
        elif other := self._arrived(one, commit, changed):
            tally.lost.append(f"{what} -> {other}")
            tally.false.append(what)
        else:
            tally.real += 1
        self._again(clone, commit, one)

    def _went(self, clone: Clone, commit: str, one: Cited) -> bool:
        """Whether the cited code stands where Holdfast says it went, perhaps under another name."""
        if (at := where(clone, one.receipt)) is None:
            return False
        whole = FileVersion(at.path, self.data(commit, at.path)).lines
        there = whole[at.first - 1 : at.last]
        if one.kind == "symbol":
            return _is_renamed(one, key_of(at.path, whole[at.first - 1 :]))
        return one.lines_key in _stripped(at.path, there) or _same_python(one.lines, there)

    def _arrived(self, one: Cited, commit: str, changed: set[str]) -> str | None:
        """The file that has the function's code since this commit, if it moved there."""
        for path in changed:
            if path != one.path and Path(path).suffix == Path(one.path).suffix:
                now, then = (judge_of(path, self.data(at, path)) for at in (commit, self._before))
                if now.count(one.key, one.name, anywhere=True) > then.count(one.key, one.name, anywhere=True):
                    return path
        return None

    def _again(self, clone: Clone, commit: str, one: Cited) -> None:
        """Cite a function anew as it is after a flag."""
        spans = [row for row in functions(one.path, self.data(commit, one.path)) if row[0] == one.name]
        inner = one.kind == "lines"
        if len(spans) == 1 and (not inner or spans[0][2] - spans[0][1] >= _TELLING):
            self._cite(clone, commit, Spot(one.path, *spans[0], inner=inner))

    def table(self, *, verbose: bool) -> str:
        rows = []
        for kind, t in self.tallies.items():
            share = f"{100 * t.real / t.flags:.1f} %" if t.flags else "–"
            said = [
                f"{kind:8}{t.checks:6} checks in files that a commit touched",
                f"{t.flags} flags, {share} real",
                f"{len(t.missed)} changes missed",
                f"{t.spared} edits that left the code as it was, not flagged",
                f"{t.moved} moves and renames followed, {len(t.lost)} not",
                f"{t.unknown} not judged",
            ]
            rows.append("; ".join(said))
            if verbose:
                rows += [f"  missed {what}" for what in t.missed] + [f"  false  {what}" for what in t.false]
                rows += [f"  lost   {what}" for what in t.lost]
        return "\n".join(rows)


def functions(path: str, data: bytes) -> list[tuple[str, int, int]]:
    """The functions of a file: name with its number, first and last line."""
    from holdfast.model.spans.symbols import label

    text = FileVersion(path, data)
    found = []
    for one in text.symbols or ():
        head, brace, _ = b" ".join(text.lines[one.first - 1 : one.last]).partition(b"{")
        head = b" ".join(text.lines[one.first - 1 : one.first + 2]) if path.endswith(".py") else head
        is_other = _NO_FUNCTION.search(head) or (not brace and not path.endswith(".py"))
        is_whole = path.endswith(".py") or head.count(b"(") == head.count(b")")  # no value that a call returns
        if one.body and one.last - one.first >= 2 and b"(" in head and is_whole and not is_other:
            found.append((label(text.symbols or (), one), one.first, one.last))
    return found


class Judge:
    """One version of a file, asked how often a function's code stands in it."""

    def __init__(self, path: str, data: bytes) -> None:
        self.lines = lines = FileVersion(path, data).lines
        self.text = _stripped(path, lines)
        self.is_unknown = False
        self._functions: dict[str, list[ast.AST]] = {}
        self._is_python = path.endswith(".py")
        if self._is_python:
            try:
                self._walk(_Undressed().visit(ast.parse(b"\n".join(lines))), "")
            except (SyntaxError, ValueError):
                self.is_unknown = True

    def _walk(self, node: ast.AST, around: str) -> None:
        for child in ast.iter_child_nodes(node):
            name = around
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{around}{child.name}."
                if not isinstance(child, ast.ClassDef):
                    self._functions.setdefault(name[:-1], []).append(child)
            if not isinstance(child, ast.expr):
                self._walk(child, name)

    def nodes(self) -> Iterator[ast.AST]:
        return (node for some in self._functions.values() for node in some)

    def count(self, key: str, name: str, *, anywhere: bool = False) -> int:
        """How often; of Python under its own name, or under the end of it."""
        if not self._is_python:
            return self.text.count(key)
        wanted = name.partition("~")[0]
        leaf = wanted.rpartition(".")[2]
        fits = [at for at in self._functions if at == wanted or (anywhere and at.rpartition(".")[2] == leaf)]
        return sum(_dumped(node) == key for at in fits for node in self._functions[at])


@cache
def judge_of(path: str, data: bytes) -> Judge:
    return Judge(path, data)


def key_of(path: str, lines: Sequence[bytes]) -> str:
    """The code of the function that begins these lines, as the judge sees it; empty if it cannot be read."""
    if not path.endswith(".py"):
        return _first_block(path, lines)
    for node in judge_of(path, b"if 1:\n" + b"\n".join(b" " + line for line in _first_def(lines))).nodes():
        return _dumped(node)
    return ""


def _first_def(lines: Sequence[bytes]) -> Sequence[bytes]:
    """From a definition down to the next line that is not indented further; strings and brackets may end there."""
    indent, seen = len(lines[0]) - len(lines[0].lstrip()) if lines else 0, False
    for at, line in enumerate(lines):
        text = line.lstrip()
        if seen and text and len(line) - len(text) <= indent and not text.startswith((b")", b"]", b"}", b"#")):
            try:
                ast.parse(b"if 1:\n" + b"\n".join(b" " + row for row in lines[:at]))
            except SyntaxError:
                continue
            return lines[:at]
        seen = seen or text.startswith((b"def ", b"async def "))
    return lines


def _first_block(path: str, lines: Sequence[bytes]) -> str:
    """Text without comments and blanks down to the brace that closes the first block outside of parentheses."""
    kept, depth, round_ = [], 0, 0
    for piece, is_code in _pieces(path, lines):
        if not is_code:
            kept.append(piece)
            continue
        for at, char in enumerate(piece):
            round_ += (char in "([") - (char in ")]")
            depth += ((char == "{") - (char == "}")) if round_ <= 0 or depth else 0
            if char == "}" and depth <= 0 and round_ <= 0:
                return "".join([*kept, piece[: at + 1]])
        kept.append(piece)
    return ""


def _same_python(*texts: Sequence[bytes]) -> bool:
    """Whether lines of Python do the same."""
    try:
        trees = [ast.parse(b"if 1:\n" + b"\n".join(b" " + line for line in lines)) for lines in texts]
    except (SyntaxError, ValueError):
        return False
    return len({_dumped(_Undressed().visit(tree)) for tree in trees}) == 1


def _is_renamed(one: Cited, key: str) -> bool:
    """Whether a key is the cited one but for the function's name."""
    leaf = re.escape(one.name.partition("~")[0].rpartition(".")[2])
    pattern = re.escape(one.key).replace(leaf, r"\w+")
    return re.fullmatch(pattern, key, re.S) is not None


class _Undressed(ast.NodeTransformer):
    """Without docstrings and annotations."""

    def visit(self, node: ast.AST) -> Any:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return super().visit(node)
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        if not isinstance(node, ast.ClassDef):
            node.returns = None
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        self.generic_visit(node)
        return ast.Assign([node.target], node.value) if node.value else None


def _dumped(node: ast.AST) -> str:
    return re.sub(r", kind='u'", "", ast.dump(node))


def _stripped(path: str, lines: Sequence[bytes]) -> str:
    """Text without comments and blanks."""
    if path.endswith(".py"):
        return re.sub(r"\s+", "", re.sub(r"(?m)#.*$", "", b"\n".join(lines).decode("utf-8", "replace")))
    return "".join(piece for piece, _ in _pieces(path, lines))


def _pieces(path: str, lines: Sequence[bytes]) -> Iterator[tuple[str, bool]]:
    """Code and strings of a text, without comments and blanks."""
    text, at = b"\n".join(lines).decode("utf-8", "replace"), 0
    scanner = _SCRIPT if path.endswith((".js", ".jsx", ".ts", ".tsx", ".mjs")) else _OTHER
    for hit in scanner.finditer(text):
        yield text[at : hit.start()], True
        at = hit.end()
        if not (hit[0].isspace() or hit[0].startswith(("//", "/*"))):
            yield hit[0], False
    yield text[at:], True


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.stale", description=__doc__)
    parser.add_argument("repo")
    parser.add_argument("--back", type=int, default=300, metavar="N")
    parser.add_argument("--functions", type=int, default=150, metavar="N")
    parser.add_argument("--steps", type=int, default=150, metavar="N", help="commits looked at")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--verbose", action="store_true", help="name every flag that is not real, and all that was missed"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
