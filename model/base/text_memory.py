"""Memory use of strings: one to four bytes per character, by the widest one in the string."""

import sys
from typing import Any, Final

from pydantic import BaseModel

_EMPTY: Final = sys.getsizeof("")


def text_bytes(value: Any) -> int:
    """Bytes of the strings in a value: a string, a model, or a container of them."""
    if isinstance(value, str):
        return sys.getsizeof(value) - _EMPTY
    if isinstance(value, BaseModel):
        return sum(map(text_bytes, value.__dict__.values()))
    if isinstance(value, dict):
        return sum(map(text_bytes, value)) + sum(map(text_bytes, value.values()))
    if isinstance(value, list | tuple):
        return sum(map(text_bytes, value))
    return 0
