"""Actions that open the preferences and the key editor."""

from tui.desk import Desk


async def preferences(desk: Desk) -> None:
    """Show all preferences."""
    from tui.screens.preferences import PreferencesScreen

    await desk.ask(PreferencesScreen(desk))


async def edit_keys(desk: Desk) -> None:
    """Show the keys of all actions."""
    from tui.screens.keymap_editor import KeysScreen

    await desk.ask(KeysScreen(desk))
