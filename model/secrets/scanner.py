"""Finds secrets in a text, and masks them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from model.secrets.assignments import find_assigned
from model.secrets.formats import KEY_FORMATS
from model.secrets.key_pieces import find_decorated_keys, find_key_ends, find_key_lines

_UNKNOWN_LABEL: Final = "password or token"
PRIVATE_KEY: Final = "private key"
_LINE_LABEL: Final = "part of a key"


@dataclass(frozen=True, slots=True)
class FoundSecret:
    """A secret, as a part of the text in which it was found."""

    start: int
    end: int
    label: str
    """What it is, such as `GitHub token`."""


def find_secrets(text: str) -> list[FoundSecret]:
    """Return the secrets in a text, in order; none overlaps another. The cost is linear."""
    return _join(_find_all(text))


def mask_secrets(text: str) -> str:
    """Return the text with each secret replaced by what it is, such as `[GitHub token]`."""
    return _mask(text, find_secrets(text))


def mask_for_guests(text: str) -> str:
    """As `mask_secrets`; lines that may be of a key are masked, too, as the text may be a part."""
    return _mask(text, find_for_guests(text))


def find_for_guests(text: str) -> list[FoundSecret]:
    """Return what `mask_for_guests` masks, as `find_secrets` does."""
    lines = (FoundSecret(start, end, _LINE_LABEL) for start, end in find_key_lines(text))
    keys = (FoundSecret(start, end, PRIVATE_KEY) for start, end in find_decorated_keys(text))
    return _join([*_find_all(text), *lines, *keys])


def _join(all_found: Iterable[FoundSecret]) -> list[FoundSecret]:
    found = sorted(all_found, key=lambda secret: (secret.start, -secret.end))
    kept: list[FoundSecret] = []
    for secret in found:
        if kept and secret.start < kept[-1].end:
            if secret.end > kept[-1].end:
                last = kept.pop()
                kept.append(FoundSecret(last.start, secret.end, last.label))
            continue
        kept.append(secret)
    return kept


def _mask(text: str, secrets: Iterable[FoundSecret]) -> str:
    parts, end = [], 0
    for secret in secrets:
        parts += [text[end : secret.start], f"[{secret.label}]"]
        end = secret.end
    return "".join((*parts, text[end:])) if parts else text


def _find_all(text: str) -> Iterator[FoundSecret]:
    for key_format in KEY_FORMATS:
        for start, end in key_format.find(text):
            yield FoundSecret(start, end, key_format.label)
    for start, end in find_key_ends(text):
        yield FoundSecret(start, end, PRIVATE_KEY)
    for start, end in find_assigned(text):
        yield FoundSecret(start, end, _UNKNOWN_LABEL)
