"""Looking over what is stored with the rules of today."""

from collections.abc import Sequence

from holdfast.diagnostics import scan
from holdfast.diagnostics.scan import Scanned
from holdfast.project.viewing import Viewing


class Scanning(Viewing):
    """What today's rules would redact in text that was stored before them."""

    def scan(self, paths: Sequence[str] = ()) -> Scanned:
        """Which stored files hold something that would be redacted now; nothing is changed."""
        return scan.scan(self.clone, paths)
