"""Actions that tell of this installation."""

from model.api.preferences import update_preferences
from tui.desk import Desk


async def about(desk: Desk) -> None:
    """Version, programs, folders, problems."""
    from tui.screens.about import AboutScreen

    await desk.ask(AboutScreen(desk))


async def check_agents(desk: Desk) -> None:
    """Which programs are there, and the command that mends what is missing."""
    from tui.screens.first_run import FirstRun

    await desk.ask(FirstRun(desk, welcome=False))


async def welcome(desk: Desk) -> None:
    """What a new installation has and lacks; shown once."""
    from tui.screens.first_run import FirstRun

    wanted = await desk.ask(FirstRun(desk, welcome=True))
    await desk.client.call(update_preferences, changes={"has_seen_feature_tour": True})
    if wanted is not None:
        desk.perform(wanted)
