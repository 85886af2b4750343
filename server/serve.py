"""`spinney serve`: a Spinney without a terminal, until it is told to end."""

import asyncio
import gc
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from model.base.instance import InstanceLock
from model.base.paths import Directories
from model.commands.preferences import update_preferences
from model.commands.server import get_http_server_token, start_http_server
from server.app import Server
from server.engine import made_workspace, opened_door


@dataclass(frozen=True, slots=True)
class Wanted:
    """How it is to serve; what is `None` is as the preferences say."""

    port: int | None = None
    token: str | None = None
    localhost_only: bool | None = None
    token_required: bool | None = None
    unsafe_no_token: bool = False
    demo: bool = False


Announce = Callable[[dict[str, Any], str, list[str]], None]
"""Told once it answers: the server's status, the token, problems in sentences."""


def serve(places: Directories, lock: InstanceLock, wanted: Wanted, announce: Announce) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP. Raises `SpinneyError` if it cannot."""
    asyncio.run(_serve(places, lock, wanted, announce))


async def _serve(
    places: Directories, lock: InstanceLock, wanted: Wanted, announce: Announce
) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    workspace = made_workspace(places, demo=wanted.demo)
    await workspace.start()
    workspace.http_server = Server(workspace, unsafe_no_token=wanted.unsafe_no_token)
    door = None
    try:
        if wanted.token is not None:
            changes = {"http_server_token": wanted.token}
            await update_preferences(workspace, changes)
        status = await start_http_server(
            workspace, wanted.port, wanted.localhost_only, wanted.token_required
        )
        door = await opened_door(workspace, lock)
        token = await get_http_server_token(workspace)
        announce(status, token, workspace.problems)
        # What is here now stays: full collections need not look at it again.
        gc.freeze()
        await stopped.wait()
    finally:
        if door is not None:
            await door.close()
        await workspace.http_server.stop()
        await workspace.stop()
