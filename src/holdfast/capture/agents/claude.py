"""Transcripts of Claude."""

from collections.abc import Iterator

from holdfast.capture.agents.reading import Dialect, Reading
from holdfast.errors import BadInput
from holdfast.model.transcript import Origin


def _home(environ: dict[str, str], home: str) -> str:
    return f"{home}/.claude"


def _files(home: str) -> Iterator[str]:
    yield from ()


def _is_mine(path: str) -> bool:
    return False


def _read(path: str, start: int = 0, origin: Origin | None = None) -> Reading:
    raise BadInput(f"{path} is no transcript of Claude")


DIALECT = Dialect("claude", _home, _files, _is_mine, _read)
