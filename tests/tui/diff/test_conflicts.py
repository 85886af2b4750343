"""Conflicts on the diff screen: their sides, taking one, and continuing what they stopped."""

from typing import Any

from model.api.changes import DiscardedFile
from model.api.git import CommitResult
from tests.tui.builders import a_changed_file
from tests.tui.conftest import Start
from tests.tui.diff_tree import CONFLICT, FakeWorktree, lines, open_diff
from tests.tui.reading import notifications
from tests.tui.waiting import until
from tui.screens.go_ahead import GoAhead


def a_stopped_merge() -> FakeWorktree:
    """A worktree with a merge that a conflict in `parser.py` stopped."""
    tree = FakeWorktree()
    tree.operation = "merge"
    tree.files = {
        "unstaged": [a_changed_file("parser.py", status="conflicted")],
        "staged": [],
        "branch": [],
    }
    tree.texts["parser.py"] = CONFLICT

    def resolve(given: dict[str, Any]) -> DiscardedFile:
        tree.files |= {"staged": [a_changed_file("parser.py")], "unstaged": []}
        return DiscardedFile(id=f"before-{given['choice']}", path="parser.py")

    tree.client.answers["resolve_conflict"] = resolve
    return tree


async def test_the_sides_of_a_conflict_have_their_names(start: Start) -> None:
    tree = a_stopped_merge()
    async with start(tree.client, size=(200, 50)) as (app, pilot):
        screen = await open_diff(app, pilot)
        assert not screen.view.is_split  # both sides are in the new text
        shown = "\n".join(lines(screen))
        assert "── ours · this branch ──" in shown
        assert "── theirs · theirs ──" in shown
        assert "<<<<" not in shown


async def test_the_first_conflict_is_shown_when_a_pull_stops(start: Start) -> None:
    tree = FakeWorktree()
    tree.files |= {"unstaged": [a_changed_file("parser.py"), a_changed_file("picture")]}
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        screen.files.go_to("picture")
        tree.operation = "merge"
        tree.files["unstaged"][0] = a_changed_file("parser.py", status="conflicted")
        screen.load()
        await until(pilot, lambda: screen.path == "parser.py")


async def test_a_side_is_taken_and_the_conflict_comes_back_on_another_screen(start: Start) -> None:
    tree = a_stopped_merge()

    def bring_back(given: dict[str, Any]) -> DiscardedFile:
        unstaged = [a_changed_file("parser.py", status="conflicted")]
        tree.files |= {"unstaged": unstaged, "staged": []}
        return DiscardedFile(id="before-theirs", path="parser.py", conflicted=True)

    tree.client.answers["undo_discard"] = bring_back
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await pilot.press("2")
        taken = (
            "Took theirs in 'parser.py'. z undoes it. No conflict is left: C continues the merge."
        )
        await until(pilot, lambda: taken in notifications(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        screen = await open_diff(app, pilot)
        await pilot.press("z")
        await until(pilot, lambda: "The conflict in 'parser.py' is back." in notifications(app))
        await until(pilot, lambda: screen.files.file is not None)
        await pilot.press("1")
        await until(pilot, lambda: len(tree.client.called("resolve_conflict")) == 2)


async def test_a_side_that_deleted_the_file_is_described(start: Start) -> None:
    tree = a_stopped_merge()
    tree.texts["parser.py"] = ""
    tree.files["unstaged"] = [a_changed_file("parser.py", status="conflicted", deleted_by="theirs")]
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        assert "1 keeps it, 2 deletes it." in screen.view.placeholder
        assert "theirs deleted" in screen.files.render_line(0).text
        assert "3 both" not in str(screen.query_one("#keys").render())
        await pilot.press("2")
        await until(pilot, lambda: tree.client.called("resolve_conflict"))


async def test_a_merge_is_continued_once_nothing_is_unmerged(start: Start) -> None:
    tree = a_stopped_merge()

    def finish(given: dict[str, Any]) -> CommitResult:
        tree.operation = None
        return CommitResult(success=True, commit_sha="0123456789abcdef")

    tree.client.answers["continue_operation"] = finish
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await pilot.press("1")
        await until(pilot, lambda: not screen.files.files)
        await pilot.press("C")
        await until(pilot, lambda: isinstance(app.screen, GoAhead))
        await pilot.press("enter")
        await until(pilot, lambda: "The merge is complete: 0123456789." in notifications(app))
        await until(pilot, lambda: app.screen is screen)
        await pilot.press("C")
        await until(pilot, lambda: "No merge or rebase is in progress." in notifications(app))
