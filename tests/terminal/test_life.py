"""The life of a worktree, lived through in a real terminal: it is made, an agent works in it, and
whatever a person does to the terminal meanwhile, nothing is lost and nothing is left.
"""

import sys
from pathlib import Path

import psutil

from tests.patience import PATIENCE
from tests.program import ROOT
from tests.terminal.tmux import PROMPT, Tmux, shell_in_tmux

DEMO = f"{sys.executable} {ROOT / 'spinney.py'} demo"
FOREVER = "/demo stream 200000 300"
MEGABYTE = 1_000_000
NEW_PROMPT = f"\n{PROMPT}\n"
"""Behind the one with the command, which is seen again before the terminal is given back whole."""


def begin(tmux: Tmux) -> None:
    """The demo, with a worktree in which an agent streams."""
    tmux.command(DEMO)
    tmux.shows("orchard", "first-steps", "Message Demo agent")
    tmux.press("C-n")
    tmux.shows("New worktree in orchard")
    tmux.type(FOREVER)
    tmux.press("Tab")
    tmux.type("calm-test")
    tmux.press("Enter")
    tmux.shows("calm-test", "1 running", ":1")  # A number and the time it came at.


def all_end(processes: list[psutil.Process]) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=PATIENCE)
    return not alive


def leaves_a_whole_terminal(tmux: Tmux) -> bool:
    """Neither the alternate screen nor the mouse nor a hidden cursor stays, and lines are lines."""
    modes = [tmux.tell(name) for name in ("alternate_on", "mouse_any_flag", "cursor_flag")]
    tmux.command("echo 'and' \"on\"")
    tmux.shows("and on")
    tmux.command("stty -a | tr ';' '\\n' | grep -o -e ' icanon' -e ' echo ' | wc -l")
    tmux.shows("\n2\n")
    return modes == ["0", "0", "1"]


def test_it_lives_through_all_that_a_person_does_to_a_terminal(tmp_path: Path) -> None:
    with shell_in_tmux(tmp_path) as tmux:
        begin(tmux)
        # Written while the agent streams.
        tmux.type("typed while it streams")
        tmux.shows("typed while it streams", "1 running")
        # Every size; below 100 columns the tree gives way.
        for columns, rows in ((80, 24), (60, 15), (200, 50), (40, 10), (120, 40)):
            tmux.resize(columns, rows)
            tmux.shows("needs" if columns == 40 else "typed while it streams")
        tmux.shows("Projects", "calm-test")
        # A paste of a megabyte is one word.
        tmux.paste("x" * MEGABYTE, tmp_path)
        tmux.shows("typed while it streams[pasted 1,000,000 characters]")
        # To the shell and back; the agent goes on.
        tmux.press("C-z")
        tmux.shows(NEW_PROMPT)
        assert leaves_a_whole_terminal(tmux)
        tmux.command("fg")
        tmux.shows("Projects", "typed while it streams[pasted", "1 running")
        # The run is stopped by a key, and the other session opened by the mouse.
        tmux.press("Escape")
        tmux.shows("■ stopped by you")
        row = next(n for n, line in enumerate(tmux.screen.splitlines(), 1) if "· Tour" in line[:34])
        for end in "Mm":
            tmux.type(f"\x1b[<0;12;{row}{end}")
        tmux.shows("first-steps ▸ Tour", "Message Demo agent")
        # Left by its key, it leaves nothing.
        programs = tmux.programs
        assert programs
        tmux.press("C-q")
        tmux.shows(NEW_PROMPT)
        assert all_end(programs)
        assert leaves_a_whole_terminal(tmux)
        assert not list(tmp_path.glob("spinney-demo-*"))


def test_a_connection_that_is_lost_takes_the_demo_and_its_agents_along(tmp_path: Path) -> None:
    with shell_in_tmux(tmp_path) as tmux:
        begin(tmux)
        programs = tmux.programs
        assert len(programs) > 1
        tmux.hang_up()
        assert all_end(programs)
        assert not list(tmp_path.glob("spinney-demo-*"))
