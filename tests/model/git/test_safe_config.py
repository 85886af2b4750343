"""Reading a repository runs no program and opens no file that only its own settings name."""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.git import safe_config
from model.git.changes import list_changed_files
from model.git.diff import diff
from model.git.status import GitStatus, read_worktree_status
from tests.model.git.repository import Repository
from tests.patience import PATIENCE


@pytest.fixture(autouse=True)
def clear_settings_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_config, "_user_settings", None)


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    return tmp_path / "it ran"


@pytest.fixture
def program(tmp_path: Path, marker: Path) -> str:
    """A filter that leaves files unchanged and creates the marker."""
    path = tmp_path / "program"
    path.write_text(f"#!/bin/sh\ntouch '{marker}'\nexec cat\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def filtered(repository: Repository) -> Repository:
    """A repository whose files go through the filter `evil` and have to be compared."""
    repository.write(".gitattributes", "* filter=evil\n")
    repository.commit("file", "text\n")
    _touch_files(repository.root)
    return repository


def _touch_files(root: Path) -> None:
    """Make git treat every file as possibly changed."""
    for path in root.iterdir():
        if path.is_file():
            os.utime(path, (time.time() - 100,) * 2)


async def read_everything(root: Path) -> GitStatus:
    """Read all that the poller and the diff view read."""
    async with asyncio.timeout(PATIENCE):
        for kind in ("working", "staged", "branch"):
            await diff(root, kind, "main")
        for side in ("unstaged", "staged", "branch"):
            await list_changed_files(root, side, "main")
        return await read_worktree_status(root, "main")


@pytest.mark.parametrize("key", ["filter.evil.clean", "filter.evil.process"])
async def test_a_filter_of_the_repository_does_not_run(
    key: str, filtered: Repository, program: str, marker: Path
) -> None:
    filtered.git("config", key, program)
    filtered.git("config", "filter.evil.required", "true")
    filtered.write("read.me", "changed\n")
    assert (await read_everything(filtered.root)).changed_files == 1
    assert not marker.exists()


async def test_a_filter_of_an_included_file_does_not_run(
    filtered: Repository, program: str, marker: Path, tmp_path: Path
) -> None:
    (tmp_path / "more").write_text(f'[filter "evil"]\n\tclean = {program}\n')
    (tmp_path / "first").write_text("[include]\n\tpath = more\n")
    filtered.git("config", "includeIf.gitdir:/.path", str(tmp_path / "first"))
    await read_everything(filtered.root)
    assert not marker.exists()


async def test_a_filter_of_a_submodule_does_not_run(
    repository: Repository,
    make_repository: Callable[[str], Repository],
    program: str,
    marker: Path,
) -> None:
    inner = make_repository("inner")
    inner.write(".gitattributes", "* filter=evil\n")
    inner.commit("file", "text\n")
    repository.git("-c", "protocol.file.allow=always", "submodule", "add", str(inner.root), "sub")
    repository.git("commit", "--quiet", "-m", "Add a submodule")
    repository.git("config", "filter.evil.clean", program, cwd=repository.root / "sub")
    _touch_files(repository.root / "sub")
    await read_everything(repository.root)
    assert not marker.exists()


async def test_a_lazy_fetch_runs_no_program(
    filtered: Repository, program: str, marker: Path, tmp_path: Path
) -> None:
    blob = filtered.git("rev-parse", "HEAD:file")
    filtered.git("clone", "--quiet", "--bare", ".", str(tmp_path / "origin.git"))
    filtered.git("remote", "add", "origin", str(tmp_path / "origin.git"))
    for key, value in {
        "core.repositoryFormatVersion": "1", "extensions.partialClone": "origin",
        "remote.origin.promisor": "true", "remote.origin.uploadpack": program,
    }.items():  # fmt: skip
        filtered.git("config", key, value)
    (filtered.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    filtered.write("file", "changed\n")
    with pytest.raises(SpinneyError):
        await diff(filtered.root, "working")
    assert not marker.exists()


async def test_the_users_own_filter_runs(
    filtered: Repository, program: str, marker: Path, own_home: Path
) -> None:
    filtered.git("config", "--global", "filter.evil.clean", program)
    filtered.git("config", "filter.evil.clean", "false")
    assert (await read_everything(filtered.root)).changed_files == 0
    assert marker.exists()


async def test_a_change_of_the_settings_is_noticed(
    filtered: Repository, program: str, marker: Path
) -> None:
    await read_everything(filtered.root)
    filtered.git("config", "filter.evil.clean", program)
    await read_everything(filtered.root)
    assert not marker.exists()


@pytest.mark.parametrize(
    "key", ["diff.orderFile", "core.excludesFile", "core.attributesFile", "mailmap.file"]
)
async def test_named_pipes_in_the_settings_do_not_block(
    key: str, filtered: Repository, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    filtered.git("config", key, str(tmp_path / "pipe"))
    filtered.write("read.me", "changed\n")
    assert (await read_everything(filtered.root)).changed_files == 1


async def test_settings_that_include_a_named_pipe_are_refused(
    filtered: Repository, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    with (filtered.root / ".git/config").open("a") as config:
        config.write("[include]\n\tpath = ../../pipe\n")
    with pytest.raises(SpinneyError, match="is not a file"):
        await read_everything(filtered.root)


async def test_a_filter_that_cannot_be_disabled_is_refused(filtered: Repository) -> None:
    filtered.git("config", "filter.a=b.clean", "false")
    with pytest.raises(SpinneyError, match="only an attack would use"):
        await read_everything(filtered.root)
