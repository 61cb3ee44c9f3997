"""Summaries: what a run's transcript says, short enough to read and full enough to continue from.

Made offline from turns alone; nothing is asked, nothing is trusted. Words that are somebody else's stay
theirs: each on one line, harmless in Markdown; hidden characters in them are made visible by the code that shows them.
"""

from holdfast.model.summary.fields import Summary, SummaryCommand, SummaryFile, summary_page
from holdfast.model.summary.run_summary import Account, turn_line

__all__ = ["Account", "Summary", "SummaryCommand", "SummaryFile", "summary_page", "turn_line"]
