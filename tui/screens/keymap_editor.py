"""The key editor: changes take effect at once, in every terminal of the user."""

from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from model.api.preferences import update_preferences
from model.base.errors import SpinneyError
from model.base.plural import count
from tui.desk import Desk
from tui.keys.action import Action
from tui.keys.keymap import ACTIONS, BY_ID
from tui.keys.names import format_keys
from tui.keys.overrides import get_keys
from tui.screens.closing import Closing
from tui.screens.dialog import Confirm
from tui.screens.filtered import Filtered
from tui.screens.key_rules import clash, refusal
from tui.widgets.key_line import keys_line

if TYPE_CHECKING:
    from collections.abc import Mapping


TITLE_WIDTH = 42


class KeysScreen(Filtered):
    """All actions with their keys, filtered by typing."""

    CSS = """
    KeysScreen > .dialog { width: 92; height: 94%; max-height: 94%; padding: 0 1; }
    KeysScreen .dialog #filter { margin-bottom: 1; }
    KeysScreen .dialog OptionList { height: 1fr; max-height: 100%; }
    KeysScreen .dialog #about { height: 2; border-top: solid $border; color: $text-muted; }
    KeysScreen .dialog .keys { margin: 0; }
    KeysScreen.-low .dialog #filter { margin: 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("plus", "add", show=False),
        Binding("delete", "reset", show=False),
        Binding("ctrl+r", "reset_all", show=False),
    ]
    NO_LETTERS = "+"

    def __init__(self, desk: Desk) -> None:
        super().__init__("Keys")
        self._desk = desk

    def body(self) -> list[Widget]:
        """Filter, actions, details of the one under the cursor, keys."""
        return [
            Static(id="filter", markup=False),
            OptionList(markup=False, compact=True),
            Static(id="about", markup=False),
            Static(
                keys_line(
                    ("enter", "new key"),
                    ("+", "add key"),
                    ("del", "reset"),
                    ("^r", "reset all"),
                    ("esc", "close"),
                ),
                classes="keys",
            ),
        ]

    def on_mount(self) -> None:
        """Show all actions, and follow changes by any client."""
        self._desk.host.preferences_changed.subscribe(self, lambda _: self.fill())
        self._list.focus()
        self.fill()

    @property
    def _list(self) -> OptionList:
        return self.query_one(OptionList)

    @property
    def _overrides(self) -> "Mapping[str, str]":
        return self._desk.key_overrides

    @property
    def action(self) -> Action | None:
        """The action under the cursor."""
        option = self._list.highlighted_option
        return BY_ID.get(option.id or "") if option is not None else None

    def fill(self) -> None:
        """List the actions that match the filter."""
        present = self.action.id if self.action is not None else ""
        found = [action for action in ACTIONS if self._matches(action)]
        self._list.set_options([Option(self._row(action), id=action.id) for action in found])
        ids = [action.id for action in found]
        self._list.highlighted = ids.index(present) if present in ids else 0 if ids else None
        self.show_filter(f"{len(found)} of {len(ACTIONS)}")
        self._show_about()

    def _matches(self, action: Action) -> bool:
        keys = format_keys(get_keys(action.id, self._overrides))
        text = f"{action.id} {action.title} {keys}".lower()
        return all(word in text for word in self.query_text.lower().split())

    def _row(self, action: Action) -> Content:
        own = action.id in self._overrides
        keys = format_keys(get_keys(action.id, self._overrides)) or "no key"
        title = Content(action.title).truncate(TITLE_WIDTH - 1, ellipsis=True)
        gap = " " * (TITLE_WIDTH - title.cell_length)
        style = "bold" if own else "" if keys != "no key" else "$text-muted"
        return Content.assemble(("● " if own else "  ", "$warning"), title, gap, (keys, style))

    @on(OptionList.OptionHighlighted)
    def _show_about(self) -> None:
        action = self.action
        about = "No action matches. Press backspace to change the filter."
        if action is not None:
            builtin = format_keys(action.keys) or "none"
            where = "" if action.scope == "everywhere" else f" Works in: {action.scope}."
            about = f"Built-in key: {builtin}.{where}"
        self.query_one("#about", Static).update(about)

    # Changing -----------------------------------------------------------------------------------

    @on(OptionList.OptionSelected)
    def _change(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if self.action is not None:
            self.run_worker(self._assign_key(self.action, more=False), exclusive=True)

    def action_add(self) -> None:
        """Add another key to the action."""
        if self.action is not None:
            self.run_worker(self._assign_key(self.action, more=True), exclusive=True)

    async def _assign_key(self, action: Action, *, more: bool) -> None:
        key = await self.app.push_screen_wait(PressKey(action, self._overrides))
        if key is None:
            return
        had = get_keys(action.id, self._overrides)
        keys = [*filter(None, had.split(",") if more else ()), key]
        await self._save({action.id: ",".join(dict.fromkeys(keys))})

    def action_reset(self) -> None:
        """Restore the built-in key of the action under the cursor."""
        if self.action is not None and self.action.id in self._overrides:
            self.run_worker(self._save({self.action.id: ""}), exclusive=True)

    def action_reset_all(self) -> None:
        """Restore all built-in keys, after confirmation."""
        self.run_worker(self._reset_all(), exclusive=True)

    async def _reset_all(self) -> None:
        if not self._overrides:
            return
        keys = count(len(self._overrides), "changed key")
        dialog = Confirm("Reset all keys", f"Reset {keys} to the built-in ones?", "reset")
        if await self.app.push_screen_wait(dialog):
            await self._save(dict.fromkeys(self._overrides, ""))

    async def _save(self, keys: "Mapping[str, str]") -> None:
        """Save these keys and keep the others; '' restores the built-in key."""
        present = {**self._desk.state.preferences.keybindings, **keys}
        wanted = {action: key for action, key in present.items() if key}
        try:
            await self._desk.client.call(update_preferences, changes={"keybindings": wanted})
        except SpinneyError as error:
            self._desk.say(error.message, bad=True)


class PressKey(Closing[str | None], ModalScreen[str | None], inherit_bindings=False):
    """Returns the next assignable key; shows why others are refused."""

    CSS = """
    PressKey { align: center middle; background: $background 60%; }
    PressKey .dialog .problem { height: 3; margin: 1 0 0 0; }
    """

    def __init__(self, action: Action, overrides: "Mapping[str, str]") -> None:
        super().__init__()
        self._action = action
        self._overrides = overrides

    def compose(self) -> ComposeResult:
        """The request, and why a key was refused."""
        box = Vertical(
            Static(f"Press the new key for '{self._action.title}'.", markup=False),
            Static(classes="problem", markup=False),
            Static(keys_line(("esc", "cancel")), classes="keys"),
            classes="dialog",
        )
        box.border_title = Content("New key")
        yield box

    def on_key(self, event: events.Key) -> None:
        """Return the key, or show why it is refused."""
        event.stop()
        event.prevent_default()
        if event.key == "escape":
            self.dismiss(None)
            return
        character = event.character if event.is_printable else None
        reason = refusal(event.key, character, allow_letters=self._action.scope in ("diff", "log"))
        reason = reason or clash(self._action.id, event.key, self._overrides)
        if reason is None:
            self.dismiss(event.key)
        else:
            self.query_one(".problem", Static).update(reason)
