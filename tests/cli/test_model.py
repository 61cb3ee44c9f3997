"""`holdfast model`: what people see of it, with a tiny model of the tests' own; nothing is ever fetched."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.errors import BadSettings
from holdfast.index.embed import coverage, fill_vectors, similarity
from holdfast.index.embed.vectors import Vectors
from holdfast.interfaces import agent_replies
from holdfast.model.event import EventDraft
from holdfast.project import Project, search_models
from holdfast.recall import search
from tests.capture.rollouts import rollout
from tests.conftest import Cli, GitRepo, grown, init
from tests.index import tiny
from tests.index.test_embed_models import LETTERS

ALL = 5  # texts: the facts, and a commit with its file
FACTS = ("Tests need postgres", "We retry calls that are safe to repeat", "The server runs every night")


@pytest.fixture(autouse=True)
def nothing_stays_loaded() -> Iterator[None]:
    yield
    similarity.forget()


def _propose(cli: Cli, _: GitRepo) -> None:
    cli("init")
    for fact in FACTS:
        cli("remember", fact)


@pytest.fixture
def added(cli: Cli, repo: GitRepo, world: Path) -> Cli:
    """A project with three candidates, and a model where `model add` would have put it."""
    grown(_propose, cli, repo)
    tiny.model(world / ".cache/holdfast/models/minilm")
    return cli


def files(world: Path, name: str) -> list[Path]:
    return sorted((world / ".cache/holdfast").glob(f"*/{name}"))


def state(cli: Cli) -> dict[str, object]:
    return dict(json.loads(cli("model", "--json").out))


def test_without_a_model_everything_says_so_and_works(cli: Cli) -> None:
    """Most people will never add one."""
    init(cli.cwd)
    assert "holdfast model add" in cli("model").out
    assert cli("model", "status").out == cli("model").out
    refused = cli("model", "embed", ok=False)
    assert refused.code == 44 and "holdfast model add" in refused.err
    assert Project.open(cli.cwd).models.near("anything") is None
    assert "vectors" not in cli("status").out


def test_a_model_can_be_added_outside_a_repository(repo: GitRepo, tmp_path: Path, world: Path) -> None:
    """It is fetched once for a user, often before there is any project to stand in."""
    tiny.model(world / ".cache/holdfast/models/minilm")  # there and whole: nothing is fetched
    said = Cli(tmp_path)("model", "add").out
    assert "in use in all your repositories" in said and str(world / ".config/holdfast/settings.toml") in said
    assert Cli(repo.path)("model", "add").out == said, "nor in one that is not set up"
    init(repo.path)
    found = state(Cli(repo.path))
    assert (found["model"], found["origin"]) == ("minilm", str(world / ".config/holdfast/settings.toml"))


def test_what_waits_is_embedded_and_found_by_meaning(added: Cli, world: Path) -> None:
    """The whole way: said by status, done by embed, asked by near."""
    assert (state(added)["texts"], state(added)["waiting"]) == (ALL, ALL)
    assert f"vectors     {ALL} texts without: holdfast model embed" in added("status").out
    assert added("model", "embed").out == f"{ALL} texts embedded.\n"
    assert added("model", "embed").out == "0 texts embedded.\n"
    assert "vectors" not in added("status").out
    assert (state(added)["waiting"], state(added)["size"]) == (0, tiny.SIZE)
    (ready,) = files(world, "vectors.ready")
    assert ready.read_text() == f"{ALL} minilm\n"
    found = Project.open(added.cwd).models.near(FACTS[0])
    assert found is not None
    best = found.best(ALL)
    (index,) = files(world, "index.db")
    titles = dict(sqlite3.connect(index).execute("SELECT content, title FROM row WHERE content IS NOT NULL"))
    assert len(titles) == len(FACTS) and len(best) == ALL
    assert titles[best[0][0]] == FACTS[0] and best[0][1] > 0.95
    assert found.of(titles) == pytest.approx({name: near for name, near in best if name in titles})


def test_embedding_goes_on_where_it_stopped(added: Cli) -> None:
    """Ctrl-C, a closed lid, a turn's end: what is done is done."""
    project = Project.open(added.cwd)
    for number in range(150):
        project.clone.record(EventDraft("run", target=f"run-{number}", body={"prompt": f"why is cache {number} slow"}))
    seen: list[tuple[int, int]] = []

    def stop(done: int, total: int) -> None:
        seen.append((done, total))
        if done >= fill_vectors.STEP:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        project.models.embed(progress=stop)
    assert seen == [(0, ALL + 150), (64, ALL + 150)]
    assert state(added)["waiting"] == ALL + 150 - 64
    assert project.models.embed(seconds=0).made == 0
    assert project.models.embed().made == ALL + 150 - 64
    assert project.models.embed(again=True).made == ALL + 150


def test_one_embeds_and_others_leave_it_to_that(added: Cli, world: Path) -> None:
    """Ten agents that end a turn together must not take ten cores."""
    added("status")
    (index,) = files(world, "index.db")
    with fill_vectors.alone(str(index.parent)) as free:
        assert free
        assert "Another command is computing vectors already" in added("model", "embed").out
    assert f"{ALL} texts embedded" in added("model", "embed").out


def test_another_model_takes_over_when_it_has_caught_up(added: Cli, tmp_path: Path, world: Path) -> None:
    """Old vectors serve meanwhile, and go afterwards."""
    added("model", "embed")
    other = tiny.model(tmp_path / "other", seed=8)
    said = added("model", "use", str(other)).out
    assert f"{other} is in use" in said and f"{ALL} texts to embed" in said
    told = state(added)
    assert (told["model"], told["serving"], told["waiting"]) == (str(other), "minilm", ALL)
    assert Project.open(added.cwd).models.near(FACTS[1]) is not None
    added("model", "embed")
    assert state(added)["serving"] is None
    (path,) = files(world, "vectors.db")
    vectors = Vectors(str(path))
    assert [(one.source, one.count) for one in vectors.models()] == [(f"folder:{other}", ALL)]
    vectors.close()


def test_a_command_is_chosen_after_it_answered_once(added: Cli, tmp_path: Path, repo: GitRepo, world: Path) -> None:
    """A command that does not work must be noticed at the terminal, not by the next question."""
    program = tmp_path / "embed.py"
    program.write_text(LETTERS)
    assert "prints no vectors" in added("model", "use", "echo", "hello", ok=False).err
    added("model", "use", sys.executable, str(program))
    settings = world / ".config/holdfast/settings.toml"  # a command is the user's own, never a clone's
    assert settings.read_text() == f"[retrieval]\nmodel = {json.dumps([sys.executable, str(program)])}\n"
    assert added("model", "embed").out.startswith(f"{ALL} texts")
    assert state(added)["size"] == 8
    program.unlink()
    project = Project.open(added.cwd)
    assert project.models.near("anything") is None
    assert any("search by meaning failed" in note for note in project.notices)
    assert files(world, "vectors.ready")
    assert "No model is in use any more" in added("model", "use", "off").out
    assert Project.open(added.cwd).models.near("anything") is None
    assert not files(world, "vectors.ready")  # a cold command need not look further
    added("model", "use", "minilm")
    assert files(world, "vectors.ready")


def test_a_pull_request_cannot_choose_the_model(added: Cli, repo: GitRepo) -> None:
    """A command in the tracked settings would run on everybody's machine."""
    repo.write(".holdfast/holdfast.toml", '[retrieval]\nmodel = "touch pwned"\n')
    answer = added("model")
    assert "Model minilm" in answer.out and "retrieval.model is ignored" in answer.err
    assert not (repo / "pwned").exists()


def test_no_vector_of_an_erased_text_stays(added: Cli, world: Path) -> None:
    """What a text said can be guessed from its vector."""
    name = json.loads(added("remember", "zebra tokens are slow", "--json").out)["id"]
    added("model", "embed")
    project = Project.open(added.cwd)
    near = project.models.near("zebra tokens are slow")
    assert near is not None
    content = near.best(1)[0][0]
    (path,) = files(world, "vectors.db")
    assert content in path.read_bytes()
    project.sync.erase(name)
    assert content not in path.read_bytes()
    vectors = Vectors(str(path))
    assert vectors.models()[0].count == ALL
    vectors.close()
    assert not files(world, "vectors.unswept")


def test_a_wheel_that_is_another_is_refused(cli: Cli, tmp_path: Path, world: Path) -> None:
    """`--from` takes the one file that was hashed, whoever brought it."""
    init(cli.cwd)
    path, _ = tiny.wheel(tmp_path)
    refused = cli("model", "add", "--from", str(path), ok=False)
    assert refused.code == 44 and "sha256" in refused.err
    assert "Check the name" in cli("model", "add", "--from", "no-such-file", ok=False).err
    assert not (world / ".cache/holdfast/models/minilm").exists()


def test_what_was_added_can_be_removed(added: Cli, world: Path) -> None:
    """Model, vectors and setting; and search goes on by words."""
    added("model", "embed")
    assert added("model", "remove", ok=False).code == 37
    assert f"{ALL} vectors of this clone" in added("model", "remove", "--yes").out
    assert not files(world, "vectors*") and not os.listdir(world / ".cache/holdfast/models")
    assert state(added)["model"] is None
    refused = added("model", "use", "minilm", ok=False)
    assert "minilm is not in the cache" in refused.err and "holdfast model add" in refused.err
    assert "postgres" in added("recall", "postgres", "--kind", "candidate").out


def test_a_damaged_model_is_said_and_words_answer(added: Cli, world: Path) -> None:
    """A broken cache must not break a question."""
    added("model", "embed")
    similarity.forget()
    (world / ".cache/holdfast/models/minilm/model.onnx").write_bytes(b"broken")
    project = Project.open(added.cwd)
    assert project.models.near("postgres") is None
    assert any("damaged" in note for note in project.notices)


def test_without_the_extra_only_the_commands_of_models_speak_of_it(added: Cli) -> None:
    """Who did not ask for search by meaning must not read about it; and without the extra everything else works."""
    program = (
        "import sys\n"
        "for name in ('numpy', 'onnxruntime', 'tokenizers'): sys.modules[name] = None\n"
        "from holdfast.interfaces.cli.main import main\n"
        "for words in sys.argv[1:]:\n"
        "    code = main(words.split())\n"
        "    print('ended with', code, flush=True)\n"
        "    print('--', file=sys.stderr, flush=True)\n"
    )
    asked = ("status", "status", "recall postgres --kind candidate", "model", "model embed")
    done = subprocess.run(
        [sys.executable, "-c", program, *asked], cwd=added.cwd, capture_output=True, text=True, check=False
    )
    first, *_ = done.stderr.split("--\n")
    assert "semantic" not in first and ".[semantic]" in done.stdout
    assert "Tests need postgres" in done.stdout and "the extra is not installed" in done.stdout
    assert [line.split()[-1] for line in done.stdout.splitlines() if "ended with" in line] == [*"0000", "44"]


def test_the_background_embeds_when_a_turn_ends(added: Cli, world: Path) -> None:
    """Who connected an agent must not have to think of embedding."""
    program = [sys.executable, "-I", str(agent_replies.__file__)]
    assert Project.open(added.cwd).models.embeds_in_background()
    for _ in range(2):  # the second time it finds nothing to do
        done = subprocess.run([*program, "drain"], cwd=added.cwd, capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        assert state(added)["waiting"] == 0
    added("model", "use", "off")
    assert not Project.open(added.cwd).models.embeds_in_background()


def test_an_import_is_embedded_without_a_further_command(added: Cli, tmp_path: Path) -> None:
    """Search by meaning that needs a command after each import is never up to date."""
    rollout(tmp_path / "codex", added.cwd).asks("Why does the crane stop?").done("Its brake overheats.")
    added("import", "codex", str(tmp_path / "codex"))
    until = time.monotonic() + 30
    while state(added)["waiting"] and time.monotonic() < until:
        time.sleep(0.05)
    assert state(added)["waiting"] == 0 and state(added)["texts"] > ALL


def test_a_setting_is_written_beside_what_stands_there(tmp_path: Path) -> None:
    """Somebody's settings file is theirs: comments and order stay."""
    path = tmp_path / "settings.toml"
    path.write_text('# mine\ntrunk = "main"\n\n[retrieval] # here\n# a note\ngraph = "off"\n\n[redact]\nrules = []\n')
    before = path.read_text()
    search_models.put_setting(str(path), "retrieval.model", "minilm")
    assert path.read_text() == before.replace("# here\n", '# here\nmodel = "minilm"\n')
    search_models.put_setting(str(path), "retrieval.model", ["a", 'b "c"'])
    assert 'model = ["a", "b \\"c\\""]\n# a note\n' in path.read_text()
    search_models.put_setting(str(path), "retrieval.model", None)
    assert path.read_text() == before
    for around in ("", '# mine\ntrunk = "main"\n'):
        path.write_text(around)
        search_models.put_setting(str(path), "retrieval.model", "minilm")
        search_models.put_setting(str(path), "retrieval.model", None)
        assert path.read_text() == around  # an empty table would be in the way of who writes one by hand
    path.write_text('[retrieval]\nmodel = "x"\n\n[redact]\nrules = []\n')
    search_models.put_setting(str(path), "retrieval.model", None)
    assert path.read_text() == "[redact]\nrules = []\n"
    path.write_text('retrieval = { model = "x" }\n')
    with pytest.raises(BadSettings, match="does not edit"):
        search_models.put_setting(str(path), "retrieval.model", "minilm")


def test_damaged_vectors_are_said_and_made_anew(added: Cli, world: Path) -> None:
    """A cache that a disk damaged must not fail a question, nor stay damaged."""
    added("model", "embed")
    similarity.forget()
    (path,) = files(world, "vectors.db")
    data = bytearray(path.read_bytes())
    data[16384:] = bytes([0x5A]) * (len(data) - 16384)  # all but the page that says what it is
    path.write_bytes(data)
    project = Project.open(added.cwd)
    assert project.models.near("postgres") is None
    assert any("vectors were not usable" in note for note in project.notices)
    assert added("model").code == added("status").code == 0
    assert added("model", "embed").out == f"{ALL} texts embedded.\n"
    assert Project.open(added.cwd).models.near("postgres") is not None


def test_memories_come_first_and_code_last(added: Cli, repo: GitRepo, world: Path) -> None:
    """Half a minute at the end of a turn must be spent on what is asked for most."""
    repo.commit("app.py", "def slow_cache():\n    return 1\n")
    project = Project.open(added.cwd)
    project.clone.record(EventDraft("run", target="run-1", body={"prompt": "why is it slow"}))
    project.models.state()
    (index,) = files(world, "index.db")
    vectors = Vectors(str(index.parent / "vectors.db"))
    places = coverage.waiting(coverage.sources(str(index)), vectors, vectors.of("k", source="x", size=8))
    vectors.close()
    kinds = [
        sqlite3.connect(path).execute("SELECT kind FROM row WHERE id = ?", (number,)).fetchone()[0]
        for path, number in places
    ]
    order = ["candidate"] * 3 + ["run", "commit", "commit", "doc", "code"]
    assert [kind for kind in kinds if kind in order] == order


def test_a_command_that_hangs_costs_a_question_some_seconds(
    added: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words have answered already; nobody waits minutes for a model that is not needed."""
    program, starts = tmp_path / "embed.py", tmp_path / "starts"
    program.write_text(LETTERS)
    added("model", "use", f"{sys.executable} {program}")
    added("model", "embed")
    similarity.forget()
    program.write_text(f"open({str(starts)!r}, 'a').write('x')\nimport time; time.sleep(60)")
    monkeypatch.setattr(search, "UNASKED", 0.5)
    monkeypatch.setattr(search, "ASKED", 0.7)

    for words, most in ((("okapi wombat",), "0.5"), (("retry calls", "--semantic"), "0.7")):
        starts.unlink(missing_ok=True)
        answer = added("recall", *words)
        assert f"search by meaning failed: {sys.executable}" in answer.err
        assert f"took more than {most} seconds" in answer.err
        assert starts.read_text() == "x"


def test_a_command_whose_vectors_change_their_length_is_said(added: Cli, tmp_path: Path) -> None:
    """A silent change would leave search by meaning off for good."""
    program = tmp_path / "embed.py"
    program.write_text(LETTERS)
    added("model", "use", f"{sys.executable} {program}")
    added("model", "embed")
    similarity.forget()
    program.write_text(LETTERS.replace('"abcdefgh"', '"abc"'))

    assert "has changed since texts were embedded (3 numbers" in added("recall", "retry", "--semantic").err
    added("model", "embed")
    assert added("recall", "retry", "--semantic").err == ""


WAITING = """
import json, os, sys, time
texts = [json.loads(line) for line in sys.stdin]
if any("okapi" in text for text in texts):
    open(HERE, "w").close()
    while os.path.exists(HERE):
        time.sleep(0.01)
for text in texts:
    print(json.dumps([1 + text.count(c) for c in "abcdefgh"]))
"""


def test_what_is_erased_while_a_model_reads_it_gets_no_vector(added: Cli, tmp_path: Path, world: Path) -> None:
    """The vector, and the hash of the text beside it, would stay for whoever wants to test a guess."""
    program, here = tmp_path / "embed.py", tmp_path / "reads"
    program.write_text(WAITING.replace("HERE", repr(str(here))))
    added("model", "use", f"{sys.executable} {program}")
    added("model", "embed")
    name = json.loads(added("remember", "secret okapi statement", "--json").out)["id"]

    embedding = threading.Thread(target=Project.open(added.cwd).models.embed)
    embedding.start()
    while not here.exists():
        assert embedding.is_alive()
    Project.open(added.cwd).sync.erase(name)
    here.unlink()
    embedding.join()

    (path,) = files(world, "vectors.db")
    db = sqlite3.connect(path)
    assert db.execute("SELECT count(*) FROM memory_index").fetchone() == (ALL,)
    db.close()
    assert state(added)["waiting"] == 0


@pytest.mark.parametrize("table", ["memory_index", "meta", "model"])
def test_vectors_that_lost_a_table_are_made_anew(added: Cli, world: Path, table: str) -> None:
    """Waiting for another command to end would be waiting for ever."""
    added("model", "embed")
    similarity.forget()
    (path,) = files(world, "vectors.db")
    db = sqlite3.connect(path)
    db.execute(f"DROP TABLE {table}")
    db.close()

    assert "vectors were not usable (no such table" in added("recall", "retry", "--semantic").err
    added("model", "embed")
    assert state(added)["waiting"] == 0 and added("recall", "retry", "--semantic").err == ""
