"""What the commands that people type most say, whole screens of one realistic repository.

`HOLDFAST_GOLDEN=write` writes them for a person to look at. Times in it are relative to now, so they stay the same.
"""

import json
import os
import re
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from holdfast.project import Project
from tests.capture import claude_lines as claude
from tests.capture.rollouts import rollout
from tests.conftest import Cli, GitRepo, golden

RETRY = """\
SAFE = ("GET", "HEAD", "PUT")


def call(send, request, tries=3):
    for _ in range(tries if request.method in SAFE else 1):
        if (answer := send(request)) is not None:
            return answer
    raise TimeoutError(request.url)
"""
QUEUE = "LIMIT = 1000\n\n\ndef put(job):\n    jobs.append(job)\n"
RULE = "POST requests must never be sent twice, because the customer is charged again."
CHOICE = "We decided to keep retries in src/retry.py because two callers need them."
TRIED = "We tried a circuit breaker, and it did not work because it hid which host was slow."
OID = r"(?<=[ @`(.\[])[0-9a-f]{10}(?:[0-9a-f]{2}|[0-9a-f]{30}|[0-9a-f]{54})?(?=[\s)`.,\]])"
SCREENS = {
    "help": ["--help"],
    "help-memory": ["help", "memory"],
    "start": ["start"],
    "status": ["status"],
    "review-list": ["review", "list"],
    "recall": ["recall", "where are sessions kept"],
    "recall-explain": ["recall", "where are sessions kept", "--explain", "-n", "2"],
    "why": ["why", "src/retry.py:1"],
    "context": ["context"],
    "next": ["next"],
    "task-list": ["task", "list"],
    "task-show": ["task", "show", "TSK-measure"],
    "memories": ["memories"],
    "show": ["show", "DEC-keep"],
    "log": ["log"],
    "journal": ["journal", "today"],
    "session": ["session"],
    "doctor": ["doctor"],
    "remember": ["remember", "Tests need Postgres 16.", "--evidence", "README.md:1"],
    "review-accept": ["review", "accept", "FCT"],
    "task-add": ["task", "add", "Index the titles", "--needs", "TSK-measure"],
    "task-done": ["task", "done", "TSK-keys"],
}


def settle(home: Path, repo: GitRepo, cli: Cli) -> None:
    """A shop in which two agents worked, a person decided, and work is under way."""
    now = datetime.now(UTC).replace(microsecond=0)

    def commit(days: float, subject: str, **files: str) -> None:
        when = (now - timedelta(days=days)).isoformat()
        os.environ |= {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        for name, text in files.items():
            repo.write(name.replace("__", "/").replace("_py", ".py").replace("_md", ".md"), text)
        repo.git("add", "-A")
        repo.git("commit", "-qm", subject)
        del os.environ["GIT_AUTHOR_DATE"], os.environ["GIT_COMMITTER_DATE"]

    commit(30.5, "A shop", README_md="# Shop\n\nTakes orders, and charges for them.\n", src__queue_py=QUEUE)
    first = rollout(home / ".codex", repo.path, at=now - timedelta(days=9.5))
    first.asks(RULE).patches("src/retry.py", RETRY.splitlines()).done(CHOICE)
    commit(8.5, "Retry what is safe", src__retry_py=RETRY)
    file = home / f".claude/projects/-{repo.path.name}/{claude.SESSION}.jsonl"
    file.parent.mkdir(parents=True)
    stamp = {"cwd": str(repo.path), "timestamp": (now - timedelta(days=2.5)).isoformat().replace("+00:00", "Z")}
    told = [claude.user("Why is there no circuit breaker?"), claude.assistant(claude.text(TRIED))]
    file.write_text("".join(json.dumps(one | stamp) + "\n" for one in told))
    cli("init", "--commit", "--hooks")
    cli("import", "codex")
    cli("import", "claude")
    project = Project.open(str(repo.path), person=True)
    known = project.memory.remember
    known("Sessions are kept in Redis.", kind="decision", id="DEC-keep", why="a restart must not log people out",
          evidence=["README.md:1"], tags=["login"], accept=True)  # fmt: skip
    known("The queue never holds more than a thousand jobs.", kind="assumption", id="ASM-queue",
          falsified_by="a run that logs `queue full`", evidence=["src/queue.py:1"], accept=True)  # fmt: skip
    known("Never log a session token.", kind="invariant", id="INV-token", why="logs go to a third party", accept=True)
    del project
    commit(1.5, "A longer queue", src__queue_py=QUEUE.replace("1000", "50_000"))
    cli("publish", "--here")
    repo.git("switch", "-qc", "search")
    cli("task", "add", "Fast search", "--kind", "goal", "--id", "GOL-fast", "--impact", "nobody waits")
    cli("task", "add", "Choose the keys", "--id", "TSK-keys", "--parent", "GOL-fast", "--priority", "1")
    cli("task", "add", "Measure it", "--id", "TSK-measure", "--parent", "GOL-fast", "--needs", "TSK-keys",
        "--accept", "p95 is below 100 ms")  # fmt: skip
    cli("task", "add", "Say so in the README", "--id", "TSK-page")
    cli("session", "start", "Make search fast", "--task", "TSK-keys")
    cli("task", "start", "TSK-keys")
    repo.write("src/search.py", "def search(words):\n    return index.lookup(words)\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Look words up in an index")
    cli("session", "note", "Titles are the keys", "--open", "what about prices?")
    cli("run", "--task", "TSK-keys", "--", "sh", "-c", "echo 3 passed")


def scrubbed(text: str, home: Path, repo: GitRepo) -> str:
    """A screen without what differs from one run to the next."""
    text = text.replace(str(repo.path), "/home/ada/shop").replace(str(home), "/home/ada")
    text = re.sub(r"\b\d{8}T\d{6}Z-\w{6}\b", "20260201T100001Z-aaaaaa", text)
    text = re.sub(r"\b([A-Z]{3})-([0-9a-z]{10}|[0-9a-z]{6})\b", lambda one: f"{one[1]}-{'a' * len(one[2])}", text)
    text = re.sub(OID, "0123456789ab", text)
    text = re.sub(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?", "2026-02-01", text)
    text = re.sub(r"\b\d\d:\d\d\b", "10:00", text)
    text = re.sub(r"\d+\.\d (KiB|ms|s)\b", r"1.0 \1", text)
    text = re.sub(r"checked \d+ files", "checked 9 files", text)  # who writes while another does begins a file
    text = re.sub(r"(?<=holdfast-data )\w{8}|(?<=rules )\w{8}", "aaaaaaaa", text)
    return re.sub(r"\b(1 minute ago|[2-9] minutes ago)", "just now", text)  # on a busy machine


def test_the_screens_that_people_see_most(
    cli: Cli, repo: GitRepo, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Columns that slip and words that nobody understands are seen only by who looks at the whole screen."""
    monkeypatch.setenv("PATH", f"{world}/bin:/usr/bin:/bin")  # none of the agents of whoever runs this
    settle(world, repo, cli)
    for name, words in SCREENS.items():
        said = cli(*words, ok=name != "start")
        below = f"---\n{said.err}" if said.err else ""
        golden(f"common-{name}", scrubbed(f"$ holdfast {shlex.join(words)}\n{said.out}{below}", world, repo))
