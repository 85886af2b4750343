"""Implements `model.api.guests`."""

import time
from typing import TYPE_CHECKING, Any, Final

from model.api import guests as api
from model.base.errors import SpinneyError, project_not_found
from model.base.qr import qr_rows
from model.base.text import clean_line
from model.chat.lookup import session_in
from model.commands.registry import implements
from model.domain.guests import GuestAction, GuestLink, GuestRole
from model.domain.modes import ExecutionMode
from model.state import State

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

_ONLY_HERE: Final = (
    "The server is reachable from this machine only, and so is the link. Allow connections from"
    " the network in the server's settings."
)
_NO_TOKEN: Final = (
    "The server requires no token: all who reach it can do everything, also without the link."
)


@implements(api.create_guest_link)
async def create_guest_link(
    workspace: "Workspace",
    session_id: str | None = None,
    project_id: str | None = None,
    role: GuestRole = "viewer",
    name: str = "",
    hours: float = 24,
    max_devices: int = 1,
    max_mode: ExecutionMode = "build",
) -> api.NewGuestLink:
    scope_name = _scope_name(workspace.store.state, session_id, project_id)
    status = workspace.http_server.status() if workspace.http_server else {}
    if not status.get("running"):
        raise SpinneyError(
            "The server is not running, so the link could not be opened. Start it first.",
            "conflict",
        )
    now = time.time()
    link, token = await workspace.grants.links.create(
        GuestLink(
            id="",
            name=clean_line(name)[: api.MAX_NAME] or "Guest",
            scope_name=clean_line(scope_name)[: api.MAX_NAME],
            role=role,
            session_id=session_id,
            project_id=project_id,
            max_mode=max_mode,
            created_at=now,
            expires_at=now + hours * 3600,
            max_devices=max_devices,
        )
    )
    # In the fragment, which browsers send to no server, so that it is in no log.
    url = f"{status['base_url'].rstrip('/')}/#guest={token}"
    return api.NewGuestLink(link=link, url=url, rows=qr_rows(url), hint=_hint(status))


@implements(api.list_guest_links)
async def list_guest_links(workspace: "Workspace") -> list[GuestLink]:
    return workspace.grants.links.list()


@implements(api.revoke_guest_link)
async def revoke_guest_link(workspace: "Workspace", link_id: str) -> None:
    await workspace.grants.links.revoke(link_id)


@implements(api.list_guest_actions)
async def list_guest_actions(
    workspace: "Workspace", link_id: str | None = None, limit: int = 100
) -> list[GuestAction]:
    return workspace.grants.log.list(link_id)[:limit]


def _scope_name(state: State, session_id: str | None, project_id: str | None) -> str:
    """The name of what is shared. Raises `SpinneyError` unless it is one session or project."""
    if (session_id is None) == (project_id is None):
        raise SpinneyError("Give either a sessionId or a projectId to share.")
    if session_id is not None:
        return session_in(state, session_id).name
    project = state.projects.get(project_id or "")
    if project is None or project.is_folder:
        raise project_not_found(project_id or "")
    return project.name


def _hint(status: dict[str, Any]) -> str:
    hints = (
        _ONLY_HERE if status["localhost_only"] else "",
        "" if status["token_required"] else _NO_TOKEN,
    )
    return " ".join(filter(None, hints))
