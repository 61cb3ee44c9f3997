"""Agents' own records, read: one module for each tool's dialect, all giving the same turns.

    for turn in dialect("codex").read(path): ...

A dialect finds its tool's transcripts and reads them; what they mean for memory is the business of
`capture.ingest`.
"""

from __future__ import annotations

from holdfast.errors import BadInput
from holdfast.lazy_module import LazyModule, lazy_modules
from holdfast.model.transcript import AGENTS

TYPE_CHECKING = False  # `typing` itself would cost every start
if TYPE_CHECKING:
    from types import ModuleType

    from holdfast.capture.agents.transcript_reader import Dialect
else:
    lazy_modules(__name__)

DIALECTS: dict[str, ModuleType] = {name: LazyModule(f"{__name__}.{name}") for name in AGENTS}  # type: ignore[misc]


def dialect(name: str) -> Dialect:
    """The dialect of that name."""
    if name not in DIALECTS:
        raise BadInput(f"{name!r} is not an agent whose transcripts can be read", hint=f"Use {', '.join(DIALECTS)}.")
    found: Dialect = DIALECTS[name].DIALECT
    return found


def spoken_by(agent: str) -> Dialect:
    """The dialect of whoever called our hook: a known agent's, else that of agents which people build themselves."""
    from holdfast.capture.agents import own_agent  # loaded by whoever goes through here

    return dialect(agent) if agent in DIALECTS else own_agent.DIALECT
