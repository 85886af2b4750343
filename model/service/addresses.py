"""The addresses of this machine, and what kind of network each of them is in."""

import fcntl
import ipaddress
import socket
import struct
import sys
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["machine", "network", "vpn"]

_SIOCGIFADDR: Final = 0x8915 if sys.platform == "linux" else 0xC0206921
_TAILSCALE: Final = ipaddress.ip_network("100.64.0.0/10")
_VPN_INTERFACES: Final = {
    "tailscale": "Tailscale",
    "wg": "WireGuard",
    "zt": "ZeroTier",
    "nebula": "Nebula",
    "tun": "VPN",
    "tap": "VPN",
    "utun": "VPN",
    "ppp": "VPN",
    "ipsec": "VPN",
}
"""Beginnings of the names of interfaces."""
_CONTAINER_INTERFACES: Final = (
    "docker", "br-", "veth", "virbr", "podman", "cni", "lxc", "lxdbr", "bridge",
)  # fmt: skip
"""Those of bridges, which only containers and virtual machines are connected to."""


@dataclass(frozen=True, slots=True)
class Interface:
    """An IPv4 address of this machine."""

    name: str
    """Of the network interface."""
    address: str

    @property
    def kind(self) -> Kind:
        """Who can reach the address."""
        if ipaddress.ip_address(self.address).is_loopback:
            return "machine"
        return "vpn" if self.vpn else "network"

    @property
    def vpn(self) -> str:
        """The name of the VPN; empty if it is none."""
        names = (vpn for start, vpn in _VPN_INTERFACES.items() if self.name.startswith(start))
        found = next(names, "")
        if found == "VPN" and ipaddress.ip_address(self.address) in _TAILSCALE:
            return "Tailscale"  # On macOS, its interface has no name of its own.
        return found

    @property
    def label(self) -> str:
        """What it is, for people."""
        match self.kind:
            case "machine":
                return "this machine"
            case "vpn":
                return f"{self.vpn}, {self.name}"
            case _:
                return f"network, {self.name}"


def list_interfaces() -> list[Interface]:
    """Return this machine's IPv4 addresses, without those of bridges to containers."""
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            if name.startswith(_CONTAINER_INTERFACES):
                continue
            try:
                request = struct.pack("256s", name.encode()[:15])
                answer = fcntl.ioctl(probe.fileno(), _SIOCGIFADDR, request)
            except OSError:
                continue  # It has no address.
            found.append(Interface(name, socket.inet_ntoa(answer[20:24])))
    return found


def find_interface(address: str, interfaces: list[Interface]) -> Interface:
    """Return the interface with this address; one without a known name if there is none."""
    return next((each for each in interfaces if each.address == address), Interface("", address))


def is_loopback(host: str) -> bool:
    """Whether only this machine can connect to a server that listens there."""
    return is_address(host) and ipaddress.ip_address(host).is_loopback


def is_address(host: str) -> bool:
    """Whether it is an IP address, and not a name or something else."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
