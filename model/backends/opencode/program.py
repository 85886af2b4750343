"""The `opencode` program on this machine: where it is, which version, whether it is signed in, and
with which environment and configuration its server runs.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from model.backends.base import Launch, Probe
from model.backends.opencode.policy import configuration
from model.backends.orphans import OWNER
from model.backends.process import agent_environment
from model.backends.program import Answer, Program
from model.preferences.profiles import merged

PROGRAM: Final = Program(
    "OpenCode",
    "opencode",
    install="npm install -g opencode-ai",
    update="opencode upgrade",
    oldest=(1, 18, 33),
)

_SIGN_IN: Final = "opencode auth login"

CONFIGURATION: Final = "OPENCODE_CONFIG_CONTENT"
"""The environment variable with settings that hold over those of files."""

WORKTREES: Final = "SPINNEY_OPENCODE_WORKTREES"
"""The environment variable that tells our plugin where the worktrees' own variables are."""

_PLUGIN: Final = Path(__file__).with_name("plugin.js")

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


async def probe() -> Probe:
    """What is found, in at most ten seconds and without asking a provider.

    Twenty where a command fails, and is asked again: at the program's very first start they race
    for the database that each of them makes (seen with 1.18).
    """
    found, answers = await _look()
    if any(isinstance(code, int) and code != 0 for code, _ in answers):
        found, answers = await _look()
    if found.problem is not None:
        return found
    (_, accounts), (code, settings) = answers
    signed_in = _signed_in(accounts, settings) if code == 0 else None
    if signed_in is not False:
        return replace(found, signed_in=signed_in)
    problem = f"OpenCode is not signed in to a provider. Run: {_SIGN_IN}"
    return replace(found, signed_in=False, problem=problem, fix=_SIGN_IN)


async def _look() -> tuple[Probe, list[Answer]]:
    return await PROGRAM.look(["auth", "list"], ["debug", "config"], environment=_OFFLINE)


def _signed_in(accounts: str, settings: str) -> bool | None:
    """Whether there is a key of a provider; a provider of the person's own may need none."""
    counts = re.findall(r"(?<!\d)(\d{1,6}) (?:credential|environment variable)s?\b", accounts)
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
