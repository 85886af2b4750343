"""The rows of the interface's tables, by section, and the words that their tests are known by."""

from typing import Final

from model.preferences.fields import preference_fields

Rows = dict[str, str]
"""A row, and a regular expression that fits its tests: in `name[case]`, or in what they call."""


def _plain(prefix: str, *rows: str) -> Rows:
    return {row: rf"{prefix}\[.*\b{row}\b" for row in rows}


def _named(*rows: str) -> Rows:
    """Rows whose tests have the row's words in their names."""
    words = {row: row.replace("-", "_").replace(":", "_") for row in rows}
    return {row: rf"^[^\[]*(?<![a-z]){word}(?![a-z])" for row, word in words.items()}


_PROJECT: Final = (
    "id", "name", "path", "default_branch", "added_at", "order", "parent_id", "is_folder",
    "avatar_path", "enabled_mcp_servers", "known_mcp_servers", "custom_system_prompt",
    "default_provider", "default_backend", "worktrees_dir", "tracker_api_key", "tracker_team_id",
)  # fmt: skip
_WORKTREE: Final = (
    "id", "project_id", "name", "path", "branch", "created_at", "session_type", "order",
    "pr_number", "pr_url", "issue_number", "label", "archived_at", "last_opened_at",
)  # fmt: skip
_CACHED: Final = (
    "cached_behind_count", "cached_ahead_count", "cached_uncommitted_added",
    "cached_uncommitted_removed", "cached_branch_diff_added", "cached_branch_diff_removed",
    "cached_unpushed_count", "cached_status_at",
)  # fmt: skip
_SESSION: Final = (
    "id", "worktree_id", "name", "created_at", "execution_mode", "model", "thinking_level",
    "backend",
)  # fmt: skip
_PROMPTS: Final = {
    "magic_prompts", "magic_prompt_models", "magic_prompt_providers", "magic_prompt_backends",
}  # fmt: skip
_ELSEWHERE: Final = {
    **dict.fromkeys(_PROMPTS, "every_prompt_has"),
    "tracker_api_key": "tracker_api_key",
    "custom_cli_profiles": "custom_cli_profiles",
    "keybindings": "keybindings_map",
    "http_server_token": "a_changed_token|a_token_is_generated",
}

SECTIONS: Final[dict[str, Rows]] = {
    "2.1 Project": _plain("a_project_has_the_field", *_PROJECT),
    "2.2 Worktree": {
        **_plain("a_worktree_has_the_field", *_WORKTREE),
        **_named("cached_pr_status", "cached_check_status"),
        **_plain("a_worktree_with_git_status_has_the_field", *_CACHED),
    },
    "2.3 Session": {
        **_plain("a_session_has_the_field", *_SESSION),
        "archived_at": "archived_at_only_when_archived",
        "messages": "fetched_by_id_has_its_messages",
    },
    "2.4 Message": _plain(
        "a_message_has_the_field", "id", "role", "content", "timestamp", "usage"
    ),
    "2.5 Preferences": {
        key: _ELSEWHERE.get(key, rf"a_key_has_its_default.*\[{key}\b")
        for key in preference_fields()
    },
    "2.6 Project config file": {
        "scripts": "spinney_json_takes_precedence|an_invalid_file_is_named",
        "setup": "setup_and_run_get|a_failing_setup_keeps",
        "run": "setup_and_run_get|a_running_script_is_stopped",
        "teardown": "a_failing_teardown_stops",
    },
    "2.7 Branch, remote": {
        "Branch": "a_branch_has",
        "Remote": "a_remote_has",
        "Hosting remote": "a_hosting_remote_has",
    },
    "2.8 Environment variables": {
        "API keys and endpoints of backends": "agents_get_their_own_variables",
        "log level": "the_log_contains_messages",
        "config and data directory": "only_to_the_configured_directories",
    },
    "3 States and transitions": {
        "Worktree: creating": "worktree_creating",
        "Worktree: created": "worktree_created",
        "Worktree: failed": "worktree_create_error|create_worktree_that_fails",
        "Archive Worktree": "archive_worktree_and",
        "Unarchive Worktree": "unarchive_worktree_keep",
        "Delete Worktree": "delete_worktree_moves",
        "Archive Session": "archive_session_keeps|session_archived",
        "Delete Session": "delete_session_deletes|session_deleted",
        "Approve Plan": "approve_plan_carries|post_approve",
        "Stop Generation": "stop_generation_keeps|post_stop",
        "Remove Project": "remove_project_leaves|project_removed",
        "Streaming order": "arrive_in_order",
    },
    "4.1 HTTP endpoints": {
        "GET /ws": "get_ws_upgrades|401_before_the_upgrade",
        "GET /api/auth": "api_auth",
        "GET /api/init": "api_init",
        "GET /*": "static_frontend",
        "POST /api/sessions/{sessionId}/messages": "post_messages",
        "GET /api/sessions/{sessionId}/messages": "get_messages_pages_a_hundred",
        "POST /api/sessions/{sessionId}/stop": "post_stop",
        "POST /api/sessions/{sessionId}/approve": "post_approve",
        "POST /api/sessions/{sessionId}/answer": "post_answer",
        "GET /api/worktrees/{worktreeId}/sessions": "get_worktrees_sessions",
        "POST /api/worktrees/{worktreeId}/sessions": "post_worktrees_sessions",
        "GET /api/sessions/{sessionId}": "get_sessions_includes",
        "PATCH /api/sessions/{sessionId}": "patch_sessions",
        "POST /api/sessions/{sessionId}/archive": "post_archive",
        "DELETE /api/sessions/{sessionId}": "delete_sessions_",
    },
    "4.2 WebSocket command protocol": {
        "id": "requests_in_flight",
        "command, args": "args_may_use|an_unknown_argument",
        "response": "a_success_is_a_response",
        "error": "a_failure_is_an_error|a_frame_that_is_not_an_object",
        "event": "every_event_goes_to",
    },
    "4.3 WebSocket chat messages": {
        "send_message": "test_send_message",
        "subscribe": "test_subscribe|must_subscribe_again",
        "unsubscribe": "and_unsubscribe",
    },
    "4.4 Project commands": _named(
        "list_projects", "add_project", "remove_project", "update_project_settings",
        "reorder_projects", "create_folder", "rename_folder", "delete_folder", "move_item",
        "get_project_branches", "get_git_remotes", "get_github_remotes", "set_project_avatar",
        "remove_project_avatar",
    ),
    "4.5 Worktree commands": _named(
        "list_worktrees", "get_worktree", "create_worktree", "delete_worktree",
        "archive_worktree", "unarchive_worktree", "rename_worktree", "update_worktree_label",
        "reorder_worktrees", "fetch_worktrees_status", "has_uncommitted_changes", "get_git_diff",
        "git_pull", "git_push", "commit_changes", "save_worktree_pr", "clear_worktree_pr",
        "open_pull_request",
    ),
    "5 Authentication": {
        "1 Bearer and query token": "api_auth|get_ws_upgrades",
        "2 http_server_token": "a_token_is_generated|a_changed_token",
        "3 http_server_token_required": "401_without|a_change_of_token_required",
        "4 GET /api/auth": "api_auth",
        "5 Binding": "localhost_only_can_be_turned",
        "6 Subscribe again": "must_subscribe_again",
    },
    "6 Events": {
        **_named(
            "message-started", "content-delta", "tool-use", "message-completed", "message-error",
            "session-created", "session-updated", "session-archived", "session-deleted",
            "worktree:creating", "worktree:created", "worktree:create_error",
            "worktree:status_updated", "project:added", "project:updated", "project:removed",
        ),
        "git status updates": "git_status_update",
        "background task completion": "background_task_completion",
    },
    "7 Errors": {
        "400": "400_for",
        "401": "401_",
        "404": "404_names",
        "500": "500_when",
        "WebSocket command failure": "a_failure_is_an_error",
        "message-error": "message_error",
        "Worktree not found: {id}": "test_worktree_not_found",
        "Worktree name already exists: {name}": "refuses_a_name_that_is_taken",
        "Worktree path already exists: {path}": "refuses_a_name_that_is_taken",
        "Branch already exists: {branch}": "refuses_a_name_that_is_taken",
        "No uncommitted changes to commit": "commit_changes_commits",
        "Failed to create worktree: {reason}": "create_worktree_that_fails",
        "Project not found: {id}": "test_project_not_found",
        "Path is not a git repository: {path}": "that_are_not_repositories|of_repositories",
        "Folder name already exists: {name}": "a_folder_name_is_unique",
        "Cannot delete non-empty folder": "delete_folder_deletes_only",
        "Would exceed max nesting depth": "nested_three_levels",
        "Cannot move item into itself or descendant": "moved_into_itself",
    },
    "8 Limits": {
        "Rate limiting (a backend's own)": "a_backends_own_limit",
        "Event broadcast buffer": "a_thousand_events_are_kept",
        "Message history page size": "get_messages_pages_a_hundred",
        "Folder nesting depth": "nested_three_levels",
        "Default port": r"a_key_has_its_default.*\[http_server_port\b",
        "Settings bounds": r"a_key_has_its_default.*\[zoom_level\b",
        "Message and request size": "16_mib",
    },
    "9 Versioning": {
        "1 Unknown arguments do no harm": "null_is_absent_and_unknown",
        "2 Stored data of other versions": "keys_of_a_newer_version|only_an_invalid_value",
    },
}  # fmt: skip
