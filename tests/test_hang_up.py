"""Being told to end: the terminal is given back and nothing stays, whatever the terminal does."""

import signal
from pathlib import Path

import psutil
import pytest

from tests.on_terminal import OnTerminal
from tests.patience import PATIENCE
from tests.program import Program


def ends_whole(terminal: OnTerminal, program: Program, agents: list[psutil.Process]) -> bool:
    # Python gives 120 when its last words find no terminal any more.
    assert terminal.process.wait(timeout=PATIENCE) in ((0,) if terminal.outside >= 0 else (0, 120))
    gone, _ = psutil.wait_procs(agents, timeout=PATIENCE)
    return len(gone) == len(agents) and list(program.temporary.iterdir()) == []


@pytest.mark.few(2)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("reads", [True, False])
def test_a_signal_ends_the_demo_its_agent_and_its_files(
    tmp_path: Path, number: signal.Signals, reads: bool
) -> None:
    spinney = Program(tmp_path)
    with spinney.on_a_terminal("demo") as terminal:
        terminal.shows("first-steps")
        terminal.write(b"/demo stream 200000 2000\r")
        terminal.shows("running")
        agents = psutil.Process(terminal.process.pid).children(recursive=True)
        if not reads:
            terminal.wait_until_full()
        terminal.process.send_signal(number)
        if reads:
            terminal.read_until(b"\x1b[?1049l")
        assert ends_whole(terminal, spinney, agents)


@pytest.mark.few(1)
@pytest.mark.parametrize("streams", [True, False])
def test_a_terminal_that_vanishes_ends_the_demo_its_agent_and_its_files(
    tmp_path: Path, streams: bool
) -> None:
    spinney = Program(tmp_path)
    with spinney.on_a_terminal("demo") as terminal:
        terminal.shows("first-steps")
        if streams:
            terminal.write(b"/demo stream 200000 2000\r")
            terminal.shows("running")
        agents = psutil.Process(terminal.process.pid).children(recursive=True)
        terminal.vanish()
        assert ends_whole(terminal, spinney, agents)
