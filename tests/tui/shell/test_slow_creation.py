"""While git creates a worktree, the screen stays usable and no text is lost."""

from collections.abc import Callable
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from tests.fakes import FakeBackend
from tests.model.worktrees.conftest import (  # noqa: F401 - fixtures
    Maker,
    added,
    fake_git,
    make_repository,
    own_home,
    repository,
)
from tests.tui.conftest import Started
from tests.tui.reading import screen_text, tree_row
from tests.tui.waiting import until, until_shown
from tests.tui.workspace_app import terminal_on
from tui.composer.draft_store import DraftStore
from tui.screens.dialog import Confirm
from tui.screens.new_worktree import NewWorktree


@pytest.fixture
def gate(tmp_path: Path, fake_git: Callable[[str], None]) -> Path:  # noqa: F811
    """A file whose creation lets `git worktree add` proceed."""
    path = tmp_path / "open"
    fake_git(
        f'case "$*" in *"worktree add"*) while [ ! -e {path} ]; do sleep 0.02; done;; esac\n'
        'exec "$real_git" "$@"'
    )
    return path


async def start_creation(started: Started, message: str) -> None:
    """Fill in the dialog and start the creation."""
    app, pilot = started
    await pilot.press("ctrl+n")
    await until(pilot, lambda: isinstance(app.screen, NewWorktree))
    app.screen.query_one("#name").focus()
    await pilot.press(*"otter")
    app.screen.query_one("#message").text = message  # type: ignore[attr-defined]
    await pilot.press("enter")
    await until(pilot, lambda: "creating" in tree_row(app, "otter"))


def only_worktree(workspace: Workspace) -> Worktree:
    [worktree] = workspace.store.state.worktrees.values()
    return worktree


@pytest.mark.short
async def test_keys_work_while_a_worktree_is_created_and_its_message_is_sent_afterwards(
    workspace: Workspace,
    added: Project,  # noqa: F811
    gate: Path,
    backend: FakeBackend,
) -> None:
    async with terminal_on(workspace) as (app, pilot):
        await start_creation((app, pilot), "mend the parser")
        await until_shown(app, pilot, "Creating the worktree.", "Your first message", "esc")
        assert app.main.chat.drafts.sent_messages(added.id) == ["mend the parser"]
        await pilot.press(*"and this too")
        assert app.main.chat.composer.text == "and this too"
        await pilot.press("f1")
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press("escape")
        gate.touch()
        await until_shown(app, pilot, "mend the parser")
        assert app.main.chat.composer.text == "and this too"
        assert not app.main.chat.drafts.get(only_worktree(workspace).id)
        await until(pilot, lambda: backend.agents)
        [agent] = backend.agents.values()
        assert await agent.wait_for_call("send") == ("send", "mend the parser")


async def test_a_canceled_creation_leaves_only_the_filled_in_form(
    workspace: Workspace,
    added: Project,  # noqa: F811
    gate: Path,
) -> None:
    async with terminal_on(workspace) as (app, pilot):
        await start_creation((app, pilot), "mend the parser")
        path = Path(only_worktree(workspace).path)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("right", "enter")
        await until(pilot, lambda: not workspace.store.state.worktrees)
        assert not path.exists()
        await until(pilot, lambda: app.screen is app.main and not tree_row(app, "otter"))
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, NewWorktree))
        await until_shown(app, pilot, "mend the parser")


async def test_the_first_message_is_saved_while_the_worktree_is_created(
    workspace: Workspace,
    added: Project,  # noqa: F811
    gate: Path,
    tmp_path: Path,
) -> None:
    async with terminal_on(workspace, data=tmp_path / "kept") as (app, pilot):
        await start_creation((app, pilot), "mend the parser")
        await until(
            pilot,
            lambda: read_saved_draft(tmp_path, only_worktree(workspace).id) == "mend the parser",
        )
        gate.touch()
        await until_shown(app, pilot, "mend the parser")
        await until(pilot, lambda: read_saved_draft(tmp_path, only_worktree(workspace).id) == "")


def read_saved_draft(tmp_path: Path, key: str) -> str:
    """The draft that the next terminal would load."""
    drafts = DraftStore(tmp_path / "kept/terminal")
    drafts.load()
    return drafts.get(key).text


async def test_a_first_message_that_cannot_be_sent_stays_in_the_message_box(
    workspace: Workspace,
    added: Project,  # noqa: F811
    gate: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise SpinneyError("The disk is full.", "internal_error")

    monkeypatch.setattr(workspace.chats, "send", refuse)
    async with terminal_on(workspace) as (app, pilot):
        await start_creation((app, pilot), "mend the parser")
        gate.touch()
        await until_shown(app, pilot, "The disk is full.")
        await until(pilot, lambda: app.main.chat.composer.text == "mend the parser")
        assert "otter" in screen_text(app)
