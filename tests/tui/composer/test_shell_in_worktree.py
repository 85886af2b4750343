"""`!command` on a real workspace: where it runs, its output while it runs, how it is stopped."""

from pathlib import Path

from model.runtime.workspace import Workspace
from tests.fakes import FakeBackend
from tests.model.worktrees.conftest import (  # noqa: F401 - fixtures
    Maker,
    added,
    fake_git,
    make,
    make_repository,
    own_home,
    repository,
)
from tests.tui.reading import screen_text
from tests.tui.waiting import until, until_shown
from tests.tui.workspace_app import terminal_on
from tui.screens.command_output import CommandOutput
from tui.store.places import Place


async def test_a_command_runs_in_a_worktree_without_a_session_and_begins_one_if_it_is_sent_on(
    workspace: Workspace,
    make: Maker,  # noqa: F811
    backend: FakeBackend,
) -> None:
    tree = await make("otter")
    async with terminal_on(workspace) as (app, pilot):
        app.main.open_place(Place("worktree", tree.id))
        await until(pilot, lambda: app.main.chat.key == tree.id)
        await pilot.press(*"!echo began; pwd > where; sleep 600", "enter")
        await until_shown(app, pilot, "began", "Running …")
        where = Path(tree.path, "where")
        await until(pilot, lambda: where.exists() and where.read_text().strip() == tree.path)
        await pilot.press("escape")
        await until_shown(app, pilot, "Stopped after")
        assert isinstance(app.screen, CommandOutput) and "began" in screen_text(app)
        await pilot.press("s")
        await until(pilot, lambda: backend.agents.keys() & workspace.store.state.sessions.keys())
        [session_id] = workspace.store.state.sessions
        agent = backend.agents[session_id]
        name, text = await agent.wait_for_call("send")
        assert name == "send" and "$ echo began; pwd > where; sleep 600\nbegan\n```" in text
