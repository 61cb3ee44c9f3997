"""Explains lines for people: lines with the same answer are grouped, in order or by run.

`recorded`: the run wrote this text, and the commit was made in it. `matched`: only the text is evidence. Otherwise the
author is not known, and the answer gives what is: the run in which the line was committed, turns that may have written
it, or nothing.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from itertools import groupby
from typing import Any

from holdfast.git.cited_commits.commit_details import Commit
from holdfast.git.clone import Clone
from holdfast.model.event import Event, timestamp
from holdfast.patterns import regex
from holdfast.recall.why import recorded_runs
from holdfast.recall.why.line_authors import LineFindings, LineVerdict, WhyTarget, runs_of
from holdfast.recall.why.verdict import NOBODY, AuthorDoubt, LineAuthor, TurnName
from holdfast.values import frozen, grouped

RECORDED, MATCHED, COMMITTED = "recorded", "matched", "committed"
LIKELY, AMBIGUOUS, UNKNOWN = "likely", "ambiguous", "unknown"
_BY_TRAILER = "a trailer of its commit names a run, and no record confirms it"
_CREDIT = regex(r"^(?:co-authored-by|assisted-by|generated-by): *(\S.*)$", re.IGNORECASE)
_MARGIN = 2  # seconds: git rounds a commit's time down


@frozen
class WhyRun:
    """A run, in short."""

    id: str
    agent: str | None
    started: str
    summary: str
    parent: str | None


@frozen
class WhyTurn:
    """A turn of a run: the prompt, its author, and what the turn did."""

    turn: int
    ts: str
    by: str
    prompt: str
    asked_in: int  # the turn with the prompt; an earlier one if this one only continues it
    line: str


@frozen
class WhyCommit:
    """The commit that added a line."""

    oid: str
    ts: str
    author: str
    subject: str
    was: str | None = None  # its first id, if history was rewritten since
    how: str = ""  # how that id was found
    credits: tuple[str, ...] = ()  # the co-authors that its message names


@frozen(kw_only=True)
class WhyAnswer:
    """Consecutive lines with one answer."""

    first: int
    last: int
    text: tuple[str, ...]
    state: str  # recorded, matched, committed, likely, ambiguous or unknown
    reason: str = ""  # why nobody is named
    commit: WhyCommit | None = None  # None: not committed yet
    run: WhyRun | None = None  # who wrote it
    turns: tuple[WhyTurn, ...] = ()  # several if they cannot be told apart; also of a likely run
    during: tuple[WhyRun, ...] = ()  # runs that made its commit, if nobody is named
    by_trailer: bool = False  # only a trailer of the commit names them, which anybody may write
    maybe: tuple[TurnName, ...] = ()


@frozen(kw_only=True)
class RunShare:
    """All lines of a file that one run wrote, or that no run did."""

    run: WhyRun | None
    count: int
    recorded: int
    ranges: tuple[tuple[int, int], ...]
    turns: tuple[WhyTurn, ...]
    reasons: Mapping[str, int]  # why nobody is named, and for how many lines


@frozen(kw_only=True)
class Why:
    """The explanation of a file's lines."""

    path: str
    first: int
    last: int
    total: int
    whole: bool  # the question was about the whole file
    answers: tuple[WhyAnswer, ...]
    shares: tuple[RunShare, ...]  # newest first; lines without a run last
    notes: tuple[str, ...] = ()


def explain(clone: Clone, asked: WhyTarget, findings: LineFindings) -> Why:
    """Returns the findings about a target's lines as answers for people."""
    explainer = _Explainer(clone, findings)
    groups = [list(group) for _, group in groupby(findings.lines, explainer.key)]
    answers = tuple(explainer.answer(group) for group in groups)
    same = {name: getattr(asked, name) for name in ("path", "first", "last", "whole", "notes")}
    shares = tuple(_shares(answers)) if asked.whole else ()
    return Why(**same, total=len(asked.text), answers=answers, shares=shares)


class _Explainer:
    """Turns findings into answers; each run and commit is looked up once."""

    def __init__(self, clone: Clone, found: LineFindings) -> None:
        self._clone, self._found = clone, found
        self._runs: dict[str, WhyRun] = {}
        self._during: dict[str | None, tuple[tuple[str, ...], bool]] = {}

    @cached_property
    def _runs_at(self) -> Mapping[str, Sequence[Event]]:
        """The runs that ended at any of the lines' commits."""
        return recorded_runs.runs_at(self._clone, {one.blamed.commit for one in self._found.lines if one.blamed.commit})

    def key(self, one: LineVerdict) -> tuple[object, ...]:
        """Returns a value that is equal for lines with the same answer."""
        said = one.verdict
        if isinstance(said, LineAuthor):
            return one.blamed.commit, said.run, said.turns, said.recorded
        return one.blamed.commit, said.reason, said.maybe, said.likely

    def answer(self, group: Sequence[LineVerdict]) -> WhyAnswer:
        first, last = group[0].blamed, group[-1].blamed
        said = group[0].verdict
        fields: dict[str, Any] = {
            "first": first.number,
            "last": last.number,
            "text": tuple(one.blamed.text for one in group),
            "commit": self._commit_of(first.commit, said),
        }
        if isinstance(said, LineAuthor):
            turns = tuple(self._turn(said.run, turn) for turn in said.turns)
            state = RECORDED if said.recorded else MATCHED
            return WhyAnswer(**fields, state=state, run=self.run(said.run), turns=turns)
        during, by_trailer = self._committed_in(first.commit) if not first.cut else ((), False)
        state = LIKELY if said.likely else AMBIGUOUS if said.maybe else COMMITTED if during else UNKNOWN
        reason = _BY_TRAILER if by_trailer and said.reason == NOBODY else self._reason(said, during)
        if first.cut and not said.maybe:
            reason = "this clone is shallow: the history of the line is missing"
        fields |= {"during": tuple(map(self.run, during)), "by_trailer": by_trailer}
        turns = tuple(self._turn(by.run, by.turn) for by in said.maybe) if said.likely else ()
        return WhyAnswer(**fields, state=state, reason=reason, turns=turns, maybe=said.maybe)

    def _reason(self, said: AuthorDoubt, during: Sequence[str]) -> str:
        if said.reason != NOBODY:
            return said.reason
        harmed = [one.run for one in self._found.records.values() if one.harmed]
        if harmed:
            more = f" (and {len(harmed) - 1} more)" if harmed[1:] else ""
            return f"the record of run {harmed[0]}{more} is damaged: see `holdfast doctor`"
        if not during:
            return said.reason
        records = [self._found.records[run] for run in during if run in self._found.records]
        why = "that did not record its edits line by line" if records else "whose record is private to another clone"
        why = "whose record is missing here" if any(one.folder is None for one in records) else why
        why = "whose edits do not include this line" if any(one.has_lines for one in records) else why
        return f"it was committed during a run {why}"

    def _committed_in(self, oid: str | None) -> tuple[tuple[str, ...], bool]:
        """Returns the runs in which a commit was made, by their records, else by envelopes, else by a trailer."""
        if oid not in self._during:
            commit = self._found.commits.get(oid or "")
            runs = tuple(runs_of(self._found, oid)) or tuple(self._by_envelope(commit))
            named = () if runs else tuple(self._by_trailer(commit))
            self._during[oid] = runs or named, bool(named)
        return self._during[oid]

    def _by_envelope(self, commit: Commit | None) -> Iterable[str]:
        """Returns the runs of other clones that ended at a commit made meanwhile; our own runs record their commits."""
        events = self._runs_at.get(commit.oid, ()) if commit else ()
        others = (event for event in events if not recorded_runs.has_body(self._clone, event))
        return sorted(event.run_id or "" for event in others if commit and _was_made_in(event, commit))

    def _by_trailer(self, commit: Commit | None) -> Iterable[str]:
        """Returns the runs that a commit's trailers name, if it was made while they ran."""
        named = sorted(recorded_runs.trailer_names(commit.message)) if commit else ()
        events = filter(None, (recorded_runs.run_event(self._clone, run) for run in named))
        spans = [(event.run_id or "", *recorded_runs.span(self._clone, event)) for event in events]
        at = commit.committed if commit else 0
        return [run for run, begin, end in spans if begin - _MARGIN <= at <= end + _MARGIN]

    def _commit_of(self, oid: str | None, said: LineAuthor | AuthorDoubt) -> WhyCommit | None:
        if oid is None:
            return None
        commit, olds = self._found.commits.get(oid), self._found.became.get(oid, {})
        if commit is None:
            return WhyCommit(oid, "", "", "")
        was = said.view.commit if isinstance(said, LineAuthor) and said.view.commit in olds else None
        credits_ = (found[1] for row in commit.message.split("\n") if (found := _CREDIT.match(row)))
        when, subject = timestamp(datetime.fromtimestamp(commit.committed, UTC)), commit.message.partition("\n")[0]
        how = olds.get(was or "", "")
        return WhyCommit(oid, when, commit.name, subject, was, how, tuple(dict.fromkeys(credits_)))

    def run(self, run: str) -> WhyRun:
        """Returns a run in short, as far as it is in this clone."""
        if run in self._runs:
            return self._runs[run]
        record = self._found.records.get(run)
        event = record.event if record else recorded_runs.run_event(self._clone, run)
        assert event is not None
        context, joined = record.context if record else {}, self._clone.joined(event)
        name = recorded_runs.text_of(context.get("agent"), "name") or None
        started = str(joined.get("started") or context.get("started") or event.ts)
        summary = recorded_runs.text_of(joined.get("outputs"), "summary")
        return self._runs.setdefault(run, WhyRun(run, name, started, summary, event.parent_run_id))

    def _turn(self, run: str, number: int) -> WhyTurn:
        turns: Mapping[int, recorded_runs.RecordedTurn] = self._found.records[run].turns
        turn = turns[number]
        prompt_turn = next((turns[n] for n in sorted(turns, reverse=True) if n <= number and turns[n].prompt), turn)
        return WhyTurn(number, turn.ts, turn.by, prompt_turn.prompt, prompt_turn.number, turn.line)


def _was_made_in(event: Event, commit: Commit) -> bool:
    """Whether a commit was made during the run that names it.

    A run that was imported later names the commit it started at, which is older than the run.
    """
    start, end = recorded_runs.began(event), recorded_runs.seconds(event.ts)
    return start is not None and end is not None and start + _MARGIN < commit.committed <= end


def _shares(answers: Sequence[WhyAnswer]) -> list[RunShare]:
    """Returns the lines of a file by run, newest first, then those without a run."""
    shares = [_share(group) for group in grouped((one.run.id if one.run else None, one) for one in answers).values()]
    shares.sort(key=lambda one: one.run.started if one.run else "", reverse=True)
    return shares


def _share(group: Sequence[WhyAnswer]) -> RunShare:
    reasons: Counter[str] = Counter()
    for one in group:
        by = f"likely by run {one.maybe[0].run}" if one.state == LIKELY else one.reason
        reasons[by] += _size(one) if one.run is None else 0
    turns = {asking.turn: asking for one in group if one.run for asking in one.turns}
    return RunShare(
        run=group[0].run,
        count=sum(map(_size, group)),
        recorded=sum(_size(one) for one in group if one.state == RECORDED),
        ranges=tuple(_merged((one.first, one.last) for one in group)),
        turns=tuple(turns[number] for number in sorted(turns)),
        reasons={reason: number for reason, number in reasons.items() if number},
    )


def _size(one: WhyAnswer) -> int:
    return one.last - one.first + 1


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the ranges with adjacent ones merged."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and merged[-1][1] + 1 >= first:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return merged
