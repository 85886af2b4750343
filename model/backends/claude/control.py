"""Claude Code's control channel: our requests until their answers, and answers to the program's."""

import asyncio
import uuid
from typing import Any, Final

from model.backends.claude.json_values import Line, as_object
from model.backends.process_channel import AgentLink
from model.base.errors import SpinneyError
from model.base.text import clean_line

REQUEST_PATIENCE: Final = 10.0


class Control:
    """The requests of one session that wait for an answer."""

    def __init__(self, name: str, link: AgentLink) -> None:
        self._name = name
        self._link = link
        self._waiting: dict[str, asyncio.Future[Line]] = {}

    async def ask(self, subtype: str, patience: float = REQUEST_PATIENCE, **fields: Any) -> Line:
        """Ask the program for something, and wait for its answer.

        Raises `backend_error` when it refuses, `timeout` when no answer comes or can come.
        """
        request_id = str(uuid.uuid4())
        answer: asyncio.Future[Line] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = answer
        ended = asyncio.create_task(self._link.ended.wait())
        either: set[asyncio.Future[Any]] = {answer, ended}
        try:
            await self._request(request_id, {"subtype": subtype, **fields})
            await asyncio.wait(either, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ended.cancel()
            del self._waiting[request_id]
        if not answer.done():
            text = f"{self._name} does not answer. Stop it and try again."
            raise SpinneyError(text, "timeout")
        if answer.result().get("subtype") == "error":
            reason = clean_line(str(answer.result().get("error")))[:1000]
            raise SpinneyError(f"{self._name} refused a setting: {reason}", "backend_error")
        return as_object(answer.result().get("response"))

    def settle(self, response: object) -> None:
        """Hand an answer to the request that waits for it; one that nobody waits for is late."""
        told = as_object(response)
        answer = self._waiting.get(str(told.get("request_id")))
        if answer is not None and not answer.done():
            answer.set_result(told)

    async def interrupt(self) -> None:
        """Ask for the end of the turn; the turn's end itself is the answer."""
        await self._request(str(uuid.uuid4()), {"subtype": "interrupt"})

    async def respond(self, request_id: str, answer: Line) -> None:
        """Answer a request of the program."""
        response = {"subtype": "success", "request_id": request_id, "response": answer}
        await self._link.write({"type": "control_response", "response": response})

    async def refuse(self, request_id: str, reason: str) -> None:
        """Answer a request of the program that cannot be followed; it does not wait in vain."""
        response = {"subtype": "error", "request_id": request_id, "error": reason}
        await self._link.write({"type": "control_response", "response": response})

    async def _request(self, request_id: str, request: Line) -> None:
        line = {"type": "control_request", "request_id": request_id, "request": request}
        await self._link.write(line)
