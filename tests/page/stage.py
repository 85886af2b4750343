"""Spinney's server in the test's own process, with agents whose every word the test chooses."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import model.api.all  # noqa: F401 - registers the commands
from model.base.paths import Directories
from model.runtime.workspace import Workspace
from tests.contract.conftest import served_here
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
    async with served_here(directories, backend, demo=True) as (workspace, base_url):
        yield Stage(workspace, backend, base_url)
