"""Events of projects and folders."""

from typing import ClassVar

from model.domain.events.base import Event
from model.domain.projects import Project


class ProjectEvent(Event):
    """Base class of events that carry the complete project after the change."""

    project: Project

    def body(self, *, numbered: bool) -> str:
        """The project's fields, without its API key for the issue tracker."""
        return self.project.model_copy(update={"tracker_api_key": None}).model_dump_json()


class ProjectAdded(ProjectEvent):
    """A project or folder was added."""

    name: ClassVar[str] = "project:added"


class ProjectUpdated(ProjectEvent):
    """A project or folder changed."""

    name: ClassVar[str] = "project:updated"


class ProjectRemoved(Event):
    """A project or folder was removed from Spinney; no file was deleted."""

    name: ClassVar[str] = "project:removed"
    project_id: str
