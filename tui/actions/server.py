"""Actions about the server that lets a browser or another Spinney in."""

from model.api import server as commands
from tui.desk import Desk


async def server(desk: Desk) -> None:
    """What it is now, and all that can be done with it."""
    from tui.screens.server import ServerScreen, token_of

    status = await desk.client.call(commands.get_http_server_status)
    desk.show_server(status)
    await desk.ask(ServerScreen(desk, status, await token_of(desk)))


async def start_server(desk: Desk) -> None:
    """Start it if it does not run, and show where it answers."""
    status = await desk.client.call(commands.get_http_server_status)
    if not status.get("running"):
        await desk.client.call(commands.start_http_server)
    await server(desk)


async def stop_server(desk: Desk) -> None:
    """Let nobody in any more."""
    desk.show_server(await desk.client.call(commands.stop_http_server))
    desk.say("The server is stopped.")
