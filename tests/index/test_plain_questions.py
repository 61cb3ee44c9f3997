"""What a newcomer asks first is answered by the page that says it, not by a function named like one of the words."""

import shutil
from pathlib import Path

import pytest

from holdfast.project import Project
from tests.conftest import GitRepo, init, make_repo

TOP = Path(__file__).parents[2]
SHOP = {
    "README.md": "# Shop\n\nSells things.\n\n## Install\n\nYou need Python 3.12.\n\n    pip install .\n\n"
    "## Tests\n\n    make test    # installs what the tests need, and runs them\n",
    "CONTRIBUTING.md": "# Contributing\n\n`make test` must pass before you commit. One change, one commit.\n",
    "Makefile": "test:\n\tpython -m pytest\n\nlint:\n\truff check .\n",
    "docs/settings.md": "# Settings\n\n`shop.toml` holds the port and the currency. A variable wins over the file.\n",
    "docs/orders.md": "# Orders\n\nAn order is paid before it is sent; the tests of the warehouse run later.\n",
    "docs/deploy.md": "# Deploy\n\nA tag is built and sent to the server; run `shop deploy` by hand if that fails.\n",
    "src/shop/commands.py": "".join(
        f"def {name}(shop):\n    return shop.{name}(shop.tests, shop.how)\n\n\n"
        for name in ("run", "install", "test", "settings", "make", "deploy", "start")
    ),
    "src/shop/words.txt": "run tests\ninstall tests\nsettings where\nhow do we\nmake test\ndeploy how\n" * 30,
    "tests/golden/page.md": "# Run\n\nTests run: 12 of 12. How the tests were run: make test. Install: settings.\n",
    **{
        f"tests/test_{name}.py": "def run(tests):\n    return tests\n\n\n"
        f"def test_{name}_runs():\n    assert run('{name}')\n\n\n"
        f"def install():\n    return run('install')\n"
        for name in ("orders", "settings", "deploy", "install", "stock")
    },
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A small project with pages, code, tests, and functions named like common words."""
    repo = make_repo(tmp_path_factory.mktemp("plain") / "shop")
    init(repo.path)
    for path, text in SHOP.items():
        repo.write(path, text)
    return _indexed(repo)


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """This project's own pages, the code of its search and of its hooks, and the tests that define `run`."""
    repo = make_repo(tmp_path_factory.mktemp("plain") / "ours")
    init(repo.path)
    kept = ("*.md", "Makefile", "pyproject.toml", "docs/**/*.md", "src/holdfast/index/**/*", "src/holdfast/git/*.py")
    kept += ("tests/contracts/*.py", "tests/recall/*.py", "tests/golden/**/*", "tests/diagnostics/*.py")
    for path in (path for pattern in kept for path in TOP.glob(pattern) if path.is_file()):
        target = repo.path / path.relative_to(TOP)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return _indexed(repo)


def _indexed(repo: GitRepo) -> Project:
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "All of it")
    project = Project.open(repo.path)
    project.recall.build_index()
    return project


def files(project: Project, question: str, most: int) -> list[str]:
    return [hit.id.partition(":")[0] for hit in project.recall(question, limit=most)]


FRONT = ("README.md", "CONTRIBUTING.md", "Makefile")


@pytest.mark.parametrize(
    "question",
    [
        "how do we run the tests",
        "run tests",
        "run the tests",
        "make test",
        "where are tests run",
        "How do I test this?",
    ],
)
@pytest.mark.parametrize("which", ["shop", "ours"])
def test_how_to_run_the_tests_is_answered_first(which: str, question: str, request: pytest.FixtureRequest) -> None:
    """It is what the README has a newcomer ask; five functions called `run` are no answer."""
    assert files(request.getfixturevalue(which), question, 3)[0] in FRONT


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("how to install", "README.md"),
        ("how do I install it?", "README.md"),
        ("which version of Python does it need", "README.md"),
        ("where are the settings", "docs/settings.md"),
        ("how do we deploy", "docs/deploy.md"),
        ("what must pass before I commit", "CONTRIBUTING.md"),
        ("when is an order paid", "docs/orders.md"),
    ],
)
def test_a_plain_question_is_answered_by_its_page(shop: Project, question: str, page: str) -> None:
    """A symbol named like one common word of a question repeats that word, and says nothing."""
    assert page in files(shop, question, 2)


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("how do I install holdfast", "README.md"),
        ("where are the settings", "docs/reference/settings.md"),
        ("where does my line of code belong", "CONTRIBUTING.md"),
        ("how does ranking work", "docs/explanation/ranking.md"),
        ("how are weights of the ranking fitted", "docs/explanation/ranking.md"),
        ("how do I connect Codex", "docs/how-to/codex.md"),
        ("what does the sealed key encrypt", "docs/explanation/security.md"),
    ],
)
def test_the_pages_of_this_project_answer_too(ours: Project, question: str, page: str) -> None:
    """Whoever looks for a page of details is not sent to the README."""
    assert page in files(ours, question, 3)


@pytest.mark.parametrize(
    ("question", "file"),
    [
        ("which test runs the deploy", "tests/test_deploy.py"),
        ("test for settings", "tests/test_settings.py"),
        ("test_stock_runs", "tests/test_stock.py"),
        ("function install", "src/shop/commands.py"),
    ],
)
def test_who_asks_for_a_test_or_a_function_gets_it(shop: Project, question: str, file: str) -> None:
    """Pages come first only where they are what was asked for."""
    assert file in files(shop, question, 2)


@pytest.mark.parametrize("question", ["how do we run the tests", "how to install", "where are the settings"])
def test_fixtures_and_data_answer_no_plain_question(shop: Project, question: str) -> None:
    """A golden page repeats the words of a hundred pages."""
    assert {"tests/golden/page.md", "src/shop/words.txt"}.isdisjoint(files(shop, question, 2))
