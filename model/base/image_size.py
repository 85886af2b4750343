"""How large a picture is once it is opened, read from its head: a few bytes can be gigabytes."""

from collections.abc import Iterator
from typing import Final

MOST_PIXELS: Final = 64 * 1024 * 1024
"""Of one picture: a quarter of a gigabyte, once opened."""
LONGEST_SIDE: Final = 16384

_MOST_SEGMENTS: Final = 1000
"""Of a JPEG, before the one that tells its size."""
_SIZES_IN_JPEG: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_ALONE_IN_JPEG: Final = frozenset((0x01, *range(0xD0, 0xD9)))


def is_bomb(picture: bytes) -> bool:
    """Whether it would be too large. What does not tell its size is opened by nobody."""
    return any(
        width > LONGEST_SIDE or height > LONGEST_SIDE or width * height > MOST_PIXELS
        for width, height in _sizes(picture)
    )


def _sizes(picture: bytes) -> Iterator[tuple[int, int]]:
    if picture.startswith(b"\x89PNG\r\n\x1a\n"):
        if picture[12:16] == b"IHDR":
            yield _big(picture[16:20]), _big(picture[20:24])
    elif picture.startswith((b"GIF87a", b"GIF89a")):
        yield _little(picture[6:8]), _little(picture[8:10])
    elif picture.startswith(b"\xff\xd8\xff"):
        yield from _sizes_in_jpeg(picture)
    elif picture[8:12] == b"WEBP":
        yield from _sizes_in_webp(picture)


def _sizes_in_webp(picture: bytes) -> Iterator[tuple[int, int]]:
    match picture[12:16]:
        case b"VP8X":
            yield _little(picture[24:27]) + 1, _little(picture[27:30]) + 1
        case b"VP8L":
            bits = _little(picture[21:25])
            yield (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            yield _little(picture[26:28]) & 0x3FFF, _little(picture[28:30]) & 0x3FFF


def _sizes_in_jpeg(picture: bytes) -> Iterator[tuple[int, int]]:
    """The size; a size beyond all bounds where too much stands before it."""
    at = 2
    for _ in range(_MOST_SEGMENTS):
        at = picture.find(b"\xff", at)
        if at < 0 or at + 1 >= len(picture):
            return
        marker = picture[at + 1]
        if marker in _SIZES_IN_JPEG:
            yield _big(picture[at + 7 : at + 9]), _big(picture[at + 5 : at + 7])
            return
        if marker == 0xDA:  # The picture itself begins, without a size.
            return
        if marker == 0xFF:
            at += 1
        elif marker in _ALONE_IN_JPEG:
            at += 2
        else:
            at += 2 + max(2, _big(picture[at + 2 : at + 4]))
    yield LONGEST_SIDE + 1, 1


def _big(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")
