"""The commands that run the server and print how it is reached."""

from model.cli.command_parser import CommandLine, Parser, port, token


def _add_network(serve: Parser) -> None:
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


def _add_serve(serve: Parser) -> None:
    serve.add_argument("--port", type=port, metavar="N", help="port; 0 chooses a free one")
    serve.add_argument(
        "--token",
        type=token,
        metavar="T",
        help="require this token from now on; at least 16 characters",
    )
    serve.add_argument(
        "--all-interfaces", action="store_true", help="accept connections from other machines"
    )
    _add_network(serve)
    serve.add_argument(
        "--no-token", action="store_true", help="accept clients on this machine without a token"
    )
    serve.add_argument(
        "--unsafe-no-token",
        action="store_true",
        help="with --all-interfaces and --no-token: let everyone on the network in",
    )
    serve.add_argument("--demo", action="store_true", help="make the demo agent the default")
    serve.add_argument("--json", action="store_true", help="print one JSON line when it answers")


SERVE = CommandLine(
    "serve",
    "run the server without a terminal",
    _add_serve,
    """\
examples:
  spinney serve                  on the port of the preferences, for this machine only
  spinney serve --port 0 --json  on a free port; prints address, port, token and pid as JSON
  spinney serve --all-interfaces
                                 for other machines too, which need the token
  spinney serve --host 100.64.0.7
                                 for those of a VPN in which this machine has that address
  spinney serve --all-interfaces --certificate box.crt --key box.key
                                 over HTTPS; renewed files are used without a restart

--token is saved for later runs; all other options apply to this run only.
A token given with --token is visible to everyone who can list this machine's processes.
""",
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


SERVICE = CommandLine(
    "service",
    "start Spinney with this machine, as a service",
    _add_service,
    """\
examples:
  spinney service install           start Spinney now and with this machine; also updates it
  spinney service install --linger  the same, and keep it running when you are logged out
  spinney service install --print   show what would be written
  spinney service                   show whether it runs, and how to see its log
  spinney service uninstall         stop it, and do not start it again; your data is kept

The service is one of your user, with systemd or launchd. It runs `spinney serve --wait` with the
PATH of the shell that installed it, so that it finds the same agents. Its address, port, network
access and certificate are preferences. Exit code of status: 3 if it does not run.
""",
)


def _add_url(url: Parser) -> None:
    """Add the options of `spinney url`."""
    url.add_argument("--no-token", action="store_true", help="print the addresses only")
    url.add_argument("--json", action="store_true", help="print them as JSON")


URL = CommandLine(
    "url",
    "print the addresses of the server, with the token",
    _add_url,
    """\
examples:
  spinney url             every address, signed in: open one in a browser
  spinney url --no-token  without the token
  spinney attach "$(spinney url | head -1 | cut -d' ' -f1)"

Those that other devices reach come first; of a VPN and of a certificate, its name is given.
""",
)


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


QR = CommandLine(
    "qr",
    "show an address of the server as a QR code",
    _add_qr,
    """\
Point a phone's camera at it: the page opens, signed in. `spinney url` lists the addresses.
""",
)


def _add_token(token: Parser) -> None:
    """Add the options of `spinney token`."""
    token.add_argument(
        "action",
        choices=["rotate"],
        help="replace the token; all other devices must sign in again",
    )


TOKEN = CommandLine(
    "token",
    "replace the token of the server",
    _add_token,
    """\
Use `spinney token rotate` when others may know the token. All devices are disconnected and must
sign in with the new one, which `spinney url` and `spinney qr` show. Agents keep working.
""",
)
