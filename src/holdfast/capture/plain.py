"""Runs a command where there are no process groups and no pseudo-terminals (Windows): pipes and threads."""

import os
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import IO

from holdfast.capture.streams import CHUNK, Tape

NOTE = "this system has no process groups: signals reach only the command, which gets no terminal"


def execute(argv: Sequence[str], *, cwd: str, environ: Mapping[str, str], tape: Tape) -> tuple[int, str]:
    """The command's exit code, and the sentence that says what was not possible here."""
    child = subprocess.Popen(argv, cwd=cwd, env=dict(environ), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None and child.stderr is not None
    turn = threading.Lock()
    streams = [("stdout", child.stdout, 1), ("stderr", child.stderr, 2)]
    threads = [threading.Thread(target=_copy, args=(*s, tape, turn), daemon=True) for s in streams]
    for thread in threads:
        thread.start()
    code = _ended(child)
    for thread in threads:
        thread.join(timeout=2.0)  # a background process may keep a pipe open for ever
    return code if code >= 0 else 128 - code, NOTE


def _ended(child: "subprocess.Popen[bytes]") -> int:
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:  # the console sent it to the command too; its answer counts
            continue


def _copy(name: str, source: IO[bytes], sink: int, tape: Tape, turn: threading.Lock) -> None:
    gone = False
    while chunk := os.read(source.fileno(), CHUNK):
        with turn:
            try:
                view = memoryview(b"" if gone else chunk)
                while view:
                    view = view[os.write(sink, view) :]
            except OSError:
                gone = True
            tape(name, chunk)
