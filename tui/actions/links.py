"""Opens web pages: those named in messages and pull requests, and those of a worktree's server."""

import os
from pathlib import Path
from urllib.parse import urlsplit

from model.api.scripts import get_listening_ports
from model.base.text import make_visible
from model.domain.worktree_variables import PORT_COUNT
from tui.desk import Desk
from tui.screens.choose import Choice, Choose
from tui.screens.dialog import Confirm
from tui.terminal import open_commands
from tui.terminal.external_programs import open_in_window


async def open_link(desk: Desk, href: str) -> None:
    """Open a page in the browser after confirming its full address, which is untrusted."""
    address = make_visible(href)
    if urlsplit(address).scheme not in ("http", "https"):
        desk.host.copy(address)
        desk.say("Only http and https links can be opened. The address was copied.")
        return
    program = open_commands.find_desktop_opener(os.environ)
    if program is None:
        desk.host.copy(address)
        desk.say("No browser was found on this machine. The address was copied.")
        return
    dialog = Confirm("Open in the browser", address, "open", harmless=True)
    if await desk.ask(dialog):
        await open_in_window((program, address), Path.home(), os.environ)


async def open_port(desk: Desk) -> None:
    """Open the page that a server of the worktree serves; ask which if there are several."""
    worktree = desk.worktree
    if worktree is None or worktree.port is None:
        desk.say("Select a worktree first." if worktree is None else "This worktree has no ports.")
        return
    found = await desk.client.call(get_listening_ports, worktree_id=worktree.id)
    host = urlsplit(desk.host.remote_address).hostname or "localhost"
    addresses = [f"http://{host}:{port}" for port in found]
    if not addresses:
        desk.say(
            f"Nothing listens on the ports {worktree.port} to {worktree.port + PORT_COUNT - 1}. "
            "Let a server listen on $SPINNEY_PORT."
        )
        return
    address: str | None = addresses[0]
    if len(addresses) > 1:
        choices = [Choice(each, each) for each in addresses]
        address = await desk.ask(Choose("Open which page?", choices))
    if address is not None:
        await open_link(desk, address)
