"""How the server speaks HTTP below its requests: as aiohttp does, but in our words and ours alone.

What is no request is answered as every other error is, and its sender fills no log. Nothing that
comes in is ever decompressed. A WebSocket's client must mask its frames (RFC 6455, 5.1).
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Protocol

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.web_protocol import RequestPayloadError

from model.base.errors import HTTP_STATUS, SpinneyError, as_user_error
from server.limits import Limits
from server.wire import error_body

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Server": "spinney",
    "Cache-Control": "no-store",
}
"""What every answer has, unless it says otherwise itself."""

_REFUSED = b"\xf0\x80"
"""A frame that the reader refuses as it should one without a mask: with 1002, in its turn."""

_THEIR_FAULT = (HttpProcessingError, RequestPayloadError, ConnectionError)


class HttpProtocol(web.RequestHandler):
    """One connection."""

    __slots__ = ()

    def __init__(self, manager: web.Server, limits: Limits) -> None:
        super().__init__(
            manager,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type] # as aiohttp's own default runner passes it
            logger=logging.getLogger("server.http"),
            keepalive_timeout=limits.keep_alive,
            lingering_time=limits.lingering,
            auto_decompress=False,
        )

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """The answer to what is no request, which is never quoted: it may hold a token."""
        if request.writer.output_size > 0:
            raise ConnectionError("an answer was begun already")
        if isinstance(exc, HttpProcessingError):
            error = SpinneyError("Invalid request: it is not valid HTTP")
        else:
            error = as_user_error(exc or TimeoutError(message), "the HTTP server")
        response = error_response(error, HTTP_STATUS[error.error_type])
        # No request, so nobody else adds them.
        response.headers.update({**HEADERS, "Access-Control-Allow-Origin": "*"})
        response.force_close()
        return response

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Answer; what was refused before it came to the entrance (`Expect`), in JSON as well."""
        if isinstance(resp, web.HTTPException):
            resp = error_response(error_of(resp), resp.status)
        return await super().finish_response(request, resp, start_time)

    def log_exception(self, *args: Any, **kw: Any) -> None:
        """Log what is our own fault."""
        if not isinstance(kw.get("exc_info"), _THEIR_FAULT):
            super().log_exception(*args, **kw)

    def set_parser(self, parser: Any, data_received_cb: Callable[[], None] | None = None) -> None:
        """Take a WebSocket's frames from now on."""
        super().set_parser(_Masked(parser), data_received_cb)  # type: ignore[arg-type]


def error_of(error: web.HTTPException) -> SpinneyError:
    """What aiohttp refuses by itself, in our words."""
    match error.status:
        case 404:
            return SpinneyError("There is nothing at this address.", "not_found")
        case 405:
            return SpinneyError("This address does not take this method.")
        case 413:
            return SpinneyError("The body is too large.", "too_large")
        case 415:
            return SpinneyError("Compressed bodies are not taken. Send it as it is.")
        case status if status < 500:
            return SpinneyError(f"Invalid request: {error.reason}")
        case _:
            return as_user_error(error, "the HTTP server")


def error_response(error: SpinneyError, status: int, headers: Any = None) -> web.Response:
    """The answer to what went wrong; of `headers` it takes which methods are allowed."""
    response = web.json_response(error_body(error), status=status)
    if headers is not None and "Allow" in headers:
        response.headers["Allow"] = headers["Allow"]
    if error.retry_after is not None:
        response.headers["Retry-After"] = str(max(1, round(error.retry_after)))
    return response


class _Reader(Protocol):
    """aiohttp's reader of frames, as far as it is used."""

    def feed_data(self, data: bytes) -> tuple[bool, bytes]: ...

    def feed_eof(self) -> None: ...


class _Masked:
    """Lets frames through that are masked, and ends the connection at the first that is not."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader
        self._held = b""
        """The first byte of a frame, until the second one tells whether it is masked."""
        self._head = bytearray()
        """The beginning of a frame that has not come far enough to tell its length."""
        self._rest = 0
        """Bytes of the frame that are still to come."""

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Hand on what is masked; whether the connection is over, and what was not read."""
        data, self._held = self._held + data, b""
        end = self._end_of_masked(data)
        if end == len(data):
            return self._reader.feed_data(data)
        if end == len(data) - 1:
            self._held = data[end:]
            return self._reader.feed_data(data[:end])
        return self._reader.feed_data(data[:end] + _REFUSED)

    def feed_eof(self) -> None:
        """Nothing more will come."""
        self._reader.feed_eof()

    def _end_of_masked(self, data: bytes) -> int:
        """Where a frame begins that has no mask, or has not told yet; else the end."""
        at = 0
        while at < len(data):
            if self._rest:
                taken = min(self._rest, len(data) - at)
                self._rest -= taken
                at += taken
                continue
            if not self._head and not (at + 1 < len(data) and data[at + 1] & 0x80):
                return at
            self._head.append(data[at])
            at += 1
            length = _length(self._head)
            if length is not None:
                self._rest = length + 4
                self._head.clear()
        return at


def _length(head: bytearray) -> int | None:
    """The length of a frame's payload, once its head is there."""
    if len(head) < 2:
        return None
    short = head[1] & 0x7F
    if short < 126:
        return short
    size = 4 if short == 126 else 10
    return int.from_bytes(head[2:size], "big") if len(head) == size else None
