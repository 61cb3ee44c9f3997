"""Packed transcripts that unpack to very much: read as far as the limit, and said."""

import json
from pathlib import Path

import pytest

from tests.capture.rollouts import rollout
from tests.conftest import Cli, GitRepo


def test_a_packed_rollout_beyond_the_limit_is_taken_in_part_and_named(cli: Cli, repo: GitRepo, tmp_path: Path) -> None:
    """The same test log all day long packs to nothing; what was decided in the morning must not be lost."""
    zstandard = pytest.importorskip("zstandard")
    cli("init", "--commit")
    home = tmp_path / "codex"
    file = rollout(home, repo.path).asks("Mend the queue, please.").done("It is mended.")
    for _ in range(3):
        file.asks("Again.").runs("pytest -q", "tests/test_queue.py::test_order PASSED\n" * 70_000)
    packed = file.path.with_name(file.path.name + ".zst")
    packed.write_bytes(zstandard.ZstdCompressor(level=3).compress(file.path.read_bytes()))
    file.path.unlink()
    said = cli("import", "codex", CODEX_HOME=str(home)).out
    assert "Imported 1 run" in said
    assert f"read only in part {packed}: it decompresses to more than 8 MiB" in said
    assert json.loads(cli("import", "codex", "--json", CODEX_HOME=str(home)).out)["runs"] == []
