"""Agents outlive their terminal: Spinney goes on without a screen, and screens come and go."""

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from model.base.instance import find_running_instance
from tests.on_terminal import OnTerminal
from tests.patience import PATIENCE
from tests.program import ROOT, Program, pid_of, until

STREAM = "/demo stream 200000 50"
BACK = b"\x1b[?1049l"
"""The terminal is given back."""

Leave = Callable[[OnTerminal], None]


@pytest.fixture
def spinney(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.kill()


def session_at_work(spinney: Program) -> str:
    """A session in a new repository whose agent writes for hours; its id."""
    worktree = spinney.ready_worktree(spinney.made_repository())
    session = spinney.call("create_session", f"worktreeId={worktree['id']}")
    spinney.call("send_chat_message", f"sessionId={session['id']}", f"message={STREAM}")
    return str(session["id"])


def status_of(spinney: Program, session_id: str) -> str:
    return str(spinney.call("get_session", f"sessionId={session_id}")["status"])


@contextmanager
def at_work(spinney: Program) -> Iterator[tuple[OnTerminal, str]]:
    """Spinney on a terminal that shows a session at work."""
    with spinney.on_a_terminal("open", "--demo", ".") as terminal:
        terminal.shows("Welcome")
        session_id = session_at_work(spinney)
        terminal.shows("1 running")
        yield terminal, session_id


def hang_up(terminal: OnTerminal) -> None:
    terminal.process.send_signal(signal.SIGHUP)


def vanish(terminal: OnTerminal) -> None:
    terminal.vanish()


def kill_what_the_shell_waits_for(terminal: OnTerminal) -> None:
    terminal.process.kill()


def choose(terminal: OnTerminal, key: bytes) -> None:
    """Answer the question that ctrl+q asks, until Spinney's screen is gone.

    A key that comes with the first frame of the question is not taken for an answer.
    """
    terminal.write(b"\x11")
    terminal.shows("Keep running")

    def is_gone() -> bool:
        terminal.write(key)
        return terminal.comes(BACK, 0.5)

    until(is_gone, "the answer is taken")


def choose_to_leave(terminal: OnTerminal) -> None:
    choose(terminal, b"l")


# Going on without a screen -----------------------------------------------------------------------


@pytest.mark.short
@pytest.mark.parametrize(
    "leave",
    [
        hang_up,
        *(
            pytest.param(other, marks=pytest.mark.longer)
            for other in (vanish, kill_what_the_shell_waits_for, choose_to_leave)
        ),
    ],
)
def test_an_agent_goes_on_when_its_terminal_goes_and_any_other_shows_it(
    spinney: Program, leave: Leave
) -> None:
    with at_work(spinney) as (terminal, session_id):
        pid = pid_of(spinney)
        leave(terminal)
        if terminal.outside >= 0:
            terminal.read_until(BACK)
        terminal.process.wait(timeout=PATIENCE)
        until(lambda: not terminals_of(pid), "the terminal is let go of")
        assert status_of(spinney, session_id) == "running"
        with spinney.on_a_terminal() as other:
            other.shows("1 running")
            other.write(b"\x11")
            other.read_until(BACK)
            assert other.process.wait(timeout=PATIENCE) == 0
            # A screen that is only attached ends nothing by leaving.
            assert pid_of(spinney) == pid
            assert status_of(spinney, session_id) == "running"
            family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
            stopped = spinney.run("stop")
            assert (stopped.returncode, stopped.stderr) == (0, "")
            assert f"process {pid}) has ended. One run was interrupted." in stopped.stdout
            assert psutil.wait_procs(family, timeout=PATIENCE)[1] == []


def test_the_screen_of_a_lost_terminal_is_kept_for_the_next_start(spinney: Program) -> None:
    with at_work(spinney) as (terminal, _):
        hang_up(terminal)
        terminal.process.wait(timeout=PATIENCE)
        until((spinney.data / "screen.json").exists, "the last screen is written")
        assert "alpha" in (spinney.data / "screen.json").read_text()
        assert spinney.run("stop").returncode == 0


FAILS = """
import sys
from pathlib import Path

sys.path.insert(0, {root!r})
import spinney
from {package} import {module}


def fail(*_):
    raise RuntimeError("it broke")


{module}.{name} = fail
sys.exit(spinney.main(sys.argv[1:]))
"""
"""Spinney with a fault in it."""


@pytest.mark.parametrize(
    ("package", "module", "name"),
    [
        ("tui.shell", "app", "SpinneyApp.action_to_shell"),
        ("tui.terminal", "background", "InputParser.feed"),
    ],
)
def test_a_screen_that_fails_interrupts_nothing_and_says_so(
    spinney: Program, tmp_path: Path, package: str, module: str, name: str
) -> None:
    faulty = tmp_path / "faulty.py"
    faulty.write_text(FAILS.format(root=str(ROOT), package=package, module=module, name=name))
    command = (sys.executable, str(faulty))
    with spinney.on_a_terminal("open", "--demo", ".", command=command) as terminal:
        terminal.shows("Welcome")
        session_id = session_at_work(spinney)
        terminal.shows("1 running")
        terminal.write(b"\x1a")
        terminal.read_until(BACK)
        said = terminal.read_until(b"`spinney stop` ends it.")
        assert b"Spinney's screen failed (RuntimeError)" in said
        assert b"Traceback" not in said
        assert terminal.process.wait(timeout=PATIENCE) == 1
        assert status_of(spinney, session_id) == "running"
        assert "it broke" in (spinney.data / "spinney.log").read_text()
        assert spinney.run("stop").returncode == 0


def terminals_of(pid: int) -> list[str]:
    """The terminals that a process has open."""
    opened = []
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # It closes files while it is asked.
            opened.append(str(path.readlink()))
    return [path for path in opened if path.startswith(("/dev/pts", "/dev/tty"))]


def test_leaving_says_how_to_come_back(spinney: Program) -> None:
    with at_work(spinney) as (terminal, _):
        choose_to_leave(terminal)
        terminal.read_until(BACK)
        said = terminal.read_until(b"`spinney stop` ends it.")
        assert f"(process {pid_of(spinney)})".encode() in said
        assert terminal.process.wait(timeout=PATIENCE) == 0


def test_quitting_while_an_agent_works_interrupts_it_only_when_that_was_chosen(
    spinney: Program,
) -> None:
    with at_work(spinney) as (terminal, _):
        pid = pid_of(spinney)
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
        choose(terminal, b"q")
        terminal.read_until(BACK)
        assert terminal.process.wait(timeout=PATIENCE) == 0
        assert psutil.wait_procs(family, timeout=PATIENCE)[1] == []
        assert find_running_instance(spinney.data / "spinney.lock") is None


def test_with_nothing_at_work_it_quits_at_once(spinney: Program) -> None:
    with spinney.on_a_terminal() as terminal:
        terminal.shows("Welcome")
        terminal.write(b"\x11")
        terminal.read_until(BACK)
        assert terminal.process.wait(timeout=PATIENCE) == 0
        assert find_running_instance(spinney.data / "spinney.lock") is None


@pytest.mark.parametrize("first_hung_up", [False, True])
def test_a_termination_ends_everything_with_or_without_a_screen(
    spinney: Program, first_hung_up: bool
) -> None:
    with at_work(spinney) as (terminal, _):
        pid = pid_of(spinney)
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
        if first_hung_up:
            hang_up(terminal)
            terminal.process.wait(timeout=PATIENCE)
            os.kill(pid, signal.SIGTERM)
        else:
            terminal.process.send_signal(signal.SIGTERM)
            terminal.read_until(BACK)
        assert terminal.process.wait(timeout=PATIENCE) == 0
        assert psutil.wait_procs(family, timeout=PATIENCE)[1] == []


def test_a_killed_spinney_gives_its_terminal_back_and_can_be_started_again(
    spinney: Program,
) -> None:
    with at_work(spinney) as (terminal, session_id):
        os.kill(pid_of(spinney), signal.SIGKILL)
        terminal.read_until(BACK)
        terminal.read_until(b"It was killed")
        assert terminal.process.wait(timeout=PATIENCE) == 128 + signal.SIGKILL
    with spinney.on_a_terminal("open", "--demo", ".") as again:
        again.shows("interrupted")
        assert status_of(spinney, session_id) == "idle"


# Two terminals -----------------------------------------------------------------------------------


@pytest.mark.short
def test_a_second_terminal_is_a_screen_of_the_first_spinney(spinney: Program) -> None:
    with at_work(spinney) as (first, _), spinney.on_a_terminal() as second:
        second.shows("1 running")
        second.write(b"\x11")
        second.read_until(BACK)
        assert second.process.wait(timeout=PATIENCE) == 0
        assert first.process.poll() is None


def test_attach_without_an_address_shows_who_runs_here(spinney: Program) -> None:
    with spinney.serving("--demo"):
        session_at_work(spinney)
        with spinney.on_a_terminal("attach") as terminal:
            terminal.shows("1 running")


def test_attach_where_nobody_runs_says_so(spinney: Program) -> None:
    with spinney.on_a_terminal("attach") as terminal:
        terminal.read_until(b"No Spinney is running here.")
        assert terminal.process.wait(timeout=PATIENCE) == 3


def test_a_stop_ends_a_screen_too(spinney: Program) -> None:
    with at_work(spinney) as (terminal, _):
        assert spinney.run("stop").returncode == 0
        terminal.read_until(BACK)
        assert terminal.process.wait(timeout=PATIENCE) == 0


def test_a_stop_where_nobody_runs_is_none_and_no_error(spinney: Program) -> None:
    ran = spinney.run("stop")
    assert (ran.returncode, ran.stdout) == (0, "No Spinney is running here.\n")


def test_a_spinney_of_another_protocol_is_not_looked_into(spinney: Program) -> None:
    with spinney.serving() as server:
        lock = spinney.data / "spinney.lock"
        lock.write_text(json.dumps({**json.loads(lock.read_text()), "protocol": 99}))
        with spinney.on_a_terminal("attach") as terminal:
            terminal.read_until(b"another protocol")
            assert terminal.process.wait(timeout=PATIENCE) == 1
        assert server.process.poll() is None


# Another machine ---------------------------------------------------------------------------------


def test_attach_shows_a_spinney_elsewhere_and_hides_its_token(tmp_path: Path) -> None:
    there, here = Program(tmp_path / "there"), Program(tmp_path / "here")
    with there.serving("--demo") as server:
        session_at_work(there)
        address = f"{server.base_url}/#token={server.token}"
        with here.on_a_terminal("attach", address) as terminal:
            terminal.shows("1 running")
            screen = psutil.Process(terminal.process.pid)
            for process in (screen, *screen.children(recursive=True)):
                assert server.token not in " ".join(process.cmdline())
            terminal.write(b"\x11")
            terminal.read_until(BACK)
            assert terminal.process.wait(timeout=PATIENCE) == 0
        assert server.process.poll() is None
        assert not (here.data / "spinney.lock").exists()


def test_attach_asks_for_a_token_that_was_not_given(tmp_path: Path) -> None:
    there, here = Program(tmp_path / "there"), Program(tmp_path / "here")
    with there.serving("--demo") as server:
        session_at_work(there)
        with here.on_a_terminal("attach", f"127.0.0.1:{server.port}") as terminal:
            terminal.read_until(b"Token for")
            terminal.write(server.token.encode() + b"\n")
            terminal.shows("1 running")
            assert server.token.encode() not in terminal.output


def test_a_wrong_token_is_said_in_a_sentence(tmp_path: Path) -> None:
    there, here = Program(tmp_path / "there"), Program(tmp_path / "here")
    here.environ["SPINNEY_TOKEN"] = "wrong-" * 4
    with there.serving() as server, here.on_a_terminal("attach", server.base_url) as terminal:
        terminal.shows("does not accept this token")
        terminal.write(b"q")
        terminal.read_until(BACK)
        assert terminal.process.wait(timeout=PATIENCE) == 1


def test_a_lost_connection_is_shown_tried_again_and_caught_up_and_the_draft_stays(
    tmp_path: Path,
) -> None:
    there, here = Program(tmp_path / "there"), Program(tmp_path / "here")
    here.environ["SPINNEY_TOKEN"] = token = "tulip-" * 6
    with there.serving("--demo", "--token", token) as server:
        session_id = session_at_work(there)
        place = ["serve", "--port", str(server.port), "--json", "--demo", "--token", token]
        with here.on_a_terminal("attach", server.base_url) as terminal:
            terminal.shows("1 running")
            terminal.write(b"\x1b[200~half a thought\x1b[201~")
            terminal.shows("half a thought")
            server.end()
            terminal.shows("connection lost")
            with there.started(*place) as again:
                assert again.stdout is not None and again.stdout.readline()
                terminal.shows("interrupted")
                terminal.write(b" and the rest\r")
                until(
                    lambda: (
                        "half a thought and the rest"
                        in json.dumps(there.call("get_messages", f"sessionId={session_id}"))
                    ),
                    "what was written before the loss is sent whole",
                )


# The shell ---------------------------------------------------------------------------------------

_WITH_JOBS: tuple[str, ...] = (
    sys.executable,
    "-ISc",
    "import fcntl,os,sys,termios;fcntl.ioctl(0,termios.TIOCSCTTY,0);"
    "os.execvp('bash',['bash','--norc','--noprofile','-i'])",
)


@pytest.mark.short
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_ctrl_z_gives_the_terminal_to_the_shell_and_agents_go_on(spinney: Program) -> None:
    spinney.environ["PS1"] = "shell> "
    command = " ".join([*spinney.command, "open", "--demo", "."])
    with spinney.on_a_terminal(command=_WITH_JOBS) as terminal:
        terminal.read_until(b"shell> ")
        terminal.write(command.encode() + b"\r")
        terminal.shows("Welcome")
        session_id = session_at_work(spinney)
        terminal.shows("1 running")
        terminal.write(b"\x1a")
        terminal.read_until(BACK)
        terminal.read_until(b"Stopped")
        before = written(spinney, session_id)
        until(lambda: written(spinney, session_id) > before, "the agent writes on")
        # In the background it would draw over the shell: it stays where it is.
        terminal.write(b"bg\r")
        terminal.read_until(b"&")
        terminal.write(b"echo $((41 + 1))\r")
        assert b"\x1b[?1049h" not in terminal.read_until(b"42")
        (front,) = psutil.Process(terminal.process.pid).children()
        until(lambda: front.status() == psutil.STATUS_STOPPED, "it stands still again")
        terminal.write(b"fg\r")
        terminal.read_until(b"\x1b[?1049h")
        terminal.shows("1 running")
        choose(terminal, b"l")
        terminal.read_until(b"shell> ")
        assert status_of(spinney, session_id) == "running"


def written(spinney: Program, session_id: str) -> int:
    """How much the agent has written by now."""
    page: dict[str, Any] = spinney.call("get_messages", f"sessionId={session_id}")
    return len(json.dumps(page))


def test_nobody_is_left_of_it_when_the_front_and_the_terminal_end_together(
    spinney: Program,
) -> None:
    with at_work(spinney) as (terminal, _):
        pid = pid_of(spinney)
        terminal.process.kill()
        terminal.vanish()
        until(lambda: not terminals_of(pid), "the terminal is let go of")
        assert spinney.run("stop").returncode == 0
        assert find_running_instance(spinney.data / "spinney.lock") is None
