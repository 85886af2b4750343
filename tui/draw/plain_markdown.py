"""Removes the markup of a Markdown line, for excerpts that are not rendered."""

import re
from typing import Final

_MAX_LENGTH: Final = 2_000
"""Characters of a line that are processed; an excerpt shows fewer."""
_MARKUP: Final = (
    (re.compile(r"^\s*(?:```|~~~)[\w+-]*\s*$"), ""),
    (re.compile(r"^\s{0,3}#{1,6}\s+"), ""),
    (re.compile(r"\[([^\[\]]{1,200})\]\([^()\s]{1,400}\)"), r"\1"),
    (re.compile(r"\*\*(?=\S)([^*]{1,400})(?<=\S)\*\*"), r"\1"),
    (re.compile(r"(?<![\w*])\*(?=\S)([^*]{1,400})(?<=\S)\*(?![\w*])"), r"\1"),
    (re.compile(r"`([^`]{1,400})`"), r"\1"),
)


def strip_markdown(line: str) -> str:
    """The text of the line without its markup."""
    line = line[:_MAX_LENGTH]
    for pattern, replacement in _MARKUP:
        line = pattern.sub(replacement, line)
    return line
