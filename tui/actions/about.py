"""Actions that show information about this installation."""

from model.api.preferences import update_preferences
from tui.desk import Desk


async def about(desk: Desk) -> None:
    """Show version, programs, folders and problems."""
    from tui.screens.about import AboutScreen

    await desk.ask(AboutScreen(desk))


async def check_agents(desk: Desk) -> None:
    """Show which programs are installed, and the command that installs each missing one."""
    from tui.screens.first_run import FirstRun

    await desk.ask(FirstRun(desk, welcome=False))


async def welcome(desk: Desk) -> None:
    """Show what a new installation has and lacks; once."""
    from tui.screens.first_run import FirstRun

    action_id = await desk.ask(FirstRun(desk, welcome=True))
    await desk.client.call(update_preferences, changes={"has_seen_feature_tour": True})
    if action_id is not None:
        desk.perform(action_id)
