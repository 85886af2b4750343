"""Authentication of `/lite`: a signed cookie, and CSRF protection of forms.

The cookie consists of its expiry time, a random number, and a signature of both under the token, so
a new token invalidates it. If no token is required, no sign-in is needed. Browsers send cookies by
themselves, so a form is only accepted from a page of this server and with its CSRF token.
"""

import hmac
import secrets
import time
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web

from model.base.errors import SpinneyError
from server.auth import Authenticator, Credentials
from server.http_api import credentials_of

SIGNED_IN: Final = 12 * 60 * 60
"""Seconds until a sign-in expires."""

REMEMBERED: Final = 30 * 24 * 60 * 60
"""The same with "Remember me"."""

_PATH: Final = "/lite"
_MAX_REVOKED: Final = 10_000


@dataclass(frozen=True, slots=True)
class Identity:
    """An authenticated user."""

    csrf_token: str
    """The CSRF token for forms; empty if the request has the token itself, which suffices."""
    has_cookie: bool = False


class CookieAuth:
    """Issues and checks sign-in cookies, and checks where forms come from."""

    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator
        self._shared_csrf_token = secrets.token_hex(16)
        """The CSRF token if no sign-in is needed."""
        self._revoked: dict[str, float] = {}
        """Cookies that were signed out, with their expiry time."""

    def identify(self, request: web.Request) -> Identity:
        """Authenticate a request. Raises `SpinneyError` if it is not authenticated."""
        credentials = credentials_of(request)
        if self._authenticator.has_token(credentials):
            return Identity("")
        cookie = request.cookies.get(self._cookie_name(), "")
        if not self._is_valid(cookie):
            self._authenticator.check(credentials)
            return Identity(self._shared_csrf_token)
        self._authenticator.check_host(credentials)
        return Identity(self._authenticator.sign(f"form {cookie}")[:32], has_cookie=True)

    def check_form(self, request: web.Request, identity: Identity, csrf_token: str) -> None:
        """Raise `SpinneyError` unless the form is from a page made for this user."""
        if not identity.csrf_token:
            return
        self.check_origin(request)
        if not hmac.compare_digest(
            csrf_token.encode(errors="replace"), identity.csrf_token.encode()
        ):
            raise SpinneyError(
                "You have signed in again since this form was loaded. Nothing was changed, and your"
                " text is still here. Try again.",
                "forbidden",
            )

    def check_origin(self, request: web.Request) -> None:
        """Raise `SpinneyError` for a form from another site."""
        # Browsers send `Sec-Fetch-Site` only over HTTPS and loopback; use `Origin` otherwise.
        site = request.headers.get("Sec-Fetch-Site", "").lower()
        origin = request.headers.get("Origin")
        is_same_origin = origin is None or urlsplit(origin).netloc.lower() == request.host.lower()
        if site not in ("same-origin", "none") if site else not is_same_origin:
            raise SpinneyError(
                "This form came from another site. Nothing was changed.", "forbidden"
            )

    def sign_in(
        self, request: web.Request, token: str, response: web.Response, *, remember: bool
    ) -> None:
        """Set the cookie if the token is valid. Raises `SpinneyError` otherwise."""
        self._authenticator.check_host(credentials_of(request))
        self.check_origin(request)
        if not self._authenticator.has_token(Credentials(hosts=(), query_token=token.strip())):
            raise SpinneyError(
                "Wrong token. Copy it again from the terminal (Server).",
                "authentication_error",
            )
        lifetime = REMEMBERED if remember else SIGNED_IN
        content = f"{int(time.time()) + lifetime}.{secrets.token_hex(16)}"
        response.set_cookie(
            self._cookie_name(),
            f"{content}.{self._authenticator.sign(content)}",
            max_age=lifetime if remember else None,
            path=_PATH,
            secure=_is_https(request),
            httponly=True,
            samesite="Strict",
        )

    def sign_out(self, request: web.Request, response: web.Response) -> None:
        """Delete the cookie and revoke it, so that copies become invalid, too."""
        now = time.time()
        self._revoked = {cookie: end for cookie, end in self._revoked.items() if end > now}
        cookie = request.cookies.get(self._cookie_name(), "")
        if self._is_valid(cookie) and len(self._revoked) < _MAX_REVOKED:
            self._revoked[cookie] = float(cookie.partition(".")[0])
        response.del_cookie(self._cookie_name(), path=_PATH)

    def _is_valid(self, cookie: str) -> bool:
        content, _, signature = cookie.rpartition(".")
        expected = self._authenticator.sign(content)
        if not expected or not hmac.compare_digest(
            signature.encode(errors="replace"), expected.encode()
        ):
            return False
        return float(content.partition(".")[0]) > time.time() and cookie not in self._revoked

    def _cookie_name(self) -> str:
        # Cookies are not bound to a port: two Spinneys on one machine would overwrite each other's.
        return f"spinney-lite-{self._authenticator.port}"


def _is_https(request: web.Request) -> bool:
    """Whether the browser uses HTTPS, directly or through a reverse proxy."""
    is_forwarded = request.headers.get("X-Forwarded-Proto", "").lower() == "https"
    return is_forwarded or request.secure or request.headers.get("Origin", "").startswith("https:")
