"""Spinney replaces itself by another installed version: as a server, and on its terminal."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import psutil
import pytest

from model.base.instance import find_running_instance
from tests.installed_copy import install, make_installed_copy
from tests.patience import PATIENCE
from tests.program import Program, Serving
from tests.server.conftest import Socket

NEW = "9.9.9"


@pytest.fixture
def copied(tmp_path: Path) -> Program:
    """A Spinney whose files can be replaced."""
    return make_installed_copy(tmp_path / "installed", tmp_path / "place")


@contextmanager
def held_lock(spinney: Program) -> Iterator[None]:
    """Its lock is held in the whole block: commands find it, and no other can take over."""
    lock, is_over = spinney.data / "spinney.lock", threading.Event()

    def watch() -> bool:
        while find_running_instance(lock) is not None:
            if is_over.wait(0.002):
                return True
        return False

    with ThreadPoolExecutor(1) as pool:
        is_held = pool.submit(watch)
        try:
            yield
        finally:
            is_over.set()
    assert is_held.result()


async def connect(http: aiohttp.ClientSession, served: Serving) -> Socket:
    """Connect, as soon as a server listens there."""
    params = {"token": served.token, "since": "0"}
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                return Socket(await http.ws_connect(f"{served.base_url}/ws", params=params))
            except aiohttp.ClientConnectorError:
                await asyncio.sleep(0.05)


async def test_a_server_restarts_into_the_installed_version_with_its_sessions(
    copied: Program,
) -> None:
    repository = copied.make_repository("orchard")
    async with aiohttp.ClientSession() as http:
        with copied.serving("--demo") as served:
            await restart(copied, served, http, repository)


async def restart(
    copied: Program, served: Serving, http: aiohttp.ClientSession, repository: Path
) -> None:
    socket = await connect(http, served)
    project = await socket.call("add_project", path=str(repository))
    pending = await socket.call("create_worktree", projectId=project["id"])
    ready = await socket.until(
        lambda found: found and found[0]["status"] == "ready",
        "list_worktrees",
        projectId=project["id"],
    )
    assert ready[0]["id"] == pending["id"]
    session = await socket.call("create_session", worktreeId=pending["id"], name="Kept")

    install(copied, NEW, problem="import a_package_that_is_missing\n")
    await socket.send({"id": "broken", "command": "restart_spinney"})
    refused = await socket.answer("broken")
    assert "'a_package_that_is_missing'" in refused["error"]

    install(copied, NEW)
    assert (await socket.call("get_program_status"))["installed_version"] == NEW
    with held_lock(copied):
        assert (await socket.call("restart_spinney"))["restarting"] is True
        assert await socket.wait_closed() == 1001
        again = await connect(http, served)
        program = await again.call("get_program_status")
    assert (program["version"], program["installed_version"]) == (NEW, None)
    assert program["restarted_from"] != NEW
    assert psutil.pid_exists(served.pid) and served.process.poll() is None
    [kept] = await again.call("list_sessions", worktreeId=pending["id"])
    assert kept["id"] == session["id"]


def test_a_terminal_restarts_in_place_and_returns_to_the_shell_afterwards(copied: Program) -> None:
    repository = copied.make_repository("orchard")
    with copied.on_a_terminal("open", str(repository), "--demo") as terminal:
        terminal.wait_for_text("Add ")
        install(copied, NEW)
        terminal.write(b"\x10")
        terminal.wait_for_text("Search for commands")
        terminal.write(b"restart spinney")
        terminal.wait_for_text("Restart Spinney into the installed version")
        terminal.write(b"\r")
        terminal.wait_for_text(f"Version {NEW} is installed")
        with held_lock(copied):
            terminal.write(b"n")
            terminal.wait_for_text("Spinney was restarted")
        assert copied.call("get_program_status")["version"] == NEW
        terminal.write(b"\x11")  # the process in front is still the first one
        assert terminal.process.wait(PATIENCE) == 0
