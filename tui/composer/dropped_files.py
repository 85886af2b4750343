"""Detection of pasted paths of files, which terminals also send when a file is dropped on them."""

from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

SUFFIXES: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp")
"""Image formats that agents support."""
_MAX_LENGTH: Final = 20_000
"""Characters of a pasted text that is examined: `shlex.split` takes quadratic time."""
_BEGINNINGS: Final = ("/", "~/", "file://", "'", '"')
"""What a pasted path begins with; most pastes are ruled out without accessing the disk."""


def find_dropped_files(pasted: str) -> list[str]:
    """Return the paths of existing files in a pasted text; empty if it contains anything else.

    Accesses the disk. Terminals quote paths like a shell, or send `file:` URLs.
    """
    text = pasted.strip()
    if len(text) > _MAX_LENGTH or not text.startswith(_BEGINNINGS):
        return []
    path = _path(text)
    if "\n" not in text and _is_file(path):
        return [path]
    import shlex  # not before the first frame

    try:
        paths = [_path(word) for word in shlex.split(text)]
    except ValueError:  # an unclosed quotation mark
        return []
    return paths if paths and all(map(_is_file, paths)) else []


def is_image(path: str) -> bool:
    """Whether agents can see a file as an image, by its name."""
    return path.lower().endswith(SUFFIXES)


def mention(path: str, root: str = "") -> str:
    """How a file is mentioned in a message, relative to the worktree at `root` if it is in it."""
    if root and Path(path).is_relative_to(root):
        path = str(Path(path).relative_to(root))
    return f'@"{path}"' if " " in path else f"@{path}"


def _path(word: str) -> str:
    if word.startswith("file://"):
        word = unquote(urlsplit(word).path)
    return str(Path.home() / word[2:]) if word.startswith("~/") else word


def _is_file(name: str) -> bool:
    path = Path(name)
    try:
        return path.is_absolute() and path.is_file()
    except (ValueError, OSError):  # a NUL byte, or a name that is too long
        return False
