"""The dialog with the stashes: put changes aside, bring them back, drop, undo."""

from typing import Any

from textual.pilot import Pilot
from textual.widgets import OptionList

from model.api.git import ExchangeResult
from model.api.stashes import Stash
from tests.tui.builders import a_stash
from tests.tui.conftest import Start
from tests.tui.diff_tree import FakeWorktree, open_diff
from tests.tui.reading import notifications, screen_text
from tests.tui.waiting import until
from tui.diff.stash_dialog import Stashes
from tui.screens.dialog import AskText
from tui.shell.app import SpinneyApp


class FakeStashes(FakeWorktree):
    """A worktree whose repository has two stashes."""

    def __init__(self, *stashes: Stash) -> None:
        super().__init__()
        self.stashes = list(stashes)
        self.dropped: list[Stash] = []
        self.client.answers |= {
            "list_stashes": lambda given: list(self.stashes),
            "stash_changes": self._create,
            "drop_stash": self._drop,
            "restore_stash": lambda given: self.stashes.insert(0, self.dropped.pop()),
            "apply_stash": lambda given: ExchangeResult(success=True, output=""),
        }

    def _create(self, given: dict[str, Any]) -> Stash:
        self.stashes.insert(0, a_stash("new", given["message"] or "Changes on top of 1 One"))
        return self.stashes[0]

    def _drop(self, given: dict[str, Any]) -> None:
        at = next(n for n, each in enumerate(self.stashes) if each.id == given["stash_id"])
        self.dropped.append(self.stashes.pop(at))


async def open_stashes(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    """Open the dialog by its command."""
    app.main.open_session("s1")
    await pilot.press(*"/stash", "enter")
    await until(pilot, lambda: isinstance(app.screen, Stashes))


def shows(app: SpinneyApp, text: str) -> bool:
    """Whether the dialog is in front and contains a text."""
    return isinstance(app.screen, Stashes) and text in screen_text(app)


async def test_a_message_that_was_left_is_there_the_next_time(start: Start) -> None:
    tree = FakeStashes()
    async with start(tree.client) as (app, pilot):
        await open_stashes(app, pilot)
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, AskText))
        await pilot.press(*"half", "escape")
        await until(pilot, lambda: isinstance(app.screen, Stashes))
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, AskText))
        await pilot.press("enter")
        await until(pilot, lambda: tree.client.called("stash_changes"))
        assert tree.client.called("stash_changes")[0]["message"] == "half"


async def test_changes_are_put_aside_and_brought_back(start: Start) -> None:
    tree = FakeStashes()
    async with start(tree.client) as (app, pilot):
        await open_stashes(app, pilot)
        assert shows(app, "No stash yet")
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, AskText))
        await pilot.press(*"later", "enter")
        await until(pilot, lambda: shows(app, "later"))
        assert "Stashed 2 files." in notifications(app)
        assert tree.client.called("stash_changes") == [{"worktree_id": "w1", "message": "later"}]
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main)
        given = {"worktree_id": "w1", "stash_id": "new", "drop": True}
        assert tree.client.called("apply_stash") == [given]
        await until(pilot, lambda: "Brought back: later." in notifications(app))


async def test_a_stash_is_dropped_and_the_drop_undone(start: Start) -> None:
    tree = FakeStashes(a_stash("s2", "Newer"), a_stash("s1", "Older"))
    async with start(tree.client) as (app, pilot):
        await open_stashes(app, pilot)
        await pilot.press("down", "delete")
        await until(pilot, lambda: len(tree.stashes) == 1 and shows(app, "z undo drop"))
        assert not shows(app, "Older")
        await pilot.press("z")
        await until(pilot, lambda: shows(app, "Older"))
        assert "undo drop" not in screen_text(app)
        assert tree.client.called("restore_stash")[0]["stash_id"] == "s1"


async def test_stashed_changes_are_applied_and_kept_from_the_diff(start: Start) -> None:
    tree = FakeStashes(a_stash("s2", "Newer"), a_stash("s1", "Older"))
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await pilot.press("Y")
        await until(pilot, lambda: isinstance(app.screen, Stashes))
        assert app.screen.query_one(OptionList).has_focus
        await pilot.press("down", "a")
        await until(pilot, lambda: app.screen is screen)
        given = {"worktree_id": "w1", "stash_id": "s1", "drop": False}
        assert tree.client.called("apply_stash") == [given]


async def test_a_stash_that_does_not_fit_is_reported_as_kept(start: Start) -> None:
    tree = FakeStashes(a_stash("s1", "Older"))
    tree.client.answers["apply_stash"] = lambda given: ExchangeResult(
        success=False, output="CONFLICT"
    )
    async with start(tree.client) as (app, pilot):
        await open_stashes(app, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: any("the stash is kept" in each for each in notifications(app)))
