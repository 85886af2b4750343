"""The HTTP protocol below requests: aiohttp's, with our own error responses and logging.

Invalid HTTP gets the same error responses as everything else and is not logged. Nothing that is
received is ever decompressed. WebSocket clients must mask their frames (RFC 6455, 5.1).
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
"""Default headers of every response."""

_INVALID_FRAME = b"\xf0\x80"
"""A frame that makes the reader close with 1002, as it should for a frame without a mask."""

_CLIENT_ERRORS = (HttpProcessingError, RequestPayloadError, ConnectionError)


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
        """The response to an invalid request; it is never quoted, as it may contain a token."""
        if request.writer.output_size > 0:
            raise ConnectionError("the response has already started")
        if isinstance(exc, HttpProcessingError):
            error = SpinneyError("Invalid request: it is not valid HTTP")
        else:
            error = as_user_error(exc or TimeoutError(message), "the HTTP server")
        response = error_response(error, HTTP_STATUS[error.error_type])
        # The middleware, which adds them otherwise, sees valid requests only.
        response.headers.update({**HEADERS, "Access-Control-Allow-Origin": "*"})
        response.force_close()
        return response

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Respond in JSON also to what was refused before the middleware (`Expect`)."""
        if isinstance(resp, web.HTTPException):
            resp = error_response(to_spinney_error(resp), resp.status)
        return await super().finish_response(request, resp, start_time)

    def log_exception(self, *args: Any, **kw: Any) -> None:
        """Log errors that are not the client's."""
        if not isinstance(kw.get("exc_info"), _CLIENT_ERRORS):
            super().log_exception(*args, **kw)

    def set_parser(self, parser: Any, data_received_cb: Callable[[], None] | None = None) -> None:
        """Switch to parsing WebSocket frames."""
        super().set_parser(_MaskEnforcer(parser), data_received_cb)  # type: ignore[arg-type]


def to_spinney_error(error: web.HTTPException) -> SpinneyError:
    """Convert an error that aiohttp raised by itself."""
    match error.status:
        case 404:
            return SpinneyError("There is nothing at this address.", "not_found")
        case 405:
            return SpinneyError("This address does not support this method.")
        case 413:
            return SpinneyError("The body is too large.", "too_large")
        case 415:
            return SpinneyError("Compressed bodies are not supported. Send the body uncompressed.")
        case status if status < 500:
            return SpinneyError(f"Invalid request: {error.reason}")
        case _:
            return as_user_error(error, "the HTTP server")


def error_response(error: SpinneyError, status: int, headers: Any = None) -> web.Response:
    """The JSON response for an error; keeps the `Allow` header of `headers`."""
    response = web.json_response(error_body(error), status=status)
    if headers is not None and "Allow" in headers:
        response.headers["Allow"] = headers["Allow"]
    if error.retry_after is not None:
        response.headers["Retry-After"] = str(max(1, round(error.retry_after)))
    return response


class _Reader(Protocol):
    """The part of aiohttp's frame reader that is used here."""

    def feed_data(self, data: bytes) -> tuple[bool, bytes]: ...

    def feed_eof(self) -> None: ...


class _MaskEnforcer:
    """Passes masked frames on and ends the connection at the first unmasked one."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader
        self._held = b""
        """The first byte of a frame, until the second one shows whether it is masked."""
        self._head = bytearray()
        """The incomplete head of a frame, whose length is not known yet."""
        self._remaining = 0
        """Bytes of the frame that are still missing."""

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Pass masked frames on; returns whether the connection ends, and the unread rest."""
        data, self._held = self._held + data, b""
        end = self._find_unmasked(data)
        if end == len(data):
            return self._reader.feed_data(data)
        if end == len(data) - 1:
            self._held = data[end:]
            return self._reader.feed_data(data[:end])
        return self._reader.feed_data(data[:end] + _INVALID_FRAME)

    def feed_eof(self) -> None:
        """Signal the end of the stream."""
        self._reader.feed_eof()

    def _find_unmasked(self, data: bytes) -> int:
        """The start of a frame that is unmasked, or whose mask bit is missing; else the end."""
        position = 0
        while position < len(data):
            if self._remaining:
                skipped = min(self._remaining, len(data) - position)
                self._remaining -= skipped
                position += skipped
                continue
            if not self._head and not (position + 1 < len(data) and data[position + 1] & 0x80):
                return position
            self._head.append(data[position])
            position += 1
            length = _payload_length(self._head)
            if length is not None:
                self._remaining = length + 4
                self._head.clear()
        return position


def _payload_length(head: bytearray) -> int | None:
    """The length of a frame's payload, or `None` while its head is incomplete."""
    if len(head) < 2:
        return None
    short = head[1] & 0x7F
    if short < 126:
        return short
    size = 4 if short == 126 else 10
    return int.from_bytes(head[2:size], "big") if len(head) == size else None
