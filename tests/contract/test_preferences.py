"""Section 2.5 of the interface: the default, allowed and refused values of every key."""

from typing import Any

from model.domain.notices import CHANNELS, REASONS
from tests.contract.conftest import Call, expect_error
from tests.server.conftest import Socket
from tests.tables import table

BOOLEAN = ([True, False], ["yes", 1, None])
MODELS = ([f"model_{n}" for n in range(1, 6)], ["model_6", None])
CODEX = ([f"codex_model_{n}" for n in range(1, 6)], ["codex_model_6"])
BACKENDS = (["backend_a", "backend_b", "backend_c"], ["backend_d"])
SOUNDS = (["none", "ding", "chime", "pop", "choochoo"], ["bang"])
TEXT_OR_NULL = (["text", None], [1])
TEXTS = ([[], ["one", "two"]], ["one", [1]])
SYNTAX_THEMES = (
    [
        "vitesse-black", "vitesse-dark", "vitesse-light", "hosting-dark", "hosting-light",
        "hosting-dark-dimmed", "dracula", "dracula-soft", "nord", "catppuccin-mocha",
        "catppuccin-macchiato", "catppuccin-frappe", "catppuccin-latte", "one-dark-pro",
        "one-light", "tokyo-night", "rose-pine", "rose-pine-moon", "rose-pine-dawn",
    ],
    ["solarized"],
)  # fmt: skip
PROMPTS = (
    "investigate_issue", "investigate_pr", "pr_content", "commit_message", "code_review",
    "context_summary", "resolve_conflicts", "investigate_workflow_run", "release_notes",
    "session_naming", "parallel_execution", "global_system_prompt", "session_recap",
    "investigate_security_alert", "investigate_advisory", "investigate_tracker_issue",
)  # fmt: skip


def between(low: int, high: int) -> tuple[list[Any], list[Any]]:
    return [low, high], [low - 1, high + 1, str(low)]


KEYS: dict[str, tuple[Any, tuple[list[Any], list[Any]]]] = {
    "theme": ("system", (["system", "light", "dark"], ["blue"])),
    "ui_font_size": (16, between(12, 24)),
    "chat_font_size": (16, between(12, 24)),
    "ui_font": ("geist", (["inter", "geist", "roboto", "lato", "system"], ["fira-code"])),
    "chat_font": (
        "geist",
        (
            ["jetbrains-mono", "fira-code", "source-code-pro", "inter", "geist", "roboto", "lato"],
            ["system"],
        ),
    ),
    "syntax_theme_dark": ("vitesse-black", SYNTAX_THEMES),
    "syntax_theme_light": ("hosting-light", SYNTAX_THEMES),
    "zoom_level": (90, between(50, 200)),
    "canvas_layout": ("list", (["grid", "list"], ["table"])),
    "show_keybinding_hints": (True, BOOLEAN),
    "selected_model": ("model_1", MODELS),
    "thinking_level": ("ultrathink", (["off", "think", "megathink", "ultrathink"], ["max"])),
    "default_effort_level": ("high", (["low", "medium", "high", "max"], ["xhigh"])),
    "default_backend": ("backend_a", BACKENDS),
    "selected_codex_model": ("codex_model_1", CODEX),
    "selected_opencode_model": ("backend_c/codex_model_1", (["a/b"], ["ab", None])),
    "default_codex_reasoning_effort": ("high", (["low", "medium", "high", "xhigh"], ["max"])),
    "codex_multi_agent_enabled": (False, BOOLEAN),
    "codex_max_agent_threads": (3, between(1, 8)),
    "terminal": ("terminal", (["terminal", "windows-terminal", "powershell", "cmd"], ["xterm"])),
    "editor": ("zed", (["zed", "vscode", "cursor", "xcode"], ["ed"])),
    "open_in": ("editor", (["editor", "terminal", "finder", "hosting"], ["browser"])),
    "file_edit_mode": ("external", (["inline", "external"], ["both"])),
    "auto_session_naming": (True, BOOLEAN),
    "session_naming_model": ("model_5", MODELS),
    "session_recap_enabled": (False, BOOLEAN),
    "resume_after_limit": (True, BOOLEAN),
    "retry_attempts": (10, between(0, 1000)),
    "budget_per_day": (0, between(0, 1_000_000)),
    "budget_per_project": (0, between(0, 1_000_000)),
    "budget_per_session": (0, between(0, 1_000_000)),
    "tokens_per_dollar": (1_000_000, between(0, 1_000_000_000)),
    "restore_last_session": (False, BOOLEAN),
    "close_original_on_clear_context": (True, BOOLEAN),
    "confirm_session_close": (True, BOOLEAN),
    "agent_limit": (20, between(1, 1000)),
    "branch_template": (
        "{slug}",
        (
            ["{user}/{slug}", "{project}-{date}/{slug}.x", "ünï/{slug}"],
            ["", "fix", "{slug}{slug}", "{name}/{slug}", "{slug", "a b/{slug}", "{slug}~1", None],
        ),
    ),
    "auto_branch_naming": (True, BOOLEAN),
    "branch_naming_model": ("model_5", MODELS),
    "auto_pull_base_branch": (True, BOOLEAN),
    "auto_archive_on_pr_merged": (True, BOOLEAN),
    "git_poll_interval": (60, between(10, 600)),
    "remote_poll_interval": (60, between(30, 600)),
    "secret_check": (True, BOOLEAN),
    "trace_notes": (False, BOOLEAN),
    "archive_retention_days": (7, ([0, 30], [-1, "7"])),
    "recovery_keep_days": (30, ([0, 7], [-1, "7"])),
    "recovery_max_mb": (2048, ([1, 100], [0, -1, "7"])),
    "recovery_include_ignored": (False, BOOLEAN),
    "landing_method": ("merge", (["squash", "rebase"], ["fast-forward"])),
    "after_landing": ("keep", (["archive", "delete"], ["push"])),
    "removal_behavior": ("delete", (["archive", "delete"], ["keep"])),
    "parallel_execution_prompt_enabled": (False, BOOLEAN),
    "default_enabled_mcp_servers": ([], TEXTS),
    "known_mcp_servers": ([], TEXTS),
    "chrome_enabled": (True, BOOLEAN),
    "http_server_enabled": (False, BOOLEAN),
    # Other values of these move or open the server; see `test_server_settings`.
    "http_server_port": (3456, ([3456], [65536, -1, "3456"])),
    "http_server_auto_start": (False, BOOLEAN),
    "http_server_localhost_only": (True, ([True], BOOLEAN[1])),
    "http_server_host": ("", (["", "127.0.0.1"], ["devbox", "1.2.3", None, 1])),
    "http_server_token_required": (True, ([True], BOOLEAN[1])),
    "notify_matrix": (
        {reason: list(CHANNELS) for reason in REASONS},
        (
            [{"plan": ["ntfy"], **{reason: [] for reason in REASONS if reason != "plan"}}],
            [{"plan": ["pigeon"]}, {"moon": []}, ["plan"]],
        ),
    ),
    "notify_quiet_hours": (
        "",
        (["22:00-07:00", "00:00-00:00"], ["22-7", "24:00-07:00", "22:00-07:00\n", None]),
    ),
    "notify_reminder_minutes": (10, between(0, 1440)),
    "notify_details": ("title", (["title", "summary"], ["all"])),
    "notify_command": ([], ([["/bin/notify", "a b"], []], ["notify", [1], [" "]])),
    "notify_link": (
        "",
        (["https://spinney.example", "http://100.64.0.2:3456", ""], ["spinney", "ftp://x", 1]),
    ),
    "notify_ntfy_url": (
        None,
        (
            [None],
            [
                "ntfy.sh/topic",
                "https://ntfy.sh",
                "https://ntfy.sh/",
                "ftp://ntfy.sh/x",
                "http:///x",
            ],
        ),
    ),
    "notify_ntfy_token": (None, ([None], [1])),
    "notify_urls": ([], ([[]], ["tgram://x", ["no address"], ["tgram://(hidden) 7"]])),
    # A file that cannot be used is reported by the server; see `test_tls`.
    "http_server_certificate": ("", ([""], [None, 1])),
    "http_server_key": ("", ([""], [None, 1])),
    # A request to the network; see `test_release_checks`.
    "check_for_updates": (False, ([False], BOOLEAN[1])),
    "ai_language": ("", (["German"], [None, 1])),
    "allow_web_tools_in_plan_mode": (True, BOOLEAN),
    "debug_mode_enabled": (False, BOOLEAN),
    "default_provider": (None, TEXT_OR_NULL),
    "waiting_sound": ("none", SOUNDS),
    "review_sound": ("none", SOUNDS),
    "has_seen_feature_tour": (False, BOOLEAN),
    "has_seen_jean_config_wizard": (False, BOOLEAN),
    "build_model": (None, TEXT_OR_NULL),
    "yolo_model": (None, TEXT_OR_NULL),
    "build_backend": (None, ([*BACKENDS[0], None], ["backend_d"])),
    "yolo_backend": (None, ([*BACKENDS[0], None], ["backend_d"])),
    "build_thinking_level": (None, (["off", "ultrathink", None], ["max"])),
    "yolo_thinking_level": (None, (["off", "ultrathink", None], ["max"])),
}


@table("key", KEYS)
async def test_a_key_has_its_default_and_accepts_only_allowed_values(call: Call, key: str) -> None:
    default, (allowed, refused) = KEYS[key]
    assert (await call("get_preferences"))[key] == default
    for value in allowed:
        assert (await call("update_preferences", changes={key: value}))[key] == value
    for value in refused:
        assert key in await expect_error(call, "update_preferences", changes={key: value})
    assert (await call("get_preferences"))[key] == allowed[-1]


async def test_every_prompt_has_a_text_a_model_a_provider_and_a_backend(call: Call) -> None:
    for key in PROMPTS:
        wanted: dict[str, dict[str, str]] = {
            "magic_prompts": {key: "Be brief."},
            "magic_prompt_models": {f"{key}_model": "model_2"},
            "magic_prompt_providers": {f"{key}_provider": "work"},
            "magic_prompt_backends": {f"{key}_backend": "backend_b"},
        }
        before = await call("get_preferences")
        assert before["magic_prompts"][key] is None
        after = await call("update_preferences", changes=wanted)
        assert all(before[name].keys() == after[name].keys() for name in wanted)
        assert {name: {**before[name], **wanted[name]} for name in wanted} == {
            name: after[name] for name in wanted
        }


async def test_prompts_are_listed_and_their_variables_are_checked(call: Call) -> None:
    prompts = {prompt["key"]: prompt for prompt in await call("list_prompts")}
    assert set(prompts) == set(PROMPTS)
    names = [variable["name"] for variable in prompts["investigate_issue"]["variables"]]
    assert {"number", "title", "url"} <= set(names)
    refused = {"magic_prompts": {"investigate_issue": "Look at {nothing}."}}
    error = await expect_error(call, "update_preferences", changes=refused)
    assert "has no variable {nothing}. It has {number}, " in error


async def test_changes_are_atomic_and_the_error_lists_allowed_values(call: Call) -> None:
    before = await call("get_preferences")
    error = await expect_error(
        call, "update_preferences", changes={"theme": "dark", "zoom_level": 500}
    )
    assert "zoom_level" in error
    assert "from 50 to 200" in error
    assert await call("get_preferences") == before
    error = await expect_error(call, "update_preferences", changes={"theme": "blue"})
    assert "system, light, dark" in error


async def test_a_change_reaches_every_client(call: Call, listener: Socket) -> None:
    changes = {"keybindings": {"new_session": "ctrl+t"}}
    after = await call("update_preferences", changes=changes)
    payload = (await listener.event("preferences:updated"))["payload"]
    assert payload == {"changes": {"keybindings": after["keybindings"]}}


async def test_tracker_api_key_and_custom_cli_profiles_are_written_and_never_read(
    call: Call,
) -> None:
    profile = {"name": "work", "settings_json": '{"key": "hidden-1"}'}
    before = await call("get_preferences")
    assert (before["tracker_api_key"], before["custom_cli_profiles"]) == (None, [])
    secret = {"tracker_api_key": "hidden-2", "custom_cli_profiles": [profile]}
    answered = str(await call("update_preferences", changes=secret))
    read = str(await call("get_preferences"))
    assert "hidden-" not in answered + read


async def test_keybindings_map_actions_to_shortcuts(call: Call) -> None:
    changed = await call("update_preferences", changes={"keybindings": {"new_session": "ctrl+n"}})
    assert changed["keybindings"]["new_session"] == "ctrl+n"
