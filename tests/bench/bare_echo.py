"""A program: the baseline of round trips, an aiohttp server that answers every frame at once.

Each connection first says, in its path, how many bytes an answer has: as many as Spinney's.
"""

import asyncio
import sys
from typing import Any

from aiohttp import WSMsgType, web

from tests.bench.serving import answer_lines


async def answer(request: web.Request) -> web.WebSocketResponse:
    """Answer each text of a client with one of the size that it asked for."""
    socket = web.WebSocketResponse(compress=False)
    await socket.prepare(request)
    text = "." * int(request.match_info["size"])
    async for message in socket:
        if message.type is WSMsgType.TEXT:
            await socket.send_str(text)
    return socket


async def main() -> None:
    """Serve, and execute the requests from stdin."""
    app = web.Application()
    app.add_routes([web.get("/ws/{size}", answer)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()

    async def respond(request: dict[str, Any]) -> dict[str, Any]:
        if request["do"] != "port":
            raise ValueError(request["do"])
        return {"port": runner.addresses[0][1]}

    await answer_lines(respond)
    await runner.cleanup()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
