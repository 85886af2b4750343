"""A line of a raw log: what was said, with pictures and the rest of long lines left out, secrets
masked and control characters shown.
"""

import time
from typing import Final

from model.backends.traffic import Direction
from model.base.masking import Masking
from model.base.text import make_visible

LONGEST: Final = 64 * 1024
"""Bytes that are kept of what was said in one line."""

PICTURE: Final = 1024
"""Characters of base64 from which on they say nothing to people."""

_OVERLAP: Final = 512
"""Characters behind the cut that are looked at, too: a secret may stand on it."""
_STEP: Final = 64 * 1024
_BASE64: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-"
_PREFIX: Final = b";base64,"
_LONGEST_PREFIX: Final = 200


def raw_line(at: float, direction: Direction, kind: str, said: bytes, masked: Masking) -> bytes:
    """The line for the file, with its end."""
    moment = f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(at))}.{int(at % 1 * 1000):03}"
    text = readable(said, masked)
    if kind:
        text = f"{readable(kind.encode(errors='replace'), masked)}{': ' if text else ''}{text}"
    return f"{moment} {direction} {text}\n".encode(errors="backslashreplace")


def readable(said: bytes, masked: Masking) -> str:
    """What was said, on one line; where that is cut, it tells how long it was."""
    overlap = masked.longest + _OVERLAP
    begun, is_whole = _beginning(said, LONGEST + overlap)
    text = masked(begun.decode(errors="replace"))
    if not is_whole:
        text = text[:-overlap]  # it may end within a secret, which is not known by its beginning
    shown = make_visible(text).rstrip("\r\n").replace("\n", "\u240a")
    data = shown.encode(errors="backslashreplace")
    if is_whole and len(data) <= LONGEST:
        return shown
    return f"{data[:LONGEST].decode(errors='ignore')}\u2026 (cut: {len(said):,} bytes in all)"


def _beginning(said: bytes, enough: int) -> tuple[bytes, bool]:
    """The first bytes, without pictures, and whether they are all; takes one look at each."""
    if len(said) <= PICTURE:
        return said, True
    kept = bytearray()
    at = 0
    while at < len(said) and len(kept) < enough:
        end = said.find(b'"', at) + 1 or len(said)
        if end - at > PICTURE and (base64 := _base64_in(said, at, end)) is not None:
            start, stop = base64
            kept += said[at:start] + f"\u2026{stop - start:,} characters of base64".encode()
            kept += said[stop:end]
        else:
            end = min(end, at + enough - len(kept))
            kept += said[at:end]
        at = end
    return bytes(kept), at >= len(said)


def _base64_in(said: bytes, at: int, end: int) -> tuple[int, int] | None:
    """Where base64 stands in a text of JSON that ends before its quote, if all of it is that."""
    prefix = said.find(_PREFIX, at, at + _LONGEST_PREFIX)
    start = at if prefix < 0 else prefix + len(_PREFIX)
    stop = end - said.endswith(b'"', at, end)
    while stop > start and said[stop - 1] == ord("\\"):
        stop -= 1
    if stop - start <= PICTURE:
        return None
    for place in range(start, stop, _STEP):
        if said[place : min(place + _STEP, stop)].translate(None, _BASE64):
            return None
    return start, stop
