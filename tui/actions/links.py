"""Opens web pages that messages and pull requests name."""

import os
from pathlib import Path
from urllib.parse import urlsplit

from model.base.text import make_visible
from tui.desk import Desk
from tui.screens.dialog import Confirm
from tui.terminal import open_commands
from tui.terminal.external_programs import in_window


async def open_link(desk: Desk, href: str) -> None:
    """A page in the browser, after a look at its whole address; it is a stranger's."""
    address = make_visible(href)
    if urlsplit(address).scheme not in ("http", "https"):
        desk.host.copy(address)
        desk.say("Only http and https links are opened; its address was copied.")
        return
    program = open_commands.desktop_opener(os.environ)
    if program is None:
        desk.host.copy(address)
        desk.say("There is no browser on this side; the link's address was copied.")
        return
    dialog = Confirm("Open in the browser", address, "open it", harmless=True)
    if await desk.ask(dialog):
        await in_window((program, address), Path.home(), os.environ)
