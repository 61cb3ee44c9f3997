"""True statements about the symbols of a code base, none of which may be refused."""

from bench.symbol_statements import refusals, statements

from tests.conftest import GitRepo

SOURCE = """
LIMIT_{n} = {n}


def load_{n}(path, retries={n}):
    \"\"\"Load the table number {n} from a file.\"\"\"
    return path


def save_{n}(path):
    raise ValueError(path)
"""


def test_no_true_statement_about_another_symbol_is_refused(repo: GitRepo) -> None:
    """Eight of 48 were: the name of another function was taken for another value."""
    repo.commit("tables.py", "".join(SOURCE.format(n=n) for n in range(2, 22)))
    said = statements(str(repo.path))
    assert len(said) == 60
    assert refusals(said) == []
