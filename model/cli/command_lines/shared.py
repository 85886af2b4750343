"""Options and notes that several commands share."""

from model.cli.command_parser import Parser, seconds

HERE = "by default the one of this directory"

IDS = """\
A session is named by its name, the beginning of its id, or the name or branch of a worktree that
has only one. If several match, they are listed, and nothing is done (exit code 2).
"""
"""The note of commands that take a session."""


def add_json(parser: Parser) -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def add_session(parser: Parser, more: str = HERE) -> None:
    """Add the session; `more` says which is meant without it."""
    parser.add_argument(
        "session",
        nargs="?",
        metavar="SESSION",
        help=f"its name, the beginning of its id, or its worktree; {more}",
    )


def add_wait(parser: Parser) -> None:
    """Add `--wait` and its `--timeout`."""
    parser.add_argument(
        "--wait", action="store_true", help="wait until the agent is done or needs you"
    )
    add_timeout(parser)


def add_timeout(parser: Parser) -> None:
    """Add `--timeout`."""
    parser.add_argument(
        "--timeout",
        type=seconds,
        metavar="TIME",
        help="wait at most so long (90s, 15m, 2h); exit code 124 then",
    )


def add_message(parser: Parser) -> None:
    """Add what belongs to a message besides its text."""
    parser.add_argument("--file", metavar="FILE", help="read the text from a file; - is stdin")
    parser.add_argument(
        "--attach", nargs="+", action="extend", default=[], metavar="FILE", help="files to attach"
    )
    parser.add_argument(
        "--id",
        metavar="UUID",
        help="an id of yours: what is repeated with the same id is done only once",
    )


def add_yes(parser: Parser) -> None:
    """Add `--yes`."""
    parser.add_argument("--yes", action="store_true", help="do not ask")
