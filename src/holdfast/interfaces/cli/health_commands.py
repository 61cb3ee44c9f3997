"""Commands that ask whether it is sound: doctor, check. They end with 1 if it is not.

`holdfast stats`: what was counted in this clone.

What was counted, in words and as an object.

`holdfast scan`: what today's rules would redact in what is stored.

What `holdfast scan` says.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import click

from holdfast.errors import HoldfastError
from holdfast.interfaces.cli.invocation import Invocation, answer, command, progress_bar
from holdfast.interfaces.cli.output import as_plain, picked, say, show, styled
from holdfast.interfaces.cli.phrases import ago, count, lines, table, toned
from holdfast.interfaces.cli.root import root

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.diagnostics.agent_health import AgentHealth
    from holdfast.diagnostics.check import GateVerdict
    from holdfast.diagnostics.findings import HealthFinding, HealthReport
    from holdfast.diagnostics.repair import Repair
    from holdfast.diagnostics.secret_scan import SecretScan
    from holdfast.diagnostics.stats import Duration, RecallStats, Stats, WorkStats
    from holdfast.project import Project


_TRUST = {"yes": "hooks approved", "no": "hooks not approved", "not needed": ""}
_LOG = {"ok": "the log is ok", "partial": "a part of the log is missing here"}
_ONE = {
    "bodies": "event text",
    "memories": "memory",
    "segments": "log file",
}  # of what is counted, where it is not the word without its s


def report_text(found: HealthReport, repairs: Sequence[Repair] | None) -> str:
    """What doctor found, and what it mended or would mend."""
    said = [*map(_finding, found.findings), _verdict(verdict_word(found), found.counts)]
    if repairs is not None:
        states = ["repaired" if one.done else "not repaired" if one.failed else "would repair" for one in repairs]
        rows = [f"{how}: {one.file}: {one.failed or one.action}" for how, one in zip(states, repairs, strict=True)]
        said += rows or ["Nothing can be repaired."]
        waits = any(not item.done and item.failed is None for item in repairs)
        said += ["Do it with: holdfast doctor --repair --yes"] if waits else []
    return lines(said)


def verdict_word(found: HealthReport) -> str:
    """The verdict: it is about the log, and what else is wrong must not end in an `ok`."""
    log = _LOG.get(found.verdict, f"the log is {found.verdict}")
    return f"{count(len(found.problems), 'problem')}; {log}" if found.problems else found.verdict


def agent_row(one: AgentHealth) -> tuple[str, str, str, str]:
    """An agent: whether it is connected, trusted, and called."""
    scope = "connected" + (" for this repository" if one.connected == "project" else "")
    scope += "" if one.unchanged else ", but its settings were changed"
    seen = f"last called {ago(one.last_seen)}" if one.last_seen else "not called yet"
    late = f"; {count(one.late, 'time')} too slow" if one.late and one.last_seen else ""
    wired = (scope, _TRUST[one.trusted]) if one.connected else ("not connected", "")
    seen = seen if one.connected or one.last_seen else ""
    return one.tool, *wired, seen + late


def tools(found: Sequence[AgentHealth]) -> list[str]:
    """The agents that are here or connected, a line each, for `doctor`."""
    here = [one for one in found if one.installed or one.connected]
    rows = [agent_row(one) for one in here]
    steps = [f"  next for {one.tool}: {one.next_step}" for one in here if one.next_step]
    return ["Agents:", *(f"  {row}" for row in table(rows)), *steps] if here else []


def verdict_text(found: GateVerdict) -> str:
    against = f", compared with {found.base[:12]}" if found.base else ""
    return lines(map(_finding, (*found.problems, *found.notes)), _verdict(found.word, found.counts) + against)


def _finding(finding: HealthFinding) -> str:
    step = f"\n  next: {finding.next_step}" if finding.next_step else ""
    return f"{toned(finding.severity)}: {finding.where}: {finding.sentence}{step}"


def looked_at(counts: Mapping[str, int]) -> str:
    """What was looked at, and how much of it."""
    said = {name: count(number, _ONE.get(name, name.removesuffix("s"))) for name, number in counts.items()}
    if counts.get("events") and (own := counts.get("own")) is not None:
        whose = "all" if own == counts["events"] else "none" if own == 0 else f"{own:,} of them"
        said["events"] += f" ({whose} recorded here)"
    return ", ".join(words for name, words in said.items() if name != "own")


def _verdict(word: str, counts: Mapping[str, int]) -> str:
    looked = looked_at(counts)
    verdict = styled(word, "bad") if word[:1].isdigit() else toned(word)
    return f"{verdict}: checked {looked}" if looked else verdict


def _object(word: str, findings: Sequence[HealthFinding], found: HealthReport | GateVerdict) -> dict[str, Any]:
    names = ("severity", "topic", "file", "line", "sentence", "next_step", "repair")
    return {
        "verdict": word,
        "problems": len(found.problems),
        "counts": found.counts,
        "findings": [{"id": one.where, **picked(one, *names)} for one in findings],
    }


def report_object(found: HealthReport, repairs: Sequence[Repair] | None) -> dict[str, Any]:
    """The same as JSON."""
    mended = {} if repairs is None else {"repairs": [{"id": item.file, **as_plain(item)} for item in repairs]}
    return {**_object(found.verdict, found.findings, found), **mended}


def verdict_object(found: GateVerdict) -> dict[str, Any]:
    return {"id": found.base, **_object(found.word, (*found.problems, *found.notes), found)}


@command(root, "doctor")
@click.option("--repair", is_flag=True, help="Show what can be repaired; with --yes, repair it.")
@click.option("--yes", is_flag=True, help="With --repair: do it.")
@click.option(
    "--against",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Compare with a checkpoint of `log --checkpoint`.",
)
def doctor(place: Invocation, repair: bool, yes: bool, against: str | None) -> int:
    """Check everything that is stored, and report problems."""
    if yes and not repair:
        raise click.UsageError("--yes goes with --repair.")
    with place.project(even_damaged=True) as project:
        with progress_bar("Checking the store") as progress:
            report = project.health.doctor(against=against, progress=progress)
        with contextlib.suppress(HoldfastError):  # a damaged store cannot say
            old = {one.path: one.tool for one in reversed(project.clients.connected()) if not one.current}
            for path, tool in old.items():
                project.notices.append(f"the block in {path} is older than what is accepted: holdfast connect {tool}")
        agents = project.clients.tools()
        repairs = project.health.repair(report, apply=yes) if repair else None
        report = project.health.doctor(against=against) if yes else report
        show(
            report,
            lambda found: lines(report_text(found, repairs), tools(agents)),
            lambda found: {**report_object(found, repairs), "tools": [{"id": a.tool, **as_plain(a)} for a in agents]},
        )
    return 1 if report.problems else 0


@command(root, "check")
@click.option("--base", metavar="REF", help="Compare with this branch or commit; default: the default branch.")
def check(place: Invocation, base: str | None) -> int:
    """Check memory in CI.

    Every changed memory has its event, the log verifies, and no published file was altered.
    """
    found = place.as_it_lies().health.check(base=base)
    show(found, verdict_text, verdict_object)
    return 1 if found.problems else 0


_MOST, _MOST_LISTED = 5, 100  # memories on the screen, and in JSON
_DAYS = 7  # a week
_COUNTS = (("used", "used"), ("recalled", "recalled"), ("told", "told"), ("looked", "looked at"))
_OUTDATED = ("stale", "expired", "superseded", "deprecated")


def stats_text(found: Stats) -> str:
    """Everything on one screen; parts of which nothing is known are left out."""
    if found.is_empty:
        return lines("Nothing was counted yet: recall and context count what they find.", _today(found))
    since = f" since {found.since[:10]}" if found.since else ""
    rows = [(m.what, count(m.calls, "call"), count(m.texts, "text"), f"{m.seconds:,.1f} s") for m in found.models]
    models = [*(["Models:", *table(rows)] if rows else []), *_today(found)]
    parts = [_recalls(found.recalls), _contexts(found), _memories(found, since), _work(found), models]
    told = [line for part in parts if part for line in ("", *part)]
    return lines(f"Counted in this clone{since}; it stays here.", told)


def _recalls(found: RecallStats) -> list[str]:
    if not found.asked:
        return []
    recent = found.recent
    rows = [
        ("asked", f"{found.asked:,}", _took(found.took)),
        ("found nothing", f"{found.empty:,}", _part(found.empty, found.asked)),
        ("used afterwards", f"{found.used:,}", f"{_part(found.used, recent)}, within a day"),
    ]
    of = f" (used and times: of the last {recent:,})" if recent < found.asked else ""
    return [f"Recall{of}:", *table(_numbers_right(rows))]


def _contexts(counted: Stats) -> list[str]:
    found, rows = counted.contexts, []
    if found.packs:
        mean = f"{found.tokens / found.packs:,.0f} on average"
        rows = [("contexts", f"{found.packs:,}", _took(found.took)), ("tokens", f"{found.tokens:,}", mean)]
    if counted.late:
        whose = ", ".join(f"{name} {late:,}" for name, late in counted.late.items())
        rows.append(("too late", f"{sum(counted.late.values()):,}", f"with late warnings: {whose}"))
    return ["Context at the start of sessions:", *table(_numbers_right(rows))] if rows else []


def _work(found: Stats) -> list[str]:
    """What agents used: by agent, by the newest days, and by the tasks that used most."""
    told = []
    for title, rows in (("Agents", found.agents), ("Days", found.days[:_DAYS]), ("Tasks", found.tasks[:_MOST])):
        if rows:
            told += [f"{title}:", *table([_work_row(one) for one in rows])]
    if any(one.unpriced for one in found.agents):
        told.append("Some models have no price; name them in your settings: usage.prices")
    return told


def _work_row(one: WorkStats) -> tuple[str, ...]:
    cached = f" ({one.cached / one.read:.0%} cached)" if one.cached and one.read else ""
    paid = "" if one.dollars is None else f"${one.dollars:,.2f}" + (" and more" if one.unpriced else "")
    return one.name, count(one.runs, "run"), f"{one.read:,} tokens in{cached}", f"{one.written:,} out", paid


def _memories(found: Stats, since: str) -> list[str]:
    recalled = [one for one in found.memories if one.recalled]
    used = [one for one in found.memories if one.used]
    told = []
    if recalled:
        times = sum(one.recalled for one in recalled)
        told.append(f"{count(len(recalled), 'memory')} recalled, {count(times, 'time')} in all{since}")
    if used:
        sorts = f"{found.cited:,} cited, {found.acted:,} acted on"
        told.append(f"{count(len(used), 'memory')} used afterwards: {sorts}")
        told += table([(m.id, *(f"{said} {getattr(m, name):,}" for name, said in _COUNTS)) for m in used[:_MOST]])
    stale = [one.id for one in found.memories if one.recalled and one.state in _OUTDATED]
    if stale:
        more = f" and {len(stale) - _MOST} more" if len(stale) > _MOST else ""
        told.append(f"Recalled, and out of date now: {', '.join(stale[:_MOST])}{more}")
    return told


def _today(found: Stats) -> list[str]:
    limit = f" of {found.calls_per_day:,}" if found.calls_per_day is not None else ""
    return [f"Model calls today: {found.calls_today:,}{limit}"] if limit or found.calls_today else []


def _part(number: int, whole: int) -> str:
    return f"{number / whole:.0%}" if whole else "0%"


def _took(took: Duration | None) -> str:
    return f"{_time(took.half)} on average, p95 {_time(took.most)}" if took else ""


def _time(microseconds: int) -> str:
    return f"{microseconds / 1000:,.1f} ms" if microseconds < 1_000_000 else f"{microseconds / 1e6:,.1f} s"


def _numbers_right(rows: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """The same with the numbers under one another."""
    width = max((len(number) for _, number, _ in rows), default=0)
    return [(word, number.rjust(width), more) for word, number, more in rows]


def stats_object(found: Stats) -> dict[str, Any]:
    """The same as JSON; of the memories the most used."""
    numbers = {name: [getattr(one, name) for one in found.memories] for name in ("recalled", "told", "looked", "used")}
    counts = {name: {"memories": sum(map(bool, some)), "times": sum(some)} for name, some in numbers.items()}
    return {
        **picked(found, "since", "recalls", "contexts"),
        "memories": {**counts, **picked(found, "cited", "acted"), "most_used": found.memories[:_MOST_LISTED]},
        "models": found.models,
        "model": picked(found, "calls_today", "calls_per_day"),
        **picked(found, "agents", "tasks", "days", "late"),
    }


@answer(root, "stats", stats_text, stats_object)
@click.option("--reset", is_flag=True, help="Delete the counts.")
def stats(project: Project, reset: bool) -> object:
    """Show the counts of this clone; they never leave it.

    Questions and their time, what was found, which memories were used afterwards, how sessions were found,
    tokens given to agents, model calls.
    """
    if reset:
        project.health.reset_stats()
        say("the statistics are deleted; counting starts from zero")
    return project.health.stats()


_ERASED = frozenset({"run", "body", "session", "memory", "task", "link"})


def scanned(found: SecretScan) -> str:
    """What was found, and how to be rid of it."""
    read = f"{count(found.files, 'file')} read, {found.size / 1e6:,.1f} MB"
    if found.clean:
        return f"No known secret is stored ({read})."
    said = [f"{count(len(found.findings), 'file')} would be redacted today ({read}).", ""]
    rules = [[f"{rule} {n}" if n > 1 else rule for rule, n in one.rules.items()] for one in found.findings]
    rows = zip(found.findings, map(", ".join, rules), strict=True)
    said += table([(one.file, one.kind, one.id or "", named) for one, named in rows])
    if found.unread:
        said += ["", "Not looked at:", *(f"  {line}" for line in found.unread)]
    ids = sorted({one.id for one in found.findings if one.id and one.kind in _ERASED})
    said += ["", f"Erase it, text and copies: holdfast erase {ids[0]}"] if ids else []
    if any(one.kind == "candidate" for one in found.findings):
        said.append("Reject a candidate: holdfast review reject ID")
    return lines(said, "Change what was found at its source too: a secret that was stored may have been seen.")


@command(root, "scan")
@click.argument("paths", nargs=-1, type=click.Path(exists=True), metavar="[PATH]...")
def scan(place: Invocation, paths: tuple[str, ...]) -> int:
    """Look for secrets in what is stored.

    Looks at runs, events, sessions, memories and views, or at the files and folders that you name. It shows no
    secret and changes nothing. Exit code 1: something was found, or could not be read.
    """
    with place.project(even_damaged=True) as project:
        found = project.health.scan(paths)
        show(found, scanned)
    return 0 if found.clean else 1
