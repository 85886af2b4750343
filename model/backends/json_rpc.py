"""A JSON-RPC client over a program's lines: sends requests and notifications, awaits responses.

The reader of the lines passes each response to `handle_response`; the adapter handles everything
else that the program sends.
"""

import asyncio
import copy
import itertools
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from model.backends.json_values import as_object
from model.backends.traffic import NULL_RECORDER, TrafficRecorder
from model.base.errors import ErrorType, SpinneyError
from model.base.text import clean_line

REQUEST_TIMEOUT: Final = 10.0

METHOD_NOT_FOUND: Final = -32601

Message = dict[str, Any]

_NO_REQUEST: Final = (None, NULL_RECORDER)


class RpcError(SpinneyError):
    """The program responded with an error; `code` is the JSON-RPC error code."""

    def __init__(self, message: str, code: int, error_type: ErrorType = "backend_error") -> None:
        super().__init__(message, error_type)
        self.code = code


class JsonRpc:
    """Sends messages and tracks pending requests. `ended` is set once the program's output ends."""

    def __init__(
        self,
        name: str,
        write: Callable[[Mapping[str, Any]], Awaitable[None]],
        ended: asyncio.Event,
    ) -> None:
        self._name = name
        self._write = write
        self._ended = ended
        self._ids = itertools.count(1)
        self._pending: dict[int, tuple[asyncio.Future[Message], TrafficRecorder]] = {}
        self._record: TrafficRecorder = NULL_RECORDER

    def with_recorder(self, recorder: TrafficRecorder) -> "JsonRpc":
        """A view for one of the sessions that share the program; `record` logs its messages."""
        view = copy.copy(self)
        view._record = recorder
        return view

    async def request(
        self, method: str, params: Mapping[str, Any], timeout: float = REQUEST_TIMEOUT
    ) -> Message:
        """Send a request; return the result, or `{}` if it is not an object.

        Raises `RpcError` for an error response, and `backend_error` if there is no response.
        """
        message = self.build_request(method, params)
        response: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._pending[message["id"]] = response, self._record
        ended = asyncio.create_task(self._ended.wait())
        awaited: set[asyncio.Future[Any]] = {response, ended}
        try:
            await self.send(message)
            await asyncio.wait(awaited, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ended.cancel()
            del self._pending[message["id"]]
        if not response.done():
            text = f"{self._name} does not respond. Stop it and try again."
            raise SpinneyError(text, "backend_error")
        if "error" in response.result():
            raise to_rpc_error(response.result(), self._name)
        result = response.result().get("result")
        return as_object(result)

    def build_request(self, method: str, params: Mapping[str, Any]) -> Message:
        """Build a request with a new id, for callers that handle the response themselves."""
        request_id = next(self._ids)
        return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification, which has no response."""
        await self.send({"jsonrpc": "2.0", "method": method, "params": params})

    async def respond(self, request_id: object, result: Mapping[str, Any]) -> None:
        """Respond to a request of the program."""
        await self.send({"jsonrpc": "2.0", "id": request_id, "result": result})

    async def respond_error(self, request_id: object, code: int, reason: str) -> None:
        """Respond to a request of the program with an error."""
        error = {"code": code, "message": reason}
        await self.send({"jsonrpc": "2.0", "id": request_id, "error": error})

    async def send(self, message: Mapping[str, Any]) -> None:
        """Record and send a message of any kind."""
        self._record("\u2192", message)
        await self._write(message)

    def handle_response(self, message: Message, raw: bytes = b"") -> None:
        """Resolve the pending request of a response; late responses are ignored.

        `raw` is the line it came in, for the recorder.
        """
        request_id = message.get("id")
        future, record = (
            self._pending.get(request_id, _NO_REQUEST)
            if isinstance(request_id, int)
            else _NO_REQUEST
        )
        record("\u2190", raw)
        if future is not None and not future.done():
            future.set_result(message)


def to_rpc_error(message: Message, name: str) -> RpcError:
    """Convert an error response to an exception that names the program and quotes its message."""
    payload = message.get("error")
    error = as_object(payload)
    code = error.get("code")
    reason = clean_line(str(error.get("message") or "no reason given"))[:1000]
    return RpcError(f"{name}: {reason}", code if isinstance(code, int) else 0)
