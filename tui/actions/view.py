"""Actions that change what is seen."""

from typing import TYPE_CHECKING

from model.commands.preferences import update_preferences
from tui.draw.status_icons import in_need

if TYPE_CHECKING:
    from tui.shell.main_screen import MainScreen


async def next_waiting(screen: "MainScreen") -> None:
    """Open the next session that needs a person; after those, one that has news."""
    waiting = [session.id for session in in_need(screen.state)]
    here = screen.session.id if screen.session is not None else ""
    if not waiting or waiting == [here]:
        screen.say("Nobody needs you right now." if not waiting else "No other session needs you.")
        return
    # Through all of them in turn, from where one is.
    position = waiting.index(here) + 1 if here in waiting else 0
    screen.action_open_session(waiting[position % len(waiting)])


async def theme_dark(screen: "MainScreen") -> None:
    """Dark, from now on."""
    await screen.client.call(update_preferences, changes={"theme": "dark"})


async def theme_light(screen: "MainScreen") -> None:
    """Light, from now on."""
    await screen.client.call(update_preferences, changes={"theme": "light"})


async def theme_system(screen: "MainScreen") -> None:
    """As the terminal says."""
    await screen.client.call(update_preferences, changes={"theme": "system"})
