"""The base class of the parts of a project: each has one concern and reaches the others through the project."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from holdfast.config import Settings
    from holdfast.git.clone import Clone
    from holdfast.project import Project

T = TypeVar("T")


class Concern:
    """One part of a project's memory."""

    subject = ""  # the views that change with this concern; empty: all of them

    def __init__(self, project: Project) -> None:
        self.project, self.clone = project, project.clone

    @property
    def settings(self) -> Settings:
        """The settings of this project."""
        return self.project.settings

    @property
    def active(self) -> Clone:
        """The clone; raises SwitchedOff if the settings switch this concern off."""
        self.project.needs(self.subject)
        return self.clone

    def shown(self, value: T) -> T:
        """Renders the views, then returns the value."""
        self.project.views.render_quietly(self.subject)
        return value
