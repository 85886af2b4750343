"""The stub of GitHub, running, for the real `gh`."""

# ruff: noqa: F811 - fixtures are imported, and named again where they are used

import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.live.hosting_stub import HostingStub
from tests.model.git.conftest import own_home  # noqa: F401 - a fixture


@pytest.fixture(autouse=True)
async def service(
    own_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[HostingStub]:
    """The running stub, in an environment in which `gh` connects only to it."""
    folder = tmp_path / "service"
    folder.mkdir()
    stub = HostingStub(folder)
    async with serving(stub, monkeypatch):
        yield stub


@asynccontextmanager
async def serving(stub: HostingStub, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """Run a stub and direct `gh` to it."""
    find_gh()
    for name in list(os.environ):
        if name.startswith(("GH_", "GITHUB_")) or name.upper().endswith("_PROXY"):
            monkeypatch.delenv(name)
    async with stub.running():
        for name, value in stub.environment.items():
            monkeypatch.setenv(name, value)
        yield


def find_gh() -> Path:
    """The program; skips the test if it, or one that the stub needs, is missing."""
    for program in ("gh", "openssl"):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}")
    version = subprocess.run(["gh", "--version"], capture_output=True, text=True, timeout=30)
    if not version.stdout.startswith(("gh version 2.23.", "gh version 2.46.")):
        pytest.skip(f"the stub supports gh 2.23 and 2.46, and this is {version.stdout[:30]!r}")
    return Path(shutil.which("gh") or "gh")
