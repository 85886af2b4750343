"""`/lite`: conversations begun in the agents' own screens, and one that is continued."""

from typing import Any

import pytest

from model.base.errors import SpinneyError
from model.commands.registry import IMPLEMENTATIONS
from model.domain.foreign_sessions import ForeignSession, ForeignSessions
from model.domain.sessions import Session
from model.runtime.workspace import Workspace
from server.lite.layout import LIMIT
from tests.server.lite.browser import Browser

HOSTILE = "<script>alert(1)</script>\u202e" * 200


async def test_a_conversation_is_continued_or_it_is_said_why_not(
    browser: Browser, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[dict[str, Any]] = []

    async def list_foreign_sessions(_: Workspace, **given: Any) -> ForeignSessions:
        sessions = [
            ForeignSession(
                backend="claude", agent="Claude Code", conversation_id=f"c/{n}", title=HOSTILE,
                directory="/somewhere", updated_at=0, branch=HOSTILE, origin=HOSTILE,
            )
            for n in range(90)
        ]  # fmt: skip
        return ForeignSessions(sessions=sessions, problems=["codex did not answer in time."])

    async def continue_foreign_session(_: Workspace, **given: Any) -> Session:
        calls.append(given)
        if len(calls) == 1:
            raise SpinneyError("Another program writes to it.", "conflict")
        return session

    monkeypatch.setitem(IMPLEMENTATIONS, "list_foreign_sessions", list_foreign_sessions)
    monkeypatch.setitem(IMPLEMENTATIONS, "continue_foreign_session", continue_foreign_session)
    worktree = await browser.get_page(f"/lite/worktrees/{session.worktree_id}")
    address = worktree.links()["Conversations from elsewhere"]
    seen = await browser.request("GET", address)
    assert len(seen.body.encode()) < LIMIT
    for text in ("codex did not answer in time.", "Page 1 of 5", "continued in a copy"):
        assert text in seen.page.text
    refused = await browser.submit(seen.page, "continue", conversation="claude/c/7")
    assert refused.status == 409 and "Another program writes to it." in refused.page.text
    accepted = await browser.submit(refused.page, "continue", conversation="claude/c/7")
    assert accepted.location == f"/lite/sessions/{session.id}#end"
    chosen = {key: calls[-1][key] for key in ("worktree_id", "backend", "conversation_id")}
    assert chosen == {
        "worktree_id": session.worktree_id, "backend": "claude", "conversation_id": "c/7",
    }  # fmt: skip
