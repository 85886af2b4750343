"""Actions of notices: the inbox, a test, the settings."""

from model.api.notices import test_notice as send_test_notice
from model.domain.notices import COMMENTS
from tui.desk import Desk
from tui.store.places import Place


async def show_notices(desk: Desk) -> None:
    """List what waits for the user, and open what they choose."""
    from tui.screens.notices import NoticesScreen

    notice = await desk.ask(NoticesScreen(desk))
    if notice is None:
        return
    if notice.session_id is not None:
        desk.open_session(notice.session_id)
    elif notice.worktree_id is not None:
        desk.open_place(Place("worktree", notice.worktree_id))
        if notice.occasion == COMMENTS:
            desk.perform("pull_request")
    elif notice.reason == "disk":
        desk.perform("show_sweep")


async def test_notice(desk: Desk) -> None:
    """Send a test notice to every channel that is set up, and say how each went."""
    desk.say("Sending a test notice…")
    for result in await desk.client.call(send_test_notice):
        desk.say(result.detail, bad=not result.ok)


async def notice_settings(desk: Desk) -> None:
    """Show the preferences of notices."""
    from tui.screens.preferences import PreferencesScreen

    await desk.ask(PreferencesScreen(desk, "notify"))
