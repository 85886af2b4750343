"""Editors of settings that need more than a row: choices with a preview, lists, entries, texts."""

from collections.abc import Callable, Sequence
from typing import Any

from textual import on
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from model.api.preferences import list_prompts, update_preferences
from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.preferences.choices import accepts_null, choice_label
from model.preferences.fields import PreferenceField, entry_label
from model.richtext.highlight import highlight_code
from tui.desk import Desk
from tui.draw.colors import get_palette
from tui.screens import preferences_rows as rows
from tui.screens.choose import Choice, Choose
from tui.screens.dialog import Dialog
from tui.screens.edit_text import EditText
from tui.widgets.key_line import keys_line

SAMPLE = '''\
from orchard import Tree

LIMIT = 12  # apples a basket

class Basket:
    """Holds apples."""

    def add(self, tree: Tree) -> int:
        if self.count >= LIMIT:
            raise ValueError(f"full: {LIMIT}")
        return self.count + 1
'''


def chooser(desk: Desk, field: PreferenceField, offered: Sequence[Choice], present: Any) -> Choose:
    """Return the list of a setting's values; the one for themes shows a preview."""
    value = rows.NOTHING if present is None else str(present)
    if field.key == "theme":
        return ChooseTheme(field.label, offered, value, desk.host.use_theme)
    if field.key.startswith("syntax_theme"):
        return ChooseSyntax(field.label, offered, value)
    return Choose(field.label, offered, value)


class ChooseTheme(Choose):
    """Shows the theme under the cursor on the whole screen; escape reverts it."""

    def __init__(
        self, title: str, choices: Sequence[Choice], present: str, show: Callable[[Any], None]
    ) -> None:
        super().__init__(title, choices, present)
        self._show = show

    @on(OptionList.OptionHighlighted)
    def _preview(self, event: OptionList.OptionHighlighted) -> None:
        self._show(event.option.id)


class ChooseSyntax(Choose):
    """Shows a code sample in the theme under the cursor beside the list."""

    CSS = """
    ChooseSyntax > .dialog { width: 84; }
    ChooseSyntax .dialog Horizontal { height: 19; max-height: 60vh; }
    ChooseSyntax .dialog OptionList { width: 26; height: 100%; max-height: 100%; }
    ChooseSyntax .dialog #sample { width: 1fr; height: 12; margin-left: 1; }
    """

    def body(self) -> list[Widget]:
        """The list beside the sample."""
        options, *rest = super().body()
        return [Horizontal(options, Static(id="sample", markup=False)), *rest]

    @on(OptionList.OptionHighlighted)
    def _preview(self, event: OptionList.OptionHighlighted) -> None:
        sample = self.query_one("#sample", Static)
        colors = get_palette("dark", str(event.option.id))
        sample.styles.background = colors.code.bgcolor.name if colors.code.bgcolor else None
        parts: list[str | tuple[str, Any]] = []
        for line in highlight_code(SAMPLE, "python"):
            parts += [(token.text, _style(colors.tokens[token.kind])) for token in line]
            parts.append("\n")
        sample.update(Content.assemble(*parts))


def _style(style: Any) -> Any:
    from textual.style import Style

    return Style.from_rich_style(style)


class EditEntries(Dialog[None]):
    """The entries of an object setting, edited one by one."""

    BINDINGS = [("delete", "reset", "Default")]  # noqa: RUF012 (as Textual has it)

    def __init__(self, desk: Desk, field: PreferenceField) -> None:
        super().__init__(field.label)
        self._desk = desk
        self._field = field

    def body(self) -> list[Widget]:
        """Sentence, entries and keys."""
        keys = (("enter", "change"), ("del", "default"), ("esc", "close"))
        return [
            Static(f"{self._field.help}.", markup=False, classes="words"),
            OptionList(markup=False, compact=True),
            Static(keys_line(*keys), classes="keys"),
        ]

    def on_mount(self) -> None:
        """Show the entries, and follow what any client changes."""
        self._desk.host.preferences_changed.subscribe(self, lambda _: self._fill())
        self._fill()
        entries = self.query_one(OptionList)
        entries.highlighted = 0
        entries.focus()

    @property
    def _values(self) -> dict[str, Any]:
        values: dict[str, Any] = getattr(self._desk.state.preferences, self._field.key)
        return values

    @property
    def _entry(self) -> str | None:
        option = self.query_one(OptionList).highlighted_option
        return option.id if option is not None else None

    def _fill(self) -> None:
        entries = self.query_one(OptionList)
        present = entries.highlighted
        entries.set_options([Option(self._row(key), id=key) for key in self._field.entries])
        entries.highlighted = present

    def _row(self, key: str) -> Content:
        value, default = self._values[key], self._field.default.get(key)
        text = (
            choice_label(self._field.key, str(value), self._catalog)
            if value is not None
            else "default"
        )
        shown = clean_line(text.replace("\n", " "))
        return Content.assemble(
            ("● " if value != default else "  ", "$warning"),
            f"{entry_label(key):<36}",
            (shown[:60], "bold" if value != default else "$text-muted"),
        )

    @on(OptionList.OptionSelected)
    def _change(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if event.option.id is not None:
            self.run_worker(self._edit(event.option.id), exclusive=True)

    async def _edit(self, key: str) -> None:
        preferences, catalog = self._desk.state.preferences, self._catalog
        name = entry_label(key)
        offered = rows.choices(
            self._field, preferences, catalog, nullable=accepts_null(self._field)
        )
        value = self._values[key]
        if self._field.key == "magic_prompts":
            await self._edit_prompt(key, value or "")
            return
        present = rows.NOTHING if value is None else value
        chosen = await self.app.push_screen_wait(Choose(name, offered, present))
        if chosen is not None:
            await self._set_or_notify(key, rows.parse_choice(chosen))

    async def _edit_prompt(self, key: str, text: str) -> None:
        from tui.screens.prompt_editor import EditPrompt

        prompts = await self._desk.client.call(list_prompts)
        prompt = next(each for each in prompts if each.key == key)
        save = lambda text: self._set(key, text or None)  # noqa: E731
        await self.app.push_screen_wait(EditPrompt(prompt, text, save))

    @property
    def _catalog(self) -> Any:
        return self._desk.agents.catalog

    async def _set(self, key: str, value: Any) -> None:
        changes = {self._field.key: {key: value}}
        await self._desk.client.call(update_preferences, changes=changes)

    async def _set_or_notify(self, key: str, value: Any) -> None:
        try:
            await self._set(key, value)
        except SpinneyError as error:
            self._desk.say(rows.explain_refusal(error.message), bad=True)

    def action_reset(self) -> None:
        """Reset the entry under the cursor to its default."""
        if (key := self._entry) is not None:
            self.run_worker(self._set_or_notify(key, self._field.default.get(key)))


async def open_editor(desk: Desk, field: PreferenceField) -> None:
    """Show the editor of a list or an object until it is closed."""
    if field.key == "keybindings":
        from tui.screens.keymap_editor import KeysScreen

        await desk.ask(KeysScreen(desk))
    elif field.key == "custom_cli_profiles":
        from tui.screens.profile_editor import ProfilesScreen

        await desk.ask(ProfilesScreen(desk))
    elif field.key == "notify_matrix":
        from tui.screens.notice_matrix import NoticeMatrix

        await desk.ask(NoticeMatrix(desk, field))
    elif field.kind == "object":
        await desk.ask(EditEntries(desk, field))
    else:
        await desk.ask(_list_editor(desk, field))


def _list_editor(desk: Desk, field: PreferenceField) -> EditText:
    async def save(text: str) -> None:
        items = [line.strip() for line in text.splitlines() if line.strip()]
        await desk.client.call(update_preferences, changes={field.key: items})

    present: list[str] = getattr(desk.state.preferences, field.key)
    return EditText(field.label, f"{field.help}, one per line.", "\n".join(present), save)
