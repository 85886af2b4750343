"""However a terminal ends: which processes remain, and that what was written is there again."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.on_terminal import OnTerminal
from tests.patience import PATIENCE
from tests.program import Program, named, pid_of, until

Ending = Callable[[OnTerminal, int], None]


@pytest.fixture
def spinney(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.kill()


def of_this(spinney: Program) -> set[int]:
    """Every process that was started from this Spinney or one of its agents, dead ones too."""
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
    """An agent at work on the screen with a command that has children; Spinney and all of it."""
    terminal.shows("Welcome")
    worktree = spinney.ready_worktree(spinney.made_repository())
    session = spinney.call("create_session", f"worktreeId={worktree['id']}", "executionMode=yolo")
    command = "/demo run sleep 600 & sleep 600"
    spinney.call("send_chat_message", f"sessionId={session['id']}", f"message={command}")
    terminal.shows("1 running")
    pid = pid_of(spinney)
    until(lambda: len(sleepers_of(pid)) == 2, "the command runs")
    # Not all children: a git that looks at the worktree just now is not what remains.
    commands = sleepers_of(pid)
    below = {child.pid for child in psutil.Process(pid).children(recursive=True)}
    agents = below & {parent.pid for command in commands for parent in command.parents()}
    return {pid, *agents, *(command.pid for command in commands)}


def sleepers_of(pid: int) -> list[psutil.Process]:
    """The commands that run below it."""
    return named("sleep", psutil.Process(pid).children(recursive=True))


def hang_up(terminal: OnTerminal, pid: int) -> None:
    terminal.process.send_signal(signal.SIGHUP)


def vanish(terminal: OnTerminal, pid: int) -> None:
    terminal.vanish()


def kill_the_front(terminal: OnTerminal, pid: int) -> None:
    terminal.process.kill()


def terminate(terminal: OnTerminal, pid: int) -> None:
    terminal.process.send_signal(signal.SIGTERM)


def terminate_behind(terminal: OnTerminal, pid: int) -> None:
    os.kill(pid, signal.SIGTERM)


def kill_behind(terminal: OnTerminal, pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


@pytest.mark.few(1)
@pytest.mark.parametrize("end", [hang_up, vanish, kill_the_front])
def test_the_work_alone_remains_when_the_terminal_goes(spinney: Program, end: Ending) -> None:
    with spinney.on_a_terminal("open", "--demo", ".") as terminal:
        work = begin_work(spinney, terminal)
        end(terminal, pid_of(spinney))
        terminal.process.wait(timeout=PATIENCE)
        until(lambda: of_this(spinney) == work, "only Spinney and its agent are left")
        assert spinney.run("stop").returncode == 0
        until(lambda: not of_this(spinney), "nobody is left")


@pytest.mark.few(1)
@pytest.mark.parametrize("end", [terminate, terminate_behind])
def test_nothing_remains_when_it_is_told_to_end(spinney: Program, end: Ending) -> None:
    with spinney.on_a_terminal("open", "--demo", ".") as terminal:
        begin_work(spinney, terminal)
        end(terminal, pid_of(spinney))
        terminal.process.wait(timeout=PATIENCE)
        until(lambda: not of_this(spinney), "nobody is left")


def test_what_a_killed_one_leaves_ends_at_the_next_start(spinney: Program) -> None:
    with spinney.on_a_terminal("open", "--demo", ".") as terminal:
        work = begin_work(spinney, terminal)
        end = pid_of(spinney)
        kill_behind(terminal, end)
        assert terminal.process.wait(timeout=PATIENCE) == 128 + signal.SIGKILL
    with spinney.on_a_terminal("open", "--demo", ".") as again:
        again.shows("interrupted")
        until(lambda: not of_this(spinney) & work, "nothing of the killed one is left")


def test_a_terminal_that_draws_nothing_gets_a_sentence(spinney: Program) -> None:
    command = ("env", "TERM=dumb", *spinney.command)
    with spinney.on_a_terminal("demo", command=command) as terminal:
        said = terminal.read_to_end()
        assert b"TERM is dumb" in said
        assert b"\x1b" not in said
        assert terminal.process.wait(timeout=PATIENCE) == 1


def test_a_killed_one_leaves_nothing_switched_on_in_the_terminal(spinney: Program) -> None:
    with spinney.on_a_terminal("open", "--demo", ".") as terminal:
        terminal.shows("Welcome")
        kill_behind(terminal, pid_of(spinney))
        given_back = terminal.read_until(b"It was killed")
        for mode in (b"1049", b"1000", b"1003", b"2004", b"2031"):
            assert b"\x1b[?%sl" % mode in given_back
        assert b"\x1b[r\x1b[m" in given_back, "the scroll region and the style of a torn frame"
        assert b"\x1b[23;2t" in given_back, "the title"
        assert b"\x1b]22;\x1b\\" in given_back, "the shape of the pointer"


def test_a_draft_is_in_the_box_again_after_a_kill(spinney: Program) -> None:
    with spinney.serving("--demo"):
        project = spinney.call("add_project", f"path={spinney.made_repository()}")
        base = spinney.call("open_base_worktree", f"projectId={project['id']}")
        spinney.call("create_session", f"worktreeId={base['id']}", "name=Talk")
    with spinney.on_a_terminal("open", "--demo", ".") as terminal:
        terminal.shows("Message Demo")
        terminal.write(b"nobody-sent-this")
        kept = spinney.data / "terminal/drafts"
        until(
            lambda: any("nobody-sent-this" in path.read_text() for path in kept.glob("*.json")),
            "the draft is on the disk",
        )
        os.kill(pid_of(spinney), signal.SIGKILL)
        terminal.read_until(b"It was killed")
    with spinney.on_a_terminal("open", "--demo", ".") as again:
        again.shows("nobody-sent-this")
