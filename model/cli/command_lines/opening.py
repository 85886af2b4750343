"""The commands that open a terminal."""

from model.cli.command_parser import CommandLine, Parser


def _add_open(opening: Parser) -> None:
    opening.add_argument("path", nargs="?", default=".", metavar="PATH", help="a git repository")
    opening.add_argument("--demo", action="store_true", help="make the demo agent the default")
    _add_plain(opening)


def _add_plain(screen: Parser) -> None:
    screen.add_argument(
        "--plain",
        action="store_true",
        help="screen-reader mode: no boxes, states as words, no animation (also SPINNEY_PLAIN=1)",
    )


OPEN = CommandLine(
    "open",
    "open the terminal (also without a command: spinney PATH)",
    _add_open,
    """\
Only one Spinney runs per data directory. If one is already running, this attaches to it.

While agents work, ctrl+q asks whether to leave them running or to quit. If the terminal goes away
(hang-up, closed window, lost SSH connection), they keep running. `spinney` opens them again in any
terminal; `spinney stop` shuts Spinney down.

Without a terminal, Spinney keeps running while an agent works or waits for you, another terminal is
attached or the server is on. It exits after ten minutes without any of these. ctrl+z suspends the
terminal while agents keep running; `fg` resumes it. A demo ends with its terminal.
""",
)


DEMO = CommandLine(
    "demo", "open the terminal on a temporary repository with the demo agent", _add_plain
)


def _add_attach(attach: Parser) -> None:
    attach.add_argument(
        "url", nargs="?", metavar="URL", help="its address; by default the Spinney on this machine"
    )
    _add_plain(attach)


ATTACH = CommandLine(
    "attach",
    "open a terminal attached to a running Spinney",
    _add_attach,
    """\
examples:
  spinney attach                              the Spinney on this machine
  spinney attach http://devbox:3456           prompts for the token
  SPINNEY_TOKEN=… spinney attach devbox:3456
  spinney attach 'http://devbox:3456/#token=…'

A token in the address is briefly visible to everyone who can list this machine's processes; one
that is typed at the prompt is not. On an untrusted network, run
ssh -L 3456:127.0.0.1:3456 devbox and attach to 127.0.0.1:3456. Closing this terminal stops nothing
there.
""",
)
