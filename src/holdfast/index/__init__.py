"""Truth to look-up: a SQLite index that may be thrown away at any time."""
