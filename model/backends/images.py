"""Reads the images of a message for programs that take their content instead of their path."""

import base64
import mimetypes
from pathlib import Path

from model.base.errors import SpinneyError
from model.base.scaled_image import is_large, scale_image


def encode_image(image: Path) -> tuple[str, str]:
    """The media type and the content in base64, scaled down where the image is too large.

    Reads the file: call it in a thread. Raises `SpinneyError` if it cannot be read.
    """
    try:
        content = image.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise SpinneyError(f"The image {image} could not be read: {reason}.") from error
    kind = mimetypes.guess_type(image.name)[0] or "image/png"
    if is_large(content):
        scaled = scale_image(content)
        content, kind = scaled.data, f"image/{scaled.kind}"
    return kind, base64.b64encode(content).decode()
