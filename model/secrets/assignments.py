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
    start = 0
    for line in text.split("\n"):
        # Most lines are skipped by this, which takes a tenth of the time.
        lowered = line.lower()
        if any(hint in lowered for hint in _HINTS):
            for match in _ASSIGNMENT.finditer(line):
                first, last = match.span("bare" if match["quoted"] is None else "quoted")
                if _is_secret(line[first:last]):
                    yield start + first, start + last
        if "://" in line:
            for match in _IN_URL.finditer(line):
                if _is_secret(match["bare"]):
                    yield start + match.start("bare"), start + match.end("bare")
        start += len(line) + 1


def _is_secret(value: str) -> bool:
    if _NOT_A_VALUE.match(value):
        return False
    rest = _PLACEHOLDER.sub("", value)
    if rest != value and len(rest) < _MIN_BESIDE_PLACEHOLDER:
        return False
    # As a whole only with digits: names joined by dots change between kinds, too.
    words = _WORD.findall(rest)
    return any(map(_is_random, words)) or (any(map(str.isdigit, rest)) and _is_random(rest))


def _is_random(text: str) -> bool:
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
