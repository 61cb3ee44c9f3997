"""What the index's file holds: its tables, its version, and the name of its file.

A `unit` is one source of rows (a segment, a spool, an entry); `member` says which rows it brings,
because the same event may lie in a spool and in a segment. A row is shown if a shown unit brings
it (a file that a run made: if the run is shown), and only shown rows stand in `words`, so that
ranking never depends on what other branches hold. Row numbers of events grow with time and those
of memories are negative: ranking needs no join.

A memory's `doubt` says why it does not count, if it does not: `blob` and `words` are its text's, and
those of the approvals among the events. This clone's approvals on lines that are not visible here
count, too; `elsewhere` holds them, and `heard` how far their sources were read. A run that was imported
later than it ran stands where it ran; its `words` say when it was recorded, by which lines see it.

`seq` is a row's place in its group (its parent and that one's children): neighbours are one apart, the
first is 0, and what has no place among them has none. `content` names the text that a model may embed.
Long text stands last, because what stands behind it costs a walk over its pages. `touch` says which
files a row is about; while a row is not shown its paths stand there with a minus.

The tables themselves stand in `tables.sql`. Only plain strings here: the quick path reads this module at every start.
"""

APPLICATION = 0x484F4C44  # "HOLD"
VERSION = 7
WAL_SINCE = (3, 51, 3)  # earlier versions can corrupt a WAL that two connections reset at once

COLUMNS = ("title", "labels", "text", "parts", "context", "facets")
WEIGHTS = "4.0, 2.0, 1.0, 1.0, 1.0, 0.0"


def facet(kind: str, value: str) -> str:
    """One word of the `facets` column: an exact value that no tokenizer takes apart.

    It ends in a digit so that the stemmer leaves it alone.
    """
    return f"{kind}{value.casefold().encode('utf-8', 'replace')[:200].hex()}q0"


def file_name(git_dir: str, common_dir: str, kind: str = "index") -> str:
    """The index's file: one for each work tree, so that none waits for another's branch; so the corpus'."""
    if git_dir == common_dir:
        return f"{kind}.db"
    return f"{kind}-{git_dir.replace(chr(92), '/').rstrip('/').rsplit('/', 1)[-1]}.db"
