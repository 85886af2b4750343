"""Parses messages to the demo agent: their directives, and the steps of a plan.

Standard library only; part of the demo agent's program.
"""

import re
from collections.abc import Container

_MARK = re.compile(r"\s*/demo\b\s*(.*)")
_ITEM = re.compile(r"^[ \t]*(?:\d+[.)]|[-*])[ \t]+(.+)$", re.MULTILINE)


def split_first_word(text: str) -> tuple[str, str]:
    """Split into the first word and the rest."""
    first, _, rest = text.strip().partition(" ")
    return first, rest.strip()


def parse_directives(text: str, known: Container[str]) -> list[tuple[str, str]]:
    """Parse the directives of a message and their arguments; none if it does not begin with one.

    A directive begins with `/demo` or a `known` name; other lines continue the previous one.
    """
    found: list[tuple[str, str]] = []
    for line in text.strip().splitlines():
        marked = _MARK.match(line)
        name, argument = split_first_word(marked[1] if marked else line)
        if marked or (found and name in known):
            found.append((name, argument))
        elif found:
            last, before = found[-1]
            found[-1] = (last, f"{before}\n{line}")
        else:
            return []
    return found


def list_items(text: str) -> list[str]:
    """Find the items of the Markdown lists in a text."""
    return [item.strip() for item in _ITEM.findall(text)]


def split_steps(argument: str) -> list[str]:
    """Split a plan into its steps, at semicolons and line breaks."""
    parts = re.split(r";|\n", argument)
    return [step for part in parts if (step := part.strip().removeprefix("- ").strip())]
