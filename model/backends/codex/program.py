"""The `codex` program on this machine: where it is, which version, whether it is signed in, and how
its server is started.
"""

import asyncio
import os
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from model.backends.base import Launch, Probe
from model.backends.codex.errors import LOGIN, SIGN_IN, about_settings, of_settings
from model.backends.codex.policy import is_of_worktree
from model.backends.process import agent_environment
from model.backends.program import Program

PROGRAM: Final = Program(
    "Codex",
    "codex",
    install="npm install -g @openai/codex",
    update="npm install -g @openai/codex@latest",
    oldest=(0, 169, 0),
)


def shared_environment(launch: Launch) -> dict[str, str]:
    """The environment of the server: what people set, without what tells of one worktree."""
    told = {name: value for name, value in launch.environment.items() if not is_of_worktree(name)}
    return agent_environment(told)


def command_line(program: str) -> list[str]:
    """How to start its server, which speaks JSON-RPC over lines."""
    return [
        program, "app-server",
        # Commands inherit the environment; names with KEY, SECRET or TOKEN are held back.
        "-c", "shell_environment_policy.ignore_default_excludes=false",
        # Without a network it would ask its provider again without end.
        "-c", "features.unbounded_connection_retries=false",
        "-c", "check_for_update_on_startup=false",
    ]  # fmt: skip


async def probe() -> Probe:
    """What is found, in at most ten seconds and without asking the provider."""
    found, answers = await PROGRAM.look(["login", "status"])
    if found.problem is not None:
        return found
    ((status, told),) = answers
    if status not in (0, None) and (said := about_settings(told)):
        return replace(found, problem=of_settings(said))
    provider = await asyncio.to_thread(_own_provider, os.environ)
    if provider is None:
        signed_in = None if status is None else status == 0
        problem, fix = SIGN_IN, LOGIN
    else:
        key = str(provider.get("env_key") or "")
        signed_in = bool(os.environ.get(key)) if key else None
        fix = f"export {key}=…"
        problem = f"The key of the provider of Codex is not set. Run: {fix}"
    if signed_in is not False:
        return replace(found, signed_in=signed_in)
    return replace(found, signed_in=False, problem=problem, fix=fix)


def _own_provider(environment: Mapping[str, str]) -> Mapping[str, Any] | None:
    """The provider that the person set up in place of Codex's own, which takes another key."""
    home = Path(environment.get("CODEX_HOME") or Path.home() / ".codex")
    try:
        settings = tomllib.loads((home / "config.toml").read_text())
        provider = settings["model_providers"][settings["model_provider"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not isinstance(provider, dict) or provider.get("requires_openai_auth"):
        return None
    return provider
