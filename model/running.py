"""One Spinney per data directory: the lock, the log, and where a running server is found."""

import fcntl
import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path

from model.errors import SpinneyError
from model.paths import PRIVATE_FILE, unsaved

LOG_SIZE = 2 * 1024 * 1024
"""Bytes of one log file; one older file is kept."""


@contextmanager
def hold_lock(path: Path) -> Iterator[None]:
    """Keep other Spinneys off this data directory; freed by the system if this one is killed.

    Raises `SpinneyError` that names the process which holds it.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
    except OSError as error:
        raise unsaved(path, error, "opened") from error
    try:
        _lock(descriptor, path)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.pread(descriptor, 20, 0).decode(errors="replace").strip()
        raise SpinneyError(
            f"Spinney is already running here (process {holder or 'unknown'})."
            " Go on there, or end it first.",
            "conflict",
        ) from None
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
    except OSError as error:
        raise unsaved(path, error, "saved") from error


def log_to(path: Path, level: str) -> None:
    """Write the log of this process to `path`, readable for its owner alone."""
    names = {"trace": logging.DEBUG, "debug": logging.DEBUG, "info": logging.INFO}
    names |= {"warn": logging.WARNING, "error": logging.ERROR}
    try:
        path.touch(PRIVATE_FILE)
        handler = RotatingFileHandler(path, maxBytes=LOG_SIZE, backupCount=1)
    except OSError as error:
        raise unsaved(path, error, "opened") from error
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    # A log that cannot be written, on a full disk, must not print tracebacks over the screen.
    logging.raiseExceptions = False
    logging.basicConfig(handlers=[handler], level=names.get(level.lower(), logging.INFO))


def running_server(path: Path) -> tuple[str, str]:
    """Address and token of the running server. Raises `SpinneyError` when there is none."""
    try:
        found = json.loads(path.read_bytes())
        os.kill(found["pid"], 0)
        return found["base_url"], found["token"]
    except (OSError, ValueError, KeyError, TypeError):
        raise SpinneyError(
            "No Spinney with a server is running. Start one with `spinney serve`, or start the"
            " server in a running Spinney (ctrl+p, “Start the server”).",
            "backend_unavailable",
        ) from None
