"""What the main screen has before it: what is open, what holds it, and all that is known."""

from typing import TYPE_CHECKING

from textual.screen import Screen

from tui.store.places import Place, project_of, worktree_of
from tui.tree.widget import ProjectTree
from tui.widgets.chat import Chat

if TYPE_CHECKING:
    from model.client.base import Client
    from model.domain.resources import Project, Session, Worktree
    from model.state import State
    from tui.shell.link import Link
    from tui.store.mirror import Mirror


class Here(Screen[None]):
    """The screen as actions see it.

    They are about what is open, and about the row under the cursor while the tree has the keys.
    """

    def __init__(self, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.link: Link | None = None
        """The way to the model, once it is there."""
        self.place: Place | None = None
        """What is open, or was pointed at last."""

    @property
    def projects(self) -> ProjectTree:
        """The projects."""
        return self.query_one("#tree", ProjectTree)

    @property
    def chat(self) -> Chat:
        """The conversation."""
        return self.query_one("#chat", Chat)

    @property
    def client(self) -> "Client":
        """The way to the model; only for what runs after `connected`."""
        assert self.link is not None
        return self.link.client

    @property
    def mirror(self) -> "Mirror":
        """What is known of the model."""
        assert self.link is not None
        return self.link.mirror

    @property
    def state(self) -> "State":
        """All that is known."""
        return self.mirror.state

    @property
    def session(self) -> "Session | None":
        """The session that is open."""
        if self.link is None or self.place is None or self.place.kind != "session":
            return None
        return self.state.sessions.get(self.place.id)

    @property
    def worktree(self) -> "Worktree | None":
        """The worktree that actions are about, and never one of another project by the way."""
        if self.link is None:
            return None
        here, there = self._places
        found, elsewhere = worktree_of(here, self.state), worktree_of(there, self.state)
        if found is not None or elsewhere is None:
            return found
        project = project_of(here, self.state)
        return elsewhere if project is None or project.id == elsewhere.project_id else None

    @property
    def project(self) -> "Project | None":
        """The project that actions are about."""
        if self.link is None:
            return None
        here, there = self._places
        return project_of(here, self.state) or project_of(there, self.state)

    @property
    def _places(self) -> tuple[Place | None, Place | None]:
        """Where the keys are and where they are not: the tree's cursor, or what is open."""
        opened, pointed = self.place, self.projects.place
        return (pointed, opened) if self.focused is self.projects else (opened, pointed)
