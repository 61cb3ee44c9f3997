"""What the parts of a project share: each answers for one concern and reaches the others through the project."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from holdfast.config import Settings
    from holdfast.git.clone import Clone
    from holdfast.project import Project

T = TypeVar("T")


class Concern:
    """One part of a project's memory."""

    subject = ""  # what of the views changes with what is done here; empty: all of it

    def __init__(self, project: Project) -> None:
        self.project, self.clone = project, project.clone

    @property
    def settings(self) -> Settings:
        """The settings that hold here."""
        return self.project.settings

    @property
    def active(self) -> Clone:
        """The clone; refused where the settings switch off what this is about."""
        self.project.needs(self.subject)
        return self.clone

    def shown(self, value: T) -> T:
        """The value, once the views show what was done."""
        self.project.views.render_quietly(self.subject)
        return value
