"""Actions that end Spinney itself, wherever it runs."""

from model.api.server import stop_spinney as end_program
from tui.desk import Desk
from tui.screens.dialog import Confirm


async def stop_spinney(desk: Desk) -> None:
    """End it for everybody, also from a screen that is only attached; asks first."""
    if not desk.host.attached:
        desk.host.leave()
        return
    sentence = "It ends for every screen."
    if runs := len(desk.state.at_work()):
        cut = "One run is" if runs == 1 else f"{runs} runs are"
        sentence += f" {cut} interrupted; what has arrived is kept."
    if await desk.ask(Confirm("Stop Spinney", sentence, "stop it")):
        await desk.client.call(end_program)
        desk.app.exit()
