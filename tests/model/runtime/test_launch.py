"""How an agent is started: settings of session, project and user combined."""

from dataclasses import fields
from typing import Any

import pytest

from model.backends import agent_events
from model.base.text import clean_line
from model.commands.preferences import update_preferences
from model.commands.sessions import create_session, send_chat_message
from model.domain.events.projects import ProjectUpdated
from model.domain.projects import Project
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.preferences.precedence import choose_effort, max_own_effort
from model.preferences.prompts import PROMPTS
from model.preferences.schema import Preferences
from model.runtime.launch import build_system_prompt, disabled_mcp_servers
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.fakes import DONE, FakeBackend


def make_preferences(**changed: Any) -> Preferences:
    return Preferences.model_validate(changed)


def make_project(**changed: Any) -> Project:
    return Project(id="p", name="alpha", path="/alpha", added_at=1, **changed)


def test_the_system_prompt_is_global_project_language_and_parallel_work_in_this_order() -> None:
    preferences = make_preferences(
        magic_prompts={"global_system_prompt": "Be brief.", "parallel_execution": "Split it up."},
        ai_language="Finnish",
        parallel_execution_prompt_enabled=True,
    )
    prompt = build_system_prompt(preferences, make_project(custom_system_prompt="Use make."))
    assert prompt.split("\n\n") == [
        "Be brief.", "Use make.", "Answer in this language: Finnish.", "Split it up.",
    ]  # fmt: skip


def test_unset_prompts_add_nothing() -> None:
    assert build_system_prompt(make_preferences(), make_project()) == ""
    parallel = make_preferences(parallel_execution_prompt_enabled=True)
    assert build_system_prompt(parallel, None) == PROMPTS["parallel_execution"].default


@pytest.mark.parametrize(
    ("thinking", "preferred", "effort"),
    [
        ("ultrathink", "high", "high"),
        ("ultrathink", "max", "max"),
        ("think", "max", "medium"),
        ("off", "high", "low"),
        ("megathink", "low", "low"),
    ],
)
def test_the_effort_depends_on_thinking_and_preferences(
    thinking: Any, preferred: str, effort: str
) -> None:
    assert (
        choose_effort("backend_a", thinking, make_preferences(default_effort_level=preferred))
        == effort
    )


def test_codex_has_an_effort_of_its_own() -> None:
    preferences = make_preferences(
        default_effort_level="low", default_codex_reasoning_effort="xhigh"
    )
    assert choose_effort("backend_b", "ultrathink", preferences) == "xhigh"


def test_the_agents_own_effort_is_used_until_a_preference_is_changed() -> None:
    assert max_own_effort("backend_a", "think", make_preferences()) == "medium"
    assert (
        max_own_effort("backend_a", "think", make_preferences(default_effort_level="max")) is None
    )
    assert max_own_effort("backend_c", "think", make_preferences()) is None, (
        "it has no effort of its own"
    )


def test_known_mcp_servers_that_are_not_enabled_are_off_and_new_ones_are_on() -> None:
    preferences = make_preferences(
        known_mcp_servers=["files", "web"], default_enabled_mcp_servers=["files"]
    )
    assert disabled_mcp_servers(preferences, make_project()) == {"web"}
    own = make_project(enabled_mcp_servers=["web"], known_mcp_servers=["web", "tickets"])
    assert disabled_mcp_servers(preferences, own) == {"files", "tickets"}
    assert disabled_mcp_servers(make_preferences(), make_project()) == frozenset()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"chrome_enabled": True}, {"can_use_browser": True}),
        ({"chrome_enabled": False}, {"can_use_browser": False}),
        ({"codex_multi_agent_enabled": False, "codex_max_agent_threads": 5}, {"max_sub_agents": 0}),
        ({"codex_multi_agent_enabled": True, "codex_max_agent_threads": 5}, {"max_sub_agents": 5}),
        ({"allow_web_tools_in_plan_mode": False}, {"web_in_plan": False}),
        ({"thinking_level": "think"}, {"thinking": "think", "effort": "medium"}),
        (
            {"default_codex_reasoning_effort": "xhigh"},
            {"effort": "xhigh", "user_effort_limit": None},
        ),
        ({}, {"effort": "high", "user_effort_limit": "max"}),
    ],
)
async def test_agents_are_started_as_the_preferences_say(
    workspace: Workspace, worktree: Worktree, changes: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert isinstance(workspace.backends, dict)
    workspace.backends["backend_b"] = codex = FakeBackend("backend_b")
    await update_preferences(workspace, changes)
    session = await create_session(workspace, worktree.id, backend="backend_b")
    await send_chat_message(workspace, session.id, "go")
    await Eventually(workspace.bus)(lambda: session.id in codex.agents)
    launch = codex.agents[session.id].launch
    found = {**vars_of(launch.settings), **vars_of(launch)}
    assert {name: found[name] for name in expected} == expected


def vars_of(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


# The MCP servers that agents report ------------------------------------------------------------


async def report_servers(
    workspace: Workspace, session: Session, backend: FakeBackend, *names: str
) -> Preferences:
    """Run a turn in which the agent reports these servers; return the preferences after it."""
    backend.script = lambda prompt: [agent_events.McpServersListed(names), DONE]
    await send_chat_message(workspace, session.id, "go")
    await Eventually(workspace.bus)(
        lambda: (
            set(map(clean_line, names)) - {""} <= set(preferences_of(workspace).known_mcp_servers)
            and workspace.store.state.sessions[session.id].status == "idle"
        )
    )
    return preferences_of(workspace)


def preferences_of(workspace: Workspace) -> Preferences:
    return workspace.store.state.preferences


async def test_reported_servers_are_known_and_on_by_default(
    workspace: Workspace, session: Session, backend: FakeBackend
) -> None:
    preferences = await report_servers(workspace, session, backend, "files", "web\x1b[31m", "")
    assert preferences.known_mcp_servers == ["files", "web␛[31m"]
    assert preferences.default_enabled_mcp_servers == ["files", "web␛[31m"]
    assert workspace.store.state.projects["project"].known_mcp_servers == ["files", "web␛[31m"]
    assert (
        disabled_mcp_servers(preferences, workspace.store.state.projects["project"]) == frozenset()
    )


async def test_a_server_that_was_switched_off_stays_off_when_it_is_reported_again(
    workspace: Workspace, session: Session, backend: FakeBackend
) -> None:
    await report_servers(workspace, session, backend, "files", "web")
    await update_preferences(workspace, {"default_enabled_mcp_servers": ["files"]})
    preferences = await report_servers(workspace, session, backend, "web", "tickets")
    assert preferences.known_mcp_servers == ["files", "web", "tickets"]
    assert preferences.default_enabled_mcp_servers == ["files", "tickets"]
    assert disabled_mcp_servers(preferences, workspace.store.state.projects["project"]) == {"web"}


async def test_a_new_server_is_also_on_in_a_project_with_its_own_list(
    workspace: Workspace, project: Project, session: Session, backend: FakeBackend
) -> None:
    own = project.model_copy(update={"enabled_mcp_servers": ["files"]})
    await workspace.store.accept(ProjectUpdated(project=own))
    preferences = await report_servers(workspace, session, backend, "tickets")
    now = workspace.store.state.projects[project.id]
    assert now.enabled_mcp_servers == ["files", "tickets"]
    assert "tickets" not in disabled_mcp_servers(preferences, now)
