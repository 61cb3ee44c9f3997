"""Project joins the parts: the Python API, and all that the command line calls.

    project = Project.open(".")
    run_id = project.write_log({"task": "T-1", "outputs": {"summary": "schema written"}})
    project.promote_fact({"statement": "Tests need Postgres 16", "evidence": [run_id]}, reviewer="ann")
    hits = project.recall("postgres")

Opening also finishes what a crash cut short: a publish, an erase, a run whose wrapper was killed.
Each method is one step into the module that knows; nothing is decided here.
"""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from holdfast import config
from holdfast.capture import recover
from holdfast.capture import run as capture
from holdfast.capture.run import Outcome
from holdfast.config import Settings
from holdfast.curation import facts as standing_facts
from holdfast.curation import review
from holdfast.curation.decisions import Reviewer, Standing
from holdfast.curation.facts import Facts
from holdfast.curation.propose import propose
from holdfast.diagnostics import check as gate
from holdfast.diagnostics import checkpoint as checkpoints
from holdfast.diagnostics import diff as differences
from holdfast.diagnostics import doctor, repair, status, timeline
from holdfast.diagnostics.checkpoint import Checkpoint
from holdfast.diagnostics.diff import Diff
from holdfast.diagnostics.findings import Report
from holdfast.diagnostics.repair import Repair
from holdfast.diagnostics.status import Status, Tally
from holdfast.errors import BadInput, HoldfastError, NeedsReview, ReadOnlyStore
from holdfast.git import adopt, erase, journal, lines, publish, reconcile, setup
from holdfast.git.clone import Clone
from holdfast.git.erase import Erasure
from holdfast.git.publish import Published
from holdfast.git.reconcile import Orphan
from holdfast.git.repo import Repo
from holdfast.git.setup import Removal, Setup
from holdfast.index.freshness import Signature
from holdfast.index.refresh import keep_ready, path_of, signature_of
from holdfast.index.sqlite import drop_all
from holdfast.model.event import Draft, timestamp
from holdfast.model.ids import pick
from holdfast.model.ids import run_id as new_run_id
from holdfast.model.memory import Accepted, Candidate
from holdfast.recall import find, views
from holdfast.recall.find import Shown
from holdfast.recall.search import Hit, TextSearch
from holdfast.security.redact import Scanner
from holdfast.store import bundle, fsio
from holdfast.store import layout as paths
from holdfast.store.bundle import Bundle

_ENVELOPE = ("run_id", "parent_run_id", "layer", "systemic_scale", "exit_status", "target")
_BODY = (
    "task",
    "inputs",
    "tool_calls",
    "outputs",
    "derived_facts",
    "next_actions",
    "receipts",
    "tags",
    "prompt",
    "command",
    "artifacts",
)


_KINDS = ("run", "task", "session", "checkpoint")
_SHAPES: dict[str, type] = {
    **dict.fromkeys(("kind", "task", "prompt"), str),
    **dict.fromkeys(("inputs", "outputs"), dict),
    **dict.fromkeys(("tool_calls", "derived_facts", "next_actions", "receipts", "tags", "artifacts"), list),
}
_NAMED: dict[type, str] = {str: "a text", dict: "an object, such as {'summary': …}", list: "a list"}


def _now() -> datetime:
    return datetime.now(UTC)


class Project:
    """A project's memory, seen from the branch that is checked out."""

    def __init__(
        self, clone: Clone, settings: Settings, *, person: bool = False, parent: str | None = None
    ) -> None:
        self.clone, self.settings = clone, settings
        self._person = person
        self._parent = parent  # the run this process itself is part of
        self._search: TextSearch | None = None
        self.seen: Signature | None = None  # the state that `status` looked at

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] = ".",
        *,
        environ: Mapping[str, str] | None = None,
        person: bool = False,
        clock: Callable[[], datetime] = _now,
    ) -> "Project":
        """The project at a folder; NotInitialised if it has no memory yet.

        `person` says that approvals given through this object are a person's; the command line sets
        it on a terminal where no agent runs.
        """
        environ = os.environ if environ is None else environ
        repo = Repo.discover(os.fspath(path))
        settings = _settings(repo, environ)
        scan = Scanner(settings.redact_rules, settings.redact_allow)
        clone = Clone.open(repo.top, cache=paths.cache_dir(environ), clock=clock, scan=scan)
        clone.notes.extend(settings.warnings)
        project = cls(clone, settings, person=person, parent=environ.get(capture.RUN_VARIABLE))
        project._finish_what_was_cut_short()
        return project

    @classmethod
    def look(
        cls, path: str | os.PathLike[str] = ".", *, environ: Mapping[str, str] | None = None
    ) -> "Project":
        """The project as it lies there: nothing is made, moved or finished, and damage is no obstacle.

        For `doctor` where opening fails, and for `check`, which needs no store.
        """
        environ = os.environ if environ is None else environ
        repo = Repo.discover(os.fspath(path))
        private = os.path.join(repo.common_dir, "holdfast")
        layout = paths.Layout(repo.top, private, paths.cache_dir(environ))
        return cls(Clone(repo, layout, reading=True), _settings(repo, environ))

    def _finish_what_was_cut_short(self) -> None:
        clone = self.clone
        clone.notes.extend(filter(None, (journal.resume(clone), erase.resume(clone))))
        for gone in erase.sweep(clone):
            clone.notes.append(f"deleted again what had been erased: {gone}")
        for done in recover.complete(clone):
            clone.notes.append(f"completed run {done.run_id}, whose wrapper had been killed")

    @classmethod
    def init(
        cls,
        path: str | os.PathLike[str] = ".",
        *,
        commit: bool = False,
        git: bool = False,
        environ: Mapping[str, str] | None = None,
    ) -> Setup:
        """Set up a project's memory; running it again changes nothing. `git` allows `git init` first."""
        environ = os.environ if environ is None else environ
        folder, made_git = os.fspath(path), False
        if git and setup.enclosing_repository(folder) is None:
            setup.git_init(folder)
            made_git = True
        done = setup.initialise(folder, cache=paths.cache_dir(environ), commit=commit)
        cls.open(folder, environ=environ)._render_quietly()
        return replace(done, git_init=made_git)

    @property
    def notices(self) -> list[str]:
        """What the user should be told beside the answer."""
        return self.clone.notes

    def write_log(self, event: Mapping[str, Any]) -> str:
        """Record what an agent did; durable on return. Gives the run's id.

        Fields: kind (run unless given), run_id (made if absent), parent_run_id, layer, systemic_scale,
        exit_status, target, task, inputs, tool_calls, outputs, derived_facts, next_actions, receipts,
        tags, prompt, command, artifacts.
        """
        unknown = sorted(set(event) - {"kind", *_ENVELOPE, *_BODY})
        if unknown:
            raise BadInput(
                f"an event has no field {', '.join(unknown)}", hint="See `help(Project.write_log)`."
            )
        for name, kind in _SHAPES.items():
            if not isinstance(event.get(name), kind | None):
                raise BadInput(f"{name} is a {type(event[name]).__name__}", hint=f"It takes {_NAMED[kind]}.")
        fields = {name: event[name] for name in _ENVELOPE if event.get(name) is not None}
        body = {name: event[name] for name in _BODY if event.get(name) is not None}
        kind = event.get("kind", "run")
        if kind not in _KINDS:
            raise BadInput(
                f"write_log does not record {kind!r}: a decision or an erase has a method of its own",
                hint=f"Use one of {', '.join(_KINDS)}.",
            )
        if self._parent is not None:
            fields.setdefault("parent_run_id", self._parent)
        identity = fields.setdefault("run_id", new_run_id(self.clone.clock()))
        if kind == "run":
            fields.setdefault("target", identity)
        self.clone.record(Draft(kind=kind, **fields, body=body or None))
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
    ) -> Outcome:
        """Run a command, pass everything through, and keep a capsule of it."""
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
        self._render_quietly()
        return outcome

    @contextlib.contextmanager
    def run(
        self,
        *,
        task: str | None = None,
        layer: str | None = None,
        scale: int | None = None,
        prompt: str | None = None,
    ) -> Iterator[capture.Run]:
        """Record what the block does as one run; an exception ends it with exit status 1 and goes on."""
        with capture.recording(
            self.clone, task=task, layer=layer, scale=scale, prompt=prompt, parent_run_id=self._parent
        ) as run:
            yield run

    def remember(
        self,
        statement: str,
        *,
        kind: str = "fact",
        details: str = "",
        evidence: Iterable[str] = (),
        confidence: float | None = None,
        layer: str | None = None,
        tags: Iterable[str] = (),
        applies_to: Iterable[str] = (),
        supersedes: Iterable[str] = (),
        expires: str | datetime | None = None,
        source: str | None = None,
        id: str | None = None,  # noqa: A002 - the field's own name
        accept: bool = False,
        reviewer: str | None = None,
    ) -> Standing:
        """Propose a memory; it counts once it is reviewed, or at once with `accept`.

        `evidence` names runs, commits or tracked paths; `expires` is a moment or a time from now (30d).
        """
        made = propose(
            self.clone,
            statement=statement,
            kind=kind,
            details=details,
            evidence=[evidence] if isinstance(evidence, str) else evidence,
            confidence=confidence,
            layer=layer,
            tags=tags,
            applies_to=applies_to,
            supersedes=supersedes,
            expires_at=expires,
            source=source,
            id=id,
        )
        if accept:
            return self.accept(made.id, reviewer=reviewer)
        if self.settings.auto_promote is not None:
            with contextlib.suppress(NeedsReview):
                return self.promote_fact(made.id)
        waiting = {standing.id: standing for standing in review.waiting(self.clone)}
        return waiting.get(made.id) or Standing(made, "accepted")

    def promote_fact(
        self, fact: Mapping[str, Any] | Candidate | Accepted | str, *, reviewer: str | None = None
    ) -> Standing:
        """Approve a fact (its fields, itself, or its id).

        Without a reviewer the settings' threshold decides; below it, a candidate is left and NeedsReview
        is raised.
        """
        who = self._reviewer(reviewer) if reviewer is not None else None
        if isinstance(fact, Mapping) and isinstance(fact.get("evidence"), str):
            fact = {**fact, "evidence": [fact["evidence"]]}
        done = review.promote(self.clone, fact, reviewer=who, threshold=self.settings.auto_promote)
        self._render_quietly()
        return done

    def candidates(self) -> list[Standing]:
        """What waits for a decision: candidates, and entries written or edited by hand.

        What another clone erased and this one still holds is named among the notices.
        """
        self.clone.notes.extend(
            f"{name} was erased in another clone and is still held here; to delete it: holdfast erase {name}"
            for name in review.erased_elsewhere(self.clone)
        )
        return [*review.waiting(self.clone), *self.facts().unreviewed]

    def accept(self, identity: str, *, reviewer: str | None = None) -> Standing:
        """Approve a candidate, or an entry as it stands in the work tree."""
        done = review.accept(self.clone, identity, self._reviewer(reviewer))
        self._render_quietly()
        return done

    def reject(self, identity: str, *, reason: str = "", reviewer: str | None = None) -> Standing:
        """Turn a candidate down; the same words are not proposed again."""
        return review.reject(self.clone, identity, reason, self._reviewer(reviewer))

    def retire(self, identity: str, *, reason: str = "", reviewer: str | None = None) -> Standing:
        """Say that an accepted memory no longer holds; its file stays and says so."""
        done = review.retire(self.clone, identity, reason, self._reviewer(reviewer))
        self._render_quietly()
        return done

    def _reviewer(self, name: str | None) -> Reviewer:
        return Reviewer(
            name or self.clone.repo.text("config", "user.name", ok=(0, 1)) or "unknown", self._person
        )

    def facts(self) -> Facts:
        """How every fact stands here: trusted, unreviewed, expired, superseded, retired, broken, in clash."""
        return standing_facts.facts(self.clone, self.clone.clock())

    def artifacts(self) -> dict[str, list[dict[str, Any]]]:
        """Task to the tracked files its runs produced, each content once."""
        tracked = set(self.clone.repo.run("ls-files", "-z").decode("utf-8", "surrogateescape").split("\0"))
        runs = (
            self.clone.joined(event) for event in self.clone.events() if event.kind == "run" and event.body
        )
        return views.artifacts(runs, tracked)

    def recall(
        self, query: str = "", *, limit: int = 5, task: str | None = None, kind: str | None = None
    ) -> list[Hit]:
        """What fits a query, best first; with no words, the most recent."""
        if self._search is None:
            self._search = TextSearch(self.clone)
        return self._search.search(query, limit=limit, task=task, kind=kind)

    def log(self) -> list[dict[str, Any]]:
        """Every event visible here, in order, with what its body says."""
        return [self.clone.joined(event) for event in self.clone.events()]

    def timeline(self, *, task: str | None = None, sort: Sequence[str] = ()) -> list[timeline.Row]:
        """What happened, in order, or sorted by layer and scale."""
        return timeline.timeline(self.log(), task=task, sort=tuple(sort) or ("ts",))

    def diff(self, run: str, *, against: str = "latest") -> Diff:
        """What two runs produced, compared; latest is the newest earlier run of the same task."""
        runs = [event.run_id for event in self.clone.all_events() if event.kind == "run" and event.run_id]
        other = against if against == "latest" else pick(against, runs)
        return differences.diff(self.clone, pick(run, runs), against=other)

    def show(self, identity: str) -> Shown:
        """Everything this clone can say about a memory, a run or an event."""
        return find.show(self.clone, identity)

    def status(self) -> Status:
        """Where this clone stands, what waits, and what would go with it."""
        self.seen = signature_of(self.clone)  # before looking: what changes meanwhile must not be missed
        found = self.facts()
        stale = sum(any(state != "holds" for _, state in s.receipts) for s in found.trusted)
        waiting = len(review.waiting(self.clone))
        tally = Tally(len(found.trusted), len(found.expired), stale, waiting, len(found.unreviewed))
        self._render_quietly()  # facts may have expired since the views were written
        return status.status(self.clone, tally)

    def keep_ready(self, name: str, *, signature: str, text: str, json: str) -> None:
        """Keep a rendered answer for the quick path until a fact expires or the signature changes."""
        expiries = [s.memory.expires_at for s in self.facts().trusted if s.memory.expires_at]
        until = timestamp(min(expiries)) if expiries else None
        keep_ready(self.clone, name, signature=signature, text=text, json=json, valid_until=until)

    def doctor(self, *, against: str | None = None) -> Report:
        """Everything that is wrong or worth knowing, compared with a kept checkpoint if one is given."""
        kept = checkpoints.from_bytes(_read(against), against) if against else None
        return doctor.examine(self.clone, against=kept, name=against or "checkpoint")

    def repair(self, report: Report, *, apply: bool) -> list[Repair]:
        """Mend what can be mended without inventing anything; without `apply` only say what that is."""
        return repair.repair(self.clone, report, apply=apply)

    def check(self, *, base: str | None = None) -> gate.Verdict:
        """The gate for CI: each changed memory has its receipt, and nothing sealed was altered."""
        return gate.check(self.clone.repo, base, trunk=self.settings.trunk)

    def checkpoint(self, file: str) -> Checkpoint:
        """Save how far the log reaches, to compare with later."""
        taken = doctor.take_checkpoint(self.clone)
        fsio.replace(os.path.abspath(file), checkpoints.to_bytes(taken), mode=0o644)
        return taken

    def publish(
        self, *, stage: bool = False, here: bool = False, restore: bool = False, message: str | None = None
    ) -> Published:
        """Commit this line's events and memories, and nothing else."""
        done = publish.publish(
            self.clone, stage=stage, here=here, restore=restore, trunk=self.settings.trunk, message=message
        )
        erase.sweep(self.clone)
        self._render_quietly()
        return done

    def reconcile(self) -> reconcile.Report:
        """What is gone from this line, and what deleted branches left behind."""
        return reconcile.examine(self.clone)

    def carry(self, line: str) -> Orphan:
        """Take over what a deleted branch left."""
        return reconcile.carry(self.clone, line)

    def drop(self, line: str) -> Orphan:
        """Stop listing what a deleted branch left; it stays in the store."""
        return reconcile.drop(self.clone, line)

    def erase(self, identity: str) -> Erasure:
        """Make what an event, run or memory says disappear from this clone; the log still verifies."""
        found = find.find(self.clone, identity)
        kind = "memory" if found.kind == "candidate" else found.kind
        done = erase.erase(self.clone, kind, found.id)
        self._close_search()
        drop_all(os.path.dirname(path_of(self.clone)))
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.clone.layout.view("log.jsonl"))
        self._render_quietly()
        return done

    def export(self, file: str) -> Bundle:
        """Save the private store of this clone to one file."""
        if self.clone.layout.private != self.clone.private.private:
            raise ReadOnlyStore(
                "inside a sandbox only part of the store can be seen", hint="Export outside the sandbox."
            )
        return bundle.export(self.clone.private, file, ts=self.clone.now())

    def bring_back(self, file: str) -> Bundle:
        """Add what an exported file holds and this clone lacks."""
        self.clone.repo.refuse_in_hook_of_publish()
        before = set(lines.known(self.clone.layout))
        with fsio.locked(self.clone.layout.lock, wait=60.0):
            done = bundle.bring_back(self.clone.layout, file, erased=self.clone.erased())
        adopt.adopt(self.clone, before)
        erase.sweep(self.clone)
        self._render_quietly()
        return done

    def uninstall(self) -> Removal:
        """Take Holdfast out of this clone; only git history remains."""
        self._close_search()
        return setup.uninstall(self.clone.repo, self.clone.private, self.clone.repo_id)

    def render_views(self) -> None:
        """Write the views of the current state for people and tools."""
        found = self.facts()
        header = self._header()
        memories = {
            name: [standing.memory for standing in getattr(found, name)]
            for name in ("trusted", "expired", "unreviewed")
        }
        trusted = memories.pop("trusted")
        views.write(self.clone.layout, "state.json", views.state_json(trusted, header, **memories))
        views.write(self.clone.layout, "artifacts.json", views.artifacts_json(self.artifacts(), header))

    def _render_quietly(self) -> None:
        """A view is never the truth: what was done is done, whether or not it can be shown."""
        try:
            self.render_views()
        except (OSError, HoldfastError) as error:
            self.clone.notes.append(f"the views were not rendered: {error}")

    def render_log(self) -> str:
        """Write view/log.jsonl, and give its path."""
        views.write(self.clone.layout, "log.jsonl", views.log_jsonl(self.log()))
        return self.clone.layout.view("log.jsonl")

    def _header(self) -> views.Header:
        head = self.clone.repo.head()
        return views.Header(head.branch, head.oid, self.clone.now())

    def _close_search(self) -> None:
        if self._search is not None:
            self._search.close()
            self._search = None


def _settings(repo: Repo, environ: Mapping[str, str]) -> Settings:
    return config.load(
        tracked=os.path.join(repo.top, *paths.SETTINGS.split("/")),
        clone=os.path.join(repo.common_dir, "holdfast", "settings.toml"),
        user=paths.user_settings(environ),
        environ=environ,
    )


def _read(file: str) -> bytes:
    try:
        return fsio.read(os.path.abspath(file), limit=1 << 24)
    except FileNotFoundError:
        raise BadInput(f"there is no file {file}", hint="Check the name.") from None


def write_log(event: Mapping[str, Any]) -> str:
    """Record an event in the project of the current folder; gives the run's id."""
    return Project.open().write_log(event)


def promote_fact(
    fact: Mapping[str, Any] | Candidate | Accepted | str, *, reviewer: str | None = None
) -> Standing:
    """Approve a fact in the project of the current folder."""
    return Project.open().promote_fact(fact, reviewer=reviewer)


def recall(query: str, *, limit: int = 5, task: str | None = None, kind: str | None = None) -> list[Hit]:
    """Search the memory of the current folder's project."""
    return Project.open().recall(query, limit=limit, task=task, kind=kind)
