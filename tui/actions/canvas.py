"""The action that shows all sessions at once."""

from tui.desk import Desk


async def canvas(desk: Desk) -> None:
    """Show every session on one screen."""
    from tui.canvas.screen import Canvas

    desk.show(Canvas(desk))
