"""Real git in a home of its own: nothing of the developer's settings reaches these tests."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from model.git import run
from tests.model.git.made_repository import Repository
from tests.program import until


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    (home / "gitconfig").write_text("[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n")
    for name in list(os.environ):
        if name.startswith("GIT_") and name != "GIT_PYTHON_REFRESH":
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ada@example.org")
    return home


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
def repository(make_repository: Callable[[str], Repository]) -> Repository:
    """A repository with one commit on `main`."""
    made = make_repository("project")
    made.commit("read.me", "one\ntwo\nthree\n")
    return made


@pytest.fixture
def with_remote(repository: Repository, tmp_path: Path) -> Repository:
    """The same, pushed to a bare `origin`."""
    origin = tmp_path / "origin.git"
    repository.git("clone", "--quiet", "--bare", str(repository.root), str(origin))
    repository.git("remote", "add", "origin", str(origin))
    repository.git("fetch", "--quiet", "origin")
    repository.git("push", "--quiet", "--set-upstream", "origin", "main")
    return repository


@pytest.fixture
def base_dir(tmp_path: Path) -> Path:
    """Where the worktrees go."""
    return tmp_path.resolve() / "worktrees"


@pytest.fixture
def fake_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Put a shell script before git on the PATH; it finds the real one in `$real_git`."""

    def install(script: str) -> None:
        folder = tmp_path / "bin"
        folder.mkdir()
        program = folder / "git"
        program.write_text(f"#!/bin/sh\nreal_git={shutil.which('git')}\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setattr(run, "_checked", {})

    return install


@pytest.fixture
def counts_from(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Path], None]:
    """Let the time limit of a git command count from the moment when a file is there."""

    def install(command: str, path: Path) -> None:
        heard = run._Call._heard

        def once_it_is_there(call: Any, process: Any) -> tuple[bytes, bytes, bool]:
            if command in " ".join(call._args):
                until(path.exists, f"{path} is there")
            return heard(call, process)

        monkeypatch.setattr(run._Call, "_heard", once_it_is_there)

    return install
