"""A program: the baseline of broadcasts, an aiohttp server with only a ring buffer of frames.

Each event is encoded once into a frame; every client has a cursor; after each iteration of the
event loop, a client's new frames are sent with one write to its transport.
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
BUFFER_LIMIT = 256 * 1024
TICK = 0.004


class Ring:
    """The newest frames, and the clients that follow them."""

    def __init__(self) -> None:
        self._frames: deque[bytes] = deque(maxlen=CAPACITY)
        self._end = 0
        self._cursors: dict[asyncio.Transport, int] = {}
        self._is_due = False

    def publish(self, frame: dict[str, Any]) -> None:
        """Encode an event; it is written at the next iteration of the loop."""
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
            if transport.get_write_buffer_size() > BUFFER_LIMIT:
                self._retry()
                continue
            if cursor not in joined:
                joined[cursor] = b"".join(islice(self._frames, max(0, cursor - start), None))
            transport.write(joined[cursor])
            self._cursors[transport] = self._end

    def _retry(self) -> None:
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_later(0.001, self._flush)

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Serve a client until it disconnects."""
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


def task_completed(detail: str) -> dict[str, Any]:
    """Return the same frame as Spinney for this event."""
    payload = {"task": "bench", "ok": True, "detail": detail, "worktree_id": None}
    return {"type": "event", "event": "task:completed", "payload": payload}


def delta(number: int) -> dict[str, Any]:
    """Return the same frame as Spinney for one streamed piece."""
    content = f"{number}:{time.time():.6f} "
    message = "00000000-0000-0000-0000-000000000000"
    return {
        "event": "content-delta",
        "data": {"message_id": message, "content": content, "content_index": 0},
    }


async def stream(ring: Ring, count: int, rate: float) -> None:
    """Publish pieces at this rate, in batches like those of the demo agent, and an end."""
    began, sent = time.monotonic(), 0
    while sent < count:
        due = min(count, int((time.monotonic() - began) * rate) + 1)
        for number in range(sent + 1, due + 1):
            ring.publish(delta(number))
        sent = due
        await asyncio.sleep(TICK)
    ring.publish({"event": "message-completed", "data": {}})


async def main() -> None:
    """Serve, and execute the requests from stdin."""
    ring = Ring()
    app = web.Application()
    app.add_routes([web.get("/ws", ring.serve)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()

    async def answer(request: dict[str, Any]) -> dict[str, Any]:
        match request["do"]:
            case "port":
                return {"port": runner.addresses[0][1]}
            case "publish":
                return await publish_all(
                    lambda text: ring.publish(task_completed(text)),
                    request["events"],
                    request["per_turn"],
                    request["frame_size"],
                    Progress(request["progress"]),
                )
            case "stream":
                watch = LoopWatch()
                await stream(ring, request["count"], request["rate"])
                return watch.stop()
            case other:
                raise ValueError(other)

    await answer_lines(answer)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(main())
