"""The inbox and the matrix of reasons and channels."""

from typing import Any

from textual.widgets import OptionList

from model.domain.events.notices import NoticeRaised, NoticeWithdrawn
from model.domain.notices import CHANNELS, ChannelStatus, ChannelTest, Notice
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.reading import notifications, rows_in_front
from tests.tui.screens.test_preferences import client_applying_preferences
from tests.tui.waiting import until
from tui.screens.notice_matrix import NoticeMatrix
from tui.screens.notices import NoticesScreen
from tui.shell.app import SpinneyApp


def a_notice(notice_id: str, **fields: Any) -> NoticeRaised:
    reason = notice_id.partition(".")[0]
    given = {"id": notice_id, "reason": reason, "title": f"About {notice_id}", "created_at": 1}
    return NoticeRaised(notice=Notice.model_validate({**given, **fields}))


def shown(app: SpinneyApp) -> str:
    """The text of the dialog."""
    return "\n".join(strip.text for strip in rows_in_front(app))


def client_with_notices() -> FakeClient:
    client = a_client()
    client.feed(
        a_notice("finished.s1", session_id="s1"),
        a_notice("plan.s2", session_id="s2", request_id="r"),
        a_notice("disk", title="The disk \x1b[31m[red]is full"),
    )
    return client


async def test_what_waits_comes_first_and_enter_opens_it(start: Start) -> None:
    client = client_with_notices()
    async with start(client) as (app, pilot):
        await pilot.press("shift+f1")
        await until(pilot, lambda: isinstance(app.screen, NoticesScreen))
        listed = app.screen.query_one(OptionList)
        assert [option.id for option in listed.options] == ["plan.s2", "finished.s1", "disk"]
        assert "The disk ␛[31m[red]is full" in shown(app)
        client.feed(NoticeWithdrawn(notice_id="plan.s2", session_id="s2"))
        await until(pilot, lambda: listed.option_count == 2)
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main)
        assert app.main.chat.session_id == "s1"


async def test_a_notice_is_dismissed_and_an_empty_inbox_says_so(start: Start) -> None:
    client = client_with_notices()
    client.refuse("dismiss_notice", "The session waits for an answer.", "conflict")
    async with start(client) as (app, pilot):
        await pilot.press("shift+f1")
        await until(pilot, lambda: isinstance(app.screen, NoticesScreen))
        await pilot.press("delete")
        await until(pilot, lambda: notifications(app) == ["The session waits for an answer."])
        assert client.called("dismiss_notice") == [{"notice_id": "plan.s2"}]
        for notice_id in ("plan.s2", "finished.s1", "disk"):
            client.feed(NoticeWithdrawn(notice_id=notice_id, session_id=None))
        await until(pilot, lambda: "Nothing waits for you." in shown(app))
        await pilot.press("enter", "delete", "escape")
        await until(pilot, lambda: app.screen is app.main)


async def test_a_test_notice_says_how_each_channel_went(start: Start) -> None:
    client = a_client()
    client.answers["test_notice"] = lambda given: [
        ChannelTest(channel="ntfy", ok=True, detail="ntfy: sent to ntfy.sh."),
        ChannelTest(channel="command", ok=False, detail="Command failed: no such file."),
    ]
    async with start(client) as (app, pilot):
        app.main.perform("test_notice")
        await until(pilot, lambda: len(notifications(app)) == 3)
        assert notifications(app)[1:] == [
            "ntfy: sent to ntfy.sh.", "Command failed: no such file."
        ]  # fmt: skip


async def test_the_matrix_is_changed_by_keys_and_shows_why_a_channel_fails(start: Start) -> None:
    client = client_applying_preferences()
    client.answers["list_notice_channels"] = lambda given: [
        ChannelStatus(name="terminal", label="Terminal", is_ready=True, hint="Here."),
        ChannelStatus(
            name="page", label="Page", is_ready=True, hint="There.", problem="no route [red]"
        ),
    ]
    async with start(client) as (app, pilot):
        app.main.perform("notice_settings")
        await until(pilot, lambda: app.screen is not app.main)
        await until(pilot, lambda: app.screen.query_one(OptionList).option_count > 0)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, NoticeMatrix))
        await pilot.press("down", "right", "space")
        changed = [each for each in CHANNELS if each != "page"]
        await until(pilot, lambda: client.state.preferences.notify_matrix["question"] == changed)
        assert "could not be sent: no route [red]." in shown(app)
        await pilot.press("delete")
        await until(
            pilot, lambda: client.state.preferences.notify_matrix["question"] == list(CHANNELS)
        )
        assert client.state.preferences.notify_matrix["permission"] == list(CHANNELS)
