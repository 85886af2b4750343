"""Masks secrets in text that is written to logs and other files people read."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote

MARK: Final = "\u2026"
"""Replaces a secret."""
SHORTEST: Final = 8
"""Least characters of a known value; shorter ones would match within ordinary words."""

_SECRETS: Final = re.compile(
    r"(?P<label>(?:token|secret\w{0,12}|passw(?:or)?d|passphrase|(?:api|access|private)[_-]?key"
    r"|(?<=[\"'])key(?=\\{0,3}[\"'])|authorization|cookie)"
    r"\\{0,3}[\"']?\s{0,3}[=:]\s{0,3}\\{0,3}[\"']?(?:(?:bearer|basic)\s{1,3})?"
    r"|(?:bearer|basic)\s{1,3}|://)"
    r"(?:(?<=://)[^/@\s]{1,300}@|(?<!://)[^\s\"'&,;)\]}]{4,})"
    r"|\b(?:sk|rk|pk)-[\w-]{16,}|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bxox[a-z]-[\w-]{10,}"
    r"|\bAKIA[0-9A-Z]{16}|\beyJ[\w-]{20,}",
    re.IGNORECASE,
)
_SECRET_NAME: Final = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|AUTH(?!OR(?!IZ)|_SOCK)|CREDENTIAL|COOKIE", re.IGNORECASE
)
_MAX_DEPTH: Final = 20


class Masking:
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
            text = self._known.sub(MARK, text)
        return _SECRETS.sub(lambda match: (match["label"] or "") + MARK, text)


def named_secrets(values: Mapping[str, Any]) -> set[str]:
    """Collect the strings, at any depth, whose names look like those of secrets."""
    return set(_find_named(values, is_secret=False, depth=0))


def _find_named(value: Any, *, is_secret: bool, depth: int) -> Iterable[str]:
    if isinstance(value, str):
        if is_secret and len(value) >= SHORTEST:
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
