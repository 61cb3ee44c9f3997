"""What the repository holds: found, kept in step with HEAD, and the same however it came to be."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from holdfast.git.clone import Clone
from holdfast.git.project_setup import initialise
from holdfast.index.corpus import update as corpus_refresh
from holdfast.index.corpus.file_choice import CorpusChoice
from holdfast.index.corpus.update import BUILDING, CorpusUpdate, bring_corpus, open_corpus, path_of, state_of
from holdfast.index.sqlite import drop
from holdfast.store import fsio
from tests.conftest import GitRepo
from tests.index.conftest import open_clone

ROW = "name, kind, seq, title, labels, text, parts, context, tier, hex(content)"


def shown(clone: Clone, choice: CorpusChoice | None = None, *, patience: bool = False) -> dict[str, Any]:
    """Everything the corpus shows: rows by name, the files they touch, and what words find them."""
    corpus = open_corpus(clone)
    try:
        assert bring_corpus(clone, corpus, choice or CorpusChoice(), patience=patience)
        return told(corpus.db)
    finally:
        corpus.close()


def told(db: Any) -> dict[str, Any]:
    rows = db.execute(f"SELECT {ROW} FROM row WHERE shown ORDER BY name, title, text").fetchall()
    touches = db.execute(
        "SELECT row.name, path.name FROM touch, row, path "
        "WHERE row.id = touch.row AND path.id = touch.path ORDER BY 1, 2"
    ).fetchall()
    ask = "SELECT rowid, round(bm25(words), 6) AS score FROM words WHERE words MATCH ?"
    words = [
        (db.execute("SELECT name FROM row WHERE id = ?", (number,)).fetchone()[0], score)
        for number, score in db.execute(ask, ("alpha OR beta OR gamma OR function",))
    ]
    words.sort()
    whole = db.execute("SELECT count(*) FROM words").fetchone()[0]
    groups = db.execute(
        "SELECT a.name, b.name FROM row AS a JOIN row AS b ON a.parent = b.id WHERE a.shown ORDER BY 1, 2"
    ).fetchall()
    assert whole == len(rows)
    return {"rows": rows, "touches": touches, "words": words, "count": whole, "groups": groups}


def names(found: dict[str, Any], kind: str) -> list[str]:
    return [row[0] for row in found["rows"] if row[1] == kind]


def commit(repo: GitRepo, message: str, **files: str | None) -> str:
    """A commit that writes these files (`__` is a slash, `_dot_` a dot); None deletes."""
    for name, text in files.items():
        write(repo, name.replace("__", "/").replace("_dot_", "."), text)
    repo.git("add", "-A", "--", ".", ":!.holdfast")
    repo.git("commit", "-q", "--allow-empty", "-m", message)
    return repo.git("rev-parse", "HEAD").strip()


def write(repo: GitRepo, name: str, text: str | None) -> None:
    path = Path(os.fspath(repo)) / name
    if text is None:
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def anew(clone: Clone) -> None:
    drop(path_of(clone))


def test_commits_documents_and_code_are_found_with_what_they_belong_to(clone: Clone, repo: GitRepo) -> None:
    """A question about the project is mostly about its code and why it changed."""
    commit(
        repo,
        "Retry alpha calls\n\nThe upstream drops them.\n\nReviewed-by: Grace Hopper",
        src__net_dot_py='import x\n\n\nclass HttpClient:\n    def fetch(self):\n        """Fetch alpha."""\n',
        docs__guide_dot_md="# Guide\n\nIntro.\n\n## Install beta\n\nRun it.\n",
    )

    found = shown(clone)

    rows = {row[0]: row for row in found["rows"]}
    assert rows["docs/guide.md:5"][3] == "Install beta"
    assert "Guide" in rows["docs/guide.md:5"][7] and "guide.md" in rows["docs/guide.md:5"][7]
    assert rows["src/net.py:4"][3] == "HttpClient"
    assert "Http Client" in rows["src/net.py:4"][6]
    made = next(row for row in found["rows"] if row[3] == "Retry alpha calls")
    assert made[5] == "The upstream drops them."
    assert "Reviewed-by: Grace Hopper" in made[7] and "net.py" in made[7]
    assert (made[0], "src/net.py") in found["touches"]
    assert ("docs/guide.md:5", "docs/guide.md") in found["touches"]
    assert all(row[8] == "T2" for row in found["rows"])


def test_memory_is_not_indexed_as_a_document(clone: Clone, repo: GitRepo) -> None:
    """Memory has its own rows; twice found, a retired decision would come back as a document."""
    commit(repo, "Code", a_dot_py="x = 1\n")
    write(repo, ".holdfast/memory/facts/note-FCT-1.md", "alpha\n")
    repo.git("add", "-f", ".holdfast/memory/facts/note-FCT-1.md")
    repo.git("commit", "-q", "-m", "Only memory")

    found = shown(clone)

    assert not any(".holdfast" in row[0] for row in found["rows"])
    assert "Only memory" not in [row[3] for row in found["rows"]]


def test_what_nobody_wrote_is_left_out(clone: Clone, repo: GitRepo) -> None:
    """A lock file or a bundle would drown every answer."""
    commit(
        repo, "Things",
        node_modules__a_dot_js="function alpha() {\n}\n", good_dot_py="def alpha():\n    pass\n",
        dist__b_dot_js="function b() {\n}\n", app_dot_min_dot_js="var a", big_dot_py="x = 1\n" * 1000,
        packed_dot_js="x" * 30_000, gen_dot_go="// Code generated by x. DO NOT EDIT.\nfunc A() {\n}\n",
        lfs_dot_md="version https://git-lfs.github.com/spec/v1\noid sha256:0\n", three_dot_py="y = 2\n",
        _dot_gitattributes="made/*.py linguist-generated=true\n", made__m_dot_py="alpha = 1\n",
        secret__s_dot_py="alpha = 1\n", pic_dot_png="alpha",
    )  # fmt: skip
    (Path(os.fspath(repo)) / "binary.py").write_bytes(b"a\0b")
    os.symlink("good.py", Path(os.fspath(repo)) / "link.py")
    commit(repo, "More")

    found = shown(clone, CorpusChoice(max_file=4096, exclude=("secret/",)))

    assert sorted({name.rpartition(":")[0] for name in names(found, "code")}) == [
        ".gitattributes", "good.py", "three.py",
    ]  # fmt: skip
    assert names(found, "doc") == ["README:1"]


def test_settings_decide_what_is_indexed_and_a_change_takes_effect(clone: Clone, repo: GitRepo) -> None:
    """Who switches code off does not want to meet it."""
    commit(repo, "Both", a_dot_py="alpha = 1\n", b_dot_md="# Beta\n", big_dot_py="beta = 1\n" * 200)
    whole = shown(clone)

    assert names(shown(clone, CorpusChoice(code=False)), "code") == []
    assert names(shown(clone, CorpusChoice(docs=False, commits=False)), "doc") == []
    assert names(shown(clone, CorpusChoice(docs=False, commits=False)), "commit") == []
    assert shown(clone) == whole
    small = shown(clone, CorpusChoice(max_file=1024))
    assert shown(clone) == whole
    anew(clone)
    assert shown(clone, CorpusChoice(max_file=1024)) == small != whole


def test_names_and_messages_that_are_no_text_are_read(clone: Clone, repo: GitRepo) -> None:
    """A file that somebody named in another encoding must not end the reading of all."""
    odd = [b"caf\xe9.py", b"tab\there.py", b"line\nbreak.py", "日本.md".encode(), b"-dash.py", b"\x01" + b"a" * 40]
    for name in odd:
        with open(os.path.join(os.fsencode(repo), name), "wb") as file:
            file.write(b"# alpha\nalpha = 'caf\xe9'\n")
    repo.git("config", "i18n.commitEncoding", "latin-1")
    repo.git("add", "-A", "--", ".", ":!.holdfast")
    repo.git("commit", "-q", "-F", "-", data=b"Caf\xe9 \x01\x02 opened\n\nbody\n")

    found = shown(clone)
    anew(clone)

    assert len(names(found, "code")) == 4 and len(names(found, "doc")) == 2
    assert any(row[3].startswith("Café") for row in found["rows"])
    assert shown(clone) == found


def test_a_commit_a_rename_a_delete_a_mode_a_merge_and_a_switch_are_followed(clone: Clone, repo: GitRepo) -> None:
    """Step by step or at once: the same corpus (law 7)."""
    commit(repo, "One", a_dot_py="def alpha():\n    pass\n", b_dot_md="# Beta\n\ntext\n")
    steps = [shown(clone)]
    repo.git("mv", "a.py", "c.py")
    commit(repo, "Two renames", b_dot_md=None)
    steps.append(shown(clone))
    os.chmod(Path(os.fspath(repo)) / "c.py", 0o755)
    commit(repo, "Three changes a mode")
    steps.append(shown(clone))
    repo.git("switch", "-q", "-c", "topic", "HEAD~1")
    commit(repo, "Four on a branch", d_dot_py="def gamma():\n    pass\n")
    steps.append(shown(clone))
    repo.git("switch", "-q", "main")
    steps.append(shown(clone))
    repo.git("merge", "-q", "--no-edit", "topic")
    steps.append(shown(clone))
    repo.git("reset", "-q", "--hard", "HEAD~1")
    steps.append(shown(clone))

    assert steps[6] == steps[4] == steps[2]
    assert [names(step, "code") for step in steps[:2]] == [["a.py:1"], ["c.py:1"]]
    assert any("Four" in row[3] for row in steps[5]["rows"]) and not any("Four" in row[3] for row in steps[6]["rows"])
    last = steps[-1]
    anew(clone)
    assert shown(clone) == last


def test_random_histories_give_the_same_step_by_step_and_at_once(clone: Clone, repo: GitRepo, seed: int) -> None:
    """An index that depends on the way it came to be cannot be trusted (law 7)."""
    chosen = random.Random(seed)
    words = ["alpha", "beta", "gamma", "delta", "function"]
    for step in range(10):
        deed = chosen.choice(["commit", "commit", "commit", "branch", "switch", "amend", "merge"])
        if deed == "branch":
            repo.git("switch", "-q", "-c", f"b{step}", ok=False)
        elif deed == "switch":
            branches = repo.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split()
            repo.git("switch", "-q", chosen.choice(branches), ok=False)
        elif deed == "merge":
            branches = repo.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split()
            repo.git("merge", "-q", "--no-edit", "-X", "ours", chosen.choice(branches), ok=False)
            repo.git("merge", "--abort", ok=False)
        else:
            name = f"{chosen.choice('ab')}/{chosen.choice('xyz')}.{chosen.choice(['py', 'md'])}"
            said = " ".join(chosen.choices(words, k=4))
            write(repo, name, chosen.choice([f"# {said}\n\n{said}\n", f"def {said.split()[0]}():\n    {said!r}\n"]))
            repo.git("add", "-A", "--", ".", ":!.holdfast")
            extra = ["--amend"] if deed == "amend" else []
            repo.git("commit", "-q", "--allow-empty", *extra, "-m", said)
        if chosen.random() < 0.6:
            step_by_step = shown(clone)
    step_by_step = shown(clone)
    anew(clone)

    assert shown(clone) == step_by_step


def test_history_that_was_rewritten_and_is_gone_is_replaced(clone: Clone, repo: GitRepo) -> None:
    """After a filter and a gc the old commit cannot be asked any more."""
    commit(repo, "Keep", a_dot_py="alpha = 1\n")
    commit(repo, "Secret", b_dot_py="beta = 1\n")
    shown(clone)
    repo.git("reset", "-q", "--hard", "HEAD~1")
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "-q", "--prune=now")
    commit(repo, "Instead", c_dot_py="gamma = 1\n")

    found = shown(clone)
    anew(clone)

    assert "Secret" not in [row[3] for row in found["rows"]]
    assert shown(clone) == found


def test_a_large_change_is_made_beside_and_hidden_until_it_is_whole(
    clone: Clone, repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader never sees half a repository, and nobody waits who did not ask to."""
    commit(repo, "One", a_dot_py="alpha = 1\n")
    shown(clone)
    for number in range(6):
        write(repo, f"many/{number}.py", f"def beta{number}():\n    pass\n")
    commit(repo, "Many")
    monkeypatch.setattr(corpus_refresh, "FEW", 3)
    monkeypatch.setattr(corpus_refresh, "FILES", 2)
    corpus = open_corpus(clone)

    assert not bring_corpus(clone, corpus, CorpusChoice())
    assert not CorpusUpdate(clone, corpus, CorpusChoice()).build(seconds=0.0)
    assert not state_of(clone, corpus, CorpusChoice()).current
    assert len(names(told(corpus.db), "code")) == 1
    done: list[tuple[int, int]] = []
    assert bring_corpus(clone, corpus, CorpusChoice(), patience=True, progress=lambda *step: done.append(step))
    assert done and done[-1][0] == done[-1][1]
    found = told(corpus.db)
    corpus.close()
    assert len(names(found, "code")) == 7
    anew(clone)
    assert shown(clone) == found


BUILDER = """
import sys
from holdfast.git.clone import Clone
from holdfast.index.corpus import update
from holdfast.index.corpus.file_choice import CorpusChoice
update.FILES = 5
clone = Clone.open(sys.argv[1], cache=sys.argv[2])
told = lambda *step: print(*step, flush=True)
update.bring_corpus(clone, update.open_corpus(clone), CorpusChoice(), patience=True, progress=told)
"""


def test_a_build_that_is_killed_shows_nothing_and_goes_on(clone: Clone, repo: GitRepo, cache: str) -> None:
    """A laptop's battery ends in the middle of the first build."""
    for number in range(200):
        write(repo, f"many/{number}.py", f"def alpha{number}():\n    'beta'\n")
    commit(repo, "Many")
    for wanted in (2, 20):
        process = subprocess.Popen(
            [sys.executable, "-c", BUILDER, os.fspath(repo), cache], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        for _ in range(wanted):
            process.stdout.readline()
        process.kill()
        process.communicate()
        assert not os.path.exists(path_of(clone))
        assert os.path.exists(path_of(clone) + BUILDING)

    found = shown(clone, patience=True)
    anew(clone)

    assert len(names(found, "code")) == 200
    assert shown(clone, patience=True) == found
    assert not os.path.exists(path_of(clone) + BUILDING)


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"", b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_corpus_that_is_not_ours_is_made_again_and_said_so(clone: Clone, repo: GitRepo, content: bytes) -> None:
    """A broken cache must not cost more than the time to build it."""
    commit(repo, "One", a_dot_py="alpha = 1\n")
    whole = shown(clone)
    for suffix in ("", BUILDING):
        Path(path_of(clone) + suffix).write_bytes(content)
    corpus = open_corpus(clone)

    assert bring_corpus(clone, corpus, CorpusChoice())
    notes = corpus.take_notes()

    assert told(corpus.db) == whole
    assert any("not usable" in note for note in notes) or not content
    corpus.close()


def test_a_partial_clone_is_indexed_without_fetching(repo: GitRepo, world: Path, cache: str) -> None:
    """A question must not start a download, nor fail for want of it."""
    commit(repo, "One", a_dot_py="alpha = 1\n")
    commit(repo, "Two", b_dot_py="beta = 1\n")
    repo.git("config", "uploadpack.allowFilter", "true")
    partial = world / "partial"
    source = f"file://{os.fspath(repo)}"
    repo.git("clone", "-q", "--no-checkout", "--filter=blob:none", source, os.fspath(partial))
    repo.git("-C", os.fspath(partial), "cat-file", "-p", "HEAD:b.py")  # fetches that one alone
    initialise(os.fspath(partial), cache=cache, commit=False)

    found = shown(Clone.open(os.fspath(partial), cache=cache))

    assert names(found, "code") == ["b.py:1"]
    assert {"One", "Two"} <= {row[3] for row in found["rows"]}


def test_a_shallow_clone_that_is_deepened_gets_its_commits(repo: GitRepo, world: Path, cache: str) -> None:
    """HEAD is the same before and after; what can be found is not."""
    commit(repo, "One", a_dot_py="alpha = 1\n")
    commit(repo, "Two", b_dot_py="beta = 1\n")
    shallow = world / "shallow"
    repo.git("clone", "-q", "--depth=1", f"file://{os.fspath(repo)}", os.fspath(shallow))
    initialise(os.fspath(shallow), cache=cache, commit=False)
    clone = Clone.open(os.fspath(shallow), cache=cache)

    before = shown(clone)
    repo.git("-C", os.fspath(shallow), "fetch", "-q", "--unshallow")

    assert [row[3] for row in before["rows"] if row[1] == "commit"] == ["Two"]
    assert {"One", "Two"} <= {row[3] for row in shown(clone)["rows"]}


def test_where_nothing_can_be_kept_a_question_does_without(clone: Clone, repo: GitRepo) -> None:
    """A cache on a full or forbidden disk must not cost the answer."""
    commit(repo, "One", a_dot_py="alpha = 1\n")
    there = open_clone(repo, "/dev/null/cache")
    corpus = open_corpus(there)

    assert not bring_corpus(there, corpus, CorpusChoice())
    assert any("not searched" in note for note in corpus.take_notes())
    corpus.close()


def test_who_asks_does_not_wait_for_another_who_builds(
    clone: Clone, repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two questions in a new clone: the second one answers from memory."""
    commit(repo, "One", a_dot_py="alpha = 1\n")
    monkeypatch.setattr(corpus_refresh, "SHORT", 0.05)
    corpus = open_corpus(clone)
    os.makedirs(os.path.dirname(corpus.path), exist_ok=True)

    with fsio.locked(f"{corpus.path}{BUILDING}-lock"):
        assert not bring_corpus(clone, corpus, CorpusChoice())
    assert bring_corpus(clone, corpus, CorpusChoice())
    corpus.close()


def test_before_the_first_commit_there_is_nothing_and_that_is_known(repo: GitRepo, cache: str, world: Path) -> None:
    """A new project asks, too."""
    empty = world / "empty"
    repo.git("init", "-q", os.fspath(empty))
    initialise(os.fspath(empty), cache=cache, commit=False)
    clone = Clone.open(os.fspath(empty), cache=cache)

    assert shown(clone)["rows"] == []
    assert shown(clone)["rows"] == []


def test_readers_see_a_whole_state_while_it_is_refreshed(clone: Clone, repo: GitRepo) -> None:
    """An answer from half a commit is a wrong answer."""
    for number in range(30):
        write(repo, f"f{number}.py", "alpha = 1\n")
    commit(repo, "Alpha")
    shown(clone)
    reader = open_corpus(clone)
    for number in range(30):
        write(repo, f"f{number}.py", "beta = 1\n")
    commit(repo, "Beta")
    writer = subprocess.Popen(
        [sys.executable, "-c", BUILDER, os.fspath(repo), clone.layout.cache], stdout=subprocess.DEVNULL
    )
    seen = set()
    deadline = time.monotonic() + 30
    while writer.poll() is None and time.monotonic() < deadline:
        with reader.reading() as db:
            ask = "SELECT count(*) FROM words WHERE words MATCH ?"
            counts = tuple(db.execute(ask, (f"text : {word}",)).fetchone()[0] for word in ("alpha", "beta"))
        seen.add(counts)
    assert writer.wait() == 0

    assert seen <= {(30, 0), (0, 30)}
    reader.close()
