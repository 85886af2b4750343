"""Actions that show information about this installation."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

from model.api.preferences import update_preferences
from tui.desk import Desk
from tui.terminal.external_programs import run_in_terminal


async def about(desk: Desk) -> None:
    """Show version, programs, folders and problems."""
    from tui.screens.about import AboutScreen

    await desk.ask(AboutScreen(desk))


async def check_agents(desk: Desk) -> None:
    """Show which programs are installed, and the command that installs each missing one."""
    from tui.screens.first_run import FirstRun

    action_id = await desk.ask(FirstRun(desk, welcome=False))
    if action_id is not None:
        desk.perform(action_id)


async def try_demo(desk: Desk) -> None:
    """Run the demo on this terminal; when it is quit, this screen is back."""
    program = find_spec("spinney")
    if desk.demo or program is None or program.origin is None:
        desk.say("This is the demo." if desk.demo else "Quit Spinney and run: spinney demo")
        return
    command = (sys.executable, program.origin, "demo")
    if await run_in_terminal(desk.app, command, Path.home(), os.environ):
        desk.say("The demo failed. Run 'spinney demo' in a terminal to see why.", bad=True)


async def welcome(desk: Desk) -> None:
    """Show what a new installation has and lacks; once."""
    from tui.screens.first_run import FirstRun

    action_id = await desk.ask(FirstRun(desk, welcome=True))
    await desk.client.call(update_preferences, changes={"has_seen_feature_tour": True})
    if action_id is not None:
        desk.perform(action_id)
