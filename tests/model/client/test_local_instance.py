"""The lock of a data directory, what it tells, and what is said of a Spinney that is not well."""

import json
import os
import socket
import time
from itertools import count, repeat
from pathlib import Path

import pytest

from model.base import instance as running_module
from model.base.errors import SpinneyError
from model.base.instance import Lock, answering_here, running_here, take_lock, wait_for_end
from model.base.paths import Directories
from model.client import local_instance
from model.client.address import parse_address


@pytest.fixture
def path(directories: Directories) -> Path:
    directories.create()
    return directories.lock


def held(path: Path) -> Lock:
    lock = take_lock(path)
    assert lock is not None
    return lock


def test_the_lock_tells_who_holds_it_and_where_to_come_in(path: Path) -> None:
    assert running_here(path) is None
    lock = held(path)
    lock.tell(4321, "secret")
    running = running_here(path)
    assert running is not None
    assert (running.pid, running.base_url) == (os.getpid(), "http://127.0.0.1:4321")
    assert take_lock(path) is None
    lock.close()
    # What is left in the file means nothing without the lock.
    assert "secret" in path.read_text()
    assert running_here(path) is None


def test_the_lock_is_for_its_owner_alone(path: Path) -> None:
    lock = held(path)
    assert path.stat().st_mode & 0o077 == 0
    lock.close()


def told_of_a_server(directories: Directories, pid: int) -> None:
    told = {"base_url": "http://127.0.0.1:9", "port": 9, "token": "of the server", "pid": pid}
    directories.server.write_text(json.dumps(told))


def test_the_token_of_a_killed_one_goes_to_nobody(directories: Directories, path: Path) -> None:
    held(path).close()
    told_of_a_server(directories, os.getpid())  # a number that is alive again
    with pytest.raises(SpinneyError, match="No Spinney is running here"):
        local_instance.find_endpoint(directories)


def test_a_server_is_found_only_where_the_lock_is_held_by_its_process(
    directories: Directories, path: Path
) -> None:
    told_of_a_server(directories, os.getpid())
    lock = held(path)
    assert not directories.server.exists(), "what was left by one of the same number is forgotten"
    lock.tell(4321, "of the door")
    told_of_a_server(directories, os.getppid())
    assert local_instance.find_endpoint(directories) == ("http://127.0.0.1:4321", "of the door")
    told_of_a_server(directories, os.getpid())
    assert local_instance.find_endpoint(directories) == ("http://127.0.0.1:9", "of the server")
    lock.close()


def test_a_start_that_works_is_waited_for_however_busy_the_machine_is(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, looks = held(path), count()

    def work(_pid: int) -> int:
        look = next(looks)
        if look == 25:  # at 0.05 s each: twice as long as one waits for a program that rests
            lock.tell(4321, "secret")
        return look

    monkeypatch.setattr(running_module, "_cpu_ticks", work)
    found = answering_here(path, patience=0.5)
    assert found is not None and found.port == 4321
    monkeypatch.setattr(running_module, "_cpu_ticks", lambda _: 0)
    lock.tell()
    with pytest.raises(SpinneyError, match="does not respond"):
        answering_here(path, patience=0.1)
    lock.close()


def test_an_end_that_works_is_waited_for_however_busy_the_machine_is(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, looks = held(path), count()

    def work(_pid: int) -> int:
        look = next(looks)
        if look == 25:
            lock.close()
        return look

    monkeypatch.setattr(running_module, "_cpu_ticks", work)
    monkeypatch.setattr(running_module, "is_alive", lambda _: False)
    assert wait_for_end(path, os.getpid(), 0.5)


async def test_one_that_works_has_longer_to_answer(
    directories: Directories, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_instance, "RESPONSE_TIMEOUT", 0.2)
    waited: list[float] = []
    lock = held(path)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        lock.tell(silent.getsockname()[1], "token")
        for steps in (count(), repeat(0)):
            monkeypatch.setattr(running_module, "_cpu_ticks", lambda _, steps=steps: next(steps))
            began = time.monotonic()
            with pytest.raises(SpinneyError, match=f"kill {os.getpid()}"):
                await local_instance.connect_local(directories)
            waited.append(time.monotonic() - began)
    lock.close()
    assert waited[0] >= 1.2, "as long as six rests"


@pytest.mark.parametrize("note", ["", "{", "[]", '{"pid": "no'])
def test_a_note_that_is_half_written_is_of_one_that_starts(path: Path, note: str) -> None:
    lock = held(path)
    path.write_text(note)
    with pytest.raises(SpinneyError, match="does not respond"):
        answering_here(path, patience=0.1)
    lock.close()


@pytest.mark.parametrize("note", ["4711", json.dumps({"pid": 7, "protocol": 99})])
def test_one_of_another_protocol_is_refused_with_both_versions(path: Path, note: str) -> None:
    lock = held(path)
    path.write_text(note)
    with pytest.raises(SpinneyError, match="another protocol"):
        answering_here(path)
    lock.close()


async def test_one_that_hangs_is_told_with_its_process_and_how_to_end_it(
    directories: Directories, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_instance, "RESPONSE_TIMEOUT", 0.2)
    lock = held(path)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        lock.tell(silent.getsockname()[1], "token")
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
def test_an_address_is_taken_as_it_is_printed(given: str, base_url: str, token: str) -> None:
    assert parse_address(given) == (base_url, token)


@pytest.mark.parametrize("given", ["", "ftp://devbox", "http://", "devbox:port", "http://a:99999"])
def test_what_is_no_address_is_said_without_its_token(given: str) -> None:
    with pytest.raises(SpinneyError, match="Not a Spinney address") as raised:
        parse_address(f"{given}#token=secret")
    assert "secret" not in raised.value.message
