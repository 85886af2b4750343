"""Who may use `/lite`: a cookie that only the token of the moment can make, and forms of our own.

The cookie holds when it ends, a number of its own, and a seal over both under the token: another
token ends it. Where no token is required, nobody signs in. A browser adds a cookie by itself, so a
form counts only if it comes from a page of this server and shows the value that such pages hold.
"""

import hmac
import secrets
import time
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web

from model.base.errors import SpinneyError
from server.auth import Door, Knock
from server.http_api import knock_of

SIGNED_IN: Final = 12 * 60 * 60
"""Seconds after which one signs in again."""

REMEMBERED: Final = 30 * 24 * 60 * 60
"""The same for a browser that is to remember."""

_PATH: Final = "/lite"
_MOST_LEFT: Final = 10_000


@dataclass(frozen=True, slots=True)
class Guest:
    """Somebody who was let in."""

    form_value: str
    """What a form must show; empty for who shows the token itself, as no browser does by itself."""
    has_cookie: bool = False


class SigningIn:
    """Gives cookies, knows them again, and looks where forms come from."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._own_value = secrets.token_hex(16)
        """What forms show where nobody signs in."""
        self._left: dict[str, float] = {}
        """Cookies that were signed out of, and when they end."""

    def guest(self, request: web.Request) -> Guest:
        """Who asks. Raises `SpinneyError` for who may not come in."""
        knock = knock_of(request)
        if self._door.has_token(knock):
            return Guest("")
        cookie = request.cookies.get(self._cookie_name(), "")
        if not self._is_good(cookie):
            self._door.check(knock)
            return Guest(self._own_value)
        self._door.check_host(knock)
        return Guest(self._door.seal(f"form {cookie}")[:32], has_cookie=True)

    def check_form(self, request: web.Request, guest: Guest, given: str) -> None:
        """Raise `SpinneyError` for a form that is not of a page made for this guest."""
        if not guest.form_value:
            return
        self.check_origin(request)
        if not hmac.compare_digest(given.encode(errors="replace"), guest.form_value.encode()):
            raise SpinneyError(
                "This form was older than what you are signed in with now. Nothing was done;"
                " what you wrote is still here: try again.",
                "forbidden",
            )

    def check_origin(self, request: web.Request) -> None:
        """Raise `SpinneyError` for a form that came from another page than ours."""
        # Browsers tell it only over HTTPS and on loopback; the origin stands for it elsewhere.
        site = request.headers.get("Sec-Fetch-Site", "").lower()
        origin = request.headers.get("Origin")
        is_own = origin is None or urlsplit(origin).netloc.lower() == request.host.lower()
        if site not in ("same-origin", "none") if site else not is_own:
            raise SpinneyError("This form came from another page. Nothing was done.", "forbidden")

    def sign_in(
        self, request: web.Request, token: str, response: web.Response, *, remember: bool
    ) -> None:
        """Give the cookie to who knows the token. Raises `SpinneyError`."""
        self._door.check_host(knock_of(request))
        self.check_origin(request)
        if not self._door.has_token(Knock(hosts=(), query_token=token.strip())):
            raise SpinneyError(
                "That token is wrong. Copy it again from the terminal (Server).",
                "authentication_error",
            )
        lasts = REMEMBERED if remember else SIGNED_IN
        told = f"{int(time.time()) + lasts}.{secrets.token_hex(16)}"
        response.set_cookie(
            self._cookie_name(),
            f"{told}.{self._door.seal(told)}",
            max_age=lasts if remember else None,
            path=_PATH,
            secure=_is_https(request),
            httponly=True,
            samesite="Strict",
        )

    def sign_out(self, request: web.Request, response: web.Response) -> None:
        """Take the cookie back; a copy of it is good for nothing from now on."""
        now = time.time()
        self._left = {cookie: end for cookie, end in self._left.items() if end > now}
        cookie = request.cookies.get(self._cookie_name(), "")
        if self._is_good(cookie) and len(self._left) < _MOST_LEFT:
            self._left[cookie] = float(cookie.partition(".")[0])
        response.del_cookie(self._cookie_name(), path=_PATH)

    def _is_good(self, cookie: str) -> bool:
        told, _, seal = cookie.rpartition(".")
        expected = self._door.seal(told)
        if not expected or not hmac.compare_digest(
            seal.encode(errors="replace"), expected.encode()
        ):
            return False
        return float(told.partition(".")[0]) > time.time() and cookie not in self._left

    def _cookie_name(self) -> str:
        # Cookies know no ports: two Spinneys of one machine would take each other's away.
        return f"spinney-lite-{self._door.port}"


def _is_https(request: web.Request) -> bool:
    """Whether the browser speaks HTTPS, be it with what stands before this server."""
    said = request.headers.get("X-Forwarded-Proto", "").lower() == "https"
    return said or request.secure or request.headers.get("Origin", "").startswith("https:")
