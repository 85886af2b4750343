"""Actions that open the preferences and the key editor."""

from model.api.preferences import update_preferences
from tui.desk import Desk


async def preferences(desk: Desk) -> None:
    """Show all preferences."""
    from tui.screens.preferences import PreferencesScreen

    await desk.ask(PreferencesScreen(desk))


async def theme(desk: Desk) -> None:
    """Choose the theme and the colors of code, with a preview; escape keeps the present one."""
    from tui.screens.theme_picker import ThemePicker

    kind, host = desk.palette.kind, desk.host
    chosen = await desk.ask(ThemePicker(desk.state.preferences, kind, host.use_theme))
    if chosen:
        key, _, name = chosen.partition(":")
        await desk.client.call(update_preferences, changes={key: name})
        if key == f"syntax_theme_{'light' if kind == 'dark' else 'dark'}":
            desk.say(f"Used for code in the {key.rpartition('_')[2]} theme.")
    host.use_theme(desk.state.preferences.theme)


async def edit_keys(desk: Desk) -> None:
    """Show the keys of all actions."""
    from tui.screens.keymap_editor import KeysScreen

    await desk.ask(KeysScreen(desk))
