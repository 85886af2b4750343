"""Pictures that are small files and large once opened."""

import base64
import struct
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.base.image_size import is_bomb
from model.chat.uploaded_images import UploadedImages
from model.projects import avatars


def png(width: int, height: int) -> bytes:
    head = struct.pack("!IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack("!I", len(head)) + b"IHDR" + head


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + bytes(20)


def jpeg(width: int, height: int, before: bytes = b"") -> bytes:
    exif = b"\xff\xe1" + struct.pack("!H", 18) + b"\xff\xc0" * 8  # a size that is none
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


@pytest.mark.parametrize("made", [png, gif, jpeg, vp8x, vp8l, vp8])
def test_the_size_is_known_before_it_is_opened(made: Callable[[int, int], bytes]) -> None:
    for width, height in ((1, 1), (4000, 3000), (7680, 4320), (16383, 4000), (64, 16383)):
        assert not is_bomb(made(width, height)), (width, height)
    for width, height in ((16383, 16383), (9000, 9000)):
        assert is_bomb(made(width, height)), (width, height)
    if made not in (vp8l, vp8):  # which cannot be longer
        assert is_bomb(made(16385, 1)) and is_bomb(made(1, 65535))


def test_what_hides_its_size_is_large_and_looked_at_for_no_time() -> None:
    began = time.process_time()
    assert is_bomb(jpeg(1, 1, b"\xff\xe0\x00\x02" * 2_000_000))
    assert is_bomb(b"\xff\xd8" + b"\xff" * 8_000_000)
    assert time.process_time() - began < 1
    for cut in range(40):
        assert not is_bomb(jpeg(1, 1)[:cut]) and not is_bomb(png(1, 1)[:cut])


async def test_none_is_kept(tmp_path: Path) -> None:
    encoded = base64.b64encode(png(60_000, 60_000)).decode()
    with pytest.raises(SpinneyError, match="pixels"):
        await UploadedImages(tmp_path).keep("s", encoded)
    with pytest.raises(SpinneyError, match="pixels"):
        avatars.decode(encoded)
    (tmp_path / "logo.png").write_bytes(png(60_000, 60_000))
    (tmp_path / "icon.png").write_bytes(png(64, 64))
    assert avatars.find_logo(tmp_path) == png(64, 64)
