"""The preferences screen: filter settings by typing, change them in their rows."""

from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from model.api.preferences import update_preferences
from model.base.errors import SpinneyError
from model.preferences.fields import PreferenceField, shown_fields
from tui.desk import Desk
from tui.screens import preference_editors as editors
from tui.screens import preferences_rows as rows
from tui.screens.dialog import Confirm
from tui.screens.filtered import Filtered
from tui.widgets.key_line import keys_line
from tui.widgets.text_field import TextField

if TYPE_CHECKING:
    from model.preferences.schema import Preferences

_CONFIRM_RESET = ("list", "object")
"""Kinds whose reset needs confirmation, because their values are laborious to enter again."""


class PreferencesScreen(Filtered):
    """The settings in groups; letters filter, other keys change values."""

    CSS = """
    PreferencesScreen > .dialog { width: 132; height: 94%; max-height: 94%; padding: 0 1; }
    PreferencesScreen .dialog #filter { margin: 0 0 1 0; }
    PreferencesScreen .dialog OptionList { height: 1fr; max-height: 100%; }
    PreferencesScreen .dialog #about { height: auto; border-top: solid $border; }
    PreferencesScreen .dialog #editor { display: none; margin: 0; }
    PreferencesScreen.editing .dialog #editor { display: block; }
    PreferencesScreen .dialog .problem { margin: 0; height: auto; display: none; }
    PreferencesScreen.objected .dialog .problem { display: block; }
    PreferencesScreen .dialog .keys { margin: 0; }
    PreferencesScreen.-low .dialog #filter { margin: 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "step(-1)", show=False),
        Binding("right", "step(1)", show=False),
        Binding("delete", "reset", show=False),
    ]

    def __init__(self, desk: Desk, query: str = "") -> None:
        super().__init__("Preferences", query)
        self._desk = desk
        self._wanted: dict[str, Any] = {}
        """Requested values that are not confirmed yet: keys can be pressed faster."""

    def body(self) -> list[Widget]:
        """Filter, settings, details of the one under the cursor, its editor, keys."""
        return [
            Static(id="filter", markup=False),
            OptionList(markup=False, compact=True),
            Vertical(
                Static(id="details", markup=False),
                TextField(id="editor", compact=True, select_on_focus=False),
                Static(classes="problem", markup=False),
                id="about",
            ),
            Static(classes="keys"),
        ]

    def on_mount(self) -> None:
        """Show all settings, and follow changes by any client."""
        self._desk.host.preferences_changed.subscribe(self, self._follow)
        self._list.focus()
        self.call_after_refresh(self.fill)

    # Display ------------------------------------------------------------------------------------

    @property
    def _list(self) -> OptionList:
        return self.query_one(OptionList)

    @property
    def _preferences(self) -> "Preferences":
        return self._desk.state.preferences

    @property
    def field(self) -> PreferenceField | None:
        """The setting under the cursor."""
        option = self._list.highlighted_option
        return shown_fields().get(option.id or "") if option is not None else None

    def _value(self, key: str) -> Any:
        return self._wanted.get(key, getattr(self._preferences, key))

    def fill(self) -> None:
        """List the settings that match the filter, under their groups."""
        present = self.field.key if self.field is not None else ""
        options: list[Option] = []
        group = ""
        for field in self._matching():
            if field.group != group:
                group = field.group
                options.append(Option(Content.styled(group, "bold $accent"), disabled=True))
            options.append(Option(self._row(field), id=field.key))
        self._list.clear_options()
        self._list.add_options(options)
        ids = [option.id for option in options]
        self._list.highlighted = ids.index(present) if present in ids else min(1, len(ids) - 1)
        if self._list.highlighted == 1:
            self._list.scroll_home(animate=False)
        self._show_filter()
        self._show_details()

    def _narrow(self, query: str) -> None:
        super()._narrow(query)
        # A setting's name can also occur in the help of others, so select an exact match.
        name = self.query_text.strip().lower()
        for field in self._matching():
            if name in (field.key, field.key.replace("_", " "), field.label.lower()):
                self._list.highlighted = self._list.get_option_index(field.key)

    def _matching(self) -> list[PreferenceField]:
        catalog = self._catalog
        return [
            field
            for field in shown_fields().values()
            if rows.matches(
                self.query_text, field, rows.format_value(field, self._value(field.key), catalog)
            )
        ]

    @property
    def _catalog(self) -> Any:
        return self._desk.agents.catalog

    def _row(self, field: PreferenceField) -> Content:
        width = self._list.scrollable_content_region.width - 2
        return rows.row(field, self._preferences, self._catalog, width)

    def _show_filter(self) -> None:
        every = shown_fields().values()
        changed = sum(rows.is_changed(field, self._preferences) for field in every)
        self.show_filter(f"{len(self._matching())} of {len(every)}, {changed} changed")

    @on(OptionList.OptionHighlighted)
    def _show_details(self) -> None:
        field = self.field
        self._show_error("")
        about = self.query_one("#details", Static)
        if field is None:
            about.update(Content("No setting matches. Press backspace to change the filter."))
        else:
            about.update(rows.details(field, self._preferences, self._catalog))
        self._show_keys()

    def _show_keys(self) -> None:
        if self.has_class("editing"):
            keys = [("enter", "save"), ("esc", "cancel")]
        else:
            keys = [("enter", "change"), ("del", "default"), ("esc", "close")]
            if self.field is not None and self._has_steps(self.field):
                keys.insert(1, ("← →", "next value"))
        self.query_one(".keys", Static).update(keys_line(*keys))

    def _has_steps(self, field: PreferenceField) -> bool:
        is_ordered = field.kind in ("switch", "number", "whole")
        return is_ordered or (field.kind not in ("list", "object") and bool(self._choices(field)))

    def _show_error(self, sentence: str) -> None:
        self.set_class(bool(sentence), "objected")
        self.query_one(".problem", Static).update(sentence)

    def _follow(self, _: "Preferences") -> None:
        for option in self._list.options:
            field = shown_fields().get(option.id or "")
            if field is not None:
                self._list.replace_option_prompt(field.key, self._row(field))
        self._show_filter()
        if self.field is not None and not self.has_class("editing"):
            about = self.query_one("#details", Static)
            about.update(rows.details(self.field, self._preferences, self._catalog))

    def on_resize(self) -> None:
        """Fit the columns to the new width."""
        if self.is_mounted and self._list.options:
            self.call_after_refresh(self.fill)

    @property
    def takes_letters(self) -> bool:
        """Whether letters filter: not while a value is edited."""
        return not self.has_class("editing")

    def action_leave(self) -> None:
        """Stop editing, then clear the filter, then close the screen."""
        if self.has_class("editing"):
            self._stop_editing()
        else:
            super().action_leave()

    # Changing -----------------------------------------------------------------------------------

    @on(OptionList.OptionSelected)
    def _change(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        field = self.field
        if field is None:
            return
        if field.kind == "switch":
            self.action_step(1)
        elif field.kind in ("list", "object"):
            self.run_worker(editors.open_editor(self._desk, field), exclusive=True)
        elif offered := self._choices(field):
            self.run_worker(self._choose(field, offered), exclusive=True)
        else:
            self._edit(field)

    def _choices(self, field: PreferenceField) -> list[Any]:
        return rows.choices(field, self._preferences, self._catalog, nullable=field.nullable)

    def action_step(self, step: int) -> None:
        """Switch to the next or previous value, if the values have an order."""
        field = self.field
        if field is None or self.has_class("editing") or not self._has_steps(field):
            return
        value = self._value(field.key)
        exists, wanted = rows.step_value(field, value, self._choices(field), step)
        if exists:
            self._wanted[field.key] = wanted
            self.run_worker(self._step_to(field.key, wanted))

    async def _step_to(self, key: str, wanted: Any) -> None:
        try:
            if await self._apply(key, wanted):
                await self._desk.mirror.wait_for(
                    lambda state: (
                        getattr(state.preferences, key) == wanted or self._wanted.get(key) != wanted
                    )
                )
        finally:
            if self._wanted.get(key) == wanted:
                del self._wanted[key]

    async def _choose(self, field: PreferenceField, offered: list[Any]) -> None:
        present = self._value(field.key)
        dialog = editors.chooser(self._desk, field, offered, present)
        chosen = await self.app.push_screen_wait(dialog)
        if chosen is None or not await self._apply(field.key, rows.parse_choice(chosen)):
            self._desk.host.use_theme(self._preferences.theme)

    async def _apply(self, key: str, value: Any) -> bool:
        """Change the value for all clients, or show why the model refused it."""
        try:
            await self._desk.client.call(update_preferences, changes={key: value})
        except SpinneyError as error:
            self._show_error(rows.explain_refusal(error.message))
            return False
        self._show_error("")
        return True

    def action_reset(self) -> None:
        """Reset to the default; ask for confirmation if much would be lost."""
        field = self.field
        if field is not None and not self.has_class("editing"):
            self.run_worker(self._reset(field), exclusive=True)

    async def _reset(self, field: PreferenceField) -> None:
        if not rows.is_changed(field, self._preferences):
            return
        if field.kind in _CONFIRM_RESET or field.secret:
            sentence = f"Reset '{field.label}' to its default? The present value will be lost."
            if not await self.app.push_screen_wait(Confirm("Reset", sentence, "reset")):
                return
        await self._apply(field.key, field.default)

    # Editing in place ---------------------------------------------------------------------------

    def _edit(self, field: PreferenceField) -> None:
        editor = self.query_one("#editor", Input)
        self._show_error("")
        self.add_class("editing")
        editor.password = field.secret
        value = self._value(field.key)
        editor.value = "" if field.secret else rows.format_text(value)
        editor.placeholder = "a new value; leave empty for none" if field.nullable else ""
        editor.focus()
        editor.action_end()
        self._show_keys()

    def _stop_editing(self) -> None:
        self.remove_class("editing")
        self._show_error("")
        self._list.focus()
        self._show_keys()

    @on(Input.Submitted, "#editor")
    async def _edited(self, event: Input.Submitted) -> None:
        event.stop()
        field = self.field
        if field is not None and await self._apply(field.key, rows.parse_text(field, event.value)):
            self._stop_editing()
