"""Fixtures of the suite that runs with every backend: a served Spinney with one kind of agent, and
conversations in separate worktrees.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

import aiohttp
import pytest

from tests.contract.conftest import Call, make_remote_call
from tests.live.every_backend.kinds import Kind
from tests.live.every_backend.talk import TURN_LIMIT, Json, Talk
from tests.live.isolation import make_place
from tests.model.backends.agents import wait_until
from tests.patience import PATIENCE
from tests.program import Program, Serving
from tests.server.conftest import Socket
from tests.shared_program import SharedProgram, share_program

Begin = Callable[..., Awaitable[Talk]]

NO_FILES: Final[Mapping[str, str]] = MappingProxyType({})


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder for the repositories and worktrees of a file."""
    with make_place() as place:
        yield place


@pytest.fixture(scope="session")
def shared() -> Iterator[Callable[[Kind], SharedProgram]]:
    """One Spinney with each kind of agent, which the files of a process share.

    Some agents need up to nine seconds of CPU time until their first turn.
    """
    with ExitStack() as ends:

        @cache
        def share(kind: Kind) -> SharedProgram:
            place = ends.enter_context(make_place())
            program = ends.enter_context(kind.program(place / "spinney"))
            return ends.enter_context(share_program(program, "--demo"))

        yield share


@pytest.fixture(scope="module")
def program(kind: Kind, shared: Callable[[Kind], SharedProgram]) -> Program:
    """The Spinney that the tests with this kind of agent share.

    A file that sets it up in another way has its own, and `served` from `serve_alone`.
    """
    return shared(kind).program


@pytest.fixture(scope="module")
def served(kind: Kind, shared: Callable[[Kind], SharedProgram]) -> Iterator[Serving]:
    """It runs, without projects and with its initial preferences."""
    yield shared(kind).reset()
    shared(kind).reset()  # ends the agents, and stops watching the file's repositories


def serve_alone(program: Program) -> Iterator[Serving]:
    """The running Spinney of the tests of one file."""
    with program.serving("--demo") as serving:
        yield serving


@pytest.fixture
async def begin(kind: Kind, served: Serving, place: Path) -> AsyncIterator[Begin]:
    """`await begin(mode, files)`: starts a conversation in its own worktree with its own client."""
    async with open_client(served) as http:

        async def begin(mode: str = "build", files: Mapping[str, str] = NO_FILES) -> Talk:
            own = place / uuid.uuid4().hex
            return await begin_talk(kind, await connect(http, served), own, mode, files)

        yield begin


class ReadingSocket(Socket):
    """A client that also reads while the test waits for something else: its turns are long, and the
    server closes a connection that does not answer its pings.
    """

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, patience: float) -> None:
        super().__init__(socket, patience)
        self._unread: asyncio.Queue[aiohttp.WSMessage] = asyncio.Queue()
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        while not self.socket.closed:
            self._unread.put_nowait(await self.socket.receive())

    async def next_message(self) -> aiohttp.WSMessage:
        async with asyncio.timeout(self._patience):
            return await self._unread.get()


def open_client(served: Serving) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(served.base_url, timeout=aiohttp.ClientTimeout(total=PATIENCE))


async def connect(http: aiohttp.ClientSession, served: Serving) -> Socket:
    # With an unknown number in `since`, all frames from now on have numbers.
    params = {"token": served.token, "since": "0"}
    socket = await http.ws_connect("/ws", params=params, max_msg_size=0)
    return ReadingSocket(socket, TURN_LIMIT)


async def begin_talk(
    kind: Kind, socket: Socket, place: Path, mode: str, files: Mapping[str, str] = NO_FILES
) -> Talk:
    """Start a conversation in a worktree of a new repository with these files."""
    call = make_remote_call(socket)
    (place / "alpha").mkdir(parents=True)
    for name, text in files.items():
        (place / "alpha" / name).write_text(text)
    repository = await asyncio.to_thread(Program(place).make_repository)
    project = await call("add_project", path=str(repository))
    worktree = await add_worktree(socket, project["id"])
    return Talk(kind, socket, call, await add_session(kind, call, worktree, mode), worktree)


async def add_worktree(socket: Socket, project_id: str) -> Json:
    """Create a worktree of a project, and wait until it is ready."""
    call = make_remote_call(socket)
    worktree: Json = await call("create_worktree", projectId=project_id)
    while worktree["status"] != "ready":
        await socket.receive()
        worktree = await call("get_worktree", worktreeId=worktree["id"])
    return worktree


async def add_session(kind: Kind, call: Call, worktree: Json, mode: str) -> Json:
    session: Json = await call(
        "create_session",
        worktreeId=worktree["id"],
        executionMode=mode,
        backend=kind.backend,
        model=kind.model,
    )
    return session


async def start_endless_tool(talk: Talk) -> int:
    """Let the agent run a tool that does not end by itself; returns its pid."""
    await talk.send("bash: echo $$ > running; exec sleep 600")
    running = Path(talk.worktree["path"]) / "running"
    await wait_until(lambda: running.exists() and running.read_text().strip() != "", TURN_LIMIT)
    return int(running.read_text())
