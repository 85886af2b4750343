"""Actions that change what is shown."""

from model.api.preferences import update_preferences
from tui.desk import Desk
from tui.draw.status_icons import list_needing_attention


async def next_waiting(desk: Desk) -> None:
    """Open the next session that needs the user, then those with unread messages."""
    waiting = [session.id for session in list_needing_attention(desk.state)]
    here = desk.session.id if desk.session is not None else ""
    if not waiting or waiting == [here]:
        desk.say(
            "No session needs you right now." if not waiting else "No other session needs you."
        )
        return
    # Cycle through all of them, starting at the open one.
    position = waiting.index(here) + 1 if here in waiting else 0
    desk.open_session(waiting[position % len(waiting)])


async def widen_tree(desk: Desk) -> None:
    """Make the tree four cells wider."""
    desk.set_tree_width(desk.projects.outer_size.width + 4)


async def narrow_tree(desk: Desk) -> None:
    """Make the tree four cells narrower."""
    desk.set_tree_width(desk.projects.outer_size.width - 4)


async def theme_dark(desk: Desk) -> None:
    """Use the dark theme."""
    await desk.client.call(update_preferences, changes={"theme": "dark"})


async def theme_light(desk: Desk) -> None:
    """Use the light theme."""
    await desk.client.call(update_preferences, changes={"theme": "light"})


async def theme_system(desk: Desk) -> None:
    """Follow the terminal's background."""
    await desk.client.call(update_preferences, changes={"theme": "system"})
