"""The entry point of `holdfast` and `python -m holdfast`: runs the quick path if it can answer, else the full CLI."""

import _signal  # type: ignore[import-not-found]  # built in; `signal` would import `enum` at every start
import atexit
import gc
import os
import sys

# New objects before Python searches for cycles, and how often it searches among older ones; a guess: most commands
# end before, and a page of ten thousand memories is not held up by searches among them.
GARBAGE = (100_000, 50, 50)

# While modules load there is nothing to clean up: Ctrl-C ends the program at once and without a traceback,
# as it ends git. Python's own handler is restored before a command that writes. If SIGINT is ignored (nohup),
# it stays ignored; a program that imports this module keeps its own handler.
_STARTED = __name__ == "__main__" or sys.argv[0].endswith(("holdfast", "holdfast.exe"))
_OURS = _STARTED and _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler
if _OURS:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


def _catch_interrupts() -> None:
    if _OURS:
        sys.unraisablehook = _hide_interrupts
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)


def _hide_interrupts(unraisable: "sys.UnraisableHookArgs", /) -> None:
    """Hides an interrupt that Python drops because it came while an object was released, for example at an import.
    The command continues; a traceback would look like a defect."""
    if unraisable.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(unraisable)


def main() -> int:
    """Runs one command and returns its exit code."""
    code = _run()
    if _OURS:  # from here on, Python's handler would print a traceback
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    if _STARTED:
        _end(code)
    return code


def _end(code: int) -> None:
    """Ends the process at once: releasing every module and object takes as long as starting Python twice.

    Returns, so that Python ends as usual, if a thread or a debugger still runs, or the output cannot be written.
    """
    threading = sys.modules.get("threading")
    if sys.gettrace() or sys.getprofile() or (threading and threading.active_count() > 1):
        return
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        return
    os._exit(code & 0xFF)


def _run() -> int:
    try:
        if None in (sys.stdin, sys.stdout, sys.stderr):
            _open_standard_streams()
        if sys.argv[1:] == ["mcp"]:  # the MCP handshake is answered before anything else is loaded
            from holdfast.interfaces.mcp import stdio_server

            _catch_interrupts()
            return stdio_server.serve()
        gc.set_threshold(*GARBAGE)
        from holdfast.interfaces import quick

        code = quick.main(sys.argv[1:])
        if code == quick.NOT_HANDLED:
            from holdfast.interfaces.cli.main import main as full

            _catch_interrupts()
            code = full(sys.argv[1:])
    except KeyboardInterrupt:
        return 130
    return code


def _open_standard_streams() -> None:
    """Opens /dev/null for each closed stream: otherwise a file opened later would take its number and
    become standard output."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, os.O_RDWR)
            if nothing != number:
                os.dup2(nothing, number)
                os.close(nothing)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


if __name__ == "__main__":
    sys.exit(main())
