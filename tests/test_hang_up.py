"""Signals end the demo: the terminal is restored, and no process and no file remains."""

import signal
from pathlib import Path

import psutil
import pytest

from tests.on_terminal import OnTerminal
from tests.patience import PATIENCE
from tests.program import Program


def ends_completely(terminal: OnTerminal, program: Program, agents: list[psutil.Process]) -> bool:
    # Python exits with 120 if its last output finds the terminal closed.
    assert terminal.process.wait(timeout=PATIENCE) in ((0,) if terminal.outside >= 0 else (0, 120))
    gone, _ = psutil.wait_procs(agents, timeout=PATIENCE)
    return len(gone) == len(agents) and list(program.temporary.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("reads", [True, False])
def test_a_signal_ends_the_demo_its_agent_and_its_files(
    tmp_path: Path, number: signal.Signals, reads: bool
) -> None:
    spinney = Program(tmp_path)
    with spinney.on_a_terminal("demo") as terminal:
        terminal.wait_for_text("first-steps")
        terminal.write(b"/demo stream 200000 2000\r")
        terminal.wait_for_text("running")
        agents = psutil.Process(terminal.process.pid).children(recursive=True)
        if not reads:
            terminal.wait_until_full()
        terminal.process.send_signal(number)
        if reads:
            terminal.read_until(b"\x1b[?1049l")
        assert ends_completely(terminal, spinney, agents)


@pytest.mark.parametrize("streams", [True, False])
def test_a_closed_terminal_ends_the_demo_its_agent_and_its_files(
    tmp_path: Path, streams: bool
) -> None:
    spinney = Program(tmp_path)
    with spinney.on_a_terminal("demo") as terminal:
        terminal.wait_for_text("first-steps")
        if streams:
            terminal.write(b"/demo stream 200000 2000\r")
            terminal.wait_for_text("running")
        agents = psutil.Process(terminal.process.pid).children(recursive=True)
        terminal.disconnect()
        assert ends_completely(terminal, spinney, agents)
