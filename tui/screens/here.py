"""What the main screen has before it: what is open, what holds it, and all that is known."""

from typing import TYPE_CHECKING

from textual.screen import Screen

from tui.places import Place, project_of, worktree_of
from tui.widgets.chat import Chat
from tui.widgets.project_tree import ProjectTree

if TYPE_CHECKING:
    from model.client.base import Client
    from model.resources import Project, Session, Worktree
    from model.state import State
    from tui.link import Link
    from tui.mirror import Mirror


class Here(Screen[None]):
    """The screen as actions see it: they are about what is open, or else where the cursor is."""

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
        """The worktree of what is open, or of where the tree's cursor is."""
        if self.link is None:
            return None
        opened, pointed = self.place, worktree_of(self.projects.place, self.state)
        if pointed is not None and opened is not None and opened.kind == "project":
            # What is done to the worktree of another project would surprise.
            return pointed if pointed.project_id == opened.id else None
        return worktree_of(opened, self.state) or pointed

    @property
    def project(self) -> "Project | None":
        """The project of what is open, or of where the tree's cursor is."""
        if self.link is None:
            return None
        return project_of(self.place, self.state) or project_of(self.projects.place, self.state)
