"""Images uploaded from another device."""

import base64
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.chat import uploaded_images as module
from model.chat.uploaded_images import UploadedImages

PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"


@pytest.fixture
def images(tmp_path: Path) -> UploadedImages:
    return UploadedImages(tmp_path / "pictures")


def encode(content: bytes) -> str:
    return base64.b64encode(content).decode()


async def test_an_image_is_private_and_removed_with_its_session(
    images: UploadedImages,
) -> None:
    path = await images.save("s", f"data:image/jpeg;base64,{encode(PNG)}")
    other = await images.save("t", encode(b"GIF89a\x10\0\x10\0 and more"))
    assert (path.read_bytes(), path.suffix, other.suffix) == (PNG, ".png", ".gif")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    await images.remove_all_but({"t"})
    assert not path.parent.exists()
    assert other.exists()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("no base64!", "must be a base64-encoded image"),
        (encode(b"<svg onload=alert(1)>"), "PNG, JPEG, GIF or WebP"),
        ("", "PNG, JPEG, GIF or WebP"),
        (encode(PNG + bytes(10 * 1024 * 1024)), "larger than 10 MB"),
    ],
)
async def test_invalid_or_too_large_images_are_refused_with_a_reason(
    images: UploadedImages, data: str, why: str, tmp_path: Path
) -> None:
    with pytest.raises(SpinneyError, match=why):
        await images.save("s", data)
    assert not (tmp_path / "pictures").exists()


async def test_the_number_of_images_per_session_is_limited(
    images: UploadedImages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_IMAGES", 2)
    for _ in range(2):
        await images.save("s", encode(PNG))
    with pytest.raises(SpinneyError, match="2 images already"):
        await images.save("s", encode(PNG))
    await images.save("t", encode(PNG))
