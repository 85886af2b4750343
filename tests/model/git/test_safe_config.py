"""A look runs and opens nothing that only the repository's own settings name."""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.git import safe_config
from model.git.changes import changed_files
from model.git.diff import diff
from model.git.status import GitStatus, worktree_status
from tests.model.git.made_repository import Repository
from tests.patience import PATIENCE


@pytest.fixture(autouse=True)
def own_settings_are_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_config, "_user_settings", None)


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    return tmp_path / "it ran"


@pytest.fixture
def program(tmp_path: Path, marker: Path) -> str:
    """A command that shows each file as it is, and that it ran."""
    path = tmp_path / "program"
    path.write_text(f"#!/bin/sh\ntouch '{marker}'\nexec cat\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def filtered(repository: Repository) -> Repository:
    """A repository whose files go through the filter `evil`, and have to be compared."""
    repository.write(".gitattributes", "* filter=evil\n")
    repository.commit("file", "text\n")
    _have_compared(repository.root)
    return repository


def _have_compared(root: Path) -> None:
    """Let git take every file for one that may have changed."""
    for path in root.iterdir():
        if path.is_file():
            os.utime(path, (time.time() - 100,) * 2)


async def look(root: Path) -> GitStatus:
    """What the poller does, and what a person reads."""
    async with asyncio.timeout(PATIENCE):
        for kind in ("working", "staged", "branch"):
            await diff(root, kind, "main")
        for side in ("unstaged", "staged", "branch"):
            await changed_files(root, side, "main")
        return await worktree_status(root, "main")


@pytest.mark.parametrize("key", ["filter.evil.clean", "filter.evil.process"])
async def test_a_filter_of_the_repository_does_not_run(
    key: str, filtered: Repository, program: str, marker: Path
) -> None:
    filtered.git("config", key, program)
    filtered.git("config", "filter.evil.required", "true")
    filtered.write("read.me", "changed\n")
    assert (await look(filtered.root)).changed_files == 1
    assert not marker.exists()


async def test_nor_one_that_is_included(
    filtered: Repository, program: str, marker: Path, tmp_path: Path
) -> None:
    (tmp_path / "more").write_text(f'[filter "evil"]\n\tclean = {program}\n')
    (tmp_path / "first").write_text("[include]\n\tpath = more\n")
    filtered.git("config", "includeIf.gitdir:/.path", str(tmp_path / "first"))
    await look(filtered.root)
    assert not marker.exists()


async def test_nor_one_of_a_submodule(
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
    _have_compared(repository.root / "sub")
    await look(repository.root)
    assert not marker.exists()


async def test_a_lazy_fetch_runs_nothing_either(
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


async def test_the_persons_own_filter_runs(
    filtered: Repository, program: str, marker: Path, own_home: Path
) -> None:
    filtered.git("config", "--global", "filter.evil.clean", program)
    filtered.git("config", "filter.evil.clean", "false")
    assert (await look(filtered.root)).changed_files == 0
    assert marker.exists()


async def test_a_change_of_the_settings_is_noticed(
    filtered: Repository, program: str, marker: Path
) -> None:
    await look(filtered.root)
    filtered.git("config", "filter.evil.clean", program)
    await look(filtered.root)
    assert not marker.exists()


@pytest.mark.parametrize(
    "key", ["diff.orderFile", "core.excludesFile", "core.attributesFile", "mailmap.file"]
)
async def test_nobody_waits_at_a_pipe(key: str, filtered: Repository, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    filtered.git("config", key, str(tmp_path / "pipe"))
    filtered.write("read.me", "changed\n")
    assert (await look(filtered.root)).changed_files == 1


async def test_settings_that_lead_to_a_pipe_are_told_of(
    filtered: Repository, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    with (filtered.root / ".git/config").open("a") as config:
        config.write("[include]\n\tpath = ../../pipe\n")
    with pytest.raises(SpinneyError, match="is not a file"):
        await look(filtered.root)


async def test_a_name_that_cannot_be_turned_off_is_refused(filtered: Repository) -> None:
    filtered.git("config", "filter.a=b.clean", "false")
    with pytest.raises(SpinneyError, match="only an attack would use"):
        await look(filtered.root)
