"""`/lite`: the turns of a session, undo with a preview, and redo."""

from collections.abc import Iterable
from pathlib import Path
from subprocess import run

import pytest

from model.backends import agent_events, base
from model.domain.sessions import Session
from model.runtime.workspace import Workspace
from server.lite import turns as turns_page
from tests.conftest import Eventually
from tests.fakes import DONE, FakeBackend
from tests.server.lite.browser import Browser


async def test_a_turn_is_undone_after_its_preview_and_brought_back(
    browser: Browser,
    path: str,
    session: Session,
    workspace: Workspace,
    backend: FakeBackend,
    eventually: Eventually,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = Path(workspace.store.state.worktrees[session.worktree_id].path)
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    for words in (["init", "-q"], [*identity, "commit", "-q", "--allow-empty", "-m", "one"]):
        run(["git", *words], cwd=root, check=True)

    def write(prompt: base.Prompt) -> Iterable[agent_events.AgentEvent]:
        (root / "alpha").write_text(f"{prompt.text}\n")
        yield agent_events.ToolUse(prompt.text, "bash", {"command": "make"})
        yield agent_events.ToolResult(prompt.text, "made")
        yield DONE

    backend.script = write
    assert "There are no turns yet." in (await browser.get_page(f"{path}/turns")).text
    for number, message in enumerate(("one", "two"), 1):
        await browser.submit(await browser.get_page(path), "messages", message=message)

        async def is_recorded(number: int = number) -> bool:
            turns = await workspace.store.turns(session.id)
            return len(turns) == number and turns[-1].ended_at is not None

        while not await is_recorded():
            await eventually(lambda: workspace.store.state.sessions[session.id].status == "idle")
    (root / "alpha").write_text("three\n")
    turns = await browser.get_page(f"{path}/turns")
    assert "2. two" in turns.text
    assert "1 file +1 −1" in turns.text

    preview = await browser.get_page(f"{path}/turns?undo=2")
    assert "alpha: changed since: choose" in preview.text
    refused = await browser.submit(preview, "turns", what="files")
    assert refused.status == 409
    assert refused.page.form("turns").fields["what"] == "files"
    assert (root / "alpha").read_text() == "three\n"
    done = await browser.submit_and_follow(refused.page, "turns", file0="before")
    assert (root / "alpha").read_text() == "one\n"
    assert "files undone" in done.text
    (root / "alpha").write_text("four\n")
    refused = await browser.submit(done, "turns", redo="1")
    assert refused.status == 409
    assert "alpha: changed since: choose" in refused.page.text
    again = await browser.submit_and_follow(refused.page, "turns", redo="1", file0="before")
    assert (root / "alpha").read_text() == "three\n"
    assert "files undone" not in again.text
    assert (await browser.request("GET", f"{path}/turns?undo=7")).status == 404
    monkeypatch.setattr(turns_page, "_MAX_TURNS", 1)
    newest = await browser.get_page(f"{path}/turns")
    assert "2. two" in newest.text and "1. one" not in newest.text
    earlier = await browser.get_page(newest.links()["1 earlier turn"])
    assert "1. one" in earlier.text and "2. two" not in earlier.text
