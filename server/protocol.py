"""How the server speaks HTTP below its requests: as aiohttp does, but in our words and ours alone.

What is no request is answered as every other error is, and its sender fills no log. Nothing that
comes in is ever decompressed.
"""

import asyncio
import logging
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.web_protocol import RequestPayloadError

from model.errors import HTTP_STATUS, SpinneyError, foreseen
from server.limits import Limits
from server.wire import error_body

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Server": "spinney",
    "Cache-Control": "no-store",
}
"""What every answer has, unless it says otherwise itself."""

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
            error = foreseen(exc or TimeoutError(message), "the HTTP server")
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
            return foreseen(error, "the HTTP server")


def error_response(error: SpinneyError, status: int, headers: Any = None) -> web.Response:
    """The answer to what went wrong; of `headers` it takes which methods are allowed."""
    response = web.json_response(error_body(error), status=status)
    if headers is not None and "Allow" in headers:
        response.headers["Allow"] = headers["Allow"]
    if error.retry_after is not None:
        response.headers["Retry-After"] = str(max(1, round(error.retry_after)))
    return response
