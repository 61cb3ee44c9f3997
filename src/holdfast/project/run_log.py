"""Records, reads, compares and exports runs. A capsule is the folder with the recording of one run."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Any

from holdfast.capture import export_codex as capture_export_codex
from holdfast.capture import run as capture
from holdfast.capture import session_work
from holdfast.capture.ingest import run_files
from holdfast.curation import review_queue
from holdfast.diagnostics import run_diff as differences
from holdfast.diagnostics import timeline
from holdfast.errors import BadInput, NotFound
from holdfast.git import approvals, commit_pages
from holdfast.model import event as model_event
from holdfast.model import ids, transcript
from holdfast.model import session as model_session
from holdfast.model.ids import run_id as new_run_id
from holdfast.project.concern import Concern
from holdfast.recall import lookup, run_turns
from holdfast.store import capsule, import_progress, session_files, statistics, tally
from holdfast.values import dict_of, replace

if TYPE_CHECKING:
    from holdfast.curation.decisions import MemoryStanding
    from holdfast.diagnostics.timeline import StoryChoice, StoryCursor, StoryPage
    from holdfast.git.repo import Repo
    from holdfast.model.session import Session
    from holdfast.model.transcript import TranscriptOrigin
    from holdfast.recall.published_content import PublishedContent
    from holdfast.recall.relation_graph import RelationIndex
    from holdfast.work.task_board import Board

_FIELDS = ("run_id", "parent_run_id", "layer", "systemic_scale", "exit_status", "target")


_BODY = (
    *("task", "inputs", "tool_calls", "outputs", "derived_facts", "next_actions", "receipts", "tags"),
    *("prompt", "command", "artifacts"),
)


_KINDS = ("run", "task", "session", "checkpoint")


_SHAPES: dict[str, type] = {
    **dict.fromkeys(("kind", "task", "prompt"), str),
    **dict.fromkeys(("inputs", "outputs"), dict),
    **dict.fromkeys(("tool_calls", "derived_facts", "next_actions", "receipts", "tags", "artifacts"), list),
}


_NAMED: dict[type, str] = {str: "a text", dict: "an object, such as {'summary': …}", list: "a list"}


VERSION = 1


_BESIDE = 300  # lines after those that are shown that are searched for the end of a secret

_NOT_EXPORTED = ("hash_self", "writer", "seq", "hash_prev", "body", "kind", "target")


class RunLog(Concern):
    """The recorded runs of agents and commands."""

    def write(self, event: Mapping[str, Any]) -> str:
        """Records what an agent did, durably; returns the run's id.

        Fields: kind (default: run), run_id (created if absent), parent_run_id, layer, systemic_scale,
        exit_status, target, task, inputs, tool_calls, outputs, derived_facts, next_actions, receipts,
        tags, prompt, command, artifacts.
        """
        unknown = sorted(set(event) - {"kind", *_FIELDS, *_BODY})
        if unknown:
            raise BadInput(f"an event has no field {', '.join(unknown)}", hint="See `help(Project.write_log)`.")
        for name, kind in _SHAPES.items():
            if not isinstance(event.get(name), kind | None):
                raise BadInput(f"{name} is a {type(event[name]).__name__}", hint=f"It takes {_NAMED[kind]}.")
        fields = {name: event[name] for name in _FIELDS if event.get(name) is not None}
        body = {name: event[name] for name in _BODY if event.get(name) is not None}
        kind = event.get("kind", "run")
        if kind not in _KINDS:
            raise BadInput(
                f"write_log does not record {kind!r}: a decision or an erase has a method of its own",
                hint=f"Use one of {', '.join(_KINDS)}.",
            )
        if self.project.parent_run is not None:
            fields.setdefault("parent_run_id", self.project.parent_run)
        identity = fields.setdefault("run_id", new_run_id(self.clone.clock()))
        if kind == "run":
            fields.setdefault("target", identity)
        made = self.clone.record(model_event.EventDraft(kind=kind, **fields, body=body or None))
        if kind == "run" and ("prompt" in body or "outputs" in body):
            self.project.harvest.from_run(made)
        return str(identity)

    def run_command(
        self,
        argv: Sequence[str],
        *,
        task: str | None = None,
        layer: str | None = None,
        scale: int | None = None,
        prompt: str | None = None,
        environ: Mapping[str, str] | None = None,
        terminal: bool = False,
    ) -> capture.CommandOutcome:
        """Runs a command, passes its input and output through, and records it in a capsule."""
        outcome = capture.run_command(
            self.clone,
            list(argv),
            task=task,
            layer=layer,
            scale=scale,
            prompt=prompt,
            environ=os.environ if environ is None else environ,
            env_allow=self.settings.capture_env,
            max_output=self.settings.max_output,
            terminal=terminal,
        )
        self.clone.notes.extend(outcome.warnings)
        if self.settings.has("sessions"):
            session_work.record_run(self.clone, outcome)
        self.project.harvest.from_run(outcome.event)
        self.project.views.render_quietly("runs")
        return outcome

    @contextlib.contextmanager
    def run(
        self,
        *,
        task: str | None = None,
        layer: str | None = None,
        scale: int | None = None,
        prompt: str | None = None,
        tree: Repo | None = None,
    ) -> Iterator[capture.Run]:
        """Records what the block does as one run; an exception ends it with exit status 1 and is raised again.

        `tree` is another work tree of this repository; its changes are recorded as the run's.
        """
        parent = self.project.parent_run
        with capture.recording(
            self.clone, task=task, layer=layer, scale=scale, prompt=prompt, parent_run_id=parent, tree=tree
        ) as run:
            yield run
        self.project.harvest.from_run(run.event)

    def events(self, *, newest: int | None = None) -> list[dict[str, Any]]:
        """Returns the events visible here, or the newest ones, in order, with the fields of their bodies."""
        found = self.clone.events() if newest is None else self.clone.find_events(newest=newest)
        return [self.clone.joined(event) for event in found]

    def timeline(
        self, *, task: str | None = None, sort: Sequence[str] = (), newest: int | None = None
    ) -> list[timeline.TimelineRow]:
        """Returns the events in order, or sorted by layer and scale."""
        with self.clone.unsealed():
            events = self.events(newest=newest)
        return timeline.timeline(events, task=task, sort=tuple(sort) or ("ts",))

    def story(self, cursor: StoryCursor | None = None, choice: StoryChoice | None = None, *, most: int) -> StoryPage:
        """Returns what happened on all branches, newest first: the events of the log and the commits of git.

        A page holds about `most` rows; the next one begins where its cursor says.
        """
        with self.clone.unsealed():
            given = choice or timeline.StoryChoice()
            return timeline.story(self.clone, cursor or timeline.StoryCursor(), given, most=most)

    def recording(self, name: str, *, start: int = 0, most: int) -> run_turns.RunDetails:
        """Returns a run by its id or the start of it, with some of its turns."""
        with self.clone.unsealed():
            return run_turns.details(self.clone, self._run_event(name), start=start, most=most)

    def turn(self, name: str, number: int) -> tuple[run_turns.RunDetails, dict[str, Any], list[dict[str, Any]]]:
        """Returns a run without its turns, one turn of it, and the steps of that turn."""
        with self.clone.unsealed():
            event = self._run_event(name)
            run = run_turns.details(self.clone, event, most=0)
            turn = run_turns.turn_of(self.clone, event, number)
            return run, turn, run_turns.steps_of(self.clone, run.id, number)

    def _run_event(self, name: str) -> model_event.Event:
        """Returns the last event of a run."""
        asked = name.removeprefix("run:")
        found = self.clone.find_events("all", kinds=("run",), beginnings=ids.beginnings(asked)) if asked else []
        run = ids.pick(asked, [event.run_id for event in found if event.run_id])
        return [event for event in found if event.run_id == run][-1]

    def commit(self, name: str, cited: Mapping[str, str]) -> tuple[lookup.ShownRecord, commit_pages.CommitChanges]:
        """Returns a commit by its id or the start of it, and what it changed; `cited` has what each memory cites."""
        shown = lookup.show_commit(self.clone, name, cited, names=False)
        if shown is None:
            raise NotFound(f"there is no commit {name[:64]} here", hint="It may be in another clone: `git fetch`.")
        return shown, commit_pages.changes(self.clone.repo, shown.id)

    def counted(
        self, commit: commit_pages.CommitChanges, files: Sequence[commit_pages.ChangedFile]
    ) -> list[commit_pages.ChangedFile]:
        """Returns some of the files that a commit changed, with how many lines were added and removed."""
        return commit_pages.counted(self.clone.repo, commit, files)

    def patches(
        self, commit: commit_pages.CommitChanges, files: Sequence[commit_pages.ChangedFile], *, most: int
    ) -> list[tuple[list[str], int]]:
        """Returns the first lines of some files' patches without known secrets, and how many lines each has."""
        found = []
        for lines in commit_pages.patches(self.clone.repo, commit, files):
            some = lines[: most + _BESIDE]
            clean = self.clone.hide.lines([line[1:] for line in some])  # a key is none with a sign before each line
            shown = [line[:1] + rest for line, rest in zip(some, clean, strict=True)]
            found.append((shown[:most], len(lines)))
        return found

    def runs_of_session(self, session: Session) -> list[str]:
        """Returns the runs that a session names or that were imported from its transcript, the oldest first."""
        return runs_of(session, import_progress.every(self.clone.stores))

    def diff(self, run: str, *, against: str = "latest") -> differences.RunDiff:
        """Compares the results of two runs; `latest` is the newest earlier run of the same task."""
        other = against if against == "latest" else self._run_named(against)
        return differences.diff(self.clone, self._run_named(run), against=other)

    def _run_named(self, text: str) -> str:
        found = self.clone.find_events("all", kinds=("run",), beginnings=(text,))
        return ids.pick(text, [event.run_id for event in found if event.run_id])

    def show(self, identity: str) -> lookup.ShownRecord:
        """Returns everything this clone knows about a memory, a run or an event."""
        with self.clone.unsealed():
            found = lookup.show(self.clone, identity)
        if found.kind not in ("memory", "candidate"):
            return found
        counts = statistics.times(self.clone.layout, found.id)
        tally.count(self.clone.layout, f"{tally.LOOKED}{found.id.lower()}")
        there = review_queue.every(self.clone, self.clone.clock()).get(found.id)
        more = {**_standing(there), "counted": counts} if there else {}
        if there and there.status == approvals.EDITED:
            more["diff"] = list(review_queue.since_approval(self.clone, there))
        return replace(found, fields={**found.fields, **more})

    def relations(self, standings: Iterable[MemoryStanding] | None = None, board: Board | None = None) -> RelationIndex:
        """Returns how memories, tasks, runs, commits and files hang together; takes what was read already."""
        from holdfast.recall import relation_graph
        from holdfast.work import task_board

        if standings is None:
            standings = review_queue.every(self.clone, self.clone.clock()).values()
        if board is None:
            board = task_board.read(self.clone)
        memories = {one.id: (one.memory, one.status) for one in standings}
        return relation_graph.RelationIndex(memories, board.graph, clone=self.clone, git=self.clone)

    def published(self) -> PublishedContent:
        """Returns what HEAD holds: accepted memories, tasks, and what the log tells everybody."""
        from holdfast.recall import published_content

        return published_content.read(self.clone, self.clone.clock())

    def export_records(self, name: str | None = None) -> Iterator[dict[str, Any]]:
        """Yields sessions, runs, turns and cycles as objects: all, or those of one session or run.

        A session comes before its runs, a run before its turns, turns before their cycles.
        """
        for session, runs in self._with_runs(name):
            if session is not None:
                fields = model_session.to_object(session)
                fields = {key: value for key, value in fields.items() if key not in ("id", "version")}
                yield {"v": VERSION, "kind": "session", "id": session.id, "runs": [r.run_id for r in runs], **fields}
            for event in runs:
                yield from self._run_records(event, session)

    def export_markdown(self, name: str | None = None) -> Iterator[str]:
        """Yields Markdown pages: one for each session, and one for each run with its summary and prompts."""
        for session, runs in self._with_runs(name):
            if session is not None:
                yield _session_page(session)
            for event in runs:
                yield self._run_page(event)

    def export_codex(self, name: str, home: str) -> capture_export_codex.Rollout:
        """Writes a session as a rollout into a Codex home, for `codex resume`.

        `name` is a session or a run; its runs come in their order.
        """
        session, runs = self._with_runs(name)[0]
        folders = [self.clone.layout.run(str(event.run_id)) for event in runs]
        files = ((capsule.read_rows(one, run_files.CYCLES), capsule.read_rows(one, run_files.TURNS)) for one in folders)
        turns = chain.from_iterable(capture_export_codex.turns_of(*rows) for rows in files)
        origin, started = self._origin(session, runs)
        return capture_export_codex.write_rollout(os.path.abspath(home), turns, origin=origin, at=started)

    def _origin(self, session: Session | None, runs: Sequence[model_event.Event]) -> tuple[TranscriptOrigin, datetime]:
        """Returns the agent, place and start of a session; if unknown, this repository and now."""
        first = runs[0] if runs else None
        context = capsule.read_context(self.clone.layout.run(str(first.run_id)) if first else None)
        agent, anchor = dict_of(context.get("agent")), dict_of(context.get("anchor"))
        began = session.started.ts if session else str(context.get("started") or self.clone.now())
        origin = transcript.TranscriptOrigin(
            agent=str(agent.get("name") or (session.agent if session else None) or "holdfast"),
            session=str(agent.get("session") or (session.id if session else str(first.run_id if first else ""))),
            cwd=self.clone.repo.top,
            branch=anchor.get("branch") or (session.branch if session else None),
            commit=anchor.get("head") or (session.started.commit if session else None),
            title=session.objective or None if session else None,
        )
        return origin, datetime.fromisoformat(began).astimezone()

    def _with_runs(self, name: str | None) -> list[tuple[Session | None, list[model_event.Event]]]:
        """Returns sessions with their runs, oldest first; runs without a session come last."""
        there = sorted(session_files.everywhere(self.clone.stores), key=lambda one: (one.started.ts, one.id))
        runs = {event.run_id: event for event in self.clone.find_events("own", kinds=("run",)) if event.run_id}
        if name is not None:
            asked = ids.pick(name.removeprefix("run:"), {*runs, *(one.id for one in there)})
            if asked in runs:
                return [(None, [runs[asked]])]
            there = [one for one in there if one.id == asked]
        imported = import_progress.every(self.clone.stores)
        of = {one.id: [runs[run] for run in runs_of(one, imported) if run in runs] for one in there}
        in_sessions = {event.run_id for events in of.values() for event in events}
        rest = [event for run, event in runs.items() if run not in in_sessions] if name is None else []
        return [*((one, of[one.id]) for one in there), *([(None, rest)] if rest else [])]

    def _run_records(self, event: model_event.Event, session: Session | None) -> Iterator[dict[str, Any]]:
        run, folder = str(event.run_id), self.clone.layout.run(str(event.run_id))
        joined = self.clone.joined(event)
        fields = {key: value for key, value in joined.items() if key not in _NOT_EXPORTED and value is not None}
        about = {"v": VERSION, "kind": "run", "id": run, "session": session.id if session else None}
        context = capsule.read_json(folder, capsule.CONTEXT)
        yield {**about, **fields, "context": context, "page": lookup.summary_of(folder)}
        if event.run_id in self.clone.erased():
            return
        for kind, file, counter in (("turn", run_files.TURNS, "turn"), ("cycle", run_files.CYCLES, "n")):
            for row in capsule.read_rows(folder, file):
                named = {"v": VERSION, "kind": kind, "run": run, "id": f"{run}:{kind}:{row.get(counter)}"}
                own = {"step": row["id"]} if "id" in row else {}  # the agent's own name for it
                yield {**named, **own, **{key: value for key, value in row.items() if key != "id"}}

    def _run_page(self, event: model_event.Event) -> str:
        run, folder = str(event.run_id), self.clone.layout.run(str(event.run_id))
        summary = dict_of(self.clone.joined(event).get("outputs")).get("summary")
        page = f"# Run {run}\n\n{summary or 'This clone has no details of it.'}\n"
        turns = [row["line"] for row in capsule.read_rows(folder, run_files.TURNS) if row.get("line")]
        rows = [f"{number}. {line}" for number, line in enumerate(turns, 1)]
        return (lookup.summary_of(folder) or page) + ("\n".join(["\n## Turns\n", *rows]) + "\n" if rows else "")


def _standing(one: MemoryStanding) -> dict[str, Any]:
    """Returns the state of a memory as fields for display."""
    return {
        "type": one.memory.type,
        "status": one.status,
        "trust": one.trust,
        "evidence": dict(one.receipts),
        "notes": list(one.notes),
        "said": list(getattr(one.memory, "provenance", ())),
        "suggests": getattr(one.memory, "suggests", None),
        "because": getattr(one.memory, "because", ""),
    }


def runs_of(session: Session, imported: Iterable[import_progress.ImportProgress]) -> list[str]:
    """Returns the runs that a session names or that were imported from its transcript, the oldest first."""
    named = [*(turn.run for turn in session.every_turn), *(command.run for command in session.commands)]
    named += [run.run for one in imported if one.session_id == session.id for run in one.runs]
    return sorted({run for run in named if run})


def _session_page(session: Session) -> str:
    rows = [f"# Session {session.id}", "", session.objective or "Without an objective.", ""]
    rows += [f"- Branch: {session.started.place}", f"- Started: {session.started.ts}"]
    rows += [f"- Ended: {session.ended.ts}"] if session.ended else ["- Open"]
    rows += [f"- Agent: {session.agent}"] if session.agent else []
    rows += ["", session.summary] if session.summary else []
    parts = (
        ("Turns", [f"{turn.n}. {_flat(turn.summary)}" for turn in session.every_turn]),
        ("Open", [f"- {one.id} {_flat(one.text)}" for one in session.still_open]),
        ("Waiting for a yes or no", [f"- {one.id} {_flat(one.text)}" for one in session.pending]),
        ("To follow up", [f"- {one.id} {_flat(one.text)}" for one in session.still_to_follow]),
        ("Decided", [f"- {_flat(one)}" for one in session.decisions]),
        ("Commits", [f"- {oid}" for oid in session.commits]),
    )
    for title, lines in parts:
        rows += ["", f"## {title}", "", *lines] if lines else []
    return "\n".join(rows) + "\n"


def _flat(text: str) -> str:
    return " ".join(text.split())
