"""Where `holdfast` and `python -m holdfast` start: the quick path if it can answer, else all of it."""

import sys


def main() -> int:
    """Run one command and give its exit code."""
    try:
        if None in (sys.stdin, sys.stdout, sys.stderr):
            _open_standard_streams()
        if sys.argv[1:] == ["mcp"]:  # its handshake is answered before anything else is loaded
            from holdfast.interfaces.mcp import stdio

            return stdio.serve()
        from holdfast.interfaces import quick

        code = quick.main(sys.argv[1:])
        if code == quick.NOT_HANDLED:
            from holdfast.interfaces.cli.main import main as full

            code = full(sys.argv[1:])
    except KeyboardInterrupt:  # also while modules are still being loaded
        return 130
    return code


def _open_standard_streams() -> None:
    """Give nothing to read and nowhere to write where a stream was closed: a file opened later must
    not become standard output by taking its number."""
    import os

    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, os.O_RDWR)
            if nothing != number:
                os.dup2(nothing, number)
                os.close(nothing)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


if __name__ == "__main__":
    sys.exit(main())
