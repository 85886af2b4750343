"""Cloning a repository into a project: progress, errors, cancellation and cleanup."""

import asyncio
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.commands.cloning import cancel_clone, clone_project, get_clone_progress
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
