"""A line of Markdown as one reads it, without its signs: for excerpts that are not laid out."""

import re
from typing import Final

_LONGEST: Final = 2_000
"""Characters of a line that are looked at; an excerpt shows fewer."""
_SIGNS: Final = (
    (re.compile(r"^\s*(?:```|~~~)[\w+-]*\s*$"), ""),
    (re.compile(r"^\s{0,3}#{1,6}\s+"), ""),
    (re.compile(r"\[([^\[\]]{1,200})\]\([^()\s]{1,400}\)"), r"\1"),
    (re.compile(r"\*\*(?=\S)([^*]{1,400})(?<=\S)\*\*"), r"\1"),
    (re.compile(r"(?<![\w*])\*(?=\S)([^*]{1,400})(?<=\S)\*(?![\w*])"), r"\1"),
    (re.compile(r"`([^`]{1,400})`"), r"\1"),
)


def words_of(line: str) -> str:
    """The words of the line."""
    line = line[:_LONGEST]
    for sign, words in _SIGNS:
        line = sign.sub(words, line)
    return line
