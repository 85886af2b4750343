"""The `opencode` program on this machine: its location, version and sign-in state, and the
environment and configuration of its server.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from model.backends.base import Launch, Probe
from model.backends.json_values import as_object
from model.backends.opencode.policy import build_configuration
from model.backends.process import build_agent_environment
from model.backends.program import AgentProgram, CommandResult
from model.domain.worktree_variables import is_worktree_variable
from model.preferences.profiles import merge_settings

PROGRAM: Final = AgentProgram(
    "OpenCode",
    "opencode",
    install="npm install -g opencode-ai@1",
    update="opencode upgrade 1.18.33",
    min_version=(1, 18, 33),
    # Its server has other routes, and answers the old ones with a web page.
    end_version=(2, 0, 0),
)

_SIGN_IN: Final = "opencode auth login"

CONFIG_VARIABLE: Final = "OPENCODE_CONFIG_CONTENT"
"""The environment variable with settings that override those in files."""

WORKTREES_VARIABLE: Final = "SPINNEY_OPENCODE_WORKTREES"
"""The environment variable with the path of the worktrees' own variables, for our plugin."""

_PLUGIN: Final = Path(__file__).with_name("plugin.js")

_QUIET: Final = {"OPENCODE_DISABLE_AUTOUPDATE": "1"}
_OFFLINE: Final = {**_QUIET, "OPENCODE_DISABLE_MODELS_FETCH": "1"}


def worktree_variables(launch: Launch) -> dict[str, str]:
    """The variables that differ between worktrees, and so cannot be set for a shared server."""
    return {name: value for name, value in launch.environment.items() if is_worktree_variable(name)}


def build_environment(launch: Launch, worktrees: Path) -> dict[str, str]:
    """The server's environment; sessions with equal environments share a server.

    `worktrees` is the file with the variables of each worktree.
    """
    own = worktree_variables(launch)
    shared = {name: value for name, value in launch.environment.items() if name not in own}
    kept = {**_QUIET, **build_agent_environment(shared)}
    ours = {**build_configuration(launch), "plugin": [_PLUGIN.as_uri()]}
    content = merge_settings(_object(kept.get(CONFIG_VARIABLE)), ours)
    return {
        **kept,
        CONFIG_VARIABLE: json.dumps(content, sort_keys=True),
        WORKTREES_VARIABLE: str(worktrees),
    }


async def probe() -> Probe:
    """Probe the program, in at most ten seconds and without contacting a provider.

    Twenty if a command fails and is retried: at the program's very first start its processes race
    to create their database (seen with 1.18).
    """
    result, answers = await _run_probe()
    if any(isinstance(code, int) and code != 0 for code, _ in answers):
        result, answers = await _run_probe()
    if result.problem is not None:
        return result
    (_, accounts), (code, settings) = answers
    signed_in = _is_signed_in(accounts, settings) if code == 0 else None
    if signed_in is not False:
        return replace(result, signed_in=signed_in)
    problem = f"OpenCode is not signed in to a provider. Run: {_SIGN_IN}"
    return replace(result, signed_in=False, problem=problem, fix=_SIGN_IN)


async def _run_probe() -> tuple[Probe, list[CommandResult]]:
    return await PROGRAM.probe(["auth", "list"], ["debug", "config"], environment=_OFFLINE)


def _is_signed_in(accounts: str, settings: str) -> bool | None:
    """Whether there is a provider's key; a provider that the user configured may need none."""
    counts = re.findall(r"(?<!\d)(\d{1,6}) (?:credential|environment variable)s?\b", accounts)
    if any(map(int, counts)):
        return True
    if not counts or _object(settings).get("provider"):
        return None
    return False


def _object(text: str | None) -> Mapping[str, Any]:
    """Parse a JSON object; empty for anything else, which the program itself will reject."""
    try:
        return as_object(json.loads(text or "{}"))
    except ValueError:
        return {}
