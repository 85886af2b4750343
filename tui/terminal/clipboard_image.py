"""Reads an image from the clipboard with the programs of the desktop.

Terminals paste text only, and the few escape sequences for other content are rarely supported.
"""

import asyncio
import sys
from collections.abc import Mapping
from contextlib import suppress
from shutil import which
from typing import Final

from model.base.errors import SpinneyError

TYPES: Final = ("image/png", "image/jpeg", "image/webp", "image/gif")
"""Formats that agents support, best first."""
LIMIT: Final = 10_000_000
"""Bytes of an image that can be attached."""
_TIMEOUT: Final = 5.0
_HOW_ELSE: Final = "Save the image as a file, and paste or drop its path."


async def read_clipboard_image(
    environ: Mapping[str, str], platform: str = sys.platform
) -> bytes | None:
    """Return the image in the clipboard, or `None` if there is none.

    Raises `SpinneyError` if nothing here can read it, or it is too large.
    """
    path = environ.get("PATH")
    if platform == "darwin" and not environ.get("SSH_CONNECTION"):
        image = await _read_from_mac(path)
    elif environ.get("WAYLAND_DISPLAY") and which("wl-paste", path=path):
        types = await _run(["wl-paste", "--list-types"], environ)
        image = await _read_type(types, ["wl-paste", "--no-newline", "--type"], [], environ)
    elif environ.get("DISPLAY") and which("xclip", path=path):
        xclip = ["xclip", "-selection", "clipboard", "-t"]
        types = await _run([*xclip, "TARGETS", "-o"], environ)
        image = await _read_type(types, xclip, ["-o"], environ)
    else:
        raise SpinneyError(_how_to_read(environ))
    if image is not None and len(image) > LIMIT:
        raise SpinneyError(f"The image in the clipboard is larger than {LIMIT // 1_000_000} MB.")
    return image


def _how_to_read(environ: Mapping[str, str]) -> str:
    if environ.get("WAYLAND_DISPLAY"):
        return f"Install wl-clipboard to paste images. {_HOW_ELSE}"
    if environ.get("DISPLAY"):
        return f"Install xclip to paste images. {_HOW_ELSE}"
    return f"This terminal has no clipboard that Spinney can read images from. {_HOW_ELSE}"


async def _read_type(
    types: bytes, before: list[str], after: list[str], environ: Mapping[str, str]
) -> bytes | None:
    """Read the best of the formats that the clipboard offers."""
    offered = types.decode(errors="replace").split()
    best = next((name for name in TYPES if name in offered), None)
    return await _run([*before, best, *after], environ) if best is not None else None


async def _read_from_mac(path: str | None) -> bytes | None:
    if which("pngpaste", path=path):
        return await _run(["pngpaste", "-"]) or None
    script = "get the clipboard as «class PNGf»"
    shown = (await _run(["osascript", "-e", script])).decode(errors="replace").strip()
    with suppress(ValueError):  # it has no image
        return bytes.fromhex(shown.removeprefix("«data PNGf").removesuffix("»")) or None
    return None


async def _run(command: list[str], environ: Mapping[str, str] | None = None) -> bytes:
    """The output of a program; empty if it fails."""
    devnull = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=devnull,
            stdout=asyncio.subprocess.PIPE,
            stderr=devnull,
            env=dict(environ) if environ is not None else None,
        )
    except OSError:
        return b""
    try:
        async with asyncio.timeout(_TIMEOUT):
            output, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        return b""
    return output if process.returncode == 0 else b""
