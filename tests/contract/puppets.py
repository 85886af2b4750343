"""The model with agents on strings, for the rows that are not yet asked of the program itself."""

import aiohttp
import pytest

from model.workspace import Workspace
from server.app import Server
from tests.contract.conftest import Call, local_call, remote_call
from tests.server.conftest import Socket, connect, http, server, start_server  # noqa: F401 - fixtures


@pytest.fixture(params=["in process", "WebSocket"])
async def call(
    request: pytest.FixtureRequest,
    workspace: Workspace,
    server: Server,  # noqa: F811
    http: aiohttp.ClientSession,  # noqa: F811
) -> Call:
    """`await call("list_projects", …)`: a command's data, over each of the ways to call one."""
    if request.param == "in process":
        return local_call(workspace)
    return remote_call(await connect(server, http))


@pytest.fixture
async def socket(server: Server, http: aiohttp.ClientSession) -> Socket:  # noqa: F811
    """A plain client: it gets the interface's frames and nothing else."""
    return await connect(server, http)
