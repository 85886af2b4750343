"""A shell command while it runs."""

import asyncio
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from tests.model.git.git_project import GitProject
from tests.patience import PATIENCE


async def test_a_running_command_shows_its_output_and_is_stopped(git_project: GitProject) -> None:
    commands, worktree = git_project.workspace.shell_commands, await git_project.add("topic")
    command = "echo begun; touch begun; sleep 600 & wait"
    running = asyncio.create_task(commands.run(worktree.id, command))
    async with asyncio.timeout(PATIENCE):
        while not await asyncio.to_thread((Path(worktree.path) / "begun").exists):
            await asyncio.sleep(0.02)
    now = await commands.read(worktree.id)
    assert (now.status, now.output) == ("running", "begun\n")
    with pytest.raises(SpinneyError, match="still running here: echo begun"):
        await commands.run(worktree.id, "true")
    await commands.stop(worktree.id)
    assert (await running).status == "stopped"


async def test_it_goes_on_when_its_caller_has_gone(git_project: GitProject) -> None:
    commands, worktree = git_project.workspace.shell_commands, await git_project.add("topic")
    gone = asyncio.create_task(commands.run(worktree.id, "until [ -e go ]; do sleep 0.02; done"))
    await asyncio.sleep(0)
    while worktree.id not in commands._running:
        await asyncio.sleep(0.01)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    (Path(worktree.path) / "go").touch()
    async with asyncio.timeout(PATIENCE):
        while (await commands.read(worktree.id)).status == "running":
            await asyncio.sleep(0.02)
    assert (await commands.read(worktree.id)).status == "completed"
