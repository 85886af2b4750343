"""Format and size of images, read from their first bytes: a few can decode to gigabytes."""

from collections.abc import Iterator
from typing import Final

MAX_PIXELS: Final = 64 * 1024 * 1024
"""Per image: a quarter of a gigabyte when decoded."""
MAX_SIDE: Final = 16384

_MAX_SEGMENTS: Final = 1000
"""Of a JPEG, before the one with its size."""
_JPEG_SIZE_MARKERS: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_STANDALONE_MARKERS: Final = frozenset((0x01, *range(0xD0, 0xD9)))


def is_decompression_bomb(data: bytes) -> bool:
    """Whether the decoded image would be too large. Images without a known size are not decoded."""
    return any(is_oversized(width, height) for width, height in read_sizes(data))


def is_oversized(width: int, height: int) -> bool:
    """Whether a decoded image of this size would be too large."""
    return width > MAX_SIDE or height > MAX_SIDE or width * height > MAX_PIXELS


def detect_format(image: bytes) -> str | None:
    """Return `png`, `jpeg`, `gif` or `webp` by content, never by file name; `None` if neither."""
    if image.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if image.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if image.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    if image[:4] == b"RIFF" and image[8:12] == b"WEBP":
        return "webp"
    return None


def read_sizes(data: bytes) -> Iterator[tuple[int, int]]:
    """Width and height; none where they are not where they should be."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        if data[12:16] == b"IHDR":
            yield _big_endian(data[16:20]), _big_endian(data[20:24])
    elif data.startswith((b"GIF87a", b"GIF89a")):
        yield _little_endian(data[6:8]), _little_endian(data[8:10])
    elif data.startswith(b"\xff\xd8\xff"):
        yield from _jpeg_sizes(data)
    elif data[8:12] == b"WEBP":
        yield from _webp_sizes(data)


def _webp_sizes(data: bytes) -> Iterator[tuple[int, int]]:
    match data[12:16]:
        case b"VP8X":
            yield _little_endian(data[24:27]) + 1, _little_endian(data[27:30]) + 1
        case b"VP8L":
            bits = _little_endian(data[21:25])
            yield (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            yield _little_endian(data[26:28]) & 0x3FFF, _little_endian(data[28:30]) & 0x3FFF


def _jpeg_sizes(data: bytes) -> Iterator[tuple[int, int]]:
    """The size; an excessive size if too many segments precede it."""
    offset = 2
    for _ in range(_MAX_SEGMENTS):
        offset = data.find(b"\xff", offset)
        if offset < 0 or offset + 1 >= len(data):
            return
        marker = data[offset + 1]
        if marker in _JPEG_SIZE_MARKERS:
            yield (
                _big_endian(data[offset + 7 : offset + 9]),
                _big_endian(data[offset + 5 : offset + 7]),
            )
            return
        if marker == 0xDA:  # Start of the image data, without a size.
            return
        if marker == 0xFF:
            offset += 1
        elif marker in _JPEG_STANDALONE_MARKERS:
            offset += 2
        else:
            offset += 2 + max(2, _big_endian(data[offset + 2 : offset + 4]))
    yield MAX_SIDE + 1, 1


def _big_endian(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little_endian(data: bytes) -> int:
    return int.from_bytes(data, "little")
