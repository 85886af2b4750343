"""Pictures that go with messages and came from another device, kept in files of their session.

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
from model.base.image_size import is_bomb
from model.base.paths import create_private_directory, write_atomically
from model.chat.tool_outputs import remove_folders
from model.chat.user_messages import ATTACHMENT_SIZE_LIMIT
from model.projects.avatars import kind_of

KEPT: Final = 200
"""Pictures of one session."""


class Pictures:
    """The files. What belongs to no session is removed."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def keep(self, session_id: str, data: str) -> Path:
        """Store a picture given in base64, also as a `data:` URL; the path of its file.

        Raises `SpinneyError` for what is no picture, or too much.
        """
        return await asyncio.to_thread(self._keep, session_id, data)

    async def remove_all_but(self, session_ids: Collection[str]) -> None:
        """Remove what belongs to no session any more."""
        await asyncio.to_thread(remove_folders, self._directory, frozenset(session_ids))

    def _keep(self, session_id: str, data: str) -> Path:
        picture, kind = _decoded(data)
        folder = self._directory / session_id
        create_private_directory(self._directory)
        create_private_directory(folder)
        if len(list(folder.iterdir())) >= KEPT:
            raise SpinneyError(
                f"This session has {KEPT} pictures already. Add more in a new session.",
                "too_large",
            )
        path = folder / f"{secrets.token_hex(8)}.{kind}"
        write_atomically(path, picture)
        return path


def _decoded(data: str) -> tuple[bytes, str]:
    """The picture's bytes, and what kind of picture they are."""
    encoded = data.partition(",")[2] if data.startswith("data:") else data
    if len(encoded) > ATTACHMENT_SIZE_LIMIT * 4 // 3 + 4:
        raise SpinneyError("The picture is larger than 10 MB. Make it smaller.", "too_large")
    try:
        picture = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise SpinneyError("Invalid field 'data': it must be a picture in base64") from None
    kind = kind_of(picture)
    if kind is None:
        raise SpinneyError("Agents look at PNG, JPEG, GIF and WebP. This is none of them.")
    if is_bomb(picture):
        raise SpinneyError("The picture has too many pixels. Make it smaller.", "too_large")
    return picture, kind
