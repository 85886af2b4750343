"""Images that are small files but large when decoded."""

import base64
import struct
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.base.image_size import is_decompression_bomb
from model.chat.uploads import Uploads
from model.projects import avatars


def png(width: int, height: int) -> bytes:
    head = struct.pack("!IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack("!I", len(head)) + b"IHDR" + head


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + bytes(20)


def jpeg(width: int, height: int, before: bytes = b"") -> bytes:
    exif = b"\xff\xe1" + struct.pack("!H", 18) + b"\xff\xc0" * 8  # bytes that look like a size
    size = b"\xff\xc2\x00\x0b\x08" + struct.pack("!HH", height, width) + bytes(6)
    return b"\xff\xd8" + exif + before + b"\xff" + size


def webp(kind: bytes, rest: bytes) -> bytes:
    return b"RIFF\0\0\0\0WEBP" + kind + struct.pack("<I", len(rest)) + rest


def vp8x(width: int, height: int) -> bytes:
    size = struct.pack("<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3]
    return webp(b"VP8X", bytes(4) + size)


def vp8l(width: int, height: int) -> bytes:
    return webp(b"VP8L", b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14))


def vp8(width: int, height: int) -> bytes:
    return webp(b"VP8 ", bytes(6) + struct.pack("<HH", width, height))


@pytest.mark.parametrize("encode", [png, gif, jpeg, vp8x, vp8l, vp8])
def test_the_size_is_read_from_the_header(encode: Callable[[int, int], bytes]) -> None:
    for width, height in ((1, 1), (4000, 3000), (7680, 4320), (16383, 4000), (64, 16383)):
        assert not is_decompression_bomb(encode(width, height)), (width, height)
    for width, height in ((16383, 16383), (9000, 9000)):
        assert is_decompression_bomb(encode(width, height)), (width, height)
    if encode not in (vp8l, vp8):  # formats whose sides cannot be longer
        assert is_decompression_bomb(encode(16385, 1)) and is_decompression_bomb(encode(1, 65535))


def test_an_image_with_a_hidden_size_is_refused_quickly() -> None:
    began = time.process_time()
    assert is_decompression_bomb(jpeg(1, 1, b"\xff\xe0\x00\x02" * 2_000_000))
    assert is_decompression_bomb(b"\xff\xd8" + b"\xff" * 8_000_000)
    assert time.process_time() - began < 1
    for cut in range(40):
        assert not is_decompression_bomb(jpeg(1, 1)[:cut]) and not is_decompression_bomb(
            png(1, 1)[:cut]
        )


async def test_oversized_images_are_not_saved(tmp_path: Path) -> None:
    encoded = base64.b64encode(png(60_000, 60_000)).decode()
    with pytest.raises(SpinneyError, match="pixels"):
        await Uploads(tmp_path).save_image("s", encoded)
    with pytest.raises(SpinneyError, match="pixels"):
        avatars.decode_image(encoded)
    (tmp_path / "logo.png").write_bytes(png(60_000, 60_000))
    (tmp_path / "icon.png").write_bytes(png(64, 64))
    assert avatars.find_logo(tmp_path) == png(64, 64)
