"""Looking over what is stored with the rules of today."""

from collections.abc import Sequence

from holdfast.diagnostics import secret_scan
from holdfast.diagnostics.secret_scan import SecretScan
from holdfast.project.viewing import Viewing


class Scanning(Viewing):
    """What today's rules would redact in text that was stored before them."""

    def scan(self, paths: Sequence[str] = ()) -> SecretScan:
        """Which stored files hold something that would be redacted now; nothing is changed."""
        return secret_scan.scan(self.clone, paths)
