"""Finds passwords and tokens of no known format: random values of names like `db_password`.

Random is what changes between lower case, upper case and digits as words do not, and has many
different characters. Calls, templates, paths, names and placeholders can be recognized by their
form.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from model.base.masking import BEFORE_KEY

_HINTS: Final = ("passw", "passphrase", "pwd", "secret", "token", "key", "credential", "authori")
_ASSIGNMENT: Final = re.compile(
    r"(?:passw(?:or)?d|passphrase|pwd|secret|token|credentials?|authorization"
    r"|(?:api|access|auth|private|signing|encryption|master|account|service|session|admin|client)"
    r"[_.-]?key)"
    r"[A-Za-z0-9_.-]{0,30}(?:[\"'\]]{0,3}[ \t]{0,8}(?::=|=>|=|:)|[\"'][ \t]{1,3}value=)[ \t]{0,8}"
    r"(?:[rbuf]{0,2}(?P<quote>[\"'`])(?:(?:bearer|basic|token)[ \t])?"
    r"(?P<quoted>[^\s\"'`]{8,300})(?P=quote)"
    r"|(?:(?:bearer|basic|token)[ \t]{1,3})?(?P<bare>[^\s\"'`(){}<>,;]{10,300})(?=[\s,;]|$))",
    re.IGNORECASE,
)
"""A name, how it is assigned, and the value: in quotes, or as in `.env` files and YAML."""
_IN_URL: Final = re.compile(
    r"[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'`<>(){}]{0,100}:(?P<bare>[^\s/@\"'`<>(){}]{6,200})@",
    re.IGNORECASE,
)
"""A password in an address, such as that of a database."""
_BEARER: Final = re.compile(
    rf"{BEFORE_KEY}(?:bearer|basic)[ \t]{{1,3}}(?P<bare>[A-Za-z0-9._~+/-]{{20,2000}}={{0,2}})",
    re.IGNORECASE,
)
"""A token as it is sent, in whatever text."""
_LABEL: Final = re.compile(
    r"(?:passw(?:or)?d|passphrase|pwd|secret|token|credentials?|authorization"
    r"|(?:api|access|auth|private|signing|encryption|master|account|service|session|admin|client)"
    r"[_.-]?key)"
    r"[A-Za-z0-9_.-]{0,30}[\"'\]]{0,3}[ \t]{0,8}(?::=|=>|=|:)"
    r"[ \t]{0,8}(?:[rbuf]{0,2}[\"'`]{1,3}|[|>][+-]?|\\|\()?[ \t\r]{0,8}$",
    re.IGNORECASE,
)
"""A name that is assigned at the end of a line: its value is on a line below."""
_VALUE: Final = re.compile(
    r"[ \t]{0,80}[\"'`]{0,3}(?P<bare>[^\s\"'`(){}<>,;]{10,300})[\"'`,;)\s]{0,8}"
)
"""A line with nothing but a value."""
_MAX_LABEL: Final = 200
"""Characters at the end of a line that are searched for a name."""
_MAX_EMPTY_LINES: Final = 3
"""Between a name and its value."""
_LABEL_ENDS: Final = tuple(":=>\"'`|+-\\(")
"""Characters with which a line ends that a value can follow."""
_PLACEHOLDER: Final = re.compile(
    r"example|placeholder|change.?me|replace|your[_-]|dummy|sample|redacted|password|passwd|token"
    r"|secret|x{4,}|\*{3,}|\.{3,}|…",
    re.IGNORECASE,
)
_MIN_BESIDE_PLACEHOLDER: Final = 20
"""Characters that remain without the placeholder; a random value may contain such a word, too."""
_NOT_A_VALUE: Final = re.compile(
    r"[$%&]?[\[({<$%]|.{0,300}(?:\$[{(]|%[({]|\{\{|[\[({<][^\])}>]{0,300}[\])}>])|[.~\\#]|https?:"
    r"|(?:sha\d{1,3}|md5)[:-]|[0-9.,:/+-]+$"
)
"""A variable, call, template, path, address, hash or number."""
_WORD: Final = re.compile(r"[A-Za-z0-9]+")
_HEXADECIMAL: Final = re.compile(r"[0-9A-Fa-f-]{1,300}")
_MIN_ENTROPY: Final = 0.75
"""Bits per character, as a part of what a text of this length can have at most."""
_MIN_CHANGES: Final = 0.3
_MIN_CHANGES_OF_LETTERS: Final = 0.36
"""Changes between kinds of characters, per character; `getAccessToken` has 0.29."""


def find_assigned(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each value that looks like a secret."""
    start, empty_lines = 0, 0
    for line in text.split("\n"):
        if empty_lines and not line.strip():
            empty_lines -= 1
        elif empty_lines:
            empty_lines, alone = 0, _VALUE.fullmatch(line)
            if alone and _is_secret(alone["bare"]):
                yield start + alone.start("bare"), start + alone.end("bare")
        for match in _find_in_line(line):
            first, last = match.span("quoted" if match["bare"] is None else "bare")
            value = line[first:last]
            if _is_secret(value) or (match.re is _BEARER and _is_token(value)):
                yield start + first, start + last
        if _ends_with_label(line):
            empty_lines = _MAX_EMPTY_LINES
        start += len(line) + 1


def find_open_label(text: str, end: int) -> int:
    """Where the last line before `end` begins whose value is on a line below; -1 if there is none.

    `end` is where a line begins.
    """
    for _ in range(_MAX_EMPTY_LINES):
        if end == 0:
            break
        start = text.rfind("\n", 0, end - 1) + 1
        line = text[max(start, end - _MAX_LABEL) : end - 1]
        if line.strip():
            return start if _ends_with_label(line) else -1
        end = start
    return -1


def _ends_with_label(line: str) -> bool:
    return line.rstrip()[-1:] in _LABEL_ENDS and _LABEL.search(line[-_MAX_LABEL:]) is not None


def _find_in_line(line: str) -> Iterator[re.Match[str]]:
    # Most lines are skipped by this, which takes a tenth of the time.
    lowered = line.lower()
    if any(hint in lowered for hint in _HINTS):
        yield from _ASSIGNMENT.finditer(line)
    if "bearer" in lowered or "basic" in lowered:
        yield from _BEARER.finditer(line)
    if "://" in line:
        yield from _IN_URL.finditer(line)


def _is_secret(value: str) -> bool:
    if _NOT_A_VALUE.match(value):
        return False
    rest = _PLACEHOLDER.sub("", value)
    if rest != value and len(rest) < _MIN_BESIDE_PLACEHOLDER:
        return False
    # As a whole only with digits: names joined by dots change between kinds, too.
    words = _WORD.findall(rest)
    return any(map(is_random, words)) or (any(map(str.isdigit, rest)) and is_random(rest))


def _is_token(value: str) -> bool:
    """Whether a word that is sent as a token can be one, random or not."""
    kinds = set(map(_kind, value))
    is_mixed = "digit" in kinds and bool(kinds & {"upper", "lower"})
    return is_mixed and not _NOT_A_VALUE.match(value) and not _PLACEHOLDER.search(value)


def is_random(text: str) -> bool:
    """Whether a text of at least eight characters looks as if it was drawn."""
    kinds = [_kind(character) for character in text]
    alphabet = 16 if _HEXADECIMAL.fullmatch(text) else 32
    if len(text) < 8 or _entropy(text) < _MIN_ENTROPY * math.log2(min(len(text), alphabet)):
        return False
    changes = sum(a != b for a, b in pairwise(kinds)) / len(text)
    return changes >= (_MIN_CHANGES if "digit" in kinds else _MIN_CHANGES_OF_LETTERS)


def _kind(character: str) -> str:
    if character.isdigit():
        return "digit"
    return "upper" if character.isupper() else "lower" if character.islower() else "other"


def _entropy(text: str) -> float:
    """Bits per character, by the frequencies of the characters (Shannon)."""
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values())
