"""What the index's file holds: its tables, its version, and the name of its file.

A `unit` is one source of rows (a segment, a spool, an entry); `member` says which rows it brings,
because the same event may lie in a spool and in a segment. A row is shown if a shown unit brings
it (a file that a run made: if the run is shown), and only shown rows stand in `words`, so that
ranking never depends on what other branches hold. Row numbers of events grow with time and those
of memories are negative: ranking needs no join.

A memory's `doubt` says why it does not count, if it does not: `blob` and `words` are its text's, and
those of the approvals among the events. This clone's approvals on lines that are not visible here
count, too; `elsewhere` holds them, and `heard` how far their sources were read. A run that was taken in
later than it ran stands where it ran; its `words` say when it was recorded, by which lines see it.

`seq` is a row's place in its group (its parent and that one's children): neighbours are one apart, the
first is 0, and what has no place among them has none. `content` names the text that a model may embed.
Long text stands last, because what stands behind it costs a walk over its pages. `touch` says which
files a row is about; while a row is not shown its paths stand there with a minus.

Only plain strings here: the quick path reads this module at every start.
"""

APPLICATION = 0x484F4C44  # "HOLD"
VERSION = 7
WAL_SINCE = (3, 51, 3)  # earlier versions can corrupt a WAL that two connections reset at once

COLUMNS = ("title", "labels", "text", "parts", "context", "facets")
WEIGHTS = "4.0, 2.0, 1.0, 1.0, 1.0, 0.0"

TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE ready (name TEXT PRIMARY KEY, signature TEXT, text TEXT, json TEXT, until TEXT) WITHOUT ROWID;
CREATE TABLE unit (
  id INTEGER PRIMARY KEY, name TEXT UNIQUE, kind TEXT, shown INTEGER, until TEXT, offset INTEGER
);
CREATE TABLE row (
  id INTEGER PRIMARY KEY, key BLOB, shown INTEGER, seq INTEGER, parent INTEGER, content BLOB,
  name TEXT, kind TEXT, what TEXT, ts TEXT, status INTEGER, tier TEXT, doubt TEXT, expires TEXT,
  task TEXT, tags TEXT, layer TEXT, line TEXT, head TEXT, path TEXT, target TEXT, run TEXT, sha256 TEXT,
  supersedes TEXT, blob TEXT, words TEXT, lacks TEXT,
  title TEXT, labels TEXT, text TEXT, parts TEXT, context TEXT, facets TEXT
);
CREATE TABLE used (name TEXT PRIMARY KEY, times INTEGER, last INTEGER) WITHOUT ROWID;
CREATE TABLE heard (name TEXT PRIMARY KEY, offset INTEGER) WITHOUT ROWID;
CREATE TABLE elsewhere (
  source TEXT, kind TEXT, target TEXT, ts TEXT, event BLOB, blob TEXT, words TEXT
);
CREATE TABLE member (unit INTEGER, row INTEGER, PRIMARY KEY (unit, row)) WITHOUT ROWID;
CREATE TABLE path (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE touch (path INTEGER, row INTEGER, PRIMARY KEY (path, row)) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
  title, labels, text, parts, context, facets, content='', tokenize="porter unicode61 remove_diacritics 2"
);
"""

INDEXES = {  # filling an empty index goes faster without them: they are made at the end
    "row_key": "CREATE UNIQUE INDEX IF NOT EXISTS row_key ON row (key) WHERE key IS NOT NULL",
    "row_target": "CREATE INDEX IF NOT EXISTS row_target ON row (target) WHERE kind = 'event'",
    "row_parent": "CREATE INDEX IF NOT EXISTS row_parent ON row (parent, seq) WHERE parent IS NOT NULL",
    "row_newer": "CREATE INDEX IF NOT EXISTS row_newer ON row (supersedes) WHERE supersedes IS NOT NULL",
    "row_lacks": "CREATE INDEX IF NOT EXISTS row_lacks ON row (lacks) WHERE lacks IS NOT NULL",
    "row_turn": "CREATE INDEX IF NOT EXISTS row_turn ON row (run) WHERE kind = 'turn'",
    "row_content": "CREATE INDEX IF NOT EXISTS row_content ON row (content) WHERE content IS NOT NULL",
    "touch_row": "CREATE INDEX IF NOT EXISTS touch_row ON touch (row)",
    "member_row": "CREATE INDEX IF NOT EXISTS member_row ON member (row)",
}


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
