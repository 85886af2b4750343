"""Spinney's server in the test's own process, with agents whose every word the test chooses."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import model.commands.all  # noqa: F401 - registers the commands
from model.catalog import Catalog
from model.paths import Directories
from model.preferences_changes import changed
from model.workspace import Workspace
from server.app import Server
from tests.puppet import PuppetBackend
from tests.server.conftest import TOKEN


@dataclass
class Stage:
    """A workspace that is served; stands where a test asks for `served`."""

    workspace: Workspace
    backend: PuppetBackend
    base_url: str
    token: str = TOKEN


@asynccontextmanager
async def staged(place: Path) -> AsyncIterator[Stage]:
    """Serve a workspace that lies in this folder."""
    directories = Directories(place / "config", place / "data", place / "home")
    directories.create()
    backend = PuppetBackend()
    workspace = Workspace(directories, {backend.name: backend}, Catalog(), demo=True)
    workspace.http_server = server = Server(workspace)
    await workspace.start()
    try:
        preferences = workspace.store.state.preferences
        await workspace.change_preferences(changed(preferences, {"http_server_token": TOKEN}))
        await server.start(0, localhost_only=True, token_required=True)
        yield Stage(workspace, backend, str(server.status()["base_url"]))
    finally:
        await server.stop()
        await workspace.stop()
