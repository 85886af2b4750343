"""Authentication: the token, and rules for Host and Origin if no token is required.

Any web page can send requests here (CORS is open to all), so headers that a browser adds by itself
are not trusted. A valid token is enough from anywhere. If no token is required, a request without
one must use a host name that cannot be pointed at this machine by others, and must not come from
another site's page.
"""

import hashlib
import hmac
import ipaddress
import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from model.access.links import Guest
from model.access.tokens import DEVICE, is_token
from model.base.errors import SpinneyError
from server.settings import ServerSettings
from server.tls import ServerCertificate

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9.-]{1,255})(?::(?P<port>\d{1,5}))?")
_ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<host>[^/?#@\s]{1,300})")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_LOG_INTERVAL = 60.0
"""Seconds between log lines about one address."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Credentials:
    """The parts of a request that decide whether it is accepted."""

    hosts: tuple[str, ...]
    """All `Host` headers."""
    authorization: str = ""
    query_token: str = ""
    origin: str | None = None
    fetch_site: str = ""
    local_address: str = ""
    """The address of this machine on which the request arrived."""


class Authenticator:
    """Authenticates requests with the current token."""

    def __init__(
        self, token: Callable[[], str | None], find_guest: Callable[[str], Guest] | None = None
    ) -> None:
        """`find_guest` returns the guest with a token, or raises; `None` if there are no guests."""
        self._token = token
        self._find_guest = find_guest
        self.port = 0
        self.token_required = True
        self.localhost_only = True
        self.scheme = "http"
        self.host_names: frozenset[str] = frozenset()
        """Names of the certificate: with another one for its name, no site can point it here."""
        self._refused: dict[str, tuple[float, int]] = {}

    def follow(self, settings: ServerSettings, certificate: ServerCertificate | None) -> None:
        """Apply the settings of the running server."""
        self.port = settings.port
        self.token_required, self.localhost_only = settings.token_required, settings.is_local
        self.scheme = "https" if certificate else "http"
        self.host_names = certificate.host_names if certificate else frozenset()

    def has_token(self, credentials: Credentials) -> bool:
        """Whether the request has the valid token; an empty token is never valid."""
        expected = (self._token() or "").encode("utf-8", "surrogatepass")
        given = _given_token(credentials)
        # Bytes: `compare_digest` raises TypeError on text that is not ASCII.
        matches = hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected)
        return matches and bool(expected)

    def identify(self, credentials: Credentials) -> Guest | None:
        """The guest who sends a request, `None` for the owner. Raises `SpinneyError` for others.

        A guest's token counts before anything else, so that a guest is one also where no token is
        required, and one whose access has ended is refused there, too.
        """
        token = _given_token(credentials)
        if self._find_guest is not None and is_token(token, DEVICE):
            self.check_host(credentials)
            return self._find_guest(token)
        self.check(credentials)
        return None

    def check(self, credentials: Credentials) -> None:
        """Raise `SpinneyError` unless the request is the owner's."""
        if self.has_token(credentials):
            return
        self.check_host(credentials)
        if is_token(_given_token(credentials), DEVICE):
            raise SpinneyError("This is not open to guests.", "authentication_error")
        if self.token_required:
            raise SpinneyError("A valid token is required.", "authentication_error")
        if not (self._has_local_host(credentials) and self._has_local_origin(credentials)):
            raise SpinneyError(
                "A valid token is required for requests from this origin.", "authentication_error"
            )

    def check_host(self, credentials: Credentials) -> None:
        """Raise `SpinneyError` for an invalid or repeated `Host` header."""
        if len(credentials.hosts) > 1 or (
            credentials.hosts and _parse_host(credentials.hosts[0]) is None
        ):
            raise SpinneyError("Invalid Host header")

    def sign(self, text: str) -> str:
        """HMAC of `text` under the current token; does not reveal the token.

        64 hexadecimal digits, or an empty string if there is no token.
        """
        token = (self._token() or "").encode("utf-8", "surrogatepass")
        digest = hmac.new(token, text.encode("utf-8", "surrogatepass"), hashlib.sha256)
        return digest.hexdigest() if token else ""

    def log_refusal(self, address: str) -> None:
        """Log refusals, at most once a minute for each address."""
        now = time.monotonic()
        logged_at, suppressed = self._refused.get(address, (-_LOG_INTERVAL, 0))
        if now - logged_at < _LOG_INTERVAL:
            self._refused[address] = (logged_at, suppressed + 1)
            return
        if len(self._refused) > 1000:
            self._refused.clear()
        self._refused[address] = (now, 0)
        _log.warning(
            "refused a request without a valid token from %s (%d more)", address, suppressed
        )

    def _has_local_host(self, credentials: Credentials) -> bool:
        return bool(credentials.hosts) and self._is_this_machine(
            credentials.hosts[0], credentials.local_address
        )

    def _has_local_origin(self, credentials: Credentials) -> bool:
        if credentials.origin is None:
            # Requests for scripts and images of another site's page have no Origin, but this.
            return credentials.fetch_site.lower() not in ("cross-site", "same-site")
        match = _ORIGIN.fullmatch(credentials.origin)
        if match is None:
            return False
        parsed = _parse_host(match["host"])
        return (
            parsed is not None
            and match["scheme"] == self.scheme
            and (parsed[1] or _DEFAULT_PORTS[self.scheme]) == self.port
            and self._is_this_machine(match["host"], credentials.local_address)
        )

    def _is_this_machine(self, host: str, local_address: str) -> bool:
        """Whether the name means this machine, whatever DNS says."""
        parsed = _parse_host(host)
        if parsed is None:
            return False
        name = parsed[0].lower().removesuffix(".")
        if name == "localhost" or name.endswith(".localhost") or name in self.host_names:
            return True
        try:
            address = ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        if address.is_loopback:
            return True
        return not self.localhost_only and str(address) == local_address


def _given_token(credentials: Credentials) -> str:
    scheme, _, bearer = credentials.authorization.partition(" ")
    return bearer.strip() if scheme.lower() == "bearer" else credentials.query_token


def _parse_host(host: str) -> tuple[str, int | None] | None:
    """The name and port of a `Host` header, or `None` if it is invalid."""
    match = _HOST.fullmatch(host)
    if match is None or (match["port"] and int(match["port"]) > 65535):
        return None
    return match["name"], int(match["port"]) if match["port"] else None
