"""Spinney's server in the test's own process, with agents that the test controls."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import model.api.all  # noqa: F401 - registers the commands
from model.base.paths import Directories
from model.runtime.workspace import Workspace
from tests.contract.conftest import start_server_in_process
from tests.puppet import Puppet, PuppetBackend
from tests.server.conftest import TOKEN, Socket


@dataclass
class InProcessServer:
    """A served workspace; can be returned by the fixture `server`."""

    workspace: Workspace
    backend: PuppetBackend
    base_url: str
    token: str = TOKEN


@asynccontextmanager
async def serve_in_process(place: Path, usual_port: int = 0) -> AsyncIterator[InProcessServer]:
    """Serve a workspace whose directories are in this folder, on `usual_port` if that is free."""
    directories = Directories(place / "config", place / "data", place / "home")
    directories.create()
    backend = PuppetBackend()
    starting = start_server_in_process(directories, backend, demo=True, usual_port=usual_port)
    async with starting as (workspace, base_url):
        yield InProcessServer(workspace, backend, base_url)


async def begin_turn(
    in_process_server: InProcessServer, client: Socket, session: Any, message: str = "go"
) -> Puppet:
    """Send a message and return the agent that received it."""
    sending = client.call("send_chat_message", sessionId=session["id"], message=message)
    return await in_process_server.backend.receiver_of(sending)
