"""The options of the command lines that keep Spinney reachable."""

from model.cli import help_texts as notes
from model.cli.command_parser import CommandLine, Parser


def add_serve_network_options(serve: Parser) -> None:
    """Add where `spinney serve` listens, and with which certificate."""
    serve.add_argument(
        "--host",
        metavar="ADDRESS",
        help="accept connections on this address of this machine, such as that of a VPN",
    )
    serve.add_argument(
        "--certificate", metavar="FILE", help="use HTTPS with this certificate; needs --key"
    )
    serve.add_argument("--key", metavar="FILE", help="the private key of the certificate")
    serve.add_argument(
        "--wait",
        action="store_true",
        help="while a Spinney is running, wait until it ends; for services",
    )


def _add_service(service: Parser) -> None:
    """Add the options of `spinney service`."""
    service.add_argument(
        "action",
        nargs="?",
        choices=["install", "uninstall", "status"],
        default="status",
        help="install or update it and start it, remove it, or show its state (the default)",
    )
    service.add_argument(
        "--print",
        action="store_true",
        help="print the file to install; change nothing",
    )
    service.add_argument(
        "--linger",
        action="store_true",
        help="with install: keep your services running when you are logged out",
    )
    service.add_argument("--json", action="store_true", help="print the state as JSON")


def _add_url(url: Parser) -> None:
    """Add the options of `spinney url`."""
    url.add_argument("--no-token", action="store_true", help="print the addresses only")
    url.add_argument("--json", action="store_true", help="print them as JSON")


def _add_qr(qr: Parser) -> None:
    """Add the options of `spinney qr`."""
    qr.add_argument(
        "address", nargs="?", metavar="URL", help="one of `spinney url`; by default the first"
    )
    what = qr.add_mutually_exclusive_group()
    what.add_argument(
        "--page", action="store_true", help="open the page signed in, which is the default"
    )
    what.add_argument("--url", action="store_true", help="the address only, without the token")


def _add_token(token: Parser) -> None:
    """Add the options of `spinney token`."""
    token.add_argument(
        "action",
        choices=["rotate"],
        help="replace the token; all other devices must sign in again",
    )


SERVICE_LINES = (
    CommandLine(
        "service",
        "start Spinney with this machine, as a service",
        _add_service,
        notes.SERVICE_EXAMPLES,
    ),
    CommandLine(
        "url", "print the addresses of the server, with the token", _add_url, notes.URL_EXAMPLES
    ),
    CommandLine("qr", "show an address of the server as a QR code", _add_qr, notes.QR_NOTES),
    CommandLine("token", "replace the token of the server", _add_token, notes.TOKEN_NOTES),
)
