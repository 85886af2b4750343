"""One request to `/lite`, with what its page needs to know."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

from model.base.errors import SpinneyError
from model.domain.projects import Project
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.state import State
from server.lite.html import Element, Node, make

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


_MAX_FIELDS: Final = 500


@dataclass(frozen=True, slots=True)
class Form:
    """The submitted fields of a form; a field can have several values."""

    fields: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))

    def __contains__(self, name: str) -> bool:
        return name in self.fields

    def get(self, name: str) -> str:
        """The last value, or an empty string."""
        return self.fields.get(name, ("",))[-1]

    def all(self, name: str) -> tuple[str, ...]:
        """All values."""
        return self.fields.get(name, ())

    @property
    def digest(self) -> bytes:
        """A hash of all fields."""
        return hashlib.sha256(repr(self.fields).encode(errors="replace")).digest()


@dataclass(frozen=True, slots=True)
class PageRequest:
    """One authenticated request."""

    workspace: "Workspace"
    version: str
    """The version of the page's static files, as `StaticFiles.version`."""
    path: str
    query: Mapping[str, str]
    host: str = ""
    """The name by which the browser reaches this machine."""
    csrf_token: str = ""
    """CSRF token, which every form must send."""
    can_sign_out: bool = False
    """Whether the user is signed in by a cookie."""
    typed: Form = field(default_factory=Form)
    """The content of a form that was refused."""
    problem: str = ""
    """Why it was refused."""

    @property
    def state(self) -> State:
        """The current state."""
        return self.workspace.store.state

    def agent_label(self, backend: str) -> str:
        """The display name of an agent."""
        return self.workspace.catalog.label(backend)

    def parents_of(self, session: Session) -> tuple[Worktree | None, Project | None]:
        """The worktree and project of a session."""
        worktree = self.state.worktrees.get(session.worktree_id)
        return worktree, self.state.projects.get(worktree.project_id) if worktree else None

    def make_form(self, action: str, *children: Node, **attributes: str) -> Element:
        """Create a POST form with the CSRF token."""
        value = hidden("form_value", self.csrf_token)
        return make("form", value, children, method="post", action=action, **attributes)


def hidden(name: str, value: str) -> Element:
    """Create a hidden field."""
    return make("input", type="hidden", name=name, value=value)


def button(text: str, name: str | None = None, value: str | None = None, **more: str) -> Element:
    """Create a button that submits its form."""
    return make("button", text, name=name, value=value, **more)


def link(text: str, address: str) -> Element:
    """Create a link."""
    return make("a", text, href=address)


def nav(*links: Node) -> Element:
    """Create a paragraph of navigation links, each large enough for a finger."""
    return make("p", links, class_="go")


def shorten(text: str, limit: int = 80) -> str:
    """The text on one line, cut to `limit` characters."""
    line = " ".join(text[: limit * 4].split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def parse_form(raw: bytes) -> Form:
    """Parse a submitted form. Raises `SpinneyError` if it has too many fields."""
    try:
        pairs = parse_qsl(
            raw.decode(errors="replace"), keep_blank_values=True, max_num_fields=_MAX_FIELDS
        )
    except ValueError:
        raise SpinneyError("Invalid request: the form has too many fields.") from None
    fields: dict[str, tuple[str, ...]] = {}
    for name, value in pairs:
        fields[name] = (*fields.get(name, ()), value.replace("\r\n", "\n"))
    return Form(fields)
