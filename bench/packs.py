"""How well a context fits its task, by a repository's own history: python -m bench.packs REPO [--seed N] [--show N]

At an old commit people "remember" something about some of its functions: a sentence made of the function's name and its
own comment. Every later commit is a task, known by its subject, by the files it changes, or by both. What the commit
changes says which memories were relevant: those that cite a function in a file that it changes. (Which functions of a
file will change, nobody can know before; the figures for the functions alone stand beside.) A few memories are marked
as general, and there are open tasks that have nothing to do with the work. People write down a few things about many
files: a file is drawn, then a function of it, three times as often as there are files.

The work tree stays at the old commit, so nothing is stale. Merges, commits of more than a dozen files and commits that
touch no file with functions are no tasks.
"""

import argparse
import contextlib
import os
import random
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, islice, takewhile
from statistics import mean, median

from holdfast.errors import HoldfastError
from holdfast.git.project_setup import initialise
from holdfast.model.evidence import SymbolEvidence, parse_evidence
from holdfast.model.memory import TYPES
from holdfast.model.spans import symbols
from holdfast.project import Project
from holdfast.project.opening import open_project
from holdfast.recall.pack.context_pack import ContextPack, pack_rows

BACK, TASKS, OPEN = 400, 120, 20  # commits back, tasks, open tasks that are none of these
EACH, MEMORIES = 3, 200  # memories for each file on average, and at most
NAME = re.compile(r"[A-Za-z_]\w{3,}")
MOST_FILES = 12  # of a commit that is a task: more are sweeps
KINDS = ("invariant", "decision", "dead-end", "fact", "assumption")
GENERAL = ("Commit messages are in the imperative mood", "Every change comes with an entry in the changelog")
CODE = (".py", ".go", ".rs", ".js", ".ts", ".tsx", ".c", ".h", ".java", ".rb", ".kt", ".swift", ".php", ".cs", ".cpp")
ASIDE = re.compile(
    r"(^|/)(tests?|testdata|vendor|node_modules|dist|docs?|examples?|fixtures?)(/|$)|_test\.|\.test\.|/test_"
)
COMMENT = re.compile(r"^\s*(?:///?!?|#|\*|/\*+|\"\"\"|r\"\"\"|''')\s?(.*?)(?:\*/|\"\"\")?\s*$")
HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? ")
BARS = {"recall": 0.90, "precision": 0.75, "overlap": 0.4, "tokens": 600}


@dataclass(frozen=True)
class CitedFunction:
    """A function of the old commit that a memory cites."""

    path: str
    name: str
    statement: str


@dataclass(frozen=True)
class CommitTask:
    """A later commit: what it says, the files it changes, and the functions it changes in them."""

    oid: str
    subject: str
    files: tuple[str, ...]
    functions: frozenset[tuple[str, str]]


@dataclass(frozen=True)
class JudgedPack:
    """What one task was given: the memories, all lines that tell something, and its size."""

    task: CommitTask
    memories: frozenset[str]
    lines: frozenset[str]
    tokens: int


def git(folder: str, *args: str) -> str:
    done = subprocess.run(["git", "-C", folder, *args], check=True, capture_output=True)
    return done.stdout.decode("utf-8", "replace")


def functions(path: str, text: str) -> list[tuple[str, int, int]]:
    """Each function of a file: its name, its first and its last line."""
    rows = text.split("\n")
    found = symbols.symbols(path, [row.encode("utf-8", "replace") for row in rows]) or []
    heads = re.compile(r"[({]|\bdef\b|\bfn\b|\bfunc\b")
    return [
        (one.name, one.first, one.last)
        for one in found
        if one.last > one.first + 1 and heads.search(rows[one.first - 1])
    ]


def statement(name: str, rows: Sequence[str], first: int, last: int, often: Mapping[str, int]) -> str:
    """One sentence about a function: what its comment says, else the rarest names that it uses."""
    short = re.split(r"[.:#]+", name)[-1]
    above = [*takewhile(COMMENT.match, reversed(rows[max(0, first - 8) : first - 1]))][::-1]
    inside = [row for row in rows[first : min(last, first + 6)] if COMMENT.match(row)]
    said = " ".join(COMMENT.sub(r"\1", row).strip() for row in (*above, *inside)).strip(" -*/#")
    sentence = re.split(r"(?<=[.!?])\s", said)[0][:160].strip(" .`\"'")
    if len(sentence.split()) >= 3:
        return f"`{short}`: {sentence}"
    used = {word for word in NAME.findall(" ".join(rows[first:last])) if word != short}
    rare = sorted(used, key=lambda word: (often[word], word))[:3]
    return f"`{short}` works on {', '.join(rare)}" if rare else ""


def cited_functions(top: str, chance: random.Random) -> list[CitedFunction]:
    """Functions of the work tree, spread over its files: each time a file is drawn, then a function of it."""
    texts = {}
    for path in git(top, "ls-files").splitlines():
        if path.endswith(CODE) and not ASIDE.search(path) and os.path.isfile(os.path.join(top, path)):
            with open(os.path.join(top, path), encoding="utf-8", errors="replace") as file:
                texts[path] = file.read()
    often = Counter(word for text in texts.values() for word in NAME.findall(text))
    there: dict[str, list[CitedFunction]] = {}
    for path, text in texts.items():
        said = ((one[0], statement(*_in(text, one), often)) for one in functions(path, text))
        if found := [CitedFunction(path, name, words) for name, words in said if words]:
            there[path] = found
    drawn: dict[CitedFunction, None] = {}
    for _ in range(min(MEMORIES, EACH * len(there))):
        drawn[chance.choice(there[chance.choice(list(there))])] = None
    return list(drawn)


def _in(text: str, one: tuple[str, int, int]) -> tuple[str, list[str], int, int]:
    return one[0], text.split("\n"), one[1], one[2]


def commit_tasks(top: str, old: str) -> Iterator[CommitTask]:
    """The commits after the old one that change code, the oldest first."""
    log = ("log", "--reverse", "--no-merges", "--topo-order", "-U0", "-M", "--format=%x01%H%x00%P%x00%s")
    for part in git(top, *log, f"{old}..origin/HEAD").split("\x01")[1:]:
        head, _, diff = part.partition("\n")
        oid, parent, subject = head.split("\x00")
        hunks: dict[str, list[tuple[int, int]]] = {}
        path = ""
        for row in diff.split("\n"):
            if row.startswith("--- "):
                path = row[6:] if row.startswith("--- a/") else ""
            elif path and (spot := HUNK.match(row)):
                size = int(spot[2] or 1)
                hunks.setdefault(path, []).append((int(spot[1]), int(spot[1]) + max(0, size - 1)))
        code = {name: spans for name, spans in hunks.items() if name.endswith(CODE)}
        if code and len(hunks) <= MOST_FILES and parent:
            yield CommitTask(oid, subject, tuple(code), frozenset(_changed(top, parent.split()[0], code)))


def _changed(top: str, parent: str, code: Mapping[str, Sequence[tuple[int, int]]]) -> Iterator[tuple[str, str]]:
    for path, spans in code.items():
        for name, first, last in functions(path, git(top, "show", f"{parent}:{path}")):
            if any(start <= last and end >= first for start, end in spans):
                yield path, name


def remember(project: Project, cited: Iterable[CitedFunction], chance: random.Random) -> None:
    """Approved memories; what the store refuses (ambiguous names, contradictions) is left out."""
    remembered = partial(project.memory.remember, accept=True, reviewer="ada")
    for one in cited:
        with contextlib.suppress(HoldfastError):
            remembered(one.statement, kind=chance.choice(KINDS), evidence=[f"symbol:{one.path}#{one.name}"])
    for said in GENERAL:
        remembered(said, kind="invariant", applies_to=["**"])


def remembered(project: Project) -> dict[str, CitedFunction]:
    """The memories that cite something, by their id."""
    there = [one.memory for one in project.memory.knowledge().standings]
    cited = {one.id: parse_evidence(one.evidence[0]) for one in there if one.evidence}
    texts = {one.id: one.statement for one in there}
    return {n: CitedFunction(c.path, c.name, texts[n]) for n, c in cited.items() if isinstance(c, SymbolEvidence)}


def judged(project: Project, task: CommitTask, mode: str) -> JudgedPack:
    words = task.subject if mode != "files" else None
    found: ContextPack = project.context(words, task.files if mode != "subject" else ())
    told = [line for _, line in pack_rows(found) if line]
    memories = {one.id for line in told for one in line.told if one.kind in TYPES}
    return JudgedPack(task, frozenset(memories), frozenset(line.text for line in told), found.tokens)


def figures(packs: Sequence[JudgedPack], known: Mapping[str, CitedFunction]) -> dict[str, float]:
    """Recall and precision over all packs together, by file and by function; overlap and size."""
    sums = dict.fromkeys(("in files", "found in files", "in functions", "found in functions", "told"), 0)
    for pack in packs:
        near = {name for name, one in known.items() if one.path in pack.task.files}
        exact = {name for name in near if (known[name].path, known[name].name) in pack.task.functions}
        sums["in files"] += len(near)
        sums["found in files"] += len(near & pack.memories)
        sums["in functions"] += len(exact)
        sums["found in functions"] += len(exact & pack.memories)
        sums["told"] += len(pack.memories)
    shared = sum(len(pack.memories - known.keys()) for pack in packs)  # only the general ones cite nothing
    pairs = [(one, other) for one, other in combinations(packs, 2) if not set(one.task.files) & set(other.task.files)]
    return {
        "recall": sums["found in files"] / max(1, sums["in files"]),
        "precision": (sums["found in files"] + shared) / max(1, sums["told"]),
        "recall of functions": sums["found in functions"] / max(1, sums["in functions"]),
        "precision of functions": (sums["found in functions"] + shared) / max(1, sums["told"]),
        "overlap": mean([len(a.lines & b.lines) / max(1, len(a.lines | b.lines)) for a, b in pairs] or [0]),
        "tokens": median(pack.tokens for pack in packs),
        "memories a pack": sums["told"] / len(packs),
    }


def prepared(repository: str, folder: str, seed: int) -> Project:
    """A clone at the old commit with memories and open tasks in it; what is in the folder already is used again."""
    top, chance = os.path.join(folder, "repo"), random.Random(seed)
    environ = {**os.environ, "XDG_CACHE_HOME": os.path.join(folder, "cache")}
    if os.path.isdir(top):
        project = open_project(top, environ=environ, person=True)
        project.recall.build_index()
        return project
    subprocess.run(["git", "clone", "-q", "--no-checkout", repository, top], check=True)
    line = git(top, "rev-list", "--first-parent", "origin/HEAD").split()
    git(top, "checkout", "-q", "-B", "main", line[min(BACK, len(line) // 2)])
    git(top, "config", "user.name", "Ada")
    git(top, "config", "user.email", "ada@example.org")
    initialise(top, cache=os.path.join(folder, "cache", "holdfast"), commit=False)
    project = open_project(top, environ=environ, person=True)
    remember(project, cited_functions(top, chance), chance)
    for subject in git(top, "log", "--no-merges", f"-{OPEN}", "--format=%s").splitlines():
        project.tasks.add(subject)
    project.recall.build_index()
    return project


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.packs", description="How well contexts fit their tasks.")
    parser.add_argument("repository")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", help="where to keep the project that is made, to measure it again")
    parser.add_argument("--show", type=int, default=0, help="print that many packs of each mode")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        project = prepared(os.path.abspath(asked.repository), asked.folder or folder, asked.seed)
        known, old = remembered(project), git(project.clone.repo.top, "rev-parse", "main").strip()
        paths = {one.path for one in known.values()}
        touching = (task for task in commit_tasks(project.clone.repo.top, old) if paths & set(task.files))
        tasks = list(islice(touching, TASKS))
        print(f"{len(tasks)} tasks after {old[:12]}, {len(known)} memories of {len(paths)} files; seed {asked.seed}")
        for mode in ("subject", "files", "subject + files"):
            packs = [judged(project, task, mode) for task in tasks]
            found = figures(packs, known)
            print(f"{mode + ':':17}" + ", ".join(f"{name} {value:.2f}" for name, value in found.items()), flush=True)
            for pack in packs[: asked.show]:
                print(pack.task.subject, pack.task.files, pack.tokens, *sorted(pack.lines), sep="\n  ")


if __name__ == "__main__":
    main()
