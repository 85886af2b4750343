"""The preferences screen and the key editor: find, edit, preview and reset settings."""

import json
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from model.agents.catalog import BUILT_IN, DEMO
from model.api.doctor import AgentKind
from model.api.preferences import MagicPrompt, PromptVariable
from model.domain.events.program import PreferencesUpdated
from model.preferences.apply import apply_changes
from model.preferences.fields import shown_fields
from model.preferences.schema import CliProfile, Preferences
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.waiting import until, until_shown
from tui.composer.message_area import MessageArea
from tui.keys.keymap import ACTIONS
from tui.screens.choose import Choose
from tui.screens.dialog import Confirm
from tui.screens.edit_text import EditText
from tui.screens.keymap_editor import KeysScreen, PressKey
from tui.screens.preference_editors import EditEntries
from tui.screens.preferences import PreferencesScreen
from tui.screens.profile_editor import EditProfile, ProfilesScreen
from tui.screens.prompt_editor import EditPrompt
from tui.shell.app import SpinneyApp

TAKEN = {key for action in ACTIONS for key in action.keys.split(",")}
FREE = next(key for key in (f"f{number}" for number in range(10, 25)) if key not in TAKEN)


def client_applying_preferences() -> FakeClient:
    """A client that applies preferences as the model does, and publishes the change."""
    client = a_client()

    def update(given: dict[str, Any]) -> Preferences:
        wanted = apply_changes(client.state.preferences, given["changes"])
        applied = {key: wanted.model_dump(mode="json")[key] for key in given["changes"]}
        client.feed(PreferencesUpdated(changes=applied))
        return wanted

    client.answers["update_preferences"] = update
    return client


async def open_preferences(
    app: SpinneyApp, pilot: "Pilot[None]", key: str = ""
) -> PreferencesScreen:
    """Open the screen; with a key, filtered to one setting."""
    await pilot.press("f9")
    await until(pilot, lambda: isinstance(app.screen, PreferencesScreen) and listed_ids(app))
    await pilot.press(*key.replace(" ", "space"))
    screen = app.screen
    assert isinstance(screen, PreferencesScreen)
    if key:
        await until(pilot, lambda: screen.field is not None and screen.field.key == key)
    return screen


def listed_ids(app: SpinneyApp) -> list[str]:
    """The ids of the selectable rows."""
    return [option.id for option in app.screen.query_one(OptionList).options if option.id]


def static_text(app: SpinneyApp, selector: str) -> str:
    return str(app.screen.query_one(selector, Static).render())


async def test_every_setting_of_the_model_is_listed_in_its_group(start: Start) -> None:
    async with start(client_applying_preferences()) as (app, pilot):
        await open_preferences(app, pilot)
        assert listed_ids(app) == list(shown_fields())
        titles = [str(o.prompt) for o in app.screen.query_one(OptionList).options if o.disabled]
        assert titles == list(dict.fromkeys(f.group for f in shown_fields().values()))


async def test_typing_filters_settings_by_key_help_and_value(start: Start) -> None:
    async with start(client_applying_preferences()) as (app, pilot):
        await open_preferences(app, pilot)
        for typed, key in (("zoom", "zoom_level"), ("mcp seen", "known_mcp_servers"),
                           ("ultrathink", "thinking_level")):  # fmt: skip
            await pilot.press(*(letter if letter != " " else "space" for letter in typed))
            await until(pilot, lambda key=key: listed_ids(app) == [key])
            await pilot.press("escape")
            await until(pilot, lambda: len(listed_ids(app)) == len(shown_fields()))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


async def test_a_setting_whose_full_name_was_typed_is_selected(
    start: Start,
) -> None:
    async with start(client_applying_preferences()) as (app, pilot):
        await open_preferences(app, pilot)
        await pilot.press(*"terminal")
        await until(pilot, lambda: static_text(app, "#details").startswith("Terminal"))
        assert len(listed_ids(app)) > 1
        await pilot.press("down")
        await until(pilot, lambda: static_text(app, "#details").startswith("Editor"))


async def test_the_details_show_description_bounds_and_default(start: Start) -> None:
    async with start(client_applying_preferences()) as (app, pilot):
        await open_preferences(app, pilot, "git_poll_interval")
        details = static_text(app, "#details")
        assert "Seconds between checks for local changes" in details
        assert "A number from 10 to 600. Default: 60. Not changed." in details


async def test_enter_toggles_a_switch(start: Start) -> None:
    client = client_applying_preferences()
    async with start(client) as (app, pilot):
        await open_preferences(app, pilot, "parallel_execution_prompt_enabled")
        await pilot.press("enter")
        await until(pilot, lambda: app.main.state.preferences.parallel_execution_prompt_enabled)
        await until(pilot, lambda: "Changed." in static_text(app, "#details"))
        assert client.called("update_preferences") == [
            {"changes": {"parallel_execution_prompt_enabled": True}}
        ]


async def test_a_number_out_of_bounds_is_refused_at_the_field_and_the_input_is_kept(
    start: Start,
) -> None:
    async with start(client_applying_preferences()) as (app, pilot):
        await open_preferences(app, pilot, "git_poll_interval")
        await pilot.press("enter")
        editor = app.screen.query_one("#editor", Input)
        await until(pilot, lambda: editor.has_focus)
        await pilot.press("backspace", "backspace")
        await until(pilot, lambda: editor.value == "")
        await pilot.press("5", "enter")
        sentence = "Invalid preference 'git_poll_interval': must be a number from 10 to 600"
        await until(pilot, lambda: static_text(app, ".problem") == sentence)
        assert editor.value == "5"
        await pilot.press("0", "enter")
        await until(pilot, lambda: app.main.state.preferences.git_poll_interval == 50)
        await until(pilot, lambda: not app.screen.has_class("editing"))


async def test_keys_in_one_burst_keep_their_order(start: Start) -> None:
    async with start(client_applying_preferences()) as (app, pilot):
        await open_preferences(app, pilot, "git_poll_interval")
        await pilot.press("enter")
        editor = app.screen.query_one("#editor", Input)
        await until(pilot, lambda: editor.has_focus)
        for key in ("backspace", "backspace", "5", "left", "4", "end", "7", "ctrl+u", "9"):
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: editor.value == "9")


async def test_escape_leaves_a_setting_as_it_was(start: Start) -> None:
    client = client_applying_preferences()
    async with start(client) as (app, pilot):
        await open_preferences(app, pilot, "ai_language")
        await pilot.press("enter", *"Dutch", "escape")
        await until(pilot, lambda: not app.screen.has_class("editing"))
        assert client.called("update_preferences") == []


async def test_arrows_step_through_values_and_quick_presses_add_up(start: Start) -> None:
    async with start(client_applying_preferences()) as (app, pilot):
        await open_preferences(app, pilot, "agent_limit")
        await pilot.press("right", "right", "right", "left")
        await until(pilot, lambda: app.main.state.preferences.agent_limit == 22)


async def test_a_secret_is_neither_shown_nor_loaded_into_the_editor(start: Start) -> None:
    client = client_applying_preferences()
    client.feed(PreferencesUpdated(changes={"http_server_token": "lin_api_secret"}))
    async with start(client) as (app, pilot):
        await open_preferences(app, pilot, "http_server_token")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen.has_class("editing"))
        editor = app.screen.query_one("#editor", Input)
        assert editor.password and editor.value == ""
        shown = [str(option.prompt) for option in app.screen.query_one(OptionList).options]
        assert any("••••" in row for row in shown)
        assert "lin_api_secret" not in "".join(shown) + static_text(app, "#details")


async def test_a_theme_is_previewed_and_reverted_by_escape(start: Start) -> None:
    client = client_applying_preferences()
    async with start(client) as (app, pilot):
        await open_preferences(app, pilot, "theme")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        await pilot.press("down")
        await until(pilot, lambda: app.theme == "spinney-light")
        await pilot.press("escape")
        await until(pilot, lambda: app.theme == "spinney-dark")
        assert client.called("update_preferences") == []
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.main.state.preferences.theme == "light")
        assert app.theme == "spinney-light"


async def test_the_syntax_theme_under_the_cursor_is_previewed(start: Start) -> None:
    async with start(client_applying_preferences()) as (app, pilot):
        await open_preferences(app, pilot, "syntax_theme_dark")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        sample = app.screen.query_one("#sample", Static)
        await until(pilot, lambda: "class Basket" in str(sample.render()))
        background = sample.styles.background
        await pilot.press("end")
        await until(pilot, lambda: sample.styles.background != background)


async def test_an_agent_is_chosen_by_its_name(start: Start) -> None:
    async with start(client_applying_preferences()) as (app, pilot):
        await open_preferences(app, pilot, "yolo_backend")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        labels = [choice.label for choice in app.screen.choices]  # type: ignore[attr-defined]
        assert labels == ["default", "Claude Code", "Codex", "OpenCode"]
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: app.main.state.preferences.yolo_backend == "backend_b")


async def test_the_demo_agent_is_never_offered_as_a_setting(start: Start) -> None:
    client = client_applying_preferences()
    rows = [DEMO, *BUILT_IN.backends]
    client.answers["list_agents"] = lambda given: [
        AgentKind(name=row.name, label=row.label, program=row.program, models=[]) for row in rows
    ]
    async with start(client) as (app, pilot):
        await open_preferences(app, pilot, "default_backend")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        values = [choice.value for choice in app.screen.choices]  # type: ignore[attr-defined]
        assert values == ["backend_a", "backend_b", "backend_c"]


async def test_delete_restores_the_default(start: Start) -> None:
    client = client_applying_preferences()
    client.feed(PreferencesUpdated(changes={"zoom_level": 120}))
    async with start(client) as (app, pilot):
        await open_preferences(app, pilot, "zoom_level")
        await pilot.press("delete")
        await until(pilot, lambda: app.main.state.preferences.zoom_level == 90)


async def test_resetting_a_list_requires_confirmation(start: Start) -> None:
    client = client_applying_preferences()
    client.feed(PreferencesUpdated(changes={"known_mcp_servers": ["files"]}))
    async with start(client) as (app, pilot):
        await open_preferences(app, pilot, "known_mcp_servers")
        await pilot.press("delete")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("escape")
        assert client.called("update_preferences") == []


async def test_changes_by_another_client_are_shown(start: Start) -> None:
    client = client_applying_preferences()
    async with start(client) as (app, pilot):
        await open_preferences(app, pilot, "zoom_level")
        client.feed(PreferencesUpdated(changes={"zoom_level": 150}))
        rows = app.screen.query_one(OptionList)
        await until(pilot, lambda: "150" in str(rows.get_option("zoom_level").prompt))
        await until(pilot, lambda: "Changed." in static_text(app, "#details"))


async def test_a_list_is_edited_with_one_entry_per_line(start: Start) -> None:
    async with start(client_applying_preferences()) as (app, pilot):
        await open_preferences(app, pilot, "default_enabled_mcp_servers")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, EditText))
        await pilot.press(*"files", "ctrl+j", *"web", "enter")
        await until(
            pilot,
            lambda: app.main.state.preferences.default_enabled_mcp_servers == ["files", "web"],
        )


def a_prompt() -> MagicPrompt:
    return MagicPrompt(
        key="commit_message",
        label="Commit message",
        purpose="The message of a commit",
        kind="text",
        default="Write a commit message for {changes}.",
        variables=[PromptVariable(name="changes", help="What was changed")],
    )


async def test_one_magic_prompt_is_changed_without_the_others(start: Start) -> None:
    client = client_applying_preferences()
    client.answers["list_prompts"] = lambda given: [a_prompt()]
    async with start(client) as (app, pilot):
        applied = client.answers["update_preferences"]
        await open_preferences(app, pilot, "magic_prompts")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, EditEntries))
        keys = [option.id for option in app.screen.query_one(OptionList).options]
        assert len(keys) == 16
        await pilot.press(*["down"] * keys.index("commit_message"), "enter")
        await until(pilot, lambda: isinstance(app.screen, EditPrompt))
        await until_shown(app, pilot, "{changes}", "What was changed", "Write a commit message")
        sentence = "Unknown variable {chages}. This prompt has {changes}. Write {{chages}} as text."
        client.refuse("update_preferences", sentence)
        await pilot.press(*"{chages}", "enter")
        await until_shown(app, pilot, "Unknown variable {chages}")
        client.answers["update_preferences"] = applied
        client.calls.clear()
        await pilot.press("ctrl+u", *"Look", "enter")
        await until(pilot, lambda: isinstance(app.screen, EditEntries))
        assert client.called("update_preferences") == [
            {"changes": {"magic_prompts": {"commit_message": "Look"}}}
        ]
        await pilot.press("delete")
        await until(
            pilot,
            lambda: app.main.state.preferences.magic_prompts["commit_message"] is None,
        )


async def test_a_profile_is_created_and_its_settings_stay_hidden(start: Start) -> None:
    client = client_applying_preferences()
    async with start(client) as (app, pilot):
        await open_preferences(app, pilot, "custom_cli_profiles")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ProfilesScreen))
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, EditProfile))
        await pilot.press(*"work", "tab", *"nonsense", "enter")
        await until(pilot, lambda: "JSON object" in static_text(app, ".problem"))
        area = app.screen.query_one(MessageArea)
        area.text = '{"env": {"KEY": "sk-1"}}'
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ProfilesScreen))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, EditProfile))
        assert app.screen.query_one(MessageArea).text == ""
        await pilot.press(*"2", "enter")
        await until(pilot, lambda: isinstance(app.screen, ProfilesScreen))

        def profiles() -> list[CliProfile]:
            return app.main.state.preferences.custom_cli_profiles

        await until(pilot, lambda: [profile.name for profile in profiles()] == ["work2"])
        (profile,) = profiles()
        assert json.loads(profile.settings_json) == {"env": {"KEY": "sk-1"}}


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (200, 50)])
@pytest.mark.parametrize("action", ["preferences", "edit_keys"])
async def test_key_hints_and_list_are_visible_at_every_size(
    start: Start, size: tuple[int, int], action: str
) -> None:
    async with start(client_applying_preferences(), size=size) as (app, pilot):
        app.main.action_do(action)
        await until(pilot, lambda: app.screen is not app.main)
        keys = app.screen.query(".keys").last()
        await until(pilot, lambda: keys.region.height and listed_ids(app))
        assert keys.region in app.screen.query_one(".dialog").content_region
        assert app.screen.query_one(OptionList).size.height >= 5


# Keys ----------------------------------------------------------------------------------------


async def open_key_editor(app: SpinneyApp, pilot: "Pilot[None]", typed: str) -> None:
    app.main.action_do("edit_keys")
    await until(pilot, lambda: isinstance(app.screen, KeysScreen) and listed_ids(app))
    await pilot.press(*typed)


async def test_a_new_key_works_immediately(start: Start) -> None:
    client = client_applying_preferences()
    async with start(client) as (app, pilot):
        await open_key_editor(app, pilot, "quit")
        await until(pilot, lambda: listed_ids(app) == ["quit"])
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, PressKey))
        await pilot.press(FREE)
        await until(pilot, lambda: app.main.key_overrides == {"quit": FREE})
        await pilot.press("escape", "escape")
        await until(pilot, lambda: app.screen is app.main)
        await pilot.press(FREE)
        await until(pilot, lambda: not app.is_running)


REFUSED = {
    "ctrl+t": "ctrl+t is the key of 'New session'.",
    "ctrl+m": "send ctrl+m as enter",
    "ctrl+i": "send ctrl+i as tab",
    "ctrl+h": "send ctrl+h as backspace",
    "ctrl+left_square_bracket": "as esc",
    "ctrl+shift+k": "send ctrl+shift+k as ctrl+k",
    "ctrl+s": "it pauses the output of terminals",
    "x": "x is needed for typing",
    "enter": "enter is needed for typing",
}


async def test_a_key_that_cannot_be_assigned_is_refused_with_the_reason(start: Start) -> None:
    client = client_applying_preferences()
    async with start(client) as (app, pilot):
        await open_key_editor(app, pilot, "quit")
        for key, reason in REFUSED.items():
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(app.screen, PressKey))
            await pilot.press(key)
            await until(pilot, lambda reason=reason: reason in static_text(app, ".problem"))
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(app.screen, KeysScreen))
        assert client.called("update_preferences") == []


async def test_a_second_key_is_added_and_delete_restores_the_default_key(start: Start) -> None:
    client = client_applying_preferences()
    client.feed(PreferencesUpdated(changes={"keybindings": {"of_the_page": "mod+y"}}))
    async with start(client) as (app, pilot):
        await open_key_editor(app, pilot, "quit")
        await pilot.press("plus")
        await until(pilot, lambda: isinstance(app.screen, PressKey))
        await pilot.press(FREE)
        bindings = {"of_the_page": "mod+y", "quit": f"ctrl+q,{FREE}"}
        await until(pilot, lambda: app.main.state.preferences.keybindings == bindings)
        await pilot.press("delete")
        await until(
            pilot,
            lambda: app.main.state.preferences.keybindings == {"of_the_page": "mod+y"},
        )


async def test_resetting_all_keys_requires_confirmation(start: Start) -> None:
    client = client_applying_preferences()
    client.feed(PreferencesUpdated(changes={"keybindings": {"quit": FREE, "help": "f11"}}))
    async with start(client) as (app, pilot):
        await open_key_editor(app, pilot, "")
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("y")
        await until(pilot, lambda: app.main.state.preferences.keybindings == {})
        await until(pilot, lambda: app.main.key_overrides == {})
