"""Images and files uploaded for messages."""

import base64
import errno
import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from model.backends.images import encode_image
from model.base.errors import SpinneyError
from model.base.scaled_image import MAX_EDGE
from model.chat import uploads as module
from model.chat.uploads import Uploads


def draw(kind: str, width: int = 40, height: int = 20, mode: str = "RGB", **options: Any) -> bytes:
    buffer = io.BytesIO()
    Image.new(mode, (width, height), options.pop("color", 0)).save(buffer, kind, **options)
    return buffer.getvalue()


PNG = draw("png")


@pytest.fixture
def uploads(tmp_path: Path) -> Uploads:
    return Uploads(tmp_path / "pictures")


def encode(content: bytes) -> str:
    return base64.b64encode(content).decode()


async def test_an_image_is_private_and_removed_with_its_session(uploads: Uploads) -> None:
    path = (await uploads.save_image("s", f"data:image/jpeg;base64,{encode(PNG)}")).path
    other = (await uploads.save_image("t", encode(draw("jpeg")))).path
    assert (path.suffix, other.suffix) == (".png", ".jpeg")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    await uploads.remove_all_but({"t"})
    assert not path.parent.exists()
    assert other.exists()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("no base64!", "must be a base64-encoded image"),
        (encode(b"<svg onload=alert(1)>"), "PNG, JPEG, GIF or WebP"),
        ("", "PNG, JPEG, GIF or WebP"),
        (encode(PNG[:50]), "damaged"),
        (encode(b"GIF89a\x10\0\x10\0 and more"), "damaged"),
        (encode(PNG + bytes(10 * 1024 * 1024)), "larger than 10 MB"),
    ],
)
async def test_invalid_or_too_large_images_are_refused_with_a_reason(
    uploads: Uploads, data: str, why: str, tmp_path: Path
) -> None:
    with pytest.raises(SpinneyError, match=why):
        await uploads.save_image("s", data)
    assert not (tmp_path / "pictures").exists()


async def test_the_number_of_files_per_session_is_limited(
    uploads: Uploads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_FILES", 2)
    for _ in range(2):
        await uploads.save_image("s", encode(PNG))
    with pytest.raises(SpinneyError, match="2 images and files already"):
        await uploads.save_image("s", encode(PNG))
    await uploads.save_image("t", encode(PNG))


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", ["png", "jpeg", "webp", "gif"])
async def test_a_large_image_is_scaled_to_what_models_look_at(uploads: Uploads, kind: str) -> None:
    upload = await uploads.save_file("s", draw(kind, 4000, 1000, color=(200, 30, 60)), "a photo")
    assert (upload.is_image, upload.width, upload.height) == (True, MAX_EDGE, MAX_EDGE // 4)
    with Image.open(upload.path) as image:
        assert image.size == (upload.width, upload.height)
        red, green, blue = image.convert("RGB").getpixel((700, 200))  # type: ignore[misc]
    assert red > 190 and green < 45 and blue < 75
    assert upload.path.stat().st_size == upload.size


@pytest.mark.parametrize("kind", ["png", "jpeg", "webp"])
async def test_a_photo_stands_upright_and_does_not_contain_its_place(
    uploads: Uploads, kind: str
) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # Turn it by 90 degrees.
    exif[0x010F] = "A camera"
    exif.get_ifd(0x8825)[1] = "N"
    comment = {"comment": b"taken at home"} if kind == "jpeg" else {}
    upload = await uploads.save_file("s", draw(kind, exif=exif, xmp=b"<gps>", **comment), "x")
    assert (upload.width, upload.height) == (20, 40)
    with Image.open(upload.path) as image:
        assert not image.getexif() and not {"exif", "xmp", "comment"} & set(image.info)
    content = upload.path.read_bytes()
    assert not any(text in content for text in (b"A camera", b"<gps>", b"at home"))


async def test_an_animation_becomes_its_first_picture(uploads: Uploads) -> None:
    second = Image.new("RGB", (40, 20), (0, 0, 255))
    data = draw("gif", color=(255, 0, 0), save_all=True, append_images=[second])
    path = (await uploads.save_file("s", data, "film.gif")).path
    with Image.open(path) as image:
        assert image.format == "PNG"
        assert image.convert("RGB").getpixel((5, 5)) == (255, 0, 0)


@pytest.mark.parametrize(
    ("mode", "color", "kind"),
    [("I;16", 40_000, "png"), ("P", 0, "png"), ("CMYK", 0, "jpeg"), ("LA", (9, 0), "png")],
)
async def test_rare_color_modes_become_common_ones(
    uploads: Uploads, mode: str, color: Any, kind: str
) -> None:
    path = (await uploads.save_file("s", draw(kind, mode=mode, color=color), "x")).path
    with Image.open(path) as image:
        assert image.mode in ("L", "LA", "RGB")
        if mode == "I;16":
            assert image.getpixel((1, 1)) == 40_000 // 256
        if mode == "LA":
            assert image.getpixel((1, 1)) == (9, 0)


@pytest.mark.longer
async def test_a_noisy_screenshot_stays_small_enough_for_the_providers(uploads: Uploads) -> None:
    noise = io.BytesIO()
    channels = [Image.effect_noise((MAX_EDGE, MAX_EDGE), 90) for _ in "rgb"]
    Image.merge("RGB", channels).save(noise, "png", compress_level=1)
    assert len(noise.getvalue()) > 5_000_000
    upload = await uploads.save_file("s", noise.getvalue(), "x.png")
    assert (upload.path.suffix, upload.size < 3_500_000) == (".webp", True)


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("report.pdf", "-report.pdf"),
        ("../../.bashrc", "-bashrc"),
        ("C:\\a\\b c.txt", "-b-c.txt"),
        ("\u202egpj.exe", "-gpj.exe"),
        ("a/..", "-file"),
        ("ä" * 300 + ".csv", "ä.csv"),
    ],
)
async def test_a_file_keeps_its_bytes_and_the_harmless_part_of_its_name(
    uploads: Uploads, name: str, end: str, tmp_path: Path
) -> None:
    upload = await uploads.save_file("s", b"%PDF and more", name)
    assert (upload.is_image, upload.size, upload.width) == (False, 13, None)
    assert upload.path.read_bytes() == b"%PDF and more"
    assert upload.path.parent == tmp_path / "pictures" / "s"
    assert upload.path.name.endswith(end)


async def test_a_full_disk_is_said_and_leaves_nothing(
    uploads: Uploads, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await uploads.save_file("s", b"one", "one.txt")

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("model.base.paths._write_and_sync", fail)
    with pytest.raises(SpinneyError, match="disk is full"):
        await uploads.save_file("s", PNG, "two.png")
    assert list(first.path.parent.iterdir()) == [first.path]


def test_an_image_from_the_disk_is_scaled_for_the_agent(tmp_path: Path) -> None:
    large, small = tmp_path / "large.gif", tmp_path / "small.png"
    large.write_bytes(draw("gif", 2000, 1000))
    small.write_bytes(PNG)
    kind, content = encode_image(large)
    with Image.open(io.BytesIO(base64.b64decode(content))) as image:
        assert (kind, image.size) == ("image/png", (MAX_EDGE, MAX_EDGE // 2))
    assert encode_image(small) == ("image/png", encode(PNG))
