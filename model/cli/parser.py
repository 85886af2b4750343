"""The parser of the command line.

Imports the standard library only, so that `spinney --help` responds immediately.
"""

import argparse
import os
import re
from typing import Any, NoReturn

from model import __version__
from model.base.errors import UsageError
from model.base.standard_streams import write_output
from model.base.suggestions import did_you_mean
from model.cli.help_texts import (
    ATTACH_EXAMPLES,
    CALL_EXAMPLES,
    COMPLETION_EXAMPLES,
    CONFLICTS_EXAMPLES,
    DOCTOR_NOTES,
    EVENTS_EXAMPLES,
    EXAMPLES,
    EXPORT_NOTES,
    LAND_EXAMPLES,
    OPEN_NOTES,
    PRUNE_EXAMPLES,
    RECOVER_EXAMPLES,
    SERVE_EXAMPLES,
    STOP_NOTES,
    UNDO_EXAMPLES,
    WHY_EXAMPLES,
)

_HIGHEST_PORT = 65535


class _Version(argparse.Action):
    """Prints the version and ends."""

    def __call__(self, *_: object) -> NoReturn:
        write_output(f"spinney {__version__}\n")
        raise SystemExit(0)


class Parser(argparse.ArgumentParser):
    """Raises `UsageError` with a sentence instead of exiting, and knows what can be completed."""

    def __init__(self, *given: Any, about: str = "", **named: Any) -> None:
        self.about = about
        self.options: list[str] = []
        """All options in their long and short forms."""
        self.choices: list[str] = []
        """The words of which an argument must be one."""
        self.commands: dict[str, Parser] = {}
        super().__init__(*given, **named)

    def add_argument(self, *given: Any, **named: Any) -> argparse.Action:
        """Add an argument, and note what can be typed for it."""
        action = super().add_argument(*given, **named)
        self.options += action.option_strings
        self.choices += map(str, action.choices or ())
        return action

    def print_help(self, file: object = None) -> None:
        """Print the help; a closed pipe is not an error."""
        write_output(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Raise `UsageError` with the usage of this command."""
        sentence = message[:1].upper() + message[1:]
        raise UsageError(sentence.rstrip(".") + ".", self.format_usage())

    def reject_extra(self, words: list[str]) -> NoReturn:
        """Raise `UsageError` for words that this command does not expect."""
        options = [word for word in words if word.startswith("-")]
        if not options:
            raise UsageError(f"Unexpected argument: {' '.join(words)}.", self.format_usage())
        option = options[0].partition("=")[0]
        meant = did_you_mean(option, self.options)
        raise UsageError(f"Unknown option {option}.{meant}", self.format_usage())


def read_command_line(words: list[str]) -> argparse.Namespace:
    """Parse a command line. Raises `UsageError`."""
    parser = build_parser()
    known = parser.commands
    first = words[0]
    if first == "--plain" or (first[:1] != "-" and first not in known):
        _check_folder(words, known)
        words = ["open", *words]
    elif first[:1] == "-" and first not in parser.options:
        option = first.partition("=")[0]
        of = [f"spinney {name} {option}" for name, its in known.items() if _takes(its, option)]
        hint = f" Did you mean {' or '.join(of)}?" if of else ""
        parser.error(f"unknown option {option}.{hint} For help: spinney --help")
    options, rest = parser.parse_known_args(words)
    options.parser = known[options.command]
    if rest:
        options.parser.reject_extra(rest)
    if options.command == "serve":
        _check_serve(options)
    return options


def _takes(parser: Parser, option: str) -> bool:
    return option in parser.options


def _check_folder(words: list[str], known: dict[str, Parser]) -> None:
    """Raise `UsageError` if the first word is neither a command nor a folder."""
    first = words[0]
    path = os.path.expanduser(first)  # noqa: PTH111 - `pathlib` is slow to import
    if first == "--plain" or os.path.isdir(path):  # noqa: PTH112
        return
    if os.path.exists(path):  # noqa: PTH110
        raise UsageError(f"{first} is a file, not a folder.")
    hint = did_you_mean(first, known, "spinney {}")
    raise UsageError(
        f"There is no command or folder '{first}'.{hint} For commands, see: spinney --help"
    )


def _check_serve(options: argparse.Namespace) -> None:
    if options.unsafe_no_token and not (options.all_interfaces and options.no_token):
        options.parser.error(
            "--unsafe-no-token requires --all-interfaces and --no-token: it lets everyone on the "
            "network in"
        )


def _port(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", text) or int(text) > _HIGHEST_PORT:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a port: it must be a whole number from 0 to {_HIGHEST_PORT}"
        )
    return int(text)


def _token(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._~-]{16,}", text):
        raise argparse.ArgumentTypeError("must be at least 16 letters, digits and - _ . ~")
    return text


def _number(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,16}", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not the number of an event")
    return int(text)


def _days(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of days")
    return int(text)


def build_parser() -> Parser:
    """The parser, from which shell completion is generated too."""
    parser = Parser(
        prog="spinney",
        usage="spinney [PATH] | spinney COMMAND …",
        description="Run AI coding agents on many branches at once, from one terminal.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action=_Version, nargs=0, help="show the version")
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", prog="spinney"
    )

    def add(name: str, text: str, epilog: str = "", *, add_help: bool = True) -> Parser:
        added: Parser = commands.add_parser(
            name,
            help=text,
            about=text,
            description=text[:1].upper() + text[1:] + ".",
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            add_help=add_help,
        )
        parser.commands[name] = added
        return added

    opening = add("open", "open the terminal (also without a command: spinney PATH)", OPEN_NOTES)
    opening.add_argument("path", nargs="?", default=".", metavar="PATH", help="a git repository")
    opening.add_argument("--demo", action="store_true", help="make the demo agent the default")
    showing = add("demo", "open the terminal on a temporary repository with the demo agent")
    attach = add("attach", "open a terminal attached to a running Spinney", ATTACH_EXAMPLES)
    attach.add_argument(
        "url", nargs="?", metavar="URL", help="its address; by default the Spinney on this machine"
    )
    for screen in (opening, showing, attach):
        screen.add_argument(
            "--plain",
            action="store_true",
            help="screen-reader mode: no boxes, states as words, no animation "
            "(also SPINNEY_PLAIN=1)",
        )
    add("stop", "shut down the Spinney on this machine", STOP_NOTES)
    _add_serve(add("serve", "run the server without a terminal", SERVE_EXAMPLES))
    call = add("call", "run one command of the running Spinney", CALL_EXAMPLES, add_help=False)
    call.add_argument(
        "name", nargs="?", metavar="NAME", help="the command; by default, list all commands"
    )
    call.add_argument("arguments", nargs="*", metavar="name=value | JSON")
    call.add_argument(
        "-h", "--help", action="store_true", help="show this help, or that of the command"
    )
    events = add("events", "follow events, one JSON object per line", EVENTS_EXAMPLES)
    events.add_argument(
        "--since", type=_number, metavar="N", help="start after the event with this number"
    )
    add("schema", "print every command, event, resource and preference as JSON Schema")
    doctor = add(
        "doctor", "show what is installed, what is missing and how to fix it", DOCTOR_NOTES
    )
    _add_doctor(doctor)
    export = add("export", "export every session as Markdown and JSON Lines", EXPORT_NOTES)
    export.add_argument("folder", metavar="FOLDER", help="a new folder")
    export.add_argument(
        "--from",
        dest="database",
        metavar="FILE",
        help="a backup or another database; by default yours",
    )
    _add_recover(add("recover", "bring deleted worktrees and lost files back", RECOVER_EXAMPLES))
    _add_undo(add("undo", "undo a turn of an agent: its changes, the conversation", UNDO_EXAMPLES))
    _add_land(add("land", "bring a worktree into its base branch", LAND_EXAMPLES))
    _add_prune(add("prune", "archive or delete worktrees no longer needed", PRUNE_EXAMPLES))
    why = add("why", "explain why a line is there", WHY_EXAMPLES)
    why.add_argument("place", metavar="FILE:LINE", help="a file of a worktree, and a line")
    why.add_argument("--json", action="store_true", help="print it as JSON")
    conflicts = add(
        "conflicts", "list worktrees that are heading for a conflict", CONFLICTS_EXAMPLES
    )
    conflicts.add_argument(
        "project", nargs="?", metavar="PROJECT", help="the name of a project; by default all"
    )
    conflicts.add_argument("--json", action="store_true", help="print it as JSON")
    completion = add("completion", "print a completion script for a shell", COMPLETION_EXAMPLES)
    completion.add_argument("shell", choices=["bash", "zsh", "fish"])
    return parser


def _add_doctor(doctor: Parser) -> None:
    doctor.add_argument("--json", action="store_true", help="print it as JSON")
    doctor.add_argument(
        "--repair", action="store_true", help="repair a damaged database; the damaged file is kept"
    )
    doctor.add_argument(
        "--restore",
        nargs="?",
        const="",
        metavar="BACKUP",
        help="restore a backup of the database; by default the newest",
    )


def _add_recover(recover: Parser) -> None:
    recover.add_argument(
        "action",
        nargs="?",
        choices=["list", "restore", "files"],
        default="list",
        help="list the recovery points, restore a worktree, or list and restore files",
    )
    recover.add_argument(
        "point", nargs="?", metavar="POINT", help="the id of a recovery point, or its beginning"
    )
    recover.add_argument("paths", nargs="*", metavar="FILE", help="files to restore")
    recover.add_argument("--name", metavar="NAME", help="another name for a restored worktree")
    recover.add_argument("--json", action="store_true", help="print it as JSON")


def _add_undo(undo: Parser) -> None:
    undo.add_argument(
        "session",
        nargs="?",
        metavar="SESSION",
        help="its name or the beginning of its id; by default the one that last worked here",
    )
    undo.add_argument("--turn", type=int, metavar="N", help="the turn; by default the newest")
    scope = undo.add_mutually_exclusive_group()
    for name, text in (
        ("files", "undo only its changes to files"),
        ("conversation", "only take the conversation back"),
        ("both", "undo both, which is the default"),
    ):
        scope.add_argument(f"--{name}", dest="what", action="store_const", const=name, help=text)
    for name, text in (
        ("keep", "files that stay as they are"),
        ("before", "files to take as they were before the turn"),
    ):
        undo.add_argument(
            f"--{name}", nargs="+", action="extend", default=[], metavar="PATH", help=text
        )
    undo.add_argument("--yes", action="store_true", help="do not ask")
    undo.add_argument("--redo", action="store_true", help="take an undo back")
    undo.add_argument("--json", action="store_true", help="print it as JSON")


def _add_land(land: Parser) -> None:
    land.add_argument(
        "worktree",
        nargs="?",
        metavar="WORKTREE",
        help="its name, branch or the beginning of its id; by default the one of this directory",
    )
    land.add_argument(
        "--method",
        choices=["merge", "squash", "rebase"],
        help="how; by default as the project or the preferences say",
    )
    land.add_argument(
        "--after",
        choices=["keep", "archive", "delete"],
        help="what becomes of the worktree; by default as the preferences say",
    )
    land.add_argument("--message", metavar="TEXT", help="the message of the merge or squash commit")
    land.add_argument(
        "--ignore-check",
        action="store_true",
        help="land although the check did not pass; a train runs no check",
    )
    what = land.add_mutually_exclusive_group()
    what.add_argument("--undo", action="store_true", help="take the newest landing back")
    what.add_argument(
        "--train",
        nargs="+",
        metavar="WORKTREE",
        help="bring several in, each on top of the one before, and check after each",
    )
    land.add_argument("--yes", action="store_true", help="do not ask")
    land.add_argument("--json", action="store_true", help="print it as JSON")


def _add_prune(prune: Parser) -> None:
    prune.add_argument("--project", metavar="PROJECT", help="the name of a project; by default all")
    prune.add_argument("--merged", action="store_true", help="only those that are merged")
    prune.add_argument(
        "--older-than", type=_days, metavar="DAYS", help="only those not used for so many days"
    )
    action = prune.add_mutually_exclusive_group()
    for name, text in (
        ("archive", "archive those that go; their files stay"),
        ("delete", "delete those that go, with directories and branches"),
    ):
        action.add_argument(f"--{name}", dest="action", action="store_const", const=name, help=text)
    prune.add_argument(
        "--delete-remote-branch", action="store_true",
        help="with --delete: delete their branches at the remote, too; those stay deleted",
    )  # fmt: skip
    prune.add_argument("--yes", action="store_true", help="do not ask")
    prune.add_argument("--json", action="store_true", help="print it as JSON")


def _add_serve(serve: Parser) -> None:
    serve.add_argument("--port", type=_port, metavar="N", help="port; 0 chooses a free one")
    serve.add_argument(
        "--token",
        type=_token,
        metavar="T",
        help="require this token from now on; at least 16 characters",
    )
    serve.add_argument(
        "--all-interfaces", action="store_true", help="accept connections from other machines"
    )
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
