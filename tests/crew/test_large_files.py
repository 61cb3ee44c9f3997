"""Git LFS in a crew's work trees: agents see the files, commits hold pointers."""

import shutil
from collections.abc import Callable

import pytest

from tests.conftest import GitRepo
from tests.crew.conftest import run_crew


@pytest.mark.skipif(shutil.which("git-lfs") is None, reason="git-lfs is not installed")
def test_large_files_are_there_for_agents_and_pointers_in_commits(
    crewed: GitRepo, scripted: Callable[[str], str]
) -> None:
    """What git-lfs writes into git's config and hooks by itself is no attack, and a model of 2 GB is no diff."""
    crewed.git("lfs", "install", "--local")
    crewed.commit(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    crewed.commit("old.bin", "old and large\n")
    assert crewed.git("show", "HEAD:old.bin").startswith("version https://git-lfs")
    plan = crewed.write("plan.md", "1. Alpha\n2. Beta\n")
    agent = scripted(
        "title = prompt.splitlines()[0].removeprefix('# Your task: ')\n"
        "name = pathlib.Path(f'{title}.bin')\n"
        "assert pathlib.Path('old.bin').read_text() == 'old and large\\n'\n"
        "assert title == 'Alpha' or pathlib.Path('Alpha.bin').read_text() == 'Alpha'\n"
        "name.write_text(title)\n"
        "subprocess.run(['git', 'lfs', 'status'], check=True)"
    )
    run, done = run_crew(crewed, agent, str(plan), workers=2)
    assert [row["title"] for row in done.done] == ["Alpha", "Beta"], done.failed
    assert crewed.git("show", f"crew/{run}/result:Beta.bin").startswith("version https://git-lfs")
    crewed.git("merge", "-q", f"crew/{run}/result")
    assert (crewed / "Beta.bin").read_text() == "Beta" and (crewed / "old.bin").read_text() == "old and large\n"
