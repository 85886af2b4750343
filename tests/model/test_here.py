"""The lock of a data directory, what it tells, and what is said of a Spinney that is not well."""

import json
import os
import socket
from pathlib import Path

import pytest

from model.client import here
from model.client.address import parse_address
from model.errors import SpinneyError
from model.paths import Directories
from model.running import Lock, answering_here, running_here, take_lock


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


@pytest.mark.parametrize("note", ["", "{", "[]", '{"pid": "no'])
def test_a_note_that_is_half_written_is_of_one_that_starts(path: Path, note: str) -> None:
    lock = held(path)
    path.write_text(note)
    with pytest.raises(SpinneyError, match="does not answer"):
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
    monkeypatch.setattr(here, "PATIENCE", 0.2)
    lock = held(path)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        lock.tell(silent.getsockname()[1], "token")
        for ask in (here.end, here.connected):
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
    with pytest.raises(SpinneyError, match="Not the address") as raised:
        parse_address(f"{given}#token=secret")
    assert "secret" not in raised.value.message
