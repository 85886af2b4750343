"""How a terminal can end: which processes remain, and that drafts are restored."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.on_terminal import OnTerminal
from tests.patience import PATIENCE
from tests.program import Program, filter_by_name, pid_of, until

Ending = Callable[[OnTerminal, int], None]


@pytest.fixture
def spinney(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path, is_warm=False)  # found by the environment of its start
    yield program
    program.kill()


def find_processes(spinney: Program) -> set[int]:
    """The IDs of all processes started by this Spinney or its agents, zombies included."""
    found = set()
    for process in psutil.process_iter():
        try:
            environ = process.environ()
            is_ours = str(spinney.data) in environ.get("SPINNEY_DATA_DIR", "")
            is_agents = str(spinney.place) in environ.get("SPINNEY_WORKSPACE_PATH", "")
            if is_ours or is_agents:
                found.add(process.pid)
        except psutil.Error:
            continue
    return found


def begin_work(spinney: Program, terminal: OnTerminal) -> set[int]:
    """Run a command with children in an agent; return the process IDs, and Spinney's."""
    terminal.wait_for_text("No projects yet")
    worktree = spinney.create_ready_worktree(spinney.make_repository())
    session = spinney.call("create_session", f"worktreeId={worktree['id']}", "executionMode=yolo")
    command = "/demo run sleep 600 & sleep 600"
    spinney.call("send_chat_message", f"sessionId={session['id']}", f"message={command}")
    terminal.wait_for_text("1 running")
    pid = pid_of(spinney)
    until(lambda: len(sleepers_of(pid)) == 2, "the command runs")
    # Not all children: a git process that reads the worktree will end.
    commands = sleepers_of(pid)
    below = {child.pid for child in psutil.Process(pid).children(recursive=True)}
    agents = below & {parent.pid for command in commands for parent in command.parents()}
    return {pid, *agents, *(command.pid for command in commands)}


def sleepers_of(pid: int) -> list[psutil.Process]:
    """The `sleep` commands among the descendants of a process."""
    return filter_by_name("sleep", psutil.Process(pid).children(recursive=True))


def hang_up(terminal: OnTerminal, pid: int) -> None:
    terminal.process.send_signal(signal.SIGHUP)


def disconnect(terminal: OnTerminal, pid: int) -> None:
    terminal.disconnect()


def kill_front_process(terminal: OnTerminal, pid: int) -> None:
    terminal.process.kill()


def terminate(terminal: OnTerminal, pid: int) -> None:
    terminal.process.send_signal(signal.SIGTERM)


def terminate_background_process(terminal: OnTerminal, pid: int) -> None:
    os.kill(pid, signal.SIGTERM)


def kill_background_process(terminal: OnTerminal, pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("end", [hang_up, disconnect, kill_front_process])
def test_only_spinney_and_its_agents_remain_when_the_terminal_closes(
    spinney: Program, end: Ending
) -> None:
    with spinney.on_a_terminal("open", "--demo", ".") as terminal:
        work = begin_work(spinney, terminal)
        end(terminal, pid_of(spinney))
        terminal.process.wait(timeout=PATIENCE)
        until(lambda: find_processes(spinney) == work, "only Spinney and its agent are left")
        assert spinney.run("stop").returncode == 0
        until(lambda: not find_processes(spinney), "no process is left")


@pytest.mark.parametrize("end", [terminate, terminate_background_process])
def test_no_process_remains_after_a_termination(spinney: Program, end: Ending) -> None:
    with spinney.on_a_terminal("open", "--demo", ".") as terminal:
        begin_work(spinney, terminal)
        end(terminal, pid_of(spinney))
        terminal.process.wait(timeout=PATIENCE)
        until(lambda: not find_processes(spinney), "no process is left")


def test_processes_of_a_killed_spinney_end_at_the_next_start(spinney: Program) -> None:
    with spinney.on_a_terminal("open", "--demo", ".") as terminal:
        work = begin_work(spinney, terminal)
        kill_background_process(terminal, pid_of(spinney))
        assert terminal.process.wait(timeout=PATIENCE) == 128 + signal.SIGKILL
    with spinney.on_a_terminal("open", "--demo", ".") as again:
        again.wait_for_text("interrupted")
        until(lambda: not find_processes(spinney) & work, "no process of the killed one is left")


@pytest.mark.short
def test_a_dumb_terminal_gets_one_sentence(spinney: Program) -> None:
    command = ("env", "TERM=dumb", *spinney.command)
    with spinney.on_a_terminal("demo", command=command) as terminal:
        said = terminal.read_to_end()
        assert b"TERM is dumb" in said
        assert b"\x1b" not in said
        assert terminal.process.wait(timeout=PATIENCE) == 1


def test_all_terminal_modes_are_reset_after_a_kill(spinney: Program) -> None:
    with spinney.on_a_terminal("open", "--demo", ".") as terminal:
        terminal.wait_for_text("No projects yet")
        kill_background_process(terminal, pid_of(spinney))
        output = terminal.read_until(b"It was killed")
        for mode in (b"1049", b"1000", b"1003", b"2004", b"2031"):
            assert b"\x1b[?%sl" % mode in output
        assert b"\x1b[r\x1b[m" in output, "the scroll region and the style of an incomplete frame"
        assert b"\x1b[23;2t" in output, "the title"
        assert b"\x1b]22;\x1b\\" in output, "the shape of the pointer"


def test_a_draft_is_restored_after_a_kill(spinney: Program) -> None:
    with spinney.serving("--demo"):
        project = spinney.call("add_project", f"path={spinney.make_repository()}")
        base = spinney.call("open_base_worktree", f"projectId={project['id']}")
        spinney.call("create_session", f"worktreeId={base['id']}", "name=Talk")
    with spinney.on_a_terminal("open", "--demo", ".") as terminal:
        terminal.wait_for_text("Message Demo")
        terminal.write(b"unsent-draft")
        kept = spinney.data / "terminal/drafts"
        until(
            lambda: any("unsent-draft" in path.read_text() for path in kept.glob("*.json")),
            "the draft is on the disk",
        )
        os.kill(pid_of(spinney), signal.SIGKILL)
        terminal.read_until(b"It was killed")
    with spinney.on_a_terminal("open", "--demo", ".") as again:
        again.wait_for_text("unsent-draft")
