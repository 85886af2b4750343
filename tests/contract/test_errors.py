"""Section 7 of the interface: error texts of commands with unknown ids."""

from typing import Any, Final

from tests.contract.conftest import Call, expect_error

OF_PROJECTS: Final[dict[str, dict[str, Any]]] = {
    "remove_project": {"projectId": "no"},
    "update_project_settings": {"projectId": "no"},
    "reorder_projects": {"projectIds": ["no"]},
    "create_folder": {"name": "a", "parentId": "no"},
    "rename_folder": {"folderId": "no", "name": "a"},
    "delete_folder": {"folderId": "no"},
    "move_item": {"itemId": "no", "newParentId": None},
    "get_project_branches": {"projectId": "no"},
    "set_project_avatar": {"projectId": "no"},
    "remove_project_avatar": {"projectId": "no"},
    "list_worktrees": {"projectId": "no"},
    "create_worktree": {"projectId": "no"},
    "reorder_worktrees": {"projectId": "no", "worktreeIds": []},
    "fetch_worktrees_status": {"projectId": "no"},
}
"""Commands about projects and folders that do not exist, with their arguments."""

OF_WORKTREES: Final[dict[str, dict[str, Any]]] = {
    "get_worktree": {},
    "delete_worktree": {},
    "archive_worktree": {},
    "unarchive_worktree": {},
    "rename_worktree": {"newName": "new"},
    "update_worktree_label": {"label": None},
    "has_uncommitted_changes": {},
    "commit_changes": {"message": "Change"},
    "save_worktree_pr": {"prNumber": 1, "prUrl": "https://github.com/a/b/pull/1"},
    "clear_worktree_pr": {},
    "open_pull_request": {},
}
"""Commands that take the id of a worktree, with their other arguments."""

OF_SESSIONS: Final[dict[str, dict[str, Any]]] = {
    "get_session": {},
    "get_messages": {},
    "update_session": {"name": "a"},
    "archive_session": {},
    "unarchive_session": {},
    "delete_session": {},
    "send_chat_message": {"message": "a"},
    "stop_generation": {},
    "approve_plan": {"mode": "build"},
    "answer_question": {"answer": "a"},
    "answer_permission": {"requestId": "r", "decision": "allow"},
    "list_queued_messages": {},
    "steer_queued_message": {"messageId": "m"},
    "remove_queued_message": {"messageId": "m"},
}
"""Commands that take the id of a session, with their other arguments."""


async def read_errors(
    call: Call, commands: dict[str, dict[str, Any]], **given: str
) -> dict[str, str]:
    """The errors of all these commands, which must fail."""
    return {
        name: await expect_error(call, name, **given, **args) for name, args in commands.items()
    }


async def test_project_not_found(call: Call) -> None:
    errors = await read_errors(call, OF_PROJECTS)
    assert errors == dict.fromkeys(OF_PROJECTS, "Project not found: no")


async def test_worktree_not_found(call: Call) -> None:
    errors = await read_errors(call, OF_WORKTREES, worktreeId="no")
    assert errors == dict.fromkeys(OF_WORKTREES, "Worktree not found: no")


async def test_session_not_found(call: Call) -> None:
    errors = await read_errors(call, OF_SESSIONS, sessionId="no")
    assert errors == dict.fromkeys(OF_SESSIONS, "Session not found: no")
