-- The tables of the index. What they mean: index/schema.py.
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

-- Filling an empty index goes faster without these: they are made at the end.
CREATE UNIQUE INDEX IF NOT EXISTS row_key ON row (key) WHERE key IS NOT NULL;
CREATE INDEX IF NOT EXISTS row_target ON row (target) WHERE kind = 'event';
CREATE INDEX IF NOT EXISTS row_parent ON row (parent, seq) WHERE parent IS NOT NULL;
CREATE INDEX IF NOT EXISTS row_newer ON row (supersedes) WHERE supersedes IS NOT NULL;
CREATE INDEX IF NOT EXISTS row_lacks ON row (lacks) WHERE lacks IS NOT NULL;
CREATE INDEX IF NOT EXISTS row_turn ON row (run) WHERE kind = 'turn';
CREATE INDEX IF NOT EXISTS row_content ON row (content) WHERE content IS NOT NULL;
CREATE INDEX IF NOT EXISTS touch_row ON touch (row);
CREATE INDEX IF NOT EXISTS member_row ON member (row);
