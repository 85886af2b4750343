"""Every setting on one screen: found as one types, changed in its row, followed by all clients."""

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

_TELLS_TOO_MUCH = ("list", "object")
"""Kinds that hold more than one can write again by heart: asked about before they are reset."""


class PreferencesScreen(Filtered):
    """The settings in groups; letters filter, the keys at the foot change."""

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

    def __init__(self, desk: Desk, words: str = "") -> None:
        super().__init__("Preferences", words)
        self._desk = desk
        self._wanted: dict[str, Any] = {}
        """Values that were asked for and are not confirmed yet: presses may be quicker."""

    def body(self) -> list[Widget]:
        """Filter, settings, what is known of the one under the cursor, its editor, keys."""
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
        """Show all, and follow what any client changes."""
        self._desk.host.preferences_changed.subscribe(self, self._follow)
        self._list.focus()
        self.call_after_refresh(self.fill)

    # What is shown ------------------------------------------------------------------------------

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
        """The settings that the filter leaves, under their groups."""
        present = self.field.key if self.field is not None else ""
        options: list[Option] = []
        group = ""
        for field in self._found():
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

    def _narrow(self, words: str) -> None:
        super()._narrow(words)
        # A setting's own name also stands in what others say of it.
        named = self.words.strip().replace(" ", "_")
        if any(field.key == named for field in self._found()):
            self._list.highlighted = self._list.get_option_index(named)

    def _found(self) -> list[PreferenceField]:
        catalog = self._catalog
        return [
            field
            for field in shown_fields().values()
            if rows.found(self.words, field, rows.in_words(field, self._value(field.key), catalog))
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
        self.tell_filter(f"{len(self._found())} of {len(every)}, {changed} changed")

    @on(OptionList.OptionHighlighted)
    def _show_details(self) -> None:
        field = self.field
        self._object("")
        about = self.query_one("#details", Static)
        if field is None:
            about.update(Content("No setting has these words. Backspace takes them back."))
        else:
            about.update(rows.details(field, self._preferences, self._catalog))
        self._show_keys()

    def _show_keys(self) -> None:
        if self.has_class("editing"):
            keys = [("enter", "save"), ("esc", "leave it as it was")]
        else:
            keys = [("enter", "change"), ("del", "default"), ("esc", "close")]
            if self.field is not None and self._has_steps(self.field):
                keys.insert(1, ("← →", "next value"))
        self.query_one(".keys", Static).update(keys_line(*keys))

    def _has_steps(self, field: PreferenceField) -> bool:
        in_a_row = field.kind in ("switch", "number", "whole")
        return in_a_row or (field.kind not in ("list", "object") and bool(self._choices(field)))

    def _object(self, sentence: str) -> None:
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
        """The columns follow the width."""
        if self.is_mounted and self._list.options:
            self.call_after_refresh(self.fill)

    @property
    def takes_letters(self) -> bool:
        """Not while a value is written."""
        return not self.has_class("editing")

    def action_leave(self) -> None:
        """End the editing, then the filter, then the screen."""
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
        """The next value, where there are values in a row."""
        field = self.field
        if field is None or self.has_class("editing") or not self._has_steps(field):
            return
        value = self._value(field.key)
        can, wanted = rows.stepped(field, value, self._choices(field), step)
        if can:
            self._wanted[field.key] = wanted
            self.run_worker(self._step_to(field.key, wanted))

    async def _step_to(self, key: str, wanted: Any) -> None:
        try:
            if await self._apply(key, wanted):
                await self._desk.mirror.until(
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
        if chosen is None or not await self._apply(field.key, rows.given(chosen)):
            self._desk.host.use_theme(self._preferences.theme)

    async def _apply(self, key: str, value: Any) -> bool:
        """Change it for everybody; what the model objects to is told at the field."""
        try:
            await self._desk.client.call(update_preferences, changes={key: value})
        except SpinneyError as error:
            self._object(error.message)
            return False
        self._object("")
        return True

    def action_reset(self) -> None:
        """Back to the default; asked first where much would be lost."""
        field = self.field
        if field is not None and not self.has_class("editing"):
            self.run_worker(self._reset(field), exclusive=True)

    async def _reset(self, field: PreferenceField) -> None:
        if not rows.is_changed(field, self._preferences):
            return
        if field.kind in _TELLS_TOO_MUCH or field.secret:
            sentence = f"Give up what is set in {field.key}? It cannot be brought back."
            if not await self.app.push_screen_wait(
                Confirm("Back to the default", sentence, "reset")
            ):
                return
        await self._apply(field.key, field.default)

    # Editing in place ---------------------------------------------------------------------------

    def _edit(self, field: PreferenceField) -> None:
        editor = self.query_one("#editor", Input)
        self._object("")
        self.add_class("editing")
        editor.password = field.secret
        value = self._value(field.key)
        editor.value = "" if field.secret else rows.written(value)
        editor.placeholder = "a new value; empty: none" if field.nullable else ""
        editor.focus()
        editor.action_end()
        self._show_keys()

    def _stop_editing(self) -> None:
        self.remove_class("editing")
        self._object("")
        self._list.focus()
        self._show_keys()

    @on(Input.Submitted, "#editor")
    async def _edited(self, event: Input.Submitted) -> None:
        event.stop()
        field = self.field
        if field is not None and await self._apply(field.key, rows.parsed(field, event.value)):
            self._stop_editing()
