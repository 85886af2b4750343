"""Commit, push, pull and pull request: their dialogs, and the errors of git."""

import asyncio
from typing import Any

from textual.widgets import Input, Label, Static

from model.api.changes import Changes, CommitMessage
from model.api.git import CommitResult, ExchangeResult
from model.api.pull_requests import OpenedPullRequest
from model.api.reviews import ConflictTask
from model.base.errors import SpinneyError
from model.domain.branches import Remote
from model.domain.events.program import TaskCompleted
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.secret_findings import SecretFinding, SecretReport
from tests.tui.a_hosting_service import a_pull_request
from tests.tui.builders import a_project, a_session, a_state, a_worktree, make_changes
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient
from tests.tui.reading import dialog_text, notifications, screen_lines
from tests.tui.waiting import until, until_shown
from tui.composer.message_area import MessageArea
from tui.screens.commit import Commit
from tui.screens.dialog import Confirm, Report
from tui.screens.go_ahead import GoAhead
from tui.screens.pull_request import PullRequest
from tui.screens.working import Progress
from tui.shell.app import SpinneyApp
from tui.store.places import Place

SHA = "0123456789abcdef"

ORIGIN = Remote(name="origin", url="/o.git")


def client_with_changes(
    unstaged: Changes | None = None, staged: Changes | None = None, **worktree: Any
) -> FakeClient:
    client = FakeClient(a_state(a_project(), a_worktree(**worktree), a_session()))
    sides = {"unstaged": unstaged or make_changes("a"), "staged": staged or make_changes()}
    client.answers["list_changed_files"] = lambda given: sides[given.get("side", "unstaged")]
    client.answers["commit_changes"] = lambda given: CommitResult(success=True, commit_sha=SHA)
    return client


def perform(app: SpinneyApp, action: str) -> None:
    app.main.open_session("s1")
    app.main.action_do(action)


def dialog_status(app: SpinneyApp) -> str:
    return str(app.screen.query_one("#words", Static).content)


# Commit -------------------------------------------------------------------------------------------


async def test_a_commit_includes_everything_if_nothing_is_staged(start: Start) -> None:
    client = client_with_changes(make_changes("a", "b"))
    async with start(client) as (app, pilot):
        perform(app, "commit")
        await until(pilot, lambda: isinstance(app.screen, Commit))
        assert str(app.screen.query_one("#what", Label).content) == "All changes: 2 files"
        await pilot.press("enter")
        assert "Enter a commit message" in dialog_status(app)
        await pilot.press(*"Mend", "ctrl+j", *"it", "enter")
        await until(pilot, lambda: app.screen is app.main)
        assert client.called("commit_changes") == [
            {
                "worktree_id": "w1",
                "message": "Mend\nit",
                "stage_all": True,
                "allowed_secrets": None,
            }
        ]
        assert "Committed as 0123456789." in notifications(app)


async def test_a_commit_ends_in_the_offer_to_push(start: Start) -> None:
    client = client_with_changes(make_changes("a"))
    client.answers["get_git_remotes"] = lambda given: [ORIGIN]
    client.answers["git_push"] = lambda given: ExchangeResult(success=True, output="done")
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        await pilot.press("f4")
        await until(pilot, lambda: isinstance(app.screen, Commit))
        await pilot.press(*"Mend", "enter")
        await until(pilot, lambda: isinstance(app.screen, GoAhead))
        assert "Push 'brave-otter' now?" in app.screen.sentence
        await pilot.press("enter")
        await until(pilot, lambda: client.called("git_push"))


async def test_only_staged_changes_are_committed_unless_all_is_chosen(start: Start) -> None:
    client = client_with_changes(make_changes("a", "b"), make_changes("b"))
    async with start(client) as (app, pilot):
        perform(app, "commit")
        await until(pilot, lambda: isinstance(app.screen, Commit))
        label = app.screen.query_one("#what", Label)
        assert str(label.content) == "Staged changes: 1 file; 2 files not staged"
        await pilot.press("ctrl+t")
        assert str(label.content) == "All changes: 2 files"
        await pilot.press("ctrl+t", *"Mend", "enter")
        await until(pilot, lambda: bool(client.called("commit_changes")))
        assert client.called("commit_changes")[0]["stage_all"] is False


async def test_the_output_of_a_hook_is_shown_once_and_the_message_is_kept(start: Start) -> None:
    client = client_with_changes()
    failure = TaskCompleted(task="commit", ok=False, detail="lint: 3 errors", worktree_id="w1")

    def refuse(given: dict[str, Any]) -> None:
        client.feed(failure)
        raise SpinneyError("lint: 3 errors\nparser.py:4 unused", "git_error")

    client.answers["commit_changes"] = refuse
    async with start(client) as (app, pilot):
        perform(app, "commit")
        await until(pilot, lambda: isinstance(app.screen, Commit))
        await pilot.press(*"Mend", "enter")
        await until(pilot, lambda: dialog_status(app) == "lint: 3 errors\nparser.py:4 unused")
        await until(pilot, lambda: client._updates.empty())
        assert notifications(app) == []
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        perform(app, "commit")
        await until(pilot, lambda: isinstance(app.screen, Commit))
        assert app.screen.query_one(MessageArea).text == "Mend"


async def test_secrets_are_shown_and_only_what_was_seen_is_committed(start: Start) -> None:
    client = client_with_changes()
    findings = [
        SecretFinding(
            path=path, line=3, label="GitHub token", excerpt="ghp_…", fingerprint=digit * 16
        )
        for path, digit in (("a.py", "a"), ("b.py", "b"))
    ]

    def commit(given: dict[str, Any]) -> CommitResult:
        if not given["allowed_secrets"]:
            raise SpinneyError("The commit would contain 2 possible secrets", "conflict")
        return CommitResult(success=True, commit_sha="c" * 40)

    client.answers["commit_changes"] = commit
    client.answers["find_secrets"] = lambda given: SecretReport(findings=findings)
    async with start(client) as (app, pilot):
        perform(app, "commit")
        await until(pilot, lambda: isinstance(app.screen, Commit))
        await pilot.press(*"Mend", "enter")
        await until_shown(app, pilot, "2 possible secrets would be committed", "a.py:3", "b.py:3")
        # Going back changes nothing, and the message stays.
        await pilot.press("escape")
        await until(pilot, lambda: dialog_status(app).startswith("The commit would contain"))
        assert app.screen.query_one(MessageArea).text == "Mend"
        await pilot.press("enter")
        await until_shown(app, pilot, "2 possible secrets")
        await pilot.press("a")
        await until_shown(app, pilot, "1 possible secret would")
        assert client.called("allow_secret") == [
            {"project_id": "p1", "fingerprint": "a" * 16, "about": "GitHub token in a.py"}
        ]
        await pilot.press("ctrl+y")
        await until(pilot, lambda: app.screen is app.main)
        assert client.called("commit_changes")[-1]["allowed_secrets"] == ["b" * 16]


async def test_the_agent_writes_the_message_and_it_can_be_edited(start: Start) -> None:
    client = client_with_changes()
    client.answers["write_commit_message"] = lambda given: CommitMessage(message="Add a")
    async with start(client) as (app, pilot):
        perform(app, "commit")
        await until(pilot, lambda: isinstance(app.screen, Commit))
        await pilot.press("ctrl+g")
        await until(pilot, lambda: app.screen.query_one(MessageArea).text == "Add a")
        assert client.called("write_commit_message") == [{"worktree_id": "w1", "stage_all": True}]
        await pilot.press("!", "enter")
        await until(pilot, lambda: bool(client.called("commit_changes")))
        assert client.called("commit_changes")[0]["message"] == "Add a!"


async def test_escape_cancels_a_slow_commit(start: Start) -> None:
    client = client_with_changes()
    canceled = asyncio.Event()

    async def slow(given: dict[str, Any]) -> None:
        await canceled.wait()
        raise SpinneyError("The commit was canceled.", "conflict")

    client.answers["commit_changes"] = slow
    client.answers["cancel_git"] = lambda given: canceled.set()
    async with start(client) as (app, pilot):
        perform(app, "commit")
        await until(pilot, lambda: isinstance(app.screen, Commit))
        await pilot.press(*"Mend", "enter")
        await until(pilot, lambda: "Committing" in dialog_status(app))
        await pilot.press("escape")
        await until(pilot, lambda: dialog_status(app) == "The commit was canceled.")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


# Push and pull ------------------------------------------------------------------------------------


async def test_a_push_shows_what_the_server_said(start: Start) -> None:
    client = client_with_changes()
    said = "branch 'brave-otter' set up to track 'origin/brave-otter'.\nremote: \nremote:  See https://x"
    client.answers["git_push"] = lambda given: ExchangeResult(success=True, output=said)
    async with start(client) as (app, pilot):
        perform(app, "push")
        await until(pilot, lambda: "Pushed.\nSee https://x" in notifications(app))
        assert client.called("git_push") == [
            {"worktree_path": "/trees/brave-otter", "allowed_secrets": None}
        ]


async def test_a_rejected_push_says_why_and_offers_to_pull(start: Start) -> None:
    client = client_with_changes()
    answers = [ExchangeResult(success=False, output="! [rejected] (fetch first)\nhint: ask")]
    answers.append(ExchangeResult(success=True, output="done"))
    client.answers["git_push"] = lambda given: answers.pop(0)
    client.answers["git_pull"] = lambda given: ExchangeResult(
        success=True, output=" a | 1 +\n 1 file changed, 1 insertion(+)"
    )
    async with start(client) as (app, pilot):
        perform(app, "push")
        await until(pilot, lambda: isinstance(app.screen, Report))
        assert isinstance(app.screen, Report)
        shown = app.screen.content.plain
        assert shown.startswith("The branch at the remote has commits that are not here.")
        assert "[rejected]" in shown and "hint" not in shown
        await pilot.press("p")
        await until(pilot, lambda: "Pushed." in notifications(app))
        assert "Pulled 'brave-otter'.\n1 file changed, 1 insertion(+)." in notifications(app)
        pulled = {"worktree_path": "/trees/brave-otter", "base_branch": "brave-otter"}
        assert client.called("git_pull") == [pulled]


async def test_the_conflicts_of_a_pull_can_be_sent_to_a_session(start: Start) -> None:
    conflict = make_changes("parser.py", status="conflicted").model_copy(
        update={"operation": "merge"}
    )
    client = client_with_changes(conflict, base_branch="origin/dev")
    client.answers["update_from_base"] = lambda given: ExchangeResult(
        success=False, output="CONFLICT (content): Merge conflict in parser.py"
    )
    client.answers["write_conflict_task"] = lambda given: ConflictTask(
        message="Resolve them.\n\nFiles:\n- parser.py", files=["parser.py"]
    )
    client.answers["abort_merge"] = lambda given: "merge"
    async with start(client) as (app, pilot):
        perform(app, "pull_base")
        await until(pilot, lambda: isinstance(app.screen, GoAhead))
        assert "of 'origin/dev' into 'brave-otter'?" in dialog_text(app.screen)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Report))
        assert client.called("update_from_base") == [{"worktree_id": "w1"}]
        report = app.screen
        assert isinstance(report, Report)
        assert str(report.content).startswith("1 conflict:\n  parser.py\n\nIn the changes, 1 takes")
        await pilot.press("r")
        await until(pilot, lambda: bool(client.called("send_chat_message")))
        sent = client.called("send_chat_message")[0]["message"]
        assert sent == "Resolve them.\n\nFiles:\n- parser.py"
        perform(app, "abort_merge")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("y")
        await until(pilot, lambda: "The merge was aborted." in notifications(app))


async def test_an_error_before_a_push_is_shown_in_its_dialog(start: Start) -> None:
    client = client_with_changes()
    client.refuse("git_push", "The repository has no remote “origin”.", "conflict")
    async with start(client) as (app, pilot):
        perform(app, "push")
        await until(pilot, lambda: isinstance(app.screen, Progress))
        await until(pilot, lambda: dialog_status(app) == "The repository has no remote “origin”.")
        await until(pilot, lambda: any("esc close" in row for row in screen_lines(app)))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


# Pull requests ------------------------------------------------------------------------------------


async def test_a_pull_request_is_opened_and_then_shown(start: Start) -> None:
    client = client_with_changes()
    url = "https://github.com/ada/loom/pull/7"

    def open_it(given: dict[str, Any]) -> OpenedPullRequest:
        client.feed(WorktreeUpdated(worktree=a_worktree(pr_number=7, pr_url=url)))
        return OpenedPullRequest(pr_number=7, pr_url=url)

    client.answers["get_git_remotes"] = lambda given: [ORIGIN]
    client.answers["open_pull_request"] = open_it
    client.answers["get_pull_request"] = lambda given: a_pull_request(number=7, url=url)
    async with start(client) as (app, pilot):
        perform(app, "pull_request")
        await until(pilot, lambda: isinstance(app.screen, PullRequest))
        assert str(app.screen.query_one("#what", Label).content) == (
            "brave-otter → main, ready for review"
        )
        await pilot.press(*"Mend", "ctrl+t", "enter")
        await until_shown(app, pilot, "pull request #7", url)
        assert client.called("open_pull_request") == [
            {
                "worktree_id": "w1",
                "title": "Mend",
                "body": None,
                "draft": True,
                "allowed_secrets": None,
            }
        ]
        await pilot.press("y")
        await until(pilot, lambda: any("opied" in toast for toast in notifications(app)))


async def test_without_gh_it_says_so_and_keeps_the_input(start: Start) -> None:
    client = client_with_changes()
    client.answers["get_git_remotes"] = lambda given: [ORIGIN]
    client.refuse("open_pull_request", "gh is not installed.", "backend_unavailable")
    async with start(client) as (app, pilot):
        perform(app, "pull_request")
        await until(pilot, lambda: isinstance(app.screen, PullRequest))
        await pilot.press(*"Mend", "tab", *"Why", "enter")
        await until(pilot, lambda: dialog_status(app) == "gh is not installed.")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        perform(app, "pull_request")
        await until(pilot, lambda: isinstance(app.screen, PullRequest))
        assert app.screen.query_one(Input).value == "Mend"
        assert app.screen.query_one(MessageArea).text == "Why"


async def test_actions_apply_to_the_row_under_the_cursor_while_the_tree_has_focus(
    start: Start,
) -> None:
    other = a_worktree(id="w2", name="calm-heron")
    client = FakeClient(
        a_state(a_project(), a_worktree(), other, a_session(), a_session(id="s2", worktree_id="w2"))
    )
    async with start(client) as (app, pilot):
        app.main.open_place(Place("session", "s1"))
        await until(pilot, lambda: app.main.session is not None)
        app.main.projects.focus()
        app.main.projects.move_cursor_to(Place("worktree", "w2"))
        await until(pilot, lambda: app.main.projects.place == Place("worktree", "w2"))
        assert app.main.worktree is not None
        assert app.main.worktree.id == "w2"
        app.main.chat.composer.focus()
        await until(pilot, lambda: app.main.focused is app.main.chat.composer)
        assert app.main.worktree.id == "w1"
