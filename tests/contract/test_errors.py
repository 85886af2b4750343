"""Section 7 of the interface: error texts of commands with unknown ids."""

from typing import Any

import pytest

from tests.contract.conftest import Call, expect_error


@pytest.mark.parametrize(
    ("command", "args"),
    [
        ("remove_project", {"projectId": "no"}),
        ("update_project_settings", {"projectId": "no"}),
        ("reorder_projects", {"projectIds": ["no"]}),
        ("create_folder", {"name": "a", "parentId": "no"}),
        ("rename_folder", {"folderId": "no", "name": "a"}),
        ("delete_folder", {"folderId": "no"}),
        ("move_item", {"itemId": "no", "newParentId": None}),
        ("get_project_branches", {"projectId": "no"}),
        ("set_project_avatar", {"projectId": "no"}),
        ("remove_project_avatar", {"projectId": "no"}),
        ("list_worktrees", {"projectId": "no"}),
        ("create_worktree", {"projectId": "no"}),
        ("reorder_worktrees", {"projectId": "no", "worktreeIds": []}),
        ("fetch_worktrees_status", {"projectId": "no"}),
    ],
)
async def test_project_not_found(call: Call, command: str, args: dict[str, Any]) -> None:
    assert await expect_error(call, command, **args) == "Project not found: no"


@pytest.mark.parametrize(
    ("command", "args"),
    [
        ("get_worktree", {}),
        ("delete_worktree", {}),
        ("archive_worktree", {}),
        ("unarchive_worktree", {}),
        ("rename_worktree", {"newName": "new"}),
        ("update_worktree_label", {"label": None}),
        ("has_uncommitted_changes", {}),
        ("commit_changes", {"message": "Change"}),
        ("save_worktree_pr", {"prNumber": 1, "prUrl": "https://github.com/a/b/pull/1"}),
        ("clear_worktree_pr", {}),
        ("open_pull_request", {}),
    ],
)
async def test_worktree_not_found(call: Call, command: str, args: dict[str, Any]) -> None:
    assert await expect_error(call, command, worktreeId="no", **args) == "Worktree not found: no"


@pytest.mark.parametrize(
    ("command", "args"),
    [
        ("get_session", {}),
        ("get_messages", {}),
        ("update_session", {"name": "a"}),
        ("archive_session", {}),
        ("unarchive_session", {}),
        ("delete_session", {}),
        ("send_chat_message", {"message": "a"}),
        ("stop_generation", {}),
        ("approve_plan", {"mode": "build"}),
        ("answer_question", {"answer": "a"}),
        ("answer_permission", {"requestId": "r", "decision": "allow"}),
        ("list_queued_messages", {}),
        ("steer_queued_message", {"messageId": "m"}),
        ("remove_queued_message", {"messageId": "m"}),
    ],
)
async def test_session_not_found(call: Call, command: str, args: dict[str, Any]) -> None:
    assert await expect_error(call, command, sessionId="no", **args) == "Session not found: no"
