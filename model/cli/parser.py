"""The parser of the command line.

Imports the standard library only, so that `spinney --help` responds immediately.
"""

import argparse
import os

from model.base.errors import UsageError
from model.base.suggestions import did_you_mean
from model.cli.command_lines.all import COMMAND_LINES, EXAMPLES
from model.cli.command_parser import CommandLine, HelpFormatter, Parser, Version


def read_command_line(words: list[str]) -> argparse.Namespace:
    """Parse a command line. Raises `UsageError`."""
    first = words[0]
    is_command = any(line.name == first for line in COMMAND_LINES)
    parser = build_parser(first if is_command else None)
    known = parser.commands
    if first == "--plain" or (first[:1] != "-" and first not in known):
        _check_folder(words, known)
        words = ["open", *words]
    elif first[:1] == "-" and first not in parser.options:
        option = first.partition("=")[0]
        of = [f"spinney {name} {option}" for name, its in known.items() if _takes(its, option)]
        hint = f" Did you mean {' or '.join(of)}?" if of else ""
        parser.error(f"unknown option {option}.{hint} For help: spinney --help")
    if words[0] in parser.options:
        parser.parse_args(words)  # Prints help or version, and ends.
    options = known[words[0]].read(words[1:])
    options.command = words[0]
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
    is_open = options.all_interfaces or options.host
    if options.unsafe_no_token and not (is_open and options.no_token):
        options.parser.error(
            "--unsafe-no-token requires --no-token and --all-interfaces or --host: it lets "
            "everyone on the network in"
        )
    if (options.certificate is None) is not (options.key is None):
        options.parser.error("--certificate and --key belong together: give both")
    if options.host and options.all_interfaces:
        options.parser.error("--host is one address, --all-interfaces are all: give one of them")


def build_parser(only: str | None = None) -> Parser:
    """The parser, from which shell completion and the reference are generated too.

    With `only` it has the options of that command alone, which takes a third of the time.
    """
    parser = Parser(
        prog="spinney",
        usage="spinney [PATH] | spinney COMMAND …",
        description="Run AI coding agents on many branches at once, from one terminal.",
        epilog=EXAMPLES,
        formatter_class=HelpFormatter,
    )
    parser.add_argument("-V", "--version", action=Version, nargs=0, help="show the version")
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", prog="spinney"
    )
    for line in COMMAND_LINES:
        if only in (None, line.name):
            added = _add(commands, line)
            parser.commands[line.name] = added
    return parser


def _add(commands: "argparse._SubParsersAction[Parser]", line: CommandLine) -> Parser:
    added = commands.add_parser(
        line.name,
        help=line.about,
        about=line.about,
        description=line.about[:1].upper() + line.about[1:] + ".",
        epilog=line.notes,
        formatter_class=HelpFormatter,
        add_help=line.has_help,
    )
    line.add_options(added)
    return added
