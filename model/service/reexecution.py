"""Replaces this process by a new one of the same command line, and what it leaves for that one.

Almost nothing is imported: a terminal's process reads this before its first frame.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from model import __version__

_FROM = "SPINNEY_RESTARTED_FROM"
_WITHOUT_SCREEN = "SPINNEY_RESTARTED_WITHOUT_SCREEN"


def replace_process(
    directory: str,
    *,
    options: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    has_screen: bool = False,
) -> NoReturn:
    """Start this command line again in this process.

    `directory` is the one in which it was started, to which its paths relate; `options` are added
    unless it ends with them. A process that `has_screen` gets it again with the `environment` of
    the one in front of it; if that is empty, the terminal has gone.
    """
    words = [sys.executable, *sys.orig_argv[1:]]
    if options and words[-len(options) :] != list(options):
        words += options
    kept = {**os.environ, _FROM: __version__, **(environment or {})}
    if has_screen and not environment:
        kept[_WITHOUT_SCREEN] = "1"
    try:
        os.chdir(directory)
    except OSError:  # It was deleted. A program that was installed has an absolute path.
        os.chdir("/")
    os.execve(sys.executable, words, kept)


def take_previous_version() -> str | None:
    """Return the version that this process has replaced, once; `None` if it has not."""
    return os.environ.pop(_FROM, None)


def take_without_screen() -> bool:
    """Whether this process has replaced one without a terminal, once."""
    return os.environ.pop(_WITHOUT_SCREEN, "") == "1"
