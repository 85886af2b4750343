"""How the demo agent reads a message: its directives, and the steps of a plan.

Standard library only; a part of the demo agent's program.
"""

import re
from collections.abc import Container

_MARK = re.compile(r"\s*/demo\b\s*(.*)")
_ITEM = re.compile(r"^[ \t]*(?:\d+[.)]|[-*])[ \t]+(.+)$", re.MULTILINE)


def first_word(text: str) -> tuple[str, str]:
    """The first word and the rest."""
    first, _, rest = text.strip().partition(" ")
    return first, rest.strip()


def directives(text: str, known: Container[str]) -> list[tuple[str, str]]:
    """The directives of a message with their arguments; none when it does not begin with one.

    A line begins a directive by `/demo` or a `known` name; any other belongs to the one before.
    """
    found: list[tuple[str, str]] = []
    for line in text.strip().splitlines():
        marked = _MARK.match(line)
        name, argument = first_word(marked[1] if marked else line)
        if marked or (found and name in known):
            found.append((name, argument))
        elif found:
            last, before = found[-1]
            found[-1] = (last, f"{before}\n{line}")
        else:
            return []
    return found


def list_items(text: str) -> list[str]:
    """The items of the Markdown lists in a text."""
    return [item.strip() for item in _ITEM.findall(text)]


def steps(argument: str) -> list[str]:
    """The steps of a plan, between semicolons or on lines of their own."""
    parts = re.split(r";|\n", argument)
    return [step for part in parts if (step := part.strip().removeprefix("- ").strip())]
