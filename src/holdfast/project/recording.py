"""Recording: what an agent or a command did."""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from holdfast.capture import run as capture
from holdfast.capture import session
from holdfast.capture.run import CommandOutcome
from holdfast.errors import BadInput
from holdfast.model.event import EventDraft
from holdfast.model.ids import run_id as new_run_id
from holdfast.project.harvesting import Harvesting

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


class Recording(Harvesting):
    """What happens is written down."""

    def write_log(self, event: Mapping[str, Any]) -> str:
        """Record what an agent did; durable on return. Gives the run's id.

        Fields: kind (run unless given), run_id (made if absent), parent_run_id, layer, systemic_scale,
        exit_status, target, task, inputs, tool_calls, outputs, derived_facts, next_actions, receipts,
        tags, prompt, command, artifacts.
        """
        unknown = sorted(set(event) - {"kind", *_ENVELOPE, *_BODY})
        if unknown:
            raise BadInput(f"an event has no field {', '.join(unknown)}", hint="See `help(Project.write_log)`.")
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
        made = self.clone.record(EventDraft(kind=kind, **fields, body=body or None))
        if kind == "run" and ("prompt" in body or "outputs" in body):
            self._harvest_run(made)
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
    ) -> CommandOutcome:
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
        if self.settings.has("sessions"):
            session.record_run(self.clone, outcome)
        self._harvest_run(outcome.event)
        self._render_quietly()
        return outcome

    @contextlib.contextmanager
    def run(
        self, *, task: str | None = None, layer: str | None = None, scale: int | None = None, prompt: str | None = None
    ) -> Iterator[capture.Run]:
        """Record what the block does as one run; an exception ends it with exit status 1 and goes on."""
        with capture.recording(
            self.clone, task=task, layer=layer, scale=scale, prompt=prompt, parent_run_id=self._parent
        ) as run:
            yield run
        self._harvest_run(run.event)
