"""How much memory texts take: a character has one to four bytes, by the widest one beside it."""

import sys
from typing import Any, Final

from pydantic import BaseModel

_EMPTY: Final = sys.getsizeof("")


def text_bytes(value: Any) -> int:
    """Bytes of the texts in a value: a text, a model, or a container of them."""
    if isinstance(value, str):
        return sys.getsizeof(value) - _EMPTY
    if isinstance(value, BaseModel):
        return sum(map(text_bytes, value.__dict__.values()))
    if isinstance(value, dict):
        return sum(map(text_bytes, value)) + sum(map(text_bytes, value.values()))
    if isinstance(value, list | tuple):
        return sum(map(text_bytes, value))
    return 0
