"""The timeline, and the pages of runs, turns, sessions and commits: complete, bounded, and never markup of others."""

import json
import os
import re
import subprocess
from html import unescape
from pathlib import Path

import pytest

from holdfast.capture.agents import dialect
from holdfast.capture.ingest import agent_session
from holdfast.interfaces.web.history_web import TURNS
from holdfast.project import Project
from holdfast.recall.pack import sent_packs
from tests.capture import claude_lines as claude
from tests.conftest import GitRepo, init
from tests.making import take_in
from tests.web.conftest import PageAnswer, Serve, Served

SCRIPT = "<script>alert(1)</script>"
HOSTILE = f"{SCRIPT}\"'><img src=x onerror=alert(2)>\u202e\x1b[2J"
KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7bq0T5zKfXq1cVt8\n" * 8 + "-----END RSA PRIVATE KEY-----\n"
LIMIT = 300_000
START = 1_700_000_000
SESSION = "0f0e0d0c-0000-4000-8000-000000000001"


def harmless(page: PageAnswer) -> bool:
    """Whether nothing of what others wrote became markup or hides."""
    bad = (SCRIPT, "<script>", "<img", "\u202e", "\x1b", "onerror=alert(2)>")
    return page.text.count("<script ") == 1 and not any(one in page.text for one in bad)


def taken_in(path: Path, transcript: Path, records: list[dict[str, object]]) -> str:
    """A transcript of Claude Code, imported; gives the run."""
    transcript.write_text("".join(json.dumps(one) + "\n" for one in records))
    project = Project.open(path)
    take_in(project.clone, dialect("claude"), str(transcript), ended=True)
    (event,) = project.clone.find_events("all", kinds=("run",))
    return str(event.run_id)


def turns_of(path: Path, number: int, *, words: str = "step", branch: str = "main") -> list[dict[str, object]]:
    """Turns with a command that fails and an edit each."""
    records: list[dict[str, object]] = []
    for turn in range(1, number + 1):
        here = {
            "cwd": str(path),
            "gitBranch": branch,
            "timestamp": f"2026-02-01T{10 + turn // 60:02}:{turn % 60:02}:00.000Z",
        }
        call = f"toolu_{turn}"
        records += [
            claude.user(f"{words} {turn}", **here),
            claude.assistant(claude.use("Bash", call, command=f"make {words} {turn}"), **here),
            claude.result(f"{words} output {turn}", call, error=True, **here),
            claude.assistant(claude.text(f"{words} is done {turn}"), **here),
        ]
    return records


def test_the_timeline_shows_runs_sessions_commits_and_decisions_by_day(
    serve: Serve, repo: GitRepo, tmp_path: Path
) -> None:
    """Who comes back after a week asks what happened."""
    init(repo.path)
    run = taken_in(repo.path, tmp_path / f"{SESSION}.jsonl", turns_of(repo.path, 3))
    served = serve(repo.path)
    served.project().memory.remember("Retries stop after five.", id="FCT-five", evidence=["README"], accept=True)
    served.project().sessions.start("Mend the retries")
    page = served.get("/timeline").text
    days = re.findall(r'<h2><time datetime="([\d-]+)">', page)
    assert days == sorted(days, reverse=True) and "2026-02-01" in days
    for link in (f"/runs/{run}", "/show/FCT-five", f"/commits/{repo.tip()}", "/sessions/SES-"):
        assert f'href="{link}' in page, link
    boxes = re.findall(r'name="kind" value="(\w+)"( checked)?', page)
    assert len(boxes) == 7 and all(ticked for _, ticked in boxes), "what is shown is ticked"
    every = "&".join(f"kind={kind}" for kind, _ in boxes)
    assert "Show all" not in served.get(f"/timeline?{every}").text
    decisions = served.get("/timeline?kind=decision").text
    assert re.findall(r'value="(\w+)" checked', decisions) == ["decision"]
    assert "/show/FCT-five" in decisions and "/runs/" not in decisions
    assert "Nothing fits" in served.get("/timeline?q=no-such-word-at-all").text
    assert f"/runs/{run}" in served.get("/timeline?branch=main&kind=run&q=step").text
    for odd in (
        "before=x",
        "before=2026-99-99T99:99:99.000000Z",
        "past=-1",
        "kind=nothing",
        "branch=../..",
        "branch=%ff",
        "before=%00",
    ):
        assert served.get(f"/timeline?{odd}").status == 200, odd


def test_a_long_text_of_a_list_is_cut_at_a_word(serve: Serve, repo: GitRepo) -> None:
    """A text that just stops looks whole, and says something else."""
    init(repo.path)
    repo.commit("a.txt", message="mend " + "everything " * 40)
    page = serve(repo.path).get("/timeline?kind=commit").text
    assert re.search(r'class="statement">mend (everything )+…</span>', page)


def test_a_long_timeline_comes_in_pages_that_hold_everything(serve: Serve, repo: GitRepo) -> None:
    """A year of work must neither be one page nor lose anything between two."""
    init(repo.path)
    repo.git("fast-import", "--quiet", data=b"".join(
        b"commit refs/heads/topic\ncommitter a <a@b> %d +0000\ndata 9\nchange %02d\n" % (START + at // 3, at % 100)
        for at in range(450)
    ))  # fmt: skip
    served = serve(repo.path)
    seen, address = list[str](), "/timeline?kind=commit"
    while address:
        page = served.get(address)
        assert page.status == 200 and len(page.text) < LIMIT
        seen += re.findall(r'href="/commits/([0-9a-f]{40})"', page.text)
        older = re.search(r'rel="next"[^>]*href="([^"]+)"', page.text)
        address = unescape(older[1]) if older else ""
    assert sorted(seen) == sorted(repo.git("rev-list", "--branches").split())


def test_an_empty_timeline_says_what_to_do(serve: Serve, tmp_path: Path) -> None:
    """The first visit may come before the first commit."""
    subprocess.run(["git", "init", "-q", str(tmp_path / "new")], check=True)
    Project.init(tmp_path / "new")
    served = serve(tmp_path / "new")
    page = served.get("/timeline")
    assert page.status == 200 and "Nothing happened yet" in page.text and "holdfast run" in page.text
    assert "Nothing fits" in served.get("/timeline?kind=run").text
    assert served.get("/code").status == 200 and served.get("/commits/HEAD").status == 404


def test_a_run_shows_its_turns_commands_cost_and_context(serve: Serve, repo: GitRepo, tmp_path: Path) -> None:
    """Whoever doubts a result looks at what the agent was told, ran and spent."""
    init(repo.path)
    served = serve(repo.path)
    served.project().memory.remember(
        "Retries stop after five.", id="FCT-five", applies_to=["**"], evidence=["README"], accept=True
    )
    project = served.project()
    owner = agent_session.session_id("claude", SESSION)
    sent_packs.keep(project.clone, project.context(), owner=owner, ts="2026-02-01T09:59:00.000000Z")
    run = taken_in(repo.path, tmp_path / f"{SESSION}.jsonl", turns_of(repo.path, 2))
    page = served.get(f"/runs/{run}")
    for told in (
        "step 1",
        "make step 2",
        "step is done 2",
        "Claude Code",
        'id="turn-2"',
        f'/runs/{run}/turns/2"',
        "/sessions/SES-",
    ):
        assert told in page.text, told
    session = served.get(re.search(r'href="(/sessions/[^"]+)"', page.text)[1])  # type: ignore[index]
    assert session.status == 200 and f"/runs/{run}" in session.text and "step is done" in session.text
    assert "FCT-five" in page.text and "stands" in page.text
    served.project().memory.retire("FCT-five")
    assert "retired" in served.get(f"/runs/{run}").text, "how the context stands today"
    turn = served.get(f"/runs/{run}/turns/1")
    for told in ("make step 1", "step output 1", "Step 1", f"/runs/{run}/turns/2"):
        assert told in turn.text, told
    for wrong in (
        "/runs/nothing",
        f"/runs/{run}/turns/99",
        f"/runs/{run}/turns/x",
        "/runs/..%2f..%2fetc",
        "/sessions/SES-none",
        "/sessions/..",
        "/runs/FCT-five",
    ):
        assert served.get(wrong).status == 404, wrong


def test_a_recorded_command_shows_how_it_ended(serve: Serve, repo: GitRepo) -> None:
    """A run of the wrapper has no turns."""
    init(repo.path)
    served = serve(repo.path)
    done = served.project().log.run_command(["sh", "-c", f"echo '{SCRIPT} said'; exit 3"])
    page = served.get(f"/runs/{done.event.run_id}")
    assert "exit 3" in page.text and "&lt;script&gt;alert(1)&lt;/script&gt; said" in page.text and harmless(page)
    assert "No context was given" in page.text


def test_a_run_of_thousands_of_turns_comes_in_pages(serve: Serve, repo: GitRepo, tmp_path: Path) -> None:
    """An agent that works for days must not freeze the browser."""
    init(repo.path)
    run = taken_in(repo.path, tmp_path / f"{SESSION}.jsonl", turns_of(repo.path, 3 * TURNS + 1, words="a & b; " * 800))
    served = serve(repo.path)
    seen, address = list[int](), f"/runs/{run}"
    while address:
        page = served.get(address)
        assert page.status == 200 and len(page.text.encode()) < LIMIT
        seen += map(int, re.findall(r'<li id="turn-(\d+)"', page.text))
        more = re.search(r'rel="next" href="([^"]+)"', page.text)
        address = unescape(more[1]) if more else ""
    assert seen == [*range(1, 3 * TURNS + 2)]
    for path in (f"/runs/{run}/turns/77", re.search(r'href="(/sessions/[^"]+)"', page.text)[1]):  # type: ignore[index]
        assert len(served.get(path).text.encode()) < LIMIT


def test_what_others_wrote_is_text_on_every_page(serve: Serve, repo: GitRepo, tmp_path: Path) -> None:
    """Prompts, outputs, names, branches and messages come from anywhere."""
    init(repo.path)
    branch = "x<img/src=x>\u202e"
    repo.git("switch", "-qc", branch)
    Path(os.fsdecode(os.fsencode(repo.path) + b"/caf\xe9 <b>\nx.py")).write_text(f"{HOSTILE}\n")
    repo.git("add", ".")
    repo.git("-c", f"user.name={SCRIPT}", "-c", "user.email=a@b", "commit", "-qm", f"{HOSTILE}\n\n{HOSTILE}")
    run = taken_in(repo.path, tmp_path / f"{SESSION}.jsonl", turns_of(repo.path, 2, words=HOSTILE, branch=branch))
    served = serve(repo.path)
    project = served.project()
    project.write_log(
        {
            "run_id": "own",
            "task": HOSTILE,
            "prompt": HOSTILE,
            "outputs": {"summary": HOSTILE, HOSTILE: HOSTILE},
            "tags": [HOSTILE],
        }
    )
    session = project.sessions.start(HOSTILE)
    project.sessions.note(
        HOSTILE,
        open=[HOSTILE],
        approvals=[HOSTILE],
        decisions=[HOSTILE],
        follow_ups=[HOSTILE],
        scratchpad=HOSTILE,
        files=[HOSTILE],
    )
    commit = f"/commits/{repo.tip()}"
    pages = [
        "/timeline",
        f"/timeline?q={SCRIPT}&branch={SCRIPT}",
        f"/runs/{run}",
        f"/runs/{run}/turns/1",
        "/runs/own",
        f"/sessions/{session.id}",
        commit,
    ]
    pages = [page.replace("<", "%3C").replace(">", "%3E") for page in pages]
    for address in pages:
        page = served.get(address)
        assert page.status == 200 and harmless(page), address
    file = re.search(r'href="(/code/caf[^"]+)"', served.get(commit).text)
    assert file and file[1] == "/code/caf%E9%20%3Cb%3E%0Ax.py" and "alert(1)" in served.get(file[1]).text
    assert harmless(served.get(f"{commit}?file=%3Cscript%3Ealert(1)%3C/script%3E"))


def test_a_commit_shows_who_made_it_what_cites_it_and_its_patch(serve: Serve, repo: GitRepo) -> None:
    """From a line of the log to what was done, and back to the memory that rests on it."""
    init(repo.path)
    repo.write("old name.py", "kept = 1\n" * 20)
    repo.git("add", ".")
    repo.git("commit", "-qm", "first")
    repo.git("mv", "old name.py", "new name.py")
    repo.write("gone.txt", "x\n")
    (repo.path / "pic.bin").write_bytes(b"\0\1")
    os.chmod(repo.path / "README", 0o755)
    repo.git("add", ".")
    repo.git("commit", "-qm", "Rename it\n\nBecause of the reasons.")
    served = serve(repo.path)
    served.project().memory.remember("It was renamed.", id="FCT-name", evidence=[f"commit:{repo.tip()}"])
    page = served.get(f"/commits/{repo.tip()[:10]}").text
    for told in (
        "Rename it",
        "Because of the reasons.",
        "was old name.py",
        "/show/FCT-name",
        "+x",
        "is binary",
        "no recorded run",
        repo.git("rev-parse", "HEAD~1"),
    ):
        assert told in page, told
    assert "kept = 1" in served.get(f"/commits/{repo.git('rev-parse', 'HEAD~1')}").text
    repo.git("switch", "-qc", "side", "HEAD~1")
    repo.commit("side.py", "side = 1\n")
    repo.git("switch", "-q", "-")
    repo.git("merge", "-q", "--no-edit", "side")
    merge = served.get(f"/commits/{repo.tip()}").text
    assert "Compared with its first parent" in merge and "side = 1" in merge
    for wrong in ("HEAD", "main", "zzzzzzz", "..", "--all", "0" * 40, repo.git("rev-parse", "HEAD^{tree}"), "%00"):
        assert served.get(f"/commits/{wrong}").status == 404, wrong


def test_the_patch_of_a_large_commit_comes_in_pages_without_secrets(serve: Serve, repo: GitRepo) -> None:
    """A commit of generated files, or one that leaks a key."""
    init(repo.path)
    for number in range(60):
        repo.write(f"gen/{number:03}.txt", f"line_{number} {'<' * 200}\n" * 100)
    repo.write("key.pem", KEY)
    repo.write("wide.js", "<\u202e" * 100_000)
    repo.write("generated.txt", "row\n" * 5_000)
    repo.git("add", ".")
    repo.git("commit", "-qm", "many")
    served = serve(repo.path)
    seen, address, texts = set[str](), f"/commits/{repo.tip()}", ""
    while address:
        page = served.get(address)
        assert page.status == 200 and len(page.text.encode()) < LIMIT
        texts += page.text
        seen |= set(re.findall(r'<section class="patch" aria-label="([^"]+)"', page.text))
        more = re.search(r'rel="next" href="([^"]+)"', page.text)
        address = unescape(more[1]) if more else ""
    assert seen == set(repo.git("diff", "--name-only", "HEAD~1", "HEAD").split())
    assert "[redacted:" in texts and "MIIEpAIBAAKCAQEA7bq0T5zKfXq1cVt8" not in texts
    assert "5,000 changed lines" in texts and "This page is full" in texts
    assert "line_45" in served.get(f"/commits/{repo.tip()}?file=gen/045.txt").text


def test_what_was_erased_is_not_shown(served: Served) -> None:
    """Who erased a run must not find its prompt on a page that was open before."""
    project = served.project()
    run = project.write_log({"task": "t", "prompt": "ERASED-PROMPT", "outputs": {"summary": "ERASED-SUMMARY"}})
    assert "ERASED-PROMPT" in served.get(f"/runs/{run}").text
    project.sync.erase(run)
    for address in (f"/runs/{run}", "/timeline", "/timeline?q=erased"):
        assert "ERASED-" not in served.get(address).text


def test_a_record_of_any_shape_has_its_page(served: Served) -> None:
    """Callers of `write_log` and other versions write what they like."""
    odd = [None, 1, "x", [], {}, {"path": 7}, {"path": HOSTILE}, {"path": "README", "deleted": True}]
    usage = [7, {}, {"model": 3, "read": "many", "cached": None, "written": 5, "dollars": "free"}, {"dollars": 1.5}]
    outputs = {"summary": ["not", "a text"], "usage": usage, "turns": "some", "duration_ms": "long"}
    body = {"artifacts": odd, "outputs": outputs, "tool_calls": odd, "inputs": {HOSTILE: odd}, "next_actions": odd}
    run = served.project().write_log({"task": HOSTILE, **body})
    page = served.get(f"/runs/{run}")
    assert page.status == 200 and harmless(page) and "deleted" in page.text and "$1.50" in page.text
    assert served.get(f"/runs/{run}/turns/1").status == 404


@pytest.mark.parametrize(
    "path", ["/runs/{}", "/runs/{}/turns/1", "/sessions/{}", "/commits/{}", "/code/{}", "/timeline?q={}"]
)
def test_a_very_long_address_is_answered(served: Served, path: str) -> None:
    """An address can hold anything of any length."""
    assert served.get(path.format("x" * 20_000)).status in (200, 404)
