"""Actions about settings and keys."""

from tui.desk import Desk


async def preferences(desk: Desk) -> None:
    """Every setting."""
    from tui.screens.preferences import PreferencesScreen

    await desk.ask(PreferencesScreen(desk))


async def edit_keys(desk: Desk) -> None:
    """The key of every action."""
    from tui.screens.keymap_editor import KeysScreen

    await desk.ask(KeysScreen(desk))
