"""Addresses of this machine: which of them a VPN has, and which only containers see."""

import pytest

from model.service.addresses import Interface, find_interface, list_interfaces


@pytest.mark.parametrize(
    ("name", "address", "kind", "label"),
    [
        ("lo", "127.0.0.1", "machine", "this machine"),
        ("eth0", "192.0.2.7", "network", "network, eth0"),
        ("tailscale0", "100.101.102.103", "vpn", "Tailscale, tailscale0"),
        ("utun4", "100.101.102.103", "vpn", "Tailscale, utun4"),
        ("utun4", "10.8.0.2", "vpn", "VPN, utun4"),
        ("wg0", "10.8.0.2", "vpn", "WireGuard, wg0"),
        ("wlan0", "100.64.0.9", "network", "network, wlan0"),
    ],
)
def test_interfaces_are_recognized(name: str, address: str, kind: str, label: str) -> None:
    interface = Interface(name, address)
    assert (interface.kind, interface.label) == (kind, label)


def test_this_machine_has_a_loopback_address() -> None:
    assert find_interface("127.0.0.1", list_interfaces()).kind == "machine"
    assert find_interface("203.0.113.9", list_interfaces()).name == ""
