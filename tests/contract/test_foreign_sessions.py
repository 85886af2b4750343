"""Conversations of the agents' own screens; tests/live has those of the real programs."""

import uuid
from typing import Any

from tests.contract.conftest import Call, expect_error


async def test_conversations_of_other_programs_are_listed(call: Call, worktree: Any) -> None:
    found = await call("list_foreign_sessions", worktreeId=worktree["id"])
    assert found["sessions"] == []


async def test_only_a_conversation_that_is_listed_is_continued(call: Call, worktree: Any) -> None:
    arguments = {"worktreeId": worktree["id"], "conversationId": str(uuid.uuid4())}
    error = await expect_error(call, "continue_foreign_session", backend="backend_a", **arguments)
    assert error.endswith(("List them again.", "cannot be listed."))
    error = await expect_error(call, "continue_foreign_session", backend="demo", **arguments)
    assert error == "Its conversations cannot be listed."


async def test_an_agent_without_a_screen_of_its_own_is_not_continued_there(
    call: Call, session: Any
) -> None:
    error = await expect_error(call, "get_resume_command", sessionId=session["id"])
    assert error == "Demo agent has no screen of its own to continue in."
