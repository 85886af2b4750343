"""Each role with every command, every path and every event: what is not granted is refused.

A command, path, event or field that is added fails here until it is decided on.
"""

import inspect
import json
from typing import Any

import aiohttp
import pytest

import model.api.all  # noqa: F401 - registers the commands
from model.access.masked_events import (
    HIDDEN_EVENTS,
    OTHER_EVENTS,
    SESSION_EVENTS,
    WORKTREE_EVENTS,
)
from model.access.policy import COMMANDS as GUEST_COMMANDS
from model.access.policy import PATHS
from model.access.shapes import HIDDEN_FIELDS, SHOWN_FIELDS
from model.api.command import COMMANDS
from model.api.sessions import AddedImage
from model.domain.events.all import EVENTS
from model.domain.guests import ROLES, GuestRole
from model.domain.messages import SentMessage
from model.domain.sessions import Session
from model.runtime.workspace import Workspace
from server.app import Server
from server.http_api import COMMAND_PATHS, OPERATIONS
from tests.server.guest_client import invite

OWNER_COMMANDS = """
    abort_merge add_project add_push_subscription adopt_worktree allow_secret amend_commit
    answer_comments apply_stash archive_session archive_worktree cancel_auto_merge cancel_clone
    cancel_git cancel_restart clear_worktree_pr clone_project commit_changes compare_branches
    continue_foreign_session continue_operation create_folder create_guest_link create_session
    create_worktree decide_hunk delete_folder delete_recovery_point delete_session
    delete_worktree discard_changes discard_train dismiss_notice drop_stash edit_pull_request
    explain_line fetch_worktrees_status find_secrets fix_checks fixup_commit
    forget_allowed_secret fork_session get_check_log get_check_result get_clone_progress
    get_code_review get_command_output get_commit_file_diff get_compared_diff get_compared_rows
    get_connection_qr get_diff_rows get_file_diff get_file_lines get_git_diff get_git_remotes
    get_github_remotes get_http_server_status get_http_server_token get_included_files
    get_installation get_landing_desk get_listening_ports get_preferences get_problems
    get_program_status get_project_branches get_project_scripts get_pull_request get_push_key
    get_raw_log get_removal_losses get_resume_command get_review get_script_output
    get_tool_output get_train get_train_output get_turn_diff get_turn_file_diff get_usage
    get_work_text git_pull git_push has_uncommitted_changes ignore_outside_worktree land_train
    land_worktree list_advisories list_agent_commands list_all_sessions list_backends
    list_budgets list_changed_files list_commit_files list_commits list_conflicts
    list_directories list_foreign_sessions list_guest_actions list_guest_links list_issues
    list_landings list_models list_notice_channels list_notices list_open_work
    list_outside_worktrees list_possible_reviewers list_preferences list_prompts
    list_pull_requests list_recovery_files list_recovery_points list_security_alerts
    list_server_addresses list_stashes list_sweep list_tracker_issues list_tracker_teams
    list_usage_limits list_workflow_runs list_worktree_files mark_session_read mark_viewed
    mark_worktree_opened merge_pull_request move_item open_base_worktree open_pull_request
    preview_landing preview_redo preview_undo push_base recreate_worktree redo_turn
    regenerate_http_token remove_project remove_project_avatar remove_push_subscription
    remove_worktree rename_folder rename_worktree reorder_projects reorder_sessions
    reorder_worktrees reply_to_thread request_review resolve_conflict restart_spinney
    restore_files restore_sessions restore_stash restore_worktree revoke_guest_link
    run_code_review run_command run_worktree_script save_project_scripts save_worktree_pr
    search_messages send_findings send_landing_message send_verdicts set_budget set_focus
    set_project_avatar set_pull_request_draft set_pull_request_loop set_resume_time
    set_send_time set_worktree_base stage_changes start_http_server start_task start_train
    start_work stash_changes stop_code_review stop_command stop_http_server stop_spinney stop_train
    stop_worktree_script sweep_worktrees test_notice trust_project_scripts unarchive_session
    unarchive_worktree undo_discard undo_landing undo_turn undo_verdict unstage_changes
    update_finding update_from_base update_preferences update_project_settings
    update_pull_request_branch update_worktree_label write_commit_message
    write_conflict_message write_conflict_task write_landing_message write_landing_text
    write_release_notes write_review
""".split()  # noqa: SIM905 - a list literal would have a line for each
"""Commands that no guest may call, whatever the role."""

OPEN_PATHS = {
    "/healthz", "/readyz", "/api/auth", "/api/guest", "/theme.css", "/{path}", "/act/{token}",
}  # fmt: skip
"""Paths that need no authentication, or check it themselves."""

OWNER_PATHS = {("GET", "/api/projects/{project_id}/avatar")}


def test_every_command_is_decided_on() -> None:
    assert set(GUEST_COMMANDS) | set(OWNER_COMMANDS) == set(COMMANDS)
    assert not set(GUEST_COMMANDS) & set(OWNER_COMMANDS)


def test_the_results_of_all_that_guests_do_are_known_to_be_shown() -> None:
    for name, rule in GUEST_COMMANDS.items():
        result = inspect.signature(COMMANDS[name].signature).return_annotation
        assert not rule.acts or result in (Session, SentMessage, AddedImage, None), name


def test_every_event_is_decided_on() -> None:
    sent = {kind.name for kind in (*SESSION_EVENTS, *WORKTREE_EVENTS, *OTHER_EVENTS)}
    assert sent | HIDDEN_EVENTS == set(EVENTS)
    assert not sent & HIDDEN_EVENTS


def test_every_field_is_decided_on() -> None:
    for kind, shown in SHOWN_FIELDS.items():
        assert shown | HIDDEN_FIELDS[kind] == set(kind.model_fields), kind
        assert not shown & HIDDEN_FIELDS[kind], kind


async def test_every_path_is_decided_on(server: Server) -> None:
    assert server._running is not None
    app = server._running.runner.app
    assert app is not None
    paths = {
        (route.method, route.resource.canonical)
        for route in app.router.routes()
        if route.resource is not None and route.method != "HEAD"
    }
    closed = {(method, path) for method, path in paths if path not in OPEN_PATHS}
    for_owners = {each for each in closed if each[1].startswith("/lite")} | OWNER_PATHS
    assert closed == set(PATHS) | set(COMMAND_PATHS) | for_owners


@pytest.mark.parametrize("role", ROLES)
async def test_a_role_calls_its_commands_and_no_other(
    workspace: Workspace,
    server: Server,
    http: aiohttp.ClientSession,
    session: Session,
    role: GuestRole,
) -> None:
    guest = await invite(workspace, server, http, session_id=session.id, role=role)
    socket = await guest.connect()
    before = workspace.store.state
    for name, command in COMMANDS.items():
        ids = {each.wire: "nothing" for each in command.arguments if each.name.endswith("_id")}
        await socket.send({"id": name, "command": name, "args": ids})
        reply = await socket.answer(name)
        rule = GUEST_COMMANDS.get(name)
        is_allowed = rule is not None and ROLES.index(role) >= ROLES.index(rule.role)
        assert (reply.get("error_type") != "forbidden") is is_allowed, (name, reply)
        if is_allowed and ids:
            assert reply["error_type"] in ("not_found", "invalid_request"), (name, reply)
    assert workspace.store.state == before


@pytest.mark.parametrize("role", ROLES)
async def test_a_role_uses_its_paths_and_no_other(
    workspace: Workspace,
    server: Server,
    http: aiohttp.ClientSession,
    session: Session,
    role: GuestRole,
) -> None:
    guest = await invite(workspace, server, http, session_id=session.id, role=role)
    needs: dict[tuple[str, str], Any] = {**PATHS, **dict.fromkeys(OWNER_PATHS)}
    for operation in OPERATIONS:
        rule = GUEST_COMMANDS.get(operation.command.name)
        needs[operation.method, operation.path] = rule.role if rule else None
    for (method, path), needed in needs.items():
        address = path.replace("{session_id}", "x").replace("{worktree_id}", "x")
        address = address.replace("{project_id}", "x").replace("{name}", "x")
        body = {} if method in ("GET", "DELETE") else {"json": {}}
        status, reply = await guest.request(method, address, **body)
        is_allowed = needed is not None and ROLES.index(role) >= ROLES.index(needed)
        assert (status != 403) is is_allowed, (method, path, status, reply)
        assert status != 500, json.dumps(reply)
