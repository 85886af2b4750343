"""Fixtures for tests with real git, isolated from the developer's settings."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from model.git import run
from model.runtime.workspace import Workspace
from tests.model.git.git_project import GitProject, add_git_project
from tests.model.git.repository import Repository, set_own_home
from tests.program import until


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return set_own_home(tmp_path / "home", monkeypatch)


@pytest.fixture
def make_repository(tmp_path: Path) -> Callable[[str], Repository]:
    def make(name: str) -> Repository:
        root = tmp_path / name
        root.mkdir(parents=True)
        repository = Repository(root.resolve())
        repository.git("init", "--quiet")
        return repository

    return make


@pytest.fixture
def repository(templates: Path, tmp_path: Path) -> Repository:
    """A repository with one commit on `main`."""
    root = tmp_path.resolve() / "project"
    shutil.copytree(templates / "alone", root, symlinks=True)
    return Repository(root)


@pytest.fixture
def with_remote(repository: Repository, templates: Path, tmp_path: Path) -> Repository:
    """The same repository, pushed to a bare `origin`."""
    origin = tmp_path / "origin.git"
    shutil.copytree(templates / "origin.git", origin)
    git_dir = repository.root / ".git"
    shutil.copytree(templates / "project" / ".git", git_dir, dirs_exist_ok=True)
    for config in (git_dir / "config", origin / "config"):
        text = config.read_text()
        text = text.replace(str(templates / "project"), str(repository.root))
        config.write_text(text.replace(str(templates / "origin.git"), str(origin)))
    return repository


@pytest.fixture
def base_dir(tmp_path: Path) -> Path:
    """The parent directory of the worktrees."""
    return tmp_path.resolve() / "worktrees"


@pytest.fixture
def fake_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that puts a shell script before git on the PATH.

    The script finds the real git in `$real_git`.
    """

    def install(script: str) -> None:
        folder = tmp_path / "bin"
        folder.mkdir()
        program = folder / "git"
        real_git = shutil.which("git")
        program.write_text(f"#!/bin/sh\nreal_git='{real_git}'\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setattr(run, "_versions", {})

    return install


@pytest.fixture
def delay_timeout(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Path], None]:
    """Return a function that starts the time limit of a git command once a file exists."""

    def install(command: str, path: Path) -> None:
        read_output = run._Call._read_output

        def read_when_it_exists(call: Any, process: Any) -> tuple[bytes, bytes, bool]:
            if command in " ".join(call._args):
                until(path.exists, f"{path} is there")
            return read_output(call, process)

        monkeypatch.setattr(run._Call, "_read_output", read_when_it_exists)

    return install


@pytest.fixture
async def git_project(workspace: Workspace, with_remote: Repository) -> GitProject:
    return await add_git_project(workspace, with_remote)
