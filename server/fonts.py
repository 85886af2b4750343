"""Faces that a person put into `<config>/fonts`, for the page: none of our own come with Spinney.

A preference's font is found under its own name: `inter.woff2` holds its usual face, or all of its
weights where it is a variable font, beside it `inter-bold.woff2`, `inter-italic.woff2` and
`inter-bold-italic.woff2` where they are apart.
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
    """`/fonts.css`, and each face that it names under `/fonts/`; blocks."""
    faces = dict(_faces(folder))
    rules = [
        f'@font-face {{ font-family: "{name.replace("-", " ")}"; font-style: {style}; '
        f'font-weight: {weight}; font-display: swap; src: url("fonts/{file}") format("woff2"); }}\n'
        for name in _NAMES
        for file, weight, style in _files_of(name, faces)
    ]
    served = {f"/fonts/{file}": content for file, content in faces.items()}
    return {"/fonts.css": "".join(rules).encode(), **served}


def _faces(folder: Path) -> Iterator[tuple[str, bytes]]:
    for name in _NAMES:
        for weight in ("", "-bold"):
            for slant, _ in _STYLES:
                path = folder / f"{name}{weight}{slant}.woff2"
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
        _log.warning("the font %s could not be read: %s", path, error.strerror)
        return None
    if content.startswith(_WOFF2) and len(content) <= MAX_FONT_BYTES:
        return content
    _log.warning("%s is no WOFF2 font of up to 4 MB; it is left out", path)
    return None


def _files_of(name: str, faces: dict[str, bytes]) -> Iterator[tuple[str, str, str]]:
    """File, weight and style of each face of a font."""
    for slant, style in _STYLES:
        usual, bold = f"{name}{slant}.woff2", f"{name}-bold{slant}.woff2"
        if usual in faces:
            yield usual, "400" if bold in faces else "100 900", style
        if bold in faces:
            yield bold, "700", style
