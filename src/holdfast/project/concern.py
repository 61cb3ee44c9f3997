"""What the parts of a project share: each answers for one concern and reaches the others through the project."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.config import Settings
    from holdfast.git.clone import Clone
    from holdfast.project import Project


class Concern:
    """One part of a project's memory."""

    def __init__(self, project: Project) -> None:
        self.project = project

    @property
    def clone(self) -> Clone:
        """The clone that the project lives in."""
        return self.project.clone

    @property
    def settings(self) -> Settings:
        """The settings that hold here."""
        return self.project.settings
