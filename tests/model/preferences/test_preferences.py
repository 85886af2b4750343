"""The settings: keys, stored values, changes by clients, redaction and precedence."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.agents.catalog import BUILT_IN, BackendRow, Catalog
from model.base.errors import SpinneyError
from model.base.paths import Directories
from model.commands.preferences import list_preferences, update_preferences
from model.domain.projects import Project
from model.preferences import migrations
from model.preferences.apply import REDACTED, apply_changes, parse_preferences, redact
from model.preferences.fields import preference_fields, shown_fields
from model.preferences.precedence import choose_backend, choose_model, first_set
from model.preferences.schema import PROMPT_KEYS, Preferences
from model.runtime.workspace import Workspace

DEFAULTS: dict[str, Any] = {
    "theme": "system", "ui_font_size": 16, "chat_font_size": 16, "ui_font": "geist",
    "chat_font": "geist", "syntax_theme_dark": "vitesse-black",
    "syntax_theme_light": "hosting-light", "zoom_level": 90, "canvas_layout": "list",
    "show_keybinding_hints": True,
    "selected_model": "model_1", "thinking_level": "ultrathink", "default_effort_level": "high",
    "default_backend": "backend_a", "selected_codex_model": "codex_model_1",
    "selected_opencode_model": "backend_c/codex_model_1",
    "default_codex_reasoning_effort": "high", "codex_multi_agent_enabled": False,
    "codex_max_agent_threads": 3,
    "terminal": "terminal", "editor": "zed", "open_in": "editor", "file_edit_mode": "external",
    "auto_session_naming": True, "session_naming_model": "model_5",
    "session_recap_enabled": False, "restore_last_session": False,
    "close_original_on_clear_context": True, "confirm_session_close": True,
    "branch_template": "{slug}", "auto_branch_naming": True,
    "branch_naming_model": "model_5", "auto_pull_base_branch": True,
    "auto_archive_on_pr_merged": True, "git_poll_interval": 60, "remote_poll_interval": 60,
    "landing_method": "merge", "after_landing": "keep",
    "archive_retention_days": 7, "removal_behavior": "delete",
    "parallel_execution_prompt_enabled": False,
    "default_enabled_mcp_servers": [], "known_mcp_servers": [], "chrome_enabled": True,
    "tracker_api_key": None, "http_server_enabled": False, "http_server_port": 3456,
    "http_server_token": None, "http_server_auto_start": False,
    "http_server_localhost_only": True, "http_server_token_required": True, "ai_language": "",
    "allow_web_tools_in_plan_mode": True, "debug_mode_enabled": False, "default_provider": None,
    "custom_cli_profiles": [], "waiting_sound": "none", "review_sound": "none",
    "keybindings": {}, "has_seen_feature_tour": False, "has_seen_jean_config_wizard": False,
    "build_model": None, "yolo_model": None, "build_backend": None, "yolo_backend": None,
    "build_thinking_level": None, "yolo_thinking_level": None,
}  # fmt: skip

SYNTAX_THEMES = (
    "vitesse-black", "vitesse-dark", "vitesse-light",
    "hosting-dark", "hosting-light", "hosting-dark-dimmed",
    "dracula", "dracula-soft", "nord",
    "catppuccin-mocha", "catppuccin-macchiato", "catppuccin-frappe", "catppuccin-latte",
    "one-dark-pro", "one-light", "tokyo-night",
    "rose-pine", "rose-pine-moon", "rose-pine-dawn",
)  # fmt: skip

BOUNDS = {
    "ui_font_size": (12, 24), "chat_font_size": (12, 24), "zoom_level": (50, 200),
    "git_poll_interval": (10, 600), "remote_poll_interval": (30, 600),
    "codex_max_agent_threads": (1, 8), "http_server_port": (0, 65535),
    "agent_limit": (1, 1000),
}  # fmt: skip

PROFILE = {"name": "work", "settings_json": '{"key": "s3cret"}'}


def get_refusal(changes: dict[str, Any], preferences: Preferences | None = None) -> str:
    with pytest.raises(SpinneyError) as caught:
        apply_changes(preferences or Preferences(), changes)
    assert caught.value.error_type == "invalid_request"
    return caught.value.message


# Keys and defaults ----------------------------------------------------------------------------


def test_every_key_of_the_interface_has_its_default() -> None:
    present = Preferences().model_dump()
    assert {key: present[key] for key in DEFAULTS} == DEFAULTS


def test_the_defaults_satisfy_their_own_bounds() -> None:
    assert parse_preferences(Preferences().model_dump()) == (Preferences(), [])


def test_magic_prompts_have_an_entry_for_each_of_the_sixteen_keys() -> None:
    preferences = Preferences()
    assert len(PROMPT_KEYS) == 16
    assert preferences.magic_prompts == dict.fromkeys(PROMPT_KEYS)
    assert set(preferences.magic_prompt_models) == {f"{key}_model" for key in PROMPT_KEYS}
    assert preferences.magic_prompt_providers == {f"{key}_provider": None for key in PROMPT_KEYS}
    assert preferences.magic_prompt_backends == {f"{key}_backend": None for key in PROMPT_KEYS}


def test_there_are_nineteen_syntax_themes_and_seven_terminals() -> None:
    fields = preference_fields()
    assert fields["syntax_theme_dark"].choices == SYNTAX_THEMES
    assert fields["syntax_theme_light"].choices == fields["syntax_theme_dark"].choices
    assert len(fields["terminal"].choices) == 7
    assert fields["editor"].choices[0] == fields["editor"].default


@pytest.mark.parametrize("key", Preferences.model_fields)
def test_every_key_can_be_shown_on_a_settings_page(key: str) -> None:
    field = preference_fields()[key]
    assert field.group
    assert field.help
    assert len(field.help) < 80
    assert bool(field.choices) == (field.kind == "choice")
    if field.kind in ("number", "whole"):
        assert field.low is not None
        assert field.high is not None


def test_defaults_are_not_shared_between_instances() -> None:
    Preferences().keybindings["quit"] = "ctrl+q"
    Preferences().magic_prompts["code_review"] = "x"
    assert Preferences().keybindings == {}
    assert Preferences().magic_prompts["code_review"] is None


# Stored values --------------------------------------------------------------------------------


def test_an_invalid_value_resets_only_itself() -> None:
    preferences, problems = parse_preferences({"ui_font_size": 99, "theme": "dark"})
    assert preferences == Preferences(theme="dark")
    assert problems == [
        "The setting 'ui_font_size' must be a number from 12 to 24; the default, 16, is used."
    ]


def test_unknown_keys_are_kept() -> None:
    preferences, problems = parse_preferences({"from_the_future": {"a": [1]}})
    assert preferences.model_dump()["from_the_future"] == {"a": [1]}
    assert problems == []


def test_missing_prompts_are_filled_in() -> None:
    preferences, _ = parse_preferences({"magic_prompts": {"code_review": "Look twice."}})
    assert preferences.magic_prompts == {**dict.fromkeys(PROMPT_KEYS), "code_review": "Look twice."}


def test_control_bytes_and_lone_surrogates_are_escaped() -> None:
    preferences, _ = parse_preferences({"ai_language": "fr\x1b[31m\ud800"})
    assert preferences.ai_language == "fr␛[31m<U+D800>"


def test_a_keybinding_equal_to_an_old_default_becomes_the_new_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    history = (("quit", "ctrl+c", "ctrl+x"), ("quit", "ctrl+x", "ctrl+q"), ("send", "a", "b"))
    monkeypatch.setattr(migrations, "CHANGED_KEYBINDINGS", history)
    stored = {"keybindings": {"quit": "ctrl+c", "send": "own", "new": "ctrl+n"}}
    assert parse_preferences(stored)[0].keybindings == {
        "quit": "ctrl+q", "send": "own", "new": "ctrl+n",
    }  # fmt: skip
    assert stored["keybindings"]["quit"] == "ctrl+c"


def test_a_renamed_key_keeps_its_value_and_the_new_name_wins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(migrations, "RENAMED_KEYS", {"font": "ui_font", "t": "theme"})
    stored = {"theme": "dark", "font": "lato", "t": "light"}
    assert parse_preferences(stored) == (Preferences(ui_font="lato", theme="dark"), [])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
STORED = st.dictionaries(st.sampled_from(list(Preferences.model_fields)) | st.text(), JSON)


@pytest.mark.longer
@settings(max_examples=300, deadline=None)
@given(STORED)
def test_anything_stored_gives_valid_settings(stored: dict[str, Any]) -> None:
    preferences, problems = parse_preferences(stored)
    assert parse_preferences(preferences.model_dump())[1] == []
    assert len(problems) <= len(stored)


# Changes by clients ---------------------------------------------------------------------------


@pytest.mark.parametrize("key", BOUNDS)
def test_numbers_are_allowed_up_to_their_bounds_and_no_further(key: str) -> None:
    low, high = BOUNDS[key]
    for value in (low, high):
        assert getattr(apply_changes(Preferences(), {key: value}), key) == value
    for value in (low - 1, high + 1, str(low), True, None, float("nan"), float("inf")):
        assert f"Invalid preference '{key}': must be a" in get_refusal({key: value})
    assert get_refusal({key: high + 1}).endswith(f"from {low} to {high}")


def test_the_error_for_a_font_size_names_the_bounds() -> None:
    assert get_refusal({"ui_font_size": 25}) == (
        "Invalid preference 'ui_font_size': must be a number from 12 to 24"
    )


def test_a_whole_number_may_be_a_float_without_a_fraction() -> None:
    preferences = apply_changes(Preferences(), {"codex_max_agent_threads": 4.0})
    assert json.dumps(preferences.codex_max_agent_threads) == "4"
    assert "a whole number from 1 to 8" in get_refusal({"codex_max_agent_threads": 2.5})


@pytest.mark.parametrize(
    "key", [key for key, field in preference_fields().items() if field.kind == "choice"]
)
def test_a_choice_accepts_its_values_and_the_error_lists_them(key: str) -> None:
    field = preference_fields()[key]
    for choice in field.choices:
        assert getattr(apply_changes(Preferences(), {key: choice}), key) == choice
    assert ", ".join(field.choices) in get_refusal({key: "something else"})
    if not field.nullable:
        assert key in get_refusal({key: None})


def test_a_change_is_applied_as_a_whole_or_not_at_all() -> None:
    preferences = Preferences()
    assert "zoom_level" in get_refusal({"theme": "dark", "zoom_level": 1}, preferences)
    assert preferences == Preferences()
    assert apply_changes(preferences, {"theme": "dark", "zoom_level": 100}) == Preferences(
        theme="dark", zoom_level=100
    )


def test_an_unknown_key_is_refused_with_the_nearest_known_one() -> None:
    assert get_refusal({"them": "dark"}) == "Unknown preference 'them'. Did you mean 'theme'?"
    stored, _ = parse_preferences({"from_the_future": 1})
    assert get_refusal({"from_the_future": 2}, stored) == "Unknown preference 'from_the_future'."


def test_a_change_keeps_unknown_keys() -> None:
    stored, _ = parse_preferences({"from_the_future": 1})
    assert apply_changes(stored, {"theme": "dark"}).model_dump()["from_the_future"] == 1


def test_one_magic_prompt_changes_without_the_others() -> None:
    first = apply_changes(Preferences(), {"magic_prompts": {"code_review": "a"}})
    second = apply_changes(first, {"magic_prompts": {"pr_content": "b"}})
    assert second.magic_prompts["code_review"] == "a"
    assert apply_changes(second, {"magic_prompts": {"code_review": None}}) == apply_changes(
        Preferences(), {"magic_prompts": {"pr_content": "b"}}
    )
    assert "there is no entry 'poem'" in get_refusal({"magic_prompts": {"poem": "a"}})


def test_keybindings_are_replaced_so_that_one_can_be_removed() -> None:
    bound = apply_changes(Preferences(), {"keybindings": {"quit": "q"}})
    assert apply_changes(bound, {"keybindings": {"send": "s"}}).keybindings == {"send": "s"}


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        (
            "custom_cli_profiles",
            [{"name": " ", "settings_json": "{}"}],
            "each profile needs a name",
        ),
        ("custom_cli_profiles", [PROFILE, PROFILE], "two profiles are named 'work'"),
        ("custom_cli_profiles", [{"name": "a", "settings_json": "[]"}], "text of a JSON object"),
        ("custom_cli_profiles", [{"name": "a", "settings_json": "{"}], "text of a JSON object"),
        ("magic_prompt_backends", {"pr_content_backend": "backend_z"}, "'pr_content_backend' must"),
        ("http_server_token", "tulip", "at least 16 letters"),
        ("http_server_token", "two words and many more", "at least 16 letters"),
        ("http_server_token", "", "at least 16 letters"),
    ],
)
def test_a_new_value_must_be_valid_and_a_stored_one_is_accepted(
    key: str, value: Any, why: str
) -> None:
    message = get_refusal({key: value})
    assert message.startswith(f"Invalid preference '{key}': ")
    assert why in message
    stored, problems = parse_preferences({key: value})
    assert problems == []
    assert apply_changes(stored, {"theme": "dark", key: value}).theme == "dark"


# Redaction ------------------------------------------------------------------------------------


def test_remote_clients_see_no_secrets() -> None:
    preferences, _ = parse_preferences(
        {
            "http_server_token": "s3cret-token",
            "tracker_api_key": "s3cret-key",
            "custom_cli_profiles": [{**PROFILE, "token": "s3cret", "file_path": "/p"}],
            "from_the_future": "s3cret",
        }
    )
    shown = redact(preferences)
    assert "s3cret" not in shown.model_dump_json()
    assert shown.http_server_token == REDACTED
    assert shown.custom_cli_profiles[0].name == "work"
    assert shown.custom_cli_profiles[0].file_path == "/p"


def test_secrets_that_are_not_set_are_not_redacted() -> None:
    assert redact(Preferences()) == Preferences()


def test_sending_back_redacted_values_changes_nothing() -> None:
    preferences, _ = parse_preferences(
        {"http_server_token": "t", "tracker_api_key": "k", "custom_cli_profiles": [PROFILE]}
    )
    assert apply_changes(preferences, redact(preferences).model_dump()) == preferences
    assert "needs its settings again" in get_refusal(
        {"custom_cli_profiles": [{"name": "new", "settings_json": REDACTED}]}, preferences
    )
    assert apply_changes(preferences, {"http_server_token": None}).http_server_token is None


# Precedence -----------------------------------------------------------------------------------


def make_project(default_backend: str | None) -> Project:
    return Project(id="p", name="p", added_at=0, default_backend=default_backend)


def test_the_first_value_that_is_set_is_used() -> None:
    assert first_set("s", "p", "g", "d") == "s"
    assert first_set(None, "p", "g", "d") == "p"
    assert first_set(None, None, "g", "d") == "g"
    assert first_set(None, None, None, "d") == "d"


def test_the_backend_comes_from_session_then_project_then_preference() -> None:
    preferences = Preferences(default_backend="backend_c")
    assert choose_backend(make_project("backend_b"), preferences, "backend_a") == "backend_a"
    assert choose_backend(make_project("backend_b"), preferences) == "backend_b"
    assert choose_backend(make_project(None), preferences) == "backend_c"
    assert choose_backend(None, preferences) == "backend_c"
    assert choose_backend(None, Preferences()) == "backend_a"


def test_an_unknown_backend_of_a_project_is_ignored() -> None:
    assert choose_backend(make_project("backend_z"), Preferences()) == "backend_a"


@pytest.mark.parametrize("key", ["default_backend", "build_backend", "yolo_backend"])
def test_a_custom_agent_is_chosen_by_its_wire_name(key: str) -> None:
    assert getattr(apply_changes(Preferences(), {key: "acp:own"}), key) == "acp:own"
    for wrong in ("own", "acp:", "acp:a b", "backend_z"):
        with pytest.raises(SpinneyError, match="or acp: and the name of an agent"):
            apply_changes(Preferences(), {key: wrong})


def test_a_custom_agent_can_be_chosen_for_a_prompt() -> None:
    chosen = {"magic_prompt_backends": {"session_naming_backend": "acp:own"}}
    preferences = apply_changes(Preferences(), chosen)
    assert preferences.magic_prompt_backends["session_naming_backend"] == "acp:own"


def test_a_custom_agent_is_used_while_it_is_in_the_catalog() -> None:
    row = BackendRow("acp:own", "Own", "own", ())
    catalog = Catalog((*BUILT_IN.backends, row))
    preferences = Preferences(default_backend="acp:own")
    assert choose_backend(None, preferences, catalog=catalog) == "acp:own"
    assert choose_backend(make_project("acp:own"), Preferences(), catalog=catalog) == "acp:own"
    assert choose_backend(make_project("acp:own"), preferences) == "backend_a"


def test_the_demo_uses_its_agent_unless_another_was_chosen() -> None:
    assert choose_backend(make_project(None), Preferences(), demo=True) == "demo"
    assert choose_backend(make_project("backend_b"), Preferences(), demo=True) == "backend_b"


def test_each_backend_has_a_preferred_model_of_its_own() -> None:
    preferences = Preferences(selected_model="model_3", selected_codex_model="codex_model_2")
    assert [
        choose_model(name, preferences) for name in ("backend_a", "backend_b", "backend_c", "demo")
    ] == ["model_3", "codex_model_2", "backend_c/codex_model_1", "demo"]
    assert choose_model("backend_a", preferences, "some-model") == "some-model"
    assert choose_model("acp:own", preferences) == ""


async def test_settings_are_listed_with_their_defaults_and_without_secrets(
    workspace: Workspace,
) -> None:
    secret = {"name": "Work", "settings_json": '{"key": "hunter2"}'}
    given = {"custom_cli_profiles": [secret], "tracker_api_key": "hunter2"}
    await workspace.change_preferences(apply_changes(Preferences(), given))
    rows = await list_preferences(workspace)
    known = shown_fields().values()
    assert [(row.key, row.default) for row in rows] == [(f.key, f.default) for f in known]
    assert all(row.group and row.help and row.requirement for row in rows)
    assert "hunter2" not in "".join(row.model_dump_json() for row in rows)


async def test_every_listed_choice_is_accepted(workspace: Workspace) -> None:
    given = {"custom_cli_profiles": [{"name": "Work", "settings_json": "{}"}]}
    preferences = apply_changes(Preferences(), given)
    await workspace.change_preferences(preferences)
    rows = {row.key: row for row in await list_preferences(workspace)}
    for row in rows.values():
        values = [choice.value for choice in row.choices] + [None] * row.nullable
        for value in values:
            for entry in row.entries or [None]:
                wanted = value if entry is None else {entry: value}
                apply_changes(preferences, {row.key: wanted})
    assert [choice.value for choice in rows["default_provider"].choices] == ["Work"]
    named = {choice.value: choice.label for choice in rows["magic_prompt_models"].choices}
    assert named["model_5"] == "Haiku"
    assert ("backend_b", "Codex") in [(c.value, c.label) for c in rows["default_backend"].choices]


async def test_a_change_returns_the_saved_settings(
    workspace: Workspace, directories: Directories
) -> None:
    stored = json.loads(directories.preferences.read_text())
    edited = {**stored, "thinking_level": "think"}  # by another program, not read yet
    directories.preferences.write_text(json.dumps(edited))
    answered = await update_preferences(workspace, {"auto_branch_naming": False})
    assert (answered.thinking_level, answered.auto_branch_naming) == ("think", False)
    assert answered == redact(workspace.store.state.preferences)
