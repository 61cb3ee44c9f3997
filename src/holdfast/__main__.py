"""Where `holdfast` and `python -m holdfast` start: the quick path if it can answer, else all of it."""

import _signal  # type: ignore[import-not-found]  # built in; `signal` would load `enum` for every start
import atexit
import gc
import os
import sys

_OBJECTS = 100_000  # new ones before Python looks for cycles: a command ends before it would find many

# While modules load there is nothing to clean up: Ctrl-C ends the program at once and without a traceback,
# as it ends git. Python's own handler comes back before a command that writes. Who ignores SIGINT (nohup)
# goes on to ignore it; a program that imports this module keeps its own handler.
_STARTED = __name__ == "__main__" or sys.argv[0].endswith(("holdfast", "holdfast.exe"))
_OURS = _STARTED and _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler
if _OURS:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


def _catch_interrupts() -> None:
    if _OURS:
        sys.unraisablehook = _pass_over_interrupts
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)


def _pass_over_interrupts(unraisable: "sys.UnraisableHookArgs", /) -> None:
    """Python drops an interrupt that comes while it releases an object, at each import for example. The command goes
    on; a traceback would look like damage."""
    if unraisable.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(unraisable)


def main() -> int:
    """Run one command and give its exit code."""
    code = _run()
    if _OURS:  # from here on an interrupt would print a traceback
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    if _STARTED:
        _end(code)
    return code


def _end(code: int) -> None:
    """End here: to release every module and object one by one costs as much as starting Python twice.

    Python ends itself if a thread is still at work, a profiler or debugger looks on, or the output cannot be written.
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
        if sys.argv[1:] == ["mcp"]:  # its handshake is answered before anything else is loaded
            from holdfast.interfaces.mcp import stdio_server

            _catch_interrupts()
            return stdio_server.serve()
        gc.set_threshold(_OBJECTS, 50, 50)
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
    """Give nothing to read and nowhere to write where a stream was closed: a file opened later must
    not become standard output by taking its number."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, os.O_RDWR)
            if nothing != number:
                os.dup2(nothing, number)
                os.close(nothing)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


if __name__ == "__main__":
    sys.exit(main())
