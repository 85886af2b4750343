"""`spinney token`: replace the token with which other devices and programs sign in."""

from argparse import Namespace

from model.base.standard_streams import write_output
from model.cli.server_address import connect_local


def token(_: Namespace) -> int:
    """Replace the token; returns the exit code."""
    with connect_local() as connection:
        clients = connection.call("get_http_server_status").get("clients", 0)
        connection.call("regenerate_http_token")
    left = f" {clients} disconnected and must sign in again." if clients else ""
    write_output(f"The token was replaced.{left} Agents keep working.\nNew address: spinney url\n")
    return 0
