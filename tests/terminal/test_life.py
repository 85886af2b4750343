"""The demo in a real terminal: a worktree is created, and an agent streams in it while the terminal
is typed in, resized, suspended and closed.
"""

import sys
from pathlib import Path

import psutil
import pytest

from tests.patience import PATIENCE
from tests.program import ROOT
from tests.terminal.tmux import PROMPT, Tmux, shell_in_tmux

DEMO = f"{sys.executable} {ROOT / 'spinney.py'} demo"
FOREVER = "/demo stream 200000 300"
MEGABYTE = 1_000_000
NEW_PROMPT = f"\n{PROMPT}\n"
"""On its own row, unlike the prompt with the command, which is visible again a little earlier."""


def start_demo(tmux: Tmux) -> None:
    """Start the demo, with a worktree in which an agent streams."""
    tmux.command(DEMO)
    tmux.wait_for_text("▾ orchard", "first-steps", "Message Demo agent")
    tmux.press("C-n")
    tmux.wait_for_text("New worktree in orchard")
    tmux.type(FOREVER)
    tmux.press("Tab")
    tmux.type("calm-test")
    tmux.press("Enter")
    tmux.wait_for_text("calm-test", "1 running", ":1")  # A number and its time.


def all_end(processes: list[psutil.Process]) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=PATIENCE)
    return not alive


def is_terminal_restored(tmux: Tmux) -> bool:
    """Whether alternate screen, mouse and hidden cursor are off, and echo and line mode are on."""
    modes = [tmux.query(name) for name in ("alternate_on", "mouse_any_flag", "cursor_flag")]
    tmux.command("echo 'and' \"on\"")
    tmux.wait_for_text("and on")
    tmux.command("stty -a | tr ';' '\\n' | grep -o -e ' icanon' -e ' echo ' | wc -l")
    tmux.wait_for_text("\n2\n")
    return modes == ["0", "0", "1"]


@pytest.mark.short
def test_the_demo_survives_resizing_pasting_and_suspending_and_quits_cleanly(
    tmp_path: Path,
) -> None:
    with shell_in_tmux(tmp_path) as tmux:
        start_demo(tmux)
        # Type while the agent streams.
        tmux.type("typed while it streams")
        tmux.wait_for_text("typed while it streams", "1 running")
        # Resize; below 100 columns the tree is hidden.
        for columns, rows in ((80, 24), (60, 15), (200, 50), (40, 10), (120, 40)):
            tmux.resize(columns, rows)
            tmux.wait_for_text("needs" if columns == 40 else "typed while it streams")
        tmux.wait_for_text("▾ orchard", "calm-test")
        # A paste of a megabyte becomes a chip.
        tmux.paste("x" * MEGABYTE, tmp_path)
        tmux.wait_for_text("typed while it streams[pasted 1,000,000 characters]")
        # Suspend and resume; the agent continues.
        tmux.press("C-z")
        tmux.wait_for_text(NEW_PROMPT)
        assert is_terminal_restored(tmux)
        tmux.command("fg")
        tmux.wait_for_text("▾ orchard", "typed while it streams[pasted", "1 running")
        # Stop the run with a key, and open the other session with the mouse.
        tmux.press("Escape")
        tmux.wait_for_text("■ stopped by you")
        row = next(
            n
            for n, line in enumerate(tmux.screen.splitlines(), 1)
            if "first-steps  Tour" in line[:34]
        )
        for end in "Mm":
            tmux.type(f"\x1b[<0;12;{row}{end}")
        tmux.wait_for_text("first-steps ▸ Tour", "Message Demo agent")
        # Quit; no process and no file is left.
        programs = tmux.programs
        assert programs
        tmux.press("C-q")
        tmux.wait_for_text(NEW_PROMPT)
        assert all_end(programs)
        assert is_terminal_restored(tmux)
        assert not list(tmp_path.glob("spinney-demo-*"))


def test_a_lost_connection_ends_the_demo_and_its_agents(tmp_path: Path) -> None:
    with shell_in_tmux(tmp_path) as tmux:
        start_demo(tmux)
        programs = tmux.programs
        assert len(programs) > 1
        tmux.disconnect()
        assert all_end(programs)
        assert not list(tmp_path.glob("spinney-demo-*"))
