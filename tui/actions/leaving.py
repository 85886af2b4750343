"""Actions that end Spinney itself, wherever it runs."""

from typing import TYPE_CHECKING

from model.commands.server import stop_spinney as end_program
from tui.screens.dialog import Confirm

if TYPE_CHECKING:
    from tui.shell.main_screen import MainScreen


async def stop_spinney(screen: "MainScreen") -> None:
    """End it for everybody, also from a screen that is only attached; asks first."""
    if not screen.spinney.attached:
        screen.spinney.leave()
        return
    sentence = "It ends for every screen."
    if runs := len(screen.state.at_work()):
        cut = "One run is" if runs == 1 else f"{runs} runs are"
        sentence += f" {cut} interrupted; what has arrived is kept."
    if await screen.app.push_screen_wait(Confirm("Stop Spinney", sentence, "stop it")):
        await screen.client.call(end_program)
        screen.app.exit()
