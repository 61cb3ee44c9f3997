"""Law 15: hostile input ends in one clear sentence, a next step and its own exit code; nothing is lost."""

import json
import os
from pathlib import Path

import pytest

from holdfast import errors
from holdfast.errors import HoldfastError
from holdfast.project import Project
from tests.conftest import init


@pytest.fixture
def project(repo, inside) -> Project:
    init(repo.path, commit=True)
    project = Project.open(repo.path)
    project.write_log({"run_id": "before", "outputs": {"summary": "what was there before"}})
    return project


def assert_refused(answer, error: type[HoldfastError]) -> None:
    """One sentence, one hint, the class's own exit code, no traceback."""
    assert answer.code == error.code, answer.err
    said = answer.err.strip().splitlines()
    assert [line.partition(":")[0] for line in said if not line.startswith("deleted")] == ["error", "hint"], said
    assert "Traceback" not in answer.err
    assert "bug" not in answer.err


def assert_nothing_lost(repo) -> None:
    project = Project.open(repo.path)
    assert "before" in {event["run_id"] for event in project.log.events()}


def only_fact(repo) -> Path:
    return next(Path(repo.path, ".holdfast/memory/facts").glob("*.md"))


def test_every_error_has_an_exit_code_of_its_own():
    """A script tells one failure from another by nothing else."""
    classes = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, HoldfastError)]
    codes = [c.code for c in classes]
    assert len(set(codes)) == len(codes)
    assert not set(codes) & {0, 1, 2, 125, 126, 127, 130, 141}


def test_a_statement_of_100_megabytes_is_refused(project, repo, cli):
    """An agent pastes a log; the memory must neither hang nor swallow it."""
    assert_refused(cli("remember", "-", data=b"x" * 100_000_000, ok=False), errors.TooLarge)
    assert_nothing_lost(repo)


def test_a_100_megabyte_event_is_refused(project, repo):
    """The same through the Python door."""
    with pytest.raises(errors.TooLarge):
        project.write_log({"outputs": {"summary": "x" * 100_000_000}})
    assert_nothing_lost(repo)


def test_a_100_megabyte_line_in_a_spool_hides_nothing(project, repo, cli):
    """A foreign program wrote into our folder; what is before and after it must still be read."""
    spool = next(Path(project.clone.layout.spool).rglob("*.jsonl"))
    with spool.open("ab") as file:
        file.write(b"y" * 100_000_000 + b"\n")
    Project.open(repo.path).write_log({"run_id": "after"})

    assert {"before", "after"} <= {event["run_id"] for event in Project.open(repo.path).log.events()}


@pytest.mark.parametrize("data", [b"\xff\xfe not text", b"caf\xe9"])
def test_invalid_utf8_is_refused(project, repo, cli, data):
    """Bytes that are no text would come back as something else."""
    assert_refused(cli("remember", "-", data=data, ok=False), errors.BadInput)
    assert_nothing_lost(repo)


def test_a_nul_is_refused(project, repo, cli):
    """A NUL ends a string in half the programs that would read it."""
    assert_refused(cli("remember", "-", data=b"before\0after", ok=False), errors.BadInput)
    assert_nothing_lost(repo)


def test_an_unknown_field_is_refused(project):
    """A misspelt field would be lost without a word."""
    with pytest.raises(errors.BadInput, match="sumary"):
        project.write_log({"sumary": "x"})


def test_a_symlink_out_of_the_store_is_not_followed(project, repo, cli, tmp_path):
    """A pull request could point an entry at the user's keys."""
    (tmp_path / "outside").write_text("-----secret-----")
    folder = Path(repo.path, ".holdfast/memory/facts")
    folder.mkdir(parents=True)
    (folder / "planted-FCT-link.md").symlink_to(tmp_path / "outside")

    answer = cli("facts", ok=False)

    assert "secret" not in answer.out + answer.err
    assert_nothing_lost(repo)
    answer = cli("doctor", ok=False)
    assert "planted-FCT-link.md" in answer.out + answer.err


def test_a_corrupt_segment_is_named_and_the_rest_is_read(project, repo, cli):
    """Damage to one file must not take the others with it, and must not be silent."""
    project.sync.publish()
    segment = next(Path(repo.path, ".holdfast/log").rglob("*.jsonl"))
    segment.write_bytes(segment.read_bytes().replace(b'"kind":"run"', b'"kind":"ran"'))
    repo.git("commit", "-qam", "tampered")
    Project.open(repo.path).write_log({"run_id": "later"})

    answer = cli("doctor", ok=False)

    assert answer.code == 1
    assert segment.name in answer.out
    assert "later" in {event["run_id"] for event in Project.open(repo.path).log.events()}


def test_a_future_format_is_left_untouched_and_said(project, repo, cli):
    """An older Holdfast must not drop what a newer one wrote."""
    project.sync.publish()
    folder = Path(repo.path, ".holdfast/log/2031/01/01")
    folder.mkdir(parents=True)
    data = b'{"holdfast":"segment","v":9,"line":"x","count":1,"first_ts":"2031-01-01T00:00:00.000000Z"}\n{}\n'
    import hashlib

    name = folder / f"{hashlib.sha256(data).hexdigest()[:32]}.jsonl"
    name.write_bytes(data)
    repo.git("add", "-f", ".holdfast/log")
    repo.git("commit", "-qm", "from the future")

    answer = cli("doctor", ok=False)

    assert "newer Holdfast" in answer.out
    assert name.read_bytes() == data
    assert_nothing_lost(repo)


def test_an_id_that_fits_two_things_is_refused(project, repo, cli):
    """Guessing would accept the wrong one."""
    project.memory.remember("One thing", id="FCT-same-1", evidence=["README"])
    project.memory.remember("Another thing", id="FCT-same-2", evidence=["README"])

    assert_refused(cli("review", "accept", "same", ok=False), errors.Ambiguous)
    assert_refused(cli("show", "FCT-same", ok=False), errors.Ambiguous)
    assert_refused(cli("show", "no-such-thing", ok=False), errors.NotFound)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace("---\n", "", 1),
        lambda text: text.replace("confidence:", "confidence: [\n"),
        lambda text: "<<<<<<< ours\n" + text + "=======\n" + text + ">>>>>>> theirs\n",
        lambda text: text.replace("type: fact", "type: rumour"),
        lambda text: text.replace("id: ", "id: &a "),
    ],
    ids=["no frontmatter", "broken yaml", "conflict markers", "unknown type", "anchor"],
)
def test_an_entry_broken_by_hand_is_left_out_and_named(project, repo, cli, spoil):
    """One bad file must not silence the others, and nobody's text is thrown away."""
    project.memory.remember("The good one stays", evidence=["README"], accept=True)
    project.memory.remember("The broken one waits", evidence=["README"], accept=True)
    project.sync.publish()
    broken = next(Path(repo.path, ".holdfast/memory/facts").glob("the-broken*"))
    text = spoil(broken.read_text())
    broken.write_text(text)

    answer = cli("facts", ok=False)

    assert "The good one stays" in answer.out
    assert broken.name in answer.out + answer.err
    assert broken.read_text() == text


def test_damaged_records_of_the_store_are_named(project, repo, cli):
    """A half-written file of another program must not end in a traceback, and doctor must still run."""
    folder = Path(project.clone.layout.pending)
    (folder / "20260101T000000Z-broken.json").write_text('{"path": ')

    assert "20260101T000000Z-broken.json" in cli("status").err
    answer = cli("doctor", ok=False)
    assert answer.code == 1
    assert "20260101T000000Z-broken.json" in answer.out


def test_a_full_disk_is_said_and_nothing_is_half_stored(project, repo, cli):
    """The one moment when a false acknowledgement hurts most."""
    from holdfast.store import fsio

    class Full(fsio.Syscalls):
        def write(self, fd, data):  # noqa: ARG002
            raise OSError(28, "No space left on device")

    kept = fsio.ops
    fsio.ops = Full()
    try:
        assert_refused(cli("remember", "No room for this", "--evidence", "README", ok=False), errors.NotStored)
    finally:
        fsio.ops = kept
    assert Project.open(repo.path).memory.candidates() == []
    assert_nothing_lost(repo)


def test_hidden_characters_never_reach_the_terminal_unmarked(project, cli):
    """Law 12: a stored escape sequence could repaint what a reviewer sees."""
    project.write_log({"run_id": "sly", "outputs": {"summary": "ok \x1b[2Jgone \u202etxet"}})

    shown = cli("show", "sly").out + cli("log").out + cli("recall", "gone").out

    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_json_answers_are_json_even_when_text_is_odd(project, cli):
    """Tools read this; an odd character must not break them."""
    project.write_log({"run_id": "odd", "outputs": {"summary": 'quote " back \\ line\n\u2028 \udc80'}})

    for line in cli("log", "--json").out.splitlines():
        assert json.loads(line)["v"] == 1


def test_a_broken_settings_file_is_one_sentence(project, repo, cli):
    """A typo in the settings must say where it is."""
    Path(repo.path, ".holdfast/holdfast.toml").write_text("review = \n")
    assert "holdfast.toml is not valid TOML" in cli("status").err
    Path(repo.path, ".git/holdfast/settings.toml").write_text("review = \n")
    assert_refused(cli("status", ok=False), errors.BadSettings)
    assert os.path.isdir(project.clone.private.private)


@pytest.mark.parametrize(
    "event", [{"task": 5}, {"outputs": "text"}, {"tool_calls": {"a": 1}}, {"kind": 3}, {"layer": "no layer"}]
)
def test_an_event_of_the_wrong_shape_is_refused(project, event):
    """A field of another kind would be read by nobody."""
    before = len(project.log.events())
    with pytest.raises(errors.BadInput):
        project.write_log(event)
    assert len(project.log.events()) == before


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--supersedes", "FCT-nope"), errors.NotFound),
        (("--expires", "2020-01-01"), errors.BadInput),
        (("--expires", "soon"), errors.BadInput),
        (("--evidence", "no-such-file"), errors.NotFound),
        (("--layer", "no layer"), errors.BadInput),
    ],
)
def test_a_memory_that_cannot_hold_is_refused_when_it_is_proposed(project, cli, options, error):
    """What is wrong at once must not wait until somebody reviews it."""
    assert_refused(cli("remember", "Some words", *options, ok=False), error)
    assert project.memory.candidates() == []
