"""Font files from `<config>/fonts` for the page; Spinney ships no fonts of its own.

Files are named after the preference's value: `inter.woff2` is the regular face, or all weights of a
variable font; `inter-bold.woff2`, `inter-italic.woff2` and `inter-bold-italic.woff2` are used in
addition if they exist.
"""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Final, get_args

from model.preferences.schema import ChatFont, UiFont

MAX_FONT_BYTES: Final = 4_000_000

_NAMES: Final = tuple(dict.fromkeys(get_args(UiFont) + get_args(ChatFont)))
_STYLES: Final = (("", "normal"), ("-italic", "italic"))
_WOFF2: Final = b"wOF2"

_log = logging.getLogger(__name__)


def font_files(folder: Path) -> dict[str, bytes]:
    """`/fonts.css` and the `/fonts/` files it refers to, by path. Does blocking I/O."""
    faces = dict(_read_faces(folder))
    rules = [
        f'@font-face {{ font-family: "{name.replace("-", " ")}"; font-style: {style}; '
        f'font-weight: {weight}; font-display: swap; src: url("fonts/{file}") format("woff2"); }}\n'
        for name in _NAMES
        for file, weight, style in _list_faces(name, faces)
    ]
    served = {f"/fonts/{file}": content for file, content in faces.items()}
    return {"/fonts.css": "".join(rules).encode(), **served}


def _read_faces(folder: Path) -> Iterator[tuple[str, bytes]]:
    for name in _NAMES:
        for weight in ("", "-bold"):
            for suffix, _ in _STYLES:
                path = folder / f"{name}{weight}{suffix}.woff2"
                content = _read(path)
                if content is not None:
                    yield path.name, content


def _read(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FONT_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        _log.warning("could not read the font %s: %s", path, error.strerror)
        return None
    if content.startswith(_WOFF2) and len(content) <= MAX_FONT_BYTES:
        return content
    _log.warning("ignored %s: not a WOFF2 font of at most 4 MB", path)
    return None


def _list_faces(name: str, faces: dict[str, bytes]) -> Iterator[tuple[str, str, str]]:
    """The file, weight and style of each face of a font."""
    for suffix, style in _STYLES:
        regular, bold = f"{name}{suffix}.woff2", f"{name}-bold{suffix}.woff2"
        if regular in faces:
            yield regular, "400" if bold in faces else "100 900", style
        if bold in faces:
            yield bold, "700", style
