"""The parser of one command, and the types of values on a command line.

Imports the standard library only, so that `spinney --help` responds immediately.
"""

import argparse
import os
import re
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, TypeVar

from model import __version__
from model.base.errors import UsageError
from model.base.standard_streams import write_output
from model.base.suggestions import did_you_mean

A = TypeVar("A", bound=argparse.Action)

_HIGHEST_PORT = 65535
_KINDS = {"SESSION": "sessions", "WORKTREE": "worktrees", "PROJECT": "projects"}
"""Kinds of names, by how help calls such an argument."""


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Knows the width of the terminal without `shutil`, which is slow to import."""

    def __init__(self, prog: str) -> None:
        try:
            columns = int(os.environ.get("COLUMNS") or os.get_terminal_size(1).columns)
        except (ValueError, OSError):
            columns = 0
        super().__init__(prog, width=(columns or 80) - 2)


class Version(argparse.Action):
    """Prints the version and ends."""

    def __call__(self, *_: object) -> NoReturn:
        """Print it."""
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
        self.names: dict[str, list[str]] = {}
        """The kinds of names that can be typed for an option, and (`''`) in its other arguments."""
        self.commands: dict[str, Parser] = {}
        self._words: list[argparse.Action] = []
        """The arguments that are no options, in their order."""
        super().__init__(*given, **named)

    def _add_action(self, action: A) -> A:
        """Add an argument, of a group too, and note what can be typed for it."""
        super()._add_action(action)
        self.options += action.option_strings
        self._words += [] if action.option_strings else [action]
        self.choices += map(str, action.choices or ())
        named = str(action.metavar).split(" | ")
        if kinds := [_KINDS[word] for word in named if word in _KINDS]:
            long = [option for option in action.option_strings if option.startswith("--")]
            self.names[long[0] if long else ""] = kinds
        return action

    def read(self, words: list[str]) -> argparse.Namespace:
        """Parse what follows this command: its options wherever they stand, and the other words in
        their order; behind `--` nothing is an option. Raises `UsageError`.

        `argparse` gives all its arguments to the first words that stand together, so that it
        refuses those behind an option.
        """
        end = words.index("--") if "--" in words else len(words)
        self.usage = self.format_usage().removeprefix("usage: ")
        self._actions = [action for action in self._actions if action.option_strings]
        options, rest = self.parse_known_args(words[:end])
        if unknown := [word for word in rest if self._parse_optional(word)]:
            self._reject_option(unknown[0].partition("=")[0])
        rest += words[end + 1 :]
        for action in self._words:
            setattr(options, action.dest, self._take(action, rest))
        if rest:
            raise UsageError(f"Unexpected argument: {' '.join(rest)}.", self.format_usage())
        options.parser = self
        return options

    def _take(self, action: argparse.Action, words: list[str]) -> Any:
        """Return the value of an argument, and remove what it takes from the words."""
        taken = words[:] if action.nargs == "*" else words[:1]
        del words[: len(taken)]
        name = action.metavar or action.dest
        if not taken and action.nargs is None:
            self.error(f"the following argument is required: {name}")
        for word in taken:
            if action.choices is not None and word not in action.choices:
                known = ", ".join(action.choices)
                self.error(f"argument {name}: invalid choice: '{word}' (choose from {known})")
        if action.nargs == "*":
            return taken
        return taken[0] if taken else action.default

    def _parse_optional(self, arg_string: str) -> Any:
        """Return the option that a word of the command line is; `None` if it is none.

        A text with spaces is none, though it may begin with one: `-h is the help`.
        """
        if any(map(str.isspace, arg_string.partition("=")[0])):
            return None
        return super()._parse_optional(arg_string)

    def print_help(self, file: object = None) -> None:
        """Print the help; a closed pipe is not an error."""
        write_output(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Raise `UsageError` with the usage of this command."""
        sentence = message[:1].upper() + message[1:]
        raise UsageError(sentence.rstrip(".") + ".", self.format_usage())

    def _reject_option(self, option: str) -> NoReturn:
        """Raise `UsageError` for an option that this command does not have."""
        meant = did_you_mean(option, self.options)
        if self._words and not meant:
            meant = " Words that begin with - and are no options go behind --."
        raise UsageError(f"Unknown option {option}.{meant}", self.format_usage())


class CommandLine(NamedTuple):
    """A command of the command line."""

    name: str
    about: str
    """What it does, as a part of a sentence."""
    add_options: Callable[[Parser], None] = lambda _: None
    notes: str = ""
    """Notes and examples below its options."""
    has_help: bool = True
    """Whether argparse adds `--help`."""


def port(text: str) -> int:
    """A port: 0 to 65535."""
    if not re.fullmatch(r"[0-9]{1,5}", text) or int(text) > _HIGHEST_PORT:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a port: it must be a whole number from 0 to {_HIGHEST_PORT}"
        )
    return int(text)


def token(text: str) -> str:
    """A token for the server: at least 16 characters."""
    if not re.fullmatch(r"[A-Za-z0-9._~-]{16,}", text):
        raise argparse.ArgumentTypeError("must be at least 16 letters, digits and - _ . ~")
    return text


def number(text: str) -> int:
    """The number of an event."""
    if not re.fullmatch(r"[0-9]{1,16}", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not the number of an event")
    return int(text)


def days(text: str) -> int:
    """A number of days."""
    if not re.fullmatch(r"[0-9]{1,5}", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of days")
    return int(text)


def seconds(text: str) -> float:
    """A duration: `90`, `90s`, `15m` or `2h`."""
    found = re.fullmatch(r"([0-9]{1,7})([smh]?)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"'{text}' is not a duration such as 90s, 15m or 2h")
    return int(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


def count(text: str) -> int:
    """A number of messages, sessions or lines: 1 to 1,000,000."""
    if not re.fullmatch(r"[0-9]{1,6}", text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1 on")
    return int(text)
