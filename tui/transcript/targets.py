"""Files and web pages that a message mentions and that can be opened from it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from model.domain.messages import Message, ToolUseBlock
from tui.transcript.layout import raw_text
from tui.transcript.parts import Part
from tui.transcript.tools import get_path

MAX_TARGETS: Final = 50
"""Targets that are offered for one part."""
_MAX_SEARCHED: Final = 200_000
"""Characters of a part that are searched."""

# `src/parser.py:41` and `parser.py:41:7`; a slash or a suffix makes it a file's name.
_FILE: Final = re.compile(
    r"(?<![\w/.:@+-])(?P<path>/?(?:[\w.@+-]+/)*[\w.@+-]*(?:\.[A-Za-z]\w{0,9}|(?<=/)[\w.@+-]+))"
    r":(?P<line>\d{1,7})\b"
)
_LINK: Final = re.compile(r"https?://[^\s<>\"'`\\|^{}]+[^\s<>\"'`\\|^{}.,;:!?)\]]")


@dataclass(frozen=True, slots=True)
class Target:
    """A file, optionally at a line or a text in it, or a web page."""

    path: str = ""
    line: int = 0
    """Counted from 1; 0 if unknown."""
    containing: str = ""
    href: str = ""
    in_diff: bool = False
    """Whether the target is the file's diff."""

    @property
    def label(self) -> str:
        """The text that is shown for it."""
        if self.in_diff:
            return f"changes of {self.path}"
        return self.href or (f"{self.path}:{self.line}" if self.line else self.path)


def find_targets(message: Message, part: Part) -> list[Target]:
    """The distinct targets of a part: the file of a tool use, else those mentioned in its text.

    An edit has two targets: the file's diff, and the file itself.
    """
    block = part.block
    if isinstance(block, ToolUseBlock) and (path := get_path(block)):
        new = block.input.get("new_content")
        if isinstance(new, str):
            return [Target(path, in_diff=True), Target(path, containing=new)]
        return [Target(path)]
    text = raw_text(message, part)[:_MAX_SEARCHED]
    return list(dict.fromkeys(_find_all(text)))[:MAX_TARGETS]


def find_target_at(row: str, column: int) -> Target | None:
    """The file with its line that is mentioned at this character of a row."""
    matches = (match for match in _FILE.finditer(row) if match.start() <= column < match.end())
    return next(map(_to_target, matches), None)


def _find_all(text: str) -> Iterator[Target]:
    matches = [(match.start(), Target(href=match[0])) for match in _LINK.finditer(text)]
    links = [range(at, at + len(link.href)) for at, link in matches]
    matches += [
        (match.start(), _to_target(match))
        for match in _FILE.finditer(text)
        if not any(match.start() in link for link in links)
    ]
    return (target for _, target in sorted(matches, key=lambda pair: pair[0]))


def _to_target(matches: "re.Match[str]") -> Target:
    return Target(matches["path"], int(matches["line"]))
