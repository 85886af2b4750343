"""Actions about the server that lets a browser or another Spinney in."""

from typing import TYPE_CHECKING, Any

from textual.content import Content

from model.commands import server as commands
from model.errors import SpinneyError
from tui.screens.dialog import Report

if TYPE_CHECKING:
    from tui.screens.main import MainScreen


async def start_server(screen: "MainScreen") -> None:
    """Start it if it does not run, and show where it answers."""
    status = await screen.client.call(commands.get_http_server_status)
    if not status.get("running"):
        status = await screen.client.call(commands.start_http_server)
    screen.show_server(status)
    address = await address_of(screen, status)
    text = Content.assemble(
        "Open this in a browser on this machine"
        if status.get("localhost_only", True)
        else "Open this in a browser on this network",
        ":\n\n",
        (address, "bold $accent"),
        "\n\nWhoever has this address can do all that you can do here.",
    )
    key = await screen.app.push_screen_wait(Report("Server", text, ("c", "copy"), ("s", "stop it")))
    if key == "c":
        screen.spinney.copy(address)
    elif key == "s":
        await stop_server(screen)


async def stop_server(screen: "MainScreen") -> None:
    """Let nobody in any more."""
    screen.show_server(await screen.client.call(commands.stop_http_server))
    screen.say("The server is stopped.")


async def address_of(screen: "MainScreen", status: dict[str, Any]) -> str:
    """Address and token as one link; only the screen of the same process learns the token."""
    base = str(status.get("base_url", "")).rstrip("/")
    if not status.get("token_required", True):
        return f"{base}/"
    try:
        token = await screen.client.call(commands.get_http_server_token)
    except SpinneyError:
        return f"{base}/"
    return f"{base}/#token={token}"
