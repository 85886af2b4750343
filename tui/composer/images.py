"""Images that come as paths: what terminals paste when a file is dropped on them."""

from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

SUFFIXES: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp")
"""What agents can look at."""
_LONGEST: Final = 20_000


def dropped_images(pasted: str) -> list[str]:
    """The paths of images that a pasted text consists of; none where it is anything else.

    Looks at the disk. Terminals quote paths as a shell would, or give `file:` addresses.
    """
    text = pasted.strip()
    # Most pastes are told apart before anything is read.
    if len(text) > _LONGEST or not any(suffix in text.lower() for suffix in SUFFIXES):
        return []
    whole = _path(text)
    if "\n" not in text and _is_image(whole):
        return [whole]
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
    except (ValueError, OSError):  # a NUL byte, or a name that is longer than any
        return False
