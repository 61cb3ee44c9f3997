"""The entry of the command line: one command, its exit code, and errors in one sentence.

The only place that catches everything: a bug of ours must end in a sentence too, and must not
look like success.
"""

import os
import sys

import click

from holdfast.errors import HoldfastError
from holdfast.interfaces.cli.invocation import INTERRUPTED, Declined
from holdfast.interfaces.cli.output import ReaderGone, complain, flush, say, send_nowhere
from holdfast.interfaces.cli.root import root

REFUSED = 125  # `holdfast run` could not start the command; its own exit codes stay below
DECLINED, BROKEN_PIPE, USAGE, BUG = 1, 141, 2, 70  # our own; as a shell says of SIGPIPE; click's; sysexits' EX_SOFTWARE


def main(argv: list[str] | None = None) -> int:
    """Run one command and give its exit code."""
    argv, code = sys.argv[1:] if argv is None else argv, 0
    for stream in (sys.stdout, sys.stderr):  # a terminal that cannot draw a character shows its number instead
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _run(argv)
        flush()
    except ReaderGone:  # it went away (`holdfast log | head`), and nothing more can be said to it
        code = BROKEN_PIPE
    except OSError as error:  # the disk of a redirected answer is full; what was done is done
        if code == 0:
            complain(f"the answer could not be written: {error.strerror or error}", None)
            code = HoldfastError.code
    else:
        return code
    send_nowhere(sys.stdout)
    return code


def _run(argv: list[str]) -> int:
    try:
        answer = root.main(args=argv, prog_name="holdfast", standalone_mode=False)
        return answer if isinstance(answer, int) else 0
    except HoldfastError as error:
        complain(str(error), error.hint)
        return _refused(argv, error.code)
    except click.UsageError as error:
        known = error.ctx.command_path if error.ctx else "holdfast"
        complain(error.format_message(), getattr(error, "hint", f"See `{known} --help`."))
        return _refused(argv, USAGE)
    except click.ClickException as error:
        complain(error.format_message(), None)
        return _refused(argv, error.exit_code)
    except Declined:
        say("Nothing was done.")
        return DECLINED
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted", None)
        return INTERRUPTED
    except ReaderGone:
        raise
    except OSError as error:
        complain(f"{error.filename or 'the system'}: {error.strerror or error}", HoldfastError.hint)
        return _refused(argv, HoldfastError.code)
    except Exception as error:  # noqa: BLE001
        if isinstance(error.__cause__, KeyboardInterrupt):  # Python 3.11 wraps what comes while a class is made
            complain("interrupted", None)
            return INTERRUPTED
        return _refused(argv, _bug(error))


def _bug(error: Exception) -> int:
    if os.environ.get("HOLDFAST_TRACEBACK"):
        import traceback

        traceback.print_exc()
    complain(
        f"this is a bug in Holdfast: {type(error).__name__}: {error}",
        "Set HOLDFAST_TRACEBACK=1 and run it again to see where; then please report it.",
    )
    return BUG


def _refused(argv: list[str], code: int) -> int:
    """Errors of `holdfast run` come before its command starts: they share one code nobody else uses."""
    words = iter(argv)
    for word in words:
        if word == "-C":
            next(words, None)
        elif not word.startswith("-"):
            return REFUSED if word == "run" else code
    return code
