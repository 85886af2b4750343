"""Finds pieces of private keys: texts are shown from a line on, or up to one, and a key is longer.

The end of a key is known by its last line, whatever is missing before it. A line from its middle
looks like one of a certificate or of a picture, too, so those are masked only for guests.
"""

import re
from collections.abc import Iterator
from typing import Final

from model.secrets.assignments import is_random

_END: Final = re.compile(r"-----END [A-Z0-9 ]{0,25}PRIVATE KEY(?: BLOCK)?-----")
_BEGIN: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{0,25}PRIVATE KEY(?: BLOCK)?-----")
_RUN: Final = re.compile(r"[A-Za-z0-9+/]{16}")
_RUN_WITHIN: Final = 400
"""Characters behind the first line of a key within which some of it must be."""
_MAX_KEY: Final = 40_000
_PREFIX: Final = r"[\s\d:|>+*.,'\"(\[-]{0,40}"
"""Before a line of a key: a diff, line numbers, quotes or indentation."""
_SUFFIX: Final = r"[\s'\",;)\]\\+]{0,8}"
_LINE: Final = re.compile(rf"{_PREFIX}(?P<key>(?:=?[A-Za-z0-9+/]{{1,100}}={{0,2}})?){_SUFFIX}")
_LINE_ENDS: Final = re.compile(r"\n|\\{1,8}n")
"""Also those within a string, as in JSON."""
_MIN_LINE: Final = 48
"""Characters of the lines of a key, besides the last; they have 64 or 70."""
_MAX_SHORT_LINES: Final = 2
"""At its end: the last line, and the checksum of PGP."""
_MAX_LINES: Final = 400
_MAX_LENGTH: Final = 200
"""Of a line, with what stands before and behind the key."""


def find_key_ends(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each private key that has an end, from the first of its lines."""
    if "PRIVATE KEY" not in text:
        return
    for match in _END.finditer(text):
        start = _find_first_line(text, match.start())
        if start < match.start():
            yield start, match.end()


def find_decorated_keys(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each private key, whatever its lines have around them, such as the
    name of their file or marks of Markdown; one without an end goes on to the end of the text.
    """
    position = 0
    while begin := _BEGIN.search(text, position):
        position = begin.end()
        if _RUN.search(text, position, position + _RUN_WITHIN):
            limit = min(len(text), position + _MAX_KEY)
            end = _END.search(text, position, limit)
            position = end.end() if end else limit
            yield begin.start(), position


def find_key_lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each line that may be one of a key, and of a short one behind it."""
    start, is_inside = 0, False
    for line_end in (*_LINE_ENDS.finditer(text), None):
        end = line_end.start() if line_end else len(text)
        line = _LINE.fullmatch(text, start, end) if end - start <= _MAX_LENGTH else None
        key = line["key"] if line else ""
        is_long = len(key) >= _MIN_LINE and _is_mixed(key)
        if line and key and (is_long or is_inside):
            yield line.span("key")
        is_inside = is_long or (is_inside and line is not None and not key)
        start = line_end.end() if line_end else end


def _find_first_line(text: str, end: int) -> int:
    """Where the lines of a key begin that ends here."""
    first, short = end, 0
    for _ in range(_MAX_LINES):
        window = max(0, end - _MAX_LENGTH)
        ends = [*_LINE_ENDS.finditer(text, window, end)]
        if not ends or (len(ends) == 1 and window > 0):
            break
        start = ends[-2].end() if len(ends) > 1 else 0
        line = _LINE.fullmatch(text, start, ends[-1].start())
        short += line is None or 0 < len(line["key"]) < _MIN_LINE
        if line is None or short > _MAX_SHORT_LINES:
            break
        first, end = line.start("key") if line["key"] else first, start
    return first


def _is_mixed(text: str) -> bool:
    return text != text.upper() and text != text.lower() and is_random(text)
