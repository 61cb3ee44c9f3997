"""History was rewritten: where a cited commit is now, by two kinds of proof or not at all."""
