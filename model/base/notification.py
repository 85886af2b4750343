"""Notifies systemd when the service is ready, by the protocol of `sd_notify`."""

import os
import socket
from contextlib import suppress


def notify_supervisor(message: str, *, is_last: bool = True) -> None:
    """Send a message such as `READY=1`, if this process was started by systemd for that.

    After the last one nothing that Spinney starts can send any.
    """
    address = os.environ.get("NOTIFY_SOCKET", "")
    if is_last:
        os.environ.pop("NOTIFY_SOCKET", None)
    if not address:
        return
    target = f"\0{address[1:]}" if address[0] == "@" else address
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(message.encode(), target)
