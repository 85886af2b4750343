"""Cloning a repository into a project: progress, errors, cancellation and cleanup."""

import asyncio
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.commands.cloning import cancel_clone, clone_project, get_clone_progress
from model.git import cloning
from model.runtime.workspace import Workspace
from tests.model.git.repository import Repository


async def test_a_clone_becomes_a_project(
    workspace: Workspace, repository: Repository, tmp_path: Path
) -> None:
    target = tmp_path / "new" / "copy"
    url = repository.root.as_uri()
    project = await clone_project(workspace, url, str(target))
    assert project.path == str(target.resolve())
    assert project.name == "copy"
    assert project.id in workspace.store.state.projects
    assert (target / ".git").is_dir()
    assert not (await get_clone_progress(workspace, str(target))).running


async def test_a_clone_that_fails_says_why_and_leaves_nothing(
    workspace: Workspace, tmp_path: Path
) -> None:
    target = tmp_path / "new" / "copy"
    with pytest.raises(SpinneyError, match="does not appear") as caught:
        await clone_project(workspace, (tmp_path / "nothing").as_uri(), str(target))
    assert caught.value.error_type == "git_error"
    assert not (tmp_path / "new").exists()
    assert not workspace.store.state.projects


@pytest.mark.parametrize("has_begun", [False, True])
async def test_an_empty_directory_that_was_there_stays_when_a_clone_fails(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_begun: bool
) -> None:
    target = tmp_path / "mine"
    target.mkdir(mode=0o750)
    before = target.stat()

    async def break_off(_: Path, *args: object, **options: object) -> None:
        (target / ".git" / "objects").mkdir(parents=True)
        (target / "half").write_text("written")
        raise SpinneyError("took too long", "timeout")

    if has_begun:  # Git was killed, so it could not remove anything.
        monkeypatch.setattr(cloning, "git", break_off)
    with pytest.raises(SpinneyError):
        await clone_project(workspace, (tmp_path / "nothing").as_uri(), str(target))
    after = target.stat()
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    assert list(target.iterdir()) == []


async def test_a_directory_with_content_is_not_touched(
    workspace: Workspace, repository: Repository, tmp_path: Path
) -> None:
    target = tmp_path / "full"
    target.mkdir()
    (target / "mine").write_text("keep")
    with pytest.raises(SpinneyError, match="already exists"):
        await clone_project(workspace, repository.root.as_uri(), str(target))
    assert (target / "mine").read_text() == "keep"


@pytest.mark.parametrize("url", ["", "--upload-pack=touch x", "ext::sh -c x", "engine", "a b"])
async def test_invalid_urls_never_reach_git(url: str, workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(SpinneyError, match="Invalid field 'url'"):
        await clone_project(workspace, url, str(tmp_path / "copy"))


async def test_a_clone_can_be_cancelled_and_leaves_nothing(
    workspace: Workspace, tmp_path: Path
) -> None:
    target = tmp_path / "copy"
    reached = asyncio.Event()
    connections = []

    async def never_answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)
        reached.set()
        await reader.read()
        writer.close()

    async with await asyncio.start_server(never_answers, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        url = f"git://127.0.0.1:{port}/engine.git"
        cloning = asyncio.create_task(clone_project(workspace, url, str(target)))
        await reached.wait()
        progress = await get_clone_progress(workspace, str(target))
        assert progress.running
        await cancel_clone(workspace, str(target))
        with pytest.raises(SpinneyError, match="The clone was canceled"):
            await cloning
    assert not target.exists()
    assert not (await get_clone_progress(workspace, str(target))).running
