"""`holdfast review` at a terminal: opens the screen, and says afterwards what was done."""

from textual.app import App

from holdfast.interfaces.tui.desk import Desk
from holdfast.interfaces.tui.screen import Reviewing
from holdfast.interfaces.tui.tray import Tray
from holdfast.project import Project


def run(project: Project) -> None:
    """Review on this terminal; says afterwards what was done and what was left."""
    app = Review(project)
    app.run()
    for line in app.tray.account():
        print(line)


class Review(App[None]):
    """The application: one screen over one project."""

    ENABLE_COMMAND_PALETTE = False
    TITLE = "holdfast review"

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.tray = Tray()
        self._desk = desk

    def on_mount(self) -> None:
        self.push_screen(Reviewing(self._desk, self.tray))

    async def action_quit(self) -> None:
        """Leave as `q` does, whichever of Textual's own keys was pressed."""
        for screen in self.screen_stack:
            if isinstance(screen, Reviewing):
                screen.action_leave()
