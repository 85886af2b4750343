"""Images and files that were uploaded to be sent with messages, kept with their session.

`pictures/<session>/<random name>` in the data directory, for this user only. The name of what is
not an image ends with the one it had on the device.
"""

import asyncio
import base64
import binascii
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.image_size import detect_format
from model.base.paths import create_private_directory, write_atomically
from model.base.scaled_image import scale_image
from model.chat.tool_outputs import link_files, remove_other_folders
from model.chat.user_messages import ATTACHMENT_SIZE_LIMIT

MAX_FILES: Final = 200
"""Images and files of one session."""
_MAX_ENCODED: Final = 10 * 1024 * 1024
"""Bytes of an image in base64: one that still fits into a command."""
_MAX_NAME: Final = 40
"""Characters of a file's own name that are kept: file systems limit names to 255 bytes."""
_MAX_SUFFIX: Final = 10
_IMAGE_NAME: Final = re.compile(r"[0-9a-f]{16}\.(png|jpeg|gif|webp)")
_SESSION_ID: Final = re.compile(r"[0-9A-Za-z_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was saved for a message."""

    path: Path
    size: int
    """Bytes: of an image, as it was scaled."""
    width: int | None = None
    """Pixels of an image."""
    height: int | None = None

    @property
    def is_image(self) -> bool:
        """Whether it is one of a message's `images`, else of its `files`."""
        return self.width is not None


class Uploads:
    """The files. Those of deleted sessions are removed."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._scaling = asyncio.Lock()

    async def save_image(self, session_id: str, data: str) -> Upload:
        """Scale and save an image given in base64 or as a `data:` URL.

        Raises `SpinneyError` if it is not an image, or is too large or damaged.
        """
        return await self._save_image(session_id, await asyncio.to_thread(_decode, data))

    async def save_file(self, session_id: str, data: bytes, name: str) -> Upload:
        """Save a file of any kind; images are scaled.

        Raises `SpinneyError` if it is empty or too large, or a damaged image.
        """
        if not data:
            raise SpinneyError("The file is empty.")
        if len(data) > ATTACHMENT_SIZE_LIMIT:
            raise SpinneyError("The file is larger than 20 MB.", "too_large")
        if detect_format(data) is not None:
            return await self._save_image(session_id, data)
        path = await asyncio.to_thread(self._write, session_id, f"-{_plain_name(name)}", data)
        return Upload(path, len(data))

    async def read_image(self, session_id: str, name: str) -> bytes | None:
        """An image that was saved, by the name of its file; `None` if there is none."""
        if not (_IMAGE_NAME.fullmatch(name) and _SESSION_ID.fullmatch(session_id)):
            return None
        try:
            return await asyncio.to_thread((self._directory / session_id / name).read_bytes)
        except OSError:
            return None

    async def share(self, session_id: str, other_id: str) -> None:
        """Give the files of a session to another one that has copies of its messages, too."""
        source, target = self._directory / session_id, self._directory / other_id
        await asyncio.to_thread(link_files, source, target)

    async def remove_all_but(self, session_ids: Collection[str]) -> None:
        """Remove the files of all other sessions."""
        await asyncio.to_thread(remove_other_folders, self._directory, frozenset(session_ids))

    async def _save_image(self, session_id: str, data: bytes) -> Upload:
        async with self._scaling:  # Each takes up to half a gigabyte meanwhile.
            image = await asyncio.to_thread(scale_image, data)
        path = await asyncio.to_thread(self._write, session_id, f".{image.kind}", image.data)
        return Upload(path, len(image.data), image.width, image.height)

    def _write(self, session_id: str, suffix: str, data: bytes) -> Path:
        folder = self._directory / session_id
        create_private_directory(self._directory)
        create_private_directory(folder)
        if len(list(folder.iterdir())) >= MAX_FILES:
            raise SpinneyError(
                f"This session has {MAX_FILES} images and files already."
                " Add more in a new session.",
                "too_large",
            )
        path = folder / f"{secrets.token_hex(8)}{suffix}"
        write_atomically(path, data)
        return path


def _decode(data: str) -> bytes:
    encoded = data.partition(",")[2] if data.startswith("data:") else data
    if len(encoded) > _MAX_ENCODED * 4 // 3 + 4:
        raise SpinneyError("The image is larger than 10 MB. Make it smaller.", "too_large")
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise SpinneyError("Invalid field 'data': it must be a base64-encoded image") from None


def _plain_name(name: str) -> str:
    """The start of a file's name and its extension, without what means something elsewhere."""
    own = name.replace("\\", "/").rpartition("/")[2]
    plain = "".join(char if char.isalnum() or char in "._+-" else "-" for char in own)
    suffix = Path(plain).suffix[:_MAX_SUFFIX]
    return (plain[: _MAX_NAME - len(suffix)].removesuffix(suffix) + suffix).lstrip(".-") or "file"
