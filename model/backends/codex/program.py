"""The `codex` program on this machine: its path, version and sign-in, and the command line and
environment of its server.
"""

import asyncio
import os
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from model.backends.base import Launch, Probe
from model.backends.codex.errors import LOGIN, SIGN_IN, find_settings_error, settings_error
from model.backends.process import build_agent_environment
from model.backends.program import AgentProgram
from model.domain.worktree_variables import is_worktree_variable

PROGRAM: Final = AgentProgram(
    "Codex",
    "codex",
    install="npm install -g @openai/codex",
    update="npm install -g @openai/codex@latest",
    min_version=(0, 169, 0),
)


def build_environment(launch: Launch) -> dict[str, str]:
    """The environment of the shared server: the user's, without the variables of a worktree."""
    variables = {
        name: value for name, value in launch.environment.items() if not is_worktree_variable(name)
    }
    return build_agent_environment(variables)


def build_command(program: str) -> list[str]:
    """The command line of its server, which speaks JSON-RPC over lines."""
    return [
        program, "app-server",
        # Commands inherit the environment, except names with KEY, SECRET or TOKEN.
        "-c", "shell_environment_policy.ignore_default_excludes=false",
        # Otherwise it retries forever without a network.
        "-c", "features.unbounded_connection_retries=false",
        "-c", "check_for_update_on_startup=false",
    ]  # fmt: skip


async def probe() -> Probe:
    """Probe the program, in at most ten seconds and without contacting the provider."""
    found, results = await PROGRAM.probe(["login", "status"])
    if found.problem is not None:
        return found
    ((status, output),) = results
    if status not in (0, None) and (error := find_settings_error(output)):
        return replace(found, problem=settings_error(error))
    provider = await asyncio.to_thread(_find_custom_provider, os.environ)
    if provider is None:
        signed_in = status == 0 if isinstance(status, int) else None
        problem, fix = SIGN_IN, LOGIN
    else:
        key = str(provider.get("env_key") or "")
        signed_in = bool(os.environ.get(key)) if key else None
        fix = f"export {key}=…"
        problem = f"The API key of Codex's provider is not set. Run: {fix}"
    if signed_in is not False:
        return replace(found, signed_in=signed_in)
    return replace(found, signed_in=False, problem=problem, fix=fix)


def _find_custom_provider(environment: Mapping[str, str]) -> Mapping[str, Any] | None:
    """The custom provider that the user configured instead of Codex's own, with its own key."""
    home = Path(environment.get("CODEX_HOME") or Path.home() / ".codex")
    try:
        settings = tomllib.loads((home / "config.toml").read_text())
        provider = settings["model_providers"][settings["model_provider"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not isinstance(provider, dict) or provider.get("requires_openai_auth"):
        return None
    return provider
