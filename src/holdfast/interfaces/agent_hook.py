"""The hook that agents call; see docs/design/hooks.md."""


def script() -> int:
    """Where `holdfast-hook` starts."""
    return 0
