"""A terminal that a person sits at: a shell in tmux, which draws what programs write."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.patience import PATIENCE
from tests.program import ROOT

PROMPT = "READY>"


class Tmux:
    """One window of a tmux server of its own."""

    def __init__(self, place: Path) -> None:
        self._socket = str(place / "tmux")
        self._environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(place),
            "TMPDIR": str(place),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
        }

    def run(self, *words: str) -> str:
        """A command of tmux, and what it says."""
        told = subprocess.run(
            ["tmux", "-S", self._socket, "-f", os.devnull, *words],
            env=self._environ,
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE,
        )
        return told.stdout

    def press(self, *keys: str) -> None:
        """Keys by their names."""
        self.run("send-keys", *keys)

    def type(self, text: str) -> None:
        """Letters, or the bytes of what is no letter."""
        self.run("send-keys", "-l", text)

    def command(self, line: str) -> None:
        """A line for the shell."""
        self.type(line)
        self.press("Enter")

    def paste(self, text: str, place: Path) -> None:
        """Paste as terminals do."""
        file = place / "pasted"
        file.write_text(text)
        self.run("load-buffer", str(file))
        self.run("paste-buffer", "-p")

    def resize(self, columns: int, rows: int) -> None:
        """Make the window larger or smaller."""
        self.run("resize-window", "-x", str(columns), "-y", str(rows))

    @property
    def screen(self) -> str:
        """What is to be seen."""
        return self.run("capture-pane", "-p")

    def shows(self, *texts: str) -> str:
        """Wait until all of these are to be seen; the screen that shows them."""
        end = time.monotonic() + PATIENCE
        while not all(text in (screen := self.screen) for text in texts):
            assert time.monotonic() < end, f"never showed {texts}:\n{screen}"
            time.sleep(0.05)
        return screen

    def tell(self, fact: str) -> str:
        """A fact about the window, as tmux calls it."""
        return self.run("display-message", "-p", f"#{{{fact}}}").strip()

    @property
    def programs(self) -> list[psutil.Process]:
        """All that the shell has started."""
        return psutil.Process(int(self.tell("pane_pid"))).children(recursive=True)

    def hang_up(self) -> None:
        """The connection is lost: the terminal is gone."""
        self.run("kill-server")


@contextmanager
def shell_in_tmux(place: Path, columns: int = 120, rows: int = 40) -> Iterator[Tmux]:
    """A shell at its prompt. Skips where there is no tmux."""
    if shutil.which("tmux") is None:
        pytest.skip("needs tmux")
    tmux = Tmux(place)
    shell = f"exec env PS1='{PROMPT} ' bash --norc --noprofile"
    tmux.run("new-session", "-d", "-x", str(columns), "-y", str(rows), "-c", str(ROOT), shell)
    try:
        tmux.shows(PROMPT)
        yield tmux
    finally:
        try:
            tmux.hang_up()
        except subprocess.CalledProcessError:
            pass  # it was lost already
