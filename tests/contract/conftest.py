"""Fixtures of the contract tests: `spinney serve`, real sockets, real git and the demo agent."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from model.agents.catalog import Catalog
from model.api.command import find_command
from model.backends.base import Backend
from model.backends.demo.backend import DemoBackend
from model.base.errors import SpinneyError
from model.base.paths import Directories
from model.commands.dispatch import run
from model.preferences.apply import apply_changes
from model.runtime.workspace import Workspace
from server.app import Server
from tests.contract.project_client import Call, ProjectClient
from tests.model.git.conftest import (  # noqa: F401 - fixtures
    make_repository,
    own_home,
    repository,
    with_remote,
)
from tests.model.git.repository import Repository
from tests.model.hosting.conftest import fake_gh  # noqa: F401 - a fixture
from tests.patience import PATIENCE
from tests.ports import find_free_port
from tests.program import Program, Serving
from tests.server.conftest import TOKEN, Socket
from tests.shared_program import SharedProgram, needs_own_program, share_program

SERVE_OPTIONS = ("--demo",)
"""With `--demo`, the agent that needs no account is the default."""


@dataclass
class RefusedError(Exception):
    """A command failed; holds the error text that a client gets."""

    error: str


# The program ------------------------------------------------------------------------------------


def make_program(place: Path) -> Program:
    """A program with its home and directories in `place`; a `gh` in `place/gh` takes precedence.

    Its git has a user name, and `main` as the initial branch.
    """
    program = Program(place, environ={"PATH": f"{place / 'gh'}{os.pathsep}{os.environ['PATH']}"})
    settings = "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
    settings += "[gc]\n\tauto = 0\n"
    (program.home / ".gitconfig").write_text(settings)
    return program


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """A program for this test alone, not started."""
    return make_program(tmp_path)


@pytest.fixture
def options() -> tuple[str, ...]:
    """Options of `spinney serve`."""
    return SERVE_OPTIONS


@pytest.fixture
def served(request: pytest.FixtureRequest, options: tuple[str, ...]) -> Iterator[Serving]:
    """A `spinney serve` without projects: the shared one, or this test's own if it needs one."""
    if options == SERVE_OPTIONS and not needs_own_program(request):
        yield request.getfixturevalue("shared_program").reset()
        return
    program: Program = request.getfixturevalue("program")
    with program.serving(*options) as serving:
        yield serving


@pytest.fixture(scope="session")
def shared_program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedProgram]:
    """The program that the tests of a process share."""
    with share_program(make_program(tmp_path_factory.mktemp("served")), *SERVE_OPTIONS) as made:
        yield made


@pytest.fixture
async def http(served: Serving) -> AsyncIterator[aiohttp.ClientSession]:
    """An HTTP client of the served program, without its token."""
    timeout = aiohttp.ClientTimeout(total=PATIENCE)
    async with aiohttp.ClientSession(served.base_url, timeout=timeout) as made:
        yield made


@pytest.fixture
async def socket(served: Serving, http: aiohttp.ClientSession) -> Socket:
    """A client of the served program without `since`: it gets only the interface's frames."""
    return await open_socket(http, served.token)


async def open_socket(http: aiohttp.ClientSession, token: str) -> Socket:
    """Open a WebSocket with the HTTP client of a program."""
    return Socket(await http.ws_connect("/ws", params={"token": token}, max_msg_size=0))


def bearer(served: Serving) -> dict[str, str]:
    """The authorization header with the program's token."""
    return {"Authorization": f"Bearer {served.token}"}


# Targets ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """A running Spinney: how to call its commands, its address, token and data directory."""

    call: Call
    base_url: str
    token: str
    data: Path


@pytest.fixture(params=["in process", pytest.param("served", marks=pytest.mark.longer)])
async def target(
    request: pytest.FixtureRequest, directories: Directories, options: tuple[str, ...]
) -> AsyncIterator[Target]:
    """The model called directly, and the program over a WebSocket."""
    if request.param == "in process":
        async with run_in_process(directories, demo="--demo" in options) as made:
            yield made
        return
    served: Serving = request.getfixturevalue("served")
    async with aiohttp.ClientSession(served.base_url) as http:
        socket = await open_socket(http, served.token)
        yield make_served_target(served, socket)


def make_served_target(served: Serving, socket: Socket) -> Target:
    """A target that calls a served program over this WebSocket."""
    return Target(make_remote_call(socket), served.base_url, served.token, served.data)


@pytest.fixture
def call(target: Target) -> Call:
    """Runs a command: `await call("list_projects", …)` returns its data."""
    return target.call


@pytest.fixture
async def listener(target: Target) -> AsyncIterator[Socket]:
    """A WebSocket client of the Spinney that `call` calls."""
    async with aiohttp.ClientSession(target.base_url) as http:
        yield await open_socket(http, target.token)


@asynccontextmanager
async def start_server_in_process(
    directories: Directories, backend: Backend, *, demo: bool, usual_port: int = 0
) -> AsyncIterator[tuple[Workspace, str]]:
    """Run a workspace and its server in the test's process; yields it and its address.

    The server listens on `usual_port` if that is given and free.
    """
    workspace = Workspace(directories, {backend.name: backend}, Catalog(), demo=demo)
    workspace.http_server = server = Server(workspace)
    await workspace.start()
    try:
        preferences = workspace.store.state.preferences
        await workspace.change_preferences(apply_changes(preferences, {"http_server_token": TOKEN}))
        port = find_free_port(usual_port)
        await server.start(port, localhost_only=True, token_required=True)
        yield workspace, str(server.status()["base_url"])
    finally:
        await server.stop()
        await workspace.stop()


@asynccontextmanager
async def run_in_process(directories: Directories, *, demo: bool) -> AsyncIterator[Target]:
    """Run a workspace in the test's process, with a server for clients that receive events."""
    backend = DemoBackend(directories.data / "demo")
    async with start_server_in_process(directories, backend, demo=demo) as (workspace, base_url):
        yield Target(make_local_call(workspace), base_url, TOKEN, directories.data)


def make_local_call(workspace: Workspace) -> Call:
    """Calls commands as the terminal does."""

    async def call(name: str, /, **args: Any) -> Any:
        command = find_command(name)
        try:
            result = await run(workspace, command, args)
        except SpinneyError as error:
            raise RefusedError(error.message) from None
        return command.result.dump_python(result, mode="json")

    return call


def make_remote_call(socket: Socket) -> Call:
    """Calls commands as other clients do; frames have the interface's fields and no others."""
    numbers = count(1)
    replies: dict[str, Any] = {}
    reading = asyncio.Lock()

    async def call(name: str, /, **args: Any) -> Any:
        request_id = f"request-{next(numbers)}"
        await socket.send({"id": request_id, "command": name, "args": args})
        async with reading:  # Of calls at the same time, the one that reads keeps all replies.
            while request_id not in replies:
                frame = await socket.receive()
                if frame.get("type") in ("response", "error"):
                    replies[frame["id"]] = frame
        frame = replies.pop(request_id)
        if frame["type"] == "error":
            assert set(frame) == {"type", "id", "error", "error_type"}
            raise RefusedError(frame["error"])
        assert set(frame) == {"type", "id", "data"}
        return frame["data"]

    return call


async def expect_error(call: Call, command: str, /, **args: Any) -> str:
    """Run a command that must fail, and return its error text."""
    with pytest.raises(RefusedError) as caught:
        await call(command, **args)
    return caught.value.error


# Resources --------------------------------------------------------------------------------------


@pytest.fixture
def repository_path(repository: Repository) -> str:  # noqa: F811
    """The path of a repository with one commit on `main`."""
    return str(repository.root)


@pytest.fixture
async def project(call: Call, with_remote: Repository) -> Any:  # noqa: F811
    """A project with a bare `origin`."""
    return await call("add_project", path=str(with_remote.root))


@pytest.fixture
async def worktree(call: Call, listener: Socket, project: Any) -> Any:
    """A worktree of the project, ready."""
    made = await call("create_worktree", projectId=project["id"])
    while (created := await receive_payload(listener, "worktree:created"))["worktree"]["id"] != (
        made["id"]
    ):
        pass
    return created["worktree"]


@pytest.fixture
async def session(call: Call, worktree: Any) -> Any:
    """A session in plan mode."""
    return await call("create_session", worktreeId=worktree["id"])


async def receive_data(socket: Socket, name: str) -> Any:
    """Wait for the next chat or session event of this name; returns its data."""
    frame = await socket.event(name)
    assert set(frame) == {"event", "data"}
    return frame["data"]


async def receive_payload(socket: Socket, name: str) -> Any:
    """Wait for the next project or worktree event of this name; returns its payload."""
    frame = await socket.event(name)
    assert set(frame) == {"type", "event", "payload"}
    assert frame["type"] == "event"
    return frame["payload"]


class Chat:
    """Sends messages to sessions and waits for their status."""

    def __init__(self, call: Call, listener: Socket) -> None:
        self._call, self._listener = call, listener

    async def say(self, session: Any, message: str, until: str = "idle") -> Any:
        """Send a message; returns the reply once the session has the status `until`."""
        sent = await self._call("send_chat_message", sessionId=session["id"], message=message)
        await self.until(session, until)
        return sent

    async def until(self, session: Any, status: str) -> None:
        """Wait until the session has this status; checks after each event."""
        while (await self._call("get_session", sessionId=session["id"]))["status"] != status:
            await self.receive()

    async def receive(self) -> None:
        """Wait for the next frame."""
        await self._listener.receive()

    async def last_text(self, session: Any) -> str:
        """The text of the newest message."""
        found = await self._call("get_messages", sessionId=session["id"], limit=1)
        blocks = found["messages"][0]["content"]
        return "".join(block["text"] for block in blocks if block["type"] == "text").strip()


@pytest.fixture
def chat(call: Call, listener: Socket) -> Chat:
    return Chat(call, listener)


@pytest.fixture
def client(
    call: Call,
    listener: Socket,
    project: Any,
    with_remote: Repository,  # noqa: F811
) -> ProjectClient:
    """A client that works in a project with a bare `origin`."""
    return ProjectClient(call, listener, project["id"], with_remote)
