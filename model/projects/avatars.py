"""Pictures of projects: checked by their first bytes, copied under random names, found again.

Blocks; call it on a worker thread. What is stored is a path relative to the data directory.
"""

import base64
import binascii
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.image_size import is_bomb
from model.base.paths import Directories, create_private_directory, write_atomically

FOLDER: Final = "avatars"
MOST_BYTES: Final = 2 * 1024 * 1024
_PLACES: Final = ("", ".github", "public", "static", "assets", "docs", "images", "src/assets")
_NAMES: Final = ("logo", "icon", "favicon", "apple-touch-icon")
_KINDS: Final = ("png", "webp", "jpg", "jpeg", "gif")


def kind_of(picture: bytes) -> str | None:
    """`png`, `jpeg`, `gif` or `webp`, by the bytes and never by a name; `None` for all else."""
    if picture.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if picture.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if picture.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    if picture[:4] == b"RIFF" and picture[8:12] == b"WEBP":
        return "webp"
    return None


def read(path: Path) -> bytes:
    """An image file's bytes. Links, devices and what is too large or no image are refused."""
    try:
        # NOFOLLOW and NONBLOCK: neither a link elsewhere nor a pipe that nobody writes to.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no path"
        raise SpinneyError(f"The image cannot be read: {path} ({why})") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise SpinneyError(f"The image cannot be read: {path} (it is no file)")
    with os.fdopen(descriptor, "rb") as file:
        return _checked(file.read(MOST_BYTES + 1))


def decode(text: str) -> bytes:
    """An image from base64, also as a `data:` URL."""
    encoded = text.partition(",")[2] if text.startswith("data:") else text
    try:
        return _checked(base64.b64decode("".join(encoded.split()), validate=True))
    except (binascii.Error, ValueError):
        raise SpinneyError("Invalid field 'data': it must be an image in base64") from None


def find_logo(root: Path) -> bytes | None:
    """The picture that a repository shows as its own, such as `.github/logo.png`."""
    root = root.resolve()
    for place in _PLACES:
        for name in _NAMES:
            for kind in _KINDS:
                path = root / place / f"{name}.{kind}"
                # A folder on the way may be a link that leads out of the repository.
                if path.is_file() and path.parent.resolve().is_relative_to(root):
                    try:
                        return read(path)
                    except SpinneyError:
                        continue
    return None


def keep(directories: Directories, picture: bytes) -> str:
    """Store a checked picture; its path relative to the data directory."""
    create_private_directory(directories.data / FOLDER)
    relative = f"{FOLDER}/{secrets.token_hex(16)}.{kind_of(picture)}"
    write_atomically(directories.data / relative, picture)
    return relative


def stored(directories: Directories, relative: str | None) -> Path | None:
    """The file of a stored path, if it lies directly in the avatars' folder."""
    if not relative or "\0" in relative:
        return None
    folder = (directories.data / FOLDER).resolve()
    path = (directories.data / relative).resolve()
    return path if path.parent == folder and path.is_file() else None


def discard(directories: Directories, relative: str | None) -> None:
    """Remove a stored picture; one that is gone is no error."""
    path = stored(directories, relative)
    if path is not None:
        path.unlink(missing_ok=True)


def _checked(picture: bytes) -> bytes:
    if len(picture) > MOST_BYTES:
        raise SpinneyError("The image is larger than 2 MiB. Choose a smaller one.", "too_large")
    if kind_of(picture) is None:
        raise SpinneyError("The image must be a PNG, JPEG, WebP or GIF.")
    if is_bomb(picture):
        raise SpinneyError("The image has too many pixels. Choose a smaller one.", "too_large")
    return picture
