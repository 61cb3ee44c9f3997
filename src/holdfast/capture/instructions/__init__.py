"""The block that Holdfast keeps in the files agents read first, such as AGENTS.md."""
