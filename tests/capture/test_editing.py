"""What an edit wrote, from the shapes in which tools tell of it."""

from holdfast.capture.agents.tool_input import agreed_edit, patch_edit, whole_file_edit


def test_a_file_written_whole_tells_which_lines_stood_there_before() -> None:
    """Else `why` credits a run with every line of a file that it only wrote again."""
    edit = whole_file_edit("a.py", "import os\nx = 1\ny = 2\n", before="import os\ny = 2\nz = 3\n", new=False)
    assert edit.added == ("import os", "x = 1", "y = 2")
    assert edit.kept == ("import os", "y = 2")
    assert edit.removed == ("z = 3",)


def test_of_a_file_that_is_new_nothing_was_kept_and_of_one_nobody_saw_nobody_knows() -> None:
    """A guess here becomes a wrong author later."""
    assert whole_file_edit("a.py", "x = 1\n", before=None, new=True).kept == ()
    assert whole_file_edit("a.py", "x = 1\n", before=None, new=False).kept is None
    assert whole_file_edit("a.py", "x = 1\nx = 1\n", before="x = 1\n", new=False).kept == ("x = 1",)


def test_of_an_edit_that_a_person_changed_only_what_the_agent_proposed_is_the_agents() -> None:
    """A person who mends a proposal before taking it would find a run named for the mended line (law 6)."""
    edit = agreed_edit(
        patch_edit("a.py", [" x", "-old", "+    mine = 1", "+theirs = 2", "+x = 1", "+x = 1"]), ["x = 1", "mine = 1"]
    )
    assert (edit.added, edit.removed) == (("    mine = 1", "x = 1"), ("old",))
    whole = whole_file_edit("a.py", "kept\nagent\nperson\n", before="kept\nwas\n", new=False)
    edit = agreed_edit(whole, ["kept", "agent", "dropped"])
    assert (edit.added, edit.kept, edit.removed, edit.whole) == (("kept", "agent"), ("kept",), ("was",), False)
    assert agreed_edit(whole, []).added == ()
