"""What one request shows, and what the pages that answer it need to know."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from model.domain.resources import Project, Session, Worktree
from model.state import State
from server.lite.html import Element, Node, make

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a form as they were sent; one that was ticked several times has many values."""

    fields: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))

    def __contains__(self, name: str) -> bool:
        return name in self.fields

    def get(self, name: str) -> str:
        """The last value, or nothing."""
        return self.fields.get(name, ("",))[-1]

    def all(self, name: str) -> tuple[str, ...]:
        """Every value."""
        return self.fields.get(name, ())


@dataclass(frozen=True, slots=True)
class Visit:
    """One request of somebody who was let in."""

    workspace: "Workspace"
    version: str
    """Names the set of files of the page, as `StaticFiles.version`."""
    path: str
    query: Mapping[str, str]
    form_value: str = ""
    """What every form must show."""
    can_leave: bool = False
    """Whether there is something to sign out of."""
    typed: Form = field(default_factory=Form)
    """What a form held that was refused."""
    problem: str = ""
    """Why it was."""

    @property
    def state(self) -> State:
        """All that is known now."""
        return self.workspace.store.state

    def agent(self, backend: str) -> str:
        """What people call an agent."""
        return self.workspace.catalog.label(backend)

    def place(self, session: Session) -> tuple[Worktree | None, Project | None]:
        """The worktree and the project that a session is in."""
        worktree = self.state.worktrees.get(session.worktree_id)
        return worktree, self.state.projects.get(worktree.project_id) if worktree else None

    def form(self, action: str, *children: Node, **attributes: str) -> Element:
        """A form that is posted, with the value that it must show."""
        value = hidden("form_value", self.form_value)
        return make("form", value, children, method="post", action=action, **attributes)


def hidden(name: str, value: str) -> Element:
    """A field that nobody sees."""
    return make("input", type="hidden", name=name, value=value)


def button(words: str, name: str | None = None, value: str | None = None, **more: str) -> Element:
    """A button that sends its form."""
    return make("button", words, name=name, value=value, **more)


def link(words: str, address: str) -> Element:
    """A link."""
    return make("a", words, href=address)


def way(*links: Node) -> Element:
    """Links that lead on, each large enough for a finger."""
    return make("p", links, class_="go")


def short(text: str, most: int = 80) -> str:
    """The text on one line, cut where it is longer than a list has room for."""
    line = " ".join(text[: most * 4].split())
    return line if len(line) <= most else line[: most - 1] + "…"
