"""What is written to a terminal that has gone, or refuses output, stops nothing."""

import os
import pty
import select
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import IO

import pytest
from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread

from tests.patience import PATIENCE
from tui.terminal.output import TrackedStream


class Screen:
    """A terminal and the stream of the program in it."""

    def __init__(self) -> None:
        self.terminal, program = pty.openpty()
        self.stream: IO[str] = os.fdopen(program, "w")
        self.writer = WriterThread(TrackedStream(self.stream))  # type: ignore[arg-type]
        self.writer.start()

    def write(self, *texts: str) -> bool:
        """Write from another thread; return whether all of it was accepted in time."""

        def write_all() -> None:
            for text in texts:
                self.writer.write(text)

        thread = threading.Thread(target=write_all, daemon=True)
        thread.start()
        thread.join(PATIENCE)
        return not thread.is_alive()


@pytest.fixture
def screen() -> Iterator[Screen]:
    screen = Screen()
    yield screen
    if screen.writer.is_alive():
        screen.writer.stop()
    with suppress(OSError):
        screen.stream.close()


def test_output_to_a_terminal_that_has_gone_blocks_nothing(screen: Screen) -> None:
    os.close(screen.terminal)
    assert screen.write(*["lost\n"] * (3 * MAX_QUEUED_WRITES))
    assert screen.writer.is_alive()


def test_a_terminal_that_another_program_made_nonblocking_is_still_written_to(
    screen: Screen,
) -> None:
    os.set_blocking(screen.stream.fileno(), False)
    assert screen.write("x" * 1_000_000, "the end")
    received = b""
    while not received.endswith(b"the end"):
        assert select.select([screen.terminal], [], [], PATIENCE)[0]
        received = received[-10:] + os.read(screen.terminal, 65536)
    os.close(screen.terminal)
