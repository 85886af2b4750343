"""The diff screen: the changes that it shows, and its keys."""

import asyncio
from typing import Any

import pytest

from model.api.changes import Changes, DiscardedFile, FileDiff
from model.api.git import ExchangeResult
from model.api.reviews import ConflictTask
from model.domain.events.program import TaskCompleted
from model.domain.events.worktrees import GitStatusUpdated, WorktreeDeleted
from tests.tui.builders import a_changed_file, a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.diff_tree import (
    CONFLICT,
    PARSER,
    FakeWorktree,
    go_to_files,
    lines,
    open_diff,
    top_text,
)  # fmt: skip
from tests.tui.every_screen import a_busy_state, in_diff
from tests.tui.reading import notifications
from tests.tui.waiting import until
from tui.diff.comment_dialog import EditComment
from tui.diff.screen import Diff
from tui.screens.dialog import Confirm
from tui.screens.go_ahead import GoAhead
from tui.transcript.targets import Target
from tui.widgets.key_hints import KeyHints


async def test_files_and_their_counts_are_listed_beside_the_diff(start: Start) -> None:
    tree = FakeWorktree()
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        labels = [screen.files.render_line(n).text for n in range(2)]
        assert labels[0].split() == ["M", "parser.py", "+2", "−1", "▪▪▪▪▪"]
        assert labels[1].split() == ["?", "picture", "binary"]
        assert lines(screen)[0].startswith("▌── line 1  import sys ──")
        assert lines(screen)[1:5] == [
            "   1   1   import sys",
            "   2     - print(1)",
            "       2 + print(2)",
            "   3   3   # end",
        ]
        await until(pilot, lambda: "[unstaged 2] staged 1  vs main 0 " in top_text(screen))
        assert top_text(screen).startswith("▲ brave-otter  changes")
        assert top_text(screen).endswith("2 files  +2 −1")


async def test_changes_without_lines_are_described(start: Start) -> None:
    tree = FakeWorktree()
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await go_to_files(pilot, screen)
        await pilot.press("down")
        await until(pilot, lambda: "A binary file" in lines(screen)[0])
        await pilot.press("v")
        await until(pilot, lambda: "rename from old" in "\n".join(lines(screen)))
        assert "The file is now executable." in "\n".join(lines(screen))
        await pilot.press("v")
        await until(pilot, lambda: "No commits beyond main yet" in screen.view.placeholder)


async def test_two_columns_are_shown_on_wide_screens_and_toggled_by_a_key(start: Start) -> None:
    tree = FakeWorktree()
    async with start(tree.client, size=(200, 50)) as (app, pilot):
        screen = await open_diff(app, pilot)
        assert screen.view.is_split
        assert lines(screen)[2].split() == ["2", "-", "print(1)", "│", "2", "+", "print(2)"]
        await pilot.press("t")
        await until(pilot, lambda: not screen.view.is_split)
        assert len(lines(screen)) == 9


async def test_a_file_or_a_hunk_is_staged_with_the_digest_of_the_shown_text(start: Start) -> None:
    tree = FakeWorktree()
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        seen = str(hash(PARSER))
        await pilot.press("s")
        await until(pilot, lambda: tree.client.called("stage_changes"))
        await pilot.press("]", "s")
        await until(pilot, lambda: len(tree.client.called("stage_changes")) == 2)
        of_file = {"worktree_id": "w1", "path": "parser.py", "hunk": None, "seen": seen}
        hunks = [{**of_file, "hunk": name} for name in ("h0", "h1")]
        assert tree.client.called("stage_changes") == hunks
        await go_to_files(pilot, screen)
        await pilot.press("s")
        await until(pilot, lambda: tree.client.called("stage_changes") == [*hunks, of_file])
        await pilot.press("tab")
        await pilot.press("x")
        await until(pilot, lambda: tree.client.called("discard_changes"))
        assert tree.client.called("discard_changes") == [{**of_file, "hunk": "h1"}]
        await pilot.press("v")
        await until(pilot, lambda: screen.path == "new")
        await pilot.press("u")
        await until(pilot, lambda: tree.client.called("unstage_changes"))
        assert tree.client.called("unstage_changes")[0]["path"] == "new"


async def test_a_staged_file_leaves_the_list_and_the_next_one_is_shown(start: Start) -> None:
    tree = FakeWorktree()

    def stage(given: dict[str, Any]) -> None:
        tree.files["staged"].append(tree.files["unstaged"].pop(0))

    tree.client.answers["stage_changes"] = stage
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await pilot.press("s")
        await until(pilot, lambda: screen.path == "picture" and "binary" in lines(screen)[0])
        await until(pilot, lambda: "staged 2" in top_text(screen))
        await pilot.press("s")
        await until(pilot, lambda: "All changes are staged: 3 files" in screen.view.placeholder)


async def test_undo_moves_the_cursor_to_the_restored_file(start: Start) -> None:
    tree = FakeWorktree()
    tree.client.answers["undo_discard"] = lambda given: DiscardedFile(id="d", path="picture")
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await pilot.press("z")
        await until(pilot, lambda: screen.path == "picture")


async def test_a_refusal_is_shown_and_the_file_is_loaded_again(start: Start) -> None:
    tree = FakeWorktree()
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        tree.client.refuse("stage_changes", "“parser.py” has changed since it was shown.")
        tree.texts["parser.py"] = PARSER.replace("print(2)", "print(3)")
        await pilot.press("s")
        await until(pilot, lambda: "print(3)" in "\n".join(lines(screen)))
        said = notifications(app)
        assert said == ["“parser.py” has changed since it was shown."]


async def test_it_follows_the_worktree_and_the_cursor_keeps_its_line(start: Start) -> None:
    tree = FakeWorktree()
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await pilot.press("]", "down", "down")
        assert screen.view.line is not None
        assert screen.view.line.text == "    return 1"
        tree.texts["parser.py"] = PARSER.replace("+print(2)\n", "+print(2)\n+print(3)\n").replace(
            "+20,3", "+21,3"
        )
        tree.client.feed(
            GitStatusUpdated(
                worktree_id="w1", ahead=0, behind=0, uncommitted_added=1, uncommitted_removed=1,
                branch_diff_added=0, branch_diff_removed=0, unpushed=0, checked_at=1.0,
            )
        )  # fmt: skip
        await until(pilot, lambda: "print(3)" in "\n".join(lines(screen)))
        assert screen.view.line is not None
        assert screen.view.line.text == "    return 1"


@pytest.mark.painted
async def test_of_a_hundred_thousand_lines_only_visible_ones_are_drawn(start: Start) -> None:
    tree = FakeWorktree()
    added = "".join(f"+line = {n}\n" for n in range(100_000))
    tree.texts["parser.py"] = (
        f"diff --git a/parser.py b/parser.py\n--- /dev/null\n+++ b/parser.py\n"
        f"@@ -0,0 +1,100000 @@\n{added}"
    )
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await pilot.press("end")
        await until(pilot, lambda: lines(screen)[-1].endswith("100000 + line = 99999"))
        painter = screen.view._painter
        assert painter._block.cache_info().currsize <= 4
        await pilot.press("pageup", "home")
        await until(pilot, lambda: lines(screen)[1].split() == ["1", "+", "line", "=", "0"])


async def test_foreign_text_is_shown_escaped(start: Start) -> None:
    tree = FakeWorktree()
    name = "[@click=app.exit]x[/]\x1b\u200b"
    tree.files["unstaged"] = [a_changed_file(name)]
    hostile = "[red]\x1b[31m\u202ex\r\u200b\x9b\u2066\U000e0041y"
    tree.texts[name] = PARSER.replace("print(2)", hostile)
    async with start(tree.client, size=(200, 50)) as (app, pilot):
        screen = await open_diff(app, pilot)
        shown = "[red]␛[31m<U+202E>x␍<U+200B><U+009B><U+2066><U+E0041>y"
        for _ in range(2):  # in two columns and in one
            await until(pilot, lambda: any(line.rstrip().endswith(shown) for line in lines(screen)))
            await pilot.press("t")
        assert screen.files.render_line(0).text.split()[1] == "[@click=app.exit]x[/]␛<U+200B>"
        await pilot.press("s")
        await until(pilot, lambda: tree.client.called("stage_changes"))
        assert tree.client.called("stage_changes")[0]["path"] == name


async def test_an_error_while_loading_is_shown_in_place_of_the_diff(start: Start) -> None:
    tree = FakeWorktree()
    tree.client.refuse("list_changed_files", "git is not installed.")
    async with start(tree.client) as (app, pilot):
        app.main.open_session("s1")
        await pilot.press("ctrl+g")
        await until(
            pilot,
            lambda: (
                isinstance(app.screen, Diff)
                and app.screen.view.placeholder == "git is not installed."
            ),
        )
        assert isinstance(app.screen, Diff)
        assert "git is not installed." in app.screen.view.render_line(1).text


async def test_a_stopped_merge_is_shown_with_its_conflicts_until_it_ends(
    start: Start,
) -> None:
    tree = FakeWorktree()
    tree.operation = "merge"
    tree.files["unstaged"] = [a_changed_file("parser.py", status="conflicted")]
    tree.texts["parser.py"] = CONFLICT
    tree.client.answers["write_conflict_task"] = lambda given: ConflictTask(
        message="Files:\n- parser.py", files=["parser.py"]
    )
    async with start(tree.client, size=(80, 24)) as (app, pilot):
        screen = await open_diff(app, pilot)
        foot = screen.query_one(KeyHints)
        assert "merge stopped: 1 conflict" in top_text(screen)
        assert foot.text.startswith("tab files  1 ours  2 theirs  3 both  o agent  b abort")
        await pilot.press("o")
        await until(pilot, lambda: tree.client.called("send_chat_message"))
        assert "- parser.py" in tree.client.called("send_chat_message")[0]["message"]
        tree.files = {"unstaged": [], "staged": [a_changed_file("parser.py")], "branch": []}
        screen.load()
        await until(pilot, lambda: "merge ready to continue" in top_text(screen))
        assert foot.text.startswith("C continue  b abort")
        assert "C continues the merge." in screen.view.placeholder
        tree.client.answers["abort_merge"] = lambda given: "merge"
        await pilot.press("b")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        assert app.screen.box_title == "Abort the merge"  # type: ignore[attr-defined]
        await pilot.press("y")
        await until(pilot, lambda: tree.client.called("abort_merge") == [{"worktree_id": "w1"}])
        tree.operation = None
        screen.load()
        await until(pilot, lambda: "merge" not in top_text(screen) and "abort" not in foot.text)
        await pilot.press("b")
        sentence = "No merge or rebase is in progress."
        await until(pilot, lambda: sentence in notifications(app))


async def test_on_a_narrow_screen_the_files_are_above_the_diff(start: Start) -> None:
    tree = FakeWorktree()
    async with start(tree.client, size=(80, 24)) as (app, pilot):
        screen = await open_diff(app, pilot)
        assert screen.view.has_focus
        assert screen.files.region.bottom == screen.view.region.y
        assert screen.files.size.height == 2
        await go_to_files(pilot, screen)
        await pilot.press("down")
        await until(pilot, lambda: "A binary file" in lines(screen)[0])
        await pilot.press("enter")
        await until(pilot, lambda: screen.view.has_focus)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


async def test_removing_the_worktree_closes_the_screen(start: Start) -> None:
    tree = FakeWorktree()
    async with start(tree.client) as (app, pilot):
        await open_diff(app, pilot)
        tree.client.feed(WorktreeDeleted(worktree_id="w1", project_id="p1"))
        await until(pilot, lambda: app.screen is app.main)


async def test_the_palette_offers_the_actions_of_the_screen(start: Start) -> None:
    tree = FakeWorktree()
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await pilot.press("ctrl+p")
        await until(pilot, lambda: app.screen is not screen)
        await pilot.press(*"columns")
        await until(pilot, lambda: bool(app.screen.query_one("OptionList").option_count))  # type: ignore[attr-defined]
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is screen and screen.view.is_split)
        screen.action_do("diff_stage_all")
        await until(pilot, lambda: tree.client.called("stage_changes") == [{"worktree_id": "w1"}])


async def test_a_slow_answer_for_another_file_is_not_shown(start: Start) -> None:
    tree = FakeWorktree()
    gate = asyncio.Event()

    async def slow(given: dict[str, Any]) -> FileDiff:
        if given["path"] == "parser.py":
            await gate.wait()
        return tree._diff(given)

    tree.client.answers["get_file_diff"] = slow
    async with start(tree.client) as (app, pilot):
        app.main.open_session("s1")
        await pilot.press("ctrl+g")
        await until(pilot, lambda: bool(tree.client.called("get_file_diff")))
        await pilot.press("tab", "down")
        gate.set()
        assert isinstance(app.screen, Diff)
        screen = app.screen
        await until(pilot, lambda: "A binary file" in lines(screen)[0])


async def test_an_edit_in_the_conversation_opens_its_file_on_any_side(start: Start) -> None:
    tree = FakeWorktree()
    tree.files["branch"] = [a_changed_file("other"), a_changed_file("src/mended.py")]
    tree.texts["src/mended.py"] = PARSER
    async with start(tree.client) as (app, pilot):
        app.main.open_session("s1")
        target = Target("/trees/brave-otter/src/mended.py", in_diff=True)
        app.main.start(app.main.open_targets([target]))  # type: ignore[union-attr]
        await until(pilot, lambda: isinstance(app.screen, Diff) and bool(app.screen.file_diff))
        assert isinstance(app.screen, Diff)
        assert (app.screen.side, app.screen.path) == ("branch", "src/mended.py")


async def test_events_that_arrive_faster_than_git_answers_do_not_pile_up(start: Start) -> None:
    tree = FakeWorktree()
    gate = asyncio.Event()
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await until(pilot, lambda: "vs main 0" in top_text(screen))

        def times() -> int:
            return sum(
                given["side"] == "unstaged" for given in tree.client.called("list_changed_files")
            )

        before = times()

        async def slow(given: dict[str, Any]) -> Changes:
            await gate.wait()
            return tree._list(given)

        tree.client.answers["list_changed_files"] = slow
        done = TaskCompleted(task="setup", ok=True, detail="", worktree_id="w1")
        for _ in range(3):
            tree.client.feed(done)
            await until(pilot, lambda: screen._is_stale or screen._reading.locked())
            await until(pilot, lambda: screen._reading.locked())
        assert times() == before + 1
        gate.set()
        await until(pilot, lambda: times() == before + 2)


async def test_the_diff_opens_on_the_first_side_with_changes(start: Start) -> None:
    client = a_busy_state()
    listed = client.answers["list_changed_files"]
    has = {"branch"}

    def only(given: dict[str, Any]) -> Changes:
        files = listed(given).files if given["side"] in has else []
        return Changes(files=files, base="main", operation=None)

    client.answers["list_changed_files"] = only
    async with start(client) as (app, pilot):
        await in_diff()(app, pilot)
        diff = app.screen
        assert isinstance(diff, Diff) and diff.side == "branch"
        has.clear()
        await pilot.press("q")
        await until(pilot, lambda: app.screen is app.main)
        app.main.action_do("open_diff")
        await until(pilot, lambda: isinstance(app.screen, Diff))
        again = app.screen
        assert isinstance(again, Diff)
        await until(pilot, lambda: again.changes is not None and not again._seeks)
        await until(
            pilot,
            lambda: again.side == "unstaged" and "Nothing has changed." in again.view.placeholder,
        )


async def test_a_comment_from_the_list_of_files_is_on_the_first_hunk(start: Start) -> None:
    async with start(a_busy_state()) as (app, pilot):
        await in_diff("c")(app, pilot)
        await until(pilot, lambda: isinstance(app.screen, EditComment))
        await pilot.press(*"why?", "enter")
        await until(pilot, lambda: isinstance(app.screen, Diff))
        diff = app.screen
        assert isinstance(diff, Diff)
        [comment] = diff.comments
        assert (comment.path, comment.text) == ("parser.py", "why?")


async def test_an_empty_side_says_what_to_do(start: Start) -> None:
    tree = FakeWorktree()
    tree.files["branch"] = [a_changed_file("parser.py")]
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        tree.files["unstaged"] = []
        screen.load()
        sentence = "All changes are staged: 1 file. v shows them, m commits."
        await until(pilot, lambda: screen.view.placeholder == sentence)
        tree.files["staged"] = []
        screen.load()
        await until(pilot, lambda: "what the branch changed since main: 1 file" in screen.nothing())


async def test_a_file_is_marked_as_viewed_until_it_changes(start: Start) -> None:
    tree = FakeWorktree()
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await pilot.press("space")  # the end is visible: the file is read
        await until(pilot, lambda: screen.path == "picture")
        assert "✓" in screen.files.render_line(0).text
        await go_to_files(pilot, screen)
        await pilot.press("up", "space")
        await until(pilot, lambda: "✓" not in screen.files.render_line(0).text)
        await pilot.press("space", "up")
        await until(pilot, lambda: screen.path == "parser.py" and bool(screen.files.viewed))
        tree.texts["parser.py"] = PARSER.replace("print(2)", "print(3)")
        screen.load()
        await until(pilot, lambda: not screen.files.viewed)


async def test_network_commands_say_what_they_do_and_start_on_enter_alone(start: Start) -> None:
    tree = FakeWorktree()
    tree.client.answers["git_push"] = lambda given: ExchangeResult(success=True, output="")
    resources = [a_project(), a_worktree(cached_unpushed_count=2), a_session()]
    tree.client.reload(a_state(*resources))
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await pilot.press(*"wyw")
        await until(pilot, lambda: isinstance(app.screen, GoAhead))
        assert isinstance(app.screen, GoAhead)
        assert app.screen.sentence == "Push 2 commits of 'brave-otter' to origin?"
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        await pilot.press("w")
        await until(pilot, lambda: isinstance(app.screen, GoAhead))
        await pilot.press("enter")
        await until(pilot, lambda: len(tree.client.called("git_push")) == 1)


async def test_the_editor_opens_at_the_line_under_the_cursor(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []

    async def open_file(desk: object, name: str, line: int = 0) -> None:
        opened.append((name, line))

    monkeypatch.setattr("tui.actions.changes.open_file", open_file)
    tree = FakeWorktree()
    async with start(tree.client) as (app, pilot):
        await open_diff(app, pilot)
        await pilot.press("]", "down", "down", "e")
        await until(pilot, lambda: opened == [("parser.py", 21)])
