"""Truth on disk: where files lie, what their bytes mean, and the one way to write them."""
