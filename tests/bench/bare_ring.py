"""A program: the baseline of broadcasts, an aiohttp server with nothing but one ring of frames.

Each event is encoded once into a prepared frame; every client has a cursor; after each turn of the
loop each client gets what is new to it in one write to its transport.
"""

import asyncio
import json
import time
from collections import deque
from itertools import islice
from typing import Any

from aiohttp import WSMsgType, web

from tests.bench.programs import Progress
from tests.bench.serving import LoopWatch, answer_lines, publish_all

CAPACITY = 1000
ROOM = 256 * 1024
TICK = 0.004


class Ring:
    """The newest frames, and the clients that follow them."""

    def __init__(self) -> None:
        self._frames: deque[bytes] = deque(maxlen=CAPACITY)
        self._end = 0
        self._cursors: dict[asyncio.Transport, int] = {}
        self._is_due = False

    def publish(self, frame: dict[str, Any]) -> None:
        """Encode it once; it is written at the loop's next turn."""
        payload = json.dumps(frame, separators=(",", ":")).encode()
        size = len(payload)
        head = b"\x81" + bytes([size]) if size < 126 else b"\x81\x7e" + size.to_bytes(2, "big")
        self._frames.append(head + payload)
        self._end += 1
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        self._is_due = False
        joined: dict[int, bytes] = {}
        start = self._end - len(self._frames)
        for transport, cursor in self._cursors.items():
            if cursor == self._end:
                continue
            if transport.get_write_buffer_size() > ROOM:
                self._again()
                continue
            if cursor not in joined:
                joined[cursor] = b"".join(islice(self._frames, max(0, cursor - start), None))
            transport.write(joined[cursor])
            self._cursors[transport] = self._end

    def _again(self) -> None:
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_later(0.001, self._flush)

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """A client, until it leaves."""
        socket = web.WebSocketResponse(compress=False)
        await socket.prepare(request)
        transport = request.transport
        assert transport is not None
        self._cursors[transport] = self._end
        try:
            async for message in socket:
                assert message.type is not WSMsgType.TEXT
        finally:
            del self._cursors[transport]
        return socket


def told(detail: str) -> dict[str, Any]:
    """The same frame as that of Spinney's event."""
    payload = {"task": "bench", "ok": True, "detail": detail, "worktree_id": None}
    return {"type": "event", "event": "task:completed", "payload": payload}


def delta(number: int) -> dict[str, Any]:
    """The same frame as that of one streamed piece."""
    content = f"{number}:{time.time():.6f} "
    message = "00000000-0000-0000-0000-000000000000"
    return {
        "event": "content-delta",
        "data": {"message_id": message, "content": content, "content_index": 0},
    }


async def stream(ring: Ring, count: int, rate: float) -> None:
    """Pieces at this rate, in batches as the demo agent makes them, and an end."""
    began, sent = time.monotonic(), 0
    while sent < count:
        due = min(count, int((time.monotonic() - began) * rate) + 1)
        for number in range(sent + 1, due + 1):
            ring.publish(delta(number))
        sent = due
        await asyncio.sleep(TICK)
    ring.publish({"event": "message-completed", "data": {}})


async def main() -> None:
    """Serve, and do what is asked."""
    ring = Ring()
    app = web.Application()
    app.add_routes([web.get("/ws", ring.serve)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()

    async def answer(asked: dict[str, Any]) -> dict[str, Any]:
        match asked["do"]:
            case "port":
                return {"port": runner.addresses[0][1]}
            case "publish":
                return await publish_all(
                    lambda text: ring.publish(told(text)),
                    asked["events"],
                    asked["per_turn"],
                    asked["frame_size"],
                    Progress(asked["progress"]),
                )
            case "stream":
                watch = LoopWatch()
                await stream(ring, asked["count"], asked["rate"])
                return watch.stop()
            case other:
                raise ValueError(other)

    await answer_lines(answer)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(main())
