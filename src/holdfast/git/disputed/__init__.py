"""Two sides say different things of one entry: found wherever git left them, shown by field, settled."""
