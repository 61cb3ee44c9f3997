"""What import proposes rests on the lines that were written with it, if they stand; on no others."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from holdfast.curation import propose
from holdfast.curation.decisions import MemoryStanding
from holdfast.errors import Contradicts
from holdfast.model.memory import Memory
from holdfast.model.transcript import line_hash
from holdfast.project import Project
from holdfast.project.surviving_text import WrittenFiles
from tests.capture.rollouts import rollout
from tests.conftest import GitRepo, init, make_repo

CHOICE = "We decided to retry carrier calls three times, because the carrier drops every tenth."
NAMED = "We decided to keep the limits in src/carrier.py, because two callers need them."
LINES = ["RETRIES = 3", "def call_carrier(parcel):", "    return attempt(parcel, RETRIES)"]
AROUND = "import os\n\n{}\n\nprint(os.name)\n"


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = make_repo(tmp_path / "repo")
    init(made.path, commit=True)
    return made


def proposed(repo: GitRepo, home: Path, said: str = CHOICE, wrote: list[str] = LINES) -> Memory:
    """What comes of a session in which a file was written and something said about it."""
    rollout(home, repo.path).asks("Make it sturdy.").patches("src/carrier.py", wrote).done(said)
    project = Project.open(repo.path, person=True)
    project.transcripts.import_agent("codex", str(home))
    (waiting,) = project.memory.candidates()
    return waiting.memory


def spans(memory: Memory) -> list[str]:
    return [text.partition("@")[0] for text in memory.evidence if not text.startswith("run:")]


def test_lines_that_stand_are_cited_and_the_memory_does_not_outlive_them(repo: GitRepo, tmp_path: Path) -> None:
    """A run holds for ever: what rests on it alone is told when nothing of it is true any more."""
    repo.commit("src/carrier.py", AROUND.format("\n".join(LINES)), "Retry")
    memory = proposed(repo, tmp_path / "codex")
    assert spans(memory) == ["lines:src/carrier.py:3-5"] and memory.evidence[0].startswith("run:")
    project = Project.open(repo.path, person=True)
    project.memory.accept(memory.id)
    repo.commit("src/carrier.py", AROUND.format("RETRIES = 9"), "Another way")
    assert [one.status for one in Project.open(repo.path).memory.knowledge().standings] == ["stale"]


QUEUE = "We decided that print jobs must wait in the depot's queue, because the carrier scans each of them."
NO_QUEUE = "We decided that print jobs must not wait in the depot's queue, because the carrier is slow."


def imported_one(repo: GitRepo, home: Path, path: str, said: str) -> Memory:
    """The one candidate of a session that wrote the file and then said this."""
    known = {one.id for one in Project.open(repo.path).memory.candidates()}
    rollout(home, repo.path).asks("Go on.").patches(path, [f"# {said}", "JOBS = 1"]).done(said)
    project = Project.open(repo.path, person=True)
    project.transcripts.import_agent("codex", str(home))
    (new,) = [one.memory for one in project.memory.candidates() if one.id not in known]
    return new


def test_a_find_applies_to_the_files_it_rests_on_and_is_compared_everywhere(repo: GitRepo, tmp_path: Path) -> None:
    """Whoever edits the file is told it; a guessed place must not hide what contradicts it."""
    repo.commit("src/print.py", f"# {QUEUE}\nJOBS = 1\n", "Print")
    repo.commit("lib/jobs.py", f"# {NO_QUEUE}\nJOBS = 1\n", "Jobs")
    one = imported_one(repo, tmp_path / "one", "src/print.py", QUEUE)
    other = imported_one(repo, tmp_path / "other", "lib/jobs.py", NO_QUEUE)
    assert (one.applies_to, other.applies_to) == (("src/print.py",), ("lib/jobs.py",))
    project = Project.open(repo.path, person=True)
    project.memory.accept(one.id)
    with pytest.raises(Contradicts, match=one.id):
        project.memory.accept(other.id)


def test_places_that_people_name_keep_memories_apart(repo: GitRepo, tmp_path: Path) -> None:
    """Two rules for two files are no contradiction."""
    repo.commit("src/print.py", "JOBS = 1\n", "Print")
    repo.commit("lib/jobs.py", "JOBS = 1\n", "Jobs")
    memory = Project.open(repo.path, person=True).memory
    rule = "Print jobs must wait in the depot's queue."
    memory.remember(rule, kind="decision", evidence=["src/print.py"], applies_to=["src/print.py"], accept=True)
    made = memory.remember(
        rule.replace("must", "must not"), kind="decision", evidence=["lib/jobs.py"], applies_to=["lib/jobs.py"]
    )
    assert memory.accept(made.id).status == "accepted"


def test_a_file_that_is_named_needs_no_word_in_common(repo: GitRepo, tmp_path: Path) -> None:
    """Code seldom says in prose what was decided about it."""
    repo.commit("src/carrier.py", AROUND.format("A = 1\nBBB = 2"), "Limits")
    memory = proposed(repo, tmp_path / "codex", NAMED, ["AAA = 1", "BBB = 2"])
    assert spans(memory) == ["file:src/carrier.py"], "a line of it is gone"
    assert memory.applies_to == ("src/carrier.py",)
    repo.commit("src/carrier.py", AROUND.format("AAA = 1\nBBB = 2"), "Limits")
    other = proposed(repo, tmp_path / "again", NAMED, ["AAA = 1", "BBB = 2"])
    assert spans(other)[-1] == "lines:src/carrier.py:3-4" and other.id == memory.id


@pytest.mark.parametrize(
    ("now", "said", "cited"),
    [
        ("\n".join(LINES), "We decided to print labels with Zebra, because the old one jams.", []),  # not about it
        ("\n".join([*LINES, "other = 1", *LINES]), CHOICE, ["file:src/carrier.py"]),  # nobody can tell which
    ],
)
def test_where_there_is_doubt_no_lines_are_cited(
    repo: GitRepo, tmp_path: Path, now: str, said: str, cited: list[str]
) -> None:
    """A wrong citation makes a memory look founded, and stale for no reason."""
    repo.commit("src/carrier.py", AROUND.format(now), "Retry")
    assert spans(proposed(repo, tmp_path / "codex", said)) == cited


def test_a_symbol_is_cited_where_its_lines_changed(repo: GitRepo, tmp_path: Path) -> None:
    """What was decided about a function holds on when a line of it is written anew."""
    repo.commit("src/carrier.py", AROUND.format("\n".join([*LINES[:2], "    return attempt(parcel, 3)"])), "Retry")
    assert spans(proposed(repo, tmp_path / "codex")) == ["symbol:src/carrier.py#call_carrier"]


def test_a_file_is_cited_where_its_symbols_are_gone(repo: GitRepo, tmp_path: Path) -> None:
    """A memory that cites nothing never goes stale."""
    repo.commit("src/carrier.py", "RETRIES = 3  # calls of the carrier\nprint(RETRIES)\n", "Retry")
    assert spans(proposed(repo, tmp_path / "codex")) == ["file:src/carrier.py"]


def test_a_symbol_that_is_named_is_cited(repo: GitRepo, tmp_path: Path) -> None:
    """Whoever names a function says what the memory is about."""
    repo.commit("src/carrier.py", AROUND.format("def call_carrier(parcel):\n    return 3"), "Other lines")
    said = "We decided that `call_carrier` gives up after three times, because the carrier drops every tenth."
    assert spans(proposed(repo, tmp_path / "codex", said)) == ["symbol:src/carrier.py#call_carrier"]


def test_a_file_that_git_does_not_track_is_not_cited(repo: GitRepo, tmp_path: Path) -> None:
    """Nobody else could check it; and the candidate is not lost for it."""
    repo.write("src/carrier.py", "\n".join(LINES))
    assert spans(proposed(repo, tmp_path / "codex")) == []


def test_of_a_long_file_only_the_part_that_is_meant_is_cited(repo: GitRepo, tmp_path: Path) -> None:
    """Evidence of a hundred lines is stale after the next edit, whatever it touched."""
    filler = [f"value_{n} = {n}" for n in range(60)]
    repo.commit("src/carrier.py", "\n".join([*filler, *LINES]) + "\n", "Retry")
    memory = proposed(repo, tmp_path / "codex", wrote=[*filler, *LINES])
    assert spans(memory) == ["lines:src/carrier.py:61-63"]


def test_evidence_holds_only_if_every_line_stands(repo: GitRepo) -> None:
    """One of two lines is another program."""
    repo.write("src/carrier.py", "\n".join(LINES[:2]))
    files, wrote = WrittenFiles(str(repo.path)), frozenset(map(line_hash, LINES))
    assert files.rests("src/carrier.py", wrote).state == "changed"
    assert files.rests("src/carrier.py", frozenset(map(line_hash, LINES[:2]))).state == "holds"
    assert files.rests("src/gone.py", wrote).state == "gone"


GONE = "We decided to wait in `backoff_carrier()` between calls, because the carrier drops every tenth."


def test_what_names_only_code_that_is_gone_is_not_proposed(repo: GitRepo, tmp_path: Path) -> None:
    """An old session tells of code that nobody finds any more; of another repository's files nobody can tell."""
    repo.commit("src/carrier.py", AROUND.format("\n".join(LINES)), "Retry")
    with pytest.raises(ValueError, match="not enough values"):
        proposed(repo, tmp_path / "codex", GONE, ["def backoff_carrier(): ...", *LINES])
    repo.commit("src/carrier.py", AROUND.format("def backoff_carrier(): ..."), "Wait")
    assert proposed(repo, tmp_path / "again", GONE).statement.startswith("We decided to wait")


@pytest.mark.parametrize("named", ["CARRIER_TOKEN", "SKILLS.md"])
def test_what_was_never_here_is_not_gone(repo: GitRepo, tmp_path: Path, named: str) -> None:
    """A variable of another system, or a file that nothing mentions: the statement holds as it did."""
    repo.commit("src/carrier.py", AROUND.format("\n".join(LINES)), "Retry")
    repo.commit("carrier/SKILLS.md", "How to ship.", "Skills")
    said = f"We decided to read `{named}` first, because every carrier has one of its own."
    assert proposed(repo, tmp_path / "codex", said, [*LINES, f"# {named}"] if "." in named else LINES)


def test_what_is_not_checked_out_is_not_gone(repo: GitRepo, tmp_path: Path) -> None:
    """HEAD has it, though a sparse checkout does not show it."""
    repo.commit("src/carrier.py", AROUND.format("\n".join(LINES)), "Retry")
    repo.commit("lib/waits.py", "def backoff_carrier(): ...\n", "Wait")
    repo.git("sparse-checkout", "set", "src")
    assert proposed(repo, tmp_path / "codex", GONE, ["def backoff_carrier(): ...", *LINES])


def test_a_comment_that_did_not_last_is_not_proposed(repo: GitRepo, tmp_path: Path) -> None:
    """The session, or somebody since, wrote another one."""
    said = "# Uses the printer's own queue instead of ours, because the carrier never scans twice."
    repo.commit("src/labels.py", "# Uses our queue.\ndef print_labels(parcels):\n    return 1\n", "Labels")
    code = [said, "def print_labels(parcels):", "    return 1"]
    rollout(tmp_path / "codex", repo.path).asks("Print them.").patches("src/labels.py", code).done("Done.")
    project = Project.open(repo.path, person=True)
    project.transcripts.import_agent("codex", str(tmp_path / "codex"))
    assert project.memory.candidates() == []


def test_nothing_is_known_to_be_gone_where_none_of_the_files_is(repo: GitRepo, tmp_path: Path) -> None:
    """A session of elsewhere, imported by name, is proposed as it is."""
    repo.commit("other.py", "pass", "Other")
    assert proposed(repo, tmp_path / "codex", GONE)


def test_what_was_only_read_is_cited_where_nothing_was_written(repo: GitRepo, tmp_path: Path) -> None:
    """Whoever asks how something works gets an answer about code, and it must not outlive that code."""
    repo.commit("src/carrier.py", "def call_carrier(parcel):\n    return attempt(parcel)\n", "Carrier")
    repo.commit("src/other.py", "def other(parcel):\n    return parcel\n", "Other")
    said = "We decided that `call_carrier` never retries, because the carrier counts each call."
    rollout(tmp_path / "codex", repo.path).asks("How?").runs("cat src/other.py src/carrier.py").done(said)
    project = Project.open(repo.path, person=True)
    project.transcripts.import_agent("codex", str(tmp_path / "codex"))
    (waiting,) = project.memory.candidates()
    assert spans(waiting.memory) == ["symbol:src/carrier.py#call_carrier"]


def test_a_comment_cites_the_line_where_it_stands(repo: GitRepo, tmp_path: Path) -> None:
    """It was written with other lines, which changed since; the comment itself still says why."""
    said = "# Uses the printer's own queue instead of ours, because the carrier never scans twice."
    repo.commit("src/labels.py", f"import os\n\n{said}\ndef print_labels(parcels):\n    return os.name\n", "Labels")
    rollout(tmp_path / "codex", repo.path).asks("Print them.").patches(
        "src/labels.py", [said, "def print_labels(parcels):", "    return 1"]
    ).done("Labels are printed.")
    project = Project.open(repo.path, person=True)
    project.transcripts.import_agent("codex", str(tmp_path / "codex"))
    (waiting,) = project.memory.candidates()
    assert waiting.memory.statement.startswith("`print_labels` uses the printer's own queue")
    assert spans(waiting.memory)[0] == "lines:src/labels.py:3-3"


def test_what_was_read_is_cited_if_the_written_files_do_not_name_it(repo: GitRepo, tmp_path: Path) -> None:
    """An edit of one file says nothing about the other one, which the statement is about."""
    repo.commit("src/carrier.py", AROUND.format("\n".join(LINES)), "Retry")
    repo.commit("lib/other.py", "def weigh_parcel(parcel):\n    return parcel\n", "Other")
    said = "We decided that `weigh_parcel` never rounds, because the carrier counts each gram."
    rollout(tmp_path / "codex", repo.path).asks("How?").runs("cat lib/other.py").patches("src/carrier.py", LINES).done(
        said
    )
    project = Project.open(repo.path, person=True)
    project.transcripts.import_agent("codex", str(tmp_path / "codex"))
    (waiting,) = project.memory.candidates()
    assert spans(waiting.memory) == ["symbol:lib/other.py#weigh_parcel"]


INSTALLER = "We decided to use ShipTool's own install script, because the retry action wraps a command."


def test_a_file_that_only_mentions_a_name_is_no_evidence(repo: GitRepo, tmp_path: Path) -> None:
    """It looks verified, and goes stale or holds for reasons that have nothing to do with the statement."""
    repo.commit("lib/other.py", '"""Reads words as in "use ShipTool here"."""\n\nASKED = 1\n', "Other")
    repo.commit("release.yml", "jobs:\n  release: 1\n", "Release")
    rollout(tmp_path / "codex", repo.path).asks("Go.").patches("release.yml", ["  release: 2"]).done(INSTALLER)
    project = Project.open(repo.path, person=True)
    project.transcripts.import_agent("codex", str(tmp_path / "codex"))
    (waiting,) = project.memory.candidates()
    assert all(text.startswith(("run:", "file:release.yml")) for text in waiting.memory.evidence)


def test_where_a_name_is_defined_is_evidence_although_nobody_opened_it(repo: GitRepo, tmp_path: Path) -> None:
    """A statement about a function must not outlive it; what only calls it is another thing."""
    repo.commit("lib/tool.py", "class ShipTool:\n    pass\n", "Tool")
    repo.commit("lib/other.py", "from tool import ShipTool\n", "Other")
    rollout(tmp_path / "codex", repo.path).asks("Go.").done(INSTALLER)
    project = Project.open(repo.path, person=True)
    project.transcripts.import_agent("codex", str(tmp_path / "codex"))
    (waiting,) = project.memory.candidates()
    assert spans(waiting.memory) == ["symbol:lib/tool.py#ShipTool"]


def test_a_file_of_the_same_name_elsewhere_was_not_read(repo: GitRepo, tmp_path: Path) -> None:
    """Every project has a README, and every folder may have one."""
    repo.commit("README.md", "ShipTool builds it.\n", "Readme")
    repo.commit("docs/README.md", "ShipTool is explained here.\n", "Docs")
    files, folder = WrittenFiles(str(repo.path)), tmp_path / "codex"
    rollout(folder, repo.path).asks("Go.").runs("cat docs/README.md").done(INSTALLER)
    project = Project.open(repo.path, person=True)
    project.transcripts.import_agent("codex", str(folder))
    (waiting,) = project.memory.candidates()
    run = project.clone.layout.run((waiting.memory.source or "").removeprefix("run:"))
    assert files.files_read(run, 1) == ["docs/README.md"]


FAULT = "`call_carrier` sends every parcel without a timeout, so the worker hangs when the carrier is slow."
BROKEN = "def call_carrier(parcel):\n    return post(parcel)\n"


@pytest.mark.parametrize(("mended", "is_proposed"), [(False, True), (True, False)])
def test_a_fault_whose_function_was_changed_since_is_no_fact(
    repo: GitRepo, tmp_path: Path, mended: bool, is_proposed: bool
) -> None:
    """Whoever mended it, and whenever: the fault is gone."""
    repo.write("src/carrier.py", BROKEN)
    repo.git("add", "--", "src/carrier.py")
    repo.git("commit", "-q", "-m", "Call", "--date=2020-01-01T00:00:00+00:00")
    told = rollout(tmp_path / "codex", repo.path).asks("Write that into the notes.")
    told.patches("NOTES.md", ["The carrier is slow on Mondays."]).done("Written.")
    told.asks("Why does the worker hang?").done(FAULT)
    if mended:
        repo.commit("src/carrier.py", BROKEN.replace("post(parcel)", "post(parcel, timeout=9)"), "Give up after 9 s")
    project = Project.open(repo.path, person=True)
    project.transcripts.import_agent("codex", str(tmp_path / "codex"))
    found = [one.memory.statement for one in project.memory.candidates()]
    assert any("worker hangs" in one for one in found) is is_proposed, found


COUNTS = "`count_parcels` counts the parcels of the vans as well as those of the depot, since both lists are joined."
COUNT = "def count_parcels(depot, vans):\n    return len(depot) + len(vans)\n"


@pytest.mark.parametrize(("later", "is_proposed"), [(COUNT, True), (COUNT.replace(" + len(vans)", ""), False)])
def test_an_agents_fact_about_code_that_changed_since_is_not_proposed(
    repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, later: str, is_proposed: bool
) -> None:
    """The sentence has no word for a fault, but was one: another session left the vans out."""
    with monkeypatch.context() as then:
        then.setenv("GIT_COMMITTER_DATE", "2020-01-01T00:00:00+00:00")
        repo.commit("src/counting.py", COUNT, "Count")
    rollout(tmp_path / "codex", repo.path).asks("What is counted?").runs("cat src/counting.py").done(COUNTS)
    repo.commit("src/counting.py", f"import os\n\n\n{later}", "Later work")
    project = Project.open(repo.path, person=True)
    project.transcripts.import_agent("codex", str(tmp_path / "codex"))
    found = [one.memory.statement for one in project.memory.candidates()]
    assert any("count_parcels" in one for one in found) is is_proposed, found


UPLOAD = "def upload(file):\n    for part in chunks(file, 64 * 1024):\n        send(part)\n"
BIGGER = UPLOAD.replace("64 * 1024", "1024 * 1024")
SIZES = "We decided that `upload` sends parts of 64 KiB, because the proxy drops larger requests."


def imported_later(
    repo: GitRepo, home: Path, monkeypatch: pytest.MonkeyPatch, *later: tuple[str, str], turns: int = 1
) -> MemoryStanding:
    """What comes of a session that committed `upload`, if it is imported after these further commits."""
    began = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=10)
    session = rollout(home, repo.path, at=began, git={"branch": "main"}).asks("Send it in parts.")
    session.patches("src/sending.py", UPLOAD.splitlines())
    if turns == 2:
        session.done(SIZES).asks("Commit it.")
    monkeypatch.setenv("GIT_COMMITTER_DATE", f"{int(session.at.timestamp()) + 1} +0000")
    oid = repo.commit("src/sending.py", f"import os\n\n\n{UPLOAD}", "Send in parts")
    session.runs("git commit -am 'Send in parts'", f"[main {oid[:9]}] Send in parts\n")
    session.done(SIZES if turns == 1 else "It is committed.")
    monkeypatch.setenv("GIT_COMMITTER_DATE", f"{int(session.at.timestamp()) + 300} +0000")
    for path, text in later:
        if path != "src/sending.py":
            repo.path.joinpath(path).parent.mkdir(parents=True, exist_ok=True)
            repo.git("mv", "src/sending.py", path)
            repo.git("commit", "-qm", "Move it")
        repo.commit(path, text, "Later work")
    project = Project.open(repo.path, person=True)
    project.transcripts.import_agent("codex", str(home))
    (waiting,) = project.memory.candidates()
    return waiting


def code_states(waiting: MemoryStanding) -> dict[str, str]:
    held = {text.partition("@")[0]: state for text, state in waiting.receipts}
    return {text: state for text, state in held.items() if not text.startswith(("run:", "commit:"))}


@pytest.mark.parametrize("turns", [1, 2])
def test_code_that_changed_before_the_import_is_seen_to_have_changed(
    repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turns: int
) -> None:
    """A candidate that says 64 KiB above code that says 1 MiB must not look founded."""
    later = ("src/sending.py", f"import os\n\n\n{BIGGER}")
    waiting = imported_later(repo, tmp_path / "codex", monkeypatch, later, turns=turns)
    assert code_states(waiting) == {"symbol:src/sending.py#upload": "changed"}
    project = Project.open(repo.path, person=True)
    queue = project.memory.queue()
    assert any("1024 * 1024" in row for row in queue.look(queue.items[0]).diff)
    project.memory.accept(waiting.id)
    assert [one.status for one in Project.open(repo.path).memory.knowledge().standings] == ["accepted"]


@pytest.mark.parametrize(
    "later",
    [
        [],
        [("src/sending.py", f"import os\nimport re\n\n\n# Sends.\n{UPLOAD}\n\ndef other():\n    return os\n")],
        [("lib/parts.py", f"import os\n\n\n{UPLOAD}\n\ndef other():\n    return os\n")],
    ],
)
def test_code_that_stands_or_moved_before_the_import_holds(
    repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, later: list[tuple[str, str]]
) -> None:
    """What a session said about code that nobody touched is as good as on its day."""
    waiting = imported_later(repo, tmp_path / "codex", monkeypatch, *later)
    assert code_states(waiting)
    assert set(code_states(waiting).values()) == {"holds"}


def test_a_file_that_was_renamed_and_changed_is_seen_to_have_changed(
    repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under its new name it would look as if it had always been so."""
    later = ("lib/parts.py", f"import os\n\n\n{BIGGER}")
    waiting = imported_later(repo, tmp_path / "codex", monkeypatch, later)
    assert code_states(waiting) == {"symbol:src/sending.py#upload": "changed"}


def test_what_was_only_read_is_compared_with_the_commit_it_was_read_at(repo: GitRepo, tmp_path: Path) -> None:
    """A session that asks how code works makes no commit, and its answer grows old all the same."""
    oid = repo.commit("src/sending.py", UPLOAD, "Send in parts")
    when = datetime.now(UTC) + timedelta(minutes=1)
    git = {"commit_hash": oid, "branch": "main"}
    rollout(tmp_path / "codex", repo.path, at=when, git=git).asks("How?").runs("cat src/sending.py").done(SIZES)
    repo.commit("src/sending.py", BIGGER, "Larger parts")
    project = Project.open(repo.path, person=True)
    project.transcripts.import_agent("codex", str(tmp_path / "codex"))
    (waiting,) = project.memory.candidates()
    assert code_states(waiting) == {"symbol:src/sending.py#upload": "changed"}


def test_what_rests_on_changed_code_stands_below_what_rests_on_code_as_it_was(
    repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has five minutes for the queue begins with what is most likely true."""
    changed = imported_later(repo, tmp_path / "codex", monkeypatch, ("src/sending.py", f"import os\n\n\n{BIGGER}"))
    project = Project.open(repo.path, person=True)
    sure = changed.memory.confidence or 0
    statement = "The tests need a real broker on port 9092."
    other = propose.propose(project.clone, statement=statement, confidence=sure / 2)
    assert [item.id for item in project.memory.queue().items] == [other.id, changed.id]
