"""What an edit wrote, from the shapes in which tools tell of it."""

from holdfast.capture.agents.editing import written


def test_a_file_written_whole_tells_which_lines_stood_there_before() -> None:
    """Else `why` credits a run with every line of a file that it only wrote again."""
    edit = written("a.py", "import os\nx = 1\ny = 2\n", before="import os\ny = 2\nz = 3\n", new=False)
    assert edit.added == ("import os", "x = 1", "y = 2")
    assert edit.kept == ("import os", "y = 2")
    assert edit.removed == ("z = 3",)


def test_of_a_file_that_is_new_nothing_was_kept_and_of_one_nobody_saw_nobody_knows() -> None:
    """A guess here becomes a wrong author later."""
    assert written("a.py", "x = 1\n", before=None, new=True).kept == ()
    assert written("a.py", "x = 1\n", before=None, new=False).kept is None
    assert written("a.py", "x = 1\nx = 1\n", before="x = 1\n", new=False).kept == ("x = 1",)
