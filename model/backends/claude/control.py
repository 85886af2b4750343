"""Claude Code's control channel: sends requests and awaits responses, responds to its requests."""

import asyncio
import uuid
from typing import Any, Final

from model.backends.json_values import Json, as_object
from model.backends.process_channel import ProcessChannel
from model.base.errors import SpinneyError
from model.base.text import clean_line

REQUEST_TIMEOUT: Final = 10.0


class ControlChannel:
    """The control channel of one session, with its pending requests."""

    def __init__(self, name: str, channel: ProcessChannel) -> None:
        self._name = name
        self._channel = channel
        self._pending: dict[str, asyncio.Future[Json]] = {}

    async def request(self, subtype: str, timeout: float = REQUEST_TIMEOUT, **fields: Any) -> Json:
        """Send a request and wait for the response.

        Raises `backend_error` if the program refuses it, `timeout` if there is no response.
        """
        request_id = str(uuid.uuid4())
        response: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._pending[request_id] = response
        ended = asyncio.create_task(self._channel.ended.wait())
        awaited: set[asyncio.Future[Any]] = {response, ended}
        try:
            await self._send_request(request_id, {"subtype": subtype, **fields})
            await asyncio.wait(awaited, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ended.cancel()
            del self._pending[request_id]
        if not response.done():
            text = f"{self._name} does not respond. Stop it and try again."
            raise SpinneyError(text, "timeout")
        if response.result().get("subtype") == "error":
            reason = clean_line(str(response.result().get("error")))[:1000]
            raise SpinneyError(f"{self._name} refused a setting: {reason}", "backend_error")
        return as_object(response.result().get("response"))

    def handle_response(self, response: object) -> None:
        """Resolve the pending request of a response; late responses are ignored."""
        payload = as_object(response)
        future = self._pending.get(str(payload.get("request_id")))
        if future is not None and not future.done():
            future.set_result(payload)

    async def interrupt(self) -> None:
        """Ask the program to end the turn; the end of the turn is the response."""
        await self._send_request(str(uuid.uuid4()), {"subtype": "interrupt"})

    async def respond(self, request_id: str, result: Json) -> None:
        """Respond to a request of the program."""
        response = {"subtype": "success", "request_id": request_id, "response": result}
        await self._channel.write({"type": "control_response", "response": response})

    async def respond_error(self, request_id: str, reason: str) -> None:
        """Respond with an error to a request of the program, so that it does not wait."""
        response = {"subtype": "error", "request_id": request_id, "error": reason}
        await self._channel.write({"type": "control_response", "response": response})

    async def _send_request(self, request_id: str, request: Json) -> None:
        message = {"type": "control_request", "request_id": request_id, "request": request}
        await self._channel.write(message)
