"""Actions about settings and keys."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.shell.main_screen import MainScreen


async def preferences(screen: "MainScreen") -> None:
    """Every setting."""
    from tui.screens.preferences import PreferencesScreen

    await screen.app.push_screen_wait(PreferencesScreen(screen))


async def edit_keys(screen: "MainScreen") -> None:
    """The key of every action."""
    from tui.screens.keymap_editor import KeysScreen

    await screen.app.push_screen_wait(KeysScreen(screen))
