"""Decides on OpenCode's permission requests according to Spinney's modes.

OpenCode asks before every action that may change something (see `rules.js`), and a mode is
our policy for these requests. So the mode also applies to sub-agents and to the user's own agents,
and a changed mode takes effect immediately.
"""

import re
import shlex
from collections.abc import Sequence
from typing import Any, Final, Literal

from model.backends.base import Launch, Settings
from model.backends.plan_markers import PLAN_END, PLAN_START
from model.domain.modes import ExecutionMode
from model.preferences.profiles import merge_settings

Verdict = Literal["allow", "ask", "deny"]

CONFIG_DENIAL: Final = "The user's configuration of OpenCode does not allow this. Find another way."
PLAN_DENIAL: Final = "Plan mode changes nothing. Put this step into the plan and propose it."
DENIAL: Final = "The user does not allow this. Find another way, or ask."

_PLAN_PROMPT: Final = (
    "You are in plan mode: read and think, but change nothing, neither files nor anything else. "
    "When the person wants something done, work out a plan for it and end your answer with the "
    f"whole plan between the lines {PLAN_START} and {PLAN_END}. It is shown to the person, who "
    "approves it, changes it or comments on it; so do not ask in words whether it is all right, "
    "and never carry it out before it is approved. A mere question is answered "
    "without a plan."
)

APPROVED: Final = "The plan is approved, and plan mode is over. Carry it out now."

_TEXT_AGENT: Final = "spinney-text"
"""The agent that writes a single text, without tools."""

_READ_ONLY: Final = frozenset(
    {"read", "glob", "grep", "list", "codesearch", "lsp", "skill", "todowrite", "todoread"}
)
"""Permissions that the user may grant in plan mode too, as they change nothing."""

_WEB: Final = frozenset({"webfetch", "websearch"})

_READING_COMMANDS: Final = frozenset(
    {"cat", "grep", "head", "ls", "pwd", "stat", "tail", "tree", "uname", "wc"}
)
_READING_GIT: Final = frozenset({"blame", "diff", "log", "ls-files", "rev-parse", "show", "status"})
_MAX_READING: Final = 4_000
"""Characters; a longer command is asked about. `shlex.split` takes quadratic time."""
# Git accepts abbreviated long options.
_WRITING_OPTION: Final = re.compile(r"-[a-zA-Z]*[oO]|--[oet]")
"""Options that may write a file, or run another program."""


def build_configuration(launch: Launch) -> dict[str, Any]:
    """The settings that override the user's configuration: the profile's and our own."""
    ours: dict[str, Any] = {
        "autoupdate": False,
        "share": "disabled",
        # Its snapshots of the files take seconds each, and Spinney does not restore them.
        "snapshot": False,
        # The agent gets the reason of a denial and continues.
        "experimental": {"continue_loop_on_deny": True},
        "mcp": {name: {"enabled": False} for name in sorted(launch.disabled_mcp_servers)},
    }
    return merge_settings(launch.profile, ours)


def agent_for(mode: ExecutionMode, *, text_only: bool) -> str:
    """The agent that responds to a prompt."""
    return _TEXT_AGENT if text_only else mode


def system_prompt(launch: Launch, mode: ExecutionMode) -> str:
    """The text that is appended to the program's system prompt for this turn."""
    if launch.text_only or mode != "plan":
        return launch.system_prompt
    return "\n\n".join(filter(None, (launch.system_prompt, _PLAN_PROMPT)))


def judge(
    settings: Settings, permission: str, patterns: Sequence[str], own: Verdict | None = None
) -> Verdict:
    """Decide on a permission request, except for sub-agents.

    `own` is the verdict of the user's configuration. A denial there applies in every mode, and
    'ask' in all but yolo; what is allowed there does not extend plan mode.
    """
    verdict = _by_mode(settings, permission, patterns)
    if own == "deny" or settings.mode == "yolo":
        return own if own == "deny" else verdict
    if own == "allow" and (settings.mode == "build" or permission in _READ_ONLY):
        return "allow"
    return "ask" if own == "ask" and verdict == "allow" else verdict


def _by_mode(settings: Settings, permission: str, patterns: Sequence[str]) -> Verdict:
    if settings.mode == "yolo":
        return "allow"
    if permission in _WEB:
        if settings.mode == "plan":
            return "allow" if settings.web_in_plan else "deny"
        return "ask"
    if permission == "edit":
        return "deny" if settings.mode == "plan" else "allow"
    if permission == "bash" and patterns and all(map(_is_read_only, patterns)):
        return "allow"
    return "ask"


def _is_read_only(command: str) -> bool:
    """Whether a command is clearly read-only: a single reading program without shell syntax."""
    if len(command) > _MAX_READING or re.search(r"[;&|<>`$(){}\n\\]", command):
        return False
    try:
        argv = shlex.split(command)
    except ValueError:
        return False
    if not argv or any(_WRITING_OPTION.match(argument) for argument in argv[1:]):
        return False
    if argv[0] == "git":
        return len(argv) > 1 and argv[1] in _READING_GIT
    return argv[0] in _READING_COMMANDS
