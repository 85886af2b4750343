"""Running programs on the whole terminal, and starting programs that open a window.

A program runs on a pty whose bytes are relayed: Spinney has no controlling terminal, so a shell
would have neither `ctrl+c` nor job control. The screen is suspended meanwhile, and everything else
keeps running.
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

_READ_SIZE: Final = 1 << 16
_POLL_INTERVAL: Final = 0.25
"""Seconds between two checks of the terminal's size."""
_WINDOW_TIMEOUT: Final = 10.0
"""Seconds to wait for the failure of a program that opens a window."""

# Makes its standard input the controlling terminal of its session, then executes the program.
_EXEC_WITH_TERMINAL: Final = (
    "import fcntl,os,sys,termios;fcntl.ioctl(0,termios.TIOCSCTTY,0);"
    "os.execvp(sys.argv[1],sys.argv[1:])"
)


async def run_in_terminal(
    app: "App[Any]", command: Sequence[str], folder: Path, environ: Mapping[str, str]
) -> int:
    """Run a program on the whole terminal and return its exit code. Raises `SpinneyError`."""
    suspension: AbstractContextManager[None] = nullcontext() if app.is_headless else app.suspend()
    with suspension, app.batch_update():
        run = _run_headless if app.is_headless else _run_on_pty
        try:
            code = await asyncio.to_thread(run, command, folder, environ)
        except OSError as error:
            raise _start_error(command[0], error) from error
    app.screen.refresh(layout=True)
    return code


async def open_in_window(command: Sequence[str], folder: Path, environ: Mapping[str, str]) -> None:
    """Start a program that opens its own window. Raises `SpinneyError` if it fails."""
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
        raise _start_error(command[0], error) from error
    with suppress(TimeoutError):
        code = await asyncio.wait_for(asyncio.shield(process.wait()), _WINDOW_TIMEOUT)
        if code:
            raise SpinneyError(f"'{command[0]}' failed (exit code {code}).")


def _start_error(program: str, error: OSError) -> SpinneyError:
    reason = error.strerror or type(error).__name__
    return SpinneyError(f"'{program}' could not be started: {reason}.", "backend_unavailable")


def _run_headless(command: Sequence[str], folder: Path, environ: Mapping[str, str]) -> int:
    """Run without a terminal, with input and output discarded."""
    devnull = subprocess.DEVNULL
    return subprocess.run(
        command, cwd=folder, env=environ, stdin=devnull, stdout=devnull, stderr=devnull
    ).returncode


def _run_on_pty(command: Sequence[str], folder: Path, environ: Mapping[str, str]) -> int:
    """Run on a pty, relaying between it and the terminal until the program ends."""
    terminal_in, terminal_out = sys.stdin.fileno(), sys.stdout.fileno()
    master, slave = pty.openpty()
    try:
        termios.tcsetattr(slave, termios.TCSANOW, termios.tcgetattr(terminal_in))
        _copy_size(terminal_in, master)
        process = subprocess.Popen(
            [sys.executable, "-ISc", _EXEC_WITH_TERMINAL, *command],
            cwd=folder,
            env=environ,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
    finally:
        os.close(slave)
    before = termios.tcgetattr(terminal_in)
    try:
        tty.setraw(terminal_in, termios.TCSANOW)  # keeps type-ahead
        _relay(terminal_in, terminal_out, master)
    finally:
        termios.tcsetattr(terminal_in, termios.TCSANOW, before)
        os.close(master)
    return process.wait()


def _relay(terminal_in: int, terminal_out: int, master: int) -> None:
    """Relay bytes until the program closes its terminal, or ours hangs up."""
    size = _copy_size(terminal_in, master)
    while True:
        ready, _, _ = select.select([terminal_in, master], [], [], _POLL_INTERVAL)
        if _size(terminal_in) != size:
            size = _copy_size(terminal_in, master)
        try:
            if terminal_in in ready:
                _write(master, data := os.read(terminal_in, _READ_SIZE))
                if not data:
                    return
            if master in ready:
                _write(terminal_out, data := os.read(master, _READ_SIZE))
                if not data:
                    return
        except OSError:  # Linux: no process has the pty open any more
            return


def _write(descriptor: int, data: bytes) -> None:
    remaining = memoryview(data)
    while remaining:
        remaining = remaining[os.write(descriptor, remaining) :]


def _size(terminal: int) -> bytes:
    return fcntl.ioctl(terminal, termios.TIOCGWINSZ, bytes(8))


def _copy_size(terminal_in: int, master: int) -> bytes:
    size = _size(terminal_in)
    fcntl.ioctl(master, termios.TIOCSWINSZ, size)
    return size
