"""The log: its commits, the changes of one, and what can be done with them."""

from typing import Any

from textual.pilot import Pilot

from model.api.git import CommitResult, ExchangeResult
from model.base.errors import SpinneyError
from model.domain.events.worktrees import GitStatusUpdated, WorktreeDeleted
from tests.tui.builders import a_changed_file, a_commit, make_changes
from tests.tui.conftest import Start
from tests.tui.diff_tree import PARSER, FakeWorktree, lines, open_diff
from tests.tui.reading import notifications, screen_text
from tests.tui.waiting import until
from tui.diff.amend import Amend
from tui.diff.commit_screen import CommitDiff
from tui.diff.log_screen import Log
from tui.screens.dialog import Confirm, Report
from tui.screens.go_ahead import GoAhead
from tui.shell.app import SpinneyApp


class FakeHistory(FakeWorktree):
    """A worktree with commits: two of its branch, the older one pushed, and many of the base."""

    def __init__(self, base_commits: int = 1) -> None:
        super().__init__()
        self.commits = [
            a_commit("aaaaaaa1", "Read the tail", body="It was lost.\nThis finds it."),
            a_commit("bbbbbbb2", "Test the tail", is_pushed=True),
            *(
                a_commit(f"c{n:07}", f"Older {n}", is_pushed=True, is_in_base=True)
                for n in range(base_commits)
            ),
        ]
        self.client.answers |= {
            "list_commits": self._page,
            "list_commit_files": lambda given: make_changes("parser.py", "other.py").files,
            "get_commit_file_diff": self._diff,
            "amend_commit": lambda given: CommitResult(success=True, commit_sha="d" * 40),
            "fixup_commit": lambda given: CommitResult(success=True, commit_sha="e" * 40),
        }
        self.texts["other.py"] = PARSER.replace("parser", "other")

    def _page(self, given: dict[str, Any]) -> list[Any]:
        return self.commits[given["offset"] : given["offset"] + given["limit"]]


async def open_log(app: SpinneyApp, pilot: "Pilot[None]") -> Log:
    """Open the log by its command, and wait for the commits."""
    app.main.open_session("s1")
    await pilot.press(*"/log", "enter")
    await until(pilot, lambda: isinstance(app.screen, Log) and bool(app.screen.commits.items))
    assert isinstance(app.screen, Log)
    return app.screen


async def test_commits_are_listed_and_the_changes_of_one_are_shown(start: Start) -> None:
    history = FakeHistory()
    async with start(history.client) as (app, pilot):
        screen = await open_log(app, pilot)
        await until(pilot, lambda: "2 commits since main, 1 of them not pushed" in screen_text(app))
        rows = [screen.commits.render_line(y).text.split() for y in range(3)]
        assert rows[0][:2] == ["↑", "aaaaaaa"]
        assert rows[0][-4:] == ["Read", "the", "tail", "Ada"]
        assert rows[1][:2] == ["·", "bbbbbbb"]
        assert rows[2][0] == "c000000"
        await pilot.press("enter")
        await until(pilot, lambda: getattr(app.screen, "file_diff", None) is not None)
        commit = app.screen
        assert isinstance(commit, CommitDiff)
        shown = screen_text(app)
        assert "commit aaaaaaa · Ada" in shown
        assert "Read the tail" in shown
        assert "This finds it." in shown
        assert "print(2)" in "\n".join(lines(commit))
        await pilot.press("]", "]")
        await until(pilot, lambda: commit.path == "other.py")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        await pilot.press("q")
        await until(pilot, lambda: app.screen is app.main)


async def test_older_commits_follow_at_the_end_and_stay_after_a_change(start: Start) -> None:
    history = FakeHistory(base_commits=150)
    async with start(history.client) as (app, pilot):
        screen = await open_log(app, pilot)
        assert len(screen.commits.items) == 100
        await pilot.press("G")
        await until(pilot, lambda: len(screen.commits.items) == 152)
        here = screen.commit
        history.commits.insert(0, a_commit("ddddddd4", "Newest"))
        history.client.feed(
            GitStatusUpdated(
                worktree_id="w1", ahead=1, behind=0, uncommitted_added=1, uncommitted_removed=1,
                branch_diff_added=0, branch_diff_removed=0, unpushed=1, checked_at=1.0,
            )
        )  # fmt: skip
        await until(pilot, lambda: len(screen.commits.items) == 153)
        assert screen.commit == here


async def test_an_error_is_shown_in_place_of_the_commits(start: Start) -> None:
    history = FakeHistory()
    history.client.refuse("list_commits", "git is not installed.")
    async with start(history.client) as (app, pilot):
        app.main.open_session("s1")
        await pilot.press("shift+f5")
        await until(pilot, lambda: "git is not installed." in screen_text(app))


async def test_the_last_commit_is_amended_with_its_message_to_start_from(start: Start) -> None:
    history = FakeHistory()
    async with start(history.client) as (app, pilot):
        screen = await open_log(app, pilot)
        await pilot.press("down", "A")
        await until(pilot, lambda: isinstance(app.screen, Amend))
        assert "Adds 1 file, staged" in screen_text(app)
        await pilot.press("!", "enter")
        await until(pilot, lambda: app.screen is screen)
        message = "Read the tail\n\nIt was lost.\nThis finds it.!"
        given = {
            "worktree_id": "w1", "message": message, "stage_all": False, "force": False,
            "allowed_secrets": None,
        }  # fmt: skip
        assert history.client.called("amend_commit") == [given]
        assert "Amended: the commit is now dddddddddd." in notifications(app)


async def test_a_message_that_was_not_saved_is_kept(start: Start) -> None:
    history = FakeHistory()
    async with start(history.client) as (app, pilot):
        screen = await open_log(app, pilot)
        await pilot.press("A")
        await until(pilot, lambda: isinstance(app.screen, Amend))
        assert "write with agent" not in screen_text(app)  # it knows only what is added
        await pilot.press("!", "escape")
        await until(pilot, lambda: app.screen is screen)
        await pilot.press("A")
        await until(pilot, lambda: isinstance(app.screen, Amend))
        assert "This finds it.!" in screen_text(app)


async def test_commits_are_not_written_again_while_a_rebase_is_stopped(start: Start) -> None:
    history = FakeHistory()
    history.operation = "rebase"
    sentence = "A rebase is in progress. Continue or abort it first."
    async with start(history.client) as (app, pilot):
        screen = await open_log(app, pilot)
        await pilot.press("A")
        await until(pilot, lambda: notifications(app) == [sentence])
        await pilot.press("f")
        await until(pilot, lambda: notifications(app) == [sentence, sentence])
        assert app.screen is screen


async def test_a_pushed_commit_is_amended_only_after_a_question(start: Start) -> None:
    history = FakeHistory()
    del history.commits[0]
    async with start(history.client) as (app, pilot):
        screen = await open_log(app, pilot)
        await pilot.press("A")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("enter")  # on the button that cancels
        await until(pilot, lambda: app.screen is screen)
        await pilot.press("A")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, Amend))
        await pilot.press("enter")
        await until(pilot, lambda: bool(history.client.called("amend_commit")))
        assert history.client.called("amend_commit")[0]["force"] is True
        assert history.client.called("amend_commit")[0]["message"] is None  # unchanged


async def test_staged_changes_go_into_an_earlier_commit(start: Start) -> None:
    history = FakeHistory()
    async with start(history.client) as (app, pilot):
        screen = await open_log(app, pilot)
        await pilot.press("f")
        await until(pilot, lambda: isinstance(app.screen, GoAhead))
        assert "Put 1 staged file into aaaaaaa" in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: bool(history.client.called("fixup_commit")))
        given = {
            "worktree_id": "w1", "sha": "aaaaaaa1", "stage_all": False, "allowed_secrets": None,
        }  # fmt: skip
        assert history.client.called("fixup_commit") == [given]
        await until(pilot, lambda: app.screen is screen)
        await pilot.press("down", "f")
        await until(pilot, lambda: any("not pushed can be" in each for each in notifications(app)))
        assert len(history.client.called("fixup_commit")) == 1


async def test_a_commit_below_a_merge_is_not_offered_to_be_fixed_up(start: Start) -> None:
    history = FakeHistory()
    history.commits.insert(0, a_commit("fffffff0", "Merge it", is_merge=True))
    async with start(history.client) as (app, pilot):
        screen = await open_log(app, pilot)
        await pilot.press("down", "f")
        await until(pilot, lambda: any("a merge after" in each for each in notifications(app)))
        assert app.screen is screen


async def test_changes_that_do_not_fit_are_reported(start: Start) -> None:
    history = FakeHistory()
    history.files["staged"] = [a_changed_file("parser.py")]

    def refuse(given: dict[str, Any]) -> CommitResult:
        raise SpinneyError("The changes do not fit into that commit.", "conflict")

    history.client.answers["fixup_commit"] = refuse
    async with start(history.client) as (app, pilot):
        await open_log(app, pilot)
        await pilot.press("f", "enter")
        sentence = "The changes do not fit into that commit."
        await until(pilot, lambda: sentence in notifications(app))


async def test_a_long_message_is_cut_above_the_diff_and_shown_whole_by_a_key(
    start: Start,
) -> None:
    history = FakeHistory()
    body = "\n".join(f"Reason {n}." for n in range(1, 10))
    history.commits[0] = a_commit("aaaaaaa1", "Read the tail", body=body)
    async with start(history.client) as (app, pilot):
        await open_log(app, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: getattr(app.screen, "file_diff", None) is not None)
        assert "Reason 5.\n … 4 more lines" in screen_text(app)
        await pilot.press("i")
        await until(pilot, lambda: isinstance(app.screen, Report))
        assert "Reason 9." in screen_text(app)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: isinstance(app.screen, Log))
        assert "f fix up" in screen_text(app)
        await pilot.press("down")
        await until(pilot, lambda: "f fix up" not in screen_text(app))
        await pilot.press("i")
        await until(pilot, lambda: isinstance(app.screen, Report))


async def test_on_a_wide_screen_the_commit_under_the_cursor_is_beside_the_list(
    start: Start,
) -> None:
    history = FakeHistory()
    async with start(history.client, size=(160, 40)) as (app, pilot):
        screen = await open_log(app, pilot)
        await until(pilot, lambda: "modified  other.py" in screen_text(app))
        assert "This finds it." in screen_text(app)
        await pilot.press("down")
        await until(pilot, lambda: "bbbbbbb2 · Ada" in screen_text(app))
        assert "This finds it." not in screen_text(app)
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: "bbbbbbb2" not in screen_text(app))
        assert screen.commits.size.width == 120


async def test_the_branch_is_pushed_from_the_log(start: Start) -> None:
    history = FakeHistory()
    history.client.answers["git_push"] = lambda given: ExchangeResult(success=True, output="done")
    async with start(history.client) as (app, pilot):
        await open_log(app, pilot)
        await pilot.press("w")
        await until(pilot, lambda: isinstance(app.screen, GoAhead))
        await pilot.press("enter")
        await until(pilot, lambda: any("Pushed." in each for each in notifications(app)))


async def test_removing_the_worktree_closes_the_log_and_the_commit(start: Start) -> None:
    history = FakeHistory()
    async with start(history.client) as (app, pilot):
        await open_log(app, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, CommitDiff))
        history.client.feed(WorktreeDeleted(worktree_id="w1", project_id="p1"))
        await until(pilot, lambda: app.screen is app.main)
        assert notifications(app) == ["The worktree was removed."]


async def test_the_hash_is_copied(start: Start) -> None:
    history = FakeHistory()
    async with start(history.client) as (app, pilot):
        await open_log(app, pilot)
        await pilot.press("y")
        await until(pilot, lambda: any("aaaaaaa1" in each for each in notifications(app)))


async def test_the_log_opens_from_the_diff_and_goes_back_to_it(start: Start) -> None:
    history = FakeHistory()
    async with start(history.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await pilot.press("h")
        await until(pilot, lambda: isinstance(app.screen, Log))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
