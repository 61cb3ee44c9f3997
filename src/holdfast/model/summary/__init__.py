"""Summaries: what a run's transcript says, short enough to read and full enough to go on from.

Made offline from turns alone; nothing is asked, nothing is trusted. Words that are somebody else's stay
theirs: each on one line, harmless in Markdown; what hides in them is made visible by whoever shows them.
"""

from holdfast.model.summary.account import Account
from holdfast.model.summary.telling import page, turn_line
from holdfast.model.summary.values import Ran, Summary, Touched

__all__ = ["Account", "Ran", "Summary", "Touched", "page", "turn_line"]
