"""Entry files under plain git, with no merge driver and no Holdfast: changes of different fields merge.

One repository holds a file for every pair of changes; one branch makes the first change in each file, the
other the second, so that a single `git merge` tries all pairs at once.
"""

import itertools
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from holdfast.model.memory import Accepted, Retired
from holdfast.model.task import Checkpoint, Link, Task
from holdfast.store import markdown_document, memory_files, task_files
from holdfast.store.layout import LINKS, TASKS
from holdfast.values import replace

OID, OTHER = "3b18e512dba79e4c8300dd08aeb37f8e728b8dad", "9c140a97faaf0c1d3b18e512dba79e4c8300dd08"
MADE = f"person:Ada {OID}"
UNKNOWN = ((("x_team", "x_team: core"),), (("x_team", "x_team: edge"),))

# What each field may say: nothing (where it may), something, something else.
TASK: dict[str, tuple[Any, ...]] = {
    "kind": ("task", "subtask"),
    "title": ("Retry the login", "Retry the login twice"),
    "status": ("open", "started"),
    "needs": ((), ("TSK-a",), ("TSK-b",)),
    "parent": (None, "TSK-p", "TSK-q"),
    "owner": (None, "ada", "bob"),
    "priority": (2, 1, 0),
    "layer": (None, "L3", "L4"),
    "systemic_scale": (None, 3, 4),
    "impact": (None, "nobody waits", "nobody waits long"),
    "evidence": ((), (f"commit:{OID}",), (f"commit:{OTHER}",)),
    "acceptance": ((), ("a test",), ("two tests",)),
    "checkpoint": (None, Checkpoint(commit=OID, tree=OID), Checkpoint(commit=OTHER, tree=OTHER)),
    "reason": (None, "the door is shut", "the door is gone"),
    "extra": ((), *UNKNOWN),
    "notes": ("", "Notes.", "Other notes.\n\nTwo paragraphs."),
}
MEMORY: dict[str, tuple[Any, ...]] = {
    "status": (Accepted, Retired),
    "layer": (None, "L3", "L4"),
    "tags": ((), ("db",), ("cache",)),
    "source": (None, MADE, "person:Bob"),
    "confidence": (None, 0.5, 0.9),
    "evidence": ((), (f"commit:{OID}",), (f"commit:{OTHER}",)),
    "applies_to": ((), ("src/a.py",), ("src/b.py",)),
    "supersedes": ((), ("FCT-a",), ("FCT-b",)),
    "compatible_with": ((), ("FCT-c",), ("FCT-d",)),
    "expires_at": (None, datetime(2027, 1, 1, tzinfo=UTC), datetime(2028, 1, 1, tzinfo=UTC)),
    "extra": ((), *UNKNOWN),
    "body": (("Tests need Postgres.", ""), ("Tests need Postgres 16.", "Rationale: it is so.")),
}
LINK: dict[str, tuple[Any, ...]] = {
    "title": ("The plan", "The new plan"),
    "target": ("docs/plan.md", "docs/new.md"),
    "extra": ((), *UNKNOWN),
    "notes": ("", "Read it."),
}


def task(values: dict[str, Any]) -> str:
    return task_files.render(Task(id="TSK-7f3k2m", **values))


def memory(values: dict[str, Any]) -> str:
    own = {name: value for name, value in values.items() if name not in ("status", "body")}
    own["statement"], own["details"] = values["body"]
    return memory_files.render(values["status"](id="FCT-7f3k2m", type="fact", **own))


def link(values: dict[str, Any]) -> str:
    return task_files.render(Link(id="LNK-7f3k2m", kind="path", **values))


CHANGES = ((0, 1), (1, 0), (1, 2))  # set, emptied, changed
Texts = tuple[str, str, str, str]  # before, one side, the other side, both
Write = Callable[[dict[str, Any]], str]


def pairs(fields: dict[str, tuple[Any, ...]], write: Write) -> Iterator[tuple[str, Texts]]:
    """Every change of every field beside every change of every other: set, changed and emptied."""
    for one, other in itertools.combinations(fields, 2):
        for mine, theirs in itertools.product(
            *(CHANGES[: 2 if len(fields[name]) == 2 else 3] for name in (one, other))
        ):
            # The fields around are filled in half of the files: what is empty must not count on them.
            full = (mine[0] + theirs[0]) % 2
            base = {name: values[full] for name, values in fields.items()}
            base |= {one: fields[one][mine[0]], other: fields[other][theirs[0]]}
            ours, yours = {one: fields[one][mine[1]]}, {other: fields[other][theirs[1]]}
            name = f"{one}-{mine[0]}{mine[1]}-{other}-{theirs[0]}{theirs[1]}"
            sides = (base, base | ours, base | yours, base | ours | yours)
            yield name, tuple(map(write, sides))  # type: ignore[misc]


def cases() -> dict[str, Texts]:
    found = {f"{TASKS}/{name}.md": texts for name, texts in pairs(TASK, task)}
    found |= {f".holdfast/memory/facts/{name}.md": texts for name, texts in pairs(MEMORY, memory)}
    return found | {f"{LINKS}/{name}.md": texts for name, texts in pairs(LINK, link)}


def git(repo: Path, *args: str, data: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", *args], cwd=repo, input=data, capture_output=True, timeout=120, check=False)


def commits(repo: Path, found: dict[str, Texts]) -> None:
    """A commit with every file as it was, and on it two branches with one side each."""
    repo.mkdir()
    git(repo, "init", "-q")
    lines: list[bytes] = []
    for mark, branch in enumerate(("main", "mine", "theirs")):
        start = b"" if not mark else b"from refs/heads/main\n"
        lines.append(b"commit refs/heads/%s\n" % branch.encode())
        lines.append(b"committer Ada <ada@example.org> %d +0000\ndata 1\nx\n%s" % (1700000000 + mark, start))
        for path, texts in found.items():
            data = texts[mark].encode()
            lines.append(b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(data), data))
        lines.append(b"\n")
    git(repo, "fast-import", "--quiet", data=b"".join(lines)).check_returncode()


def merged(repo: Path, tree: str, found: dict[str, Texts]) -> dict[str, str]:
    """The files of a tree."""
    asked = "".join(f"{tree}:{path}\n" for path in found).encode()
    answer = git(repo, "cat-file", "--batch", data=asked).stdout
    files, at = {}, 0
    for path in found:
        end = answer.index(b"\n", at)
        size = int(answer[at:end].split()[2])
        files[path] = answer[end + 1 : end + 1 + size].decode()
        at = end + size + 2
    return files


@pytest.fixture(scope="module")
def everything() -> dict[str, Texts]:
    return cases()


WAYS = [
    ("merge", "-q", "-m", "x", "theirs"),
    ("-c", "merge.conflictStyle=diff3", "merge", "-q", "-m", "x", "-s", "ort", "theirs"),
    ("-c", "merge.conflictStyle=diff3", "rebase", "-q", "theirs"),
    ("rebase", "-q", "--apply", "theirs"),
    ("cherry-pick", "theirs"),
]


def test_every_pair_of_changes_merges_in_plain_git(tmp_path: Path, everything: dict[str, Texts]) -> None:
    """A person who merges a branch where Holdfast is not installed must not settle what nobody disputes."""
    assert len(everything) > 1300
    some = dict(itertools.islice(everything.items(), 0, None, 13))
    for number, way in enumerate(WAYS):  # all of them by the first way, one in thirteen by each other
        found, repo = (some, tmp_path / "some") if number else (everything, tmp_path / "all")
        if number < 2:
            commits(repo, found)
        git(repo, "checkout", "-q", "-f", "-B", "work", "mine").check_returncode()
        done = git(repo, *way)
        conflicts = git(repo, "diff", "--name-only", "--diff-filter=U").stdout.decode().split()
        assert done.returncode == 0, (way, len(conflicts), conflicts[:5], done.stderr[-300:])
        files = merged(repo, "HEAD", found)
        assert [path for path, texts in found.items() if files[path] != texts[3]] == [], way


def compact(text: str) -> str:
    """A text as earlier versions wrote it."""
    front, fence, body = text.partition("\n---\n")
    lines = [line for line in front.split("\n") if not line.startswith("#")]
    return "\n".join(line for line in lines if line != "compatible_with: []") + fence + body


def older(fields: dict[str, tuple[Any, ...]], write: Write) -> dict[str, tuple[Texts, bool]]:
    """Each pair of first changes of an older file, and whether the fields are neighbours there."""
    found = {}
    base = {name: values[0] for name, values in fields.items()}
    text = compact(write(base))
    order = [line.partition(":")[0] for line in text.split("\n") if ": " in line]
    for one, other in itertools.combinations([name for name in fields if name in order], 2):
        ours, yours = {one: fields[one][1]}, {other: fields[other][1]}
        changed = (markdown_document.laid_out(write(base | side), text) for side in (ours, yours, ours | yours))
        near = abs(order.index(one) - order.index(other)) == 1
        found[f"{write.__name__}/{one}-{other}.md"] = (text, *changed), near
    return found  # type: ignore[return-value]


def test_first_changes_of_an_older_file_merge_unless_the_lines_touched(tmp_path: Path) -> None:
    """Files of an earlier version are everywhere; a new layout must not make them conflict more."""
    found = older(TASK, task) | older(MEMORY, memory)
    apart = {path: texts for path, (texts, near) in found.items() if not near}
    assert len(apart) > 100
    repo = tmp_path / "repo"
    commits(repo, apart)
    git(repo, "checkout", "-q", "-f", "-B", "work", "mine").check_returncode()
    assert git(repo, "merge", "-q", "-m", "x", "theirs").returncode == 0
    files = merged(repo, "HEAD", apart)
    assert {path for path, texts in apart.items() if files[path] != texts[3]} == set()


def test_an_older_file_changes_by_the_changed_field_alone() -> None:
    """Whoever reviews a pull request must see what was changed, and nothing else."""
    before = compact(task({name: values[-1] for name, values in TASK.items() if name != "extra"}))
    read = task_files.parse(before, "a.md")
    after = markdown_document.laid_out(task_files.render(replace(read, priority=1)), before)
    assert after == before.replace("priority: 0", "#\npriority: 1\n#")
    again = markdown_document.laid_out(task_files.render(replace(read, priority=1, owner="eve")), after)
    assert again == after.replace("owner: bob", "#\nowner: eve")
    assert task_files.parse(again, "a.md") == replace(read, priority=1, owner="eve")
    assert markdown_document.laid_out(task_files.render(read), before) == before  # nothing changed: nothing to see


def test_two_items_added_to_one_list_are_one_field(tmp_path: Path) -> None:
    """A list is one line: git asks, and Holdfast keeps both when it settles the conflict."""
    base = {name: values[0] for name, values in TASK.items()}
    one, other, both = (base | {"needs": needs} for needs in (("TSK-a",), ("TSK-b",), ("TSK-a", "TSK-b")))
    path, texts = f"{TASKS}/a.md", tuple(map(task, (base, one, other, both)))
    commits(tmp_path / "repo", {path: texts})  # type: ignore[dict-item]
    git(tmp_path / "repo", "checkout", "-q", "-f", "mine").check_returncode()
    assert git(tmp_path / "repo", "merge", "-q", "-m", "x", "theirs").returncode == 1
    assert task_files.merge(path, *texts[:3]) == texts[3]
