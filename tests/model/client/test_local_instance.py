"""The lock of a data directory, its contents, and errors about an unresponsive Spinney."""

import asyncio
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count, repeat
from pathlib import Path

import pytest

from model.base import instance as running_module
from model.base.errors import SpinneyError
from model.base.instance import (
    InstanceLock,
    RunningInstance,
    acquire_lock,
    find_running_instance,
    hold_lock,
    wait_for_exit,
    wait_until_ready,
)
from model.base.paths import Directories
from model.client import endpoint, local_instance
from model.client.address import parse_address
from tests.program import ROOT


@pytest.fixture
def path(directories: Directories) -> Path:
    directories.create()
    return directories.lock


@pytest.fixture
def silent_port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of a program that accepts connections and never answers."""
    monkeypatch.setattr(local_instance, "RESPONSE_TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        yield silent.getsockname()[1]


def hold(path: Path) -> InstanceLock:
    lock = acquire_lock(path)
    assert lock is not None
    return lock


def test_the_lock_names_its_process_and_its_address(path: Path) -> None:
    assert find_running_instance(path) is None
    lock = hold(path)
    lock.write_instance(4321, "secret")
    running = find_running_instance(path)
    assert running is not None
    assert (running.pid, running.base_url) == (os.getpid(), "http://127.0.0.1:4321")
    assert acquire_lock(path) is None
    lock.close()
    # The contents of the file are ignored once the lock is released.
    assert "secret" in path.read_text()
    assert find_running_instance(path) is None


KILLED = """
import os, signal, socket, subprocess, sys
from pathlib import Path
from model.base.instance import acquire_lock
lock = acquire_lock(Path(sys.argv[1]))
listener = socket.create_server(("127.0.0.1", 0))
is_listening = sys.argv[3] == "listening"
lock.write_instance(listener.getsockname()[1] if is_listening else 4321, "of the killed one")
os.set_inheritable(lock._descriptor, True)
os.set_inheritable(listener.fileno(), is_listening)
started = subprocess.Popen(["sleep", sys.argv[2]], stdout=subprocess.DEVNULL, close_fds=False)
print(started.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def be_killed(path: Path, seconds: str, port: str = "closed") -> int:
    """Let a process be killed that holds the lock; return the ID of what holds it now."""
    command = [sys.executable, "-c", KILLED, str(path), seconds, port]
    killed = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert find_running_instance(path) is not None
    return int(killed.stdout)


@pytest.mark.parametrize("port", ["closed", "listening"])
def test_a_lock_that_a_killed_process_left_to_what_it_started_is_waited_for(
    path: Path, port: str
) -> None:
    be_killed(path, "0.5", port)
    hold(path).close()


def test_a_killed_process_is_not_taken_for_one_that_runs(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_module, "_EXIT_GRACE", 0.1)
    holder = be_killed(path, "600")
    with (
        pytest.raises(SpinneyError, match=r"process \d+\) has ended, but .* `fuser .*lock'?`"),
        hold_lock(path),
    ):
        pass
    os.kill(holder, signal.SIGKILL)


def test_the_address_of_a_killed_process_is_nowhere_used(
    directories: Directories, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "wait_until_ready", lambda lock: wait_until_ready(lock, 0.1))
    holder = be_killed(path, "600")
    running = find_running_instance(path)
    assert running is not None
    assert (running.port, running.token) == (0, "")
    write_server_address(directories, running.pid)
    with pytest.raises(SpinneyError, match=r"process \d+\) has ended, but "):
        endpoint.find_endpoint(directories)
    os.kill(holder, signal.SIGKILL)


REPLACED = """
import os, sys
from pathlib import Path
from model.base.instance import acquire_lock
lock = acquire_lock(Path(sys.argv[1]))
assert lock is not None
if len(sys.argv) == 2:
    lock.write_instance(4321, "of the replaced one")
    print("first", flush=True)
    input()
    lock.hand_over()
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:], "again"])
print(os.get_inheritable(lock._descriptor), [name for name in os.environ if "LOCK" in name])
sys.stdout.flush()
input()
"""


def test_a_process_that_replaces_itself_keeps_the_lock_and_takes_its_address_back(
    path: Path,
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", REPLACED, str(path)],
        cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        assert process.stdout.readline() == "first\n"
        print(file=process.stdin, flush=True)
        found = []
        while not select.select([process.stdout], [], [], 0)[0]:
            if (running := find_running_instance(path)) not in found:
                found.append(running)
        assert process.stdout.readline() == "False []\n"
        assert acquire_lock(path) is None
        process.stdin.close()
    assert find_running_instance(path) is None
    assert found[-1] == RunningInstance(process.pid)
    assert {running and running.pid for running in found} <= {process.pid, 0}


@pytest.mark.parametrize("given", ["", "no number", "99999", "0"])
def test_no_other_descriptor_is_taken_for_the_lock(
    path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("SPINNEY_LOCK", given)
    lock = hold(path)
    assert acquire_lock(path) is None
    lock.close()
    assert find_running_instance(path) is None


def test_an_instance_that_cannot_be_seen_is_found_by_its_port(
    directories: Directories, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As from a container with processes of its own."""
    monkeypatch.setattr(running_module, "is_alive", lambda _: False)
    monkeypatch.setattr(running_module, "_EXIT_GRACE", 0.1)
    lock = hold(path)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
        lock.write_instance(address[1], "secret")
        assert endpoint.find_endpoint(directories) == (f"http://127.0.0.1:{address[1]}", "secret")
        with pytest.raises(SpinneyError, match="is already running"), hold_lock(path):
            pass
    lock.close()


def test_the_lock_is_accessible_to_its_owner_only(path: Path) -> None:
    lock = hold(path)
    assert path.stat().st_mode & 0o077 == 0
    lock.close()


def write_server_address(directories: Directories, pid: int) -> None:
    address = {"base_url": "http://127.0.0.1:9", "port": 9, "token": "of the server", "pid": pid}
    directories.server.write_text(json.dumps(address))


def test_the_token_of_a_killed_spinney_is_not_used(directories: Directories, path: Path) -> None:
    hold(path).close()
    write_server_address(directories, os.getpid())  # the ID of a living process
    with pytest.raises(SpinneyError, match="No Spinney is running here"):
        endpoint.find_endpoint(directories)


def test_a_server_is_found_only_where_the_lock_is_held_by_its_process(
    directories: Directories, path: Path
) -> None:
    write_server_address(directories, os.getpid())
    lock = hold(path)
    assert not directories.server.exists(), (
        "the file of an earlier process with the same ID is removed"
    )
    lock.write_instance(4321, "of the instance")
    write_server_address(directories, os.getppid())
    assert endpoint.find_endpoint(directories) == ("http://127.0.0.1:4321", "of the instance")
    write_server_address(directories, os.getpid())
    assert endpoint.find_endpoint(directories) == ("http://127.0.0.1:9", "of the server")
    lock.close()


def test_a_slow_start_is_waited_for_while_the_process_is_busy(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, ticks = hold(path), count()

    def work(_pid: int) -> int:
        tick = next(ticks)
        if tick == 25:  # at 0.05 s each: twice as long as one waits for an idle program
            lock.write_instance(4321, "secret")
        return tick

    monkeypatch.setattr(running_module, "_cpu_ticks", work)
    found = wait_until_ready(path, patience=0.5)
    assert found is not None and found.port == 4321
    monkeypatch.setattr(running_module, "_cpu_ticks", lambda _: 0)
    lock.write_instance()
    with pytest.raises(SpinneyError, match="does not respond"):
        wait_until_ready(path, patience=0.1)
    lock.close()


def test_a_slow_end_is_waited_for_while_the_process_is_busy(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, ticks = hold(path), count()

    def work(_pid: int) -> int:
        tick = next(ticks)
        if tick == 25:
            lock.close()
        return tick

    monkeypatch.setattr(running_module, "_cpu_ticks", work)
    monkeypatch.setattr(running_module, "is_alive", lambda _: False)
    assert wait_for_exit(path, os.getpid(), 0.5)


async def test_a_busy_process_has_more_time_to_respond(
    directories: Directories, path: Path, silent_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    lock = hold(path)
    lock.write_instance(silent_port, "token")
    for steps in (count(), repeat(0)):
        monkeypatch.setattr(running_module, "_cpu_ticks", lambda _, steps=steps: next(steps))
        began = time.monotonic()
        with pytest.raises(SpinneyError, match=f"kill {os.getpid()}"):
            await local_instance.connect_local(directories)
        waited.append(time.monotonic() - began)
    lock.close()
    assert waited[0] >= 1.2, "six times as long as for an idle process"


@pytest.mark.parametrize(
    "note",
    ["", "{", "[]", "true", '{"pid": "no', '{"pid": "1"}', '{"pid": 1, "port": 99999}', "[" * 4000],
    ids=range(8),
)
def test_an_incomplete_lock_file_is_that_of_a_starting_process(path: Path, note: str) -> None:
    lock = hold(path)
    path.write_text(note)
    with pytest.raises(SpinneyError, match="does not respond"):
        wait_until_ready(path, patience=0.1)
    lock.close()


@pytest.mark.parametrize("note", ["1", json.dumps({"pid": 1, "protocol": 99})])
def test_an_instance_of_another_protocol_is_refused(path: Path, note: str) -> None:
    lock = hold(path)
    path.write_text(note)
    with pytest.raises(SpinneyError, match="another protocol"):
        wait_until_ready(path)
    lock.close()


async def test_one_that_starts_is_stopped_once_it_can_be_asked(
    directories: Directories, path: Path, silent_port: int
) -> None:
    lock = hold(path)
    stopping = asyncio.create_task(local_instance.stop_running(directories))
    await asyncio.sleep(0.1)
    assert not stopping.done()
    lock.write_instance(silent_port, "token")
    with pytest.raises(SpinneyError, match=f"kill {os.getpid()}"):
        await stopping
    lock.close()


async def test_one_that_is_ending_already_is_waited_for(
    directories: Directories, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_module, "_EXIT_GRACE", 0.1)
    lock = hold(path)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        lock.write_instance(closed.getsockname()[1], "token")
    stopping = asyncio.create_task(local_instance.stop_running(directories))
    await asyncio.sleep(0.1)
    assert not stopping.done()
    lock.close()
    assert await stopping == f"Spinney (process {os.getpid()}) has ended."


async def test_an_unresponsive_instance_is_reported_with_its_process_and_how_to_end_it(
    directories: Directories, path: Path, silent_port: int
) -> None:
    lock = hold(path)
    lock.write_instance(silent_port, "token")
    for ask in (local_instance.stop_running, local_instance.connect_local):
        with pytest.raises(SpinneyError, match=f"kill {os.getpid()}"):
            await ask(directories)
    lock.close()


@pytest.mark.parametrize(
    ("given", "base_url", "token"),
    [
        ("http://127.0.0.1:3456/#token=abc", "http://127.0.0.1:3456", "abc"),
        ("https://devbox.example/spinney/?token=abc", "https://devbox.example/spinney", "abc"),
        ("devbox:3456", "http://devbox:3456", ""),
        ("[::1]:3456", "http://[::1]:3456", ""),
    ],
)
def test_an_address_is_parsed_as_it_is_printed(given: str, base_url: str, token: str) -> None:
    assert parse_address(given) == (base_url, token)


@pytest.mark.parametrize("given", ["", "ftp://devbox", "http://", "devbox:port", "http://a:99999"])
def test_the_error_for_an_invalid_address_omits_its_token(given: str) -> None:
    with pytest.raises(SpinneyError, match="Not a Spinney address") as raised:
        parse_address(f"{given}#token=secret")
    assert "secret" not in raised.value.message
