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

LOG_SIZE = 2 * 1024 * 1024
"""Bytes of one log file; one older file is kept."""


@contextmanager
def hold_lock(path: Path) -> Iterator[None]:
    """Keep other Spinneys off this data directory; freed by the system if this one is killed.

    Raises `SpinneyError` that names the process which holds it.
    """
    with path.open("a+") as file:
        path.chmod(0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            raise SpinneyError(
                f"Spinney is already running here (process {file.read().strip() or 'unknown'})."
                " Go on there, or end it first.",
                "conflict",
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def log_to(path: Path, level: str) -> None:
    """Write the log of this process to `path`, readable for its owner alone."""
    names = {"trace": logging.DEBUG, "debug": logging.DEBUG, "info": logging.INFO}
    names |= {"warn": logging.WARNING, "error": logging.ERROR}
    handler = RotatingFileHandler(path, maxBytes=LOG_SIZE, backupCount=1, delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    old_mask = os.umask(0o077)
    try:
        path.touch()
    finally:
        os.umask(old_mask)
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
