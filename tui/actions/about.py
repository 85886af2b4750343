"""Actions that tell of this installation."""

from typing import TYPE_CHECKING

from model.commands.preferences import update_preferences

if TYPE_CHECKING:
    from tui.shell.main_screen import MainScreen


async def about(screen: "MainScreen") -> None:
    """Version, programs, folders, problems."""
    from tui.screens.about import AboutScreen

    await screen.app.push_screen_wait(AboutScreen(screen))


async def check_agents(screen: "MainScreen") -> None:
    """Which programs are there, and the command that mends what is missing."""
    from tui.screens.first_run import FirstRun

    await screen.app.push_screen_wait(FirstRun(screen, welcome=False))


async def welcome(screen: "MainScreen") -> None:
    """What a new installation has and lacks; shown once."""
    from tui.screens.first_run import FirstRun

    wanted = await screen.app.push_screen_wait(FirstRun(screen, welcome=True))
    await screen.client.call(update_preferences, changes={"has_seen_feature_tour": True})
    if wanted is not None:
        screen.action_do(wanted)
