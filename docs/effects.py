"""What each preference does, for the reference page: who reads it, and a test that sees the effect.

Storing, checking and migrating preferences is no effect. Which of several values applies is one
(`model/preferences/precedence.py`), and so is building profiles from them (`profiles.py`).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
_WITH_EFFECT: Final = ("precedence", "profiles", "prompts")
"""The modules of `model/preferences` that do more than store and check."""


@dataclass(frozen=True, slots=True)
class Effect:
    """Where a preference is read, and the test that looks at what comes of it."""

    readers: tuple[str, ...]
    test: str

    def lacking(self, key: str) -> list[str]:
        """What is not as it says, in words."""
        path, _, name = self.test.partition("::")
        found = [
            f"{key}: {reader} does not read it"
            for reader in self.readers
            if key not in (ROOT / reader).read_text() or _only_stores(Path(reader))
        ]
        text = (ROOT / "tests" / path).read_text()
        if f"def {name}(" not in text or key not in text:
            found.append(f"{key}: tests/{path} has no test {name} of it")
        return found if self.readers else [*found, f"{key}: no code reads it"]


def _only_stores(reader: Path) -> bool:
    return reader.parent == Path("model/preferences") and reader.stem not in _WITH_EFFECT


def _of(readers: str, test: str) -> Effect:
    return Effect(tuple(readers.split()), test)


_LOOKS: Final = _of(
    "server/web/js/appearance.js", "page/test_looks.py::test_a_change_shows_at_once_in_every_page"
)
_OVERRIDE: Final = _of(
    "model/chat/plan_approval.py",
    "model/chat/test_plan_approval.py::test_a_preference_holds_over_the_session",
)
_LAUNCH: Final = "model/runtime/test_launch.py::test_agents_are_started_as_the_preferences_say"
_SERVER: Final = "server/app.py model/commands/server.py tui/screens/server.py"
_SETTINGS_OF_SERVER: Final = "contract/test_server_settings.py"
_TLS: Final = "server/test_tls.py::test_the_preferences_switch_a_running_server_to_tls_and_back"
_LAYERS: Final = "model/preferences/precedence.py"
_PRESETS: Final = _of(
    _LAYERS, "model/chat/test_plan_approval.py::test_a_new_session_has_the_agents_model"
)

EFFECTS: Final[dict[str, Effect]] = {
    "theme": _of(
        "tui/shell/app.py server/web/js/appearance.js server/lite/layout.py",
        "server/lite/test_reading.py::test_the_theme_is_that_of_the_preferences",
    ),
    **dict.fromkeys(
        ("ui_font_size", "chat_font_size", "ui_font", "chat_font", "zoom_level"), _LOOKS
    ),
    "syntax_theme_dark": _of(
        "tui/shell/conversation_loader.py server/theme_css.py server/lite/layout.py",
        "server/lite/test_reading.py::test_the_theme_is_that_of_the_preferences",
    ),
    "syntax_theme_light": _of(
        "tui/shell/conversation_loader.py server/theme_css.py server/lite/layout.py",
        "page/test_looks.py::test_the_first_frame_after_a_reload_follows_the_preferences",
    ),
    "canvas_layout": _of(
        "tui/canvas/screen.py server/web/js/views/canvas.js",
        "tui/canvas/test_canvas.py::test_list_or_grid_is_a_preference_and_f3_shows_one_project",
    ),
    "show_keybinding_hints": _of(
        "tui/shell/app.py tui/screens/full.py",
        "tui/screens/test_full_screens.py::test_key_hints_follow_the_preferences",
    ),
    **dict.fromkeys(
        ("selected_model", "selected_codex_model", "selected_opencode_model"), _PRESETS
    ),
    "thinking_level": _of("model/commands/sessions.py", _LAUNCH),
    "default_effort_level": _of(
        _LAYERS,
        "model/runtime/test_launch.py"
        "::test_the_effort_depends_on_thinking_and_preferences",
    ),
    "default_backend": _of(
        _LAYERS,
        "model/writing/test_writer.py"
        "::test_the_agent_is_that_of_the_prompt_or_the_project_or_the_user",
    ),
    "default_codex_reasoning_effort": _of(
        _LAYERS,
        "model/runtime/test_launch.py::test_codex_has_an_effort_of_its_own",
    ),
    "codex_multi_agent_enabled": _of("model/runtime/launch.py", _LAUNCH),
    "codex_max_agent_threads": _of("model/runtime/launch.py", _LAUNCH),
    "terminal": _of(
        "tui/terminal/open_commands.py",
        "tui/shell/test_opening.py::test_the_worktree_opens_where_the_preference_says",
    ),
    "editor": _of(
        "tui/terminal/open_commands.py",
        "tui/shell/test_opening.py::test_the_worktree_opens_where_the_preference_says",
    ),
    "open_in": _of(
        "tui/actions/editor.py",
        "tui/shell/test_opening.py::test_the_worktree_opens_where_the_preference_says",
    ),
    "file_edit_mode": _of(
        "tui/terminal/open_commands.py",
        "tui/shell/test_opening.py::test_files_are_edited_in_the_terminal_if_preferred",
    ),
    "agent_limit": _of(
        "model/chat/conversations.py",
        "model/chat/test_agent_pool.py::test_the_limit_is_a_preference",
    ),
    "auto_session_naming": _of(
        "model/chat/session_naming.py model/chat/user_messages.py",
        "model/chat/test_session_naming.py"
        "::test_no_name_is_requested_for_named_sessions_later_messages_or_with_the_setting_off",
    ),
    "session_naming_model": _of(
        "model/writing/prompt_agents.py",
        "model/chat/test_session_naming.py"
        "::test_the_naming_model_is_the_setting_unless_the_prompt_has_one_of_its_own",
    ),
    "session_recap_enabled": _of(
        "model/chat/recap.py",
        "model/chat/test_recap.py::test_no_recap_without_an_absence_or_with_the_preference_off",
    ),
    "resume_after_limit": _of(
        "model/limits/pauses.py",
        "model/chat/test_pauses.py::test_without_the_preference_a_limit_waits_for_a_person",
    ),
    "retry_attempts": _of(
        "model/limits/pauses.py",
        "model/chat/test_pauses.py"
        "::test_overloads_and_lost_networks_are_retried_so_often_and_then_fail",
    ),
    **{
        name: _of("model/limits/budgets.py", f"model/limits/test_budgets.py::{test}")
        for name, test in (
            ("budget_per_day", "test_a_budget_of_the_day_pauses_until_the_next"),
            ("budget_per_project", "test_each_budget_pauses_its_own_sessions"),
            ("budget_per_session", "test_a_used_budget_notifies_once_and_then_pauses"),
            ("tokens_per_dollar", "test_tokens_of_unknown_cost_count_at_the_chosen_rate"),
        )
    },
    "restore_last_session": _of(
        "tui/shell/startup.py",
        "tui/shell/test_coming_back.py::test_the_open_session_is_restored_on_another_server",
    ),
    "close_original_on_clear_context": _of(
        "model/chat/decisions.py",
        "model/chat/test_plans.py::test_a_plan_is_carried_out_in_a_new_session",
    ),
    "confirm_session_close": _of(
        "tui/actions/sessions.py tui/canvas/screen.py server/web/js/actions.js"
        " server/web/js/views/canvas.js",
        "tui/screens/test_safe_choice.py"
        "::test_archiving_a_session_asks_if_the_preference_is_set",
    ),
    "branch_template": _of(
        "model/worktrees/announcing.py",
        "model/worktrees/test_branch_names.py::test_new_branches_are_named_by_the_preference",
    ),
    "auto_branch_naming": _of(
        "model/worktrees/branch_naming.py",
        "model/worktrees/test_branch_naming.py"
        "::test_given_names_and_uninformative_messages_cause_no_naming",
    ),
    "branch_naming_model": _of(
        "model/writing/prompt_agents.py",
        "model/worktrees/test_branch_naming.py::test_the_model_is_a_setting",
    ),
    "auto_pull_base_branch": _of(
        "model/worktrees/creation.py",
        "model/worktrees/test_making.py::test_the_base_is_fetched_first",
    ),
    "auto_archive_on_pr_merged": _of(
        "model/hosting/polling.py",
        "model/hosting/test_pull_request_commands.py"
        "::test_a_merged_pull_request_archives_nothing_if_the_preference_is_off",
    ),
    "git_poll_interval": _of(
        "model/background/poller.py",
        "model/background/test_poller.py::test_a_shorter_interval_takes_effect_at_once",
    ),
    "remote_poll_interval": _of(
        "model/background/poller.py",
        "model/background/test_poller.py::test_both_intervals_are_those_of_the_preferences",
    ),
    "archive_retention_days": _of(
        "model/background/retention.py",
        "model/worktrees/test_removing.py::test_zero_days_keep_the_archive_forever",
    ),
    "recovery_keep_days": _of(
        "model/background/recovery_pruning.py",
        "model/background/test_recovery_pruning.py"
        "::test_points_are_kept_for_the_preferred_days",
    ),
    "recovery_max_mb": _of(
        "model/background/recovery_pruning.py",
        "model/background/test_recovery_pruning.py"
        "::test_the_oldest_points_above_the_preferred_size_go_but_not_the_last_of_a_deletion",
    ),
    "recovery_include_ignored": _of(
        "model/worktrees/recovery.py",
        "model/worktrees/test_recovery.py"
        "::test_ignored_files_are_kept_if_the_preference_says_so",
    ),
    "secret_check": _of(
        "model/git/secret_gate.py",
        "contract/test_secrets.py::test_nothing_is_searched_if_the_preference_is_off",
    ),
    "trace_notes": _of(
        "model/commands/git.py",
        "model/turns/test_explaining.py"
        "::test_a_line_that_has_landed_is_explained_by_the_note_on_its_commit",
    ),
    "landing_method": _of(
        "model/landing/lander.py",
        "model/landing/test_landing.py::test_method_and_fate_of_the_worktree_are_preferences",
    ),
    "after_landing": _of(
        "model/landing/lander.py",
        "model/landing/test_landing.py::test_method_and_fate_of_the_worktree_are_preferences",
    ),
    "removal_behavior": _of(
        "model/commands/worktrees.py tui/actions/archive.py server/web/js/views/removal.js",
        "page/test_dialogs.py::test_removing_follows_the_preference_and_stops_running_sessions",
    ),
    "magic_prompts": _of(
        "model/preferences/prompts.py",
        "model/writing/test_prompts.py::test_the_persons_own_text_of_every_prompt_is_used",
    ),
    "magic_prompt_models": _of(
        "model/writing/prompt_agents.py",
        "model/writing/test_prompts.py"
        "::test_every_prompt_with_an_agent_has_its_agent_model_and_profile",
    ),
    "magic_prompt_providers": _of(
        "model/preferences/profiles.py",
        "model/writing/test_prompts.py"
        "::test_every_prompt_with_an_agent_has_its_agent_model_and_profile",
    ),
    "magic_prompt_backends": _of(
        "model/writing/prompt_agents.py",
        "model/writing/test_prompts.py"
        "::test_every_prompt_with_an_agent_has_its_agent_model_and_profile",
    ),
    "parallel_execution_prompt_enabled": _of(
        "model/runtime/launch.py",
        "model/runtime/test_launch.py::test_unset_prompts_add_nothing",
    ),
    **dict.fromkeys(
        (
            *("build_model", "build_backend", "build_thinking_level"),
            *("yolo_model", "yolo_backend", "yolo_thinking_level"),
        ),
        _OVERRIDE,
    ),
    "default_enabled_mcp_servers": _of(
        "model/runtime/launch.py",
        "model/runtime/test_launch.py"
        "::test_known_mcp_servers_that_are_not_enabled_are_off_and_new_ones_are_on",
    ),
    "known_mcp_servers": _of(
        "model/runtime/launch.py",
        "model/runtime/test_launch.py"
        "::test_known_mcp_servers_that_are_not_enabled_are_off_and_new_ones_are_on",
    ),
    "chrome_enabled": _of("model/runtime/launch.py", _LAUNCH),
    "tracker_api_key": _of(
        "model/commands/hosting.py",
        "model/hosting/test_list_commands.py"
        "::test_the_key_is_the_projects_or_else_the_persons_and_no_client_gets_it",
    ),
    "http_server_enabled": _of(
        "server/on_demand.py",
        "server/test_server_life.py"
        "::test_the_preference_starts_and_stops_the_server_while_spinney_runs",
    ),
    "http_server_port": _of(
        _SERVER,
        f"{_SETTINGS_OF_SERVER}::test_a_changed_port_moves_the_server_and_loses_nothing",
    ),
    "http_server_token": _of(
        "server/app.py",
        f"{_SETTINGS_OF_SERVER}::test_a_changed_token_closes_connections_of_the_old_one",
    ),
    "http_server_auto_start": _of(
        "server/on_demand.py",
        "server/test_server_life.py"
        "::test_auto_start_decides_whether_the_server_starts_with_spinney",
    ),
    "http_server_localhost_only": _of(
        _SERVER, f"{_SETTINGS_OF_SERVER}::test_localhost_only_can_be_turned_off_and_on_again"
    ),
    "http_server_host": _of(
        "server/app.py model/commands/server.py",
        "server/test_tls.py"
        "::test_the_address_for_other_devices_is_the_only_one_that_is_opened",
    ),
    "http_server_certificate": _of("model/runtime/http_server.py", _TLS),
    "http_server_key": _of("model/runtime/http_server.py", _TLS),
    "http_server_token_required": _of(
        _SERVER, f"{_SETTINGS_OF_SERVER}::test_a_change_of_token_required_applies_at_once"
    ),
    "notify_matrix": _of(
        "model/notices/dispatcher.py",
        "model/notices/test_notices.py"
        "::test_a_reason_goes_only_to_the_channels_that_the_matrix_names",
    ),
    "notify_quiet_hours": _of(
        "model/notices/dispatcher.py",
        "model/notices/test_notices.py"
        "::test_quiet_hours_end_with_one_summary_of_what_still_stands",
    ),
    "notify_reminder_minutes": _of(
        "model/notices/dispatcher.py",
        "model/notices/test_notices.py::test_the_reminder_follows_its_preference",
    ),
    "notify_details": _of(
        "model/notices/dispatcher.py",
        "model/notices/test_notices.py::test_a_notice_says_little_and_never_a_secret",
    ),
    "notify_command": _of(
        "model/notices/channels/command.py",
        "model/notices/test_channels.py::test_the_command_gets_json_and_no_shell",
    ),
    "notify_urls": _of(
        "model/notices/channels/apprise_urls.py",
        "model/notices/test_channels.py"
        "::test_apprise_addresses_get_title_text_and_link_and_no_repetition",
    ),
    **dict.fromkeys(
        ("notify_ntfy_url", "notify_ntfy_token"),
        _of(
            "model/notices/channels/ntfy.py",
            "model/notices/test_channels.py"
            "::test_ntfy_gets_one_request_with_priority_link_and_buttons",
        ),
    ),
    "notify_link": _of(
        "model/runtime/page_address.py",
        "model/runtime/test_page_address.py"
        "::test_the_address_is_that_of_notify_link_or_one_that_others_can_reach",
    ),
    "check_for_updates": _of(
        "model/background/release_checks.py",
        "model/background/test_release_checks.py"
        "::test_the_network_is_asked_once_a_day_and_only_with_the_preference_on",
    ),
    "ai_language": _of(
        "model/runtime/launch.py model/writing/writer.py",
        "model/writing/test_writer.py::test_the_users_prompt_model_and_language_are_used",
    ),
    "allow_web_tools_in_plan_mode": _of("model/runtime/launch.py", _LAUNCH),
    "debug_mode_enabled": _of(
        "model/chat/raw_logs.py",
        "model/chat/test_raw_logs.py::test_the_preference_holds_at_once_for_a_running_agent",
    ),
    "default_provider": _of(
        "model/preferences/profiles.py",
        "live/test_profiles_live.py::test_texts_and_sessions_use_only_the_profiles_provider",
    ),
    "custom_cli_profiles": _of(
        "model/preferences/profiles.py model/runtime/launch.py",
        "live/test_profiles_live.py::test_texts_and_sessions_use_only_the_profiles_provider",
    ),
    "waiting_sound": _of(
        "tui/shell/notifier.py server/web/js/session/alerts.js",
        "page/test_alerts.py::test_a_sound_can_be_played_beside_its_preference",
    ),
    "review_sound": _of(
        "tui/shell/notifier.py server/web/js/session/alerts.js",
        "tui/shell/test_notifier.py::test_a_finished_run_rings_by_its_own_preference_and_a_stopped_one_does_not",
    ),
    "keybindings": _of(
        "tui/shell/main_screen.py server/web/js/keys.js",
        "tui/shell/test_shell.py::test_custom_keys_replace_the_built_in_ones",
    ),
    "has_seen_feature_tour": _of(
        "tui/shell/connection.py tui/actions/about.py",
        "tui/screens/test_about.py::test_first_run_is_not_shown_again_after_escape",
    ),
}  # fmt: skip
"""By key; a preference without a reader is not shown and has no row here."""
