"""Images that were uploaded with messages from another device, kept in files of their session.

`pictures/<session>/<random name>` in the data directory, for this user only.
"""

import asyncio
import base64
import binascii
import secrets
from collections.abc import Collection
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.image_size import is_decompression_bomb
from model.base.paths import create_private_directory, write_atomically
from model.chat.tool_outputs import remove_other_folders
from model.chat.user_messages import ATTACHMENT_SIZE_LIMIT
from model.projects.avatars import detect_format

MAX_IMAGES: Final = 200
"""Images of one session."""


class UploadedImages:
    """The files. Those of deleted sessions are removed."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def save(self, session_id: str, data: str) -> Path:
        """Save an image given in base64 or as a `data:` URL; return the path of its file.

        Raises `SpinneyError` if it is not an image, or is too large.
        """
        return await asyncio.to_thread(self._save, session_id, data)

    async def remove_all_but(self, session_ids: Collection[str]) -> None:
        """Remove the files of all other sessions."""
        await asyncio.to_thread(remove_other_folders, self._directory, frozenset(session_ids))

    def _save(self, session_id: str, data: str) -> Path:
        image, kind = _decode(data)
        folder = self._directory / session_id
        create_private_directory(self._directory)
        create_private_directory(folder)
        if len(list(folder.iterdir())) >= MAX_IMAGES:
            raise SpinneyError(
                f"This session has {MAX_IMAGES} images already. Add more in a new session.",
                "too_large",
            )
        path = folder / f"{secrets.token_hex(8)}.{kind}"
        write_atomically(path, image)
        return path


def _decode(data: str) -> tuple[bytes, str]:
    """Return the image's bytes and its format."""
    encoded = data.partition(",")[2] if data.startswith("data:") else data
    if len(encoded) > ATTACHMENT_SIZE_LIMIT * 4 // 3 + 4:
        raise SpinneyError("The image is larger than 10 MB. Make it smaller.", "too_large")
    try:
        image = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise SpinneyError("Invalid field 'data': it must be a base64-encoded image") from None
    kind = detect_format(image)
    if kind is None:
        raise SpinneyError("Unsupported image format. Use PNG, JPEG, GIF or WebP.")
    if is_decompression_bomb(image):
        raise SpinneyError("The image has too many pixels. Make it smaller.", "too_large")
    return image, kind
