"""The `claude` program on this machine: its path, version and sign-in, and the command line and
environment to start it with.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from model.backends.base import Launch, Probe
from model.backends.claude.policy import PERMISSION_MODE, REFUSED_TOOLS, SUB_AGENT_TOOLS
from model.backends.json_values import as_object
from model.backends.process import build_agent_environment
from model.backends.program import AgentProgram

PROGRAM: Final = AgentProgram(
    "Claude Code",
    "claude",
    install="npm install -g @anthropic-ai/claude-code",
    update="claude update",
    min_version=(2, 1, 197),
)

_SIGN_IN: Final = "claude auth login"

_MCP_OFF: Final = "deniedMcpServers"

_SWITCHED_OFF: Final = {
    # Background tasks begin turns without a message, when no user is watching.
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_DISABLE_CRON": "1",
    # Without the tool `Workflow` its commands would do nothing.
    "CLAUDE_CODE_DISABLE_WORKFLOWS": "1",
}

_SETTINGS: Final = {
    # With its default of 10 an unreachable provider keeps a turn busy for minutes.
    "CLAUDE_CODE_MAX_RETRIES": "4",
    "DISABLE_AUTOUPDATER": "1",
    # To-do lists as one call with the whole list, as every screen shows them.
    "CLAUDE_CODE_ENABLE_TASKS": "0",
    # Without it the newest models are offered no list at all (2.1.332).
    "CLAUDE_CODE_ENABLE_TODO_TOOLS": "1",
}

_TEXT_ONLY: Final = (
    "--tools", "", "--strict-mcp-config", "--no-session-persistence",
    # A repository's hooks and instructions are meant for work in it.
    "--setting-sources", "user",
    # Plan mode would ask for a plan, and uses a larger model than the chosen one (2.1.329: Sonnet
    # for Haiku); without tools no permission is needed.
    "--permission-mode", "default",
)  # fmt: skip


def build_environment(launch: Launch) -> dict[str, str]:
    """The program's environment; variables set by the user take precedence."""
    return {**_SETTINGS, **_restrictions(launch), **build_agent_environment(launch.environment)}


def _restrictions(launch: Launch) -> dict[str, str]:
    """What is switched off or limited, which no repository may change."""
    limit = {"CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS": str(launch.max_sub_agents)}
    return {**_SWITCHED_OFF, **(limit if launch.max_sub_agents else {})}


def build_settings(launch: Launch) -> dict[str, Any]:
    """Settings of the program that override those of the user and the project."""
    environment = build_environment(launch)
    settings: dict[str, Any] = {
        # Otherwise newer versions decide about commands in plan mode on their own (2.1.329).
        "useAutoModeDuringPlan": False,
        # Otherwise other sessions of this user could begin a turn here, in any mode (2.1.332).
        "crossSessionInbound": "refuse",
        # Here, too, as the `env` of a repository's settings replaces the environment (2.1.332).
        "env": {name: environment[name] for name in _restrictions(launch)},
    }
    if launch.text_only:
        # The user's hooks are meant for work: they may ring, refuse, or add text to a name.
        settings["disableAllHooks"] = True
    if launch.disabled_mcp_servers:
        settings[_MCP_OFF] = [{"serverName": name} for name in sorted(launch.disabled_mcp_servers)]
    return settings


def build_profile(launch: Launch) -> dict[str, Any]:
    """The profile's settings, which may contain keys, merged with those of the session."""
    ours = build_settings(launch)
    off = launch.profile.get(_MCP_OFF)
    if isinstance(off, list) and _MCP_OFF in ours:
        ours[_MCP_OFF] += off
    ours["env"] = {**as_object(launch.profile.get("env")), **ours["env"]}
    return {**launch.profile, **ours} if launch.profile else {}


def find_plans_folder(environment: Mapping[str, str], worktree: Path) -> Path:
    """The folder where the program, started in `worktree`, writes its plans."""
    home = Path(environment.get("HOME") or Path.home())
    return worktree / (environment.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "plans"


def build_command(program: str, launch: Launch, conversation: tuple[str, ...]) -> list[str]:
    """The command line to start it; `conversation` is `--session-id ID`, `--resume ID` or more."""
    command = [
        program, "-p",
        "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
        "--include-partial-messages", "--include-hook-events",
        # Without it there are no plans and no questions either.
        "--permission-prompt-tool", "stdio",
        "--settings", json.dumps(build_settings(launch)),
        "--effort", launch.settings.effort,
        "--thinking-display", "summarized",
        # Without either option it uses no browser when not interactive, whatever is set (2.1.329).
        "--chrome" if launch.can_use_browser else "--no-chrome",
        *conversation,
    ]  # fmt: skip
    if launch.settings.model:
        command += ["--model", launch.settings.model]
    if launch.text_only:
        return [*command, *_TEXT_ONLY, "--system-prompt", launch.system_prompt]
    command += ["--permission-mode", PERMISSION_MODE[launch.settings.mode]]
    if launch.system_prompt:
        command += ["--append-system-prompt", launch.system_prompt]
    sub_agents = SUB_AGENT_TOOLS if launch.max_sub_agents == 0 else ()
    # Last, because this option takes all arguments up to the next one.
    return [*command, "--disallowedTools", *REFUSED_TOOLS, *sub_agents]


async def probe() -> Probe:
    """Probe the program, in at most ten seconds and without contacting the provider."""
    found, results = await PROGRAM.probe(["auth", "status", "--json"])
    if found.problem is not None:
        return found
    ((_, status),) = results
    signed_in = _parse_signed_in(status)
    if signed_in is not False:
        return replace(found, signed_in=signed_in)
    problem = f"Claude Code is not signed in. Run: {_SIGN_IN}"
    return replace(found, signed_in=False, problem=problem, fix=_SIGN_IN)


def _parse_signed_in(status: str) -> bool | None:
    try:
        payload = json.loads(status)
    except ValueError:
        return None
    signed_in = as_object(payload).get("loggedIn")
    return signed_in if isinstance(signed_in, bool) else None
