"""Scales images to the size that models look at, without what cameras write into them.

Larger images cost more and are scaled down by the providers anyway. What is left out are the
position, the time and the device; the orientation is applied. Of an animation the first picture
is kept, as the providers do. Blocks, and takes up to half a gigabyte: one image at a time, in a
thread.
"""

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from model.base.errors import SpinneyError
from model.base.image_size import (
    detect_format,
    is_decompression_bomb,
    is_oversized,
    read_sizes,
)

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_EDGE: Final = 1568
"""Pixels of the longer edge: the size to which Claude's models scale (2026)."""
_MAX_PNG: Final = 3_500_000
"""Bytes. Providers take 5 MB of base64; only photos and noise are larger as a PNG."""
_QUALITY: Final = 90
_KEPT_MODES: Final = frozenset(("L", "RGB", "LA", "RGBA"))


@dataclass(frozen=True, slots=True)
class ScaledImage:
    """An image as it is sent to an agent."""

    data: bytes
    kind: str
    """`png`, `jpeg` or `webp`; `image/` and this is its media type."""
    width: int
    height: int


def is_large(data: bytes) -> bool:
    """Whether this is an image with an edge that is too long, by its header."""
    return any(max(size) > MAX_EDGE for size in read_sizes(data))


def scale_image(data: bytes) -> ScaledImage:
    """Decode a PNG, JPEG, GIF or WebP, scale it down where it is too large, and encode it again.

    Raises `SpinneyError` if it is another format, has too many pixels or is damaged.
    """
    kind = detect_format(data)
    if kind is None:
        raise SpinneyError("Unsupported image format. Use PNG, JPEG, GIF or WebP.")
    if is_decompression_bomb(data):
        raise _too_many_pixels()
    try:
        image = _decode(data, kind)
    except (SpinneyError, ImportError):
        raise
    except Exception as error:  # The decoders raise whatever they stumble over, by format.
        raise SpinneyError("The image is damaged. Save it again, or choose another one.") from error
    return _encode(image, kind)


def _too_many_pixels() -> SpinneyError:
    return SpinneyError("The image has too many pixels. Make it smaller.", "too_large")


def _decode(data: bytes, kind: str) -> "Image":
    from PIL import Image, ImageOps  # Takes 60 ms: imported with the first image.

    with Image.open(io.BytesIO(data), formats=[kind]) as opened:
        if is_oversized(*opened.size):  # Where the decoder finds another size than the header's.
            raise _too_many_pixels()
        image: Image.Image = opened
        if image.mode not in _KEPT_MODES:
            image = _convert(image)
        # A JPEG is decoded at a fraction of its size.
        image.thumbnail((MAX_EDGE, MAX_EDGE), reducing_gap=3.0)
        image = ImageOps.exif_transpose(image)
        image.load()
    return image


def _convert(image: "Image") -> "Image":
    if image.mode.startswith("I;16"):  # Gray of 16 bits, which `convert` would cut at 255.
        return image.point(lambda value: value * (1 / 256)).convert("L")
    return image.convert("RGBA" if image.has_transparency_data else "RGB")


def _encode(image: "Image", kind: str) -> ScaledImage:
    image.info = {}  # Some encoders write what they find here.
    kind = "png" if kind == "gif" else kind
    data = _save(image, kind)
    if kind == "png" and len(data) > _MAX_PNG:
        kind = "webp"
        data = _save(image, kind)
    return ScaledImage(data, kind, image.width, image.height)


def _save(image: "Image", kind: str) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, quality=_QUALITY)
    return buffer.getvalue()
