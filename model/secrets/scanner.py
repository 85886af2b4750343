"""Finds secrets in a text, and masks them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from model.secrets.assignments import find_assigned
from model.secrets.formats import KEY_FORMATS

_UNKNOWN_LABEL: Final = "password or token"


@dataclass(frozen=True, slots=True)
class FoundSecret:
    """A secret, as a part of the text in which it was found."""

    start: int
    end: int
    label: str
    """What it is, such as `GitHub token`."""


def find_secrets(text: str) -> list[FoundSecret]:
    """Return the secrets in a text, in order; none overlaps another. The cost is linear."""
    found = sorted(_find_all(text), key=lambda secret: (secret.start, -secret.end))
    kept: list[FoundSecret] = []
    for secret in found:
        if kept and secret.start < kept[-1].end:
            if secret.end > kept[-1].end:
                last = kept.pop()
                kept.append(FoundSecret(last.start, secret.end, last.label))
            continue
        kept.append(secret)
    return kept


def mask_secrets(text: str) -> str:
    """Return the text with each secret replaced by what it is, such as `[GitHub token]`."""
    parts, end = [], 0
    for secret in find_secrets(text):
        parts += [text[end : secret.start], f"[{secret.label}]"]
        end = secret.end
    return "".join((*parts, text[end:])) if parts else text


def _find_all(text: str) -> Iterator[FoundSecret]:
    for key_format in KEY_FORMATS:
        for start, end in key_format.find(text):
            yield FoundSecret(start, end, key_format.label)
    for start, end in find_assigned(text):
        yield FoundSecret(start, end, _UNKNOWN_LABEL)
