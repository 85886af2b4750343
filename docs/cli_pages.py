"""The commands of the command line as Markdown and as a manual page, from the parser."""

import argparse
from collections.abc import Iterator

from model import __version__
from model.cli.command_lines.all import EXAMPLES
from model.cli.command_parser import Parser
from model.cli.parser import build_parser


def reference() -> Iterator[str]:
    """Yield the lines of the section about each command."""
    for name, parser in build_parser().commands.items():
        yield from ["", f"### spinney {name}", "", f"{_sentence(parser.about)}"]
        yield from ["", "```text", _usage(name, parser), "```"]
        rows = list(_options(parser))
        if rows:
            yield from ["", "| argument | |", "| --- | --- |"]
            yield from (f"| {_code(words)} | {_cell(text)} |" for words, text in rows)
        if notes := (parser.epilog or "").strip():
            yield from ["", "```text", notes, "```"]


def manual() -> str:
    """Return `spinney(1)` for `man`."""
    lines = [
        r".\" Made from the code by `make docs`.",
        f'.TH SPINNEY 1 "" "Spinney {__version__}" "User Commands"',
        ".SH NAME",
        r"spinney \- run AI coding agents on many branches at once, from one terminal",
        ".SH SYNOPSIS",
        r".B spinney\fR [\fIPATH\fR]",
        ".br",
        r".B spinney\fR \fICOMMAND\fR …",
        ".SH COMMANDS",
    ]
    for name, parser in build_parser().commands.items():
        lines += [f".SS {_roff(_usage(name, parser))}", _roff(_sentence(parser.about))]
        for words, text in _options(parser):
            lines += [".TP", rf"\fB{_roff(words)}\fR", _roff(text)]
        if notes := (parser.epilog or "").strip():
            lines += [".PP", ".nf", *map(_roff, notes.splitlines()), ".fi"]
    for title, text in _sections():
        lines += [f".SH {title}", ".nf", *map(_roff, text.splitlines()), ".fi"]
    return "\n".join(lines) + "\n"


def _sections() -> Iterator[tuple[str, str]]:
    """Yield the sections of the main help about exit codes and variables."""
    for title, heading in (("EXIT STATUS", "exit codes:\n"), ("ENVIRONMENT", "environment:\n")):
        yield title, EXAMPLES.partition(heading)[2].partition("\n\n")[0]


def _usage(name: str, parser: Parser) -> str:
    """Return how the command is called; argparse writes that differently in each Python."""
    words = ["spinney", name]
    shown = [action for action in parser._actions if action.help != argparse.SUPPRESS]
    if any(action.option_strings for action in shown):
        words.append("[OPTIONS]")
    for action in shown:
        if not action.option_strings:
            value = _value(action)
            words.append({"?": f"[{value}]", "*": f"[{value} …]"}.get(str(action.nargs), value))
    return " ".join(words)


def _options(parser: Parser) -> Iterator[tuple[str, str]]:
    """Yield each argument as it is typed, with its help."""
    for action in parser._actions:
        if action.help in (None, argparse.SUPPRESS) or isinstance(action, argparse._HelpAction):
            continue
        given = _value(action) if action.nargs != 0 else ""
        words = ", ".join(action.option_strings)
        yield " ".join(part for part in (words, given) if part), str(action.help)


def _value(action: argparse.Action) -> str:
    return str(action.metavar or " | ".join(map(str, action.choices or ())))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _roff(text: str) -> str:
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped[:1] in (".", "'") else escaped
