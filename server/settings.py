"""The settings of the server: where it listens, for whom, and with which certificate."""

import socket
from dataclasses import dataclass

from model.service.addresses import find_interface, is_loopback, list_interfaces
from model.service.certificates import CertificateFiles
from server.tls import ServerCertificate

_ALL_INTERFACES = "0.0.0.0"


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The server settings of the preferences, or those that it was started with."""

    port: int
    localhost_only: bool = True
    token_required: bool = True
    host: str = ""
    """The address to accept connections from the network on; empty for all."""
    tls: CertificateFiles | None = None
    token: str | None = None

    @property
    def interface(self) -> str:
        """The address to listen on."""
        return "127.0.0.1" if self.localhost_only else self.host or _ALL_INTERFACES

    @property
    def is_local(self) -> bool:
        """Whether only this machine can connect."""
        return is_loopback(self.interface)

    @property
    def place(self) -> tuple[int, str, CertificateFiles | None]:
        """What a listener is bound to."""
        return self.port, self.interface, self.tls

    @property
    def warning(self) -> str | None:
        """A sentence if the token crosses a network that others may listen to, else `None`."""
        if self.tls is not None or self.is_local:
            return None
        if self.host and find_interface(self.host, list_interfaces()).kind == "vpn":
            return None
        return (
            "The token and everything else crosses this network unencrypted. Use a certificate, "
            "the address of a VPN, or an SSH tunnel."
        )

    def format_url(self, certificate: ServerCertificate | None) -> str:
        """The address to open: by a name of the certificate, as browsers refuse any other."""
        host = _network_address() if self.interface == _ALL_INTERFACES else self.interface
        shown = f"[{host}]" if ":" in host else host
        if certificate is not None and host not in certificate.certificate.names:
            shown = min(certificate.host_names, default=shown)
        return f"{'https' if certificate else 'http'}://{shown}:{self.port}"

    def format_local_url(self, certificate: ServerCertificate | None) -> str:
        """The address for programs on this machine."""
        if certificate is None and self.interface in ("127.0.0.1", _ALL_INTERFACES):
            return f"http://127.0.0.1:{self.port}"
        return self.format_url(certificate)

    def is_stricter(self, before: "ServerSettings") -> bool:
        """Whether a client that could connect `before` may not any more."""
        requires_token = self.token_required and not before.token_required
        return requires_token or (self.is_local and not before.is_local)


def _network_address() -> str:
    """This machine's network address, from the routing table; sends no packets."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])
