"""Retrieval over the graph of records, files and names: a step on top of the search, off unless it is set."""
