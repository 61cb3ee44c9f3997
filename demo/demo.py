"""Holdfast at work: a plan, two agents on two branches, a rebase, people who decide, and the proof.

Everything happens in `.demo/`, with a home of its own: nothing of yours is read or changed.
Each command is printed as you would type it; the next run of the demo starts afresh. With `--files` it ends
with every file that came of it, and a line of each.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import rollout

ROOT = Path(__file__).resolve().parent.parent
SCRATCH = ROOT / ".demo"
SHOP = SCRATCH / "shop"
BIN = Path(sys.executable).parent
QUIET = ("GIT_", "HOLDFAST_", "PYTHONDONTWRITEBYTECODE", "CLAUDE", "CODEX", "GEMINI", "CURSOR", "COPILOT")

AGENTS = {
    "agents/login.sh": (
        "echo 'reading the failing test'\n"
        "echo 'the test database is Postgres 12; the query needs 16'\n"
        "echo 'image: postgres:16' > compose.yml\n"
        "echo '3 passed'\n"
    ),
    "agents/search.sh": (
        "echo 'profiling search'\n"
        'echo "def search(words): return index.lookup(words)  # $1" > search.py\n'
        'echo "p95 went from 900 ms to $1 ms"\n'
    ),
}


def environment() -> dict[str, str]:
    """A fresh machine: no settings, no agents, and `holdfast` on the path."""
    home = SCRATCH / "home"
    home.mkdir(parents=True)
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Ada Example\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
        "[advice]\n\tdetachedHead = false\n"
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith(QUIET)}
    return kept | {
        "HOME": str(home),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_PAGER": "cat",  # a long answer would wait for a key
        "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
    }


class Stage:
    """Runs commands in the scratch repository and shows them."""

    def __init__(self) -> None:
        shutil.rmtree(SCRATCH, ignore_errors=True)
        self.environ = environment()
        SHOP.mkdir(parents=True)

    def tell(self, sentence: str) -> None:
        print(f"\n# {sentence}", flush=True)

    def type(self, *command: str, stdin: int | None = None) -> None:
        """Run a command as a person types it; the demo ends if it fails."""
        print(f"$ {shlex.join(command)}", flush=True)
        code = subprocess.run(command, cwd=SHOP, env=self.environ, stdin=stdin, check=False).returncode
        if code:
            sys.exit(f"the demo stops: that ended with {code}")

    def refused(self, *command: str) -> None:
        """Run a command that must say no."""
        print(f"$ {shlex.join(command)}", flush=True)
        code = subprocess.run(command, cwd=SHOP, env=self.environ, check=False).returncode
        if not code:
            sys.exit("the demo stops: that should have been refused")
        print(f"[exit {code}]", flush=True)

    def ask(self, *command: str) -> str:
        """What a command answers, without showing it."""
        done = subprocess.run(command, cwd=SHOP, env=self.environ, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def last_run(self) -> str:
        events = [json.loads(line) for line in self.ask("holdfast", "log", "--json").splitlines()]
        return [str(event["run_id"]) for event in events if event["kind"] == "run"][-1]

    def candidate(self) -> str:
        """The one that was proposed last."""
        waiting = json.loads(self.ask("holdfast", "review", "list", "--json"))["items"]
        return str(max(waiting, key=lambda one: one["proposed_at"] or "")["id"])

    def decision(self) -> str:
        return str(json.loads(self.ask("holdfast", "memories", "--type", "decision", "--json"))["items"][0]["id"])


def set_up(stage: Stage) -> None:
    stage.tell("A small project, and Holdfast in it.")
    stage.type("git", "init", "-q")
    (SHOP / "agents").mkdir()
    for name, text in AGENTS.items():
        (SHOP / name).write_text(text)
    (SHOP / "README").write_text("A shop.\n")
    stage.type("git", "add", "README", "agents")
    stage.type("git", "commit", "-q", "-m", "A shop")
    stage.type("holdfast", "init", "--commit", "--hooks")


def plan(stage: Stage) -> None:
    stage.tell("A plan: tasks that depend on each other. It is kept on the branch.")
    goal = ("--kind", "goal", "--layer", "L1", "--scale", "4", "--impact", "nobody waits")
    stage.type("holdfast", "task", "add", "A shop people like", "--id", "shop", *goal)
    stage.type("holdfast", "task", "add", "Fix the login test", "--id", "login", "--parent", "shop")
    stage.type("holdfast", "task", "add", "Search by index", "--id", "search", "--parent", "shop", "--priority", "1")
    stage.type("holdfast", "task", "add", "Measure search", "--id", "measure", "--parent", "shop", "--needs", "search")
    stage.type("holdfast", "task", "graph")
    stage.type("holdfast", "next")
    stage.type("holdfast", "publish")


def first_agent(stage: Stage) -> None:
    stage.tell("One agent fixes the login test, on its own branch.")
    stage.type("git", "switch", "-q", "-c", "mend-login")
    stage.type("holdfast", "session", "start", "Make the login test pass", "--task", "login", "--agent", "codex")
    stage.type("holdfast", "task", "start", "login", "--as", "codex")
    options = ("--task", "login", "--layer", "L5", "--scale", "2", "--prompt", "Make the login test pass")
    stage.type("holdfast", "run", *options, "--", "sh", "agents/login.sh")
    stage.type("git", "add", "compose.yml")
    stage.type("git", "commit", "-q", "-m", "Tests run on Postgres 16")
    note = ("Moved the tests to Postgres 16", "--decided", "Tests run on Postgres 16", "--open", "tell the CI people")
    stage.type("holdfast", "session", "note", *note)
    stage.type("holdfast", "task", "done", "login")
    stage.type("holdfast", "session", "end")
    stage.tell("What it learned is proposed with evidence, reviewed, and published on the branch.")
    run = f"run:{stage.last_run()}"
    words = ("Tests need Postgres 16.", "--evidence", run, "--evidence", "compose.yml")
    stage.type("holdfast", "remember", *words, "--confidence", "0.9", "--layer", "L5", "--tag", "db")
    stage.type("holdfast", "review", "list")
    stage.type("holdfast", "review", "accept", stage.candidate())
    stage.type("holdfast", "publish")


def second_agent(stage: Stage) -> None:
    stage.tell(
        "Another agent works on search. Its branch starts from main, so it does not see the first agent's memory."
    )
    stage.type("git", "switch", "-q", "main")
    stage.type("git", "switch", "-q", "-c", "faster-search")
    stage.type("holdfast", "memories")
    for milliseconds in ("70", "40"):
        work = ["sh", "agents/search.sh", milliseconds]
        stage.type("holdfast", "run", "--task", "search", "--layer", "L3", "--scale", "4", "--", *work)
    stage.tell("What changed between its two runs?")
    stage.type("holdfast", "diff", stage.last_run())
    stage.type("git", "add", "search.py")
    stage.type("git", "commit", "-q", "-m", "Search by index")
    run = f"run:{stage.last_run()}"
    words = ("Search answers in 40 ms at p95.", "--evidence", run, "--expires", "90d")
    stage.type("holdfast", "remember", *words, "--confidence", "0.8", "--layer", "L3", "--tag", "speed")
    stage.type("holdfast", "review", "accept", stage.candidate())
    stage.type("holdfast", "publish")


def rewritten(stage: Stage) -> None:
    stage.tell("The branch is rebased. Tasks that cite the old commits now cite the new ones.")
    stage.type("git", "switch", "-q", "main")
    (SHOP / "README").write_text("A shop with search.\n")
    stage.type("git", "commit", "-q", "-am", "Say what it is")
    stage.type("git", "switch", "-q", "mend-login")
    stage.type("git", "rebase", "-q", "main")
    stage.type("holdfast", "reconcile", "--apply")
    stage.type("holdfast", "task", "show", "login")
    stage.type("holdfast", "publish")
    stage.tell("What the next agent on this branch gets before it starts.")
    stage.type("holdfast", "context")


def deciding(stage: Stage) -> None:
    stage.tell("Agents propose, people decide. A decision in a prompt becomes a candidate.")
    why = ("--why", "it was there", "--evidence", "search.py", "--accept")
    stage.type("holdfast", "remember", "--type", "decision", "Sessions are stored in Redis.", *why)
    prompt = "Decision: sessions are stored in Postgres."
    stage.type("holdfast", "run", "--task", "login", "--prompt", prompt, "--", "true")
    stage.type("holdfast", "review", "list")
    stage.tell("It contradicts an accepted decision, so accepting it is refused until you say which one holds.")
    waiting = stage.candidate()
    stage.refused("holdfast", "review", "accept", waiting)
    stage.type("holdfast", "review", "accept", waiting, "--supersede", stage.decision())
    stage.tell("When the cited code changes, a memory is no longer shown to agents. It returns to review with a diff.")
    invariant = ("--type", "invariant", "Search looks words up in the index.", "--evidence", "search.py#search")
    stage.type("holdfast", "remember", *invariant, "--accept")
    (SHOP / "search.py").write_text("def search(words): return [w for w in everything if w in words]\n")
    stage.type("git", "commit", "-q", "-am", "Search without the index")
    stage.type("holdfast", "review", "list", "--waits-as", "stale")
    stage.tell("What did that agent know? Every context that a run was given is kept.")
    stage.type("holdfast", "run", "--", "holdfast", "context", "--for", "make search faster")
    stage.type("holdfast", "receipts", stage.last_run())
    stage.tell(
        "Find stale and contradicting memories. Then write instructions for agents into AGENTS.md, and remove them."
    )
    stage.type("holdfast", "curate")
    stage.type("holdfast", "connect", "agents", "--yes")
    stage.type("holdfast", "disconnect", "--yes")


def captured(stage: Stage) -> None:
    stage.tell("Agents keep transcripts. `try` shows what is in them, and writes nothing.")
    rollout.write(SCRATCH / "home", SHOP)
    stage.type("holdfast", "try", stdin=subprocess.DEVNULL)  # it would wait for a key
    stage.tell("Import them. A second import adds nothing.")
    stage.type("holdfast", "import", "codex")
    stage.type("holdfast", "import", "codex")
    stage.tell("Why is this line here? `why` finds the run and the turn that wrote it, and what was asked.")
    stage.type("git", "add", "checkout.py")
    stage.type("git", "commit", "-q", "-m", "Add up the prices at the checkout")
    stage.type("holdfast", "why", "checkout.py:2")
    stage.type("holdfast", "handoff", "--budget", "600")
    stage.tell("Connect an agent: hooks, MCP server and instructions. Its hook gives it the context when it starts.")
    stage.type("holdfast", "connect", "codex", "--yes")
    started = {"hook_event_name": "SessionStart", "session_id": "demo", "source": "startup", "cwd": str(SHOP)}
    hook = '"$HOME"/.local/share/holdfast/hook codex SessionStart'
    stage.type("sh", "-c", f"echo {shlex.quote(json.dumps(started))} | {hook}")
    print(flush=True)
    stage.type("holdfast", "disconnect", "codex", "--yes")


def together(stage: Stage) -> None:
    stage.tell("Both branches are merged, without conflicts.")
    stage.type("git", "switch", "-q", "main")
    stage.type("git", "merge", "-q", "--no-edit", "mend-login")
    stage.type("git", "merge", "-q", "--no-edit", "faster-search")
    stage.tell("The next agent asks.")
    stage.type("holdfast", "recall", "postgres")
    stage.type("holdfast", "show", stage.last_run())
    stage.type("holdfast", "memories")
    stage.type("holdfast", "log", "--sort", "layer,scale")
    stage.type("holdfast", "state")
    stage.type("holdfast", "next")
    stage.type("holdfast", "journal")


def sound(stage: Stage) -> None:
    stage.tell("Check everything that is stored.")
    stage.type("holdfast", "check", "--base", "main~2")
    stage.type("holdfast", "log", "--render")
    stage.type("holdfast", "doctor")
    stage.type("holdfast", "status")
    stage.type("holdfast", "stats")
    stage.type("git", "status", "--short")


def one_line(path: Path) -> str:
    """The line of a file that says most about it."""
    data = path.read_bytes()
    if path.parent.name == "bodies":
        data = data[32:]  # after its salt
    text = data.decode(errors="replace")
    if path.suffix == ".json":
        text = json.dumps(json.loads(text), ensure_ascii=False)
    lines = [line.strip() for line in text.splitlines() if line.strip(" -{}[]")]
    telling = [line for line in lines if line.startswith(("Fact:", "Decision:", "Invariant:", "hash_self"))]
    line = (telling or lines or ["(empty)"])[0]
    return line if len(line) <= 100 else line[:99] + "…"


def written(stage: Stage) -> dict[str, list[Path]]:
    """The files that came of it, by what they are."""
    tracked = [SHOP / name for name in stage.ask("git", "ls-files", ".holdfast").splitlines()]
    places = {
        "Tracked, and shared by git": tracked,
        "Rendered views, safe to delete": sorted((SHOP / ".holdfast" / "view").rglob("*.*")),
        "Private to this clone": sorted((SHOP / ".git" / "holdfast").rglob("*")),
    }
    return {
        title: [file for file in files if file.is_file() and file.name != ".gitignore"]
        for title, files in places.items()
    }


def list_files(stage: Stage) -> None:
    for title, files in written(stage).items():
        stage.tell(f"{title}:")
        for file in files:
            print(f"{file.relative_to(SHOP)}\n    {one_line(file)}")


def outcome(stage: Stage) -> None:
    """What all of it came to, in a few lines."""
    stage.tell("The result:")
    events = [json.loads(line) for line in stage.ask("holdfast", "log", "--json").splitlines()]
    runs = sum(event["kind"] == "run" for event in events)
    facts = json.loads(stage.ask("holdfast", "memories", "--json"))["items"]
    waiting = json.loads(stage.ask("holdfast", "review", "list", "--json"))["items"]
    stand = sum(one["status"] == "accepted" for one in facts)
    print(f"{runs} runs of agents in a log of {len(events)} events, linked by hash and verified.")
    print(f"{stand} memories stand, {len(waiting)} wait for a person.")
    print("2 branches and a rebase were merged, and nobody resolved a conflict.")
    for title, files in written(stage).items():
        print(f"{title}: {len(files)} files.")


def main() -> None:
    stage = Stage()
    set_up(stage)
    plan(stage)
    first_agent(stage)
    second_agent(stage)
    rewritten(stage)
    together(stage)
    deciding(stage)
    captured(stage)
    sound(stage)
    if "--files" in sys.argv[1:]:
        list_files(stage)
    outcome(stage)
    print(f"\nLook around: cd {os.path.relpath(SHOP)}   (holdfast is {os.path.relpath(BIN)}/holdfast)")
    print("Every file with a line of it: make demo ARGS=--files")


if __name__ == "__main__":
    main()
