"""A repository in a subgroup at GitLab, whose API is a stub that `glab` asks."""

import os
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from model.hosting.gitlab.forge import GitLab
from tests.live import glab_standin
from tests.live.gitlab_stub import GitLabStub
from tests.model.git.conftest import own_home, repository  # noqa: F401 - fixtures
from tests.model.git.repository import Repository


@pytest.fixture
async def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[GitLabStub]:
    """The running stub, with the real `glab` if it is installed, or the stand-in for it."""
    for name in list(os.environ):
        if name.startswith(("GL_", "GLAB_", "GITLAB_")) or name.upper().endswith("_PROXY"):
            monkeypatch.delenv(name)
    # No other host can be reached: the proxy, which is not used for loopback, does not exist.
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    if shutil.which("glab") is None:
        folder = tmp_path / "bin"
        folder.mkdir()
        program = folder / "glab"
        program.write_text(
            f'#!/bin/sh\nexec "{sys.executable}" -I -S "{glab_standin.__file__}" "$@"\n'
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    stub = GitLabStub()
    async with stub.running():
        stub.configure(tmp_path / "glab settings")
        monkeypatch.setenv("GLAB_CONFIG_DIR", str(tmp_path / "glab settings"))
        yield stub


@pytest.fixture
def root(repository: Repository, service: GitLabStub) -> Path:  # noqa: F811
    """A working tree on the branch `otter` of group/sub/engine."""
    repository.git("remote", "add", "origin", "git@gitlab.com:group/sub/engine.git")
    repository.git("checkout", "--quiet", "-b", "otter")
    return repository.root


@pytest.fixture
def forge() -> GitLab:
    return GitLab()
