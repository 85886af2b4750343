"""Pictures that people add from another device."""

import base64
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.chat import uploaded_images as module
from model.chat.uploaded_images import UploadedImages

PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"


@pytest.fixture
def pictures(tmp_path: Path) -> UploadedImages:
    return UploadedImages(tmp_path / "pictures")


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


async def test_a_picture_is_kept_for_this_user_and_goes_with_its_session(
    pictures: UploadedImages,
) -> None:
    path = await pictures.keep("s", f"data:image/jpeg;base64,{encoded(PNG)}")
    other = await pictures.keep("t", encoded(b"GIF89a\x10\0\x10\0 and more"))
    assert (path.read_bytes(), path.suffix, other.suffix) == (PNG, ".png", ".gif")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    await pictures.remove_all_but({"t"})
    assert not path.parent.exists()
    assert other.exists()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("no base64!", "must be a base64-encoded image"),
        (encoded(b"<svg onload=alert(1)>"), "PNG, JPEG, GIF or WebP"),
        ("", "PNG, JPEG, GIF or WebP"),
        (encoded(PNG + bytes(10 * 1024 * 1024)), "larger than 10 MB"),
    ],
)
async def test_what_is_no_picture_or_too_large_says_why(
    pictures: UploadedImages, data: str, why: str, tmp_path: Path
) -> None:
    with pytest.raises(SpinneyError, match=why):
        await pictures.keep("s", data)
    assert not (tmp_path / "pictures").exists()


async def test_a_session_keeps_so_many(
    pictures: UploadedImages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_IMAGES", 2)
    for _ in range(2):
        await pictures.keep("s", encoded(PNG))
    with pytest.raises(SpinneyError, match="2 images already"):
        await pictures.keep("s", encoded(PNG))
    await pictures.keep("t", encoded(PNG))
