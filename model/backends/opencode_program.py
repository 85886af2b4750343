"""The `opencode` program on this machine: where it is, which version, whether it is signed in, and
with which environment and configuration its server runs.
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
from model.backends.leftovers import OWNER
from model.backends.opencode_policy import configuration, merged
from model.backends.process import agent_environment
from model.errors import SpinneyError

INSTALL: Final = "npm install -g opencode-ai"
NOT_INSTALLED: Final = f"OpenCode is not installed. Install it with: {INSTALL}"

OLDEST: Final = (1, 18, 33)
"""The oldest version that this adapter was tried with."""

CONFIGURATION: Final = "OPENCODE_CONFIG_CONTENT"
"""The environment variable with settings that hold over those of files."""

WORKTREES: Final = "SPINNEY_OPENCODE_WORKTREES"
"""The environment variable that tells our plugin where the worktrees' own variables are."""

_PLUGIN: Final = Path(__file__).with_name("opencode_plugin.js")
_PROBE_PATIENCE: Final = 9.0

_QUIET: Final = {"OPENCODE_DISABLE_AUTOUPDATE": "1"}
_OFFLINE: Final = {**_QUIET, "OPENCODE_DISABLE_MODELS_FETCH": "1"}


def own_variables(launch: Launch) -> dict[str, str]:
    """What differs from worktree to worktree, so that a shared server cannot have it."""
    return {
        name: value
        for name, value in launch.environment.items()
        if name.startswith("SPINNEY_") and name != OWNER
    }


def environment(launch: Launch, worktrees: Path) -> dict[str, str]:
    """The server's environment; sessions with equal ones share a server.

    `worktrees` is the file with the variables of each worktree.
    """
    own = own_variables(launch)
    shared = {name: value for name, value in launch.environment.items() if name not in own}
    kept = {**_QUIET, **agent_environment(shared)}
    ours = {**configuration(launch), "plugin": [_PLUGIN.as_uri()]}
    content = merged(_object(kept.get(CONFIGURATION)), ours)
    return {**kept, CONFIGURATION: json.dumps(content, sort_keys=True), WORKTREES: str(worktrees)}


async def find(path: str | None) -> str:
    """Where the program is on the search path. Raises `backend_unavailable` when it is nowhere."""
    program = await asyncio.to_thread(_which, path)
    if program is None:
        raise SpinneyError(NOT_INSTALLED, "backend_unavailable")
    return program


async def probe() -> Probe:
    """What is found, in at most ten seconds and without asking a provider."""
    try:
        program = await find(None)
    except SpinneyError as error:
        return Probe(program=None, problem=error.message)
    (code, told), (_, accounts), (_, settings) = await asyncio.gather(
        _output(program, "--version"),
        _output(program, "auth", "list"),
        _output(program, "debug", "config"),
    )
    if code is None:
        return Probe(
            program,
            problem=f"OpenCode did not say its version within {_PROBE_PATIENCE:g} seconds."
            " Look whether this ends: opencode --version",
        )
    version = re.search(r"\d+\.\d+\.\d+", told)
    if code != 0 or version is None:
        return Probe(program, problem=f"{program} does not run. Install it again: {INSTALL}")
    signed_in = _signed_in(accounts, settings)
    return Probe(program, version[0], signed_in, _problem(version[0], signed_in))


def _which(path: str | None) -> str | None:
    program = shutil.which("opencode", path=path)
    # The server starts in another directory, where a relative path would mean something else.
    return str(Path(program).absolute()) if program else None


def _problem(version: str, signed_in: bool | None) -> str | None:
    if tuple(map(int, version.split("."))) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        return (
            f"OpenCode {version} is older than {oldest} and may not work with Spinney. "
            "Run: opencode upgrade"
        )
    if signed_in is False:
        return "OpenCode is not signed in to a provider. Run: opencode auth login"
    return None


def _signed_in(accounts: str, settings: str) -> bool | None:
    """Whether there is a key of a provider; a provider of the person's own may need none."""
    counts = re.findall(r"(\d+) (?:credential|environment variable)s?\b", accounts)
    if any(map(int, counts)):
        return True
    if not counts or _object(settings).get("provider"):
        return None
    return False


def _object(text: str | None) -> Mapping[str, Any]:
    """A JSON object; an empty one for anything else, which the program itself will refuse."""
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


async def _output(*argv: str) -> tuple[int | None, str]:
    """Exit code and stdout of a short command; code `None` when it did not end in time.

    One that cannot be started fails like one that refuses.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=os.sep,
            env=agent_environment(_OFFLINE),
            start_new_session=True,
        )
    except OSError:
        return 1, ""
    try:
        async with asyncio.timeout(_PROBE_PATIENCE):
            output, _ = await process.communicate()
            return process.returncode, output.decode(errors="replace")
    except TimeoutError:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        return None, ""
