"""The action that shows all sessions at once."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.shell.main_screen import MainScreen


async def canvas(screen: "MainScreen") -> None:
    """Every session on one screen."""
    from tui.canvas.screen import Canvas

    # The command palette, from which this may come, is a screen, too.
    if not any(isinstance(known, Canvas) for known in screen.app.screen_stack):
        screen.app.push_screen(Canvas(screen))
