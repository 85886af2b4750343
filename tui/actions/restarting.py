"""The action that restarts Spinney."""

from model import __version__
from model.api.server import cancel_restart, get_program_status
from model.api.server import restart_spinney as restart_program
from tui.desk import Desk


async def restart_spinney(desk: Desk) -> None:
    """Restart Spinney into the installed version: when nothing runs, or now."""
    from tui.screens.restart import Restart

    program = await desk.client.call(get_program_status)
    if program.version != __version__ and desk.host.attached and not desk.host.remote_address:
        desk.host.restart()  # Spinney has been restarted already; this terminal has not.
        return
    running = [session.name for session in desk.state.interruptible_sessions()]
    match await desk.ask(Restart(program, running)):
        case "cancel":
            await desk.client.call(cancel_restart)
            desk.say("Spinney does not restart.")
        case "idle" | "now" as when:
            desk.say("Checking the installed version …")
            answer = await desk.client.call(restart_program, when=when)
            if not answer.restarting:
                desk.say("Spinney restarts when nothing runs any more.")
