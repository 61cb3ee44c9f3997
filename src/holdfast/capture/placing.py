"""Events written where they happened, not where the command that writes them happens to stand."""

from collections.abc import Mapping
from typing import Any

from holdfast.errors import ScanFailed
from holdfast.git.clone import Clone
from holdfast.model import dag
from holdfast.model.event import Draft, Event
from holdfast.store.format import body_bytes
from holdfast.store.layout import Layout
from holdfast.store.log import Writer, spool_ends
from holdfast.store.seal import spools as seal_spools
from holdfast.values import replace


class Lines:
    """The lines that are written to meanwhile, one writer each: a hundred runs are one spool then."""

    def __init__(self, clone: Clone) -> None:
        self._clone = clone
        self._writers: dict[str, Writer] = {}

    def record(self, context: Mapping[str, Any], event: Draft) -> Event:
        """Write the event of a run on the line, and with the commit and branch, that its context names.

        What it does not name stays unnamed: this moment's commit would be a wrong one.
        """
        anchor = context.get("anchor") or {}
        body = self._body(event, anchor.get("branch"))
        writer = self._writer(context.get("line") or self._clone.line().id)
        return writer.append(replace(event, head=anchor.get("head"), body=None), body)

    def _body(self, event: Draft, branch: str | None) -> str | None:
        try:
            cleaned = self._clone.intake.value({**(event.body or {}), "branch": branch})
        except ScanFailed as error:
            self._clone.notes.append(f"the event's text was not stored: {error}")
            return None
        return self._clone.bodies.put(body_bytes(cleaned))

    def _writer(self, line: str) -> Writer:
        if line not in self._writers:
            layout, clock = self._clone.layout, self._clone.clock
            self._writers[line] = Writer(layout, line, heads=lambda: self._heads(line), clock=clock)
        return self._writers[line]

    def _heads(self, line: str) -> list[str]:
        if line == self._clone.line().id:
            return dag.heads(self._clone.events())
        return _newest(self._clone.layout, line)

    def close(self) -> None:
        """Let go of the spools."""
        for writer in self._writers.values():
            writer.close()
        self._writers.clear()


def _newest(layout: Layout, line: str) -> list[str]:
    ends = [spool_ends(path) for path in seal_spools(layout, line)]
    named = {parent for parents, _ in ends for parent in parents}
    return sorted({last for _, last in ends if last and last not in named})
