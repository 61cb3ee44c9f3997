"""Promoting: what has to happen outside before an agent sees what was accepted."""

from holdfast.capture.user_command import restart
from holdfast.project.connecting import Connecting


class Promoting(Connecting):
    """Who does not know yet."""

    def behind(self) -> list[str]:
        """The connected tools whose block is older than what is accepted now."""
        return [one.tool for one in self.connected() if not one.current]

    def restart(self) -> bool:
        """Run the user's command that restarts their tools, if there is one; a failure is a notice."""
        command = self.settings.auto_restart
        if not command:
            return False
        why = restart(command, top=self.clone.repo.top, environ=self.environ)
        if why is not None:
            self.clone.notes.append(f"review.auto_restart: {why}")
        return why is None
