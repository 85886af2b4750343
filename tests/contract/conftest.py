"""The interface as its clients meet it: real sockets, real git, agents that need no program."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest

from model.commands.registry import find_command
from model.errors import SpinneyError
from model.workspace import Workspace
from server.app import Server
from tests.model.git.conftest import (  # noqa: F401 - fixtures
    make_repository,
    own_home,
    repository,
    with_remote,
)
from tests.model.git.made_repository import Repository
from tests.model.hosting.conftest import fake_gh  # noqa: F401 - a fixture
from tests.server.conftest import Socket, connect, http, server, start_server  # noqa: F401 - fixtures

Call = Callable[..., Awaitable[Any]]


@dataclass
class RefusedError(Exception):
    """A command's error, as a client reads it."""

    error: str


@pytest.fixture(params=["in process", "WebSocket"])
async def call(
    request: pytest.FixtureRequest,
    workspace: Workspace,
    server: Server,  # noqa: F811
    http: aiohttp.ClientSession,  # noqa: F811
) -> Call:
    """`await call("list_projects", …)`: a command's data, over each of the ways to call one."""
    if request.param == "in process":

        async def locally(name: str, /, **args: Any) -> Any:
            command = find_command(name)
            try:
                result = await command.run(workspace, args)
            except SpinneyError as error:
                raise RefusedError(error.message) from None
            return command.result.dump_python(result, mode="json")

        return locally
    socket = await connect(server, http)
    numbers = iter(range(1_000_000))

    async def remotely(name: str, /, **args: Any) -> Any:
        request_id = f"request-{next(numbers)}"
        await socket.send({"id": request_id, "command": name, "args": args})
        frame = await socket.answer(request_id)
        if frame["type"] == "error":
            assert set(frame) == {"type", "id", "error", "error_type"}
            raise RefusedError(frame["error"])
        assert set(frame) == {"type", "id", "data"}
        return frame["data"]

    return remotely


@pytest.fixture
async def socket(server: Server, http: aiohttp.ClientSession) -> Socket:  # noqa: F811
    """A plain client: it gets the interface's frames and nothing else."""
    return await connect(server, http)


@pytest.fixture
def alpha(repository: Repository) -> str:  # noqa: F811
    """The path of a repository with one commit on `main`."""
    return str(repository.root)


async def refusal(call: Call, command: str, /, **args: Any) -> str:
    """The error text of a command that must fail."""
    with pytest.raises(RefusedError) as caught:
        await call(command, **args)
    return caught.value.error
