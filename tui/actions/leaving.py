"""Actions that end Spinney itself, wherever it runs."""

from model.api.server import stop_spinney as end_program
from tui.desk import Desk
from tui.screens.dialog import Confirm


async def stop_spinney(desk: Desk) -> None:
    """Stop Spinney for every client, even from an attached screen, after confirmation."""
    if not desk.host.attached:
        desk.host.leave()
        return
    sentence = "This stops Spinney for every terminal and browser."
    if runs := len(desk.state.interruptible_sessions()):
        subject = "1 run is" if runs == 1 else f"{runs} runs are"
        sentence += f" {subject} interrupted. Messages received so far are kept."
    if await desk.ask(Confirm("Stop Spinney", sentence, "stop")):
        await desk.client.call(end_program)
        desk.app.exit()
