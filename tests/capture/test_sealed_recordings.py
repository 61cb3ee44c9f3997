"""Recordings and event bodies under a key: nothing in clear on disk, whole without the key, readable with it."""

from __future__ import annotations

import base64
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyrage
import pytest

from holdfast.capture.agents import dialect
from holdfast.diagnostics import doctor
from holdfast.errors import LockedText
from holdfast.project import Project
from holdfast.store import capsule, session_files
from tests.capture.rollouts import rollout
from tests.capture.test_run import in_a_process_that_dies
from tests.conftest import Cli, GitRepo, init, make_repo
from tests.making import take_in

MARKER = "xyzzyplugh"  # what must not be found
SCOPE = "recordings,events"
Opened = Callable[..., Project]


def secret(byte: int = 1) -> str:
    return base64.b64encode(bytes([byte]) * 32).decode()


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitRepo:
    made = make_repo(tmp_path / "repo")
    init(made.path, commit=True)
    made.commit("src/boat.py", "planks = 3\n", "Boat")
    monkeypatch.chdir(made.path)
    return made


def variables(keys: str | None = None, scope: str = SCOPE) -> dict[str, str]:
    seal = {} if keys == "" else {"SEAL": keys or secret()}
    return {**os.environ, "HOLDFAST_ENCRYPTION_SCOPE": scope, "HOLDFAST_ENCRYPTION_KEY": "env:SEAL", **seal}


def opened(repo: GitRepo, keys: str | None = None, scope: str = SCOPE) -> Project:
    """The project, with keys of a variable; `keys` empty: without."""
    return Project.open(repo.path, environ=variables(keys, scope), person=True)


def found_in(*folders: str | Path) -> list[str]:
    """The files, and the tables of databases, that hold the marker in clear; names count as well."""
    found = []
    for path in (path for folder in folders for path in Path(folder).rglob("*") if path.is_file()):
        data = path.read_bytes()
        if MARKER.encode() in data or MARKER in str(path) or MARKER.encode("utf-16-le") in data:
            found.append(str(path))
        if data.startswith(b"SQLite format 3"):
            with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
                found += [f"{path}: {row[:80]}" for row in database.iterdump() if MARKER in row]
    return found


def places(project: Project) -> list[str]:
    """Where nothing may lie in clear: the private store, the tracked folder with its views, the cache."""
    clone = project.clone
    return [clone.private.private, clone.layout.in_tree(".holdfast"), clone.layout.cache]


def work(project: Project, repo: GitRepo, tmp_path: Path) -> str:
    """A command, a block of Python and an agent's session, all of them full of the marker; gives the command's run."""
    environ = {**os.environ, "HOLDFAST_ENV": MARKER}
    made = f"echo {MARKER}; echo {MARKER} >&2; echo {MARKER} > made_{MARKER}.txt"
    said = f"Decision: always use {MARKER}, because two callers need it."
    project.sessions.start(objective="Mending")
    done = project.log.run_command(["sh", "-c", made], task=f"task {MARKER}", prompt=said, environ=environ)
    os.unlink(repo.path / f"made_{MARKER}.txt")
    with project.log.run(task=MARKER, prompt=said) as run:
        run.summary = f"We decided to use {MARKER}, because two callers need it."
        run.output("note.txt", MARKER)
    project.log.write({"task": MARKER, "prompt": said, "outputs": {"summary": said}})
    project.sessions.end()
    file = rollout(tmp_path / "codex", repo.path).asks(f"Make {MARKER} sturdy.")
    file.runs(f"make {MARKER}").patches("src/boat.py", [f"planks = '{MARKER}'"]).plans(more="pending").done(said)
    project.transcripts.import_agent("codex", str(tmp_path / "codex"))
    return done.run_id


def look_at_everything(project: Project, repo: GitRepo) -> None:
    """What writes views, indexes and caches."""
    project.recall("boat")
    project.context.pack(budget=2000)
    project.views.render()
    project.views.render_log()
    project.log.timeline()
    project.recall.why("src/boat.py:1")
    project.health.status()
    for name in os.listdir(project.clone.layout.runs):
        project.log.show(name)
    list(project.log.export_records())
    list(project.log.export_markdown())


def problems(project: Project) -> list[str]:
    return [str(one) for one in doctor.examine(project.clone).findings if one.severity == "problem"]


@pytest.mark.parametrize("scope", [SCOPE, "recordings"])
def test_nothing_of_a_sealed_recording_lies_anywhere_in_clear(repo: GitRepo, tmp_path: Path, scope: str) -> None:
    """A stolen disk, a backup, a synced cache: none of them may hold what was said or put out."""
    project = opened(repo, scope=scope)
    run = work(project, repo, tmp_path)
    look_at_everything(opened(repo, scope=scope), repo)
    assert found_in(*places(project)) == []
    assert project.memory.candidates() == [], "what is proposed would stand in clear"
    shown = opened(repo).log.show(run)
    assert MARKER in str(shown.fields["prompt"]) and MARKER in (shown.text or "") and shown.printed == MARKER
    assert opened(repo).log.show(f"{run}:made_{MARKER}.txt").text == f"{MARKER}\n"
    assert MARKER in " ".join(row.summary for row in opened(repo).log.timeline())
    assert found_in(*places(project)) == [], "to look must not leave anything behind"


def test_a_sealed_session_is_shown_turn_by_turn_and_answers_why(repo: GitRepo, tmp_path: Path) -> None:
    """Whoever has the key must not lose what a recording is for."""
    project = opened(repo)
    file = rollout(tmp_path / "codex", repo.path).asks(f"Make {MARKER} sturdy.")
    file.patches("src/boat.py", [f"planks = '{MARKER}'"]).done(f"{MARKER} is sturdy.")
    project.transcripts.import_agent("codex", str(tmp_path / "codex"))
    (run,) = os.listdir(project.clone.layout.runs)
    project = opened(repo)
    assert project.log.show(f"{run}#1").text == f"{MARKER} is sturdy."
    repo.commit("src/boat.py", f"planks = '{MARKER}'\n", "Sturdy")
    (answer,) = opened(repo).recall.why("src/boat.py:1").why.answers
    assert answer.run and answer.run.id == run and MARKER in str(answer)
    assert project.transcripts.import_agent("codex", str(tmp_path / "codex")).runs == [], "nothing is taken twice"
    (session,) = session_files.all(project.clone.layout)
    assert session.turns[0].summary == "[sealed]" and session.turns[0].run == run and MARKER not in str(session)
    assert opened(repo, "").recall.why("src/boat.py:1").why.answers, "what git knows is told without a key"
    assert found_in(*places(project)) == []


def test_without_the_key_everything_verifies_and_text_is_skipped_and_counted(repo: GitRepo, tmp_path: Path) -> None:
    """A colleague, a CI job, a machine after its key was destroyed: no exception, and no alarm about damage."""
    run = work(opened(repo), repo, tmp_path)
    project = opened(repo, "")
    report = doctor.examine(project.clone)
    assert [one for one in report.findings if one.severity == "problem"] == []
    (note,) = [one for one in report.findings if "sealed with a key that is not here" in str(one)]
    assert "5 recorded texts" in str(note) or "6 recorded texts" in str(note)
    look_at_everything(project, repo)
    shown = project.log.show(run)
    assert shown.fields["body_state"] == "locked" and shown.text == "[locked]" and shown.fields["prompt"] is None
    assert "[locked]" in " ".join(row.summary for row in project.log.timeline())
    said = [row for row in project.clone.notes if "stays closed" in row]
    assert said == [], "a variable that is empty is no error"
    bare = Project.open(repo.path, environ={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]})
    assert bare.log.show(run).fields["body_state"] == "locked" and problems(bare) == []
    assert found_in(*places(project)) == []


def test_one_byte_changed_is_found_without_the_key(repo: GitRepo) -> None:
    """That it is sealed must not hide that it was tampered with."""
    project = opened(repo)
    done = project.log.run_command(["echo", MARKER])
    folder = Path(project.clone.layout.run(done.run_id))
    for name in ("outputs/stdout", "context.json", "summary.md", "meta.json"):
        path = folder / name
        data = path.read_bytes()
        path.chmod(0o600)
        path.write_bytes(data.replace(b"a", b"b", 1))
        assert problems(opened(repo, "")), name
        path.write_bytes(data)
    assert problems(opened(repo, "")) == []


def test_a_sealed_file_opens_in_its_place_and_in_no_other(repo: GitRepo) -> None:
    """Whoever can write to the store must not put one run's words into another, nor swap its pieces."""
    project = opened(repo)
    one, two = (project.log.run_command(["echo", word]).run_id for word in ("one", "two"))
    outputs = [Path(project.clone.layout.run(run)) / "outputs" / "stdout" for run in (one, two)]
    outputs[1].chmod(0o600)
    outputs[1].write_bytes(outputs[0].read_bytes())
    assert project.log.show(two).printed == "[locked]"
    assert project.clone.unlock and ("altered" in str(project.clone.unlock().locked))


def test_writing_without_the_key_keeps_nothing_in_clear(repo: GitRepo) -> None:
    """Text that was meant to be sealed must not take the place of sealed text; the command itself runs."""
    project = opened(repo, "")
    done = project.log.run_command(["echo", MARKER], prompt=MARKER)
    assert done.exit_code == 0 and done.event is not None and done.event.body is None
    assert any("not at hand" in said for said in project.clone.notes)
    with pytest.raises(LockedText), project.log.run(task=MARKER):
        pass
    assert found_in(*places(project)) == [] and problems(opened(repo)) == []


def test_a_new_key_seals_what_comes_and_a_destroyed_one_erases_what_was(repo: GitRepo, tmp_path: Path) -> None:
    """Rotation must not rewrite a byte of what is there; a destroyed key must not come back."""
    identity = pyrage.x25519.Identity.generate()
    recipients, private = tmp_path / "recipients", tmp_path / "identity"
    recipients.write_text(f"{identity.to_public()}\n")
    private.write_text(f"{identity}\n")
    keys = {"HOLDFAST_ENCRYPTION_KEY": f"age:{recipients}", "HOLDFAST_ENCRYPTION_IDENTITY": str(private)}
    environ = {**os.environ, "HOLDFAST_ENCRYPTION_SCOPE": SCOPE, **keys}
    project = Project.open(repo.path, environ=environ)
    old = project.log.run_command(["echo", f"old {MARKER}"]).run_id
    (first,) = project.keys.list()
    kept = {path: path.read_bytes() for path in Path(project.clone.layout.run(old)).rglob("*") if path.is_file()}
    second = project.keys.rotate()
    new = project.log.run_command(["echo", f"new {MARKER}"]).run_id
    again = Project.open(repo.path, environ=environ)
    assert again.log.show(old).printed == f"old {MARKER}" and again.log.show(new).printed == f"new {MARKER}"
    assert all(path.read_bytes() == data for path, data in kept.items())
    assert second.encode() in (Path(project.clone.layout.run(new)) / "outputs" / "stdout").read_bytes()
    assert again.keys.destroy(first.id) is True
    last = Project.open(repo.path, environ=environ)
    assert last.log.show(old).printed == "[locked]" and last.log.show(new).printed == f"new {MARKER}"
    assert first.wrapped not in "".join(path.read_text() for path in Path(project.clone.layout.keys).iterdir())
    assert problems(last) == [] and found_in(*places(last)) == []


def test_agents_of_your_own_and_recordings_have_the_same_keys(repo: GitRepo, tmp_path: Path) -> None:
    """One key to hand out, one to rotate, one to destroy; whichever of the two was used first."""
    identity = pyrage.x25519.Identity.generate()
    recipients, private = tmp_path / "recipients", tmp_path / "identity"
    recipients.write_text(f"{identity.to_public()}\n")
    private.write_text(f"{identity}\n")
    keys = {"HOLDFAST_ENCRYPTION_KEY": f"age:{recipients}", "HOLDFAST_ENCRYPTION_IDENTITY": str(private)}
    environ = {**os.environ, "HOLDFAST_ENCRYPTION_SCOPE": f"{SCOPE},cycles,directives,memories", **keys}
    project = Project.open(repo.path, environ=environ)
    run = project.log.run_command(["echo", MARKER]).run_id
    agent = project.agents.get("a", directives=[MARKER])
    with agent.cycle() as cycle:
        cycle.propose(thoughts=MARKER, tool=MARKER)
        cycle.result(output=MARKER)
    recorded = agent.finish(MARKER, task=MARKER)
    project.agents._opened.close()
    (key,) = project.keys.list()
    again = Project.open(repo.path, environ=environ)
    assert [one.id for one in again.agents.keys.list()] == [key.id]
    assert MARKER in str(again.log.show(str(recorded)).text)
    assert again.agents.keys.destroy(key.id)
    assert again.log.show(run).printed == "[locked]" and again.agents.find("a").identity.locked
    again.agents._opened.close()
    assert found_in(*places(project)) == []


def test_what_was_recorded_before_stays_readable_and_is_found(repo: GitRepo) -> None:
    """Switching it on must not hide what was never sealed; switching it off must not open what was."""
    before = Project.open(repo.path, environ=dict(os.environ)).log.run_command(["echo", "early"], prompt="early bird")
    project = opened(repo)
    during = project.log.run_command(["echo", MARKER], prompt=MARKER)
    after = Project.open(repo.path, environ=dict(os.environ)).log.run_command(["echo", "late"], prompt="late bird")
    project = opened(repo)
    assert [project.log.show(one.run_id).printed for one in (before, during, after)] == ["early", MARKER, "late"]
    assert project.recall("bird") and not project.recall(MARKER)
    assert problems(project) == [] and found_in(*places(project)) == []


@pytest.mark.parametrize("scope", [SCOPE, "", "events"])
def test_a_run_killed_in_the_middle_leaves_nothing_in_clear(repo: GitRepo, seed: int, scope: str) -> None:
    """The words are on disk from the first line that a command prints; a power cut must not find them there.

    Nor may the command that completes it write them down, because sealing was switched off since.
    """
    # Enough that it does not wait in memory for what a secret scanner must see as one.
    loop = f"for n in 1 2 3 4 5 6 7 8; do seq -f '{MARKER} %g' 3000; sleep 0.05; done; sleep 60"
    command = [sys.executable, "-m", "holdfast", "run", "--prompt", MARKER, "--task", MARKER, "--", "sh", "-c", loop]
    child = subprocess.Popen(
        command, cwd=repo.path, env=variables(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert child.stdout is not None
    for _ in range(1 + seed % 20_000):
        assert MARKER.encode() in child.stdout.readline()
    until = time.monotonic() + 20
    runs = repo.path / ".git" / "holdfast" / "runs"
    while not any(path.stat().st_size for path in runs.glob("*/outputs/stdout")) and time.monotonic() < until:
        time.sleep(0.01)
    os.killpg(child.pid, signal.SIGKILL)
    child.communicate()
    cache = Path(Project.look(repo.path).clone.layout.cache)
    assert found_in(repo.path / ".git", repo.path / ".holdfast", cache) == [], seed
    locked = opened(repo, "")
    assert any("cannot be completed now" in said for said in locked.clone.notes)
    project = opened(repo, scope=scope)
    (run,) = os.listdir(runs)
    shown = project.log.show(run)
    assert MARKER in str(shown.printed) and MARKER in str(shown.fields["prompt"]) and problems(project) == []
    assert found_in(*places(project)) == [], seed


def test_what_is_sealed_can_be_erased_and_carried_elsewhere(repo: GitRepo, tmp_path: Path) -> None:
    """Neither needs the key: a person who leaves may have taken it along."""
    project = opened(repo)
    gone, kept = (project.log.run_command(["echo", MARKER, word]).run_id for word in "ab")
    without = opened(repo, "")
    without.sync.erase(gone)
    assert not os.path.exists(project.clone.layout.run(gone)) and problems(opened(repo, "")) == []
    without.sync.export_bundle(str(tmp_path / "bundle"))
    shutil.rmtree(project.clone.layout.run(kept))
    opened(repo, "").sync.import_bundle(str(tmp_path / "bundle"))
    project = opened(repo)
    assert project.log.show(kept).printed == f"{MARKER} b" and problems(project) == []
    assert capsule.is_sealed(project.clone.layout.run(kept)) and not os.path.exists(project.clone.layout.run(gone))


def test_the_secret_scan_takes_sealed_text_for_no_secret(repo: GitRepo) -> None:
    """A scan that cries over every sealed line is soon not read."""
    project = opened(repo)
    for number in range(20):
        project.log.run_command(["sh", "-c", f"seq {number} {number + 500}"])
    assert project.health.scan().findings == ()


def test_commands_without_sealing_load_no_cipher(repo: GitRepo) -> None:
    """A tenth of a second for everybody, for what few use."""
    code = "import sys; from holdfast.__main__ import main\ntry: main()\nexcept SystemExit: pass\n"
    code += "print([name for name in sys.modules if name.startswith(('cryptography', 'pyrage', 'keyring'))])"
    for words in (["run", "--", "true"], ["log"], ["context"], ["doctor"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *words], cwd=repo.path, capture_output=True, check=True, text=True
        )
        assert done.stdout.splitlines()[-1] == "[]", words


def test_the_search_of_these_tests_finds_what_is_not_sealed(repo: GitRepo, tmp_path: Path) -> None:
    """Else they would all pass for nothing."""
    project = Project.open(repo.path, environ=dict(os.environ), person=True)
    work(project, repo, tmp_path)
    look_at_everything(project, repo)
    folders = {Path(path).relative_to(project.clone.private.private).parts[0] for path in found_in(places(project)[0])}
    assert {"runs", "bodies", "sessions", "candidates"} <= folders and found_in(places(project)[2])


def test_a_session_that_goes_on_is_noted_without_its_words(repo: GitRepo, tmp_path: Path) -> None:
    """While the agent works its turns come into the session; they must not lie there until the run is sealed."""
    project = opened(repo)
    file = rollout(tmp_path / "codex", repo.path).asks(f"Make {MARKER}.").runs(f"make {MARKER}").done(f"{MARKER}.")
    file.asks(f"And {MARKER} again.").done(f"{MARKER} again.")
    take_in(project.clone, dialect("codex"), str(file.path), ended=False)
    (session,) = session_files.all(project.clone.layout)
    assert len(session.turns) == 2 and found_in(*places(project)) == []
    take_in(project.clone, dialect("codex"), str(file.path), ended=True)
    assert found_in(*places(project)) == [] and problems(opened(repo)) == []


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_an_import_killed_at_any_call_leaves_nothing_in_clear(repo: GitRepo, tmp_path: Path, seed: int) -> None:
    """Each write may be the last; what it left is completed with the key, and said without."""
    file = rollout(tmp_path / "codex", repo.path).asks(f"Make {MARKER}.").runs(f"make {MARKER}").done(f"{MARKER}.")
    project = opened(repo)
    project.clone.line()
    store, clean = Path(project.clone.private.private), tmp_path / "clean"
    shutil.copytree(store, clean)

    def take() -> None:
        take_in(opened(repo).clone, dialect("codex"), str(file.path), ended=True)

    fatal = 1 + seed % 9
    while not in_a_process_that_dies(fatal, take):
        assert found_in(*places(project)) == [], (seed, fatal)
        opened(repo, "")
        take()
        (run,) = os.listdir(project.clone.layout.runs)
        assert opened(repo).log.show(f"{run}#1").text == f"{MARKER}." and problems(opened(repo)) == [], (seed, fatal)
        assert found_in(*places(project)) == [], (seed, fatal)
        shutil.rmtree(store)
        shutil.copytree(clean, store)
        fatal += 9
    assert fatal > 20


def test_the_verifier_needs_no_key(repo: GitRepo, tmp_path: Path) -> None:
    """It is the proof for people who trust neither us nor our code."""
    work(opened(repo), repo, tmp_path)
    script = Path(__file__).parents[1] / "verifier" / "verify.py"
    command = [sys.executable, str(script), str(repo.path), str(repo.path / ".git" / "holdfast")]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert opened(repo, "").health.check().problems == ()


def test_a_key_that_a_command_prints_is_not_recorded(repo: GitRepo) -> None:
    """`env` in a build log is common, and what is recorded beside sealed text must not open it."""
    project = opened(repo, scope="directives")
    run = project.log.run_command(
        ["sh", "-c", "env | grep SEAL"], task=secret(), environ=variables(scope="directives")
    ).run_id
    shown = project.log.show(run).printed or ""
    assert "SEAL=[redacted:" in shown
    kept = [path for folder in places(project) for path in Path(folder).rglob("*") if path.is_file()]
    assert [path for path in kept if secret().encode() in path.read_bytes()] == []


def test_keys_by_the_command_line_are_made_rotated_and_destroyed_everywhere(
    repo: GitRepo, tmp_path: Path, cli: Cli
) -> None:
    """Who has to delete something must not have to write a program, and no second place may keep the key."""
    identity = pyrage.x25519.Identity.generate()
    (tmp_path / "recipients").write_text(f"{identity.to_public()}\n")
    (tmp_path / "identity").write_text(f"{identity}\n")
    given = {
        "HOLDFAST_ENCRYPTION_KEY": f"age:{tmp_path}/recipients",
        "HOLDFAST_ENCRYPTION_SCOPE": f"{SCOPE},directives",
    }
    given["HOLDFAST_ENCRYPTION_IDENTITY"] = str(tmp_path / "identity")
    environ = {**os.environ, **given}
    project = Project.open(repo.path, environ=environ)
    run = project.log.run_command(["echo", MARKER]).run_id
    project.agents.get("a", directives=[MARKER])
    project.agents._opened.close()
    (first,) = project.keys.list()
    words = first.wrapped.splitlines()[4].encode()
    assert f"{first.id}  seals and opens" in cli("keys", **given).out
    assert "is used from now on" in cli("keys", "rotate", **given).out
    asked = cli("keys", "destroy", first.id, ok=False, **given)
    assert asked.code != 0 and "never be read again" in asked.err
    assert found_words(project, words), "it is there, and this search finds it"
    cli("keys", "destroy", first.id, "--yes", **given)
    assert found_words(project, words) == []
    assert "[locked]" in cli("show", run, **given).out
    again = Project.open(repo.path, environ=environ)
    assert again.agents.find("a").identity.locked
    assert sorted(one.use for one in again.keys.described()) == ["destroyed", "seals and opens"]
    again.agents._opened.close()


def found_words(project: Project, words: bytes) -> list[Path]:
    """The files of the private store that hold these bytes, also as JSON writes them."""
    files = (path for path in Path(project.clone.private.private).rglob("*") if path.is_file())
    return [path for path in files if words in path.read_bytes()]
