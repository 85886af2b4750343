"""Formats raw log lines: cuts images and the rest of long lines, masks secrets and makes control
characters visible.
"""

import time
from typing import Final

from model.backends.traffic import Direction
from model.base.masking import Masking
from model.base.text import make_visible

MAX_LINE: Final = 64 * 1024
"""Bytes that are kept of one line."""

MAX_BASE64: Final = 1024
"""Characters of base64 that are kept; longer data is replaced by its length."""

_OVERLAP: Final = 512
"""Characters past the cut that are also masked: a secret may span it."""
_STEP: Final = 64 * 1024
_BASE64: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-"
_PREFIX: Final = b";base64,"
_LONGEST_PREFIX: Final = 200


def format_line(at: float, direction: Direction, kind: str, data: bytes, mask: Masking) -> bytes:
    """Format a line of the log file, with its newline."""
    time_text = f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(at))}.{int(at % 1 * 1000):03}"
    text = to_readable(data, mask)
    if kind:
        text = f"{to_readable(kind.encode(errors='replace'), mask)}{': ' if text else ''}{text}"
    return f"{time_text} {direction} {text}\n".encode(errors="backslashreplace")


def to_readable(data: bytes, mask: Masking) -> str:
    """Return the data as one line of text; a line that is cut ends with the original size."""
    overlap = mask.longest + _OVERLAP
    prefix, is_whole = _read_prefix(data, MAX_LINE + overlap)
    text = mask(prefix.decode(errors="replace"))
    if not is_whole:
        text = text[:-overlap]  # it may end in a partial secret, which is not masked
    shown = make_visible(text).rstrip("\r\n").replace("\n", "\u240a")
    encoded = shown.encode(errors="backslashreplace")
    if is_whole and len(encoded) <= MAX_LINE:
        return shown
    return f"{encoded[:MAX_LINE].decode(errors='ignore')}\u2026 (cut: {len(data):,} bytes in all)"


def _read_prefix(data: bytes, max_bytes: int) -> tuple[bytes, bool]:
    """Return the first bytes without images, and whether that is all; scans each byte once."""
    if len(data) <= MAX_BASE64:
        return data, True
    prefix = bytearray()
    position = 0
    while position < len(data) and len(prefix) < max_bytes:
        end = data.find(b'"', position) + 1 or len(data)
        if (
            end - position > MAX_BASE64
            and (base64 := _find_base64(data, position, end)) is not None
        ):
            start, stop = base64
            prefix += data[position:start] + f"\u2026{stop - start:,} characters of base64".encode()
            prefix += data[stop:end]
        else:
            end = min(end, position + max_bytes - len(prefix))
            prefix += data[position:end]
        position = end
    return bytes(prefix), position >= len(data)


def _find_base64(data: bytes, begin: int, end: int) -> tuple[int, int] | None:
    """Return the bounds of the base64 in a JSON string that ends at `end`, if it is all base64."""
    prefix = data.find(_PREFIX, begin, begin + _LONGEST_PREFIX)
    start = begin if prefix < 0 else prefix + len(_PREFIX)
    stop = end - data.endswith(b'"', begin, end)
    while stop > start and data[stop - 1] == ord("\\"):
        stop -= 1
    if stop - start <= MAX_BASE64:
        return None
    for offset in range(start, stop, _STEP):
        if data[offset : min(offset + _STEP, stop)].translate(None, _BASE64):
            return None
    return start, stop
