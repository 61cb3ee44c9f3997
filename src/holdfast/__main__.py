"""Where `holdfast` and `python -m holdfast` start: the quick path if it can answer, else all of it."""

import sys


def main() -> int:
    """Run one command and give its exit code."""
    from holdfast.interfaces import quick

    code = quick.main(sys.argv[1:])
    if code == quick.NOT_HANDLED:
        from holdfast.interfaces.cli.main import main as full

        code = full(sys.argv[1:])
    return code


if __name__ == "__main__":
    sys.exit(main())
