"""The format page is exact: its worked example is checked with nothing but hashes and the verifier."""

import json
import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs" / "reference" / "log-format.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The fenced examples of one language on the page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def git(top: Path, *args: str) -> None:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    subprocess.run(["git", "-C", str(top), *identity, *args], check=True, capture_output=True)


def test_the_examples_hashes_are_real():
    """Somebody who writes a reader from the page would chase a wrong example for a day."""
    segment = blocks("jsonl")[0].encode()
    body, checkpoint = blocks("json")
    name = sha256(b"holdfast-body-1\n" + bytes(range(32)) + body.rstrip("\n").encode()).hexdigest()
    events = [json.loads(line) for line in segment.splitlines()[1:]]

    assert f"SHA-256 of the file: `{sha256(segment).hexdigest()}`" in PAGE
    assert f"/2026/11/15/{sha256(segment).hexdigest()[:32]}.jsonl" in PAGE
    assert f"Name of the body: `{name}`" in PAGE
    assert events[0]["body"] == name
    assert events[1]["hash_prev"] == [events[0]["hash_self"]]
    assert json.loads(checkpoint)["heads"] == [events[1]["hash_self"]]
    for line in segment.splitlines()[1:]:
        assert sha256(b"holdfast-event-1\n{" + line[80:]).hexdigest() == json.loads(line)["hash_self"]


def test_the_verifier_accepts_the_example(tmp_path):
    """A verifier and a page that disagree are both worthless."""
    segment = blocks("jsonl")[0].encode()
    file = tmp_path / ".holdfast/log/2026/11/15" / f"{sha256(segment).hexdigest()[:32]}.jsonl"
    file.parent.mkdir(parents=True)
    file.write_bytes(segment)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "A segment")

    command = [sys.executable, HERE / "verify.py", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, "ok\n")


def test_the_verifier_is_short_and_stands_alone():
    """If it borrowed our code it would repeat our mistakes, and if it were long nobody would read it."""
    source = (HERE / "verify.py").read_text(encoding="utf-8")

    assert len(source.splitlines()) <= 107
    assert not re.search(r"^\s*(from|import)\s+holdfast", source, re.MULTILINE)
