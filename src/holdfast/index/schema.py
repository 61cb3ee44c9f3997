"""The content of the index's file: its tables, its version, and its name.

A `unit` is one source of rows (a segment, a spool, an entry); `member` links it to its rows, because the same event may
be in a spool and in a segment. A row is shown if one of its units is (a run's file: if the run is), and only shown rows
are in `words`, so that the ranking never depends on other branches. Row numbers of events grow with time and those of
memories are negative: the ranking needs no join.

A memory's `doubt` says why it does not count, if so: `blob` and `words` are its text's, and those of the approvals
among the events. This clone's approvals on invisible lines (a line is a branch's work) count too; `elsewhere` contains
them, and `heard` how far their sources were read. An imported run has the time it ran; its `words` say when it was
recorded, which decides the lines that see it.

`seq` is a row's position in its group (its parent and that one's children): neighbours differ by one, the first is 0,
rows without a position have none. `content` names the text that a model may embed. Long text is the last column,
because reading a column behind it costs reading its pages. `touch` says which files a row is about; while a row is not
shown, its paths are negative there.

The tables themselves are in `tables.sql`. Only plain strings here: the quick path reads this module at every start.
"""

APPLICATION = 0x484F4C44  # "HOLD"
VERSION = 7
WAL_SINCE = (3, 51, 3)  # earlier versions can corrupt a WAL that two connections reset at once

COLUMNS = ("title", "labels", "text", "parts", "context", "facets")
WEIGHTS = "4.0, 2.0, 1.0, 1.0, 1.0, 0.0"


def facet(kind: str, value: str) -> str:
    """Returns one word of the `facets` column: an exact value that no tokenizer splits.

    It ends in a digit so that the stemmer does not change it.
    """
    return f"{kind}{value.casefold().encode('utf-8', 'replace')[:200].hex()}q0"


def file_name(git_dir: str, common_dir: str, kind: str = "index") -> str:
    """Returns the name of the index's file: one for each work tree, so that none waits for another."""
    if git_dir == common_dir:
        return f"{kind}.db"
    return f"{kind}-{git_dir.replace(chr(92), '/').rstrip('/').rsplit('/', 1)[-1]}.db"
