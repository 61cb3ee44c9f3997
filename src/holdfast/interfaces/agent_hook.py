"""Where the hook that agents call starts: run by its path with `-I -S`, or as `holdfast-hook AGENT EVENT`.

It only finds the rest, which is compiled once and read from there; this file is compiled at every event.
"""

import sys


def script() -> int:
    """Where `holdfast-hook` starts; it does not come back."""
    from holdfast.interfaces.agent_events import main  # by its whole name: a stand-in would cost a millisecond

    main(sys.argv[1:])
    return 0


if __name__ == "__main__":
    try:
        import posix
    except ImportError:  # no such system: nothing is recorded there, and nothing said
        sys.exit(0)
    try:
        sys.path.insert(0, __file__.rsplit("/", 3)[0])
        script()
    finally:
        posix._exit(0)  # an installation that is half gone must not be heard of either
