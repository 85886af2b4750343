"""The editor of provider profiles, which are named settings of an agent program."""

from typing import Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Label, OptionList, Static
from textual.widgets.option_list import Option

from model.api.preferences import update_preferences
from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.preferences.fields import label_of
from model.preferences.schema import CliProfile
from tui.composer.draft import Draft
from tui.composer.message_area import MessageArea
from tui.desk import Desk
from tui.screens.choose import Choice, Choose
from tui.screens.dialog import Confirm, Dialog
from tui.screens.preferences_rows import explain_refusal
from tui.widgets.key_line import keys_line
from tui.widgets.text_field import TextField

_THINKS = (
    Choice("yes", "as set in the session"),
    Choice("no", "off", "not supported by its models"),
)


class ProfilesScreen(Dialog[None]):
    """The list of profiles: add, change, remove."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "add", show=False),
        Binding("delete", "remove", show=False),
    ]

    def __init__(self, desk: Desk) -> None:
        super().__init__("Provider profiles")
        self._desk = desk

    def body(self) -> list[Widget]:
        """Sentence, names and keys."""
        return [
            Static(
                "Named settings of an agent program, to switch between accounts and endpoints. "
                "They can contain keys and are visible on this machine only. Select one under "
                f"'{label_of('default_provider')}' or '{label_of('magic_prompt_providers')}'.",
                classes="words",
            ),
            OptionList(markup=False, compact=True),
            Static(
                keys_line(("a", "add"), ("enter", "change"), ("del", "remove"), ("esc", "close")),
                classes="keys",
            ),
        ]

    def on_mount(self) -> None:
        """Show the profiles, and follow changes by any client."""
        self._desk.host.preferences_changed.subscribe(self, lambda _: self._fill())
        self._fill()
        self.query_one(OptionList).focus()

    @property
    def _profiles(self) -> list[CliProfile]:
        return self._desk.state.preferences.custom_cli_profiles

    def _fill(self) -> None:
        names = self.query_one(OptionList)
        present = names.highlighted or 0
        options = [
            Option(
                Content.assemble(
                    clean_line(profile.name), (f"  {profile.file_path or ''}", "$text-muted")
                )
            )
            for profile in self._profiles
        ]
        names.set_options(options or [Option("No profiles. Press a to add one.", disabled=True)])
        names.highlighted = min(present, len(options) - 1) if options else None

    @on(OptionList.OptionSelected)
    def _change(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.app.push_screen(EditProfile(self._desk, event.option_index))

    def action_add(self) -> None:
        """Add a profile."""
        self.app.push_screen(EditProfile(self._desk, None))

    def action_remove(self) -> None:
        """Remove the profile under the cursor, after confirmation."""
        index = self.query_one(OptionList).highlighted
        if index is not None and index < len(self._profiles):
            self.run_worker(self._remove(self._profiles[index].name), exclusive=True)

    async def _remove(self, name: str) -> None:
        sentence = f"Remove '{name}' with its settings? This cannot be undone."
        dialog = Confirm("Remove the profile", sentence, "remove")
        if not await self.app.push_screen_wait(dialog):
            return
        kept = [profile.model_dump() for profile in self._profiles if profile.name != name]
        try:
            await self._desk.client.call(update_preferences, changes={"custom_cli_profiles": kept})
        except SpinneyError as error:
            self._desk.say(error.message, bad=True)


class EditProfile(Dialog[None]):
    """The editor of one profile, whose settings are hidden until revealed."""

    CSS = """
    EditProfile .dialog MessageArea { min-height: 2; max-height: 30vh; }
    EditProfile .dialog .problem { display: none; margin: 0; }
    EditProfile.objected .dialog .problem { display: block; }
    EditProfile.-low .dialog Label { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+r", "reveal", show=False, priority=True),
        Binding("ctrl+t", "thinking", show=False, priority=True),
    ]

    def __init__(self, desk: Desk, index: int | None) -> None:
        profiles = desk.state.preferences.custom_cli_profiles
        self._old = profiles[index] if index is not None and index < len(profiles) else None
        super().__init__(f"Profile {self._old.name}" if self._old else "New profile")
        self._desk = desk
        self._thinks = self._old.supports_thinking if self._old else None

    def body(self) -> list[Widget]:
        """The fields and keys."""
        old = self._old
        placeholder = "hidden; text entered here replaces them" if old else '{"env": {…}}'
        return [
            Label("Name"),
            _text_field("name", old.name if old else "", "name"),
            Label("Settings, as JSON in the program's format"),
            MessageArea(id="settings", placeholder=placeholder, can_submit_empty=True),
            Label("Settings file, read at each start (optional)"),
            _text_field("file", (old.file_path or "") if old else "", "full path, JSON or TOML"),
            Static(id="thinks", markup=False),
            Static(classes="problem", markup=False),
            Static(
                keys_line(
                    ("enter", "save"), ("tab", "next"), ("^j", "line"),
                    ("^r", "show"), ("^t", "thinking"), ("esc", "cancel"),
                ),
                classes="keys",
            ),
        ]  # fmt: skip

    def on_mount(self) -> None:
        """Focus the name."""
        self.query_one("#name", Input).focus()
        self._show_thinking()

    def _show_thinking(self) -> None:
        text = "off" if self._thinks is False else "as set in the session"
        self.query_one("#thinks", Static).update(f"Thinking: {text}")

    def action_reveal(self) -> None:
        """Show the settings for editing."""
        from model.preferences.apply import REDACTED

        if self._old is None:
            return
        if self._old.settings_json == REDACTED:
            self._show_error("The settings are on another machine, which does not reveal them.")
            return
        area = self.query_one("#settings", MessageArea)
        if not area.text:
            area.draft = Draft(self._old.settings_json)
        area.focus()

    def action_thinking(self) -> None:
        """Choose whether the profile's models support thinking."""
        self.run_worker(self._choose_thinking(), exclusive=True)

    async def _choose_thinking(self) -> None:
        present = "no" if self._thinks is False else "yes"
        chosen = await self.app.push_screen_wait(Choose("Thinking", _THINKS, present))
        if chosen is not None:
            self._thinks = False if chosen == "no" else None
            self._show_thinking()

    def _show_error(self, sentence: str) -> None:
        self.set_class(bool(sentence), "objected")
        self.query_one(".problem", Static).update(sentence)

    @on(Input.Submitted)
    @on(MessageArea.Submitted)
    async def _submitted(self, event: Input.Submitted | MessageArea.Submitted) -> None:
        event.stop()
        written = self.query_one("#settings", MessageArea).draft.text_to_send().strip()
        profile: dict[str, Any] = {
            **(self._old.model_dump() if self._old else {}),
            "name": self.query_one("#name", Input).value.strip(),
            "settings_json": written or (self._old.settings_json if self._old else "{}"),
            "file_path": self.query_one("#file", Input).value.strip() or None,
            "supports_thinking": self._thinks,
        }
        others = self._desk.state.preferences.custom_cli_profiles
        profiles = [
            profile if self._old and other.name == self._old.name else other.model_dump()
            for other in others
        ]
        try:
            await self._desk.client.call(
                update_preferences,
                changes={"custom_cli_profiles": profiles + ([] if self._old else [profile])},
            )
        except SpinneyError as error:
            self._show_error(explain_refusal(error.message))
        else:
            self.dismiss(None)


def _text_field(id: str, value: str, placeholder: str) -> Input:
    return TextField(value, id=id, placeholder=placeholder, compact=True, select_on_focus=False)
