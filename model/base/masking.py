"""Masks secrets in text that is written to logs and other files people read."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote

MASK: Final = "\u2026"
"""Replaces a secret."""
MIN_SECRET_LENGTH: Final = 8
"""Least characters of a known value; shorter ones would match within ordinary words."""

ESCAPE_BEFORE: Final = (
    r"(?:(?<=\\[abefnrtv0])|(?<=\\[0-3][0-7]{2})|(?<=\\x[0-9A-Fa-f]{2})"
    r"|(?<=[\\%]u[0-9A-Fa-f]{4})|(?<=\\U[0-9A-Fa-f]{8})"
    r"|(?<=[%=][0-9A-Fa-f]{2})|(?<=%25[0-9A-Fa-f]{2})"
    r"|(?<=[\[;:][mK])|(?<=[\[;:]\d[mK])|(?<=[\[;:]\d{2}[mK])|(?<=[\[;:]\d{3}[mK]))"
)
"""Behind an escape, the last letter or digit of which is no part of the word that follows it: one
of source text or JSON, of an address or a mail, or a terminal's for colors or clearing a line.

The latter is known without its first character, which is written in many ways, or is lost.
Everything is of fixed width, as `re` demands of what it looks behind for.
"""
BEFORE_KEY: Final = rf"(?:(?<![A-Za-z0-9])|{ESCAPE_BEFORE})"
"""Where a key may begin. `_` joins words, as it may join a key to a name, or be of Markdown."""

_SECRETS: Final = re.compile(
    r"(?P<label>(?:token|secret\w{0,12}|passw(?:or)?d|passphrase|(?:api|access|private)[_-]?key"
    r"|(?<=[\"'])key(?=\\{0,3}[\"'])|authorization|cookie)"
    r"\\{0,3}[\"']?\s{0,3}[=:]\s{0,3}\\{0,3}[\"']?(?:(?:bearer|basic)\s{1,3})?"
    r"|(?:bearer|basic)\s{1,3}|://)"
    r"(?:(?<=://)[^/@\s]{1,300}@|(?<!://)[^\s\"'&,;)\]}]{4,})"
    # The letters with which a key begins are checked first: that saves two fifths of the time.
    rf"|(?=[srpgxae]){BEFORE_KEY}(?:(?:sk|rk|pk)-[\w-]{{16,}}|gh[pousr]_\w{{20,}}"
    r"|github_pat_\w{20,}|xox[a-z]-[\w-]{10,}|AKIA[0-9A-Z]{16}|eyJ[\w.-]{20,})",
    re.IGNORECASE,
)
_SECRET_NAME: Final = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|AUTH(?!OR(?!IZ)|_SOCK)|CREDENTIAL|COOKIE", re.IGNORECASE
)
_MAX_DEPTH: Final = 20


class SecretMasker:
    """Masks text that looks like a secret, and values that are known secrets."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        forms = {form for value in known for form in _encodings(value)}
        # Longest first: one value may be a prefix of another.
        ordered = sorted(forms, key=lambda form: (-len(form), form))
        self._known = re.compile("|".join(map(re.escape, ordered))) if ordered else None
        self.longest = max(map(len, forms), default=0)
        """Characters of the longest known value: text cut within one would show its beginning."""

    def __call__(self, text: str) -> str:
        """Return the text with secrets masked."""
        if self._known is not None:
            text = self._known.sub(MASK, text)
        return _SECRETS.sub(lambda match: (match["label"] or "") + MASK, text)


def find_named_secrets(values: Mapping[str, Any]) -> set[str]:
    """Collect the strings, at any depth, whose names look like those of secrets."""
    return set(_find_named(values, is_secret=False, depth=0))


def _find_named(value: Any, *, is_secret: bool, depth: int) -> Iterable[str]:
    if isinstance(value, str):
        if is_secret and len(value) >= MIN_SECRET_LENGTH:
            yield value
    elif depth < _MAX_DEPTH and isinstance(value, Mapping):
        for name, each in value.items():
            secret = is_secret or _SECRET_NAME.search(str(name)) is not None
            yield from _find_named(each, is_secret=secret, depth=depth + 1)
    elif depth < _MAX_DEPTH and isinstance(value, list | tuple):
        for each in value:
            yield from _find_named(each, is_secret=is_secret, depth=depth + 1)


def _encodings(value: str) -> Iterable[str]:
    """How a value may be written: as it is, in JSON, in JSON within JSON, in URLs."""
    yield value
    yield quote(value, safe="")
    for is_ascii in (True, False):
        once = json.dumps(value, ensure_ascii=is_ascii)[1:-1]
        yield from (once, json.dumps(once, ensure_ascii=is_ascii)[1:-1])
