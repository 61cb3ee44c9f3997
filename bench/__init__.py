"""Speed, measured beside its floor in the same run."""
