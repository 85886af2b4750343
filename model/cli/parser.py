"""What can be typed after `spinney`: commands and options, and what is said of all else.

Imports the standard library only, so that `spinney --help` answers at once.
"""

import argparse
import os
import re
from typing import Any, NoReturn

from model import __version__
from model.base.errors import UsageError
from model.base.standard_streams import put
from model.base.suggestions import did_you_mean
from model.cli.help_texts import (
    ATTACH_EXAMPLES,
    CALL_EXAMPLES,
    COMPLETION_EXAMPLES,
    DOCTOR_WORDS,
    EVENTS_EXAMPLES,
    EXAMPLES,
    EXPORT_WORDS,
    OPEN_WORDS,
    SERVE_EXAMPLES,
    STOP_WORDS,
)

_HIGHEST_PORT = 65535


class _Version(argparse.Action):
    """Prints the version and ends."""

    def __call__(self, *_: object) -> NoReturn:
        put(f"spinney {__version__}\n")
        raise SystemExit(0)


class Parser(argparse.ArgumentParser):
    """Says what is wrong in a sentence, by `UsageError`; knows the words that can be typed."""

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
        """Print it to whoever reads; a reader that has gone is no failure."""
        put(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Raise `UsageError` with the usage of this very command."""
        sentence = message[:1].upper() + message[1:]
        raise UsageError(sentence.rstrip(".") + ".", self.format_usage())

    def refuse_rest(self, words: list[str]) -> NoReturn:
        """Raise `UsageError` for words that nothing asked for."""
        options = [word for word in words if word.startswith("-")]
        if not options:
            raise UsageError(f"Not expected here: {' '.join(words)}.", self.format_usage())
        option = options[0].partition("=")[0]
        meant = did_you_mean(option, self.options)
        raise UsageError(f"Unknown option {option}.{meant}", self.format_usage())


def read_command_line(words: list[str]) -> argparse.Namespace:
    """What these words ask for. Raises `UsageError`."""
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
        options.parser.refuse_rest(rest)
    if options.command == "serve":
        _check_serve(options)
    return options


def _takes(parser: Parser, option: str) -> bool:
    return option in parser.options


def _check_folder(words: list[str], known: dict[str, Parser]) -> None:
    """Raise `UsageError` where the first word is neither a command nor a folder."""
    first = words[0]
    path = os.path.expanduser(first)  # noqa: PTH111 - no `pathlib` for a help text
    if first == "--plain" or os.path.isdir(path):  # noqa: PTH112
        return
    if os.path.exists(path):  # noqa: PTH110
        raise UsageError(f"{first} is a file, not a folder.")
    meant = did_you_mean(first, known, "spinney {}")
    raise UsageError(
        f"There is no command and no folder '{first}'.{meant} For commands, see: spinney --help"
    )


def _check_serve(options: argparse.Namespace) -> None:
    if options.unsafe_no_token and not (options.all_interfaces and options.no_token):
        options.parser.error(
            "--unsafe-no-token goes only together with --all-interfaces and --no-token: it lets "
            "everybody on the network in"
        )


def _port(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", text) or int(text) > _HIGHEST_PORT:
        raise argparse.ArgumentTypeError(
            f"'{text}' is no port: it must be a whole number from 0 to {_HIGHEST_PORT}"
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


def build_parser() -> Parser:
    """The command line; shell completion is made from it too."""
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

    opening = add("open", "open the terminal (also without a command: spinney PATH)", OPEN_WORDS)
    opening.add_argument("path", nargs="?", default=".", metavar="PATH", help="a git repository")
    opening.add_argument("--demo", action="store_true", help="make the demo agent the default")
    showing = add("demo", "open the terminal on a throw-away repository with the demo agent")
    attach = add("attach", "open a terminal on a Spinney that runs elsewhere", ATTACH_EXAMPLES)
    attach.add_argument(
        "url", nargs="?", metavar="URL", help="its address; without one: the Spinney that runs here"
    )
    for screen in (opening, showing, attach):
        screen.add_argument(
            "--plain",
            action="store_true",
            help="for screen readers: no boxes, states in words, nothing that moves "
            "(also SPINNEY_PLAIN=1)",
        )
    add("stop", "end the Spinney that runs here, in good order", STOP_WORDS)
    _add_serve(add("serve", "run the server alone, for other clients", SERVE_EXAMPLES))
    call = add("call", "run one command against the running Spinney", CALL_EXAMPLES, add_help=False)
    call.add_argument("name", nargs="?", metavar="NAME", help="the command; without it: list all")
    call.add_argument("arguments", nargs="*", metavar="name=value | JSON")
    call.add_argument(
        "-h", "--help", action="store_true", help="show this, or the arguments of the command"
    )
    events = add("events", "follow what happens, a JSON object a line", EVENTS_EXAMPLES)
    events.add_argument(
        "--since", type=_number, metavar="N", help="begin after the event of this number"
    )
    add("schema", "print every command, event, resource and preference as JSON Schema")
    doctor = add("doctor", "show what is installed, what is missing, what mends it", DOCTOR_WORDS)
    _add_doctor(doctor)
    export = add("export", "write every session to files: Markdown, and JSON lines", EXPORT_WORDS)
    export.add_argument("folder", metavar="FOLDER", help="a new folder")
    export.add_argument(
        "--from", dest="database", metavar="FILE", help="a backup, or a database that was kept"
    )
    completion = add("completion", "print a completion script for a shell", COMPLETION_EXAMPLES)
    completion.add_argument("shell", choices=["bash", "zsh", "fish"])
    return parser


def _add_doctor(doctor: Parser) -> None:
    doctor.add_argument("--json", action="store_true", help="print it as JSON")
    doctor.add_argument(
        "--repair", action="store_true", help="make a damaged database whole; it is kept beside"
    )
    doctor.add_argument(
        "--restore",
        nargs="?",
        const="",
        metavar="BACKUP",
        help="go back to a backup of the database, the newest without a name",
    )


def _add_serve(serve: Parser) -> None:
    serve.add_argument("--port", type=_port, metavar="N", help="port; 0 takes a free one")
    serve.add_argument(
        "--token",
        type=_token,
        metavar="T",
        help="the token to ask for from now on, of 16 characters or more",
    )
    serve.add_argument(
        "--all-interfaces", action="store_true", help="let other machines in, not only this one"
    )
    serve.add_argument("--no-token", action="store_true", help="ask clients here for no token")
    serve.add_argument(
        "--unsafe-no-token",
        action="store_true",
        help="with --all-interfaces and --no-token: let anybody on the network in",
    )
    serve.add_argument("--demo", action="store_true", help="make the demo agent the default")
    serve.add_argument("--json", action="store_true", help="print one JSON line when it answers")
