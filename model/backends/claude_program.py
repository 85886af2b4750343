"""The `claude` program on this machine: where it is, which version, whether it is signed in, and
the command line that starts a conversation with it.
"""

import asyncio
import json
import os
import re
import shutil
import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from model.backends.base import Launch, Probe
from model.backends.claude_policy import PERMISSION_MODE
from model.backends.process import agent_environment
from model.errors import SpinneyError

NOT_INSTALLED: Final = (
    "Claude Code is not installed. Install it with: npm install -g @anthropic-ai/claude-code"
)
OLDEST: Final = (2, 1, 197)
"""The oldest version that this adapter was tried with."""

TOO_OLD: Final = (
    f"Claude Code is older than {'.'.join(map(str, OLDEST))} and cannot work with Spinney. "
    "Run: claude update"
)

_MCP_OFF: Final = "deniedMcpServers"

_PROBE_PATIENCE: Final = 9.0

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


async def find(path: str | None) -> str:
    """Where the program is on the search path. Raises `backend_unavailable` when it is nowhere."""
    program = await asyncio.to_thread(_which, path)
    if program is None:
        raise SpinneyError(NOT_INSTALLED, "backend_unavailable")
    return program


def plans_folder(environment: Mapping[str, str], worktree: Path) -> Path:
    """Where the program writes the plan that it works on, started in `worktree`."""
    home = Path(environment.get("HOME") or Path.home())
    return worktree / (environment.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "plans"


def command_line(program: str, launch: Launch, conversation: tuple[str, str]) -> list[str]:
    """How to start it; `conversation` is `--session-id ID` or `--resume ID`."""
    line = [
        program, "-p",
        "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
        "--include-partial-messages",
        # Without it there are no plans and no questions either.
        "--permission-prompt-tool", "stdio",
        "--settings", json.dumps(settings(launch)),
        "--effort", launch.settings.effort,
        "--thinking-display", "summarized",
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
    try:
        program = await find(None)
    except SpinneyError as error:
        return Probe(program=None, problem=error.message)
    (code, told), (_, status) = await asyncio.gather(
        _output(program, "--version"), _output(program, "auth", "status", "--json")
    )
    version = re.search(r"\d+\.\d+\.\d+", told)
    if code != 0 or version is None:
        problem = (
            f"{program} does not run. Install it again: npm install -g @anthropic-ai/claude-code"
        )
        return Probe(program, problem=problem)
    signed_in = _signed_in(status)
    return Probe(program, version[0], signed_in, _problem(version[0], signed_in))


def _which(path: str | None) -> str | None:
    program = shutil.which("claude", path=path)
    # Agents start in a worktree, where a relative path would mean something else.
    return str(Path(program).absolute()) if program else None


def _problem(version: str, signed_in: bool | None) -> str | None:
    if tuple(map(int, version.split("."))) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        return (
            f"Claude Code {version} is older than {oldest} and may not work with Spinney. "
            "Run: claude update"
        )
    if signed_in is False:
        return "Claude Code is not signed in. Run: claude, then /login"
    return None


def _signed_in(status: str) -> bool | None:
    try:
        told = json.loads(status)
    except ValueError:
        return None
    signed_in = told.get("loggedIn") if isinstance(told, dict) else None
    return signed_in if isinstance(signed_in, bool) else None


async def _output(*argv: str) -> tuple[int | None, str]:
    """Exit code and stdout of a short command; code `None` when it did not end in time."""
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=agent_environment({}),
            start_new_session=True,
        )
    except OSError:
        return None, ""
    try:
        async with asyncio.timeout(_PROBE_PATIENCE):
            output, _ = await process.communicate()
            return process.returncode, output.decode(errors="replace")
    except TimeoutError:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        return None, ""
