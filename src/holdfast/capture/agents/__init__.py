"""Agents' own records, read: one module for each tool's dialect, all giving the same turns.

    for turn in dialect("codex").read(path): ...

A dialect finds its tool's transcripts and reads them; what they mean for memory is the business of
`capture.ingest`.
"""

from holdfast.capture.agents import claude, codex, gemini
from holdfast.capture.agents.transcript_reader import Dialect
from holdfast.errors import BadInput

DIALECTS: dict[str, Dialect] = {one.name: one for one in (codex.DIALECT, claude.DIALECT, gemini.DIALECT)}


def dialect(name: str) -> Dialect:
    """The dialect of that name."""
    if name not in DIALECTS:
        raise BadInput(f"{name!r} is no agent whose transcripts can be read", hint=f"Use {', '.join(DIALECTS)}.")
    return DIALECTS[name]
