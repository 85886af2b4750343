"""The `claude` program on this machine: where it is, which version, whether it is signed in, and
the command line that starts a conversation with it.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from model.backends.base import Launch, Probe
from model.backends.claude.policy import PERMISSION_MODE
from model.backends.process import agent_environment
from model.backends.program import Program

PROGRAM: Final = Program(
    "Claude Code",
    "claude",
    install="npm install -g @anthropic-ai/claude-code",
    update="claude update",
    oldest=(2, 1, 197),
)

_SIGN_IN: Final = "claude auth login"

_MCP_OFF: Final = "deniedMcpServers"

_SETTINGS: Final = {
    # A turn that no message began would need somebody who watches.
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_DISABLE_CRON": "1",
    # With its own default of 10 an unreachable provider keeps a turn busy for minutes.
    "CLAUDE_CODE_MAX_RETRIES": "4",
    "DISABLE_AUTOUPDATER": "1",
    # A to-do list is one call that holds it all, as every screen shows it.
    "CLAUDE_CODE_ENABLE_TASKS": "0",
}

_SUB_AGENTS: Final = ("Agent", "Task", "Workflow")
"""The tools that start sub-agents, in newer and in older versions."""

_DISALLOWED: Final = (
    # Worktrees are Spinney's.
    "EnterWorktree", "ExitWorktree",
    # They begin turns by themselves.
    "Monitor", "ScheduleWakeup",
)  # fmt: skip

_TEXT_ONLY: Final = (
    "--tools", "", "--strict-mcp-config", "--no-session-persistence",
    # A repository's own hooks and instructions are for those who work in it.
    "--setting-sources", "user",
    # Plan mode would ask for a plan, and takes a larger model than the one that was chosen
    # (2.1.329: Sonnet for Haiku); without tools there is nothing to permit.
    "--permission-mode", "default",
)  # fmt: skip


def environment(launch: Launch) -> dict[str, str]:
    """The program's environment; what people set themselves wins."""
    limit = {"CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS": str(launch.sub_agents)}
    limits = limit if launch.sub_agents else {}
    return {**_SETTINGS, **limits, **agent_environment(launch.environment)}


def settings(launch: Launch) -> dict[str, Any]:
    """Settings of the program that hold over those of the person and the project."""
    # Newer versions would judge commands in plan mode by themselves (2.1.329).
    settings: dict[str, Any] = {"useAutoModeDuringPlan": False}
    if launch.text_only:
        # A person's own are about the work: they would ring, refuse or add words to a name.
        settings["disableAllHooks"] = True
    if launch.mcp_off:
        settings[_MCP_OFF] = [{"serverName": name} for name in sorted(launch.mcp_off)]
    return settings


def profile(launch: Launch) -> dict[str, Any]:
    """The profile's settings, which may hold keys, with what a session needs on top."""
    ours = settings(launch)
    off = launch.profile.get(_MCP_OFF)
    if isinstance(off, list) and _MCP_OFF in ours:
        ours[_MCP_OFF] += off
    return {**launch.profile, **ours} if launch.profile else {}


def plans_folder(environment: Mapping[str, str], worktree: Path) -> Path:
    """Where the program writes the plan that it works on, started in `worktree`."""
    home = Path(environment.get("HOME") or Path.home())
    return worktree / (environment.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "plans"


def command_line(program: str, launch: Launch, conversation: tuple[str, str]) -> list[str]:
    """How to start it; `conversation` is `--session-id ID` or `--resume ID`."""
    line = [
        program, "-p",
        "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
        "--include-partial-messages", "--include-hook-events",
        # Without it there are no plans and no questions either.
        "--permission-prompt-tool", "stdio",
        "--settings", json.dumps(settings(launch)),
        "--effort", launch.settings.effort,
        "--thinking-display", "summarized",
        # Without a word it uses none where nobody sits before it, whatever is set (2.1.329).
        "--chrome" if launch.browser else "--no-chrome",
        *conversation,
    ]  # fmt: skip
    if launch.settings.model:
        line += ["--model", launch.settings.model]
    if launch.text_only:
        return [*line, *_TEXT_ONLY, "--system-prompt", launch.system_prompt]
    line += ["--permission-mode", PERMISSION_MODE[launch.settings.mode]]
    if launch.system_prompt:
        line += ["--append-system-prompt", launch.system_prompt]
    disallowed = _DISALLOWED if launch.sub_agents != 0 else (*_DISALLOWED, *_SUB_AGENTS)
    # Last, because this option takes all words up to the next one.
    return [*line, "--disallowedTools", *disallowed]


async def probe() -> Probe:
    """What is found, in at most ten seconds and without asking the provider."""
    found, answers = await PROGRAM.look(["auth", "status", "--json"])
    if found.problem is not None:
        return found
    ((_, status),) = answers
    signed_in = _signed_in(status)
    if signed_in is not False:
        return replace(found, signed_in=signed_in)
    problem = f"Claude Code is not signed in. Run: {_SIGN_IN}"
    return replace(found, signed_in=False, problem=problem, fix=_SIGN_IN)


def _signed_in(status: str) -> bool | None:
    try:
        told = json.loads(status)
    except ValueError:
        return None
    signed_in = told.get("loggedIn") if isinstance(told, dict) else None
    return signed_in if isinstance(signed_in, bool) else None
