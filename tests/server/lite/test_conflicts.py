"""`/lite`: conflicts to come, both versions, and a message to a session."""

import pytest

from model.domain.conflicts import ConflictedFile, ConflictHunk, HunkSide, WorktreeConflict
from model.domain.events.worktrees import WorktreeCreated, WorktreeUpdated
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from server.lite.layout import LIMIT
from tests.conftest import Eventually
from tests.server.lite.browser import Browser

LONG = [f"{number} <b>&\u202e" * 8 for number in range(40)]


def conflict(one: str, other: str, *, kind: str = "worktree") -> WorktreeConflict:
    side = HunkSide(start=3, count=40, lines=LONG)
    hunk = ConflictHunk(ours=side, theirs=HunkSide(start=5, count=1, lines=["theirs = 2"]))
    files = [ConflictedFile(path=f"{n}.py", kind="changed", hunks=[hunk] * 9) for n in range(9)]
    return WorktreeConflict.model_validate(
        {"worktree_id": one, "with": other, "with_kind": kind, "files": files}
    )


async def test_both_versions_of_a_conflict_are_read_and_sent(
    browser: Browser,
    session: Session,
    worktree: Worktree,
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    eventually: Eventually,
) -> None:
    heron = worktree.model_copy(update={"id": "heron", "name": "her<on"})
    marked = worktree.model_copy(update={"conflicts_with": [heron.id]})
    await workspace.store.accept(WorktreeCreated(worktree=heron), WorktreeUpdated(worktree=marked))
    found = [
        conflict(worktree.id, heron.id),
        conflict(heron.id, worktree.id),
        conflict(heron.id, "main", kind="branch"),
    ]
    monkeypatch.setattr(workspace.radar, "list_conflicts", lambda project_id: found)
    page = await browser.get_page(f"/lite/worktrees/{worktree.id}")
    page = await browser.get_page(page.links()["Conflicts to come"])
    pairs = f"{worktree.name} and her&lt;on", "her&lt;on and main"
    assert set(pairs) <= page.links().keys()
    assert "9 files: 0.py, 1.py, 2.py, …" in page.text

    pair = await browser.get_page(page.links()[pairs[0]])
    assert len(pair.source) < LIMIT
    assert "0 <b>&" in pair.text
    following = await browser.get_page(pair.links()["Continue"])
    assert following.text != pair.text
    sent = await browser.submit(pair, "conflict")
    assert sent.location == f"/lite/sessions/{session.id}#end"
    await eventually(lambda: workspace.store.state.sessions[session.id].status == "idle")
    (message, *_) = (await workspace.store.messages(session.id)).messages
    assert message.text.startswith("Your changes and those in 'her<on' will be in conflict.")

    based = await browser.get_page(page.links()[pairs[1]])
    refused = await browser.submit(based, "conflict")
    assert "There is no session in this worktree to write to." in refused.page.text
    found.clear()
    assert "as far as is known" in (await browser.get_page(page_address(worktree))).text
    gone = await browser.request("GET", f"{page_address(worktree)}?of={heron.id}&with=main")
    assert gone.status == 404


def page_address(worktree: Worktree) -> str:
    return f"/lite/projects/{worktree.project_id}/conflicts"
