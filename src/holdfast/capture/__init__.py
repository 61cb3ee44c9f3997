"""Agent to truth: commands and agents run, and what they did becomes capsules and events."""
