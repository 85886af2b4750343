"""JSON-RPC over a program's lines: our requests until their answers, and answers to the program's.

Who reads the lines hands each answer to `settle`; what else the program says is the adapter's.
"""

import asyncio
import copy
import itertools
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from model.backends.traffic import UNRECORDED, Record
from model.base.errors import ErrorType, SpinneyError
from model.base.text import clean_line

REQUEST_PATIENCE: Final = 10.0

METHOD_NOT_FOUND: Final = -32601

Message = dict[str, Any]

_NOBODY: Final = (None, UNRECORDED)


class RpcError(SpinneyError):
    """The program answered a request with an error; `code` is the protocol's."""

    def __init__(self, message: str, code: int, error_type: ErrorType = "backend_error") -> None:
        super().__init__(message, error_type)
        self.code = code


class JsonRpc:
    """The requests that wait for an answer. `ended` is set when the program says nothing more."""

    def __init__(
        self,
        name: str,
        write: Callable[[Mapping[str, Any]], Awaitable[None]],
        ended: asyncio.Event,
    ) -> None:
        self._name = name
        self._write = write
        self._ended = ended
        self._numbers = itertools.count(1)
        self._waiting: dict[int, tuple[asyncio.Future[Message], Record]] = {}
        self._record: Record = UNRECORDED

    def recorded_by(self, record: Record) -> "JsonRpc":
        """The same, for one of the sessions that share the program: `record` takes its words."""
        own = copy.copy(self)
        own._record = record
        return own

    async def request(
        self, method: str, params: Mapping[str, Any], patience: float = REQUEST_PATIENCE
    ) -> Message:
        """The program's result, `{}` where it is no object.

        Raises `RpcError` for an error, and `backend_error` when no answer comes.
        """
        message = self.message(method, params)
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._waiting[message["id"]] = answer, self._record
        ended = asyncio.create_task(self._ended.wait())
        either: set[asyncio.Future[Any]] = {answer, ended}
        try:
            await self.say(message)
            await asyncio.wait(either, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ended.cancel()
            del self._waiting[message["id"]]
        if not answer.done():
            text = f"{self._name} does not answer. Stop it and try again."
            raise SpinneyError(text, "backend_error")
        if "error" in answer.result():
            raise error_of(answer.result(), self._name)
        result = answer.result().get("result")
        return result if isinstance(result, dict) else {}

    def message(self, method: str, params: Mapping[str, Any]) -> Message:
        """A request under a number of its own, for who sends it and hears its answer himself."""
        number = next(self._numbers)
        return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Tell the program something that has no answer."""
        await self.say({"jsonrpc": "2.0", "method": method, "params": params})

    async def answer(self, request_id: object, result: Mapping[str, Any]) -> None:
        """Answer a request of the program."""
        await self.say({"jsonrpc": "2.0", "id": request_id, "result": result})

    async def refuse(self, request_id: object, code: int, reason: str) -> None:
        """Answer a request of the program with an error."""
        error = {"code": code, "message": reason}
        await self.say({"jsonrpc": "2.0", "id": request_id, "error": error})

    async def say(self, message: Mapping[str, Any]) -> None:
        """Send a message of any kind."""
        self._record("\u2192", message)
        await self._write(message)

    def settle(self, message: Message, raw: bytes = b"") -> None:
        """Hand an answer to the request that waits for it; one that nobody waits for is late.

        `raw` is the line that it came in, for who records.
        """
        number = message.get("id")
        answer, record = self._waiting.get(number, _NOBODY) if isinstance(number, int) else _NOBODY
        record("\u2190", raw)
        if answer is not None and not answer.done():
            answer.set_result(message)


def error_of(message: Message, name: str) -> RpcError:
    """What an answer with an error says, for people: `name` and its own words."""
    told = message.get("error")
    error = told if isinstance(told, dict) else {}
    code = error.get("code")
    words = clean_line(str(error.get("message") or "it did not say why"))[:1000]
    return RpcError(f"{name}: {words}", code if isinstance(code, int) else 0)
