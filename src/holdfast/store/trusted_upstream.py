"""The upstream whose trunk the user trusts, as this clone remembers it.

It lies in the private store alone: whatever git or a bundle can carry could come from whoever wants to be
trusted. The store of last resort, which lies in the work tree, is not asked either.

A few lines of `name value`; the ref stands first, so that the quick path can read it without a parser.
"""

from holdfast.errors import TooLarge, UnsafePath
from holdfast.store import fsio
from holdfast.store.layout import Layout
from holdfast.values import fields, frozen

LARGEST = 1 << 14


@frozen
class Upstream:
    """A branch of a remote, as this clone follows it."""

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
    """What a person said yes to, who and when."""

    by: str
    ts: str


def read(layout: Layout) -> TrustedUpstream | None:
    """What is trusted, or None; a record that is damaged counts for nothing and is said."""
    try:
        text = fsio.read(layout.trusted, limit=LARGEST).decode("utf-8")
        said = dict(line.split(" ", 1) for line in text.splitlines())
        found = TrustedUpstream(**{one.name: said.pop(one.name) for one in fields(TrustedUpstream)})
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnsafePath, TooLarge, ValueError, KeyError) as error:
        layout.leave_out(f"{layout.trusted} cannot be read, so nothing is trusted by it: {error}")
        return None
    return found if found.ref.startswith(f"refs/remotes/{found.remote}/") and found.branch else None


def write(layout: Layout, trusted: TrustedUpstream) -> None:
    """Remember what is trusted, instead of anything before; durable on return."""
    rows = [f"{one.name} {' '.join(str(getattr(trusted, one.name)).split())}" for one in fields(TrustedUpstream)]
    fsio.replace(layout.trusted, ("\n".join(rows) + "\n").encode("utf-8", "replace"))


def forget(layout: Layout) -> None:
    """Nothing is trusted any more."""
    fsio.remove(layout.trusted)
