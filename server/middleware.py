"""What happens to every request before and after its handler: door, preflight, headers, errors."""

import logging
import re
import time

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from model.base.errors import HTTP_STATUS, SpinneyError, as_user_error
from server.auth import Door
from server.connection_limiter import Doorman
from server.http_api import knock_of
from server.protocol import HEADERS, error_of, error_response

_HEADER_LIST = re.compile(r"[\w!#$%&'*+.^`|~, -]{1,1000}", re.ASCII)

_access = logging.getLogger("server.access")


class Entrance:
    """Takes every request past the doorman and through the door."""

    def __init__(self, door: Door, doorman: Doorman) -> None:
        self._door = door
        self._doorman = doorman

    @property
    def admit(self) -> Middleware:
        """The middleware: preflight, door, errors as JSON, one log line without the query."""

        @web.middleware
        async def admit(request: web.Request, handler: Handler) -> web.StreamResponse:
            self._doorman.greet(request.transport)
            begun = time.perf_counter()
            try:
                response = await self._answered(request, handler)
            except web.HTTPException as error:
                response = error_response(error_of(error), error.status, error.headers)
            except Exception as error:
                told = as_user_error(error, f"{request.method} {request.path}")
                response = error_response(told, HTTP_STATUS[told.error_type])
            milliseconds = (time.perf_counter() - begun) * 1000
            _access.info(
                "%s %s %s %d %.1f ms",
                request.remote,
                request.method,
                request.path[:200].encode("ascii", "backslashreplace").decode(),
                response.status,
                milliseconds,
            )
            return response

        return admit

    async def _answered(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.method == "OPTIONS":
            return _preflight(request)
        if request.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
            raise web.HTTPUnsupportedMediaType
        if _is_guarded(request.path):
            try:
                self._door.check(knock_of(request))
            except SpinneyError:
                self._door.tell_refused(request.remote or "")
                raise
        return await handler(request)


def _is_guarded(path: str) -> bool:
    """Whether a path needs admission; `/api/auth` answers about it itself."""
    return path == "/ws" or (path.startswith("/api/") and path != "/api/auth")


def is_lite(path: str) -> bool:
    """Whether it is of the page without JavaScript, which has cookies: no other page reads it."""
    return path == "/lite" or path.startswith("/lite/")


def _preflight(request: web.Request) -> web.Response:
    """Any origin, method and header is welcome, but for compressed bodies.

    `*` would not cover `Authorization`.
    """
    method = request.headers.get("Access-Control-Request-Method", "")
    names = request.headers.get("Access-Control-Request-Headers", "")
    if "content-encoding" in names.lower():
        names = ""
    return web.Response(
        status=204,
        headers={
            "Access-Control-Allow-Methods": method
            if method.isascii() and method.isalpha()
            else "GET, POST, PATCH, DELETE",
            "Access-Control-Allow-Headers": names
            if _HEADER_LIST.fullmatch(names)
            else "authorization, content-type",
            "Access-Control-Max-Age": "600",
        },
    )


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Headers of every answer, whatever it is: open to all pages (but `/lite`), kept by none."""
    if not is_lite(request.path):
        response.headers["Access-Control-Allow-Origin"] = "*"
    response.headers["Server"] = HEADERS["Server"]  # Not the name and version of its parts.
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
