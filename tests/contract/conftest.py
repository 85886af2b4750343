"""The interface as its clients meet it: `spinney serve`, real sockets, real git, a real agent."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
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
from model.preferences.apply import changed
from model.runtime.workspace import Workspace
from server.app import Server
from tests.model.git.conftest import (  # noqa: F401 - fixtures
    make_repository,
    own_home,
    repository,
    with_remote,
)
from tests.model.git.made_repository import Repository
from tests.model.hosting.conftest import fake_gh  # noqa: F401 - a fixture
from tests.patience import PATIENCE
from tests.ports import own_port
from tests.program import Program, Serving
from tests.server.conftest import TOKEN, Socket
from tests.shared_program import SharedProgram, shared, wants_its_own

Call = Callable[..., Awaitable[Any]]

SERVED_WITH = ("--demo",)
"""Makes the agent that needs no account the default."""


@dataclass
class RefusedError(Exception):
    """A command's error, as a client reads it."""

    error: str


# The program itself -----------------------------------------------------------------------------


def program_in(place: Path) -> Program:
    """A Spinney whose home and directories lie in `place`; a `gh` in `place/gh` goes before others.

    Its git signs with a name and begins repositories at `main`.
    """
    program = Program(place, environ={"PATH": f"{place / 'gh'}{os.pathsep}{os.environ['PATH']}"})
    settings = "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
    settings += "[gc]\n\tauto = 0\n"
    (program.home / ".gitconfig").write_text(settings)
    return program


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """This test's own Spinney, not started."""
    return program_in(tmp_path)


@pytest.fixture
def options() -> tuple[str, ...]:
    """With what it is served."""
    return SERVED_WITH


@pytest.fixture
def served(request: pytest.FixtureRequest, options: tuple[str, ...]) -> Iterator[Serving]:
    """A `spinney serve` without projects: the module's, or this test's own where it wants one."""
    if options == SERVED_WITH and not wants_its_own(request):
        yield request.getfixturevalue("shared_program").emptied()
        return
    program: Program = request.getfixturevalue("program")
    with program.serving(*options) as serving:
        yield serving


@pytest.fixture(scope="module")
def shared_program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedProgram]:
    """The program that the tests of a module share."""
    with shared(program_in(tmp_path_factory.mktemp("served")), *SERVED_WITH) as made:
        yield made


@pytest.fixture
async def http(served: Serving) -> AsyncIterator[aiohttp.ClientSession]:
    """An HTTP client of the served program, without its token."""
    timeout = aiohttp.ClientTimeout(total=PATIENCE)
    async with aiohttp.ClientSession(served.base_url, timeout=timeout) as made:
        yield made


@pytest.fixture
async def socket(served: Serving, http: aiohttp.ClientSession) -> Socket:
    """A plain client of the served program: it gets the interface's frames and nothing else."""
    return await connected(http, served.token)


async def connected(http: aiohttp.ClientSession, token: str) -> Socket:
    """A WebSocket to the program that this HTTP client is of."""
    return Socket(await http.ws_connect("/ws", params={"token": token}, max_msg_size=0))


def bearer(served: Serving) -> dict[str, str]:
    """The header that carries its token."""
    return {"Authorization": f"Bearer {served.token}"}


# Both ways to call it ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Side:
    """One of the ways to a Spinney, and where that Spinney answers."""

    call: Call
    base_url: str
    token: str
    data: Path
    """Its data directory."""


@pytest.fixture(params=["in process", pytest.param("served", marks=pytest.mark.longer)])
async def side(
    request: pytest.FixtureRequest, directories: Directories, options: tuple[str, ...]
) -> AsyncIterator[Side]:
    """What a row holds for: the model called directly, and the program over a WebSocket."""
    if request.param == "in process":
        async with in_process(directories, demo="--demo" in options) as made:
            yield made
        return
    served: Serving = request.getfixturevalue("served")
    async with aiohttp.ClientSession(served.base_url) as http:
        socket = await connected(http, served.token)
        yield served_side(served, socket)


def served_side(served: Serving, socket: Socket) -> Side:
    """The way to a served program over this WebSocket."""
    return Side(remote_call(socket), served.base_url, served.token, served.data)


@pytest.fixture
def call(side: Side) -> Call:
    """`await call("list_projects", …)`: a command's data."""
    return side.call


@pytest.fixture
async def listener(side: Side) -> AsyncIterator[Socket]:
    """A plain client of the Spinney that `call` calls."""
    async with aiohttp.ClientSession(side.base_url) as http:
        yield await connected(http, side.token)


@asynccontextmanager
async def served_here(
    directories: Directories, backend: Backend, *, demo: bool
) -> AsyncIterator[tuple[Workspace, str]]:
    """A workspace of the test's process with a server around it, and where that is."""
    workspace = Workspace(directories, {backend.name: backend}, Catalog(), demo=demo)
    workspace.http_server = server = Server(workspace)
    await workspace.start()
    try:
        preferences = workspace.store.state.preferences
        await workspace.change_preferences(changed(preferences, {"http_server_token": TOKEN}))
        await server.start(own_port(), localhost_only=True, token_required=True)
        yield workspace, str(server.status()["base_url"])
    finally:
        await server.stop()
        await workspace.stop()


@asynccontextmanager
async def in_process(directories: Directories, *, demo: bool) -> AsyncIterator[Side]:
    """A workspace of the test's process, with a server around it for those who listen."""
    backend = DemoBackend(directories.data / "demo")
    async with served_here(directories, backend, demo=demo) as (workspace, base_url):
        yield Side(local_call(workspace), base_url, TOKEN, directories.data)


def local_call(workspace: Workspace) -> Call:
    """Calls as the terminal does."""

    async def call(name: str, /, **args: Any) -> Any:
        command = find_command(name)
        try:
            result = await run(workspace, command, args)
        except SpinneyError as error:
            raise RefusedError(error.message) from None
        return command.result.dump_python(result, mode="json")

    return call


def remote_call(socket: Socket) -> Call:
    """Calls as any other client does; frames have the interface's fields and no others."""
    numbers = count(1)

    async def call(name: str, /, **args: Any) -> Any:
        request_id = f"request-{next(numbers)}"
        await socket.send({"id": request_id, "command": name, "args": args})
        frame = await socket.answer(request_id)
        if frame["type"] == "error":
            assert set(frame) == {"type", "id", "error", "error_type"}
            raise RefusedError(frame["error"])
        assert set(frame) == {"type", "id", "data"}
        return frame["data"]

    return call


async def refusal(call: Call, command: str, /, **args: Any) -> str:
    """The error text of a command that must fail."""
    with pytest.raises(RefusedError) as caught:
        await call(command, **args)
    return caught.value.error


# What many rows begin with ----------------------------------------------------------------------


@pytest.fixture
def alpha(repository: Repository) -> str:  # noqa: F811
    """The path of a repository with one commit on `main`."""
    return str(repository.root)


@pytest.fixture
async def project(call: Call, with_remote: Repository) -> Any:  # noqa: F811
    """A project with a bare `origin`."""
    return await call("add_project", path=str(with_remote.root))


@pytest.fixture
async def worktree(call: Call, listener: Socket, project: Any) -> Any:
    """A worktree of the project that is ready."""
    made = await call("create_worktree", projectId=project["id"])
    while (created := await payload_of(listener, "worktree:created"))["worktree"]["id"] != (
        made["id"]
    ):
        pass
    return created["worktree"]


@pytest.fixture
async def session(call: Call, worktree: Any) -> Any:
    """A session in plan mode."""
    return await call("create_session", worktreeId=worktree["id"])


async def data_of(socket: Socket, name: str) -> Any:
    """The data of the next chat or session event of this name."""
    frame = await socket.event(name)
    assert set(frame) == {"event", "data"}
    return frame["data"]


async def payload_of(socket: Socket, name: str) -> Any:
    """The payload of the next project or worktree event of this name."""
    frame = await socket.event(name)
    assert set(frame) == {"type", "event", "payload"}
    assert frame["type"] == "event"
    return frame["payload"]


class Chat:
    """Talks to sessions, and waits for what becomes of them."""

    def __init__(self, call: Call, listener: Socket) -> None:
        self._call, self._listener = call, listener

    async def say(self, session: Any, message: str, until: str = "idle") -> Any:
        """Send to the agent; what was answered when the session has come to this status."""
        sent = await self._call("send_chat_message", sessionId=session["id"], message=message)
        await self.until(session, until)
        return sent

    async def until(self, session: Any, status: str) -> None:
        """Wait until it has this status; it is looked at again after each event."""
        while (await self._call("get_session", sessionId=session["id"]))["status"] != status:
            await self.heard()

    async def heard(self) -> None:
        """Wait for whatever comes next."""
        await self._listener.receive()

    async def last_text(self, session: Any) -> str:
        """The texts of the newest message."""
        found = await self._call("get_messages", sessionId=session["id"], limit=1)
        blocks = found["messages"][0]["content"]
        return "".join(block["text"] for block in blocks if block["type"] == "text").strip()


@pytest.fixture
def chat(call: Call, listener: Socket) -> Chat:
    return Chat(call, listener)
