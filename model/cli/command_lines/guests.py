"""The commands that share sessions with guests."""

from model.cli.command_lines.shared import IDS, add_json, add_session
from model.cli.command_parser import CommandLine, Parser, count, seconds


def _add_share(share: Parser) -> None:
    add_session(share)
    share.add_argument("--project", metavar="PROJECT", help="share all sessions of a project")
    share.add_argument(
        "--role",
        choices=("viewer", "approver", "driver"),
        default="viewer",
        help="what the guest may do (default: viewer)",
    )
    share.add_argument(
        "--for",
        dest="time",
        type=seconds,
        default=24 * 3600.0,
        metavar="TIME",
        help="how long it can be used (90m, 2h; default: 24h)",
    )
    share.add_argument("--name", metavar="NAME", help="whom it is for")
    share.add_argument(
        "--devices", type=count, default=1, metavar="N", help="on how many it can be opened"
    )
    share.add_argument(
        "--mode",
        choices=("plan", "build", "yolo"),
        default="build",
        help="the highest mode that the guest can set or approve (default: build)",
    )
    share.add_argument("--no-qr", action="store_true", help="print no QR code")
    add_json(share)


SHARE = CommandLine(
    "share",
    "share a session or project with a guest",
    _add_share,
    f"""\
examples:
  spinney share parser --role approver --for 8h --name Ann
  spinney share --project alpha --devices 3
  spinney share parser --json | jq -r .url

The link is printed only now: Spinney keeps a hash. A viewer reads; an approver also answers
permissions, questions and plans; a driver also sends messages. With --json: NewGuestLink.

{IDS}""",
)


def _add_guests(guests: Parser) -> None:
    what = guests.add_mutually_exclusive_group()
    what.add_argument("--revoke", metavar="LINK", help="end one, by its id or name")
    what.add_argument("--log", action="store_true", help="what guests did, newest first")
    add_json(guests)


GUESTS = CommandLine(
    "guests",
    "list guest links, or end one",
    _add_guests,
    """\
examples:
  spinney guests
  spinney guests --log
  spinney guests --revoke Ann

With --json: [GuestLink], with --log [GuestAction], with --revoke the GuestLink that was ended.
""",
)
