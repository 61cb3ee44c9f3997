"""Why a line is there: which run and which turn wrote it, or that nobody recorded it."""
