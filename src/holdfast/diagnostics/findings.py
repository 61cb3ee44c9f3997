"""What an examination found: plain values that the command line and tests read.

A finding is a problem (something is damaged or unsafe), partial (it cannot be told from here) or a
note (worth knowing, nothing is wrong). Each says where, in one sentence, and what to do next.
"""

import os
from collections.abc import Iterable, Mapping

from holdfast.errors import BrokenEntry
from holdfast.values import frozen

# The topics whose findings decide the log's verdict; the others are about the house around it.
LOG_TOPICS = ("log", "body", "capsule", "checkpoint")
_RANK = {"note": 0, "partial": 1, "problem": 2}
_VERDICTS = ("ok", "partial", "corrupt")


@frozen
class HealthFinding:
    """One thing worth saying, with its place."""

    severity: str  # problem, partial or note
    topic: str  # log, body, capsule, checkpoint, facts, store, git or index
    file: str  # as people should see it
    sentence: str
    next_step: str = ""
    line: int | None = None
    repair: str | None = None  # a repair `repair.apply` knows
    path: str = ""  # the file itself, for the repair

    @property
    def where(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


@frozen
class HealthReport:
    """Everything an examination found, the worst first, and how much was looked at."""

    findings: tuple[HealthFinding, ...]
    counts: Mapping[str, int]

    @property
    def verdict(self) -> str:
        """ok, partial or corrupt: what the log, its bodies and capsules are."""
        return _VERDICTS[max((_RANK[f.severity] for f in self.findings if f.topic in LOG_TOPICS), default=0)]

    @property
    def problems(self) -> list[HealthFinding]:
        return [finding for finding in self.findings if finding.severity == "problem"]

    @property
    def repairable(self) -> list[HealthFinding]:
        return [finding for finding in self.findings if finding.repair is not None]


def report(findings: Iterable[HealthFinding], counts: Mapping[str, int]) -> HealthReport:
    """A report with the worst first; within a rank as they were found."""
    return HealthReport(tuple(sorted(findings, key=lambda finding: -_RANK[finding.severity])), counts)


def relative(path: str, top: str) -> str:
    """A path as people should see it: from the top of the work tree."""
    return os.path.relpath(path, top).replace(os.sep, "/")


def place_of(path: str, error: BrokenEntry) -> tuple[int | None, str]:
    """The line that the message about a broken file begins with, and the reason after it."""
    line, _, reason = str(error).removeprefix(f"{path}:").partition(" ")
    return (int(line) if line.isdigit() else None), reason
