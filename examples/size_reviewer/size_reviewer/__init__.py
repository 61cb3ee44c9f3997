"""A reviewer for Holdfast's crews: objects to changes that nobody reads, and to notes that were left in them.

A reviewer is anything with `review(step) -> list[str]`. Holdfast finds it by the entry point in `pyproject.toml`, makes
it without arguments, and asks it about each step whose checks passed.
"""

from holdfast.crew.historian import FinishedStep

MOST_LINES = 400  # added in one task: beyond that people stop reading
NOTES = ("FIXME", "XXX", "do not merge")


class SizeReviewer:
    """Looks at the diff alone; it runs nothing and changes nothing."""

    def review(self, step: FinishedStep) -> list[str]:
        """What a person should look at, a sentence each; nothing if all is well."""
        added = [line[1:] for line in step.diff.splitlines() if line.startswith("+") and not line.startswith("+++")]
        found = []
        if len(added) > MOST_LINES:
            found.append(f"It adds {len(added)} lines; more than {MOST_LINES} are hard to read.")
        for note in NOTES:
            if left := next((line.strip() for line in added if note.lower() in line.lower()), None):
                found.append(f"It leaves a note behind: {left[:100]}")
        if not any("test" in name.lower() for name in step.files):
            found.append("It changes no test.")
        return found
