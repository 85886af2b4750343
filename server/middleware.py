"""Processing of every request around its handler: authentication, preflight, headers, errors."""

import logging
import re
import time

from aiohttp import web
from aiohttp.typedefs import Handler
from aiohttp.typedefs import Middleware as AiohttpMiddleware

from model.access.links import Guest
from model.access.policy import PATHS, require_role
from model.base.errors import HTTP_STATUS, SpinneyError, as_user_error
from server.auth import Authenticator
from server.connection_limiter import ConnectionLimiter
from server.guest_worlds import set_guest
from server.http_api import COMMAND_PATHS, credentials_of
from server.protocol import HEADERS, error_response, to_spinney_error

_HEADER_LIST = re.compile(r"[\w!#$%&'*+.^`|~, -]{1,1000}", re.ASCII)

_access = logging.getLogger("server.access")


class Middleware:
    """Marks connections as handshaken and authenticates requests."""

    def __init__(self, authenticator: Authenticator, limiter: ConnectionLimiter) -> None:
        self._authenticator = authenticator
        self._limiter = limiter

    @property
    def handler(self) -> AiohttpMiddleware:
        """The middleware: preflight, authentication, JSON errors, access log without the query."""

        @web.middleware
        async def handle(request: web.Request, handler: Handler) -> web.StreamResponse:
            self._limiter.mark_handshaken(request.transport)
            started = time.perf_counter()
            try:
                response = await self._handle(request, handler)
            except web.HTTPException as error:
                response = error_response(to_spinney_error(error), error.status, error.headers)
            except Exception as error:
                failure = as_user_error(error, f"{request.method} {_loggable_path(request.path)}")
                response = error_response(failure, HTTP_STATUS[failure.error_type])
            milliseconds = (time.perf_counter() - started) * 1000
            _access.info(
                "%s %s %s %d %.1f ms",
                request.remote,
                request.method,
                _loggable_path(request.path),
                response.status,
                milliseconds,
            )
            return response

        return handle

    async def _handle(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.method == "OPTIONS":
            return _preflight(request)
        if request.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
            raise web.HTTPUnsupportedMediaType
        if _requires_auth(request.path):
            try:
                guest = self._authenticator.identify(credentials_of(request))
            except SpinneyError:
                self._authenticator.log_refusal(request.remote or "")
                raise
            set_guest(request, guest)
            if guest is not None:
                _refuse_path(request, guest)
        return await handler(request)


def _requires_auth(path: str) -> bool:
    """Whether a path requires authentication; `/api/auth` and `/api/guest` check it themselves."""
    return path == "/ws" or (path.startswith("/api/") and path not in ("/api/auth", "/api/guest"))


def _refuse_path(request: web.Request, guest: Guest) -> None:
    """Raise `forbidden` for a path that is not open to the guest.

    Those that stand for a command are as open as the command.
    """
    resource = request.match_info.route.resource
    path = (request.method, resource.canonical if resource is not None else "")
    if path not in COMMAND_PATHS:
        require_role(guest.link, PATHS.get(path))


def is_lite(path: str) -> bool:
    """Whether a path is of `/lite`, which has cookies: no page of another origin may read it."""
    return path == "/lite" or path.startswith("/lite/")


def _loggable_path(path: str) -> str:
    """The path for the log, without a token that is part of it."""
    if path.startswith("/act/"):
        return "/act/TOKEN"
    return path[:200].encode("ascii", "backslashreplace").decode()


def _preflight(request: web.Request) -> web.Response:
    """Allow any origin, method and header, except compressed bodies.

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
    """Add the headers of every response: CORS (except for `/lite`) and no caching."""
    if not is_lite(request.path):
        response.headers["Access-Control-Allow-Origin"] = "*"
    response.headers["Server"] = HEADERS["Server"]  # Not the libraries and their versions.
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
