"""`/lite`: open work with hostile texts, and a session that begins from it."""

from typing import Any

import pytest

from model.api.hosting import StartedWork
from model.base.errors import SpinneyError
from model.commands.registry import IMPLEMENTATIONS
from model.domain.hosting import OpenIssue, OpenWork, OpenWorkItem, OpenWorkProblem
from model.domain.sessions import Session
from model.runtime.workspace import Workspace
from server.lite.layout import LIMIT
from tests.server.lite.browser import Browser

HOSTILE = "<script>alert(1)</script>\u202e" * 200


async def test_an_issue_is_started_in_a_mode_or_says_why_not(
    browser: Browser, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[dict[str, Any]] = []

    async def list_open_work(workspace: Workspace, **given: Any) -> OpenWork:
        worktree = workspace.store.state.worktrees[session.worktree_id]
        items = [
            OpenWorkItem(
                project_id=worktree.project_id,
                item=OpenIssue(id=str(n), number=n, title=HOSTILE, assignees=[HOSTILE] * 9),
                session_ids=[session.id],
            )
            for n in range(1, 90)
        ]
        problem = OpenWorkProblem(project_id=worktree.project_id, message="gh is not signed in.")
        return OpenWork(items=items, problems=[problem])

    async def start_work(workspace: Workspace, **given: Any) -> StartedWork:
        calls.append(given)
        if len(calls) == 1:
            raise SpinneyError("The branch exists already.", "conflict")
        return StartedWork(
            worktree=workspace.store.state.worktrees[session.worktree_id], session=session
        )

    monkeypatch.setitem(IMPLEMENTATIONS, "list_open_work", list_open_work)
    monkeypatch.setitem(IMPLEMENTATIONS, "start_work", start_work)
    worktrees = await browser.get_page("/lite/worktrees")
    page = await browser.get_page(worktrees.links()["Open work"])
    assert "gh is not signed in." in page.text
    assert "Page 1 of 5" in page.text
    assert len(page.source.encode()) < LIMIT
    item = "garden/issue/3"
    refused = await browser.submit(page, "start", item=item, mode="build")
    assert refused.status == 409
    assert "The branch exists already." in refused.page.text
    started = await browser.submit(page, "start", item=item, mode="build")
    assert started.location.startswith(f"/lite/sessions/{session.id}")
    assert calls[-1] == {"project_id": "garden", "kind": "issue", "item_id": "3", "mode": "build"}
