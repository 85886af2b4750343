"""The tokens that are given away: random, distinguished by prefix, and stored as hashes only."""

import hashlib
import secrets
from typing import Final

LINK: Final = "sgl_"
"""Begins the token in a guest link, with which a device is registered."""
DEVICE: Final = "sgd_"
"""Begins the token of a guest's device, with which its requests authenticate."""
ACTION: Final = "sga_"
"""Begins a token that acts once."""

_BYTES: Final = 32
_MAX_LENGTH: Final = 100


def make_token(prefix: str) -> str:
    """Make a token that cannot be guessed: 256 random bits."""
    return prefix + secrets.token_urlsafe(_BYTES)


def hash_token(token: str) -> str:
    """The hash under which a token is stored; a slow one is not needed for random tokens."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def is_token(token: str, prefix: str) -> bool:
    """Whether a text has the form of a token of this kind."""
    return token.startswith(prefix) and len(token) <= _MAX_LENGTH
