"""A repository cloned from where it is hosted; what fails or is cancelled leaves nothing behind."""

import asyncio
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import clean_line, make_output_visible
from model.git.run import git

_TIMEOUT: Final = 3600
"""Seconds; a large repository over a slow line takes most of an hour."""
_URL: Final = re.compile(
    r"(?:https?|ssh|git|file)://[^\s]+"  # an address
    r"|[\w.-]+@[\w.-]+:[^\s]+"  # as ssh writes it: git@example.com:ada/engine.git
    r"|/[^\0\n]+"  # a directory of this machine
)


def check_url(url: str) -> str:
    """`url`, if git may be asked to clone it. Raises `SpinneyError`."""
    url = url.strip()
    if not _URL.fullmatch(url):
        raise SpinneyError(
            "Invalid field 'url': must be an address such as https://host/owner/name.git or "
            "git@host:owner/name.git, or an absolute path"
        )
    return url


def name_in(url: str) -> str:
    """What git would call the directory: `engine` for `https://host/ada/engine.git`."""
    last = re.split(r"[/:]", url.strip().rstrip("/").removesuffix(".git"))[-1]
    return clean_line(last)


async def clone(url: str, target: Path, told: Callable[[str], None]) -> None:
    """Clone `url` into `target`, a directory that is not there yet or is empty.

    Args:
        url: What `check_url` lets through.
        target: An absolute path.
        told: Is given git's newest word on how far it is, in a thread.

    Raises:
        SpinneyError: `conflict` where something stands at `target`; `git_error` with git's words.
    """
    made = await asyncio.to_thread(_room_for, target)
    try:
        await git(
            target.parent, "clone", "--progress", "--", url, target.name,
            write=True, timeout=_TIMEOUT, heard=_Words(told).hear,
        )  # fmt: skip
    except BaseException:
        # Git takes back what it made unless it was killed; an empty directory of ours stays.
        await asyncio.shield(asyncio.to_thread(_clear, target, made))
        raise


def _room_for(target: Path) -> list[Path]:
    """The directories that were made for it, the outermost first."""
    if os.path.lexists(target) and not (target.is_dir() and not any(target.iterdir())):
        raise SpinneyError(
            f"Something stands at {target} already. Name another directory, or add that one.",
            "conflict",
        )
    missing = [place for place in target.parents if not place.exists()][::-1]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SpinneyError(
            f"Invalid field 'path': {target.parent} cannot be made ({error.strerror})"
        ) from None
    return missing


def _clear(target: Path, made: list[Path]) -> None:
    shutil.rmtree(target, ignore_errors=True)
    for place in reversed(made):
        try:
            place.rmdir()
        except OSError:
            return


class _Words:
    """Git's progress, of which only the newest line counts."""

    def __init__(self, told: Callable[[str], None]) -> None:
        self._told = told
        self._rest = b""

    def hear(self, piece: bytes) -> None:
        """Take a piece of standard error; lines end with a return or a line feed."""
        *lines, self._rest = re.split(rb"[\r\n]", self._rest[-1000:] + piece)
        words = [line for line in lines if line.strip()]
        if words:
            self._told(make_output_visible(words[-1].decode("utf-8", "replace")).strip())
