"""`holdfast review` at a terminal: opens the screen, and says afterwards what was done."""

from functools import partial

from textual.app import App
from textual.worker import WorkerFailed

from holdfast.interfaces.tui.cited import cited
from holdfast.interfaces.tui.desk import Desk
from holdfast.interfaces.tui.screen import Reviewing
from holdfast.interfaces.tui.showing import Cited
from holdfast.interfaces.tui.tray import Tray
from holdfast.project import Project


def run(project: Project) -> None:
    """Review on this terminal; says afterwards what was done and what was left.

    A bug of ours is raised once the terminal is as it was, and after what was done until then was said.
    """
    app = Review(project, partial(cited, project.clone))
    app.run()
    for line in app.tray.account():
        print(line)
    if app.failed is not None:
        raise app.failed


class Review(App[None]):
    """The application: one screen over one project."""

    ENABLE_COMMAND_PALETTE = False
    TITLE = "holdfast review"

    def __init__(self, desk: Desk, cited: Cited = lambda _: {}) -> None:
        super().__init__()
        self.tray = Tray()
        self.failed: BaseException | None = None  # what nobody expected
        self._desk, self._cited = desk, cited

    def on_mount(self) -> None:
        self.push_screen(Reviewing(self._desk, self.tray, self._cited))

    def _handle_exception(self, error: Exception) -> None:
        """Leave without Textual's traceback, which shows what variables hold; `run` raises it."""
        cause = error.error if isinstance(error, WorkerFailed) else error
        self.failed = self.failed or cause
        super()._handle_exception(error)
        self._exit_renderables.clear()

    async def action_quit(self) -> None:
        """Leave as `q` does, whichever of Textual's own keys was pressed."""
        for screen in self.screen_stack:
            if isinstance(screen, Reviewing):
                screen.action_leave()
