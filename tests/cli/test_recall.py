"""Recall on the command line: what a person types, and what the screen says."""

import json
import re
from pathlib import Path

import pytest

from holdfast.index.ranking_weights import GROUPED, PRIORS, WEIGHTS
from tests.conftest import Cli, GitRepo, init
from tests.index.conftest import fact_text

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "recall.md"
FACT = ".holdfast/memory/facts/pin-FCT-pin111.md"


@pytest.fixture
def shop(cli: Cli, repo: GitRepo) -> Cli:
    """A project with a memory, a commit, a document and code that all speak of one thing."""
    init(cli.cwd, commit=True)
    repo.write("src/shop/db.py", 'def open_pool(size):\n    """Open the pool of sqlalchemy."""\n    return size\n')
    repo.write("docs/db.md", "# Shop\n\n## Database\n\nThe pool of sqlalchemy is shared.\n")
    repo.git("add", "src", "docs")
    repo.git("commit", "-q", "-m", "Pin sqlalchemy below 2.1\n\nIts pool closes connections.")
    repo.write(FACT, fact_text("FCT-pin111", "We pin sqlalchemy below 2.1: its pool closes connections"))
    repo.git("add", "-f", FACT)
    repo.git("commit", "-q", "-m", "What we know")
    return cli


def items(cli: Cli, *argv: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(cli("recall", "--json", *argv).out)["items"]
    return found


def test_a_memory_stands_above_what_the_repository_says(shop: Cli) -> None:
    """Commits and code are many; what was decided must not be buried under them."""
    found = items(shop, "why do we pin sqlalchemy")
    assert found[0]["id"] == "FCT-pin111"
    assert {"commit", "doc", "code"} <= {one["kind"] for one in found}
    assert {one["kind"] for one in items(shop, "--kind", "fact", "sqlalchemy")} == {"fact"}


def test_each_kind_of_the_repository_can_be_asked_for(shop: Cli) -> None:
    """Who looks for the function does not want the talk about it."""
    (code,) = items(shop, "--kind", "code", "sqlalchemy pool")
    assert (code["id"], code["title"], code["trust"]) == ("src/shop/db.py:1", "open_pool", "T2")
    (doc,) = items(shop, "--kind", "doc", "sqlalchemy pool")
    assert str(doc["id"]).startswith("docs/db.md:")
    (commit,) = items(shop, "--kind", "commit", "sqlalchemy pool")
    assert commit["head"] == commit["id"] and len(str(commit["id"])) == 40


def test_files_at_hand_count(shop: Cli) -> None:
    """What touches the file in the editor is what the question is about."""
    scores = [
        items(shop, *files, "--kind", "commit", "sqlalchemy")[0]["score"] for files in (("--files", "docs/db.md"), ())
    ]
    assert float(str(scores[0])) > float(str(scores[1]))
    assert "is not in this repository" in shop("recall", "--files", "../elsewhere", "x", ok=False).err


def test_a_list_ends_where_hits_only_share_a_word(shop: Cli, repo: GitRepo) -> None:
    """A good answer above four that have nothing to do with it looks like luck."""
    repo.commit("kites.txt", "The pool beside the road.\n", "Water the garden beside the pool")
    shop("recall", "x")
    question = "why do we pin sqlalchemy below 2.1: its pool closes connections"
    scores = [float(str(one["score"])) for one in items(shop, question)]
    assert len(scores) == 5 and min(scores) < scores[0] / 2, "--json has all of them"
    shown = sum(score >= scores[0] / 2 for score in scores)
    for _ in ("in full", "the quick path"):
        assert len(re.findall(r"^\w+ +\S", shop("recall", question).out, re.M)) == shown
        assert len(re.findall(r"^\w+ +\S", shop("recall", question, "-n", "5").out, re.M)) == 5


def test_an_explanation_adds_up(shop: Cli) -> None:
    """Numbers that do not add up explain nothing."""
    for one in items(shop, "--explain", "pin sqlalchemy", "--files", "src/shop/db.py"):
        parts = one["parts"]
        assert isinstance(parts, dict)
        assert sum(parts.values()) == pytest.approx(one["score"], rel=2e-3)
    said = shop("recall", "--explain", "pin sqlalchemy").out
    assert "why: it has 100% of the question's words; " in said and " = " not in said
    assert "parts" not in items(shop, "pin sqlalchemy")[0]


def test_the_page_names_every_part_and_its_example_adds_up() -> None:
    """A part of the score that nobody explains looks like magic."""
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in (*WEIGHTS, *GROUPED, *PRIORS, "linked") if f"`{name}`" not in page] == []
    sums = re.findall(r"score ([0-9.]+) = (.+)", page)
    assert sums
    for score, said in sums:
        signed = re.findall(r"(^|[+-] )?\w+ ([0-9.]+)", said)
        total = sum(-float(value) if sign.startswith("-") else float(value) for sign, value in signed)
        assert total == pytest.approx(float(score), abs=0.06)


def test_the_screen_says_when_and_where(shop: Cli, repo: GitRepo) -> None:
    """A hit without its age, its place and its standing cannot be judged."""
    repo.git("switch", "-q", "-c", "side")
    path = FACT.replace("pin", "okapi").replace("FCT-okapi111", "FCT-okapi1")
    repo.write(path, fact_text("FCT-okapi1", "Okapis share one pool"))
    repo.git("add", "-f", path)
    repo.git("commit", "-q", "-m", "Okapis")
    repo.git("switch", "-q", "main")
    said = shop("recall", "okapis").out
    assert re.search(r"fact +FCT-okapi1 +Okapis share one pool\n +.*on branch side", said)
    assert "just now" in shop("recall", "--kind", "commit", "pin").out or "ago" in shop("recall", "pin").out
    assert "FCT-okapi1" in shop("recall", "--branch", "side", "pool").out
    assert "FCT-okapi1" not in shop("recall", "pool elephants").out


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (("--since", "soon", "x"), "'soon' is neither a date nor an age"),
        (("--branch", "nope", "x"), "no branch here is called 'nope'"),
        (("--kind", "nonsense", "x"), "'nonsense' is not a kind of record"),
        (("--kind", "commits", "x"), "Did you mean commit?"),
    ],
)
def test_what_cannot_be_asked_is_refused(cli: Cli, argv: tuple[str, ...], why: str) -> None:
    """'Nothing found' would be read as an answer."""
    init(cli.cwd)
    assert why in cli("recall", *argv, ok=False).err


def test_a_pasted_trace_finds_what_it_is_about(shop: Cli) -> None:
    """Agents paste what the terminal says."""
    trace = (
        'Traceback (most recent call last):\n  File "/x/site-packages/click/core.py", line 3, in main\n'
        '    run()\n  File "/home/ada/shop/src/shop/db.py", line 3, in open_pool\n    return size\n'
        "sqlalchemy.exc.TimeoutError: pool limit reached\n"
    )
    assert items(shop, trace, "--kind", "code")[0]["id"] == "src/shop/db.py:1"


def test_a_question_comes_by_a_pipe_or_begins_with_dashes(shop: Cli) -> None:
    """What people ask about is what a program just printed, and that is long and begins as it likes."""
    noise = "ok line\n" * 20_000
    piped = json.loads(shop("recall", "--json", "-", data=noise + "sqlalchemy closes connections\n").out)
    assert piped["items"][0]["id"] == "FCT-pin111"
    for question in (["--- FAIL: sqlalchemy pin (0.00s)"], ["-bash: sqlalchemy: not found"], ["---", "sqlalchemy"]):
        assert items(shop, *question), question
    refused = shop("recall", "--limitt", "5", "sqlalchemy", ok=False)
    assert "No such option" in refused.err and "`--`" in refused.err
    assert items(shop, "--", "--limitt", "sqlalchemy")
    assert "Name one kind" in shop("recall", "--kind", "fact", "--kind", "run", "x", ok=False).err


def test_whoever_asks_for_meaning_hears_that_there_is_none(shop: Cli) -> None:
    """An answer by words alone, called one by meaning, is believed for the wrong reason."""
    said = shop("recall", "sqlalchemy", "--semantic")
    assert "FCT-pin111" in said.out and "by words alone" in said.err and "holdfast model" in said.err
    assert "by words alone" not in shop("recall", "sqlalchemy").err


def test_a_cache_that_cannot_be_written_is_said_in_one_sentence(shop: Cli, tmp_path: Path) -> None:
    """Three files that cannot be kept have one cause, and advice that cannot help is none."""
    (tmp_path / "file").write_text("not a folder")
    done = shop("recall", "sqlalchemy", XDG_CACHE_HOME=str(tmp_path / "file"))
    assert done.out and "holdfast index" not in done.err
    said = (
        f"{tmp_path / 'file' / 'holdfast'} cannot be written, so the index is built in memory, "
        "and commits, docs and code were not searched"
    )
    assert done.err.splitlines() == [said]


def test_a_longer_list_begins_with_the_shorter_one(shop: Cli, repo: GitRepo) -> None:
    """Who asks for more must not lose what stood there, nor find it elsewhere."""
    for number in range(30):
        repo.write(f"src/shop/part{number}.py", f"def pool_{number}(size):\n    return sqlalchemy, {number}\n")
    repo.git("add", "src")
    repo.git("commit", "-q", "-m", "Many parts")
    repo.git("switch", "-q", "-c", "side")
    other = FACT.replace("FCT-pin111", "FCT-side11")
    repo.write(other, fact_text("FCT-side11", "The sqlalchemy pool of side"))
    repo.git("add", "-f", other)
    repo.git("commit", "-q", "-m", "Side")
    repo.git("switch", "-q", "main")
    for question in ("sqlalchemy pool", "why is the size of the pool shared", "pool", ""):
        whole = items(shop, "--limit", "60", question)
        assert len(whole) > (30 if question == "sqlalchemy pool" else 2)
        for limit in (3, 5, 9, 20):
            assert items(shop, "--limit", str(limit), question) == whole[:limit], (question, limit)


def test_without_words_what_was_decided_and_done_comes_first(shop: Cli) -> None:
    """A list of hashes and files answers nobody who asks where things stand."""
    shop("run", "--task", "T-1", "--", "git", "--version")
    shop("remember", "Somebody says the pool is too small", "--evidence", "docs/db.md")
    found = [one["kind"] for one in items(shop, "--limit", "4")]
    assert {"run", "fact", "commit"} == set(found)
    assert found.count("commit") == 2


@pytest.mark.parametrize("since", ["9999-12-31", "0999-01-01", "0000-01-01", "1969-12-31T23:59"])
def test_a_day_out_of_the_ordinary_is_a_day(shop: Cli, since: str) -> None:
    """A traceback is no answer; nothing is newer than the end, all is newer than the beginning."""
    shop("recall", "sqlalchemy")
    found = [one["kind"] for one in items(shop, "--since", since, "sqlalchemy")]
    assert ("commit" in found) is not since.startswith("9999")


def test_a_time_that_no_clock_shows_is_refused(shop: Cli) -> None:
    """It would roll over into another day without a word."""
    assert "2026-11-16T99:99" in shop("recall", "--since", "2026-11-16T99:99", "sqlalchemy", ok=False).err


def test_a_file_whose_name_is_no_text_is_no_obstacle(shop: Cli) -> None:
    """Git takes any bytes for a name, and so does a shell."""
    assert items(shop, "sqlalchemy") and items(shop, "--files", "src/\udcff.py", "sqlalchemy")


def test_another_branch_is_told_with_what_it_has_replaced(shop: Cli, repo: GitRepo) -> None:
    """Who asks what holds there must not be told what was given up there."""
    repo.git("switch", "-q", "-c", "side")
    path = FACT.replace("pin", "okapi").replace("FCT-okapi111", "FCT-okapi1")
    repo.write(path, fact_text("FCT-okapi1", "We pin sqlalchemy below 3", supersedes="[FCT-pin111]"))
    repo.git("add", "-f", path)
    repo.git("commit", "-q", "-m", "Newer")
    repo.git("switch", "-q", "main")
    there = {one["id"]: one["state"] for one in items(shop, "--branch", "side", "--kind", "fact", "sqlalchemy")}
    assert list(there) == ["FCT-okapi1", "FCT-pin111"] and there["FCT-pin111"] == "superseded"
