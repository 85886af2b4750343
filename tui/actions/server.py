"""Actions about the server that lets a browser or another Spinney in."""

from typing import TYPE_CHECKING

from model.commands import server as commands

if TYPE_CHECKING:
    from tui.shell.main_screen import MainScreen


async def server(screen: "MainScreen") -> None:
    """What it is now, and all that can be done with it."""
    from tui.screens.server import ServerScreen, token_of

    status = await screen.client.call(commands.get_http_server_status)
    screen.show_server(status)
    await screen.app.push_screen_wait(ServerScreen(screen, status, await token_of(screen)))


async def start_server(screen: "MainScreen") -> None:
    """Start it if it does not run, and show where it answers."""
    status = await screen.client.call(commands.get_http_server_status)
    if not status.get("running"):
        await screen.client.call(commands.start_http_server)
    await server(screen)


async def stop_server(screen: "MainScreen") -> None:
    """Let nobody in any more."""
    screen.show_server(await screen.client.call(commands.stop_http_server))
    screen.say("The server is stopped.")
