"""Two clones, one Postgres server: an agent killed on one machine goes on on the other, a claim is seen by both.

`make demo-team` runs it: a real server in a temporary folder, real git, real processes, `kill -9`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from demo.local_postgres import APP, OWNER, LocalPostgres, local_postgres

HOLDFAST = [sys.executable, "-m", "holdfast"]
WORK = """
import time
from holdfast import Project
agent = Project.open(".").agents.get("mailer", directives=["Send each mail once."])
start = agent.resume()
print("resumes at", start.next_index, "with", start.state, "pending" if start.pending else "", flush=True)
if start.pending:
    start.pending.result(output="was sent", state=(start.state or 0) + 1)
done = agent.resume().state or 0
for n in range(done, 6):
    with agent.cycle() as cycle:
        cycle.propose(tool="send", arguments={"mail": n})
        time.sleep(0.15)
        cycle.result(output="sent", state=n + 1)
    print("sent", n, flush=True)
print("run", agent.finish("Six mails sent.", task="Send the mails"), flush=True)
"""


def step(text: str) -> None:
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n## {text}", flush=True)


def run(clone: Path, environ: dict[str, str], *words: str, fails: bool = False) -> None:
    print(f"$ ({clone.name}) holdfast {' '.join(words)}", flush=True)
    done = subprocess.run([*HOLDFAST, *words], cwd=clone, env=environ, check=False)
    if bool(done.returncode) is not fails:
        raise SystemExit(f"holdfast {' '.join(words)} ended with {done.returncode}")


def make_clones(folder: Path, environ: dict[str, str]) -> tuple[Path, Path]:
    first, second = folder / "ann", folder / "ben"
    git = ("git", "-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    subprocess.run(["git", "init", "-q", "-b", "main", str(first)], check=True)
    (first / "README.md").write_text("# Mail\n")
    subprocess.run([*git, "add", "-A"], cwd=first, check=True)
    subprocess.run([*git, "commit", "-q", "-m", "Begin"], cwd=first, check=True)
    run(first, environ, "init", "--no-hooks")
    run(first, environ, "task", "add", "Send the mails")
    run(first, environ, "publish", "--here")
    subprocess.run(["git", "clone", "-q", str(first), str(second)], check=True)
    return first, second


def prepare(server: LocalPostgres, clone: Path, environ: dict[str, str]) -> None:
    server.sql(f"CREATE ROLE {OWNER} LOGIN CREATEROLE")
    server.sql(f"CREATE DATABASE agents OWNER {OWNER}")
    server.sql("CREATE EXTENSION vector", database="agents")
    run(clone, environ, "agent", "migrate", "--url", server.url("agents", OWNER))
    server.sql(f"CREATE ROLE {APP} LOGIN IN ROLE holdfast_agents")


def story(folder: Path, server: LocalPostgres) -> None:
    environ = {**os.environ, "HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}
    for name in ("AUTHOR", "COMMITTER"):
        environ |= {f"GIT_{name}_NAME": "Ann", f"GIT_{name}_EMAIL": "ann@example.org"}
    step("Two clones of one project, and a server that its owner prepares once")
    ann, ben = make_clones(folder, environ)
    prepare(server, ann, environ)
    environ["HOLDFAST_DATABASE_URL"] = server.url("agents")
    step("An agent sends mails in Ann's clone, and is killed")
    child = subprocess.Popen([sys.executable, "-c", WORK], cwd=ann, env=environ)
    time.sleep(1.6)
    child.send_signal(signal.SIGKILL)
    child.wait()
    run(ann, environ, "agent", "show", "mailer")
    step("The server is killed as well, and started again")
    server.kill()
    server.start()
    step("The same agent goes on in Ben's clone, where Ann's process stopped")
    subprocess.run([sys.executable, "-c", WORK], cwd=ben, env=environ, check=True)
    run(ben, environ, "agent", "cycles", "mailer")
    run(ben, environ, "log")
    step("A task that Ann claims is taken for Ben, too")
    run(ann, environ, "next", "--claim")
    run(ben, environ, "task", "start", "TSK", fails=True)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="hf-team-") as name, local_postgres() as server:
        story(Path(name), server)
    print("\nAll of it is gone again; docs/reference/agents.md tells how to set up a server of your own.")


if __name__ == "__main__":
    main()
