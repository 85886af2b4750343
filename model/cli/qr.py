"""`spinney qr`: the server's address as a QR code in the terminal."""

import sys
from argparse import Namespace
from typing import Final

from model.base.errors import SpinneyError
from model.base.qr import half_blocks, qr_rows
from model.base.standard_streams import write_output
from model.cli.server_address import read_server
from model.cli.url import list_remarks

_QUIET: Final = 4
"""Width of the margin in modules, as the standard requires."""
_DARK_ON_LIGHT: Final = "\x1b[38;5;16;48;5;231m"
"""Phones expect that, whatever colors the terminal has."""


def qr(options: Namespace) -> int:
    """Print the code of an address that other devices can open; returns the exit code."""
    server = read_server()
    others = [each for each in server.addresses if each["kind"] != "machine"]
    if not others:
        raise SpinneyError(f"A phone cannot connect. {' '.join(list_remarks(server))}", "conflict")
    known = {each["url"]: each["label"] for each in others}
    chosen = (options.address or others[0]["url"]).rstrip("/")
    if chosen not in known:
        raise SpinneyError(
            f"The server has no address {chosen}. It has: {', '.join(known)}", "not_found"
        )
    link = chosen if options.url else server.sign_in_link(chosen)
    lines = half_blocks(qr_rows(link), _QUIET)
    if sys.stdout.isatty():
        lines = [f"{_DARK_ON_LIGHT}{line}\x1b[0m" for line in lines]
    about = "" if options.url else " It contains the token: show it only to your own camera."
    write_output("\n".join([*lines, f"{chosen} ({known[chosen]}).{about}", ""]))
    return 0
