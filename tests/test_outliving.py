"""Agents outlive their terminal: Spinney runs without one, and terminals attach and detach."""

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
RESTORED = b"\x1b[?1049l"
"""The control sequence that leaves the alternate screen."""

Leave = Callable[[OnTerminal], None]


@pytest.fixture
def spinney(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.kill()


def start_session(spinney: Program) -> str:
    """Create a session in a new repository whose agent writes for hours; return its ID."""
    worktree = spinney.create_ready_worktree(spinney.make_repository())
    session = spinney.call("create_session", f"worktreeId={worktree['id']}")
    spinney.call("send_chat_message", f"sessionId={session['id']}", f"message={STREAM}")
    return str(session["id"])


def status_of(spinney: Program, session_id: str) -> str:
    return str(spinney.call("get_session", f"sessionId={session_id}")["status"])


@contextmanager
def open_running(spinney: Program) -> Iterator[tuple[OnTerminal, str]]:
    """Run Spinney on a terminal that shows a running session."""
    with spinney.on_a_terminal("open", "--demo", ".") as terminal:
        terminal.wait_for_text("No projects yet")
        session_id = start_session(spinney)
        terminal.wait_for_text("1 running")
        yield terminal, session_id


def hang_up(terminal: OnTerminal) -> None:
    terminal.process.send_signal(signal.SIGHUP)


def disconnect(terminal: OnTerminal) -> None:
    terminal.disconnect()


def kill_front_process(terminal: OnTerminal) -> None:
    terminal.process.kill()


def answer_quit_dialog(terminal: OnTerminal, key: bytes) -> None:
    """Answer the dialog that ctrl+q opens, until Spinney's screen is closed.

    A key that arrives with the first frame of the dialog is not accepted as an answer.
    """
    terminal.write(b"\x11")
    terminal.wait_for_text("Keep running")

    def is_closed() -> bool:
        terminal.write(key)
        return terminal.wait_for_output(RESTORED, 0.5)

    until(is_closed, "the answer is accepted")


def leave_running(terminal: OnTerminal) -> None:
    answer_quit_dialog(terminal, b"l")


# Running without a terminal -----------------------------------------------------------------------


@pytest.mark.short
@pytest.mark.parametrize(
    "leave",
    [
        hang_up,
        *(
            pytest.param(other, marks=pytest.mark.longer)
            for other in (disconnect, kill_front_process, leave_running)
        ),
    ],
)
def test_an_agent_keeps_running_when_its_terminal_closes_and_another_shows_it(
    spinney: Program, leave: Leave
) -> None:
    with open_running(spinney) as (terminal, session_id):
        pid = pid_of(spinney)
        leave(terminal)
        if terminal.outside >= 0:
            terminal.read_until(RESTORED)
        terminal.process.wait(timeout=PATIENCE)
        until(lambda: not terminals_of(pid), "the terminal is released")
        assert status_of(spinney, session_id) == "running"
        with spinney.on_a_terminal() as other:
            other.wait_for_text("1 running")
            other.write(b"\x11")
            other.read_until(RESTORED)
            assert other.process.wait(timeout=PATIENCE) == 0
            # Closing a terminal that is only attached ends nothing.
            assert pid_of(spinney) == pid
            assert status_of(spinney, session_id) == "running"
            family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
            stopped = spinney.run("stop")
            assert (stopped.returncode, stopped.stderr) == (0, "")
            assert f"process {pid}) has ended. One run was interrupted." in stopped.stdout
            assert psutil.wait_procs(family, timeout=PATIENCE)[1] == []


def test_the_screen_of_a_lost_terminal_is_saved_for_the_next_start(spinney: Program) -> None:
    with open_running(spinney) as (terminal, _):
        hang_up(terminal)
        terminal.process.wait(timeout=PATIENCE)
        until((spinney.data / "screen.json").exists, "the last screen is written")
        assert "alpha" in (spinney.data / "screen.json").read_text()
        assert spinney.run("stop").returncode == 0


FAULTY_SCRIPT = """
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
"""A script that runs Spinney with a function that fails."""


@pytest.mark.parametrize(
    ("package", "module", "name"),
    [
        ("tui.shell", "app", "SpinneyApp.action_to_shell"),
        ("tui.terminal", "background", "InputParser.feed"),
    ],
)
def test_a_failure_of_the_interface_interrupts_no_agent_and_is_reported(
    spinney: Program, tmp_path: Path, package: str, module: str, name: str
) -> None:
    faulty = tmp_path / "faulty.py"
    faulty.write_text(
        FAULTY_SCRIPT.format(root=str(ROOT), package=package, module=module, name=name)
    )
    command = (sys.executable, str(faulty))
    with spinney.on_a_terminal("open", "--demo", ".", command=command) as terminal:
        terminal.wait_for_text("No projects yet")
        session_id = start_session(spinney)
        terminal.wait_for_text("1 running")
        terminal.write(b"\x1a")
        terminal.read_until(RESTORED)
        said = terminal.read_until(b"`spinney stop` ends it.")
        assert b"Spinney's screen failed (RuntimeError)" in said
        assert b"Traceback" not in said
        assert terminal.process.wait(timeout=PATIENCE) == 1
        assert status_of(spinney, session_id) == "running"
        assert "it broke" in (spinney.data / "spinney.log").read_text()
        assert spinney.run("stop").returncode == 0


def terminals_of(pid: int) -> list[str]:
    """The terminals that a process keeps open."""
    opened = []
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            opened.append(str(path.readlink()))
    return [path for path in opened if path.startswith(("/dev/pts", "/dev/tty"))]


def test_leaving_prints_how_to_come_back(spinney: Program) -> None:
    with open_running(spinney) as (terminal, _):
        leave_running(terminal)
        terminal.read_until(RESTORED)
        said = terminal.read_until(b"`spinney stop` ends it.")
        assert f"(process {pid_of(spinney)})".encode() in said
        assert terminal.process.wait(timeout=PATIENCE) == 0


def test_choosing_quit_while_an_agent_runs_interrupts_it(
    spinney: Program,
) -> None:
    with open_running(spinney) as (terminal, _):
        pid = pid_of(spinney)
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
        answer_quit_dialog(terminal, b"q")
        terminal.read_until(RESTORED)
        assert terminal.process.wait(timeout=PATIENCE) == 0
        assert psutil.wait_procs(family, timeout=PATIENCE)[1] == []
        assert find_running_instance(spinney.data / "spinney.lock") is None


def test_without_running_agents_it_quits_at_once(spinney: Program) -> None:
    with spinney.on_a_terminal() as terminal:
        terminal.wait_for_text("No projects yet")
        terminal.write(b"\x11")
        terminal.read_until(RESTORED)
        assert terminal.process.wait(timeout=PATIENCE) == 0
        assert find_running_instance(spinney.data / "spinney.lock") is None


@pytest.mark.parametrize("hang_up_first", [False, True])
def test_sigterm_ends_everything_with_or_without_a_terminal(
    spinney: Program, hang_up_first: bool
) -> None:
    with open_running(spinney) as (terminal, _):
        pid = pid_of(spinney)
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
        if hang_up_first:
            hang_up(terminal)
            terminal.process.wait(timeout=PATIENCE)
            os.kill(pid, signal.SIGTERM)
        else:
            terminal.process.send_signal(signal.SIGTERM)
            terminal.read_until(RESTORED)
        assert terminal.process.wait(timeout=PATIENCE) == 0
        assert psutil.wait_procs(family, timeout=PATIENCE)[1] == []


def test_a_killed_spinney_restores_its_terminal_and_can_be_started_again(
    spinney: Program,
) -> None:
    with open_running(spinney) as (terminal, session_id):
        os.kill(pid_of(spinney), signal.SIGKILL)
        terminal.read_until(RESTORED)
        terminal.read_until(b"It was killed")
        assert terminal.process.wait(timeout=PATIENCE) == 128 + signal.SIGKILL
    with spinney.on_a_terminal("open", "--demo", ".") as again:
        again.wait_for_text("interrupted")
        assert status_of(spinney, session_id) == "idle"


# Two terminals -----------------------------------------------------------------------------------


def test_a_second_terminal_attaches_to_the_running_spinney(spinney: Program) -> None:
    with open_running(spinney) as (first, _), spinney.on_a_terminal() as second:
        second.wait_for_text("1 running")
        second.write(b"\x11")
        second.read_until(RESTORED)
        assert second.process.wait(timeout=PATIENCE) == 0
        assert first.process.poll() is None


def test_attach_without_an_address_shows_the_local_spinney(spinney: Program) -> None:
    with spinney.serving("--demo"):
        start_session(spinney)
        with spinney.on_a_terminal("attach") as terminal:
            terminal.wait_for_text("1 running")


def test_attach_without_a_running_spinney_is_an_error(spinney: Program) -> None:
    with spinney.on_a_terminal("attach") as terminal:
        terminal.read_until(b"No Spinney is running here.")
        assert terminal.process.wait(timeout=PATIENCE) == 3


def test_stop_ends_an_open_terminal_too(spinney: Program) -> None:
    with open_running(spinney) as (terminal, _):
        assert spinney.run("stop").returncode == 0
        terminal.read_until(RESTORED)
        assert terminal.process.wait(timeout=PATIENCE) == 0


def test_stop_without_a_running_spinney_is_no_error(spinney: Program) -> None:
    ran = spinney.run("stop")
    assert (ran.returncode, ran.stdout) == (0, "No Spinney is running here.\n")


def test_a_spinney_of_another_protocol_is_not_attached_to(spinney: Program) -> None:
    with spinney.serving() as server:
        lock = spinney.data / "spinney.lock"
        lock.write_text(json.dumps({**json.loads(lock.read_text()), "protocol": 99}))
        with spinney.on_a_terminal("attach") as terminal:
            terminal.read_until(b"another protocol")
            assert terminal.process.wait(timeout=PATIENCE) == 1
        assert server.process.poll() is None


# Another machine ---------------------------------------------------------------------------------


def test_attach_shows_a_remote_spinney_and_hides_its_token(tmp_path: Path) -> None:
    there, here = Program(tmp_path / "there"), Program(tmp_path / "here")
    with there.serving("--demo") as server:
        start_session(there)
        address = f"{server.base_url}/#token={server.token}"
        with here.on_a_terminal("attach", address) as terminal:
            terminal.wait_for_text("1 running")
            screen = psutil.Process(terminal.process.pid)
            for process in (screen, *screen.children(recursive=True)):
                assert server.token not in " ".join(process.cmdline())
            terminal.write(b"\x11")
            terminal.read_until(RESTORED)
            assert terminal.process.wait(timeout=PATIENCE) == 0
        assert server.process.poll() is None
        assert not (here.data / "spinney.lock").exists()


def test_attach_asks_for_a_token_that_was_not_given(tmp_path: Path) -> None:
    there, here = Program(tmp_path / "there"), Program(tmp_path / "here")
    with there.serving("--demo") as server:
        start_session(there)
        with here.on_a_terminal("attach", f"127.0.0.1:{server.port}") as terminal:
            terminal.read_until(b"Token for")
            terminal.write(server.token.encode() + b"\n")
            terminal.wait_for_text("1 running")
            assert server.token.encode() not in terminal.output


def test_a_wrong_token_is_reported_in_one_sentence(tmp_path: Path) -> None:
    there, here = Program(tmp_path / "there"), Program(tmp_path / "here")
    here.environ["SPINNEY_TOKEN"] = "wrong-" * 4
    with there.serving() as server, here.on_a_terminal("attach", server.base_url) as terminal:
        terminal.wait_for_text("does not accept this token")
        terminal.write(b"q")
        terminal.read_until(RESTORED)
        assert terminal.process.wait(timeout=PATIENCE) == 1


def test_a_lost_connection_is_shown_and_restored_and_the_draft_is_kept(
    tmp_path: Path,
) -> None:
    there, here = Program(tmp_path / "there"), Program(tmp_path / "here")
    here.environ["SPINNEY_TOKEN"] = token = "tulip-" * 6
    with there.serving("--demo", "--token", token) as server:
        session_id = start_session(there)
        arguments = ["serve", "--port", str(server.port), "--json", "--demo", "--token", token]
        with here.on_a_terminal("attach", server.base_url) as terminal:
            terminal.wait_for_text("1 running")
            terminal.write(b"\x1b[200~half a thought\x1b[201~")
            terminal.wait_for_text("half a thought")
            server.end()
            terminal.wait_for_text("connection lost")
            with there.start(*arguments) as again:
                assert again.stdout is not None and again.stdout.readline()
                terminal.wait_for_text("interrupted")
                terminal.write(b" and the rest\r")
                until(
                    lambda: (
                        "half a thought and the rest"
                        in json.dumps(there.call("get_messages", f"sessionId={session_id}"))
                    ),
                    "the draft from before the loss is sent completely",
                )


# The shell ---------------------------------------------------------------------------------------

_SHELL_WITH_JOB_CONTROL: tuple[str, ...] = (
    sys.executable,
    "-ISc",
    "import fcntl,os,sys,termios;fcntl.ioctl(0,termios.TIOCSCTTY,0);"
    "os.execvp('bash',['bash','--norc','--noprofile','-i'])",
)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_ctrl_z_returns_to_the_shell_and_agents_keep_running(spinney: Program) -> None:
    spinney.environ["PS1"] = "shell> "
    command = " ".join([*spinney.command, "open", "--demo", "."])
    with spinney.on_a_terminal(command=_SHELL_WITH_JOB_CONTROL) as terminal:
        terminal.read_until(b"shell> ")
        terminal.write(command.encode() + b"\r")
        terminal.wait_for_text("No projects yet")
        session_id = start_session(spinney)
        terminal.wait_for_text("1 running")
        terminal.write(b"\x1a")
        terminal.read_until(RESTORED)
        terminal.read_until(b"Stopped")
        before = output_length(spinney, session_id)
        until(lambda: output_length(spinney, session_id) > before, "the agent writes on")
        # In the background it would draw over the shell, so it remains stopped.
        terminal.write(b"bg\r")
        terminal.read_until(b"&")
        terminal.write(b"echo $((41 + 1))\r")
        assert b"\x1b[?1049h" not in terminal.read_until(b"42")
        (front,) = psutil.Process(terminal.process.pid).children()
        until(lambda: front.status() == psutil.STATUS_STOPPED, "it is stopped again")
        terminal.write(b"fg\r")
        terminal.read_until(b"\x1b[?1049h")
        terminal.wait_for_text("1 running")
        answer_quit_dialog(terminal, b"l")
        terminal.read_until(b"shell> ")
        assert status_of(spinney, session_id) == "running"


def output_length(spinney: Program, session_id: str) -> int:
    """The length of the session's messages."""
    page: dict[str, Any] = spinney.call("get_messages", f"sessionId={session_id}")
    return len(json.dumps(page))


def test_stop_works_after_the_front_process_and_the_terminal_end_together(
    spinney: Program,
) -> None:
    with open_running(spinney) as (terminal, _):
        pid = pid_of(spinney)
        terminal.process.kill()
        terminal.disconnect()
        until(lambda: not terminals_of(pid), "the terminal is released")
        assert spinney.run("stop").returncode == 0
        assert find_running_instance(spinney.data / "spinney.lock") is None
