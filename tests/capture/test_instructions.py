"""Blocks in the files that agents read first: exact, undone byte for byte, and safe with anybody's text."""

import json
import os
import re
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.capture.wiring import block
from holdfast.capture.wiring import block as wiring_block
from holdfast.capture.wiring.block import BlockMemory, block_text
from holdfast.capture.wiring.connect_files import TOOLS, ConnectionPlan, connect, connected, disconnect
from holdfast.errors import BadInput, BlockEdited, FutureFormat, TooLarge, UnsafePath
from holdfast.interfaces.cli import connect_commands
from holdfast.model.memory import Candidate
from holdfast.project import agent_setup

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ROOT / "tests" / "golden" / "blocks"
TOLD = (
    BlockMemory("INV-k2m9", "invariant", "No tracked file is appended to by every branch.", ("src/store/",)),
    BlockMemory("INV-p0q1", "invariant", "Secrets are removed before the first write."),
    BlockMemory(
        "DEC-7f3k",
        "decision",
        "Use SQLite for the index. It may be deleted at any time, and nothing is lost by that.",
        ("src/index/", "docs/index.md", "tests/index/", "Makefile"),
    ),
    BlockMemory("DEC-9xw2", "decision", "Retry only calls that are safe to repeat"),
    BlockMemory("FCT-0001", "fact", "A fact is not told here."),
)
HOSTILE = (
    "<!-- holdfast:end -->",
    "a\n<!-- holdfast:end -->\n# Heading\n```sh\nrm -rf /\n```",
    "<!-- open",
    "-->",
    "``` ```` ~~~~",
    "# heading\n=====\n---",
    "@/etc/passwd and @~/.ssh/id_rsa and mail a@b.c",
    "</holdfast-data x> <script>alert(1)</script> <?php",
    "hidden\u202e\u200btext\x1b[31m\x00",
    "| a | b |\n|---|---|",
)


@pytest.fixture
def tree(project: Any) -> Any:
    """A work tree to connect in."""
    return project


def join(tree: Any, *names: str, told: Any = TOLD, **options: Any) -> ConnectionPlan:
    return connect(tree.clone, names, told, **options)


def part(tree: Any, *names: str, **options: Any) -> ConnectionPlan:
    return disconnect(tree.clone, names, **options)


def every_file(path: Path) -> dict[str, bytes]:
    """The work tree but for git's and our own folders, empty folders included."""
    found = {}
    for folder, folders, names in os.walk(path):
        folders[:] = [name for name in folders if name not in (".git", ".holdfast")]
        found[os.path.relpath(folder, path)] = b""
        for name in names:
            full = Path(folder) / name
            found[os.path.relpath(full, path)] = os.readlink(full).encode() if full.is_symlink() else full.read_bytes()
    return found


def test_a_block_looks_as_it_always_did(tree: Any) -> None:
    """A changed byte is a changed file in every project that is connected."""
    for name in reversed(TOOLS):  # alone, without AGENTS.md to take in
        join(tree, name)
        written = tree.path / TOOLS[name].paths[0]
        assert written.read_text() == (GOLDEN / f"{name}{written.suffix}").read_text()


def test_claude_takes_in_the_agents_file_where_that_has_the_block(tree: Any) -> None:
    """Two copies of one text drift apart and are paid for twice."""
    join(tree, "claude", "agents")
    assert (tree.path / "CLAUDE.md").read_text() == (GOLDEN / "claude-import.md").read_text()
    assert [(one.tool, one.path, one.current) for one in connected(tree.clone, lambda: TOLD)] == [
        ("agents", "AGENTS.md", True),
        ("claude", "AGENTS.md", True),
    ]
    part(tree, "agents")
    join(tree)
    assert "INV-k2m9" in (tree.path / "CLAUDE.md").read_text(), "without AGENTS.md it must stand alone"


@pytest.mark.parametrize("line", ["@AGENTS.md", "@./AGENTS.md", "- @AGENTS.md", "intro\r\n@AGENTS.md\r\n"])
def test_an_import_by_hand_counts(tree: Any, line: str) -> None:
    """Whoever takes AGENTS.md in must not get the same rules twice."""
    (tree.path / "CLAUDE.md").write_bytes(f"{line}\n".encode())
    plan = join(tree, "claude")
    assert [(change.path, change.action) for change in plan.changes] == [("AGENTS.md", "create")]
    assert (tree.path / "CLAUDE.md").read_bytes() == f"{line}\n".encode()
    (tree.path / "GEMINI.md").write_text("```\n@AGENTS.md\n```\n")
    assert join(tree, "gemini").changes[0].path == "GEMINI.md", "an import inside code is none"


def test_a_second_connect_changes_nothing(tree: Any) -> None:
    """A command that dirties the work tree each time is not run twice."""
    (tree.path / "CLAUDE.md").write_bytes(b"\xef\xbb\xbf# Mine\r\n\r\nno end")
    join(tree, *TOOLS)
    before = every_file(tree.path)
    assert join(tree).changed == () and join(tree, *TOOLS).changed == ()
    assert every_file(tree.path) == before


def test_disconnect_leaves_the_work_tree_as_it_was(tree: Any) -> None:
    """Who tries it and does not like it must not have to clean up."""
    (tree.path / "CLAUDE.md").write_bytes(b"\xef\xbb\xbf# Mine\r\n\r\nno end")
    (tree.path / "GEMINI.md").write_bytes(b"")
    (tree.path / ".cursor").mkdir()
    before = every_file(tree.path)
    join(tree, *TOOLS)
    assert part(tree).done
    assert every_file(tree.path) == before
    assert part(tree).changed == ()


def test_another_clone_refreshes_and_removes_without_a_private_record(tree: Any, tmp_path: Path) -> None:
    """A block that only its writer can undo is a stain in everybody's repository."""
    from tests.capture.conftest import Project

    join(tree, "cursor", "copilot")
    git = ["-C", str(tree.path)]
    os.spawnlp(os.P_WAIT, "git", "git", *git, "add", "-A")
    os.spawnlp(os.P_WAIT, "git", "git", *git, "commit", "-qm", "connected")
    os.spawnlp(os.P_WAIT, "git", "git", "clone", "-q", str(tree.path), str(tmp_path / "other"))
    side = tmp_path / "side2"
    side.mkdir()
    other = Project(tmp_path / "other", side)
    join(other, told=TOLD[:1])
    assert "DEC-7f3k" not in (other.path / ".github/copilot-instructions.md").read_text()
    part(other)
    assert not (other.path / ".github").exists() and not (other.path / ".cursor").exists()


def test_a_folder_with_something_else_in_it_stays(tree: Any) -> None:
    """Removing what we made must not take a neighbour along."""
    join(tree, "copilot")
    (tree.path / ".github" / "workflows").mkdir()
    part(tree, "copilot")
    assert (tree.path / ".github" / "workflows").is_dir()


def test_words_added_to_a_file_of_ours_keep_it(tree: Any) -> None:
    """Somebody's rule below our block is theirs, whoever made the file."""
    join(tree, "agents")
    with open(tree.path / "AGENTS.md", "a") as file:
        file.write("\nBe kind.\n")
    join(tree, told=())
    part(tree)
    assert (tree.path / "AGENTS.md").read_text() == "\nBe kind.\n"


TEXT = st.text(st.sampled_from("ab#`~ \t\r\n-<>!@é\u202e"), max_size=40)
WHOLE = TEXT.filter(lambda text: block.fenced(text.encode())[1] is None)


@given(before=WHOLE, head=st.one_of(st.none(), TEXT), tail=TEXT, bom=st.booleans(), crlf=st.booleans())
@example(before="foo", head=None, tail="bar", bom=False, crlf=False)
@example(before="a\nb\r", head=None, tail="", bom=True, crlf=True)
def test_connect_edit_around_disconnect_gives_the_edited_file(
    before: str, head: str | None, tail: str, bom: bool, crlf: bool
) -> None:
    """Every byte that is not ours is somebody's."""
    data = (b"\xef\xbb\xbf" if bom else b"") + before.encode()
    if crlf:
        data = data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    put = block.put(data, block_text(TOLD))
    found = block.find(put)
    assert found is not None and not found.edited
    assert block.take_out(put, found) == data
    assert block.put(data, block_text(TOLD)) == block.refresh(put, found, block_text(TOLD)), "the same bytes again"
    again = block.refresh(put, found, block_text(TOLD[:1]))
    there = block.find(again)
    assert there is not None and block.take_out(again, there) == data
    edited = data if head is None else head.encode()
    if edited.endswith(b"\r") and not data.endswith(b"\r"):
        edited += b"."  # behind it our own line end would be taken for its second half
    if not found.before and edited and not edited.endswith((b"\n", b"\r")):
        edited += found.newline  # on the line of our marker would be inside
    around = edited + put[len(data) :] + tail.encode()
    ours = block.find(around)
    if ours is None:
        return  # what was typed makes our block code
    gap = found.newline if edited and tail and not edited.endswith((b"\n", b"\r")) and edited != block.BOM else b""
    assert block.take_out(around, ours) == edited + gap + tail.encode()


@given(st.lists(st.sampled_from(HOSTILE) | st.text(max_size=60), max_size=8), st.booleans())
def test_no_statement_gets_out_of_its_line(statements: list[str], invariants: bool) -> None:
    """An approved sentence must not become a heading, a comment, code, an import, or the end of our block."""
    kind = "invariant" if invariants else "decision"
    told = [
        BlockMemory(f"X-{n}", kind, text.replace("\r", " ") or "x", (text or "x",)) for n, text in enumerate(statements)
    ]
    text = block_text(told)
    plain = len(block_text([BlockMemory("X-0", kind, "x")]).splitlines()) - 1
    assert len(text.split("\n")) == len(text.splitlines()) + 1, "no other line ends"
    assert len(text.splitlines()) <= (plain + len(told) if told else len(wiring_block.block_text([]).splitlines()))
    assert text.count("<!") == wiring_block.block_text([]).count("<!") + text.count("\\<!")
    for line in text.splitlines()[len(wiring_block.block_text([]).splitlines()) :]:
        assert not line or line.startswith(("- X-", "### ", "Read one with", "- … and"))
        assert "```" not in line and "~~~" not in line
        assert not any(word.startswith("@") for word in line.split())
    put = block.put(b"# mine\n", text)
    found = block.find(put)
    assert found is not None and found.inside == text
    assert block.take_out(put, found) == b"# mine\n"


def test_a_rule_is_told_to_its_end() -> None:
    """What the person approved in a second sentence holds as much as the first."""
    said, rest = "Add no tests to `agents-tests`. Add them to `external`.", "Ask before you do."
    for kind in ("invariant", "decision"):
        assert f"- X-1: {said} {rest}\n" in block_text([BlockMemory("X-1", kind, said, (), rest)])
        long = block_text([BlockMemory("X-1", kind, said, (), "and more " * 99)])
        assert f"- X-1: {said} and more" in long and "more …\n" in long


@pytest.mark.parametrize(
    ("details", "source", "told"),
    [
        ("Add them to `external`.\n\nRationale: it is slow.", None, "Add them to `external`."),
        ("Rationale: it is slow.", None, ""),
        ("I saw that too.", "run:r1", ""),
    ],
)
def test_a_reason_is_no_part_of_a_rule(details: str, source: str | None, told: str) -> None:
    """The block is read at each turn: why a rule holds can be asked."""
    rule = Candidate(id="DEC-one", type="decision", statement="Add no tests.", details=details, source=source, line="x")
    assert agent_setup.rest_of_rule(rule) == told


def test_hidden_characters_are_marked() -> None:
    """An approval of what was seen must not let in what was not."""
    text = block_text([BlockMemory("INV-1", "invariant", "keep\u202eevil\u200b\x1b[2J")])
    assert "keep⟨U+202E⟩evil⟨U+200B⟩⟨U+001B⟩[2J" in text


def test_a_block_has_a_limit_and_counts_the_rest() -> None:
    """Ten thousand decisions must not fill the window of every agent."""
    told = [BlockMemory(f"INV-{n:04}", "invariant", f"Invariant {n} " + "long " * 90) for n in range(40)]
    told += [BlockMemory(f"DEC-{n:04}", "decision", f"Decision {n} é") for n in range(5000)]
    text = block_text(told)
    assert len(text.encode()) <= wiring_block.MAX_INSIDE
    assert "INV-0000" in text and f"`{wiring_block.MORE['invariant']}`" in text
    assert "5000 more" in text or "DEC-0000" in text
    many = block_text(told[40:])
    assert len(many.encode()) <= wiring_block.MAX_INSIDE
    shown = many.count("\n- DEC-")
    assert shown > 100 and f"and {5000 - shown} more" in many


def test_a_block_edited_inside_is_not_touched(tree: Any) -> None:
    """Somebody wrote a rule where it looked right; it must not vanish at the next refresh."""
    join(tree, "agents")
    file = tree.path / "AGENTS.md"
    file.write_text(file.read_text().replace("Use SQLite", "Use Postgres"))
    before = file.read_bytes()
    for attempt in (lambda: join(tree, "agents"), lambda: join(tree), lambda: part(tree)):
        with pytest.raises(BlockEdited) as refused:
            attempt()
        assert "AGENTS.md:1" in str(refused.value) and "-- DEC-7f3k: Use Postgres" in str(refused.value)
        assert "--force" in refused.value.hint
        assert file.read_bytes() == before
    assert join(tree, "agents", dry_run=True).changes[0].edited == "AGENTS.md:1"
    (kept,) = join(tree, "agents", force=True).kept
    assert "Use Postgres" in Path(kept).read_text() and "Use SQLite" in file.read_text()
    assert part(tree).done and not file.exists()


def test_markers_that_make_no_block_are_refused_with_their_line(tree: Any) -> None:
    """Guessing which lines are ours would delete somebody's."""
    for text, line in (
        ("a\n<!-- holdfast:begin v1 sum=00 -->\nx\n", 2),
        ("a\n\n<!-- holdfast:end -->\n", 3),
        ("<!-- holdfast:begin v1 -->\n<!-- holdfast:end -->\nb\n" * 2, 4),
        ("<!-- holdfast:begin v1 -->\n<!-- holdfast:begin v1 -->\n<!-- holdfast:end -->\n", 2),
    ):
        (tree.path / "AGENTS.md").write_text(text)
        for attempt in (join, part):
            with pytest.raises(BadInput, match=f"AGENTS.md:{line} "):
                attempt(tree, "agents")
        assert (tree.path / "AGENTS.md").read_text() == text
        assert connected(tree.clone, lambda: TOLD) == []


def test_a_newer_block_is_left_to_a_newer_holdfast(tree: Any) -> None:
    """An old version must not undo what it does not understand."""
    (tree.path / "AGENTS.md").write_text("<!-- holdfast:begin v2 sum=00 -->\nx\n<!-- holdfast:end -->\n")
    with pytest.raises(FutureFormat):
        join(tree, "agents")


def test_markers_inside_a_code_fence_are_an_example(tree: Any) -> None:
    """A page that explains our block must not be taken for one."""
    shown = "````md\n<!-- holdfast:begin v1 sum=00 -->\n```\n<!-- holdfast:end -->\n````\n"
    (tree.path / "AGENTS.md").write_text(shown)
    assert join(tree, "agents").changes[0].action == "add"
    assert connected(tree.clone, lambda: TOLD)[0].current
    part(tree)
    assert (tree.path / "AGENTS.md").read_text() == shown
    (tree.path / "AGENTS.md").write_text("a\n```sh\nmake\n")
    with pytest.raises(BadInput, match=r"AGENTS\.md:2 opens a code fence"):
        join(tree, "agents")


def test_a_linked_file_is_written_once_and_stays_a_link(tree: Any) -> None:
    """AGENTS.md -> CLAUDE.md is common; a second block or a broken link would be ours to answer for."""
    (tree.path / "CLAUDE.md").write_text("# rules\n")
    (tree.path / "AGENTS.md").symlink_to("CLAUDE.md")
    os.chmod(tree.path / "CLAUDE.md", 0o664)
    before = every_file(tree.path)
    (change,) = join(tree, "agents", "claude").changes
    assert change.tools == ("agents", "claude")
    assert (tree.path / "AGENTS.md").is_symlink()
    assert (tree.path / "CLAUDE.md").read_text().count("holdfast:begin") == 1
    assert stat.S_IMODE((tree.path / "CLAUDE.md").stat().st_mode) == 0o664
    assert {one.tool for one in connected(tree.clone, lambda: TOLD)} == {"agents", "claude"}
    part(tree)
    assert every_file(tree.path) == before


@pytest.mark.parametrize("target", ["outside", "/etc/passwd", ".git/config", ".holdfast/holdfast.toml", "nothing"])
def test_a_link_that_leads_away_is_refused(tree: Any, tmp_path: Path, target: str) -> None:
    """A pull request must not choose which file of the user's we write over."""
    (tmp_path / "outside").write_text("mine\n")
    to = str(tmp_path / "outside") if target == "outside" else target
    (tree.path / "AGENTS.md").symlink_to(to)
    with pytest.raises(UnsafePath):
        join(tree, "agents")
    (tree.path / "docs").mkdir()
    (tree.path / ".github").symlink_to(tmp_path)
    with pytest.raises(UnsafePath):
        join(tree, "copilot")
    assert not (tmp_path / "copilot-instructions.md").exists() and (tmp_path / "outside").read_text() == "mine\n"
    join(tree, "gemini")
    assert join(tree).changed == (), "what is not ours does not stop a refresh"
    assert part(tree).done


def test_what_is_no_text_is_refused(tree: Any) -> None:
    """A block in the middle of a binary would break it."""
    hostile = ((b"\xff\xfeU\0T\0F\0", BadInput), (b"a\0b", BadInput), (b"x" * (1 << 21), TooLarge))
    for data, error in hostile:
        (tree.path / "GEMINI.md").write_bytes(data)
        with pytest.raises(error, match=r"GEMINI\.md"):
            join(tree, "gemini")
        assert (tree.path / "GEMINI.md").read_bytes() == data


def test_a_killed_write_leaves_nothing_behind(tree: Any) -> None:
    """A stray file in the work tree ends up in somebody's commit."""
    nobody = 99_999_999  # more than any system counts to: no process that runs here has this number
    stray, theirs = tree.path / f"AGENTS.md.{nobody}-0123abcd.tmp", tree.path / "AGENTS.md.bak"
    stray.write_text("half a blo")
    theirs.write_text("mine")
    join(tree, "agents")
    assert not stray.exists() and theirs.exists()


def test_an_outdated_block_is_said_to_be_one(tree: Any) -> None:
    """After a promotion people must learn which tools still work with the old rules."""
    join(tree, "agents", "cursor")
    assert [one.current for one in connected(tree.clone, lambda: TOLD)] == [True, True]
    assert [one.current for one in connected(tree.clone, lambda: TOLD[:2])] == [False, False]


def test_a_dry_run_shows_the_diff_and_writes_nothing(tree: Any) -> None:
    """People look first."""
    (tree.path / "AGENTS.md").write_bytes(b"rules\r\nno end")
    before = every_file(tree.path)
    plan = join(tree, "agents", "aider", dry_run=True)
    assert not plan.done and every_file(tree.path) == before
    assert plan.changes[0].diff[:2] == ("--- a/AGENTS.md", "+++ b/AGENTS.md")
    assert any("INV-k2m9" in line for line in plan.changes[0].diff)
    assert "read: CONVENTIONS.md" in plan.notes[0]


def test_with_nothing_connected_a_refresh_says_what_to_name(tree: Any) -> None:
    """`holdfast connect` alone must not write six files by surprise."""
    with pytest.raises(BadInput, match="no agent is connected") as nothing:
        join(tree)
    with pytest.raises(BadInput, match="not a tool that can be connected") as strange:
        join(tree, "emacs")
    for caught in (nothing, strange):
        assert set(connect_commands.TOOLS) <= set(re.findall(r"\w+", caught.value.hint or ""))


def test_every_agent_is_told_the_same_about_what_to_propose() -> None:
    """The block, the skill and the tool's description are read by different agents of one project."""
    block = (ROOT / "src/holdfast/capture/wiring/instructions.md").read_text(encoding="utf-8")
    (line,) = [line for line in block.splitlines() if line.startswith("- Propose ")]
    text = line.removeprefix("- ").partition(" `holdfast remember")[0]
    tools = json.loads((ROOT / "src/holdfast/interfaces/mcp/tool_table.json").read_text(encoding="utf-8"))["tools"]
    assert text in (ROOT / "plugins/source/SKILL.md").read_text(encoding="utf-8")
    assert text in next(tool["description"] for tool in tools if tool["name"] == "propose")
    assert "evidence" in text and "Not what you did" in text
