"""Reads the images of a message for programs that take their content instead of their path."""

import base64
import mimetypes
from pathlib import Path

from model.base.errors import SpinneyError


def encode_image(image: Path) -> tuple[str, str]:
    """The media type and the content in base64. Reads the file: call it in a thread.

    Raises `SpinneyError` if it cannot be read.
    """
    try:
        content = base64.b64encode(image.read_bytes()).decode()
    except OSError as error:
        reason = error.strerror or str(error)
        raise SpinneyError(f"The image {image} could not be read: {reason}.") from error
    return mimetypes.guess_type(image.name)[0] or "image/png", content
