"""Actions that share a session or a project with guests."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from model.api import guests as commands
from model.api.server import get_http_server_status, start_http_server
from tui.desk import Desk

if TYPE_CHECKING:
    from model.domain.guests import GuestAction, GuestLink


async def share_session(desk: Desk) -> None:
    """Make a guest link for the open session."""
    session = desk.session
    if session is None:
        desk.say("Open a session first.")
        return
    sentence = "The guest sees this session only. Secrets are masked as far as recognized."
    await _share(desk, session.name, sentence, session_id=session.id)


async def share_project(desk: Desk) -> None:
    """Make a guest link for all sessions of the project."""
    project = desk.project
    if project is None or project.is_folder:
        desk.say("Select a project first.")
        return
    sentence = "The guest sees all sessions of it. Secrets are masked as far as recognized."
    await _share(desk, project.name, sentence, project_id=project.id)


async def show_guests(desk: Desk) -> None:
    """Show the guest links, and what was done with them."""
    from tui.screens.guests import GuestsScreen, GuestWork

    async def load() -> "Sequence[GuestLink]":
        return await desk.client.call(commands.list_guest_links)

    async def revoke(link_id: str) -> None:
        await desk.client.call(commands.revoke_guest_link, link_id=link_id)

    async def load_actions(link_id: str | None) -> "Sequence[GuestAction]":
        return await desk.client.call(commands.list_guest_actions, link_id=link_id, limit=200)

    work = GuestWork(load, revoke, load_actions, time.time)
    await desk.ask(GuestsScreen(work, await load()))


async def _share(
    desk: Desk,
    name: str,
    sentence: str,
    *,
    session_id: str | None = None,
    project_id: str | None = None,
) -> None:
    from tui.screens.share import GuestLinkScreen, ShareDialog

    if not await _has_server(desk):
        return
    terms = await desk.ask(ShareDialog(name, sentence))
    if terms is None:
        return
    made = await desk.client.call(
        commands.create_guest_link,
        session_id=session_id,
        project_id=project_id,
        role=terms.role,
        name=terms.name,
        hours=terms.hours,
        max_devices=terms.max_devices,
        max_mode=terms.max_mode,
    )
    await desk.ask(GuestLinkScreen(made.url, made.hint, desk.host.copy))


async def _has_server(desk: Desk) -> bool:
    """Whether the server runs, which guests need; it is started if the user agrees."""
    from tui.screens.dialog import Confirm

    status = await desk.client.call(get_http_server_status)
    if status.get("running"):
        return True
    question = "Guests open the link with a browser, for which the server must run. Start it?"
    if not await desk.ask(Confirm("Start the server", question, "start")):
        return False
    desk.show_server(await desk.client.call(start_http_server))
    return True
