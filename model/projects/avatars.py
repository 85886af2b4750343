"""Project avatars: validated by their first bytes and stored under random names.

Blocks; call it in a worker thread. Stored paths are relative to the data directory.
"""

import base64
import binascii
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.image_size import detect_format, is_decompression_bomb
from model.base.paths import Directories, create_private_directory, open_itself, write_atomically

FOLDER: Final = "avatars"
MAX_BYTES: Final = 2 * 1024 * 1024
_FOLDERS: Final = ("", ".github", "public", "static", "assets", "docs", "images", "src/assets")
_NAMES: Final = ("logo", "icon", "favicon", "apple-touch-icon")
_EXTENSIONS: Final = ("png", "webp", "jpg", "jpeg", "gif")


def read_image(path: Path) -> bytes:
    """Return the bytes of an image file. Raises for links, devices, large files and non-images."""
    try:
        with open(path, "rb", opener=open_itself) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise SpinneyError(f"The image cannot be read: {path} (not a regular file)")
            return _check(file.read(MAX_BYTES + 1))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not a valid path"
        raise SpinneyError(f"The image cannot be read: {path} ({why})") from None


def decode_image(text: str) -> bytes:
    """Decode an image from base64, also from a `data:` URL."""
    encoded = text.partition(",")[2] if text.startswith("data:") else text
    try:
        return _check(base64.b64decode("".join(encoded.split()), validate=True))
    except (binascii.Error, ValueError):
        raise SpinneyError("Invalid field 'data': it must be an image in base64") from None


def find_logo(root: Path) -> bytes | None:
    """Return the logo of a repository, such as `.github/logo.png`."""
    root = root.resolve()
    for folder in _FOLDERS:
        for name in _NAMES:
            for extension in _EXTENSIONS:
                path = root / folder / f"{name}.{extension}"
                # A parent folder may be a link that points out of the repository.
                if path.is_file() and path.parent.resolve().is_relative_to(root):
                    try:
                        return read_image(path)
                    except SpinneyError:
                        continue
    return None


def save(directories: Directories, image: bytes) -> str:
    """Save a validated image; return its path relative to the data directory."""
    create_private_directory(directories.data / FOLDER)
    relative = f"{FOLDER}/{secrets.token_hex(16)}.{detect_format(image)}"
    write_atomically(directories.data / relative, image)
    return relative


def find_saved(directories: Directories, relative: str | None) -> Path | None:
    """Return the file of a stored path, if it is directly in the avatars folder."""
    if not relative or "\0" in relative:
        return None
    folder = (directories.data / FOLDER).resolve()
    path = (directories.data / relative).resolve()
    return path if path.parent == folder and path.is_file() else None


def delete(directories: Directories, relative: str | None) -> None:
    """Delete a stored image; does nothing if it does not exist."""
    path = find_saved(directories, relative)
    if path is not None:
        path.unlink(missing_ok=True)


def _check(image: bytes) -> bytes:
    if len(image) > MAX_BYTES:
        raise SpinneyError("The image is larger than 2 MiB. Choose a smaller one.", "too_large")
    if detect_format(image) is None:
        raise SpinneyError("The image must be a PNG, JPEG, WebP or GIF.")
    if is_decompression_bomb(image):
        raise SpinneyError("The image has too many pixels. Choose a smaller one.", "too_large")
    return image
