"""Damaged, cut or changing files under a question: it is answered all the same, whole, with a word on it."""

import contextlib
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.index import pool
from holdfast.interfaces import quick
from holdfast.project import Project
from tests.conftest import Cli, GitRepo, grown, redirected, whole

FILES = ("index.db", "corpus.db", "index~elsewhere.db")
WORD = "rebuilt; nothing was lost"


@pytest.fixture
def asked(cli: Cli, repo: GitRepo) -> Cli:
    """A project of which all three files hold something about quokkas."""
    return grown(_quokkas, cli, repo)


def _quokkas(cli: Cli, repo: GitRepo) -> None:
    cli("init", "--commit")
    repo.commit("doc.md", "# Quokka\n\nA quokka reads this document.\n", "Add the quokka")
    remember = ("remember", "--accept", "--evidence", "doc.md")
    repo.git("switch", "-qc", "other")
    cli(*remember, "The quokka of the other branch sleeps")
    repo.git("switch", "-q", "main")
    cli(*remember, "Every quokka is fed at noon")


def file(world: Path, name: str) -> Path:
    (found,) = (world / ".cache/holdfast").glob(f"*/{name}")
    return found


def run(path: Path, statement: str) -> None:
    db = sqlite3.connect(path)
    db.execute(statement)
    db.commit()
    db.close()


DAMAGES = (
    *(f"DROP TABLE {table}" for table in ("words", "row", "meta", "touch")),
    "UPDATE row SET title = CAST(X'ff41ff' AS TEXT)",
    "PRAGMA user_version = 1",
    "",
    "its description",
)


@pytest.mark.parametrize("name", FILES)
def test_whichever_file_is_damaged_it_is_made_anew(asked: Cli, world: Path, name: str) -> None:
    """One bad page would end all questions for good, and nobody would know which file to delete."""
    before = asked("recall", "quokka", "--json", "--files", "doc.md").out
    assert before.count('"id"') == 1 + 4  # of the list, two memories, the document and its commit
    for damage in (*DAMAGES, *(["DROP TABLE place"] if name == FILES[2] else [])):
        if damage == "its description":
            data = file(world, name).read_bytes()
            file(world, name).write_bytes(data.replace(b"CREATE TABLE touch", b"CREATE \xed\xff\xffLE touch"))
        elif damage:
            run(file(world, name), damage)
        else:
            file(world, name).write_bytes(b"no database at all " * 500)

        healed = asked("recall", "quokka", "--json", "--files", "doc.md")
        after = asked("recall", "quokka", "--json", "--files", "doc.md")

        assert (healed.out, after.out) == (before, before), damage
        assert healed.err.count(WORD) == 1, (damage, healed.err)
        assert after.err == "", (damage, after.err)


def test_bytes_at_random_never_end_questions(asked: Cli, world: Path, seed: int) -> None:
    """What a bad disk does to a file is in no list of ours."""
    before, rng = asked("recall", "quokka", "--json").out, random.Random(seed)
    whole = {name: file(world, name).read_bytes() for name in FILES}
    for step in range(9):
        name = FILES[step % 3]
        data = bytearray(whole[name])
        for _ in range(rng.choice([1, 3, 20])):
            at = rng.randrange(100, len(data) - 200)
            data[at : at + 200] = rng.randbytes(200)
        for one in FILES:
            file(world, one).write_bytes(whole[one])
        file(world, name).write_bytes(data)
        assert asked("recall", "quokka", "--json").code == 0
        asked("index")
        assert asked("recall", "quokka", "--json").code == 0, (seed, step)
    for name in FILES:
        file(world, name).write_bytes(b"")
    assert asked("recall", "quokka", "--json").out == before


def test_index_and_doctor_notice_a_damaged_file(asked: Cli, world: Path) -> None:
    """Who suspects the index asks these two, and must not hear that all is well."""
    asked("recall", "quokka")
    run(file(world, "corpus.db"), "DROP TABLE words")
    run(file(world, "index~elsewhere.db"), "DROP TABLE place")

    seen = asked("doctor", ok=False)
    status = asked("index", "--status")
    done = asked("index")

    assert "corpus.db" in seen.out and "index~elsewhere.db" in seen.out
    assert "damaged" in status.err and WORD in done.err and done.out.startswith("The index is up to date: ")
    assert "corpus.db" not in asked("doctor", ok=False).out


def during(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object], at: int) -> list[int]:
    """Have something happen between two statements of a question, in another process' stead."""
    plain, seen = pool.fetched, [0]

    def fetched(*args: object, **more: object) -> object:
        seen[0] += 1
        if seen[0] == at:
            other = threading.Thread(target=act)
            other.start()
            other.join()
        return plain(*args, **more)

    monkeypatch.setattr(pool, "fetched", fetched)
    return seen


@pytest.fixture
def synced(asked: Cli, repo: GitRepo) -> Cli:
    """Twenty documents hold one word."""
    for number in range(20):
        repo.write(f"d/f{number}.md", f"# Head\n\nsyncword old {number}\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Old")
    asked("recall", "syncword")
    return asked


def emptied(path: Path) -> Callable[[], None]:
    """What another process does to the corpus, if it is let."""

    def empty() -> None:
        db = sqlite3.connect(path, timeout=0.1, isolation_level=None)
        with contextlib.suppress(sqlite3.OperationalError):
            db.execute("DELETE FROM row")
        db.close()

    return empty


@pytest.mark.parametrize("way", ["quick", "full"])
def test_a_question_sees_one_state_of_the_corpus(
    synced: Cli, world: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """Half of the old state and half of the new one is a wrong "Nothing found"."""
    empty = emptied(file(world, "corpus.db"))
    monkeypatch.chdir(synced.cwd)
    for at in (1, 2, 3):
        with monkeypatch.context() as patched:
            during(patched, empty, at)
            if way == "full":
                assert len(Project.open(synced.cwd).recall("syncword", kind="doc", limit=50)) == 20
                continue
            with redirected(b"") as (out, _):
                assert quick.main(["recall", "--json", "--kind", "doc", "--limit", "50", "syncword"]) == 0
                assert whole(out).count("syncword old") == 20


def test_an_index_that_shows_another_state_is_not_asked(
    asked: Cli, repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Back on a branch, the quick path must not answer with what another command read on the other one."""
    asked("recall", "noon")
    repo.git("switch", "-q", "other")
    asked("next")
    asked("context")
    repo.git("switch", "-q", "main")
    monkeypatch.chdir(asked.cwd)

    with redirected(b"") as (out, _):
        code = quick.main(["recall", "noon", "--json"])
        assert code == quick.NOT_HANDLED or "fed at noon" in whole(out)


@pytest.mark.parametrize("room", [0, 40 << 10, 200 << 10])
def test_on_a_full_disk_words_answer_and_what_was_not_searched_is_said(asked: Cli, room: int) -> None:
    """Half an answer that looks whole is worse than none, and a full disk must not end questions."""

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)

    words = [sys.executable, "-B", "-m", "holdfast", "recall", "quokka", "noon", "--limit", "9"]
    done = subprocess.run(words, cwd=asked.cwd, capture_output=True, text=True, check=False, preexec_fn=little_room)
    found = Project.open(asked.cwd).recall("quokka noon")

    assert done.returncode == 0 and "Every quokka is fed at noon" in done.stdout, done.stderr
    everything = all(hit.title in done.stdout for hit in found)
    assert everything != ("commits, docs and code were not searched" in done.stderr), done.stderr
    assert "not usable" not in done.stderr
