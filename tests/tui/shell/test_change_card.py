"""The card below an answer offers what can still be done with its changes."""

from model.domain.events.sessions import SessionUpdated
from model.domain.events.worktrees import GitStatusUpdated
from model.domain.messages import ToolResultBlock, ToolUseBlock
from tests.tui.builders import a_message
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.reading import screen_lines
from tests.tui.waiting import until
from tui.shell.app import SpinneyApp


def report(client: FakeClient, uncommitted: int, unpushed: int, ahead: int = 0) -> None:
    """Let git report these counts."""
    zeros = dict.fromkeys(("behind", "uncommitted_removed", "branch_diff_removed"), 0)
    counts = {"uncommitted_added": uncommitted, "branch_diff_added": 2, "unpushed": unpushed}
    counts["ahead"] = ahead
    client.feed(GitStatusUpdated(worktree_id="w1", checked_at=1.0, **zeros, **counts))


def card(app: SpinneyApp) -> str:
    """The row of the card with its actions."""
    return next((line for line in screen_lines(app) if "^g review" in line), "")


async def test_the_card_offers_to_commit_then_to_push_then_neither(start: Start) -> None:
    client = a_client()
    edit = {"file_path": "a.py", "old_content": "", "new_content": "one\n"}
    client.messages["s1"] = [
        a_message("", id="m2", role="assistant", content=[
            ToolUseBlock(id="t1", name="edit", input=edit),
            ToolResultBlock(tool_use_id="t1", content="done"),
        ]),
    ]  # fmt: skip
    async with start(client, size=(120, 40)) as (app, pilot):
        report(client, uncommitted=1, unpushed=0)
        await until(pilot, lambda: "f4 commit" in card(app) and "/push" in card(app))
        report(client, uncommitted=0, unpushed=1)
        await until(pilot, lambda: "commit" not in card(app) and "/push" in card(app))
        report(client, uncommitted=0, unpushed=0)
        await until(pilot, lambda: "push" not in card(app) and "/pr" in card(app))
        report(client, uncommitted=1, unpushed=0)
        await until(pilot, lambda: "f4 commit" in card(app))
        report(client, uncommitted=0, unpushed=0)
        await until(pilot, lambda: "commit" not in card(app))
        # Git has not been read since another answer ended.
        client.feed(SessionUpdated(session_id="s1", updates={"updated_at": 2.0}))
        await until(pilot, lambda: "f4 commit" in card(app))
        assert "/land" not in card(app)
        client.feed(SessionUpdated(session_id="s1", updates={"updated_at": 0.5}))
        report(client, uncommitted=0, unpushed=1, ahead=1)
        await until(pilot, lambda: "/land" in card(app))
