"""Opens web pages named in messages and pull requests."""

import os
from pathlib import Path
from urllib.parse import urlsplit

from model.base.text import make_visible
from tui.desk import Desk
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
