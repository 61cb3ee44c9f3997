"""Live sessions: pointers that hooks left, and the transcripts they point to."""
