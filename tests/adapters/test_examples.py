"""The examples of docs/reference/adapters.md, as somebody would copy them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import GitRepo

pytestmark = pytest.mark.adapters
PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "adapters.md"
EXAMPLES = re.findall(r"^## ([^\n]+)\n\n```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.parametrize(("name", "code"), EXAMPLES, ids=[name for name, _ in EXAMPLES])
def test_an_example_runs_and_its_session_is_in_the_log(name: str, code: str, repo: GitRepo, store_url: str) -> None:
    """Who follows the docs must not meet a traceback."""
    environ = {**os.environ, "HOLDFAST_DATABASE_URL": store_url, "OPENAI_AGENTS_DISABLE_TRACING": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repo.path, env=environ, capture_output=True, check=False, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "vim" in done.stdout or "7411" in done.stdout
    told = subprocess.run(
        [sys.executable, "-m", "holdfast", "log"],
        cwd=repo.path,
        env=environ,
        capture_output=True,
        check=True,
        text=True,
    )
    assert "7411" in told.stdout, told.stdout


def test_every_framework_has_an_example() -> None:
    """A page that names a class and does not show it is half a page."""
    assert [name for name, _ in EXAMPLES] == ["LangGraph", "OpenAI Agents SDK", "Google ADK"]
