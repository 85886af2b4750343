"""The `codex` program on this machine: where it is, which version, whether it is signed in, and how
its server is started.
"""

import asyncio
import os
import re
import shutil
import signal
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from model.backends.base import Launch, Probe
from model.backends.codex_errors import SIGN_IN
from model.backends.codex_policy import is_of_worktree
from model.backends.process import agent_environment
from model.errors import SpinneyError

NOT_INSTALLED: Final = "Codex is not installed. Install it with: npm install -g @openai/codex"

OLDEST: Final = (0, 169, 0)
"""The oldest version that this adapter was tried with."""

_PROBE_PATIENCE: Final = 9.0

_VERSION: Final = re.compile(r"\d+\.\d+\.\d+")


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


async def find(path: str | None) -> str:
    """Where the program is on the search path. Raises `backend_unavailable` when it is nowhere."""
    program = await asyncio.to_thread(_which, path)
    if program is None:
        raise SpinneyError(NOT_INSTALLED, "backend_unavailable")
    return program


async def probe() -> Probe:
    """What is found, in at most ten seconds and without asking the provider."""
    try:
        program = await find(None)
    except SpinneyError as error:
        return Probe(program=None, problem=error.message)
    (code, told), (status, _), provider = await asyncio.gather(
        _output(program, "--version"),
        _output(program, "login", "status"),
        asyncio.to_thread(_own_provider, os.environ),
    )
    version = _VERSION.search(told)
    if code != 0 or version is None:
        problem = f"{program} does not run. Install it again: npm install -g @openai/codex"
        return Probe(program, problem=problem)
    if old := too_old(version[0]):
        return Probe(program, version[0], problem=old)
    if provider is not None:
        key = str(provider.get("env_key") or "")
        signed_in = bool(os.environ.get(key)) if key else None
        missing = f"The key of the provider of Codex is not set. Run: export {key}=…"
        return Probe(program, version[0], signed_in, missing if signed_in is False else None)
    signed_in = None if status is None else status == 0
    return Probe(program, version[0], signed_in, SIGN_IN if signed_in is False else None)


def too_old(version: str) -> str | None:
    """What to do about a version that this adapter cannot drive; `None` where it can."""
    found = _VERSION.search(version)
    if found is None or tuple(map(int, found[0].split("."))) >= OLDEST:
        return None
    oldest = ".".join(map(str, OLDEST))
    return (
        f"Codex {found[0]} is older than {oldest} and does not work with Spinney."
        " Run: npm install -g @openai/codex@latest"
    )


def _which(path: str | None) -> str | None:
    program = shutil.which("codex", path=path)
    # It is started elsewhere, where a relative path would mean something else.
    return str(Path(program).absolute()) if program else None


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
