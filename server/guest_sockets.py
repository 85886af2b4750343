"""The WebSockets of guests: each link in use has its own, which follow its world only."""

import asyncio
from dataclasses import replace
from functools import partial
from typing import Final

from aiohttp import WSCloseCode, web

from model.access.links import Guest
from model.base.errors import SpinneyError
from server.guest_worlds import GuestWorlds, OpenWorld
from server.limits import Limits
from server.websocket import WebSockets

MAX_SOCKETS: Final = 20
"""Of each link."""
_FRAME_SIZE: Final = 1024 * 1024
_COMMANDS: Final = 16
"""Concurrent commands of one WebSocket."""


class GuestSockets:
    """All open WebSockets of guests."""

    def __init__(self, worlds: GuestWorlds, limits: Limits) -> None:
        self._worlds = worlds
        frame_size, commands = min(limits.frame_size, _FRAME_SIZE), min(limits.commands, _COMMANDS)
        self._limits = replace(limits, frame_size=frame_size, commands=commands)
        self._sockets: dict[OpenWorld, WebSockets] = {}
        self._closing: set[asyncio.Task[None]] = set()
        worlds.on_ended = self._on_ended

    def __len__(self) -> int:
        return sum(map(len, self._sockets.values()))

    async def serve(self, request: web.Request, guest: Guest) -> web.WebSocketResponse:
        """Serve a guest's WebSocket until one side leaves, or the link ends."""
        opened = self._worlds.open(guest)
        if opened.sockets >= MAX_SOCKETS:
            raise SpinneyError("Too many connections with this guest link.", "rate_limit_error")
        sockets = self._sockets.get(opened)
        if sockets is None:
            world = opened.world
            sockets = WebSockets(
                world.bus,
                lambda: world.state,
                self._limits,
                opened.run_id,
                on_left=self._worlds.leave,
            )
            self._sockets[opened] = sockets
        opened.sockets += 1
        try:
            return await sockets.serve(request, partial(self._worlds.run, guest))
        finally:
            opened.sockets -= 1

    async def close(self, code: int, message: str) -> None:
        """Close all connections."""
        for sockets in tuple(self._sockets.values()):
            await sockets.close(code, message)

    async def stop(self) -> None:
        """Close all connections because the server stops."""
        self._worlds.close()
        await asyncio.gather(*self._closing, return_exceptions=True)

    def _on_ended(self, ended: OpenWorld, is_over: bool) -> None:
        sockets = self._sockets.pop(ended, None)
        if sockets is not None:
            task = asyncio.create_task(_end(sockets, is_over=is_over))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)


async def _end(sockets: WebSockets, *, is_over: bool) -> None:
    if is_over:
        await sockets.close(WSCloseCode.POLICY_VIOLATION, "This guest access has ended.")
    await sockets.stop()
