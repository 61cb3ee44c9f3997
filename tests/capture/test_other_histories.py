"""What Entire and SpecStory kept: people who used these tools start full."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from holdfast.capture.agents import DIALECTS, specstory
from holdfast.errors import BadInput, NotFound
from holdfast.project import Project
from tests.capture import claude_lines as claude
from tests.conftest import GitRepo, init

ELSEWHERE = "/Users/ada/src/app"  # where the session was held: another machine


def git(repo: GitRepo, *words: str, data: bytes | None = None, more: Mapping[str, str] | None = None) -> str:
    env = {**os.environ, **(more or {})}
    done = subprocess.run(["git", *words], cwd=repo.path, input=data, env=env, capture_output=True, check=True)
    return done.stdout.decode().strip()


def own_checkpoint(repo: GitRepo, name: str, session: str, created: str, transcript: bytes) -> None:
    """Add one checkpoint as a ref of its own, as Entire's program does since July 2026."""
    said = {"checkpoint_id": name, "session_id": session, "created_at": created, "agent": "OpenCode"}
    listed = {"checkpoint_id": name, "sessions": [{"metadata": "/0/metadata.json", "transcript": "/0/full.jsonl"}]}
    files = {"metadata.json": listed, "0/metadata.json": said}
    blobs = {path: json.dumps(value).encode() for path, value in files.items()} | {"0/full.jsonl": transcript}
    env = {"GIT_INDEX_FILE": str(repo.path / ".git" / f"entire-{name}")}
    for path, content in blobs.items():
        blob = git(repo, "hash-object", "-w", "--stdin", data=content)
        git(repo, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", more=env)
    commit = git(repo, "commit-tree", git(repo, "write-tree", more=env), "-m", f"Checkpoint: {name}")
    git(repo, "update-ref", f"refs/entire/checkpoints/{name[:2]}/{name}", commit)


def checkpoint(repo: GitRepo, name: str, session: str, created: str, transcript: bytes, *, below: str = "0/") -> None:
    """Add one checkpoint to Entire's branch, as its program lays it out."""
    said = {"checkpoint_id": name, "session_id": session, "created_at": created, "agent": "Claude Code"}
    env = {"GIT_INDEX_FILE": str(repo.path / ".git" / "entire-index")}
    place = f"{name[:2]}/{name[2:]}/{below}"
    files = {f"{place}metadata.json": json.dumps(said).encode(), f"{place}full.jsonl": transcript}
    for path, data in files.items():
        blob = git(repo, "hash-object", "-w", "--stdin", data=data)
        git(repo, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", more=env)
    tree = git(repo, "write-tree", more=env)
    tip = git(repo, "for-each-ref", "--format=%(objectname)", "refs/heads/entire/checkpoints/v1")
    parents = ["-p", tip] if tip else []
    commit = git(repo, "commit-tree", tree, *parents, "-m", f"Checkpoint: {name}")
    git(repo, "update-ref", "refs/heads/entire/checkpoints/v1", commit)


def turn(number: int, asked: str, said: str, *, minute: int) -> list[dict[str, object]]:
    at = f"2026-02-09T01:{minute:02}:00.000Z"
    here = {"cwd": ELSEWHERE, "sessionId": claude.SESSION}
    path = f"{ELSEWHERE}/parser.py"
    edit = claude.assistant(claude.use("Write", f"toolu_{number}", file_path=path, content=f"# {number}\n"), **here)
    result = claude.user([{"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "ok"}], **here)
    lines = [claude.user(asked, **here), edit, result, claude.assistant(claude.text(said), **here)]
    return [{**line, "timestamp": at, "uuid": f"{number:08x}-0000-4000-8000-{n:012x}"} for n, line in enumerate(lines)]


def data(lines: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def committed(repo: GitRepo, name: str, words: str, when: str) -> str:
    (repo.path / "parser.py").write_text(f"# {words}\n")
    git(repo, "add", "parser.py")
    dates = {"GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when}
    git(repo, "commit", "-q", "-m", f"{words}\n\nEntire-Checkpoint: {name}", more=dates)
    return git(repo, "rev-parse", "HEAD")


def project(repo: GitRepo) -> Project:
    return Project.open(repo.path, environ=dict(os.environ), drain=False)


def rows(repo: GitRepo, run: str) -> list[dict[str, object]]:
    folder = Path(project(repo).clone.layout.run(run))
    return [json.loads(line) for line in (folder / "outputs" / "turns.jsonl").read_text().splitlines()]


def test_a_session_of_entire_comes_once_and_with_its_commits(repo: GitRepo) -> None:
    """It stands in every checkpoint; the trailer says which commit came of which turn, whoever made the commit."""
    init(repo.path, commit=True)
    first = turn(1, "Please write the parser.", "It is written.", minute=10)
    both = first + turn(2, "Please make it stream.", "It streams.", minute=30)
    one = committed(repo, "0ff8ca6db1c9", "The parser", "2026-02-09T01:15:00Z")
    two = committed(repo, "1ab8ca6db1c9", "It streams", "2026-02-09T01:40:00Z")
    checkpoint(repo, "0ff8ca6db1c9", claude.SESSION, "2026-02-09T01:15:00.5Z", data(first))
    checkpoint(repo, "1ab8ca6db1c9", claude.SESSION, "2026-02-09T01:40:00.5Z", data(both))

    done = project(repo).transcripts.import_entire()
    assert (len(done.runs), done.turns, done.skipped) == (1, 2, [])
    told = rows(repo, done.runs[0])
    assert [row["commits"] for row in told] == [[one], [two]]
    assert [row["files"] for row in told] == [["parser.py"], ["parser.py"]], "as seen from here, not from there"
    again = project(repo).transcripts.import_entire()
    assert (again.runs, again.turns) == ([], 0)
    assert not os.path.exists(os.path.join(project(repo).clone.layout.private, "entire"))


def test_checkpoints_that_are_refs_of_their_own_are_read_too(repo: GitRepo) -> None:
    """Entire's program writes no branch any more, and of opencode it keeps what `opencode export` prints."""
    init(repo.path, commit=True)
    old, new = "0ff8ca6db1c9", "01KX37KN6NXDTV10FKNCBPTP2Y"
    first = committed(repo, old, "The parser", "2026-02-09T01:15:00Z")
    second = committed(repo, new, "It streams", "2026-07-09T01:15:00Z")
    checkpoint(repo, old, claude.SESSION, "2026-02-09T01:15:00.5Z", data(turn(1, "Please.", "Done.", minute=1)))
    times = {"created": 1783558800000}
    said = [
        {"info": {"id": "msg_1", "role": "user", "time": times}, "parts": [{"type": "text", "text": "Stream it."}]},
        {
            "info": {"id": "msg_2", "role": "assistant", "time": times},
            "parts": [{"type": "text", "text": "It streams."}],
        },
    ]
    export = {"info": {"id": "ses_1", "directory": ELSEWHERE, "version": "1.2.21", "time": times}, "messages": said}
    own_checkpoint(repo, new, "ses_1", "2026-07-09T01:15:00.5Z", json.dumps(export, indent=2).encode())

    done = project(repo).transcripts.import_entire()
    assert (len(done.runs), done.turns, done.skipped) == (2, 2, [])
    told = [row for run in done.runs for row in rows(repo, run)]
    assert [(row["prompt"], row["commits"]) for row in told] == [("Please.", [first]), ("Stream it.", [second])]


def test_a_ref_that_is_no_checkpoint_costs_the_others_nothing(repo: GitRepo) -> None:
    """Whoever may push may push anything; one bad ref must not hide a year of sessions."""
    init(repo.path, commit=True)
    checkpoint(
        repo, "0ff8ca6db1c9", claude.SESSION, "2026-02-09T01:15:00.5Z", data(turn(1, "Please.", "Done.", minute=1))
    )
    blob = git(repo, "hash-object", "-w", "--stdin", data=b"no checkpoint")
    git(repo, "update-ref", "refs/entire/checkpoints/aa/BLOB", blob)
    done = project(repo).transcripts.import_entire()
    assert len(done.runs) == 1 and [one.path for one in done.skipped] == [blob]


def test_a_pipe_in_a_folder_is_not_waited_for(repo: GitRepo) -> None:
    """A folder that somebody names may hold anything, and a pipe gives nothing until the end of time."""
    init(repo.path, commit=True)
    folder = repo.path.parent / "told"
    folder.mkdir()
    os.mkfifo(folder / "session.json")
    os.mkfifo(folder / "session.jsonl")
    for agent in DIALECTS:
        assert project(repo).transcripts.import_agent(agent, str(folder)).runs == []


def test_what_entire_kept_of_unknown_agents_or_half_is_said(repo: GitRepo) -> None:
    """A branch that somebody pushed may hold anything."""
    init(repo.path, commit=True)
    with pytest.raises(NotFound, match="entire/checkpoints/v1"):
        project(repo).transcripts.import_entire()
    checkpoint(repo, "0ff8ca6db1c9", "s-1", "2026-02-09T01:15:00Z", b"\xff no transcript")
    checkpoint(repo, "1ff8ca6db1c9", "../../x", "later", b"{}")
    checkpoint(repo, "2ff8ca6db1c9", claude.SESSION, "", data(turn(1, "Please.", "Done.", minute=1)))
    done = project(repo).transcripts.import_entire()
    assert len(done.skipped) == 2 and len(done.runs) == 1
    assert all("in no known agent's format" in one.reason for one in done.skipped)


HISTORY = """<!-- Generated by SpecStory, Markdown v2.1.0 -->

# 2026-06-09 10:00:00Z

<!-- Claude Code Session aaaa1111-2222-4333-8444-000000000002 (2026-06-09 10:00:00Z) -->

_**User (2026-06-09 10:00:00Z)**_

Please finish the checkout flow.

---

_**Agent (claude-opus-4-6 2026-06-09 10:00:05Z)**_

<think><details><summary>Thought Process</summary>
Look at it.
</details></think>

I build it first.

<tool-use data-tool-type="shell" data-tool-name="Bash"><details>
<summary>Tool use: **Bash**</summary>

`swift build`

```text
Build complete
```
</details></tool-use>

---

_**Agent - sidechain (claude-haiku 2026-06-09 10:00:06Z)**_

A helper speaks.

_**Agent (claude-opus-4-6 2026-06-09 10:05:00Z)**_

<tool-use data-tool-type="write" data-tool-name="Write"><details>
<summary>Tool use: **Write**</summary>
 `src/Checkout.swift`
</details></tool-use>

The checkout flow is finished.

---

_**User**_

perfect, that works
"""


def history(folder: Path, text: str = HISTORY) -> str:
    path = folder / ".specstory" / "history" / "2026-06-09_10-00-00Z-finish.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def test_a_conversation_of_specstory_is_read(tmp_path: Path) -> None:
    """Prompts, answers, thoughts, tools; whatever is Markdown for people stays out of them."""
    reading = specstory.DIALECT.read(history(tmp_path), 0, None)
    assert (reading.origin.session, reading.origin.started) == (
        "aaaa1111-2222-4333-8444-000000000002",
        "2026-06-09T10:00:00Z",
    )
    assert reading.origin.cwd == str(tmp_path)
    first, second = reading
    assert (first.prompt, second.prompt) == ("Please finish the checkout flow.", "perfect, that works")
    assert first.answer == "The checkout flow is finished."
    assert [(step.text, step.aside) for step in first.steps[:2]] == [
        ("I build it first.", False),
        ("A helper speaks.", True),
    ]
    assert (first.steps[0].reasoning, first.steps[0].model, first.steps[0].ts) == (
        "Look at it.",
        "claude-opus-4-6",
        "2026-06-09T10:00:05Z",
    )
    ran, wrote = first.calls
    assert (ran.kind, ran.command) == ("shell", "swift build") and "Build complete" in (
        ran.result.text if ran.result else ""
    )
    assert (wrote.kind, wrote.paths, wrote.edits) == ("edit", ("src/Checkout.swift",), ())


def test_the_history_of_specstory_is_imported_once(repo: GitRepo) -> None:
    """And what its agent's own transcript told already is not told again."""
    init(repo.path, commit=True)
    with pytest.raises(NotFound, match="specstory"):
        project(repo).transcripts.import_specstory()
    path = history(repo.path)
    done = project(repo).transcripts.import_specstory()
    assert (len(done.runs), done.turns) == (1, 2)
    assert project(repo).transcripts.import_specstory().runs == []
    Path(path).write_text(HISTORY + "\n---\n\n_**Agent**_\n\nThank you, that is all.\n")
    more = project(repo).transcripts.import_specstory(path)
    assert len(more.runs) == 1 and more.copies == 0


@pytest.mark.parametrize(
    "text", ["", "# Notes\n", "<!-- Generated by SpecStory -->", HISTORY[:300], "\udcff" + HISTORY]
)
def test_other_markdown_is_no_conversation(tmp_path: Path, text: str) -> None:
    """The folder may hold anything."""
    path = Path(history(tmp_path))
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    try:
        told = list(specstory.DIALECT.read(str(path), 0, None))
    except BadInput as error:
        assert str(path) in str(error)
        assert not specstory.DIALECT.is_mine(str(path))
        return
    assert len(told) <= 1
