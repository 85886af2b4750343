"""Actions on the HTTP server, through which browsers and other Spinneys connect."""

from model.api import server as commands
from tui.desk import Desk


async def server(desk: Desk) -> None:
    """Show the server's status and controls."""
    from tui.screens.server import ServerScreen, token_of

    status = await desk.client.call(commands.get_http_server_status)
    desk.show_server(status)
    await desk.ask(ServerScreen(desk, status, await token_of(desk)))


async def start_server(desk: Desk) -> None:
    """Start the server if it is not running, and show its address."""
    status = await desk.client.call(commands.get_http_server_status)
    if not status.get("running"):
        await desk.client.call(commands.start_http_server)
    await server(desk)


async def stop_server(desk: Desk) -> None:
    """Stop the server."""
    desk.show_server(await desk.client.call(commands.stop_http_server))
    desk.say("Server stopped.")
