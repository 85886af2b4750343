"""Detection of pasted image paths, which terminals also send when a file is dropped on them."""

from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

SUFFIXES: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp")
"""Image formats that agents support."""
_MAX_LENGTH: Final = 20_000


def find_dropped_images(pasted: str) -> list[str]:
    """Return the image paths in a pasted text; empty if it contains anything else.

    Accesses the disk. Terminals quote paths like a shell, or send `file:` URLs.
    """
    text = pasted.strip()
    # Most pastes are ruled out without accessing the disk.
    if len(text) > _MAX_LENGTH or not any(suffix in text.lower() for suffix in SUFFIXES):
        return []
    path = _path(text)
    if "\n" not in text and _is_image(path):
        return [path]
    import shlex  # not before the first frame

    try:
        paths = [_path(word) for word in shlex.split(text)]
    except ValueError:  # an unclosed quotation mark
        return []
    return paths if paths and all(map(_is_image, paths)) else []


def _path(word: str) -> str:
    if word.startswith("file://"):
        word = unquote(urlsplit(word).path)
    return str(Path.home() / word[2:]) if word.startswith("~/") else word


def _is_image(name: str) -> bool:
    path = Path(name)
    try:
        return name.lower().endswith(SUFFIXES) and path.is_absolute() and path.is_file()
    except (ValueError, OSError):  # a NUL byte, or a name that is too long
        return False
