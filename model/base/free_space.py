"""When a disk counts as almost full."""

from typing import Final

_SHORT: Final = 1_000_000_000
"""Bytes of free space; with less, or with less than 2 % and `_MUCH`, the disk gets short."""
_SHORT_SHARE: Final = 0.02
_MUCH: Final = 10_000_000_000


def is_short(free: int, total: int) -> bool:
    """Whether so many free bytes of a disk of this size are few."""
    return free < _SHORT or (free < _MUCH and free < total * _SHORT_SHARE)
