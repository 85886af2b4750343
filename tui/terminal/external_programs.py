"""Programs that get the whole terminal for a while, and windows that open beside it.

A program gets a terminal of its own whose bytes pass through: Spinney has no controlling terminal,
so a shell would have neither `ctrl+c` nor jobs. The screen is put away meanwhile, and everything
else goes on.
"""

import asyncio
import fcntl
import os
import pty
import select
import subprocess
import sys
import termios
import tty
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from model.base.errors import SpinneyError

if TYPE_CHECKING:
    from textual.app import App

_PIECE: Final = 1 << 16
_LOOK: Final = 0.25
"""Seconds between two looks at the terminal's size."""
_SOON: Final = 10.0
"""Seconds in which a window that cannot open says so."""

# Makes its standard input the controlling terminal of its session, then becomes the program.
_BECOME: Final = (
    "import fcntl,os,sys,termios;fcntl.ioctl(0,termios.TIOCSCTTY,0);"
    "os.execvp(sys.argv[1],sys.argv[1:])"
)


async def in_terminal(
    app: "App[Any]", command: Sequence[str], folder: Path, environ: Mapping[str, str]
) -> int:
    """Run a program on the whole terminal; its exit code. Raises `SpinneyError`."""
    suspended: AbstractContextManager[None] = nullcontext() if app.is_headless else app.suspend()
    with suspended, app.batch_update():
        run = _alone if app.is_headless else _passed_through
        try:
            code = await asyncio.to_thread(run, command, folder, environ)
        except OSError as error:
            raise _not_started(command[0], error) from error
    app.screen.refresh(layout=True)
    return code


async def in_window(command: Sequence[str], folder: Path, environ: Mapping[str, str]) -> None:
    """Start a program that opens a window of its own. Raises `SpinneyError` where it cannot."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=folder,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise _not_started(command[0], error) from error
    with suppress(TimeoutError):
        code = await asyncio.wait_for(asyncio.shield(process.wait()), _SOON)
        if code:
            raise SpinneyError(f"{command[0]} could not open it (exit code {code}).")


def _not_started(program: str, error: OSError) -> SpinneyError:
    reason = error.strerror or type(error).__name__
    return SpinneyError(f"{program} could not be started: {reason}.", "backend_unavailable")


def _alone(command: Sequence[str], folder: Path, environ: Mapping[str, str]) -> int:
    """Where no terminal is: the program reads and shows nothing."""
    nowhere = subprocess.DEVNULL
    return subprocess.run(
        command, cwd=folder, env=environ, stdin=nowhere, stdout=nowhere, stderr=nowhere
    ).returncode


def _passed_through(command: Sequence[str], folder: Path, environ: Mapping[str, str]) -> int:
    """Between the terminal and one of the program's own, until the program ends."""
    near, far = sys.stdin.fileno(), sys.stdout.fileno()
    master, slave = pty.openpty()
    try:
        termios.tcsetattr(slave, termios.TCSANOW, termios.tcgetattr(near))
        _take_size(near, master)
        process = subprocess.Popen(
            [sys.executable, "-ISc", _BECOME, *command],
            cwd=folder,
            env=environ,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
    finally:
        os.close(slave)
    before = termios.tcgetattr(near)
    try:
        tty.setraw(near, termios.TCSANOW)  # what was typed ahead stays
        _relay(near, far, master)
    finally:
        termios.tcsetattr(near, termios.TCSANOW, before)
        os.close(master)
    return process.wait()


def _relay(near: int, far: int, master: int) -> None:
    """Pass bytes on until the program has closed its terminal, or ours is gone."""
    size = _take_size(near, master)
    while True:
        ready, _, _ = select.select([near, master], [], [], _LOOK)
        if _size(near) != size:
            size = _take_size(near, master)
        try:
            if near in ready:
                _write(master, typed := os.read(near, _PIECE))
                if not typed:
                    return
            if master in ready:
                _write(far, shown := os.read(master, _PIECE))
                if not shown:
                    return
        except OSError:  # how Linux says that nobody has it open any more
            return


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _size(terminal: int) -> bytes:
    return fcntl.ioctl(terminal, termios.TIOCGWINSZ, bytes(8))


def _take_size(near: int, master: int) -> bytes:
    size = _size(near)
    fcntl.ioctl(master, termios.TIOCSWINSZ, size)
    return size
