"""One way in for all transcripts, live or imported: turns become runs, sessions and line hashes."""
