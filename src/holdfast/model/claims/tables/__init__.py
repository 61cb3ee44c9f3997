"""What is known about engineering talk: what excludes what, what opposes what, what means the same."""
