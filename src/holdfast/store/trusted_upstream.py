"""The record of the upstream whose trunk the user trusts.

It is only in the private store: a file that git or a bundle can bring could come from a person who wants to be trusted.
The store of last resort, which is in the work tree, is not read either.

A few rows of `name value`; the ref comes first, so that the quick path can read it without a parser.
"""

from holdfast.errors import TooLarge, UnsafePath
from holdfast.store import fsio
from holdfast.store.layout import Layout
from holdfast.values import fields, frozen

LARGEST = 1 << 14  # bytes; a guess: five short rows


@frozen
class Upstream:
    """A branch of a remote that this clone follows."""

    ref: str  # refs/remotes/<remote>/<branch>
    remote: str
    url: str  # without a password

    @property
    def branch(self) -> str:
        return self.ref.removeprefix(f"refs/remotes/{self.remote}/")

    @property
    def name(self) -> str:
        return f"{self.branch} of {self.remote} ({self.url})"


@frozen
class TrustedUpstream(Upstream):
    """An upstream that a person trusted, with the person and the time."""

    by: str
    ts: str


def read(layout: Layout) -> TrustedUpstream | None:
    """Returns the trusted upstream, or None; reports a damaged record."""
    try:
        text = fsio.read(layout.trusted, limit=LARGEST).decode("utf-8")
        values = dict(line.split(" ", 1) for line in text.splitlines())
        found = TrustedUpstream(**{one.name: values.pop(one.name) for one in fields(TrustedUpstream)})
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnsafePath, TooLarge, ValueError, KeyError) as error:
        layout.leave_out(f"{layout.trusted} cannot be read, so no upstream is trusted: {error}")
        return None
    return found if found.ref.startswith(f"refs/remotes/{found.remote}/") and found.branch else None


def write(layout: Layout, trusted: TrustedUpstream) -> None:
    """Stores the trusted upstream, durably, in place of an earlier one."""
    rows = [f"{one.name} {' '.join(str(getattr(trusted, one.name)).split())}" for one in fields(TrustedUpstream)]
    fsio.replace(layout.trusted, ("\n".join(rows) + "\n").encode("utf-8", "replace"))


def forget(layout: Layout) -> None:
    """Deletes the record: no upstream is trusted."""
    fsio.remove(layout.trusted)
