"""Actions that open the preferences and the key editor."""

from model.api.preferences import update_preferences
from tui.desk import Desk


async def preferences(desk: Desk) -> None:
    """Show all preferences."""
    from tui.screens.preferences import PreferencesScreen

    await desk.ask(PreferencesScreen(desk))


async def theme(desk: Desk) -> None:
    """Choose the theme and the colors of code, with a preview; escape keeps the present one."""
    from tui.screens.theme_picker import CHROME, ThemePicker

    preferences = desk.state.preferences
    kind = desk.palette.kind
    key = f"syntax_theme_{kind}"
    code = str(getattr(preferences, key))
    chosen = await desk.ask(ThemePicker(kind, preferences.theme, code, desk.host.use_theme))
    group, _, name = (chosen or "").partition(":")
    if group != CHROME:
        desk.host.use_theme(preferences.theme)
    if chosen:
        changes = {"theme" if group == CHROME else key: name}
        await desk.client.call(update_preferences, changes=changes)


async def edit_keys(desk: Desk) -> None:
    """Show the keys of all actions."""
    from tui.screens.keymap_editor import KeysScreen

    await desk.ask(KeysScreen(desk))
