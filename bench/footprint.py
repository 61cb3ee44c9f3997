"""What a project carries in git: files, bytes, and the time git itself takes with and without them."""

import os
import shutil
from collections.abc import Iterator

from bench.corpus import Corpus, git
from bench.measure import Result, least, told, wall


def footprint(small: Corpus, large: Corpus, folder: str) -> Iterator[Result]:
    """Files and bytes for a thousand runs; `git status` and a clone at ten thousand."""
    files, size = _tracked(small)
    packed = _packed(large) * 1000 // large.runs
    yield told("tracked, 1,000 runs", f"{files} files, {size / 1e3:,.0f} kB", f"{packed / 1e3:,.0f} kB packed")
    bare = os.path.join(folder, "bare-project")
    _without(large, bare)
    copies = [os.path.join(folder, name) for name in ("copy-with", "copy-without")]
    best = least(
        {
            "status": lambda: wall(lambda: git(large.top, "status", "--porcelain")),
            "status without": lambda: wall(lambda: git(bare, "status", "--porcelain")),
            "clone": lambda: _clone(large.top, copies[0]),
            "clone without": lambda: _clone(bare, copies[1]),
        },
        5,
    )
    for name in ("status", "clone"):
        ours, floor = best[name], best[f"{name} without"]
        text = f"git {name}, 10,000 runs, with and without"
        yield told(text, f"{ours * 1e3:.1f} ms", f"{floor * 1e3:.1f} ms", ours / floor)


def _tracked(corpus: Corpus) -> tuple[int, int]:
    rows = git(corpus.top, "ls-tree", "-r", "-l", "HEAD", ".holdfast").splitlines()
    return len(rows), sum(int(row.split()[3]) for row in rows)


def _packed(corpus: Corpus) -> int:
    git(corpus.top, "gc", "-q")
    words = git(corpus.top, "count-objects", "-v").split()
    return int(words[words.index("size-pack:") + 1]) * 1024


def _without(corpus: Corpus, target: str) -> None:
    """The same project with no memory."""
    git(corpus.top, "clone", "-q", "--no-local", corpus.top, target)
    git(target, "checkout", "-q", "--orphan", "bare")
    git(target, "rm", "-r", "-q", "--cached", ".holdfast")
    shutil.rmtree(os.path.join(target, ".holdfast"))
    git(target, "commit", "-q", "-m", "without")
    for name in git(target, "for-each-ref", "--format=%(refname)").split():
        if name != "refs/heads/bare":
            git(target, "update-ref", "-d", name)
    git(target, "reflog", "expire", "--expire=now", "--all")
    git(target, "gc", "-q", "--prune=now")


def _clone(source: str, target: str) -> float:
    shutil.rmtree(target, ignore_errors=True)
    return wall(lambda: git(source, "clone", "-q", "--no-local", source, target))
