"""Changes to a worktree made in a shell appear on the screen: branches, commits, removal."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from model.commands.sessions import create_session, send_chat_message
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.model.git.old_git import install_old_git
from tests.model.git.repository import Repository
from tests.model.worktrees.conftest import (  # noqa: F401 - fixtures
    Maker,
    added,
    fake_git,
    make,
    make_repository,
    own_home,
    repository,
)
from tests.tui.reading import screen_text, tree_row
from tests.tui.waiting import until, until_shown
from tests.tui.workspace_app import terminal_on
from tui.screens.new_worktree import NewWorktree
from tui.store.places import Place


@pytest.fixture
async def tree(make: Maker) -> Worktree:  # noqa: F811
    return await make("otter")


@pytest.fixture
async def answered_session(workspace: Workspace, tree: Worktree, eventually: Eventually) -> Session:
    """A session in the worktree with one answered message."""
    session = await create_session(workspace, tree.id, name="Fix it")
    await send_chat_message(workspace, session.id, message="words that stay")
    await eventually(lambda: workspace.store.state.sessions[session.id].status == "idle")
    return session


async def test_the_branch_and_its_counts_follow_a_switch_in_a_shell(
    workspace: Workspace,
    tree: Worktree,
    repository: Repository,  # noqa: F811
) -> None:
    path = Path(tree.path)
    async with terminal_on(workspace) as (app, pilot):
        app.main.open_place(Place("worktree", tree.id))
        await until_shown(app, pilot, "branch otter")
        repository.git("switch", "--quiet", "-c", "other", cwd=path)
        await until_shown(app, pilot, "branch other")
        repository.write("read.me", "one\nTWO\nthree\nfour\n", cwd=path)
        repository.git("commit", "--quiet", "--all", "-m", "on the other branch", cwd=path)
        await until(pilot, lambda: "↑1" in tree_row(app, "otter"))
        repository.git("switch", "--quiet", "otter", cwd=path)
        await until(pilot, lambda: "↑1" not in tree_row(app, "otter"))
        await until_shown(app, pilot, "branch otter")


async def test_an_open_diff_follows_the_branch(
    workspace: Workspace,
    tree: Worktree,
    repository: Repository,  # noqa: F811
) -> None:
    path = Path(tree.path)
    repository.git("switch", "--quiet", "-c", "other", cwd=path)
    repository.commit("new.txt", "on the other branch\n", cwd=path)
    repository.git("switch", "--quiet", "otter", cwd=path)
    repository.write("read.me", "one\nTWO\nthree\n", cwd=path)
    async with terminal_on(workspace) as (app, pilot):
        app.main.open_place(Place("worktree", tree.id))
        await pilot.press("ctrl+g")
        await until_shown(app, pilot, "read.me", "+ TWO")
        repository.git("switch", "--quiet", "other", cwd=path)
        await pilot.press("v", "v")
        await until_shown(app, pilot, "new.txt", "on the other branch")
        # Switching back before the change was seen would be no change.
        await until(pilot, lambda: app.main.state.worktrees[tree.id].branch == "other")
        repository.git("switch", "--quiet", "otter", cwd=path)
        await until(pilot, lambda: "new.txt" not in screen_text(app))


async def test_a_detached_worktree_says_so_in_its_row(
    workspace: Workspace,
    tree: Worktree,
    repository: Repository,  # noqa: F811
) -> None:
    async with terminal_on(workspace) as (app, pilot):
        repository.git("switch", "--quiet", "--detach", cwd=Path(tree.path))
        commit = repository.git("rev-parse", "HEAD")[:7]
        await until(pilot, lambda: f"detached at {commit}" in tree_row(app, "otter"))


@pytest.mark.short
async def test_the_conversation_of_a_deleted_worktree_is_readable_and_offers_commands(
    workspace: Workspace, tree: Worktree, answered_session: Session
) -> None:
    async with terminal_on(workspace) as (app, pilot):
        app.main.open_session(answered_session.id)
        await until_shown(app, pilot, "words that stay")
        shutil.rmtree(tree.path)
        await pilot.press("f5")
        await until(pilot, lambda: "directory missing" in tree_row(app, "otter"))
        await until_shown(app, pilot, "words that stay", "/recreate", "/archive")
        await pilot.press(*"more", "enter")
        await until_shown(app, pilot, "more", "The worktree's directory is missing")
        await pilot.press(*"/recreate", "enter")
        await until(pilot, lambda: Path(tree.path, "read.me").exists())
        await until(pilot, lambda: "/recreate" not in screen_text(app))
        app.clear_notifications()  # they cover the conversation
        await pilot.press(*"again", "enter")
        await until(pilot, lambda: screen_text(app).count("again") == 2)


async def test_a_deleted_worktree_can_be_archived_from_its_conversation(
    workspace: Workspace, tree: Worktree, answered_session: Session
) -> None:
    async with terminal_on(workspace) as (app, pilot):
        app.main.open_session(answered_session.id)
        shutil.rmtree(tree.path)
        await pilot.press("f5")
        await until_shown(app, pilot, "words that stay", "/archive")
        await pilot.press(*"/archive", "enter")
        await until(pilot, lambda: workspace.store.state.worktrees[tree.id].archived_at is not None)
        await until(pilot, lambda: not tree_row(app, "otter"))


async def test_the_diff_of_a_deleted_worktree_is_an_error_message(
    workspace: Workspace, tree: Worktree
) -> None:
    shutil.rmtree(tree.path)
    async with terminal_on(workspace) as (app, pilot):
        app.main.open_place(Place("worktree", tree.id))
        await pilot.press("ctrl+g")
        await until_shown(app, pilot, "directory is missing", "recreate or")


async def test_an_outdated_git_is_reported_at_the_start_and_in_the_dialog(
    workspace: Workspace,
    tree: Worktree,
    fake_git: Callable[[str], None],  # noqa: F811
) -> None:
    install_old_git(fake_git, "2.25.1")
    async with terminal_on(workspace) as (app, pilot):
        await until_shown(app, pilot, "git 2.25.1 is too old", "newer.")
        app.main.open_place(Place("worktree", tree.id))
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, NewWorktree))
        await pilot.press("enter")
        await until(pilot, lambda: app.screen.query(".problem"))
        await until_shown(app, pilot, "git 2.25.1 is too old")
