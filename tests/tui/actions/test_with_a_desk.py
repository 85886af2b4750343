"""Actions called as functions: their dialogs, notifications and commands."""

from typing import Any

import pytest

from model.api.changes import Changes
from model.api.doctor import Installation
from model.api.git import ExchangeResult
from model.domain.findings import Finding
from model.domain.hosting import HostingRemote, HostingService
from tests.tui.builders import a_project, a_session, a_state, a_worktree, make_changes
from tests.tui.fake_client import FakeClient
from tests.tui.fake_desk import FakeDesk
from tui.actions import git, pull_requests, sessions, view
from tui.screens.choose_session import session_for
from tui.screens.dialog import Confirm, Report
from tui.store.places import Place

HERE = Place("session", "s1")


def a_desk(*answers: Any, changed: Changes | None = None, **worktree: Any) -> FakeDesk:
    client = FakeClient(a_state(a_project(), a_worktree(**worktree), a_session()))
    client.answers["list_changed_files"] = lambda given: changed or make_changes("a")
    return FakeDesk(client, HERE, *answers)


async def test_nothing_to_commit_is_reported_without_a_dialog() -> None:
    desk = a_desk(changed=make_changes())
    await git.commit(desk)
    assert desk.said == ["There is nothing to commit."]
    assert desk.dialogs == []


async def test_git_actions_without_a_worktree_report_an_error() -> None:
    desk = a_desk()
    desk.place = None
    for action in (
        git.commit,
        git.push,
        git.pull_base,
        pull_requests.pull_request,
        git.abort_merge,
    ):
        await action(desk)
    assert len(set(desk.said)) == 1 and len(desk.said) == 5
    assert desk.client.calls == []


@pytest.mark.parametrize(("service", "program"), [("github", "gh"), ("gitlab", "glab")])
async def test_without_its_program_no_dialog_for_a_pull_request_is_opened(
    service: HostingService, program: str
) -> None:
    desk = a_desk()
    desk.client.answers["get_installation"] = lambda given: Installation(
        version="1.0", log="", findings=[Finding(program, None, "not found")]
    )
    remote = HostingRemote(name="origin", url="…", owner="ada", repo="engine", service=service)
    desk.client.answers["get_git_remotes"] = lambda given: [remote]
    desk.client.answers["get_github_remotes"] = lambda given: [remote]
    await pull_requests.pull_request(desk)
    assert f"run '{program} auth login'" in desk.said[0] and desk.dialogs == []


async def test_without_a_remote_no_form_for_a_pull_request_is_opened() -> None:
    desk = a_desk()
    desk.client.answers["get_git_remotes"] = lambda given: []
    await pull_requests.pull_request(desk)
    assert "Add one with 'git remote add origin <url>'" in desk.said[0] and desk.dialogs == []


async def test_corrections_go_to_a_new_session_that_may_make_them() -> None:
    desk = a_desk()
    desk.client.answers["create_session"] = lambda given: a_session(id="s1")
    await session_for(desk, a_worktree(id="w2"))
    assert desk.client.called("create_session")[0]["execution_mode"] == "build"


async def test_the_reason_of_a_failed_abort_is_shown_in_a_dialog() -> None:
    desk = a_desk(True, changed=make_changes("a", operation="merge"))
    desk.client.refuse("abort_merge", "The merge goes on: 'a' was changed since.", "conflict")
    await git.abort_merge(desk)
    confirm, report = desk.dialogs
    assert isinstance(confirm, Confirm) and isinstance(report, Report)
    assert str(report.content) == "The merge goes on: 'a' was changed since."


async def test_a_merge_is_not_aborted_unless_confirmed() -> None:
    desk = a_desk(False, changed=make_changes("a", operation="merge"))
    await git.abort_merge(desk)
    assert desk.client.called("abort_merge") == []


async def test_a_rejected_push_offers_a_pull_and_pushes_again() -> None:
    rejected = ExchangeResult(success=False, output="! [rejected] (fetch first)")
    done = ExchangeResult(success=True, output="done")
    desk = a_desk(rejected, "p", done, done)
    await git.push(desk)
    assert [type(dialog).__name__ for dialog in desk.dialogs] == [
        "Progress", "Report", "Progress", "Progress"
    ]  # fmt: skip
    assert desk.said[-1].startswith("Pushed")


async def test_next_waiting_starts_after_the_open_session() -> None:
    waiting = [a_session(id=name, status="waiting", waiting_for="plan") for name in ("s1", "s2")]
    desk = FakeDesk(FakeClient(a_state(a_project(), a_worktree(), *waiting)), HERE)
    await view.next_waiting(desk)
    await view.next_waiting(desk)
    assert desk.opened == ["s2", "s1"]


async def test_a_new_session_is_opened() -> None:
    desk = a_desk()
    desk.client.answers["create_session"] = lambda given: a_session(id="s1")
    await sessions.new_session(desk)
    assert desk.client.called("create_session")[0]["worktree_id"] == "w1"
    assert desk.opened == ["s1"]
