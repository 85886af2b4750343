"""Who may come in: the token, and without one the rules for Host and Origin.

Any web page may send requests here (CORS is open to all), so nothing is trusted that a browser adds
by itself. A valid token is enough from anywhere. Where no token is required, a request without one
must come under a host name that nobody else can point at this machine, and from no foreign page.
"""

import hashlib
import hmac
import ipaddress
import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from model.base.errors import SpinneyError

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9.-]{1,255})(?::(?P<port>\d{1,5}))?")
_ORIGIN = re.compile(r"http://(?P<host>[^/?#@\s]{1,300})")
_TOLD_EVERY = 60.0
"""Seconds between two log lines about one address."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Knock:
    """What a request shows at the door."""

    hosts: tuple[str, ...]
    """All `Host` headers."""
    authorization: str = ""
    query_token: str = ""
    origin: str | None = None
    fetch_site: str = ""
    own_address: str = ""
    """The address of this machine at which the request arrived."""


class Door:
    """Decides about requests by the token of the moment."""

    def __init__(self, token: Callable[[], str | None]) -> None:
        self._token = token
        self.port = 0
        self.token_required = True
        self.localhost_only = True
        self._refused: dict[str, tuple[float, int]] = {}

    def has_token(self, knock: Knock) -> bool:
        """Whether the request carries the valid token; an empty one never is."""
        expected = (self._token() or "").encode("utf-8", "surrogatepass")
        scheme, _, bearer = knock.authorization.partition(" ")
        given = bearer.strip() if scheme.lower() == "bearer" else knock.query_token
        # Bytes: `compare_digest` raises TypeError on text that is not ASCII.
        same = hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected)
        return same and bool(expected)

    def check(self, knock: Knock) -> None:
        """Raise `SpinneyError` for a request that may not come in."""
        if self.has_token(knock):
            return
        self.check_host(knock)
        if self.token_required:
            raise SpinneyError("A valid token is required.", "authentication_error")
        if not (self._own_host(knock) and self._own_page(knock)):
            raise SpinneyError(
                "A valid token is required for requests from this origin.", "authentication_error"
            )

    def check_host(self, knock: Knock) -> None:
        """Raise `SpinneyError` for what is no `Host` header, or more than one."""
        if len(knock.hosts) > 1 or (knock.hosts and _parsed_host(knock.hosts[0]) is None):
            raise SpinneyError("Invalid Host header")

    def seal(self, words: str) -> str:
        """What only the token of the moment makes of these words, and what does not tell it.

        64 hexadecimal digits; empty where there is no token.
        """
        token = (self._token() or "").encode("utf-8", "surrogatepass")
        made = hmac.new(token, words.encode("utf-8", "surrogatepass"), hashlib.sha256)
        return made.hexdigest() if token else ""

    def tell_refused(self, address: str) -> None:
        """Log refusals, at most once a minute for each address."""
        now = time.monotonic()
        told, more = self._refused.get(address, (-_TOLD_EVERY, 0))
        if now - told < _TOLD_EVERY:
            self._refused[address] = (told, more + 1)
            return
        if len(self._refused) > 1000:
            self._refused.clear()
        self._refused[address] = (now, 0)
        _log.warning("refused a request without a valid token from %s (%d more)", address, more)

    def _own_host(self, knock: Knock) -> bool:
        return bool(knock.hosts) and self._is_own(knock.hosts[0], knock.own_address)

    def _own_page(self, knock: Knock) -> bool:
        if knock.origin is None:
            # Scripts and images of a foreign page come without an Origin, but with this.
            return knock.fetch_site.lower() not in ("cross-site", "same-site")
        found = _ORIGIN.fullmatch(knock.origin)
        if found is None:
            return False
        parsed = _parsed_host(found["host"])
        return (
            parsed is not None
            and (parsed[1] or 80) == self.port
            and self._is_own(found["host"], knock.own_address)
        )

    def _is_own(self, host: str, own_address: str) -> bool:
        """Whether no DNS server in the world can make this name mean another machine."""
        parsed = _parsed_host(host)
        if parsed is None:
            return False
        name = parsed[0].lower().removesuffix(".")
        if name == "localhost" or name.endswith(".localhost"):
            return True
        try:
            address = ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        if address.is_loopback:
            return True
        return not self.localhost_only and str(address) == own_address


def _parsed_host(host: str) -> tuple[str, int | None] | None:
    """Name and port of a `Host` header; `None` when it is not one."""
    found = _HOST.fullmatch(host)
    if found is None or (found["port"] and int(found["port"]) > 65535):
        return None
    return found["name"], int(found["port"]) if found["port"] else None
