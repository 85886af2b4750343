"""Files and pages that a message speaks of, and that can be opened from it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from model.domain.resources import Message, ToolUseBlock
from tui.transcript.layout import raw_text
from tui.transcript.parts import Part
from tui.transcript.tools import path_of

MOST: Final = 50
"""Targets that are offered of one part."""
_SEARCHED: Final = 200_000
"""Characters of a part that are looked through."""

# `src/parser.py:41` and `parser.py:41:7`; a slash or a suffix makes it a file's name.
_FILE: Final = re.compile(
    r"(?<![\w/.:@+-])(?P<path>/?(?:[\w.@+-]+/)*[\w.@+-]*(?:\.[A-Za-z]\w{0,9}|(?<=/)[\w.@+-]+))"
    r":(?P<line>\d{1,7})\b"
)
_LINK: Final = re.compile(r"https?://[^\s<>\"'`\\|^{}]+[^\s<>\"'`\\|^{}.,;:!?)\]]")


@dataclass(frozen=True, slots=True)
class Target:
    """A file, at a line or where it has a text, or a page."""

    path: str = ""
    line: int = 0
    """Counted from 1; 0 where none is known."""
    having: str = ""
    href: str = ""
    in_diff: bool = False
    """Whether what is meant is how the file differs."""

    @property
    def label(self) -> str:
        """What people call it."""
        if self.in_diff:
            return f"changes of {self.path}"
        return self.href or (f"{self.path}:{self.line}" if self.line else self.path)


def targets_of(message: Message, part: Part) -> list[Target]:
    """What a part speaks of: the file of a tool, or else what its text names, each once.

    Of an edit that is how the file differs, and the file itself.
    """
    block = part.block
    if isinstance(block, ToolUseBlock) and (path := path_of(block)):
        new = block.input.get("new_content")
        if isinstance(new, str):
            return [Target(path, in_diff=True), Target(path, having=new)]
        return [Target(path)]
    text = raw_text(message, part)[:_SEARCHED]
    return list(dict.fromkeys(_all_in(text)))[:MOST]


def target_at(row: str, column: int) -> Target | None:
    """What stands at this character of a row: a file with its line."""
    found = (each for each in _FILE.finditer(row) if each.start() <= column < each.end())
    return next(map(_file, found), None)


def _all_in(text: str) -> Iterator[Target]:
    found = [(each.start(), Target(href=each[0])) for each in _LINK.finditer(text)]
    links = [range(at, at + len(link.href)) for at, link in found]
    found += [
        (each.start(), _file(each))
        for each in _FILE.finditer(text)
        if not any(each.start() in link for link in links)
    ]
    return (target for _, target in sorted(found, key=lambda pair: pair[0]))


def _file(found: "re.Match[str]") -> Target:
    return Target(found["path"], int(found["line"]))
