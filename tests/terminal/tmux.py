"""A shell in tmux, as a terminal for the programs under test."""

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
    """A tmux server with one window."""

    def __init__(self, place: Path) -> None:
        self._socket = str(place / "tmux")
        self._environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(place),
            "TMPDIR": str(place),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
        }

    def run(self, *arguments: str) -> str:
        """Run a command of tmux and return its output."""
        completed = subprocess.run(
            ["tmux", "-S", self._socket, "-f", os.devnull, *arguments],
            env=self._environ,
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE,
        )
        return completed.stdout

    def press(self, *keys: str) -> None:
        """Press keys, given by their names."""
        self.run("send-keys", *keys)

    def type(self, text: str) -> None:
        """Type text, which may contain control characters."""
        self.run("send-keys", "-l", text)

    def command(self, line: str) -> None:
        """Enter a line in the shell."""
        self.type(line)
        self.press("Enter")

    def paste(self, text: str, place: Path) -> None:
        """Paste text in brackets, as terminals do."""
        file = place / "pasted"
        file.write_text(text)
        self.run("load-buffer", str(file))
        self.run("paste-buffer", "-p")

    def resize(self, columns: int, rows: int) -> None:
        """Resize the window."""
        self.run("resize-window", "-x", str(columns), "-y", str(rows))

    @property
    def screen(self) -> str:
        """The text on the screen."""
        return self.run("capture-pane", "-p")

    def wait_for_text(self, *texts: str) -> str:
        """Wait until the screen contains all of these texts, and return it."""
        end = time.monotonic() + PATIENCE
        while not all(text in (screen := self.screen) for text in texts):
            assert time.monotonic() < end, f"never showed {texts}:\n{screen}"
            time.sleep(0.05)
        return screen

    def query(self, variable: str) -> str:
        """Return the value of a tmux format variable of the window."""
        return self.run("display-message", "-p", f"#{{{variable}}}").strip()

    @property
    def programs(self) -> list[psutil.Process]:
        """The descendants of the shell."""
        return psutil.Process(int(self.query("pane_pid"))).children(recursive=True)

    def disconnect(self) -> None:
        """Kill the tmux server, so that the terminal is closed."""
        self.run("kill-server")


@contextmanager
def shell_in_tmux(place: Path, columns: int = 120, rows: int = 40) -> Iterator[Tmux]:
    """Start a shell and wait for its prompt; skip the test if tmux is not installed."""
    if shutil.which("tmux") is None:
        pytest.skip("needs tmux")
    tmux = Tmux(place)
    shell = f"exec env PS1='{PROMPT} ' bash --norc --noprofile"
    tmux.run("new-session", "-d", "-x", str(columns), "-y", str(rows), "-c", str(ROOT), shell)
    try:
        tmux.wait_for_text(PROMPT)
        yield tmux
    finally:
        try:
            tmux.disconnect()
        except subprocess.CalledProcessError:
            pass  # already disconnected
